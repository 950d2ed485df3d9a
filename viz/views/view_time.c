// The time strip of the whole run, and on it the window that everything else shows. Drag
// the window or its edges; drag elsewhere for a new one.
#include "job_series.h"
#include "parts.h"
#include "recorded_congestion.h"
#include "scale.h"
#include "ticks.h"
#include "view.h"
#include "views.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TB_STRIP_MOST_JOBS 8 // that have a lane
// A zeroed struct has read nothing yet.
struct time_strip {
	struct tb_question question;
	uint64_t *by_bin;   // wait of all links, in ps; NULL until read
	uint64_t *by_level; // by bin and level; NULL when there is nothing to shade
	struct tb_job_series jobs; // of a run of several jobs
	uint32_t n_jobs;	   // that have a lane
	// By bin what was recorded, of lanes that have anything; NULL: nothing.
	uint64_t *recorded[TB_RECORDED_LANES];
	uint32_t n_recorded; // that are not NULL
	tb_time_ps bin_ps;
	uint64_t n_bins;
	uint32_t n_levels;
};

#define BARS_H	      38
#define MOST_H	      11     // of a level
#define MOST_BINS     131072 // whose levels are shown
#define COLUMN	      3	     // pixels
#define LEAST_NAMED_H 7	     // of a lane with a name

static void strip_forget(struct time_strip *strip)
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
static void read_strip_jobs(struct time_strip *strip, struct tb_run *run)
{
	uint32_t n = tb_run_info(run)->n_jobs;
	if (n < 2 || !strip->by_level ||
		tb_job_series_init(&strip->jobs, run, NULL) != TB_OK)
		return;
	if (strip->jobs.slice_ps > 0 && strip->bin_ps > 0)
		strip->n_jobs = n < TB_STRIP_MOST_JOBS ? n : TB_STRIP_MOST_JOBS;
}

// read_recorded reads what captures recorded; without it there is no lane.
static void read_recorded(struct time_strip *strip, struct tb_run *run)
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
	struct time_strip *strip = (struct time_strip *)question;
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

static void time_strip_fini(struct time_strip *strip)
{
	tb_question_drop(&strip->question);
	strip_forget(strip);
}

// bin_wait returns the mean wait per bin over [from, to), which may lie within one bin.
static double bin_wait(const struct time_strip *strip, double from, double to)
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
	const struct time_strip *strip, uint32_t level, double from, double to)
{
	uint64_t end = (uint64_t)ceil(to), n = 0;
	double sum = 0;
	for (uint64_t bin = (uint64_t)from; bin < end && bin < strip->n_bins; bin++, n++)
		sum += (double)strip->by_level[bin * strip->n_levels + level];
	return n ? sum / (double)n : 0;
}

static int n_columns(const struct time_strip *strip, struct tb_box box)
{
	return (int)fmin(ceil(box.w / COLUMN), (double)strip->n_bins);
}

// strip_x returns where a bin begins in the box.
static double strip_x(const struct time_strip *strip, struct tb_box box, double bin)
{
	return box.x + box.w * bin / fmax((double)strip->n_bins, 1);
}

// strip_column returns the bins that a column stands for.
static void strip_column(
	const struct time_strip *strip, int columns, int i, double *from, double *to)
{
	double bins = (double)strip->n_bins;
	*from = bins * i / columns;
	*to = bins * (i + 1) / columns;
}

static double largest_lane(const struct time_strip *strip, int columns)
{
	double largest = 0, from, to;
	for (int i = 0; strip->by_level && i < columns; i++)
		for (uint32_t level = 0; level < strip->n_levels; level++) {
			strip_column(strip, columns, i, &from, &to);
			largest = fmax(largest, level_wait(strip, level, from, to));
		}
	return largest;
}

static double largest_bar(const struct time_strip *strip, int columns)
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

// strip_shade draws [from, to) of a lane in the shade of a percentage above 0.
static void strip_shade(const struct time_strip *strip, const struct tb_style *style,
	struct tb_picture *picture, struct tb_box lane, double from, double to,
	double percent)
{
	double left = strip_x(strip, lane, from), right = strip_x(strip, lane, to);
	if (percent > 0)
		tb_picture_rect(picture,
			(struct tb_box){left, lane.y, right - left, lane.h},
			tb_style_shade(style, percent));
}

