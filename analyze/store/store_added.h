// What is added to the run of a store that was begun last, beside what the observer gets:
// what its traces recorded, what ranks did when, what jobs take by themselves, what
// counters counted, and what was tried to make it better. Private to analyze/.
//
// The run may have ended. All but tb_store_put_tried open a transaction unless one is
// open; the caller commits (store_impl.h).
#ifndef TB_STORE_ADDED_H
#define TB_STORE_ADDED_H

#include "call_times.h"
#include "congestion.h"
#include "link_figures.h"
#include "spans.h"
#include "store.h"

// What a job's trace recorded beside what the replay came to: the tables recorded_job,
// recorded_kind, recorded_rank and uncompared.
struct tb_recorded_sample {
	uint32_t job;
	const char *unit; // "call", "message" or "packet"
	uint64_t n;	  // of them, compared
	uint64_t recorded_ps, simulated_ps;
	uint64_t bytes_per_s; // 0: not known
	// Of the same calls; NULL: there are no calls.
	const struct tb_call_times *recorded, *simulated;
	const uint64_t *n_uncompared; // by reason; NULL likewise
};

int tb_store_put_recorded(struct tb_store *store, const struct tb_recorded_sample *sample,
	struct tb_error *error) TB_MUST_USE;
int tb_store_put_check(struct tb_store *store, const struct tb_capture_check *check,
	struct tb_error *error) TB_MUST_USE;

// tb_store_put_congestion adds what a job's captures recorded of congestion (the tables
// recorded_capture, recorded_pair, recorded_bin and recorded_pause).
int tb_store_put_congestion(struct tb_store *store, uint32_t job,
	const struct tb_congestion *congestion, struct tb_error *error) TB_MUST_USE;

// tb_store_put_spans has `list` pass the spans of ranks, by job, rank and time, to
// `take`, and adds them. Returns a negative status of `list`.
int tb_store_put_spans(struct tb_store *store,
	int (*list)(void *from,
		int (*take)(void *context, const struct tb_rank_span *span),
		void *context),
	void *from, struct tb_error *error) TB_MUST_USE;

// tb_store_put_path adds the steps of the path, by time, and its totals.
int tb_store_put_path(struct tb_store *store, const struct tb_rank_span *steps,
	size_t n_steps, const struct tb_path_total *totals, size_t n_totals,
	struct tb_error *error) TB_MUST_USE;

// tb_store_put_calls adds the calls of ranks, by job, rank and begin, of `n_all`.
int tb_store_put_calls(struct tb_store *store, const struct tb_call_span *calls, size_t n,
	uint64_t n_all, struct tb_error *error) TB_MUST_USE;

// A replay of a job's messages without the other jobs'.
struct tb_alone_sample {
	uint32_t job;
	bool ideal;	     // on an ideal network; else on the run's
	tb_time_ps run_ps;   // from its begin to its end
	uint64_t n_messages; // delivered
	uint64_t latency_ps; // sum over messages; UINT64_MAX: not known
};

// tb_store_put_span has a job begin when it started, not with its first message, and end
// at `end_ps` if that is after its last delivery.
int tb_store_put_span(struct tb_store *store, uint32_t job, tb_time_ps end_ps,
	struct tb_error *error) TB_MUST_USE;

int tb_store_put_alone(struct tb_store *store, const struct tb_alone_sample *samples,
	size_t n, struct tb_error *error) TB_MUST_USE;

// tb_store_put_run_alone adds what a run of one job came to: the job was alone in it.
int tb_store_put_run_alone(struct tb_store *store, struct tb_error *error) TB_MUST_USE;

// What an ideal network takes is no bound of what the run's took, and so is not known,
// where it came out longer by more than a TB_IDEAL_PART of that: there frames of TCP are
// lost otherwise, or others meet. What is hardly longer counts as as long.
#define TB_IDEAL_PART 1000

// tb_store_bound_ideal makes what is ideal of a job a lower bound of what the run's
// network took, or takes it away where it is not known, be it the run time or the mean
// latency alone: all of a job of which messages were given up on that network, as the two
// do not compare.
int tb_store_bound_ideal(struct tb_store *store, struct tb_error *error) TB_MUST_USE;

// Between what the run time of inferred jobs lies.
struct tb_range_sample {
	tb_time_ps least_ps, most_ps;
	uint64_t n_calls, n_hidden; // messages, and those called for behind a queue
	uint64_t n_untold;	    // or after what may have been the captured path
};

int tb_store_put_range(struct tb_store *store, const struct tb_range_sample *sample,
	struct tb_error *error) TB_MUST_USE;

// What a run of jobs takes on no network, and on an ideal one.
struct tb_bound_sample {
	// Of closed windows, beside computation: see schemas/results.sql.
	tb_time_ps compute_ps, closed_ps,
		ideal_ps; // the sum of two <= ideal_ps <= the run's; -1: not known
};

int tb_store_put_bound(struct tb_store *store, const struct tb_bound_sample *sample,
	struct tb_error *error) TB_MUST_USE;

// What counters of a live fabric counted beside the figures of links, and how well these
// are known: the tables link_count and link_known.
struct tb_link_count {
	struct tb_link link;
	const char *counter; // its key
	uint64_t count;
	bool at_least; // the counter stood at its end
};

// tb_store_write_counts writes rows of the begun run, each link and counter once at most.
int tb_store_write_counts(struct tb_store *store, const struct tb_link_count *counts,
	size_t n, struct tb_error *error) TB_MUST_USE;

// tb_store_write_known writes, by link, how well the begun run's figures are known;
// `samples` are these, and `tick_bytes` the ticks of PortXmitWait, by link.
int tb_store_write_known(struct tb_store *store, const struct tb_link_known *known,
	const struct tb_link_sample *samples, const uint32_t *tick_bytes,
	uint32_t n_links, struct tb_error *error) TB_MUST_USE;

// A change that was tried: a row of the table `tried`.
struct tb_tried_row {
	const char *command;	  // that replays it, as a finding has it
	const char *title;	  // what is changed
	const char *verdict, *of; // as in schemas/results.sql
	uint32_t job;		  // TB_ID_NONE: not one job's
	uint32_t n_seeds;
	bool needs_hardware;
	int64_t gain_ppm, half_ppm; // half_ppm below 0: no interval
};

// tb_store_put_tried keeps the rows of a run of a finished store, in place of earlier
// tries of the same changes with as many seeds or fewer. TB_EIO when the store cannot be
// written.
int tb_store_put_tried(const char *path, int64_t run, const struct tb_tried_row *rows,
	size_t n, struct tb_error *error) TB_MUST_USE;

#endif
