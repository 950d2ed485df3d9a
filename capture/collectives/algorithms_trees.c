// Trees. In those of libraries a member passes a part on to all of its children at once,
// and a vector may go in segments, one behind the other. In those of the papers it sends
// to k children per round.
#include "algorithms.h"

#include <stdlib.h>

static uint32_t real_rank(const struct tb_plan *plan, uint64_t relative)
{
	return (uint32_t)((relative + plan->root) % plan->n_ranks);
}

// An edge of a tree, between relative ranks. The subtree of `below` has the `n_below`
// relative ranks from `below` on.
struct subtree_edge {
	uint32_t above, below, n_below;
	uint32_t port;
};

static void put_edge(struct tb_plan *plan, struct subtree_edge edge, bool up,
	enum tb_moves moves, bool combines)
{
	uint32_t parent = real_rank(plan, edge.above),
		 child = real_rank(plan, edge.below);
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
			struct subtree_edge edge = {
				(uint32_t)v, (uint32_t)child, (uint32_t)n_below, j - 1};
			put_edge(plan, edge, up, moves, combines);
		}
	}
}

void tb_plan_binomial_down(struct tb_plan *plan, enum tb_moves moves)
{
	uint64_t size = 1, b = plan->n_ports + 1;
	while (size * b < plan->n_ranks)
		size *= b;
	for (; size > 0; size /= b)
		binomial_round(plan, size, false, moves, false);
}

void tb_plan_binomial_up(struct tb_plan *plan, enum tb_moves moves, bool combines)
{
	uint64_t b = plan->n_ports + 1;
	for (uint64_t size = 1; size < plan->n_ranks; size *= b)
		binomial_round(plan, size, true, moves, combines);
}

// A level of a heap: relative ranks first to end - 1. The last level may extend beyond N.
struct heap_row {
	uint64_t first, end;
};

static struct heap_row below(struct heap_row level, uint32_t branch)
{
	return (struct heap_row){level.first * branch + 1, level.end * branch + 1};
}

static struct heap_row above(struct heap_row level, uint32_t branch)
{
	return (struct heap_row){(level.first - 1) / branch, (level.end - 1) / branch};
}

// heap_level connects the ranks of a level to their parents, k children of a parent per
// round.
static void heap_level(struct tb_plan *plan, struct heap_row level, uint32_t branch,
	bool up, struct tb_transfer what)
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
			uint32_t parent = real_rank(plan, (v - 1) / branch);
			uint32_t rank = real_rank(plan, v);
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

// With more children than other ranks, the rest would be idle.
static uint32_t branch_of(const struct tb_collective_shape *shape)
{
	uint32_t branch = shape->radix ? shape->radix : 2;
	return branch < shape->n - 1 ? branch : shape->n - 1;
}

void tb_plan_heap_down(struct tb_plan *plan, const struct tb_collective_shape *shape,
	enum tb_moves moves)
{
	uint32_t branch = branch_of(shape);
	struct tb_transfer what = heap_transfer(plan, branch, moves, false);
	for (struct heap_row level = {1, (uint64_t)branch + 1};
		level.first < plan->n_ranks; level = below(level, branch))
		heap_level(plan, level, branch, false, what);
}

void tb_plan_heap_up(struct tb_plan *plan, const struct tb_collective_shape *shape,
	enum tb_moves moves, bool combines)
{
	uint32_t branch = branch_of(shape);
	struct tb_transfer what = heap_transfer(plan, branch, moves, combines);
	struct heap_row level = {0, 1};
	while (below(level, branch).first < plan->n_ranks)
		level = below(level, branch);
	for (; level.first > 0; level = above(level, branch))
		heap_level(plan, level, branch, true, what);
}

// A tree over relative ranks: the parent of each, and how far down it is. The root is
// relative rank 0.
struct rank_tree {
	uint32_t n, root, depth; // of the deepest
	uint32_t *parent, *level;
};

// A shape of trees: the parent of relative rank v > 0, which is before or behind v.
typedef uint32_t parent_of(uint32_t v, uint32_t n, uint32_t radix);

static uint32_t rank_tree_level(const struct rank_tree *tree, uint32_t v)
{
	uint32_t level = 0;
	for (; v != 0; v = tree->parent[v])
		level++;
	return level;
}

