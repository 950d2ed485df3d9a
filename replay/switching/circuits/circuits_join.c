// Circuits in parts side by side (docs/model.md, rule 36): what a part has of its own,
// and what passes from part to part: headers with their first burst, further bursts, the
// room that they leave, acknowledgements, and messages that get under way.
//
// A part message arrives before it takes effect, since everything takes at least the time
// of a hop: a flit crosses its next link one hop after the one before, its credit is back
// one hop later, an acknowledgement takes one hop per link, and the token follows it. A
// window is never longer than the shortest hop.
#include "circuits.h"

#include "array.h"
#include "late_acks.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
	PART_MESSAGE_HEADER, // its load: packet and hop, with the first burst
	PART_MESSAGE_BURST,
	PART_MESSAGE_ROOM,
	PART_MESSAGE_ACK,
	PART_MESSAGE_BEGUN
};

// span_message makes a message about a burst at `at`. It names the packet, and by its
// slot the VC that leads from the earlier of the two parts to the later: that of
// `crossing`, the last hop of the earlier one.
static struct tb_part_message span_message(struct circuits *circuits, uint32_t kind,
	const struct hop *crossing, struct hop *at, uint32_t burst)
{
	const struct circuit_link *link = &circuits->links[crossing->link];
	const struct burst_span *span = span_at(at, burst);
	tb_time_ps middle = circuits->equal_rates ? 0 : *middle_at(circuits, at, burst);
	return (struct tb_part_message){.at = span->start + link->hop_ps,
		.link = crossing->link,
		.kind = kind,
		.words = {(uint64_t)burst << 32 | (uint32_t)crossing->number << 8 |
				  crossing->vc,
			(uint64_t)span->start, (uint64_t)span->end, (uint64_t)middle,
			(uint64_t)at->link << 32 | crossing->next}};
}

// passed_ps is what a header takes to cross all links up to a hop of this part.
static tb_time_ps passed_ps(const struct circuits *circuits, const struct hop *at)
{
	tb_time_ps passed = 0;
	for (;; at = hop_before(circuits, at)) {
		if (at->place == TB_HOP_COPY)
			return passed + at->wait;
		passed += circuits->links[at->link].hop_ps;
		if (at->number == 0)
			return passed;
	}
}

void tb_parts_send_burst(struct circuits *circuits, struct circuit_packet *packet,
	struct hop *at, uint32_t burst)
{
	uint32_t to = circuits->part_of_slot[first_slot(circuits, packet->route)];
	struct tb_part_message message =
		span_message(circuits, PART_MESSAGE_BURST, at, at, burst);
	if (burst > 0) {
		(void)tb_handover_to_part(&circuits->replay, to, &message);
		return;
	}
	message.kind = PART_MESSAGE_HEADER;
	message.n_bytes = sizeof *packet + circuits->hop_bytes;
	char *load = tb_handover_to_part(&circuits->replay, to, &message);
	if (!load)
		return;
	memcpy(load, packet, sizeof *packet);
	memcpy(load + sizeof *packet, at, circuits->hop_bytes);
	struct hop *copy = (void *)(load + sizeof *packet);
	copy->wait = passed_ps(circuits, at);
	copy->place = TB_HOP_COPY;
	copy->next = packet->of.id;
}

void tb_parts_send_room(struct circuits *circuits, const struct circuit_packet *packet,
	struct hop *at, uint32_t burst)
{
	const struct hop *before = hop_before(circuits, at);
	if (burst + before->room >= packet->n_bursts)
		return; // nothing of the packet needs it
	struct tb_part_message message =
		span_message(circuits, PART_MESSAGE_ROOM, before, at, burst);
	(void)tb_handover_to_part(
		&circuits->replay, circuits->part_of_slot[before->link], &message);
}

void tb_parts_send_ack(struct circuits *circuits, const struct hop *before, tb_time_ps at,
	tb_time_ps back_at, struct circuit_limit limit)
{
	struct tb_part_message message = {.at = at,
		.link = before->link,
		.kind = PART_MESSAGE_ACK,
		.words = {before->number, (uint64_t)back_at, (uint64_t)limit.longest,
			limit.root, before->next}};
	(void)tb_handover_to_part(
		&circuits->replay, circuits->part_of_slot[before->link], &message);
}

// came points to the number of the packet that arrived over a VC.
static uint32_t *came(const struct circuits *circuits, uint32_t slot, uint32_t vc)
{
	return &circuits->came[(size_t)slot * circuits->vcs_most + vc];
}

