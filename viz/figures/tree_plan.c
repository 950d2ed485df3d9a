#include "tree_plan.h"

#include "array.h"
#include "order.h"

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

// The subtrees while they are being found, numbered as found: level by level from 0.
struct subtree_search {
	const struct tb_run_info *info;
	const struct tb_run_switch *switches;
	const struct tb_run_link *links;
	uint32_t *joined; // by switch: another one of its subtree, or itself at the root
	uint32_t *first;  // by node: a switch that it is on
	uint32_t *found;  // by switch that is its own root: the subtree, of this level
	uint32_t *key;	// by subtree: its first node; behind all nodes, its first switch
	uint32_t *rank; // by subtree: its number in the list
	struct tb_subtree *list;
	uint32_t n, room;
	uint32_t level_begin; // of the level being found
};

static uint32_t subtree_root(struct subtree_search *finding, uint32_t sw)
{
	uint32_t *joined = finding->joined;
	while (joined[sw] != sw)
		sw = joined[sw] = joined[joined[sw]];
	return sw;
}

static void subtree_join(struct subtree_search *finding, uint32_t a, uint32_t b)
{
	a = subtree_root(finding, a);
	b = subtree_root(finding, b);
	if (a < b)
		finding->joined[b] = a;
	else
		finding->joined[a] = b;
}

static uint32_t subtree_level(const struct subtree_search *finding, uint32_t sw)
{
	return finding->switches[sw].at.level;
}

// subtree_of returns the subtree of this level that a switch is in, new if it is the
// first there.
static uint32_t subtree_of(struct subtree_search *finding, uint32_t sw, uint32_t level)
{
	uint32_t root = subtree_root(finding, sw), known = finding->found[root];
	if (known != TB_ID_NONE && known >= finding->level_begin)
		return known;
	uint32_t made = finding->n++;
	finding->found[root] = made;
	finding->key[made] = finding->info->n_nodes + sw;
	finding->list[made] = (struct tb_subtree){.level = level, .parent = TB_ID_NONE};
	return made;
}

// are_named returns whether the leaves have names to go by: none ends with a GUID. Where
// they have, they are in the order of these, which switches of a level are numbered by.
static bool are_named(const struct subtree_search *finding)
{
	enum { GUID_DIGITS = 16 };
	for (uint32_t sw = 0; sw < finding->info->n_switches; sw++) {
		const char *name = finding->switches[sw].name;
		size_t n = strlen(name);
		if (subtree_level(finding, sw) == 0 && n >= GUID_DIGITS &&
			strspn(name + n - GUID_DIGITS, "0123456789abcdef") == GUID_DIGITS)
			return false;
	}
	return true;
}

// add_subtree_nodes counts the nodes of each subtree and finds its first.
static void add_subtree_nodes(
	struct subtree_search *finding, const struct tb_subtrees *subtrees)
{
	bool by_name = are_named(finding);
	for (uint32_t node = 0; node < finding->info->n_nodes; node++) {
		if (finding->first[node] == TB_ID_NONE)
			continue;
		uint32_t at = subtrees->of_switch[finding->first[node]];
		finding->list[at].n_nodes++;
		finding->list[at].n_slots++;
		if (node < finding->key[at] && !by_name)
			finding->key[at] = node;
	}
	for (uint32_t i = 0; i < finding->n; i++) {
		struct tb_subtree *subtree = &finding->list[i];
		if (subtree->n_slots == 0)
			subtree->n_slots = 1;
		if (subtree->parent == TB_ID_NONE)
			continue;
		finding->list[subtree->parent].n_slots += subtree->n_slots;
		finding->list[subtree->parent].n_children++;
		if (finding->key[i] < finding->key[subtree->parent])
			finding->key[subtree->parent] = finding->key[i];
	}
}

// What subtrees, or the switches of a row, are sorted by.
struct sorted_subtree {
	uint32_t group;
	double key;
	uint32_t id, n_below;
};

static int subtree_by_key(const void *one, const void *other)
{
	const struct sorted_subtree *a = one, *b = other;
	if (a->group != b->group)
		return a->group < b->group ? -1 : 1;
	return a->key != b->key ? TB_ORDER(a->key, b->key) : TB_ORDER(a->id, b->id);
}

// list_level appends the subtrees of a level to the list, by their parents and keys.
// `end` is where those of the level end in the order found.
static uint32_t list_level(struct subtree_search *finding, struct tb_subtrees *subtrees,
	struct sorted_subtree *sorted, uint32_t end)
{
	uint32_t level = finding->list[end - 1].level, n = 0;
	for (uint32_t i = end; i-- > 0 && finding->list[i].level == level;) {
		uint32_t parent = finding->list[i].parent;
		sorted[n++] = (struct sorted_subtree){
			parent == TB_ID_NONE ? 0 : 1 + finding->rank[parent],
			finding->key[i], i, 0};
	}
	qsort(sorted, n, sizeof *sorted, subtree_by_key);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t at = subtrees->n++;
		subtrees->list[at] = finding->list[sorted[i].id];
		finding->rank[sorted[i].id] = at;
	}
	return end - n;
}

