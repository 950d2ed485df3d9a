// Nodes that are served in windows, as switches are.
//
// What a node sends in a window depends on its messages, and on credits that it knew of
// before; what comes to it has begun to cross its last link before. So where nothing else
// acts on nodes (setup.serves_nodes) their packets are no events: the agenda lists the
// nodes that have something to do in a cell, packets that come wait in the queue of the
// node's receiver, and a node does all that it does in a window at once. A message that
// starts has its node catch up first.
#include "lanes.h"

#include "agenda.h"
#include "kinds.h"
#include "nodes_impl.h"

// come_to_node: the tail of a packet is in. The node drains it, and the buffer is free
// when it has.
static inline void come_to_node(
	struct credits *credits, uint32_t node, struct credit_packet *packet)
{
	struct tb_replay *replay = &credits->replay;
	tb_time_ps now = replay->now = packet->ready_at;
	if (credits->delays)
		tb_credits_add_delays(credits, packet);
	crossing_end(credits, packet);
	tb_nodes_received_packet(
		replay, packet->of.id, crossing_acknowledged_at(credits, packet) - now);
	const struct link_sender *reverse = sender_at(credits, packet->at);
	tb_time_ps freed_at = replay->nics[node].drained_at;
	lanes_push(credits, lane_at(credits, reverse->peer, packet->vl), reverse->peer,
		packet->vl,
		(struct update){.freed_at = freed_at,
			.known_at = freed_at +
				    credits_link_kind(credits, reverse)->latency_ps,
			.order = packet->of.order,
			.blamed = {packet->of.flow,
				receiver_at(credits, packet->at)->link, packet->of.flow},
			.blocks = blocks_of(packet->of.wire_bytes)});
	replay->stats.n_events++;
}

static inline void wake_node(struct credits *credits, uint32_t node, tb_time_ps at)
{
	struct tb_nic *nic = &credits->replay.nics[node];
	if (at >= nic->wake_at)
		return;
	nic->wake_at = at;
	agenda_visit(credits, node, at);
}

// node_injects_at is tb_serve_injects_at; mostly there are credits.
static inline tb_time_ps node_injects_at(
	const struct credits *credits, uint32_t node, uint32_t id)
{
	const struct link_sender *sender = sender_at(credits, credits->first_node + node);
	struct lane *lane = lane_at(credits, credits->first_node + node, 0);
	uint32_t bytes = credit_packet_at(credits, id)->of.wire_bytes;
	if (lane->credits < (int32_t)blocks_of(bytes))
		return tb_serve_injects_at(credits, node, id);
	lane->lacks = 0;
	return tb_time_later(credits->replay.now, sender->free_at);
}

// plan_node has a node be served when the packet that it has fetched can enter.
static inline void plan_node(struct credits *credits, uint32_t node)
{
	const struct tb_nic *nic = &credits->replay.nics[node];
	tb_time_ps enters = node_injects_at(credits, node, nic->fetched);
	if (enters != TB_TIME_NEVER)
		wake_node(credits, node, tb_time_later(enters, nic->fetched_at));
}

void tb_adapters_look(struct credits *credits, uint32_t node)
{
	if (credits->replay.nics[node].fetched != NOTHING)
		plan_node(credits, node);
}

// node_sends has a node inject the packet that it has fetched, if it can enter now, and
// fetch the next one.
static inline void node_sends(struct credits *credits, uint32_t node)
{
	struct tb_replay *replay = &credits->replay;
	struct tb_nic *nic = &replay->nics[node];
	tb_time_ps now = replay->now;
	if (nic->fetched != NOTHING && nic->fetched_at <= now &&
		node_injects_at(credits, node, nic->fetched) <= now) {
		uint32_t id = nic->fetched;
		nic->fetched = NOTHING;
		if (nic->begins_turn)
			tb_nodes_entered(
				replay, nic, credit_packet_at(credits, id)->of.message);
		tb_serve_inject(credits, node, id);
		replay->stats.n_events++;
	}
	tb_time_ps at;
	if (nic->fetched == NOTHING &&
		tb_nodes_fetch_packet(replay, node, &at) == NOTHING) {
		if (at != TB_TIME_NEVER)
			wake_node(credits, node, at);
		return;
	}
	plan_node(credits, node);
}

// serve_node has a node do what it does before `until`.
ALWAYS_INLINE void serve_node(struct credits *credits, uint32_t node, tb_time_ps until)
{
	struct tb_nic *nic = &credits->replay.nics[node];
	struct queue *coming = &receiver_at(credits, credits->first_node + node)->coming;
	while (coming->first != NOTHING) {
		struct credit_packet *packet = credit_packet_at(credits, coming->first);
		if (packet->ready_at >= until)
			break;
		coming->first = packet->next;
		if (coming->first != NOTHING) // and see when it comes
			__builtin_prefetch(credit_packet_at(credits, coming->first));
		come_to_node(credits, node, packet);
	}
	while (nic->wake_at < until) {
		credits->replay.now = nic->wake_at;
		nic->wake_at = TB_TIME_NEVER;
		node_sends(credits, node);
	}
}

void tb_adapters_come(
	struct credits *credits, struct credit_packet *packet, tb_time_ps tail_at)
{
	struct queue *coming = &receiver_at(credits, packet->at)->coming;
	packet->ready_at = tail_at;
	packet->next = NOTHING;
	if (coming->first == NOTHING)
		coming->first = packet->of.id;
	else
		credit_packet_at(credits, coming->last)->next = packet->of.id;
	coming->last = packet->of.id;
	agenda_visit(credits, packet->at - credits->first_node, tail_at);
}

void tb_adapters_catch_up(struct tb_replay *replay, uint32_t message)
{
	struct credits *credits = (void *)replay;
	uint32_t node = replay->messages[message].what.source.id;
	tb_time_ps now = replay->now;
	serve_node(credits, node, now);
	replay->now = now;
	wake_node(credits, node, now);
}

void tb_adapters_serve(struct credits *credits, tb_time_ps until)
{
	struct agenda *agenda = credits->agenda;
	uint64_t number = agenda->first;
	struct agenda_cell *cell = &agenda->cells[number % AGENDA_CELLS];
	bool ends = (uint64_t)until >> agenda->shift > number;
	tb_time_ps last = credits->replay.now;
	uint32_t n_kept = 0;
	agenda->until = until;
	for (uint32_t i = 0; i < cell->n_nodes; i++) {
		uint32_t node = cell->nodes[i];
		if (credits->replay.prefetches)
			tb_credits_fetch_nodes(credits, cell->nodes, i, cell->n_nodes);
		struct receiver *receiver =
			receiver_at(credits, credits->first_node + node);
		serve_node(credits, node, until);
		last = tb_time_later(last, credits->replay.now);
		if (ends)
			receiver->used &= ~(UINT64_C(1) << number % AGENDA_CELLS);
		else
			cell->nodes[n_kept++] = node;
	}
	cell->n_nodes = n_kept;
	credits->replay.now = last;
}
