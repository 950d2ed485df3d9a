// The tree itself: a row per level, the nodes below; links as wide as they are busy, in
// the shade of the metric, the selection marked.
//
// The wheel zooms along the rows: every level stays visible. Where switches would be too
// narrow, neighbours are drawn as one.
#include "legend.h"
#include "metric_text.h"
#include "tree_sight.h"
#include "views.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#define GUTTER	 92
#define MARGIN	 18
#define LEGEND_H 52

static void close(void *state)
{
	tb_tree_sight_fini(state);
}

static void placed(struct tb_pane *pane)
{
	struct tb_tree_sight *sight = pane->state;
	struct tb_box place = pane->place;
	if (sight)
		sight->area = (struct tb_box){place.x + GUTTER, place.y + MARGIN,
			fmax(place.w - GUTTER - MARGIN, 1),
			fmax(place.h - 2 * MARGIN - LEGEND_H, 1)};
}

static int open(struct tb_pane *pane, struct tb_error *error)
{
	struct tb_tree_sight *sight = pane->state;
	if (!sight) {
		sight = calloc(1, sizeof *sight);
		if (!sight)
			return tb_fail(error, TB_ENOMEM, "no memory to draw the tree");
		tb_tree_sight_init(sight, pane->data);
		pane->state = sight;
		placed(pane);
	}
	sight->filled = false;
	return TB_OK;
}

static void draw_levels(struct tb_pane *pane, struct tb_picture *picture)
{
	const struct tb_tree_sight *sight = pane->state;
	double x = pane->place.x + 16;
	for (uint32_t row = 0; row <= pane->data->info->n_levels; row++) {
		char count[32];
		uint32_t group = sight->edges.group[row];
		struct tb_box box = {
			x, tb_tree_sight_y(sight, row) - 15, GUTTER - 26, 15};
		struct tb_type type = tb_style_type(pane->style, TB_FONT_BOLD, 12, false);
		if (row == 0)
			tb_picture_text(picture, box, type, "nodes");
		else
			tb_picture_printf(picture, box, type, "level %" PRIu32, row - 1);
		box.y += 15;
		box.w = GUTTER - 17;
		type = tb_style_type(pane->style, TB_FONT_TEXT, 10, true);
		tb_format_count(tb_tree_sight_n(sight, row), count, sizeof count);
		if (group > 1)
			tb_picture_printf(
				picture, box, type, "%s by %" PRIu32, count, group);
		else
			tb_picture_text(picture, box, type, count);
	}
}

static bool paths_are_known(const struct tb_pane *pane)
{
	const struct tb_paths *paths = tb_viewer_paths(pane->viewer);
	return paths && tb_paths_are_known(paths);
}

static void draw_legend(struct tb_pane *pane, struct tb_picture *picture)
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
	tb_picture_printf(picture, box, type, "shade: %s of a link; width: time busy",
		tb_metric_name(pane->data->metric));
	box.y += 18;
	type = tb_style_type(pane->style, TB_FONT_TEXT, 12, true);
	const char *text =
		tb_run_n_faults(pane->data->run)
			? "crossed out: dead; of links drawn as one the most loaded is "
			  "shown"
			: "several links drawn as one: the most loaded is shown";
	enum tb_pick_kind kind = pane->selection->selected.kind;
	if (tb_selection_has_routes(pane->selection))
		text = "marked: the shortest paths there; in the other colour back";
	else if (kind == TB_PICK_FLOW || kind == TB_PICK_PAIR)
		text = paths_are_known(pane)
			       ? "marked: the path of its packets"
			       : "marked: the shortest paths, any of which packets may "
				 "have taken";
	else if (kind == TB_PICK_LINK &&
		 pane->selection->marks.links[pane->selection->selected.index] ==
			 TB_MARK_ROOT)
		text = "marked: the congestion tree whose root is the selected link";
	tb_picture_text(picture, box, type, text);
}

