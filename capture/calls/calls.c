#include "calls.h"

#include "array.h"
#include "reading.h"
#include "units.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RANKS_MAX (UINT32_C(1) << 24)

struct calls_rank {
	struct tb_call *calls;
	size_t n, room;
	// Call waiting[i] comes after call on[i]. They are given call by call, so
	// `waiting` ascends.
	uint32_t *waiting, *on;
	size_t n_orders, waiting_room, on_room;
	char *host;
};

struct calls_group {
	uint32_t *members;
	uint32_t n, n_local;
};

struct tb_calls {
	struct calls_rank *ranks;
	uint32_t n_ranks;
	uint32_t *listed; // by rank: the last list of members that had it
	uint32_t n_lists;
	struct calls_group *groups;
	size_t n_groups, groups_room;
	uint64_t *sizes; // for each call that has some: how many, then they
	size_t n_sizes, sizes_room;
	char **notes;
	size_t n_notes, notes_room;
	uint32_t n_early, first_early;
	bool lacks_sources;
	char *made_by; // NULL: not set
	const char *gpu;
	int failed; // of the first that could not be added, and why
	struct tb_error failure;
};

uint32_t tb_group_place(const struct tb_group *group, uint32_t rank)
{
	uint32_t i = 0, below = 0, above = group->n;
	if (rank < group->n && group->members[rank] == rank)
		return rank;
	while (below < above) { // most groups ascend
		uint32_t middle = below + (above - below) / 2;
		if (group->members[middle] == rank)
			return middle;
		if (group->members[middle] < rank)
			below = middle + 1;
		else
			above = middle;
	}
	while (i < group->n && group->members[i] != rank)
		i++;
	return i;
}

static int add_world(struct tb_calls *calls, struct tb_error *error)
{
	uint32_t group;
	uint32_t *members = malloc(calls->n_ranks * sizeof *members);
	if (!members)
		return tb_fail_memory(error, "the calls of a trace");
	for (uint32_t i = 0; i < calls->n_ranks; i++)
		members[i] = i;
	int status = tb_calls_group(
		calls, members, calls->n_ranks, calls->n_ranks, &group, error);
	free(members);
	return status;
}

int tb_calls_new(struct tb_calls **calls, uint32_t n_ranks, struct tb_error *error)
{
	if (n_ranks < 1 || n_ranks > RANKS_MAX)
		return tb_fail(error, TB_EUSAGE,
			"a job has 1 to %" PRIu32 " ranks, not %" PRIu32, RANKS_MAX,
			n_ranks);
	struct tb_calls *made = calloc(1, sizeof *made);
	if (!made)
		return tb_fail_memory(error, "the calls of a trace");
	made->n_ranks = n_ranks;
	made->ranks = calloc(n_ranks, sizeof *made->ranks);
	made->listed = calloc(n_ranks, sizeof *made->listed);
	int status = made->ranks && made->listed
			     ? add_world(made, error)
			     : tb_fail_memory(error, "the calls of a trace");
	if (status == TB_OK)
		*calls = made;
	else
		tb_calls_free(made);
	return status;
}

void tb_calls_free(struct tb_calls *calls)
{
	if (!calls)
		return;
	for (uint32_t i = 0; calls->ranks && i < calls->n_ranks; i++) {
		free(calls->ranks[i].calls);
		free(calls->ranks[i].waiting);
		free(calls->ranks[i].on);
		free(calls->ranks[i].host);
	}
	for (size_t i = 0; i < calls->n_groups; i++)
		free(calls->groups[i].members);
	for (size_t i = 0; i < calls->n_notes; i++)
		free(calls->notes[i]);
	free(calls->ranks);
	free(calls->listed);
	free(calls->groups);
	free(calls->sizes);
	free(calls->notes);
	free(calls->made_by);
	free(calls);
}

