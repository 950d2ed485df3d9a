// Between what a run time lies by what was captured (rules L16 and L17 of infer.h).
#include "../../../analyze/record/run_posterior.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

#define PATHS_MOST 6

// A job as its longest path sees it: computation, and bytes at a time per byte.
struct paths {
	double compute[PATHS_MOST], bytes[PATHS_MOST];
	int n;
};

static double takes(const struct paths *paths, double per_byte)
{
	double most = 0;
	for (int i = 0; i < paths->n; i++) {
		double took = paths->compute[i] + paths->bytes[i] * per_byte;
		most = took > most ? took : most;
	}
	return most;
}

static void near(double value, double wanted)
{
	assert_true(fabs(value - wanted) < 1e-9);
}

// by_times returns what two measured times allow, by their times of a byte.
static struct tb_posterior by_times(
	const double took[2], const double per_byte[2], double at)
{
	const struct tb_posterior_evidence evidence = {
		.captures = {{took[0], at / per_byte[0]}, {took[1], at / per_byte[1]}},
		.n_captures = 2,
		.is_like = true};
	return tb_arithmetic_bounds(&evidence);
}

static void the_line_is_above_between_and_below_beyond(void **state)
{
	(void)state;
	const double took[2] = {11, 5}, per_byte[2] = {10, 2};
	struct tb_posterior range = by_times(took, per_byte, 4);
	near(range.least_ps, 5);
	near(range.most_ps, 6.5);
	range = by_times(took, per_byte, 20);
	near(range.least_ps, 18.5);
	near(range.most_ps, 22);
	range = by_times(took, per_byte, 1);
	near(range.least_ps, 4.25);
	near(range.most_ps, 5);
}

static void captures_may_be_named_in_any_order(void **state)
{
	(void)state;
	const double took[2] = {11, 5}, per_byte[2] = {10, 2};
	const double swapped[2] = {5, 11}, per_swapped[2] = {2, 10};
	for (double at = 0.5; at < 30; at *= 1.5) {
		struct tb_posterior a = by_times(took, per_byte, at);
		struct tb_posterior b = by_times(swapped, per_swapped, at);
		near(a.least_ps, b.least_ps);
		near(a.most_ps, b.most_ps);
	}
}

static void equal_rates_give_no_slope(void **state)
{
	(void)state;
	const double took[2] = {10, 10.2}, per_byte[2] = {2, 2.02};
	struct tb_posterior range = by_times(took, per_byte, 1);
	near(range.least_ps, 10.2 / 2.02);
	near(range.most_ps, 10);
}

static double drawn(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (double)(*state >> 40) / (double)(1 << 24);
}

static void it_holds_for_any_longest_path(void **state)
{
	(void)state;
	uint64_t seed = 1;
	for (int i = 0; i < 10000; i++) {
		struct paths paths = {.n = 1 + i % PATHS_MOST};
		for (int k = 0; k < paths.n; k++) {
			paths.compute[k] = drawn(&seed);
			paths.bytes[k] = 4 * drawn(&seed);
		}
		const double per_byte[2] = {0.01 + drawn(&seed), 0.01 + drawn(&seed)};
		const double took[2] = {
			takes(&paths, per_byte[0]), takes(&paths, per_byte[1])};
		double at = 0.01 + 2 * drawn(&seed), is = takes(&paths, at);
		struct tb_posterior range = by_times(took, per_byte, at);
		assert_true(range.least_ps <= is * (1 + 1e-12));
		assert_true(range.most_ps >= is * (1 - 1e-12));
	}
}

