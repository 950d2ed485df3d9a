// Random jobs on one network: whatever their placements, every rank has a node that it
// may have, no node has two jobs, and a refusal leaves the others as they are.
#include "ids.h"
#include "network_open.h"
#include "placement.h"
#include "preset.h"
#include "random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define N_NODES 64
#define N_JOBS	6

static struct tb_network *network;
static struct tb_error error;

static int set_up(void **state)
{
	(void)state;
	struct tb_network_params params;
	if (tb_network_preset(&params, "qsnet", &error) != TB_OK)
		return -1;
	return tb_network_open(
		&network, &(struct tb_network_description){.params = &params}, &error);
}

static int tear_down(void **state)
{
	(void)state;
	tb_network_free(network);
	return 0;
}

static struct tb_placement draw_placement(
	struct tb_random *random, char *list, size_t size)
{
	struct tb_placement placement = {
		.kind = (enum tb_placement_kind)tb_random_below(random, 4),
		.stride = 1 + (uint32_t)tb_random_below(random, 9)};
	if (tb_random_below(random, 3) == 0) {
		uint32_t first = (uint32_t)tb_random_below(random, N_NODES);
		uint32_t last = first + (uint32_t)tb_random_below(random, 12);
		snprintf(list, size, "n[%u-%u]", first, last);
		placement.nodes = list;
	}
	return placement;
}

static void no_node_has_two_jobs(void **state)
{
	(void)state;
	uint32_t n_placed = 0, n_refused = 0;
	for (uint64_t seed = 1; seed <= 300; seed++) {
		uint32_t owner[N_NODES];
		struct tb_places *places = NULL;
		struct tb_random random;
		tb_random_init(&random, seed, 0);
		memset(owner, 0xff, sizeof owner);
		assert_int_equal(tb_places_new(&places, network, seed, &error), TB_OK);
		for (uint32_t job = 0; job < N_JOBS; job++) {
			char list[32];
			struct tb_placement placement =
				draw_placement(&random, list, sizeof list);
			uint32_t n_ranks = 1 + (uint32_t)tb_random_below(&random, 20);
			uint32_t *nodes = NULL;
			if (tb_places_put(places, job, "job", n_ranks, &placement, &nodes,
				    &error) != TB_OK) {
				assert_null(nodes);
				n_refused++;
				continue;
			}
			for (uint32_t rank = 0; rank < n_ranks; rank++) {
				assert_true(nodes[rank] < N_NODES);
				assert_int_equal(owner[nodes[rank]], TB_ID_NONE);
				owner[nodes[rank]] = job;
			}
			free(nodes);
			n_placed++;
		}
		tb_places_free(places);
	}
	print_message("%u placed, %u refused\n", n_placed, n_refused);
	assert_true(n_placed > 500 && n_refused > 100);
}

// place_alone places a job on the whole network.
static uint32_t *place_alone(
	uint32_t n_ranks, const struct tb_placement *placement, uint64_t seed)
{
	struct tb_places *places = NULL;
	uint32_t *nodes = NULL;
	assert_int_equal(tb_places_new(&places, network, seed, &error), TB_OK);
	assert_int_equal(
		tb_places_put(places, 3, "job", n_ranks, placement, &nodes, &error),
		TB_OK);
	tb_places_free(places);
	return nodes;
}

static void cyclic_fills_switches_evenly(void **state)
{
	(void)state;
	for (uint32_t n = 1; n <= N_NODES; n++) {
		const struct tb_placement cyclic = {.kind = TB_PLACE_CYCLIC};
		uint32_t *nodes = place_alone(n, &cyclic, 1);
		uint32_t on_leaf[N_NODES / 4] = {0};
		for (uint32_t rank = 0; rank < n; rank++) {
			assert_int_equal(nodes[rank] / 4, rank % (N_NODES / 4));
			on_leaf[nodes[rank] / 4]++;
		}
		for (uint32_t leaf = 1; leaf < N_NODES / 4; leaf++)
			assert_true(on_leaf[leaf] <= on_leaf[leaf - 1] &&
				    on_leaf[leaf] + 1 >= on_leaf[leaf - 1]);
		free(nodes);
	}
}

static void random_is_an_order_that_the_seed_gives(void **state)
{
	(void)state;
	const struct tb_placement placement = {.kind = TB_PLACE_RANDOM};
	uint32_t *first = place_alone(N_NODES, &placement, 5);
	uint32_t *again = place_alone(N_NODES, &placement, 5);
	uint32_t *other = place_alone(N_NODES, &placement, 6);
	uint64_t seen = 0;
	for (uint32_t rank = 0; rank < N_NODES; rank++)
		seen |= UINT64_C(1) << first[rank];
	assert_true(seen == UINT64_MAX);
	assert_memory_equal(first, again, N_NODES * sizeof *first);
	assert_memory_not_equal(first, other, N_NODES * sizeof *first);
	free(first);
	free(again);
	free(other);
}

// Each of N_NODES ranks stays where it was with one seed in as many.
static void random_may_leave_a_rank_in_its_place(void **state)
{
	(void)state;
	const struct tb_placement placement = {.kind = TB_PLACE_RANDOM};
	uint32_t n_stayed = 0;
	for (uint64_t seed = 1; seed <= 100; seed++) {
		uint32_t *nodes = place_alone(N_NODES, &placement, seed);
		for (uint32_t rank = 0; rank < N_NODES; rank++)
			n_stayed += nodes[rank] == rank;
		free(nodes);
	}
	assert_in_range(n_stayed, 60, 140);
}

static void strides_come_back_to_what_they_passed_over(void **state)
{
	(void)state;
	for (uint32_t stride = 1; stride <= N_NODES; stride++) {
		const struct tb_placement placement = {
			.kind = TB_PLACE_STRIDE, .stride = stride};
		uint32_t *nodes = place_alone(N_NODES, &placement, 1);
		uint32_t rank = 0;
		for (uint32_t first = 0; first < stride; first++)
			for (uint32_t node = first; node < N_NODES; node += stride)
				assert_int_equal(nodes[rank++], node);
		assert_int_equal(rank, N_NODES);
		free(nodes);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_node_has_two_jobs),
		cmocka_unit_test(cyclic_fills_switches_evenly),
		cmocka_unit_test(random_is_an_order_that_the_seed_gives),
		cmocka_unit_test(random_may_leave_a_rank_in_its_place),
		cmocka_unit_test(strides_come_back_to_what_they_passed_over),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
