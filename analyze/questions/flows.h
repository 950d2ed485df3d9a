// Flows: what a job sent from one node to another, and how much slower it was than on an
// idle network.
#ifndef TB_FLOWS_H
#define TB_FLOWS_H

#include "run.h"

struct tb_flow {
	struct tb_flow_sample sample;
	double mean_latency_ps; // over its messages
	double slowdown;	// of its time in the network; 0 when unknown
};

// tb_flows_slowest stores the `top` flows with the largest slowdown (0: all), slowest
// first, in a malloc'ed array that the caller frees. Ties by job, source and destination.
// Cost: reads these flows when the store keeps their order, which it does of large runs
// for a top of up to 1000, else all. A run that did not end has none.
int tb_flows_slowest(struct tb_run *run, uint32_t top, struct tb_flow **flows,
	uint32_t *n, struct tb_error *error) TB_MUST_USE;

// tb_flows_count stores how many flows the run has.
int tb_flows_count(struct tb_run *run, uint64_t *n, struct tb_error *error) TB_MUST_USE;

#endif
