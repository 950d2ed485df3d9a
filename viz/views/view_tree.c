// The tree itself: a row per level, the nodes below; links as wide as they are busy, in
// the shade of the metric, the selection marked.
//
// The wheel zooms along the rows: every level stays visible. A subtree without room for
// what is in it folds to a block.
#include "parts.h"
#include "run_text.h"
#include "scale.h"
#include "tree_sight.h"
#include "views.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define GUTTER	 92
#define MARGIN	 18
#define LEGEND_H 52
#define LABEL_H	 15

static void close_tree(void *state)
{
	tb_tree_sight_fini(state);
}

static void tree_view_placed(struct tb_pane *pane)
{
	struct tb_tree_sight *sight = pane->state;
	struct tb_box place = pane->place;
	if (sight)
		sight->area = (struct tb_box){place.x + GUTTER, place.y + MARGIN,
			fmax(place.w - GUTTER - MARGIN, 1),
			fmax(place.h - 2 * MARGIN - LEGEND_H, 1)};
}

static int open_tree(struct tb_pane *pane, struct tb_error *error)
{
	struct tb_tree_sight *sight = pane->state;
	if (!sight) {
		sight = calloc(1, sizeof *sight);
		if (!sight)
			return tb_fail_memory(error, "the picture of the tree");
		tb_tree_sight_init(sight, pane->data);
		pane->state = sight;
		tree_view_placed(pane);
	}
	sight->filled = false;
	int status = tb_tree_sight_read(sight, pane->viewer, error);
	return status < 0 ? status : TB_OK;
}

// draw_level writes the name of a row, and its count below if there is room.
static void draw_level(
	struct tb_pane *pane, struct tb_picture *picture, uint32_t row, double room_h)
{
	const struct tb_tree_sight *sight = pane->state;
	char count[32], by[48];
	uint32_t most = sight->plan.most[row];
	bool counts = room_h >= 2 * LABEL_H;
	struct tb_box box = {pane->place.x + 16,
		tb_tree_sight_y(sight, row) - (counts ? LABEL_H : LABEL_H / 2.0),
		GUTTER - 26, LABEL_H};
	struct tb_type type = tb_style_type(pane->style, TB_FONT_BOLD, 12, false);
	if (row == 0)
		tb_picture_text(picture, box, type, "nodes");
	else
		tb_picture_printf(picture, box, type, "level %" PRIu32, row - 1);
	if (!counts)
		return;
	box.y += LABEL_H;
	box.w = GUTTER - (row ? 17 : 30); // the first node's number is beside it
	type = tb_style_type(pane->style, TB_FONT_TEXT, 10, true);
	tb_format_count(tb_tree_sight_n(sight, row), count, sizeof count);
	snprintf(by, sizeof by, "%s by %" PRIu32, count, most);
	if (most > 1 && tb_text_width(type.font, type.size, by) <= box.w)
		tb_picture_text(picture, box, type, by);
	else if (most > 1) // the number itself is in the panel of the run
		tb_picture_printf(picture, box, type, "by %" PRIu32, most);
	else
		tb_picture_text(picture, box, type, count);
}

// draw_tree_view_levels leaves out names that would run into each other; the nodes'
// always stands.
static void draw_tree_view_levels(struct tb_pane *pane, struct tb_picture *picture)
{
	const struct tb_tree_sight *sight = pane->state;
	double room_h = tb_tree_sight_y(sight, 0) - tb_tree_sight_y(sight, 1);
	uint32_t step = room_h >= LABEL_H ? 1 : (uint32_t)ceil(LABEL_H / room_h);
	for (uint32_t row = 0; row <= pane->data->info->n_levels; row += step)
		draw_level(pane, picture, row, room_h * step);
}

static bool paths_are_known(const struct tb_pane *pane)
{
	const struct tb_paths *paths = tb_viewer_paths(pane->viewer);
	return paths && tb_paths_are_known(paths);
}

// legend_note returns what the marks mean, or else what is drawn specially.
static const char *legend_note(const struct tb_pane *pane)
{
	const struct tb_tree_sight *sight = pane->state;
	const struct tb_pick selected = pane->selection->selected;
	if (tb_selection_has_routes(pane->selection))
		return "marked: the shortest paths there; in the other colour back";
	if (selected.kind == TB_PICK_FLOW || selected.kind == TB_PICK_PAIR)
		return paths_are_known(pane)
			       ? "marked: the path of its packets"
			       : "marked: the shortest paths, any of which packets may "
				 "have taken";
	if (selected.kind == TB_PICK_LINK &&
		pane->selection->marks.links[selected.index] == TB_MARK_ROOT)
		return "marked: the congestion tree whose root is the selected link";
	if (tb_run_n_faults(pane->data->run))
		return "crossed out: dead; of links drawn as one the most loaded is "
		       "shown";
	return sight->plan.n_folded
		       ? "a block: a subtree, in the shades of its worst links; "
			 "+ or a double click opens it"
		       : "several links drawn as one: the most loaded is shown";
}

