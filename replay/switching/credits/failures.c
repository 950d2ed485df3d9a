// Failed links: packets that come to a switch where no link leads on, packets that are
// discarded because they wait for a link that fails, and packets that are corrupted
// because they cross one (rules C20 and C21).
//
// When a packet begins to cross a link it is known what will have failed when it comes to
// the switch behind. So a packet that is to be lost there needs no switch: it is an event
// of the replay's wheel, from which its source hears in that instant. A link fails at the
// beginning of a window, up to which all switches have been served.
#include "agenda.h"
#include "array.h"
#include "kinds.h"
#include "lanes.h"
#include "retries.h"

// route_around returns a link, or a group of the choice's pool, by which a packet leaves
// the switch to which it comes at `at`; TB_ROUTE_NONE, and in `dead` the failed link that
// it meets.
static uint32_t route_around(struct credits *credits, const struct credit_packet *packet,
	tb_time_ps at, uint32_t *dead)
{
	struct tb_route_choice *choice = &credits->replay.choice;
	const struct tb_heading heading = {packet->of.order,
		tb_packet_source(&credits->replay, &packet->of), packet->of.destination,
		tb_retries_attempt(&credits->replay, packet->of.id)->tables};
	*dead = TB_ID_NONE;
	uint32_t way = tb_route_choice_route(
		choice, receiver_at(credits, packet->at)->sw, &heading, at, dead);
	if (choice->failed)
		tb_replay_no_memory(&credits->replay, "what fails");
	return way;
}

bool tb_failures_foresee(struct credits *credits, struct credit_packet *packet)
{
	uint32_t dead;
	packet->route = route_around(credits, packet, packet->ready_at, &dead);
	if (packet->route != TB_ROUTE_NONE)
		return true;
	tb_wheel_put(&credits->replay.wheel, packet->ready_at, EV_LOST, packet->of.id);
	return false;
}

// leave_when_served has a discarded packet leave its buffer when the switch does what
// happens in this instant.
static void leave_when_served(struct credits *credits, const struct credit_packet *packet,
	const struct update *update)
{
	struct agenda *agenda = credits->agenda;
	if (TB_ARRAY_RESERVE(&agenda->discards, &agenda->discards_room,
		    agenda->n_discards + 1) != TB_OK) {
		tb_replay_no_memory(&credits->replay, "what fails");
		return;
	}
	agenda->discards[agenda->n_discards] =
		(struct discard){*update, packet->at, packet->vl, packet->of.wire_bytes};
	agenda_add(credits, receiver_at(credits, packet->at)->sw,
		(struct to_do){.at = credits->replay.now,
			.packet = (uint32_t)agenda->n_discards++,
			.kind = TO_LEAVE});
}

void tb_failures_left(struct credits *credits, uint32_t number)
{
	const struct discard *discard = &credits->agenda->discards[number];
	tb_pause_left(
		credits, discard->slot, discard->vl, discard->bytes, &discard->update);
}

// credits_lose ends a packet: its blocks fall free, and its source gets an error.
static void credits_lose(struct credits *credits, struct credit_packet *packet,
	struct blamed blamed, bool has_come)
{
	struct tb_replay *replay = &credits->replay;
	struct update update = {.freed_at = replay->now,
		.order = packet->of.order,
		.blamed = blamed,
		.blocks = blocks_of(packet->of.wire_bytes)};
	if (!credits->setup.pauses) {
		// The switch may yet do what came before.
		lanes_return(credits, packet->at, packet->vl, &update);
		sender_at(credits, packet->at)->has_pending = true;
	} else if (has_come) {
		leave_when_served(credits, packet, &update);
	}
	crossing_end(credits, packet);
	uint32_t dead = tb_retries_attempt(replay, packet->of.id)->dead;
	tb_nodes_fail(replay, packet->of.id, dead, replay->now);
}

void tb_failures_lost(struct credits *credits, struct credit_packet *packet)
{
	uint32_t dead;
	(void)route_around(credits, packet, credits->replay.now, &dead);
	if (!packet->corrupted)
		tb_retries_attempt(&credits->replay, packet->of.id)->dead = dead;
	credits_lose(credits, packet,
		(struct blamed){packet->of.flow, receiver_at(credits, packet->at)->link,
			packet->of.flow},
		false);
}

// unlink_packet takes a packet out of its queue.
static void unlink_packet(
	struct credits *credits, struct queue *queue, const struct credit_packet *packet)
{
	uint32_t before = NOTHING;
	for (uint32_t id = queue->first; id != packet->of.id;
		id = credit_packet_at(credits, id)->next)
		before = id;
	queue->bytes -= packet->of.wire_bytes;
	if (before == NOTHING)
		queue->first = packet->next;
	else
		credit_packet_at(credits, before)->next = packet->next;
	if (queue->last == packet->of.id)
		queue->last = before;
}

