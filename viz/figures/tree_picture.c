#include "tree_picture.h"

#include "scale.h"
#include "tree_edges.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MARGIN	   24
#define GUTTER	   88 // names of the rows
#define HEAD_H	   78
#define FOOT_H	   64
#define ROW_H	   120 // from row to row, at least
#define MOST_ROW_H 240
#define SLOPE	   11 // of the width: cables should not lie flat
#define SWITCH_H   18
#define NODE_H	   8
#define LEAST_W	   640
#define MOST_W	   2400
#define NODE_W	   10 // of a figure's natural width
#define LINE_W	   1.2
#define HOT_W	   1.8 // more, of the most loaded line
#define FAINT	   0.35
#define DASH	   6
#define NAME_SIZE  10

struct tree_stroke {
	double percent;
	struct tb_box line;
	uint32_t link;
	bool is_odd;
};

struct tree_drawing {
	struct tb_picture *picture;
	const struct tb_tree_figure *figure;
	const struct tb_palette *palette;
	struct tb_subtrees subtrees;
	struct tb_tree_plan plan;
	struct tb_tree_edges edges;
	struct tb_link_sample *samples;
	struct tree_stroke *strokes;
	bool *is_odd; // by edge
	struct tb_scale scale;
	struct tb_box area;
	bool labelled; // switches go by their labels: not all names have room
};

static struct tb_box box_of(const struct tree_drawing *drawing, uint32_t index)
{
	const struct tb_tree_vertex *at = &drawing->plan.vertices[index];
	double h = at->row ? SWITCH_H : NODE_H;
	double rows = drawing->plan.n_rows - 1.0;
	double y = drawing->area.y + drawing->area.h * (1 - at->row / fmax(rows, 1));
	double from = drawing->area.x + drawing->area.w * at->from;
	double w = drawing->area.w * (at->to - at->from);
	double gap = fmin(w * 0.2, 6);
	return (struct tb_box){from + gap / 2, y - h / 2, w - gap, h};
}

static const struct tb_tree_direction *tree_worse(const struct tb_tree_edge *edge)
{
	const struct tb_tree_direction *up = &edge->up, *down = &edge->down;
	if (up->link.id == TB_ID_NONE || down->link.id == TB_ID_NONE)
		return down->link.id == TB_ID_NONE ? up : down;
	return up->value >= down->value ? up : down;
}

static int tree_by_percent(const void *left, const void *right)
{
	const struct tree_stroke *a = left, *b = right;
	if (a->is_odd != b->is_odd)
		return a->is_odd ? 1 : -1;
	if (a->percent < b->percent || a->percent > b->percent)
		return a->percent < b->percent ? -1 : 1;
	return a->link < b->link ? -1 : a->link > b->link;
}

static struct tb_colour shade(const struct tree_drawing *drawing, double percent)
{
	struct tb_colour full =
		tb_shade(drawing->figure->colours, drawing->figure->theme, percent);
	return tb_colour_mix(
		drawing->palette->page, full, FAINT + (1 - FAINT) * percent / 100);
}

static bool tree_fits(const char *name, double w)
{
	return tb_text_width(TB_FONT_TEXT, NAME_SIZE, name) <= w - 2;
}

// tree_switch returns the switch that a vertex stands for, NULL when it is none or
// several.
static const struct tb_run_switch *tree_switch(
	const struct tree_drawing *drawing, const struct tb_tree_vertex *at)
{
	if (at->row == 0 || at->n != 1)
		return NULL;
	uint32_t id = drawing->subtrees.rows[at->row - 1][at->first];
	return &tb_run_switches(drawing->figure->run)[id];
}

static bool names_fit(const struct tree_drawing *drawing)
{
	for (uint32_t i = 0; i < drawing->plan.n; i++) {
		const struct tb_run_switch *sw =
			tree_switch(drawing, &drawing->plan.vertices[i]);
		if (sw && !tree_fits(sw->name, box_of(drawing, i).w))
			return false;
	}
	return true;
}

static void draw_rows(struct tree_drawing *drawing)
{
	const struct tb_run_info *info = tb_run_info(drawing->figure->run);
	for (uint32_t row = 0; row < drawing->plan.n_rows; row++) {
		double y =
			drawing->area.y +
			drawing->area.h * (1 - row / fmax(drawing->plan.n_rows - 1.0, 1));
		struct tb_box box = {MARGIN, y - 16, GUTTER - 12, 16};
		struct tb_type type = {
			TB_FONT_BOLD, 12, TB_ALIGN_LEFT, drawing->palette->text};
		if (row == 0)
			tb_picture_text(drawing->picture, box, type, "nodes");
		else
			tb_picture_printf(
				drawing->picture, box, type, "level %u", row - 1);
		box.y += 16;
		type = (struct tb_type){
			TB_FONT_TEXT, 10, TB_ALIGN_LEFT, drawing->palette->muted};
		tb_picture_text(drawing->picture, box, type,
			TB_COUNT_TEXT(
				row ? drawing->subtrees.n_row[row - 1] : info->n_nodes));
	}
}

