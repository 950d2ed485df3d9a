// Temporary folders.
#include "temporary.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static bool is_folder(const char *path)
{
	struct stat at;
	return stat(path, &at) == 0 && S_ISDIR(at.st_mode);
}

// put makes a file in it, and one in a folder in it.
static void put(const struct tb_temporary *folder)
{
	static const char *const names[] = {"a", "b/c"};
	char path[TB_TEMPORARY_FILE_BYTES];
	assert_int_equal(mkdir(tb_temporary_file(folder, "b", path), 0700), 0);
	for (size_t i = 0; i < 2; i++) {
		FILE *file = fopen(tb_temporary_file(folder, names[i], path), "w");
		assert_non_null(file);
		fclose(file);
	}
}

static void a_folder_is_new_and_private_and_goes_with_what_is_in_it(void **state)
{
	(void)state;
	struct tb_temporary one, other, none = {0};
	char parent[] = "temporary_XXXXXX";
	struct stat at;
	assert_non_null(mkdtemp(parent));
	setenv("TMPDIR", parent, 1);
	assert_int_equal(tb_temporary_init(&one, "a test", NULL), TB_OK);
	assert_int_equal(tb_temporary_init(&other, "a test", NULL), TB_OK);
	assert_string_not_equal(one.path, other.path);
	assert_memory_equal(one.path, parent, strlen(parent));
	assert_int_equal(stat(one.path, &at), 0);
	assert_int_equal(at.st_mode & 0777, 0700);
	put(&one);
	tb_temporary_fini(&one);
	tb_temporary_fini(&one); // is zeroed
	tb_temporary_fini(&other);
	tb_temporary_fini(&none);
	assert_int_equal(rmdir(parent), 0);
}

static void it_goes_when_its_process_is_killed(void **state)
{
	(void)state;
	struct tb_temporary folder;
	int ends[2];
	assert_int_equal(pipe(ends), 0);
	setenv("TMPDIR", ".", 1);
	pid_t child = fork();
	if (child == 0) {
		setpgid(0, 0);
		if (tb_temporary_init(&folder, "a test", NULL) != TB_OK)
			_exit(1);
		put(&folder);
		(void)!write(ends[1], &folder, sizeof folder);
		for (;;)
			pause();
	}
	assert_int_equal(read(ends[0], &folder, sizeof folder), sizeof folder);
	assert_true(is_folder(folder.path));
	kill(-child, SIGKILL); // its process group
	waitpid(child, NULL, 0);
	for (int i = 0; i < 3000 && is_folder(folder.path); i++)
		usleep(10000);
	assert_false(is_folder(folder.path));
	close(ends[0]);
	close(ends[1]);
}

static void an_empty_tmpdir_is_unset(void **state)
{
	(void)state;
	struct tb_temporary folder;
	setenv("TMPDIR", "", 1);
	assert_int_equal(tb_temporary_init(&folder, "a test", NULL), TB_OK);
	assert_memory_equal(folder.path, "/tmp/", 5);
	tb_temporary_fini(&folder);
}

static void where_none_can_be_made_the_path_is_empty(void **state)
{
	(void)state;
	char deep[2 * TB_TEMPORARY_BYTES];
	struct tb_temporary folder = {.path = "x"};
	struct tb_error error = {0};
	setenv("TMPDIR", "no/such/folder", 1);
	assert_int_equal(tb_temporary_init(&folder, "the store", &error), TB_EIO);
	assert_string_equal(folder.path, "");
	assert_string_equal(error.text, "no temporary folder can be made for the store");
	memset(deep, '/', sizeof deep);
	deep[sizeof deep - 1] = '\0';
	assert_int_equal(tb_temporary_init_in(&folder, deep, "the store", NULL), TB_EIO);
	assert_string_equal(folder.path, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_folder_is_new_and_private_and_goes_with_what_is_in_it),
		cmocka_unit_test(it_goes_when_its_process_is_killed),
		cmocka_unit_test(an_empty_tmpdir_is_unset),
		cmocka_unit_test(where_none_can_be_made_the_path_is_empty),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
