// Broadcasts and reductions along trees. A member passes a part on to all of its children
// at once; a vector may go in segments, one behind the other.
#include "expansion_impl.h"

#include <stdlib.h>

// A tree over relative ranks: the parent of each, and how far down it is. The root is
// relative rank 0.
struct tree {
	uint32_t n, root, depth; // of the deepest
	uint32_t *parent, *level;
};

// A shape of trees: the parent of relative rank v > 0, which is before or behind v.
typedef uint32_t parent_of(uint32_t v, uint32_t n, uint32_t radix);

static uint32_t level_of(const struct tree *tree, uint32_t v)
{
	uint32_t level = 0;
	for (; v != 0; v = tree->parent[v])
		level++;
	return level;
}

static bool tree_init(struct tree *tree, const struct tb_shape *shape, parent_of *parent,
	uint32_t radix)
{
	*tree = (struct tree){.n = shape->n, .root = shape->root};
	tree->parent = calloc(shape->n, sizeof *tree->parent);
	tree->level = calloc(shape->n, sizeof *tree->level);
	if (!tree->parent || !tree->level)
		return false;
	for (uint32_t v = 1; v < shape->n; v++)
		tree->parent[v] = parent(v, shape->n, radix);
	for (uint32_t v = 1; v < shape->n; v++) {
		// A parent with a smaller number has its level already.
		tree->level[v] = tree->parent[v] < v ? tree->level[tree->parent[v]] + 1
						     : level_of(tree, v);
		if (tree->level[v] > tree->depth)
			tree->depth = tree->level[v];
	}
	return true;
}

static void tree_fini(struct tree *tree)
{
	free(tree->parent);
	free(tree->level);
}

static uint32_t rank_at(const struct tree *tree, uint32_t v)
{
	return (uint32_t)(((uint64_t)v + tree->root) % tree->n);
}

// put_round puts the transfers of a round of a broadcast: segment s of relative rank v
// comes in round level - 1 + s. A reduction is the same backwards in levels.
static void put_round(struct tb_plan *plan, const struct tree *tree, uint64_t round,
	uint64_t n_segments, bool up)
{
	uint64_t count = plan->n_blocks / n_segments;
	tb_plan_next_round(plan);
	for (uint32_t v = 1; v < tree->n; v++) {
		uint32_t wait = up ? tree->depth - tree->level[v] : tree->level[v] - 1;
		if (round < wait || round - wait >= n_segments)
			continue;
		uint32_t child = rank_at(tree, v),
			 parent = rank_at(tree, tree->parent[v]);
		if (up)
			tb_put_combining(plan, (struct tb_way){child, parent},
				round - wait, count);
		else
			tb_put(plan, (struct tb_way){parent, child}, round - wait, count);
	}
}

static void along(struct tb_plan *plan, const struct tb_shape *shape,
	const struct tb_choice *choice, parent_of *parent, uint32_t radix)
{
	struct tree tree;
	uint64_t n_segments = 1;
	if (choice->segment_bytes) {
		tb_cut_segments(plan, choice->segment_bytes);
		n_segments = plan->n_blocks;
	}
	if (!tree_init(&tree, shape, parent, radix))
		plan->status = TB_ENOMEM;
	for (uint64_t round = 0;
		plan->status == TB_OK && round < tree.depth + n_segments - 1; round++)
		put_round(plan, &tree, round, n_segments, shape->op == TB_COLL_REDUCE);
	tree_fini(&tree);
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

void tb_tree_chain(struct tb_plan *plan, const struct tb_shape *shape,
	const struct tb_choice *choice)
{
	uint32_t chains = choice->radix ? choice->radix : 1;
	along(plan, shape, choice, chain_parent,
		chains < shape->n - 1 ? chains : shape->n - 1);
}

void tb_tree_binomial(struct tb_plan *plan, const struct tb_shape *shape,
	const struct tb_choice *choice)
{
	along(plan, shape, choice, knomial_parent, 2);
}

void tb_tree_mirrored(struct tb_plan *plan, const struct tb_shape *shape,
	const struct tb_choice *choice)
{
	along(plan, shape, choice, mirrored_parent, 2);
}

void tb_tree_knomial(struct tb_plan *plan, const struct tb_shape *shape,
	const struct tb_choice *choice)
{
	along(plan, shape, choice, knomial_parent, choice->radix > 1 ? choice->radix : 4);
}

void tb_tree_binary(struct tb_plan *plan, const struct tb_shape *shape,
	const struct tb_choice *choice)
{
	along(plan, shape, choice, binary_parent, 2);
}

// Ranks are counted from the end by a plan of the mirrored ranks. The last rank sends the
// sum to the root if that is another one.
void tb_tree_in_order(struct tb_plan *plan, const struct tb_shape *shape,
	const struct tb_choice *choice)
{
	struct tb_shape mirrored = *shape;
	mirrored.root = 0;
	along(plan, &mirrored, choice, in_order_parent, 2);
	for (size_t i = 0; i < plan->n_transfers; i++) {
		plan->transfers[i].from = shape->n - 1 - plan->transfers[i].from;
		plan->transfers[i].to = shape->n - 1 - plan->transfers[i].to;
	}
	if (shape->root == shape->n - 1)
		return;
	tb_plan_next_round(plan);
	tb_put(plan, (struct tb_way){shape->n - 1, shape->root}, 0, plan->n_blocks);
}

// The halves of the vector go down the two subtrees of a binary tree; then neighbours, of
// which each is in one of them, exchange their halves.
void tb_tree_split_binary(struct tb_plan *plan, const struct tb_shape *shape,
	const struct tb_choice *choice)
{
	(void)choice;
	struct tree tree;
	uint32_t n = shape->n;
	tb_cut_even(plan, 2, 1);
	if (!tree_init(&tree, shape, binary_parent, 2))
		plan->status = TB_ENOMEM;
	for (uint32_t level = 1; plan->status == TB_OK && level <= tree.depth; level++) {
		tb_plan_next_round(plan);
		for (uint32_t v = 1; v < n; v++)
			if (tree.level[v] == level)
				tb_put(plan,
					(struct tb_way){rank_at(&tree, tree.parent[v]),
						rank_at(&tree, v)},
					1 - v % 2, 1);
	}
	tb_plan_next_round(plan);
	for (uint32_t v = 1; v < n; v++) {
		uint32_t mate = v % 2 ? (v + 1) % n : v - 1;
		tb_put(plan, (struct tb_way){rank_at(&tree, mate), rank_at(&tree, v)},
			v % 2, 1);
	}
	tree_fini(&tree);
}
