#include "rec_trace.h"

#include "array.h"
#include "hash.h"
#include "order.h"
#include "units.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MEASURED_SHOWN 32
#define RANGES_SHOWN   16
#define MEMBERS_SPARE  (1 << 22)

void tb_rec_fini(struct rec_trace *trace)
{
	for (size_t i = 0; i < trace->n_groups; i++) {
		free(trace->groups[i].name);
		free(trace->groups[i].description);
		free(trace->groups[i].members);
	}
	for (size_t i = 0; i < trace->n_owners; i++)
		free(trace->owners[i].host);
	free(trace->groups);
	free(trace->owners);
	free(trace->calls);
	free(trace->by_number);
	tb_map_fini(&trace->group_of);
	tb_map_fini(&trace->owner_of);
	*trace = (struct rec_trace){0};
}

int tb_rec_no_memory(const struct rec_trace *trace)
{
	return tb_fail_memory_in(
		trace->error, trace->file ? trace->file : "", "its calls");
}

int tb_rec_group(struct rec_trace *trace, const char *name, uint32_t *group)
{
	uint64_t key = tb_hash_text(TB_HASH_BEGIN, name);
	for (; tb_map_find(&trace->group_of, key, group); key++)
		if (strcmp(trace->groups[*group].name, name) == 0)
			return TB_OK;
	char *copy = strdup(name);
	if (!copy ||
		TB_ARRAY_RESERVE_ZEROED(&trace->groups, &trace->groups_room,
			trace->n_groups + 1) != TB_OK ||
		tb_map_put(&trace->group_of, key, (uint32_t)trace->n_groups) != TB_OK) {
		free(copy);
		return tb_rec_no_memory(trace);
	}
	*group = (uint32_t)trace->n_groups;
	trace->groups[trace->n_groups++] = (struct rec_group){.name = copy};
	return TB_OK;
}

int tb_rec_owner(struct rec_trace *trace, const char *host, uint64_t pid, uint32_t *owner)
{
	uint64_t key = tb_hash_text(tb_hash_word(TB_HASH_BEGIN, pid), host ? host : "");
	for (; tb_map_find(&trace->owner_of, key, owner); key++) {
		const struct rec_owner *known = &trace->owners[*owner];
		if (known->pid == pid && !known->host == !host &&
			(!host || strcmp(known->host, host) == 0))
			return TB_OK;
	}
	char *copy = host ? strdup(host) : NULL;
	if ((host && !copy) ||
		TB_ARRAY_RESERVE_ZEROED(&trace->owners, &trace->owners_room,
			trace->n_owners + 1) != TB_OK ||
		tb_map_put(&trace->owner_of, key, (uint32_t)trace->n_owners) != TB_OK) {
		free(copy);
		return tb_rec_no_memory(trace);
	}
	*owner = (uint32_t)trace->n_owners;
	trace->owners[trace->n_owners++] =
		(struct rec_owner){.host = copy, .pid = pid, .rank = REC_NONE};
	return TB_OK;
}

int tb_rec_add(struct rec_trace *trace, const struct rec_call *call)
{
	if (TB_ARRAY_NEXT(trace, calls) != TB_OK)
		return tb_rec_no_memory(trace);
	trace->calls[trace->n++] = *call;
	return TB_OK;
}

// rec_widest returns the group with the most ranks; of several, the first.
static uint32_t rec_widest(const struct rec_trace *trace)
{
	uint32_t widest = 0;
	for (uint32_t i = 1; i < trace->n_groups; i++)
		if (trace->groups[i].n > trace->groups[widest].n)
			widest = i;
	return widest;
}

