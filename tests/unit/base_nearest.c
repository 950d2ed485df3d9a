#include "nearest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

static const struct {
	const char *name;
	int other;
} table[] = {{"load", 1}, {"message", 2}, {"nodes", 3}};

static size_t nearest(const char *typed)
{
	return tb_nearest(
		typed, &table->name, sizeof table / sizeof *table, sizeof *table);
}

static void a_slip_finds_its_name(void **state)
{
	(void)state;
	assert_int_equal(nearest("laod"), 0);
	assert_int_equal(nearest("mesage"), 1);
	assert_int_equal(nearest("node"), 2);
	// A letter too many counts as one too few does.
	const char *const names[] = {"abcxx", "abcd"};
	assert_int_equal(tb_nearest("abcdd", names, 2, sizeof *names), 1);
	assert_int_equal(tb_nearest("xabcd", names, 2, sizeof *names), 1);
}

static void the_first_of_equals_is_taken(void **state)
{
	(void)state;
	const char *const names[] = {"ab", "ac"};
	assert_int_equal(tb_nearest("ad", names, 2, sizeof *names), 0);
}

static void long_names_are_cut(void **state)
{
	(void)state;
	char typed[200];
	for (size_t i = 0; i < sizeof typed - 1; i++)
		typed[i] = 'x';
	typed[sizeof typed - 1] = '\0';
	const char *const names[] = {"short", typed};
	assert_int_equal(tb_nearest(typed, names, 2, sizeof *names), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_slip_finds_its_name),
		cmocka_unit_test(the_first_of_equals_is_taken),
		cmocka_unit_test(long_names_are_cut),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
