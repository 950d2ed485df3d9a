#include "tbt_clock.h"

#include "array.h"
#include "heap.h"
#include "map.h"
#include "order.h"

#include <stdbool.h>
#include <stdlib.h>

enum { HALVES = 2 };

// How long the quickest message from one clock to another took, in each half of the
// trace; ends are by the time of day of each machine.
struct clock_pair {
	uint32_t from, to;
	int64_t least_ns[HALVES];
	bool known[HALVES];
};

struct tb_tbt_clocks {
	struct tb_error *error;
	struct tb_tbt_point *starts;
	uint32_t n;
	uint64_t begin_ns, end_ns;
	unsigned n_halves;
	struct tb_map by_pair;
	struct clock_pair *pairs;
	size_t n_pairs, pairs_room;
	int64_t *ahead_ns[HALVES]; // by clock: of clock 0, beyond the time of day
};

int tb_tbt_clocks_new(struct tb_tbt_clocks **clocks, const struct tb_tbt_point *starts,
	uint32_t n, uint64_t begin_ns, uint64_t end_ns, struct tb_error *error)
{
	struct tb_tbt_clocks *made = calloc(1, sizeof *made);
	if (!made)
		return tb_fail_memory(error, "the clocks of a trace");
	made->error = error;
	made->n = n;
	made->begin_ns = begin_ns;
	made->end_ns = end_ns > begin_ns ? end_ns : begin_ns;
	made->n_halves = made->end_ns - begin_ns > TB_TBT_DRIFT_NS ? HALVES : 1;
	made->starts = malloc(n * sizeof *made->starts);
	for (int i = 0; i < HALVES; i++)
		made->ahead_ns[i] = calloc(n, sizeof *made->ahead_ns[i]);
	if (!made->starts || !made->ahead_ns[0] || !made->ahead_ns[1]) {
		tb_tbt_clocks_free(made);
		return tb_fail_memory(error, "the clocks of a trace");
	}
	for (uint32_t i = 0; i < n; i++)
		made->starts[i] = starts[i];
	*clocks = made;
	return TB_OK;
}

void tb_tbt_clocks_free(struct tb_tbt_clocks *clocks)
{
	if (!clocks)
		return;
	free(clocks->starts);
	free(clocks->pairs);
	tb_map_fini(&clocks->by_pair);
	for (int i = 0; i < HALVES; i++)
		free(clocks->ahead_ns[i]);
	free(clocks);
}

// Sums may wrap around: absurd times give absurd offsets, but no undefined behaviour.
static int64_t day_ns(const struct tb_tbt_clocks *clocks, uint32_t clock, uint64_t at_ns)
{
	return (int64_t)(at_ns + (uint64_t)clocks->starts[clock].add_ns);
}

int tb_tbt_clocks_message(struct tb_tbt_clocks *clocks, uint32_t from, uint64_t sent_ns,
	uint32_t to, uint64_t received_ns)
{
	uint32_t at = 0;
	uint64_t key = (uint64_t)from << 32 | to;
	int64_t sent = day_ns(clocks, from, sent_ns);
	int64_t took =
		(int64_t)((uint64_t)day_ns(clocks, to, received_ns) - (uint64_t)sent);
	uint64_t middle = clocks->begin_ns + (clocks->end_ns - clocks->begin_ns) / 2;
	unsigned half = clocks->n_halves > 1 && sent >= (int64_t)middle ? 1 : 0;
	if (from == to)
		return TB_OK;
	if (!tb_map_find(&clocks->by_pair, key, &at)) {
		at = (uint32_t)clocks->n_pairs;
		if (TB_ARRAY_MORE(clocks, pairs) != TB_OK ||
			tb_map_put(&clocks->by_pair, key, at) != TB_OK)
			return tb_fail_memory(clocks->error, "the clocks of a trace");
		clocks->pairs[clocks->n_pairs++] =
			(struct clock_pair){.from = from, .to = to};
	}
	struct clock_pair *pair = &clocks->pairs[at];
	if (!pair->known[half] || took < pair->least_ns[half])
		pair->least_ns[half] = took;
	pair->known[half] = true;
	return TB_OK;
}

// How far the second clock of a pair is ahead of the first, and how certain that is.
struct guess {
	double ahead_ns, uncertain_ns;
};

