#include "legend.h"

#include <math.h>

static void draw_tick(struct tb_picture *picture, struct tb_box bar,
	const struct tb_legend *legend, double value, bool last)
{
	const struct tb_palette *palette = tb_palette_of(legend->theme);
	const struct tb_scale *scale = &legend->scale;
	bool cells = legend->font == TB_FONT_CELL;
	char number[16];
	double share = scale->top <= 0	    ? 0
		       : scale->logarithmic ? tb_scale_percent(scale, value) / 100
					    : value / scale->top;
	double x = bar.x + bar.w * fmin(share, 1);
	double half = cells ? 3 : 26;
	struct tb_box label = {
		x - half, bar.y + bar.h + (cells ? 0 : 2), 2 * half, cells ? 1 : 13};
	struct tb_type type = {
		legend->font, cells ? 1 : 11, TB_ALIGN_CENTRE, palette->muted};
	const char *unit = last ? tb_scale_unit(scale) : "";
	if (!cells)
		tb_picture_line(picture, (struct tb_box){x, bar.y + bar.h, 0, 3}, 1,
			palette->line);
	tb_scale_number(scale, value, number, sizeof number);
	tb_picture_printf(
		picture, label, type, "%s%s%s", number, unit[0] ? " " : "", unit);
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
	double ticks[TB_SCALE_MOST_TICKS];
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
	int n_ticks = tb_scale_ticks(&legend.scale, ticks);
	for (int i = 0; i < n_ticks; i++)
		draw_tick(picture, bar, &legend, ticks[i], i == n_ticks - 1);
}
