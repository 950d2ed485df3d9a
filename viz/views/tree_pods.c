// Subtrees that are shut and opened, and their handles.
#include "tree_sight.h"

#include <math.h>

#define HANDLE_W     14
#define LEAST_OPEN_W 10 // pixels of each subtree within one that is opened

void tb_tree_sight_turn(struct tb_tree_sight *sight, uint32_t subtree, bool shut)
{
	struct tb_subtrees *subtrees = &sight->asked.subtrees;
	sight->turned = true;
	subtrees->shut[subtree] = shut;
	for (; !shut && subtree != TB_ID_NONE; subtree = subtrees->list[subtree].parent)
		subtrees->shut[subtree] = 0;
}

void tb_tree_sight_turn_all(struct tb_tree_sight *sight)
{
	struct tb_subtrees *subtrees = &sight->asked.subtrees;
	bool any_open = false;
	for (uint32_t i = 0; i < subtrees->n; i++)
		any_open |= tb_subtrees_can_shut(subtrees, i) && !subtrees->shut[i];
	for (uint32_t i = 0; i < subtrees->n; i++) {
		uint32_t parent = subtrees->list[i].parent;
		bool outermost = parent != TB_ID_NONE && parent < subtrees->n_top;
		subtrees->shut[i] =
			tb_subtrees_can_shut(subtrees, i) && (any_open || !outermost);
	}
	sight->turned = true;
}

// pod_leaf returns the subtree of an item's switch, of a link that of its lower end.
static uint32_t pod_leaf(const struct tb_tree_sight *sight, struct tb_pick pick)
{
	const struct tb_subtrees *subtrees = &sight->asked.subtrees;
	const struct tb_run_link *links = tb_run_links(sight->data->run);
	uint32_t sw = pick.kind == TB_PICK_SWITCH ? pick.index : TB_ID_NONE;
	if (pick.kind == TB_PICK_LINK) {
		const struct tb_link_info *at = &links[pick.index].at;
		bool to = at->kind == TB_LINK_INJECTION || at->kind == TB_LINK_DOWN;
		sw = to ? at->to : at->from;
	}
	for (uint32_t i = 0; pick.kind == TB_PICK_NODE && sw == TB_ID_NONE &&
			     i < sight->data->info->n_links;
		i++)
		if (links[i].at.kind == TB_LINK_INJECTION &&
			links[i].at.from == pick.index)
			sw = links[i].at.to;
	return sw == TB_ID_NONE ? TB_ID_NONE : subtrees->of_switch[sw];
}

uint32_t tb_tree_sight_subtree(const struct tb_tree_sight *sight, struct tb_pick pick)
{
	const struct tb_subtrees *subtrees = &sight->asked.subtrees;
	uint32_t found = TB_ID_NONE;
	uint32_t at = pod_leaf(sight, pick);
	for (; at != TB_ID_NONE; at = subtrees->list[at].parent) {
		if (found == TB_ID_NONE && tb_subtrees_can_shut(subtrees, at))
			found = at;
		if (subtrees->shut[at])
			found = at; // the outermost of these hides the others
	}
	return found;
}

// pod_is_hidden is true for a subtree that is part of a larger block.
static bool pod_is_hidden(const struct tb_subtrees *subtrees, uint32_t index)
{
	uint32_t at = subtrees->list[index].parent;
	while (at != TB_ID_NONE && !subtrees->shut[at])
		at = subtrees->list[at].parent;
	return at != TB_ID_NONE;
}

struct tb_box tb_tree_sight_handle(const struct tb_tree_sight *sight, uint32_t index)
{
	const struct tb_subtrees *subtrees = &sight->asked.subtrees;
	const struct tb_subtree *subtree = &subtrees->list[index];
	double n = subtrees->n_slots;
	double left = tb_tree_sight_x(sight, subtree->first_slot / n);
	double right = tb_tree_sight_x(
		sight, (subtree->first_slot + (double)subtree->n_slots) / n);
	struct tb_box none = {left, 0, 0, 0};
	double apart = tb_tree_sight_y(sight, 0) - tb_tree_sight_y(sight, 1);
	if (!tb_subtrees_can_shut(subtrees, index) || pod_is_hidden(subtrees, index) ||
		(right - left) / subtree->n_children < LEAST_OPEN_W ||
		right - left < 2 * HANDLE_W || apart < TB_TREE_SWITCH_H + HANDLE_W + 4)
		return none;
	double x = fmax(left, sight->area.x) + 2;
	double y = tb_tree_sight_y(sight, subtree->level + 1);
	struct tb_box box = {
		x, y - TB_TREE_SWITCH_H / 2.0 - HANDLE_W - 2, HANDLE_W, HANDLE_W};
	return x + HANDLE_W > right || !tb_tree_sight_holds(sight, box) ? none : box;
}
