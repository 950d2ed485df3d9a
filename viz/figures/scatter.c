#include "scatter.h"

#include "ticks.h"

#include <math.h>

#define WIDTH	  640
#define HEIGHT	  620
#define MARGIN	  24
#define PLOT_X	  84
#define PLOT_Y	  76
#define PLOT_SIZE 480
#define MARK	  6
#define TICKS	  7
#define NAMED	  5 // links with names
#define TEXT_SIZE 11.5

struct scatter_plot {
	struct tb_picture *picture;
	const struct tb_palette *palette;
	struct tb_ticks axis; // of both directions
};

static struct tb_type scatter_type(
	const struct scatter_plot *scatter, enum tb_align align)
{
	return (struct tb_type){TB_FONT_TEXT, TEXT_SIZE, align, scatter->palette->text};
}

static double scatter_x(const struct scatter_plot *scatter, double percent)
{
	return PLOT_X + PLOT_SIZE * tb_ticks_share(&scatter->axis, percent);
}

static double scatter_y(const struct scatter_plot *scatter, double percent)
{
	return PLOT_Y + PLOT_SIZE * (1 - tb_ticks_share(&scatter->axis, percent));
}

int tb_scatter_picture(struct tb_picture *picture, const struct tb_agreement *agreement,
	enum tb_theme theme)
{
	struct scatter_plot scatter = {
		.picture = picture, .palette = tb_palette_of(theme)};
	double most = 0;
	for (uint32_t i = 0; i < agreement->n; i++)
		for (int side = 0; side < 2; side++)
			most = fmax(most, agreement->rows[i].stall[side]);
	scatter.axis = tb_ticks_linear(0, most > 0 ? most : 1, TICKS);
	tb_picture_clear(picture, WIDTH, HEIGHT, scatter.palette->page);
	const struct tb_box plot = {PLOT_X, PLOT_Y, PLOT_SIZE, PLOT_SIZE};
	char text[24];
	tb_picture_rect(scatter.picture, plot, scatter.palette->panel);
	for (size_t i = 0; i < scatter.axis.n; i++) {
		double x = scatter_x(&scatter, scatter.axis.at[i]);
		double y = scatter_y(&scatter, scatter.axis.at[i]);
		tb_tick_text(scatter.axis.at[i], false, text, sizeof text);
		tb_picture_line(scatter.picture, (struct tb_box){x, PLOT_Y, 0, PLOT_SIZE},
			1, scatter.palette->line);
		tb_picture_line(scatter.picture, (struct tb_box){PLOT_X, y, PLOT_SIZE, 0},
			1, scatter.palette->line);
		tb_picture_text(scatter.picture,
			(struct tb_box){x - 30, PLOT_Y + PLOT_SIZE + 4, 60, 18},
			scatter_type(&scatter, TB_ALIGN_CENTRE), text);
		tb_picture_text(scatter.picture,
			(struct tb_box){MARGIN, y - 9, PLOT_X - MARGIN - 6, 18},
			scatter_type(&scatter, TB_ALIGN_RIGHT), text);
	}
	tb_picture_line(scatter.picture,
		(struct tb_box){PLOT_X, PLOT_Y + PLOT_SIZE, PLOT_SIZE, -PLOT_SIZE}, 1,
		scatter.palette->muted);
	struct tb_type type = scatter_type(&scatter, TB_ALIGN_LEFT);
	tb_picture_printf(scatter.picture,
		(struct tb_box){MARGIN, MARGIN - 8, WIDTH - 2 * MARGIN, 20},
		(struct tb_type){TB_FONT_BOLD, 14, TB_ALIGN_LEFT, scatter.palette->text},
		"Stall, measured and simulated: %.120s and %.120s",
		agreement->sides[0].of.store, agreement->sides[1].of.store);
	if (isfinite(agreement->stall))
		tb_picture_printf(scatter.picture,
			(struct tb_box){MARGIN, MARGIN + 14, WIDTH - 2 * MARGIN, 18},
			type, "%u links; rank correlation %.3f",
			(unsigned)agreement->n_stall, agreement->stall);
	tb_picture_text(scatter.picture, (struct tb_box){MARGIN, PLOT_Y - 22, 400, 18},
		type, "Simulated, percent of the stall of all links");
	tb_picture_text(scatter.picture,
		(struct tb_box){PLOT_X, PLOT_Y + PLOT_SIZE + 26, PLOT_SIZE, 18},
		scatter_type(&scatter, TB_ALIGN_CENTRE),
		"Measured, percent of the stall of all links");
	for (uint32_t i = agreement->n; i-- > 0;) // those with names on top
		if (agreement->rows[i].has_stall) {
			// Draw a mark, and a name on the side that has room for it, one
			// to the left above the other: marks along an axis are close.
			bool named =
				i < NAMED && fabs(agreement->rows[i].differs) >= 0.05;
			const struct tb_agreement_row *row = &agreement->rows[i];
			const char *name =
				tb_run_links(agreement->sides[0].of.run)[row->link.id]
					.name;
			double x = scatter_x(&scatter, row->stall[0]),
			       y = scatter_y(&scatter, row->stall[1]);
			bool left = x > PLOT_X + PLOT_SIZE / 2.0;
			tb_picture_rect(scatter.picture,
				(struct tb_box){
					x - MARK / 2.0, y - MARK / 2.0, MARK, MARK},
				named ? scatter.palette->second
				      : scatter.palette->accent);
			tb_picture_tip(scatter.picture, name);
			if (named)
				tb_picture_name(scatter.picture,
					(struct tb_box){left ? x - 230 : x + 8,
						left ? y - 14 - 15 * (i % NAMED) : y - 9,
						222, 18},
					scatter_type(&scatter,
						left ? TB_ALIGN_RIGHT : TB_ALIGN_LEFT),
					name);
		}
	return picture->status;
}