// check_members refuses what is no set of ranks. A program may have as many groups as
// ranks, so ranks are marked with the list's number: nothing has to be cleared.
static int check_members(struct tb_calls *calls, const uint32_t *members, uint32_t n,
	struct tb_error *error)
{
	uint32_t list = ++calls->n_lists;
	for (uint32_t i = 0; i < n; i++) {
		if (members[i] >= calls->n_ranks)
			return tb_fail(error, TB_EUSAGE,
				"rank %" PRIu32 " of a group is out of range: the job "
				"has %" PRIu32 " ranks",
				members[i], calls->n_ranks);
		if (calls->listed[members[i]] == list)
			return tb_fail(error, TB_EUSAGE,
				"rank %" PRIu32 " is twice in a group", members[i]);
		calls->listed[members[i]] = list;
	}
	return TB_OK;
}

int tb_calls_group(struct tb_calls *calls, const uint32_t *members, uint32_t n,
	uint32_t n_local, uint32_t *group, struct tb_error *error)
{
	if (n == 0 || n_local == 0 || n_local > n)
		return tb_fail(error, TB_EUSAGE, "a group has no members");
	int status = check_members(calls, members, n, error);
	if (status != TB_OK)
		return status;
	if (TB_ARRAY_MORE(calls, groups) != TB_OK)
		return tb_fail_memory(error, "the calls of a trace");
	struct calls_group made = {malloc(n * sizeof *members), n, n_local};
	if (!made.members)
		return tb_fail_memory(error, "the calls of a trace");
	memcpy(made.members, members, n * sizeof *members);
	calls->groups[calls->n_groups] = made;
	*group = (uint32_t)calls->n_groups++;
	return TB_OK;
}

static int check_call(const struct tb_calls *calls, uint32_t rank,
	const struct tb_call *call, struct tb_error *error)
{
	if (rank >= calls->n_ranks)
		return tb_fail(error, TB_EUSAGE,
			"rank %" PRIu32 " is out of range: the job has %" PRIu32 " ranks",
			rank, calls->n_ranks);
	if (call->kind == TB_CALL_JOINT)
		return TB_OK;
	if (call->group >= calls->n_groups)
		return tb_fail(error, TB_EUSAGE,
			"rank %" PRIu32 " calls in group %" PRIu32
			", of which nothing is known",
			rank, call->group);
	bool collective = call->kind == TB_CALL_COLLECTIVE;
	uint32_t n_peers = collective ? calls->groups[call->group].n : calls->n_ranks;
	if (call->peer >= n_peers)
		return tb_fail(error, TB_EUSAGE,
			"rank %" PRIu32 " names %s %" PRIu32 " of %" PRIu32, rank,
			collective ? "member" : "rank", call->peer, n_peers);
	if (collective && call->op >= TB_COLL_N)
		return tb_fail(error, TB_EUSAGE, "no collective operation has number %u",
			call->op);
	return TB_OK;
}

uint32_t tb_calls_add(struct tb_calls *calls, uint32_t rank, const struct tb_call *call)
{
	if (calls->failed != TB_OK)
		return 0;
	calls->failed = check_call(calls, rank, call, &calls->failure);
	if (calls->failed != TB_OK)
		return 0;
	struct calls_rank *of = &calls->ranks[rank];
	if (of->n >= UINT32_MAX - 1)
		calls->failed = tb_fail(&calls->failure, TB_ECAPACITY,
			"rank %" PRIu32 " has more than %zu calls", rank, of->n);
	else if (TB_ARRAY_NEXT(of, calls) != TB_OK)
		calls->failed = tb_fail_memory(&calls->failure, "the calls of a trace");
	if (calls->failed != TB_OK)
		return 0;
	of->calls[of->n] = *call;
	of->calls[of->n].sizes = 0;
	return (uint32_t)of->n++;
}

void tb_calls_after(struct tb_calls *calls, uint32_t rank, uint32_t on)
{
	struct calls_rank *of = rank < calls->n_ranks ? &calls->ranks[rank] : NULL;
	if (calls->failed != TB_OK)
		return;
	if (!of || of->n == 0 || on >= of->n - 1) {
		calls->failed = tb_fail(&calls->failure, TB_EUSAGE,
			"a call of rank %" PRIu32 " comes after one that is not earlier",
			rank);
		return;
	}
	size_t n = of->n_orders;
	if (TB_ARRAY_RESERVE(&of->waiting, &of->waiting_room, n + 1) != TB_OK ||
		TB_ARRAY_RESERVE(&of->on, &of->on_room, n + 1) != TB_OK) {
		calls->failed = tb_fail_memory(&calls->failure, "the calls of a trace");
		return;
	}
	of->waiting[n] = (uint32_t)(of->n - 1);
	of->on[n] = on;
	of->n_orders++;
}

