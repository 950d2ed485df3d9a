// How long each job waited, over time. Sums, exact to the picosecond; no wait is left
// out.
#ifndef TB_JOB_SERIES_H
#define TB_JOB_SERIES_H

#include "run.h"

struct tb_job_series {
	tb_time_ps slice_ps; // width of a slice; 0: the run has none
	uint32_t n_slices;   // up to the last in which a job waited
	uint64_t *wait_ps;   // by slice and job, n_jobs each
};

// tb_job_series_init reads the waits by waiting job. Cost: linear in what the store
// keeps, some hundred slices for each pair of jobs. TB_EFORMAT when the file is damaged,
// TB_ENOMEM. tb_job_series_fini frees them; a zeroed struct is fine to free.
int tb_job_series_init(struct tb_job_series *series, struct tb_run *run,
	struct tb_error *error) TB_MUST_USE;
void tb_job_series_fini(struct tb_job_series *series);

#endif