// draw_strip_levels shades the waits of each level over time, the top level first.
static void draw_strip_levels(const struct time_strip *strip,
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
			strip_shade(strip, style, picture, lane, from, to,
				tb_scale_percent(
					&scale, level_wait(strip, level, from, to)));
		}
	}
}

// draw_strip_jobs shades the waits of each job over time, and names the jobs in their
// colours.
static void draw_strip_jobs(const struct time_strip *strip, const struct tb_pane *pane,
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
			// The mean wait per bin of a job over [from, to), whose slices of
			// time are others than bins.
			double slice = (double)strip->jobs.slice_ps /
				       (double)strip->bin_ps,
			       sum = 0;
			uint32_t first =
				(uint32_t)fmin(from / slice, strip->jobs.n_slices);
			for (uint32_t j = first;
				j < strip->jobs.n_slices && j * slice < to; j++) {
				double begin = fmax(from, j * slice),
				       end = fmin(to, (j + 1) * slice);
				sum += (double)strip->jobs
					       .wait_ps[(size_t)j * n_all + job] *
				       fmax(end - begin, 0) / slice;
			}
			double wait = to > from ? sum / (to - from) : 0;
			strip_shade(strip, pane->style, picture, lane, from, to,
				fmin(tb_scale_percent(&scale, wait), 100));
		}
	}
}

// draw_strip_recorded shades what was recorded over time, each lane by its own largest.
static void draw_strip_recorded(const struct time_strip *strip,
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
				// Little must be seen too.
				strip_shade(strip, style, picture, lane, from, to,
					20 + 80 * (double)sum / (double)largest);
			}
	}
}

// time_strip_scale writes what its largest bars and brightest shades stand for, when
// it is that wide, or that nothing waits; "" before it is read. 160 bytes suffice.
static char *time_strip_scale(
	const struct time_strip *strip, double width, char *buffer, size_t size)
{
	const struct tb_box box = {0, 0, width, 0};
	int columns = n_columns(strip, box);
	char lanes[48];
	if (strip->question.state != TB_ANSWERED || !strip->by_bin) {
		buffer[0] = '\0';
		return buffer;
	}
	uint64_t bar = (uint64_t)largest_bar(strip, columns);
	if (bar == 0) {
		snprintf(buffer, size, "nothing waits");
		return buffer;
	}
	tb_metric_format_as(TB_WAIT, (uint64_t)largest_lane(strip, columns), bar, lanes,
		sizeof lanes);
	snprintf(buffer, size, "wait per bin: bars to %s%s%s",
		TB_METRIC_TEXT(TB_WAIT, bar), strip->by_level ? ", shades to " : "",
		strip->by_level ? lanes : "");
	return buffer;
}

// time_strip_draw fills a box that stands for the whole run, once it is read, and
// names its lanes left of it.
static void time_strip_draw(const struct time_strip *strip, const struct tb_pane *pane,
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
	if (strip->by_bin) {
		const struct tb_palette *palette = tb_palette_of(pane->style->theme);
		double bins = (double)strip->n_bins;
		int columns = n_columns(strip, bars);
		double largest = largest_bar(strip, columns);
		strip_name_lane(pane->style, picture,
			(struct tb_box){bars.x, bars.y + 2, bars.w, 12}, "all links");
		double rule = bars.w / fmax(columns, 1) >= 4 ? 1 : 0;
		for (int i = 0; largest > 0 && i < columns; i++) {
			double from = bins * i / columns, to = bins * (i + 1) / columns;
			double h = (bars.h - 4) * bin_wait(strip, from, to) / largest;
			if (h <= 0)
				continue;
			double left = strip_x(strip, bars, from),
			       right = strip_x(strip, bars, to);
			const struct tb_viewer_data *data = pane->data;
			double bin = from + 0.5 * bins / columns;
			struct tb_window window = data->asked;
			bool shown = tb_window_whole(data->info, window) ||
				     (bin >= (double)window.first_bin &&
					     bin < (double)window.end_bin);
			tb_picture_rect(picture,
				(struct tb_box){left, bars.y + bars.h - fmax(h, 1),
					fmax(right - left - rule, 0.5), fmax(h, 1)},
				shown ? palette->muted : palette->line);
		}
	}
}

