// Linear algorithms: each message goes straight from where its data are to where they
// belong. A round is what a rank does without waiting in between.
#include "expansion_impl.h"

#define WAY(from, to) ((struct tb_way){(from), (to)})

// from_root, to_root: the root exchanges with all others, in the order of their places.
static void from_root(struct tb_plan *plan, uint32_t root, bool own_blocks)
{
	tb_plan_next_round(plan);
	for (uint32_t rank = 0; rank < plan->n_ranks; rank++)
		if (rank != root)
			tb_put(plan, WAY(root, rank), own_blocks ? rank : 0,
				own_blocks ? 1 : plan->n_blocks);
}

static void to_root(struct tb_plan *plan, uint32_t root)
{
	tb_plan_next_round(plan);
	for (uint32_t rank = 0; rank < plan->n_ranks; rank++)
		if (rank != root)
			tb_put_combining(plan, WAY(rank, root), 0, plan->n_blocks);
}

void tb_linear_barrier(struct tb_plan *plan, const struct tb_shape *shape,
	const struct tb_choice *choice)
{
	(void)choice;
	tb_plan_next_round(plan);
	for (uint32_t rank = 1; rank < shape->n; rank++)
		tb_put(plan, WAY(rank, 0), 0, 0);
	tb_plan_next_round(plan);
	for (uint32_t rank = 1; rank < shape->n; rank++)
		tb_put(plan, WAY(0, rank), 0, 0);
}

void tb_linear_broadcast(struct tb_plan *plan, const struct tb_shape *shape,
	const struct tb_choice *choice)
{
	(void)choice;
	from_root(plan, shape->root, false);
}

void tb_linear_scatter(struct tb_plan *plan, const struct tb_shape *shape,
	const struct tb_choice *choice)
{
	(void)choice;
	from_root(plan, shape->root, true);
}

void tb_linear_gather(struct tb_plan *plan, const struct tb_shape *shape,
	const struct tb_choice *choice)
{
	(void)choice;
	tb_plan_next_round(plan);
	for (uint32_t rank = 0; rank < shape->n; rank++)
		if (rank != shape->root)
			tb_put(plan, WAY(rank, shape->root), rank, 1);
}

void tb_linear_reduce(struct tb_plan *plan, const struct tb_shape *shape,
	const struct tb_choice *choice)
{
	(void)choice;
	to_root(plan, shape->root);
}

void tb_linear_allreduce(struct tb_plan *plan, const struct tb_shape *shape,
	const struct tb_choice *choice)
{
	(void)shape, (void)choice;
	to_root(plan, 0);
	from_root(plan, 0, false);
}

void tb_linear_reduce_scatter(struct tb_plan *plan, const struct tb_shape *shape,
	const struct tb_choice *choice)
{
	(void)shape, (void)choice;
	to_root(plan, 0);
	from_root(plan, 0, true);
}

// Each rank posts all its sends at once, to the ranks after it first.
void tb_linear_allgather(struct tb_plan *plan, const struct tb_shape *shape,
	const struct tb_choice *choice)
{
	(void)choice;
	plan->order = TB_ORDER_SENDS;
	tb_plan_next_round(plan);
	for (uint32_t i = 1; i < shape->n; i++)
		for (uint32_t rank = 0; rank < shape->n; rank++)
			tb_put(plan, WAY(rank, (rank + i) % shape->n), rank, 1);
}

void tb_linear_alltoall(struct tb_plan *plan, const struct tb_shape *shape,
	const struct tb_choice *choice)
{
	(void)choice;
	plan->order = TB_ORDER_SENDS;
	tb_plan_next_round(plan);
	for (uint32_t i = 1; i < shape->n; i++)
		for (uint32_t rank = 0; rank < shape->n; rank++)
			tb_put_pair(plan, WAY(rank, (rank + i) % shape->n));
}

// A rank receives what those before it have added up, adds its own and sends it on. In an
// exclusive scan, too, where it keeps what it received.
void tb_linear_scan(struct tb_plan *plan, const struct tb_shape *shape,
	const struct tb_choice *choice)
{
	(void)choice;
	for (uint32_t rank = 0; rank + 1 < shape->n; rank++) {
		tb_plan_next_round(plan);
		tb_put_combining(plan, WAY(rank, rank + 1), 0, plan->n_blocks);
	}
}

// Each message has a block of its own, in the order of transfers.
void tb_exchange(struct tb_plan *plan, const struct tb_shape *shape,
	const struct tb_choice *choice)
{
	(void)choice;
	const struct tb_collective_call *call = shape->call;
	uint32_t block = 0;
	plan->order = TB_ORDER_SENDS;
	tb_plan_next_round(plan);
	for (uint32_t from = 0; from < shape->n; from++)
		for (uint32_t to = 0; call->sizes && call->sizes[from] && to < shape->n;
			to++)
			if (from != to && call->sizes[from][to])
				tb_put(plan, WAY(from, to), block++, 1);
}
