// Lists as CSV: that of the view that is shown, with a line of headings.
#include "flow_sum.h"
#include "wait_figures.h"

#include "../../viz_stage.h"

struct csv {
	char *text;
	size_t length;
};

static struct csv export(struct stage *stage, const char *view)
{
	struct csv csv;
	keys(stage->viewer, (const char *const[]){view, NULL});
	assert_non_null(tb_viewer_picture(stage->viewer));
	FILE *stream = open_memstream(&csv.text, &csv.length);
	tb_viewer_export(stage->viewer, stream);
	assert_int_equal(fclose(stream), 0);
	return csv;
}

static size_t n_lines(const char *text)
{
	size_t n = 0;
	for (; *text; text++)
		n += *text == '\n';
	return n;
}

// fields counts the fields of the first line, of which none is quoted.
static size_t fields(const char *text)
{
	size_t n = 1;
	for (; *text && *text != '\n'; text++)
		n += *text == ',';
	return n;
}

// Rank, job, flow and the figures that the square shows.
#define IN_SQUARE_NO					       +0
#define IN_SQUARE_KEYS					       +1
#define IN_SQUARE_YES					       +1
#define ROW(ID, formula, kind, key, jobs, view, compared, ...) IN_SQUARE_##compared
enum { FLOW_FIELDS = 3 TB_FLOW_COLUMNS(ROW) };
#undef ROW

// And the figures of listed waits.
#define IN_LIST_NO  +0
#define IN_LIST_KEY +1
#define IN_LIST_ALL +1
#define ROW(ID, formula, kind, key, roots, held, pairs, groups, blame, ...)              \
	IN_LIST_##roots
enum { ROOT_FIELDS = 2 TB_WAIT_COLUMNS(ROW) };
#undef ROW
#define ROW(ID, formula, kind, key, roots, held, pairs, groups, blame, ...)              \
	IN_LIST_##blame
enum { BLAME_FIELDS = 3 TB_WAIT_COLUMNS(ROW) };
#undef ROW

static void each_view_exports_its_own_list(void **state)
{
	static const struct {
		const char *key, *heads;
		size_t n_fields;
	} views[] = {{"F2", "rank,link,kind,wait_ps", 17},
		{"F5", "rank,job,flow,slowdown", FLOW_FIELDS},
		{"F6", "rank,root,wait_ps,percent", ROOT_FIELDS},
		{"F7", "waited,waited_for,link,wait_ps", BLAME_FIELDS},
		{"F9", "rule,sentence,command", 3}};
	for (size_t i = 0; i < sizeof views / sizeof *views; i++) {
		struct csv csv = export(*state, views[i].key);
		assert_int_equal(
			strncmp(csv.text, views[i].heads, strlen(views[i].heads)), 0);
		assert_int_equal(fields(csv.text), views[i].n_fields);
		assert_true(n_lines(csv.text) > 1);
		free(csv.text);
	}
}

static void flows_are_sorted_by_the_figure_that_is_shown(void **state)
{
	struct stage *stage = *state;
	struct csv bytes = export(stage, "F5");
	keys(stage->viewer, (const char *const[]){"g", "g", NULL});
	struct csv slowdown = export(stage, "F5");
	assert_int_equal(n_lines(bytes.text), n_lines(slowdown.text));
	const char *row = strchr(slowdown.text, '\n') + 1;
	double before = 1e300, now;
	for (; *row; row = strchr(row, '\n') + 1) {
		assert_int_equal(sscanf(row, "%*d,%*[^,],%*[^,],%lf", &now), 1);
		assert_true(now <= before);
		before = now;
	}
	free(bytes.text);
	free(slowdown.text);
}

static void a_filter_narrows_what_is_exported(void **state)
{
	struct stage *stage = *state;
	struct csv all = export(stage, "F2");
	keys(stage->viewer, (const char *const[]){"&", NULL});
	type(stage->viewer, "up");
	keys(stage->viewer, (const char *const[]){"Return", NULL});
	struct csv some = export(stage, "F2");
	assert_true(n_lines(some.text) < n_lines(all.text));
	assert_null(strstr(some.text, ",down,"));
	free(all.text);
	free(some.text);
}

#define STAGED(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		STAGED(each_view_exports_its_own_list),
		STAGED(flows_are_sorted_by_the_figure_that_is_shown),
		STAGED(a_filter_narrows_what_is_exported),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