void tb_calls_sizes(
	struct tb_calls *calls, uint32_t rank, const uint64_t *sizes, uint32_t n)
{
	struct calls_rank *of = rank < calls->n_ranks ? &calls->ranks[rank] : NULL;
	struct tb_call *call = of && of->n > 0 ? &of->calls[of->n - 1] : NULL;
	// The first place stays empty: 0 is a call without sizes.
	size_t at = calls->n_sizes ? calls->n_sizes : 1;
	if (calls->failed != TB_OK)
		return;
	if (!call || call->kind != TB_CALL_COLLECTIVE)
		calls->failed = tb_fail(&calls->failure, TB_EUSAGE,
			"only a collective call has sizes by member");
	else if (calls->n_sizes + n + 1 >= UINT32_MAX)
		calls->failed = tb_fail(&calls->failure, TB_ECAPACITY,
			"the collective calls of the trace have more than %zu sizes",
			calls->n_sizes);
	else if (TB_ARRAY_RESERVE(&calls->sizes, &calls->sizes_room, at + n + 1) != TB_OK)
		calls->failed = tb_fail_memory(&calls->failure, "the calls of a trace");
	if (calls->failed != TB_OK)
		return;
	calls->sizes[at] = n;
	if (n > 0)
		memcpy(calls->sizes + at + 1, sizes, n * sizeof *sizes);
	calls->n_sizes = at + n + 1;
	call->sizes = (uint32_t)at;
}

void tb_calls_host(struct tb_calls *calls, uint32_t rank, const char *host)
{
	if (calls->failed != TB_OK)
		return;
	char *copy = rank < calls->n_ranks ? strdup(host) : NULL;
	if (rank >= calls->n_ranks)
		calls->failed = tb_fail(&calls->failure, TB_EUSAGE,
			"rank %" PRIu32 " is out of range", rank);
	else if (!copy)
		calls->failed = tb_fail_memory(&calls->failure, "the calls of a trace");
	if (!copy)
		return;
	free(calls->ranks[rank].host);
	calls->ranks[rank].host = copy;
}

int tb_calls_check(const struct tb_calls *calls, struct tb_error *error)
{
	if (calls->failed != TB_OK && error)
		*error = calls->failure;
	return calls->failed;
}

void tb_calls_made_with(struct tb_calls *calls, const char *library)
{
	free(calls->made_by);
	calls->made_by = strdup(library);
}

void tb_calls_made_on(struct tb_calls *calls, const char *gpu)
{
	calls->gpu = gpu;
}

const char *tb_calls_gpu(const struct tb_calls *calls)
{
	return calls->gpu;
}

const char *tb_calls_made_by(const struct tb_calls *calls)
{
	return calls->made_by;
}

void tb_calls_note(struct tb_calls *calls, const char *format, ...)
{
	char *note = NULL;
	va_list args;
	va_start(args, format);
	int length = vasprintf(&note, format, args);
	va_end(args);
	if (length < 0)
		return;
	bool known = false;
	for (size_t i = 0; i < calls->n_notes && !known; i++)
		known = strcmp(calls->notes[i], note) == 0;
	if (known || TB_ARRAY_MORE(calls, notes) != TB_OK)
		free(note);
	else
		calls->notes[calls->n_notes++] = note;
}

void tb_calls_note_count(
	struct tb_calls *calls, uint64_t n, const char *noun, const char *rest)
{
	char text[128];
	if (n > 0)
		tb_calls_note(calls, "%s%s",
			tb_format_counted(n, noun, text, sizeof text), rest);
}

