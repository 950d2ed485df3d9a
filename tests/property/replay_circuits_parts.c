// Circuits in parts, side by side on several threads, against themselves in one: the
// programs of replay_oracle.c, which compares that with the oracle.
//
// REPLAY_SEEDS=FIRST-LAST tries others than the usual seeds.
#include "../support/replay_compare.h"
#include "../support/replay_cut.h"
#include "network_parts.h"

static struct program program_in_parts(uint64_t seed, enum shape shape)
{
	struct program program = random_program(seed, shape);
	struct tb_random random;
	tb_random_init(&random, seed, 200);
	program.n_parts = 2 + below(&random, 4);
	program.n_threads = 1 + below(&random, 3);
	// Without an overhead what is posted can enter in the window.
	if (program.params.send_overhead_ps == 0)
		program.params.send_overhead_ps =
			(tb_time_ps)ONE_OF(&random, 1000, 30000, 500000);
	return program;
}

// circuits_are_cut returns whether the engine does cut, at switches, the network of a
// program.
static bool circuits_are_cut(const struct program *program)
{
	struct tb_error error;
	struct tb_network *net = network_of(program, &error);
	struct tb_parts *parts = NULL;
	assert_non_null(net);
	assert_int_equal(tb_parts_new(&parts, net, program->n_parts), TB_OK);
	assert_int_equal(tb_parts_own_cables(parts, net), TB_OK);
	bool cut = parts->n > 1 &&
		   program->params.ascent != TB_ASCENT_ADAPTIVE_ROUND_ROBIN &&
		   !tb_parts_split_group(parts, net);
	tb_parts_free(parts);
	tb_network_free(net);
	return cut;
}

static void regular_trees_come_to_the_same_in_parts(void **state)
{
	(void)state;
	check_seeds(program_in_parts, circuits_are_cut, SHAPE_TREE, 300);
}

static void irregular_trees_come_to_the_same_in_parts(void **state)
{
	(void)state;
	check_seeds(program_in_parts, circuits_are_cut, SHAPE_IRREGULAR, 300);
}

static void unequal_rates_come_to_the_same_in_parts(void **state)
{
	(void)state;
	check_seeds(program_in_parts, circuits_are_cut, SHAPE_MIXED, 300);
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
