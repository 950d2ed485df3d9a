// The tree itself: a row per level, the nodes below; links as wide as they are busy and
// in the shade of the metric, what is selected lit.
//
// The wheel zooms along the rows: every level stays in sight. Where switches would be too
// narrow, neighbours are drawn as one.
#include "legend.h"
#include "metric_text.h"
#include "run_text.h"
#include "tree_edges.h"
#include "views.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#define GUTTER	 92
#define MARGIN	 18
#define LEGEND_H 52
#define LEAST_W	 9  // of a group of switches
#define APART_W	 44 // of a switch, from which the two ways of a cable are drawn apart
#define SWITCH_H 18
#define NODE_H	 10
#define MOST_W	 5 // of a link that is always busy
#define MAX_ROWS 64

// A line to be drawn; the least loaded first, so that the others lie above.
struct stroke {
	double rank;
	struct tb_box line;
	double width;
	struct tb_colour colour;
	struct tb_link link;
};

struct tree {
	struct tb_tree_edges edges;
	double zoom, pan; // of the whole width; pan in widths of the place
	struct stroke *strokes;
	bool filled; // with the window's samples
};

static void close(void *state)
{
	struct tree *tree = state;
	tb_tree_edges_fini(&tree->edges);
	free(tree->strokes);
}

static struct tree *tree_of(const struct tb_pane *pane)
{
	return pane->state;
}

static int open(struct tb_pane *pane, struct tb_error *error)
{
	struct tree *tree = tree_of(pane);
	if (!tree) {
		tree = calloc(1, sizeof *tree);
		if (!tree)
			return tb_fail(error, TB_ENOMEM, "no memory to draw the tree");
		tree->zoom = 1;
		pane->state = tree;
	}
	tree->filled = false;
	return TB_OK;
}

static struct tb_box area_of(const struct tb_pane *pane)
{
	struct tb_box place = pane->place;
	return (struct tb_box){place.x + GUTTER, place.y + MARGIN,
		fmax(place.w - GUTTER - MARGIN, 1),
		fmax(place.h - 2 * MARGIN - LEGEND_H, 1)};
}

static uint32_t n_in_row(const struct tb_pane *pane, uint32_t row)
{
	if (row == 0)
		return pane->data->info->n_nodes;
	uint32_t of_matrix = pane->data->matrix.n_rows - row;
	return row <= pane->data->matrix.n_rows
		       ? pane->data->matrix.rows[of_matrix].n_blocks
		       : 0;
}

// group_of takes as many together as are wide enough to be seen, by powers of two.
static uint32_t group_of(double width, uint32_t n)
{
	uint32_t group = 1;
	while (group < n && width * group / n < LEAST_W)
		group *= 2;
	return group;
}

static bool same_groups(
	const struct tb_tree_edges *edges, const uint32_t *group, uint32_t n_rows)
{
	if (edges->n_rows != n_rows)
		return false;
	for (uint32_t i = 0; i < n_rows; i++)
		if (edges->group[i] != group[i])
			return false;
	return true;
}