static bool guess(
	const struct tb_tbt_clocks *clocks, size_t i, unsigned half, struct guess *guess)
{
	uint32_t at;
	const struct clock_pair *there = &clocks->pairs[i], *back = NULL;
	uint64_t key = (uint64_t)there->to << 32 | there->from;
	if (tb_map_find(&clocks->by_pair, key, &at) && clocks->pairs[at].known[half])
		back = &clocks->pairs[at];
	if (!there->known[half])
		return false;
	double m = (double)there->least_ns[half];
	double n = back ? (double)back->least_ns[half] : 0;
	// One way only: the messages arrive at once, at the least.
	guess->ahead_ns = back ? (m - n) / 2 : m;
	guess->uncertain_ns = back ? (m + n) / 2 : 1e18;
	return true;
}

// A pair of clocks that could join clock `to` to the tree; `from` is in it already.
struct clock_edge {
	struct guess guess;
	uint32_t from, to;
	uint32_t pair; // of equally uncertain ones the first
};

static bool surer(const struct clock_edge *a, const struct clock_edge *b)
{
	if (a->guess.uncertain_ns != b->guess.uncertain_ns)
		return a->guess.uncertain_ns < b->guess.uncertain_ns;
	return a->pair < b->pair;
}

TB_HEAP(surest, struct clock_edge, surer)

// The tree of one half of the trace while it grows.
struct clock_tree {
	struct tb_tbt_clocks *clocks;
	unsigned half;
	bool *joined;
	size_t *first;	 // by clock: where its pairs begin in `pairs`
	uint32_t *pairs; // numbers, each at both its clocks
	struct clock_edge *edges;
	size_t n_edges;
};

// clock_tree_init lists the pairs by their clocks.
static bool clock_tree_init(struct clock_tree *tree)
{
	const struct tb_tbt_clocks *clocks = tree->clocks;
	size_t n = clocks->n_pairs;
	tree->first = calloc((size_t)clocks->n + 2, sizeof *tree->first);
	tree->pairs = malloc((2 * n + 1) * sizeof *tree->pairs);
	tree->edges = malloc((2 * n + 1) * sizeof *tree->edges);
	if (!tree->first || !tree->pairs || !tree->edges)
		return false;
	// first[c + 1] counts up to where the pairs of clock c end.
	for (size_t i = 0; i < n; i++) {
		tree->first[clocks->pairs[i].from + 2]++;
		tree->first[clocks->pairs[i].to + 2]++;
	}
	for (uint32_t c = 0; c < clocks->n; c++)
		tree->first[c + 2] += tree->first[c + 1];
	for (size_t i = 0; i < n; i++) {
		tree->pairs[tree->first[clocks->pairs[i].from + 1]++] = (uint32_t)i;
		tree->pairs[tree->first[clocks->pairs[i].to + 1]++] = (uint32_t)i;
	}
	return true;
}

// clock_tree_join adds a clock to the tree, and its pairs to those that can join further
// clocks.
static void clock_tree_join(struct clock_tree *tree, uint32_t clock)
{
	tree->joined[clock] = true;
	for (size_t i = tree->first[clock]; i < tree->first[clock + 1]; i++) {
		uint32_t number = tree->pairs[i];
		const struct clock_pair *pair = &tree->clocks->pairs[number];
		bool outward = pair->from == clock;
		struct clock_edge edge = {.from = clock,
			.to = outward ? pair->to : pair->from,
			.pair = number};
		if (tree->joined[edge.to] ||
			!guess(tree->clocks, number, tree->half, &edge.guess))
			continue;
		// A pair towards the tree says the same with the other sign.
		if (!outward)
			edge.guess.ahead_ns = -edge.guess.ahead_ns;
		surest_put(tree->edges, tree->n_edges++, edge);
	}
}

