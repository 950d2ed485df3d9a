// Curves as CSV and JSON, and what their pictures share.
#include "curves_picture.h"

#include "json.h"
#include "markup.h"
#include "series.h"
#include "wrap.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define N_PLACES 16 // of a link

void tb_sparks_begin(struct tb_sparks *sparks, enum tb_metric metric)
{
	if (sparks->metric != metric)
		memset(sparks->slots, 0, sizeof sparks->slots);
	sparks->metric = metric;
	sparks->picture++;
	sparks->n_wanted = 0;
}

// spark_slot returns the slot of a link, or the one that it may take: of a few by its id,
// so that lines of one picture do not drive each other out.
static struct tb_spark *spark_slot(struct tb_sparks *sparks, struct tb_link link)
{
	struct tb_spark *oldest = &sparks->slots[link.id % TB_SPARK_SLOTS];
	for (uint32_t i = 0; i < N_PLACES; i++) {
		struct tb_spark *slot = &sparks->slots[(link.id + i) % TB_SPARK_SLOTS];
		if (slot->known && slot->link.id == link.id)
			return slot;
		if (!slot->known || (oldest->known && slot->picture < oldest->picture))
			oldest = slot;
	}
	return oldest;
}

const struct tb_spark *tb_spark_of(struct tb_sparks *sparks, struct tb_link link)
{
	struct tb_spark *spark = spark_slot(sparks, link);
	if (spark->known && spark->link.id == link.id) {
		spark->picture = sparks->picture;
		return spark;
	}
	if (sparks->n_wanted < TB_SPARK_WANTED)
		sparks->wanted[sparks->n_wanted++] = link;
	return NULL;
}

int tb_spark_read(struct tb_spark *spark, struct tb_run *run, struct tb_link link,
	enum tb_metric metric, struct tb_error *error)
{
	*spark = (struct tb_spark){.link = link, .known = true};
	int status =
		tb_run_series(run, link, metric, spark->values, TB_SPARK_COLUMNS, error);
	for (int i = 0; i < TB_SPARK_COLUMNS; i++) {
		if (status != TB_OK)
			spark->values[i] = 0;
		if (spark->values[i] > spark->largest)
			spark->largest = spark->values[i];
	}
	return status;
}

void tb_sparks_keep(struct tb_sparks *sparks, const struct tb_spark *spark)
{
	struct tb_spark *slot = spark_slot(sparks, spark->link);
	*slot = *spark;
	slot->picture = sparks->picture;
}

void tb_spark_draw(struct tb_picture *picture, struct tb_box box,
	const struct tb_spark *spark, uint64_t largest, struct tb_colour colour)
{
	double step = box.w / TB_SPARK_COLUMNS;
	for (int i = 0; largest > 0 && i < TB_SPARK_COLUMNS; i++) {
		double h = box.h * fmin((double)spark->values[i] / (double)largest, 1);
		if (h <= 0)
			continue;
		h = fmax(h, 1);
		tb_picture_rect(picture,
			(struct tb_box){box.x + i * step, box.y + box.h - h, step, h},
			colour);
	}
}

static void curve_column(FILE *stream, const struct tb_curve_axis *axis, const char *what)
{
	fprintf(stream, ",%s%s", axis->name, what);
	if (axis->unit[0])
		fprintf(stream, " (%s)", axis->unit);
}

void tb_curves_csv(const struct tb_curves *curves, FILE *stream)
{
	fputs("curve", stream);
	curve_column(stream, &curves->x, "");
	curve_column(stream, &curves->y, "");
	curve_column(stream, &curves->y, " +-95%");
	fputs(",points,unsteady,growing\n", stream);
	for (size_t i = 0; i < curves->n_curves; i++)
		for (size_t k = 0; k < curves->curves[i].n_points; k++) {
			const struct tb_curve_point *point = &curves->curves[i].points[k];
			tb_csv_put(stream, curves->curves[i].label);
			fprintf(stream, ",%.10g,%.6f,", point->x, point->y.mean);
			if (isfinite(point->y.half_ci))
				fprintf(stream, "%.6f", point->y.half_ci);
			fprintf(stream, ",%zu", point->n);
			// Whether a job is steady is not asked.
			if (point->by[TB_STEADY_NOT_MEASURED] < point->n)
				fprintf(stream, ",%zu,%zu\n", tb_n_unsteady(point->by),
					point->by[TB_STEADY_GROWS]);
			else
				fputs(",,\n", stream);
		}
}