// group makes the edges for the zoom that is shown; those at hand stay when they fit.
static int group(struct tb_pane *pane, struct tb_error *error)
{
	struct tree *tree = tree_of(pane);
	uint32_t group[MAX_ROWS];
	uint32_t n_rows = pane->data->info->n_levels + 1;
	double width = area_of(pane).w * tree->zoom;
	if (n_rows > MAX_ROWS)
		return tb_fail(error, TB_ECAPACITY,
			"a tree of %" PRIu32 " levels is too high to be drawn",
			n_rows - 1);
	for (uint32_t row = 0; row < n_rows; row++)
		group[row] = group_of(width, n_in_row(pane, row));
	double from = tree->pan / tree->zoom, to = (tree->pan + 1) / tree->zoom;
	bool covered = tree->edges.from <= from && tree->edges.to >= to;
	if (!covered || !same_groups(&tree->edges, group, n_rows)) {
		struct tb_tree_edges made;
		// A width more on either side: not every step of a drag makes them anew.
		int status = tb_tree_edges_init(&made, pane->data->run, group,
			from - 1 / tree->zoom, to + 1 / tree->zoom, error);
		if (status != TB_OK)
			return status;
		tb_tree_edges_fini(&tree->edges);
		tree->edges = made;
		free(tree->strokes);
		tree->strokes = calloc(2 * (size_t)made.n + 1, sizeof *tree->strokes);
		if (!tree->strokes)
			return tb_fail(error, TB_ENOMEM, "no memory to draw the tree");
		tree->filled = false;
	}
	if (!tree->filled)
		tb_tree_edges_fill(&tree->edges, pane->data->run, pane->data->samples,
			pane->data->metric);
	tree->filled = true;
	tb_tree_edges_mark(&tree->edges, pane->data->run, pane->selection->marks.links);
	return TB_OK;
}

static double x_of(const struct tb_pane *pane, uint32_t row, double slot)
{
	const struct tree *tree = tree_of(pane);
	struct tb_box area = area_of(pane);
	double n = (double)n_in_row(pane, row);
	return area.x + (fmin(slot / fmax(n, 1), 1) * tree->zoom - tree->pan) * area.w;
}

static double y_of(const struct tb_pane *pane, uint32_t row)
{
	struct tb_box area = area_of(pane);
	double step = (area.h - SWITCH_H) / fmax(pane->data->info->n_levels, 1);
	return area.y + SWITCH_H / 2.0 + step * (pane->data->info->n_levels - row);
}

static struct tb_scale scale_of(const struct tb_pane *pane)
{
	return tb_style_scale(pane->style, tb_quantity_of(pane->data->metric),
		(double)tree_of(pane)->edges.largest);
}

// box_of is where a group of a row is drawn.
static struct tb_box box_of(const struct tb_pane *pane, uint32_t row, uint32_t index)
{
	const struct tb_tree_edges *edges = &tree_of(pane)->edges;
	double group = edges->group[row];
	double left = x_of(pane, row, index * group);
	double right = x_of(pane, row, (index + 1) * group);
	double w = right - left;
	double most = row == 0 ? 34 : 74;
	double shown = fmin(fmax(w - fmin(w * 0.2, 10), 2), most);
	double h = row == 0 ? NODE_H : SWITCH_H;
	return (struct tb_box){
		(left + right - shown) / 2, y_of(pane, row) - h / 2, shown, h};
}

static double window_ps(const struct tb_pane *pane)
{
	return fmax((double)(tb_window_end_ps(pane->data->info, pane->data->window) -
			     tb_window_begin_ps(pane->data->info, pane->data->window)),
		1);
}

// way_stroke makes a direction's line, `aside` pixels off the middle of the cable.
static struct stroke way_stroke(const struct tb_pane *pane, const struct tb_tree_way *way,
	struct tb_box line, double aside)
{
	const struct tb_palette *palette = tb_palette_of(pane->style->theme);
	struct tb_scale scale = scale_of(pane);
	double percent = tb_scale_percent(&scale, (double)way->value);
	double busy = fmin((double)way->busy_ps / window_ps(pane), 1);
	struct stroke stroke = {.rank = percent,
		.width = 1 + (MOST_W - 1) * busy,
		.link = way->link,
		.colour = way->value ? tb_style_shade(pane->style, percent)
				     : palette->line};
	double length = fmax(hypot(line.w, line.h), 1);
	line.x -= aside * line.h / length;
	line.y += aside * line.w / length;
	stroke.line = line;
	if (way->mark != TB_MARK_NONE) {
		stroke.colour = tb_mark_colour(palette, way->mark);
		stroke.rank = 200 + way->mark;
		stroke.width =
			fmax(stroke.width, 1.5) + (way->mark == TB_MARK_ROOT ? 2 : 0);
	} else if (pane->selection->marks.any) {
		stroke.colour.a = way->value ? 90 : 60;
	}
	if (tb_pick_equal(pane->selection->hovered,
		    (struct tb_pick){TB_PICK_LINK, way->link.id}))
		stroke.colour = palette->text;
	return stroke;
}