// receive_header makes the packet's record in this part.
static void receive_header(struct circuits *circuits,
	const struct tb_part_message *message, const struct circuit_packet *sent)
{
	struct tb_replay *replay = &circuits->replay;
	uint32_t id = tb_nodes_new_record(replay);
	if (id > UINT32_MAX >> circuits->hops_shift) {
		tb_replay_fail(replay, TB_ECAPACITY, "too many packets are in flight");
		return;
	}
	struct circuit_packet *packet = circuit_packet_at(circuits, id);
	*packet = *sent;
	packet->of.id = id;
	uint32_t number = packet->of.n_hops - 1u;
	struct hop *copy = hop_at(circuits, packet, number);
	memcpy(copy, sent + 1, circuits->hop_bytes);
	*came(circuits, copy->link, copy->vc) = id;
	tb_wheel_put(&replay->wheel, message->at, EV_HEADER,
		id << circuits->hops_shift | number);
}

// note_burst records in a copied hop that its next burst begins.
static void note_burst(struct circuits *circuits, struct hop *copy,
	const struct tb_part_message *message)
{
	uint32_t burst = (uint32_t)(message->words[0] >> 32);
	assert(copy->place == TB_HOP_COPY && copy->bursts == burst);
	*span_at(copy, burst) = (struct burst_span){
		(tb_time_ps)message->words[1], (tb_time_ps)message->words[2]};
	if (!circuits->equal_rates)
		*middle_at(circuits, copy, burst) = (tb_time_ps)message->words[3];
	copy->bursts = burst + 1;
}

static void receive_ack(struct circuits *circuits, const struct tb_part_message *message)
{
	const uint64_t *words = message->words;
	struct circuit_packet *packet = circuit_packet_at(circuits, (uint32_t)words[4]);
	struct hop *last = hop_at(circuits, packet, (uint32_t)words[0]);
	(void)tb_circuits_let_go(circuits, packet, last, message->at,
		(tb_time_ps)words[1],
		(struct circuit_limit){(tb_time_ps)words[2], (uint32_t)words[3]});
	tb_nodes_drop(&circuits->replay, packet->of.id);
}

// tb_circuits_receive keeps messages until the window begins, to prefetch what they name:
// most of it has left the cache since the last window.
void tb_circuits_receive(struct tb_replay *replay, const struct tb_part_message *message,
	const void *record)
{
	struct circuits *circuits = (void *)replay;
	const uint64_t *words = message->words;
	if (message->kind == PART_MESSAGE_BEGUN) {
		tb_late_acks_add_begun(
			replay, &(struct tb_begun){(tb_time_ps)words[0],
					(uint32_t)words[1], (uint32_t)words[2]});
		return;
	}
	if (TB_ARRAY_RESERVE(&circuits->received, &circuits->received_room,
		    circuits->n_received + 1) != TB_OK) {
		tb_replay_no_memory(replay, "what comes from other parts");
		return;
	}
	circuits->received[circuits->n_received++] = (struct received){message, record};
}

// Queues at switches out of which several parts have links. A VC holds one packet at a
// time, and it takes several windows until the next one can come over it: what a window
// leaves in `arrivals` still stands in the next one.

static struct arrival *arrival_at(
	const struct circuits *circuits, uint32_t slot, uint32_t vc)
{
	const struct tb_parts *parts = tb_parts_of(&circuits->replay);
	uint32_t number = parts->crossing_of[circuits->links[slot].id];
	return &circuits->arrivals[(size_t)number * circuits->vcs_most + vc];
}

// arrival_of is that of the VC over which a header came.
static struct arrival *arrival_of(
	const struct circuits *circuits, struct circuit_packet *packet)
{
	return arrival_at(circuits, packet->came_by,
		hop_at(circuits, packet, packet->of.n_hops - 1u)->vc);
}

void tb_parts_wait(struct circuits *circuits, struct circuit_packet *packet)
{
	struct arrival *arrival = arrival_of(circuits, packet);
	arrival->arrived = packet->arrived;
	arrival->bytes = packet->of.wire_bytes;
	atomic_store_explicit(&arrival->until, TB_TIME_NEVER, memory_order_release);
}

void tb_parts_end_wait(struct circuits *circuits, struct circuit_packet *packet)
{
	atomic_store_explicit(&arrival_of(circuits, packet)->until, circuits->replay.now,
		memory_order_release);
}

