// Flows and blame as squares.
#include "squares.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

// flow_of returns a flow of one message, which takes twice its ideal time.
static struct tb_flow_sample flow_of(
	uint32_t source, uint32_t destination, uint64_t bytes)
{
	return (struct tb_flow_sample){.source = {source},
		.destination = {destination},
		.n_messages = 1,
		.bytes = bytes,
		.latency_ps = 5 * bytes,
		.queue_ps = 2 * bytes,
		.network_ps = 2 * bytes,
		.worst_latency_ps = 2 * bytes,
		.ideal_ps = bytes,
		.first_ps = (tb_time_ps)bytes,
		.last_ps = (tb_time_ps)(3 * bytes)};
}

static const struct tb_flow_span always = {.to = INT64_MAX};

static void cells_sum_what_falls_into_them(void **state)
{
	(void)state;
	struct tb_flow_sample rows[] = {
		flow_of(0, 5, 100), flow_of(1, 4, 300), flow_of(6, 0, 50)};
	const struct tb_flow_table table = {rows, 3, 1, 3};
	struct tb_flow_grid grid = {0};
	const struct tb_flow_range all = {0, 8, 0, 8};
	assert_int_equal(
		tb_flow_grid_fill(&grid, &table, all, 2, TB_FLOW_BYTES, always), TB_OK);
	const struct tb_flow_cell *cell = tb_flow_grid_at(&grid, 0, 2);
	assert_int_equal(cell->n_flows, 2);
	assert_int_equal(cell->sum.bytes, 400);
	assert_int_equal(cell->heaviest, 1);
	assert_true(grid.largest == 400);
	assert_int_equal(tb_flow_grid_at(&grid, 3, 0)->n_flows, 1);
	assert_null(tb_flow_grid_at(&grid, 4, 0));
	const struct tb_flow_range odd = {0, 7, 0, 7}; // the last cell has one node
	assert_int_equal(
		tb_flow_grid_fill(&grid, &table, odd, 2, TB_FLOW_BYTES, always), TB_OK);
	assert_non_null(tb_flow_grid_at(&grid, 3, 0));
	assert_int_equal(tb_flow_grid_at(&grid, 3, 0)->n_flows, 1);
	assert_int_equal(
		tb_flow_grid_fill(&grid, &table, all, 2, TB_FLOW_SLOWDOWN, always),
		TB_OK);
	assert_true(grid.largest == 2);
	tb_flow_grid_fini(&grid);
}

static void a_part_of_the_square_leaves_the_rest_out(void **state)
{
	(void)state;
	struct tb_flow_sample rows[] = {
		flow_of(0, 5, 100), flow_of(4, 4, 300), flow_of(6, 0, 50)};
	const struct tb_flow_table table = {rows, 3, 1, 3};
	struct tb_flow_grid grid = {0};
	const struct tb_flow_range part = {4, 8, 4, 8};
	assert_int_equal(
		tb_flow_grid_fill(&grid, &table, part, 1, TB_FLOW_BYTES, always), TB_OK);
	assert_int_equal(tb_flow_grid_at(&grid, 4, 4)->sum.bytes, 300);
	assert_true(grid.largest == 300);
	assert_null(tb_flow_grid_at(&grid, 0, 5));
	tb_flow_grid_fini(&grid);
}

static void flows_outside_of_the_window_are_left_out(void **state)
{
	(void)state;
	struct tb_flow_sample rows[] = {flow_of(0, 1, 100), flow_of(1, 0, 1000)};
	const struct tb_flow_table table = {rows, 2, 1, 2};
	struct tb_flow_grid grid = {0};
	const struct tb_flow_range all = {0, 2, 0, 2};
	const struct tb_flow_span early = {.to = 200};
	assert_int_equal(
		tb_flow_grid_fill(&grid, &table, all, 1, TB_FLOW_BYTES, early), TB_OK);
	assert_int_equal(tb_flow_grid_at(&grid, 0, 1)->n_flows, 1);
	assert_int_equal(tb_flow_grid_at(&grid, 1, 0)->n_flows, 0);
	tb_flow_grid_fini(&grid);
}

static struct tb_blame_sample blame_of(
	uint32_t victim, uint32_t culprit, uint32_t link, uint64_t wait_ps)
{
	return (struct tb_blame_sample){.link = {link},
		.victim_job = victim % 2,
		.victim_source = {victim},
		.victim_destination = {victim + 1},
		.culprit_job = culprit % 2,
		.culprit_source = {culprit},
		.culprit_destination = {culprit + 1},
		.n_waits = 1,
		.wait_ps = wait_ps};
}

static const struct tb_blame_filter anybody = {
	TB_ID_NONE, TB_ID_NONE, TB_ID_NONE, TB_ID_NONE};

static void no_row_of_the_square_stands_empty(void **state)
{
	(void)state;
	const struct tb_blame_sample rows[] = {blame_of(2, 4, 1, 500),
		blame_of(6, 4, 2, 400), blame_of(3, 8, 1, 300), blame_of(6, 8, 3, 200)};
	struct tb_blame_square square;
	assert_int_equal(
		tb_blame_square_fill(&square, rows, 4, TB_BLAME_OF_FLOWS, &anybody, 2),
		TB_OK);
	assert_int_equal(square.n_victims, 2);
	assert_int_equal(square.victims[0].source.id, 2);
	assert_int_equal(square.victims[1].source.id, 6);
	assert_int_equal(square.victims[1].wait_ps, 600);
	assert_int_equal(square.culprits[0].wait_ps, 900);
	assert_int_equal(square.wait_ps[1][0], 400);
	assert_int_equal(square.heaviest[1][1], 3);
	assert_int_equal(square.all_victims, 3);
	assert_int_equal(square.whole_ps, 1400);
	assert_int_equal(square.shown_ps, 1100);
}

static void jobs_are_added_up_and_a_link_narrows_them(void **state)
{
	(void)state;
	const struct tb_blame_sample rows[] = {blame_of(2, 4, 1, 500),
		blame_of(6, 4, 2, 400), blame_of(3, 8, 1, 300), blame_of(6, 8, 3, 200)};
	struct tb_blame_square square;
	struct tb_blame_filter at_link = anybody;
	assert_int_equal(
		tb_blame_square_fill(&square, rows, 4, TB_BLAME_OF_JOBS, &anybody, 8),
		TB_OK);
	assert_int_equal(square.n_victims, 2);
	assert_int_equal(square.wait_ps[0][0], 1100);
	assert_int_equal(square.wait_ps[1][0], 300);
	at_link.link = 1;
	assert_int_equal(
		tb_blame_square_fill(&square, rows, 4, TB_BLAME_OF_JOBS, &at_link, 8),
		TB_OK);
	assert_int_equal(square.whole_ps, 800);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cells_sum_what_falls_into_them),
		cmocka_unit_test(a_part_of_the_square_leaves_the_rest_out),
		cmocka_unit_test(flows_outside_of_the_window_are_left_out),
		cmocka_unit_test(no_row_of_the_square_stands_empty),
		cmocka_unit_test(jobs_are_added_up_and_a_link_narrows_them),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