static void place_nodes(struct subtree_search *finding, struct tb_subtrees *subtrees)
{
	uint32_t *next = finding->key; // by subtree: the slot of its next node
	for (uint32_t i = 0; i < subtrees->n; i++)
		next[i] = subtrees->list[i].first_slot;
	for (uint32_t sw = 0; sw < finding->info->n_switches; sw++)
		subtrees->of_switch[sw] = finding->rank[subtrees->of_switch[sw]];
	memset(subtrees->node_of_slot, 0xff,
		subtrees->n_slots * sizeof *subtrees->node_of_slot);
	for (uint32_t node = 0; node < finding->info->n_nodes; node++) {
		if (finding->first[node] == TB_ID_NONE)
			continue;
		uint32_t slot = next[subtrees->of_switch[finding->first[node]]]++;
		subtrees->slot_of_node[node] = slot;
		subtrees->node_of_slot[slot] = node;
	}
}

// place_within returns where within its subtree a switch stands, 0 to 1.
static double place_within(const struct tb_subtrees *subtrees, uint32_t sw)
{
	const struct tb_subtree *subtree = &subtrees->list[subtrees->of_switch[sw]];
	return (subtrees->place_of_switch[sw] - subtree->first_switch + 0.5) /
	       subtree->n_switches;
}

// order_row orders the switches of a level, those of the level below being in order.
static void order_row(struct subtree_search *finding, struct tb_subtrees *subtrees,
	uint32_t level, struct sorted_subtree *sorted, uint32_t *number)
{
	uint32_t n = 0;
	for (uint32_t sw = 0; sw < finding->info->n_switches; sw++) {
		if (subtree_level(finding, sw) != level)
			continue;
		number[sw] = n;
		sorted[n++] = (struct sorted_subtree){subtrees->of_switch[sw], 0, sw, 0};
	}
	for (uint32_t i = 0; level > 0 && i < finding->info->n_links; i++) {
		const struct tb_link_info *at = &finding->links[i].at;
		if (at->kind != TB_LINK_UP || subtree_level(finding, at->to) != level)
			continue;
		sorted[number[at->to]].key += place_within(subtrees, at->from);
		sorted[number[at->to]].n_below++;
	}
	for (uint32_t i = 0; i < n; i++) // to the mean of those below
		sorted[i].key /= sorted[i].n_below ? sorted[i].n_below : 1;
	qsort(sorted, n, sizeof *sorted, subtree_by_key);
	subtrees->n_row[level] = n;
	for (uint32_t i = 0; i < n; i++) {
		struct tb_subtree *subtree = &subtrees->list[sorted[i].group];
		subtrees->rows[level][i] = sorted[i].id;
		subtrees->place_of_switch[sorted[i].id] = i;
		if (i == 0 || sorted[i].group != sorted[i - 1].group)
			subtree->first_switch = i;
	}
}

static int order_rows(struct subtree_search *finding, struct tb_subtrees *subtrees)
{
	uint32_t n = finding->info->n_switches, done = 0;
	size_t room = (n > finding->n ? n : finding->n) + (size_t)1;
	struct sorted_subtree *sorted = malloc(room * sizeof *sorted);
	uint32_t *number = malloc((n + (size_t)1) * sizeof *number);
	if (!sorted || !number) {
		free(sorted);
		free(number);
		return TB_ENOMEM;
	}
	for (uint32_t end = finding->n; end > 0;)
		end = list_level(finding, subtrees, sorted, end);
	// Renumber the parents and give each subtree its slots: first those of
	// nodes on switches of its own level, then those of its children.
	uint32_t *next = finding->found; // by subtree: the slot of its next child
	for (uint32_t i = 0; i < subtrees->n; i++) {
		struct tb_subtree *subtree = &subtrees->list[i];
		bool is_top = subtree->parent == TB_ID_NONE;
		subtree->parent = is_top ? TB_ID_NONE : finding->rank[subtree->parent];
		subtree->first_child = TB_ID_NONE;
		if (is_top) {
			subtree->first_slot = subtrees->n_slots;
			subtrees->n_slots += subtree->n_slots;
			subtrees->n_top++;
		} else {
			struct tb_subtree *parent = &subtrees->list[subtree->parent];
			if (parent->first_child == TB_ID_NONE)
				parent->first_child = i;
			subtree->first_slot = next[subtree->parent];
			next[subtree->parent] += subtree->n_slots;
		}
		next[i] = subtree->first_slot + subtree->n_nodes;
	}
	place_nodes(finding, subtrees);
	for (uint32_t level = 0; level < subtrees->n_levels; level++) {
		subtrees->rows[level] = subtrees->rows[0] + done;
		order_row(finding, subtrees, level, sorted, number);
		done += subtrees->n_row[level];
	}
	free(sorted);
	free(number);
	return TB_OK;
}

