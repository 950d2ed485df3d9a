// Files that get their name only when complete, on file systems with and without
// O_TMPFILE, and output files that use them.
#include "newfile.h"
#include "outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static bool without_tmpfile;

// open wraps the C library's; it can act like a file system without unnamed files.
int open(const char *path, int flags, ...)
{
	va_list arguments;
	va_start(arguments, flags);
	mode_t mode = va_arg(arguments, mode_t);
	va_end(arguments);
	if (without_tmpfile && (flags & O_TMPFILE) == O_TMPFILE) {
		errno = EOPNOTSUPP;
		return -1;
	}
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

static char folder[64], name[96], part[128];

static int enter(void **state)
{
	without_tmpfile = *state != NULL;
	strcpy(folder, "newfile-XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	snprintf(name, sizeof name, "%s/out", folder);
	snprintf(part, sizeof part, "%s.part%ld", name, (long)getpid());
	return 0;
}

static int leave(void **state)
{
	(void)state;
	without_tmpfile = false;
	unlink(name);
	return rmdir(folder); // fails if anything else is left
}

static bool stands(const char *path)
{
	struct stat status;
	return stat(path, &status) == 0;
}

static void assert_holds(const char *text)
{
	char read[32] = "";
	FILE *file = fopen(name, "r");
	assert_non_null(file);
	assert_non_null(fgets(read, sizeof read, file));
	fclose(file);
	assert_string_equal(read, text);
}

static void put(const char *text)
{
	struct tb_outfile out;
	assert_int_equal(tb_outfile_open(&out, name, NULL), TB_OK);
	fputs(text, out.stream);
	assert_int_equal(tb_outfile_commit(&out, NULL), TB_OK);
}

static void output_stands_when_it_is_whole(void **state)
{
	struct tb_outfile out;
	assert_int_equal(tb_outfile_open(&out, name, NULL), TB_OK);
	fputs("first", out.stream);
	fflush(out.stream);
	assert_false(stands(name));
	assert_int_equal(stands(part), *state != NULL);
	assert_int_equal(tb_outfile_commit(&out, NULL), TB_OK);
	assert_holds("first");
}

static void output_replaces_what_was_there(void **state)
{
	struct tb_outfile out;
	(void)state;
	put("first");
	assert_int_equal(tb_outfile_open(&out, name, NULL), TB_OK);
	fputs("second", out.stream);
	fflush(out.stream);
	assert_holds("first");
	assert_int_equal(tb_outfile_commit(&out, NULL), TB_OK);
	assert_holds("second");
}

static void abandoned_output_leaves_nothing(void **state)
{
	struct tb_outfile out;
	(void)state;
	assert_int_equal(tb_outfile_open(&out, name, NULL), TB_OK);
	fputs("lost", out.stream);
	tb_outfile_abandon(&out);
	assert_false(stands(name));
}

static void a_failed_write_leaves_what_was_there(void **state)
{
	struct tb_outfile out;
	struct tb_error error;
	(void)state;
	put("first");
	assert_int_equal(tb_outfile_open(&out, name, NULL), TB_OK);
	fputs("second", out.stream);
	close(fileno(out.stream)); // a disk that fails
	assert_int_equal(tb_outfile_commit(&out, &error), TB_EIO);
	assert_string_equal(error.file, name);
	assert_holds("first");
}

static void nothing_is_replaced_unasked(void **state)
{
	struct tb_newfile file;
	(void)state;
	put("first");
	assert_int_equal(tb_newfile_open(&file, name, NULL), TB_OK);
	assert_int_equal(tb_newfile_publish(&file, false, NULL), TB_EFOREIGN);
	tb_newfile_close(&file);
	assert_holds("first");
}

static void a_free_name_is_taken(void **state)
{
	struct tb_newfile file;
	(void)state;
	assert_int_equal(tb_newfile_open(&file, name, NULL), TB_OK);
	assert_int_equal(write(file.fd, "new", 3), 3);
	assert_int_equal(tb_newfile_publish(&file, false, NULL), TB_OK);
	tb_newfile_close(&file);
	assert_holds("new");
}

static void a_part_has_a_name_until_it_is_published(void **state)
{
	struct tb_newfile file;
	(void)state;
	assert_int_equal(tb_newfile_open_part(&file, name, NULL), TB_OK);
	assert_string_equal(file.temporary, part);
	assert_true(stands(part));
	assert_false(stands(name));
	assert_int_equal(write(file.fd, "whole", 5), 5);
	assert_int_equal(tb_newfile_publish(&file, false, NULL), TB_OK);
	assert_false(stands(part));
	tb_newfile_close(&file);
	assert_holds("whole");
	assert_int_equal(tb_newfile_open_part(&file, name, NULL), TB_OK);
	tb_newfile_close(&file);
	assert_false(stands(part));
	assert_holds("whole");
}

static void end(int signal_number)
{
	(void)signal_number;
	tb_newfile_remove_all();
	_exit(0);
}

// A child is killed by a signal while it writes; its parts have the child's pid.
static void a_signal_leaves_nothing(void **state)
{
	int ended = 1;
	(void)state;
	pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		struct tb_outfile one, other;
		signal(SIGTERM, end);
		if (tb_outfile_open(&one, name, NULL) == TB_OK &&
			tb_outfile_open(&other, "/dev/null", NULL) == TB_OK)
			raise(SIGTERM);
		_exit(1);
	}
	assert_int_equal(waitpid(child, &ended, 0), child);
	assert_int_equal(ended, 0);
	assert_false(stands(name));
}

static void a_missing_folder_is_named(void **state)
{
	struct tb_outfile out;
	struct tb_error error;
	(void)state;
	assert_int_equal(tb_outfile_open(&out, "nowhere/out", &error), TB_EIO);
	assert_string_equal(error.file, "nowhere/out");
	assert_string_equal(error.text, "cannot be written: No such file or directory");
}

#define TWICE(test)                                                                      \
	cmocka_unit_test_setup_teardown(test, enter, leave),                             \
	{                                                                                \
#test "_without_tmpfile", test, enter, leave, &without_tmpfile           \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TWICE(output_stands_when_it_is_whole),
		TWICE(output_replaces_what_was_there),
		TWICE(abandoned_output_leaves_nothing),
		TWICE(a_failed_write_leaves_what_was_there),
		TWICE(nothing_is_replaced_unasked),
		TWICE(a_free_name_is_taken),
		TWICE(a_part_has_a_name_until_it_is_published),
		TWICE(a_signal_leaves_nothing),
		TWICE(a_missing_folder_is_named),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