int tb_rec_place_ranks(struct rec_trace *trace)
{
	uint64_t n_members = 0;
	for (size_t i = 0; i < trace->n; i++) {
		// Traces without a count of ranks: up to the last place that is seen.
		struct rec_group *group = &trace->groups[trace->calls[i].group];
		if (trace->calls[i].place >= group->n)
			group->n = trace->calls[i].place + 1;
		if (trace->calls[i].what >= REC_SEND && trace->calls[i].peer >= group->n)
			group->n = trace->calls[i].peer + 1;
	}
	uint32_t world = rec_widest(trace);
	for (size_t i = 0; i < trace->n; i++) {
		const struct rec_call *call = &trace->calls[i];
		struct rec_owner *owner = &trace->owners[call->rank];
		if (call->group != world)
			continue;
		owner->is_several |=
			owner->rank != REC_NONE && owner->rank != call->place;
		owner->rank = call->place;
	}
	trace->n_ranks = trace->groups[world].n;
	// Each rank of a communicator has calls; a few lines do not need gigabytes.
	for (size_t i = 0; i < trace->n_groups; i++)
		n_members += trace->groups[i].n;
	if (n_members > trace->n + MEMBERS_SPARE)
		return tb_fail_in(trace->error, TB_EFORMAT, trace->file,
			"its communicators have %" PRIu64
			" ranks in all, and there are %zu calls: give the files of all",
			n_members, trace->n);
	for (size_t i = 0; i < trace->n_groups; i++) {
		struct rec_group *group = &trace->groups[i];
		group->members = malloc(group->n * sizeof *group->members);
		if (!group->members)
			return tb_rec_no_memory(trace);
		for (uint32_t k = 0; k < group->n; k++)
			group->members[k] = REC_NONE;
	}
	for (size_t i = 0; i < trace->n; i++) {
		struct rec_call *call = &trace->calls[i];
		const struct rec_owner *owner = &trace->owners[call->rank];
		struct rec_group *group = &trace->groups[call->group];
		uint32_t rank = call->group == world ? call->place : owner->rank;
		if (call->group != world && (owner->is_several || rank == REC_NONE))
			return tb_fail_in(trace->error, TB_EFORMAT, trace->file,
				"communicator %.40s: process %" PRIu64
				" has %s place in the largest one (%.40s), so which rank "
				"it is here is not known",
				group->name, owner->pid,
				owner->is_several ? "more than one" : "no",
				trace->groups[world].name);
		if (group->members[call->place] != REC_NONE &&
			group->members[call->place] != rank)
			return tb_fail_in(trace->error, TB_EFORMAT, trace->file,
				"ranks %" PRIu32 " and %" PRIu32
				" both are number %" PRIu32 " of communicator %.40s",
				group->members[call->place], rank, call->place,
				group->name);
		group->n_known += group->members[call->place] == REC_NONE;
		group->members[call->place] = rank;
		call->rank = rank;
	}
	for (size_t i = 0; i < trace->n_groups; i++)
		if (trace->groups[i].n_known < trace->groups[i].n)
			return tb_fail_in(trace->error, TB_EFORMAT, trace->file,
				"communicator %.40s: %" PRIu32 " of its %s recorded "
				"calls: give the files of all",
				trace->groups[i].name, trace->groups[i].n_known,
				TB_COUNTED_TEXT(trace->groups[i].n, "rank"));
	return TB_OK;
}

// In the order of groups and numbers: first rank by rank, to number what one rank did
// under one number, then turn by turn.
static int rec_by_number(const void *a, const void *b, void *of)
{
	const uint32_t *one = a, *other = b;
	const struct rec_call *calls = of, *first = &calls[*one],
			      *second = &calls[*other];
	if (first->group != second->group)
		return TB_ORDER(first->group, second->group);
	if (first->seq != second->seq)
		return TB_ORDER(first->seq, second->seq);
	if (first->turn != second->turn)
		return TB_ORDER(first->turn, second->turn);
	if (first->rank != second->rank)
		return TB_ORDER(first->rank, second->rank);
	return TB_ORDER(*one, *other);
}

static bool rec_is_same(const struct rec_call *one, const struct rec_call *other)
{
	return one->group == other->group && one->seq == other->seq &&
	       one->turn == other->turn;
}

