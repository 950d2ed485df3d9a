#include "matrix_draw.h"

#include "scale.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct tb_matrix_metrics tb_matrix_on_screen = {.cell_w = 24,
	.cell_h = 17,
	.sum_h = 21,
	.gap_x = 8,
	.gap_y = 8,
	.strip_gap = 4,
	.band_gap = 18};

static uint32_t divide_up(uint32_t a, uint32_t b)
{
	return a / b + (a % b != 0);
}

// band_shape sets the size of a level's boxes, with so many cells in a line of one.
static void band_shape(struct tb_matrix_band *band,
	const struct tb_matrix_metrics *metrics, uint32_t columns)
{
	uint32_t below = band->most_below > 1 ? band->most_below : 1;
	band->columns = columns;
	band->box_w = metrics->box_w > 0 ? metrics->box_w : columns * metrics->cell_w;
	band->above_h = divide_up(band->most_above, columns) * metrics->cell_h;
	band->below_h = divide_up(below, columns) * metrics->cell_h;
	band->nodes_h = divide_up(band->most_nodes, columns) * metrics->cell_h;
	band->gap_h = band->nodes_h > 0 && below > columns ? metrics->strip_gap : 0;
	band->box_h = metrics->name_h + band->above_h + metrics->sum_h + band->below_h +
		      band->gap_h + band->nodes_h;
}

// band_cells returns how many cells a line of a box needs for all links of a switch.
static uint32_t band_cells(const struct tb_matrix_band *band)
{
	uint32_t most =
		band->most_above > band->most_below ? band->most_above : band->most_below;
	return most > 1 ? most : 1;
}

// band_measure sets what depends on the level's switches alone.
static void band_measure(struct tb_matrix_band *band, const struct tb_matrix_row *row,
	const struct tb_matrix_metrics *metrics)
{
	uint32_t group = metrics->group ? metrics->group : 1;
	band->level = row->level;
	band->n_boxes = divide_up(row->n_boxes, group);
	band->most_above = band->most_below = band->most_nodes = 0;
	for (uint32_t i = 0; i < row->n_boxes; i++) {
		const struct tb_matrix_box *box = &row->boxes[i];
		if (box->n_above > band->most_above)
			band->most_above = box->n_above;
		if (box->n_below > band->most_below)
			band->most_below = box->n_below;
		if (box->n_nodes > band->most_nodes)
			band->most_nodes = box->n_nodes;
	}
	// The other links of the nodes' cables have the room of those.
	band_shape(band, metrics, band_cells(band));
}

int tb_matrix_layout_init(struct tb_matrix_layout *layout, const struct tb_matrix *matrix,
	const struct tb_matrix_metrics *metrics, double width)
{
	struct tb_matrix_layout made = {.metrics = *metrics, .n_bands = matrix->n_rows};
	made.bands = calloc(made.n_bands ? made.n_bands : 1, sizeof *made.bands);
	if (!made.bands)
		return TB_ENOMEM;
	for (uint32_t i = 0; i < made.n_bands; i++)
		band_measure(&made.bands[i], &matrix->rows[i], metrics);
	tb_matrix_layout_wrap(&made, width);
	*layout = made;
	return TB_OK;
}

void tb_matrix_layout_fini(struct tb_matrix_layout *layout)
{
	free(layout->bands);
	*layout = (struct tb_matrix_layout){0};
}

#define LEAST_COLUMNS 8 // of a box whose links are wrapped

// band_wrap puts at most so many cells into a line of a box, in lines of equal length.
static void band_wrap(
	struct tb_matrix_band *band, const struct tb_matrix_metrics *metrics, double most)
{
	uint32_t cells = band_cells(band);
	uint32_t lines = divide_up(cells, (uint32_t)fmin(fmax(most, 1), cells));
	band_shape(band, metrics, divide_up(cells, lines));
}

// wrap_boxes wraps the lines of boxes.
static void wrap_boxes(struct tb_matrix_layout *layout, double width)
{
	const struct tb_matrix_metrics *metrics = &layout->metrics;
	double y = 0;
	layout->width = 0;
	for (uint32_t i = 0; i < layout->n_bands; i++) {
		struct tb_matrix_band *band = &layout->bands[i];
		double step = band->box_w + metrics->gap_x;
		// The tolerance keeps a width that was computed from whole boxes from
		// losing one.
		double room = floor((width + metrics->gap_x) / step + 1e-6);
		uint32_t most = room < 1	       ? 1
				: room < band->n_boxes ? (uint32_t)room
						       : band->n_boxes;
		if (most == 0)
			most = 1;
		band->n_lines = divide_up(band->n_boxes, most);
		// Prefer lines of equal length to a short last line.
		band->per_line =
			band->n_lines ? divide_up(band->n_boxes, band->n_lines) : 1;
		band->y = y;
		band->h = band->n_lines * (band->box_h + metrics->gap_y);
		if (band->n_lines)
			band->h -= metrics->gap_y;
		y += band->h + metrics->gap_y + metrics->band_gap;
		layout->width =
			fmax(layout->width, band->per_line * step - metrics->gap_x);
	}
	if (layout->n_bands)
		y -= metrics->gap_y + metrics->band_gap;
	layout->height = y;
}

bool tb_matrix_layout_measure(
	struct tb_matrix_layout *layout, const struct tb_matrix *matrix)
{
	double width = layout->width, height = layout->height;
	for (uint32_t i = 0; i < layout->n_bands; i++) {
		struct tb_matrix_band *band = &layout->bands[i];
		uint32_t columns = band->columns;
		band_measure(band, &matrix->rows[i], &layout->metrics);
		band_shape(band, &layout->metrics, columns);
		band->box_w *= layout->wider > 0 ? layout->wider : 1;
	}
	wrap_boxes(layout, width);
	return layout->height != height;
}

