// Graphs whose best cut is known: cliques that were dealt over all leaves come together,
// a ring is cut once per leaf, and no leaf gets more vertices than it has places.
#include "seating_impl.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static void join(struct tb_partition *cut, uint32_t a, uint32_t b, double bytes)
{
	cut->edges[cut->n_edges++] = (struct tb_partition_edge){a, b, bytes};
}

static void begin(
	struct tb_partition *cut, uint32_t n, const uint32_t *sizes, uint32_t n_leaves)
{
	assert_int_equal(tb_partition_init(cut, n), TB_OK);
	cut->edges = malloc((size_t)n * n * sizeof *cut->edges);
	assert_non_null(cut->edges);
	cut->n = n;
	for (uint32_t leaf = 0; leaf < n_leaves; leaf++)
		for (uint32_t i = 0; i < sizes[leaf]; i++, cut->n_places++)
			cut->places[cut->n_places] =
				(struct tb_partition_place){leaf, cut->n_places};
}

// crossing checks that places are taken once, and returns the bytes between leaves.
static double crossing(const struct tb_partition *cut)
{
	double bytes = 0;
	bool *taken = calloc(cut->n, sizeof *taken);
	assert_non_null(taken);
	for (uint32_t v = 0; v < cut->n; v++) {
		assert_true(cut->place[v] < cut->n_places);
		assert_false(taken[cut->place[v]]);
		taken[cut->place[v]] = true;
	}
	free(taken);
	for (size_t i = 0; i < cut->n_edges; i++)
		if (cut->places[cut->place[cut->edges[i].a]].leaf !=
			cut->places[cut->place[cut->edges[i].b]].leaf)
			bytes += cut->edges[i].bytes;
	return bytes;
}

static void cliques_come_together(void **state)
{
	(void)state;
	struct tb_partition cut;
	const uint32_t sizes[] = {8, 8, 8, 8};
	begin(&cut, 32, sizes, 4);
	for (uint32_t a = 0; a < 32; a++)
		for (uint32_t b = 0; b < a; b++)
			if (a % 4 == b % 4)
				join(&cut, a, b, 1e12);
	join(&cut, 0, 1, 7);
	assert_int_equal(tb_partition_make(&cut), TB_OK);
	assert_true(crossing(&cut) == 7);
	tb_partition_fini(&cut);
}

static void a_ring_is_cut_once_per_leaf(void **state)
{
	(void)state;
	struct tb_partition cut;
	const uint32_t sizes[] = {16, 16, 16, 16};
	begin(&cut, 64, sizes, 4);
	for (uint32_t i = 0; i < 64; i++) // by 29s, so that neighbours are far apart
		join(&cut, i * 29 % 64, (i + 1) * 29 % 64, 1000);
	assert_int_equal(tb_partition_make(&cut), TB_OK);
	assert_true(crossing(&cut) == 4 * 1000);
	tb_partition_fini(&cut);
}

static void leaves_hold_what_they_have_places_for(void **state)
{
	(void)state;
	struct tb_partition cut;
	const uint32_t sizes[] = {1, 13, 2, 7, 1, 5};
	begin(&cut, 29, sizes, 6);
	for (uint32_t a = 0; a < 29; a++) // a star and a chain: hard to balance
		for (uint32_t b = a + 1; b < 29; b++)
			if (a == 0 || b == a + 1)
				join(&cut, b, a, a == 0 ? 3 : 100);
	assert_int_equal(tb_partition_make(&cut), TB_OK);
	assert_true(crossing(&cut) <= 28 * 3 + 6 * 100);
	tb_partition_fini(&cut);
}

static void edges_both_ways_are_one(void **state)
{
	(void)state;
	struct tb_partition cut;
	const uint32_t sizes[] = {2, 2};
	begin(&cut, 4, sizes, 2);
	join(&cut, 0, 2, 6);
	join(&cut, 2, 0, 6);
	join(&cut, 1, 0, 10);
	join(&cut, 3, 1, 5);
	assert_int_equal(tb_partition_make(&cut), TB_OK);
	assert_int_equal(cut.n_edges, 3);
	assert_true(crossing(&cut) == 10); // 12 stays together, 10 is cut, with 3 and 1
	tb_partition_fini(&cut);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cliques_come_together),
		cmocka_unit_test(a_ring_is_cut_once_per_leaf),
		cmocka_unit_test(leaves_hold_what_they_have_places_for),
		cmocka_unit_test(edges_both_ways_are_one),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
