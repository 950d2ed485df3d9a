// Writes the results store: one SQLite file that holds one or more runs.
//
// Model: a run begins with its whole configuration and topology, is filled through the
// engine's observer in transactions, and is marked complete only by tb_store_end_run. If
// the program is killed before that, the file still opens and shows how far the run came.
// Another run is appended to an existing store; a file that is not a Tailback store is
// never changed (TB_EFOREIGN), nor is one of another schema version (TB_EVERSION). The
// same input, configuration and seed give the same content, except for the table
// run_environment, which holds when, where and how fast it ran.
//
// Observed records are committed once a second; others may read the file meanwhile and
// see the last commit. One writer per file: a second one is refused until the first is
// freed. Cost: stores 1.8 million link samples per second (measured), 37 bytes each in
// the file; memory for the samples of one second, and one sum per link. One thread at a
// time per object.
#ifndef TB_STORE_H
#define TB_STORE_H

#include "faults.h"
#include "network.h"
#include "observer.h"

#include <signal.h>
#include <stdbool.h>

struct tb_store; // opaque

// The most time bins that a run may have; readers allocate an array of them.
#define TB_BINS_MAX (UINT64_C(1) << 24)

// The kind of input of what the counters of a live fabric measured, without a replay.
#define TB_MEASURED_KIND "counters"

// A job of the run.
struct tb_run_job {
	const char *name;
	const char *input;     // the file it came from
	tb_time_ps start_ps;   // 0: when the run starts
	const char *placement; // how its ranks were placed; "" when by the trace
};

// The node on which a rank runs.
struct tb_run_place {
	uint32_t job;
	uint32_t rank;
	struct tb_node node;
};

// A sentence on how the run was made, for those who read its figures.
struct tb_note {
	uint32_t job; // TB_ID_NONE: of the network
	char *text;
};

// The configuration of a run. Strings are borrowed for the call; NULL counts as "".
struct tb_run_config {
	int64_t run;		  // its number, not yet in use; 0: the next one
	bool whole;		  // commit it only at its end, all or nothing
	const char *input_name;	  // file names joined by ", ", "-" for standard input
	const char *input_kind;	  // "packets", "job", "mixed" of both, "experiment",
				  // "routes", or TB_MEASURED_KIND
	const char *input_digest; // SHA-256 in hexadecimal of the inputs' bytes, "" when
				  // streamed
	uint64_t input_bytes;
	uint64_t seed;
	double time_scale;
	const char *options; // the replay's options that affect the result, joined by a
			     // space; without the output's name, so that equal runs give
			     // equal stores
	const char *const
		*node_names; // n_nodes entries, "" when a node has none; may be NULL
	const struct tb_run_job *jobs; // n_jobs entries
	uint32_t n_jobs;
	const struct tb_run_place *places; // n_places entries, each rank once; may be
					   // NULL
	size_t n_places;
	bool is_default; // the network, of an input that was recorded on another
	const struct tb_note *notes; // n_notes entries
	size_t n_notes;
	const struct tb_faults *faults; // NULL: none
	const char *routes_name;	// of a route file, "" when routes were computed
	const char *routes_digest;	// SHA-256 in hexadecimal of its bytes
	// Once it is set, beginning the run aborts; after that, bins, flows, blame and
	// totals that take more than 0.4 s of processor time are left out, as if
	// the program had been killed. Lives as long as the run. NULL: never.
	const volatile sig_atomic_t *stop;
};

struct tb_run_result {
	bool complete; // false: stopped early
	tb_time_ps simulated_ps;
	uint64_t n_messages; // delivered
	uint64_t n_packets;
	uint64_t delivered_bytes; // of messages
	uint64_t n_retries;	  // packets sent again because of faults
	uint64_t n_undelivered;	  // messages given up
	uint64_t n_lost;	  // frames for which a queue had no room
	uint64_t n_resent;	  // segments that TCP sent again
	double wall_s;
	// A JSON object with the summary of captures (counts by name), or NULL.
	const char *input_summary;
	// The nodes' names, if not all were known when the run began (a streamed trace):
	// n_named entries, or NULL to keep those of the configuration.
	const char *const *node_names;
	uint32_t n_named;
	// Likewise for places that were not known when the run began.
	const struct tb_run_place *places;
	size_t n_places;
};

// tb_store_create opens `path` for writing. An existing file is not changed before a run
// begins. A new file is created from memory by the first commit, so a program killed
// before that leaves none. TB_EIO when the file is read-only, the disk is full or another
// program is writing it; TB_EFORMAT when its tables are damaged.
int tb_store_create(
	struct tb_store **store, const char *path, struct tb_error *error) TB_MUST_USE;
// tb_store_free closes the store (NULL is fine). A run that was not ended stays in the
// file as incomplete.
void tb_store_free(struct tb_store *store);

// tb_store_next_run stores the number that the next run would get.
int tb_store_next_run(
	struct tb_store *store, int64_t *run, struct tb_error *error) TB_MUST_USE;

// tb_store_begin_run writes the configuration and the topology, and commits: from now on
// the file opens and shows the run as incomplete. A run with `whole` set is committed
// only by tb_store_end_run. `network` and `config` are borrowed for the call.
int tb_store_begin_run(struct tb_store *store, const struct tb_network *network,
	const struct tb_run_config *config, struct tb_error *error) TB_MUST_USE;

// tb_store_observer returns the observer that writes into the begun run. When a callback
// fails, tb_store_error returns its error; what was committed before stays. TB_EIO when
// the disk is full, TB_ECAPACITY beyond TB_BINS_MAX.
struct tb_observer tb_store_observer(struct tb_store *store);
const struct tb_error *tb_store_error(const struct tb_store *store);

// tb_store_undelivered returns what was observed of messages that were given up in the
// run that was begun last. It lives until the next run.
const struct tb_undelivered_sample *tb_store_undelivered(
	const struct tb_store *store, size_t *n);

// tb_store_flow_bytes returns the bytes of all whole messages observed in that run.
uint64_t tb_store_flow_bytes(const struct tb_store *store);

// tb_store_busy_ps returns for how long a link moved bytes in that run.
tb_time_ps tb_store_busy_ps(const struct tb_store *store, struct tb_link link);

// tb_store_timeouts likewise returns the time-outs of connections.
const struct tb_timeout_sample *tb_store_timeouts(
	const struct tb_store *store, size_t *n);

// tb_store_is_cut returns whether records of the run were left out because it was asked
// to stop. Callbacks then return TB_ESTOPPED; the run can still be ended, as incomplete.
bool tb_store_is_cut(const struct tb_store *store);

// tb_store_end_run writes the sums and the result, and commits.
int tb_store_end_run(struct tb_store *store, const struct tb_run_result *result,
	struct tb_error *error) TB_MUST_USE;

// tb_store_drop_run takes the begun run out of the file, whatever failed before; a file
// that was made for it is gone once the store is freed. TB_EIO when the file cannot be
// written: the run then stays, as incomplete. Cost: a row each, three million a second.
int tb_store_drop_run(struct tb_store *store, struct tb_error *error) TB_MUST_USE;

#endif