void tb_matrix_layout_wrap(struct tb_matrix_layout *layout, double width)
{
	double cell_w = layout->metrics.cell_w;
	for (uint32_t i = 0; i < layout->n_bands && cell_w > 0; i++)
		band_wrap(&layout->bands[i], &layout->metrics,
			fmax(floor(width / cell_w + 1e-6), LEAST_COLUMNS));
	wrap_boxes(layout, width);
}

static double zoom_of(const struct tb_matrix_layout *layout, double w, double h)
{
	return fmin(w / layout->width, h / layout->height);
}

void tb_matrix_layout_widen(struct tb_matrix_layout *layout, double width)
{
	double gap = layout->metrics.gap_x, wider = TB_MATRIX_MOST_WIDER;
	for (uint32_t i = 0; i < layout->n_bands; i++) {
		const struct tb_matrix_band *band = &layout->bands[i];
		wider = fmin(wider, ((width + gap) / band->per_line - gap) / band->box_w);
	}
	layout->wider = fmax(wider, 1);
	layout->width = 0;
	for (uint32_t i = 0; i < layout->n_bands; i++) {
		struct tb_matrix_band *band = &layout->bands[i];
		band->box_w *= layout->wider;
		layout->width =
			fmax(layout->width, band->per_line * (band->box_w + gap) - gap);
	}
}

// A layout's lines of boxes, as wide as `width`, that fill a shape best.
struct fitted_lines {
	double width, zoom;
	double worth; // the zoom, less where lines are not full
};

static struct fitted_lines fit_lines(struct tb_matrix_layout *layout, double w, double h)
{
	const struct tb_matrix_band *longest = &layout->bands[0];
	for (uint32_t i = 1; i < layout->n_bands; i++)
		if (layout->bands[i].n_boxes * layout->bands[i].box_w >
			longest->n_boxes * longest->box_w)
			longest = &layout->bands[i];
	// With more lines the zoom rises to a peak and then falls, so the search ends
	// soon after its peak.
	uint32_t n_boxes = longest->n_boxes;
	double step = longest->box_w + layout->metrics.gap_x;
	struct fitted_lines best = {.width = step};
	for (uint32_t lines = 1; lines <= n_boxes; lines++) {
		double width = divide_up(n_boxes, lines) * step;
		wrap_boxes(layout, width);
		double zoom = zoom_of(layout, w, h);
		// Full lines are worth a smaller zoom: they keep neighbours in columns.
		double worth = n_boxes % longest->per_line == 0 ? zoom : zoom * 0.88;
		if (worth > best.worth * 1.001)
			best = (struct fitted_lines){width, zoom, worth};
		else if (zoom < best.worth * 0.7)
			break;
	}
	return best;
}

double tb_matrix_layout_fit(struct tb_matrix_layout *layout, double w, double h)
{
	const struct tb_matrix_metrics *metrics = &layout->metrics;
	struct fitted_lines best = {0};
	uint32_t n_boxes = 0, most = 1, columns = 1, chosen = 1;
	for (uint32_t i = 0; i < layout->n_bands; i++) {
		uint32_t cells = band_cells(&layout->bands[i]);
		most = cells > most ? cells : most;
		n_boxes += layout->bands[i].n_boxes;
	}
	layout->wider = 0;
	if (n_boxes == 0)
		return 1;
	// Links are wrapped within boxes where else they have no numbers.
	for (uint32_t lines = 1; lines == 1 || columns >= LEAST_COLUMNS; lines++) {
		columns = divide_up(most, lines);
		for (uint32_t i = 0; i < layout->n_bands; i++)
			band_wrap(&layout->bands[i], metrics, columns);
		struct fitted_lines fitted = fit_lines(layout, w, h);
		bool numbers = fitted.zoom * metrics->cell_w >= TB_MATRIX_NUMBERS_W;
		fitted.worth *= (numbers ? 1.5 : 1) * (most % columns ? 0.88 : 1);
		if (fitted.worth > best.worth) {
			best = fitted;
			chosen = columns;
		}
		if (lines == 1 && numbers)
			break;
	}
	for (uint32_t i = 0; i < layout->n_bands; i++)
		band_wrap(&layout->bands[i], metrics, chosen);
	wrap_boxes(layout, best.width);
	return zoom_of(layout, w, h);
}

struct tb_box tb_matrix_layout_box(
	const struct tb_matrix_layout *layout, uint32_t band, uint32_t index)
{
	const struct tb_matrix_band *at = &layout->bands[band];
	return (struct tb_box){index % at->per_line * (at->box_w + layout->metrics.gap_x),
		at->y + index / at->per_line * (at->box_h + layout->metrics.gap_y),
		at->box_w, at->box_h};
}

// Between these widths of a cell, in pixels, one detail fades into the next, so that a
// zoom never jumps. 18 pixels hold "100" at 8.3 pixels per em, the smallest size that is
// easy to read; below 3 the links' strips give way to the switch's sum.
#define NAME_GAP      5	 // between names above boxes, at least
#define LEAST_NAME    8	 // size of a switch's name
#define LEAST_NAMED_H 10 // of a switch's strip with a name
#define NUMBERS_BEGIN 17.5
#define NUMBERS_FULL  TB_MATRIX_NUMBERS_W
#define CELLS_BEGIN   1.5
#define CELLS_FULL    3

