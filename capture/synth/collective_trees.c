// Trees, rings and tokens: the building blocks of collectives besides groups.
#include "collective_impl.h"

static uint32_t rank_at(const struct tb_plan *plan, uint64_t relative)
{
	return (uint32_t)((relative + plan->root) % plan->n_ranks);
}

// An edge of a tree, between relative ranks. The subtree of `below` has the `n_below`
// relative ranks from `below` on.
struct edge {
	uint32_t above, below, n_below;
	uint32_t port;
};

static void put_edge(struct tb_plan *plan, struct edge edge, bool up, enum tb_moves moves,
	bool combines)
{
	uint32_t parent = rank_at(plan, edge.above), child = rank_at(plan, edge.below);
	uint64_t per_rank = plan->n_blocks / plan->n_ranks;
	bool whole = moves == TB_MOVES_WHOLE;
	tb_plan_put(plan, (struct tb_transfer){.from = up ? child : parent,
				  .to = up ? parent : child,
				  .port = (uint16_t)edge.port,
				  .blocks = moves == TB_MOVES_TOKEN ? TB_BLOCKS_NONE
								    : TB_BLOCKS_RANGE,
				  .first = whole ? 0 : (uint32_t)(child * per_rank),
				  .count = (uint32_t)(whole ? plan->n_blocks
							    : edge.n_below * per_rank),
				  .combines = combines});
}

// binomial_round connects each relative rank that is a multiple of b * size to the k
// subtrees of `size` relative ranks that follow it.
static void binomial_round(
	struct tb_plan *plan, uint64_t size, bool up, enum tb_moves moves, bool combines)
{
	uint32_t n = plan->n_ranks, k = plan->n_ports;
	tb_plan_next_round(plan);
	for (uint64_t v = 0; v < n; v += size * (k + 1)) {
		for (uint32_t j = 1; j <= k && v + j * size < n; j++) {
			uint64_t child = v + j * size;
			uint64_t n_below = n - child < size ? n - child : size;
			struct edge edge = {
				(uint32_t)v, (uint32_t)child, (uint32_t)n_below, j - 1};
			put_edge(plan, edge, up, moves, combines);
		}
	}
}

void tb_plan_binomial_down(struct tb_plan *plan,
	const struct tb_collective_options *options, enum tb_moves moves)
{
	uint64_t size = 1, b = options->n_ports + 1;
	while (size * b < options->n_ranks)
		size *= b;
	for (; size > 0; size /= b)
		binomial_round(plan, size, false, moves, false);
}

void tb_plan_binomial_up(struct tb_plan *plan,
	const struct tb_collective_options *options, enum tb_moves moves, bool combines)
{
	uint64_t b = options->n_ports + 1;
	for (uint64_t size = 1; size < options->n_ranks; size *= b)
		binomial_round(plan, size, true, moves, combines);
}

// A level of a heap: relative ranks first to end - 1. The last level may extend beyond N.
struct level {
	uint64_t first, end;
};

static struct level below(struct level level, uint32_t branch)
{
	return (struct level){level.first * branch + 1, level.end * branch + 1};
}

static struct level above(struct level level, uint32_t branch)
{
	return (struct level){(level.first - 1) / branch, (level.end - 1) / branch};
}

// heap_level connects the ranks of a level to their parents, k children of a parent per
// round.
static void heap_level(struct tb_plan *plan, struct level level, uint32_t branch, bool up,
	struct tb_transfer what)
{
	uint32_t k = plan->n_ports;
	if (level.end > plan->n_ranks)
		level.end = plan->n_ranks;
	uint64_t widest = level.end - level.first;
	widest = widest < branch ? widest : branch;
	for (uint32_t begin = 0; begin < widest; begin += k) {
		tb_plan_next_round(plan);
		for (uint64_t v = level.first; v < level.end; v++) {
			uint32_t child = (uint32_t)((v - 1) % branch);
			if (child < begin || child >= begin + k)
				continue;
			uint32_t parent = rank_at(plan, (v - 1) / branch);
			uint32_t rank = rank_at(plan, v);
			what.from = up ? rank : parent;
			what.to = up ? parent : rank;
			what.port = (uint16_t)(child - begin);
			what.first = what.blocks == TB_BLOCKS_HEAP ? (uint32_t)v : 0;
			tb_plan_put(plan, what);
		}
	}
}

static struct tb_transfer heap_transfer(
	struct tb_plan *plan, uint32_t branch, enum tb_moves moves, bool combines)
{
	struct tb_transfer what = {.combines = combines};
	plan->radix = branch;
	what.blocks = moves == TB_MOVES_TOKEN	? TB_BLOCKS_NONE
		      : moves == TB_MOVES_PARTS ? TB_BLOCKS_HEAP
						: TB_BLOCKS_RANGE;
	what.count = moves == TB_MOVES_WHOLE ? (uint32_t)plan->n_blocks : 0;
	return what;
}

void tb_plan_heap_down(struct tb_plan *plan, const struct tb_collective_options *options,
	enum tb_moves moves)
{
	uint32_t branch = options->branch;
	struct tb_transfer what = heap_transfer(plan, branch, moves, false);
	for (struct level level = {1, (uint64_t)branch + 1}; level.first < plan->n_ranks;
		level = below(level, branch))
		heap_level(plan, level, branch, false, what);
}

void tb_plan_heap_up(struct tb_plan *plan, const struct tb_collective_options *options,
	enum tb_moves moves, bool combines)
{
	uint32_t branch = options->branch;
	struct tb_transfer what = heap_transfer(plan, branch, moves, combines);
	struct level level = {0, 1};
	while (below(level, branch).first < plan->n_ranks)
		level = below(level, branch);
	for (; level.first > 0; level = above(level, branch))
		heap_level(plan, level, branch, true, what);
}

// ring_step: in the ring of each port, rank p sends on its part of the chunk of the rank
// `back` steps before it.
static void ring_step(struct tb_plan *plan, uint32_t back, bool combines)
{
	uint32_t n = plan->n_ranks, k = plan->n_ports;
	tb_plan_next_round(plan);
	for (uint32_t p = 0; p < n; p++) {
		for (uint32_t j = 0; j < k; j++) {
			bool forward = j % 2 == 0;
			uint32_t chunk = (forward ? p + n - back : p + back) % n;
			tb_plan_put(plan, (struct tb_transfer){.from = p,
						  .to = (forward ? p + 1 : p + n - 1) % n,
						  .port = (uint16_t)j,
						  .blocks = TB_BLOCKS_RANGE,
						  .first = chunk * k + j,
						  .count = 1,
						  .combines = combines});
		}
	}
}

void tb_plan_ring_combine(struct tb_plan *plan)
{
	for (uint32_t step = 1; step < plan->n_ranks; step++)
		ring_step(plan, step, true);
}

void tb_plan_ring_spread(struct tb_plan *plan)
{
	for (uint32_t step = 0; step + 1 < plan->n_ranks; step++)
		ring_step(plan, step, false);
}

void tb_plan_tokens(struct tb_plan *plan)
{
	uint64_t n = plan->n_ranks, b = plan->n_ports + 1;
	for (uint64_t distance = 1; distance < n; distance *= b) {
		tb_plan_next_round(plan);
		for (uint32_t p = 0; p < n; p++)
			for (uint32_t j = 1; j < b && j * distance < n; j++)
				tb_plan_put(plan,
					(struct tb_transfer){.from = p,
						.to = (uint32_t)((p + j * distance) % n),
						.port = (uint16_t)(j - 1),
						.blocks = TB_BLOCKS_NONE});
	}
}
