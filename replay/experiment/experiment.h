// The experiments of papers 000 (section 4) and 001, each a set-up that runs on a network
// until it is steady and is measured over a window; and the timed jobs of papers 002 to
// 004 (timed.h).
//
// Model: an experiment gives its nodes and jobs (traffic.h), how long the network warms
// up and how long it is measured. Rates count payload that crossed the nodes' links
// within the window, so neither the start nor the slowest sender's end counts. Where the
// paper averages over distributions of message sizes, replays of both are averaged;
// distributions of times do not matter where nodes send all that they can.
//
// Steady state: the payload of the measured job is counted in TB_STEADY_PARTS parts of
// the window. The window is steady when a straight line through them (least squares)
// changes by at most TB_STEADY_DRIFT of their mean from the window's beginning to its
// end, or by less than its own 95 % interval, and when its queues do not grow: at most
// TB_STEADY_QUEUES more messages are posted than are done, in shares of these, but for
// chance, which is twice the square root of those posted. A window that is not becomes
// part of the warm-up, and another one of twice its length is measured, up to
// TB_STEADY_TRIES in all, unless the window is fixed.
//
// Replays share nothing: any number may run at once on different threads.
#ifndef TB_EXPERIMENT_H
#define TB_EXPERIMENT_H

#include "engine.h"
#include "nearest.h"
#include "network.h"
#include "observer.h"
#include "synth.h"

#include <signal.h>

enum tb_experiment_kind {
	TB_EXPERIMENT_PING,	 // node 0 to the last node
	TB_EXPERIMENT_BOTH_WAYS, // and back
	TB_EXPERIMENT_LATENCY,	 // one message from node 0 to the last node
	TB_EXPERIMENT_PATTERN,	 // a pattern of synth.h among the first n_active nodes
	TB_EXPERIMENT_HOT,	 // all to node 0
	TB_EXPERIMENT_IO,	 // multiple hot-spots: figure 7 of paper 000
	TB_EXPERIMENT_MIX,	 // combined traffic: figure 8
	TB_EXPERIMENT_TIMED,	 // a job that is timed (timed.h)
};

enum tb_io_place { TB_IO_CLUSTERED, TB_IO_DISTRIBUTED };

enum tb_experiment_sizes {
	TB_SIZES_BOTH, // a run with uniform and one with exponential sizes, averaged
	TB_SIZES_FIXED,
	TB_SIZES_UNIFORM,
	TB_SIZES_EXPONENTIAL,
};

struct tb_timed;

struct tb_experiment {
	const char *name;
	enum tb_experiment_kind kind;
	uint32_t n_nodes;  // that the network needs at least
	uint32_t n_active; // nodes 0 .. n_active - 1 take part
	const char *pattern;
	uint64_t message_bytes; // the mean
	enum tb_experiment_sizes sizes;
	double load; // of tb_network_payload_rate that each sender offers; 0: all it can
	enum tb_synth_dist times; // from message to message, with a load
	double reads;		  // share of messages that read instead of write
	uint32_t n_io;		  // I/O nodes
	enum tb_io_place place;	  // of the I/O nodes
	bool dedicated;		  // I/O nodes run nothing else
	bool deterministic;	  // each sender has one I/O node
	bool compute_last;	  // compute job on the last half, I/O job on the first
	double io_load;		  // of the I/O job beside a compute job; 0: there is none
	uint32_t warm_us, window_us;
	bool fixed_window;	      // measured as it is, steady or not
	const struct tb_timed *timed; // else: a job that is timed (timed.h)
};

// Ends with a NULL name.
extern const struct tb_experiment tb_experiments[];

// tb_experiment_find returns NULL when no experiment has this name.
const struct tb_experiment *tb_experiment_find(const char *name);

// tb_experiment_hint writes which experiment an unknown name may have meant, to be
// appended to a message (tb_hint_near). Returns hint->text.
const char *tb_experiment_hint(struct tb_hint *hint, const char *name);