void tb_parts_queue(struct circuits *circuits, uint32_t slot, tb_time_ps until)
{
	if (TB_ARRAY_RESERVE(&circuits->queue_ends, &circuits->queue_ends_room,
		    circuits->n_queue_ends + 1) != TB_OK) {
		tb_replay_no_memory(&circuits->replay, "what waits");
		return;
	}
	circuits->queue_ends[circuits->n_queue_ends++] = (struct queue_end){slot, until};
}

// bytes_at sums the packets that waited over a link just before an instant.
static uint64_t bytes_at(const struct circuits *circuits, uint32_t slot, tb_time_ps at)
{
	uint64_t bytes = 0;
	for (uint32_t v = 0; v < circuits->links[slot].n_vcs; v++) {
		struct arrival *arrival = arrival_at(circuits, slot, v);
		tb_time_ps until =
			atomic_load_explicit(&arrival->until, memory_order_acquire);
		if (until >= at && arrival->arrived < at)
			bytes += arrival->bytes;
	}
	return bytes;
}

void tb_parts_count_queues(struct circuits *circuits)
{
	for (size_t i = 0; i < circuits->n_queue_ends; i++) {
		const struct queue_end *end = &circuits->queue_ends[i];
		tb_records_queue(&circuits->replay.records,
			arrival_cell(circuits, end->slot),
			bytes_at(circuits, end->slot, end->at));
	}
	circuits->n_queue_ends = 0;
}

// prefetch_received fetches what circuits_receive will read into the cache, in three
// stages.
static void prefetch_received(struct circuits *circuits, size_t i, uint32_t stage)
{
	if (i >= circuits->n_received)
		return;
	const struct tb_part_message *message = circuits->received[i].message;
	uint32_t slot = message->link, vc = message->words[0] & UINT8_MAX;
	if (message->kind == PART_MESSAGE_HEADER)
		return;
	if (message->kind == PART_MESSAGE_BURST) {
		if (stage == 0)
			__builtin_prefetch(came(circuits, slot, vc));
		else if (stage == 1)
			tb_circuits_prefetch_packet(circuits, *came(circuits, slot, vc));
		return;
	}
	uint32_t id = (uint32_t)message->words[4];
	uint32_t n_hops = (uint32_t)message->words[0] + 1;
	if (stage == 0)
		tb_circuits_prefetch_packet(circuits, id);
	else if (message->kind == PART_MESSAGE_ACK && stage == 1)
		tb_circuits_prefetch_path(
			circuits, circuit_packet_at(circuits, id), n_hops);
	else if (message->kind == PART_MESSAGE_ACK)
		tb_circuits_prefetch_switches(
			circuits, circuit_packet_at(circuits, id), n_hops);
}

void tb_circuits_begin_window(struct circuits *circuits)
{
	// Carry out all messages. What a stage has fetched is read a few
	// messages later. After a failure nothing is done any more: if a header found no
	// room, later messages about its packet name another one.
	enum { AHEAD = 4 };
	size_t n = circuits->n_received;
	for (size_t i = 0; i < n + 3 * AHEAD; i++) {
		prefetch_received(circuits, i, 0);
		if (i >= AHEAD)
			prefetch_received(circuits, i - AHEAD, 1);
		if (i >= 2 * AHEAD)
			prefetch_received(circuits, i - 2 * AHEAD, 2);
		if (i >= 3 * AHEAD && circuits->replay.failure.code == TB_OK) {
			// Carry out a message from another part.
			const struct received *received =
				&circuits->received[i - 3 * AHEAD];
			const struct tb_part_message *message = received->message;
			switch (message->kind) {
			case PART_MESSAGE_HEADER:
				receive_header(circuits, message, received->load);
				break;
			case PART_MESSAGE_BURST: {
				// Let the next hop continue, if it waited for the burst.
				uint32_t vc = message->words[0] & UINT8_MAX;
				uint32_t number = message->words[0] >> 8 & UINT8_MAX;
				struct circuit_packet *packet = circuit_packet_at(
					circuits, *came(circuits, message->link, vc));
				struct hop *copy = hop_at(circuits, packet, number);
				note_burst(circuits, copy, message);
				struct hop *after = hop_after(circuits, copy);
				if (packet->of.n_hops > number + 1 &&
					after->bursts + 1 == copy->bursts)
					tb_bursts_go_on(
						circuits, packet, after, TB_TIME_NEVER);
			} break;
			case PART_MESSAGE_ROOM: {
				// Let the last hop of this part continue, if it waited
				// for the room. Only then does this part know that the
				// packet moves.
				struct circuit_packet *packet = circuit_packet_at(
					circuits, (uint32_t)message->words[4]);
				struct hop *at = hop_at(circuits, packet,
					message->words[0] >> 8 & UINT8_MAX);
				struct hop *copy = hop_after(circuits, at);
				if (packet->of.n_hops == at->number + 1u) {
					*copy = (struct hop){
						.link = (uint32_t)(message->words[4] >>
								   32),
						.number = (uint8_t)(at->number + 1),
						.place = TB_HOP_COPY};
					packet->of.n_hops++;
				}
				note_burst(circuits, copy, message);
				if (at->bursts + 1 == copy->bursts + at->room &&
					at->bursts < packet->n_bursts)
					tb_bursts_go_on(
						circuits, packet, at, TB_TIME_NEVER);
			} break;
			default: // PART_MESSAGE_ACK
				receive_ack(circuits, message);
			}
		}
	}
	circuits->n_received = 0;
	tb_parts_count_queues(circuits);
	if (circuits->replay.side->late)
		tb_late_acks_settle(&circuits->replay);
}

