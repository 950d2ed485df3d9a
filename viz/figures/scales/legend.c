#include "legend.h"

#include <math.h>
#include <stdio.h>

#define TICK_SIZE 11
#define APART	  6 // pixels between labels

// A tick and its label, which is centred below it.
struct tick {
	double x, left, right; // of the label
	char text[32];
};

static struct tick tick_of(
	struct tb_box bar, const struct tb_legend *legend, double value, bool last)
{
	const struct tb_scale *scale = &legend->scale;
	char number[16];
	double share = scale->top <= 0	    ? 0
		       : scale->logarithmic ? tb_scale_percent(scale, value) / 100
					    : value / scale->top;
	const char *unit = last ? tb_scale_unit(scale) : "";
	struct tick tick = {.x = bar.x + bar.w * fmin(share, 1)};
	tb_scale_number(scale, value, number, sizeof number);
	snprintf(tick.text, sizeof tick.text, "%s%s%s", number, unit[0] ? " " : "", unit);
	double w = legend->font == TB_FONT_CELL
			   ? 0 // a terminal's bar is made for its labels
			   : tb_text_width(legend->font, TICK_SIZE, tick.text) + APART;
	tick.left = tick.x - w / 2;
	tick.right = tick.x + w / 2;
	return tick;
}

static void draw_tick(struct tb_picture *picture, struct tb_box bar,
	const struct tb_legend *legend, const struct tick *tick, bool labelled)
{
	const struct tb_palette *palette = tb_palette_of(legend->theme);
	bool cells = legend->font == TB_FONT_CELL;
	double half = cells ? 3 : 26;
	struct tb_box label = {tick->x - half, bar.y + bar.h + (cells ? 0 : 2), 2 * half,
		cells ? 1 : 13};
	struct tb_type type = {
		legend->font, cells ? 1 : TICK_SIZE, TB_ALIGN_CENTRE, palette->muted};
	if (!cells)
		tb_picture_line(picture, (struct tb_box){tick->x, bar.y + bar.h, 0, 3}, 1,
			palette->line);
	if (labelled)
		tb_picture_text(picture, label, type, tick->text);
}

// draw_ticks labels the last tick, which has the unit, and those that do not run into it
// or into the one before.
static void draw_ticks(
	struct tb_picture *picture, struct tb_box bar, const struct tb_legend *legend)
{
	double values[TB_SCALE_MOST_TICKS], free_from = -INFINITY;
	int n = tb_scale_ticks(&legend->scale, values);
	for (int i = 0; i < n; i++) {
		bool is_last = i == n - 1;
		struct tick tick = tick_of(bar, legend, values[i], is_last);
		struct tick last = tick_of(bar, legend, values[n - 1], true);
		bool labelled =
			is_last || (tick.left >= free_from && tick.right <= last.left);
		draw_tick(picture, bar, legend, &tick, labelled);
		if (labelled)
			free_from = tick.right;
	}
}

// or_percent replaces the scale of values that are all 0 by one of percentages.
static struct tb_scale or_percent(struct tb_scale scale)
{
	if (scale.top <= 0)
		scale = (struct tb_scale){.quantity = scale.quantity,
			.top = 100,
			.logarithmic = scale.logarithmic};
	return scale;
}

void tb_legend_draw(
	struct tb_picture *picture, struct tb_box box, const struct tb_legend *given)
{
	struct tb_legend legend = *given;
	bool cells = legend.font == TB_FONT_CELL;
	uint32_t n = cells ? (uint32_t)box.w : 100;
	struct tb_box bar = {box.x, box.y, box.w, cells ? 1 : box.h - 15};
	legend.scale = or_percent(legend.scale);
	// Draw each step up to the end of the bar, so that no seam shows where two steps
	// share a pixel. In a terminal none do.
	for (uint32_t i = 0; i < n; i++) {
		double left = bar.x + bar.w * i / n;
		double right = bar.x + (cells ? bar.w * (i + 1) / n : bar.w);
		tb_picture_rect(picture,
			(struct tb_box){left, bar.y, right - left, bar.h},
			tb_shade(legend.colours, legend.theme, 100.0 * (i + 0.5) / n));
	}
	draw_ticks(picture, bar, &legend);
}