static json_t *axis_json(const struct tb_curve_axis *axis)
{
	return json_pack("{s:o, s:o, s:o}", "name", tb_json_text(axis->name), "title",
		tb_json_text(axis->title), "unit", tb_json_text(axis->unit));
}

// count_json is null where whether points are steady was not measured.
static json_t *count_json(const struct tb_curve_point *point, size_t n)
{
	return point->by[TB_STEADY_NOT_MEASURED] < point->n ? json_integer((json_int_t)n)
							    : json_null();
}

static json_t *curve_json(const struct tb_curve *curve)
{
	json_t *points = json_array();
	for (size_t i = 0; i < curve->n_points; i++) {
		const struct tb_curve_point *point = &curve->points[i];
		points = tb_json_append(points,
			json_pack("{s:f, s:f, s:o, s:I, s:o, s:o}", "x", point->x, "y",
				point->y.mean, "half_ci", tb_json_real(point->y.half_ci),
				"points", (json_int_t)point->n, "unsteady",
				count_json(point, tb_n_unsteady(point->by)), "growing",
				count_json(point, point->by[TB_STEADY_GROWS])));
	}
	return json_pack("{s:o, s:o, s:o}", "label", tb_json_text(curve->label),
		"caution",
		curve->caution ? tb_json_text(curve->caution + 1) : json_null(), "points",
		points);
}

int tb_curves_json(const struct tb_curves *curves, FILE *stream)
{
	json_t *list = json_array();
	for (size_t i = 0; i < curves->n_curves; i++)
		list = tb_json_append(list, curve_json(&curves->curves[i]));
	return tb_json_write(
		json_pack("{s:o, s:o, s:o, s:I, s:o}", "title",
			tb_json_text(curves->title), "x", axis_json(&curves->x), "y",
			axis_json(&curves->y), "points_to_run",
			(json_int_t)curves->n_undone, "curves", list),
		10, stream);
}

// curves_ticks returns about `wanted` ticks for an axis, which a linear one begins and
// ends with.
static struct tb_ticks curves_ticks(const struct tb_curve_axis *axis, size_t wanted)
{
	if (axis->scale == TB_CURVE_DOUBLING)
		return tb_ticks_doubling(axis->least, axis->most, wanted);
	struct tb_ticks inner = tb_ticks_linear(axis->least, axis->most, wanted);
	double step = inner.at[1] - inner.at[0];
	double least = step * floor(axis->least / step + 1e-9);
	double most = step * ceil(axis->most / step - 1e-9);
	return tb_ticks_linear(least, most, (size_t)lround((most - least) / step) + 1);
}

// curves_axis_text writes "Offered bandwidth per node, MB/s"; 128 bytes suffice.
static char *curves_axis_text(const struct tb_curve_axis *axis, char *buffer, size_t size)
{
	snprintf(
		buffer, size, axis->unit[0] ? "%s, %s" : "%s%s", axis->title, axis->unit);
	return buffer;
}

static struct tb_colour colour_of_curve(
	const struct tb_curves_figure *figure, size_t curve, double faintest)
{
	size_t n = figure->curves->n_curves;
	double share = n > 1 ? (double)curve / (double)(n - 1) : 0;
	if (figure->colours == TB_CIVIDIS) // the default
		return tb_job_colour(figure->theme, (uint32_t)curve);
	return tb_shade(figure->colours, figure->theme, 100 - (100 - faintest) * share);
}

// The cautions of curves, in lines of a width, those of equal ones once: of which curves
// each is where not all have it.
struct caution_lines {
	char *text; // malloc'ed; NULL: none
	size_t n;
};

// curve_caution returns a curve's caution; "": none.
static const char *curve_caution(const struct tb_curves *curves, size_t curve)
{
	const char *caution = curves->curves[curve].caution;
	return caution ? caution : "";
}

