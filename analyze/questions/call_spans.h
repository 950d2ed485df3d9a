// What the ranks of a run's jobs called, and when (replay/workload/timeline.h).
//
// A store keeps the longest calls of each rank where there are many; of jobs that were
// not made of calls it has none.
#ifndef TB_CALL_SPANS_H
#define TB_CALL_SPANS_H

#include "call_figures.h"
#include "run.h"
#include "spans.h"

struct tb_called {
	tb_time_ps from_ps, to_ps;
	uint64_t bytes;
	uint32_t job, rank;
	uint32_t sort; // which of the sorts it is of
};

// Calls of one kind, algorithm, size and number of members.
struct tb_call_sort {
	char *kind, *algorithm; // algorithm is "" without one
	uint64_t bytes;
	uint32_t n_members; // of a collective call; 0: unknown
	struct tb_call_figures figures;
	double bus_rate; // bytes/s, of the mean time without waiting, as nccl-tests
			 // define it (doc/PERFORMANCE.md there); NAN: unknown
};

struct tb_call_spans {		    // zeroed: none
	struct tb_called *calls;    // by job, rank and begin
	struct tb_call_sort *sorts; // by kind, algorithm and size
	size_t n, room, n_sorts, sorts_room;
	uint64_t n_left; // that the store left out, of the whole run
};

// tb_call_spans_init reads the calls of which a part lies in [from_ps, to_ps); sorts
// count whole calls. Cost: linear in what the store keeps. TB_EFORMAT when the file is
// damaged, TB_ENOMEM.
int tb_call_spans_init(struct tb_call_spans *spans, struct tb_run *run,
	tb_time_ps from_ps, tb_time_ps to_ps, struct tb_error *error) TB_MUST_USE;

// tb_call_sorts_init reads the sorts alone, of the whole run, longest in all first.
// Errors and cost as above.
int tb_call_sorts_init(struct tb_call_spans *spans, struct tb_run *run,
	struct tb_error *error) TB_MUST_USE;
void tb_call_spans_fini(struct tb_call_spans *spans);

// tb_call_sort_name writes "allreduce (ring), 4 MiB" and returns buffer.
char *tb_call_sort_name(const struct tb_call_sort *sort, char *buffer, size_t size);

#endif
