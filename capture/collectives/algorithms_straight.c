// Algorithms in which each message goes straight from where its data are to where they
// belong. A round is what a rank does without waiting in between: all at once, or to k
// others.
#include "algorithms.h"

// from_root, to_root: the root exchanges with all others, in the order of their places.
static void from_root(struct tb_plan *plan, uint32_t root, bool own_blocks)
{
	tb_plan_next_round(plan);
	for (uint32_t rank = 0; rank < plan->n_ranks; rank++)
		if (rank != root)
			tb_put(plan, TB_WAY(root, rank), own_blocks ? rank : 0,
				own_blocks ? 1 : plan->n_blocks);
}

static void to_root(struct tb_plan *plan, uint32_t root)
{
	tb_plan_next_round(plan);
	for (uint32_t rank = 0; rank < plan->n_ranks; rank++)
		if (rank != root)
			tb_put_combining(plan, TB_WAY(rank, root), 0, plan->n_blocks);
}

void tb_barrier_linear(struct tb_plan *plan, const struct tb_collective_shape *shape)
{
	tb_plan_next_round(plan);
	for (uint32_t rank = 1; rank < shape->n; rank++)
		tb_put(plan, TB_WAY(rank, 0), 0, 0);
	tb_plan_next_round(plan);
	for (uint32_t rank = 1; rank < shape->n; rank++)
		tb_put(plan, TB_WAY(0, rank), 0, 0);
}

void tb_broadcast_linear(struct tb_plan *plan, const struct tb_collective_shape *shape)
{
	from_root(plan, shape->root, false);
}

void tb_scatter_linear(struct tb_plan *plan, const struct tb_collective_shape *shape)
{
	from_root(plan, shape->root, true);
}

void tb_gather_linear(struct tb_plan *plan, const struct tb_collective_shape *shape)
{
	tb_plan_next_round(plan);
	for (uint32_t rank = 0; rank < shape->n; rank++)
		if (rank != shape->root)
			tb_put(plan, TB_WAY(rank, shape->root), rank, 1);
}

void tb_reduce_linear(struct tb_plan *plan, const struct tb_collective_shape *shape)
{
	to_root(plan, shape->root);
}

void tb_allreduce_linear(struct tb_plan *plan, const struct tb_collective_shape *shape)
{
	(void)shape;
	to_root(plan, 0);
	from_root(plan, 0, false);
}

void tb_reduce_scatter_linear(
	struct tb_plan *plan, const struct tb_collective_shape *shape)
{
	(void)shape;
	to_root(plan, 0);
	from_root(plan, 0, true);
}

// Each rank posts all its sends at once, to the ranks after it first.
void tb_allgather_linear(struct tb_plan *plan, const struct tb_collective_shape *shape)
{
	plan->order = TB_ORDER_SENDS;
	tb_plan_next_round(plan);
	for (uint32_t i = 1; i < shape->n; i++)
		for (uint32_t rank = 0; rank < shape->n; rank++)
			tb_put(plan, TB_WAY(rank, (rank + i) % shape->n), rank, 1);
}

void tb_alltoall_linear(struct tb_plan *plan, const struct tb_collective_shape *shape)
{
	plan->order = TB_ORDER_SENDS;
	tb_plan_next_round(plan);
	for (uint32_t i = 1; i < shape->n; i++)
		for (uint32_t rank = 0; rank < shape->n; rank++)
			tb_put_pair(plan, TB_WAY(rank, (rank + i) % shape->n), 0);
}

// A rank receives what those before it have added up, adds its own and sends it on. In an
// exclusive scan, too, where it keeps what it received.
void tb_scan_linear(struct tb_plan *plan, const struct tb_collective_shape *shape)
{
	for (uint32_t rank = 0; rank + 1 < shape->n; rank++) {
		tb_plan_next_round(plan);
		tb_put_combining(plan, TB_WAY(rank, rank + 1), 0, plan->n_blocks);
	}
}

// Each message has a block of its own, in the order of transfers.
void tb_exchange_linear(struct tb_plan *plan, const struct tb_collective_shape *shape)
{
	const struct tb_collective_call *call = shape->call;
	uint32_t block = 0;
	plan->order = TB_ORDER_SENDS;
	tb_plan_next_round(plan);
	for (uint32_t from = 0; from < shape->n; from++)
		for (uint32_t to = 0; call->sizes && call->sizes[from] && to < shape->n;
			to++)
			if (from != to && call->sizes[from][to])
				tb_put(plan, TB_WAY(from, to), block++, 1);
}

