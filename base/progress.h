// Progress on long work: one line on a terminal, redrawn in place a few times a second.
//
// Work reports as often as it likes; a report costs one comparison until it is due.
// Nothing is drawn on what is no terminal.
#ifndef TB_PROGRESS_H
#define TB_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct tb_progress {
	int fd; // -1: stay silent
	double started_s;
	double next_s;
	bool drawn;
};

// tb_progress_init draws on the file descriptor if that is a terminal, else stays silent;
// -1 is none. It is no stream because what it sends steers the terminal (visible.h).
void tb_progress_init(struct tb_progress *progress, int fd);

// tb_progress_due says whether a tenth of a second has passed since the last line was
// drawn. It reads the clock: callers in hot loops ask every few thousand steps.
bool tb_progress_due(struct tb_progress *progress);

// tb_progress_show draws "text  42 %  0:12 left" (fraction in [0, 1], or negative when
// unknown) over the previous line.
void tb_progress_show(struct tb_progress *progress, double fraction, const char *text);

// tb_progress_done clears the line.
void tb_progress_done(struct tb_progress *progress);

// tb_clock_s is a monotonic clock in seconds, for measuring the program itself only.
double tb_clock_s(void);

#endif