// draw_head draws the words above the tree and returns how high they are.
static double draw_head(struct tree_drawing *drawing, double width)
{
	const struct tb_tree_figure *figure = drawing->figure;
	struct tb_box box = {MARGIN, 18, width - 2 * MARGIN, 22};
	tb_picture_text(drawing->picture, box,
		(struct tb_type){TB_FONT_BOLD, 16, TB_ALIGN_LEFT, drawing->palette->text},
		figure->title);
	box.y += 26;
	box.h = 16;
	for (const char *const *note = figure->notes; *note; note++)
		box.y += box.h * tb_picture_paragraph(drawing->picture, box,
					 (struct tb_type){TB_FONT_TEXT, 11.5,
						 TB_ALIGN_LEFT, drawing->palette->muted},
					 *note);
	return box.y + 12;
}

// cable_between returns the line of a cable between two vertices.
static struct tb_box cable_between(
	const struct tree_drawing *drawing, uint32_t lower, uint32_t upper)
{
	struct tb_box low = box_of(drawing, lower), high = box_of(drawing, upper);
	double x = low.x + low.w / 2, y = low.y;
	return (struct tb_box){x, y, high.x + high.w / 2 - x, high.y + high.h - y};
}

static void draw_gaps(const struct tree_drawing *drawing)
{
	const uint32_t *vertex = drawing->plan.of_switch;
	for (uint32_t i = 0; i < drawing->figure->n_gaps; i++) {
		struct tb_tree_gap gap = drawing->figure->gaps[i];
		if (vertex[gap.lower] == TB_ID_NONE || vertex[gap.upper] == TB_ID_NONE)
			continue;
		struct tb_box line =
			cable_between(drawing, vertex[gap.lower], vertex[gap.upper]);
		double length = hypot(line.w, line.h);
		for (double at = 0; at < length; at += 2 * DASH) {
			double from = at / length, part = fmin(DASH / length, 1 - from);
			tb_picture_line(drawing->picture,
				(struct tb_box){line.x + line.w * from,
					line.y + line.h * from, line.w * part,
					line.h * part},
				LINE_W + HOT_W, drawing->palette->dead);
		}
	}
}

// mark_edges finds the edges with what is not alike, and the largest value of the others.
static uint64_t mark_edges(struct tree_drawing *drawing)
{
	const struct tb_tree_figure *figure = drawing->figure;
	uint64_t largest = 0;
	for (uint32_t i = 0; i < tb_run_info(figure->run)->n_links; i++) {
		uint64_t value = tb_metric_of(&drawing->samples[i], figure->metric);
		uint32_t edge = drawing->edges.edge_of_link[i];
		bool is_odd = figure->odd && figure->odd[i];
		if (is_odd && edge != TB_ID_NONE)
			drawing->is_odd[edge] = true;
		if (!is_odd && value > largest)
			largest = value;
	}
	return largest > 0 ? largest : drawing->edges.largest;
}

