// The experiments of papers 000 (section 4) and 001, each a set-up that runs on a network
// until it is steady and is measured over a window.
//
// Model: an experiment names its nodes and jobs (traffic.h), how long the network warms
// up and how long it is measured. Rates are of payload that crossed the nodes' links
// within the window, so neither the beginning nor the slowest sender's end counts. Where
// the paper averages over distributions of message sizes the runs of both are averaged;
// distributions of times drop out where nodes send all that they can.
//
// Runs share nothing: any number may run at once on different threads.
#ifndef TB_EXPERIMENT_H
#define TB_EXPERIMENT_H

#include "network.h"
#include "synth.h"

enum tb_experiment_kind {
	TB_EXPERIMENT_PING,	 // node 0 to the last node
	TB_EXPERIMENT_BOTH_WAYS, // and back
	TB_EXPERIMENT_LATENCY,	 // one message from node 0 to the last node
	TB_EXPERIMENT_PATTERN,	 // a pattern of synth.h among the first n_active nodes
	TB_EXPERIMENT_HOT,	 // all to node 0
	TB_EXPERIMENT_IO,	 // multiple hot-spots: figure 7 of paper 000
	TB_EXPERIMENT_MIX,	 // combined traffic: figure 8
};

enum tb_io_place { TB_IO_CLUSTERED, TB_IO_DISTRIBUTED };

struct tb_experiment {
	const char *name;
	enum tb_experiment_kind kind;
	uint32_t n_nodes;  // of the network
	uint32_t n_active; // nodes 0 .. n_active - 1 take part
	const char *pattern;
	uint64_t message_bytes; // the mean
	bool exponential_only;	// sizes; else uniform and exponential, averaged
	bool reads;		// from the hot node instead of writes to it
	enum tb_io_place place; // of the 8 I/O nodes
	bool dedicated;		// I/O nodes run nothing else
	bool deterministic;	// each sender has one I/O node
	bool compute_last;	// compute job on the last half, I/O job on the first
	double io_load;		// of the I/O job beside a compute job
	uint32_t warm_us, window_us;
};

// Ends with a NULL name.
extern const struct tb_experiment tb_experiments[];

// tb_experiment_find returns NULL when no experiment has this name.
const struct tb_experiment *tb_experiment_find(const char *name);

enum tb_role {
	TB_ROLE_SILENT,
	TB_ROLE_SENDER, // of the job that is measured
	TB_ROLE_OTHER,	// a node of the other job
};

struct tb_node_outcome {
	enum tb_role role;
	bool serves;	  // an I/O node
	double sent_bps;  // payload out, bytes a second
	double wire_bps;  // the same on the wire
	double taken_bps; // payload in
};

struct tb_link_outcome {
	enum tb_link_kind kind;
	uint32_t level;	   // of the switch that it leads to; of the last one for ejection
	double wait_share; // wait in units of the window
};

struct tb_outcome {
	uint32_t n_nodes, n_links;
	struct tb_node_outcome *nodes;
	struct tb_link_outcome *links;
	double latency_s; // of TB_EXPERIMENT_LATENCY
};

void tb_outcome_free(struct tb_outcome *outcome);

// tb_experiment_run runs an experiment on the tree of `params`, raised or lowered to the
// experiment's nodes.
int tb_experiment_run(struct tb_outcome **outcome, const struct tb_experiment *experiment,
	const struct tb_network_params *params, uint64_t seed,
	struct tb_error *error) TB_MUST_USE;

#endif
