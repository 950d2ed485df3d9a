// What the lists of blame have in common: the time that they cover, and what is beyond
// them.
//
// There are two kinds of lists (observer.h). Sums hold every wait to the picosecond:
// roots.h and job_waits.h. The heaviest are what a replay keeps of what would
// be too many: heavy_waits.h; a row surely waited for wait_ps, at most for wait_ps +
// error_ps.
//
// Every list begins with the longest wait, ties by ids. It is bounded by what the caller
// asks for; `struct tb_listed` holds the totals of the rest. A run that did not end, or
// that was replayed with --no-blame, has empty lists.
#ifndef TB_WAITS_H
#define TB_WAITS_H

#include "run.h"

// A span of simulated time, [from_ps, to_ps). {0, 0} means the whole run.
struct tb_span {
	tb_time_ps from_ps, to_ps;
};

// tb_span_of_window returns the time of a window of bins; {0, 0} of the whole run.
struct tb_span tb_span_of_window(const struct tb_run *run, struct tb_window window);

struct tb_listed {
	uint32_t n;	     // rows that are listed
	uint64_t n_all;	     // rows that there are
	struct tb_span span; // which it covers: the slices of time that the asked one
			     // touches; {0, 0}: the whole run
	double listed_ps;    // wait of the rows that are listed
	double whole_ps;     // of what the list is about, listed or not
	uint64_t floor_ps;   // nothing that a store left out waited longer; 0 of sums
	double rest_ps;	     // the wait that a store left out; 0 of sums
};

#endif
