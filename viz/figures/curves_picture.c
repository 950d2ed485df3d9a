#include "curves_picture.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#define WIDTH	    760
#define HEIGHT	    480
#define MARGIN	    24
#define PLOT_X	    72
#define PLOT_Y	    98
#define PLOT_BELOW  62 // under the plot: ticks and the axis's name
#define LEGEND_GAP  22
#define LEGEND_MOST 240
#define LEGEND_LINE 20
#define SWATCH	    30
#define MARK	    7 // a marker's size
#define TICKS_X	    9
#define TICKS_Y	    7
#define FAINTEST    55 // shade of the last curve, in percent
#define TEXT_SIZE   11.5

// What curves are drawn on: the plot's box and its two axes.
struct plot {
	struct tb_picture *picture;
	const struct tb_curves_figure *figure;
	const struct tb_palette *palette;
	struct tb_box box;
	struct tb_ticks x, y;
};

static struct tb_type curve_type(const struct plot *plot, enum tb_align align, bool muted)
{
	return (struct tb_type){TB_FONT_TEXT, TEXT_SIZE, align,
		muted ? plot->palette->muted : plot->palette->text};
}

static double curve_x(const struct plot *plot, double value)
{
	return plot->box.x + plot->box.w * tb_ticks_share(&plot->x, value);
}

static double curve_y(const struct plot *plot, double value)
{
	return plot->box.y + plot->box.h * (1 - tb_ticks_share(&plot->y, value));
}

static struct tb_colour curve_colour(const struct plot *plot, size_t curve)
{
	size_t n = plot->figure->curves->n_curves;
	double share = n > 1 ? (double)curve / (double)(n - 1) : 0;
	return tb_shade(plot->figure->colours, plot->figure->theme,
		100 - (100 - FAINTEST) * share);
}

static void curve_line(const struct plot *plot, double x, double y, double w, double h,
	double width, struct tb_colour colour)
{
	tb_picture_line(plot->picture, (struct tb_box){x, y, w, h}, width, colour);
}

// Markers: a full and a hollow square, an x, a diamond, a plus, a bar.
static void curve_mark(const struct plot *plot, size_t curve, double x, double y)
{
	const double half = MARK / 2.0, wide = MARK * 0.7;
	struct tb_colour colour = curve_colour(plot, curve);
	const struct tb_box box = {x - half, y - half, MARK, MARK};
	switch (curve % 6) {
	case 0:
		tb_picture_rect(plot->picture, box, colour);
		break;
	case 1:
		tb_picture_rect(plot->picture, box, plot->palette->panel);
		tb_picture_frame(plot->picture, box, 1.6, colour);
		break;
	case 2:
		curve_line(plot, x - half, y - half, MARK, MARK, 1.8, colour);
		curve_line(plot, x - half, y + half, MARK, -MARK, 1.8, colour);
		break;
	case 3:
		curve_line(plot, x - wide, y, wide, -wide, 1.6, colour);
		curve_line(plot, x, y - wide, wide, wide, 1.6, colour);
		curve_line(plot, x + wide, y, -wide, wide, 1.6, colour);
		curve_line(plot, x, y + wide, -wide, -wide, 1.6, colour);
		break;
	case 4:
		curve_line(plot, x - wide, y, 2 * wide, 0, 1.8, colour);
		curve_line(plot, x, y - wide, 0, 2 * wide, 1.8, colour);
		break;
	default:
		tb_picture_rect(plot->picture,
			(struct tb_box){x - half, y - 1.5, MARK, 3}, colour);
		break;
	}
}

static void interval(
	const struct plot *plot, size_t curve, const struct tb_curve_point *point)
{
	double half = point->y.half_ci;
	if (!isfinite(half) || half <= 0)
		return;
	double x = curve_x(plot, point->x), top = curve_y(plot, point->y.mean + half);
	double bottom = curve_y(plot, point->y.mean - half);
	struct tb_colour colour = curve_colour(plot, curve);
	curve_line(plot, x, top, 0, bottom - top, 1, colour);
	curve_line(plot, x - 3, top, 6, 0, 1, colour);
	curve_line(plot, x - 3, bottom, 6, 0, 1, colour);
}