static int by_rank(const void *one, const void *other)
{
	const struct stroke *a = one, *b = other;
	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	return (a->link.id > b->link.id) - (a->link.id < b->link.id);
}

static bool in_sight(const struct tb_box *box, const struct tb_box *area)
{
	return box->x + box->w >= area->x && box->x <= area->x + area->w;
}

// edge_strokes adds one or two lines for a cable.
static size_t edge_strokes(struct tb_pane *pane, const struct tb_tree_edge *edge,
	const struct tb_box *area, size_t n)
{
	struct tree *tree = tree_of(pane);
	struct tb_box low = box_of(pane, edge->row, edge->lower);
	struct tb_box high = box_of(pane, edge->row + 1, edge->upper);
	struct tb_box line = {low.x + low.w / 2, low.y, 0, high.y + high.h - low.y};
	line.w = high.x + high.w / 2 - line.x;
	if (!in_sight(&low, area) && !in_sight(&high, area))
		return n; // what only passes by would hide the rest
	bool apart = edge->up.n_links && edge->down.n_links &&
		     low.w + high.w >= 2 * APART_W * 0.6;
	if (apart) {
		tree->strokes[n++] = way_stroke(pane, &edge->up, line, -2.5);
		tree->strokes[n++] = way_stroke(pane, &edge->down, line, 2.5);
		return n;
	}
	const struct tb_tree_way *up = &edge->up, *down = &edge->down;
	bool take_up = up->mark != down->mark ? up->mark > down->mark
					      : up->n_links && up->value >= down->value;
	tree->strokes[n++] = way_stroke(pane, take_up ? up : down, line, 0);
	return n;
}

static void draw_edges(
	struct tb_pane *pane, struct tb_picture *picture, struct tb_box area)
{
	struct tree *tree = tree_of(pane);
	size_t n = 0;
	for (uint32_t i = 0; i < tree->edges.n; i++)
		n = edge_strokes(pane, &tree->edges.edges[i], &area, n);
	qsort(tree->strokes, n, sizeof *tree->strokes, by_rank);
	for (size_t i = 0; i < n; i++) {
		const struct stroke *stroke = &tree->strokes[i];
		tb_picture_line(picture, stroke->line, stroke->width, stroke->colour);
		tb_picture_pick(picture, (struct tb_pick){TB_PICK_LINK, stroke->link.id});
	}
}

// What a group of a row's switches or nodes shows.
struct knot {
	uint32_t row, first, n; // of the switches or nodes
	struct tb_pick pick;	// the most loaded switch, the first node
	uint64_t value;
	enum tb_mark mark;
};

static void knot_of_switches(const struct tb_pane *pane, struct knot *knot)
{
	const struct tb_matrix_row *row =
		&pane->data->matrix.rows[pane->data->matrix.n_rows - knot->row];
	knot->pick.kind = TB_PICK_SWITCH;
	for (uint32_t i = 0; i < knot->n; i++) {
		const struct tb_matrix_block *block = &row->blocks[knot->first + i];
		enum tb_mark mark =
			(enum tb_mark)pane->selection->marks.switches[block->sw.id];
		if (i == 0 || block->sum > knot->value) {
			knot->pick.index = block->sw.id;
			knot->value = block->sum;
		}
		knot->mark = mark > knot->mark ? mark : knot->mark;
	}
}

static void knot_of_nodes(const struct tb_pane *pane, struct knot *knot)
{
	knot->pick = (struct tb_pick){TB_PICK_NODE, knot->first};
	for (uint32_t i = 0; i < knot->n; i++) {
		enum tb_mark mark =
			(enum tb_mark)pane->selection->marks.nodes[knot->first + i];
		knot->mark = mark > knot->mark ? mark : knot->mark;
	}
}