static void write_caution(
	const struct tb_curves *curves, size_t of, unsigned width, FILE *stream)
{
	const char *caution = curve_caution(curves, of);
	char text[1024] = "";
	size_t used = 0, n = 0;
	for (size_t i = 0; i < curves->n_curves; i++)
		n += strcmp(curve_caution(curves, i), caution) == 0;
	for (size_t i = of; i < curves->n_curves && n < curves->n_curves; i++)
		if (strcmp(curve_caution(curves, i), caution) == 0 && used < 256)
			used += (size_t)snprintf(text + used, sizeof text - used,
				"%s%.200s", used ? ", " : "", curves->curves[i].label);
	snprintf(text + used, sizeof text - used, "%s", caution + (used == 0));
	tb_wrap(stream, 0, 2, width, text);
}

static struct caution_lines curves_cautions(
	const struct tb_curves *curves, unsigned width)
{
	struct caution_lines lines = {NULL, 0};
	size_t size;
	FILE *stream = open_memstream(&lines.text, &size);
	for (size_t i = 0; stream && i < curves->n_curves; i++) {
		bool is_new = *curve_caution(curves, i) != '\0';
		for (size_t k = 0; k < i; k++)
			is_new &= strcmp(curve_caution(curves, k),
					  curve_caution(curves, i)) != 0;
		if (is_new)
			write_caution(curves, i, width, stream);
	}
	if (stream && fclose(stream) != 0)
		return lines;
	for (const char *at = lines.text; at && *at; at++)
		lines.n += *at == '\n';
	return lines;
}

static void draw_cautions(struct tb_picture *picture, struct caution_lines *lines,
	struct tb_box at, const struct tb_type *type)
{
	char *rest = lines->text, *line;
	for (size_t i = 0; i < lines->n && (line = strsep(&rest, "\n")) != NULL; i++) {
		tb_picture_text(picture, at, *type, line);
		at.y += at.h;
	}
	free(lines->text);
}

// Curves in a terminal: a letter per curve, on a grid of characters.

#define ROWS	   20 // of the grid
#define GUTTER	   9  // left of it, for the ticks
#define HEAD	   3
#define TICK_EVERY 11 // columns
#define LETTERS	   52
#define BETWEEN	   '.'

struct grid {
	struct tb_picture *picture;
	const struct tb_curves_figure *figure;
	const struct tb_palette *palette;
	struct tb_ticks x, y;
	size_t n_columns;
	char *cells;	// ROWS * n_columns letters, ' ' for none
	size_t *owners; // the curve of each letter
};

static char letter(size_t curve)
{
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
	return letters[curve % LETTERS];
}

static struct tb_type curve_text_type(const struct grid *grid, enum tb_align align)
{
	return (struct tb_type){TB_FONT_CELL, 1, align, grid->palette->text};
}

static size_t curve_text_place(double share, size_t n)
{
	double at = round(share * (double)(n - 1));
	return at < 0 ? 0 : at > (double)(n - 1) ? n - 1 : (size_t)at;
}

static void curve_text_put(
	struct grid *grid, size_t column, size_t row, size_t curve, char with)
{
	size_t at = row * grid->n_columns + column;
	if (with == BETWEEN && grid->cells[at] != ' ')
		return;
	grid->cells[at] = with;
	grid->owners[at] = curve;
}

static size_t curve_text_column(const struct grid *grid, const struct tb_curve_point *of)
{
	return curve_text_place(tb_ticks_share(&grid->x, of->x), grid->n_columns);
}

static size_t curve_text_row(const struct grid *grid, const struct tb_curve_point *of)
{
	return ROWS - 1 - curve_text_place(tb_ticks_share(&grid->y, of->y.mean), ROWS);
}

// curve_text_hidden counts the points of a curve that lie under those of others.
static size_t curve_text_hidden(const struct grid *grid, size_t curve)
{
	const struct tb_curve *of = &grid->figure->curves->curves[curve];
	size_t n = 0;
	for (size_t k = 0; k < of->n_points; k++)
		n += grid->owners[curve_text_row(grid, &of->points[k]) * grid->n_columns +
				  curve_text_column(grid, &of->points[k])] != curve;
	return n;
}