// What the functions that draw a box need.
struct matrix_pen {
	struct tb_picture *picture;
	const struct tb_matrix *matrix;
	const struct tb_run *run;
	const struct tb_matrix_view *view;
	const struct tb_palette *palette;
	double rule; // gap between cells, on the picture
	double font_size;
	double ink;    // opacity of numbers, 0 to 1
	double strips; // share of their full height that links' strips get, 0 to 1
	struct tb_type name_type; // of the names above the boxes of a level
	enum tb_group_name name;
};

enum tb_matrix_detail tb_matrix_detail_at(
	const struct tb_matrix_metrics *metrics, double zoom)
{
	if (metrics->cell_w * zoom > NUMBERS_BEGIN)
		return TB_DETAIL_NUMBERS;
	if (metrics->cell_w * zoom > CELLS_BEGIN)
		return TB_DETAIL_CELLS;
	return TB_DETAIL_SWITCHES;
}

void tb_matrix_view_scale(struct tb_matrix_view *view, const struct tb_matrix *matrix,
	bool absolute, bool logarithmic)
{
	enum tb_quantity quantity = tb_quantity_of(matrix->metric);
	view->links = tb_scale_of(
		quantity, (double)matrix->largest_link, absolute, logarithmic);
	view->switches = tb_scale_of(
		quantity, (double)matrix->largest_switch, absolute, logarithmic);
	// A sum is at most some ten times a link: it has room for another digit.
	view->switches.unit_value = view->links.top;
}

// cell_within maps a size from [begin, full] to [0, 1], clipped.
static double cell_within(double size, double begin, double full)
{
	return fmin(fmax((size - begin) / (full - begin), 0), 1);
}

static struct tb_box on_picture(const struct tb_matrix_view *view, struct tb_box world)
{
	return (struct tb_box){view->area.x + (world.x - view->pan_x) * view->zoom,
		view->area.y + (world.y - view->pan_y) * view->zoom, world.w * view->zoom,
		world.h * view->zoom};
}

// cell_share returns the box of cell i of n in a strip. Neighbours share an edge, so no
// sliver shows between them at any zoom.
static struct tb_box cell_share(struct tb_box strip, uint32_t i, uint32_t n, double rule)
{
	double left = strip.x + strip.w * i / n;
	double right = strip.x + strip.w * (i + 1) / n;
	return (struct tb_box){
		left, strip.y, fmax(right - left - rule, 0.5), fmax(strip.h - rule, 0.5)};
}

// link_share is the same of the links of a switch, in lines of so many at most.
static struct tb_box link_share(
	struct tb_box strip, uint32_t i, uint32_t n, uint32_t columns, double rule)
{
	uint32_t lines = divide_up(n, columns), per_line = divide_up(n, lines);
	double top = strip.y + strip.h * (i / per_line) / lines;
	double bottom = strip.y + strip.h * (i / per_line + 1) / lines;
	return cell_share((struct tb_box){strip.x, top, strip.w, bottom - top},
		i % per_line, per_line, rule);
}

// The strips of a box, from its top.
enum cell_strip { STRIP_ABOVE, STRIP_SUM, STRIP_BELOW, STRIP_NODES, N_STRIPS };

// box_strips divides a box into them; those of links get `share` of their full height.
static void box_strips(const struct tb_matrix_layout *layout,
	const struct tb_matrix_band *band, double share, struct tb_box box,
	struct tb_box strips[N_STRIPS])
{
	double scale = box.h / band->box_h, name_h = layout->metrics.name_h * scale;
	box.y += name_h;
	box.h -= name_h;
	double gap_h = band->gap_h * scale * share;
	double heights[N_STRIPS] = {[STRIP_ABOVE] = band->above_h * scale * share,
		[STRIP_BELOW] = band->below_h * scale * share,
		[STRIP_NODES] = band->nodes_h * scale * share};
	heights[STRIP_SUM] = fmax(box.h - heights[STRIP_ABOVE] - heights[STRIP_BELOW] -
					  heights[STRIP_NODES] - gap_h,
		0);
	for (int i = 0; i < N_STRIPS; i++) {
		box.y += i == STRIP_NODES ? gap_h : 0;
		strips[i] = (struct tb_box){box.x, box.y, box.w, heights[i]};
		box.y += heights[i];
	}
}

// What a cell shows.
struct shown_cell {
	uint64_t value;
	const struct tb_scale *scale;
	struct tb_pick pick;
	bool sum, unmeasured;
	uint32_t at; // the link or switch that the value is of
};

static bool lacks(const struct matrix_pen *pen, struct tb_link_known of)
{
	return tb_run_unmeasured(of, pen->matrix->metric);
}

static struct tb_colour shade_of(
	const struct matrix_pen *pen, const struct shown_cell *shown)
{
	const struct tb_matrix_view *view = pen->view;
	const uint8_t *less = shown->sum ? view->less_switches : view->less_links;
	double percent = tb_scale_percent(shown->scale, (double)shown->value);
	if (shown->value == 0)
		return pen->palette->empty;
	if (less)
		return tb_shade_change(view->theme, less[shown->at] ? -percent : percent);
	return tb_shade(view->colours, view->theme, percent);
}

static void shade_rect(
	const struct matrix_pen *pen, struct tb_box box, const struct shown_cell *shown)
{
	// A terminal has a character for what was not measured.
	if (shown->unmeasured && pen->view->font_size > 0)
		tb_unmeasured_draw(pen->picture, box, pen->view->theme);
	tb_picture_rect(pen->picture, box,
		shown->unmeasured && pen->view->font_size > 0 ? (struct tb_colour){.a = 0}
							      : shade_of(pen, shown));
	tb_picture_pick(pen->picture, shown->pick);
}

