// Files that get their name only when complete, on file systems with and without
// O_TMPFILE, and output files that use them.
#include "newfile.h"
#include "input_files.h"
#include "outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <pthread.h>
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

static char folder[64], name[96];

static int enter(void **state)
{
	without_tmpfile = *state != NULL;
	strcpy(folder, "newfile-XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	snprintf(name, sizeof name, "%s/out", folder);
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

// n_parts counts the files in the folder that have a temporary name.
static int n_parts(void)
{
	glob_t found;
	char pattern[128];
	snprintf(pattern, sizeof pattern, "%s.part*", name);
	int n = glob(pattern, 0, NULL, &found) == 0 ? (int)found.gl_pathc : 0;
	globfree(&found);
	return n;
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
	assert_int_equal(n_parts(), *state != NULL);
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

static void end(int signal_number)
{
	(void)signal_number;
	tb_newfile_remove_all();
	_exit(0);
}

// A child is killed by a signal while it writes.
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

// Two parts of one file and one process, at one time: their names share nothing that a
// stranger could foresee.
static void temporary_names_cannot_be_foreseen(void **state)
{
	struct tb_newfile one, other;
	(void)state;
	assert_int_equal(tb_newfile_open(&one, name, NULL), TB_OK);
	assert_int_equal(tb_newfile_open(&other, name, NULL), TB_OK);
	size_t n = strlen(name) + strlen(".part");
	assert_int_equal(strlen(one.temporary), n + 16);
	assert_string_not_equal(one.temporary, other.temporary);
	tb_newfile_close(&one);
	tb_newfile_close(&other);
	assert_int_equal(n_parts(), 0);
}

static void in_folder(char path[128], const char *file)
{
	snprintf(path, 128, "%s/%s", folder, file);
}

static void behind_links_the_file_is_written(void **state)
{
	char link[128], second[128];
	struct stat at;
	(void)state;
	in_folder(link, "link");
	in_folder(second, "second");
	assert_int_equal(symlink("second", link), 0);
	assert_int_equal(symlink("out", second), 0);
	for (int i = 0; i < 2; i++) { // at first the link leads to no file
		struct tb_outfile out;
		assert_int_equal(tb_outfile_open(&out, link, NULL), TB_OK);
		fputs(i ? "again" : "once", out.stream);
		assert_int_equal(tb_outfile_commit(&out, NULL), TB_OK);
		assert_holds(i ? "again" : "once");
		assert_int_equal(lstat(link, &at), 0);
		assert_true(S_ISLNK(at.st_mode));
	}
	unlink(link);
	unlink(second);
}

static void a_circle_of_links_is_refused(void **state)
{
	char link[128];
	struct tb_outfile out;
	struct tb_error error;
	(void)state;
	in_folder(link, "link");
	assert_int_equal(symlink("link", link), 0);
	assert_int_equal(tb_outfile_open(&out, link, &error), TB_EIO);
	assert_string_equal(
		error.text, "cannot be written: Too many levels of symbolic links");
	unlink(link);
}

static void assert_written_through(int fd, const char *path)
{
	char link[128];
	struct stat at;
	struct tb_outfile out;
	in_folder(link, "link");
	assert_int_equal(symlink(path, link), 0);
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	assert_int_equal(write(fd, "before ", 7), 7);
	assert_int_equal(tb_outfile_open(&out, link, NULL), TB_OK);
	fputs("after", out.stream);
	assert_int_equal(tb_outfile_commit(&out, NULL), TB_OK);
	assert_int_equal(lstat(link, &at), 0);
	assert_true(S_ISLNK(at.st_mode));
	assert_holds("before after");
	assert_int_equal(write(fd, "!", 1), 1); // it is still open
	assert_holds("before after!");
	unlink(link);
}

// What /dev/stdout is when it goes into a file: a link to an open descriptor.
static void open_descriptors_are_written_through(void **state)
{
	char path[64];
	(void)state;
	int fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	static const char *const folders[] = {"/proc/self/fd", "/dev/fd",
		"/dev/../dev/fd", "/proc/thread-self/fd", "/proc/self/../self/fd"};
	for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
		snprintf(path, sizeof path, "%s/%d", folders[i], fd);
		assert_written_through(fd, path);
	}
	snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)getpid(), fd);
	assert_written_through(fd, path);
	close(fd);
}

static int write_after(const char *path)
{
	struct tb_outfile out;
	if (tb_outfile_open(&out, path, NULL) != TB_OK)
		return 1;
	fputs("after", out.stream);
	return tb_outfile_commit(&out, NULL) != TB_OK;
}

// What /proc/$$/fd/1 is in a shell: its file is not replaced, and keeps what it has.
static void descriptors_of_another_process_are_written_through(void **state)
{
	char path[64];
	int ended = 1;
	struct stat before, after;
	(void)state;
	int fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	assert_int_equal(write(fd, "before ", 7), 7);
	assert_int_equal(fstat(fd, &before), 0);
	snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)getpid(), fd);
	pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0)
		_exit(write_after(path));
	assert_int_equal(waitpid(child, &ended, 0), child);
	assert_int_equal(ended, 0);
	assert_int_equal(stat(name, &after), 0);
	assert_int_equal(after.st_ino, before.st_ino);
	assert_holds("before after");
	close(fd);
}

static void unnamed_pipes_are_written_through(void **state)
{
	char path[64], got[8] = "";
	int ends[2];
	(void)state;
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	snprintf(path, sizeof path, "/proc/thread-self/fd/%d", ends[1]);
	assert_int_equal(write_after(path), 0);
	assert_int_equal(read(ends[0], got, sizeof got), 5);
	assert_string_equal(got, "after");
	close(ends[0]);
	close(ends[1]);
}

