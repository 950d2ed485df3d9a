// The results store, written: one SQLite file that holds one or more runs.
//
// Model: a run is begun with its whole configuration and the topology, filled through the
// engine's observer in transactions, and marked complete by tb_store_end_run alone.
// Whatever kills the program before leaves a file that opens and says how far the run
// came. Writing another run into an existing store appends; a file that is no Tailback
// store is never touched (TB_EFOREIGN), nor one of another schema version (TB_EVERSION).
// The same input, configuration and seed give the same content, but for the columns that
// say when, where and how fast. One thread at a time per object.
#ifndef TB_STORE_H
#define TB_STORE_H

#include "network.h"
#include "observer.h"

struct tb_store; // opaque

// What a run was made from. Strings are borrowed for the call; NULL reads as "".
struct tb_run_config {
	const char *input_name;	  // file names joined by a space, "-" for standard input
	const char *input_kind;	  // "packets" or "job"
	const char *input_digest; // SHA-256 in hexadecimal of the inputs' bytes, "" when
				  // streamed
	uint64_t input_bytes;
	uint64_t seed;
	double time_scale;
	const char *options; // the replay's options as typed, joined by a space
	const char *const
		*node_names; // n_nodes entries, "" when a node has none; may be NULL
	const char *const *job_names; // n_jobs entries
	uint32_t n_jobs;
};

struct tb_run_result {
	bool complete; // false: stopped early, what there is was kept
	tb_time_ps simulated_ps;
	uint64_t n_messages; // delivered
	uint64_t n_packets;
	uint64_t payload_bytes; // delivered
	double wall_s;
	const char *
		notes; // a JSON object with the input's summary (counts by name), or NULL
};

// tb_store_create opens `path` for writing, making it when absent.
int tb_store_create(
	struct tb_store **store, const char *path, struct tb_error *error) TB_MUST_USE;
// tb_store_free closes. A run begun and not ended stays in the file as incomplete.
void tb_store_free(struct tb_store *store);

// tb_store_begin_run writes the configuration and the topology.
int tb_store_begin_run(struct tb_store *store, const struct tb_network *network,
	const struct tb_run_config *config, struct tb_error *error) TB_MUST_USE;

// tb_store_observer is the observer that writes into the begun run. When a callback
// fails, its sentence is kept: tb_store_error.
struct tb_observer tb_store_observer(struct tb_store *store);
const struct tb_error *tb_store_error(const struct tb_store *store);

int tb_store_end_run(struct tb_store *store, const struct tb_run_result *result,
	struct tb_error *error) TB_MUST_USE;

#endif
