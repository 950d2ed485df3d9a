// The workload: what a replay puts on the network. Jobs and captures, side by side, each
// with its own start and placement.
//
// An input is a job (GOAL, a flow list, what the ranks of a program called), whose ranks
// run where its placement puts them, or captures merged by time, whose endpoints are its
// ranks. Captures that are alone or have a map, and have no placement, choose their nodes
// themselves. Jobs are numbered through all inputs: an input of captures may hold several
// (map_file.h), or be split into those whose nodes talk to each other (survey.h).
//
// Captures that become jobs are an input for each of their jobs.
//
// Life: new reads jobs and looks into captures; then the network can be chosen
// (tb_workload_n_nodes); tb_workload_place places all inputs; then it is a
// source. One thread at a time per object.
#ifndef TB_WORKLOAD_H
#define TB_WORKLOAD_H

#include "job.h"
#include "job_spec.h"
#include "packets.h"
#include "reading.h"
#include "source.h"
#include "trace_pool.h"

#include <signal.h>

#define TB_WORKLOAD_JOBS_MAX 65535

struct tb_workload_options {
	const char *const *traces; // plain inputs; captures among them are merged into
				   // one, and so are the files of a format that has a
				   // file a rank
	size_t n_traces;
	const char *const *jobs; // as tb_job_spec_parse reads them, behind the traces
	size_t n_jobs;
	const char *map;		   // of the only input; NULL: none
	struct tb_packets_options packets; // of all captures; its maps are not looked at
	bool split;			   // captures without a map, as tb_survey does
	const char *split_names;	   // of their jobs, as tb_survey reads them; NULL
	uint32_t
		per_node; // ranks of a job that a node takes, where its spec says nothing
	bool stdin_is_job;		  // what "-" holds
	const struct tb_reading *reading; // of all traces of calls; NULL: the defaults
	struct tb_gpu_node node; // of the network; without links and NICs: unknown
	bool has_local; // something in the nodes carries messages between their ranks
	uint64_t seed;	// of random placements
	struct tb_call_work work;      // of the hosts, in place of that of `reading`
	bool sends_wait;	       // likewise
	bool closed_loop;	       // all captures become jobs (infer.h)
	bool may_close;		       // the same, if there are any
	bool unbounded;		       // those that do get no bounds
	bool without_log;	       // of operations: no timelines, no critical path
	enum tb_hypothesis hypothesis; // that those are which do
	struct tb_trace_pool *pool;    // that jobs are read through; NULL: none
	// On which maps of captures that become jobs are checked before anything is
	// inferred; NULL: they are checked when they are placed.
	const struct tb_network *network;
	// Reading jobs, and captures ahead of their replay, fails with TB_ESTOPPED once
	// it is set; NULL: never.
	const volatile sig_atomic_t *stop;
};

// An input, for summaries. Pointers live as long as the workload.
struct tb_workload_input {
	const char *name;	    // of the files
	const struct tb_job *job;   // NULL: captures
	struct tb_packets *packets; // NULL: a job
	uint32_t first_job, n_jobs;
	bool is_plain;	 // one of `traces`
	bool is_part;	 // of the captures of the input before it
	bool is_calls;	 // a trace of what the ranks of a program called
	bool is_capture; // of which a job may have become
	bool has_map;	 // of the user's
};

// A job, for the store.
struct tb_workload_job {
	const char *name;
	const char *input; // its files
	tb_time_ps start_ps;
	uint8_t service_level;
	const char *placement;	      // as it was given; "" when it was not
	uint32_t n_ranks;	      // of a job that is no capture
	const uint32_t *node_of_rank; // likewise
};

// tb_workload_take_network sets what of a network bears on how traces become jobs: the
// rates at which its hosts combine and pack, its GPUs' links and its adapters.
void tb_workload_take_network(
	struct tb_workload_options *options, const struct tb_network_params *params);

struct tb_workload; // opaque

// tb_workload_new borrows the options until tb_workload_free. TB_EUSAGE for options that
// contradict each other, TB_EFOREIGN for a file that no reader knows, errors of readers.
int tb_workload_new(struct tb_workload **workload,
	const struct tb_workload_options *options, struct tb_error *error) TB_MUST_USE;
void tb_workload_free(struct tb_workload *workload);

// tb_workload_n_nodes returns how many nodes captures need that are the only input, as
// far as is known before they are read to the end; 0 when there are jobs among the
// inputs: tb_workload_place refuses those that do not fit.
uint32_t tb_workload_n_nodes(const struct tb_workload *workload);

// tb_workload_place places all inputs on the network, which is borrowed. TB_ECAPACITY or
// TB_EUSAGE as of tb_places_put.
int tb_workload_place(struct tb_workload *workload, const struct tb_network *network,
	struct tb_error *error) TB_MUST_USE;

// tb_workload_choose has inferred jobs be their bound `i` (job.h), and adds a note on
// that to them; before tb_workload_source. TB_ENOMEM.
int tb_workload_choose(
	struct tb_workload *workload, size_t i, struct tb_error *error) TB_MUST_USE;

// The rest is for a placed workload.
struct tb_source tb_workload_source(struct tb_workload *workload);

uint32_t tb_workload_n_inputs(const struct tb_workload *workload);
struct tb_workload_input tb_workload_input_at(
	const struct tb_workload *workload, uint32_t i);
uint32_t tb_workload_n_jobs(const struct tb_workload *workload);
struct tb_workload_job tb_workload_job_at(
	const struct tb_workload *workload, uint32_t job);

// tb_workload_node is the node of a captured endpoint's node of an input.
struct tb_node tb_workload_node(
	const struct tb_workload *workload, uint32_t input, struct tb_node captured);

// tb_workload_n_waiting returns how many operations of an input's job are not done; 0 for
// captures.
uint64_t tb_workload_n_waiting(const struct tb_workload *workload, uint32_t input);

// tb_workload_worked_until returns when a rank of an input's job last ended a calc, such
// as adding up what came last; 0: none did.
tb_time_ps tb_workload_worked_until(const struct tb_workload *workload, uint32_t input);

// tb_workload_begins returns whether an input's job begins at its start, not with its
// first message: one that was inferred from captures began somewhere within them.
bool tb_workload_begins(const struct tb_workload *workload, uint32_t input);

// tb_workload_times adds up what the calls of an input's job took, as of
// tb_closed_loop_times, once they are replayed; TB_EUSAGE for an input whose trace
// recorded no times.
int tb_workload_times(const struct tb_workload *workload, uint32_t input,
	struct tb_call_times *times, uint64_t *n_unreached) TB_MUST_USE;

// tb_workload_fraction returns the share that was replayed, in [0, 1]; negative when it
// is not known. `n_arrived` counts the packets that arrived: time goes into packets, not
// into operations, of which long ones may all end at once. Of a capture the part that was
// not read yet is taken to be like the rest. Where the packets are not known before (the
// switches replicate them, or a library adds its own) it is the mean share of operations.
double tb_workload_fraction(const struct tb_workload *workload, uint64_t n_arrived);

#endif