// rec_sort_by_rank sorts by counting, so that calls of a rank stay in their order.
static int rec_sort_by_rank(struct rec_trace *trace)
{
	size_t *next = calloc((size_t)trace->n_ranks + 1, sizeof *next);
	struct rec_call *sorted = malloc((trace->n + 1) * sizeof *sorted);
	if (!next || !sorted) {
		free(next);
		free(sorted);
		return tb_rec_no_memory(trace);
	}
	for (size_t i = 0; i < trace->n; i++)
		next[trace->calls[i].rank + 1]++;
	for (uint32_t r = 0; r < trace->n_ranks; r++)
		next[r + 1] += next[r];
	for (size_t i = 0; i < trace->n; i++)
		sorted[next[trace->calls[i].rank]++] = trace->calls[i];
	free(next);
	free(trace->calls);
	trace->calls = sorted;
	trace->room = trace->n + 1;
	return TB_OK;
}

size_t tb_rec_rank_end(const struct rec_trace *trace, size_t from)
{
	size_t to = from;
	while (to < trace->n && trace->calls[to].rank == trace->calls[from].rank)
		to++;
	return to;
}

int tb_rec_finish(struct rec_trace *trace)
{
	struct rec_call *calls;
	size_t n = 0, first = 0;
	int status = rec_sort_by_rank(trace);
	uint32_t *order = status == TB_OK ? malloc((trace->n + 1) * sizeof *order) : NULL;
	if (status == TB_OK && !order)
		status = tb_rec_no_memory(trace);
	if (status != TB_OK)
		return status;
	calls = trace->calls;
	for (size_t i = 0; i < trace->n; i++)
		if (calls[i].what < REC_SEND)
			order[n++] = (uint32_t)i;
	qsort_r(order, n, sizeof *order, rec_by_number, calls);
	for (size_t i = 1; i < n; i++) {
		const struct rec_call *before = &calls[order[i - 1]];
		struct rec_call *call = &calls[order[i]];
		if (before->group == call->group && before->seq == call->seq &&
			before->rank == call->rank)
			call->turn = before->turn + 1;
	}
	qsort_r(order, n, sizeof *order, rec_by_number, calls);
	for (size_t i = 1; i <= n; i++) {
		if (i < n && rec_is_same(&calls[order[i]], &calls[order[first]]))
			continue;
		bool is_whole = i - first == trace->groups[calls[order[first]].group].n;
		for (size_t k = first; k < i && !is_whole; k++) {
			calls[order[k]].is_left = true;
			trace->n_left_out++;
		}
		first = i;
	}
	trace->by_number = order;
	trace->n_numbered = n;
	return TB_OK;
}

// What a rank's calls in a group are: a lane that was left at `end_ns`.
struct rec_lane {
	uint64_t end_ns;
	uint32_t lane, group; // `group` of the calls that are made
};

// rec_times lays out when a rank's calls are entered and left. If anything of a rank was
// recorded without its beginning, the calls of each group follow one another.
static int rec_times(const struct rec_trace *trace, size_t from, size_t to,
	struct tb_call *made, struct rec_lane *lanes)
{
	uint64_t first_ns = UINT64_MAX;
	bool is_timed = true;
	for (size_t i = from; i < to; i++) {
		const struct rec_call *call = &trace->calls[i];
		is_timed &= call->is_left || (call->made_ns > 0 && call->lasted_ns > 0);
		if (!call->is_left && call->made_ns < first_ns)
			first_ns = call->made_ns;
	}
	for (size_t i = from; i < to; i++)
		lanes[trace->calls[i].group].end_ns = 0;
	for (size_t i = from; i < to; i++) {
		const struct rec_call *call = &trace->calls[i];
		uint64_t *end = &lanes[call->group].end_ns;
		uint64_t at = is_timed ? call->made_ns - first_ns : 0;
		if (call->is_left)
			continue;
		at = at > *end ? at : *end;
		if (at > REC_NS_MAX || call->lasted_ns > REC_NS_MAX - at)
			return tb_fail_in(trace->error, TB_EFORMAT, trace->file,
				"the calls of rank %" PRIu32 " last more than 104 days",
				call->rank);
		made[i - from].calc_ns = at - *end;
		made[i - from].enter_ns = at;
		made[i - from].leave_ns = call->lasted_ns ? at + call->lasted_ns : 0;
		*end = at + call->lasted_ns;
	}
	return TB_OK;
}

