// What nodes ask of their carrier: the links and switches, as one of the switching models
// simulates them (switching.h).
//
// Nodes cut messages into packets, fetch and drain them, acknowledge, retry and give up.
// From a packet's injection until its last flit has arrived it is the model's. The model
// calls back: tb_nodes_arrive, tb_nodes_fail, tb_nodes_look (replay.h). A model may take
// messages whole instead.
#ifndef TB_CARRIER_H
#define TB_CARRIER_H

#include "network.h"
#include "source.h"

struct tb_replay;

// The time of a message from post to delivery on an idle network of that kind.
typedef tb_time_ps tb_ideal_time(const struct tb_network *network, struct tb_node source,
	struct tb_node destination, uint64_t bytes);

struct tb_carrier {
	// carry takes a whole message, whose send overhead is over: it is not cut, and
	// nothing below but `branch` and `ideal_ps` is asked of the model. The model sets
	// when it began (struct tb_posted), and calls tb_nodes_carried. NULL: packets.
	void (*carry)(struct tb_replay *replay, uint32_t message);
	// posted: a message between two nodes has been posted, in the whole. NULL:
	// nothing is to be done for that.
	void (*posted)(struct tb_replay *whole, uint32_t message);
	// injects_at returns when a node's packet, once fetched, can enter the network:
	// now or before, later, or TB_TIME_NEVER when that is not known yet. Then the
	// model calls tb_nodes_look when it is. With circuits that is when the first VC
	// of the injection link falls free, with credits when the link is free and there
	// are credits for the whole packet.
	tb_time_ps (*injects_at)(
		const struct tb_replay *replay, uint32_t node, uint32_t packet);
	// inject takes the packet, for which injects_at has returned now or before. The
	// model's part of the record is as its last packet left it.
	void (*inject)(struct tb_replay *replay, uint32_t node, uint32_t packet);
	// release: the destination drains the packet by `drained_at`, perhaps still to
	// come, and acknowledges it at `ack_at`. The model frees what the packet still
	// holds, calls tb_nodes_look for its source if that may inject earlier now, and
	// returns when the source has the acknowledgement. With circuits the
	// acknowledgement goes back along the circuit, and the token after it frees the
	// VCs. With credits only the buffer of the ejection link is left, free once
	// drained; an acknowledgement takes what a short packet takes, and nothing in the
	// network waits for it.
	tb_time_ps (*release)(struct tb_replay *replay, uint32_t packet,
		tb_time_ps ack_at, tb_time_ps drained_at);
	// branch prepares for a broadcast. It returns NULL, with the node to which its
	// packets are followed in `end`, or why there can be no broadcast. May be NULL:
	// no broadcasts.
	const char *(*branch)(struct tb_replay *replay, const struct tb_message *message,
		uint32_t *end);
	tb_ideal_time *ideal_ps;
	// The model can simulate parts of a network side by side (switching.h).
	bool in_parts;
	// Those of one process alone: they share more than what is handed over.
	bool in_one_memory;
	// Its parts own cables, and paths lead from part to part at switches.
	bool owns_cables;
};

#endif
