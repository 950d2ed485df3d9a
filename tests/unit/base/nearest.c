#include "nearest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

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
	assert_int_equal(nearest("loads"), 0);
	assert_int_equal(nearest("mesage"), 1);
	assert_int_equal(nearest("node"), 2);
	// A letter too many counts as one too few does.
	const char *const names[] = {"abcxx", "abcd"};
	assert_int_equal(tb_nearest("abcdd", names, 2, sizeof *names), 1);
	assert_int_equal(tb_nearest("xabcd", names, 2, sizeof *names), 1);
}

static void neighbours_that_change_places_are_one_slip(void **state)
{
	(void)state;
	const char *const names[] = {"relay", "replay", "report"};
	assert_int_equal(tb_nearest("repaly", names, 3, sizeof *names), 1);
	assert_int_equal(tb_nearest("erplay", names, 3, sizeof *names), 1);
}

static void a_beginning_is_near(void **state)
{
	(void)state;
	const char *const names[] = {"ring", "recursive-doubling"};
	assert_int_equal(tb_nearest("recurs", names, 2, sizeof *names), 1);
	assert_int_equal(tb_nearest("re", names, 2, sizeof *names), 1);
	assert_int_equal(tb_nearest("r", names, 2, sizeof *names), 2);
}

static void what_is_far_has_no_neighbour(void **state)
{
	(void)state;
	const char *const names[] = {"sweep", "replay", "x"};
	assert_int_equal(tb_nearest("speed", names, 3, sizeof *names), 3);
	assert_int_equal(tb_nearest("ab", names, 3, sizeof *names), 3);
	assert_int_equal(tb_nearest("", names, 3, sizeof *names), 3);
}

static void hints_name_the_neighbour_or_the_choice(void **state)
{
	(void)state;
	struct tb_hint hint;
	const char *const names[] = {"dark", "light", "grey"};
	assert_string_equal(tb_hint_near(&hint, "drak", names, 3, sizeof *names),
		"; the nearest is 'dark'");
	assert_string_equal(tb_hint_near(&hint, "pink", names, 3, sizeof *names), "");
	assert_string_equal(tb_hint_choice(&hint, "gray", names, 3, sizeof *names),
		"; the nearest is 'grey'");
	assert_string_equal(tb_hint_choice(&hint, "pink", names, 3, sizeof *names),
		"; expected dark, light or grey");
	assert_string_equal(tb_hint_choice(&hint, "pink", names, 1, sizeof *names),
		"; expected dark");
	// A list that does not fit ends after a name.
	const char *many[40];
	for (size_t i = 0; i < 40; i++)
		many[i] = "a-name-of-thirty-letters-or-so";
	const char *text = tb_hint_choice(&hint, "pink", many, 40, sizeof *many);
	assert_string_equal(text + strlen(text) - 10, "or-so, ...");
}

static void the_first_of_equals_is_taken(void **state)
{
	(void)state;
	const char *const names[] = {"abb", "abc"};
	assert_int_equal(tb_nearest("abd", names, 2, sizeof *names), 0);
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
		cmocka_unit_test(neighbours_that_change_places_are_one_slip),
		cmocka_unit_test(a_beginning_is_near),
		cmocka_unit_test(what_is_far_has_no_neighbour),
		cmocka_unit_test(hints_name_the_neighbour_or_the_choice),
		cmocka_unit_test(the_first_of_equals_is_taken),
		cmocka_unit_test(long_names_are_cut),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