// Their tags are their places, until they are added.
TB_ORDER_BY(rec_by_entering, struct tb_call, TB_UP(enter_ns) TB_UP(tag))

// Messages of a group that follow each other begin at once, until one repeats the kind
// and partner of another: these are NCCL's calls between ncclGroupStart and ncclGroupEnd.
// `seen` has, by partner and kind, the last message to or from it, from 1.
static bool goes_along(
	const struct tb_call *made, size_t first, size_t i, size_t n, uint32_t *seen)
{
	if (i == n || made[i].kind == TB_CALL_COLLECTIVE ||
		made[i].lane != made[first].lane)
		return false;
	return seen[2 * made[i].peer + (made[i].kind == TB_CALL_SEND)] <= first;
}

// rec_join makes the lane wait for the messages first..to, whose places are in their
// tags.
static void rec_join(const struct tb_call *made, size_t *first, size_t to, uint32_t rank,
	struct tb_calls *calls)
{
	const struct tb_call joint = {.kind = TB_CALL_JOINT,
		.lane = made[*first].lane,
		.enter_ns = made[to - 1].enter_ns};
	tb_calls_add(calls, rank, &joint);
	for (; *first < to; ++*first)
		tb_calls_after(calls, rank, made[*first].tag);
}

// rec_add_rank adds the calls of a rank, from..to; `seen` is that of goes_along.
static int rec_add_rank(const struct rec_trace *trace, size_t from, size_t to,
	struct tb_call *made, struct rec_lane *lanes, uint32_t *seen,
	struct tb_calls *calls)
{
	uint32_t n_lanes = 0;
	size_t n = 0;
	memset(made, 0, (to - from) * sizeof *made);
	int status = rec_times(trace, from, to, made, lanes);
	for (size_t i = from; i < to; i++)
		lanes[trace->calls[i].group].lane = REC_NONE;
	for (size_t i = from; i < to; i++) {
		const struct rec_call *call = &trace->calls[i];
		struct tb_call next = made[i - from];
		bool is_message = call->what >= REC_SEND;
		if (call->is_left)
			continue;
		struct rec_lane *lane = &lanes[call->group];
		if (lane->lane == REC_NONE)
			lane->lane = n_lanes++;
		next.kind = call->what == REC_SEND   ? TB_CALL_SEND
			    : call->what == REC_RECV ? TB_CALL_RECV
						     : TB_CALL_COLLECTIVE;
		next.op = is_message ? 0 : call->what;
		next.bytes = call->bytes;
		next.lane = lane->lane;
		next.group = lane->group;
		next.peer =
			is_message ? trace->groups[call->group].members[call->peer] : 0;
		next.tag = (uint32_t)n;
		made[n++] = next;
	}
	qsort(made, n, sizeof *made, rec_by_entering);
	size_t first = 0; // of the messages under way
	for (size_t i = 0; i <= n && status == TB_OK; i++) {
		if (first < i && !goes_along(made, first, i, n, seen))
			rec_join(made, &first, i, trace->calls[from].rank, calls);
		if (i == n)
			break;
		struct tb_call *call = &made[i];
		bool is_message = call->kind != TB_CALL_COLLECTIVE;
		call->tag = 0;
		call->starts = is_message;
		// No more needed: where it stands.
		call->tag = tb_calls_add(calls, trace->calls[from].rank, call);
		first += !is_message;
		if (is_message)
			seen[2 * call->peer + (call->kind == TB_CALL_SEND)] =
				(uint32_t)i + 1;
	}
	for (size_t i = 0; i < n; i++)
		if (made[i].kind != TB_CALL_COLLECTIVE)
			seen[2 * made[i].peer + (made[i].kind == TB_CALL_SEND)] = 0;
	return status;
}

