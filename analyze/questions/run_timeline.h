// The timeline of a run, to write: its ranks and its hottest links over the same axis,
// and the critical path through them.
#ifndef TB_RUN_TIMELINE_H
#define TB_RUN_TIMELINE_H

#include "call_spans.h"
#include "critical_path.h"
#include "hot_links.h"
#include "rank_spans.h"
#include "run.h"

#include <stdio.h>

struct tb_timeline_options {
	tb_time_ps from_ps, to_ps; // what is shown, at most the run
	uint32_t n_links;	   // the hottest in it
	struct tb_run *closer;	   // the same window (closer.h), to read instead; or NULL
};

// A rank that has spans, and what the path spends at it.
struct tb_timeline_rank {
	uint32_t job, rank;
	size_t first_span, n_spans;
	size_t first_call, n_calls;
	double on_path_ps;  // it computes, or sends
	tb_time_ps wait_ps; // until others send, in what is shown
	tb_time_ps end_ps;  // of its last span in the run
};

// In which order ranks are listed, and which of them where not all are.
enum tb_timeline_order {
	TB_RANKS_BY_JOB,  // and number; those on which the path spends most
	TB_RANKS_BY_WAIT, // the longest first
	TB_RANKS_BY_END,  // the last first
	TB_RANKS_ORDERS
};

struct tb_timeline {
	struct tb_run *run;  // borrowed
	struct tb_run *bins; // with the bins: the run, or a closer look at it
	tb_time_ps from_ps, to_ps;
	struct tb_rank_spans times;
	struct tb_call_spans calls;	// of the run; a closer look has no others
	struct tb_critical_path path;	// its shares and links are of what is shown
	struct tb_timeline_rank *ranks; // by job and rank
	size_t n_ranks, ranks_room;
	struct tb_hot_link *links;
	uint32_t n_links;
};

// tb_timeline_init reads it; TB_EUSAGE for a span of time without any of the run, errors
// of the questions. The run is borrowed until tb_timeline_fini.
int tb_timeline_init(struct tb_timeline *timeline, struct tb_run *run,
	const struct tb_timeline_options *options, struct tb_error *error) TB_MUST_USE;
void tb_timeline_fini(struct tb_timeline *timeline);

// tb_timeline_is_whole is whether all of the run is shown.
bool tb_timeline_is_whole(const struct tb_timeline *timeline);

// tb_timeline_choose stores the numbers of the `most` ranks that an order lists, and
// returns how many there are; of equals the lower numbers.
size_t tb_timeline_choose(const struct tb_timeline *timeline,
	enum tb_timeline_order order, size_t *ranks, size_t most);

// tb_timeline_heat stores, for each of the hottest links and of `n` columns of equal
// time, how many headers waited that had come in by it: their mean number. `heat` has
// n_links times n entries. A column is never finer than a bin. Errors as of
// tb_run_samples.
int tb_timeline_heat(const struct tb_timeline *timeline, double *heat, uint32_t n,
	struct tb_error *error) TB_MUST_USE;

// tb_timeline_text writes it for a terminal of `width` characters; of more ranks than
// `n_ranks` those on which the path spends most. For write errors check ferror(stream).
int tb_timeline_text(const struct tb_timeline *timeline, uint32_t width, uint32_t n_ranks,
	FILE *stream, struct tb_error *error) TB_MUST_USE;

// tb_timeline_trace writes it as a trace for Perfetto and chrome://tracing, in the JSON
// of the Trace Event Format (Google, 2016), as schemas/timeline.schema.json has it: a
// process per job with a thread per rank and, behind them, as many for its calls as
// overlap; one with a counter per hottest link; one with the critical path, whose
// messages are flow arrows between ranks. ts and dur are in microseconds, with
// picoseconds behind the point.
int tb_timeline_trace(const struct tb_timeline *timeline, FILE *stream,
	struct tb_error *error) TB_MUST_USE;

#endif