static void knot_label(struct tb_pane *pane, struct tb_picture *picture,
	const struct knot *knot, struct tb_box box, struct tb_colour ground)
{
	if (knot->n > 1 || knot->row == 0)
		return; // nodes have their numbers below
	const char *text = tb_run_switches(pane->data->run)[knot->pick.index].name;
	if (tb_text_width(TB_FONT_TEXT, 10, text) > box.w - 2)
		return;
	tb_picture_text(picture, box,
		(struct tb_type){
			TB_FONT_TEXT, 10, TB_ALIGN_CENTRE, tb_colour_ink(ground)},
		text);
}

// draw_numbers sets the numbers of nodes below them, as many as there is room for.
static void draw_numbers(struct tb_pane *pane, struct tb_picture *picture)
{
	const struct tree *tree = tree_of(pane);
	struct tb_box area = area_of(pane);
	struct tb_type type = tb_style_type(pane->style, TB_FONT_TEXT, 10, true);
	double n = fmax(pane->data->info->n_nodes, 1);
	double node_w = area.w * tree->zoom / n, step = 1;
	type.align = TB_ALIGN_CENTRE;
	while (node_w * step < 36)
		step *= 2;
	double first = floor(tree->pan / tree->zoom * n / step) * step;
	for (double node = first; node < n; node += step) {
		double x = x_of(pane, 0, node + 0.5);
		if (x > area.x + area.w)
			break;
		tb_picture_printf(picture,
			(struct tb_box){x - 20, y_of(pane, 0) + NODE_H / 2.0 + 2, 40, 12},
			type, "%.0f", node);
	}
}

static void draw_knot(
	struct tb_pane *pane, struct tb_picture *picture, const struct knot *knot)
{
	const struct tb_palette *palette = tb_palette_of(pane->style->theme);
	uint32_t group = tree_of(pane)->edges.group[knot->row];
	struct tb_box box = box_of(pane, knot->row, knot->first / group);
	struct tb_scale scale =
		tb_style_scale(pane->style, tb_quantity_of(pane->data->metric),
			(double)pane->data->matrix.largest_switch);
	struct tb_colour colour =
		knot->value ? tb_style_shade(pane->style,
				      tb_scale_percent(&scale, (double)knot->value))
			    : palette->raised;
	bool selected = tb_pick_equal(pane->selection->selected, knot->pick);
	bool under = tb_pick_equal(pane->selection->hovered, knot->pick);
	tb_picture_rect(picture, box, colour);
	tb_picture_pick(picture, knot->pick);
	knot_label(pane, picture, knot, box, colour);
	struct tb_box around = {box.x - 1, box.y - 1, box.w + 2, box.h + 2};
	if (knot->mark != TB_MARK_NONE || selected || under)
		tb_picture_frame(picture, around, 2,
			under && !selected ? palette->text
			: selected	   ? palette->accent
					   : tb_mark_colour(palette, knot->mark));
	else
		tb_picture_frame(picture, around, 1, palette->page);
}

static void draw_row(struct tb_pane *pane, struct tb_picture *picture, uint32_t row)
{
	const struct tree *tree = tree_of(pane);
	struct tb_box area = area_of(pane);
	uint32_t n = n_in_row(pane, row);
	uint32_t group = tree->edges.group[row];
	// Only what is in sight: the first and last slot by their place.
	double first = floor(tree->pan / tree->zoom * n / group) - 1;
	double last = ceil((tree->pan + 1) / tree->zoom * n / group) + 1;
	for (double i = fmax(first, 0); i < last && i * group < n; i++) {
		struct knot knot = {.row = row, .first = (uint32_t)i * group};
		knot.n = n - knot.first < group ? n - knot.first : group;
		if (row == 0)
			knot_of_nodes(pane, &knot);
		else
			knot_of_switches(pane, &knot);
		struct tb_box box = box_of(pane, row, knot.first / group);
		if (in_sight(&box, &area))
			draw_knot(pane, picture, &knot);
	}
}

