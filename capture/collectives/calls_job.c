// Which collective calls belong together: the i-th of each member of a group.
#include "array.h"
#include "calls_lowering.h"
#include "order.h"
#include "stop.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int lowering_no_memory(struct tb_lowering *l)
{
	return tb_fail_memory(l->error, "a job of the calls");
}

static uint64_t place_key(uint32_t group, uint32_t rank)
{
	return (uint64_t)group << 32 | rank;
}

// group_number_members keeps the places of a group's members, except where each has the
// place of its rank, as in the group of all.
static int group_number_members(struct tb_lowering *l, uint32_t group)
{
	struct tb_group members = tb_calls_members(l->calls, group);
	int status = TB_OK;
	l->groups[group].n_made = calloc(members.n, sizeof *l->groups[group].n_made);
	if (!l->groups[group].n_made)
		return TB_ENOMEM;
	for (uint32_t i = 0; i < members.n && status == TB_OK; i++)
		if (members.members[i] != i)
			status = tb_map_put(
				&l->places, place_key(group, members.members[i]), i);
	return status;
}

static bool group_find_place(
	const struct tb_lowering *l, uint32_t group, uint32_t rank, uint32_t *place)
{
	struct tb_group members = tb_calls_members(l->calls, group);
	*place = rank;
	return (rank < members.n && members.members[rank] == rank) ||
	       tb_map_find(&l->places, place_key(group, rank), place);
}

static int fail_call(const struct tb_lowering *l, uint32_t rank,
	const struct tb_call *call, uint64_t nth, const struct tb_instance *instance)
{
	return tb_fail(l->error, TB_EFORMAT,
		"rank %" PRIu32 " at %.6f s: its collective call %" PRIu64
		" of group %" PRIu32 " is %s with root %" PRIu32
		", but that of others is %s with root %" PRIu32
		" (--lenient leaves such calls out)",
		rank, (double)call->enter_ns / 1e9, nth + 1, call->group,
		tb_collective_op_name(call->op), call->peer,
		tb_collective_op_name(instance->op), instance->root);
}

// rank_count_call adds a rank's next call to those of its group, and keeps which one it
// is: lanes do not come to their calls in the order in which these were made.
static int rank_count_call(struct tb_lowering *l, uint32_t rank, uint32_t index)
{
	const struct tb_call *call = &l->ranks[rank].calls[index];
	struct tb_group_calls *group = &l->groups[call->group];
	uint32_t place;
	if (!group_find_place(l, call->group, rank, &place))
		return tb_fail(l->error, TB_EFORMAT,
			"rank %" PRIu32 " at %.6f s: it calls %s in group %" PRIu32
			", of which it is no member",
			rank, (double)call->enter_ns / 1e9,
			tb_collective_op_name(call->op), call->group);
	uint32_t i = group->n_made[place]++;
	l->ranks[rank].edges[index] = i;
	if (TB_ARRAY_RESERVE(&group->instances, &group->room, (size_t)i + 1) != TB_OK)
		return TB_ENOMEM;
	struct tb_instance *instance = &group->instances[i];
	if (i == group->n) {
		*instance = (struct tb_instance){.op = call->op, .root = call->peer};
		group->n++;
	}
	instance->n_seen++;
	if (instance->op == call->op &&
		(!tb_collective_op_has_root(call->op) || instance->root == call->peer))
		return TB_OK;
	instance->dropped = true;
	return l->reading->lenient ? TB_OK : fail_call(l, rank, call, i, instance);
}

// call_enter_time returns when a rank made its nth call of a group.
static double call_enter_time(
	const struct tb_lowering *l, uint32_t rank, uint32_t group, size_t nth)
{
	const struct tb_lowered_rank *of = &l->ranks[rank];
	for (uint32_t i = 0; i < of->n; i++)
		if (of->calls[i].kind == TB_CALL_COLLECTIVE &&
			of->calls[i].group == group && nth-- == 0)
			return (double)of->calls[i].enter_ns / 1e9;
	return 0;
}

// fail_missing names a member that did not make a call, and one that did.
static int fail_missing(const struct tb_lowering *l, uint32_t group, size_t nth)
{
	struct tb_group members = tb_calls_members(l->calls, group);
	const struct tb_group_calls *of = &l->groups[group];
	uint32_t missing = 0, other = 0;
	while (of->n_made[missing] > nth)
		missing++;
	while (of->n_made[other] <= nth)
		other++;
	return tb_fail(l->error, TB_EFORMAT,
		"rank %" PRIu32
		" at %.6f s: its %s (collective call %zu of group %" PRIu32
		") lacks rank %" PRIu32 ", which makes %" PRIu32
		" of the group (--lenient leaves such calls out)",
		members.members[other],
		call_enter_time(l, members.members[other], group, nth),
		tb_collective_op_name(of->instances[nth].op), nth + 1, group,
		members.members[missing], of->n_made[missing]);
}