static void draw_tree_view_legend(struct tb_pane *pane, struct tb_picture *picture)
{
	const struct tb_tree_sight *sight = pane->state;
	struct tb_box place = pane->place;
	double y = place.y + place.h - LEGEND_H + 12;
	double x = place.x + GUTTER;
	double bar_w = fmin(220, fmax(place.w * 0.25, 100));
	const struct tb_legend legend = {pane->style->colours, pane->style->theme,
		TB_FONT_TEXT, tb_tree_sight_scale(sight, pane->style)};
	tb_legend_draw(picture, (struct tb_box){x, y, bar_w, 29}, &legend);
	struct tb_box box = {x + bar_w + 36, y - 3, place.w - GUTTER - bar_w - 48, 17};
	struct tb_type type = tb_style_type(pane->style, TB_FONT_TEXT, 12, false);
	char shade[96], brief[80];
	const char *dashed = tb_run_n_unmeasured(pane->data->run, pane->data->metric)
				     ? "; dashed: not measured"
				     : "";
	snprintf(shade, sizeof shade, "shade: %s of a link; width: time busy%s",
		tb_link_figures[pane->data->metric].name, dashed);
	snprintf(brief, sizeof brief, "shade: %s; width: busy%s",
		tb_link_figures[pane->data->metric].name, dashed);
	tb_picture_fitting(picture, box, type, (const char *const[]){shade, brief, NULL});
	box.y += 18;
	type = tb_style_type(pane->style, TB_FONT_TEXT, 12, true);
	tb_picture_text(picture, box, type, legend_note(pane));
}

static void tree_view_draw(struct tb_pane *pane, struct tb_picture *picture)
{
	struct tb_error error;
	struct tb_tree_sight *sight = pane->state;
	struct tb_box place = pane->place;
	struct tb_box wide = {
		place.x + GUTTER - 4, place.y, place.w - GUTTER - 4, place.h - LEGEND_H};
	if (!sight || sight->asked.question.state != TB_ANSWERED)
		return;
	sight->outside = tb_selection_outside(pane->selection);
	if (tb_tree_sight_join(sight, &pane->selection->marks, &error) != TB_OK) {
		tb_viewer_report(pane->viewer, &error);
		return;
	}
	draw_tree_view_levels(pane, picture);
	tb_picture_clip(picture, wide);
	tb_tree_lines_draw(sight, pane, picture);
	tb_tree_vertices_draw(sight, pane, picture);
	tb_picture_unclip(picture);
	draw_tree_view_legend(pane, picture);
}

// tree_view_look_at shows a part of the tree.
static void tree_view_look_at(struct tb_pane *pane, double zoom, double pan)
{
	struct tb_tree_sight *sight = pane->state;
	tb_tree_sight_set(sight, zoom, pan);
	pane->away = sight->zoom > 1;
}

static void tree_view_fit(struct tb_pane *pane)
{
	tree_view_look_at(pane, 1, 0);
}

static void tree_view_zoom_at(struct tb_pane *pane, double x, double y, double factor)
{
	struct tb_tree_sight *sight = pane->state;
	(void)y; // every level stays visible
	tb_tree_sight_zoom(sight, x, factor);
	pane->away = sight->zoom > 1;
}

static void tree_view_pan(struct tb_pane *pane, double dx, double dy)
{
	const struct tb_tree_sight *sight = pane->state;
	(void)dy;
	tree_view_look_at(pane, sight->zoom, sight->pan - dx / sight->area.w);
}

static double middle_of(const struct tb_tree_sight *sight, uint32_t vertex)
{
	const struct tb_tree_vertex *at = &sight->plan.vertices[vertex];
	return (at->from + at->to) / 2;
}

