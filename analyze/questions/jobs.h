// The jobs of a run: where each sat, what it sent, how slow that was.
#ifndef TB_JOBS_H
#define TB_JOBS_H

#include "run.h"

struct tb_job_figures {
	const char *name;
	char *input, *placement;   // as in struct tb_run_job; "" when not told
	tb_time_ps start_ps;	   // when it was let go
	uint32_t n_ranks, n_nodes; // that are known to belong to it
	char *nodes; // "0-15,20", cut off with "..." where the list is long; NULL: none
	uint64_t n_flows, n_messages, n_packets, bytes; // delivered
	uint64_t latency_ps, ideal_ps;			// sums over messages
	uint64_t worst_latency_ps;			// of one message
	uint64_t wait_ps;				// of its headers
	tb_time_ps first_ps, last_ps; // first post, last delivery; 0 without messages
	double mean_latency_ps;
	double slowdown; // latency against an idle network; 0 when not known
};

struct tb_jobs {
	struct tb_job_figures *jobs; // info.n_jobs entries
	uint32_t n;
};

// tb_jobs_init reads them; what flows tell is missing from a run that did not end. Cost:
// all flows of the run are looked at. TB_EFORMAT when the file is damaged, TB_ENOMEM.
int tb_jobs_init(
	struct tb_jobs *jobs, struct tb_run *run, struct tb_error *error) TB_MUST_USE;
// A zeroed struct may be ended too.
void tb_jobs_fini(struct tb_jobs *jobs);

#endif