static void tree_draw(struct tree_drawing *drawing, double width)
{
	drawing->scale = tb_scale_of(tb_quantity_of(drawing->figure->metric),
		(double)mark_edges(drawing), false, false);
	tb_picture_clear(drawing->picture, width, 0, drawing->palette->page);
	drawing->area.y = draw_head(drawing, width) + SWITCH_H / 2.0;
	drawing->picture->height =
		drawing->area.y + drawing->area.h + 2 * NODE_H + FOOT_H;
	draw_rows(drawing);
	// Draw the least loaded first.
	size_t n = 0;
	for (uint32_t i = 0; i < drawing->edges.n; i++) {
		const struct tb_tree_edge *edge = &drawing->edges.edges[i];
		const struct tb_tree_direction *worse = tree_worse(edge);
		if (worse->link.id == TB_ID_NONE)
			continue;
		drawing->strokes[n++] = (struct tree_stroke){
			tb_scale_percent(&drawing->scale, (double)worse->value),
			cable_between(drawing, edge->lower, edge->upper), worse->link.id,
			drawing->is_odd[i]};
	}
	qsort(drawing->strokes, n, sizeof *drawing->strokes, tree_by_percent);
	for (size_t i = 0; i < n; i++) {
		const struct tree_stroke *stroke = &drawing->strokes[i];
		tb_picture_line(drawing->picture, stroke->line,
			LINE_W + HOT_W * (stroke->is_odd ? 1 : stroke->percent / 100),
			stroke->is_odd ? drawing->palette->dead
				       : shade(drawing, stroke->percent));
		uint32_t link = stroke->link;
		const struct tb_run_link *at = &tb_run_links(drawing->figure->run)[link];
		char text[512], value[48];
		tb_quantity_format(drawing->scale.quantity,
			(double)tb_metric_of(
				&drawing->samples[link], drawing->figure->metric),
			value, sizeof value);
		snprintf(text, sizeof text, "%s: %s", at->name, value);
		tb_picture_tip(drawing->picture, text);
	}
	draw_gaps(drawing);
	drawing->labelled = !names_fit(drawing);
	for (uint32_t i = 0; i < drawing->plan.n; i++) {
		const struct tb_tree_vertex *at = &drawing->plan.vertices[i];
		struct tb_box box = box_of(drawing, i);
		struct tb_picture *picture = drawing->picture;
		tb_picture_rect(picture, box, drawing->palette->raised);
		tb_picture_frame(picture, box, 1, drawing->palette->muted);
		const struct tb_run_switch *sw = tree_switch(drawing, at);
		if (!sw)
			continue;
		tb_picture_tip(picture, sw->name);
		const char *name = drawing->labelled ? sw->label : sw->name;
		if (tree_fits(name,
			    2 * box.w)) // less than half of a name does not identify it
			tb_picture_name(picture, box,
				(struct tb_type){TB_FONT_TEXT, NAME_SIZE, TB_ALIGN_CENTRE,
					drawing->palette->text},
				name);
	}
	const struct tb_tree_figure *figure = drawing->figure;
	double x = drawing->area.x;
	double y = drawing->area.y + drawing->area.h + 2 * NODE_H + 12;
	const struct tb_legend legend = {
		figure->colours, figure->theme, TB_FONT_TEXT, drawing->scale};
	tb_legend_draw(drawing->picture, (struct tb_box){x, y, 220, 29}, &legend);
	tb_picture_printf(drawing->picture,
		(struct tb_box){x + 256, y - 2, drawing->area.w - 256, 17},
		(struct tb_type){
			TB_FONT_TEXT, 11.5, TB_ALIGN_LEFT, drawing->palette->muted},
		"%s%s%s", figure->measure,
		drawing->plan.n_folded ? "; of links drawn as one the most loaded" : "",
		figure->odd ? "; purple: not alike, dashed: missing" : "");
}

// tree_prepare lays the tree out in the area.
static int tree_prepare(struct tree_drawing *drawing, struct tb_error *error)
{
	const struct tb_tree_figure *figure = drawing->figure;
	const struct tb_run_info *info = tb_run_info(figure->run);
	struct tb_window whole = {0, 0};
	int status = tb_subtrees_init(&drawing->subtrees, figure->run, error);
	if (status == TB_OK &&
		tb_tree_plan_init(&drawing->plan, figure->run, &drawing->subtrees,
			drawing->area.w, 0, 1) != TB_OK)
		status = tb_fail_memory(error, "the picture of the tree");
	if (status == TB_OK)
		status = tb_tree_edges_init(
			&drawing->edges, figure->run, &drawing->plan, error);
	if (status != TB_OK)
		return status;
	drawing->samples = malloc((info->n_links + 1u) * sizeof *drawing->samples);
	drawing->strokes = malloc((drawing->edges.n + 1u) * sizeof *drawing->strokes);
	drawing->is_odd = calloc(drawing->edges.n + 1u, sizeof *drawing->is_odd);
	if (!drawing->samples || !drawing->strokes || !drawing->is_odd)
		return tb_fail_memory(error, "the picture of the tree");
	status = tb_run_samples(figure->run, whole, drawing->samples, error);
	if (status == TB_OK)
		tb_tree_edges_fill(&drawing->edges, figure->run, drawing->samples,
			figure->metric, tb_window_end_ps(info, whole), NULL);
	return status;
}

int tb_tree_picture(struct tb_picture *picture, const struct tb_tree_figure *figure,
	struct tb_error *error)
{
	const struct tb_run_info *info = tb_run_info(figure->run);
	double natural = fmin(fmax(NODE_W * (double)info->n_nodes, LEAST_W), MOST_W);
	double width = figure->width > 0 ? fmax(figure->width, LEAST_W)
					 : natural + GUTTER + 2 * MARGIN;
	struct tree_drawing drawing = {.picture = picture,
		.figure = figure,
		.palette = tb_palette_of(figure->theme),
		.area = {MARGIN + GUTTER, 0, width - GUTTER - 2 * MARGIN,
			fmin(fmax(width / SLOPE, ROW_H), MOST_ROW_H) *
				(double)info->n_levels}};
	int status = tree_prepare(&drawing, error);
	if (status == TB_OK) {
		tree_draw(&drawing, width);
		status = picture->status == TB_OK ? TB_OK
						  : tb_fail_memory(error, "the picture");
	}
	free(drawing.samples);
	free(drawing.strokes);
	free(drawing.is_odd);
	tb_tree_edges_fini(&drawing.edges);
	tb_tree_plan_fini(&drawing.plan);
	tb_subtrees_fini(&drawing.subtrees);
	return status;
}
