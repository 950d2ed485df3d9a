// Time: the wait of all links by bin as a strip, below it that of each level as shades,
// and on both the window that everything else shows. Drag the window or its edges; drag
// elsewhere to brush a new one.
#include "metric_text.h"
#include "run_text.h"
#include "ticks.h"
#include "viewer_impl.h"

#include <math.h>
#include <stdlib.h>

#define PAD	  16
#define STRIP_Y	  44
#define STRIP_H	  68
#define BARS_H	  38
#define MOST_H	  10	 // of a level
#define MOST_BINS 131072 // whose levels are shown
#define EDGE_W	  8
#define COLUMN	  3 // abstract pixels

// read_levels is for show alone: what tells of none, or of too many bins, has bars only.
static void read_levels(struct tb_viewer *viewer)
{
	uint64_t n = viewer->info->n_bins * viewer->info->n_levels;
	if (n == 0 || viewer->info->n_bins > MOST_BINS)
		return;
	uint64_t *waits = calloc(n, sizeof *waits);
	uint64_t largest = 0;
	if (!waits || tb_run_wait_by_level(viewer->run, waits, NULL) != TB_OK) {
		free(waits);
		return;
	}
	for (uint64_t i = 0; i < n; i++)
		largest = waits[i] > largest ? waits[i] : largest;
	if (largest == 0) {
		free(waits);
		return;
	}
	viewer->wait_by_level = waits;
}

static int open(struct tb_viewer *viewer, struct tb_error *error)
{
	if (viewer->wait_by_bin)
		return TB_OK;
	read_levels(viewer);
	uint64_t n = viewer->info->n_bins;
	uint64_t *waits = calloc(n ? n : 1, sizeof *waits);
	if (!waits)
		return tb_fail(error, TB_ENOMEM, "no memory for the strip of time");
	int status = tb_run_wait_by_bin(viewer->run, waits, error);
	if (status != TB_OK) {
		free(waits);
		return status;
	}
	viewer->wait_by_bin = waits;
	return TB_OK;
}

static struct tb_box strip_of(const struct tb_viewer *viewer)
{
	struct tb_box place = viewer->places[TB_VIEW_TIME];
	return (struct tb_box){
		place.x + PAD, place.y + STRIP_Y, fmax(place.w - 2 * PAD, 1), STRIP_H};
}

static double bin_at(const struct tb_viewer *viewer, double x)
{
	struct tb_box strip = strip_of(viewer);
	double share = (x - strip.x) / strip.w;
	return fmin(fmax(share, 0), 1) * (double)viewer->info->n_bins;
}

static double x_of(const struct tb_viewer *viewer, double bin)
{
	struct tb_box strip = strip_of(viewer);
	return strip.x + strip.w * bin / fmax((double)viewer->info->n_bins, 1);
}

// column_wait is the mean wait a bin over [from, to), which may lie within one bin.
static double column_wait(const struct tb_viewer *viewer, double from, double to)
{
	uint64_t first = (uint64_t)from;
	uint64_t end = (uint64_t)ceil(to);
	double sum = 0;
	if (end > viewer->info->n_bins)
		end = viewer->info->n_bins;
	if (first >= end)
		return 0;
	for (uint64_t bin = first; bin < end; bin++)
		sum += (double)viewer->wait_by_bin[bin];
	return sum / (double)(end - first);
}

static double level_wait(
	const struct tb_viewer *viewer, uint32_t level, double from, double to)
{
	uint64_t end = (uint64_t)ceil(to), n = 0;
	double sum = 0;
	for (uint64_t bin = (uint64_t)from; bin < end && bin < viewer->info->n_bins;
		bin++, n++)
		sum += (double)viewer
			       ->wait_by_level[bin * viewer->info->n_levels + level];
	return n ? sum / (double)n : 0;
}

static int n_columns(const struct tb_viewer *viewer, struct tb_box strip)
{
	return (int)fmin(ceil(strip.w / COLUMN), (double)viewer->info->n_bins);
}