// hide_head: the first packet of a queue, if it is a head, no longer waits for the link
// of `sender`, which fails.
static void hide_head(struct credits *credits, const struct receiver *receiver,
	struct link_sender *sender, uint32_t vl)
{
	clear_bit(heads_of(credits, sender, vl), receiver->port);
	if (any_heads(credits, sender, LARGE) || is_busy(credits, sender))
		return;
	tb_credits_stalled(credits, sender, sender->stalled_since, credits->replay.now);
	sender->stalled_since = TB_TIME_NEVER;
}

// discard ends a packet, in a queue of a receiver, that waits for a link that fails.
static void discard(struct credits *credits, struct receiver *receiver, uint32_t number,
	struct credit_packet *packet)
{
	tb_time_ps now = credits->replay.now;
	struct queue *queue = queue_in(receiver, number);
	struct link_sender *sender = sender_at(credits, packet->route);
	uint32_t link = sender->link, vl = packet->vl;
	struct blamed blamed = {packet->of.flow, link, packet->of.flow};
	bool waited = packet->ready_at < now;
	bool was_first = queue->first == packet->of.id;
	if (waited) {
		const struct wait_cause cause =
			tb_credits_blame_lasting(credits, packet, now);
		blamed.root = cause.root;
		blamed.ahead = cause.culprit;
		tb_credits_charge(credits, packet, now);
	}
	if (waited && !was_first) {
		uint32_t route = credit_packet_at(credits, queue->first)->route;
		tb_records_queue(&credits->replay.records,
			sender_cell(credits, sender_at(credits, route)),
			tb_credits_waiting(credits, queue, now));
	}
	if (was_first && waited)
		hide_head(credits, receiver, sender, vl);
	else if (was_first)
		tb_agenda_forget(credits, receiver->sw, packet->of.id, packet->ready_at);
	unlink_packet(credits, queue, packet);
	if (credits->setup.adaptive)
		credits->loads[packet->route]--;
	if (credits->left)
		credits->left[packet->at * credits->n_vls + vl] =
			(struct queue_left){now, blamed};
	struct tb_attempt *attempt = tb_retries_attempt(&credits->replay, packet->of.id);
	if (!packet->corrupted)
		attempt->dead = link;
	if (!waited)
		blamed.root = receiver->link;
	credits_lose(credits, packet, blamed, true);
	if (was_first && queue->first != NOTHING)
		tb_serve_head(credits, credit_packet_at(credits, queue->first));
}

// discard_all ends the packets in the queues of a receiver that wait for the link of a
// slot, which fails.
static void discard_all(struct credits *credits, struct receiver *receiver, uint32_t slot)
{
	bool by_output = credits->queues_of_vl > 1, any = false;
	uint32_t port = sender_at(credits, slot)->port;
	for (uint32_t vl = 0; vl < credits->n_vls; vl++) {
		uint32_t number = queue_for(credits, vl, port);
		struct queue *queue = queue_in(receiver, number);
		for (uint32_t id = queue->first, next; id != NOTHING; id = next) {
			struct credit_packet *packet = credit_packet_at(credits, id);
			next = packet->next;
			if (packet->route == slot)
				discard(credits, receiver, number, packet);
		}
		any |= queue->first != NOTHING;
		if (!by_output && queue->first == NOTHING)
			clear_bit(used_of(credits, receiver), vl);
	}
	if (by_output && !any)
		clear_bit(used_of(credits, receiver), port);
}

void tb_failures_fail_link(struct tb_replay *replay, uint32_t link)
{
	struct credits *credits = (void *)replay;
	const struct tb_network *net = credits->replay.net;
	uint32_t slot = credits->slot_of_link[link];
	struct link_sender *sender = sender_at(credits, slot);
	tb_time_ps now = credits->replay.now;
	if (sender->free_at > now) {
		// A link fails while a packet crosses it. If the packet was discarded
		// when its header arrived, its record may already be another packet's.
		uint32_t id = credits->crossing[credits->slot_of_link[link]];
		struct credit_packet *packet = credit_packet_at(credits, id);
		if (packet->of.order == sender->order && !packet->corrupted) {
			packet->corrupted = true;
			tb_retries_attempt(&credits->replay, id)->dead = link;
		}
	}
	if (is_node(credits, slot)) {
		uint32_t node = slot - credits->first_node;
		tb_time_ps since = fetched_since(credits, node);
		if (since != TB_TIME_NEVER) {
			tb_credits_stalled(credits, sender,
				tb_time_later(since, sender->free_at), now);
			tb_nodes_look(&credits->replay, node);
		}
		return;
	}
	uint32_t sw = receiver_at(credits, slot)->sw;
	for (uint32_t from = net->first_out[sw]; from < net->first_out[sw + 1]; from++)
		if (sender_at(credits, from)->link != TB_ID_NONE)
			discard_all(credits, receiver_at(credits, from), slot);
}

bool tb_failures_end_corrupted(struct credits *credits, uint32_t id)
{
	struct credit_packet *packet = credit_packet_at(credits, id);
	if (!packet->corrupted)
		return false;
	struct tb_replay *replay = &credits->replay;
	tb_crossing_free(credits, packet, replay->now);
	crossing_end(credits, packet);
	tb_nodes_fail(replay, id, tb_retries_attempt(replay, id)->dead, replay->now);
	return true;
}
