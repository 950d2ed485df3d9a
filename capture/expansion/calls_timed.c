// When calls are entered and left: as the trace recorded it, and at which operations of
// the job.
#include "array.h"
#include "calls_job_impl.h"

#include <stdlib.h>
#include <string.h>

// has_edges finds whether the trace recorded when any call was left, and returns whether
// it did or there are collective calls.
static bool has_edges(struct tb_lowering *l)
{
	bool any_collective = false;
	for (uint32_t r = 0; r < l->n_ranks && !l->has_times; r++)
		for (uint32_t i = 0; i < l->ranks[r].n && !l->has_times; i++) {
			const struct tb_call *call = &l->ranks[r].calls[i];
			l->has_times = call->leave_ns > 0;
			any_collective |= call->kind == TB_CALL_COLLECTIVE;
		}
	return l->has_times || any_collective;
}

int tb_timing_init(struct tb_lowering *l)
{
	if (!has_edges(l))
		return TB_OK;
	for (uint32_t r = 0; r < l->n_ranks; r++) {
		struct tb_lowered_rank *rank = &l->ranks[r];
		rank->timed = malloc(((size_t)rank->n + 1) * sizeof *rank->timed);
		rank->algorithms = calloc((size_t)rank->n + 1, 1);
		if (!rank->timed || !rank->algorithms)
			return tb_lowering_no_memory(l);
		for (uint32_t i = 0; i < rank->n; i++)
			rank->timed[i] =
				(struct tb_call_edges){TB_AT_NO_TIME, TB_AT_NO_TIME};
	}
	return TB_OK;
}

static bool is_timed(const struct tb_lowered_rank *rank, uint32_t call)
{
	return rank->timed && rank->calls[call].leave_ns;
}

static uint32_t front_edge(const struct tb_lowering *l)
{
	return l->n_front ? l->front[0] : TB_AT_BEGINNING;
}

int tb_timing_enter(struct tb_lowering *l, uint32_t r, uint32_t call)
{
	struct tb_lowered_rank *rank = &l->ranks[r];
	if (!is_timed(rank, call))
		return TB_OK;
	int status = tb_front_join(l, r, rank->calls[call].lane, false);
	rank->timed[call].enter = front_edge(l);
	// One that only starts is left at once.
	if (rank->calls[call].starts)
		rank->timed[call].leave = front_edge(l);
	return status;
}

void tb_timing_arrive(struct tb_lowering *l, uint32_t r, uint32_t call)
{
	if (!is_timed(&l->ranks[r], call))
		l->ranks[r].timed[call].enter = front_edge(l);
}

void tb_timing_leave(struct tb_lowering *l, uint32_t r, uint32_t call)
{
	struct tb_lowered_rank *rank = &l->ranks[r];
	if (is_timed(rank, call))
		rank->lanes[rank->calls[call].lane].leaves = call;
}

int tb_timing_settle(struct tb_lowering *l, uint32_t r, uint32_t number, bool computed)
{
	struct tb_call_lane *lane = &l->ranks[r].lanes[number];
	if (lane->leaves == TB_NO_OP)
		return TB_OK;
	int status = tb_front_join(l, r, number, false);
	l->ranks[r].timed[lane->leaves].leave =
		front_edge(l) | (computed ? TB_DEP_START : 0);
	lane->leaves = TB_NO_OP;
	return status;
}

void tb_timing_leave_at(struct tb_lowering *l, uint32_t r, uint32_t call, uint32_t edge)
{
	if (is_timed(&l->ranks[r], call))
		l->ranks[r].timed[call].leave = edge;
}

static uint64_t in_ps(uint64_t ns)
{
	uint64_t most = (uint64_t)TB_TIME_NEVER / TB_PS_PER_NS;
	return (ns < most ? ns : most) * TB_PS_PER_NS;
}

// began_ns returns when the job begins, in the trace's time: the first call of some rank,
// less the computation before it.
static uint64_t began_ns(const struct tb_lowering *l)
{
	uint64_t began_ns = UINT64_MAX;
	for (uint32_t r = 0; r < l->n_ranks; r++) {
		const struct tb_call *first = l->ranks[r].calls;
		uint64_t ns = 0;
		if (l->ranks[r].n == 0)
			continue;
		if (first->enter_ns > first->calc_ns)
			ns = first->enter_ns - first->calc_ns;
		began_ns = ns < began_ns ? ns : began_ns;
	}
	return began_ns;
}