static void draw_levels(struct tb_pane *pane, struct tb_picture *picture)
{
	const struct tree *tree = tree_of(pane);
	double x = pane->place.x + 16;
	for (uint32_t row = 0; row <= pane->data->info->n_levels; row++) {
		char count[32];
		uint32_t group = tree->edges.group[row];
		struct tb_box box = {x, y_of(pane, row) - 15, GUTTER - 26, 15};
		struct tb_type type = tb_style_type(pane->style, TB_FONT_BOLD, 12, false);
		if (row == 0)
			tb_picture_text(picture, box, type, "nodes");
		else
			tb_picture_printf(picture, box, type, "level %" PRIu32, row - 1);
		box.y += 15;
		box.w = GUTTER - 17;
		type = tb_style_type(pane->style, TB_FONT_TEXT, 10, true);
		tb_format_count(n_in_row(pane, row), count, sizeof count);
		if (group > 1)
			tb_picture_printf(
				picture, box, type, "%s by %" PRIu32, count, group);
		else
			tb_picture_text(picture, box, type, count);
	}
}

static void draw_legend(struct tb_pane *pane, struct tb_picture *picture)
{
	struct tb_box place = pane->place;
	double y = place.y + place.h - LEGEND_H + 12;
	double x = place.x + GUTTER;
	double bar_w = fmin(220, fmax(place.w * 0.25, 100));
	const struct tb_legend legend = {
		pane->style->colours, pane->style->theme, TB_FONT_TEXT, scale_of(pane)};
	tb_legend_draw(picture, (struct tb_box){x, y, bar_w, 29}, &legend);
	struct tb_box box = {x + bar_w + 36, y - 3, place.w - GUTTER - bar_w - 48, 17};
	struct tb_type type = tb_style_type(pane->style, TB_FONT_TEXT, 12, false);
	tb_picture_printf(picture, box, type, "shade: %s of a link; width: time busy",
		tb_metric_name(pane->data->metric));
	box.y += 18;
	type = tb_style_type(pane->style, TB_FONT_TEXT, 12, true);
	const char *text = "of several links drawn as one the most loaded is shown";
	enum tb_pick_kind kind = pane->selection->selected.kind;
	if (kind == TB_PICK_FLOW || kind == TB_PICK_PAIR)
		text = "lit: the shortest ways, any of which packets may have taken";
	else if (kind == TB_PICK_LINK &&
		 pane->selection->marks.links[pane->selection->selected.index] ==
			 TB_MARK_ROOT)
		text = "lit: the congestion tree of which the selected link is the root";
	tb_picture_text(picture, box, type, text);
}

static void draw(struct tb_pane *pane, struct tb_picture *picture)
{
	struct tb_box place = pane->place;
	struct tb_error error;
	struct tb_box area = area_of(pane);
	struct tb_box wide = {
		place.x + GUTTER - 4, place.y, place.w - GUTTER - 4, place.h - LEGEND_H};
	if (!tree_of(pane))
		return;
	if (group(pane, &error) != TB_OK) {
		tb_viewer_report(pane->viewer, &error);
		return;
	}
	draw_levels(pane, picture);
	tb_picture_clip(picture, wide);
	draw_edges(pane, picture, area);
	for (uint32_t row = 0; row <= pane->data->info->n_levels; row++)
		draw_row(pane, picture, row);
	draw_numbers(pane, picture);
	tb_picture_unclip(picture);
	draw_legend(pane, picture);
}

static void set_view(struct tb_pane *pane, double zoom, double pan)
{
	struct tree *tree = tree_of(pane);
	double most = fmax(pane->data->info->n_nodes / 4.0, 4);
	tree->zoom = fmin(fmax(zoom, 1), most);
	tree->pan = fmin(fmax(pan, 0), tree->zoom - 1);
	pane->away = tree->zoom > 1;
}