static void pipes_are_written_through(void **state)
{
	char pipe[128], got[8] = "";
	struct stat at;
	struct tb_outfile out;
	(void)state;
	in_folder(pipe, "pipe");
	assert_int_equal(mkfifo(pipe, 0666), 0);
	int fd = open(pipe, O_RDWR | O_NONBLOCK | O_CLOEXEC, 0);
	assert_int_equal(tb_outfile_open(&out, pipe, NULL), TB_OK);
	fputs("text", out.stream);
	assert_int_equal(tb_outfile_commit(&out, NULL), TB_OK);
	assert_int_equal(read(fd, got, sizeof got), 4);
	assert_string_equal(got, "text");
	assert_int_equal(lstat(pipe, &at), 0);
	assert_true(S_ISFIFO(at.st_mode));
	close(fd);
	unlink(pipe);
}

static void assert_spared(const char *path)
{
	struct tb_outfile out;
	struct tb_error error;
	assert_int_equal(tb_outfile_open(&out, path, &error), TB_EUSAGE);
	assert_non_null(strstr(error.text, "is the same file as the input '"));
	assert_non_null(strstr(error.text, "/link': write to another one"));
	assert_int_equal(tb_outfile_open_in_place(&out, path, &error), TB_EUSAGE);
	assert_holds("read");
}

static void no_output_destroys_what_was_read(void **state)
{
	char link[128];
	(void)state;
	put("read");
	in_folder(link, "link");
	assert_int_equal(symlink("out", link), 0);
	FILE *input = tb_input_fopen(link);
	assert_non_null(input);
	fclose(input);
	assert_spared(name);
	assert_spared(link);
	snprintf(link, sizeof link, "%s/./out", folder);
	assert_spared(link);
	in_folder(link, "link");
	unlink(link);
}

static void what_is_read_after_the_output_was_opened_is_spared(void **state)
{
	struct tb_outfile out;
	(void)state;
	put("read");
	assert_int_equal(tb_outfile_open(&out, name, NULL), TB_OK);
	fputs("lost", out.stream);
	assert_int_equal(tb_input_note_path(name), TB_OK);
	assert_int_equal(tb_outfile_commit(&out, NULL), TB_EUSAGE);
	assert_holds("read");
}

// The file system gives the inode of a file that is gone to the next one.
static void a_new_file_is_none_that_was_read(void **state)
{
	(void)state;
	for (int i = 0; i < 4; i++) {
		put("new");
		assert_int_equal(tb_input_note_path(name), TB_OK);
		unlink(name);
	}
	put("new");
	put("once more");
	assert_holds("once more");
}

static void what_was_only_looked_at_may_be_replaced(void **state)
{
	(void)state;
	put("seen");
	uint64_t mark = tb_inputs_mark();
	assert_int_equal(tb_input_note_path(name), TB_OK);
	tb_inputs_return(mark);
	put("new");
	assert_holds("new");
}

static void *note_it(void *context)
{
	(void)context;
	assert_int_equal(tb_input_note_path(name), TB_OK);
	return NULL;
}

static void what_another_thread_reads_meanwhile_stays_an_input(void **state)
{
	(void)state;
	pthread_t other;
	struct stat file;
	put("seen");
	uint64_t mark = tb_inputs_mark();
	assert_int_equal(pthread_create(&other, NULL, note_it, NULL), 0);
	assert_int_equal(pthread_join(other, NULL), 0);
	assert_int_equal(tb_input_note_path(name), TB_OK);
	tb_inputs_return(mark);
	assert_int_equal(stat(name, &file), 0);
	assert_int_equal(tb_input_spare(name, &file, NULL), TB_EUSAGE);
	int fd = open(name, O_RDONLY);
	tb_input_forget(fd);
	close(fd);
	assert_int_equal(tb_input_spare(name, &file, NULL), TB_OK);
}

static void *make_many(void *context)
{
	for (int i = 0; i < 3000; i++) {
		struct tb_newfile file;
		if (tb_newfile_open(&file, name, NULL) != TB_OK)
			return context;
		tb_newfile_close(&file);
	}
	return NULL;
}

// Each thread's names come and go while the other looks for its own (tsan sees a race).
static void threads_make_files_at_one_time(void **state)
{
	(void)state;
	pthread_t threads[2];
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, make_many, name), 0);
	for (int i = 0; i < 2; i++) {
		void *failed;
		assert_int_equal(pthread_join(threads[i], &failed), 0);
		assert_null(failed);
	}
	assert_int_equal(n_parts(), 0);
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
		TWICE(a_signal_leaves_nothing),
		TWICE(a_missing_folder_is_named),
		cmocka_unit_test_prestate_setup_teardown(
			temporary_names_cannot_be_foreseen, enter, leave,
			&without_tmpfile),
		TWICE(threads_make_files_at_one_time),
		TWICE(behind_links_the_file_is_written),
		TWICE(a_circle_of_links_is_refused),
		TWICE(open_descriptors_are_written_through),
		TWICE(descriptors_of_another_process_are_written_through),
		TWICE(unnamed_pipes_are_written_through),
		TWICE(pipes_are_written_through),
		TWICE(no_output_destroys_what_was_read),
		TWICE(what_is_read_after_the_output_was_opened_is_spared),
		TWICE(a_new_file_is_none_that_was_read),
		TWICE(what_was_only_looked_at_may_be_replaced),
		TWICE(what_another_thread_reads_meanwhile_stays_an_input),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
