// Replays beside a recorded run, of which the store keeps what they come to, not runs.
#ifndef TB_RECORDING_BESIDE_H
#define TB_RECORDING_BESIDE_H

#include "call_times.h"
#include "recording.h"

// What each job of a recorded run takes by itself: its messages are replayed without the
// other jobs', once on the run's network and once on an ideal one (docs/model.md).
//
// Placement, starts, seed and faults are the run's. Of these replays the store keeps what
// each job's figures come to, not runs. Of a run of one job only the ideal one is
// replayed: alone is what it was. Cost: each message is replayed twice, however many jobs
// there are (measured: 15 % of the run for one job, 40 % for four); captures are read
// once more for each of these replays.

struct tb_recording_alone {
	struct tb_recording *recording; // finished, and not stopped
	unsigned n_workers;		// 0: one per core
	void *context;
	// watch is called at least ten times a second.
	void (*watch)(void *context, size_t n_done, size_t n);
};

struct tb_recording_alone_outcome {
	size_t n, n_done; // replays
	bool stopped;	  // ended early because the recording's `stop` was set
};

// tb_recording_alone replays the jobs and stores their figures: when it was stopped, or
// has failed, those that were complete. Errors of the readers and of the store.
int tb_recording_alone(struct tb_recording_alone_outcome *outcome,
	const struct tb_recording_alone *asked, struct tb_error *error) TB_MUST_USE;

// What a recorded run of jobs takes where messages take no time (endless.h), and on an
// ideal network (docs/model.md), for all its jobs together. Of these replays the store
// keeps the times, not runs.
//
// Cost: a few calls a message, and the replay on the ideal network (measured: 15 % of the
// run).

struct tb_recording_bound_outcome {
	// Not with captures at their own times, nor when messages were given up or a
	// replay failed.
	bool known;
	bool stopped; // ended early because the recording's `stop` was set
	// Each at most the next, and the run's; ideal_ps -1: it is not known.
	tb_time_ps compute_ps, ideal_ps;
	tb_time_ps closed_ps; // beyond compute_ps, while receivers' windows were closed
};

// tb_recording_bound replays the jobs of a finished recording and stores the times,
// unless it was stopped. It does nothing with the option no_bounds, or where it cannot be
// done. Errors of the store; TB_ENOMEM.
int tb_recording_bound(struct tb_recording_bound_outcome *outcome,
	struct tb_recording *recording, struct tb_error *error) TB_MUST_USE;

// tb_recording_recorded_network writes the network on which a capture was recorded, as
// far as its packets tell, "ethernet,rate=25000000B/s,burst=2647", with the changes that
// stand behind "recorded" in options->network; 256 bytes and those suffice. Cost: the
// capture is read, and its job inferred. TB_EUSAGE where it does not tell; errors of the
// readers.
int tb_recording_recorded_network(const struct tb_recording_options *options, char *name,
	size_t size, struct tb_error *error) TB_MUST_USE;

// tb_recording_host returns the library that the traces' processes sent with, as networks
// name it: "mpi" of an OTF2 trace, or as the options' --library is of; NULL where none of
// them tells, several differ, or the network has no such library or names
// one of its own: by ",host=", or in the user's file. Cost: the beginning of each trace
// is read, and a fabric.
const char *tb_recording_host(
	const struct tb_workload_options *workload, const char *network);

// Checks an inferred job: replayed at the rate at which it was captured, it should take
// as long as the capture did.

// Of the jobs that were checked, in their order. Zeroed, it has none; free(list).
struct tb_capture_checks {
	struct tb_capture_check *list;
	size_t n;
};

// tb_recording_check replays each inferred job of a finished recording by itself, on its
// network at the captured rate and bucket (on the preset `ethernet`, where the network is
// no Ethernet or its cables have rates of their own), and adds the errors to the store.
// It stores the checks of the jobs with a known rate, fewer when it was stopped or
// failed. Errors as of tb_network_open and of the store.
int tb_recording_check(struct tb_capture_checks *checks, struct tb_recording *recording,
	struct tb_error *error) TB_MUST_USE;

// Between what a recorded run of inferred jobs lies: hypotheses of them (infer.h) are
// replayed as the run was and, unless the option no_check is set, at the captured rate.
// Of these replays the store keeps the range, not runs.

struct tb_recording_range {
	struct tb_recording *recording; // finished, and not stopped
	unsigned n_workers;		// 0: one per core
	void *context;
	// watch is called at least ten times a second.
	void (*watch)(void *context, size_t n_done, size_t n);
};

struct tb_recording_range_outcome {
	size_t n, n_done; // replays; 0: no job was inferred
	bool stopped;	  // ended early because the recording's `stop` was set
	tb_time_ps least_ps, most_ps; // that they, and the captured times, allow
	uint64_t n_calls, n_hidden;   // messages, and those called for behind a queue
	uint64_t n_untold; // or after time that may have been the captured path's
};

// tb_recording_note_of_hosts is a note, malloc'ed, where the network's hosts are not
// those of an input's job: its trace names GPUs with other links to each other, or its
// ranks share hosts and the network's have no library that would carry messages there, or
// each has a host with adapters for several. NULL: there is none.
char *tb_recording_note_of_hosts(const struct tb_network *network,
	const struct tb_workload *workload, const struct tb_workload_input *input);

// tb_recording_lacks_range returns whether inferred jobs have none, as a capture is
// replayed at its own times beside them; the sentence says so.
#define TB_RECORDING_NO_RANGE                                                            \
	"no range of the run time: beside the closed loop a capture is replayed at its " \
	"own times"

bool tb_recording_lacks_range(const struct tb_workload *workload);

// tb_recording_range replays the bounds and stores the range, unless it was stopped.
// Errors of the readers and of the store.
int tb_recording_range(struct tb_recording_range_outcome *outcome,
	const struct tb_recording_range *asked, struct tb_error *error) TB_MUST_USE;

#endif
