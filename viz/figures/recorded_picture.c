#include "recorded_picture.h"

#include "backends.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define WIDTH	  560
#define LEFT	  96 // of the plot: room for the names of ticks
#define ABOVE	  44
#define BELOW	  54
#define RIGHT	  24
#define MARK	  7
#define TEXT_SIZE 11.5
#define DECADES	  18 // of an axis, at most

struct recorded_scatter {
	struct tb_picture *picture;
	const struct tb_palette *palette;
	enum tb_theme theme;
	struct tb_box box;
	double least, most; // decades of ps at the ends of both axes
};

static bool is_point(int64_t recorded_ps, int64_t simulated_ps)
{
	return recorded_ps > 0 && simulated_ps > 0;
}

// recorded_widen takes the decades of a point into the axes.
static void recorded_widen(
	struct recorded_scatter *scatter, int64_t recorded_ps, int64_t simulated_ps)
{
	if (!is_point(recorded_ps, simulated_ps))
		return;
	double low =
		log10((double)(recorded_ps < simulated_ps ? recorded_ps : simulated_ps));
	double high =
		log10((double)(recorded_ps < simulated_ps ? simulated_ps : recorded_ps));
	scatter->least = fmin(scatter->least, floor(low));
	scatter->most = fmax(scatter->most, floor(high) + 1);
}

static double recorded_x(const struct recorded_scatter *scatter, double decade)
{
	return scatter->box.x + scatter->box.w * (decade - scatter->least) /
					(scatter->most - scatter->least);
}

static double recorded_y(const struct recorded_scatter *scatter, double decade)
{
	return scatter->box.y + scatter->box.h -
	       (recorded_x(scatter, decade) - scatter->box.x);
}

static struct tb_type recorded_type(
	const struct recorded_scatter *scatter, enum tb_align align)
{
	return (struct tb_type){TB_FONT_TEXT, TEXT_SIZE, align, scatter->palette->muted};
}

static void draw_recorded_axes(const struct recorded_scatter *scatter)
{
	struct tb_picture *picture = scatter->picture;
	const struct tb_box box = scatter->box;
	tb_picture_rect(picture, box, scatter->palette->panel);
	for (double at = scatter->least; at <= scatter->most; at++) {
		char text[32];
		double x = recorded_x(scatter, at), y = recorded_y(scatter, at);
		tb_format_time((tb_time_ps)pow(10, at), text, sizeof text);
		tb_picture_line(picture, (struct tb_box){x, box.y, 0, box.h}, 1,
			scatter->palette->line);
		tb_picture_line(picture, (struct tb_box){box.x, y, box.w, 0}, 1,
			scatter->palette->line);
		tb_picture_text(picture,
			(struct tb_box){x - 40, box.y + box.h + 4, 80, 16},
			recorded_type(scatter, TB_ALIGN_CENTRE), text);
		tb_picture_text(picture,
			(struct tb_box){box.x - LEFT, y - 8, LEFT - 8, 16},
			recorded_type(scatter, TB_ALIGN_RIGHT), text);
	}
	tb_picture_line(picture, (struct tb_box){box.x, box.y + box.h, box.w, -box.h},
		1.4, scatter->palette->accent);
	tb_picture_text(picture, (struct tb_box){box.x, box.y + box.h + 26, box.w, 18},
		recorded_type(scatter, TB_ALIGN_CENTRE), "Recorded");
	tb_picture_text(picture,
		(struct tb_box){box.x - LEFT + 8, box.y - 32, box.w + LEFT - 8, 18},
		recorded_type(scatter, TB_ALIGN_LEFT),
		"Simulated: full squares are medians of kinds of calls, hollow ones "
		"ranks' time in calls");
}

static void draw_point(const struct recorded_scatter *scatter, uint32_t job, bool hollow,
	int64_t recorded_ps, int64_t simulated_ps, const char *name)
{
	char tip[200], time[2][32];
	if (!is_point(recorded_ps, simulated_ps))
		return;
	double x = recorded_x(scatter, log10((double)recorded_ps));
	double y = recorded_y(scatter, log10((double)simulated_ps));
	const struct tb_box box = {x - MARK / 2.0, y - MARK / 2.0, MARK, MARK};
	struct tb_colour colour = tb_job_colour(scatter->theme, job);
	if (hollow)
		tb_picture_frame(scatter->picture, box, 1.4, colour);
	else
		tb_picture_rect(scatter->picture, box, colour);
	snprintf(tip, sizeof tip, "%s: recorded %s, simulated %s", name,
		tb_format_time(recorded_ps, time[0], sizeof time[0]),
		tb_format_time(simulated_ps, time[1], sizeof time[1]));
	tb_picture_tip(scatter->picture, tip);
	if (!hollow)
		tb_picture_text(scatter->picture,
			(struct tb_box){x + MARK, y - 8, 120, 16},
			recorded_type(scatter, TB_ALIGN_LEFT), name);
}

double tb_recorded_scatter(struct tb_picture *picture, const struct tb_recorded *recorded,
	enum tb_theme theme, struct tb_box place)
{
	double side = place.w - LEFT - RIGHT;
	struct recorded_scatter scatter = {.picture = picture,
		.palette = tb_palette_of(theme),
		.theme = theme,
		.box = {place.x + LEFT, place.y + ABOVE, side, side},
		.least = DECADES,
		.most = 0};
	for (size_t i = 0; i < recorded->kinds.n; i++)
		recorded_widen(&scatter, recorded->kinds.rows[i].recorded_at_ps,
			recorded->kinds.rows[i].simulated_at_ps);
	for (size_t i = 0; i < recorded->ranks.n; i++)
		recorded_widen(&scatter, recorded->ranks.rows[i].recorded_ps,
			recorded->ranks.rows[i].simulated_ps);
	if (scatter.most <= scatter.least || side <= 0)
		return 0;
	draw_recorded_axes(&scatter);
	char name[32];
	for (size_t i = 0; i < recorded->ranks.n; i++) {
		const struct tb_recorded_row *row = &recorded->ranks.rows[i];
		snprintf(name, sizeof name, "rank %" PRIu32, row->rank);
		draw_point(&scatter, row->job, true, row->recorded_ps, row->simulated_ps,
			name);
	}
	for (size_t i = 0; i < recorded->kinds.n; i++) {
		const struct tb_recorded_row *row = &recorded->kinds.rows[i];
		draw_point(&scatter, row->job, false, row->recorded_at_ps,
			row->simulated_at_ps, row->name);
	}
	return ABOVE + side + BELOW;
}

int tb_recorded_picture_svg(const struct tb_recorded *recorded, enum tb_theme theme,
	char **svg, struct tb_error *error)
{
	struct tb_picture picture = {0};
	char *text = NULL;
	size_t size = 0;
	tb_picture_clear(&picture, WIDTH, WIDTH - LEFT - RIGHT + ABOVE + BELOW,
		tb_palette_of(theme)->page);
	double height = tb_recorded_scatter(
		&picture, recorded, theme, (struct tb_box){0, 0, WIDTH, 0});
	int status = picture.status;
	if (status == TB_OK && height > 0) {
		FILE *stream = open_memstream(&text, &size);
		if (stream)
			tb_picture_svg(&picture, 0, stream);
		if (!stream || fclose(stream) != 0)
			status = TB_ENOMEM;
	}
	tb_picture_fini(&picture);
	if (status == TB_OK) {
		*svg = text;
		return TB_OK;
	}
	free(text);
	return tb_fail_memory(error, "the picture of recorded times");
}
