// The tree itself: a row per level, the nodes below; links as wide as they are busy, in
// the shade of the metric, the selection marked.
//
// The wheel zooms along the rows: every level stays visible. A subtree without room for
// what is in it folds to a block.
#include "order.h"
#include "parts.h"
#include "scale.h"
#include "tree_sight.h"
#include "views.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

// Draws the cables of the tree: as wide as they are busy, in the shade of the metric, the
// fainter the less they have of it; dead ones crossed out. Those within a folded subtree
// are a band between its rows.

#define MOST_W	    5	// of a link that is always busy
#define MANY	    400 // edges from which on all lines are narrower
#define CROSS_W	    9
#define DASH_W	    7 // and as much space behind it, together
#define MOST_DASHES 40
#define FAINT	    0.4 // the share of its colour that a link with little load has
#define IDLE	    0.6 // and one without, whose colour is faint by itself

// fade leaves a share of a colour. It is not seen through: where many faint lines cross,
// they would add up to a bright one.
static struct tb_colour fade(
	const struct tb_pane *pane, struct tb_colour colour, double share)
{
	return tb_colour_mix(tb_palette_of(pane->style->theme)->page, colour, share);
}

// stroke_of makes a direction's line, `aside` pixels off the middle of the cable.
static struct tb_tree_stroke stroke_of(const struct tb_tree_sight *sight,
	const struct tb_pane *pane, const struct tb_tree_direction *direction,
	struct tb_box line, double aside)
{
	const struct tb_palette *palette = tb_palette_of(pane->style->theme);
	struct tb_scale scale = tb_tree_sight_scale(sight, pane->style);
	double percent = tb_scale_percent(&scale, (double)direction->value);
	double busy = fmin((double)direction->busy_ps /
				   fmax(tb_viewer_data_window_ps(pane->data), 1),
		1);
	// Wide lines would hide each other where there are many, and take long.
	double most = fmax(fmin(MOST_W * MANY / fmax(sight->edges.n, 1), MOST_W), 1);
	struct tb_tree_stroke stroke = {.rank = direction->n_dead ? 150 : percent,
		.width = 1 + (most - 1) * busy,
		.link = direction->link,
		.dead = direction->n_dead > 0,
		.unmeasured = direction->n_unmeasured == direction->n_links &&
			      direction->n_unmeasured > 0,
		.colour = direction->value ? tb_style_shade(pane->style, percent)
					   : palette->line};
	if (direction->n_dead && direction->n_dead == direction->n_links)
		stroke.colour = palette->dead;
	double length = fmax(hypot(line.w, line.h), 1);
	line.x -= aside * line.h / length;
	line.y += aside * line.w / length;
	stroke.line = line;
	if (direction->mark != TB_MARK_NONE) {
		stroke.colour = tb_mark_colour(palette, direction->mark);
		stroke.rank = 200 + direction->mark;
		stroke.width = fmax(stroke.width, 1.5) +
			       (direction->mark == TB_MARK_ROOT ? 2 : 0);
	} else if (pane->selection->marks.any) {
		stroke.colour = fade(pane, stroke.colour, direction->value ? 0.35 : 0.25);
	} else if (!direction->n_dead) {
		stroke.colour = fade(pane, stroke.colour,
			direction->value ? FAINT + (1 - FAINT) * percent / 100 : IDLE);
	}
	if (tb_pick_equal(pane->selection->hovered,
		    (struct tb_pick){TB_PICK_LINK, direction->link.id}))
		stroke.colour = palette->text;
	return stroke;
}

static int tree_line_by_rank(const void *one, const void *other)
{
	const struct tb_tree_stroke *a = one, *b = other;
	return a->rank != b->rank ? TB_ORDER(a->rank, b->rank)
				  : TB_ORDER(a->link.id, b->link.id);
}

static const struct tb_tree_direction *tree_line_worse(const struct tb_tree_edge *edge)
{
	const struct tb_tree_direction *up = &edge->up, *down = &edge->down;
	bool take_up = up->mark != down->mark ? up->mark > down->mark
					      : up->n_links && up->value >= down->value;
	if (up->link.id == TB_ID_NONE || down->link.id == TB_ID_NONE)
		take_up = down->link.id == TB_ID_NONE;
	return take_up ? up : down;
}

// in_block is true for an edge within a folded subtree.
static bool in_block(const struct tb_tree_sight *sight, const struct tb_tree_edge *edge)
{
	uint32_t fold = sight->plan.vertices[edge->lower].fold;
	return fold != TB_ID_NONE && fold == sight->plan.vertices[edge->upper].fold;
}

