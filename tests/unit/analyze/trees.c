// What a store tells of congestion trees, waits by level and blame, row by row.
#include "../../viz_fixture.h"

#include "flow_table.h"
#include "trees.h"

#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

struct stage {
	char path[64];
	struct tb_run *run;
};

static int set_up(void **state)
{
	struct stage *stage = calloc(1, sizeof *stage);
	struct tb_error error;
	viz_path(stage->path);
	viz_store(stage->path);
	viz_check(tb_run_open(&stage->run, stage->path, 0, &error), &error);
	*state = stage;
	return 0;
}

static int tear_down(void **state)
{
	struct stage *stage = *state;
	tb_run_free(stage->run);
	unlink(stage->path);
	free(stage);
	return 0;
}

static uint64_t wait_of(const struct tb_trees *trees, uint32_t root, uint32_t bin)
{
	uint64_t wait_ps = 0;
	for (uint32_t i = trees->root_first[root]; i < trees->root_first[root + 1]; i++)
		if (trees->roots[i].bin == bin)
			wait_ps += trees->roots[i].wait_ps;
	return wait_ps;
}

static void trees_come_back_root_by_root(void **state)
{
	struct stage *stage = *state;
	struct tb_trees trees;
	assert_int_equal(tb_trees_init(&trees, stage->run, NULL), TB_OK);
	assert_int_equal(trees.bin_ps, 2 * TB_PS_PER_US);
	assert_int_equal(trees.n_bins, 4);
	assert_int_equal(trees.n_roots, 4);
	assert_int_equal(trees.root_first[VIZ_ROOT], 0);
	assert_int_equal(trees.root_first[VIZ_ROOT + 1], 3);
	assert_int_equal(wait_of(&trees, VIZ_ROOT, 1), 600000);
	assert_int_equal(wait_of(&trees, VIZ_ROOT + 5, 3), 220000);
	assert_int_equal(trees.n, 7);
	assert_int_equal(trees.first[VIZ_ROOT], 0);
	assert_int_equal(trees.first[VIZ_ROOT + 1], 6);
	assert_int_equal(trees.rows[2].bin, 1);
	assert_int_equal(trees.rows[2].root.id, VIZ_ROOT);
	assert_int_equal(trees.rows[2].wait_ps, 300000);
	assert_int_equal(trees.rows[6].root.id, VIZ_ROOT + 5);
	tb_trees_fini(&trees);
}