static void shade_ramp(
	const struct matrix_pen *pen, struct tb_box box, const struct shown_cell *shown)
{
	static const char ramp[] = ".:-=+*#%@";
	double percent = tb_scale_percent(shown->scale, (double)shown->value);
	int step = percent <= 0 ? -1 : (int)fmin(percent / 100 * 9, 8);
	const char text[2] = {shown->unmeasured ? '?'
			      : step < 0	? ' '
						: ramp[step],
		'\0'};
	struct tb_type type = {pen->view->font, 1, TB_ALIGN_LEFT, pen->palette->text};
	tb_picture_text(pen->picture, box, type, text);
}

// has_ramp is true where a character stands for the value, or for none.
static bool has_ramp(const struct matrix_pen *pen, const struct shown_cell *shown)
{
	return pen->view->ramp || (shown->unmeasured && pen->view->font_size == 0);
}

static void cell_number(
	const struct matrix_pen *pen, struct tb_box box, const struct shown_cell *shown)
{
	char text[16];
	const struct tb_matrix_view *view = pen->view;
	bool strong = shown->sum && shown->value > 0;
	// In a terminal a cell has a blank on either side of two digits.
	bool narrow = view->font_size == 0 && (!shown->sum || box.w <= 4);
	if (narrow)
		box.w -= 1;
	struct tb_type type = {.font = strong ? view->bold_font : view->font,
		.size = pen->font_size *
			(shown->sum && box.w > 3 * pen->font_size && view->font_size > 0
					? 1.1
					: 1),
		.align = narrow ? TB_ALIGN_RIGHT : TB_ALIGN_CENTRE,
		.colour = shown->value > 0 ? tb_colour_ink(shade_of(pen, shown))
					   : pen->palette->muted};
	type.colour.a = (uint8_t)lround(255 * pen->ink);
	tb_scale_number(shown->scale, (double)shown->value, text, sizeof text);
	tb_picture_text(pen->picture, box, type, shown->unmeasured ? "-" : text);
}

// highlight frames a cell that belongs to the selection.
static void highlight(const struct matrix_pen *pen, struct tb_box box,
	const uint8_t *marks, uint32_t id)
{
	if (!marks || marks[id] == TB_MARK_NONE)
		return;
	double width = marks[id] == TB_MARK_ROOT ? 3 : 2;
	tb_picture_frame(pen->picture, box, fmin(width, fmax(box.h / 3, 1)),
		tb_mark_colour(pen->palette, (enum tb_mark)marks[id]));
}

static void link_tip(const struct matrix_pen *pen, const struct tb_matrix_cell *cell)
{
	char value[48];
	char tip[256];
	const struct tb_matrix *matrix = pen->matrix;
	const struct tb_run_link *link = &tb_run_links(pen->run)[cell->link.id];
	if (tb_run_unmeasured(link->known, matrix->metric)) {
		snprintf(tip, sizeof tip, "%s: not measured", link->name);
		tb_picture_tip(pen->picture, tip);
		return;
	}
	snprintf(tip, sizeof tip, "%s: %s %s%s, %.1f %% of the most loaded link",
		link->name, tb_link_figures[matrix->metric].name,
		tb_known_sign(tb_known_of(link->known, matrix->metric)),
		tb_metric_format(matrix->metric, cell->value, value, sizeof value),
		cell->percent);
	tb_picture_tip(pen->picture, tip);
}

static void switch_tip(
	const struct matrix_pen *pen, const struct tb_matrix_box *switch_box)
{
	char tip[256];
	const struct tb_matrix *matrix = pen->matrix;
	snprintf(tip, sizeof tip, "switch %s: %s %s, %.1f %% of the most loaded switch",
		tb_run_switches(pen->run)[switch_box->sw.id].name,
		tb_link_figures[matrix->metric].name,
		TB_METRIC_TEXT(matrix->metric, switch_box->sum), switch_box->percent);
	tb_picture_tip(pen->picture, tip);
}

// cell_cross_out draws what is dead. It keeps the shade of what it carried before it
// died.
static void cell_cross_out(
	const struct matrix_pen *pen, struct tb_box box, tb_time_ps dead_at_ps)
{
	const struct tb_colour colour = pen->palette->dead;
	double inset = fmin(box.w, box.h) * 0.2;
	if (dead_at_ps >= pen->view->end_ps)
		return;
	if (pen->view->font_size == 0) { // at the right of a switch's name and sum
		box.x += box.w > 4 ? box.w - 1 : 0;
		tb_picture_text(pen->picture, box,
			(struct tb_type){pen->view->font, 1, TB_ALIGN_LEFT, colour}, "x");
	} else if (fmin(box.w, box.h) < 4) {
		tb_picture_rect(pen->picture, box, colour);
	} else {
		double x = box.x + box.w / 2 - box.h / 2 + inset,
		       side = box.h - 2 * inset;
		if (box.w < box.h) {
			x = box.x + inset;
			side = box.w - 2 * inset;
		}
		double y = box.y + (box.h - side) / 2;
		tb_picture_line(
			pen->picture, (struct tb_box){x, y, side, side}, 2, colour);
		tb_picture_line(pen->picture, (struct tb_box){x, y + side, side, -side},
			2, colour);
	}
}

static bool never_lived(
	const struct matrix_pen *pen, tb_time_ps dead_at_ps, uint64_t value)
{
	return value == 0 && dead_at_ps < pen->view->end_ps;
}

