// What nodes ask of that which carries their packets: links and switches, as one of the
// switching models has them (switching.h).
//
// Nodes cut messages into packets, fetch and drain them, acknowledge, retry and give up;
// between a packet's injection and its last flit's coming in it is the model's. The model
// answers with the calls of replay.h: tb_nodes_arrive, tb_nodes_fail, tb_nodes_look.
#ifndef TB_CARRIER_H
#define TB_CARRIER_H

#include "network.h"
#include "source.h"

struct tb_replay;

// What a message takes from post to delivery on an idle network of that kind.
typedef tb_time_ps tb_ideal_time(const struct tb_network *network, struct tb_node source,
	struct tb_node destination, uint64_t bytes);

struct tb_carrier {
	// injects_at is when a node's packet, once fetched, can enter the network: now or
	// before, later, or TB_TIME_NEVER when that is not known yet. Then the model has
	// the node look again (tb_nodes_look) when it is. With circuits: the first VC of
	// the injection link falls free. With credits: the link is free and there are
	// credits for all of the packet.
	tb_time_ps (*injects_at)(
		const struct tb_replay *replay, uint32_t node, uint32_t packet);
	// inject takes the packet; injects_at has said that it can enter now. The model's
	// part of the record is as its last packet left it.
	void (*inject)(struct tb_replay *replay, uint32_t node, uint32_t packet);
	// release: the destination has drained the packet at `drained_at`, perhaps still
	// to come, and acknowledges it at `ack_at`. Lets go of what the packet still
	// holds, has its source look (tb_nodes_look) if that may inject earlier for it,
	// and returns when the source knows. With circuits the acknowledgement
	// goes back along the circuit, and the token after it frees the VCs. With credits
	// only the buffer of the ejection link is left, free once drained; nothing of the
	// network waits for an acknowledgement, which takes what a short packet takes.
	tb_time_ps (*release)(struct tb_replay *replay, uint32_t packet,
		tb_time_ps ack_at, tb_time_ps drained_at);
	// branch prepares for a broadcast: NULL, with the node to which its packets are
	// followed, or why there can be none. May be NULL: no broadcasts.
	const char *(*branch)(struct tb_replay *replay, const struct tb_message *message,
		uint32_t *end);
	tb_ideal_time *ideal_ps;
	// The model can simulate parts of a network side by side (handover.h).
	bool in_parts;
};

#endif