// sequential: the root talks to the other ranks one after the other, k per round.
static void sequential(
	struct tb_plan *plan, const struct tb_collective_shape *shape, bool up)
{
	uint32_t n = shape->n, root = shape->root;
	plan->order = TB_ORDER_SENDS;
	for (uint32_t i = 0; i < n - 1; i++) {
		uint32_t other = (uint32_t)(((uint64_t)root + i + 1) % n);
		if (i % plan->n_ports == 0)
			tb_plan_next_round(plan);
		tb_plan_put(plan, (struct tb_transfer){.from = up ? other : root,
					  .to = up ? root : other,
					  .port = (uint16_t)(i % plan->n_ports),
					  .blocks = TB_BLOCKS_RANGE,
					  .first = other,
					  .count = 1});
	}
}

void tb_scatter_sequential(struct tb_plan *plan, const struct tb_collective_shape *shape)
{
	sequential(plan, shape, false);
}

void tb_gather_sequential(struct tb_plan *plan, const struct tb_collective_shape *shape)
{
	sequential(plan, shape, true);
}

void tb_allgather_direct(struct tb_plan *plan, const struct tb_collective_shape *shape)
{
	(void)shape;
	uint32_t n = plan->n_ranks, k = plan->n_ports;
	plan->order = TB_ORDER_SENDS;
	for (uint32_t done = 0; done < n - 1; done += k) {
		tb_plan_next_round(plan);
		for (uint32_t p = 0; p < n; p++)
			for (uint32_t j = 0; j < k && done + j < n - 1; j++)
				tb_plan_put(plan, (struct tb_transfer){.from = p,
							  .to = (p + done + j + 1) % n,
							  .port = (uint16_t)j,
							  .blocks = TB_BLOCKS_RANGE,
							  .first = p,
							  .count = 1});
	}
}

// direct_round: every rank sends to the ranks at distances done + 1 to done + k.
static void direct_round(struct tb_plan *plan, uint32_t done)
{
	uint32_t n = plan->n_ranks, k = plan->n_ports;
	tb_plan_next_round(plan);
	for (uint32_t p = 0; p < n; p++)
		for (uint32_t j = 0; j < k && done + j < n - 1; j++)
			tb_put_pair(plan, TB_WAY(p, (p + done + j + 1) % n), j);
}

// Direct, when a rank has received what came before.
void tb_alltoall_shift(struct tb_plan *plan, const struct tb_collective_shape *shape)
{
	for (uint32_t done = 0; done < shape->n - 1; done += plan->n_ports)
		direct_round(plan, done);
}

void tb_alltoall_direct(struct tb_plan *plan, const struct tb_collective_shape *shape)
{
	plan->order = TB_ORDER_SENDS;
	tb_alltoall_shift(plan, shape);
}

// In each round p sends to the ranks to which p + k sent in the round before. p + k then
// sends p a token, so that two ranks never send to the same one at the same time.
void tb_alltoall_permission(struct tb_plan *plan, const struct tb_collective_shape *shape)
{
	(void)shape;
	uint32_t n = plan->n_ranks, k = plan->n_ports;
	plan->order = TB_ORDER_SENDS;
	for (uint32_t done = 0; done < n - 1; done += k) {
		direct_round(plan, done);
		if (done + k >= n - 1)
			break;
		tb_plan_next_round(plan);
		for (uint32_t p = 0; p < n; p++)
			tb_plan_put(plan, (struct tb_transfer){.from = p,
						  .to = (p + n - k) % n,
						  .blocks = TB_BLOCKS_NONE});
	}
}

// partner returns the partner of p in the i-th of the matchings that pair all ranks once:
// n - 1 matchings for an even number of ranks, n for an odd one, where p itself means no
// partner. A power of two pairs by exclusive or, as in MPI libraries. Otherwise two ranks
// whose sum is i modulo an odd number are partners; for an even n that is n - 1, and the
// last rank takes the one that is left over.
static uint32_t partner(uint32_t p, uint32_t i, uint32_t n)
{
	if ((n & (n - 1)) == 0)
		return p ^ (i + 1);
	uint32_t odd = n - (n % 2 == 0);
	if (p == odd) // the last of an even number: twice its partner is i
		return i % 2 == 0 ? i / 2 : (i + odd) / 2;
	uint32_t other = (i + odd - p) % odd;
	return other == p && odd != n ? odd : other;
}

void tb_alltoall_pairwise(struct tb_plan *plan, const struct tb_collective_shape *shape)
{
	(void)shape;
	uint32_t n = plan->n_ranks, k = plan->n_ports;
	uint32_t n_matchings = n - (n % 2 == 0);
	for (uint32_t i = 0; i < n_matchings; i++) {
		if (i % k == 0)
			tb_plan_next_round(plan);
		for (uint32_t p = 0; p < n; p++) {
			uint32_t other = partner(p, i, n);
			if (other != p)
				tb_put_pair(plan, TB_WAY(p, other), i % k);
		}
	}
}
