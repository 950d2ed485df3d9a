#include "tree_plan.h"

#include "array.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_FOLDED_W 10 // pixels, of a subtree that is folded, if it can be opened
#define MOST_ABOVE     32 // vertices of a row over folded subtrees: their cables are bundles

struct planning {
	const struct tb_subtrees *subtrees;
	struct tb_tree_plan *plan;
	double width, from, to;
};

static double plan_share(const struct tb_subtrees *subtrees, double slot)
{
	return slot / subtrees->n_slots;
}

static int plan_add(struct planning *planning, struct tb_tree_vertex vertex)
{
	struct tb_tree_plan *plan = planning->plan;
	if (TB_ARRAY_RESERVE(&plan->vertices, &plan->room, (size_t)plan->n + 1) != TB_OK)
		return TB_ENOMEM;
	bool visible = vertex.to >= planning->from && vertex.from <= planning->to;
	if (visible && plan->most[vertex.row] < vertex.n)
		plan->most[vertex.row] = vertex.n;
	for (uint32_t i = vertex.first; i < vertex.first + vertex.n; i++) {
		uint32_t node = vertex.row ? 0 : planning->subtrees->node_of_slot[i];
		if (vertex.row)
			plan->of_switch[planning->subtrees->rows[vertex.row - 1][i]] =
				plan->n;
		else if (node != TB_ID_NONE)
			plan->of_node[node] = plan->n;
	}
	plan->vertices[plan->n++] = vertex;
	return TB_OK;
}

// add_plan_groups adds n switches or nodes from `first` on as vertices of `group` of
// them, evenly spread over the slots.
static int add_plan_groups(
	struct planning *planning, struct tb_tree_vertex all, uint32_t group)
{
	int status = TB_OK;
	double from = all.from, w = all.to - all.from;
	for (uint32_t i = 0; status == TB_OK && i < all.n; i += group) {
		struct tb_tree_vertex vertex = all;
		uint32_t end = all.n - i < group ? all.n : i + group;
		vertex.first = all.first + i;
		vertex.n = end - i;
		vertex.from = from + w * i / all.n;
		vertex.to = from + w * end / all.n;
		status = plan_add(planning, vertex);
	}
	return status;
}

// plan_group returns the least power of two of n in `width` pixels that makes at most
// `most` groups, each wide enough to see.
static uint32_t plan_group(uint32_t n, double width, double most)
{
	double fit = fmax(fmin(floor(width / TB_TREE_LEAST_W), most), 1);
	uint32_t group = 1;
	while (group < n && ceil((double)n / group) > fit)
		group *= 2;
	return group;
}

static struct tb_tree_vertex all_of(
	const struct planning *planning, const struct tb_subtree *subtree)
{
	const struct tb_subtrees *subtrees = planning->subtrees;
	return (struct tb_tree_vertex){.row = subtree->level + 1,
		.first = subtree->first_switch,
		.n = subtree->n_switches,
		.fold = TB_ID_NONE,
		.from = plan_share(subtrees, subtree->first_slot),
		.to = plan_share(
			subtrees, subtree->first_slot + (double)subtree->n_slots)};
}

// add_folded adds a vertex per row of a subtree. Its switches of a row, and its nodes,
// stand together, as all that is in it does.
static int add_folded(struct planning *planning, uint32_t index)
{
	const struct tb_subtrees *subtrees = planning->subtrees;
	const struct tb_subtree *list = subtrees->list;
	uint32_t first = index, end = index + 1;
	struct tb_tree_vertex vertex = all_of(planning, &list[index]);
	int status = TB_OK;
	vertex.fold = index;
	planning->plan->n_folded++;
	for (uint32_t level = list[index].level + 1; status == TB_OK && level-- > 0;) {
		uint32_t next = TB_ID_NONE, next_end = 0;
		vertex.row = level + 1;
		vertex.n = 0;
		for (uint32_t i = first; i < end; i++) {
			if (list[i].n_switches && vertex.n == 0)
				vertex.first = list[i].first_switch;
			vertex.n += list[i].n_switches;
			if (list[i].n_children && next == TB_ID_NONE)
				next = list[i].first_child;
			if (list[i].n_children)
				next_end = list[i].first_child + list[i].n_children;
		}
		if (vertex.n)
			status = plan_add(planning, vertex);
		if (next == TB_ID_NONE)
			break;
		first = next;
		end = next_end;
	}
	vertex.row = 0;
	vertex.first = list[index].first_slot;
	vertex.n = list[index].n_slots;
	return status ? status : plan_add(planning, vertex);
}