// time_strip_tip explains the bin at a share of the run, 0 to below 1.
static void time_strip_tip(const struct time_strip *strip, const struct tb_run_info *info,
	double share, struct tb_tip *tip)
{
	char text[80];
	if (strip->question.state != TB_ANSWERED || strip->n_bins < 1 || share < 0 ||
		share >= 1)
		return;
	uint64_t bin = (uint64_t)(share * (double)strip->n_bins);
	tb_tip_line(tip, 0, "%s",
		tb_window_text(
			info, (struct tb_window){bin, bin + 1}, text, sizeof text));
	tb_tip_line(tip, 1, "wait of all links: %s",
		tb_metric_format(TB_WAIT, strip->by_bin[bin], text, sizeof text));
	for (int lane = 0; lane < TB_RECORDED_LANES && tip->n_lines < TB_TIP_LINES;
		lane++)
		if (strip->recorded[lane] && strip->recorded[lane][bin] > 0)
			tb_tip_line(tip, tip->n_lines, "recorded, %s: %s",
				tb_recorded_lane_names[lane],
				lane == TB_LANE_WINDOWS
					? tb_format_time(
						  (tb_time_ps)strip->recorded[lane][bin],
						  text, sizeof text)
					: tb_format_count(strip->recorded[lane][bin],
						  text, sizeof text));
	for (uint32_t level = strip->n_levels;
		strip->by_level && level-- > 0 && tip->n_lines < TB_TIP_LINES;)
		tb_tip_line(tip, tip->n_lines, "at level %" PRIu32 ": %s", level,
			tb_metric_format(TB_WAIT,
				strip->by_level[bin * strip->n_levels + level], text,
				sizeof text));
}

#define PAD	16
#define GUTTER	92 // for the names of lanes
#define STRIP_Y 44
#define TICKS_H 34
#define EDGE_W	8

struct timeline {
	struct time_strip strip;
	double grabbed_bin; // under the pointer when a drag began
	struct tb_window grabbed_window;
};

static struct timeline *timeline_of(const struct tb_pane *pane)
{
	return pane->state;
}

static void close_timeline(void *state)
{
	struct timeline *timeline = state;
	time_strip_fini(&timeline->strip);
}

static void time_forget(struct tb_pane *pane)
{
	if (timeline_of(pane)) // keep the rest: a drag may be going on
		time_strip_fini(&timeline_of(pane)->strip);
}

static int open_timeline(struct tb_pane *pane, struct tb_error *error)
{
	struct time_strip *strip = &timeline_of(pane)->strip;
	struct tb_viewer *viewer = pane->viewer;
	if (strip->question.state == TB_UNASKED)
		strip->question = (struct tb_question){
			.what = "reading the time strip", .read = read_time_strip};
	int status = tb_viewer_put(viewer, &strip->question, error);
	return status < 0 ? status : TB_OK;
}

static struct tb_box strip_of(const struct tb_pane *pane)
{
	struct tb_box place = pane->place;
	return (struct tb_box){place.x + GUTTER, place.y + STRIP_Y,
		fmax(place.w - GUTTER - PAD, 1), fmax(place.h - STRIP_Y - TICKS_H, 1)};
}

// bins_of returns where all bins are: the strip ends with the run, the last bin may end
// after it.
static struct tb_box bins_of(const struct tb_pane *pane)
{
	const struct tb_run_info *info = pane->data->info;
	struct tb_box box = strip_of(pane);
	double end_ps = (double)tb_window_end_ps(info, (struct tb_window){0, 0});
	if (end_ps > 0)
		box.w *= fmax((double)info->n_bins * (double)info->bin_ps / end_ps, 1);
	return box;
}

static double time_bin_at(const struct tb_pane *pane, double x)
{
	struct tb_box strip = strip_of(pane), all = bins_of(pane);
	double bins = (double)pane->data->info->n_bins;
	if (x >= strip.x + strip.w)
		return bins;
	return fmin(fmax((x - all.x) / all.w, 0), 1) * bins;
}

static double time_x(const struct tb_pane *pane, double bin)
{
	struct tb_box strip = strip_of(pane), all = bins_of(pane);
	double x = all.x + all.w * bin / fmax((double)pane->data->info->n_bins, 1);
	return fmin(x, strip.x + strip.w);
}

