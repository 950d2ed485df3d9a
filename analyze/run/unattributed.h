// What of a run's wait the sums of blame do not hold: nothing, unless a file was damaged.
#ifndef TB_UNATTRIBUTED_H
#define TB_UNATTRIBUTED_H

#include "run.h"

// tb_runs_unattributed stores for each run of a store, in the order of `runs`, the
// largest difference between its wait by link and any of the sums (by root, by root and
// time, by root and job, by jobs and time, by job and link, by waiting flow, by holding
// flow), in ps; -1 for a run without blame: one that did not end, or was replayed with
// --no-blame. Errors as of tb_runs_open. Cost: reads these sums, about 0.1 us a row.
int tb_runs_unattributed(const char *path, const struct tb_runs *runs,
	int64_t *unattributed_ps, struct tb_error *error) TB_MUST_USE;

#endif
