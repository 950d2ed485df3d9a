// One run of a store, read: what it was, its topology, and per link what happened in a
// window of simulated time. Everything that reports and pictures show comes through here.
//
// The file is opened read-only, and everything in it is taken for a stranger's: tables
// are those of schemas/results.sql, ids and counts are checked, so what these structs
// hold is in range and finite. Names are in their visible form (visible.h).
//
// A tb_run is loaded by tb_run_open (configuration, topology and whole-run sums) and
// reads bins when a window asks for them, so opening does not grow with the number of
// bins; but for a run whose writer was killed or still writes, whose bins are summed.
// What a writer adds to such a run meanwhile is seen by tb_run_refresh. Pointers live
// until tb_run_free. One thread at a time per object.
#ifndef TB_RUN_H
#define TB_RUN_H

#include "network.h"
#include "observer.h"

struct tb_run; // opaque

struct tb_run_info {
	int64_t id; // number of the run within its store, from 1
	const char *network_name;
	const char *input_name;
	const char *input_kind;
	const char *input_digest;
	uint64_t input_bytes;
	const char *options;
	const char *program_version;
	const char *started_at; // ISO 8601, UTC
	const char *host;	// that it ran on
	const char *notes;	// JSON object
	const char
		*library; // of the hosts, with its parameters; "" when they did nothing
	struct tb_network_params network;
	uint64_t seed;
	double time_scale;
	uint32_t n_nodes, n_switches, n_links, n_levels, n_jobs;
	tb_time_ps bin_ps;
	uint64_t n_bins;
	tb_time_ps simulated_ps;
	uint64_t n_undelivered; // messages given up for what was dead
	uint64_t n_retries;	// packets sent again for it
	uint64_t n_messages, n_packets, payload_bytes;
	double wall_s;
	double packets_per_s; // n_packets / wall_s, 0 when unknown
	bool complete;
};

// tb_run_open reads run number `id` of the store, or its newest for 0. TB_EFOREIGN: not a
// store; TB_EVERSION: of another version; TB_EFORMAT: damaged; TB_EIO: absent,
// unreadable; TB_EUSAGE: no such run. Cost: linear in nodes, switches and links.
int tb_run_open(struct tb_run **run, const char *path, int64_t id,
	struct tb_error *error) TB_MUST_USE;
// tb_run_open_bytes reads the newest run of a store that stands in memory, of which it
// makes a copy: `size` bytes, which may be anything. Errors as of tb_run_open. It is
// there for the fuzzer.
int tb_run_open_bytes(struct tb_run **run, const void *bytes, size_t size,
	struct tb_error *error) TB_MUST_USE;
void tb_run_free(struct tb_run *run);

const struct tb_run_info *tb_run_info(const struct tb_run *run);

// The runs of a store, oldest first, without their topology.
struct tb_runs; // opaque

// tb_runs_open fails as tb_run_open does; a store without runs is an empty list.
int tb_runs_open(
	struct tb_runs **runs, const char *path, struct tb_error *error) TB_MUST_USE;
// tb_runs_open_bytes is to tb_runs_open as tb_run_open_bytes to tb_run_open.
int tb_runs_open_bytes(struct tb_runs **runs, const void *bytes, size_t size,
	struct tb_error *error) TB_MUST_USE;
void tb_runs_free(struct tb_runs *runs);
size_t tb_runs_n(const struct tb_runs *runs);
const struct tb_run_info *tb_runs_at(const struct tb_runs *runs, size_t i); // below n

// tb_run_refresh takes up what a writer added to the run since it was opened or
// refreshed: 1 when there is something new, 0 when not. Bins may have become more, or
// wider: then all are new, and a window of before means other times. What was handed out
// by tb_run_look and the texts of tb_run_info are void; topology and names stay. Cost: a
// look at the file when nothing is new, else the new bins. TB_EIO when another run is in
// its place.
int tb_run_refresh(struct tb_run *run, struct tb_error *error) TB_MUST_USE;

struct tb_run_switch {
	struct tb_switch id;
	struct tb_switch_info at;
	uint32_t place;	  // within its level, one rail behind the other, from 0
	const char *name; // the fabric's, else "level.index": "2.13"; of several rails
			  // "r1/2.13"
};

struct tb_run_link {
	struct tb_link id;
	struct tb_link_info at;
	const char *name; // "node 5 > 0.1", "0.1:4 > 1.0:1" (switch:port), "0.1 > node 5"
};

const struct tb_run_switch *tb_run_switches(
	const struct tb_run *run);				  // n_switches, by id
const struct tb_run_link *tb_run_links(const struct tb_run *run); // n_links, by id
const char *tb_run_node_name(
	const struct tb_run *run, struct tb_node node); // "" when none
const char *tb_run_job_name(const struct tb_run *run, uint32_t job);

// A window of simulated time in whole bins: [first_bin, end_bin). {0, 0} is the whole
// run.
struct tb_window {
	uint64_t first_bin;
	uint64_t end_bin;
};

// tb_run_window_ps is the simulated time that a window covers; its last bin may be cut
// short by the end of the run.
tb_time_ps tb_run_window_ps(const struct tb_run *run, struct tb_window window);

// tb_run_samples stores for every link (n_links entries, by id) its sums over the window,
// which reaches at most to the last bin. Counts stop at UINT32_MAX. The whole run costs a
// copy; a window costs its bins, each of which is read from the file once as long as
// there is room for it in memory. TB_EUSAGE for a window without bins; TB_EIO or
// TB_EFORMAT when the file went away or is damaged, or its writer has begun anew with
// other bins; `samples` then hold nothing of use.
int tb_run_samples(struct tb_run *run, struct tb_window window,
	struct tb_link_sample *samples, struct tb_error *error) TB_MUST_USE;

// tb_run_look is the same for a window that moves: what is handed out belongs to the run
// and is what it looks at until the next call of tb_run_look. Moving on by one bin in
// either direction costs two bins, and now and then a look at the others for the longest
// wait. After a failure, what was handed out before holds nothing of use.
int tb_run_look(struct tb_run *run, struct tb_window window,
	const struct tb_link_sample **samples, struct tb_error *error) TB_MUST_USE;

// tb_run_preload reads one more bin ahead of need, the next behind `from` (and round)
// that is not in memory: 1 when it did, 0 when the next 4096 are there or there is no
// room for more. Cost: about 0.4 us a link with something in that bin (measured).
int tb_run_preload(struct tb_run *run, uint64_t from, struct tb_error *error) TB_MUST_USE;

// tb_run_wait_by_bin stores the wait of all links, n_bins entries, in picoseconds a bin.
// Errors as of tb_run_samples.
int tb_run_wait_by_bin(
	struct tb_run *run, uint64_t *wait_ps, struct tb_error *error) TB_MUST_USE;

// The quantities that a matrix or a list can show.
enum tb_metric {
	TB_WAIT,
	TB_STALL,
	TB_BUSY,
	TB_BYTES,
	TB_PACKETS,
	TB_BLOCKED,
	TB_LONGEST
};

// tb_metric_of reads the metric off a sample, in ps, bytes or counts.
uint64_t tb_metric_of(const struct tb_link_sample *sample, enum tb_metric metric);

const char *tb_metric_name(
	enum tb_metric metric); // "wait", "stall", ... as typed by users
// tb_metric_parse returns TB_EUSAGE for a name that none has.
int tb_metric_parse(const char *name, enum tb_metric *metric) TB_MUST_USE;

#endif