// group_settle_place finds the calls that members lack.
static int group_settle_place(struct tb_lowering *l, uint32_t group)
{
	struct tb_group_calls *of = &l->groups[group];
	struct tb_group members = tb_calls_members(l->calls, group);
	for (size_t i = 0; i < of->n; i++) {
		struct tb_instance *instance = &of->instances[i];
		if (instance->n_seen < members.n && !l->reading->lenient)
			return fail_missing(l, group, i);
		instance->dropped = instance->dropped || instance->n_seen < members.n;
		l->n_dropped_collectives += instance->dropped;
	}
	return TB_OK;
}

// lowering_collect counts the collective calls of each group, and finds those that not
// every member makes alike.
static int lowering_collect(struct tb_lowering *l)
{
	uint32_t n = tb_calls_n_groups(l->calls);
	int status = TB_OK;
	l->groups = calloc(n, sizeof *l->groups);
	if (!l->groups)
		return lowering_no_memory(l);
	for (uint32_t g = 0; g < n && status == TB_OK; g++)
		status = group_number_members(l, g);
	for (uint32_t r = 0; r < l->n_ranks; r++) {
		const struct tb_lowered_rank *rank = &l->ranks[r];
		for (uint32_t i = 0; i < rank->n && status == TB_OK; i++)
			if (rank->calls[i].kind == TB_CALL_COLLECTIVE)
				status = rank_count_call(l, r, i);
	}
	for (uint32_t g = 0; g < n && status == TB_OK; g++)
		status = group_settle_place(l, g);
	return status == TB_ENOMEM ? lowering_no_memory(l) : status;
}

struct tb_instance *tb_lowering_instance(
	struct tb_lowering *l, uint32_t rank, uint32_t index, uint32_t *place)
{
	const struct tb_lowered_rank *of = &l->ranks[rank];
	uint32_t group = of->calls[index].group;
	*place = 0;
	(void)group_find_place(l, group, rank, place); // lowering_collect found it
	return &l->groups[group].instances[of->edges[index]];
}

uint32_t tb_lowering_meetings(struct tb_lowering *l)
{
	uint32_t n = 0;
	for (uint32_t g = 0; l->groups && g < tb_calls_n_groups(l->calls); g++) {
		struct tb_group_calls *group = &l->groups[g];
		group->first_meeting = n;
		n += (uint32_t)group->n;
		memset(group->n_made, 0,
			tb_calls_members(l->calls, g).n * sizeof *group->n_made);
	}
	return n;
}

void tb_lowering_meet(struct tb_lowering *l, uint32_t rank, const struct tb_call *call,
	struct tb_placed_call *placed)
{
	struct tb_group_calls *group = &l->groups[call->group];
	uint32_t place = 0;
	(void)group_find_place(l, call->group, rank, &place);
	placed->meeting = group->first_meeting + group->n_made[place]++;
	placed->is_root = place == call->peer;
}

// Pairs sends and receives, receiver by receiver: by source, group and tag, in the order
// of the calls.

// A send to one rank or a receive of it.
struct call_end {
	uint64_t channel; // source in the upper half, number of group and tag in the
			  // lower
	uint32_t call;
};

struct inbound_calls {
	size_t *first; // by rank, n_ranks + 1: the sends to it
	struct call_origin {
		uint32_t rank, call;
	} * sends;
};

struct call_meeting {
	struct tb_lowering *lowering;
	uint32_t rank;
	struct call_end *sends, *recvs;
	size_t n_sends, n_recvs, sends_room, recvs_room;
};

static uint64_t tag_key(const struct tb_call *call)
{
	return (uint64_t)call->group << 32 | call->tag;
}

static uint32_t tag_number(const struct tb_lowering *l, const struct tb_call *call)
{
	uint32_t number = 0;
	bool found = tb_map_find(&l->tags, tag_key(call), &number);
	return found ? number : 0; // all are numbered before
}

static uint32_t lowering_n_parts(const struct tb_lowering *l)
{
	return l->eager_bytes == UINT64_MAX ? 1 : TB_PART_DATA + 1;
}

uint32_t tb_lowering_tag(const struct tb_lowering *l, const struct tb_call *call,
	enum tb_message_part part)
{
	return tag_number(l, call) * lowering_n_parts(l) + (uint32_t)part;
}