// What is being taken: the calls of a rank, and by lane when the last one was left.
struct timing_take {
	uint64_t began_ns;
	struct tb_recorded_calls *timed;
	size_t room;
	uint64_t *left_ns;
	size_t lanes_room;
};

// timed_call_judge returns why a call cannot be compared, or TB_UNCOMPARED_N if it can.
static enum tb_uncompared timed_call_judge(
	struct timing_take *take, const struct tb_lowered_rank *rank, uint32_t i)
{
	const struct tb_call *call = &rank->calls[i];
	uint64_t *left_ns = &take->left_ns[call->lane];
	bool overlaps = call->leave_ns > call->enter_ns && call->enter_ns < *left_ns;
	if (call->leave_ns > *left_ns)
		*left_ns = call->leave_ns;
	if (call->leave_ns < call->enter_ns)
		return TB_UNCOMPARED_BACKWARDS;
	if (overlaps)
		return TB_UNCOMPARED_OVERLAPS;
	if (call->enter_ns < take->began_ns || rank->timed[i].enter == TB_AT_NO_TIME ||
		rank->timed[i].leave == TB_AT_NO_TIME)
		return TB_UNCOMPARED_LEFT_OUT;
	return TB_UNCOMPARED_N;
}

static int timed_call_take(struct timing_take *take, const struct tb_lowered_rank *rank,
	uint32_t r, uint32_t i)
{
	struct tb_recorded_calls *timed = take->timed;
	const struct tb_call *call = &rank->calls[i];
	size_t n = timed->first[r + 1];
	if (!call->leave_ns)
		return TB_OK;
	enum tb_uncompared reason = timed_call_judge(take, rank, i);
	if (reason != TB_UNCOMPARED_N) {
		timed->n_uncompared[reason]++;
		return TB_OK;
	}
	if (TB_ARRAY_RESERVE(&timed->calls, &take->room, n + 1) != TB_OK)
		return TB_ENOMEM;
	timed->calls[n] = (struct tb_timed_call){
		rank->timed[i].enter, rank->timed[i].leave, tb_timed_kind(call)};
	timed->first[r + 1]++;
	return tb_call_times_add(&timed->times, r, timed->calls[n].kind, call->bytes,
		in_ps(call->enter_ns - take->began_ns),
		in_ps(call->leave_ns - take->began_ns));
}

int tb_timing_take(const struct tb_lowering *l, struct tb_recorded_calls **timed)
{
	struct timing_take take = {.began_ns = began_ns(l)};
	if (!l->has_times)
		return TB_OK;
	take.timed = calloc(1, sizeof *take.timed);
	if (!take.timed)
		return TB_ENOMEM;
	take.timed->n_ranks = l->n_ranks;
	take.timed->first = calloc(l->n_ranks + 1u, sizeof *take.timed->first);
	int status = take.timed->first
			     ? tb_call_times_begin(&take.timed->times, l->n_ranks)
			     : TB_ENOMEM;
	for (uint32_t r = 0; r < l->n_ranks && status == TB_OK; r++) {
		const struct tb_lowered_rank *rank = &l->ranks[r];
		take.timed->first[r + 1] = take.timed->first[r];
		status = TB_ARRAY_RESERVE(
			&take.left_ns, &take.lanes_room, rank->n_lanes + 1);
		if (status == TB_OK)
			memset(take.left_ns, 0, rank->n_lanes * sizeof *take.left_ns);
		for (uint32_t i = 0; i < rank->n && status == TB_OK; i++)
			status = timed_call_take(&take, rank, r, i);
	}
	free(take.left_ns);
	tb_call_times_end(&take.timed->times);
	if (status == TB_OK)
		*timed = take.timed;
	else
		tb_recorded_calls_free(take.timed);
	return status;
}

static uint32_t op_number(uint32_t instant, uint32_t first_op)
{
	return instant == TB_AT_BEGINNING ? instant : instant + first_op;
}

void tb_timing_number(struct tb_recorded_calls *timed, const struct tb_job *job)
{
	for (uint32_t r = 0; r < timed->n_ranks; r++)
		for (size_t i = timed->first[r]; i < timed->first[r + 1]; i++) {
			struct tb_timed_call *call = &timed->calls[i];
			call->enter = op_number(call->enter, job->first_op[r]);
			call->leave = op_number(call->leave, job->first_op[r]);
		}
}
