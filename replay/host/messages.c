// Messages: posted by the source, started when their send overhead is over, and reported
// to the source when they end.
#include "message_parts.h"

#include "array.h"
#include "credit_params.h"
#include "names.h"
#include "nodes_impl.h"
#include "paces.h"
#include "sort.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

static uint32_t new_message(struct tb_replay *replay)
{
	uint32_t id = replay->free_message;
	if (id != TB_NOTHING) {
		replay->free_message = replay->messages[id].next;
		return id;
	}
	if (TB_ARRAY_RESERVE(&replay->messages, &replay->messages_room,
		    (size_t)replay->n_messages + 1) != TB_OK) {
		tb_replay_no_memory(replay, "the messages in flight");
		return TB_NOTHING;
	}
	return replay->n_messages++;
}

static void drop_message(struct tb_replay *replay, uint32_t id)
{
	struct tb_posted *message = &replay->messages[id];
	if (--message->uses)
		return;
	message->next = replay->free_message;
	replay->free_message = id;
}

static void message_push(struct tb_replay *replay, struct tb_ring *ring, uint32_t id)
{
	if (ring->n == ring->room) {
		uint32_t room = ring->room ? ring->room * 2 : 256;
		uint32_t *ids = malloc(room * sizeof *ids);
		if (!ids) {
			tb_replay_no_memory(replay, "the posted messages");
			return;
		}
		for (uint32_t i = 0; i < ring->n; i++)
			ids[i] = ring->ids[(ring->first + i) % ring->room];
		free(ring->ids);
		ring->ids = ids;
		ring->first = 0;
		ring->room = room;
	}
	ring->ids[(ring->first + ring->n) % ring->room] = id;
	ring->n++;
}

static tb_time_ps starts_at(const struct tb_replay *replay, const struct tb_ring *ring)
{
	return ring->n ? replay->messages[ring->ids[ring->first]].start_at
		       : TB_TIME_NEVER;
}

// next_to_start is the ring with the next message to start. At equal times it is the ring
// of messages with a fetch, which were posted earlier.
static struct tb_ring *next_to_start(struct tb_replay *replay)
{
	struct tb_ring *rings = replay->starting;
	return &rings[starts_at(replay, &rings[1]) <= starts_at(replay, &rings[0])];
}

static void set_vl(const struct tb_replay *replay, struct tb_posted *message)
{
	if (replay->n_vls > 1)
		message->vl = replay->carrier->vl(replay, message->what.job);
}

// message_last_node returns the node to which the engine follows a message's packets.
static uint32_t message_last_node(struct tb_replay *replay, const struct tb_message *what)
{
	uint32_t end = what->source.id;
	if (!tb_is_broadcast(what)) {
		if (what->destination.id == end ||
			tb_network_leads(replay->net, end, what->destination.id))
			return what->destination.id;
		// End the replay because of a message for which the tables of a route
		// file have no route.
		char text[TB_NAME_SIZE * 2 + 80], from[TB_NAME_SIZE], to[TB_NAME_SIZE];
		snprintf(text, sizeof text,
			"a message from %s to %s: the route file leads nowhere from "
			"there",
			tb_names_node(replay->net, what->source, from, sizeof from),
			tb_names_node(replay->net, what->destination, to, sizeof to));
		tb_replay_fail(replay, TB_EFORMAT, text);
		return end;
	}
	const char *refusal = replay->carrier->branch
				      ? replay->carrier->branch(replay, what, &end)
				      : "this kind of network has no broadcasts";
	if (refusal)
		tb_replay_fail(replay, TB_EUSAGE, refusal);
	return end;
}

// next_serial numbers a message. Where jobs are counted by themselves their numbers
// interleave, so that a job's do not depend on the others.
static uint64_t next_serial(struct tb_replay *replay, uint32_t job)
{
	uint64_t n_posted = replay->stats.n_posted++;
	if (replay->n_jobs == 0)
		return n_posted;
	assert(job < replay->n_jobs);
	return replay->n_posted_of_job[job]++ * replay->n_jobs + job;
}

static tb_time_ps overheads(const struct tb_replay *replay)
{
	const struct tb_network_params *params = &replay->net->params;
	return params->send_overhead_ps + params->receive_overhead_ps;
}