// edge_strokes adds one or two lines for a cable.
static size_t edge_strokes(const struct tb_tree_sight *sight, const struct tb_pane *pane,
	const struct tb_tree_edge *edge, size_t n)
{
	struct tb_box low = tb_tree_sight_box(sight, edge->lower);
	struct tb_box high = tb_tree_sight_box(sight, edge->upper);
	struct tb_box line = {low.x + low.w / 2, low.y, 0, high.y + high.h - low.y};
	line.w = high.x + high.w / 2 - line.x;
	if (!tb_tree_sight_holds(sight, low) && !tb_tree_sight_holds(sight, high))
		return n; // cables that only pass by would hide the rest
	bool apart = edge->up.n_links && edge->down.n_links &&
		     low.w + high.w >= 2 * TB_TREE_APART_W * 0.6;
	if (apart) {
		if (edge->up.link.id != TB_ID_NONE)
			sight->strokes[n++] =
				stroke_of(sight, pane, &edge->up, line, -2.5);
		if (edge->down.link.id != TB_ID_NONE)
			sight->strokes[n++] =
				stroke_of(sight, pane, &edge->down, line, 2.5);
		return n;
	}
	if (tree_line_worse(edge)->link.id != TB_ID_NONE)
		sight->strokes[n++] =
			stroke_of(sight, pane, tree_line_worse(edge), line, 0);
	return n;
}

// tree_line_cross_out draws a cross on the middle of a line.
static void tree_line_cross_out(
	const struct tb_pane *pane, struct tb_picture *picture, struct tb_box line)
{
	const struct tb_colour colour = tb_palette_of(pane->style->theme)->dead;
	double x = line.x + line.w / 2, y = line.y + line.h / 2, r = CROSS_W / 2.0;
	tb_picture_line(picture, (struct tb_box){x - r, y - r, 2 * r, 2 * r}, 2, colour);
	tb_picture_line(picture, (struct tb_box){x - r, y + r, 2 * r, -2 * r}, 2, colour);
}

// draw_dashes draws the line of what was not measured.
static void draw_dashes(struct tb_picture *picture, const struct tb_tree_stroke *stroke)
{
	struct tb_box line = stroke->line;
	double n = fmin(fmax(floor(hypot(line.w, line.h) / DASH_W), 2), MOST_DASHES);
	for (double i = 0; i < n; i++)
		tb_picture_line(picture,
			(struct tb_box){line.x + line.w * i / n, line.y + line.h * i / n,
				line.w / n / 2, line.h / n / 2},
			stroke->width, stroke->colour);
}

// draw_tree_line_band fills what is between two rows of a block, in the shade of its
// worst link.
static void draw_tree_line_band(const struct tb_tree_sight *sight,
	const struct tb_pane *pane, struct tb_picture *picture,
	const struct tb_tree_edge *edge)
{
	const struct tb_palette *palette = tb_palette_of(pane->style->theme);
	const struct tb_tree_direction *worse = tree_line_worse(edge);
	struct tb_box low = tb_tree_sight_box(sight, edge->lower);
	struct tb_box high = tb_tree_sight_box(sight, edge->upper);
	struct tb_scale scale = tb_tree_sight_scale(sight, pane->style);
	struct tb_box box = {low.x, high.y + high.h, low.w, low.y - high.y - high.h};
	struct tb_pick pick = {TB_PICK_LINK, worse->link.id};
	uint32_t n_dead = edge->up.n_dead + edge->down.n_dead;
	if (!tb_tree_sight_holds(sight, box) || worse->link.id == TB_ID_NONE)
		return;
	if (edge->up.n_unmeasured + edge->down.n_unmeasured ==
		edge->up.n_links + edge->down.n_links)
		tb_unmeasured_draw(picture, box, pane->style->theme);
	else
		tb_picture_rect(picture, box,
			worse->value
				? tb_style_shade(pane->style,
					  tb_scale_percent(&scale, (double)worse->value))
				: palette->empty);
	tb_picture_pick(picture, pick);
	if (worse->mark != TB_MARK_NONE || tb_pick_equal(pane->selection->hovered, pick))
		tb_picture_frame(picture, box, 2,
			worse->mark != TB_MARK_NONE ? tb_mark_colour(palette, worse->mark)
						    : palette->text);
	if (n_dead)
		tree_line_cross_out(pane, picture, box);
}

// Draws the switches and the nodes, in the colours of their jobs, of the tree: neighbours
// as one where they would be too narrow, and folded subtrees as blocks.

