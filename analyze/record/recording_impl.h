// The inside of a recording, and its steps. Private to analyze/record/.
#ifndef TB_RECORDING_IMPL_H
#define TB_RECORDING_IMPL_H

#include "digest.h"
#include "faults.h"
#include "host.h"
#include "recording.h"
#include "store.h"

struct tb_recording {
	const struct tb_recording_options *options;
	struct tb_workload_options
		wanted; // options->workload, as far as the network lets
	struct tb_network *network;
	uint32_t raised_for;
	struct tb_workload *workload;
	struct tb_faults *faults; // NULL: none
	char routes_digest[TB_DIGEST_SIZE];
	char *input_name;
	const char **files; // of all inputs, for the digest
	size_t n_files;

	struct tb_store *store; // NULL: not begun
	int64_t id;		// in the store, of one among others; 0: the next
	struct tb_observer of_store;
	struct tb_undelivered_sample *undelivered;
	size_t n_undelivered;

	struct tb_source source; // of the workload
	struct tb_observer observer;
	struct tb_host *host; // between both and the engine; NULL when it is not needed
	struct tb_source nic_source; // what the engine is given
	struct tb_observer nic_observer;
	struct tb_engine *engine;
	double started_s, checkpoint_s; // on the clock; 0: not yet
	double wall_s;
	bool stopped, failed;

	const char **node_names;
	struct tb_run_place *places; // of captures: not known before the end
	size_t n_places;
};

// tb_recording_open reads the traces and builds the network, with faults and routes.
int tb_recording_open(struct tb_recording *recording, struct tb_error *error) TB_MUST_USE;

// tb_recording_make_engine makes the engine that calls `observer`.
int tb_recording_make_engine(struct tb_recording *recording, struct tb_observer observer,
	struct tb_error *error) TB_MUST_USE;

// tb_recording_simulate is tb_recording_advance without looking at the store.
int tb_recording_simulate(
	struct tb_recording *recording, struct tb_error *error) TB_MUST_USE;

// tb_recording_begin writes what the run is made from into recording->store;
// tb_recording_end what it came to.
int tb_recording_begin(
	struct tb_recording *recording, struct tb_error *error) TB_MUST_USE;
int tb_recording_end(struct tb_recording *recording, struct tb_error *error) TB_MUST_USE;

// tb_recording_observer is that of the store, and keeps what was not delivered.
struct tb_observer tb_recording_observer(struct tb_recording *recording);

// tb_recording_describe writes the options that bear on the result, for the store: where
// it is written does not, so that equal recordings give equal stores. NULL when there is
// no memory.
char *tb_recording_describe(const struct tb_recording_options *options);

// tb_recording_fini frees what the recording holds but the store.
void tb_recording_fini(struct tb_recording *recording);

#endif