uint64_t tb_calls_begin_apart(struct tb_calls *calls)
{
	uint64_t first_ns = UINT64_MAX, last_ns = 0;
	for (uint32_t r = 0; r < calls->n_ranks; r++) {
		if (calls->ranks[r].n == 0)
			continue;
		// When a rank begins: another lane than the first may have counted
		// its computation from before it.
		const struct tb_call *first = calls->ranks[r].calls;
		bool computes = first->lane == 0 && first->enter_ns > first->calc_ns;
		uint64_t at_ns =
			computes ? first->enter_ns - first->calc_ns : first->enter_ns;
		first_ns = at_ns < first_ns ? at_ns : first_ns;
		last_ns = at_ns > last_ns ? at_ns : last_ns;
	}
	for (uint32_t r = 0; r < calls->n_ranks; r++) {
		// The lanes of the rank compute since the first rank begins.
		struct calls_rank *rank = &calls->ranks[r];
		uint32_t n_seen = 0, n_before;
		for (uint32_t i = 0; i < rank->n; i++) {
			struct tb_call *call = &rank->calls[i];
			// Lanes that are seen in another order keep what they have.
			if (call->lane != n_seen)
				continue;
			n_seen++;
			(void)tb_calls_befores(calls, r, i, &n_before);
			if (n_before == 0 && call->enter_ns > first_ns)
				call->calc_ns = call->enter_ns - first_ns;
		}
	}
	return last_ns > first_ns ? last_ns - first_ns : 0;
}

void tb_calls_lacks_sources(struct tb_calls *calls)
{
	calls->lacks_sources = true;
}

bool tb_calls_lacks(const struct tb_calls *calls)
{
	return calls->lacks_sources;
}

void tb_calls_early(struct tb_calls *calls, uint32_t rank)
{
	if (calls->n_early++ == 0)
		calls->first_early = rank;
}

uint32_t tb_calls_n_early(const struct tb_calls *calls, uint32_t *first)
{
	*first = calls->first_early;
	return calls->n_early;
}

uint32_t tb_calls_n_ranks(const struct tb_calls *calls)
{
	return calls->n_ranks;
}

uint32_t tb_calls_n_groups(const struct tb_calls *calls)
{
	return (uint32_t)calls->n_groups;
}

struct tb_group tb_calls_members(const struct tb_calls *calls, uint32_t group)
{
	const struct calls_group *of = &calls->groups[group];
	return (struct tb_group){of->members, of->n, of->n_local};
}

const struct tb_call *tb_calls_of(
	const struct tb_calls *calls, uint32_t rank, uint32_t *n)
{
	*n = (uint32_t)calls->ranks[rank].n;
	return calls->ranks[rank].calls;
}

const uint32_t *tb_calls_befores(
	const struct tb_calls *calls, uint32_t rank, uint32_t index, uint32_t *n)
{
	const struct calls_rank *of = &calls->ranks[rank];
	size_t low = 0, high = of->n_orders;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (of->waiting[middle] < index)
			low = middle + 1;
		else
			high = middle;
	}
	uint32_t count = 0;
	while (low + count < of->n_orders && of->waiting[low + count] == index)
		count++;
	*n = count;
	return count > 0 ? &of->on[low] : NULL;
}

const uint64_t *tb_calls_sizes_of(
	const struct tb_calls *calls, const struct tb_call *call, uint32_t *n)
{
	*n = call->sizes ? (uint32_t)calls->sizes[call->sizes] : 0;
	return call->sizes ? &calls->sizes[call->sizes + 1] : NULL;
}

const char *tb_calls_host_of(const struct tb_calls *calls, uint32_t rank)
{
	return calls->ranks[rank].host;
}

const char *tb_calls_note_at(const struct tb_calls *calls, size_t i)
{
	return i < calls->n_notes ? calls->notes[i] : NULL;
}

int tb_reading_breaks_off(const struct tb_reading *reading, int status, uint64_t *n_files,
	struct tb_error *error)
{
	if (reading->lenient) {
		++*n_files;
		return TB_OK;
	}
	if (error) {
		size_t n = strlen(error->text);
		snprintf(error->text + n, sizeof error->text - n,
			" (--lenient takes what is whole)");
	}
	return status;
}

const char *tb_reading_of_calls(const struct tb_reading *reading)
{
	return reading->library		? "--library"
	       : reading->n_collectives ? "--collective"
	       : reading->clone_ranks	? "--clone-ranks"
					: NULL;
}

void tb_reading_note_breaks(struct tb_calls *calls, uint64_t n_files)
{
	tb_calls_note_count(calls, n_files, "file breaks off|files break off",
		" before the end: what stands until there counts");
}