// message_ideal_ps returns what the network's part of a message's latency takes when it
// is idle. A frame that is sent as it was captured has some of its headers among its
// bytes.
static tb_time_ps message_ideal_ps(
	const struct tb_replay *replay, const struct tb_posted *message)
{
	uint64_t bytes = message->what.bytes;
	const struct tb_network_params *params = &replay->net->params;
	uint64_t headers =
		tb_replay_keeps_frames(replay, &message->what)
			? message->n_packets * replay->frame_headers +
				  tb_credit_params(params)->first_overhead_bytes
			: 0;
	const struct tb_node source = message->what.source, end = {message->end};
	struct tb_idle_key key = {tb_idle_way(replay->net, source.id, end.id),
		bytes > headers ? bytes - headers : 0};
	struct tb_kept_idle_time *kept = &replay->idle_times[tb_idle_place(key)];
	if (!tb_idle_is(kept->of, key)) {
		kept->of = key;
		kept->ps = replay->carrier->ideal_ps(replay->net, source, end, key.bytes);
	}
	return kept->ps - overheads(replay);
}

// finish_local: a message to the node itself crosses its bus twice and no link.
static void finish_local(struct tb_replay *replay, uint32_t id)
{
	struct tb_posted *message = &replay->messages[id];
	tb_time_ps done = tb_nodes_copy(
		replay, message->what.source.id, replay->now, message->what.bytes);
	message->delivered_at = done + replay->net->params.receive_overhead_ps;
	message->queue_ps = done - replay->now - message_ideal_ps(replay, message);
	message->started_at = replay->now + message->queue_ps;
	message->uses = 2;
	message->n_packets = 0;
	replay->stats.payload_bytes += message->what.bytes;
	tb_wheel_put(&replay->wheel, done, TB_EVENT_SENT, id);
	tb_wheel_put(&replay->wheel, message->delivered_at, TB_EVENT_DELIVERED, id);
}

// join_queue puts a message into its node's queue of its VL, to be cut.
static void join_queue(struct tb_replay *replay, uint32_t id)
{
	struct tb_posted *message = &replay->messages[id];
	set_vl(replay, message); // a fluid has none
	struct tb_nic *nic = tb_nic_at(replay, message->what.source.id, message->vl);
	if (replay->pairs.by_connection)
		tb_queue_pairs_join(replay, nic, id);
	else
		tb_nic_append(replay, nic, id);
}

void tb_messages_start(struct tb_replay *replay)
{
	struct tb_ring *ring = next_to_start(replay);
	for (; starts_at(replay, ring) <= replay->now; ring = next_to_start(replay)) {
		uint32_t id = tb_messages_unqueue(ring);
		struct tb_posted *message = &replay->messages[id];
		uint32_t at = message->what.source.id;
		if (replay->pulls)
			replay->carrier->catch_up(replay, id);
		if (at == message->end) {
			finish_local(replay, id);
			continue;
		}
		message->behind_since = replay->now;
		if (replay->carrier->carry)
			replay->carrier->carry(replay, id);
		else {
			join_queue(replay, id);
			if (!replay->pulls)
				tb_list_add(
					&replay->nodes_now, at, &replay->nics[at].listed);
		}
		if (replay->takes_all)
			tb_nodes_sent(replay, id);
	}
}

uint32_t tb_messages_unqueue(struct tb_ring *ring)
{
	uint32_t id = ring->ids[ring->first];
	ring->first = (ring->first + 1) % ring->room;
	ring->n--;
	return id;
}

void tb_messages_await(struct tb_replay *replay, unsigned ring, uint32_t message)
{
	message_push(replay, &replay->starting[ring], message);
	tb_messages_look_outside(replay);
}

void tb_messages_skip(struct tb_replay *replay, tb_time_ps until)
{
	for (int i = 0; i < 2; i++) {
		struct tb_ring *ring = &replay->starting[i];
		while (starts_at(replay, ring) < until)
			(void)tb_messages_unqueue(ring);
	}
	tb_messages_look_outside(replay);
}

