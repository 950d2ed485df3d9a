// Curves in a terminal: a letter per curve, on a grid of characters.
#include "curves_picture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

static struct tb_colour curve_text_colour(const struct grid *grid, size_t curve)
{
	size_t n = grid->figure->curves->n_curves;
	return tb_shade(grid->figure->colours, grid->figure->theme,
		100 - 60 * (double)curve / (double)(n > 1 ? n - 1 : 1));
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

static void curve_text_fill(struct grid *grid)
{
	const struct tb_curves *curves = grid->figure->curves;
	for (size_t i = curves->n_curves; i-- > 0;) {
		const struct tb_curve *curve = &curves->curves[i];
		for (size_t k = 0; k < curve->n_points; k++)
			curve_text_put(grid,
				curve_text_place(
					tb_ticks_share(&grid->x, curve->points[k].x),
					grid->n_columns),
				ROWS - 1 -
					curve_text_place(tb_ticks_share(&grid->y,
								 curve->points[k].y.mean),
						ROWS),
				i, letter(i));
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
	char name[128];
	tb_picture_text(grid->picture, (struct tb_box){0, 2, width, 1},
		curve_text_type(grid, TB_ALIGN_LEFT),
		tb_curves_axis_text(&curves->y, name, sizeof name));
	tb_picture_text(grid->picture, (struct tb_box){0, HEAD + ROWS + 2, width, 1},
		curve_text_type(grid, TB_ALIGN_CENTRE),
		tb_curves_axis_text(&curves->x, name, sizeof name));
	for (size_t i = 0; i < curves->n_curves && curves->curves[i].label[0]; i++) {
		struct tb_type type = curve_text_type(grid, TB_ALIGN_LEFT);
		type.colour = curve_text_colour(grid, i);
		tb_picture_printf(grid->picture,
			(struct tb_box){2, (double)(HEAD + ROWS + 4 + i), width - 2, 1},
			type, "%c  %s", letter(i), curves->curves[i].label);
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
		.x = tb_curves_ticks(&curves->x, n / TICK_EVERY + 1),
		.y = tb_curves_ticks(&curves->y, 6),
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
	tb_picture_clear(picture, columns,
		(double)(HEAD + ROWS + 3 + (labels ? 1 + curves->n_curves : 0)),
		grid.palette->page);
	curve_text_fill(&grid);
	for (size_t row = 0; row < ROWS; row++) {
		tb_picture_text(grid.picture,
			(struct tb_box){GUTTER - 1, (double)(HEAD + row), 1, 1},
			curve_text_type(&grid, TB_ALIGN_LEFT), "|");
		for (size_t column = 0; column < grid.n_columns; column++) {
			size_t at = row * grid.n_columns + column;
			const char text[] = {grid.cells[at], '\0'};
			struct tb_type type = curve_text_type(&grid, TB_ALIGN_LEFT);
			type.colour = curve_text_colour(&grid, grid.owners[at]);
			if (grid.cells[at] != ' ')
				tb_picture_text(grid.picture,
					(struct tb_box){(double)(GUTTER + column),
						(double)(HEAD + row), 1, 1},
					type, text);
		}
	}
	draw_curve_text_ticks(&grid);
	draw_words(&grid, columns);
	free(grid.cells);
	free(grid.owners);
	return picture->status;
}
