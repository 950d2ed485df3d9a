// Algorithms made of other collective operations.
#include "expansion_impl.h"

#include <string.h>

void tb_plan_part(struct tb_plan *plan, const struct tb_shape *whole,
	enum tb_collective_op op, uint64_t bytes)
{
	struct tb_shape shape = {.op = op,
		.n = whole->n,
		.n_local = whole->n,
		.bytes = bytes,
		.hosts = whole->hosts,
		.call = whole->call};
	struct tb_choice choice = {0};
	tb_choose_openmpi(&choice, &shape);
	// Those that cut the vector would cut it anew.
	if (strncmp(choice.algorithm, "s", 1) == 0 ||
		strcmp(choice.algorithm, "rabenseifner") == 0)
		choice.algorithm = "binomial";
	tb_algorithm_find(op, choice.algorithm)->plan(plan, &shape, &choice);
}

void tb_reduce_broadcast(struct tb_plan *plan, const struct tb_shape *shape,
	const struct tb_choice *choice)
{
	(void)choice;
	tb_plan_part(plan, shape, TB_COLL_REDUCE, shape->bytes);
	tb_plan_part(plan, shape, TB_COLL_BROADCAST, shape->bytes);
}

void tb_reduce_then_scatter(struct tb_plan *plan, const struct tb_shape *shape,
	const struct tb_choice *choice)
{
	(void)choice;
	tb_cut_even(plan, shape->n, tb_element_bytes(shape->bytes));
	tb_plan_part(plan, shape, TB_COLL_REDUCE, shape->bytes);
	tb_plan_next_round(plan);
	for (uint32_t rank = 1; rank < shape->n; rank++)
		tb_put(plan, (struct tb_way){0, rank}, rank, 1);
}

// Gathered by the first member, straight, and broadcast.
void tb_gather_broadcast(struct tb_plan *plan, const struct tb_shape *shape,
	const struct tb_choice *choice)
{
	(void)choice;
	tb_plan_next_round(plan);
	for (uint32_t rank = 1; rank < shape->n; rank++)
		tb_put(plan, (struct tb_way){rank, 0}, rank, 1);
	tb_plan_part(plan, shape, TB_COLL_BROADCAST, shape->bytes * shape->n);
}

// The root permits each to send. The data go in a first segment, which is all where no
// size of segments is set, and an empty rest.
void tb_sync_gather(struct tb_plan *plan, const struct tb_shape *shape,
	const struct tb_choice *choice)
{
	tb_plan_next_round(plan);
	for (uint32_t rank = 0; rank < shape->n; rank++)
		if (rank != shape->root)
			tb_put(plan, (struct tb_way){shape->root, rank}, 0, 0);
	tb_linear_gather(plan, shape, choice);
	tb_plan_next_round(plan);
	for (uint32_t rank = 0; rank < shape->n; rank++)
		if (rank != shape->root)
			tb_put(plan, (struct tb_way){rank, shape->root}, 0, 0);
}
