// Pairs sends and receives, receiver by receiver: by source, group and tag, in the order
// of the calls.
#include "array.h"
#include "calls_job_impl.h"
#include "stop.h"

#include <inttypes.h>
#include <stdlib.h>

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

static int number_tag(struct tb_lowering *l, const struct tb_call *call)
{
	uint32_t number;
	if (tb_map_find(&l->tags, tag_key(call), &number))
		return TB_OK;
	return tb_map_put(&l->tags, tag_key(call), l->n_tags++);
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
			if (call->kind == TB_CALL_SEND || call->kind == TB_CALL_RECV)
				status = number_tag(l, call);
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

static int end_by_channel(const void *left, const void *right)
{
	const struct call_end *a = left, *b = right;
	if (a->channel != b->channel)
		return a->channel < b->channel ? -1 : 1;
	return (a->call > b->call) - (a->call < b->call);
}

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

int tb_lowering_match(struct tb_lowering *l)
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
	return status == TB_ENOMEM ? tb_lowering_no_memory(l) : status;
}