// clock_tree_grow joins all clocks to clock 0, each by the pair that is least uncertain,
// and returns how many clocks could not be joined.
static uint32_t clock_tree_grow(struct clock_tree *tree)
{
	struct tb_tbt_clocks *clocks = tree->clocks;
	int64_t *ahead_ns = clocks->ahead_ns[tree->half];
	uint32_t n_left = clocks->n - 1;
	clock_tree_join(tree, 0);
	while (tree->n_edges > 0) {
		struct clock_edge edge = surest_take(tree->edges, tree->n_edges--);
		if (tree->joined[edge.to])
			continue;
		ahead_ns[edge.to] = ahead_ns[edge.from] + (int64_t)edge.guess.ahead_ns;
		clock_tree_join(tree, edge.to);
		n_left--;
	}
	return n_left;
}

uint32_t tb_tbt_clocks_solve(struct tb_tbt_clocks *clocks)
{
	uint32_t n_unlinked = clocks->n - 1;
	bool *joined = calloc(2 * (size_t)clocks->n, sizeof *joined);
	for (unsigned half = 0; joined && half < clocks->n_halves; half++) {
		struct clock_tree tree = {.clocks = clocks,
			.half = half,
			.joined = joined + half * clocks->n};
		uint32_t n_left =
			clock_tree_init(&tree) ? clock_tree_grow(&tree) : clocks->n - 1;
		n_unlinked = n_left < n_unlinked ? n_left : n_unlinked;
		free(tree.first);
		free(tree.pairs);
		free(tree.edges);
	}
	// What only one half knows holds for both.
	for (uint32_t i = 0; joined && clocks->n_halves > 1 && i < clocks->n; i++)
		for (unsigned half = 0; half < HALVES; half++)
			if (!joined[half * clocks->n + i])
				clocks->ahead_ns[half][i] = clocks->ahead_ns[!half][i];
	free(joined);
	return n_unlinked;
}

uint32_t tb_tbt_clocks_points(const struct tb_tbt_clocks *clocks, uint32_t clock,
	struct tb_tbt_point points[TB_TBT_POINTS_MAX])
{
	uint64_t day = (uint64_t)clocks->starts[clock].add_ns;
	uint64_t quarter = (clocks->end_ns - clocks->begin_ns) / 4;
	for (unsigned half = 0; half < clocks->n_halves; half++) {
		uint64_t ahead = (uint64_t)clocks->ahead_ns[half][clock];
		points[half].add_ns = (int64_t)(day - ahead);
		points[half].at_ns = clocks->begin_ns + (2 * half + 1) * quarter - day;
	}
	return clocks->n_halves;
}

uint64_t tb_tbt_common_ns(const struct tb_tbt_point *points, uint32_t n, uint64_t at_ns)
{
	if (n == 0)
		return at_ns;
	uint64_t first = (uint64_t)points[0].add_ns, more = 0;
	if (n > 1 && points[1].at_ns != points[0].at_ns) {
		double width = (double)(int64_t)(points[1].at_ns - points[0].at_ns);
		double rise = (double)(int64_t)((uint64_t)points[1].add_ns - first);
		double run = (double)(int64_t)(at_ns - points[0].at_ns);
		double sum = run / width * rise;
		// What a broken file says may be beyond any clock.
		if (sum > -9e18 && sum < 9e18)
			more = (uint64_t)(int64_t)sum;
	}
	return at_ns + first + more;
}

// The messages from one rank to another in one communicator with one tag.
struct link_channel {
	uint32_t from, to, group, tag;
	uint32_t next; // of the same hash; 0: none
	struct times {
		uint64_t *ns;
		size_t n, room;
	} sent, received;
};

// The k-th collective call of a group, which all members made: by clock, when the last
// member entered it and when the first one left.
struct link_meeting {
	uint32_t group, number, clock, next;
	uint64_t last_enter_ns, first_leave_ns;
};

struct tb_tbt_links {
	const struct tb_tbt_groups *groups;
	const uint32_t *clock_of;
	struct tb_error *error;
	struct link_channel *channels; // from 1
	size_t n_channels, channels_room;
	struct tb_map by_channel;
	struct link_meeting *meetings; // from 1
	size_t n_meetings, meetings_room;
	struct tb_map by_meeting; // group and number: the last meeting of these
	struct tb_map by_clock;	  // hash of these and the clock: the meeting
	uint32_t *n_calls;	  // by group, of the rank that is taken
	// Of the rank that is taken: what its receives got.
	struct tb_map got;
	struct got {
		uint64_t peer, tag, ns;
	} * received;
	size_t n_received, received_room;
};

