// The results store, written: one SQLite file that holds one or more runs.
//
// Model: a run is begun with its whole configuration and the topology, filled through the
// engine's observer in transactions, and marked complete by tb_store_end_run alone.
// Whatever kills the program before leaves a file that opens and says how far the run
// came. Writing another run into an existing store appends; a file that is no Tailback
// store is never touched (TB_EFOREIGN), nor one of another schema version (TB_EVERSION).
// The same input, configuration and seed give the same content, but for the table
// run_environment, which says when, where and how fast.
//
// What was told is committed once a second; others may read the file meanwhile and see
// the last commit. One writer a file: a second one is refused until the first is freed.
// Cost: 1.8 million link samples a second, 37 bytes each in the file; memory for one
// second's samples, and one sum a link. One thread at a time per object.
#ifndef TB_STORE_H
#define TB_STORE_H

#include "faults.h"
#include "network.h"
#include "observer.h"

#include <signal.h>

struct tb_store; // opaque

// The most time bins that a run may have, so that readers can afford an array of them.
#define TB_BINS_MAX (UINT64_C(1) << 24)

// A job as it was let loose on the network.
struct tb_run_job {
	const char *name;
	const char *input;     // the file that it came from
	tb_time_ps start_ps;   // 0: with the run
	const char *placement; // how its ranks were placed; "" when the trace says it
};

// A rank of a job sits on a node.
struct tb_run_place {
	uint32_t job;
	uint32_t rank;
	struct tb_node node;
};

// What a run was made from. Strings are borrowed for the call; NULL reads as "".
struct tb_run_config {
	int64_t run;		  // its number, which none has yet; 0: the next one
	bool whole;		  // keep it as a whole at its end, or nothing of it
	const char *input_name;	  // file names joined by ", ", "-" for standard input
	const char *input_kind;	  // "packets", "job", "mixed" of both, or "experiment"
	const char *input_digest; // SHA-256 in hexadecimal of the inputs' bytes, "" when
				  // streamed
	uint64_t input_bytes;
	uint64_t seed;
	double time_scale;
	const char *options; // the replay's options that bear on the result, joined by a
			     // space; without the output's name, which would tell equal
			     // runs apart
	const char *const
		*node_names; // n_nodes entries, "" when a node has none; may be NULL
	const struct tb_run_job *jobs; // n_jobs entries
	uint32_t n_jobs;
	const struct tb_run_place *places; // n_places entries, each rank once; may be
					   // NULL
	size_t n_places;
	const struct tb_faults *faults; // NULL: none
	const char *routes_name;	// of a route file, "" when routes were computed
	const char *routes_digest;	// SHA-256 in hexadecimal of its bytes
	// Set by another: give up; NULL: never.
	const volatile sig_atomic_t *stop;
};

struct tb_run_result {
	bool complete; // false: stopped early, what there is was kept
	tb_time_ps simulated_ps;
	uint64_t n_messages; // delivered
	uint64_t n_packets;
	uint64_t payload_bytes; // delivered
	uint64_t n_retries;	// packets sent again after an error
	uint64_t n_undelivered; // messages given up
	double wall_s;
	// A JSON object with the input's summary (counts by name), or NULL.
	const char *notes;
	// The nodes' names where they were not all known when the run began (a streamed
	// trace): n_named entries, or NULL to leave what the configuration said.
	const char *const *node_names;
	uint32_t n_named;
	// Likewise for places that were not known when the run began.
	const struct tb_run_place *places;
	size_t n_places;
};

// tb_store_create opens `path` for writing. Nothing is changed in the file before a run
// is begun, and one that is not there is made by the first commit, from memory: whatever
// kills the program before leaves none. TB_EIO when it is read-only, the disk is full or
// another program writes it; TB_EFORMAT when its tables are damaged.
int tb_store_create(
	struct tb_store **store, const char *path, struct tb_error *error) TB_MUST_USE;
// tb_store_free closes (NULL is fine). A run begun and not ended stays in the file as
// incomplete.
void tb_store_free(struct tb_store *store);

// tb_store_next_run gives the number that the next run would get.
int tb_store_next_run(
	struct tb_store *store, int64_t *run, struct tb_error *error) TB_MUST_USE;

// tb_store_begin_run writes the configuration and the topology, and commits: from here
// on the file opens, and says that the run is incomplete. A run that is to be kept as a
// whole is committed by tb_store_end_run alone. `network` and `config` are
// borrowed for the call.
int tb_store_begin_run(struct tb_store *store, const struct tb_network *network,
	const struct tb_run_config *config, struct tb_error *error) TB_MUST_USE;

// tb_store_observer is the observer that writes into the begun run. When a callback
// fails, its sentence is kept: tb_store_error; what was committed before stays. TB_EIO
// when the disk is full, TB_ECAPACITY beyond TB_BINS_MAX.
struct tb_observer tb_store_observer(struct tb_store *store);
const struct tb_error *tb_store_error(const struct tb_store *store);

// tb_store_end_run writes the sums and the result, and commits.
int tb_store_end_run(struct tb_store *store, const struct tb_run_result *result,
	struct tb_error *error) TB_MUST_USE;

#endif