// list_sends numbers all tags and groups the sends by destination.
static int list_sends(struct tb_lowering *l, struct inbound_calls *inbound)
{
	int status = TB_OK;
	size_t *first = inbound->first, end = 0;
	for (uint32_t r = 0; r < l->n_ranks; r++) {
		const struct tb_lowered_rank *rank = &l->ranks[r];
		for (uint32_t i = 0; i < rank->n && status == TB_OK; i++) {
			const struct tb_call *call = &rank->calls[i];
			if (call->kind == TB_CALL_SEND)
				first[call->peer]++;
			uint32_t number;
			if ((call->kind == TB_CALL_SEND || call->kind == TB_CALL_RECV) &&
				!tb_map_find(&l->tags, tag_key(call), &number))
				status = tb_map_put(&l->tags, tag_key(call), l->n_tags++);
		}
	}
	for (uint32_t r = 0; r <= l->n_ranks; r++)
		first[r] = end += first[r];
	inbound->sends = malloc((end + 1) * sizeof *inbound->sends);
	if (!inbound->sends || status != TB_OK)
		return TB_ENOMEM;
	for (uint32_t r = l->n_ranks; r-- > 0;) {
		const struct tb_lowered_rank *rank = &l->ranks[r];
		for (uint32_t i = rank->n; i-- > 0;)
			if (rank->calls[i].kind == TB_CALL_SEND)
				inbound->sends[--first[rank->calls[i].peer]] =
					(struct call_origin){r, i};
	}
	return TB_OK;
}

TB_ORDER_BY(end_by_channel, struct call_end, TB_UP(channel) TB_UP(call))

// ends_sort sorts ends unless they are, as they mostly are: sources ascend.
static void ends_sort(struct call_end *ends, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		if (end_by_channel(&ends[i - 1], &ends[i]) < 0)
			continue;
		qsort(ends, n, sizeof *ends, end_by_channel);
		return;
	}
}

static int meeting_take_ends(struct call_meeting *m, const struct inbound_calls *inbound)
{
	struct tb_lowering *l = m->lowering;
	const struct tb_lowered_rank *rank = &l->ranks[m->rank];
	m->n_sends = m->n_recvs = 0;
	for (size_t i = inbound->first[m->rank]; i < inbound->first[m->rank + 1]; i++) {
		struct call_origin from = inbound->sends[i];
		const struct tb_call *call = &l->ranks[from.rank].calls[from.call];
		if (TB_ARRAY_RESERVE(&m->sends, &m->sends_room, m->n_sends + 1) != TB_OK)
			return TB_ENOMEM;
		m->sends[m->n_sends++] = (struct call_end){
			(uint64_t)from.rank << 32 | tag_number(l, call), from.call};
	}
	for (uint32_t i = 0; i < rank->n; i++) {
		const struct tb_call *call = &rank->calls[i];
		if (call->kind != TB_CALL_RECV)
			continue;
		if (TB_ARRAY_RESERVE(&m->recvs, &m->recvs_room, m->n_recvs + 1) != TB_OK)
			return TB_ENOMEM;
		m->recvs[m->n_recvs++] = (struct call_end){
			(uint64_t)call->peer << 32 | tag_number(l, call), i};
	}
	ends_sort(m->sends, m->n_sends);
	ends_sort(m->recvs, m->n_recvs);
	return TB_OK;
}

// meeting_fail_count names the first call of a channel that finds no counterpart.
static int meeting_fail_count(const struct call_meeting *m, struct call_end odd,
	bool is_send, size_t n_sends, size_t n_recvs)
{
	uint32_t from = (uint32_t)(odd.channel >> 32);
	uint32_t rank = is_send ? from : m->rank;
	const struct tb_call *call = &m->lowering->ranks[rank].calls[odd.call];
	return tb_fail(m->lowering->error, TB_EFORMAT,
		"rank %" PRIu32 " at %.6f s: its %s rank %" PRIu32 " (%" PRIu64
		" bytes, tag %" PRIu32 ", group %" PRIu32 ") finds no %s: rank %" PRIu32
		" sends %zu of these and rank %" PRIu32
		" receives %zu (--lenient leaves out what is too many)",
		rank, (double)call->enter_ns / 1e9, is_send ? "send to" : "receive from",
		is_send ? m->rank : from, call->bytes, call->tag, call->group,
		is_send ? "receive" : "send", from, n_sends, m->rank, n_recvs);
}