#define NUMBER_W      36  // room for the number of a node
#define MOST_MEASURED 256 // nodes whose names decide how much room each gets
#define LEAST_LABEL_W 56  // pixels in which the end of a long name helps

// What a vertex of the plan shows.
struct vertex {
	uint32_t index; // in the plan
	uint32_t row, first, n;
	bool folded;
	struct tb_pick pick; // the most loaded switch, the first node
	uint64_t value;
	enum tb_mark mark;
	uint32_t n_dead;
	uint32_t n_unmeasured; // switches
	uint32_t job;	       // of nodes that are all of one, else TB_ID_NONE
};

static void vertex_of_switches(const struct tb_tree_sight *sight,
	const struct tb_pane *pane, struct vertex *vertex)
{
	const uint32_t *in_row = sight->asked.subtrees.rows[vertex->row - 1];
	const struct tb_matrix_row *row =
		&pane->data->matrix.rows[pane->data->matrix.n_rows - vertex->row];
	const struct tb_run_switch *switches = tb_run_switches(pane->data->run);
	tb_time_ps end_ps = tb_window_end_ps(pane->data->info, pane->data->window);
	vertex->pick.kind = TB_PICK_SWITCH;
	for (uint32_t i = 0; i < vertex->n; i++) {
		uint32_t place = switches[in_row[vertex->first + i]].place;
		const struct tb_matrix_box *box = &row->boxes[place];
		enum tb_mark mark =
			(enum tb_mark)pane->selection->marks.switches[box->sw.id];
		if (i == 0 || box->sum > vertex->value) {
			vertex->pick.index = box->sw.id;
			vertex->value = box->sum;
		}
		vertex->mark = mark > vertex->mark ? mark : vertex->mark;
		vertex->n_dead += switches[box->sw.id].dead_at_ps < end_ps;
		vertex->n_unmeasured +=
			tb_run_unmeasured(switches[box->sw.id].known, pane->data->metric);
	}
}

// vertex_of_nodes looks at the nodes in a vertex's slots, some of which may have none.
static void vertex_of_nodes(const struct tb_tree_sight *sight, const struct tb_pane *pane,
	struct vertex *vertex)
{
	const uint32_t *nodes = sight->asked.subtrees.node_of_slot + vertex->first;
	bool any = false;
	vertex->job = TB_ID_NONE;
	for (uint32_t i = 0; i < vertex->n; i++) {
		struct tb_node node = {nodes[i]};
		if (node.id == TB_ID_NONE)
			continue;
		enum tb_mark mark = (enum tb_mark)pane->selection->marks.nodes[node.id];
		uint32_t job = tb_run_node_job(pane->data->run, node);
		if (!any)
			vertex->pick = (struct tb_pick){TB_PICK_NODE, node.id};
		vertex->job = !any || job == vertex->job ? job : TB_ID_NONE;
		vertex->mark = mark > vertex->mark ? mark : vertex->mark;
		any = true;
	}
}

// vertex_label names a switch by its number in its level, "10" for "1.10", where the
// names of the level have no room.
static void vertex_label(const struct tb_tree_sight *sight, const struct tb_pane *pane,
	struct tb_picture *picture, const struct vertex *vertex, struct tb_box box,
	struct tb_colour ground)
{
	if (vertex->n > 1 || vertex->row == 0)
		return; // nodes have their numbers below
	const struct tb_run_switch *switches = tb_run_switches(pane->data->run);
	const struct tb_subtrees *subtrees = &sight->asked.subtrees;
	uint32_t last = subtrees->n_row[vertex->row - 1] - 1;
	const char *text = switches[vertex->pick.index].label;
	const char *longest = switches[subtrees->rows[vertex->row - 1][last]].label;
	if (box.w < LEAST_LABEL_W &&
		tb_text_width(TB_FONT_TEXT, 10, longest) > box.w - 2) {
		const char *dot = strchr(text, '.');
		longest = strchr(longest, '.') ? strchr(longest, '.') : longest;
		text = dot && strspn(text, "0123456789") == (size_t)(dot - text) ? dot + 1
										 : text;
	}
	if (box.w < LEAST_LABEL_W &&
		fmax(tb_text_width(TB_FONT_TEXT, 10, text),
			tb_text_width(TB_FONT_TEXT, 10, longest)) > box.w - 2)
		return;
	tb_picture_name(picture, box,
		(struct tb_type){
			TB_FONT_TEXT, 10, TB_ALIGN_CENTRE, tb_colour_ink(ground)},
		text);
}