int tb_tbt_links_new(struct tb_tbt_links **links, const struct tb_tbt_groups *groups,
	const uint32_t *clock_of, struct tb_error *error)
{
	struct tb_tbt_links *made = calloc(1, sizeof *made);
	if (!made)
		return tb_fail_memory(error, "the messages between machines");
	made->groups = groups;
	made->clock_of = clock_of;
	made->error = error;
	made->n_channels = made->n_meetings = 1;
	made->n_calls = calloc(tb_tbt_groups_n(groups), sizeof *made->n_calls);
	if (!made->n_calls) {
		tb_tbt_links_free(made);
		return tb_fail_memory(error, "the messages between machines");
	}
	*links = made;
	return TB_OK;
}

void tb_tbt_links_free(struct tb_tbt_links *links)
{
	if (!links)
		return;
	for (size_t i = 1; links->channels && i < links->n_channels; i++) {
		free(links->channels[i].sent.ns);
		free(links->channels[i].received.ns);
	}
	free(links->channels);
	free(links->meetings);
	free(links->n_calls);
	free(links->received);
	tb_map_fini(&links->by_channel);
	tb_map_fini(&links->by_meeting);
	tb_map_fini(&links->by_clock);
	tb_map_fini(&links->got);
	free(links);
}

// group_has_rank returns whether a rank is among the first n_local members.
static bool group_has_rank(const struct tb_tbt_group *group, uint32_t rank)
{
	uint64_t left = group->n_local;
	for (size_t i = 0; i + 1 < group->n_runs && left > 0; i += 2) {
		if (rank >= group->runs[i] && rank - group->runs[i] < group->runs[i + 1])
			return true;
		left -= group->runs[i + 1] < left ? group->runs[i + 1] : left;
	}
	return false;
}

static bool links_group(
	const struct tb_tbt_links *links, uint32_t rank, uint64_t comm, uint32_t *group)
{
	size_t n;
	const uint32_t *groups = tb_tbt_groups_of(links->groups, rank, &n);
	if (comm >= n || groups[comm] == TB_TBT_NO_GROUP)
		return false;
	*group = groups[comm];
	return true;
}

static bool peer_of(const struct tb_tbt_links *links, uint32_t rank, uint32_t group,
	uint64_t peer, uint32_t *of)
{
	struct tb_tbt_group members = tb_tbt_groups_at(links->groups, group);
	bool inter = members.n_local < members.n;
	if (inter && group_has_rank(&members, rank))
		peer += members.n_local;
	return tb_tbt_group_member(&members, peer, of);
}

static struct link_channel *links_find_channel(
	struct tb_tbt_links *links, const struct link_channel *wanted)
{
	uint32_t first = 0;
	uint64_t key = ((uint64_t)wanted->from << 32 | wanted->to) *
			       UINT64_C(0x9e3779b97f4a7c15) ^
		       ((uint64_t)wanted->group << 32 | wanted->tag);
	tb_map_find(&links->by_channel, key, &first);
	for (uint32_t at = first; at; at = links->channels[at].next) {
		struct link_channel *channel = &links->channels[at];
		if (channel->from == wanted->from && channel->to == wanted->to &&
			channel->group == wanted->group && channel->tag == wanted->tag)
			return channel;
	}
	size_t at = links->n_channels;
	if (TB_ARRAY_RESERVE(&links->channels, &links->channels_room, at + 1) != TB_OK ||
		tb_map_put(&links->by_channel, key, (uint32_t)at) != TB_OK)
		return NULL;
	links->channels[at] = *wanted;
	links->channels[at].next = first;
	links->n_channels++;
	return &links->channels[at];
}

// links_add_end adds one end of a message of `rank` if the other end is on another
// machine.
static int links_add_end(struct tb_tbt_links *links, uint32_t rank, bool sent,
	const uint64_t fields[3], uint64_t ns)
{
	uint32_t peer;
	struct link_channel wanted = {.tag = (uint32_t)fields[2]};
	if (!links_group(links, rank, fields[0], &wanted.group) ||
		!peer_of(links, rank, wanted.group, fields[1], &peer) ||
		links->clock_of[peer] == links->clock_of[rank])
		return TB_OK;
	wanted.from = sent ? rank : peer;
	wanted.to = sent ? peer : rank;
	struct link_channel *channel = links_find_channel(links, &wanted);
	struct times *times = !channel ? NULL
			      : sent   ? &channel->sent
				       : &channel->received;
	if (!times || TB_ARRAY_NEXT(times, ns) != TB_OK)
		return tb_fail_memory(links->error, "the messages between machines");
	times->ns[times->n++] = ns;
	return TB_OK;
}

