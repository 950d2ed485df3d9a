#include "playback.h"

#include <math.h>

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