static void draw_links(const struct matrix_pen *pen, struct tb_box strip,
	const struct tb_matrix_cell *cells, uint32_t n, uint32_t columns)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct tb_matrix_cell *cell = &cells[i];
		if (cell->link.id == TB_ID_NONE ||
			(pen->view->outside && pen->view->outside[cell->link.id]))
			continue;
		struct tb_box box = link_share(strip, i, n, columns, pen->rule);
		const struct shown_cell shown = {cell->value, &pen->view->links,
			{TB_PICK_LINK, cell->link.id}, false,
			lacks(pen, tb_run_links(pen->run)[cell->link.id].known) ||
				(pen->view->unmeasured &&
					pen->view->unmeasured[cell->link.id]),
			cell->link.id};
		tb_time_ps dead_at_ps = tb_run_links(pen->run)[cell->link.id].dead_at_ps;
		shade_rect(pen, box, &shown);
		if (pen->view->tips)
			link_tip(pen, cell);
		if (pen->view->detail == TB_DETAIL_NUMBERS &&
			!never_lived(pen, dead_at_ps, cell->value))
			cell_number(pen, box, &shown);
		else if (has_ramp(pen, &shown))
			shade_ramp(pen, box, &shown);
		// Underline the cell of a node's own link in the colour of its job.
		const struct tb_link_info *at = &tb_run_links(pen->run)[cell->link.id].at;
		uint32_t job = TB_ID_NONE;
		if (pen->view->jobs && at->kind == TB_LINK_INJECTION)
			job = tb_run_node_job(pen->run, (struct tb_node){at->from});
		else if (pen->view->jobs && at->kind == TB_LINK_EJECTION)
			job = tb_run_node_job(pen->run, (struct tb_node){at->to});
		if (job != TB_ID_NONE) {
			double h = fmin(fmax(box.h * 0.15, 1.5), 4);
			tb_picture_rect(pen->picture,
				(struct tb_box){box.x, box.y + box.h - h, box.w, h},
				tb_job_colour(pen->view->theme, job));
		}
		cell_cross_out(pen, box, dead_at_ps);
		highlight(pen, box, pen->view->marks.links, cell->link.id);
	}
}

// draw_cell_name sets the switch's name at the left of its sum, where both fit.
static void draw_cell_name(const struct matrix_pen *pen, struct tb_box strip,
	const struct tb_matrix_box *switch_box)
{
	const struct tb_matrix_view *view = pen->view;
	const char *name = tb_run_switches(pen->run)[switch_box->sw.id].label;
	bool scaled = view->font_size > 0;
	// On paper a name is as large as the numbers, and on a screen where these are
	// small: smaller ones cannot be read.
	double small = view->ink > 0 ? pen->font_size : fmin(pen->font_size, LEAST_NAME);
	double size = scaled ? fmax(pen->font_size * 0.82, small) : 1;
	if (scaled && view->ink <= 0 && size < LEAST_NAME)
		return;
	double inset = scaled ? 0.4 * pen->font_size : 0;
	char most[16];
	tb_scale_number(&view->switches, view->switches.top, most, sizeof most);
	double sum_w = tb_text_width(view->bold_font, pen->font_size, most);
	double room = (strip.w - sum_w) / 2 - 2 * inset;
	if (tb_text_width(view->font, size, name) > room)
		return;
	const struct shown_cell shown = {switch_box->sum, &view->switches,
		{TB_PICK_SWITCH, switch_box->sw.id}, true, false, switch_box->sw.id};
	struct tb_colour colour = pen->palette->muted;
	if (switch_box->sum > 0)
		colour = tb_colour_ink(shade_of(pen, &shown));
	colour.a = (uint8_t)lround(255 * pen->ink);
	struct tb_box box = {strip.x + inset, strip.y, room, strip.h};
	tb_picture_text(pen->picture, box,
		(struct tb_type){view->font, size, TB_ALIGN_LEFT, colour}, name);
}

// name_room returns how wide the name above a box may be: into the gap beside it.
static double name_room(const struct tb_matrix_layout *layout,
	const struct tb_matrix_view *view, struct tb_box box)
{
	return box.w + fmax(layout->metrics.gap_x * view->zoom - NAME_GAP, 0);
}

// draw_box_name writes a name above a box.
static void draw_box_name(const struct matrix_pen *pen,
	const struct tb_matrix_layout *layout, struct tb_box box, const char *name)
{
	double h = layout->metrics.name_h * pen->view->zoom;
	if (h <= 0 || pen->view->detail != TB_DETAIL_NUMBERS)
		return;
	box = (struct tb_box){box.x, box.y, name_room(layout, pen->view, box), h - 1};
	tb_picture_name(pen->picture, box, pen->name_type, name);
}

// beside_name returns the box for the sum. In a terminal a long name, such as that of a
// switch of several rails, pushes it aside.
static struct tb_box beside_name(const struct matrix_pen *pen, struct tb_box strip,
	const struct tb_matrix_box *switch_box)
{
	double name =
		(double)strlen(tb_run_switches(pen->run)[switch_box->sw.id].label) + 1;
	if (!pen->view->names || pen->view->font_size > 0 || 2 * name + 3 <= strip.w ||
		name + 3 > strip.w)
		return strip;
	return (struct tb_box){strip.x + name, strip.y, strip.w - name, strip.h};
}

