#include "time_strip.h"

#include "run_text.h"
#include "ticks.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#define BARS_H	      38
#define MOST_H	      11     // of a level
#define MOST_BINS     131072 // whose levels are shown
#define COLUMN	      3	     // pixels
#define LEAST_NAMED_H 7	     // of a lane with a name

static void strip_forget(struct tb_time_strip *strip)
{
	free(strip->by_bin);
	free(strip->by_level);
	tb_job_series_fini(&strip->jobs);
	strip->n_jobs = 0;
	for (int lane = 0; lane < TB_RECORDED_LANES; lane++) {
		free(strip->recorded[lane]);
		strip->recorded[lane] = NULL;
	}
	strip->n_recorded = 0;
	strip->by_bin = strip->by_level = NULL;
}

// read_strip_jobs reads the waits of jobs where there are several; without them there is
// no lane.
static void read_strip_jobs(struct tb_time_strip *strip, struct tb_run *run)
{
	uint32_t n = tb_run_info(run)->n_jobs;
	if (n < 2 || !strip->by_level ||
		tb_job_series_init(&strip->jobs, run, NULL) != TB_OK)
		return;
	if (strip->jobs.slice_ps > 0 && strip->bin_ps > 0)
		strip->n_jobs = n < TB_STRIP_MOST_JOBS ? n : TB_STRIP_MOST_JOBS;
}

// read_recorded reads what captures recorded; without it there is no lane.
static void read_recorded(struct tb_time_strip *strip, struct tb_run *run)
{
	struct tb_recorded_captures captures;
	if (strip->n_bins == 0 || strip->bin_ps <= 0 ||
		tb_recorded_captures_init(&captures, run, NULL) != TB_OK)
		return;
	for (size_t i = 0; i < captures.n; i++) {
		const struct tb_congestion *from = captures.rows[i].congestion;
		for (size_t k = 0; k < from->n_bins; k++) {
			// Add what a bin of a capture has to those of the run in which it
			// was. Its time is that of the capture, times the scale of the
			// replay.
			const struct tb_run_info *info = tb_run_info(run);
			const struct tb_congestion_bin *bin = &from->bins[k];
			double scale = info->time_scale > 0 ? info->time_scale : 1;
			double begin =
				(double)bin->from_ps * scale / (double)strip->bin_ps;
			double middle = begin + 0.5 * (double)from->bin_ps * scale /
							(double)strip->bin_ps;
			if (begin >= (double)strip->n_bins)
				continue;
			double at = fmin(middle,
				(double)strip->n_bins - 1); // a short run has coarse ones
			for (int lane = 0; lane < TB_RECORDED_LANES; lane++) {
				uint64_t n = tb_recorded_lane_of(
					&bin->counts, (enum tb_recorded_lane)lane);
				if (n == 0)
					continue;
				if (!strip->recorded[lane]) {
					strip->recorded[lane] = calloc(strip->n_bins,
						sizeof *strip->recorded[lane]);
					strip->n_recorded +=
						strip->recorded[lane] != NULL;
				}
				if (strip->recorded[lane])
					strip->recorded[lane][(uint64_t)at] += n;
			}
		}
	}
	tb_recorded_captures_fini(&captures);
}

static int read_time_strip(
	struct tb_question *question, struct tb_run *run, struct tb_error *error)
{
	struct tb_time_strip *strip = (struct tb_time_strip *)question;
	strip_forget(strip);
	strip->n_bins = tb_run_info(run)->n_bins;
	strip->n_levels = tb_run_info(run)->n_levels;
	strip->bin_ps = tb_run_info(run)->bin_ps;
	uint64_t n = strip->n_bins * strip->n_levels;
	if (n != 0 && strip->n_bins <= MOST_BINS) {
		uint64_t *waits = calloc(n, sizeof *waits);
		uint64_t largest = 0;
		if (waits && tb_run_wait_by_level(run, waits, NULL) == TB_OK)
			for (uint64_t i = 0; i < n; i++)
				largest = waits[i] > largest ? waits[i] : largest;
		if (largest > 0)
			strip->by_level = waits;
		else
			free(waits);
	}
	read_strip_jobs(strip, run);
	read_recorded(strip, run);
	strip->by_bin = calloc(strip->n_bins ? strip->n_bins : 1, sizeof *strip->by_bin);
	if (!strip->by_bin)
		return tb_fail_memory(error, "the time strip");
	int status = tb_run_wait_by_bin(run, strip->by_bin, error);
	if (status != TB_OK)
		strip_forget(strip);
	return status;
}