static void curve_text_fill(struct grid *grid)
{
	const struct tb_curves *curves = grid->figure->curves;
	for (size_t i = curves->n_curves; i-- > 0;) {
		const struct tb_curve *curve = &curves->curves[i];
		for (size_t k = 0; k < curve->n_points; k++)
			curve_text_put(grid, curve_text_column(grid, &curve->points[k]),
				curve_text_row(grid, &curve->points[k]), i, letter(i));
	}
	for (size_t i = 0; i < curves->n_curves; i++)
		for (size_t k = 1; k < curves->curves[i].n_points; k++) {
			// Dot the line between two points, one dot per column.
			const struct tb_curve_point *from =
				&curves->curves[i].points[k - 1];
			const struct tb_curve_point *to = &curves->curves[i].points[k];
			double x0 = tb_ticks_share(&grid->x, from->x),
			       x1 = tb_ticks_share(&grid->x, to->x);
			double y0 = tb_ticks_share(&grid->y, from->y.mean);
			double y1 = tb_ticks_share(&grid->y, to->y.mean);
			size_t first = curve_text_place(x0, grid->n_columns),
			       last = curve_text_place(x1, grid->n_columns);
			for (size_t column = first + 1; column < last; column++) {
				double share =
					(double)(column - first) / (double)(last - first);
				curve_text_put(grid, column,
					ROWS - 1 -
						curve_text_place(
							y0 + (y1 - y0) * share, ROWS),
					i, BETWEEN);
			}
		}
}

static void draw_curve_text_ticks(const struct grid *grid)
{
	const struct tb_curves *curves = grid->figure->curves;
	char text[24];
	for (size_t i = 0; i < grid->y.n; i++) {
		double row =
			(double)(ROWS - 1 -
				 curve_text_place(
					 tb_ticks_share(&grid->y, grid->y.at[i]), ROWS));
		tb_picture_text(grid->picture,
			(struct tb_box){0, HEAD + row, GUTTER - 2, 1},
			curve_text_type(grid, TB_ALIGN_RIGHT),
			tb_tick_text(grid->y.at[i], curves->y.sizes, text, sizeof text));
	}
	for (size_t i = 0; i < grid->n_columns; i++)
		tb_picture_text(grid->picture,
			(struct tb_box){(double)(GUTTER + i), HEAD + ROWS, 1, 1},
			curve_text_type(grid, TB_ALIGN_LEFT), "-");
	for (size_t i = 0; i < grid->x.n; i++) {
		double column = (double)curve_text_place(
			tb_ticks_share(&grid->x, grid->x.at[i]), grid->n_columns);
		tb_picture_text(grid->picture,
			(struct tb_box){GUTTER + column - 5, HEAD + ROWS + 1, 11, 1},
			curve_text_type(grid, TB_ALIGN_CENTRE),
			tb_tick_text(grid->x.at[i], curves->x.sizes, text, sizeof text));
	}
}

static void draw_words(const struct grid *grid, double width)
{
	const struct tb_curves *curves = grid->figure->curves;
	tb_picture_text(grid->picture, (struct tb_box){0, 0, width, 1},
		curve_text_type(grid, TB_ALIGN_LEFT), curves->title);
	if (tb_n_unsteady(curves->by))
		tb_picture_printf(grid->picture, (struct tb_box){0, 1, width, 1},
			curve_text_type(grid, TB_ALIGN_LEFT),
			"%zu of %zu points have no steady state: queues grow in %zu",
			tb_n_unsteady(curves->by), curves->n_used,
			curves->by[TB_STEADY_GROWS]);
	char name[128];
	tb_picture_text(grid->picture, (struct tb_box){0, 2, width, 1},
		curve_text_type(grid, TB_ALIGN_LEFT),
		curves_axis_text(&curves->y, name, sizeof name));
	tb_picture_text(grid->picture, (struct tb_box){0, HEAD + ROWS + 2, width, 1},
		curve_text_type(grid, TB_ALIGN_CENTRE),
		curves_axis_text(&curves->x, name, sizeof name));
	for (size_t i = 0; i < curves->n_curves && curves->curves[i].label[0]; i++) {
		struct tb_type type = curve_text_type(grid, TB_ALIGN_LEFT);
		type.colour = colour_of_curve(grid->figure, i, 40);
		size_t n = curve_text_hidden(grid, i);
		char hidden[64] = "";
		if (n)
			snprintf(hidden, sizeof hidden,
				" (%zu of %zu points under others)", n,
				curves->curves[i].n_points);
		tb_picture_printf(grid->picture,
			(struct tb_box){2, (double)(HEAD + ROWS + 4 + i), width - 2, 1},
			type, "%c  %s%s", letter(i), curves->curves[i].label, hidden);
	}
}