static void draw_box(const struct matrix_pen *pen, const struct tb_matrix_layout *layout,
	const struct tb_matrix_band *band, struct tb_box box,
	const struct tb_matrix_box *switch_box)
{
	struct tb_box strips[N_STRIPS];
	box_strips(layout, band, pen->strips, box, strips);
	struct tb_box sum = cell_share(strips[STRIP_SUM], 0, 1, pen->rule);
	const struct shown_cell shown = {switch_box->sum, &pen->view->switches,
		{TB_PICK_SWITCH, switch_box->sw.id}, true,
		lacks(pen, tb_run_switches(pen->run)[switch_box->sw.id].known) ||
			(pen->view->unmeasured_switches &&
				pen->view->unmeasured_switches[switch_box->sw.id]),
		switch_box->sw.id};
	tb_time_ps dead_at_ps = tb_run_switches(pen->run)[switch_box->sw.id].dead_at_ps;
	draw_links(pen, strips[STRIP_ABOVE], switch_box->above, switch_box->n_above,
		band->columns);
	shade_rect(pen, sum, &shown);
	if (pen->view->tips)
		switch_tip(pen, switch_box);
	draw_box_name(
		pen, layout, box, tb_run_switches(pen->run)[switch_box->sw.id].label);
	if (pen->view->detail == TB_DETAIL_NUMBERS) {
		if (pen->view->names && layout->metrics.name_h <= 0)
			draw_cell_name(pen, sum, switch_box);
		if (!never_lived(pen, dead_at_ps, switch_box->sum))
			cell_number(pen, beside_name(pen, sum, switch_box), &shown);
	} else if (pen->view->names && sum.h >= LEAST_NAMED_H) {
		// A wide box has room for its name and sum where its links have none.
		struct matrix_pen clear = *pen;
		clear.ink = 1;
		clear.font_size = fmin(sum.h * 0.8, 11);
		double w = tb_text_width(pen->view->font, clear.font_size,
			tb_run_switches(pen->run)[switch_box->sw.id].label);
		if (2 * w + 6 * clear.font_size <= sum.w) {
			draw_cell_name(&clear, sum, switch_box);
			cell_number(&clear, sum, &shown);
		}
	} else if (has_ramp(pen, &shown)) {
		for (int x = 0; x < (int)sum.w; x++)
			shade_ramp(pen, (struct tb_box){sum.x + x, sum.y, 1, 1}, &shown);
	}
	cell_cross_out(pen, sum, dead_at_ps);
	highlight(pen, sum, pen->view->marks.switches, switch_box->sw.id);
	draw_links(pen, strips[STRIP_BELOW], switch_box->below, switch_box->n_below,
		band->columns);
	draw_links(pen, strips[STRIP_NODES], switch_box->nodes, switch_box->n_nodes,
		band->columns);
}

// draw_switch draws a group of switches as one cell, shaded by its most loaded member.
static void draw_switch(const struct matrix_pen *pen, struct tb_box box,
	const struct tb_matrix_box *boxes, uint32_t n)
{
	const struct tb_matrix_box *most = &boxes[0];
	for (uint32_t i = 1; i < n; i++)
		if (boxes[i].sum > most->sum ||
			lacks(pen, tb_run_switches(pen->run)[most->sw.id].known))
			most = &boxes[i];
	const struct shown_cell shown = {most->sum, &pen->view->switches,
		{TB_PICK_SWITCH, most->sw.id}, true,
		lacks(pen, tb_run_switches(pen->run)[most->sw.id].known), most->sw.id};
	shade_rect(pen, box, &shown);
	if (pen->view->tips)
		switch_tip(pen, most);
	if (has_ramp(pen, &shown))
		shade_ramp(pen, box, &shown);
	for (uint32_t i = 0; i < n; i++) {
		cell_cross_out(
			pen, box, tb_run_switches(pen->run)[boxes[i].sw.id].dead_at_ps);
		highlight(pen, box, pen->view->marks.switches, boxes[i].sw.id);
	}
}

// group_mark returns the strongest mark of a group's switches and links.
static enum tb_mark group_mark(
	const struct matrix_pen *pen, const struct tb_matrix_group *group)
{
	const struct tb_matrix_fold *fold = pen->view->fold;
	const struct tb_marks *marks = &pen->view->marks;
	const uint32_t *switches = fold->subtrees->rows[group->level] + group->first;
	uint8_t most = TB_MARK_NONE;
	for (uint32_t i = 0; i < group->n && (marks->links || marks->switches); i++) {
		const struct tb_matrix_box *box =
			&fold->whole->boxes[fold->source[switches[i]]];
		const struct tb_matrix_cell *end =
			box->below + box->n_below + box->n_above + box->n_nodes;
		if (marks->switches && marks->switches[switches[i]] > most)
			most = marks->switches[switches[i]];
		for (const struct tb_matrix_cell *cell = box->below;
			marks->links && cell < end; cell++)
			if (cell->link.id != TB_ID_NONE &&
				marks->links[cell->link.id] > most)
				most = marks->links[cell->link.id];
	}
	return (enum tb_mark)most;
}

static void group_tip(const struct matrix_pen *pen, const struct tb_matrix_group *group,
	const struct tb_group_figure *figure, bool links)
{
	char name[192], worst[48], mean[48], tip[512];
	enum tb_metric metric = pen->matrix->metric;
	tb_matrix_fold_text(pen->view->fold, group, name, sizeof name);
	snprintf(tip, sizeof tip, "%s: %s of a %s at most %s (%s), %s on average", name,
		tb_link_figures[metric].name, links ? "link" : "switch",
		tb_metric_format(metric, figure->worst, worst, sizeof worst),
		links ? tb_run_links(pen->run)[figure->at].name
		      : tb_run_switches(pen->run)[figure->at].name,
		tb_metric_format(metric, figure->mean, mean, sizeof mean));
	tb_picture_tip(pen->picture, tip);
}