static bool rank_tree_init(struct rank_tree *tree,
	const struct tb_collective_shape *shape, parent_of *parent, uint32_t radix)
{
	*tree = (struct rank_tree){.n = shape->n, .root = shape->root};
	tree->parent = calloc(shape->n, sizeof *tree->parent);
	tree->level = calloc(shape->n, sizeof *tree->level);
	if (!tree->parent || !tree->level)
		return false;
	for (uint32_t v = 1; v < shape->n; v++)
		tree->parent[v] = parent(v, shape->n, radix);
	for (uint32_t v = 1; v < shape->n; v++) {
		// A parent with a smaller number has its level already.
		tree->level[v] = tree->parent[v] < v ? tree->level[tree->parent[v]] + 1
						     : rank_tree_level(tree, v);
		if (tree->level[v] > tree->depth)
			tree->depth = tree->level[v];
	}
	return true;
}

static void rank_tree_fini(struct rank_tree *tree)
{
	free(tree->parent);
	free(tree->level);
}

static uint32_t rank_tree_rank(const struct rank_tree *tree, uint32_t v)
{
	return (uint32_t)(((uint64_t)v + tree->root) % tree->n);
}

// put_round puts the transfers of a round of a broadcast: segment s of relative rank v
// comes in round level - 1 + s. A reduction is the same backwards in levels.
static void put_round(struct tb_plan *plan, const struct rank_tree *tree, uint64_t round,
	uint64_t n_segments, bool up)
{
	uint64_t count = plan->n_blocks / n_segments;
	tb_plan_next_round(plan);
	for (uint32_t v = 1; v < tree->n; v++) {
		uint32_t wait = up ? tree->depth - tree->level[v] : tree->level[v] - 1;
		if (round < wait || round - wait >= n_segments)
			continue;
		uint32_t child = rank_tree_rank(tree, v),
			 parent = rank_tree_rank(tree, tree->parent[v]);
		if (up)
			tb_put_combining(
				plan, TB_WAY(child, parent), round - wait, count);
		else
			tb_put(plan, TB_WAY(parent, child), round - wait, count);
	}
}

static void along(struct tb_plan *plan, const struct tb_collective_shape *shape,
	parent_of *parent, uint32_t radix)
{
	struct rank_tree tree;
	uint64_t n_segments = 1;
	if (shape->segment_bytes) {
		tb_cut_segments(plan, shape->segment_bytes);
		n_segments = plan->n_blocks;
	}
	if (!rank_tree_init(&tree, shape, parent, radix))
		plan->status = TB_ENOMEM;
	for (uint64_t round = 0;
		plan->status == TB_OK && round < tree.depth + n_segments - 1; round++)
		put_round(plan, &tree, round, n_segments, shape->op == TB_COLL_REDUCE);
	rank_tree_fini(&tree);
}

static uint32_t chain_parent(uint32_t v, uint32_t n, uint32_t radix)
{
	// Of `radix` chains the first ones are longer by one where they cannot be equal.
	uint32_t length = (n - 1) / radix, longer = (n - 1) % radix;
	uint32_t in_longer = longer * (length + 1);
	uint32_t place =
		v - 1 < in_longer ? (v - 1) % (length + 1) : (v - 1 - in_longer) % length;
	return place == 0 ? 0 : v - 1;
}

// The lowest digit to the base `radix` that is not 0 becomes 0.
static uint32_t knomial_parent(uint32_t v, uint32_t n, uint32_t radix)
{
	(void)n;
	uint64_t weight = 1;
	while (v / weight % radix == 0)
		weight *= radix;
	return (uint32_t)(v - v / weight % radix * weight);
}

// The highest bit becomes 0: a binomial tree with the order of bits reversed.
static uint32_t mirrored_parent(uint32_t v, uint32_t n, uint32_t radix)
{
	(void)n, (void)radix;
	uint32_t bit = 1;
	while (bit <= v / 2)
		bit *= 2;
	return v - bit;
}

// Levels are full but for the last: level L has the 2^L relative ranks from 2^L - 1 on,
// and the children of one are 2^L and 2^(L+1) behind it.
static uint32_t binary_parent(uint32_t v, uint32_t n, uint32_t radix)
{
	(void)n, (void)radix;
	uint32_t width = 1;
	while (v >= 2 * width - 1)
		width *= 2;
	return width / 2 - 1 + (v - (width - 1)) % (width / 2);
}

// The subtree of the last rank is all; of a subtree of s that ends with rank e, one child
// is e - 1 with (s - 1) / 2 ranks, the other one has those before. Numbers are counted
// from the end here, so that the root is 0.
static uint32_t in_order_parent(uint32_t v, uint32_t n, uint32_t radix)
{
	(void)radix;
	uint32_t top = 0, size = n;
	for (;;) {
		uint32_t right = (size - 1) / 2, left = size - 1 - right;
		uint32_t second = top + 1 + right;
		if (right && v == top + 1)
			return top;
		if (v == second)
			return top;
		size = v > second ? left : right;
		top = v > second ? second : top + 1;
	}
}