int tb_curves_picture_text(struct tb_picture *picture,
	const struct tb_curves_figure *figure, uint32_t columns)
{
	const struct tb_curves *curves = figure->curves;
	size_t n = columns - GUTTER - 5; // 5: half of the last tick's text
	struct grid grid = {.picture = picture,
		.figure = figure,
		.palette = tb_palette_of(figure->theme),
		.x = curves_ticks(&curves->x, n / TICK_EVERY + 1),
		.y = curves_ticks(&curves->y, 6),
		.n_columns = n,
		.cells = malloc(ROWS * n),
		.owners = calloc(ROWS * n, sizeof *grid.owners)};
	if (!grid.cells || !grid.owners) {
		free(grid.cells);
		free(grid.owners);
		return TB_ENOMEM;
	}
	memset(grid.cells, ' ', ROWS * n);
	bool labels = curves->n_curves > 1 || curves->curves[0].label[0];
	struct caution_lines cautions = curves_cautions(curves, columns);
	double below = (double)(HEAD + ROWS + 3 + (labels ? 1 + curves->n_curves : 0));
	tb_picture_clear(picture, columns,
		below + (double)(cautions.n ? 1 + cautions.n : 0), grid.palette->page);
	curve_text_fill(&grid);
	for (size_t row = 0; row < ROWS; row++) {
		tb_picture_text(grid.picture,
			(struct tb_box){GUTTER - 1, (double)(HEAD + row), 1, 1},
			curve_text_type(&grid, TB_ALIGN_LEFT), "|");
		for (size_t column = 0; column < grid.n_columns; column++) {
			size_t at = row * grid.n_columns + column;
			const char text[] = {grid.cells[at], '\0'};
			struct tb_type type = curve_text_type(&grid, TB_ALIGN_LEFT);
			type.colour = colour_of_curve(figure, grid.owners[at], 40);
			if (grid.cells[at] != ' ')
				tb_picture_text(grid.picture,
					(struct tb_box){(double)(GUTTER + column),
						(double)(HEAD + row), 1, 1},
					type, text);
		}
	}
	draw_curve_text_ticks(&grid);
	draw_words(&grid, columns);
	struct tb_type plain = curve_text_type(&grid, TB_ALIGN_LEFT);
	draw_cautions(
		picture, &cautions, (struct tb_box){0, below + 1, columns, 1}, &plain);
	free(grid.cells);
	free(grid.owners);
	return picture->status;
}

#define WIDTH		760
#define HEIGHT		480
#define MARGIN		24
#define PLOT_X		72
#define PLOT_Y		98
#define PLOT_BELOW	62 // under the plot: ticks and the axis's name
#define LEGEND_GAP	22
#define LEGEND_MOST	240
#define LEGEND_LINE	20
#define SWATCH		30
#define MARK		7 // a marker's size
#define DASH		6.0
#define CAUTION_COLUMNS 110
#define CAUTION_LINE	16
#define TICKS_X		9
#define TICKS_Y		7
#define FAINTEST	55 // shade of the last curve, in percent
#define TEXT_SIZE	11.5

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
	return colour_of_curve(plot->figure, curve, FAINTEST);
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
	case 1: // around a full one of the same place
		tb_picture_frame(plot->picture,
			(struct tb_box){box.x - 2, box.y - 2, MARK + 4, MARK + 4}, 1.6,
			colour);
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