static void rec_notes(const struct rec_trace *trace, struct tb_calls *calls)
{
	uint64_t n_untimed = 0;
	bool has_root = false;
	for (size_t i = 0; i < trace->n; i++) {
		const struct rec_call *call = &trace->calls[i];
		n_untimed += !call->is_left && (!call->made_ns || !call->lasted_ns);
		has_root |= call->what < REC_SEND &&
			    tb_collective_op_has_root((enum tb_collective_op)call->what);
	}
	if (trace->n_left_out)
		tb_calls_note(calls,
			"%s left out that not every member's file has: the recorder "
			"overwrote them, or somebody never came to them",
			TB_COUNTED_TEXT(trace->n_left_out,
				"collective call is|collective calls are"));
	if (n_untimed)
		tb_calls_note(calls,
			"%s without beginning or duration: what was computed between "
			"calls is not known, so those of a group follow each other at "
			"once",
			TB_COUNTED_TEXT(n_untimed, "call"));
	if (has_root)
		tb_calls_note(calls, "roots are not recorded: the first member is it");
	tb_reading_note_breaks(calls, trace->n_broken);
}

int tb_rec_calls(const struct rec_trace *trace, struct tb_calls **calls)
{
	struct tb_calls *made = NULL;
	int status = trace->n > trace->n_left_out
			     ? tb_calls_new(&made, trace->n_ranks, trace->error)
			     : tb_fail_in(trace->error, TB_EFORMAT, trace->file,
				       "no call is in the files of all members of its "
				       "group: of such calls a job is made");
	size_t most = 0;
	for (size_t from = 0, to; from < trace->n; from = to) {
		to = tb_rec_rank_end(trace, from);
		most = to - from > most ? to - from : most;
	}
	struct tb_call *of_rank = malloc((most + 1) * sizeof *of_rank);
	struct rec_lane *lanes = malloc((trace->n_groups + 1) * sizeof *lanes);
	uint32_t *seen = calloc(2 * (size_t)trace->n_ranks + 1, sizeof *seen);
	if (status == TB_OK && (!of_rank || !lanes || !seen))
		status = tb_rec_no_memory(trace);
	for (size_t i = 0; i < trace->n_groups && status == TB_OK; i++)
		if (trace->groups[i].members)
			status = tb_calls_group(made, trace->groups[i].members,
				trace->groups[i].n, trace->groups[i].n, &lanes[i].group,
				trace->error);
	for (size_t i = 0; i < trace->n_owners && status == TB_OK; i++)
		if (trace->owners[i].host && trace->owners[i].rank != REC_NONE &&
			!trace->owners[i].is_several)
			tb_calls_host(made, trace->owners[i].rank, trace->owners[i].host);
	for (size_t from = 0, to; from < trace->n && status == TB_OK; from = to) {
		to = tb_rec_rank_end(trace, from);
		status = rec_add_rank(trace, from, to, of_rank, lanes, seen, made);
	}
	free(of_rank);
	free(lanes);
	free(seen);
	if (status != TB_OK) {
		tb_calls_free(made);
		return status;
	}
	rec_notes(trace, made);
	*calls = made;
	return TB_OK;
}

// What is shown to people.

char *tb_rec_ranks(const uint32_t *ranks, size_t n, char *buffer, size_t size)
{
	size_t at = 0, n_shown = 0;
	buffer[0] = '\0';
	for (size_t i = 0, to; i < n && at < size; i = to) {
		for (to = i + 1; to < n && ranks[to] == ranks[to - 1] + 1;)
			to++;
		if (n_shown++ == RANGES_SHOWN) {
			snprintf(buffer + at, size - at, " and %zu more", n - i);
			break;
		}
		at += (size_t)snprintf(
			buffer + at, size - at, "%s%" PRIu32, at ? ", " : "", ranks[i]);
		if (to - i > 1 && at < size)
			at += (size_t)snprintf(buffer + at, size - at, "%s%" PRIu32,
				to - i == 2 ? ", " : " to ", ranks[to - 1]);
	}
	return buffer;
}

char *tb_rec_describe(const struct rec_call *call, char *buffer, size_t size)
{
	const char *name = call->what == REC_SEND   ? "send"
			   : call->what == REC_RECV ? "recv"
						    : tb_collectives[call->what].name;
	snprintf(buffer, size, "%s of %s", name, TB_SIZE_TEXT(call->bytes));
	return buffer;
}

