#include "tree_shape.h"

#include "bisect.h"
#include "map.h"
#include "order.h"

#include <stdlib.h>
#include <string.h>

// A tree under construction.
struct shape_making {
	const struct tb_run_link *links;
	struct tb_map known;	 // branch by link
	struct tb_branch *loose; // in no order yet; [0] is the root
	uint32_t n;
};

static int add_shape_row(
	struct shape_making *making, const struct tb_tree_sample *row, bool shown)
{
	uint32_t at = making->n;
	if (!tb_map_find(&making->known, row->link.id, &at)) {
		if (tb_map_put(&making->known, row->link.id, at) != TB_OK)
			return TB_ENOMEM;
		making->loose[making->n++] = (struct tb_branch){.link = row->link};
	}
	making->loose[at].whole_ps += row->wait_ps;
	making->loose[at].shown_ps += shown ? row->wait_ps : 0;
	return TB_OK;
}

static int shape_collect(struct shape_making *making, const struct tb_trees *trees,
	struct tb_link root, uint32_t from, uint32_t end)
{
	making->loose[0] = (struct tb_branch){.link = root};
	making->n = 1;
	int status = tb_map_put(&making->known, root.id, 0);
	for (uint32_t i = trees->first[root.id];
		i < trees->first[root.id + 1] && status == TB_OK; i++) {
		const struct tb_tree_sample *row = &trees->rows[i];
		status = add_shape_row(making, row, row->bin >= from && row->bin < end);
	}
	return status;
}

// shape_end returns the switch at which headers arriving over a link wait; TB_ID_NONE: a
// node.
static uint32_t shape_end(
	const struct shape_making *making, const struct tb_branch *branch)
{
	const struct tb_link_info *at = &making->links[branch->link.id].at;
	return at->kind == TB_LINK_EJECTION ? TB_ID_NONE : at->to;
}

// The key to sort by stands beside the index, because qsort has no context.
struct branch_ending {
	uint32_t end, index;
	uint64_t whole_ps;
};

static int shape_by_end(const void *one, const void *other)
{
	const struct branch_ending *a = one, *b = other;
	if (a->end != b->end)
		return a->end < b->end ? -1 : 1;
	return a->whole_ps != b->whole_ps ? TB_ORDER(b->whole_ps, a->whole_ps)
					  : TB_ORDER(a->index, b->index);
}

static uint32_t first_ending(const struct branch_ending *endings, uint32_t n, uint32_t sw)
{
	uint32_t first;
	TB_BISECT(first, n, endings[first].end < sw);
	return first;
}

static int shape_arrange(struct shape_making *making, struct tb_tree_shape *shape)
{
	struct branch_ending *endings = malloc((making->n + 1u) * sizeof *endings);
	if (!endings)
		return TB_ENOMEM;
	for (uint32_t i = 0; i < making->n; i++)
		endings[i] = (struct branch_ending){shape_end(making, &making->loose[i]),
			i, making->loose[i].whole_ps};
	qsort(endings, making->n, sizeof *endings, shape_by_end);
	// Add branches to the tree, nearest to the root first. It sets the index of
	// an ending that it has added to the root's, 0.
	shape->branches[0] = making->loose[0];
	shape->n = 1;
	for (uint32_t at = 0; at < shape->n; at++) {
		struct tb_branch *parent = &shape->branches[at];
		const struct tb_link_info *link = &making->links[parent->link.id].at;
		if (link->kind == TB_LINK_INJECTION)
			continue; // it begins at a node, where no link ends
		uint32_t i = first_ending(endings, making->n, link->from);
		for (; i < making->n && endings[i].end == link->from; i++) {
			if (endings[i].index == 0)
				continue;
			struct tb_branch *child = &shape->branches[shape->n++];
			*child = making->loose[endings[i].index];
			child->parent = at;
			child->depth = parent->depth + 1;
			endings[i].index = 0;
		}
	}
	for (uint32_t i = 0; i < making->n; i++) {
		if (endings[i].index == 0)
			continue;
		struct tb_branch *child = &shape->branches[shape->n++];
		*child = making->loose[endings[i].index];
		child->depth = 1;
	}
	free(endings);
	return TB_OK;
}

static void shape_measure(struct tb_tree_shape *shape)
{
	struct tb_branch *branches = shape->branches;
	for (uint32_t i = 0; i < shape->n; i++) {
		branches[i].below_ps = branches[i].whole_ps;
		shape->branches_ps += branches[i].whole_ps;
		shape->n_shown += branches[i].shown_ps > 0;
		if (branches[i].depth > shape->depth)
			shape->depth = branches[i].depth;
		if (branches[i].shown_ps > shape->largest_ps)
			shape->largest_ps = branches[i].shown_ps;
	}
	for (uint32_t i = shape->n; i-- > 1;)
		branches[branches[i].parent].below_ps += branches[i].below_ps;
}