static void time_part(struct tb_picture *picture, struct tb_box box,
	struct tb_colour colour, enum tb_part name)
{
	tb_picture_rect(picture, box, colour);
	tb_picture_pick(picture, (struct tb_pick){TB_PICK_PART, name});
}

static void draw_window(
	struct tb_pane *pane, struct tb_picture *picture, struct tb_box strip)
{
	const struct tb_palette *palette = tb_palette_of(pane->style->theme);
	struct tb_colour veil = palette->accent;
	const struct tb_colour clear = {0, 0, 0, 0};
	if (tb_window_whole(pane->data->info, pane->data->asked))
		return;
	double from = time_x(pane, (double)pane->data->asked.first_bin);
	double to = time_x(pane, (double)pane->data->asked.end_bin);
	veil.a = 46;
	time_part(picture, (struct tb_box){from, strip.y, fmax(to - from, 2), strip.h},
		veil, TB_PART_WINDOW);
	tb_picture_rect(picture, (struct tb_box){from - 1, strip.y - 3, 2, strip.h + 6},
		palette->accent);
	tb_picture_rect(picture, (struct tb_box){to - 1, strip.y - 3, 2, strip.h + 6},
		palette->accent);
	// The grips of the edges are wider than what is drawn.
	time_part(picture,
		(struct tb_box){from - EDGE_W, strip.y - 3, EDGE_W, strip.h + 6}, clear,
		TB_PART_FROM);
	time_part(picture, (struct tb_box){to, strip.y - 3, EDGE_W, strip.h + 6}, clear,
		TB_PART_TO);
}

// draw_time_buttons returns where they end.
static double draw_time_buttons(
	struct tb_pane *pane, struct tb_picture *picture, double x, double y)
{
	static const struct {
		enum tb_request_name request;
		const char *text;
		double w;
	} buttons[] = {{TB_REQUEST_PLAY, "Play", 56}, {TB_REQUEST_STEP_BACK, "<", 26},
		{TB_REQUEST_STEP_ON, ">", 26}, {TB_REQUEST_NARROW, "Narrow", 62},
		{TB_REQUEST_WIDEN, "Widen", 56}, {TB_REQUEST_WHOLE, "Whole run", 82}};
	for (size_t i = 0; i < sizeof buttons / sizeof *buttons; i++) {
		bool pause =
			buttons[i].request == TB_REQUEST_PLAY && pane->playback->playing;
		tb_pane_button(pane, picture, (struct tb_box){x, y, buttons[i].w, 24},
			buttons[i].request, pause ? "Pause" : buttons[i].text);
		x += buttons[i].w + 4;
	}
	return x;
}

static void time_draw(struct tb_pane *pane, struct tb_picture *picture)
{
	struct tb_box place = pane->place;
	const struct tb_palette *palette = tb_palette_of(pane->style->theme);
	struct tb_box strip = strip_of(pane);
	tb_picture_rect(picture, place, palette->panel);
	tb_picture_line(picture, (struct tb_box){place.x, place.y + 0.5, place.w, 0}, 1,
		palette->line);
	// Routes alone (fabric_store.h) are not timed, and nothing waits.
	if (strcmp(pane->data->info->input_kind, "routes") == 0) {
		struct tb_type type = tb_style_type(pane->style, TB_FONT_TEXT, 12, true);
		type.align = TB_ALIGN_CENTRE;
		tb_picture_text(picture, pane->place, type,
			"no timeline: of routes alone nothing is timed, and nothing "
			"waits");
		return;
	}
	double y = place.y + 10;
	double x = draw_time_buttons(pane, picture, place.x + PAD, y);
	char window[80];
	tb_time_ps span = tb_window_end_ps(pane->data->info, pane->data->asked) -
			  tb_window_begin_ps(pane->data->info, pane->data->asked);
	double room = place.x + place.w - PAD - x - 12;
	struct tb_type type = tb_style_type(pane->style, TB_FONT_BOLD, 12, false);
	tb_window_text(pane->data->info, pane->data->asked, window, sizeof window);
	tb_picture_text(picture, (struct tb_box){x + 12, y, room, 24}, type, window);
	double used = tb_text_width(TB_FONT_BOLD, 12, window) + 24;
	type = tb_style_type(pane->style, TB_FONT_TEXT, 12, true);
	char width[64];
	snprintf(width, sizeof width, "window %s", TB_TIME_TEXT(span));
	if (tb_text_width(type.font, type.size, width) <= room - used)
		tb_picture_text(picture, (struct tb_box){x + used, y, room - used, 24},
			type, width);
	char note[200], scale[160] = "";
	if (timeline_of(pane))
		time_strip_scale(
			&timeline_of(pane)->strip, bins_of(pane).w, scale, sizeof scale);
	snprintf(note, sizeof note, "%s%sbins of %s", scale, scale[0] ? "; " : "",
		TB_TIME_TEXT(pane->data->info->bin_ps));
	double note_w = tb_text_width(type.font, type.size, note);
	if (!(used + 120 + note_w > room)) { // a narrow window: the times matter more
		type.align = TB_ALIGN_RIGHT;
		tb_picture_text(picture,
			(struct tb_box){x + room + 12 - note_w, y, note_w, 24}, type,
			note);
	}
	time_part(picture, strip, palette->empty, TB_PART_STRIP);
	if (timeline_of(pane)) {
		tb_picture_clip(picture, (struct tb_box){place.x, strip.y,
						 strip.x + strip.w - place.x, strip.h});
		time_strip_draw(&timeline_of(pane)->strip, pane, picture, bins_of(pane));
		tb_picture_unclip(picture);
	}
	draw_window(pane, picture, strip);
	tb_time_axis_draw(pane->style, picture, strip, 0,
		tb_window_end_ps(pane->data->info, (struct tb_window){0, 0}));
}

