// The inside of the nodes, shared by messages.c (from post to ending), nodes.c (packets,
// the bus, acknowledgements) and retries.c (what fails), with what they keep of partners
// (nodes.c) and queue pairs (nodes.c).
#ifndef TB_NODES_IMPL_H
#define TB_NODES_IMPL_H

#include "replay.h"
#include "retries.h"

// nodes.c
//
// tb_nodes_copy has a node's bus carry bytes out and in again, as requested at `at`, and
// returns when it has.
tb_time_ps tb_nodes_copy(
	struct tb_replay *replay, uint32_t node, tb_time_ps at, uint64_t bytes);
// tb_nodes_packet makes packet `number` of a message; tb_nodes_cut the next one of a
// node's queue.
uint32_t tb_nodes_packet(struct tb_replay *replay, uint32_t message, uint32_t number);
uint32_t tb_nodes_cut(struct tb_replay *replay, struct tb_nic *nic);

// What a model calls that pulls nodes: at a node's own time, which it makes `now`.
//
// tb_nodes_turn returns the message of which the node cuts a packet now, and its number
// in that; TB_NOTHING: none before `*at`, perhaps TB_TIME_NEVER. tb_nodes_size returns
// the bytes of a packet on the wire. tb_nodes_fetch has the bus fetch a packet and
// returns when it has, tb_nodes_fetch_ps how long that takes; tb_nodes_entered: the
// packet, of the message, enters the network (`nic` is that of its VL).
// tb_nodes_received: a packet of a message is in at its destination, and its source has
// the acknowledgement `back_ps` after that leaves; tb_nodes_received_packet drops its
// record, too. tb_nodes_fetch_packet is tb_nodes_turn, tb_nodes_packet and tb_nodes_fetch
// for the packet that it returns, which the node then has fetched.
uint32_t tb_nodes_turn(
	struct tb_replay *replay, uint32_t node, uint32_t *number, tb_time_ps *at);
uint32_t tb_nodes_size(const struct tb_replay *replay, const struct tb_posted *message,
	uint32_t number, uint32_t *payload_bytes);
tb_time_ps tb_nodes_fetch(
	struct tb_replay *replay, uint32_t node, uint32_t payload_bytes);
tb_time_ps tb_nodes_fetch_ps(const struct tb_replay *replay, uint32_t payload_bytes);
void tb_nodes_entered(struct tb_replay *replay, struct tb_nic *nic, uint32_t message);
void tb_nodes_received(struct tb_replay *replay, uint32_t message, uint32_t payload_bytes,
	tb_time_ps back_ps);
void tb_nodes_received_packet(
	struct tb_replay *replay, uint32_t packet, tb_time_ps back_ps);
uint32_t tb_nodes_fetch_packet(struct tb_replay *replay, uint32_t node, tb_time_ps *at);

// tb_nodes_goes_on returns whether a node's next packet is a full one of the message that
// it cut last, which no other message of the node follows or precedes. Then nothing of
// its turn changes but the number. Not with congestion control.
static inline bool tb_nodes_goes_on(
	const struct tb_replay *replay, const struct tb_nic *nic)
{
	if (nic->queue == TB_NOTHING || nic->turned != TB_NOTHING)
		return false;
	const struct tb_posted *message = &replay->messages[nic->queue];
	return message->n_unfetched > 1 && message->n_unfetched < message->n_packets &&
	       message->next == TB_NOTHING && !message->is_behind;
}

// tb_nic_append puts a message behind all others of its node's queue.
static inline void tb_nic_append(
	struct tb_replay *replay, struct tb_nic *nic, uint32_t message)
{
	replay->messages[message].next = TB_NOTHING;
	if (nic->queue == TB_NOTHING)
		nic->queue = message;
	else
		replay->messages[nic->queue_end].next = message;
	nic->queue_end = message;
}

// tb_nic_replace gives the place of a message in its node's queue to another one, which
// is not in the queue; TB_NOTHING: those behind move up. Cost: linear in the queue.
void tb_nic_replace(
	struct tb_replay *replay, struct tb_nic *nic, uint32_t message, uint32_t by);

// nodes.c: a node's partners, the other nodes of whose messages to it at least one is
// under way.
//
// A message is under way from the cutting of its first packet until the last one is in at
// its destination, or it is given up. Both engines count so (docs/model.md, rule 6).
//
// Memory: 24 bytes for each pair of nodes that ever had a message under way, none where
// the network sets no limit. Calls cost a lookup a message; none a packet.

// tb_partners_init counts for `n_nodes` nodes, unless `most` is 0.
int tb_partners_init(
	struct tb_partners *partners, uint32_t most, uint32_t n_nodes) TB_MUST_USE;
void tb_partners_fini(struct tb_partners *partners);

// A message gets under way, to each of its receivers but its source: TB_OK, or TB_ENOMEM.
int tb_partners_begin(
	struct tb_partners *partners, const struct tb_message *message) TB_MUST_USE;
// It is no longer; each message that began must end once.
void tb_partners_end(struct tb_partners *partners, const struct tb_message *message);

// tb_partners_too_many returns whether a node has more than the limit.
static inline bool tb_partners_too_many(const struct tb_partners *partners, uint32_t node)
{
	return partners->most && partners->n_partners[node] > partners->most;
}

// nodes.c: queue pairs of nodes (docs/credits.md, C15), the messages of a node in a
// queue for each node that they go to.
//
// A node's queue (struct tb_nic) holds the first message of each of its queue pairs; the
// others hang behind that, by `pair_next`. Who stands first for a destination is looked
// up in a hash table, in which no node is that has a single queue pair with something to
// send. Where queue pairs are not by connection nothing here is called, and every message
// stands in its node's queue.
//
// Cost: of joining and leaving constant, of dropping linear in what the node has to send.
// Memory: 8 bytes at most for each queue pair that has something to send.

// tb_queue_pairs_fini frees the table; a zeroed struct is fine.
void tb_queue_pairs_fini(struct tb_pair_table *pairs);

// tb_queue_pairs_join puts a message into the queue pair of its destination.
void tb_queue_pairs_join(struct tb_replay *replay, struct tb_nic *nic, uint32_t message);

// tb_queue_pairs_leave: the first message of the node's queue is cut to its end. Its
// queue pair goes to the end of the queue if it has another one.
void tb_queue_pairs_leave(struct tb_replay *replay, struct tb_nic *nic);

// tb_queue_pairs_drop takes a message out, wherever it stands; its queue pair keeps its
// place.
void tb_queue_pairs_drop(struct tb_replay *replay, struct tb_nic *nic, uint32_t message);

#endif