// draw_levels shades the waits of each level over time, the top level first.
static void draw_levels(
	struct tb_viewer *viewer, struct tb_picture *picture, struct tb_box box)
{
	uint32_t n_levels = viewer->info->n_levels;
	int columns = n_columns(viewer, box);
	double bins = (double)viewer->info->n_bins;
	double largest = 0, h = fmin(box.h / n_levels, MOST_H);
	for (int i = 0; i < columns; i++)
		for (uint32_t level = 0; level < n_levels; level++)
			largest = fmax(
				largest, level_wait(viewer, level, bins * i / columns,
						 bins * (i + 1) / columns));
	const struct tb_scale scale =
		tb_scale_of(TB_QUANTITY_TIME, largest, false, viewer->logarithmic);
	for (int i = 0; i < columns; i++) {
		double from = bins * i / columns, to = bins * (i + 1) / columns;
		double left = x_of(viewer, from), right = x_of(viewer, to);
		for (uint32_t level = 0; level < n_levels; level++) {
			double wait = level_wait(viewer, level, from, to);
			if (wait <= 0)
				continue;
			tb_picture_rect(picture,
				(struct tb_box){left, box.y + (n_levels - 1 - level) * h,
					right - left, fmax(h - 1, 1)},
				tb_shade(viewer->colours, viewer->theme,
					tb_scale_percent(&scale, wait)));
		}
	}
}

static bool in_window(const struct tb_viewer *viewer, double bin)
{
	struct tb_window window = viewer->window;
	return tb_window_whole(viewer->info, window) ||
	       (bin >= (double)window.first_bin && bin < (double)window.end_bin);
}

static void draw_waits(
	struct tb_viewer *viewer, struct tb_picture *picture, struct tb_box strip)
{
	const struct tb_palette *palette = tb_palette_of(viewer->theme);
	double bins = (double)viewer->info->n_bins;
	int columns = n_columns(viewer, strip);
	double largest = 0;
	for (int i = 0; i < columns; i++)
		largest = fmax(largest, column_wait(viewer, bins * i / columns,
						bins * (i + 1) / columns));
	double rule = strip.w / fmax(columns, 1) >= 4 ? 1 : 0;
	for (int i = 0; largest > 0 && i < columns; i++) {
		double from = bins * i / columns;
		double wait = column_wait(viewer, from, bins * (i + 1) / columns);
		double h = (strip.h - 4) * wait / largest;
		if (h <= 0)
			continue;
		double left = x_of(viewer, from);
		double right = x_of(viewer, bins * (i + 1) / columns);
		bool shown = in_window(viewer, from + 0.5 * bins / columns);
		tb_picture_rect(picture,
			(struct tb_box){left, strip.y + strip.h - fmax(h, 1),
				fmax(right - left - rule, 0.5), fmax(h, 1)},
			shown ? palette->muted : palette->line);
	}
}

static void part(struct tb_picture *picture, struct tb_box box, struct tb_colour colour,
	enum tb_part name)
{
	tb_picture_rect(picture, box, colour);
	tb_picture_pick(picture, (struct tb_pick){TB_PICK_PART, name});
}

static void draw_window(
	struct tb_viewer *viewer, struct tb_picture *picture, struct tb_box strip)
{
	const struct tb_palette *palette = tb_palette_of(viewer->theme);
	struct tb_colour veil = palette->accent;
	const struct tb_colour clear = {0, 0, 0, 0};
	if (tb_window_whole(viewer->info, viewer->window))
		return;
	double from = x_of(viewer, (double)viewer->window.first_bin);
	double to = x_of(viewer, (double)viewer->window.end_bin);
	veil.a = 46;
	part(picture, (struct tb_box){from, strip.y, fmax(to - from, 2), strip.h}, veil,
		TB_PART_WINDOW);
	tb_picture_rect(picture, (struct tb_box){from - 1, strip.y - 3, 2, strip.h + 6},
		palette->accent);
	tb_picture_rect(picture, (struct tb_box){to - 1, strip.y - 3, 2, strip.h + 6},
		palette->accent);
	// The edges are held by more than can be seen of them.
	part(picture, (struct tb_box){from - EDGE_W, strip.y - 3, EDGE_W, strip.h + 6},
		clear, TB_PART_FROM);
	part(picture, (struct tb_box){to, strip.y - 3, EDGE_W, strip.h + 6}, clear,
		TB_PART_TO);
}

