// A picture that differs from its golden description is reported by what differs, and
// drawn.
#include "golden_difference.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[] = "/tmp/tb-difference-XXXXXX";

static int set_up(void **state)
{
	(void)state;
	return mkdtemp(folder) ? setenv("TB_BUILD", folder, 1) : -1;
}

static int tear_down(void **state)
{
	(void)state;
	char command[256];
	snprintf(command, sizeof command, "rm -rf '%s'", folder);
	return system(command);
}

static char *text;
static size_t length;

// difference returns the report on two texts, or NULL when they are equal.
static const char *difference(const char *name, const char *wanted, const char *got)
{
	free(text);
	FILE *report = open_memstream(&text, &length);
	bool differs = golden_text_difference(name, wanted, got, report);
	fclose(report);
	assert_true(differs == (length > 0));
	return differs ? text : NULL;
}

// drawn tells whether the picture of the difference has this text.
static bool drawn(const char *name, const char *what)
{
	static char svg[1 << 16];
	char path[512];
	golden_path_of_difference(path, name, ".difference.svg");
	FILE *file = fopen(path, "r");
	assert_non_null(file);
	svg[fread(svg, 1, sizeof svg - 1, file)] = '\0';
	fclose(file);
	return strstr(svg, what) != NULL;
}

static void equal_texts_have_none(void **state)
{
	(void)state;
	assert_null(difference("a.txt", "picture 4 4\n", "picture 4 4\n"));
}

static void items_that_are_gone_and_new_are_named_and_outlined(void **state)
{
	(void)state;
	const char *report = difference("dump.txt",
		"picture 40 30\nrect 1 2 3 4 #f\nrect 5 6 7 8 #f\n",
		"picture 40 30\nrect 1 2 3 4 #f\nrect 5 6 9 8 #f\n");
	assert_non_null(strstr(report, "- 3: rect 5 6 7 8 #f\n+ 3: rect 5 6 9 8 #f\n"));
	assert_null(strstr(report, "rect 1 2 3 4"));
	assert_true(drawn("dump.txt", "viewBox=\"0 0 40 30\""));
	assert_true(drawn(
		"dump.txt", "width=\"9\" height=\"8\" fill=\"none\" stroke=\"#080\""));
	assert_true(drawn(
		"dump.txt", "width=\"7\" height=\"8\" fill=\"none\" stroke=\"#d00\""));
	assert_true(drawn(
		"dump.txt", "width=\"3\" height=\"4\" fill=\"none\" stroke=\"#ddd\""));
}

static void many_items_are_counted(void **state)
{
	(void)state;
	char got[4096] = "picture 40 30\n";
	for (int i = 0; i < 20; i++)
		sprintf(got + strlen(got), "rect %d 0 1 1\n", i);
	const char *report = difference("many.txt", "picture 40 30\n", got);
	assert_non_null(strstr(report, "+ ... and 12 more\n"));
}

static void another_order_is_said(void **state)
{
	(void)state;
	const char *report = difference("order.csv", "a\nb\n", "b\na\n");
	assert_non_null(strstr(report, "the same lines in another order"));
}

static void cells_of_a_terminal_are_counted(void **state)
{
	(void)state;
	const char *report = difference("cells.txt",
		"ab\xc3\xa9"
		"d\nsame\n",
		"abXY\nsame\n");
	assert_non_null(strstr(report, "row 1, 2 cells in columns 3 to 4\n"));
	assert_non_null(strstr(report, "2 cells in 1 rows differ"));
	assert_true(drawn("cells.txt", "<rect x=\"16\" y=\"0\""));
	assert_false(drawn("cells.txt", "<rect x=\"8\" y=\"0\""));
}

static void a_cell_of_another_colour_differs(void **state)
{
	(void)state;
	const char *report =
		difference("colours.txt", "\033[31ma\033[32mb\n", "\033[31ma\033[33mb\n");
	assert_non_null(strstr(report, "row 1, 1 cells in columns 2 to 2\n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_texts_have_none),
		cmocka_unit_test(items_that_are_gone_and_new_are_named_and_outlined),
		cmocka_unit_test(many_items_are_counted),
		cmocka_unit_test(another_order_is_said),
		cmocka_unit_test(cells_of_a_terminal_are_counted),
		cmocka_unit_test(a_cell_of_another_colour_differs),
	};
	int failed = cmocka_run_group_tests(tests, set_up, tear_down);
	free(text);
	return failed;
}
