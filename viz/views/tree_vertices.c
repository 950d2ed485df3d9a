// Draws the switches and the nodes, in the colours of their jobs, of the tree, neighbours
// as one where they would be too narrow.
#include "run_text.h"
#include "tree_sight.h"

#include <inttypes.h>
#include <math.h>

// What a group of a row's switches or nodes shows.
struct vertex {
	uint32_t row, first, n; // of the switches or nodes
	struct tb_pick pick;	// the most loaded switch, the first node
	uint64_t value;
	enum tb_mark mark;
	uint32_t n_dead;
	uint32_t job; // of nodes that are all of one, else TB_ID_NONE
};

static void vertex_of_switches(const struct tb_pane *pane, struct vertex *vertex)
{
	const struct tb_matrix_row *row =
		&pane->data->matrix.rows[pane->data->matrix.n_rows - vertex->row];
	const struct tb_run_switch *switches = tb_run_switches(pane->data->run);
	tb_time_ps end_ps = tb_window_end_ps(pane->data->info, pane->data->window);
	vertex->pick.kind = TB_PICK_SWITCH;
	for (uint32_t i = 0; i < vertex->n; i++) {
		const struct tb_matrix_box *box = &row->boxes[vertex->first + i];
		enum tb_mark mark =
			(enum tb_mark)pane->selection->marks.switches[box->sw.id];
		if (i == 0 || box->sum > vertex->value) {
			vertex->pick.index = box->sw.id;
			vertex->value = box->sum;
		}
		vertex->mark = mark > vertex->mark ? mark : vertex->mark;
		vertex->n_dead += switches[box->sw.id].dead_at_ps < end_ps;
	}
}

static void vertex_of_nodes(const struct tb_pane *pane, struct vertex *vertex)
{
	vertex->pick = (struct tb_pick){TB_PICK_NODE, vertex->first};
	vertex->job = tb_run_node_job(pane->data->run, (struct tb_node){vertex->first});
	for (uint32_t i = 0; i < vertex->n; i++) {
		struct tb_node node = {vertex->first + i};
		enum tb_mark mark = (enum tb_mark)pane->selection->marks.nodes[node.id];
		if (tb_run_node_job(pane->data->run, node) != vertex->job)
			vertex->job = TB_ID_NONE;
		vertex->mark = mark > vertex->mark ? mark : vertex->mark;
	}
}

static void vertex_label(const struct tb_pane *pane, struct tb_picture *picture,
	const struct vertex *vertex, struct tb_box box, struct tb_colour ground)
{
	if (vertex->n > 1 || vertex->row == 0)
		return; // nodes have their numbers below
	const char *text = tb_run_switches(pane->data->run)[vertex->pick.index].name;
	if (tb_text_width(TB_FONT_TEXT, 10, text) > box.w - 2)
		return;
	tb_picture_text(picture, box,
		(struct tb_type){
			TB_FONT_TEXT, 10, TB_ALIGN_CENTRE, tb_colour_ink(ground)},
		text);
}

// draw_numbers sets the numbers of nodes below them, as many as there is room for.
static void draw_numbers(const struct tb_tree_sight *sight, const struct tb_pane *pane,
	struct tb_picture *picture)
{
	struct tb_type type = tb_style_type(pane->style, TB_FONT_TEXT, 10, true);
	double n = fmax(pane->data->info->n_nodes, 1);
	double node_w = sight->area.w * sight->zoom / n, step = 1;
	type.align = TB_ALIGN_CENTRE;
	while (node_w * step < 36)
		step *= 2;
	double first = floor(sight->pan / sight->zoom * n / step) * step;
	for (double node = first; node < n; node += step) {
		double x = tb_tree_sight_x(sight, 0, node + 0.5);
		if (x > sight->area.x + sight->area.w)
			break;
		tb_picture_printf(picture,
			(struct tb_box){x - 20,
				tb_tree_sight_y(sight, 0) + TB_TREE_NODE_H / 2.0 + 2, 40,
				12},
			type, "%.0f", node);
	}
}

static void cross_out(
	struct tb_picture *picture, struct tb_box box, struct tb_colour colour)
{
	tb_picture_line(picture, box, 2, colour);
	tb_picture_line(
		picture, (struct tb_box){box.x, box.y + box.h, box.w, -box.h}, 2, colour);
}

static void draw_vertex(const struct tb_tree_sight *sight, const struct tb_pane *pane,
	struct tb_picture *picture, const struct vertex *vertex)
{
	const struct tb_palette *palette = tb_palette_of(pane->style->theme);
	uint32_t group = sight->edges.group[vertex->row];
	struct tb_box box = tb_tree_sight_box(sight, vertex->row, vertex->first / group);
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
	tb_picture_rect(picture, box, colour);
	tb_picture_pick(picture, vertex->pick);
	vertex_label(pane, picture, vertex, box, colour);
	if (vertex->n_dead)
		cross_out(picture, box, palette->dead);
	struct tb_box around = {box.x - 1, box.y - 1, box.w + 2, box.h + 2};
	if (vertex->mark != TB_MARK_NONE || selected || under)
		tb_picture_frame(picture, around, 2,
			under && !selected ? palette->text
			: selected	   ? palette->accent
					   : tb_mark_colour(palette, vertex->mark));
	else
		tb_picture_frame(picture, around, 1, palette->page);
}

static void draw_row(const struct tb_tree_sight *sight, const struct tb_pane *pane,
	struct tb_picture *picture, uint32_t row)
{
	uint32_t n = tb_tree_sight_n(sight, row);
	uint32_t group = sight->edges.group[row];
	// Only the visible slots.
	double first = floor(sight->pan / sight->zoom * n / group) - 1;
	double last = ceil((sight->pan + 1) / sight->zoom * n / group) + 1;
	for (double i = fmax(first, 0); i < last && i * group < n; i++) {
		struct vertex vertex = {.row = row, .first = (uint32_t)i * group};
		vertex.n = n - vertex.first < group ? n - vertex.first : group;
		if (row == 0)
			vertex_of_nodes(pane, &vertex);
		else
			vertex_of_switches(pane, &vertex);
		struct tb_box box = tb_tree_sight_box(sight, row, vertex.first / group);
		if (tb_tree_sight_holds(sight, box))
			draw_vertex(sight, pane, picture, &vertex);
	}
}

void tb_tree_vertices_draw(const struct tb_tree_sight *sight, const struct tb_pane *pane,
	struct tb_picture *picture)
{
	for (uint32_t row = 0; row <= pane->data->info->n_levels; row++)
		draw_row(sight, pane, picture, row);
	draw_numbers(sight, pane, picture);
}