static void draw_curve(const struct plot *plot, size_t i)
{
	const struct tb_curve *curve = &plot->figure->curves->curves[i];
	struct tb_colour colour = curve_colour(plot, i);
	for (size_t k = 1; k < curve->n_points; k++) {
		double x = curve_x(plot, curve->points[k - 1].x);
		double y = curve_y(plot, curve->points[k - 1].y.mean);
		curve_line(plot, x, y, curve_x(plot, curve->points[k].x) - x,
			curve_y(plot, curve->points[k].y.mean) - y, 1.8, colour);
	}
	for (size_t k = 0; k < curve->n_points; k++) {
		interval(plot, i, &curve->points[k]);
		curve_mark(plot, i, curve_x(plot, curve->points[k].x),
			curve_y(plot, curve->points[k].y.mean));
		const struct tb_curve_point *point = &curve->points[k];
		const struct tb_curves *curves = plot->figure->curves;
		char text[256], x[24], half[48] = "";
		if (isfinite(point->y.half_ci))
			snprintf(half, sizeof half, " ± %.4g", point->y.half_ci);
		snprintf(text, sizeof text, "%s%s%s %s %s: %.4g%s %s (%zu point%s)",
			curve->label, curve->label[0] ? ", " : "", curves->x.name,
			tb_tick_text(point->x, curves->x.sizes, x, sizeof x),
			curves->x.unit, point->y.mean, half, curves->y.unit, point->n,
			point->n == 1 ? "" : "s");
		tb_picture_tip(plot->picture, text);
	}
}

// The y axis's name stands above it: pictures have no rotated text.
static void draw_y_axis(const struct plot *plot)
{
	const struct tb_curve_axis *axis = &plot->figure->curves->y;
	for (size_t i = 0; i < plot->y.n; i++) {
		char text[24];
		double y = curve_y(plot, plot->y.at[i]);
		curve_line(
			plot, plot->box.x, y, plot->box.w, 0, 0.6, plot->palette->line);
		tb_picture_text(plot->picture,
			(struct tb_box){MARGIN, y - 8, plot->box.x - MARGIN - 8, 16},
			curve_type(plot, TB_ALIGN_RIGHT, false),
			tb_tick_text(plot->y.at[i], axis->sizes, text, sizeof text));
	}
	char name[128];
	tb_picture_text(plot->picture,
		(struct tb_box){MARGIN, plot->box.y - 28, plot->box.w, 18},
		curve_type(plot, TB_ALIGN_LEFT, false),
		tb_curves_axis_text(axis, name, sizeof name));
}

#define DIAGONAL "accepted = offered"

static bool has_diagonal(const struct tb_curves *curves)
{
	return strcmp(curves->x.name, "offered") == 0 &&
	       strcmp(curves->y.name, "accepted") == 0;
}

static double legend_width(const struct tb_curves *curves)
{
	double widest = has_diagonal(curves)
				? tb_text_width(TB_FONT_TEXT, TEXT_SIZE, DIAGONAL)
				: 0;
	for (size_t i = 0; i < curves->n_curves; i++)
		widest = fmax(widest,
			tb_text_width(TB_FONT_TEXT, TEXT_SIZE, curves->curves[i].label));
	return widest > 0 ? fmin(widest + SWATCH + 8, LEGEND_MOST) : 0;
}

static void legend_text(const struct plot *plot, struct tb_box at, const char *text)
{
	tb_picture_text(plot->picture,
		(struct tb_box){at.x + SWATCH, at.y - 9, at.w - SWATCH, 18},
		curve_type(plot, TB_ALIGN_LEFT, false), text);
}

static void draw_curve_legend(const struct plot *plot, double x, double w)
{
	const struct tb_curves *curves = plot->figure->curves;
	struct tb_box at = {x, plot->box.y + 10, w, LEGEND_LINE};
	for (size_t i = 0; i < curves->n_curves && *curves->curves[i].label; i++) {
		curve_line(plot, x, at.y, SWATCH - 6, 0, 1.8, curve_colour(plot, i));
		curve_mark(plot, i, x + (SWATCH - 6) / 2.0, at.y);
		legend_text(plot, at, curves->curves[i].label);
		at.y += LEGEND_LINE;
	}
	if (!has_diagonal(curves))
		return;
	curve_line(plot, x, at.y, SWATCH - 6, 0, 1, plot->palette->muted);
	legend_text(plot, at, DIAGONAL);
}