void tb_circuits_end_window(struct circuits *circuits, tb_time_ps until)
{
	struct tb_replay *replay = &circuits->replay;
	struct tb_late_acks *late = replay->side->late;
	if (!late)
		return;
	// Inform the parts of destinations of the messages that got under way in this
	// window.
	for (size_t i = 0; i < late->n_begun; i++) {
		const struct tb_begun *begun = &late->begun[i];
		uint32_t to = replay->side->parts->of_node[begun->destination];
		struct tb_part_message message = {.at = TB_TIME_NEVER,
			.kind = PART_MESSAGE_BEGUN,
			.words = {
				(uint64_t)begun->at, begun->source, begun->destination}};
		if (to == replay->side->part)
			tb_late_acks_add_begun(replay, begun);
		else
			(void)tb_handover_to_part(replay, to, &message);
	}
	late->n_begun = 0;
	replay->handover_at = late->n_acks ? until : TB_TIME_NEVER;
}

// circuits_share shares the state of the whole: everything by link, and what never
// changes.
static void circuits_share(struct circuits *circuits, const struct circuits *whole)
{
	struct tb_replay replay = circuits->replay;
	*circuits = *whole;
	circuits->replay = replay;
}

static int circuits_find_slots(struct circuits *circuits)
{
	circuits->slots = malloc((circuits->n_slots + 1u) * sizeof *circuits->slots);
	if (!circuits->slots)
		return TB_ENOMEM;
	circuits->n_own = 0;
	for (uint32_t slot = 0; slot < circuits->n_slots; slot++)
		if (circuits->part_of_slot[slot] == circuits->replay.side->part)
			circuits->slots[circuits->n_own++] = slot;
	return TB_OK;
}

// circuits_find_switches lists the switches out of which the part has links, in the order
// of slots.
static int circuits_find_switches(struct circuits *circuits)
{
	const struct tb_network *net = circuits->replay.net;
	circuits->own_switches =
		malloc((net->n_switches + 1u) * sizeof *circuits->own_switches);
	if (!circuits->own_switches)
		return TB_ENOMEM;
	uint32_t n = 0;
	for (uint32_t i = 0; i < circuits->n_own; i++) {
		const struct circuit_link *link = &circuits->links[circuits->slots[i]];
		if (!link->injection &&
			(n == 0 || circuits->own_switches[n - 1] != link->from))
			circuits->own_switches[n++] = link->from;
	}
	circuits->n_own_switches = n;
	return TB_OK;
}

int tb_circuits_join(struct tb_replay **replay, struct tb_replay *whole, uint32_t part)
{
	struct circuits *made = calloc(1, sizeof *made);
	if (!made)
		return TB_ENOMEM;
	tb_replay_join(&made->replay, whole, part);
	circuits_share(made, (const void *)whole);
	int status = circuits_find_slots(made);
	if (status == TB_OK)
		status = circuits_find_switches(made);
	if (status == TB_OK)
		status = tb_circuits_make_part(made);
	if (status == TB_OK)
		status = tb_replay_open_part(&made->replay);
	if (status == TB_OK)
		*replay = &made->replay;
	else
		tb_circuits_free(&made->replay);
	return status;
}
