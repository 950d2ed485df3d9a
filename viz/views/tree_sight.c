#include "tree_sight.h"

#include "scale.h"

#include <math.h>
#include <stdlib.h>

#define MANY_NODES   512 // from here on subtrees are shut at first
#define MOST_APART   10	 // pixels between switches
#define FOLDED_APART 5	 // and between folded subtrees

void tb_tree_sight_init(struct tb_tree_sight *sight, const struct tb_viewer_data *data)
{
	*sight = (struct tb_tree_sight){.zoom = 1, .data = data};
}

void tb_tree_sight_fini(struct tb_tree_sight *sight)
{
	tb_question_drop(&sight->asked.question);
	tb_subtrees_fini(&sight->asked.subtrees);
	tb_tree_plan_fini(&sight->plan);
	tb_tree_edges_fini(&sight->edges);
	free(sight->strokes);
}

void tb_tree_sight_set(struct tb_tree_sight *sight, double zoom, double pan)
{
	double most = fmax(sight->data->info->n_nodes / 4.0, 4);
	sight->zoom = fmin(fmax(zoom, 1), most);
	sight->pan = fmin(fmax(pan, 0), sight->zoom - 1);
	// Open the subtrees that are so near that one alone fills the window.
	const struct tb_subtrees *subtrees = &sight->asked.subtrees;
	if (sight->asked.question.state != TB_ANSWERED)
		return;
	for (uint32_t i = 0; i < subtrees->n; i++) {
		bool wide = subtrees->list[i].n_slots * sight->zoom >=
			    0.99 * subtrees->n_slots;
		sight->turned |= wide && subtrees->shut[i];
		subtrees->shut[i] = wide ? 0 : subtrees->shut[i];
	}
}

void tb_tree_sight_zoom(struct tb_tree_sight *sight, double x, double factor)
{
	double at = fmin(fmax((x - sight->area.x) / sight->area.w, 0), 1);
	double zoom = fmax(sight->zoom * factor, 1);
	if (zoom < 1.01)
		zoom = 1;
	tb_tree_sight_set(sight, zoom, (at + sight->pan) * zoom / sight->zoom - at);
}

static int read_subtrees(
	struct tb_question *question, struct tb_run *run, struct tb_error *error)
{
	struct tb_subtrees *subtrees =
		&((struct tb_subtrees_question *)question)->subtrees;
	int status = tb_subtrees_init(subtrees, run, error);
	bool many = tb_run_info(run)->n_nodes > MANY_NODES;
	for (uint32_t i = 0; status == TB_OK && many && i < subtrees->n; i++)
		subtrees->shut[i] = tb_subtrees_can_shut(subtrees, i);
	return status;
}

int tb_tree_sight_read(
	struct tb_tree_sight *sight, struct tb_viewer *viewer, struct tb_error *error)
{
	struct tb_question *question = &sight->asked.question;
	if (question->state == TB_UNASKED)
		*question = (struct tb_question){
			.what = "laying out the tree", .read = read_subtrees};
	return tb_viewer_put(viewer, question, error);
}

uint32_t tb_tree_sight_n(const struct tb_tree_sight *sight, uint32_t row)
{
	return row ? sight->asked.subtrees.n_row[row - 1] : sight->data->info->n_nodes;
}

static int sight_no_memory(struct tb_error *error)
{
	return tb_fail_memory(error, "the picture of the tree");
}

// sight_plan plans for the present zoom, with a margin of a width on either side, so that
// not every step of a drag makes another plan; *same is true when the vertices stay.
static int sight_plan(struct tb_tree_sight *sight, bool *same, struct tb_error *error)
{
	struct tb_tree_plan made;
	double from = (sight->pan - 1) / sight->zoom, to = (sight->pan + 2) / sight->zoom;
	if (tb_tree_plan_init(&made, sight->data->run, &sight->asked.subtrees,
		    sight->area.w * sight->zoom, from, to) != TB_OK)
		return sight_no_memory(error);
	*same = tb_tree_plan_same(&sight->plan, &made);
	tb_tree_plan_fini(&sight->plan);
	sight->plan = made;
	sight->planned_w = sight->area.w * sight->zoom;
	sight->turned = false;
	return TB_OK;
}

// sight_join joins the links between the vertices of the plan.
static int sight_join(struct tb_tree_sight *sight, struct tb_error *error)
{
	struct tb_tree_edges made;
	int status = tb_tree_edges_init(&made, sight->data->run, &sight->plan, error);
	if (status != TB_OK)
		return status;
	tb_tree_edges_fini(&sight->edges);
	sight->edges = made;
	sight->filled = false;
	free(sight->strokes);
	sight->strokes = calloc(2 * (size_t)made.n + 1, sizeof *sight->strokes);
	if (sight->strokes)
		return TB_OK;
	tb_tree_edges_fini(&sight->edges);
	return sight_no_memory(error);
}