void tb_messages_take(struct tb_replay *replay)
{
	const struct tb_source *source = replay->source;
	struct tb_message message;
	int status;
	while ((status = source->take(
			source->context, replay->now, &message, &replay->failure)) > 0) {
		uint32_t id = new_message(replay);
		if (id == TB_NOTHING)
			continue;
		const struct tb_network_params *params = &replay->net->params;
		uint32_t full = tb_replay_full_payload(replay, &message);
		uint64_t n_packets = (message.bytes + full - 1) / full;
		if (n_packets > UINT32_MAX) {
			tb_replay_fail(replay, TB_ECAPACITY,
				"a message of more than 2^32 packets");
			continue;
		}
		uint32_t n = n_packets ? (uint32_t)n_packets : 1;
		replay->messages[id] = (struct tb_posted){.what = message,
			.serial = next_serial(replay, message.job),
			.posted_at = replay->now,
			.start_at = replay->now + params->send_overhead_ps,
			.started_at = TB_TIME_NEVER,
			.n_unfetched = n,
			.n_undrained = n,
			.n_packets = n,
			.next = TB_NOTHING,
			.pair_next = TB_NOTHING,
			.end = message_last_node(replay, &message),
			.uses = 1,
			.is_behind = true};
		uint32_t end = replay->messages[id].end;
		// Its last packet adds what it is by then.
		set_vl(replay, &replay->messages[id]);
		replay->messages[id].paced_ps =
			-tb_paces_vain(replay->paces, &replay->messages[id]);
		if (replay->net->regular)
			replay->messages[id].ascending = (uint8_t)tb_network_ascending(
				replay->net, message.source.id, end);
		replay->messages[id].flow = tb_records_flow(
			&replay->records, message.job, message.source.id, end);
		tb_time_ps fetch = message.source.id == end
					   ? 0
					   : tb_fetch_delay_ps(tb_credit_params(params),
						     message.bytes);
		replay->messages[id].start_at += fetch;
		if (replay->carrier->posted && message.source.id != end)
			replay->carrier->posted(replay, id);
		message_push(replay, &replay->starting[fetch > 0], id);
	}
	if (status < 0)
		replay->failure.code = (enum tb_status)status;
	replay->source_at = source->when(source->context);
}

static void report_undelivered(struct tb_replay *replay, uint32_t id)
{
	const struct tb_posted *message = &replay->messages[id];
	uint64_t cookie = message->what.cookie;
	replay->stats.n_undelivered++;
	if (replay->source->undelivered) {
		int status = replay->source->undelivered(
			replay->source->context, replay->now, cookie, &replay->failure);
		if (status < 0)
			replay->failure.code = (enum tb_status)status;
	}
	drop_message(replay, id);
}

void tb_messages_ended(struct tb_replay *replay, uint32_t id, enum tb_event_kind kind)
{
	if (kind == TB_EVENT_DELIVERED)
		replay->messages[id].ideal_ps =
			message_ideal_ps(replay, &replay->messages[id]);
	tb_messages_add_ending(replay, id, kind);
}

void tb_messages_add_ending(
	struct tb_replay *replay, uint32_t id, enum tb_event_kind kind)
{
	if (TB_ARRAY_RESERVE(&replay->endings, &replay->endings_room,
		    2 * ((size_t)replay->n_endings + 1)) != TB_OK) { // to sort them
		tb_replay_no_memory(replay, "the ended messages");
		return;
	}
	replay->endings[replay->n_endings++] = (struct tb_ending){.at = replay->now,
		.round = replay->round,
		.serial = replay->messages[id].serial,
		.message = id,
		.kind = kind};
}

static inline bool is_posted_before(const struct tb_ending *a, const struct tb_ending *b)
{
	return a->serial != b->serial ? a->serial < b->serial : a->kind < b->kind;
}

TB_SORT(by_posting, struct tb_ending, is_posted_before)

// sort_endings puts the endings of a round into posting order, so that the source's
// reaction does not depend on the order of events. Mostly there are one or two; a million
// where as many messages end at once.
static void sort_endings(struct tb_replay *replay)
{
	uint32_t i = 1, n = replay->n_endings;
	while (i < n && is_posted_before(&replay->endings[i - 1], &replay->endings[i]))
		i++;
	if (i < n)
		by_posting(replay->endings, replay->endings + n, n);
}

