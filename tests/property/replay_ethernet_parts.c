// Ethernet in parts against itself in one: random networks and messages, among them
// captured frames, with each congestion control and queues that lose frames.
#include "../support/replay_cut.h"
#include "../support/replay_ethernet.h"

static struct program program_in_parts(uint64_t seed, enum shape shape)
{
	struct tb_random random;
	struct program program = random_ethernet_program(&random, seed, shape);
	program.n_parts = 2 + below(&random, 4);
	program.n_threads = 1 + below(&random, 3);
	return program;
}

static void regular_trees_come_to_the_same_in_parts(void **state)
{
	(void)state;
	check_seeds(program_in_parts, is_cut, SHAPE_TREE, 100);
}

static void irregular_trees_come_to_the_same_in_parts(void **state)
{
	(void)state;
	check_seeds(program_in_parts, is_cut, SHAPE_IRREGULAR, 100);
}

static void unequal_rates_come_to_the_same_in_parts(void **state)
{
	(void)state;
	check_seeds(program_in_parts, is_cut, SHAPE_MIXED, 100);
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