// find_meeting returns what is kept of a call for a clock, or 0 and the slot of the map
// where it belongs.
static uint32_t find_meeting(const struct tb_tbt_links *links, uint32_t group,
	uint32_t number, uint32_t clock, uint64_t *slot)
{
	uint32_t at;
	*slot = ((uint64_t)group << 32 | number) * UINT64_C(0x9e3779b97f4a7c15) ^
		(uint64_t)clock << 20;
	for (; tb_map_find(&links->by_clock, *slot, &at); ++*slot) {
		const struct link_meeting *meeting = &links->meetings[at];
		if (meeting->group == group && meeting->number == number &&
			meeting->clock == clock)
			return at;
	}
	return 0;
}

static bool waits_for_all(const struct tb_tbt_record *record)
{
	uint64_t op = record->fields[0];
	return record->fields[4] == 0 &&
	       (op == TB_TBT_BARRIER || op == TB_TBT_ALLREDUCE || op == TB_TBT_ALLGATHER);
}

static int links_take(
	struct tb_tbt_links *links, uint32_t rank, const struct tb_tbt_record *record)
{
	const uint64_t *f = record->fields;
	const uint64_t out[] = {f[0], f[1] - 1, f[2]}, in[] = {f[0], f[4] - 1, f[5]};
	int status = TB_OK;
	if (record->kind == TB_TBT_SEND || record->kind == TB_TBT_ISEND)
		return links_add_end(links, rank, true, f, record->enter_ns);
	if (record->kind == TB_TBT_RECV)
		return links_add_end(links, rank, false, f, record->leave_ns);
	if (record->kind == TB_TBT_IRECV) {
		uint64_t comm = f[0];
		uint64_t request = f[1];
		uint32_t at;
		if (!tb_map_find(&links->got, request, &at))
			return TB_OK;
		const struct got *got = &links->received[at];
		const uint64_t fields[] = {comm, got->peer, got->tag};
		return links_add_end(links, rank, false, fields, got->ns);
	}
	if (record->kind == TB_TBT_COLL && waits_for_all(record)) {
		// Take a call in which everybody waits for everybody.
		uint32_t group, last = 0, clock = links->clock_of[rank];
		if (!links_group(links, rank, record->fields[1], &group))
			return TB_OK;
		uint32_t number = links->n_calls[group]++;
		uint64_t key = (uint64_t)group << 32 | number;
		uint64_t slot = 0;
		uint32_t at = find_meeting(links, group, number, clock, &slot);
		if (!at) {
			tb_map_find(&links->by_meeting, key, &last);
			at = (uint32_t)links->n_meetings;
			if (TB_ARRAY_MORE(links, meetings) != TB_OK ||
				tb_map_put(&links->by_meeting, key, at) != TB_OK ||
				tb_map_put(&links->by_clock, slot, at) != TB_OK)
				return tb_fail_memory(
					links->error, "the messages between machines");
			links->meetings[links->n_meetings++] =
				(struct link_meeting){group, number, clock, last,
					record->enter_ns, record->leave_ns};
		}
		struct link_meeting *meeting = &links->meetings[at];
		meeting->last_enter_ns =
			tb_max_u64(meeting->last_enter_ns, record->enter_ns);
		meeting->first_leave_ns =
			tb_min_u64(meeting->first_leave_ns, record->leave_ns);
		return TB_OK;
	}
	if (record->kind != TB_TBT_SENDRECV)
		return TB_OK;
	if (f[1])
		status = links_add_end(links, rank, true, out, record->enter_ns);
	if (f[4] && status == TB_OK)
		status = links_add_end(links, rank, false, in, record->leave_ns);
	return status;
}