struct tick_unit {
	double ps;
	const char *name;
};

// tick_unit is the unit in which ticks a step apart have few digits; all of them share
// it.
static struct tick_unit tick_unit(double step_ps)
{
	static const struct tick_unit units[] = {
		{1, "ps"}, {1e3, "ns"}, {1e6, "us"}, {1e9, "ms"}, {1e12, "s"}};
	size_t i = 0;
	while (i + 1 < sizeof units / sizeof *units && step_ps * 10 >= units[i + 1].ps)
		i++;
	return units[i];
}

static char *tick_text(double at_ps, struct tick_unit unit, char *buffer, size_t size)
{
	snprintf(buffer, size, at_ps == 0 ? "0" : "%.6g %s", at_ps / unit.ps, unit.name);
	return buffer;
}

static void draw_ticks(
	struct tb_viewer *viewer, struct tb_picture *picture, struct tb_box strip)
{
	const struct tb_palette *palette = tb_palette_of(viewer->theme);
	double span = (double)viewer->info->n_bins * (double)viewer->info->bin_ps;
	if (span <= 0)
		return;
	double step = tb_tick_step(fmax(span * 110 / strip.w, 1));
	struct tick_unit unit = tick_unit(step);
	struct tb_type type = tb_viewer_type(viewer, TB_FONT_TEXT, 11, true);
	for (double at = 0; at <= span * 1.0001; at += step) {
		char text[24];
		double x = strip.x + strip.w * at / span;
		double left = fmin(fmax(x - 50, strip.x), strip.x + strip.w - 100);
		type.align = left > x - 50   ? TB_ALIGN_LEFT
			     : left < x - 50 ? TB_ALIGN_RIGHT
					     : TB_ALIGN_CENTRE;
		tb_picture_line(picture, (struct tb_box){x, strip.y + strip.h, 0, 4}, 1,
			palette->line);
		tb_picture_text(picture,
			(struct tb_box){left, strip.y + strip.h + 6, 100, 15}, type,
			tick_text(at, unit, text, sizeof text));
	}
}

static void draw_controls(
	struct tb_viewer *viewer, struct tb_picture *picture, struct tb_box place)
{
	static const struct {
		enum tb_request_name request;
		const char *text;
		double w;
	} buttons[] = {{TB_REQUEST_PLAY, "Play", 56}, {TB_REQUEST_STEP_BACK, "<", 26},
		{TB_REQUEST_STEP_ON, ">", 26}, {TB_REQUEST_NARROW, "Narrow", 62},
		{TB_REQUEST_WIDEN, "Widen", 56}, {TB_REQUEST_WHOLE, "Whole run", 82}};
	double x = place.x + PAD;
	double y = place.y + 10;
	for (size_t i = 0; i < sizeof buttons / sizeof *buttons; i++) {
		bool pause = buttons[i].request == TB_REQUEST_PLAY && viewer->playing;
		tb_viewer_button(viewer, picture, (struct tb_box){x, y, buttons[i].w, 24},
			buttons[i].request, pause ? "Pause" : buttons[i].text);
		x += buttons[i].w + 4;
	}
	char window[80];
	char width[24];
	char bin[24];
	tb_time_ps span = tb_window_end_ps(viewer->info, viewer->window) -
			  tb_window_begin_ps(viewer->info, viewer->window);
	double room = place.x + place.w - PAD - x - 12;
	struct tb_type type = tb_viewer_type(viewer, TB_FONT_BOLD, 12, false);
	tb_window_text(viewer->info, viewer->window, window, sizeof window);
	tb_picture_text(picture, (struct tb_box){x + 12, y, room, 24}, type, window);
	double used = tb_text_width(TB_FONT_BOLD, 12, window) + 24;
	type = tb_viewer_type(viewer, TB_FONT_TEXT, 12, true);
	tb_picture_printf(picture, (struct tb_box){x + used, y, room - used, 24}, type,
		"window %s", tb_format_time(span, width, sizeof width));
	char note[64];
	snprintf(note, sizeof note, "wait of all links, then by level; bins of %s",
		tb_format_time(viewer->info->bin_ps, bin, sizeof bin));
	double note_w = tb_text_width(type.font, type.size, note);
	if (used + 120 + note_w > room)
		return; // a narrow window: the times matter more
	type.align = TB_ALIGN_RIGHT;
	tb_picture_text(picture, (struct tb_box){x + room + 12 - note_w, y, note_w, 24},
		type, note);
}