void tb_tree_chain(struct tb_plan *plan, const struct tb_collective_shape *shape)
{
	uint32_t chains = shape->radix ? shape->radix : 1;
	along(plan, shape, chain_parent, chains < shape->n - 1 ? chains : shape->n - 1);
}

void tb_tree_binomial(struct tb_plan *plan, const struct tb_collective_shape *shape)
{
	if (!shape->by_ports)
		along(plan, shape, knomial_parent, 2);
	else if (shape->op == TB_COLL_REDUCE)
		tb_plan_binomial_up(plan, TB_MOVES_WHOLE, true);
	else
		tb_plan_binomial_down(plan, TB_MOVES_WHOLE);
}

void tb_tree_mirrored(struct tb_plan *plan, const struct tb_collective_shape *shape)
{
	along(plan, shape, mirrored_parent, 2);
}

void tb_tree_knomial(struct tb_plan *plan, const struct tb_collective_shape *shape)
{
	along(plan, shape, knomial_parent, shape->radix > 1 ? shape->radix : 4);
}

void tb_tree_binary(struct tb_plan *plan, const struct tb_collective_shape *shape)
{
	along(plan, shape, binary_parent, 2);
}

// Ranks are counted from the end by a plan of the mirrored ranks. The last rank sends the
// sum to the root if that is another one.
void tb_tree_in_order(struct tb_plan *plan, const struct tb_collective_shape *shape)
{
	struct tb_collective_shape mirrored = *shape;
	mirrored.root = 0;
	along(plan, &mirrored, in_order_parent, 2);
	for (size_t i = 0; i < plan->n_transfers; i++) {
		plan->transfers[i].from = shape->n - 1 - plan->transfers[i].from;
		plan->transfers[i].to = shape->n - 1 - plan->transfers[i].to;
	}
	if (shape->root == shape->n - 1)
		return;
	tb_plan_next_round(plan);
	tb_put(plan, TB_WAY(shape->n - 1, shape->root), 0, plan->n_blocks);
}

// The halves of the vector go down the two subtrees of a binary tree; then neighbours, of
// which each is in one of them, exchange their halves.
void tb_tree_split_binary(struct tb_plan *plan, const struct tb_collective_shape *shape)
{
	struct rank_tree tree;
	uint32_t n = shape->n;
	tb_cut_even(plan, 2, 1);
	if (!rank_tree_init(&tree, shape, binary_parent, 2))
		plan->status = TB_ENOMEM;
	for (uint32_t level = 1; plan->status == TB_OK && level <= tree.depth; level++) {
		tb_plan_next_round(plan);
		for (uint32_t v = 1; v < n; v++)
			if (tree.level[v] == level)
				tb_put(plan,
					TB_WAY(rank_tree_rank(&tree, tree.parent[v]),
						rank_tree_rank(&tree, v)),
					1 - v % 2, 1);
	}
	tb_plan_next_round(plan);
	for (uint32_t v = 1; v < n; v++) {
		uint32_t mate = v % 2 ? (v + 1) % n : v - 1;
		tb_put(plan,
			TB_WAY(rank_tree_rank(&tree, mate), rank_tree_rank(&tree, v)),
			v % 2, 1);
	}
	rank_tree_fini(&tree);
}

void tb_broadcast_tree(struct tb_plan *plan, const struct tb_collective_shape *shape)
{
	tb_plan_heap_down(plan, shape, TB_MOVES_WHOLE);
}

void tb_reduce_tree(struct tb_plan *plan, const struct tb_collective_shape *shape)
{
	tb_plan_heap_up(plan, shape, TB_MOVES_WHOLE, true);
}

void tb_allreduce_tree(struct tb_plan *plan, const struct tb_collective_shape *shape)
{
	tb_plan_heap_up(plan, shape, TB_MOVES_WHOLE, true);
	tb_plan_heap_down(plan, shape, TB_MOVES_WHOLE);
}

void tb_barrier_tree(struct tb_plan *plan, const struct tb_collective_shape *shape)
{
	tb_plan_heap_up(plan, shape, TB_MOVES_TOKEN, false);
	tb_plan_heap_down(plan, shape, TB_MOVES_TOKEN);
}

void tb_gather_tree(struct tb_plan *plan, const struct tb_collective_shape *shape)
{
	tb_plan_heap_up(plan, shape, TB_MOVES_PARTS, false);
}

void tb_gather_binomial(struct tb_plan *plan, const struct tb_collective_shape *shape)
{
	(void)shape;
	tb_plan_binomial_up(plan, TB_MOVES_PARTS, false);
}

void tb_scatter_binomial(struct tb_plan *plan, const struct tb_collective_shape *shape)
{
	(void)shape;
	tb_plan_binomial_down(plan, TB_MOVES_PARTS);
}
