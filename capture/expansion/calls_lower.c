// The operations of a call, and what they wait for.
#include "array.h"
#include "calls_job_impl.h"

#include <stdlib.h>

// A call, and where it stands.
struct lowered_call {
	struct tb_lowering *lowering;
	const struct tb_call *call;
	uint32_t rank;
	uint8_t cpu;
};

int tb_front_put(struct tb_lowering *l, uint32_t edge)
{
	if (edge == TB_NO_OP)
		return TB_OK;
	if (TB_ARRAY_RESERVE(&l->front, &l->front_room, l->n_front + 1) != TB_OK)
		return TB_ENOMEM;
	l->front[l->n_front++] = edge;
	return TB_OK;
}

void tb_front_set(struct tb_lowering *l, uint32_t edge)
{
	l->n_front = edge != TB_NO_OP;
	if (l->n_front)
		l->front[0] = edge;
}

static int lowered_depend(const struct lowered_call *h, uint32_t op, uint32_t edge)
{
	return tb_job_depend(h->lowering->builder, h->rank, op, edge & ~TB_DEP_START,
		(edge & TB_DEP_START) != 0, h->lowering->error);
}

// lowered_add adds an operation that waits for the front.
static int lowered_add(const struct lowered_call *h, struct tb_op what, uint32_t *op)
{
	struct tb_lowering *l = h->lowering;
	what.cpu = h->cpu;
	int status = tb_job_add(l->builder, h->rank, &what, op, l->error);
	for (size_t i = 0; i < l->n_front && status == TB_OK; i++)
		status = lowered_depend(h, *op, l->front[i]);
	return status;
}

static int lowered_add_calc(const struct lowered_call *h, uint64_t ns)
{
	uint32_t op;
	int status =
		lowered_add(h, (struct tb_op){.kind = TB_OP_CALC, .amount = ns}, &op);
	if (status == TB_OK)
		tb_front_set(h->lowering, op);
	return status;
}

int tb_front_join(struct tb_lowering *l, uint32_t rank, uint32_t lane, bool end)
{
	const struct lowered_call here = {
		.lowering = l, .rank = rank, .cpu = tb_lane_cpu(lane)};
	bool one = l->n_front == 0 ||
		   (l->n_front == 1 && !(end && l->front[0] & TB_DEP_START));
	return one ? TB_OK : lowered_add_calc(&here, 0);
}

static struct tb_op lowered_message(const struct lowered_call *h, enum tb_op_kind kind,
	uint64_t bytes, enum tb_message_part part)
{
	return (struct tb_op){.kind = (uint8_t)kind,
		.amount = bytes,
		.peer = h->call->peer,
		.tag = tb_lowering_tag(h->lowering, h->call, part)};
}

static bool on_one_host(const struct tb_lowering *l, uint32_t a, uint32_t b)
{
	return a == b || (l->hosts && l->hosts[a] == l->hosts[b]);
}

// add_behind adds what the front does not hold up, but `op`, and stores it there.
static int add_behind(const struct lowered_call *h, struct tb_op what, uint32_t *op)
{
	uint32_t on = *op;
	what.cpu = h->cpu;
	int status =
		tb_job_add(h->lowering->builder, h->rank, &what, op, h->lowering->error);
	return status == TB_OK ? lowered_depend(h, *op, on) : status;
}

// lowered_add_send stores the edge on which the send is complete: a message that is sent
// without asking is buffered, and complete once it was handed over, or written into a
// socket.
static int lowered_add_send(const struct lowered_call *h, bool asks, uint32_t *edge)
{
	uint64_t bytes = h->call->bytes;
	uint32_t op;
	if (!asks) {
		int status = lowered_add(
			h, lowered_message(h, TB_OP_SEND, bytes, TB_PART_EAGER), &op);
		bool waits = h->lowering->reading->sends_wait &&
			     !on_one_host(h->lowering, h->rank, h->call->peer);
		*edge = waits ? op : op | TB_DEP_START;
		return status;
	}
	int status = lowered_add(h, lowered_message(h, TB_OP_SEND, 0, TB_PART_ASK), &op);
	if (status == TB_OK)
		status = lowered_add(
			h, lowered_message(h, TB_OP_RECV, 0, TB_PART_ANSWER), &op);
	if (status == TB_OK)
		status = add_behind(
			h, lowered_message(h, TB_OP_SEND, bytes, TB_PART_DATA), &op);
	*edge = op;
	return status;
}