static double plan_pixels(
	const struct planning *planning, const struct tb_subtree *subtree)
{
	return planning->width * plan_share(planning->subtrees, subtree->n_slots);
}

// plan_is_away is true when a subtree is not visible.
static bool plan_is_away(
	const struct planning *planning, const struct tb_subtree *subtree)
{
	struct tb_tree_vertex all = all_of(planning, subtree);
	return all.to < planning->from || all.from > planning->to;
}

// folds is true when a subtree is shut or has no room for those in it. A leaf switch
// always has room: its nodes are drawn as one.
static bool folds(const struct planning *planning, uint32_t index)
{
	const struct tb_subtree *subtree = &planning->subtrees->list[index];
	bool crowded =
		subtree->n_children &&
		plan_pixels(planning, subtree) / subtree->n_children < LEAST_FOLDED_W;
	return crowded || planning->subtrees->shut[index];
}

static int add_subtree(struct planning *planning, uint32_t index)
{
	const struct tb_subtree *subtree = &planning->subtrees->list[index];
	bool any_folded = false;
	uint32_t end =
		subtree->n_children ? subtree->first_child + subtree->n_children : 0;
	if (subtree->parent != TB_ID_NONE &&
		(plan_is_away(planning, subtree) || folds(planning, index)))
		return add_folded(planning, index);
	for (uint32_t i = subtree->first_child; i < end; i++)
		any_folded |= folds(planning, i);
	struct tb_tree_vertex all = all_of(planning, subtree);
	double width = plan_pixels(planning, subtree);
	int status = add_plan_groups(planning, all,
		plan_group(all.n, width, any_folded ? MOST_ABOVE : INFINITY));
	all.row = 0;
	all.first = subtree->first_slot;
	all.n = subtree->n_nodes;
	all.to = plan_share(
		planning->subtrees, subtree->first_slot + (double)subtree->n_nodes);
	if (status == TB_OK && all.n)
		status = add_plan_groups(planning, all,
			plan_group(
				all.n, planning->width * (all.to - all.from), INFINITY));
	for (uint32_t i = subtree->first_child; status == TB_OK && i < end; i++)
		status = add_subtree(planning, i);
	return status;
}

int tb_tree_plan_init(struct tb_tree_plan *plan, const struct tb_run *run,
	const struct tb_subtrees *subtrees, double width, double from, double to)
{
	const struct tb_run_info *info = tb_run_info(run);
	struct tb_tree_plan made = {
		.n_rows = subtrees->n_levels + 1, .from = from, .to = to};
	struct planning planning = {subtrees, &made, width, from, to};
	made.of_switch = malloc((info->n_switches + 1u) * sizeof *made.of_switch);
	made.of_node = malloc((info->n_nodes + 1u) * sizeof *made.of_node);
	made.most = calloc(made.n_rows, sizeof *made.most);
	int status = made.of_switch && made.of_node && made.most ? TB_OK : TB_ENOMEM;
	if (status == TB_OK)
		memset(made.of_node, 0xff, (info->n_nodes + 1u) * sizeof *made.of_node);
	for (uint32_t i = 0; status == TB_OK && i < subtrees->n_top; i++)
		status = add_subtree(&planning, i);
	if (status == TB_OK)
		*plan = made;
	else
		tb_tree_plan_fini(&made);
	return status;
}

void tb_tree_plan_fini(struct tb_tree_plan *plan)
{
	free(plan->vertices);
	free(plan->of_switch);
	free(plan->of_node);
	free(plan->most);
	*plan = (struct tb_tree_plan){.n = 0};
}

bool tb_tree_plan_same(const struct tb_tree_plan *a, const struct tb_tree_plan *b)
{
	if (a->n != b->n)
		return false;
	for (uint32_t i = 0; i < a->n; i++) {
		const struct tb_tree_vertex *of_a = &a->vertices[i],
					    *of_b = &b->vertices[i];
		if (of_a->row != of_b->row || of_a->first != of_b->first ||
			of_a->n != of_b->n || of_a->fold != of_b->fold)
			return false;
	}
	return true;
}