static void vertex_cross_out(
	struct tb_picture *picture, struct tb_box box, struct tb_colour colour)
{
	tb_picture_line(picture, box, 2, colour);
	tb_picture_line(
		picture, (struct tb_box){box.x, box.y + box.h, box.w, -box.h}, 2, colour);
}

// block_label writes how many nodes a block has above the row of its nodes.
static void block_label(const struct tb_pane *pane, struct tb_picture *picture,
	struct tb_box nodes, uint32_t n)
{
	const struct tb_palette *palette = tb_palette_of(pane->style->theme);
	char text[40];
	const struct tb_type type = {TB_FONT_TEXT, 10, TB_ALIGN_CENTRE, palette->text};
	snprintf(text, sizeof text, "%s nodes", TB_COUNT_TEXT(n));
	double w = tb_text_width(type.font, type.size, text);
	if (w + 6 > nodes.w)
		return;
	struct tb_box box = {nodes.x + (nodes.w - w) / 2 - 3, nodes.y - 20, w + 6, 15};
	tb_picture_rect(picture, box, palette->page);
	tb_picture_text(picture, box, type, text);
}

static void draw_seen_vertex(const struct tb_tree_sight *sight,
	const struct tb_pane *pane, struct tb_picture *picture,
	const struct vertex *vertex)
{
	const struct tb_palette *palette = tb_palette_of(pane->style->theme);
	struct tb_box box = tb_tree_sight_box(sight, vertex->index);
	struct tb_scale scale =
		tb_style_scale(pane->style, tb_quantity_of(pane->data->metric),
			(double)pane->data->matrix.largest_switch);
	struct tb_colour colour =
		vertex->value ? tb_style_shade(pane->style,
					tb_scale_percent(&scale, (double)vertex->value))
			      : palette->raised;
	if (vertex->row == 0 && vertex->job != TB_ID_NONE && pane->data->info->n_jobs > 1)
		colour = tb_job_colour(pane->style->theme, vertex->job);
	bool selected = tb_pick_equal(pane->selection->selected, vertex->pick);
	bool under = tb_pick_equal(pane->selection->hovered, vertex->pick);
	bool unmeasured = vertex->n_unmeasured && vertex->n_unmeasured == vertex->n;
	if (unmeasured)
		tb_unmeasured_draw(picture, box, pane->style->theme);
	tb_picture_rect(picture, box, unmeasured ? (struct tb_colour){.a = 0} : colour);
	tb_picture_pick(picture, vertex->pick);
	vertex_label(sight, pane, picture, vertex, box, colour);
	if (vertex->n_dead)
		vertex_cross_out(picture, box, palette->dead);
	struct tb_box around = {box.x - 1, box.y - 1, box.w + 2, box.h + 2};
	if (vertex->folded && vertex->row == 0)
		block_label(pane, picture, box, vertex->n);
	if (vertex->mark != TB_MARK_NONE || selected || under)
		tb_picture_frame(picture, around, 2,
			under && !selected ? palette->text
			: selected	   ? palette->accent
					   : tb_mark_colour(palette, vertex->mark));
	else if (!vertex->folded)
		tb_picture_frame(picture, around, 1, palette->page);
}