static void one_time_bounds_by_the_ratio_of_rates(void **state)
{
	(void)state;
	struct tb_posterior_evidence evidence = {
		.captures = {{10, 4}}, .n_captures = 1, .is_like = true};
	struct tb_posterior slower = tb_arithmetic_bounds(&evidence);
	near(slower.least_ps, 10);
	near(slower.most_ps, 40);
	evidence.captures[0].slower = 0.25;
	struct tb_posterior quicker = tb_arithmetic_bounds(&evidence);
	near(quicker.least_ps, 2.5);
	near(quicker.most_ps, 10);
	// On a network that is another in more than its rate only the ratio holds.
	evidence.is_like = false;
	quicker = tb_arithmetic_bounds(&evidence);
	near(quicker.least_ps, 2.5);
	assert_true(quicker.most_ps > 1e9);
	evidence.captures[0].slower = 4;
	near(tb_arithmetic_bounds(&evidence).least_ps, 0);
	evidence.compute_ps = 3;
	near(tb_arithmetic_bounds(&evidence).least_ps, 3);
}

static bool is_within(struct tb_posterior range, double ps)
{
	return range.least_ps <= ps && ps <= range.most_ps;
}

static void what_misses_the_captured_time_counts_less(void **state)
{
	(void)state;
	// One says that the network is all, the other that computation is.
	struct tb_hypothesis_replayed list[] = {{2, {10}, NULL}, {9, {10}, NULL}};
	struct tb_posterior_evidence evidence = {.list = list,
		.n = 2,
		.captures = {{10, 0.2}},
		.n_captures = 1,
		.is_like = true};
	struct tb_posterior both = tb_run_posterior(&evidence);
	assert_true(is_within(both, 2) && is_within(both, 9));
	list[1].captured_ps[0] = 25;
	struct tb_posterior network = tb_run_posterior(&evidence);
	assert_true(network.most_ps < both.most_ps && network.middle_ps < 3);
	list[1].captured_ps[0] = 10;
	list[0].captured_ps[0] = 4;
	struct tb_posterior computation = tb_run_posterior(&evidence);
	assert_true(computation.middle_ps > 7 && computation.least_ps > both.least_ps);
}

static void what_supposes_more_counts_where_the_simpler_misses(void **state)
{
	(void)state;
	struct tb_hypothesis_replayed list[] = {{2, {10}, NULL}, {9, {10}, &list[0]}};
	struct tb_posterior_evidence evidence = {.list = list,
		.n = 2,
		.missed = 0.1,
		.captures = {{10, 0.2}},
		.n_captures = 1,
		.is_like = true};
	assert_false(is_within(tb_run_posterior(&evidence), 9));
	list[0].captured_ps[0] = 5;
	assert_true(is_within(tb_run_posterior(&evidence), 9));
	// Where nothing was replayed at the captured rate nothing is known of either.
	list[0].captured_ps[0] = list[1].captured_ps[0] = 0;
	struct tb_posterior range = tb_run_posterior(&evidence);
	assert_true(is_within(range, 2) && is_within(range, 9));
}

static void at_the_captured_rate_it_is_the_captured_time(void **state)
{
	(void)state;
	const struct tb_hypothesis_replayed list[] = {{7, {7}, NULL}, {14, {14}, NULL}};
	const struct tb_posterior_evidence evidence = {.list = list,
		.n = 2,
		.captures = {{10, 1}},
		.n_captures = 1,
		.is_like = true};
	struct tb_posterior range = tb_run_posterior(&evidence);
	near(range.middle_ps / 10, 1);
	assert_true(range.least_ps > 8 && range.most_ps < 12);
}

static void what_a_tree_adds_is_kept(void **state)
{
	(void)state;
	// It takes twice as long here as on the captured network, of the same rate.
	const struct tb_hypothesis_replayed list[] = {{20, {10}, NULL}};
	const struct tb_posterior_evidence evidence = {
		.list = list, .n = 1, .captures = {{10, 1}}, .n_captures = 1};
	near(tb_run_posterior(&evidence).middle_ps / 20, 1);
}

