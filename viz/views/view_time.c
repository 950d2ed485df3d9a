// The time strip of the whole run, and on it the window that everything else shows. Drag
// the window or its edges; drag elsewhere for a new one.
#include "parts.h"
#include "run_text.h"
#include "time_strip.h"
#include "views.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PAD	16
#define GUTTER	92 // for the names of lanes
#define STRIP_Y 44
#define TICKS_H 34
#define EDGE_W	8

struct timeline {
	struct tb_time_strip strip;
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
	tb_time_strip_fini(&timeline->strip);
}

static void time_forget(struct tb_pane *pane)
{
	if (timeline_of(pane)) // keep the rest: a drag may be going on
		tb_time_strip_fini(&timeline_of(pane)->strip);
}

static int open_timeline(struct tb_pane *pane, struct tb_error *error)
{
	if (!pane->state)
		pane->state = calloc(1, sizeof(struct timeline));
	if (!pane->state)
		return tb_fail_memory(error, "the time strip");
	return tb_time_strip_read(&timeline_of(pane)->strip, pane->viewer, error);
}

static struct tb_box strip_of(const struct tb_pane *pane)
{
	struct tb_box place = pane->place;
	return (struct tb_box){place.x + GUTTER, place.y + STRIP_Y,
		fmax(place.w - GUTTER - PAD, 1), fmax(place.h - STRIP_Y - TICKS_H, 1)};
}

static double time_bin_at(const struct tb_pane *pane, double x)
{
	struct tb_box strip = strip_of(pane);
	double share = (x - strip.x) / strip.w;
	return fmin(fmax(share, 0), 1) * (double)pane->data->info->n_bins;
}

static double time_x(const struct tb_pane *pane, double bin)
{
	struct tb_box strip = strip_of(pane);
	return strip.x + strip.w * bin / fmax((double)pane->data->info->n_bins, 1);
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
	char width[24];
	char bin[24];
	tb_time_ps span = tb_window_end_ps(pane->data->info, pane->data->asked) -
			  tb_window_begin_ps(pane->data->info, pane->data->asked);
	double room = place.x + place.w - PAD - x - 12;
	struct tb_type type = tb_style_type(pane->style, TB_FONT_BOLD, 12, false);
	tb_window_text(pane->data->info, pane->data->asked, window, sizeof window);
	tb_picture_text(picture, (struct tb_box){x + 12, y, room, 24}, type, window);
	double used = tb_text_width(TB_FONT_BOLD, 12, window) + 24;
	type = tb_style_type(pane->style, TB_FONT_TEXT, 12, true);
	tb_picture_printf(picture, (struct tb_box){x + used, y, room - used, 24}, type,
		"window %s", tb_format_time(span, width, sizeof width));
	char note[200], scale[160] = "";
	if (timeline_of(pane))
		tb_time_strip_scale(
			&timeline_of(pane)->strip, strip_of(pane).w, scale, sizeof scale);
	snprintf(note, sizeof note, "%s%sbins of %s", scale, scale[0] ? "; " : "",
		tb_format_time(pane->data->info->bin_ps, bin, sizeof bin));
	double note_w = tb_text_width(type.font, type.size, note);
	if (!(used + 120 + note_w > room)) { // a narrow window: the times matter more
		type.align = TB_ALIGN_RIGHT;
		tb_picture_text(picture,
			(struct tb_box){x + room + 12 - note_w, y, note_w, 24}, type,
			note);
	}
	time_part(picture, strip, palette->empty, TB_PART_STRIP);
	if (timeline_of(pane))
		tb_time_strip_draw(&timeline_of(pane)->strip, pane, picture, strip);
	draw_window(pane, picture, strip);
	const struct tb_run_info *info = pane->data->info;
	tb_time_axis_draw(
		pane->style, picture, strip, (double)info->n_bins * (double)info->bin_ps);
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

static void time_pace(struct tb_pane *pane, double factor)
{
	tb_playback_pace(pane->playback, factor);
	tb_viewer_notice(pane->viewer, "playing at %.3g times normal speed",
		pane->playback->speed);
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
	case TB_REQUEST_FASTER:
		time_pace(pane, asked->name == TB_REQUEST_FASTER ? 2 : 0.5);
		return true;
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
	struct tb_box strip = strip_of(pane);
	if (!timeline_of(pane) || tip->pick.kind != TB_PICK_PART)
		return;
	tb_time_strip_tip(&timeline_of(pane)->strip, pane->data->info,
		(tip->x - strip.x) / strip.w, tip);
	double bin = floor(time_bin_at(pane, tip->x));
	tip->about = (struct tb_box){time_x(pane, bin), strip.y,
		time_x(pane, bin + 1) - time_x(pane, bin), strip.h};
}

const struct tb_view tb_view_time = {.slot = TB_SLOT_TIME,
	.open = open_timeline,
	.draw = time_draw,
	.request = time_request,
	.pointer = time_pointer,
	.tip = time_tip,
	.forget = time_forget,
	.close = close_timeline};
