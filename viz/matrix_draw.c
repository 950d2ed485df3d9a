#include "matrix_draw.h"

#include "metric_text.h"

#include <inttypes.h>
#include <math.h>

// What drawing a block needs, gathered once.
struct pen {
	struct tb_picture *picture;
	const struct tb_matrix *matrix;
	const struct tb_run *run;
	const struct tb_matrix_view *view;
	const struct tb_palette *palette;
	double rule; // gap between cells, on the picture
	double font_size;
};

enum tb_matrix_detail tb_matrix_detail_at(
	const struct tb_matrix_metrics *metrics, double zoom)
{
	// 18 pixels hold "100" at 8.3 pixels an em, the least that is read with ease.
	if (metrics->cell_w * zoom >= 18)
		return TB_DETAIL_NUMBERS;
	if (metrics->cell_w * zoom >= 2.5)
		return TB_DETAIL_CELLS;
	return TB_DETAIL_SWITCHES;
}

char *tb_percent_text(double percent, char *buffer, size_t size)
{
	if (percent > 0 && percent < 0.5)
		snprintf(buffer, size, "<1");
	else
		snprintf(buffer, size, "%.0f", percent);
	return buffer;
}

static struct tb_box on_picture(const struct tb_matrix_view *view, struct tb_box world)
{
	return (struct tb_box){view->area.x + (world.x - view->pan_x) * view->zoom,
		view->area.y + (world.y - view->pan_y) * view->zoom, world.w * view->zoom,
		world.h * view->zoom};
}

// cell_share is the box of cell i of n in a strip. Edges are shared, so that no sliver
// shows between cells at any zoom.
static struct tb_box cell_share(struct tb_box strip, uint32_t i, uint32_t n, double rule)
{
	double left = strip.x + strip.w * i / n;
	double right = strip.x + strip.w * (i + 1) / n;
	return (struct tb_box){
		left, strip.y, fmax(right - left - rule, 0.5), fmax(strip.h - rule, 0.5)};
}

static void block_strips(const struct tb_matrix_layout *layout,
	const struct tb_matrix_band *band, struct tb_box box, struct tb_box strips[3])
{
	double scale = box.h / band->block_h;
	double above = band->above_h * scale;
	double sum = layout->metrics.sum_h * scale;
	strips[0] = (struct tb_box){box.x, box.y, box.w, above};
	strips[1] = (struct tb_box){box.x, box.y + above, box.w, sum};
	strips[2] = (struct tb_box){
		box.x, box.y + above + sum, box.w, fmax(box.h - above - sum, 0)};
}

static void shade_rect(
	const struct pen *pen, struct tb_box box, double percent, struct tb_pick pick)
{
	const struct tb_matrix_view *view = pen->view;
	struct tb_colour colour = percent > 0
					  ? tb_shade(view->colours, view->theme, percent)
					  : pen->palette->empty;
	tb_picture_rect(pen->picture, box, colour);
	tb_picture_pick(pen->picture, pick);
}

static void shade_ramp(const struct pen *pen, struct tb_box box, double percent)
{
	static const char ramp[] = ".:-=+*#%@";
	int step = percent <= 0 ? -1 : (int)fmin(percent / 100 * 9, 8);
	const char text[2] = {step < 0 ? ' ' : ramp[step], '\0'};
	struct tb_type type = {pen->view->font, 1, TB_ALIGN_LEFT, pen->palette->text};
	tb_picture_text(pen->picture, box, type, text);
}

static void number(const struct pen *pen, struct tb_box box, double percent, bool sum)
{
	char text[8];
	const struct tb_matrix_view *view = pen->view;
	if (view->font_size == 0 && !sum)
		box.w -= 1; // a blank on either side of two digits
	struct tb_colour ground = tb_shade(view->colours, view->theme, percent);
	struct tb_type type = {.font = sum && percent > 0 ? view->bold_font : view->font,
		.size = pen->font_size * (sum && view->font_size > 0 ? 1.1 : 1),
		.align = view->font_size > 0 || sum ? TB_ALIGN_CENTRE : TB_ALIGN_RIGHT,
		.colour = percent > 0 ? tb_colour_ink(ground) : pen->palette->muted};
	tb_picture_text(
		pen->picture, box, type, tb_percent_text(percent, text, sizeof text));
}