// tb_experiment_describe writes one line about who sends what to whom.
void tb_experiment_describe(
	const struct tb_experiment *experiment, char *text, size_t size);

// tb_experiment_check finds out whether an experiment that was changed can be run:
// TB_EUSAGE when not, with the reason.
int tb_experiment_check(
	const struct tb_experiment *experiment, struct tb_error *error) TB_MUST_USE;

enum { TB_STEADY_PARTS = 20, TB_STEADY_TRIES = 3 };
#define TB_STEADY_DRIFT	 0.02
#define TB_STEADY_QUEUES 0.05

// tb_steady returns whether `n` counts of equal spans, at least three, show no drift by
// the rule above; `drift` gets by which share of their mean the line changes.
bool tb_steady(const double *counts, uint32_t n, double *drift);

enum tb_role {
	TB_ROLE_SILENT,
	TB_ROLE_SENDER, // of the job that is measured
	TB_ROLE_OTHER,	// a node of the other job
};

struct tb_node_outcome {
	enum tb_role role;
	bool serves;	  // an I/O node
	double sent_bps;  // payload out, bytes per second
	double wire_bps;  // the same on the wire
	double taken_bps; // payload in
};

struct tb_link_outcome {
	enum tb_link_kind kind;
	uint32_t level;	   // of the switch that it leads to; of the last one for ejection
	double wait_share; // wait in units of the window
	double delay_share; // delays of tb_engine_options, the same
};

struct tb_outcome {
	uint32_t n_nodes, n_links;
	struct tb_node_outcome *nodes;
	struct tb_link_outcome *links;
	double job_bps;	   // payload of the measured job that arrived, reads included
	double posted_bps; // what it posted in the window
	double by_sizes_bps[2]; // of TB_SIZES_BOTH: with uniform and exponential sizes
	double latency_s; // mean from post to delivery of the measured job's messages;
			  // of a timed job its duration
	double drift;	  // of the payload over the window, in shares of its mean: of the
			  // averaged runs that which is further from 0
	bool grows;	  // queues of a job, the other one's too, did in one of them
	bool steady;	  // all of them were; a timed job always is
	struct tb_engine_stats stats; // of the last of the averaged runs
};

void tb_outcome_free(struct tb_outcome *outcome);

// tb_experiment_fits finds out whether a network that does not grow has the experiment's
// nodes; `name` is the network's, `n_hosts` what tb_network_open_params has of it (0: it
// grows). TB_EUSAGE when not.
int tb_experiment_fits(const struct tb_experiment *experiment, const char *name,
	uint32_t n_hosts, struct tb_error *error) TB_MUST_USE;

// tb_experiment_network builds the lowest tree of `params` that has the experiment's
// nodes, whatever the levels of `params`; of a shape that shape, of a fabric that which
// `name` opens (tb_network_open; NULL will do for others). For a timed job it builds the
// network that this names. TB_EUSAGE when there are too few nodes.
int tb_experiment_network(struct tb_network **network,
	const struct tb_experiment *experiment, const struct tb_network_params *params,
	const char *name, struct tb_error *error) TB_MUST_USE;

struct tb_experiment_options {
	uint64_t seed;
	// receives everything from the start of the warm-up, which is one time bin; NULL:
	// none. With an observer, sizes must not be TB_SIZES_BOTH.
	const struct tb_observer *observer;
	bool with_blame;		   // record who waited for whom
	const volatile sig_atomic_t *stop; // set: give up; may be NULL
};

// tb_experiment_run runs an experiment on a network that has its nodes. TB_ESTOPPED when
// `stop` was set.
int tb_experiment_run(struct tb_outcome **outcome, const struct tb_experiment *experiment,
	const struct tb_network *network, const struct tb_experiment_options *options,
	struct tb_error *error) TB_MUST_USE;

#endif