// draw_group draws a group of switches: in each strip the worst at the left, the mean at
// the right.
static void draw_group(const struct matrix_pen *pen,
	const struct tb_matrix_layout *layout, const struct tb_matrix_band *band,
	struct tb_box box, uint32_t index)
{
	static const enum tb_group_part part_of[N_STRIPS] = {
		[STRIP_ABOVE] = TB_GROUP_ABOVE,
		[STRIP_SUM] = TB_GROUP_SWITCH,
		[STRIP_BELOW] = TB_GROUP_BELOW,
		[STRIP_NODES] = TB_GROUP_NODES};
	const struct tb_matrix_group *group = &pen->view->fold->groups[index];
	const uint32_t *switches =
		pen->view->fold->subtrees->rows[group->level] + group->first;
	// Of changes, more and less, there is no mean.
	const uint32_t n_halves = pen->view->less_links ? 1 : 2;
	struct tb_box strips[N_STRIPS];
	box_strips(layout, band, 1, box, strips);
	char name[96];
	draw_box_name(pen, layout, box,
		tb_matrix_group_name(
			pen->view->fold, group, pen->name, name, sizeof name));
	for (int strip = 0; strip < N_STRIPS; strip++) {
		const struct tb_group_figure *figure = &group->figures[part_of[strip]];
		bool links = strip != STRIP_SUM, measured = figure->at != TB_ID_NONE;
		if (strips[strip].h <= 0)
			continue;
		// The worst of one switch is its mean.
		uint32_t n = !links && group->n == 1 ? 1 : n_halves;
		for (uint32_t i = 0; i < n; i++) {
			struct tb_box half = cell_share(strips[strip], i, n, pen->rule);
			const struct shown_cell shown = {
				i == 0 ? figure->worst : figure->mean,
				links ? &pen->view->links : &pen->view->switches,
				{TB_PICK_CELL, index}, !links,
				!measured && figure->n_unmeasured,
				measured ? figure->at : 0};
			shade_rect(pen, half, &shown);
			if (pen->view->tips && measured)
				group_tip(pen, group, figure, links);
			if (pen->view->detail == TB_DETAIL_NUMBERS && pen->ink > 0)
				cell_number(pen, half, &shown);
			else if (has_ramp(pen, &shown))
				shade_ramp(pen, half, &shown);
		}
	}
	for (uint32_t i = 0; i < group->n; i++)
		cell_cross_out(pen, strips[STRIP_SUM],
			tb_run_switches(pen->run)[switches[i]].dead_at_ps);
	uint8_t mark = (uint8_t)group_mark(pen, group);
	highlight(pen, box, &mark, 0);
}

// without_gap extends a box over the gaps after it: at this size they are finer than a
// pixel, and rounding them would show patterns that the data do not have.
static struct tb_box without_gap(
	struct tb_box box, const struct tb_matrix_metrics *metrics, double share)
{
	box.w += metrics->gap_x * share;
	box.h += metrics->gap_y * share;
	return box;
}

// The visible lines or columns of a band: [begin, end).
struct box_range {
	uint32_t begin, end;
};

static struct box_range cell_visible(double from, double to, double step, uint32_t n)
{
	double first = floor(from / step);
	double last = ceil(to / step);
	if (last <= 0 || first >= n)
		return (struct box_range){0, 0};
	return (struct box_range){
		first < 0 ? 0 : (uint32_t)first, last > n ? n : (uint32_t)last};
}

static void draw_cell_band(
	struct matrix_pen *pen, const struct tb_matrix_layout *layout, uint32_t index)
{
	const struct tb_matrix_view *view = pen->view;
	const struct tb_matrix_band *band = &layout->bands[index];
	const struct tb_matrix_row *row = &pen->matrix->rows[index];
	const struct tb_matrix_metrics *metrics = &layout->metrics;
	uint32_t group = metrics->group ? metrics->group : 1;
	double top = view->pan_y - band->y;
	double name_h = metrics->name_h * view->zoom;
	pen->name_type = (struct tb_type){
		view->font, fmin(name_h * 0.9, 12), TB_ALIGN_LEFT, pen->palette->muted};
	pen->name_type.colour.a = (uint8_t)lround(255 * pen->ink);
	if (view->fold && name_h > 0)
		pen->name = tb_matrix_row_name(view->fold, index,
			name_room(layout, view,
				(struct tb_box){.w = band->box_w * view->zoom}),
			&pen->name_type);
	struct box_range lines = cell_visible(top, top + view->area.h / view->zoom,
		band->box_h + metrics->gap_y, band->n_lines);
	struct box_range columns =
		cell_visible(view->pan_x, view->pan_x + view->area.w / view->zoom,
			band->box_w + metrics->gap_x, band->per_line);
	for (uint32_t line = lines.begin; line < lines.end; line++) {
		for (uint32_t column = columns.begin; column < columns.end; column++) {
			uint32_t at = line * band->per_line + column;
			if (at >= band->n_boxes)
				break;
			struct tb_box box =
				on_picture(view, tb_matrix_layout_box(layout, index, at));
			uint32_t first = at * group;
			uint32_t n = row->n_boxes - first;
			box = without_gap(box, metrics, view->zoom * (1 - pen->strips));
			uint32_t number =
				(uint32_t)(&row->boxes[first] - pen->matrix->boxes);
			if (view->fold && view->fold->groups[number].folded)
				draw_group(pen, layout, band, box, number);
			else if (view->detail == TB_DETAIL_SWITCHES)
				draw_switch(pen, box, &row->boxes[first],
					n < group ? n : group);
			else
				draw_box(pen, layout, band, box, &row->boxes[first]);
		}
	}
}

