// The engine in parts against itself in one: the programs of replay_credits.c, which
// compares that with the oracle.
#include "../support/replay_credits.h"
#include "../support/replay_cut.h"
#include "credit_params.h"

static struct program program_in_parts(uint64_t seed, enum shape shape)
{
	struct program program = random_credit_program(seed, shape);
	struct tb_random random;
	tb_random_init(&random, seed, 200);
	tb_credit_params_mutable(&program.params)->congestion_control =
		TB_CONGESTION_NONE; // is not cut
	program.n_parts = 2 + below(&random, 4);
	program.n_threads = 1 + below(&random, 3);
	// Without an overhead what is posted can enter in the window.
	if (program.params.send_overhead_ps == 0)
		program.params.send_overhead_ps =
			(tb_time_ps)ONE_OF(&random, 1000, 30000, 500000);
	return program;
}

static void regular_trees_come_to_the_same_in_parts(void **state)
{
	(void)state;
	check_seeds(program_in_parts, is_cut, SHAPE_TREE, 150);
}

static void irregular_trees_come_to_the_same_in_parts(void **state)
{
	(void)state;
	check_seeds(program_in_parts, is_cut, SHAPE_IRREGULAR, 150);
}

static void unequal_rates_come_to_the_same_in_parts(void **state)
{
	(void)state;
	check_seeds(program_in_parts, is_cut, SHAPE_MIXED, 150);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(regular_trees_come_to_the_same_in_parts),
		cmocka_unit_test(irregular_trees_come_to_the_same_in_parts),
		cmocka_unit_test(unequal_rates_come_to_the_same_in_parts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
