// Playback: moves the window over the run as time passes.
#ifndef TB_PLAYBACK_H
#define TB_PLAYBACK_H

#include <stdbool.h>
#include <stdint.h>

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

#endif