int tb_time_strip_read(
	struct tb_time_strip *strip, struct tb_viewer *viewer, struct tb_error *error)
{
	if (strip->question.state == TB_UNASKED)
		strip->question = (struct tb_question){
			.what = "reading the time strip", .read = read_time_strip};
	int status = tb_viewer_put(viewer, &strip->question, error);
	return status < 0 ? status : TB_OK;
}

void tb_time_strip_fini(struct tb_time_strip *strip)
{
	tb_question_drop(&strip->question);
	strip_forget(strip);
}

// bin_wait returns the mean wait per bin over [from, to), which may lie within one bin.
static double bin_wait(const struct tb_time_strip *strip, double from, double to)
{
	uint64_t first = (uint64_t)from;
	uint64_t end = (uint64_t)ceil(to);
	double sum = 0;
	if (end > strip->n_bins)
		end = strip->n_bins;
	if (first >= end)
		return 0;
	for (uint64_t bin = first; bin < end; bin++)
		sum += (double)strip->by_bin[bin];
	return sum / (double)(end - first);
}

static double level_wait(
	const struct tb_time_strip *strip, uint32_t level, double from, double to)
{
	uint64_t end = (uint64_t)ceil(to), n = 0;
	double sum = 0;
	for (uint64_t bin = (uint64_t)from; bin < end && bin < strip->n_bins; bin++, n++)
		sum += (double)strip->by_level[bin * strip->n_levels + level];
	return n ? sum / (double)n : 0;
}

// job_wait returns the mean wait per bin of a job over [from, to), whose slices of time
// are others than bins.
static double job_wait(const struct tb_time_strip *strip, uint32_t n_jobs, uint32_t job,
	double from, double to)
{
	double slice = (double)strip->jobs.slice_ps / (double)strip->bin_ps, sum = 0;
	uint32_t first = (uint32_t)fmin(from / slice, strip->jobs.n_slices);
	for (uint32_t i = first; i < strip->jobs.n_slices && i * slice < to; i++) {
		double begin = fmax(from, i * slice), end = fmin(to, (i + 1) * slice);
		sum += (double)strip->jobs.wait_ps[(size_t)i * n_jobs + job] *
		       fmax(end - begin, 0) / slice;
	}
	return to > from ? sum / (to - from) : 0;
}

static int n_columns(const struct tb_time_strip *strip, struct tb_box box)
{
	return (int)fmin(ceil(box.w / COLUMN), (double)strip->n_bins);
}

// strip_x returns where a bin begins in the box.
static double strip_x(const struct tb_time_strip *strip, struct tb_box box, double bin)
{
	return box.x + box.w * bin / fmax((double)strip->n_bins, 1);
}

// strip_column returns the bins that a column stands for.
static void strip_column(
	const struct tb_time_strip *strip, int columns, int i, double *from, double *to)
{
	double bins = (double)strip->n_bins;
	*from = bins * i / columns;
	*to = bins * (i + 1) / columns;
}

static double largest_lane(const struct tb_time_strip *strip, int columns)
{
	double largest = 0, from, to;
	for (int i = 0; strip->by_level && i < columns; i++)
		for (uint32_t level = 0; level < strip->n_levels; level++) {
			strip_column(strip, columns, i, &from, &to);
			largest = fmax(largest, level_wait(strip, level, from, to));
		}
	return largest;
}