// subtree_make_room allocates for at most a subtree per switch and level above it, and a
// slot per node and per subtree without nodes.
static int subtree_make_room(struct subtree_search *finding, struct tb_subtrees *subtrees)
{
	const struct tb_run_info *info = finding->info;
	size_t n_switches = info->n_switches, n_nodes = info->n_nodes, most = 1;
	for (uint32_t sw = 0; sw < n_switches; sw++)
		most += info->n_levels - subtree_level(finding, sw);
	subtrees->n_levels = info->n_levels;
	subtrees->list = calloc(most, sizeof *subtrees->list);
	subtrees->shut = calloc(most, sizeof *subtrees->shut);
	subtrees->rows = calloc(info->n_levels + (size_t)1, sizeof *subtrees->rows);
	subtrees->n_row = calloc(info->n_levels + (size_t)1, sizeof *subtrees->n_row);
	subtrees->memory = malloc(
		(3 * n_switches + 2 * n_nodes + most + 1) * sizeof *subtrees->memory);
	finding->list = calloc(most, sizeof *finding->list);
	finding->joined = malloc(
		(2 * n_switches + n_nodes + 3 * most + 1) * sizeof *finding->joined);
	if (!subtrees->list || !subtrees->shut || !subtrees->rows || !subtrees->n_row ||
		!subtrees->memory || !finding->list || !finding->joined)
		return TB_ENOMEM;
	subtrees->rows[0] = subtrees->memory;
	subtrees->of_switch = subtrees->rows[0] + n_switches;
	subtrees->place_of_switch = subtrees->of_switch + n_switches;
	subtrees->slot_of_node = subtrees->place_of_switch + n_switches;
	subtrees->node_of_slot = subtrees->slot_of_node + n_nodes;
	memset(subtrees->slot_of_node, 0xff, n_nodes * sizeof(uint32_t));
	finding->first = finding->joined + n_switches;
	finding->key = finding->first + n_nodes;
	finding->rank = finding->key + most;
	finding->found = finding->rank + most; // by switch, later by subtree
	memset(finding->first, 0xff, n_nodes * sizeof(uint32_t));
	memset(finding->found, 0xff,
		(n_switches > most ? n_switches : most) * sizeof(uint32_t));
	for (uint32_t sw = 0; sw < n_switches; sw++)
		finding->joined[sw] = sw;
	return TB_OK;
}

int tb_subtrees_init(
	struct tb_subtrees *subtrees, const struct tb_run *run, struct tb_error *error)
{
	struct tb_subtrees made = {.n = 0};
	struct subtree_search finding = {.info = tb_run_info(run),
		.switches = tb_run_switches(run),
		.links = tb_run_links(run)};
	int status = subtree_make_room(&finding, &made);
	if (status == TB_OK) {
		for (uint32_t level = 0; level < made.n_levels; level++) {
			// Join what the links whose upper end is of a level hold
			// together.
			for (uint32_t i = 0; i < finding.info->n_links; i++) {
				const struct tb_link_info *at = &finding.links[i].at;
				if (at->kind == TB_LINK_INJECTION &&
					subtree_level(&finding, at->to) == level) {
					if (finding.first[at->from] == TB_ID_NONE)
						finding.first[at->from] = at->to;
					subtree_join(&finding, finding.first[at->from],
						at->to);
				} else if (at->kind == TB_LINK_UP &&
					   subtree_level(&finding, at->to) == level) {
					subtree_join(&finding, at->from, at->to);
				}
			}
			finding.level_begin = finding.n;
			for (uint32_t sw = 0; sw < finding.info->n_switches; sw++) {
				if (subtree_level(&finding, sw) > level)
					continue;
				uint32_t subtree = subtree_of(&finding, sw, level);
				uint32_t lower = made.of_switch[sw];
				if (subtree_level(&finding, sw) == level) {
					made.of_switch[sw] = subtree;
					finding.list[subtree].n_switches++;
					continue;
				}
				// Only through the subtree of the level below: the chain
				// has no gaps.
				for (; finding.list[lower].parent != TB_ID_NONE &&
					finding.list[lower].parent < finding.level_begin;
					lower = finding.list[lower].parent)
					continue;
				finding.list[lower].parent = subtree;
			}
		}
		add_subtree_nodes(&finding, &made);
		status = order_rows(&finding, &made);
	}
	free(finding.list);
	free(finding.joined);
	if (status != TB_OK) {
		tb_subtrees_fini(&made);
		return tb_fail_memory(error, "the layout of the tree");
	}
	*subtrees = made;
	return TB_OK;
}

void tb_subtrees_fini(struct tb_subtrees *subtrees)
{
	free(subtrees->list);
	free(subtrees->shut);
	free(subtrees->rows);
	free(subtrees->n_row);
	free(subtrees->memory);
	*subtrees = (struct tb_subtrees){.n = 0};
}

bool tb_subtrees_can_shut(const struct tb_subtrees *subtrees, uint32_t index)
{
	const struct tb_subtree *subtree = &subtrees->list[index];
	return subtree->parent != TB_ID_NONE && subtree->n_children > 0;
}

double tb_subtrees_x(const struct tb_subtrees *subtrees, struct tb_switch sw)
{
	const struct tb_subtree *subtree = &subtrees->list[subtrees->of_switch[sw.id]];
	return (subtree->first_slot + place_within(subtrees, sw.id) * subtree->n_slots) /
	       subtrees->n_slots;
}