void tb_messages_report(struct tb_replay *replay)
{
	if (replay->n_endings == 0 || replay->borrows)
		return;
	sort_endings(replay);
	replay->last_reported = replay->now;
	for (uint32_t i = 0; i < replay->n_endings; i++)
		if (replay->endings[i].kind == TB_EVENT_SENT) {
			uint32_t id = replay->endings[i].message;
			uint64_t cookie = replay->messages[id].what.cookie;
			if (replay->source->sent) {
				int status = replay->source->sent(replay->source->context,
					replay->now, cookie, &replay->failure);
				if (status < 0)
					replay->failure.code = (enum tb_status)status;
			}
			drop_message(replay, id);
		} else if (replay->endings[i].kind == TB_EVENT_UNDELIVERED)
			report_undelivered(replay, replay->endings[i].message);
		else {
			uint32_t id = replay->endings[i].message;
			const struct tb_posted *message = &replay->messages[id];
			tb_time_ps latency = replay->now - message->posted_at;
			struct tb_message_sample sample = {.number = message->serial,
				.bytes = message->what.bytes,
				.job = message->what.job,
				.source = message->what.source,
				.destination = {message->end},
				.posted_ps = message->posted_at,
				.started_ps = message->started_at,
				.delivered_ps = replay->now,
				.queue_ps = (uint64_t)message->queue_ps,
				.network_ps = (uint64_t)(latency - message->queue_ps -
							 overheads(replay)),
				.ideal_ps = (uint64_t)message->ideal_ps};
			tb_message_bound(&sample);
			tb_flow_count(&replay->records.flows[message->flow], &sample,
				message->n_packets);
			tb_records_message(&replay->records, &sample);
			replay->stats.n_delivered++;
			// Report to a source that asks how the message took its time.
			const struct tb_source *source = replay->source;
			if (source->crossed) {
				const struct tb_latency_parts crossing = {
					.queue_ps = message->queue_ps,
					.started_at = message->started_at,
					.drained_at =
						message->delivered_at -
						replay->net->params.receive_overhead_ps,
					.paced_ps = message->paced_ps};
				source->crossed(
					source->context, message->what.cookie, &crossing);
			}
			tb_measure_message(replay->source, message->what.cookie, &sample,
				message->paced_ps);
			if (replay->source->delivered) {
				int status = replay->source->delivered(
					replay->source->context, replay->now,
					message->what.cookie, &replay->failure);
				if (status < 0)
					replay->failure.code = (enum tb_status)status;
			}
			drop_message(replay, id);
		}
	replay->n_endings = 0;
	tb_messages_look_outside(replay);
}

void tb_messages_look_outside(struct tb_replay *replay)
{
	if (!replay->borrows)
		replay->source_at = replay->source->when(replay->source->context);
	replay->outside_at = replay->source_at;
	if (replay->fault_at < replay->outside_at)
		replay->outside_at = replay->fault_at;
	tb_time_ps starts = starts_at(replay, next_to_start(replay));
	if (starts < replay->outside_at)
		replay->outside_at = starts;
}

// A replay that continues with another model, and the messages that it keeps.

void tb_replay_follow(struct tb_replay *replay, struct tb_replay *before,
	const struct tb_carrier *carrier)
{
	*replay = *before;
	replay->carrier = carrier;
	replay->n_vls = carrier->arbitrate ? replay->net->params.n_vcs : 1;
	replay->holds_back = replay->takes_all = false;
	replay->records = (struct tb_records){0};
	replay->wheel = (struct tb_wheel){0};
	replay->partners = (struct tb_partners){0};
	replay->packets = NULL;
	replay->free_packets = NULL;
	replay->idle_times = NULL;
	replay->n_free_packets = replay->n_packets_most = replay->n_forgotten = 0;
	replay->drain_q20 = NULL;
	replay->nics = NULL;
	replay->nodes_now = (struct tb_list){0};
}

// forget_moved clears the pointers to everything that has moved to another replay.
static void forget_moved(struct tb_replay *replay)
{
	replay->records = (struct tb_records){0};
	replay->choice = (struct tb_route_choice){0};
	replay->partners = (struct tb_partners){0};
	replay->pairs = (struct tb_pair_table){0};
	replay->paces = NULL;
	replay->messages = NULL;
	replay->n_posted_of_job = NULL;
	replay->starting[0] = replay->starting[1] = (struct tb_ring){0};
	replay->endings = NULL;
	replay->n_endings = 0;
}