static void draw(
	struct tb_viewer *viewer, struct tb_picture *picture, struct tb_box place)
{
	const struct tb_palette *palette = tb_palette_of(viewer->theme);
	struct tb_box strip = strip_of(viewer);
	tb_picture_rect(picture, place, palette->panel);
	tb_picture_line(picture, (struct tb_box){place.x, place.y + 0.5, place.w, 0}, 1,
		palette->line);
	draw_controls(viewer, picture, place);
	part(picture, strip, palette->empty, TB_PART_STRIP);
	struct tb_box bars = strip, levels = strip;
	if (viewer->wait_by_level) {
		bars.h = BARS_H;
		levels.y += BARS_H + 2;
		levels.h -= BARS_H + 2;
		draw_levels(viewer, picture, levels);
	}
	if (viewer->wait_by_bin)
		draw_waits(viewer, picture, bars);
	draw_window(viewer, picture, strip);
	draw_ticks(viewer, picture, strip);
}

static void show(struct tb_viewer *viewer, double first, double end)
{
	double bins = (double)viewer->info->n_bins;
	double from = fmin(fmax(round(fmin(first, end)), 0), fmax(bins - 1, 0));
	double to = fmin(fmax(round(fmax(first, end)), from + 1), bins);
	struct tb_window window = {(uint64_t)from, (uint64_t)to};
	if (window.first_bin != viewer->window.first_bin ||
		window.end_bin != viewer->window.end_bin)
		tb_viewer_show(viewer, window, viewer->metric);
	viewer->play_bin = from;
}

// move_to puts the window's begin at a bin and keeps its width.
static void move_to(struct tb_viewer *viewer, double first)
{
	double width = (double)tb_viewer_width_bins(viewer);
	double last = (double)viewer->info->n_bins - width;
	first = fmin(fmax(first, 0), last);
	show(viewer, first, first + width);
}

// some_window is where a window begins that is asked for while the whole run is shown: a
// fortieth of it, at the begin.
static void some_window(struct tb_viewer *viewer)
{
	double width = fmax(floor((double)viewer->info->n_bins / 40), 1);
	if (tb_window_whole(viewer->info, viewer->window))
		show(viewer, 0, width);
}

static void play(struct tb_viewer *viewer)
{
	if (viewer->playing || viewer->info->n_bins < 2) {
		viewer->playing = false;
		return;
	}
	some_window(viewer);
	if (viewer->window.end_bin >= viewer->info->n_bins)
		move_to(viewer, 0);
	viewer->play_bin = (double)viewer->window.first_bin;
	viewer->playing = viewer->trouble[0] == '\0';
}

// resize_window scales the window about its middle.
static void resize_window(struct tb_viewer *viewer, double factor)
{
	double width = (double)tb_viewer_width_bins(viewer);
	double middle = (double)viewer->window.first_bin + width / 2;
	double wanted = fmax(floor(width * factor), 1);
	double bins = (double)viewer->info->n_bins;
	double first = fmin(fmax(round(middle - wanted / 2), 0), fmax(bins - wanted, 0));
	show(viewer, first, first + wanted);
}

