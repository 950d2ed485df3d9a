// Calls of inter-communicators: two groups, of which each gets what the other gives. All
// libraries treat them alike here: messages go straight from group to group
// (docs/collectives.md).
#include "algorithms.h"

// The part of a call that one group has in it.
struct inter_side {
	uint32_t first, end;
};

static bool combines(enum tb_collective_op op)
{
	return op == TB_COLL_REDUCE || op == TB_COLL_ALLREDUCE ||
	       op == TB_COLL_REDUCE_SCATTER || op == TB_COLL_SCAN || op == TB_COLL_EXSCAN;
}

static void put_across(struct tb_plan *plan, const struct tb_collective_shape *shape,
	struct tb_way way, uint32_t *block)
{
	bool token = shape->op == TB_COLL_BARRIER;
	tb_plan_put(plan, (struct tb_transfer){.from = way.from,
				  .to = way.to,
				  .blocks = token ? TB_BLOCKS_NONE : TB_BLOCKS_RANGE,
				  .first = token ? 0 : *block,
				  .count = !token,
				  .combines = combines(shape->op)});
	*block += !token;
}

const char *tb_inter_plan(struct tb_plan *plan, const struct tb_collective_shape *shape)
{
	struct inter_side low = {0, shape->n_local}, high = {shape->n_local, shape->n};
	if (tb_collective_op_has_root(shape->op)) {
		// The root of one group, and all of the other one.
		struct inter_side other = shape->root < shape->n_local ? high : low;
		bool up = shape->op == TB_COLL_GATHER || shape->op == TB_COLL_REDUCE;
		uint32_t block = 0;
		tb_plan_next_round(plan);
		for (uint32_t rank = other.first; rank < other.end; rank++)
			put_across(plan, shape,
				up ? TB_WAY(rank, shape->root)
				   : TB_WAY(shape->root, rank),
				&block);
	} else {
		uint32_t n = shape->n, local = shape->n_local, block = 0;
		plan->order = TB_ORDER_SENDS;
		tb_plan_next_round(plan);
		for (uint32_t from = 0; from < n; from++)
			for (uint32_t to = from < local ? local : 0;
				to < (from < local ? n : local); to++)
				put_across(plan, shape, TB_WAY(from, to), &block);
	}
	return "linear";
}
