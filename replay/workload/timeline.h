// What the ranks of a replayed workload did over time, and the critical path: what the
// end of the run waited for, step by step, back to its beginning.
//
// Ranks. At every instant until its last operation has ended, a rank computes, if one of
// its processors does; else the operation counts whose end comes next and lets others
// start: the rank sends, receives what was sent already, or waits until its peer
// sends; while that has not sent, it receives what comes of messages that nothing waits
// for.
// So the spans of a rank follow each other without gaps.
//
// Path. A run ends with its last message or the last computation of a job. From the
// operation that ended last until then back: an operation started when the last one
// that it depends on had ended, or the one that had its processor; a receive ended when a
// message arrived, which the sending rank had posted; and so on. What passed between two
// such instants is a step; of a message, a step for each part of its latency
// (docs/model.md, "Latency"). The steps follow each other without gaps, so they add up to
// the run time. Within a message their order is a convention: queue, software, transfer,
// held up, time-outs: a step for each that ran out before the message had arrived.
//
// Calls. What a rank called lasts from one instant of its job to another
// (call_times.h), and may overlap what it called before. Of that it waits for others: in
// a collective call until the last member has come to its own; as one to whom a root
// gives, until the root has (Scalasca's "wait at N x N", "early reduce", "late
// broadcast"). As a root that gives, as one that gives to a root, and in any other call
// until the message that ends it is sent, or, of a send, until its receiver is ready.
//
// Bounds: all ranks together have TB_TIMELINE_SPANS_MOST spans, or TB_TIMELINE_RANK_LEAST
// each if that is more, and as many calls; the path has TB_TIMELINE_STEPS_MOST steps.
// Where there would be more, short neighbours are merged; of calls the longest are kept.
// The totals of the path are from before that.
#ifndef TB_TIMELINE_H
#define TB_TIMELINE_H

#include "observer.h"
#include "spans.h"
#include "workload.h"

#include <stddef.h>

#define TB_TIMELINE_SPANS_MOST ((size_t)1 << 17)
#define TB_TIMELINE_RANK_LEAST ((size_t)32)
#define TB_TIMELINE_STEPS_MOST ((size_t)1 << 15)

struct tb_path { // zeroed: none
	struct tb_rank_span *steps;
	struct tb_path_total *totals;
	size_t n_steps, steps_room, n_totals, totals_room;
};

// tb_path_find finds the path of a run that ended at `end_ps`, with the time-outs of its
// connections, sorted as they are observed: none of a workload of which no job was
// logged, as those of at most 2^24 operations are. TB_ENOMEM; tb_path_fini in any case.
int tb_path_find(struct tb_path *path, const struct tb_workload *workload,
	const struct tb_timeout_sample *timeouts, size_t n_timeouts,
	tb_time_ps end_ps) TB_MUST_USE;
void tb_path_fini(struct tb_path *path);

// tb_timeline_ranks passes the spans of all logged jobs' ranks of which a part lies in
// [from_ps, to_ps), by job, rank and time; of a window, whose end is not TB_TIME_NEVER,
// without what follows the last operation that others wait for. It stops at, and returns,
// a negative status of `take`. TB_ENOMEM.
int tb_timeline_ranks(const struct tb_workload *workload, tb_time_ps from_ps,
	tb_time_ps to_ps, int (*take)(void *context, const struct tb_rank_span *span),
	void *context) TB_MUST_USE;

struct tb_call_list { // zeroed: none
	struct tb_call_span *calls;
	size_t n, room;
	uint64_t n_all; // with those that were left out
};

// tb_timeline_calls lists the calls of all logged jobs' ranks of which a part lies in
// [from_ps, to_ps), by job, rank and begin, without those that did not end. Algorithms
// are borrowed. TB_ENOMEM; tb_call_list_fini in any case.
int tb_timeline_calls(struct tb_call_list *list, const struct tb_workload *workload,
	tb_time_ps from_ps, tb_time_ps to_ps) TB_MUST_USE;
void tb_call_list_fini(struct tb_call_list *list);

#endif