static int rec_by_kind(const void *a, const void *b, void *of)
{
	const uint32_t *one = a, *other = b;
	const struct rec_trace *trace = of;
	const struct rec_call *first = &trace->calls[*one];
	const struct rec_call *second = &trace->calls[*other];
	uint32_t n = trace->groups[first->group].n, m = trace->groups[second->group].n;
	if (first->what != second->what)
		return TB_ORDER(first->what, second->what);
	if (n != m)
		return TB_ORDER(n, m);
	if (first->bytes != second->bytes)
		return TB_ORDER(first->bytes, second->bytes);
	return TB_ORDER(first->lasted_ns, second->lasted_ns);
}

static bool rec_is_alike(
	const struct rec_trace *trace, const struct rec_call *a, const struct rec_call *b)
{
	return a->what == b->what && a->bytes == b->bytes &&
	       trace->groups[a->group].n == trace->groups[b->group].n;
}

#define REC_TIME_TEXT(ns) TB_TIME_TEXT((tb_time_ps)((ns)*1000))

// rec_who_waits compares the ranks' mean times in calls: the rank that comes last waits
// least.
static void rec_who_waits(const struct rec_trace *trace, struct tb_facts *facts)
{
	double least = INFINITY, most = 0;
	uint32_t least_rank = 0, most_rank = 0;
	for (size_t from = 0, to; from < trace->n; from = to) {
		double sum = 0;
		uint64_t n = 0;
		to = tb_rec_rank_end(trace, from);
		for (size_t i = from; i < to; i++) {
			sum += (double)trace->calls[i].lasted_ns;
			n += trace->calls[i].lasted_ns > 0;
		}
		if (n == 0)
			return;
		double mean = floor(sum / (double)n);
		if (mean < least) {
			least = mean;
			least_rank = trace->calls[from].rank;
		}
		if (mean >= most) {
			most = mean;
			most_rank = trace->calls[from].rank;
		}
	}
	if (least < most)
		tb_facts_add(facts, "by rank",
			"in a call rank %" PRIu32
			" is shortest, %s in the mean, and rank "
			"%" PRIu32 " longest, %s: who comes last waits least",
			least_rank, REC_TIME_TEXT((uint64_t)least), most_rank,
			REC_TIME_TEXT((uint64_t)most));
}

int tb_rec_measured(const struct rec_trace *trace, struct tb_facts *facts)
{
	size_t n = 0, first = 0, n_shown = 0;
	uint32_t *order = malloc((trace->n + 1) * sizeof *order);
	if (!order)
		return tb_rec_no_memory(trace);
	for (size_t i = 0; i < trace->n; i++)
		if (trace->calls[i].lasted_ns > 0)
			order[n++] = (uint32_t)i;
	union { // qsort_r takes no const
		const struct rec_trace *given;
		struct rec_trace *taken;
	} of = {trace};
	qsort_r(order, n, sizeof *order, rec_by_kind, of.taken);
	for (size_t i = 1; i <= n; i++) {
		const struct rec_call *call = &trace->calls[order[first]];
		if (i < n && rec_is_alike(trace, call, &trace->calls[order[i]]))
			continue;
		if (n_shown++ < MEASURED_SHOWN)
			tb_facts_add(facts, "measured",
				"%s in %s: %s, median %s, %s to %s", REC_CALL_TEXT(call),
				TB_COUNTED_TEXT(trace->groups[call->group].n, "rank"),
				TB_COUNTED_TEXT(i - first, "call"),
				REC_TIME_TEXT(trace->calls[order[(first + i - 1) / 2]]
						      .lasted_ns),
				REC_TIME_TEXT(call->lasted_ns),
				REC_TIME_TEXT(trace->calls[order[i - 1]].lasted_ns));
		first = i;
	}
	free(order);
	if (n_shown > MEASURED_SHOWN)
		tb_facts_add(facts, "measured", "and %zu more sizes",
			n_shown - MEASURED_SHOWN);
	rec_who_waits(trace, facts);
	return TB_OK;
}