// strips_share returns the share of their full height that links' strips get at the
// view's zoom.
static double strips_share(
	const struct tb_matrix_layout *layout, const struct tb_matrix_view *view)
{
	if (view->detail == TB_DETAIL_SWITCHES)
		return 0;
	return view->font_size > 0 ? cell_within(layout->metrics.cell_w * view->zoom,
					     CELLS_BEGIN, CELLS_FULL)
				   : 1;
}

// cell_of finds a link in a strip; false when it is not there.
static bool cell_of(struct tb_box strip, const struct tb_matrix_cell *cells, uint32_t n,
	uint32_t columns, uint32_t link, struct tb_box *box)
{
	for (uint32_t i = 0; i < n; i++) {
		if (cells[i].link.id != link)
			continue;
		*box = link_share(strip, i, n, columns, 0);
		return true;
	}
	return false;
}

bool tb_matrix_cell_box(const struct tb_matrix_layout *layout,
	const struct tb_matrix *matrix, const struct tb_matrix_view *view,
	struct tb_pick pick, struct tb_box *box)
{
	struct tb_box strips[N_STRIPS];
	uint32_t wanted = view->fold ? tb_matrix_group_of(view->fold, pick) : TB_ID_NONE;
	for (uint32_t row = 0; row < matrix->n_rows; row++) {
		for (uint32_t i = 0; i < matrix->rows[row].n_boxes; i++) {
			const struct tb_matrix_box *switch_box =
				&matrix->rows[row].boxes[i];
			struct tb_box world = tb_matrix_layout_box(layout, row, i);
			if (wanted != TB_ID_NONE) {
				if (switch_box - matrix->boxes != wanted)
					continue;
				*box = on_picture(view, world);
				return true;
			}
			if (pick.kind == TB_PICK_SWITCH &&
				switch_box->sw.id == pick.index) {
				*box = on_picture(view, world);
				return true;
			}
			if (pick.kind != TB_PICK_LINK)
				continue;
			uint32_t columns = layout->bands[row].columns;
			box_strips(layout, &layout->bands[row],
				strips_share(layout, view), on_picture(view, world),
				strips);
			if (cell_of(strips[STRIP_ABOVE], switch_box->above,
				    switch_box->n_above, columns, pick.index, box) ||
				cell_of(strips[STRIP_BELOW], switch_box->below,
					switch_box->n_below, columns, pick.index, box) ||
				cell_of(strips[STRIP_NODES], switch_box->nodes,
					switch_box->n_nodes, columns, pick.index, box))
				return true;
		}
	}
	return false;
}

// cell_mark frames a cell. A line of the page's colour around the frame makes it stand
// out on every shade.
static void cell_mark(const struct matrix_pen *pen, const struct tb_matrix_layout *layout,
	struct tb_pick pick, struct tb_colour colour)
{
	struct tb_box box;
	if (pick.kind != TB_PICK_LINK && pick.kind != TB_PICK_SWITCH &&
		!(pick.kind == TB_PICK_CELL && pen->view->fold))
		return;
	if (!tb_matrix_cell_box(layout, pen->matrix, pen->view, pick, &box))
		return;
	box = (struct tb_box){box.x - 2 - pen->rule / 2, box.y - 2 - pen->rule / 2,
		fmax(box.w, 3) + 4, fmax(box.h, 3) + 4};
	tb_picture_frame(pen->picture,
		(struct tb_box){box.x - 1, box.y - 1, box.w + 2, box.h + 2}, 1,
		pen->palette->page);
	tb_picture_frame(pen->picture, box, 2, colour);
}

void tb_matrix_draw(struct tb_picture *picture, const struct tb_matrix_layout *layout,
	const struct tb_matrix *matrix, const struct tb_run *run,
	const struct tb_matrix_view *view)
{
	bool scaled = view->font_size > 0;
	struct matrix_pen pen = {.picture = picture,
		.matrix = matrix,
		.run = run,
		.view = view,
		.palette = tb_palette_of(view->theme),
		.font_size = scaled ? fmin(view->font_size * view->zoom, 30) : 1,
		.ink = scaled ? fmax(cell_within(layout->metrics.cell_w * view->zoom,
					     NUMBERS_BEGIN, NUMBERS_FULL),
					view->ink)
			      : 1,
		.strips = strips_share(layout, view)};
	// A gap of a pixel between cells where they are wide enough.
	if (scaled)
		pen.rule = layout->metrics.cell_w * view->zoom >= 4.5 ? 1 : 0;
	// The names of the last boxes may reach into the margin.
	struct tb_box clip = view->area;
	clip.w += layout->metrics.name_h > 0 ? layout->metrics.gap_x * view->zoom : 0;
	tb_picture_clip(picture, clip);
	for (uint32_t band = 0; band < layout->n_bands; band++)
		draw_cell_band(&pen, layout, band);
	if (!tb_pick_equal(view->hovered, view->selected))
		cell_mark(&pen, layout, view->hovered, pen.palette->text);
	cell_mark(&pen, layout, view->selected, pen.palette->accent);
	tb_picture_unclip(picture);
}

struct tb_legend tb_legend_of(const struct tb_matrix_view *view)
{
	return (struct tb_legend){view->colours, view->theme,
		view->font_size > 0 ? view->font : TB_FONT_CELL, view->links};
}