int tb_tree_sight_join(
	struct tb_tree_sight *sight, const struct tb_marks *marks, struct tb_error *error)
{
	const struct tb_viewer_data *data = sight->data;
	double from = sight->pan / sight->zoom, to = (sight->pan + 1) / sight->zoom;
	bool covered = !sight->turned && sight->plan.from <= from &&
		       sight->plan.to >= to &&
		       sight->planned_w == sight->area.w * sight->zoom;
	bool same = true;
	int status = covered ? TB_OK : sight_plan(sight, &same, error);
	// Other cables can be visible where the vertices stay, unless all are.
	bool all = sight->plan.from <= 0 && sight->plan.to >= 1;
	if (status == TB_OK && (!same || !sight->edges.edge_of_link ||
				       (!covered && !(all && sight->joined_all))))
		status = sight_join(sight, error);
	if (status != TB_OK)
		return status;
	sight->joined_all = all;
	if (!sight->filled)
		tb_tree_edges_fill(&sight->edges, data->run, data->samples, data->metric,
			tb_window_end_ps(data->info, data->window), sight->outside);
	sight->filled = true;
	tb_tree_edges_mark(&sight->edges, data->run, marks->links);
	return TB_OK;
}

double tb_tree_sight_x(const struct tb_tree_sight *sight, double share)
{
	struct tb_box area = sight->area;
	return area.x + (share * sight->zoom - sight->pan) * area.w;
}

double tb_tree_sight_y(const struct tb_tree_sight *sight, uint32_t row)
{
	struct tb_box area = sight->area;
	uint32_t n_levels = sight->data->info->n_levels;
	double step = (area.h - TB_TREE_SWITCH_H) / fmax(n_levels, 1);
	return area.y + TB_TREE_SWITCH_H / 2.0 + step * (n_levels - row);
}

struct tb_box tb_tree_sight_box(const struct tb_tree_sight *sight, uint32_t index)
{
	const struct tb_tree_vertex *vertex = &sight->plan.vertices[index];
	double left = tb_tree_sight_x(sight, vertex->from);
	double right = tb_tree_sight_x(sight, vertex->to);
	double w = right - left;
	bool folded = vertex->fold != TB_ID_NONE;
	double most = folded ? INFINITY : vertex->row == 0 ? 34 : 74;
	double apart = folded ? FOLDED_APART : MOST_APART;
	double shown = fmin(fmax(w - fmin(w * 0.2, apart), 2), most);
	double h = vertex->row == 0 ? TB_TREE_NODE_H : TB_TREE_SWITCH_H;
	return (struct tb_box){(left + right - shown) / 2,
		tb_tree_sight_y(sight, vertex->row) - h / 2, shown, h};
}

double tb_tree_sight_share(
	const struct tb_tree_sight *sight, struct tb_pick pick, uint32_t *vertex)
{
	const struct tb_subtrees *subtrees = &sight->asked.subtrees;
	const struct tb_link_info *at;
	*vertex = TB_ID_NONE;
	bool planned = sight->plan.n > 0; // it was drawn before
	if (sight->asked.question.state != TB_ANSWERED)
		return -1;
	if (pick.kind == TB_PICK_NODE) {
		if (planned)
			*vertex = sight->plan.of_node[pick.index];
		return (subtrees->slot_of_node[pick.index] + 0.5) / subtrees->n_slots;
	}
	if (pick.kind == TB_PICK_LINK) {
		at = &tb_run_links(sight->data->run)[pick.index].at;
		// The lower end: it is folded if either is.
		bool down = at->kind == TB_LINK_DOWN;
		pick.index = at->kind == TB_LINK_INJECTION || down ? at->to : at->from;
	} else if (pick.kind != TB_PICK_SWITCH) {
		return -1;
	}
	if (planned)
		*vertex = sight->plan.of_switch[pick.index];
	return tb_subtrees_x(subtrees, (struct tb_switch){pick.index});
}

bool tb_tree_sight_holds(const struct tb_tree_sight *sight, struct tb_box box)
{
	struct tb_box area = sight->area;
	return box.x + box.w >= area.x && box.x <= area.x + area.w;
}

struct tb_scale tb_tree_sight_scale(
	const struct tb_tree_sight *sight, const struct tb_style *style)
{
	return tb_style_scale(
		style, tb_quantity_of(sight->data->metric), (double)sight->edges.largest);
}

// Subtrees that are shut and opened, and their handles.

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