void tb_replay_abandon(struct tb_replay *replay)
{
	struct tb_partners own = replay->partners;
	forget_moved(replay);
	replay->partners = own;
}

void tb_replay_take_over(struct tb_replay *replay, struct tb_replay *before,
	struct tb_cell **cells,
	void (*other)(struct tb_replay *before, struct tb_event event))
{
	bool holds_stall = replay->records.holds_stall;
	tb_partners_fini(&replay->partners);
	replay->partners = before->partners;
	replay->records = before->records;
	// Take the open bin along. What is counted as stall differs: see struct
	// tb_records.
	struct tb_records *records = &replay->records;
	for (uint32_t i = 0; i < records->n_links; i++) {
		*cells[i] = *records->cells[i];
		cells[i]->link = i & INT32_MAX;
		uint64_t both = cells[i]->stall_ps, busy = cells[i]->busy_ps;
		if (holds_stall && !records->holds_stall)
			cells[i]->stall_ps = both - (busy < both ? busy : both);
		else if (!holds_stall && records->holds_stall)
			cells[i]->stall_ps = both + busy;
	}
	records->cells = records->from_cells = cells;
	records->holds_stall = holds_stall;
	for (uint32_t i = 0; i < replay->net->n_nodes; i++) {
		struct tb_nic *nic = &replay->nics[i];
		nic->bus_free_at = before->nics[i].bus_free_at;
		nic->drained_at = before->nics[i].drained_at;
		nic->bus_inward = before->nics[i].bus_inward;
	}
	while (!tb_wheel_is_empty(&before->wheel)) {
		tb_time_ps at =
			tb_wheel_next(&before->wheel, TB_WHEEL_ROWS, TB_TIME_NEVER);
		struct tb_event event = tb_wheel_take(&before->wheel, TB_WHEEL_ROWS, at);
		if (event.kind == TB_EVENT_SENT || event.kind == TB_EVENT_DELIVERED)
			tb_wheel_put(&replay->wheel, event.at, event.kind, event.subject);
		else if (other)
			other(before, event);
	}
	replay->stats = before->stats;
	forget_moved(before);
}

void tb_messages_go_on(struct tb_replay *replay, uint32_t id)
{
	struct tb_posted *message = &replay->messages[id];
	uint32_t node = message->what.source.id;
	struct tb_nic *nic = &replay->nics[node];
	message->is_behind = true;
	message->pair_next = message->pair_last = TB_NOTHING;
	message->pair_listed = false;
	join_queue(replay, id);
	if (nic->wake_at <= replay->now)
		return;
	nic->wake_at = replay->now;
	tb_wheel_put(&replay->wheel, replay->now, TB_EVENT_NODE, node);
}

// list_left lists a message; it waits anew unless it stood behind others already.
static int list_left(struct tb_replay *replay, const struct tb_nic *nic, uint32_t id,
	struct tb_list *left, size_t *room)
{
	struct tb_posted *message = &replay->messages[id];
	if (!message->is_behind || nic->turned == id)
		message->behind_since = replay->now;
	if (TB_ARRAY_RESERVE(&left->ids, room, (size_t)left->n + 1) != TB_OK)
		return TB_ENOMEM;
	left->ids[left->n++] = id;
	return TB_OK;
}

uint32_t tb_messages_left(struct tb_replay *replay, uint32_t **ids)
{
	struct tb_list left = {0};
	size_t room = 0;
	int status = TB_OK;
	for (uint32_t i = 0; i < replay->net->n_nodes * replay->n_vls; i++) {
		struct tb_nic *nic = &replay->nics[i];
		for (uint32_t at = nic->queue; at != TB_NOTHING && status == TB_OK;
			at = replay->messages[at].next)
			for (uint32_t id = at; id != TB_NOTHING && status == TB_OK;
				id = replay->messages[id].pair_next)
				status = list_left(replay, nic, id, &left, &room);
		nic->queue = nic->queue_end = nic->turned = TB_NOTHING;
	}
	bool by_connection = replay->pairs.by_connection;
	tb_queue_pairs_fini(&replay->pairs);
	replay->pairs.by_connection = by_connection;
	*ids = left.ids;
	return status == TB_OK ? left.n : TB_NOTHING;
}
