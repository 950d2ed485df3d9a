// One job of a placed workload by itself: the same messages from the same nodes, started
// when they are started beside the others. Or all jobs, as a bound of the closed loop has
// them.
//
// It shares what it can with the workload (jobs, placement, maps), which must outlive it;
// several can be used at once, each by one thread. Captures are opened and read again.
#ifndef TB_WORKLOAD_ALONE_H
#define TB_WORKLOAD_ALONE_H

#include "workload.h"

struct tb_workload_alone; // opaque

// tb_workload_alone_new makes the source of job number `job` of the workload, whose
// messages keep that number. Errors as of tb_packets_open; TB_ESTOPPED.
int tb_workload_alone_new(struct tb_workload_alone **alone,
	const struct tb_workload *workload, uint32_t job,
	struct tb_error *error) TB_MUST_USE;
void tb_workload_alone_free(struct tb_workload_alone *alone);

// What the captures allow besides the jobs that were inferred from them (job.h).
struct tb_workload_bounds {
	size_t n;   // 0: no job has bounds, or captured times are among the inputs, too
	size_t own; // the bound whose place each job has taken (job.h)
	bool are_hypotheses;
	uint64_t n_calls, n_hidden, n_untold; // of all jobs that have
};

struct tb_workload_bounds tb_workload_bounds_of(const struct tb_workload *workload);

// tb_workload_bound_new makes the source of all jobs, with bound `i` in place of each
// that has bounds (job.h).
int tb_workload_bound_new(struct tb_workload_alone **bound,
	const struct tb_workload *workload, size_t i, struct tb_error *error) TB_MUST_USE;

// tb_workload_has_jobs_only returns whether no capture is replayed at its own times.
bool tb_workload_has_jobs_only(const struct tb_workload *workload);

// tb_workload_jobs_new makes the source of all jobs of such a workload, as the workload's
// own is. TB_ENOMEM.
int tb_workload_jobs_new(struct tb_workload_alone **jobs,
	const struct tb_workload *workload, struct tb_error *error) TB_MUST_USE;

// tb_workload_alone_open_windows has calcs of closed windows (job.h) take no time, and
// returns whether there are any.
bool tb_workload_alone_open_windows(struct tb_workload_alone *alone);

struct tb_source tb_workload_alone_source(struct tb_workload_alone *alone);

// tb_workload_alone_worked_until returns when a rank last ended a calc, as of
// tb_workload_worked_until, of all its jobs.
tb_time_ps tb_workload_alone_worked_until(const struct tb_workload_alone *alone);

// tb_workload_alone_times adds up what the job's calls took, as of tb_workload_times.
int tb_workload_alone_times(const struct tb_workload_alone *alone,
	struct tb_call_times *times, uint64_t *n_unreached) TB_MUST_USE;

#endif