// meeting_pair stores in each of the next `n` sends and receives the other's call.
static void meeting_pair(const struct call_meeting *m, size_t s, size_t r, size_t n)
{
	struct tb_lowering *l = m->lowering;
	for (size_t i = 0; i < n; i++) {
		struct call_end send = m->sends[s + i], recv = m->recvs[r + i];
		uint32_t from = (uint32_t)(send.channel >> 32);
		l->ranks[from].edges[send.call] = recv.call;
		l->ranks[m->rank].edges[recv.call] = send.call;
		l->n_resized += l->ranks[from].calls[send.call].bytes !=
				l->ranks[m->rank].calls[recv.call].bytes;
	}
}

static size_t ends_of_channel(
	const struct call_end *ends, size_t from, size_t n, uint64_t channel)
{
	while (from < n && ends[from].channel == channel)
		from++;
	return from;
}

// meeting_pair_all walks the sorted sends and receives together, channel by channel.
static int meeting_pair_all(const struct call_meeting *m)
{
	struct tb_lowering *l = m->lowering;
	size_t s = 0, r = 0;
	while (s < m->n_sends || r < m->n_recvs) {
		uint64_t sent = s < m->n_sends ? m->sends[s].channel : UINT64_MAX;
		uint64_t received = r < m->n_recvs ? m->recvs[r].channel : UINT64_MAX;
		uint64_t channel = sent < received ? sent : received;
		size_t n_sends = ends_of_channel(m->sends, s, m->n_sends, channel) - s;
		size_t n_recvs = ends_of_channel(m->recvs, r, m->n_recvs, channel) - r;
		size_t n = n_sends < n_recvs ? n_sends : n_recvs;
		meeting_pair(m, s, r, n);
		if (n_sends != n_recvs && !l->reading->lenient)
			return n_sends > n ? meeting_fail_count(m, m->sends[s + n], true,
						     n_sends, n_recvs)
					   : meeting_fail_count(m, m->recvs[r + n], false,
						     n_sends, n_recvs);
		l->n_dropped_sends += n_sends - n;
		l->n_dropped_recvs += n_recvs - n;
		s += n_sends;
		r += n_recvs;
	}
	return TB_OK;
}

// check_tags makes sure that the tags of all messages fit.
static int check_tags(struct tb_lowering *l)
{
	if (l->n_tags >= INT32_MAX / lowering_n_parts(l))
		return tb_fail(l->error, TB_ECAPACITY,
			"the trace has more than %" PRIu32 " pairs of a group and a tag",
			INT32_MAX / lowering_n_parts(l));
	l->first_tag = l->next_tag = l->n_tags * lowering_n_parts(l);
	return TB_OK;
}

// lowering_match pairs sends and receives, in `edges`, and numbers their tags.
static int lowering_match(struct tb_lowering *l)
{
	struct inbound_calls inbound = {0};
	struct call_meeting m = {.lowering = l};
	inbound.first = calloc((size_t)l->n_ranks + 1, sizeof *inbound.first);
	int status = inbound.first ? list_sends(l, &inbound) : TB_ENOMEM;
	if (status == TB_OK)
		status = check_tags(l);
	for (; m.rank < l->n_ranks && status == TB_OK; m.rank++) {
		if (tb_stop_asked(l->reading->stop))
			status = tb_fail(l->error, TB_ESTOPPED, "stopped");
		else
			status = meeting_take_ends(&m, &inbound);
		if (status == TB_OK)
			status = meeting_pair_all(&m);
	}
	free(m.sends);
	free(m.recvs);
	free(inbound.first);
	free(inbound.sends);
	return status == TB_ENOMEM ? lowering_no_memory(l) : status;
}

// Goes through the lanes of all ranks, each as far as it can: a lane waits for collective
// calls that others have not come to, and for calls of other lanes that it comes after.

// lane_wake lets a lane continue. A lane that its own collective call held continues at
// the edge on which that call completed.
static void lane_wake(struct tb_lowering *l, uint32_t rank, uint32_t number)
{
	struct tb_call_lane *lane = &l->ranks[rank].lanes[number];
	if (TB_ARRAY_RESERVE(&l->work, &l->work_room, l->n_work + 1) != TB_OK) {
		tb_lowering_fail(l, TB_ENOMEM);
		return;
	}
	if (lane->held)
		lane->edge = l->ranks[rank].edges[lane->waits_on];
	lane->held = false;
	lane->waits_on = TB_NO_OP;
	l->work[l->n_work++] = (struct tb_ready_lane){rank, number};
}

