// The members of a recording, and its steps. Private to analyze/record/.
#ifndef TB_RECORDING_IMPL_H
#define TB_RECORDING_IMPL_H

#include "call_times.h"
#include "digest.h"
#include "engine.h"
#include "errand.h"
#include "faults.h"
#include "host.h"
#include "pace.h"
#include "recording_beside.h"
#include "slow_nodes.h"
#include "store.h"
#include "store_added.h"
#include "workload_alone.h"

// An engine, with the hosts between it and its source and observer where a network needs
// them. Private to analyze/record/.

struct tb_hosted { // zeroed, it may be ended
	struct tb_source source;
	struct tb_observer observer;
	struct tb_host *host;	     // NULL when not needed
	struct tb_source nic_source; // what the engine uses
	struct tb_observer nic_observer;
	struct tb_engine *engine;
};

// tb_hosted_init makes the engine. It keeps source and observer, and borrows the network,
// until tb_hosted_fini; `hosted` must stay where it is. Errors as of tb_engine_new.
int tb_hosted_init(struct tb_hosted *hosted, const struct tb_network *network,
	struct tb_source source, struct tb_observer observer,
	const struct tb_engine_options *options, struct tb_error *error) TB_MUST_USE;
void tb_hosted_fini(struct tb_hosted *hosted);

// The replays of tb_recording_bound.
struct tb_bound_replays {
	struct tb_errands *errands; // that do them beside other work; NULL: not begun
	tb_time_ps open_ps, closed_ps, ideal_ps;
	int status; // 1: stopped
	struct tb_error error;
};

struct tb_recording {
	const struct tb_recording_options *options;
	struct tb_shared_inputs *shared;   // the options', or of several recordings
	struct tb_workload_options wanted; // options->workload, adapted to the network
	struct tb_network *network;
	uint32_t raised_for;
	struct tb_workload *workload;
	struct tb_faults *faults; // NULL: none
	char routes_digest[TB_DIGEST_SIZE];
	char *input_name;
	char *described;	     // the options, once the run has begun
	char on_default[200];	     // as in the summary, once the run has begun
	char digest[TB_DIGEST_SIZE]; // of all inputs
	uint64_t input_bytes;
	const char **files; // of all inputs, for the digest
	size_t n_files;

	struct tb_recording_also *also; // NULL: no second capture
	struct range_work *range;	// what was replayed for it; NULL: nothing yet

	struct tb_store *store; // NULL: not created
	int64_t id;		// run number when several are recorded; 0: the next one

	struct tb_source source; // of the workload
	struct tb_hosted hosted;
	struct tb_engine_stats stats; // once the engine is freed
	struct tb_engine_exchange exchange;
	struct tb_pace pace; // instants between two looks at the clock and the stop flag
	double started_s, checkpoint_s; // clock time; 0: not yet
	double wall_s;
	bool stopped, failed;
	struct tb_bound_replays bound;

	uint8_t *service_levels;     // by job
	const char **node_names;     // borrowed from the workload
	struct tb_run_place *places; // of captures, unknown before the end
	size_t n_places, places_room;
};

// tb_shared_inputs_pool returns the jobs; NULL for NULL.
struct tb_trace_pool *tb_shared_inputs_pool(struct tb_shared_inputs *shared);

// tb_shared_inputs_digest does what tb_digest_files does, once for the same files; each
// time for NULL.
int tb_shared_inputs_digest(struct tb_shared_inputs *shared, const char *const *paths,
	size_t n, char digest[TB_DIGEST_SIZE], uint64_t *bytes,
	struct tb_error *error) TB_MUST_USE;

// tb_recording_open reads the traces and builds the network, with faults and routes.
int tb_recording_open(struct tb_recording *recording, struct tb_error *error) TB_MUST_USE;

// tb_recording_choose has inferred jobs be the hypothesis that comes closest to the
// captured times at the captured rate (infer.h), unless the options name one. Cost: each
// is replayed. Stopped, it chooses none.
int tb_recording_choose(
	struct tb_recording *recording, struct tb_error *error) TB_MUST_USE;

// tb_range_work_free frees what a recording's `range` is; NULL is fine.
void tb_range_work_free(struct range_work *work);

// tb_recording_make_engine makes the engine that calls `observer`.
int tb_recording_make_engine(struct tb_recording *recording, struct tb_observer observer,
	struct tb_error *error) TB_MUST_USE;

// tb_recording_agree has the other processes begin if all of them can; `status` is
// whether this one can. Their errors, and TB_EUSAGE when one of them simulates something
// else.
int tb_recording_agree(const struct tb_recording *recording, int status,
	struct tb_error *error) TB_MUST_USE;

// tb_recording_free_engine frees a finished engine but for its statistics: what is done
// with the run after it, such as replays for bounds, needs the memory.
void tb_recording_free_engine(struct tb_recording *recording);

// tb_recording_simulate does what tb_recording_advance does, but without checkpoints to
// the store.
int tb_recording_simulate(
	struct tb_recording *recording, struct tb_error *error) TB_MUST_USE;

// The notes of a recording's run: what its jobs have, and what is odd about its network.
struct tb_recording_notes {
	struct tb_note *list;
	size_t n, room;
};

int tb_recording_notes_init(struct tb_recording_notes *notes,
	struct tb_recording *recording, struct tb_error *error) TB_MUST_USE;
void tb_recording_notes_fini(struct tb_recording_notes *notes);

// tb_recording_name_nodes fills recording->node_names in, by the traces of jobs.
int tb_recording_name_nodes(
	struct tb_recording *recording, struct tb_error *error) TB_MUST_USE;

