#include "controls.h"

#include <math.h>
#include <stdio.h>

#define DRAG_SLACK 4 // pixels that a click may wander

void tb_mouse_press(struct tb_mouse *mouse, struct tb_pane *pane, struct tb_pick pick)
{
	mouse->pressed = pane != NULL;
	mouse->dragged = false;
	mouse->press_x = mouse->x;
	mouse->press_y = mouse->y;
	mouse->grabbed = pane;
	mouse->pick = pick;
}

bool tb_mouse_move(struct tb_mouse *mouse, double x, double y, double *dx, double *dy)
{
	*dx = x - mouse->x;
	*dy = y - mouse->y;
	mouse->rests = mouse->rests && *dx == 0 && *dy == 0;
	mouse->x = x;
	mouse->y = y;
	mouse->in = true;
	if (!mouse->pressed)
		return false;
	if (!mouse->dragged) {
		// The first drag makes up for the slack.
		*dx = x - mouse->press_x;
		*dy = y - mouse->press_y;
		mouse->dragged = hypot(*dx, *dy) >= DRAG_SLACK;
	}
	return mouse->dragged;
}

#define USUAL_S	   20 // duration of a run at speed 1
#define LEAST_BINS 2  // per second, however short the run
#define MOST_SPEED 64

uint64_t tb_playback_advance(
	struct tb_playback *playback, double elapsed_s, uint64_t n_bins, uint64_t width)
{
	double usual_bins_per_s = fmax((double)n_bins / USUAL_S, LEAST_BINS);
	double last = (double)(n_bins - width);
	playback->bin = fmin(
		playback->bin + elapsed_s * playback->speed * usual_bins_per_s, last);
	uint64_t first = (uint64_t)playback->bin;
	if (playback->bin < last)
		return first;
	if (playback->loop)
		playback->bin = 0;
	else
		playback->playing = false;
	return first;
}

void tb_playback_pace(struct tb_playback *playback, double factor)
{
	playback->speed =
		fmin(fmax(playback->speed * factor, 1.0 / MOST_SPEED), MOST_SPEED);
}

#define NOTICE_S 5

void tb_notices_trouble(struct tb_notices *messages, const struct tb_error *error)
{
	tb_error_format(error, messages->trouble, sizeof messages->trouble);
}

void tb_notices_notice(struct tb_notices *messages, const char *format, va_list args)
{
	vsnprintf(messages->notice, sizeof messages->notice, format, args);
	messages->notice_s = NOTICE_S;
}

bool tb_notices_tick(struct tb_notices *messages, double elapsed_s)
{
	if (messages->notice_s <= 0)
		return false;
	messages->notice_s -= elapsed_s;
	return messages->notice_s <= 0;
}
