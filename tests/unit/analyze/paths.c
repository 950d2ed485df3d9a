// The links on a flow's way, and a link's series over time.
#include "../../viz_fixture.h"

#include "paths.h"
#include "series.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

struct stage {
	char path[64];
	struct tb_run *run;
	struct tb_paths *paths;
};

static int set_up(void **state)
{
	struct stage *stage = calloc(1, sizeof *stage);
	struct tb_error error;
	viz_path(stage->path);
	viz_store(stage->path);
	viz_check(tb_run_open(&stage->run, stage->path, 0, &error), &error);
	viz_check(tb_paths_new(&stage->paths, stage->run, &error), &error);
	*state = stage;
	return 0;
}

static int tear_down(void **state)
{
	struct stage *stage = *state;
	tb_paths_free(stage->paths);
	tb_run_free(stage->run);
	unlink(stage->path);
	free(stage);
	return 0;
}

static uint32_t count(const struct stage *stage, const struct tb_link *links, uint32_t n,
	enum tb_link_kind kind)
{
	uint32_t found = 0;
	for (uint32_t i = 0; i < n; i++)
		found += tb_run_links(stage->run)[links[i].id].at.kind == kind;
	return found;
}

static void a_way_below_one_switch_does_not_ascend(void **state)
{
	struct stage *stage = *state;
	uint32_t n;
	const struct tb_link *links =
		tb_paths_find(stage->paths, (struct tb_node){4}, (struct tb_node){7}, &n);
	assert_int_equal(n, 2);
	assert_int_equal(count(stage, links, n, TB_LINK_INJECTION), 1);
	assert_int_equal(count(stage, links, n, TB_LINK_EJECTION), 1);
}

static void every_common_ancestor_is_a_way(void **state)
{
	struct stage *stage = *state;
	uint32_t n;
	const struct tb_run_link *known = tb_run_links(stage->run);
	const struct tb_link *links = tb_paths_find(
		stage->paths, (struct tb_node){1}, (struct tb_node){14}, &n);
	assert_int_equal(n, 10);
	assert_int_equal(count(stage, links, n, TB_LINK_UP), 4);
	assert_int_equal(count(stage, links, n, TB_LINK_DOWN), 4);
	for (uint32_t i = 0; i < n; i++) {
		const struct tb_link_info *at = &known[links[i].id].at;
		if (at->kind == TB_LINK_INJECTION)
			assert_int_equal(at->from, 1);
		if (at->kind == TB_LINK_EJECTION)
			assert_int_equal(at->to, 14);
		if (at->kind == TB_LINK_UP)
			assert_int_equal(at->from, known[links[0].id].at.to);
	}
}

static void the_way_back_is_the_reverse(void **state)
{
	struct stage *stage = *state;
	const struct tb_run_link *known = tb_run_links(stage->run);
	uint32_t n_there, n_back;
	struct tb_link there[16];
	const struct tb_link *links = tb_paths_find(
		stage->paths, (struct tb_node){2}, (struct tb_node){9}, &n_there);
	assert_in_range(n_there, 1, 16);
	memcpy(there, links, n_there * sizeof *there);
	links = tb_paths_find(
		stage->paths, (struct tb_node){9}, (struct tb_node){2}, &n_back);
	assert_int_equal(n_back, n_there);
	for (uint32_t i = 0; i < n_there; i++) {
		bool found = false;
		for (uint32_t j = 0; j < n_back; j++)
			found |= known[links[j].id].at.reverse.id == there[i].id;
		assert_true(found);
	}
}

static void there_is_no_way_to_oneself_or_to_nobody(void **state)
{
	struct stage *stage = *state;
	uint32_t n = 7;
	tb_paths_find(stage->paths, (struct tb_node){3}, (struct tb_node){3}, &n);
	assert_int_equal(n, 0);
	tb_paths_find(stage->paths, (struct tb_node){3}, (struct tb_node){16}, &n);
	assert_int_equal(n, 0);
	tb_paths_find(
		stage->paths, (struct tb_node){TB_ID_NONE}, (struct tb_node){3}, &n);
	assert_int_equal(n, 0);
}

static void a_series_has_a_column_a_bin_or_the_mean_of_several(void **state)
{
	struct stage *stage = *state;
	uint64_t columns[VIZ_BINS];
	const struct tb_link hot = {VIZ_HOT_LINK};
	assert_int_equal(
		tb_run_series(stage->run, hot, TB_WAIT, columns, VIZ_BINS, NULL), TB_OK);
	for (uint32_t bin = 0; bin < VIZ_BINS; bin++)
		assert_int_equal(columns[bin], bin >= VIZ_QUIET_FROM ? 0
					       : bin == VIZ_HOT_BIN  ? 1005000
								     : 5000);
	assert_int_equal(
		tb_run_series(stage->run, hot, TB_WAIT, columns, 2, NULL), TB_OK);
	assert_int_equal(columns[0], 205000);
	assert_int_equal(columns[1], 2000);
	assert_int_equal(
		tb_run_series(stage->run, hot, TB_LONGEST, columns, 2, NULL), TB_OK);
	assert_int_equal(columns[0], 1005000);
}

#define STAGED(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		STAGED(a_way_below_one_switch_does_not_ascend),
		STAGED(every_common_ancestor_is_a_way),
		STAGED(the_way_back_is_the_reverse),
		STAGED(there_is_no_way_to_oneself_or_to_nobody),
		STAGED(a_series_has_a_column_a_bin_or_the_mean_of_several),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