static void change(const struct stage *stage, const char *sql)
{
	sqlite3 *db;
	assert_int_equal(sqlite3_open(stage->path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
}

static void trees_of_the_first_slice_alone_are_one_slice(void **state)
{
	struct stage *stage = *state;
	struct tb_trees trees;
	change(stage, "DELETE FROM tree_bin WHERE bin > 0; DELETE FROM root_bin WHERE "
		      "bin > 0");
	assert_int_equal(tb_trees_init(&trees, stage->run, NULL), TB_OK);
	assert_int_equal(trees.n_bins, 1);
	assert_int_equal(trees.n, 2);
	tb_trees_fini(&trees);
}

// As in a store of a large network: slices 0 and 1 of the trees are slice 0 of the sums.
static void slices_of_trees_are_joined_to_those_of_roots(void **state)
{
	struct stage *stage = *state;
	struct tb_trees trees;
	change(stage, "UPDATE run SET root_bin_ps = 2 * tree_bin_ps; "
		      "CREATE TEMP TABLE r AS SELECT run, bin / 2 AS bin, root, "
		      "sum(wait_ps) FROM root_bin GROUP BY 1, 2, 3; "
		      "DELETE FROM root_bin; INSERT INTO root_bin SELECT * FROM r");
	assert_int_equal(tb_trees_init(&trees, stage->run, NULL), TB_OK);
	assert_int_equal(trees.bin_ps, 4 * TB_PS_PER_US);
	assert_int_equal(trees.n_bins, 2);
	assert_int_equal(wait_of(&trees, VIZ_ROOT, 0), 800000);
	assert_int_equal(trees.n, 5);
	assert_int_equal(trees.rows[0].wait_ps, 400000);
	tb_trees_fini(&trees);
}

static void levels_together_wait_as_long_as_all_links(void **state)
{
	struct stage *stage = *state;
	const struct tb_run_info *info = tb_run_info(stage->run);
	uint64_t by_bin[VIZ_BINS], by_level[VIZ_BINS * 2];
	assert_int_equal(info->n_levels, 2);
	assert_int_equal(tb_run_wait_by_bin(stage->run, by_bin, NULL), TB_OK);
	assert_int_equal(tb_run_wait_by_level(stage->run, by_level, NULL), TB_OK);
	for (uint32_t bin = 0; bin < VIZ_BINS; bin++)
		assert_int_equal(by_level[2 * bin] + by_level[2 * bin + 1], by_bin[bin]);
	assert_true(by_level[0] > 0 && by_level[1] > 0);
}

static void flows_add_up_to_their_span_and_worst(void **state)
{
	(void)state;
	struct tb_flow_sample sum = {0};
	const struct tb_flow_sample flows[] = {{.n_messages = 2,
						       .n_packets = 3,
						       .bytes = 5,
						       .latency_ps = 7,
						       .queue_ps = 2,
						       .network_ps = 3,
						       .ideal_ps = 11,
						       .wait_ps = 13,
						       .blamed_ps = 2,
						       .first_ps = 40,
						       .last_ps = 90,
						       .worst_latency_ps = 6},
		{.n_messages = 17,
			.n_packets = 19,
			.bytes = 23,
			.latency_ps = 29,
			.queue_ps = 17,
			.network_ps = 8,
			.ideal_ps = 31,
			.wait_ps = 37,
			.blamed_ps = 3,
			.first_ps = 50,
			.last_ps = 80,
			.worst_latency_ps = 4},
		{.n_messages = 1, .first_ps = 30, .last_ps = 95, .worst_latency_ps = 9}};
	for (int i = 0; i < 3; i++) {
		tb_flow_add(&sum, &flows[i]);
		assert_int_equal(sum.first_ps, i < 2 ? 40 : 30);
		assert_int_equal(sum.last_ps, i < 2 ? 90 : 95);
		assert_int_equal(sum.worst_latency_ps, i < 2 ? 6 : 9);
	}
	assert_int_equal(sum.n_messages, 20);
	assert_int_equal(sum.n_packets, 22);
	assert_int_equal(sum.bytes, 28);
	assert_int_equal(sum.latency_ps, 36);
	assert_int_equal(sum.queue_ps, 19);
	assert_int_equal(sum.network_ps, 11);
	assert_int_equal(sum.ideal_ps, 42);
	assert_int_equal(sum.wait_ps, 50);
	assert_int_equal(sum.blamed_ps, 5);
}

static void flows_stand_by_source_and_destination(void **state)
{
	struct stage *stage = *state;
	struct tb_flow_table table;
	assert_int_equal(tb_flow_table_init(&table, stage->run, NULL), TB_OK);
	assert_int_equal(table.n, 16);
	assert_int_equal(table.group, 1);
	for (uint32_t i = 0; i < 16; i++) {
		assert_int_equal(table.rows[i].source.id, i);
		assert_int_equal(tb_flow_table_from(&table, i), i);
	}
	assert_int_equal(table.rows[9].destination.id, 14);
	assert_int_equal(tb_flow_table_from(&table, 99), 16);
	tb_flow_table_fini(&table);
}

#define STAGED(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		STAGED(trees_come_back_root_by_root),
		STAGED(trees_of_the_first_slice_alone_are_one_slice),
		STAGED(slices_of_trees_are_joined_to_those_of_roots),
		STAGED(levels_together_wait_as_long_as_all_links),
		cmocka_unit_test(flows_add_up_to_their_span_and_worst),
		STAGED(flows_stand_by_source_and_destination),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