static void time_show(struct tb_pane *pane, double first, double end)
{
	double bins = (double)pane->data->info->n_bins;
	double from = fmin(fmax(round(fmin(first, end)), 0), fmax(bins - 1, 0));
	double to = fmin(fmax(round(fmax(first, end)), from + 1), bins);
	struct tb_window window = {(uint64_t)from, (uint64_t)to};
	if (window.first_bin != pane->data->asked.first_bin ||
		window.end_bin != pane->data->asked.end_bin)
		tb_viewer_show(pane->viewer, window, pane->data->metric);
	pane->playback->bin = from;
}

// move_to moves the window to begin at a bin, and keeps its width.
static void move_to(struct tb_pane *pane, double first)
{
	double width = (double)tb_viewer_data_asked_bins(pane->data);
	double last = (double)pane->data->info->n_bins - width;
	first = fmin(fmax(first, 0), last);
	time_show(pane, first, first + width);
}

// some_window shows the first fortieth of the run when the whole run is shown: only a
// smaller window can move.
static void some_window(struct tb_pane *pane)
{
	double width = fmax(floor((double)pane->data->info->n_bins / 40), 1);
	if (tb_window_whole(pane->data->info, pane->data->asked))
		time_show(pane, 0, width);
}

static void play(struct tb_pane *pane)
{
	if (pane->playback->playing || pane->data->info->n_bins < 2) {
		pane->playback->playing = false;
		return;
	}
	some_window(pane);
	if (pane->data->asked.end_bin >= pane->data->info->n_bins)
		move_to(pane, 0);
	pane->playback->bin = (double)pane->data->asked.first_bin;
	pane->playback->playing = !tb_viewer_in_trouble(pane->viewer);
}

// resize_window scales the window about its middle.
static void resize_window(struct tb_pane *pane, double factor)
{
	double width = (double)tb_viewer_data_asked_bins(pane->data);
	double middle = (double)pane->data->asked.first_bin + width / 2;
	double wanted = fmax(floor(width * factor), 1);
	double bins = (double)pane->data->info->n_bins;
	double first = fmin(fmax(round(middle - wanted / 2), 0), fmax(bins - wanted, 0));
	time_show(pane, first, first + wanted);
}

// move_request moves the window along the run.
static bool move_request(struct tb_pane *pane, enum tb_request_name asked)
{
	double first = (double)pane->data->asked.first_bin;
	double width = (double)tb_viewer_data_asked_bins(pane->data);
	switch ((int)asked) {
	case TB_REQUEST_STEP_BACK:
	case TB_REQUEST_LEAP_BACK:
		some_window(pane);
		move_to(pane, first - (asked == TB_REQUEST_STEP_BACK ? 1 : width));
		return true;
	case TB_REQUEST_STEP_ON:
	case TB_REQUEST_LEAP_ON:
		some_window(pane);
		move_to(pane, first + (asked == TB_REQUEST_STEP_ON ? 1 : width));
		return true;
	case TB_REQUEST_TO_BEGIN:
		move_to(pane, 0);
		return true;
	case TB_REQUEST_TO_END:
		move_to(pane, (double)pane->data->info->n_bins);
		return true;
	default:
		return false;
	}
}

