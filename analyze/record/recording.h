// Records a trace: replays it through a network and keeps the run in a store.
//
// Model: tb_recording_new reads the traces, builds the network and begins the run in the
// store, tb_recording_advance simulates some milliseconds' worth at a time,
// tb_recording_finish keeps what there is. In between the caller shows progress or does
// other things; the store can be read meanwhile. What is printed of it is the caller's:
// tb_recording_summary. One thread at a time per object; recording_many.h records several
// runs at once.
#ifndef TB_RECORDING_H
#define TB_RECORDING_H

#include "engine.h"
#include "network.h"
#include "workload.h"

#include <signal.h>

struct tb_recording; // opaque

struct tb_recording_options {
	struct tb_workload_options workload; // but its seed
	const char *network;		     // as tb_network_preset reads it
	uint32_t n_nodes;   // raise the levels until so many fit; 0: as the network says
	const char *output; // the store
	uint64_t seed;
	tb_time_ps bin_ps; // 0: automatic
	bool without_blame;
	const char *route_file;	   // NULL: the network's own routes
	const char *const *faults; // as tb_faults_add reads them
	size_t n_faults;
	const char *fault_file; // NULL: none
	bool wants_captures;	// an option was given that means nothing for a job
	bool watched;		// somebody looks: what is simulated is stored more often
	const volatile sig_atomic_t *stop; // set: end early; NULL: never
};

// What a recording came to, as far as it has come. Pointers live as long as the
// recording.
struct tb_recording_summary {
	int64_t run;		// its number in the store; 0: the next
	const char *input_name; // files joined by ", "
	const struct tb_network *network;
	const struct tb_workload *workload;
	struct tb_engine_stats stats; // of whole messages
	double wall_s;		      // that the simulation took
	// Nodes that the levels were raised for, because captures ask for them; 0: none.
	uint32_t raised_for;
	bool stopped; // before its end, because somebody asked for it
	const struct tb_undelivered_sample *undelivered;
	size_t n_undelivered; // flows
};

// tb_recording_new borrows the options until tb_recording_free. TB_EUSAGE for options
// that make no sense together, errors of the readers and of tb_network_open, TB_ECAPACITY
// when the jobs do not fit, TB_EIO when the store refuses, TB_ESTOPPED when the flag was
// set before anything was simulated. What cannot be replayed leaves no run in the store.
int tb_recording_new(struct tb_recording **recording,
	const struct tb_recording_options *options, struct tb_error *error) TB_MUST_USE;
void tb_recording_free(struct tb_recording *recording);

// tb_recording_advance returns 1 while there is more to simulate, 0 at the end or when it
// was stopped, or a negative status: of a trace that is broken further on, TB_EDEADLOCK,
// TB_EIO when the store cannot be written. After each of them tb_recording_finish keeps
// what there is.
int tb_recording_advance(
	struct tb_recording *recording, struct tb_error *error) TB_MUST_USE;

// tb_recording_finish ends the run in the store: complete, unless it was stopped or
// failed. Errors of the store.
int tb_recording_finish(
	struct tb_recording *recording, struct tb_error *error) TB_MUST_USE;

struct tb_recording_summary tb_recording_summary(const struct tb_recording *recording);

// tb_recording_has_packets finds out whether captures are among the inputs.
bool tb_recording_has_packets(const struct tb_workload *workload);

// tb_recording_peak_rate is the most payload in bytes per second that a node can send:
// full packets, one behind the other, on all rails.
double tb_recording_peak_rate(const struct tb_network *network);

#endif