static void a_second_capture_counts_at_both_rates(void **state)
{
	(void)state;
	// Both explain the first time; the second shows that computation is the most.
	const struct tb_hypothesis_replayed list[] = {{3, {10, 2}, NULL},
		{8.5, {10, 8}, NULL}}; // at 0.25 of 1, captured 1 and 0.2
	const struct tb_posterior_evidence evidence = {.list = list,
		.n = 2,
		.captures = {{10, 0.25}, {8, 1.25}},
		.n_captures = 2,
		.is_like = true};
	struct tb_posterior range = tb_run_posterior(&evidence);
	assert_true(is_within(range, 8.1) && range.most_ps < 10 && range.least_ps > 6);
	// Between the rates it passes through both times, the nearer one more.
	assert_true(range.middle_ps > 7.5 && range.middle_ps < 8.5);
}

static void what_was_not_replayed_at_the_captured_rate_stands(void **state)
{
	(void)state;
	const struct tb_hypothesis_replayed list[] = {{5, {0}, NULL}};
	const struct tb_posterior_evidence evidence = {.list = list,
		.n = 1,
		.missed = 0.1,
		.captures = {{10, 0.25}},
		.n_captures = 1,
		.is_like = true};
	struct tb_posterior range = tb_run_posterior(&evidence);
	near(range.middle_ps / 5, 1);
	assert_true(range.least_ps < 5 && range.most_ps > 5);
}

static void the_closest_misses_least_at_all_captures(void **state)
{
	(void)state;
	const struct tb_hypothesis_replayed list[] = {{5, {9, 5}, NULL},
		{5, {11, 4}, NULL}, {5, {10, 0}, NULL}, {5, {11.1, 4}, NULL}};
	struct tb_posterior_evidence evidence = {
		.list = list, .n = 4, .captures = {{10, 1}, {4, 2}}, .n_captures = 2};
	assert_int_equal(tb_closest_hypothesis(&evidence), 3); // as close as the second
	evidence.n_captures = 1;
	assert_int_equal(tb_closest_hypothesis(&evidence), 2);
	evidence.n = 2;
	assert_int_equal(tb_closest_hypothesis(&evidence), 1);
	evidence.captures[0].took_ps = 9;
	assert_int_equal(tb_closest_hypothesis(&evidence), 0);
}

static void the_simpler_is_taken_if_it_misses_no_more(void **state)
{
	(void)state;
	struct tb_hypothesis_replayed list[] = {
		{5, {10}, NULL}, {5, {9.9}, NULL}, {8, {10}, &list[1]}};
	const struct tb_posterior_evidence evidence = {
		.list = list, .n = 3, .captures = {{10, 0.2}}, .n_captures = 1};
	assert_int_equal(tb_closest_hypothesis(&evidence), 1);
	list[1].captured_ps[0] = 9;
	assert_int_equal(tb_closest_hypothesis(&evidence), 2);
	for (size_t i = 0; i < 3; i++)
		list[i].captured_ps[0] = 0;
	assert_int_equal(tb_closest_hypothesis(&evidence), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_simpler_is_taken_if_it_misses_no_more),
		cmocka_unit_test(the_closest_misses_least_at_all_captures),
		cmocka_unit_test(the_line_is_above_between_and_below_beyond),
		cmocka_unit_test(captures_may_be_named_in_any_order),
		cmocka_unit_test(equal_rates_give_no_slope),
		cmocka_unit_test(it_holds_for_any_longest_path),
		cmocka_unit_test(one_time_bounds_by_the_ratio_of_rates),
		cmocka_unit_test(what_misses_the_captured_time_counts_less),
		cmocka_unit_test(what_supposes_more_counts_where_the_simpler_misses),
		cmocka_unit_test(at_the_captured_rate_it_is_the_captured_time),
		cmocka_unit_test(what_a_tree_adds_is_kept),
		cmocka_unit_test(a_second_capture_counts_at_both_rates),
		cmocka_unit_test(what_was_not_replayed_at_the_captured_rate_stands),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
