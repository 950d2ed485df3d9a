#include "tree_plan.h"

#include <stdlib.h>
#include <string.h>

// The subtrees while they are being found, numbered as found: level by level from 0.
struct subtree_search {
	const struct tb_run_info *info;
	const struct tb_run_switch *switches;
	const struct tb_run_link *links;
	uint32_t *boss;	 // by switch: another one that it hangs together with, or itself
	uint32_t *first; // by node: a switch that it is on
	uint32_t *found; // by switch that is its own boss: the subtree, of this level
	uint32_t *key;	 // by subtree: its first node; behind them, its first switch
	uint32_t *rank;	 // by subtree: its number in the list
	struct tb_subtree *list;
	uint32_t n, room;
	uint32_t level_begin; // of the level being found
};

static uint32_t subtree_boss(struct subtree_search *finding, uint32_t sw)
{
	uint32_t *boss = finding->boss;
	while (boss[sw] != sw)
		sw = boss[sw] = boss[boss[sw]];
	return sw;
}

static void subtree_join(struct subtree_search *finding, uint32_t a, uint32_t b)
{
	a = subtree_boss(finding, a);
	b = subtree_boss(finding, b);
	if (a < b)
		finding->boss[b] = a;
	else
		finding->boss[a] = b;
}

static uint32_t subtree_level(const struct subtree_search *finding, uint32_t sw)
{
	return finding->switches[sw].at.level;
}

// subtree_of returns the subtree of this level that a switch is in, new if it is the
// first there.
static uint32_t subtree_of(struct subtree_search *finding, uint32_t sw, uint32_t level)
{
	uint32_t boss = subtree_boss(finding, sw), known = finding->found[boss];
	if (known != TB_ID_NONE && known >= finding->level_begin)
		return known;
	uint32_t made = finding->n++;
	finding->found[boss] = made;
	finding->key[made] = finding->info->n_nodes + sw;
	finding->list[made] = (struct tb_subtree){.level = level, .parent = TB_ID_NONE};
	return made;
}

// add_subtree_nodes counts the nodes of each subtree and finds its first.
static void add_subtree_nodes(
	struct subtree_search *finding, const struct tb_subtrees *subtrees)
{
	for (uint32_t node = 0; node < finding->info->n_nodes; node++) {
		if (finding->first[node] == TB_ID_NONE)
			continue;
		uint32_t at = subtrees->of_switch[finding->first[node]];
		finding->list[at].n_nodes++;
		finding->list[at].n_slots++;
		if (node < finding->key[at])
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
	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	return a->id < b->id ? -1 : a->id > b->id;
}

// list_level appends the subtrees of a level to the list, by their parents and first
// nodes. `end` is where those of the level end in the order found.
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
	finding->boss =
		malloc((2 * n_switches + n_nodes + 3 * most + 1) * sizeof *finding->boss);
	if (!subtrees->list || !subtrees->shut || !subtrees->rows || !subtrees->n_row ||
		!subtrees->memory || !finding->list || !finding->boss)
		return TB_ENOMEM;
	subtrees->rows[0] = subtrees->memory;
	subtrees->of_switch = subtrees->rows[0] + n_switches;
	subtrees->place_of_switch = subtrees->of_switch + n_switches;
	subtrees->slot_of_node = subtrees->place_of_switch + n_switches;
	subtrees->node_of_slot = subtrees->slot_of_node + n_nodes;
	memset(subtrees->slot_of_node, 0xff, n_nodes * sizeof(uint32_t));
	finding->first = finding->boss + n_switches;
	finding->key = finding->first + n_nodes;
	finding->rank = finding->key + most;
	finding->found = finding->rank + most; // by switch, later by subtree
	memset(finding->first, 0xff, n_nodes * sizeof(uint32_t));
	memset(finding->found, 0xff,
		(n_switches > most ? n_switches : most) * sizeof(uint32_t));
	for (uint32_t sw = 0; sw < n_switches; sw++)
		finding->boss[sw] = sw;
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
	free(finding.boss);
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
