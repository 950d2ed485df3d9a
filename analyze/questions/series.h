// One link over time, in a few columns, for a spark line.
#ifndef TB_SERIES_H
#define TB_SERIES_H

#include "run.h"

// The most bins that a series reads; from a longer run it takes evenly spaced ones.
#define TB_SERIES_LOOKS 1024

// tb_run_series stores the metric of a link over the whole run in n columns (1 or more)
// of equal time: the mean over the bins that begin in a column, or for the longest wait
// their maximum. Cost: a look-up per bin, about 2 us (measured). Errors as of
// tb_run_samples.
int tb_run_series(struct tb_run *run, struct tb_link link, enum tb_metric metric,
	uint64_t *columns, uint32_t n, struct tb_error *error) TB_MUST_USE;

#endif
