// Temporary folders.
#include "temporary.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static void a_folder_is_new_and_private(void **state)
{
	(void)state;
	char one[256], other[256], parent[] = "temporary_XXXXXX";
	struct stat at;
	assert_non_null(mkdtemp(parent));
	setenv("TMPDIR", parent, 1);
	assert_int_equal(tb_temporary_folder(one, sizeof one, "a test", NULL), TB_OK);
	assert_int_equal(tb_temporary_folder(other, sizeof other, "a test", NULL), TB_OK);
	assert_string_not_equal(one, other);
	assert_memory_equal(one, parent, strlen(parent));
	assert_int_equal(stat(one, &at), 0);
	assert_int_equal(at.st_mode & 0777, 0700);
	assert_int_equal(rmdir(one), 0);
	assert_int_equal(rmdir(other), 0);
	assert_int_equal(rmdir(parent), 0);
}

static void where_none_can_be_made_the_path_is_empty(void **state)
{
	(void)state;
	char path[256] = "x", brief[8] = "x";
	struct tb_error error = {0};
	setenv("TMPDIR", "no/such/folder", 1);
	assert_int_equal(
		tb_temporary_folder(path, sizeof path, "the store", &error), TB_EIO);
	assert_string_equal(path, "");
	assert_string_equal(error.text, "no temporary folder can be made for the store");
	setenv("TMPDIR", ".", 1);
	assert_int_equal(
		tb_temporary_folder(brief, sizeof brief, "the store", NULL), TB_EIO);
	assert_string_equal(brief, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_folder_is_new_and_private),
		cmocka_unit_test(where_none_can_be_made_the_path_is_empty),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