// tree_root_waits stores the waits for a root, exact: in the whole run, and in slices
// [from, end).
static void tree_root_waits(const struct tb_trees *trees, struct tb_link root,
	uint32_t from, uint32_t end, uint64_t *whole_ps, uint64_t *shown_ps)
{
	*whole_ps = *shown_ps = 0;
	for (uint32_t i = trees->root_first[root.id]; i < trees->root_first[root.id + 1];
		i++) {
		const struct tb_root_bin_sample *row = &trees->roots[i];
		*whole_ps += row->wait_ps;
		*shown_ps += row->bin >= from && row->bin < end ? row->wait_ps : 0;
	}
}

int tb_tree_shape_init(struct tb_tree_shape *shape, const struct tb_run *run,
	const struct tb_trees *trees, struct tb_link root, uint32_t from, uint32_t end)
{
	struct shape_making making = {.links = tb_run_links(run)};
	struct tb_tree_shape made = {.root = root};
	uint32_t n_rows = trees->first[root.id + 1] - trees->first[root.id];
	making.loose = calloc(n_rows + 1u, sizeof *making.loose);
	int status =
		making.loose ? shape_collect(&making, trees, root, from, end) : TB_ENOMEM;
	made.branches = calloc(making.n + 1u, sizeof *made.branches);
	double *next = calloc(making.n + 1u, sizeof *next);
	if (status == TB_OK && (!made.branches || !next))
		status = TB_ENOMEM;
	if (status == TB_OK)
		status = shape_arrange(&making, &made);
	if (status == TB_OK) {
		shape_measure(&made);
		// Put children side by side within their parent's width.
		struct tb_branch *branches = made.branches;
		double whole =
			branches[0].below_ps > 0 ? (double)branches[0].below_ps : 1;
		branches[0].w = 1;
		for (uint32_t i = 1; i < made.n; i++) {
			uint32_t parent = branches[i].parent;
			branches[i].w = (double)branches[i].below_ps / whole;
			branches[i].x = branches[parent].x + next[parent];
			next[parent] += branches[i].w;
		}
		tree_root_waits(trees, root, from, end, &made.whole_ps, &made.shown_ps);
	}
	free(next);
	free(making.loose);
	tb_map_fini(&making.known);
	if (status != TB_OK)
		tb_tree_shape_fini(&made);
	else
		*shape = made;
	return status;
}

void tb_tree_shape_fini(struct tb_tree_shape *shape)
{
	free(shape->branches);
	*shape = (struct tb_tree_shape){0};
}

static int shape_heaviest_first(const void *one, const void *other)
{
	const struct tb_tree_root *a = one, *b = other;
	if (a->shown_ps != b->shown_ps)
		return a->shown_ps < b->shown_ps ? 1 : -1;
	return a->whole_ps != b->whole_ps ? TB_ORDER(b->whole_ps, a->whole_ps)
					  : TB_ORDER(a->root.id, b->root.id);
}

int tb_tree_roots(const struct tb_trees *trees, uint32_t from, uint32_t end,
	struct tb_tree_root **roots, uint32_t *n)
{
	struct tb_tree_root *made = calloc(trees->n_roots + 1u, sizeof *made);
	uint32_t n_made = 0;
	int status = made ? TB_OK : TB_ENOMEM;
	for (uint32_t i = 0; i < trees->n_roots && status == TB_OK;) {
		struct tb_tree_root *root = &made[n_made++];
		root->root = trees->roots[i].root;
		tree_root_waits(
			trees, root->root, from, end, &root->whole_ps, &root->shown_ps);
		// Count each link of a root once, even if it is in several slices.
		struct tb_map known = {0};
		uint32_t last = trees->first[root->root.id + 1];
		for (uint32_t j = trees->first[root->root.id];
			j < last && status == TB_OK; j++) {
			const struct tb_tree_sample *row = &trees->rows[j];
			uint32_t seen;
			if (row->bin < from || row->bin >= end ||
				tb_map_find(&known, row->link.id, &seen))
				continue;
			status = tb_map_put(&known, row->link.id, 1);
			root->n_links++;
		}
		tb_map_fini(&known);
		i = trees->root_first[root->root.id + 1];
	}
	if (status != TB_OK) {
		free(made);
		return status;
	}
	if (n_made)
		qsort(made, n_made, sizeof *made, shape_heaviest_first);
	*roots = made;
	*n = n_made;
	return TB_OK;
}
