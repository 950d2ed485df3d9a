// Records a trace: replays it through a network and keeps the run in a store.
//
// Model: tb_recording_new reads the traces, builds the network and begins the run in the
// store; each tb_recording_advance simulates for some milliseconds; tb_recording_finish
// ends the run. Between these calls the caller may show progress, and others may read the
// store. The caller prints the result (tb_recording_summary). One thread at a time per
// object; recording_many.h records several runs at once.
#ifndef TB_RECORDING_H
#define TB_RECORDING_H

#include "engine.h"
#include "network.h"
#include "shared_inputs.h"
#include "workload.h"

#include <signal.h>

struct tb_recording; // opaque

struct tb_recording_options {
	struct tb_workload_options workload; // its seed is ignored
	const char *network;		     // parsed by tb_network_preset
	bool is_default;		     // nobody chose it
	uint32_t n_nodes;   // add levels until so many fit; 0: as the network has
	const char *output; // the store
	uint64_t seed;
	tb_time_ps bin_ps; // 0: automatic
	// Keep bins, blame and what ranks did of [from_ps, to_ps) alone, multiples of
	// bin_ps, and end soon after; to_ps 0: of all time.
	tb_time_ps from_ps, to_ps;
	bool without_blame;
	unsigned n_threads; // that simulate a large network; 0: one
	// Processes that simulate it together, of which this one is rank 0
	// (recording_together.h); NULL: this one alone.
	struct tb_peer_streams *peers;
	bool alone;	  // replay each job by itself too; see recording_beside.h
	const char *also; // a second capture (rule L17 of infer.h); NULL
	// A network (network_open.h) on which the one job was recorded or captured; NULL:
	// as far as a capture tells of it.
	const char *recorded_on;
	bool no_bounds; // do not replay jobs without a network and on an ideal one
	bool no_check;	// do not replay closed loops at the captured rate too
	const char *route_file;	   // NULL: the network's own routes
	const char *const *faults; // parsed by tb_faults_add
	size_t n_faults;
	const char *fault_file;	 // NULL: none
	const char *const *slow; // parsed by tb_slow_nodes_add
	size_t n_slow;
	bool wants_captures; // an option was given that applies to captures only
	struct tb_shared_inputs *shared;   // with other recordings; NULL: nothing is
	bool watched;			   // a viewer shows the run: commit more often
	const volatile sig_atomic_t *stop; // end early once it is set; NULL: never
	// Called, unless NULL, when everything is read and built and the run is to be
	// begun: until then nothing is left behind if the program is killed.
	void (*settled)(void);
};

// The result of a recording so far. Pointers live as long as the recording.
struct tb_recording_summary {
	int64_t run;		// its number in the store; 0: the next one
	const char *input_name; // files joined by ", "
	const char *also;	// a sentence on the second capture; NULL: there is none
	const char *on_default; // a sentence, where the network is the default and the
				// input was recorded on another; ""
	const char *input_kind; // as struct tb_run_config has it
	const char *options;	// as the store keeps them; NULL before the run begins
	const struct tb_network *network;
	const struct tb_workload *workload;
	struct tb_engine_stats stats; // with messages counted whole
	struct tb_engine_exchange exchange;
	double wall_s; // wall time of the simulation
	// For how many nodes levels were added (0: none were), which the captures or
	// --nodes need.
	uint32_t raised_for;
	const char *raised_by;
	bool stopped; // ended early because `stop` was set
	bool cut;     // and the store has only the beginning of what was simulated
	const struct tb_undelivered_sample *undelivered;
	size_t n_undelivered; // number of flows
};

// tb_recording_new borrows the options until tb_recording_free. TB_EUSAGE for options
// that contradict each other, errors of the readers and of tb_network_open, TB_ECAPACITY
// when the jobs do not fit, TB_EIO when the store cannot be written, TB_ESTOPPED when
// `stop` was set before anything was simulated. On error the store gets no run.
int tb_recording_new(struct tb_recording **recording,
	const struct tb_recording_options *options, struct tb_error *error) TB_MUST_USE;
void tb_recording_free(struct tb_recording *recording);

// tb_recording_read reads what a recording of these options would, for those that
// options->shared is shared with, and records nothing. Errors as of tb_recording_new.
int tb_recording_read(
	const struct tb_recording_options *options, struct tb_error *error) TB_MUST_USE;

// tb_recording_advance returns 1 while there is more to simulate, 0 at the end or when it
// was stopped, or a negative status: the reader's when the trace is broken further on,
// TB_EDEADLOCK, TB_EIO when the store cannot be written. Then tb_recording_finish leaves
// no run.
int tb_recording_advance(
	struct tb_recording *recording, struct tb_error *error) TB_MUST_USE;

// tb_recording_finish ends the run in the store and marks it complete unless it was
// stopped. A run that failed, now or before, is taken out of the store,
// and so is a store that was made for it. Errors of the store.
int tb_recording_finish(
	struct tb_recording *recording, struct tb_error *error) TB_MUST_USE;

struct tb_recording_summary tb_recording_summary(const struct tb_recording *recording);

// tb_recording_has_packets returns whether captures are among the inputs.
bool tb_recording_has_packets(const struct tb_workload *workload);

// tb_recording_endpoint returns the name of the first endpoint of a capture, by which
// tb_recorded_on_of knows its network; NULL where its frames do not tell that.
// tb_recording_untold writes how these were captured, in TB_UNTOLD_SIZE bytes: "captured
// as link type 113 (LINUX_SLL), of a network not known", else "". It returns buffer.
const char *tb_recording_endpoint(const struct tb_packets *packets);
enum { TB_UNTOLD_SIZE = 128 };
char *tb_recording_untold(const struct tb_packets *packets, char buffer[TB_UNTOLD_SIZE]);

// tb_recording_node_rate returns what a node of a network sends of captured frames on all
// rails: frames that stay whole have the network's headers in place of their own ones,
// others are cut into full packets (replay/network/switchings.h).
struct tb_packets_rate tb_recording_node_rate(const struct tb_network_params *params);

#endif
