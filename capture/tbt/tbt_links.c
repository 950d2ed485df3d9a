#include "tbt_links.h"

#include "array.h"
#include "map.h"

#include <stdlib.h>

// The messages from a rank to another, in a communicator with a tag.
struct link_channel {
	uint32_t from, to, group, tag;
	uint32_t next; // of the same hash; 0: none
	struct times {
		uint64_t *ns;
		size_t n, room;
	} sent, received;
};

// The call of a group that all members made as their k-th, by clock: when the last
// entered and the first left.
struct link_meeting {
	uint32_t group, number, clock, next;
	uint64_t last_enter_ns, first_leave_ns;
};

struct tb_tbt_links {
	const struct tb_tbt_groups *groups;
	const uint32_t *clock_of;
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

static int links_no_memory(struct tb_error *error)
{
	return tb_fail_memory(error, "the messages between machines");
}

int tb_tbt_links_new(struct tb_tbt_links **links, const struct tb_tbt_groups *groups,
	const uint32_t *clock_of, struct tb_error *error)
{
	struct tb_tbt_links *made = calloc(1, sizeof *made);
	if (!made)
		return links_no_memory(error);
	made->groups = groups;
	made->clock_of = clock_of;
	made->n_channels = made->n_meetings = 1;
	made->n_calls = calloc(tb_tbt_groups_n(groups), sizeof *made->n_calls);
	if (!made->n_calls) {
		tb_tbt_links_free(made);
		return links_no_memory(error);
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

// links_add_end adds one end of a message of `rank`, if the other is on another machine.
static int links_add_end(struct tb_tbt_links *links, uint32_t rank, bool sent,
	const uint64_t fields[3], uint64_t ns, struct tb_error *error)
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
	if (!times || TB_ARRAY_RESERVE(&times->ns, &times->room, times->n + 1) != TB_OK)
		return links_no_memory(error);
	times->ns[times->n++] = ns;
	return TB_OK;
}

// find_meeting returns a clock's meeting, or 0 and the slot of the map where it belongs.
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

// links_meet takes a call in which everybody waits for everybody.
static int links_meet(struct tb_tbt_links *links, uint32_t rank,
	const struct tb_tbt_record *record, struct tb_error *error)
{
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
		if (TB_ARRAY_RESERVE(&links->meetings, &links->meetings_room,
			    links->n_meetings + 1) != TB_OK ||
			tb_map_put(&links->by_meeting, key, at) != TB_OK ||
			tb_map_put(&links->by_clock, slot, at) != TB_OK)
			return links_no_memory(error);
		links->meetings[links->n_meetings++] = (struct link_meeting){
			group, number, clock, last, record->enter_ns, record->leave_ns};
	}
	struct link_meeting *meeting = &links->meetings[at];
	if (record->enter_ns > meeting->last_enter_ns)
		meeting->last_enter_ns = record->enter_ns;
	if (record->leave_ns < meeting->first_leave_ns)
		meeting->first_leave_ns = record->leave_ns;
	return TB_OK;
}

static bool waits_for_all(const struct tb_tbt_record *record)
{
	uint64_t op = record->fields[0];
	return record->fields[4] == 0 &&
	       (op == TB_TBT_BARRIER || op == TB_TBT_ALLREDUCE || op == TB_TBT_ALLGATHER);
}

static int links_take(struct tb_tbt_links *links, uint32_t rank,
	const struct tb_tbt_record *record, struct tb_error *error)
{
	const uint64_t *f = record->fields;
	const uint64_t out[] = {f[0], f[1] - 1, f[2]}, in[] = {f[0], f[4] - 1, f[5]};
	int status = TB_OK;
	if (record->kind == TB_TBT_SEND || record->kind == TB_TBT_ISEND)
		return links_add_end(links, rank, true, f, record->enter_ns, error);
	if (record->kind == TB_TBT_RECV)
		return links_add_end(links, rank, false, f, record->leave_ns, error);
	if (record->kind == TB_TBT_IRECV) {
		uint64_t comm = f[0];
		uint64_t request = f[1];
		uint32_t at;
		if (!tb_map_find(&links->got, request, &at))
			return TB_OK;
		const struct got *got = &links->received[at];
		const uint64_t fields[] = {comm, got->peer, got->tag};
		return links_add_end(links, rank, false, fields, got->ns, error);
	}
	if (record->kind == TB_TBT_COLL && waits_for_all(record))
		return links_meet(links, rank, record, error);
	if (record->kind != TB_TBT_SENDRECV)
		return TB_OK;
	if (f[1])
		status = links_add_end(links, rank, true, out, record->enter_ns, error);
	if (f[4] && status == TB_OK)
		status = links_add_end(links, rank, false, in, record->leave_ns, error);
	return status;
}

// keep_got notes what a completion received, and when.
static int keep_got(struct tb_tbt_links *links, const struct tb_tbt_record *record,
	struct tb_error *error)
{
	const uint64_t *list = record->list;
	for (size_t i = 0; i < record->n_list;) {
		if (list[i] % 4 != TB_TBT_RECEIVED || record->n_list - i < 4) {
			i++;
			continue;
		}
		if (TB_ARRAY_RESERVE(&links->received, &links->received_room,
			    links->n_received + 1) != TB_OK ||
			tb_map_put(&links->got, list[i] / 4,
				(uint32_t)links->n_received) != TB_OK)
			return links_no_memory(error);
		links->received[links->n_received++] =
			(struct got){list[i + 1], list[i + 2], record->leave_ns};
		i += 4;
	}
	return TB_OK;
}

// go_through reads all lanes of a rank: first for what receives got, then for the rest.
static int go_through(struct tb_tbt_links *links, const struct tb_tbt_rank *file,
	bool first, struct tb_error *error)
{
	int status = TB_OK;
	for (size_t i = 0; i < file->n_lanes && status >= 0; i++) {
		struct tb_tbt_record record;
		struct tb_tbt_cursor cursor = {
			.bytes = {file->lanes[i].records, file->lanes[i].n}};
		while (status >= 0 &&
			(status = tb_tbt_next(&cursor, &record, error)) > 0) {
			if (first && record.kind == TB_TBT_COMPLETE)
				status = keep_got(links, &record, error);
			else if (!first)
				status = links_take(links, file->rank, &record, error);
		}
		tb_tbt_cursor_fini(&cursor);
	}
	return status < 0 ? status : TB_OK;
}

int tb_tbt_links_rank(struct tb_tbt_links *links, const struct tb_tbt_rank *file,
	struct tb_error *error)
{
	uint32_t n = tb_tbt_groups_n(links->groups);
	for (uint32_t i = 0; i < n; i++)
		links->n_calls[i] = 0;
	int status = go_through(links, file, true, error);
	if (status == TB_OK)
		status = go_through(links, file, false, error);
	tb_map_fini(&links->got);
	links->n_received = 0;
	return status;
}

static int add_channel(const struct tb_tbt_links *links,
	const struct link_channel *channel, struct tb_tbt_clocks *clocks,
	struct tb_error *error)
{
	int status = TB_OK;
	size_t n = channel->sent.n < channel->received.n ? channel->sent.n
							 : channel->received.n;
	for (size_t i = 0; i < n && status == TB_OK; i++)
		status = tb_tbt_clocks_message(clocks, links->clock_of[channel->from],
			channel->sent.ns[i], links->clock_of[channel->to],
			channel->received.ns[i], error);
	return status;
}

// tell_meetings tells what the parts of one call mean for each other, which are chained
// behind `last`: each for those 1, 2, 4, ... places further, in a circle. `parts` has
// room for them.
static int tell_meetings(const struct tb_tbt_links *links, uint32_t last, uint32_t *parts,
	struct tb_tbt_clocks *clocks, struct tb_error *error)
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
				one->last_enter_ns, other->clock, other->first_leave_ns,
				error);
			if (status == TB_OK)
				status = tb_tbt_clocks_message(clocks, other->clock,
					other->last_enter_ns, one->clock,
					one->first_leave_ns, error);
		}
	return status;
}

int tb_tbt_links_tell(const struct tb_tbt_links *links, struct tb_tbt_clocks *clocks,
	struct tb_error *error)
{
	int status = TB_OK;
	for (size_t i = 1; i < links->n_channels && status == TB_OK; i++)
		status = add_channel(links, &links->channels[i], clocks, error);
	uint32_t *parts = malloc(links->n_meetings * sizeof *parts);
	if (!parts)
		return links_no_memory(error);
	for (uint32_t i = 1; i < links->n_meetings && status == TB_OK; i++) {
		const struct link_meeting *one = &links->meetings[i];
		uint32_t last = 0;
		tb_map_find(&links->by_meeting, (uint64_t)one->group << 32 | one->number,
			&last);
		if (last == i)
			status = tell_meetings(links, i, parts, clocks, error);
	}
	free(parts);
	return status;
}
