// Playing: the window moves on over the run by itself.
#ifndef TB_PLAYBACK_H
#define TB_PLAYBACK_H

#include <stdbool.h>
#include <stdint.h>

struct tb_playback {
	bool playing;
	bool loop;    // again from the start when the end is reached
	double bin;   // where the window begins, with fractions of a bin
	double speed; // 1: the whole run in twenty seconds
};

// tb_playback_advance moves on by some seconds in a run of n_bins, under a window of
// `width` bins, and returns the bin that the window begins with now. At the end it stops
// or begins anew.
uint64_t tb_playback_advance(
	struct tb_playback *playback, double elapsed_s, uint64_t n_bins, uint64_t width);

// tb_playback_pace multiplies the speed, which stays between 1/64 and 64.
void tb_playback_pace(struct tb_playback *playback, double factor);

#endif