// keep_got records what a completion received, and when.
static int keep_got(struct tb_tbt_links *links, const struct tb_tbt_record *record)
{
	const uint64_t *list = record->list;
	for (size_t i = 0; i < record->n_list;) {
		if (list[i] % 4 != TB_TBT_RECEIVED || record->n_list - i < 4) {
			i++;
			continue;
		}
		if (TB_ARRAY_MORE(links, received) != TB_OK ||
			tb_map_put(&links->got, list[i] / 4,
				(uint32_t)links->n_received) != TB_OK)
			return tb_fail_memory(
				links->error, "the messages between machines");
		links->received[links->n_received++] =
			(struct got){list[i + 1], list[i + 2], record->leave_ns};
		i += 4;
	}
	return TB_OK;
}

// go_through reads all lanes of a rank twice: first for what its receives got, then for
// everything else.
static int go_through(
	struct tb_tbt_links *links, const struct tb_tbt_rank *file, bool first)
{
	int status = TB_OK;
	struct tb_tbt_record record;
	struct tb_tbt_walk walk = {.lanes = file->lanes, .n = file->n_lanes};
	while (status >= 0 &&
		(status = tb_tbt_walk_next(&walk, &record, links->error)) > 0)
		if (first && record.kind == TB_TBT_COMPLETE)
			status = keep_got(links, &record);
		else if (!first)
			status = links_take(links, file->rank, &record);
	tb_tbt_cursor_fini(&walk.cursor);
	return status < 0 ? status : TB_OK;
}

int tb_tbt_links_rank(struct tb_tbt_links *links, const struct tb_tbt_rank *file)
{
	uint32_t n = tb_tbt_groups_n(links->groups);
	for (uint32_t i = 0; i < n; i++)
		links->n_calls[i] = 0;
	int status = go_through(links, file, true);
	TB_THEN(status, go_through(links, file, false));
	tb_map_fini(&links->got);
	links->n_received = 0;
	return status;
}

static int add_channel(const struct tb_tbt_links *links,
	const struct link_channel *channel, struct tb_tbt_clocks *clocks)
{
	int status = TB_OK;
	size_t n = channel->sent.n < channel->received.n ? channel->sent.n
							 : channel->received.n;
	for (size_t i = 0; i < n && status == TB_OK; i++)
		status = tb_tbt_clocks_message(clocks, links->clock_of[channel->from],
			channel->sent.ns[i], links->clock_of[channel->to],
			channel->received.ns[i]);
	return status;
}

// link_meetings turns one collective call, whose clocks are chained behind `last`, into
// messages between these clocks: from each to those 1, 2, 4, ... places further along the
// circle. `parts` has room for them.
static int link_meetings(const struct tb_tbt_links *links, uint32_t last, uint32_t *parts,
	struct tb_tbt_clocks *clocks)
{
	size_t n = 0;
	int status = TB_OK;
	for (uint32_t at = last; at; at = links->meetings[at].next)
		parts[n++] = at;
	for (size_t i = 0; i < n; i++)
		for (size_t far = 1; far < n && status == TB_OK; far *= 2) {
			const struct link_meeting *one = &links->meetings[parts[i]];
			const struct link_meeting *other =
				&links->meetings[parts[(i + far) % n]];
			status = tb_tbt_clocks_message(clocks, one->clock,
				one->last_enter_ns, other->clock, other->first_leave_ns);
			TB_THEN(status, tb_tbt_clocks_message(clocks, other->clock,
						other->last_enter_ns, one->clock,
						one->first_leave_ns));
		}
	return status;
}

int tb_tbt_links_give(const struct tb_tbt_links *links, struct tb_tbt_clocks *clocks)
{
	int status = TB_OK;
	for (size_t i = 1; i < links->n_channels && status == TB_OK; i++)
		status = add_channel(links, &links->channels[i], clocks);
	uint32_t *parts = malloc(links->n_meetings * sizeof *parts);
	if (!parts)
		return tb_fail_memory(links->error, "the messages between machines");
	for (uint32_t i = 1; i < links->n_meetings && status == TB_OK; i++) {
		const struct link_meeting *one = &links->meetings[i];
		uint32_t last = 0;
		tb_map_find(&links->by_meeting, (uint64_t)one->group << 32 | one->number,
			&last);
		if (last == i)
			status = link_meetings(links, i, parts, clocks);
	}
	free(parts);
	return status;
}
