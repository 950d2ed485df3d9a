// Which flows surely waited for a root, of those that waited at its links.
#include "root_list.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

// Link 3 held headers for root 7 and root 8, link 4 for root 7 alone, link 5 for root 8.
static struct tb_tree_sample rows[] = {
	{.bin = 0, .root = {7}, .link = {3}, .wait_ps = 60},
	{.bin = 1, .root = {7}, .link = {3}, .wait_ps = 40},
	{.bin = 1, .root = {7}, .link = {4}, .wait_ps = 50},
	{.bin = 0, .root = {8}, .link = {3}, .wait_ps = 30},
	{.bin = 0, .root = {8}, .link = {5}, .wait_ps = 20},
};
static struct tb_blame_sample heavy[] = {
	{.link = {3}, .wait_ps = 80},
	{.link = {4}, .wait_ps = 49, .error_ps = 1},
	{.link = {4}, .wait_ps = 1},
	{.link = {3}, .wait_ps = 30},
	{.link = {5}, .wait_ps = 20},
	{.link = {6}, .wait_ps = 90},
};
static const uint64_t wait_ps[] = {0, 0, 0, 130, 50, 20, 90, 0, 0};
static const struct tb_heavy_waits waits = {.rows = heavy, .listed = {.n = 6}};

static void a_flow_is_listed_for_what_others_did_not_wait(void **state)
{
	(void)state;
	const struct tb_trees trees = {.rows = rows, .n = 5};
	struct tb_root_victims victims = {0};
	const struct tb_link seven = {7}, eight = {8};
	assert_int_equal(
		tb_root_victims_read(&victims, &trees, &waits, wait_ps, seven), 0);
	assert_int_equal(victims.n, 4);
	assert_int_equal(victims.list[0].row, 0);
	assert_int_equal(victims.list[0].least_ps, 50);
	assert_int_equal(victims.list[0].most_ps, 80);
	assert_int_equal(victims.list[1].row, 1);
	assert_int_equal(victims.list[1].least_ps, 49);
	assert_int_equal(victims.list[1].most_ps, 50); // its row may leave some out
	assert_int_equal(victims.list[2].row, 2);
	assert_int_equal(victims.list[2].least_ps, 1);
	assert_int_equal(victims.list[2].most_ps, 1);
	assert_int_equal(victims.list[3].row, 3); // these 30 may be for root 8
	assert_int_equal(victims.list[3].least_ps, 0);
	assert_int_equal(victims.list[3].most_ps, 30);
	assert_int_equal(
		tb_root_victims_read(&victims, &trees, &waits, wait_ps, eight), 0);
	assert_int_equal(victims.n, 3);
	assert_int_equal(victims.list[0].row, 4);
	assert_int_equal(victims.list[1].least_ps, 0);
	assert_int_equal(victims.list[1].most_ps, 30); // no more waited for root 8 there
	tb_root_victims_fini(&victims);
}

static void what_trees_left_out_makes_flows_doubtful(void **state)
{
	(void)state;
	// 25 in all are not in the rows: 25 of the waits at link 4, none of those at 3.
	static const uint64_t more_ps[] = {0, 0, 0, 130, 75, 20, 90, 0, 0};
	const struct tb_trees trees = {.rows = rows, .n = 5, .rest_ps = 25};
	struct tb_root_victims victims = {0};
	const struct tb_link seven = {7};
	assert_int_equal(
		tb_root_victims_read(&victims, &trees, &waits, more_ps, seven), 0);
	assert_int_equal(victims.n, 4);
	assert_int_equal(victims.list[0].row, 0);
	assert_int_equal(victims.list[0].least_ps, 50); // by what link 3 waited in all
	assert_int_equal(victims.list[1].row, 1);
	assert_int_equal(victims.list[1].least_ps, 24);
	assert_int_equal(victims.list[2].least_ps, 0);
	tb_root_victims_fini(&victims);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_flow_is_listed_for_what_others_did_not_wait),
		cmocka_unit_test(what_trees_left_out_makes_flows_doubtful),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