static double largest_bar(const struct tb_time_strip *strip, int columns)
{
	double largest = 0, from, to;
	for (int i = 0; i < columns; i++) {
		strip_column(strip, columns, i, &from, &to);
		largest = fmax(largest, bin_wait(strip, from, to));
	}
	return largest;
}

// strip_name_lane writes the name of a lane left of it, where there is room.
static void strip_name_lane(const struct tb_style *style, struct tb_picture *picture,
	struct tb_box lane, const char *name)
{
	struct tb_type type = tb_style_type(style, TB_FONT_TEXT, 10, true);
	if (lane.h < LEAST_NAMED_H)
		return;
	tb_picture_text(picture, (struct tb_box){16, lane.y - 2, lane.x - 20, lane.h + 4},
		type, name);
}

// draw_strip_levels shades the waits of each level over time, the top level first.
static void draw_strip_levels(const struct tb_time_strip *strip,
	const struct tb_style *style, struct tb_picture *picture, struct tb_box box)
{
	uint32_t n_levels = strip->n_levels;
	int columns = n_columns(strip, box);
	double h = fmin(box.h / n_levels, MOST_H), from, to;
	const struct tb_scale scale = tb_scale_of(TB_QUANTITY_TIME,
		largest_lane(strip, columns), false, style->logarithmic);
	for (uint32_t level = 0; level < n_levels; level++) {
		struct tb_box lane = {
			box.x, box.y + (n_levels - 1 - level) * h, box.w, fmax(h - 1, 1)};
		char name[24];
		snprintf(name, sizeof name, "level %" PRIu32, level);
		strip_name_lane(style, picture, lane, name);
		for (int i = 0; i < columns; i++) {
			strip_column(strip, columns, i, &from, &to);
			double left = strip_x(strip, box, from),
			       right = strip_x(strip, box, to);
			double wait = level_wait(strip, level, from, to);
			if (wait > 0)
				tb_picture_rect(picture,
					(struct tb_box){
						left, lane.y, right - left, lane.h},
					tb_style_shade(
						style, tb_scale_percent(&scale, wait)));
		}
	}
}

// draw_strip_jobs shades the waits of each job over time, and names the jobs in their
// colours.
static void draw_strip_jobs(const struct tb_time_strip *strip, const struct tb_pane *pane,
	struct tb_picture *picture, struct tb_box box)
{
	uint32_t n_all = pane->data->info->n_jobs;
	int columns = n_columns(strip, box);
	double h = fmin(box.h / strip->n_jobs, MOST_H), from, to;
	const struct tb_scale scale = tb_scale_of(TB_QUANTITY_TIME,
		largest_lane(strip, columns), false, pane->style->logarithmic);
	for (uint32_t job = 0; job < strip->n_jobs; job++) {
		struct tb_box lane = {box.x, box.y + job * h, box.w, fmax(h - 1, 1)};
		struct tb_box name = {4, lane.y, 8, lane.h};
		tb_picture_rect(picture, name, tb_job_colour(pane->style->theme, job));
		tb_picture_pick(picture, (struct tb_pick){TB_PICK_JOB, job});
		strip_name_lane(pane->style, picture, lane,
			tb_run_job_name(pane->data->run, job));
		for (int i = 0; i < columns; i++) {
			strip_column(strip, columns, i, &from, &to);
			double left = strip_x(strip, box, from),
			       right = strip_x(strip, box, to);
			double wait = job_wait(strip, n_all, job, from, to);
			if (wait > 0)
				tb_picture_rect(picture,
					(struct tb_box){
						left, lane.y, right - left, lane.h},
					tb_style_shade(pane->style,
						fmin(tb_scale_percent(&scale, wait),
							100)));
		}
	}
}

