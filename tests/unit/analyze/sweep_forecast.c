// What is foreseen of a sweep's points from those that are done.
#include "sweep_work.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static int read_points(void **state)
{
	static struct tb_sweep sweep;
	static const char *const changes[] = {
		"nodes=16,64", "load=0.05,0.2,0.4,1", "message=2K,16K,128K"};
	struct tb_error error;
	memset(&sweep, 0, sizeof sweep);
	if (tb_sweep_read(&sweep, "uniform", changes, 3, &error) != TB_OK)
		return -1;
	*state = &sweep;
	return 0;
}

static int free_points(void **state)
{
	tb_sweep_fini(*state);
	return 0;
}

static void without_any_point_costs_are_foreseen(void **state)
{
	const struct tb_sweep *sweep = *state;
	const struct tb_sweep_forecast none = {.n = 0};
	for (size_t i = 0; i < sweep->n_points; i++)
		assert_true(tb_sweep_forecast_of(&none, &sweep->points[i]) ==
			    tb_sweep_cost(&sweep->points[i]));
}

static void more_load_than_is_accepted_takes_no_longer(void **state)
{
	const struct tb_sweep *sweep = *state;
	for (size_t i = 0; i < sweep->n_points; i++) {
		double load = sweep->points[i].experiment.load;
		double share = tb_sweep_share(&sweep->points[i]);
		assert_true(load == 1 ? share == 1 : share < 1);
		assert_true(load > 0.05 || share < 0.13);
	}
}

// took gives points times that grow otherwise than their costs.
static double took(const struct tb_sweep_point *point)
{
	const struct tb_experiment *experiment = &point->experiment;
	return 1e-6 * tb_sweep_cost(point) * sqrt(experiment->n_active) *
	       pow((double)experiment->message_bytes, -0.3) *
	       pow(tb_sweep_share(point), -0.2);
}

static void small_messages_are_foreseen_from_large_ones(void **state)
{
	const struct tb_sweep *sweep = *state;
	struct tb_sweep_forecast forecast = {.n = 0};
	double left_s = 0, foreseen_s = 0, by_cost = 0, taken_s = 0, cost = 0;
	for (size_t i = 0; i < sweep->n_points; i++) {
		const struct tb_sweep_point *point = &sweep->points[i];
		if (point->experiment.message_bytes == 2048)
			continue;
		tb_sweep_forecast_add(&forecast, point, took(point));
		taken_s += took(point);
		cost += tb_sweep_cost(point);
	}
	for (size_t i = 0; i < sweep->n_points; i++) {
		const struct tb_sweep_point *point = &sweep->points[i];
		if (point->experiment.message_bytes != 2048)
			continue;
		left_s += took(point);
		foreseen_s += tb_sweep_forecast_of(&forecast, point);
		by_cost += tb_sweep_cost(point) * taken_s / cost;
	}
	assert_true(fabs(foreseen_s / left_s - 1) < 0.15);
	// Costs alone would not do.
	assert_true(by_cost < 0.6 * left_s);
}

static void one_point_sets_the_factor(void **state)
{
	const struct tb_sweep *sweep = *state;
	struct tb_sweep_forecast forecast = {.n = 0};
	tb_sweep_forecast_add(&forecast, &sweep->points[3], 7);
	assert_true(fabs(tb_sweep_forecast_of(&forecast, &sweep->points[3]) - 7) < 0.01);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_any_point_costs_are_foreseen),
		cmocka_unit_test(more_load_than_is_accepted_takes_no_longer),
		cmocka_unit_test(small_messages_are_foreseen_from_large_ones),
		cmocka_unit_test(one_point_sets_the_factor),
	};
	return cmocka_run_group_tests(tests, read_points, free_points);
}