static void tree_view_reveal(struct tb_pane *pane, bool zoom)
{
	const struct tb_tree_sight *sight = pane->state;
	uint32_t at;
	double share =
		sight ? tb_tree_sight_share(sight, pane->selection->selected, &at) : -1;
	if (share < 0)
		return;
	double wanted = sight->zoom;
	uint32_t fold = at == TB_ID_NONE ? TB_ID_NONE : sight->plan.vertices[at].fold;
	if (zoom && fold != TB_ID_NONE) { // open the block
		const struct tb_subtrees *subtrees = &sight->asked.subtrees;
		wanted = (double)subtrees->n_slots / subtrees->list[fold].n_slots;
	} else if (zoom) { // near enough for a switch's name
		wanted = fmax(wanted, pane->data->info->n_nodes / 4.0 * TB_TREE_APART_W /
					      sight->area.w);
	}
	double shown = share * sight->zoom - sight->pan;
	if (zoom && fold != TB_ID_NONE)
		share = middle_of(sight, at);
	if (zoom || shown < 0.02 || shown > 0.98)
		tree_view_look_at(pane, wanted, share * fmax(wanted, 1) - 0.5);
}

static void tree_view_turn(struct tb_tree_sight *sight, uint32_t subtree)
{
	const struct tb_subtrees *subtrees = &sight->asked.subtrees;
	if (subtree < subtrees->n)
		tb_tree_sight_turn(sight, subtree, !subtrees->shut[subtree]);
}

// turn_selected opens or shuts the subtree of the selection; without one, all.
static void turn_selected(struct tb_pane *pane)
{
	struct tb_tree_sight *sight = pane->state;
	if (sight->asked.question.state != TB_ANSWERED)
		return;
	uint32_t subtree = tb_tree_sight_subtree(sight, pane->selection->selected);
	if (subtree == TB_ID_NONE)
		tb_tree_sight_turn_all(sight);
	else
		tree_view_turn(sight, subtree);
}

static bool tree_view_request(struct tb_pane *pane, const struct tb_request *asked)
{
	static const struct tb_pane_moves moves = {
		tree_view_fit, tree_view_zoom_at, tree_view_pan};
	const struct tb_tree_sight *sight = pane->state;
	if (sight && asked->name == TB_REQUEST_SUBTREE) {
		turn_selected(pane);
		return true;
	}
	return sight && tb_pane_move(pane, asked, sight->area, &moves);
}

static struct tb_box around_both(struct tb_box a, struct tb_box b)
{
	double x = fmin(a.x, b.x), y = fmin(a.y, b.y);
	return (struct tb_box){
		x, y, fmax(a.x + a.w, b.x + b.w) - x, fmax(a.y + a.h, b.y + b.h) - y};
}

// tree_view_tip widens what the tooltip of a switch must not cover by its cables, up and
// down: its figure is their sum.
static void tree_view_tip(const struct tb_pane *pane, struct tb_tip *tip)
{
	const struct tb_tree_sight *sight = pane->state;
	if (tip->pick.kind != TB_PICK_SWITCH || !sight || !sight->plan.of_switch)
		return;
	uint32_t vertex = sight->plan.of_switch[tip->pick.index];
	for (uint32_t i = 0; i < sight->edges.n; i++) {
		const struct tb_tree_edge *edge = &sight->edges.edges[i];
		if (edge->lower != vertex && edge->upper != vertex)
			continue;
		uint32_t other = edge->lower == vertex ? edge->upper : edge->lower;
		tip->about = around_both(tip->about, tb_tree_sight_box(sight, other));
	}
}

static void tree_view_pointer(struct tb_pane *pane, const struct tb_pointer_event *event)
{
	if (!pane->state)
		return;
	if (event->kind == TB_EVENT_WHEEL)
		tree_view_zoom_at(
			pane, event->x, event->y, pow(TB_ZOOM_STEP, event->steps));
	else if (event->kind == TB_EVENT_DRAG)
		tree_view_pan(pane, event->dx, event->dy);
	else if (event->kind == TB_EVENT_CLICK && event->pick.kind == TB_PICK_PART &&
		 event->pick.index >= TB_PART_SUBTREE)
		tree_view_turn(pane->state, event->pick.index - TB_PART_SUBTREE);
	else if (event->kind == TB_EVENT_CLICK && event->pick.kind == TB_PICK_NONE)
		tb_viewer_select(pane->viewer, event->pick);
}

const struct tb_view tb_view_tree = {.slot = TB_SLOT_MAIN,
	.shows_trees = true,
	.name = "tree",
	.tab = "Tree",
	.open = open_tree,
	.placed = tree_view_placed,
	.draw = tree_view_draw,
	.request = tree_view_request,
	.pointer = tree_view_pointer,
	.tip = tree_view_tip,
	.reveal = tree_view_reveal,
	.close = close_tree};