static int add_recv(
	const struct lowered_call *h, uint64_t bytes, bool asks, uint32_t *edge)
{
	uint32_t op;
	if (!asks)
		return lowered_add(
			h, lowered_message(h, TB_OP_RECV, bytes, TB_PART_EAGER), edge);
	int status = lowered_add(h, lowered_message(h, TB_OP_RECV, 0, TB_PART_ASK), &op);
	if (status == TB_OK)
		status = add_behind(
			h, lowered_message(h, TB_OP_SEND, 0, TB_PART_ANSWER), &op);
	if (status == TB_OK)
		status = lowered_add(
			h, lowered_message(h, TB_OP_RECV, bytes, TB_PART_DATA), edge);
	return status;
}

// lowered_leave_out passes over a call that is not in the job.
static int lowered_leave_out(const struct lowered_call *h, uint32_t index)
{
	int status = tb_lowering_done(h->lowering, h->rank, index, TB_NO_OP);
	tb_timing_leave_at(h->lowering, h->rank, index, TB_AT_NO_TIME);
	return status;
}

static int lowered_add_message(
	const struct lowered_call *h, uint32_t index, uint32_t partner)
{
	struct tb_lowering *l = h->lowering;
	bool is_send = h->call->kind == TB_CALL_SEND;
	uint64_t bytes =
		is_send ? h->call->bytes : l->ranks[h->call->peer].calls[partner].bytes;
	bool asks = bytes > l->eager_bytes && !on_one_host(l, h->rank, h->call->peer);
	uint32_t edge = TB_NO_OP;
	// A call that only starts leaves its front to the next call, so join it to one
	// edge here rather than repeat its edges.
	int status =
		h->call->starts ? tb_front_join(l, h->rank, h->call->lane, false) : TB_OK;
	if (status == TB_OK)
		status = is_send ? lowered_add_send(h, asks, &edge)
				 : add_recv(h, bytes, asks, &edge);
	if (status == TB_OK && !h->call->starts) {
		tb_front_set(l, edge);
		tb_timing_leave_at(l, h->rank, index, edge);
	}
	return status == TB_OK ? tb_lowering_done(l, h->rank, index, edge) : status;
}

static int lowered_add_collective(
	const struct lowered_call *h, uint32_t index, bool *held)
{
	struct tb_lowering *l = h->lowering;
	uint32_t place;
	struct tb_instance *instance = tb_lowering_instance(l, h->rank, index, &place);
	if (instance->dropped)
		return lowered_leave_out(h, index);
	int status = tb_front_join(l, h->rank, h->call->lane, true);
	const struct tb_arrival arrival = {index, l->n_front ? l->front[0] : TB_NO_OP};
	tb_timing_arrive(l, h->rank, index);
	*held = !h->call->starts;
	return status == TB_OK
		       ? tb_lowering_arrive(l, instance, h->call->group, place, arrival)
		       : status;
}

// lowered_add_joint adds a joint. Calls that come after it wait for one edge, so where
// there are such calls its front is joined.
static int lowered_add_joint(const struct lowered_call *h, uint32_t index)
{
	struct tb_lowering *l = h->lowering;
	int status = TB_OK;
	if (tb_bit(l->ranks[h->rank].awaited, index))
		status = tb_front_join(l, h->rank, h->call->lane, false);
	uint32_t edge = l->n_front == 1 ? l->front[0] : TB_NO_OP;
	tb_timing_leave(l, h->rank, index);
	return status == TB_OK ? tb_lowering_done(l, h->rank, index, edge) : status;
}