void tb_lowering_done(struct tb_lowering *l, uint32_t rank, uint32_t call, uint32_t edge)
{
	struct tb_lowered_rank *of = &l->ranks[rank];
	if (of->calls[call].kind == TB_CALL_COLLECTIVE && !of->calls[call].starts)
		tb_timing_leave_at(l, rank, call, edge);
	of->edges[call] = edge;
	tb_set_bit(of->lowered, call);
	if (!of->waiters) {
		if (of->lanes[0].waits_on == call)
			lane_wake(l, rank, 0);
		return;
	}
	for (uint32_t lane = of->waiters[call]; lane != TB_NO_OP;
		lane = of->lanes[lane].next_waiter)
		lane_wake(l, rank, lane);
	of->waiters[call] = TB_NO_OP;
}

// sleep_on has a lane wait for a call. Its front is kept as one edge.
static void sleep_on(struct tb_lowering *l, uint32_t rank, uint32_t lane, uint32_t call)
{
	struct tb_lowered_rank *of = &l->ranks[rank];
	tb_front_join(l, rank, lane, false);
	of->lanes[lane].edge = l->n_front ? l->front[0] : TB_NO_OP;
	of->lanes[lane].waits_on = call;
	if (of->waiters) {
		of->lanes[lane].next_waiter = of->waiters[call];
		of->waiters[call] = lane;
	}
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

static void run_lane(struct tb_lowering *l, uint32_t rank, uint32_t number)
{
	struct tb_lowered_rank *of = &l->ranks[rank];
	struct tb_call_lane *lane = &of->lanes[number];
	tb_front_set(l, lane->edge);
	while (lane->next < of->n && l->status == TB_OK) {
		uint32_t call = lane->next;
		uint32_t missing = missing_before(l, rank, call);
		bool held = false;
		if (missing != TB_NO_OP) {
			sleep_on(l, rank, number, missing);
			return;
		}
		lane->next = of->next ? of->next[call] : call + 1;
		tb_lowering_add(l, rank, call, &held);
		if (!held)
			continue;
		if (!tb_bit(of->lowered, call)) {
			lane->held = true;
			sleep_on(l, rank, number, call);
			return;
		}
		tb_front_set(l, of->edges[call]);
	}
	tb_timing_settle(l, rank, number, false);
}

static void run_work(struct tb_lowering *l)
{
	while (l->n_work && l->status == TB_OK) {
		struct tb_ready_lane work = l->work[--l->n_work];
		if (tb_stop_asked(l->reading->stop))
			l->status = tb_fail(l->error, TB_ESTOPPED, "stopped");
		else
			run_lane(l, work.rank, work.lane);
		if (l->status == TB_OK)
			l->status = tb_job_builder_check(l->builder, l->error);
	}
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
		return lowering_no_memory(l);
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

// A rank that receives from at least so many others, so often, in an order that varies
// by more than a part, takes what comes first: a program's own order repeats.
enum { ANY_PEERS = 3, ANY_RECVS = 16, ANY_PART = 4 };

// guess_any marks the blocking receives of a rank as ones from any source, if the number
// of receives between two from one sender differs from the number before too often.
static int guess_any(struct tb_lowering *l, uint32_t r)
{
	struct tb_lowered_rank *rank = &l->ranks[r];
	struct tb_map last = {0}; // by sender, which receive was its last one
	struct tb_map apart = {0};
	uint32_t n = 0, n_peers = 0, n_compared = 0, n_varied = 0;
	int status = TB_OK;
	for (uint32_t i = 0; i < rank->n && status == TB_OK; i++) {
		const struct tb_call *call = &rank->calls[i];
		uint32_t before, between;
		if (call->kind != TB_CALL_RECV || call->starts)
			continue;
		if (!tb_map_find(&last, call->peer, &before)) {
			n_peers++;
		} else {
			bool known = tb_map_find(&apart, call->peer, &between);
			n_compared += known;
			n_varied += known && between != n - before;
			status = tb_map_put(&apart, call->peer, n - before);
		}
		if (status == TB_OK)
			status = tb_map_put(&last, call->peer, n++);
	}
	tb_map_fini(&last);
	tb_map_fini(&apart);
	bool is_any = n_peers >= ANY_PEERS && n_compared >= ANY_RECVS &&
		      n_varied > n_compared / ANY_PART;
	for (uint32_t i = 0; i < rank->n && is_any && status == TB_OK; i++)
		if (rank->calls[i].kind == TB_CALL_RECV && !rank->calls[i].starts) {
			tb_set_bit(rank->any, i);
			l->n_any_guessed++;
		}
	return status == TB_OK ? TB_OK : lowering_no_memory(l);
}

// mark_any marks the receives of a rank that took what came first.
static int mark_any(struct tb_lowering *l, uint32_t r)
{
	struct tb_lowered_rank *rank = &l->ranks[r];
	rank->any = calloc(rank->n / 8 + 1u, 1);
	if (!rank->any)
		return lowering_no_memory(l);
	for (uint32_t i = 0; i < rank->n; i++)
		if (rank->calls[i].any_source)
			tb_set_bit(rank->any, i);
	return tb_calls_lacks(l->calls) ? guess_any(l, r) : TB_OK;
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
		return lowering_no_memory(l);
	for (uint32_t i = 0; i < rank->n_lanes; i++)
		rank->lanes[i] = (struct tb_call_lane){.next = last ? rank->n : 0,
			.edge = TB_NO_OP,
			.leaves = TB_NO_OP,
			.waits_on = TB_NO_OP};
	mark_awaited(l, r);
	int status = mark_any(l, r);
	return status == TB_OK && last ? link_lanes(l, rank) : status;
}

// lowering_run lowers all lanes, each as far as it can go, until all have ended.
static int lowering_run(struct tb_lowering *l)
{
	for (uint32_t r = 0; r < l->n_ranks && l->status == TB_OK; r++)
		l->status = lanes_begin_rank(l, r);
	for (uint32_t r = 0; r < l->n_ranks; r++)
		for (uint32_t i = 0; i < l->ranks[r].n_lanes && l->status == TB_OK; i++) {
			lane_wake(l, r, i);
			run_work(l);
		}
	return l->status == TB_OK ? check_ended(l) : l->status;
}

// From calls to a job: pair messages, group collective calls, lower lane by lane.

void tb_lowering_fail(struct tb_lowering *l, int status)
{
	if (l->status == TB_OK)
		l->status = status == TB_ENOMEM ? lowering_no_memory(l) : status;
}

struct host_of_rank {
	const char *host;
	uint32_t rank;
};

TB_ORDER_BY(rank_by_host, struct host_of_rank, TB_UP_TEXT(host))

// deal_hosts assigns `per_node` consecutive ranks to each host, as --per-node places
// them.
static int deal_hosts(struct tb_lowering *l, uint32_t per_node)
{
	l->hosts = malloc(l->n_ranks * sizeof *l->hosts);
	for (uint32_t r = 0; r < l->n_ranks && l->hosts; r++)
		l->hosts[r] = r / per_node;
	return l->hosts ? TB_OK : lowering_no_memory(l);
}

// lowering_number_hosts numbers the hosts of the ranks. A rank whose host the trace does
// not name gets a number of its own. Where all ranks ran on one host, and are not GPUs
// that stay there, the hosts are ignored: the replay places one rank per node, so
// messages between them do cross the network.
static int lowering_number_hosts(struct tb_lowering *l)
{
	size_t n = 0;
	uint32_t number = 0;
	struct host_of_rank *named = malloc(l->n_ranks * sizeof *named);
	if (!named)
		return lowering_no_memory(l);
	for (uint32_t r = 0; r < l->n_ranks; r++)
		if (tb_calls_host_of(l->calls, r))
			named[n++] =
				(struct host_of_rank){tb_calls_host_of(l->calls, r), r};
	qsort(named, n, sizeof *named, rank_by_host);
	bool is_one =
		n == l->n_ranks && n > 0 && strcmp(named[0].host, named[n - 1].host) == 0;
	bool stays = tb_library_is_of_gpus(l->library) && !l->reading->spreads_host;
	bool known = n > 0 && (!is_one || stays);
	if (known)
		l->hosts = malloc(l->n_ranks * sizeof *l->hosts);
	int status = !known || l->hosts ? TB_OK : lowering_no_memory(l);
	for (uint32_t r = 0; r < l->n_ranks && l->hosts; r++)
		if (!tb_calls_host_of(l->calls, r))
			l->hosts[r] = number++;
	for (size_t i = 0; i < n && l->hosts; i++) {
		number += i > 0 && strcmp(named[i - 1].host, named[i].host) != 0;
		l->hosts[named[i].rank] = number;
	}
	free(named);
	return status;
}

static int lowering_begin_rank(struct tb_lowering *l, uint32_t r)
{
	struct tb_lowered_rank *rank = &l->ranks[r];
	rank->calls = tb_calls_of(l->calls, r, &rank->n);
	rank->edges = malloc(((size_t)rank->n + 1) * sizeof *rank->edges);
	rank->lowered = calloc(rank->n / 8 + 1, 1);
	rank->awaited = calloc(rank->n / 8 + 1, 1);
	if (!rank->edges || !rank->lowered || !rank->awaited)
		return lowering_no_memory(l);
	memset(rank->edges, 0xff, ((size_t)rank->n + 1) * sizeof *rank->edges);
	return TB_OK;
}

static int lowering_begin(struct tb_lowering *l)
{
	l->n_ranks = tb_calls_n_ranks(l->calls);
	l->ranks = calloc(l->n_ranks, sizeof *l->ranks);
	if (!l->ranks)
		return lowering_no_memory(l);
	// The front has room for an edge from the beginning: tb_front_set cannot fail.
	if (TB_ARRAY_RESERVE(&l->front, &l->front_room, 1) != TB_OK)
		return lowering_no_memory(l);
	int status = l->reading->per_node ? deal_hosts(l, l->reading->per_node)
					  : lowering_number_hosts(l);
	for (uint32_t r = 0; r < l->n_ranks && status == TB_OK; r++)
		status = lowering_begin_rank(l, r);
	return status == TB_OK ? tb_job_builder_new(&l->builder, l->n_ranks, l->error)
			       : status;
}

// lowering_end frees all but the builder: checking the job takes memory, too.
static void lowering_end(struct tb_lowering *l)
{
	for (uint32_t r = 0; l->ranks && r < l->n_ranks; r++) {
		struct tb_lowered_rank *rank = &l->ranks[r];
		free(rank->edges);
		free(rank->lowered);
		free(rank->awaited);
		free(rank->any);
		free(rank->next);
		free(rank->waiters);
		for (uint32_t k = 0; rank->lanes && k < rank->n_lanes; k++)
			tb_lane_turns_fini(&rank->lanes[k]);
		free(rank->lanes);
		free(rank->timed);
		free(rank->algorithms);
	}
	for (uint32_t g = 0; l->groups && g < tb_calls_n_groups(l->calls); g++) {
		for (size_t i = 0; i < l->groups[g].n; i++)
			free(l->groups[g].instances[i].arrivals);
		free(l->groups[g].instances);
		free(l->groups[g].n_made);
	}
	free(l->ranks);
	free(l->groups);
	free(l->hosts);
	free(l->front);
	free(l->work);
	free(l->uses);
	tb_lowering_free_kept(l);
	tb_map_fini(&l->tags);
	tb_map_fini(&l->places);
}

// name_hosts gives the job the names of its hosts.
static int name_hosts(struct tb_job *job, const struct tb_calls *calls)
{
	for (uint32_t r = 0; r < job->n_ranks; r++) {
		const char *host = tb_calls_host_of(calls, r);
		if (!host)
			continue;
		if (!job->hosts)
			job->hosts = calloc(job->n_ranks, sizeof *job->hosts);
		if (!job->hosts || !(job->hosts[r] = strdup(host)))
			return TB_ENOMEM;
	}
	return TB_OK;
}

static int lowering_finish(
	struct tb_lowering *l, const char *name, char *notes, struct tb_job **job)
{
	struct tb_job *made = NULL;
	int status = tb_job_finish(l->builder, name, &made, l->error);
	if (status == TB_OK && name_hosts(made, l->calls) != TB_OK)
		status = lowering_no_memory(l);
	if (status != TB_OK) {
		free(notes);
		tb_job_free(made);
		return status;
	}
	made->notes = notes;
	made->of_gpus = tb_library_is_of_gpus(l->library);
	made->gpu = tb_calls_gpu(l->calls);
	*job = made;
	return TB_OK;
}

// lowering_hand_over gives the job what is kept of its calls; either may be NULL.
static void lowering_hand_over(struct tb_job *job, struct tb_recorded_calls *timed,
	struct tb_placed_calls *placed)
{
	if (timed)
		tb_timing_number(timed, job);
	if (placed)
		tb_placing_number(placed, job);
	job->recorded = timed;
	job->placed = placed;
}

// attempt makes the job; `eager`: without rendezvous.
static int attempt(struct tb_lowering *l, const char *name, const char *made, bool eager,
	struct tb_job **job)
{
	char *notes = NULL;
	struct tb_recorded_calls *timed = NULL;
	struct tb_placed_calls *placed = NULL;
	int status = TB_OK;
	const char *named = l->reading->library, *run_as = tb_calls_made_by(l->calls);
	// The library that made the trace, with the version and settings that it shows;
	// then what the user wants of it, or in place of it. Where we do not know it, the
	// default takes its place.
	bool known = made && tb_library_read(&l->library, &l->choices,
				     run_as ? run_as : made, NULL) == TB_OK;
	if (named || !known) {
		l->unknown_library = named ? NULL : made;
		status = tb_library_read(&l->library, &l->choices, named, l->error);
	}
	for (size_t i = 0; i < l->reading->n_collectives && status == TB_OK; i++)
		status = tb_collective_choices_add(
			&l->choices, l->reading->collectives[i], l->error);
	if (status == TB_OK)
		l->eager_bytes = tb_library_eager_bytes(l->library);
	l->is_eager = eager;
	if (eager)
		l->eager_bytes = UINT64_MAX;
	if (status == TB_OK)
		status = lowering_begin(l);
	if (status == TB_OK)
		status = lowering_match(l);
	if (status == TB_OK)
		status = lowering_collect(l);
	if (status == TB_OK)
		status = tb_timing_init(l) == TB_OK ? TB_OK : lowering_no_memory(l);
	if (status == TB_OK)
		status = lowering_run(l);
	if (status == TB_OK && (tb_timing_take(l, &timed) != TB_OK ||
				       tb_placing_take(l, &placed) != TB_OK))
		status = lowering_no_memory(l);
	if (status == TB_OK && tb_lowering_notes(l, timed, &notes) != TB_OK)
		status = lowering_no_memory(l);
	lowering_end(l);
	if (status == TB_OK)
		status = lowering_finish(l, name, notes, job);
	if (status == TB_OK)
		lowering_hand_over(*job, timed, placed);
	else {
		tb_recorded_calls_free(timed);
		tb_placed_calls_free(placed);
	}
	tb_job_builder_free(l->builder);
	return status;
}

// add_skewed gives the job a bound in which ranks come to long messages at different
// times.
static int add_skewed(const struct tb_lowering *first, const struct tb_lowering *initial,
	const char *name, const char *made, struct tb_job *job)
{
	struct tb_error error = {0};
	struct tb_lowering l = *initial;
	struct tb_job *skewed = NULL;
	if (!initial->reading->bounded || !initial->reading->sends_wait ||
		first->n_long == 0)
		return TB_OK;
	l.skews = true;
	l.error = &error;
	int status = attempt(&l, name, made, first->is_eager, &skewed);
	struct tb_job_bounds *bounds = NULL;
	if (status == TB_OK)
		bounds = calloc(1, sizeof *bounds + sizeof(struct tb_job *));
	if (!bounds) {
		tb_job_free(skewed);
		return status == TB_OK ? TB_ENOMEM : status;
	}
	for (uint32_t i = 0; i < job->n_ops; i++)
		bounds->n_calls += job->ops[i].kind == TB_OP_SEND;
	bounds->n = bounds->own = 1;
	bounds->jobs[0] = skewed;
	job->bounds = bounds;
	return TB_OK;
}

int tb_calls_job(const struct tb_calls *calls, const char *name, const char *made,
	const struct tb_reading *reading, struct tb_job **job, struct tb_error *error)
{
	static const struct tb_reading defaults;
	struct tb_error found = {0};
	const struct tb_lowering initial = {.calls = calls,
		.reading = reading ? reading : &defaults,
		.error = &found};
	struct tb_lowering l = initial;
	int status = tb_calls_check(calls, &found);
	if (status == TB_OK)
		status = attempt(&l, name, made, false, job);
	if (status == TB_EDEADLOCK && l.eager_bytes != UINT64_MAX) {
		// The ranks came to the end of their calls, so the library had room for
		// what they sent.
		struct tb_error again = {0};
		l = initial;
		l.error = &again;
		int eager = attempt(&l, name, made, true, job);
		// An interrupt or a lack of memory is not a deadlock: report it as it
		// is.
		if (eager != TB_EDEADLOCK) {
			status = eager;
			found = again;
		}
	}
	if (status == TB_OK && add_skewed(&l, &initial, name, made, *job) != TB_OK) {
		tb_job_free(*job);
		*job = NULL;
		status = tb_fail_memory(&found, "a job of the calls");
	}
	if (status != TB_OK && error) {
		// Add to the error about calls that do not match that some ranks ended
		// early, which explains it.
		char more[32] = "", text[sizeof found.text];
		uint32_t first, n = tb_calls_n_early(calls, &first);
		if (n != 0 && found.code == TB_EFORMAT) {
			if (n > 1)
				snprintf(more, sizeof more, " and %" PRIu32 " more",
					n - 1);
			memcpy(text, found.text, sizeof text);
			(void)tb_fail(&found, TB_EFORMAT,
				"rank %" PRIu32 "%s ended early: %s", first, more, text);
		}
		*error = found;
		// The error names the trace, not the job made from it.
		if (status != TB_EUSAGE && !found.file[0])
			(void)tb_fail_in(error, found.code, name, "%s", found.text);
	}
	return status;
}