// zoom_at leaves what is under x where it is.
static void zoom_at(struct tb_pane *pane, double x, double factor)
{
	const struct tree *tree = tree_of(pane);
	struct tb_box area = area_of(pane);
	double at = fmin(fmax((x - area.x) / area.w, 0), 1);
	double zoom = fmax(tree->zoom * factor, 1);
	if (zoom < 1.01)
		zoom = 1;
	set_view(pane, zoom, (at + tree->pan) * zoom / tree->zoom - at);
}

static void pan(struct tb_pane *pane, double dx)
{
	const struct tree *tree = tree_of(pane);
	set_view(pane, tree->zoom, tree->pan - dx / area_of(pane).w);
}

// share_of is where along the rows what is selected is, 0 to 1; negative when nowhere.
static double share_of(const struct tb_pane *pane, struct tb_pick pick)
{
	const struct tb_run_switch *switches = tb_run_switches(pane->data->run);
	const struct tb_link_info *at;
	if (pick.kind == TB_PICK_NODE)
		return (pick.index + 0.5) / fmax(pane->data->info->n_nodes, 1);
	if (pick.kind == TB_PICK_LINK) {
		at = &tb_run_links(pane->data->run)[pick.index].at;
		pick.index = at->kind == TB_LINK_EJECTION ? at->from : at->to;
	} else if (pick.kind != TB_PICK_SWITCH) {
		return -1;
	}
	const struct tb_run_switch *sw = &switches[pick.index];
	return (sw->place + 0.5) / fmax(n_in_row(pane, sw->at.level + 1), 1);
}

static void reveal(struct tb_pane *pane, bool zoom)
{
	struct tree *tree = tree_of(pane);
	double share = tree ? share_of(pane, pane->selection->selected) : -1;
	if (share < 0)
		return;
	double wanted = tree->zoom;
	if (zoom) // as near as shows a switch with its name
		wanted = fmax(wanted,
			pane->data->info->n_nodes / 4.0 * APART_W / area_of(pane).w);
	double shown = share * tree->zoom - tree->pan;
	if (zoom || shown < 0.02 || shown > 0.98)
		set_view(pane, wanted, share * fmax(wanted, 1) - 0.5);
}

static bool request(struct tb_pane *pane, const struct tb_request *asked)
{
	struct tb_box area = area_of(pane);
	double middle = area.x + area.w / 2;
	if (!tree_of(pane))
		return false;
	switch ((int)asked->name) {
	case TB_REQUEST_FIT:
		set_view(pane, 1, 0);
		return true;
	case TB_REQUEST_ZOOM_IN:
		zoom_at(pane, middle, TB_ZOOM_STEP);
		return true;
	case TB_REQUEST_ZOOM_OUT:
		zoom_at(pane, middle, 1 / TB_ZOOM_STEP);
		return true;
	case TB_REQUEST_PAN_LEFT:
		pan(pane, TB_PAN_STEP);
		return true;
	case TB_REQUEST_PAN_RIGHT:
		pan(pane, -TB_PAN_STEP);
		return true;
	default:
		return false;
	}
}

static void pointer(struct tb_pane *pane, const struct tb_pointer_event *event)
{
	if (!tree_of(pane))
		return;
	if (event->kind == TB_EVENT_WHEEL)
		zoom_at(pane, event->x, pow(TB_ZOOM_STEP, event->steps));
	else if (event->kind == TB_EVENT_DRAG)
		pan(pane, event->dx);
	else if (event->kind == TB_EVENT_CLICK && event->pick.kind == TB_PICK_NONE)
		tb_viewer_select(pane->viewer, event->pick);
}

const struct tb_view tb_view_tree = {.slot = TB_SLOT_MAIN,
	.shows_trees = true,
	.tab = "Tree",
	.open = open,
	.draw = draw,
	.request = request,
	.pointer = pointer,
	.reveal = reveal,
	.close = close};
