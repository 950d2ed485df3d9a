// The inside of the nodes, shared by messages.c (from post to ending), nodes.c (packets,
// the bus, acknowledgements) and retries.c (what fails).
#ifndef TB_NODES_IMPL_H
#define TB_NODES_IMPL_H

#include "replay.h"
#include "retries.h"

// nodes.c
//
// tb_nodes_copy has a node's bus carry bytes out and in again, requested at `at`; returns
// when it has.
tb_time_ps tb_nodes_copy(
	struct tb_replay *replay, uint32_t node, tb_time_ps at, uint64_t bytes);
// tb_nodes_packet makes packet `number` of a message; tb_nodes_cut the next one of a
// node's queue.
uint32_t tb_nodes_packet(struct tb_replay *replay, uint32_t message, uint32_t number);
uint32_t tb_nodes_cut(struct tb_replay *replay, struct tb_nic *nic);

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
// is not in it; TB_NOTHING: those behind move up. Cost: linear in the queue.
void tb_nic_replace(
	struct tb_replay *replay, struct tb_nic *nic, uint32_t message, uint32_t by);

#endif