// lowered_wait_for puts what the call comes after into the front. If a call of its lane
// that itself waits for the front is among them, the front itself need not stay there.
static int lowered_wait_for(
	const struct lowered_call *h, uint32_t index, struct tb_call_lane *lane)
{
	struct tb_lowering *l = h->lowering;
	const struct tb_lowered_rank *rank = &l->ranks[h->rank];
	uint32_t n = 0;
	const uint32_t *on = tb_calls_befores(l->calls, h->rank, index, &n);
	bool implied = false;
	int status = TB_OK;
	for (uint32_t i = 0; i < n && !implied; i++)
		implied = on[i] >= lane->since && rank->edges[on[i]] != TB_NO_OP &&
			  rank->calls[on[i]].lane == h->call->lane &&
			  rank->calls[on[i]].starts;
	if (implied)
		tb_front_set(l, TB_NO_OP);
	for (uint32_t i = 0; i < n && status == TB_OK; i++)
		status = tb_front_put(l, rank->edges[on[i]]);
	if (n)
		lane->since = index;
	return status;
}

static int lowered_compute(
	const struct lowered_call *h, uint32_t index, struct tb_call_lane *lane)
{
	uint64_t ns = h->call->calc_ns + lane->calc_ns;
	lane->calc_ns = 0;
	if (ns)
		lane->since = index;
	int status = ns ? lowered_add_calc(h, ns) : TB_OK;
	return status == TB_OK
		       ? tb_timing_settle(h->lowering, h->rank, h->call->lane, ns > 0)
		       : status;
}

// come_to adds what is before a call: computation, and what it comes after. A lane's
// first call computes when that is complete. A joint is entered before, any other call
// after it.
static int come_to(
	const struct lowered_call *h, uint32_t index, struct tb_call_lane *lane)
{
	bool is_first = !lane->begun, is_joint = h->call->kind == TB_CALL_JOINT;
	int status = is_first ? lowered_wait_for(h, index, lane)
			      : lowered_compute(h, index, lane);
	lane->begun = true;
	if (status == TB_OK && !is_first && is_joint)
		status = tb_timing_enter(h->lowering, h->rank, index);
	if (status == TB_OK)
		status = is_first ? lowered_compute(h, index, lane)
				  : lowered_wait_for(h, index, lane);
	if (status == TB_OK && (is_first || !is_joint))
		status = tb_timing_enter(h->lowering, h->rank, index);
	return status;
}

// is_pause: a call that only computes, for which nobody waits, computes with the next one
// of its lane.
static bool is_pause(const struct lowered_call *h, uint32_t index, bool last)
{
	uint32_t n = 0;
	(void)tb_calls_befores(h->lowering->calls, h->rank, index, &n);
	return h->call->kind == TB_CALL_JOINT && n == 0 && !last &&
	       !tb_bit(h->lowering->ranks[h->rank].awaited, index);
}

int tb_lowering_add(struct tb_lowering *l, uint32_t rank, uint32_t index, bool *held)
{
	const struct tb_call *call = &l->ranks[rank].calls[index];
	struct tb_call_lane *lane = &l->ranks[rank].lanes[call->lane];
	const struct lowered_call here = {l, call, rank, tb_lane_cpu(call->lane)};
	if (is_pause(&here, index, lane->next >= l->ranks[rank].n)) {
		lane->calc_ns += call->calc_ns;
		lane->begun = true;
		return tb_lowering_done(l, rank, index, TB_NO_OP);
	}
	int status = come_to(&here, index, lane);
	if (status != TB_OK)
		return status == TB_ENOMEM ? tb_lowering_no_memory(l) : status;
	if (!call->starts && call->kind != TB_CALL_JOINT)
		lane->since = index + 1;
	uint32_t partner = l->ranks[rank].edges[index];
	if (call->kind == TB_CALL_JOINT)
		return lowered_add_joint(&here, index);
	if (call->kind == TB_CALL_COLLECTIVE)
		return lowered_add_collective(&here, index, held);
	if (partner == TB_NO_OP)
		return lowered_leave_out(&here, index);
	return lowered_add_message(&here, index, partner);
}