static void frame_point(const struct plot *plot, double x, double y)
{
	tb_picture_frame(plot->picture,
		(struct tb_box){x - MARK, y - MARK, 2 * MARK, 2 * MARK}, 1,
		plot->palette->text);
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

// curve_segment draws a line of a curve, of each second one in dashes.
static void curve_segment(
	const struct plot *plot, size_t curve, double x, double y, double w, double h)
{
	const double length = hypot(w, h), period = curve % 2 ? 2 * DASH : length;
	for (double at = 0; at < length; at += period) {
		double part = fmin(curve % 2 ? DASH : length, length - at) / length;
		curve_line(plot, x + w * at / length, y + h * at / length, w * part,
			h * part, 1.8, curve_colour(plot, curve));
	}
}

static void draw_curve(const struct plot *plot, size_t i)
{
	const struct tb_curve *curve = &plot->figure->curves->curves[i];
	for (size_t k = 1; k < curve->n_points; k++) {
		double x = curve_x(plot, curve->points[k - 1].x);
		double y = curve_y(plot, curve->points[k - 1].y.mean);
		curve_segment(plot, i, x, y, curve_x(plot, curve->points[k].x) - x,
			curve_y(plot, curve->points[k].y.mean) - y);
	}
	for (size_t k = 0; k < curve->n_points; k++) {
		interval(plot, i, &curve->points[k]);
		if (tb_n_unsteady(curve->points[k].by))
			frame_point(plot, curve_x(plot, curve->points[k].x),
				curve_y(plot, curve->points[k].y.mean));
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
		curves_axis_text(axis, name, sizeof name));
}

#define DIAGONAL "accepted = offered"

static bool has_diagonal(const struct tb_curves *curves)
{
	return strcmp(curves->x.name, "offered") == 0 &&
	       strcmp(curves->y.name, "accepted") == 0;
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
		curve_segment(plot, i, x, at.y, SWATCH - 6, 0);
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
	char text[200], runs[48];
	if (fewest == most)
		snprintf(runs, sizeof runs, "%zu run%s", most, most == 1 ? "" : "s");
	else
		snprintf(runs, sizeof runs, "%zu to %zu runs", fewest, most);
	int used = most > 1 ? snprintf(text, sizeof text,
				      "Means of %s with their 95 %% interval", runs)
			    : snprintf(text, sizeof text, "One run per point");
	if (tb_n_unsteady(curves->by) > 0 && used > 0)
		used += snprintf(text + used, sizeof text - (size_t)used,
			"; framed: %zu without a steady state, in %zu queues grow",
			tb_n_unsteady(curves->by), curves->by[TB_STEADY_GROWS]);
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
	double widest = has_diagonal(curves)
				? tb_text_width(TB_FONT_TEXT, TEXT_SIZE, DIAGONAL)
				: 0;
	for (size_t i = 0; i < curves->n_curves; i++)
		widest = fmax(widest,
			tb_text_width(TB_FONT_TEXT, TEXT_SIZE, curves->curves[i].label));
	double legend = widest > 0 ? fmin(widest + SWATCH + 8, LEGEND_MOST) : 0;
	size_t n_lines = curves->n_curves + has_diagonal(curves);
	double needed = LEGEND_LINE * (double)n_lines + PLOT_Y + 24;
	struct plot plot = {.picture = picture,
		.figure = figure,
		.palette = tb_palette_of(figure->theme),
		.x = curves_ticks(&curves->x, TICKS_X),
		.y = curves_ticks(&curves->y, TICKS_Y)};
	double right = WIDTH - MARGIN - (legend > 0 ? legend + LEGEND_GAP : 8);
	plot.box = (struct tb_box){
		PLOT_X, PLOT_Y, right - PLOT_X, HEIGHT - PLOT_Y - PLOT_BELOW};
	struct caution_lines cautions = curves_cautions(curves, CAUTION_COLUMNS);
	const double height = fmax(HEIGHT, needed);
	tb_picture_clear(picture, WIDTH, height + CAUTION_LINE * (double)cautions.n,
		plot.palette->page);
	struct tb_type muted = curve_type(&plot, TB_ALIGN_LEFT, true);
	draw_cautions(picture, &cautions,
		(struct tb_box){MARGIN, height - 8, WIDTH - 2 * MARGIN, CAUTION_LINE},
		&muted);
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
		curves_axis_text(axis, name, sizeof name));
	draw_y_axis(&plot);
	if (has_diagonal(curves)) {
		// Draw the line on which accepted equals offered.
		double from = fmax(plot.x.begin, plot.y.begin);
		double to = fmin(plot.x.end, plot.y.end);
		double x = curve_x(&plot, from), y = curve_y(&plot, from);
		curve_line(&plot, x, y, curve_x(&plot, to) - x, curve_y(&plot, to) - y, 1,
			plot.palette->muted);
	}
	// What is dashed, and has a hollow mark, lies on what is not.
	for (size_t dashed = 0; dashed < 2; dashed++)
		for (size_t i = curves->n_curves; i-- > 0;)
			if (i % 2 == dashed)
				draw_curve(&plot, i);
	tb_picture_frame(picture, plot.box, 1, plot.palette->muted);
	draw_curve_legend(&plot, right + LEGEND_GAP, legend);
	return picture->status;
}