// tb_recording_kind returns what a workload's inputs are: "packets", "job" or "mixed".
const char *tb_recording_kind(const struct tb_workload *workload);

// tb_recording_begin writes the run's configuration into recording->store;
// tb_recording_end its result.
int tb_recording_begin(
	struct tb_recording *recording, struct tb_error *error) TB_MUST_USE;
int tb_recording_end(struct tb_recording *recording, struct tb_error *error) TB_MUST_USE;

// tb_recording_keep_recorded writes what the traces recorded, and the same of the replay.
int tb_recording_keep_recorded(
	struct tb_recording *recording, struct tb_error *error) TB_MUST_USE;

// tb_recording_keep_timeline writes what the jobs' ranks did when, and the critical path.
int tb_recording_keep_timeline(
	struct tb_recording *recording, struct tb_error *error) TB_MUST_USE;

// A replay beside the run, on a worker: of a job by itself, or of a hypothesis of the
// inferred jobs.
struct tb_beside_task {
	struct tb_alone_sample sample;
	// Of a hypothesis, below; NULL: it is a job by itself.
	const struct tb_recording *recording;
	const struct tb_network *network;
	size_t hypothesis;	       // the bounds', then the likely one
	struct tb_capture_check check; // where `checks`
	bool checks;
	tb_time_ps took_ps;
	bool done;
};

struct tb_beside_crew {
	const struct tb_recording *recording;
	struct tb_beside_task *tasks;
	size_t n;
	bool with_flows; // add up the flows of jobs
	void *context;
	void (*watch)(void *context, size_t n_done, size_t n);
};

// tb_beside_run runs the replays on so many workers (0: one per core). Those that the
// recording's `stop` ended are not done.
int tb_beside_run(struct tb_beside_crew *crew, unsigned n_workers,
	struct tb_error *error) TB_MUST_USE;

// tb_beside_hypothesis_new makes the source of a hypothesis. The job has taken the place
// of one of its bounds, and that its own.
int tb_beside_hypothesis_new(struct tb_workload_alone **source,
	const struct tb_workload *workload, size_t hypothesis,
	struct tb_error *error) TB_MUST_USE;

// tb_recording_open_captured makes the network on which the input was captured, as far as
// is known: unless `is_flat` the recording's at the captured rate, if it is Ethernet.
int tb_recording_open_captured(struct tb_network **network,
	const struct tb_recording *recording, const struct tb_recorded_calls *recorded,
	bool is_flat, struct tb_error *error) TB_MUST_USE;

// tb_recording_find_check returns the replay of a recording's one job on the run's
// network at the captured rate, NULL if there was none.
const struct tb_beside_task *tb_recording_find_check(
	const struct tb_recording *recording);

// What jobs take by themselves. Zeroed, it has nothing; free(samples).
struct tb_alone_figures {
	struct tb_alone_sample *samples;
	size_t n, n_wanted; // fewer when it was stopped, or failed
};

// tb_recording_replay_alone does the replays of tb_recording_alone, and
// tb_recording_keep_alone writes their figures, uncommitted.
int tb_recording_replay_alone(struct tb_alone_figures *figures,
	const struct tb_recording_alone *asked, struct tb_error *error) TB_MUST_USE;
int tb_recording_keep_alone(struct tb_recording *recording,
	const struct tb_alone_figures *figures, struct tb_error *error) TB_MUST_USE;

// tb_recording_replay_checks does the replays of tb_recording_check, fewer when it was
// stopped or failed, and tb_recording_keep_checks writes their errors, uncommitted.
int tb_recording_replay_checks(struct tb_capture_checks *checks,
	const struct tb_recording *recording, struct tb_error *error) TB_MUST_USE;
int tb_recording_keep_checks(struct tb_recording *recording,
	const struct tb_capture_checks *checks, struct tb_error *error) TB_MUST_USE;

// tb_recording_replay_range does the replays of tb_recording_range, and
// tb_recording_keep_range cuts what they come to where the links of a node need longer,
// and writes it, uncommitted.
int tb_recording_replay_range(struct tb_recording_range_outcome *outcome,
	const struct tb_recording_range *asked, struct tb_error *error) TB_MUST_USE;
int tb_recording_keep_range(struct tb_recording *recording,
	struct tb_recording_range_outcome *outcome, struct tb_error *error) TB_MUST_USE;

// tb_recording_replay_bound does the replays of tb_recording_bound, and
// tb_recording_keep_bound writes what they come to, uncommitted.
// tb_recording_begin_bound has them done meanwhile, if the options allow two threads.
void tb_recording_begin_bound(struct tb_recording *recording);
int tb_recording_replay_bound(struct tb_recording_bound_outcome *outcome,
	struct tb_recording *recording, struct tb_error *error) TB_MUST_USE;
int tb_recording_keep_bound(struct tb_recording *recording,
	const struct tb_recording_bound_outcome *outcome,
	struct tb_error *error) TB_MUST_USE;

// tb_recording_has_rate returns whether all links have that rate: cables of files may
// have their own.
bool tb_recording_has_rate(const struct tb_network *network, uint64_t bytes_per_s);

// tb_recording_describe returns the options that affect the result, malloc'ed, for the
// store. The output's name is left out, so that equal recordings give equal stores. NULL
// when memory runs out.
char *tb_recording_describe(
	const struct tb_recording_options *options, enum tb_hypothesis hypothesis);

// tb_recording_fini frees everything in the recording but the store.
void tb_recording_fini(struct tb_recording *recording);

#endif
