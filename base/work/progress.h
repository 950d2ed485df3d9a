// Progress of long work: one line on a terminal, redrawn in place a few times a second.
// Nothing is drawn if the output is not a terminal. A program that started this one gets
// lines of numbers instead.
#ifndef TB_PROGRESS_H
#define TB_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct tb_progress {
	int fd; // -1: stay silent
	double started_s;
	double next_s;
	double fraction;  // that was shown last
	double changed_s; // when it became that
	bool drawn;
	bool numbers; // lines for a program
};

// tb_progress_init prepares to draw on descriptor `fd` if that is a terminal; -1 is none.
// It writes to the descriptor because the program's streams make terminal escapes visible
// (visible.h).
void tb_progress_init(struct tb_progress *progress, int fd);

// tb_progress_init_numbers prepares to write lines that tb_progress_parse reads, twice a
// second, whatever the descriptor is.
void tb_progress_init_numbers(struct tb_progress *progress, int fd);

// tb_progress_parse reads such a line; false for another line, which leaves both as they
// are. `fraction` is in [0, 1], `left_s` not negative.
bool tb_progress_parse(const char *line, double *fraction, double *left_s);

// tb_progress_due returns whether a tenth of a second has passed since the line was last
// drawn. It reads the clock, so hot loops should call it every few thousand steps only.
bool tb_progress_due(struct tb_progress *progress);

// tb_progress_show draws "text  42 %  0:12 left" over the previous line. `fraction` is in
// [0, 1], or negative when unknown. The time left follows from when the fraction was
// reached, so it counts down while a coarse fraction stands still.
void tb_progress_show(struct tb_progress *progress, double fraction, const char *text);

// tb_progress_done clears the line.
void tb_progress_done(struct tb_progress *progress);

// tb_clock_s returns a monotonic clock in seconds. It measures the program itself; it has
// nothing to do with simulated time.
double tb_clock_s(void);

#endif