static void draw(struct tb_pane *pane, struct tb_picture *picture)
{
	struct tb_error error;
	struct tb_tree_sight *sight = pane->state;
	struct tb_box place = pane->place;
	struct tb_box wide = {
		place.x + GUTTER - 4, place.y, place.w - GUTTER - 4, place.h - LEGEND_H};
	if (!sight)
		return;
	if (tb_tree_sight_join(sight, &pane->selection->marks, &error) != TB_OK) {
		tb_viewer_report(pane->viewer, &error);
		return;
	}
	draw_levels(pane, picture);
	tb_picture_clip(picture, wide);
	tb_tree_lines_draw(sight, pane, picture);
	tb_tree_vertices_draw(sight, pane, picture);
	tb_picture_unclip(picture);
	draw_legend(pane, picture);
}

// look_at shows a part of the tree.
static void look_at(struct tb_pane *pane, double zoom, double pan)
{
	struct tb_tree_sight *sight = pane->state;
	tb_tree_sight_set(sight, zoom, pan);
	pane->away = sight->zoom > 1;
}

static void fit(struct tb_pane *pane)
{
	look_at(pane, 1, 0);
}

static void zoom_at(struct tb_pane *pane, double x, double y, double factor)
{
	struct tb_tree_sight *sight = pane->state;
	(void)y; // every level stays visible
	tb_tree_sight_zoom(sight, x, factor);
	pane->away = sight->zoom > 1;
}

static void pan(struct tb_pane *pane, double dx, double dy)
{
	const struct tb_tree_sight *sight = pane->state;
	(void)dy;
	look_at(pane, sight->zoom, sight->pan - dx / sight->area.w);
}

// share_of returns the place of an item along its row, 0 to 1; negative when it has none.
static double share_of(const struct tb_tree_sight *sight, struct tb_pick pick)
{
	const struct tb_run_switch *switches = tb_run_switches(sight->data->run);
	const struct tb_link_info *at;
	if (pick.kind == TB_PICK_NODE)
		return (pick.index + 0.5) / fmax(sight->data->info->n_nodes, 1);
	if (pick.kind == TB_PICK_LINK) {
		at = &tb_run_links(sight->data->run)[pick.index].at;
		pick.index = at->kind == TB_LINK_EJECTION ? at->from : at->to;
	} else if (pick.kind != TB_PICK_SWITCH) {
		return -1;
	}
	const struct tb_run_switch *sw = &switches[pick.index];
	return (sw->place + 0.5) / fmax(tb_tree_sight_n(sight, sw->at.level + 1), 1);
}

static void reveal(struct tb_pane *pane, bool zoom)
{
	const struct tb_tree_sight *sight = pane->state;
	double share = sight ? share_of(sight, pane->selection->selected) : -1;
	if (share < 0)
		return;
	double wanted = sight->zoom;
	if (zoom) // near enough for a switch's name
		wanted = fmax(wanted, pane->data->info->n_nodes / 4.0 * TB_TREE_APART_W /
					      sight->area.w);
	double shown = share * sight->zoom - sight->pan;
	if (zoom || shown < 0.02 || shown > 0.98)
		look_at(pane, wanted, share * fmax(wanted, 1) - 0.5);
}

static bool request(struct tb_pane *pane, const struct tb_request *asked)
{
	static const struct tb_pane_moves moves = {fit, zoom_at, pan};
	const struct tb_tree_sight *sight = pane->state;
	return sight && tb_pane_move(pane, asked, sight->area, &moves);
}

static void pointer(struct tb_pane *pane, const struct tb_pointer_event *event)
{
	if (!pane->state)
		return;
	if (event->kind == TB_EVENT_WHEEL)
		zoom_at(pane, event->x, event->y, pow(TB_ZOOM_STEP, event->steps));
	else if (event->kind == TB_EVENT_DRAG)
		pan(pane, event->dx, event->dy);
	else if (event->kind == TB_EVENT_CLICK && event->pick.kind == TB_PICK_NONE)
		tb_viewer_select(pane->viewer, event->pick);
}

const struct tb_view tb_view_tree = {.slot = TB_SLOT_MAIN,
	.shows_trees = true,
	.tab = "Tree",
	.open = open,
	.placed = placed,
	.draw = draw,
	.request = request,
	.pointer = pointer,
	.reveal = reveal,
	.close = close};
