// Algorithms made of parts: other collective operations, permissions before data.
#include "algorithms.h"

#include <string.h>

void tb_plan_part(struct tb_plan *plan, const struct tb_collective_shape *whole,
	enum tb_collective_op op, uint64_t bytes)
{
	struct tb_collective_shape shape = {.op = op,
		.n = whole->n,
		.n_local = whole->n,
		.bytes = bytes,
		.hosts = whole->hosts,
		.call = whole->call};
	struct tb_choice choice = {0};
	const struct tb_algorithm *algorithm;
	tb_choose_openmpi(&choice, &shape);
	// Those that cut the vector would cut it anew.
	if (strncmp(choice.algorithm, "s", 1) == 0 ||
		strcmp(choice.algorithm, "rabenseifner") == 0)
		choice.algorithm = "binomial";
	if (tb_algorithm_find(&algorithm, op, choice.algorithm, NULL) == TB_OK)
		algorithm->plan(plan, &shape);
}

void tb_allreduce_reduce_broadcast(
	struct tb_plan *plan, const struct tb_collective_shape *shape)
{
	tb_plan_part(plan, shape, TB_COLL_REDUCE, shape->bytes);
	tb_plan_part(plan, shape, TB_COLL_BROADCAST, shape->bytes);
}

void tb_reduce_scatter_reduce(
	struct tb_plan *plan, const struct tb_collective_shape *shape)
{
	tb_cut_even(plan, shape->n, tb_element_bytes(shape->bytes));
	tb_plan_part(plan, shape, TB_COLL_REDUCE, shape->bytes);
	tb_plan_next_round(plan);
	for (uint32_t rank = 1; rank < shape->n; rank++)
		tb_put(plan, TB_WAY(0, rank), rank, 1);
}

// Gathered by the first member, straight or by ports up a tree, and broadcast.
void tb_allgather_gather_broadcast(
	struct tb_plan *plan, const struct tb_collective_shape *shape)
{
	if (shape->by_ports) {
		tb_plan_heap_up(plan, shape, TB_MOVES_PARTS, false);
		tb_plan_heap_down(plan, shape, TB_MOVES_WHOLE);
		return;
	}
	tb_plan_next_round(plan);
	for (uint32_t rank = 1; rank < shape->n; rank++)
		tb_put(plan, TB_WAY(rank, 0), rank, 1);
	tb_plan_part(plan, shape, TB_COLL_BROADCAST, shape->bytes * shape->n);
}

// The root permits each to send. The data go in a first segment, which is all where no
// size of segments is set, and an empty rest.
void tb_gather_sync(struct tb_plan *plan, const struct tb_collective_shape *shape)
{
	tb_plan_next_round(plan);
	for (uint32_t rank = 0; rank < shape->n; rank++)
		if (rank != shape->root)
			tb_put(plan, TB_WAY(shape->root, rank), 0, 0);
	tb_gather_linear(plan, shape);
	tb_plan_next_round(plan);
	for (uint32_t rank = 0; rank < shape->n; rank++)
		if (rank != shape->root)
			tb_put(plan, TB_WAY(rank, shape->root), 0, 0);
}

void tb_barrier_hardware(struct tb_plan *plan, const struct tb_collective_shape *shape)
{
	tb_plan_heap_up(plan, shape, TB_MOVES_TOKEN, false);
	tb_plan_next_round(plan);
	for (uint32_t rank = 1; rank < shape->n; rank++)
		tb_put(plan, TB_WAY(0, rank), 0, 0);
}

// Broadcasts of large vectors: scattered in parts along a binomial tree, and the parts
// then gathered by all. Part i is that of relative rank i, counted from the root.
static struct tb_way parts_way(
	const struct tb_collective_shape *shape, uint32_t from, uint32_t to)
{
	uint64_t n = shape->n, root = shape->root;
	return TB_WAY((uint32_t)((from + root) % n), (uint32_t)((to + root) % n));
}

static void parts_scatter(struct tb_plan *plan, const struct tb_collective_shape *shape)
{
	uint32_t n = shape->n, mask = 1;
	tb_cut_ceiling(plan, n);
	while (mask < n)
		mask *= 2;
	for (mask /= 2; mask > 0; mask /= 2) {
		tb_plan_next_round(plan);
		for (uint64_t v = 0; v + mask < n; v += 2 * (uint64_t)mask) {
			uint64_t child = v + mask, left = n - child;
			tb_put(plan, parts_way(shape, (uint32_t)v, (uint32_t)child),
				child, left < mask ? left : mask);
		}
	}
}

void tb_broadcast_scatter_ring(
	struct tb_plan *plan, const struct tb_collective_shape *shape)
{
	uint32_t n = shape->n;
	parts_scatter(plan, shape);
	for (uint32_t i = 0; i + 1 < n; i++) {
		tb_plan_next_round(plan);
		for (uint32_t v = 0; v < n; v++)
			tb_put(plan, parts_way(shape, v, (v + 1) % n), (v + n - i) % n,
				1);
	}
}

static void double_once(
	struct tb_plan *plan, const struct tb_collective_shape *shape, uint32_t mask)
{
	uint32_t n = shape->n;
	tb_plan_next_round(plan);
	for (uint32_t v = 0; v < n; v++) {
		uint32_t first = v - v % mask, left = n - first;
		if ((v ^ mask) < n)
			tb_put(plan, parts_way(shape, v, v ^ mask), first,
				left < mask ? left : mask);
	}
	uint32_t last = (n - 1) - (n - 1) % (2 * mask);
	if (last + mask >= n || last + 2 * (uint64_t)mask <= n)
		return;
	for (uint32_t hop = mask / 2; hop > 0; hop /= 2) {
		tb_plan_next_round(plan);
		// A group is 2 * mask members from `group` on, of which the upper half
		// may be incomplete. Then only as many of the lower half got its parts,
		// and pass them on among themselves.
		uint32_t upper = last + mask, n_upper = shape->n - upper;
		for (uint32_t v = last; v < upper; v++) {
			uint32_t other = v ^ hop, have = v - v % (2 * hop) + n_upper;
			if (other > v && v < have && other >= have)
				tb_put(plan, parts_way(shape, v, other), upper, n_upper);
		}
	}
}

void tb_broadcast_scatter_doubling(
	struct tb_plan *plan, const struct tb_collective_shape *shape)
{
	parts_scatter(plan, shape);
	for (uint32_t mask = 1; mask < shape->n; mask *= 2)
		double_once(plan, shape, mask);
}