// footnote prints how many runs a point is the mean of.
static void footnote(const struct plot *plot)
{
	const struct tb_curves *curves = plot->figure->curves;
	size_t fewest = SIZE_MAX, most = 0;
	for (size_t i = 0; i < curves->n_curves; i++)
		for (size_t k = 0; k < curves->curves[i].n_points; k++) {
			size_t n = curves->curves[i].points[k].n;
			fewest = n < fewest ? n : fewest;
			most = n > most ? n : most;
		}
	char text[160], runs[48];
	if (fewest == most)
		snprintf(runs, sizeof runs, "%zu run%s", most, most == 1 ? "" : "s");
	else
		snprintf(runs, sizeof runs, "%zu to %zu runs", fewest, most);
	int used = most > 1 ? snprintf(text, sizeof text,
				      "Means of %s with their 95 %% interval", runs)
			    : snprintf(text, sizeof text, "One run per point");
	if (curves->n_undone > 0 && used > 0)
		snprintf(text + used, sizeof text - (size_t)used,
			"; %zu point%s still to be run", curves->n_undone,
			curves->n_undone == 1 ? " is" : "s are");
	tb_picture_text(plot->picture,
		(struct tb_box){MARGIN, 44, plot->picture->width - 2 * MARGIN, 16},
		curve_type(plot, TB_ALIGN_LEFT, true), text);
}

int tb_curves_picture(struct tb_picture *picture, const struct tb_curves_figure *figure)
{
	const struct tb_curves *curves = figure->curves;
	double legend = legend_width(curves);
	size_t n_lines = curves->n_curves + has_diagonal(curves);
	double needed = LEGEND_LINE * (double)n_lines + PLOT_Y + 24;
	struct plot plot = {.picture = picture,
		.figure = figure,
		.palette = tb_palette_of(figure->theme),
		.x = tb_curves_ticks(&curves->x, TICKS_X),
		.y = tb_curves_ticks(&curves->y, TICKS_Y)};
	double right = WIDTH - MARGIN - (legend > 0 ? legend + LEGEND_GAP : 8);
	plot.box = (struct tb_box){
		PLOT_X, PLOT_Y, right - PLOT_X, HEIGHT - PLOT_Y - PLOT_BELOW};
	tb_picture_clear(picture, WIDTH, fmax(HEIGHT, needed), plot.palette->page);
	tb_picture_text(picture, (struct tb_box){MARGIN, 18, WIDTH - 2 * MARGIN, 22},
		(struct tb_type){TB_FONT_BOLD, 16, TB_ALIGN_LEFT, plot.palette->text},
		curves->title);
	footnote(&plot);
	tb_picture_rect(picture, plot.box, plot.palette->panel);
	const struct tb_curve_axis *axis = &plot.figure->curves->x;
	const double below = plot.box.y + plot.box.h;
	for (size_t i = 0; i < plot.x.n; i++) {
		char text[24];
		double x = curve_x(&plot, plot.x.at[i]);
		curve_line(&plot, x, plot.box.y, 0, plot.box.h, 0.6, plot.palette->line);
		curve_line(&plot, x, below, 0, 5, 1, plot.palette->muted);
		tb_picture_text(plot.picture, (struct tb_box){x - 40, below + 7, 80, 16},
			curve_type(&plot, TB_ALIGN_CENTRE, false),
			tb_tick_text(plot.x.at[i], axis->sizes, text, sizeof text));
	}
	char name[128];
	tb_picture_text(plot.picture,
		(struct tb_box){plot.box.x, below + 29, plot.box.w, 18},
		curve_type(&plot, TB_ALIGN_CENTRE, false),
		tb_curves_axis_text(axis, name, sizeof name));
	draw_y_axis(&plot);
	if (has_diagonal(curves)) {
		// Draw the line on which accepted equals offered.
		double from = fmax(plot.x.begin, plot.y.begin);
		double to = fmin(plot.x.end, plot.y.end);
		double x = curve_x(&plot, from), y = curve_y(&plot, from);
		curve_line(&plot, x, y, curve_x(&plot, to) - x, curve_y(&plot, to) - y, 1,
			plot.palette->muted);
	}
	for (size_t i = curves->n_curves; i-- > 0;)
		draw_curve(&plot, i);
	tb_picture_frame(picture, plot.box, 1, plot.palette->muted);
	draw_curve_legend(&plot, right + LEGEND_GAP, legend);
	return picture->status;
}
