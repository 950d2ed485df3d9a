// One link over time, in few columns: what a spark line is drawn from.
#ifndef TB_SERIES_H
#define TB_SERIES_H

#include "run.h"

// So many bins are looked at for one series; of more, evenly spaced ones.
#define TB_SERIES_LOOKS 1024

// tb_run_series stores the metric of a link over the whole run in n columns (1 or more)
// of equal time: of the bins that begin in a column their mean, of the longest wait the
// largest. Cost: a look-up a bin, about 2 us (measured). Errors as of tb_run_samples.
int tb_run_series(struct tb_run *run, struct tb_link link, enum tb_metric metric,
	uint64_t *columns, uint32_t n, struct tb_error *error) TB_MUST_USE;

#endif
