// What the ranks of a run's jobs did when (replay/workload/timeline.h).
//
// Captures that were replayed as they were captured have no ranks.
#ifndef TB_RANK_SPANS_H
#define TB_RANK_SPANS_H

#include "run.h"
#include "spans.h"

// Spans by job, rank and time.
struct tb_rank_spans { // zeroed: none
	struct tb_rank_span *spans;
	size_t n, room;
};

// tb_rank_spans_init reads the spans of which a part lies in [from_ps, to_ps). Cost:
// linear in what the store keeps. TB_EFORMAT when the file is damaged, TB_ENOMEM.
int tb_rank_spans_init(struct tb_rank_spans *times, struct tb_run *run,
	tb_time_ps from_ps, tb_time_ps to_ps, struct tb_error *error) TB_MUST_USE;
void tb_rank_spans_fini(struct tb_rank_spans *times);

// tb_rank_spans_last reads the last span of each rank, by job and rank. Errors and cost
// as above.
int tb_rank_spans_last(struct tb_rank_spans *times, struct tb_run *run,
	struct tb_error *error) TB_MUST_USE;

#endif
