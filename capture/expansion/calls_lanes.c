// Goes through the lanes of all ranks, each as far as it can: a lane waits for collective
// calls that others have not come to, and for calls of other lanes that it comes after.
#include "array.h"
#include "calls_job_impl.h"
#include "stop.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

// lane_wake lets a lane continue. A lane that its own collective call held continues at
// the edge on which that call completed.
static int lane_wake(struct tb_lowering *l, uint32_t rank, uint32_t number)
{
	struct tb_call_lane *lane = &l->ranks[rank].lanes[number];
	if (TB_ARRAY_RESERVE(&l->work, &l->work_room, l->n_work + 1) != TB_OK)
		return tb_lowering_no_memory(l);
	if (lane->held)
		lane->edge = l->ranks[rank].edges[lane->waits_on];
	lane->held = false;
	lane->waits_on = TB_NO_OP;
	l->work[l->n_work++] = (struct tb_ready_lane){rank, number};
	return TB_OK;
}

int tb_lowering_done(struct tb_lowering *l, uint32_t rank, uint32_t call, uint32_t edge)
{
	struct tb_lowered_rank *of = &l->ranks[rank];
	int status = TB_OK;
	if (of->calls[call].kind == TB_CALL_COLLECTIVE && !of->calls[call].starts)
		tb_timing_leave_at(l, rank, call, edge);
	of->edges[call] = edge;
	tb_set_bit(of->lowered, call);
	if (!of->waiters)
		return of->lanes[0].waits_on == call ? lane_wake(l, rank, 0) : TB_OK;
	uint32_t lane = of->waiters[call];
	while (lane != TB_NO_OP && status == TB_OK) {
		uint32_t next = of->lanes[lane].next_waiter;
		status = lane_wake(l, rank, lane);
		lane = next;
	}
	of->waiters[call] = TB_NO_OP;
	return status;
}

// sleep_on has a lane wait for a call. Its front is kept as one edge.
static int sleep_on(struct tb_lowering *l, uint32_t rank, uint32_t lane, uint32_t call)
{
	struct tb_lowered_rank *of = &l->ranks[rank];
	int status = tb_front_join(l, rank, lane, false);
	of->lanes[lane].edge = l->n_front ? l->front[0] : TB_NO_OP;
	of->lanes[lane].waits_on = call;
	if (of->waiters) {
		of->lanes[lane].next_waiter = of->waiters[call];
		of->waiters[call] = lane;
	}
	return status;
}

// missing_before returns a call that is not lowered yet and that `call` comes after, or
// TB_NO_OP.
static uint32_t missing_before(const struct tb_lowering *l, uint32_t rank, uint32_t call)
{
	uint32_t n = 0;
	const uint32_t *on = tb_calls_befores(l->calls, rank, call, &n);
	for (uint32_t i = 0; i < n; i++)
		if (!tb_bit(l->ranks[rank].lowered, on[i]))
			return on[i];
	return TB_NO_OP;
}

static int run_lane(struct tb_lowering *l, uint32_t rank, uint32_t number)
{
	struct tb_lowered_rank *of = &l->ranks[rank];
	struct tb_call_lane *lane = &of->lanes[number];
	int status = TB_OK;
	tb_front_set(l, lane->edge);
	while (lane->next < of->n && status == TB_OK) {
		uint32_t call = lane->next;
		uint32_t missing = missing_before(l, rank, call);
		bool held = false;
		if (missing != TB_NO_OP)
			return sleep_on(l, rank, number, missing);
		lane->next = of->next ? of->next[call] : call + 1;
		status = tb_lowering_add(l, rank, call, &held);
		if (!held || status != TB_OK)
			continue;
		if (!tb_bit(of->lowered, call)) {
			lane->held = true;
			return sleep_on(l, rank, number, call);
		}
		tb_front_set(l, of->edges[call]);
	}
	return status == TB_OK ? tb_timing_settle(l, rank, number, false) : status;
}

static int run_work(struct tb_lowering *l)
{
	int status = TB_OK;
	while (l->n_work && status == TB_OK) {
		struct tb_ready_lane work = l->work[--l->n_work];
		if (tb_stop_asked(l->reading->stop))
			return tb_fail(l->error, TB_ESTOPPED, "stopped");
		status = run_lane(l, work.rank, work.lane);
	}
	return status;
}

