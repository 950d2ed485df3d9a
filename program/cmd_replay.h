// `tailback replay`, shared by its files: options, the run itself, and what is said of
// it.
#ifndef TB_CMD_REPLAY_H
#define TB_CMD_REPLAY_H

#include "child.h"
#include "digest.h"
#include "engine.h"
#include "host.h"
#include "names.h"
#include "store.h"
#include "workload.h"

#include <signal.h>

struct replay_options {
	struct tb_workload_options workload;
	const char *network;
	uint32_t n_nodes; // 0: as the network says
	const char *output;
	uint64_t seed;
	tb_time_ps bin_ps; // 0: automatic
	bool without_blame;
	const char *route_file;	   // NULL: the network's own routes
	const char *const *faults; // as tb_faults_add reads them
	size_t n_faults;
	const char *fault_file; // NULL: none
	bool watch;
	bool quiet;
	bool packets_options_used; // one that means nothing for a job was given
	char *described;	   // the options that bear on the result, for the store
	unsigned n_workers;	   // of several runs; 0: as many as there are cores
	const volatile sig_atomic_t *stop;
};

struct run {
	const struct replay_options *options;
	struct tb_workload_options
		wanted; // options->workload, as far as the network lets
	struct tb_network *network;
	uint32_t
		raised_for; // nodes that the tree was raised for by itself; 0: it was not
	struct tb_workload *workload;
	struct tb_source source; // of the workload
	struct tb_store *store;
	int64_t id; // in the store, of one among others; 0: the next
	struct tb_observer observer, of_store;
	struct tb_faults *faults; // NULL: none
	char routes_digest[TB_DIGEST_SIZE];
	struct tb_undelivered_sample *undelivered;
	size_t n_undelivered; // rows
	struct tb_host *host; // between both and the engine; NULL when it is not needed
	struct tb_source nic_source; // what the engine is given
	struct tb_observer nic_observer;
	struct tb_engine *engine;
	char *input_name;
	const char **files;
	size_t n_files;
	const char **node_names;
	struct tb_run_place *places; // of captures: not known before the end
	size_t n_places;
	struct tb_child watcher; // where the run is shown
	double wall_s;
	bool stopped;
	struct tb_error error;
};

// replay_stats are the engine's figures, of whole messages.
struct tb_engine_stats replay_stats(const struct run *run);

bool replay_has_packets(const struct run *run);

// replay_peak_rate is the most payload that a node can send: full packets, one behind the
// other, on all rails.
double replay_peak_rate(const struct run *run);

// replay_print_summary says on stderr what was replayed; replay_warn what nobody may
// overlook, even when no summary is wanted.
int replay_print_summary(struct run *run) TB_MUST_USE;
void replay_warn(const struct run *run);

// replay_take_faults makes run->faults from the options and refuses those that cut the
// network from the start.
int replay_take_faults(struct run *run) TB_MUST_USE;

// replay_observer is that of the store, and keeps what was not delivered for the warning
// replay_warn_of_faults.
struct tb_observer replay_observer(struct run *run);
void replay_warn_of_faults(const struct run *run);

// replay_describe writes the options that bear on the result, for the store: where it is
// written and what is printed do not, so that equal replays give equal stores. NULL when
// there is no memory.
char *replay_describe(const struct replay_options *options);

// The steps of a run: replay_open reads the traces and builds the network,
// replay_make_engine makes one that tells run->observer, replay_begin_store and
// replay_end_store are around what the store is told, the engine's replay_finish
// included. A run is freed by replay_close, whatever came of it.
int replay_open(struct run *run) TB_MUST_USE;
int replay_make_engine(struct run *run) TB_MUST_USE;
int replay_begin_store(struct run *run) TB_MUST_USE;
int replay_finish(struct run *run) TB_MUST_USE;
int replay_end_store(struct run *run, bool complete) TB_MUST_USE;
void replay_close(struct run *run);

// Instants between two looks at the clock and at Ctrl-C: a few milliseconds.
#define REPLAY_SLICE 20000

// replay_run does it and returns the exit code, messages printed.
int replay_run(const struct replay_options *options);

// replay_many does n independent replays, several at once, into one store: the same rows
// as one after another. Returns the exit code, messages printed.
int replay_many(const struct replay_options *options, size_t n);

#endif