static void tree_vertices_draw(const struct tb_tree_sight *sight,
	const struct tb_pane *pane, struct tb_picture *picture)
{
	for (uint32_t i = 0; i < sight->plan.n; i++) {
		const struct tb_tree_vertex *planned = &sight->plan.vertices[i];
		struct vertex vertex = {.index = i,
			.row = planned->row,
			.first = planned->first,
			.n = planned->n,
			.folded = planned->fold != TB_ID_NONE};
		if (!tb_tree_sight_holds(sight, tb_tree_sight_box(sight, i)))
			continue;
		if (vertex.row == 0)
			vertex_of_nodes(sight, pane, &vertex);
		else
			vertex_of_switches(sight, pane, &vertex);
		draw_seen_vertex(sight, pane, picture, &vertex);
	}
	for (uint32_t i = 0; i < sight->asked.subtrees.n; i++) {
		// Draw what opens or shuts a subtree.
		const struct tb_palette *palette = tb_palette_of(pane->style->theme);
		const struct tb_pick pick = {TB_PICK_PART, TB_PART_SUBTREE + i};
		struct tb_box box = tb_tree_sight_handle(sight, i);
		bool under = tb_pick_equal(pane->selection->hovered, pick);
		bool shut = sight->asked.subtrees.shut[i];
		struct tb_box dash = {box.x + 3, box.y + box.h / 2 - 1, box.w - 6, 2};
		if (box.w <= 0)
			continue;
		tb_picture_rect(picture, box, under ? palette->line : palette->raised);
		tb_picture_pick(picture, pick);
		tb_picture_frame(picture, box, 1, palette->line);
		tb_picture_rect(picture, dash, palette->text);
		tb_picture_pick(picture, pick);
		if (!shut)
			continue;
		dash = (struct tb_box){box.x + box.w / 2 - 1, box.y + 3, 2, box.h - 6};
		tb_picture_rect(picture, dash, palette->text);
		tb_picture_pick(picture, pick);
	}
	// Set the names of nodes below them, else their numbers, as many as there is room
	// for.
	struct tb_type type = tb_style_type(pane->style, TB_FONT_TEXT, 10, true);
	const struct tb_subtrees *subtrees = &sight->asked.subtrees;
	double n = fmax(subtrees->n_slots, 1);
	double node_w = sight->area.w * sight->zoom / n, step = 1;
	double room = NUMBER_W;
	for (double slot = 0; slot < fmin(n, MOST_MEASURED); slot++) {
		uint32_t node = subtrees->node_of_slot[(uint32_t)slot];
		if (node != TB_ID_NONE)
			room = fmax(room, 8 + tb_text_width(type.font, type.size,
						      tb_run_node_label(pane->data->run,
							      (struct tb_node){node})));
	}
	type.align = TB_ALIGN_CENTRE;
	while (room <= NUMBER_W && node_w * step < room)
		step *= 2;
	step = fmax(step, ceil(room / node_w));
	double free_x = sight->area.x - 6;
	double first = floor(sight->pan / sight->zoom * n / step) * step;
	for (double slot = first; slot < n; slot += step) {
		double x = tb_tree_sight_x(sight, (slot + 0.5) / n);
		uint32_t node = subtrees->node_of_slot[(uint32_t)slot];
		if (x > sight->area.x + sight->area.w)
			break;
		if (node == TB_ID_NONE)
			continue;
		char number[16];
		snprintf(number, sizeof number, "%" PRIu32, node);
		const char *name =
			tb_run_node_label(pane->data->run, (struct tb_node){node});
		double w = tb_text_width(type.font, type.size, *name ? name : number);
		double left = fmin(x - w / 2, sight->area.x + sight->area.w - w);
		if (*name)
			left = fmax(left, sight->area.x);
		if (left < free_x) // it would be cut, or run into the one before
			continue;
		free_x = left + w + 6;
		tb_picture_text(picture,
			(struct tb_box){left - 2,
				tb_tree_sight_y(sight, 0) + TB_TREE_NODE_H / 2.0 + 2,
				w + 4, 12},
			type, *name ? name : number);
	}
}

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
	char count[32];
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
	// What the row has in all is in the panel of the run.
	if (most > 1)
		tb_picture_printf(picture, box, type, "%s a box", TB_COUNT_TEXT(most));
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
	char shade[160], brief[80], top[64];
	const char *dashed = tb_run_n_unmeasured(pane->data->run, pane->data->metric)
				     ? "; dashed: not measured"
				     : "";
	snprintf(shade, sizeof shade, "shade: %s of a link%s; width: time busy%s",
		tb_link_figures[pane->data->metric].name,
		tb_scale_top_text(&legend.scale, top, sizeof top), dashed);
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
	size_t n = 0;
	for (uint32_t i = 0; i < sight->edges.n; i++)
		if (in_block(sight, &sight->edges.edges[i]))
			draw_tree_line_band(sight, pane, picture, &sight->edges.edges[i]);
		else
			n = edge_strokes(sight, pane, &sight->edges.edges[i], n);
	qsort(sight->strokes, n, sizeof *sight->strokes, tree_line_by_rank);
	for (size_t i = 0; i < n; i++) {
		const struct tb_tree_stroke *stroke = &sight->strokes[i];
		tb_picture_line(picture, stroke->line, stroke->width,
			stroke->unmeasured ? (struct tb_colour){.a = 0} : stroke->colour);
		tb_picture_pick(picture, (struct tb_pick){TB_PICK_LINK, stroke->link.id});
		if (stroke->unmeasured)
			draw_dashes(picture, stroke);
		if (stroke->dead)
			tree_line_cross_out(pane, picture, stroke->line);
	}
	tree_vertices_draw(sight, pane, picture);
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
	.about = "Switches by level, and the links between them: shades as on the scale "
		 "below, wide ones are busy. A click shows the figures of a link or "
		 "switch.",
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