// lanes_fail_stuck names the lane that waits since the earliest, in captured time.
static int lanes_fail_stuck(const struct tb_lowering *l, uint32_t rank, uint32_t call)
{
	const struct tb_call *of = &l->ranks[rank].calls[call];
	return tb_fail(l->error, TB_EDEADLOCK,
		"rank %" PRIu32 " at %.6f s: its %s of group %" PRIu32
		" never ends, because ranks come to their collective calls in orders "
		"that wait for each other",
		rank, (double)of->enter_ns / 1e9, tb_collective_op_name(of->op),
		of->group);
}

static int check_ended(const struct tb_lowering *l)
{
	uint32_t stuck = TB_NO_OP, call = 0;
	uint64_t since_ns = UINT64_MAX;
	for (uint32_t r = 0; r < l->n_ranks; r++) {
		const struct tb_lowered_rank *rank = &l->ranks[r];
		for (uint32_t i = 0; i < rank->n_lanes; i++) {
			const struct tb_call_lane *lane = &rank->lanes[i];
			uint32_t on = lane->waits_on;
			// Who waits for another lane is not the cause.
			if (on == TB_NO_OP ||
				rank->calls[on].kind != TB_CALL_COLLECTIVE ||
				rank->calls[on].enter_ns >= since_ns)
				continue;
			since_ns = rank->calls[on].enter_ns;
			stuck = r;
			call = on;
		}
	}
	return stuck == TB_NO_OP ? TB_OK : lanes_fail_stuck(l, stuck, call);
}

// link_lanes chains the calls of each lane.
static int link_lanes(struct tb_lowering *l, struct tb_lowered_rank *rank)
{
	rank->next = malloc(rank->n * sizeof *rank->next);
	rank->waiters = malloc(rank->n * sizeof *rank->waiters);
	if (!rank->next || !rank->waiters)
		return tb_lowering_no_memory(l);
	memset(rank->waiters, 0xff, rank->n * sizeof *rank->waiters);
	for (uint32_t i = rank->n; i-- > 0;) {
		struct tb_call_lane *lane = &rank->lanes[rank->calls[i].lane];
		rank->next[i] = lane->next;
		lane->next = i;
	}
	return TB_OK;
}

// mark_awaited marks the joints that others come after.
static void mark_awaited(struct tb_lowering *l, uint32_t r)
{
	struct tb_lowered_rank *rank = &l->ranks[r];
	for (uint32_t i = 0; i < rank->n; i++) {
		uint32_t n = 0;
		const uint32_t *on = tb_calls_befores(l->calls, r, i, &n);
		for (uint32_t k = 0; k < n; k++)
			tb_set_bit(rank->awaited, on[k]);
	}
}

static int lanes_begin_rank(struct tb_lowering *l, uint32_t r)
{
	struct tb_lowered_rank *rank = &l->ranks[r];
	uint32_t last = 0;
	for (uint32_t i = 0; i < rank->n; i++)
		last = rank->calls[i].lane > last ? rank->calls[i].lane : last;
	if (last > rank->n)
		return tb_fail(l->error, TB_EFORMAT,
			"rank %" PRIu32 " has a lane %" PRIu32 ", but %" PRIu32 " calls",
			r, last, rank->n);
	rank->n_lanes = last + 1;
	l->most_lanes = rank->n_lanes > l->most_lanes ? rank->n_lanes : l->most_lanes;
	rank->lanes = calloc(rank->n_lanes, sizeof *rank->lanes);
	if (!rank->lanes)
		return tb_lowering_no_memory(l);
	for (uint32_t i = 0; i < rank->n_lanes; i++)
		rank->lanes[i] = (struct tb_call_lane){.next = last ? rank->n : 0,
			.edge = TB_NO_OP,
			.leaves = TB_NO_OP,
			.waits_on = TB_NO_OP};
	mark_awaited(l, r);
	return last ? link_lanes(l, rank) : TB_OK;
}

int tb_lowering_run(struct tb_lowering *l)
{
	int status = TB_OK;
	for (uint32_t r = 0; r < l->n_ranks && status == TB_OK; r++)
		status = lanes_begin_rank(l, r);
	for (uint32_t r = 0; r < l->n_ranks; r++)
		for (uint32_t i = 0; i < l->ranks[r].n_lanes && status == TB_OK; i++) {
			status = lane_wake(l, r, i);
			if (status == TB_OK)
				status = run_work(l);
		}
	return status == TB_OK ? check_ended(l) : status;
}
