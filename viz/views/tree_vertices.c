// Draws the switches and the nodes, in the colours of their jobs, of the tree: neighbours
// as one where they would be too narrow, and folded subtrees as blocks.
#include "parts.h"
#include "run_text.h"
#include "tree_sight.h"

#include <inttypes.h>
#include <math.h>

#define LEAST_LABEL_W 56 // pixels in which the end of a long name says something

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

static void vertex_label(const struct tb_pane *pane, struct tb_picture *picture,
	const struct vertex *vertex, struct tb_box box, struct tb_colour ground)
{
	if (vertex->n > 1 || vertex->row == 0)
		return; // nodes have their numbers below
	const char *text = tb_run_switches(pane->data->run)[vertex->pick.index].label;
	if (tb_text_width(TB_FONT_TEXT, 10, text) > box.w - 2 && box.w < LEAST_LABEL_W)
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
	char count[32], text[40];
	const struct tb_type type = {TB_FONT_TEXT, 10, TB_ALIGN_CENTRE, palette->text};
	tb_format_count(n, count, sizeof count);
	snprintf(text, sizeof text, "%s nodes", count);
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
	vertex_label(pane, picture, vertex, box, colour);
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

// draw_handle draws what opens or shuts a subtree.
static void draw_handle(const struct tb_tree_sight *sight, const struct tb_pane *pane,
	struct tb_picture *picture, uint32_t subtree)
{
	const struct tb_palette *palette = tb_palette_of(pane->style->theme);
	const struct tb_pick pick = {TB_PICK_PART, TB_PART_SUBTREE + subtree};
	struct tb_box box = tb_tree_sight_handle(sight, subtree);
	bool under = tb_pick_equal(pane->selection->hovered, pick);
	bool shut = sight->asked.subtrees.shut[subtree];
	struct tb_box dash = {box.x + 3, box.y + box.h / 2 - 1, box.w - 6, 2};
	if (box.w <= 0)
		return;
	tb_picture_rect(picture, box, under ? palette->line : palette->raised);
	tb_picture_pick(picture, pick);
	tb_picture_frame(picture, box, 1, palette->line);
	tb_picture_rect(picture, dash, palette->text);
	tb_picture_pick(picture, pick);
	if (!shut)
		return;
	dash = (struct tb_box){box.x + box.w / 2 - 1, box.y + 3, 2, box.h - 6};
	tb_picture_rect(picture, dash, palette->text);
	tb_picture_pick(picture, pick);
}

void tb_tree_vertices_draw(const struct tb_tree_sight *sight, const struct tb_pane *pane,
	struct tb_picture *picture)
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
	for (uint32_t i = 0; i < sight->asked.subtrees.n; i++)
		draw_handle(sight, pane, picture, i);
	// Set the numbers of nodes below them, as many as there is room for.
	struct tb_type type = tb_style_type(pane->style, TB_FONT_TEXT, 10, true);
	const struct tb_subtrees *subtrees = &sight->asked.subtrees;
	double n = fmax(subtrees->n_slots, 1);
	double node_w = sight->area.w * sight->zoom / n, step = 1;
	type.align = TB_ALIGN_CENTRE;
	while (node_w * step < 36)
		step *= 2;
	double first = floor(sight->pan / sight->zoom * n / step) * step;
	for (double slot = first; slot < n; slot += step) {
		double x = tb_tree_sight_x(sight, (slot + 0.5) / n);
		uint32_t node = subtrees->node_of_slot[(uint32_t)slot];
		if (x > sight->area.x + sight->area.w)
			break;
		if (node == TB_ID_NONE)
			continue;
		tb_picture_printf(picture,
			(struct tb_box){x - 20,
				tb_tree_sight_y(sight, 0) + TB_TREE_NODE_H / 2.0 + 2, 40,
				12},
			type, "%" PRIu32, node);
	}
}