static void link_tip(const struct pen *pen, const struct tb_matrix_cell *cell)
{
	char value[48];
	char tip[256];
	const struct tb_matrix *matrix = pen->matrix;
	snprintf(tip, sizeof tip, "%s: %s %s, %.1f %% of the most loaded link",
		tb_run_links(pen->run)[cell->link.id].name,
		tb_metric_name(matrix->metric),
		tb_metric_format(matrix->metric, cell->value, value, sizeof value),
		cell->percent);
	tb_picture_tip(pen->picture, tip);
}

static void switch_tip(const struct pen *pen, const struct tb_matrix_block *block)
{
	char value[48];
	char tip[256];
	const struct tb_matrix *matrix = pen->matrix;
	snprintf(tip, sizeof tip, "switch %s: %s %s, %.1f %% of the most loaded switch",
		tb_run_switches(pen->run)[block->sw.id].name,
		tb_metric_name(matrix->metric),
		tb_metric_format(matrix->metric, block->sum, value, sizeof value),
		block->percent);
	tb_picture_tip(pen->picture, tip);
}

static void draw_links(const struct pen *pen, struct tb_box strip,
	const struct tb_matrix_cell *cells, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct tb_matrix_cell *cell = &cells[i];
		if (cell->link.id == TB_ID_NONE)
			continue;
		struct tb_box box = cell_share(strip, i, n, pen->rule);
		shade_rect(pen, box, cell->percent,
			(struct tb_pick){TB_PICK_LINK, cell->link.id});
		if (pen->view->tips)
			link_tip(pen, cell);
		if (pen->view->detail == TB_DETAIL_NUMBERS)
			number(pen, box, cell->percent, false);
		else if (pen->view->ramp)
			shade_ramp(pen, box, cell->percent);
	}
}

// draw_name sets the switch's name at the left of its sum, where both fit.
static void draw_name(
	const struct pen *pen, struct tb_box strip, const struct tb_matrix_block *block)
{
	const struct tb_matrix_view *view = pen->view;
	const char *name = tb_run_switches(pen->run)[block->sw.id].name;
	bool scaled = view->font_size > 0;
	double size = scaled ? pen->font_size * 0.82 : 1;
	double inset = scaled ? 0.4 * pen->font_size : 0;
	double sum_w = tb_text_width(view->bold_font, pen->font_size, "100");
	double room = (strip.w - sum_w) / 2 - 2 * inset;
	if (tb_text_width(view->font, size, name) > room)
		return;
	struct tb_colour colour = pen->palette->muted;
	if (block->percent > 0)
		colour = tb_colour_ink(
			tb_shade(view->colours, view->theme, block->percent));
	struct tb_box box = {strip.x + inset, strip.y, room, strip.h};
	tb_picture_text(pen->picture, box,
		(struct tb_type){view->font, size, TB_ALIGN_LEFT, colour}, name);
}

static void draw_block(const struct pen *pen, const struct tb_matrix_layout *layout,
	const struct tb_matrix_band *band, struct tb_box box,
	const struct tb_matrix_block *block)
{
	struct tb_box strips[3];
	block_strips(layout, band, box, strips);
	struct tb_box sum = cell_share(strips[1], 0, 1, pen->rule);
	draw_links(pen, strips[0], block->above, block->n_above);
	shade_rect(
		pen, sum, block->percent, (struct tb_pick){TB_PICK_SWITCH, block->sw.id});
	if (pen->view->tips)
		switch_tip(pen, block);
	if (pen->view->detail == TB_DETAIL_NUMBERS) {
		if (pen->view->names)
			draw_name(pen, sum, block);
		number(pen, sum, block->percent, true);
	} else if (pen->view->ramp) {
		for (int x = 0; x < (int)sum.w; x++)
			shade_ramp(pen, (struct tb_box){sum.x + x, sum.y, 1, 1},
				block->percent);
	}
	draw_links(pen, strips[2], block->below, block->n_below);
}

