// Small parts of the viewer: the pointer, playback, and what it reports.
#ifndef TB_CONTROLS_H
#define TB_CONTROLS_H

#include "picture.h"
#include "status.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>

// The pointer: where it is, what it pressed and in which view, and whether it drags.

struct tb_pane;

struct tb_mouse {
	double x, y;
	bool in;    // the window
	bool rests; // since another view came under it
	bool pressed, dragged;
	double press_x, press_y;
	struct tb_pane *grabbed; // the pane of the press
	struct tb_pick pick;	 // what was pressed
};

// tb_mouse_press begins a press in a pane; NULL for one outside of all panes.
void tb_mouse_press(struct tb_mouse *mouse, struct tb_pane *pane, struct tb_pick pick);

// tb_mouse_move moves the pointer; true when that is a drag, then by (dx, dy).
bool tb_mouse_move(struct tb_mouse *mouse, double x, double y, double *dx, double *dy);

// Playback: moves the window over the run as time passes.

struct tb_playback {
	bool playing;
	bool loop;    // start again at the end
	double bin;   // where the window begins, in bins with fractions
	double speed; // 1: the whole run in twenty seconds
};

// tb_playback_advance advances by elapsed_s seconds in a run of n_bins bins with a window
// of `width` bins, and returns the first bin of the window. At the end it stops, or
// starts again with `loop`.
uint64_t tb_playback_advance(
	struct tb_playback *playback, double elapsed_s, uint64_t n_bins, uint64_t width);

// tb_playback_pace multiplies the speed, and clips it to 1/64..64.
void tb_playback_pace(struct tb_playback *playback, double factor);

// Messages on top of the picture: trouble with the store, until it can be read again,
// notices, for a few seconds, and what is being read.

struct tb_notices {
	char trouble[640]; // "" for none
	char notice[640];
	double notice_s;     // how long it still stays
	const char *reading; // what is being read; NULL: nothing that takes long
};

void tb_notices_trouble(struct tb_notices *messages, const struct tb_error *error);
void tb_notices_notice(struct tb_notices *messages, const char *format, va_list args)
	TB_PRINTF(2, 0);

// tb_notices_tick advances time; true when the notice has just expired.
bool tb_notices_tick(struct tb_notices *messages, double elapsed_s);

#endif