static void pace(struct tb_viewer *viewer, double factor)
{
	viewer->speed = fmin(fmax(viewer->speed * factor, 1.0 / 64), 64);
	tb_viewer_notice(viewer, "play at %.3g times the usual speed", viewer->speed);
}

static bool request(struct tb_viewer *viewer, const struct tb_request *asked)
{
	double first = (double)viewer->window.first_bin;
	double width = (double)tb_viewer_width_bins(viewer);
	if (viewer->info->n_bins == 0)
		return false;
	switch ((int)asked->name) {
	case TB_REQUEST_PLAY:
		play(viewer);
		return true;
	case TB_REQUEST_STEP_BACK:
	case TB_REQUEST_LEAP_BACK:
		some_window(viewer);
		move_to(viewer,
			first - (asked->name == TB_REQUEST_STEP_BACK ? 1 : width));
		return true;
	case TB_REQUEST_STEP_ON:
	case TB_REQUEST_LEAP_ON:
		some_window(viewer);
		move_to(viewer, first + (asked->name == TB_REQUEST_STEP_ON ? 1 : width));
		return true;
	case TB_REQUEST_TO_BEGIN:
		move_to(viewer, 0);
		return true;
	case TB_REQUEST_TO_END:
		move_to(viewer, (double)viewer->info->n_bins);
		return true;
	case TB_REQUEST_SLOWER:
	case TB_REQUEST_FASTER:
		pace(viewer, asked->name == TB_REQUEST_FASTER ? 2 : 0.5);
		return true;
	case TB_REQUEST_LOOP:
		viewer->loop = !viewer->loop;
		tb_viewer_notice(viewer, viewer->loop ? "play goes round and round"
						      : "play ends with the run");
		return true;
	case TB_REQUEST_NARROW:
		resize_window(viewer, 0.5);
		return true;
	case TB_REQUEST_WIDEN:
		resize_window(viewer, 2);
		return true;
	case TB_REQUEST_WHOLE:
		tb_viewer_show(viewer, (struct tb_window){0, 0}, viewer->metric);
		return true;
	default:
		return false;
	}
}

static void drag(struct tb_viewer *viewer, const struct tb_pointer_event *event)
{
	const struct tb_window *held = &viewer->grabbed_window;
	double bin = bin_at(viewer, event->x);
	if (event->pick.kind != TB_PICK_PART)
		return;
	if (event->pick.index == TB_PART_WINDOW)
		move_to(viewer, (double)held->first_bin + bin - viewer->grabbed_bin);
	else if (event->pick.index == TB_PART_FROM)
		show(viewer, bin, (double)held->end_bin);
	else if (event->pick.index == TB_PART_TO)
		show(viewer, (double)held->first_bin, bin);
	else
		show(viewer, viewer->grabbed_bin, bin);
}

static void pointer(struct tb_viewer *viewer, const struct tb_pointer_event *event)
{
	if (viewer->info->n_bins == 0)
		return;
	switch (event->kind) {
	case TB_EVENT_PRESS:
		if (event->pick.kind == TB_PICK_PART)
			viewer->playing = false;
		viewer->grabbed_bin = bin_at(viewer, event->x);
		viewer->grabbed_window = viewer->window;
		break;
	case TB_EVENT_DRAG:
		drag(viewer, event);
		break;
	case TB_EVENT_CLICK:
		if (event->pick.kind != TB_PICK_PART)
			break;
		some_window(viewer);
		move_to(viewer, bin_at(viewer, event->x) -
					(double)tb_viewer_width_bins(viewer) / 2);
		break;
	case TB_EVENT_WHEEL:
		if (event->steps != 0)
			resize_window(viewer, event->steps > 0 ? 0.5 : 2);
		break;
	case TB_EVENT_DOUBLE:
		break;
	}
}

const struct tb_view tb_view_time = {.name = "time",
	.open = open,
	.draw = draw,
	.request = request,
	.pointer = pointer};
