// The jobs of a run: the nodes of each, what it sent, and its slowdown.
#ifndef TB_JOBS_H
#define TB_JOBS_H

#include "run.h"

struct tb_job_figures {
	const char *name;
	char *input, *placement;   // as in struct tb_run_job; "" when unknown
	tb_time_ps start_ps;	   // when it started
	uint32_t n_ranks, n_nodes; // known ones
	char *nodes; // "0-15,20", a long list cut off with "..."; NULL: none
	uint64_t n_flows, n_messages, n_packets, bytes; // delivered
	uint64_t n_undelivered; // messages given up because of faults
	// Sums over messages, as in struct tb_flow_sample.
	uint64_t latency_ps, queue_ps, network_ps, ideal_ps;
	uint64_t worst_latency_ps;    // of one message
	uint64_t wait_ps;	      // of its headers
	tb_time_ps first_ps, last_ps; // begin and end; 0 without messages
	double mean_latency_ps;
	double slowdown; // network_ps / ideal_ps; 0 when unknown
};

struct tb_jobs {
	struct tb_job_figures *jobs; // info.n_jobs entries
	uint32_t n;
};

// tb_jobs_init reads the jobs. In a run that did not end, the figures that come from
// flows are 0. Cost: linear in jobs and in the nodes of all ranks. TB_EFORMAT when the
// file is damaged, TB_ENOMEM.
int tb_jobs_init(
	struct tb_jobs *jobs, struct tb_run *run, struct tb_error *error) TB_MUST_USE;
// tb_jobs_fini frees the jobs; a zeroed struct is fine to free.
void tb_jobs_fini(struct tb_jobs *jobs);

// tb_shared_leaves stores at how many switches of level 0 (leaves) two jobs both have
// nodes: over these one can make the other wait however the rest of the network is
// routed. Cost: a look-up per
// rank of the two. TB_EFORMAT when the file is damaged.
int tb_shared_leaves(struct tb_run *run, uint32_t one_job, uint32_t other_job,
	uint32_t *n, struct tb_error *error) TB_MUST_USE;

#endif
