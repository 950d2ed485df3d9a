// How long the jobs of a run took, and how long each took by itself: alone on the
// network, and alone on an ideal one (replay --alone). Hence what of a job's run time the
// others cost it, and what the network.
//
// A run time is from the begin of a job to its end. What the others cost can be
// negative: when one job is held up, another may pass. What the network costs cannot,
// unless messages were given up on it.
#ifndef TB_JOB_TIMES_H
#define TB_JOB_TIMES_H

#include "jobs.h"

// What one replay of a job came to.
struct tb_job_time {
	bool known;
	tb_time_ps run_ps;
	uint64_t n_messages;	// delivered
	double mean_latency_ps; // of a message, 0 without any; NaN: not known
};

struct tb_job_times {
	struct tb_job_time run; // with the other jobs
	struct tb_job_time alone, ideal;
};

// What a job's run time is made of.
enum tb_job_part { TB_JOB_IDEAL, TB_JOB_NETWORK, TB_JOB_OTHERS, TB_JOB_PARTS };

// tb_job_times_init stores an entry for each of `jobs`, the jobs of the run, to be freed
// with free(). TB_EFORMAT when the file is damaged, TB_ENOMEM.
int tb_job_times_init(struct tb_job_times **times, const struct tb_jobs *jobs,
	struct tb_run *run, struct tb_error *error) TB_MUST_USE;

// tb_job_times_part stores a part of a job's run time; false when it is not known.
bool tb_job_times_part(
	const struct tb_job_times *times, enum tb_job_part part, tb_time_ps *part_ps);

// tb_job_times_latency_part does the same for the mean latency of its messages.
bool tb_job_times_latency_part(
	const struct tb_job_times *times, enum tb_job_part part, double *part_ps);

#endif