// draw_switch draws a group of switches as one cell, shaded by its most loaded member.
static void draw_switch(const struct pen *pen, struct tb_box box,
	const struct tb_matrix_block *blocks, uint32_t n)
{
	const struct tb_matrix_block *most = &blocks[0];
	for (uint32_t i = 1; i < n; i++)
		if (blocks[i].percent > most->percent)
			most = &blocks[i];
	shade_rect(
		pen, box, most->percent, (struct tb_pick){TB_PICK_SWITCH, most->sw.id});
	if (pen->view->tips)
		switch_tip(pen, most);
	if (pen->view->ramp)
		shade_ramp(pen, box, most->percent);
}

// without_gap grows a block over the gaps behind it: at this size they are finer than a
// pixel, and a rounded grid of them would show patterns that the data do not have.
static struct tb_box without_gap(
	struct tb_box box, const struct tb_matrix_metrics *metrics, double zoom)
{
	box.w += metrics->gap_x * zoom;
	box.h += metrics->gap_y * zoom;
	return box;
}

// Which lines and columns of a band show in the area.
struct range {
	uint32_t begin, end;
};

static struct range visible(double from, double to, double step, uint32_t n)
{
	double first = floor(from / step);
	double last = ceil(to / step);
	if (last <= 0 || first >= n)
		return (struct range){0, 0};
	return (struct range){
		first < 0 ? 0 : (uint32_t)first, last > n ? n : (uint32_t)last};
}

static void draw_band(
	const struct pen *pen, const struct tb_matrix_layout *layout, uint32_t index)
{
	const struct tb_matrix_view *view = pen->view;
	const struct tb_matrix_band *band = &layout->bands[index];
	const struct tb_matrix_row *row = &pen->matrix->rows[index];
	const struct tb_matrix_metrics *metrics = &layout->metrics;
	uint32_t group = metrics->group ? metrics->group : 1;
	double top = view->pan_y - band->y;
	struct range lines = visible(top, top + view->area.h / view->zoom,
		band->block_h + metrics->gap_y, band->n_lines);
	struct range columns =
		visible(view->pan_x, view->pan_x + view->area.w / view->zoom,
			band->block_w + metrics->gap_x, band->per_line);
	for (uint32_t line = lines.begin; line < lines.end; line++) {
		for (uint32_t column = columns.begin; column < columns.end; column++) {
			uint32_t block = line * band->per_line + column;
			if (block >= band->n_blocks)
				break;
			struct tb_box box = on_picture(
				view, tb_matrix_layout_block(layout, index, block));
			uint32_t first = block * group;
			uint32_t n = row->n_blocks - first;
			if (view->detail == TB_DETAIL_SWITCHES)
				draw_switch(pen, without_gap(box, metrics, view->zoom),
					&row->blocks[first], n < group ? n : group);
			else
				draw_block(pen, layout, band, box, &row->blocks[first]);
		}
	}
}