static bool time_request(struct tb_pane *pane, const struct tb_request *asked)
{
	if (pane->data->info->n_bins == 0)
		return false;
	switch ((int)asked->name) {
	case TB_REQUEST_PLAY:
		play(pane);
		return true;
	case TB_REQUEST_SLOWER:
	case TB_REQUEST_FASTER: {
		double factor = asked->name == TB_REQUEST_FASTER ? 2 : 0.5;
		tb_playback_pace(pane->playback, factor);
		tb_viewer_notice(pane->viewer, "playing at %.3g times normal speed",
			pane->playback->speed);
		return true;
	}
	case TB_REQUEST_LOOP:
		pane->playback->loop = !pane->playback->loop;
		tb_viewer_notice(pane->viewer,
			pane->playback->loop ? "playback starts again at the end"
					     : "playback stops at the end");
		return true;
	case TB_REQUEST_NARROW:
		resize_window(pane, 0.5);
		return true;
	case TB_REQUEST_WIDEN:
		resize_window(pane, 2);
		return true;
	case TB_REQUEST_WHOLE:
		tb_viewer_show(
			pane->viewer, (struct tb_window){0, 0}, pane->data->metric);
		return true;
	default:
		return move_request(pane, asked->name);
	}
}

static void drag(struct tb_pane *pane, const struct tb_pointer_event *event)
{
	const struct timeline *timeline = timeline_of(pane);
	const struct tb_window *held = &timeline->grabbed_window;
	double bin = time_bin_at(pane, event->x);
	if (event->pick.kind != TB_PICK_PART)
		return;
	if (event->pick.index == TB_PART_WINDOW)
		move_to(pane, (double)held->first_bin + bin - timeline->grabbed_bin);
	else if (event->pick.index == TB_PART_FROM)
		time_show(pane, bin, (double)held->end_bin);
	else if (event->pick.index == TB_PART_TO)
		time_show(pane, (double)held->first_bin, bin);
	else
		time_show(pane, timeline->grabbed_bin, bin);
}

static void time_pointer(struct tb_pane *pane, const struct tb_pointer_event *event)
{
	struct timeline *timeline = timeline_of(pane);
	if (!timeline || pane->data->info->n_bins == 0)
		return;
	switch (event->kind) {
	case TB_EVENT_PRESS:
		if (event->pick.kind == TB_PICK_PART)
			pane->playback->playing = false;
		timeline->grabbed_bin = time_bin_at(pane, event->x);
		timeline->grabbed_window = pane->data->asked;
		break;
	case TB_EVENT_DRAG:
		drag(pane, event);
		break;
	case TB_EVENT_CLICK:
		if (event->pick.kind != TB_PICK_PART)
			break;
		some_window(pane);
		move_to(pane, time_bin_at(pane, event->x) -
				      (double)tb_viewer_data_asked_bins(pane->data) / 2);
		break;
	case TB_EVENT_WHEEL:
		if (event->steps != 0)
			resize_window(pane, event->steps > 0 ? 0.5 : 2);
		break;
	case TB_EVENT_DOUBLE:
		break;
	}
}

static void time_tip(const struct tb_pane *pane, struct tb_tip *tip)
{
	struct tb_box strip = strip_of(pane), all = bins_of(pane);
	if (!timeline_of(pane) || tip->pick.kind != TB_PICK_PART)
		return;
	time_strip_tip(&timeline_of(pane)->strip, pane->data->info,
		(tip->x - all.x) / all.w, tip);
	double bin = floor(time_bin_at(pane, tip->x));
	tip->about = (struct tb_box){time_x(pane, bin), strip.y,
		time_x(pane, bin + 1) - time_x(pane, bin), strip.h};
}

const struct tb_view tb_view_time = {.slot = TB_SLOT_TIME,
	.state_size = sizeof(struct timeline),
	.open = open_timeline,
	.draw = time_draw,
	.request = time_request,
	.pointer = time_pointer,
	.tip = time_tip,
	.forget = time_forget,
	.close = close_timeline};