// draw_strip_recorded shades what was recorded over time, each lane by its own largest.
static void draw_strip_recorded(const struct tb_time_strip *strip,
	const struct tb_style *style, struct tb_picture *picture, struct tb_box box)
{
	int columns = n_columns(strip, box);
	double h = fmin(box.h / strip->n_recorded, MOST_H), from, to, y = box.y;
	for (int i = 0; i < TB_RECORDED_LANES; i++) {
		const uint64_t *by_bin = strip->recorded[i];
		struct tb_box lane = {box.x, y, box.w, fmax(h - 1, 1)};
		uint64_t largest = 0;
		if (!by_bin)
			continue;
		y += h;
		strip_name_lane(style, picture, lane, tb_recorded_lane_names[i]);
		for (int pass = 0; pass < 2; pass++)
			for (int column = 0; column < columns; column++) {
				uint64_t sum = 0;
				strip_column(strip, columns, column, &from, &to);
				for (uint64_t bin = (uint64_t)from; bin < (uint64_t)to;
					bin++)
					sum += by_bin[bin];
				if (pass == 0 && sum > largest)
					largest = sum;
				if (pass == 0 || sum == 0)
					continue;
				double left = strip_x(strip, box, from),
				       right = strip_x(strip, box, to);
				// Little must be seen too.
				double percent = 20 + 80 * (double)sum / (double)largest;
				tb_picture_rect(picture,
					(struct tb_box){
						left, lane.y, right - left, lane.h},
					tb_style_shade(style, percent));
			}
	}
}

char *tb_time_strip_scale(
	const struct tb_time_strip *strip, double width, char *buffer, size_t size)
{
	const struct tb_box box = {0, 0, width, 0};
	int columns = n_columns(strip, box);
	char bars[48], lanes[48];
	if (strip->question.state != TB_ANSWERED || !strip->by_bin) {
		buffer[0] = '\0';
		return buffer;
	}
	uint64_t bar = (uint64_t)largest_bar(strip, columns);
	if (bar == 0) {
		snprintf(buffer, size, "nothing waits");
		return buffer;
	}
	tb_metric_format(TB_WAIT, bar, bars, sizeof bars);
	tb_metric_format_as(TB_WAIT, (uint64_t)largest_lane(strip, columns), bar, lanes,
		sizeof lanes);
	snprintf(buffer, size, "wait per bin: bars to %s%s%s", bars,
		strip->by_level ? ", shades to " : "", strip->by_level ? lanes : "");
	return buffer;
}

static void draw_strip_bars(const struct tb_time_strip *strip, const struct tb_pane *pane,
	struct tb_picture *picture, struct tb_box box)
{
	const struct tb_palette *palette = tb_palette_of(pane->style->theme);
	double bins = (double)strip->n_bins;
	int columns = n_columns(strip, box);
	double largest = largest_bar(strip, columns);
	strip_name_lane(pane->style, picture,
		(struct tb_box){box.x, box.y + 2, box.w, 12}, "all links");
	double rule = box.w / fmax(columns, 1) >= 4 ? 1 : 0;
	for (int i = 0; largest > 0 && i < columns; i++) {
		double from = bins * i / columns, to = bins * (i + 1) / columns;
		double h = (box.h - 4) * bin_wait(strip, from, to) / largest;
		if (h <= 0)
			continue;
		double left = strip_x(strip, box, from), right = strip_x(strip, box, to);
		const struct tb_viewer_data *data = pane->data;
		double bin = from + 0.5 * bins / columns;
		struct tb_window window = data->asked;
		bool shown =
			tb_window_whole(data->info, window) ||
			(bin >= (double)window.first_bin && bin < (double)window.end_bin);
		tb_picture_rect(picture,
			(struct tb_box){left, box.y + box.h - fmax(h, 1),
				fmax(right - left - rule, 0.5), fmax(h, 1)},
			shown ? palette->muted : palette->line);
	}
}