bool tb_matrix_cell_box(const struct tb_matrix_layout *layout,
	const struct tb_matrix *matrix, const struct tb_matrix_view *view,
	struct tb_pick pick, struct tb_box *box)
{
	struct tb_box strips[3];
	for (uint32_t row = 0; row < matrix->n_rows; row++) {
		for (uint32_t i = 0; i < matrix->rows[row].n_blocks; i++) {
			const struct tb_matrix_block *block =
				&matrix->rows[row].blocks[i];
			struct tb_box world = tb_matrix_layout_block(layout, row, i);
			if (pick.kind == TB_PICK_SWITCH && block->sw.id == pick.index) {
				*box = on_picture(view, world);
				return true;
			}
			if (pick.kind != TB_PICK_LINK)
				continue;
			block_strips(layout, &layout->bands[row], on_picture(view, world),
				strips);
			for (uint32_t c = 0; c < block->n_above; c++) {
				if (block->above[c].link.id != pick.index)
					continue;
				*box = cell_share(strips[0], c, block->n_above, 0);
				return true;
			}
			for (uint32_t c = 0; c < block->n_below; c++) {
				if (block->below[c].link.id != pick.index)
					continue;
				*box = cell_share(strips[2], c, block->n_below, 0);
				return true;
			}
		}
	}
	return false;
}

// mark frames a cell so that it stands out on every shade: the accent, with a line of the
// page's colour around it.
static void mark(const struct pen *pen, const struct tb_matrix_layout *layout,
	struct tb_pick pick, struct tb_colour colour)
{
	struct tb_box box;
	if (pick.kind != TB_PICK_LINK && pick.kind != TB_PICK_SWITCH)
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

// cell_rule is the line left free between cells: a pixel where they are wide enough to
// spare it, none where the gaps between blocks must do.
static double cell_rule(
	const struct tb_matrix_layout *layout, const struct tb_matrix_view *view)
{
	return layout->metrics.cell_w * view->zoom >= 4.5 ? 1 : 0;
}

void tb_matrix_draw(struct tb_picture *picture, const struct tb_matrix_layout *layout,
	const struct tb_matrix *matrix, const struct tb_run *run,
	const struct tb_matrix_view *view)
{
	bool scaled = view->font_size > 0;
	struct pen pen = {.picture = picture,
		.matrix = matrix,
		.run = run,
		.view = view,
		.palette = tb_palette_of(view->theme),
		.font_size = scaled ? fmin(view->font_size * view->zoom, 30) : 1};
	if (scaled)
		pen.rule = cell_rule(layout, view);
	tb_picture_clip(picture, view->area);
	for (uint32_t band = 0; band < layout->n_bands; band++)
		draw_band(&pen, layout, band);
	if (!tb_pick_equal(view->hovered, view->selected))
		mark(&pen, layout, view->hovered, pen.palette->text);
	mark(&pen, layout, view->selected, pen.palette->accent);
	tb_picture_unclip(picture);
}

void tb_legend_draw(
	struct tb_picture *picture, struct tb_box box, const struct tb_matrix_view *view)
{
	const struct tb_palette *palette = tb_palette_of(view->theme);
	bool scaled = view->font_size > 0;
	double size = scaled ? 11 : 1;
	double bar_h = scaled ? box.h - 15 : 1;
	uint32_t n = scaled ? 100 : (uint32_t)box.w;
	struct tb_box bar = {box.x, box.y, box.w, bar_h};
	for (uint32_t i = 0; i < n; i++) {
		double percent = 100.0 * (i + 0.5) / n;
		struct tb_box step = cell_share(bar, i, n, 0);
		// Each step reaches to the end: no seam shows where pixels are shared.
		if (scaled)
			step.w = bar.x + bar.w - step.x;
		tb_picture_rect(
			picture, step, tb_shade(view->colours, view->theme, percent));
	}
	for (int percent = 0; percent <= 100; percent += 25) {
		double x = bar.x + bar.w * percent / 100;
		double half = scaled ? 20 : 3;
		struct tb_box label = {x - half, box.y + bar_h + (scaled ? 2 : 0),
			2 * half, scaled ? 13 : 1};
		struct tb_type type = {view->font, size, TB_ALIGN_CENTRE, palette->muted};
		if (scaled)
			tb_picture_line(picture, (struct tb_box){x, bar.y + bar.h, 0, 3},
				1, palette->line);
		tb_picture_printf(
			picture, label, type, percent == 100 ? "%d %%" : "%d", percent);
	}
}