void tb_time_strip_draw(const struct tb_time_strip *strip, const struct tb_pane *pane,
	struct tb_picture *picture, struct tb_box box)
{
	struct tb_box bars = box, levels = box;
	if (strip->question.state != TB_ANSWERED)
		return;
	double lanes = strip->by_level ? strip->n_levels + strip->n_jobs : 0;
	if (lanes > 0 || strip->n_recorded > 0) {
		bars.h = BARS_H;
		levels.y += BARS_H + 2;
		levels.h -= BARS_H + 2;
	}
	if (strip->n_recorded > 0) {
		struct tb_box recorded = levels;
		recorded.h =
			fmin(levels.h * strip->n_recorded / (lanes + strip->n_recorded),
				strip->n_recorded * (double)MOST_H);
		levels.h -= recorded.h;
		recorded.y += levels.h;
		draw_strip_recorded(strip, pane->style, picture, recorded);
	}
	if (strip->by_level) {
		struct tb_box jobs = levels;
		levels.h = fmin(levels.h * strip->n_levels / lanes,
			strip->n_levels * (double)MOST_H);
		jobs.y += levels.h;
		jobs.h -= levels.h;
		draw_strip_levels(strip, pane->style, picture, levels);
		if (strip->n_jobs)
			draw_strip_jobs(strip, pane, picture, jobs);
	}
	if (strip->by_bin)
		draw_strip_bars(strip, pane, picture, bars);
}

void tb_time_axis_draw(const struct tb_style *style, struct tb_picture *picture,
	struct tb_box above, double span_ps)
{
	const struct tb_palette *palette = tb_palette_of(style->theme);
	struct tb_type type = tb_style_type(style, TB_FONT_TEXT, 11, true);
	double bottom = above.y + above.h;
	if (span_ps <= 0)
		return;
	double step = tb_tick_time_step(fmax(span_ps * 110 / above.w, 1));
	for (double at = 0; at <= span_ps * 1.0001; at += step) {
		char text[24];
		double x = above.x + above.w * at / span_ps;
		double left = fmin(fmax(x - 50, above.x), above.x + above.w - 100);
		type.align = left > x - 50   ? TB_ALIGN_LEFT
			     : left < x - 50 ? TB_ALIGN_RIGHT
					     : TB_ALIGN_CENTRE;
		tb_picture_line(
			picture, (struct tb_box){x, bottom, 0, 4}, 1, palette->line);
		tb_picture_text(picture, (struct tb_box){left, bottom + 6, 100, 15}, type,
			tb_tick_time(at, step, text, sizeof text));
	}
}

void tb_time_strip_tip(const struct tb_time_strip *strip, const struct tb_run_info *info,
	double share, struct tb_tip *tip)
{
	char text[80];
	if (strip->question.state != TB_ANSWERED || strip->n_bins < 1 || share < 0 ||
		share >= 1)
		return;
	uint64_t bin = (uint64_t)(share * (double)strip->n_bins);
	snprintf(tip->lines[0], sizeof tip->lines[0], "%s",
		tb_window_text(
			info, (struct tb_window){bin, bin + 1}, text, sizeof text));
	snprintf(tip->lines[1], sizeof tip->lines[1], "wait of all links: %s",
		tb_metric_format(TB_WAIT, strip->by_bin[bin], text, sizeof text));
	tip->n_lines = 2;
	for (int lane = 0; lane < TB_RECORDED_LANES && tip->n_lines < TB_TIP_LINES;
		lane++)
		if (strip->recorded[lane] && strip->recorded[lane][bin] > 0)
			snprintf(tip->lines[tip->n_lines++], sizeof tip->lines[0],
				"recorded, %s: %s", tb_recorded_lane_names[lane],
				lane == TB_LANE_WINDOWS
					? tb_format_time(
						  (tb_time_ps)strip->recorded[lane][bin],
						  text, sizeof text)
					: tb_format_count(strip->recorded[lane][bin],
						  text, sizeof text));
	for (uint32_t level = strip->n_levels;
		strip->by_level && level-- > 0 && tip->n_lines < TB_TIP_LINES;)
		snprintf(tip->lines[tip->n_lines++], sizeof tip->lines[0],
			"at level %" PRIu32 ": %s", level,
			tb_metric_format(TB_WAIT,
				strip->by_level[bin * strip->n_levels + level], text,
				sizeof text));
}
