// What packets and messages meet on an idle network: the closed forms of docs/model.md,
// "What is counted". Private to replay/.
//
// The ideal latency of a message to another node, with circuits. The path is links 1 to
// m. Let T' be T of the slowest of these links, w the bytes of a packet on the wire, f
// those of its last flit.
// - A packet arrives in(w) = (the hops of links 1 to m - 1) + T'(w) - T'(f) + T(f) of
//   link m + the latency of link m after it entered the network.
// - The pace is the larger of T' and T of the bus for a full packet. A VC is free for the
//   next packet after c = in(a full packet) + `ack_delay` + the hops of all links. With V
//   VCs, the fewer of link 1 and link m, packet i (from 0) enters
//   max(i · pace, floor(i / V) · c + (i mod V) · pace) after the first.
// - The first packet enters when it has been fetched. The last is drained once it has
//   arrived and the one before it has arrived and been drained. Add the overheads.
#ifndef TB_IDLE_H
#define TB_IDLE_H

#include "idle_times.h"
#include "network_impl.h"

// The properties of a lone message's path that its time depends on.
struct tb_idle_path {
	tb_time_ps before;		// hops of all links but the last
	tb_time_ps back;		// and of all: an acknowledgement's way
	tb_time_ps behind;		// latency of the last link
	uint64_t slowest_q20, last_q20; // picoseconds a byte, 20 binary places
	uint32_t n_vcs;			// of injection and ejection, the fewer
};

// tb_idle_path_between follows the links between two different nodes. Cost: on an
// irregular network a look at each link.
struct tb_idle_path tb_idle_path_between(
	const struct tb_network *network, uint32_t source, uint32_t destination);

// tb_idle_link_on returns the link by which a lone message leaves a switch.
uint32_t tb_idle_link_on(const struct tb_network *network, uint32_t sw, uint32_t source,
	uint32_t destination);

// tb_idle_time is what so many bytes take at a pace.
tb_time_ps tb_idle_time(uint64_t bytes, uint64_t byte_q20);

// tb_idle_crossing returns the time from when the header of a packet of so many bytes on
// the wire reaches the last link until that link has carried the packet: the last flit
// arrives at the pace of the slowest link.
tb_time_ps tb_idle_crossing(const struct tb_network *network,
	const struct tb_idle_path *path, uint64_t wire_bytes);

// tb_idle_latency_ps is the time of a message from post to delivery.
tb_time_ps tb_idle_latency_ps(const struct tb_network *network, struct tb_node source,
	struct tb_node destination, uint64_t bytes);

// What a message takes on an idle network whose switches store and forward: rule E20 of
// docs/ethernet.md. Private to replay/.
//
// E20. Ideal latency. The latency when nothing else is under way, the connection is
//   open, no window holds the message back, and each bucket is full. With P_j(w) =
//   T_j(w) - T_j(`burst`), but not below 0, it is the overheads, the λ of all links,
//   and the largest, over links j, of P_j of all its frames together + P of its first
//   frame at the links before j + P of its last one at those behind. A message within
//   a node takes the overheads. On the ideal network E2 holds for the links of nodes;
//   at each other link a frame takes P(w) at the rate of the fastest of all, and λ. A
//   short segment has its share of `overhead` there, as others may fill it. The
//   connections of a node take turns, frame by frame, and a message is sent at once.

// tb_idle_stored_ps is the least time of a message from post to delivery: each link on
// the way begins with a full bucket. Cost: on an irregular network a few looks at each
// link of the path.
tb_time_ps tb_idle_stored_ps(const struct tb_network *network, struct tb_node source,
	struct tb_node destination, uint64_t bytes);

// tb_idle_burst returns what the bucket of a link's shaper holds, as the time that the
// link takes for it.
tb_time_ps tb_idle_burst(const struct tb_network *network, uint32_t link);

// tb_idle_passes is P(w): how long a link of such a rate with a full bucket delays so
// many bytes.
tb_time_ps tb_idle_passes(
	const struct tb_network *network, uint64_t byte_q20, uint64_t wire_bytes);

// What a message takes on an idle network with credits: rule C25 of docs/credits.md.
//
// C25. Ideal latency. The latency of a message when nothing else is under way. To its
//   own node: the overheads and the larger of what its bytes take of the two servers
//   (C14). Otherwise the path is as in the model, links 1 to m. A packet of w bytes
//   begins to cross link 1 at b_1 = 0 and link j + 1 at b_(j+1) = b_j + λ_j + d, where
//   d is the larger of 0 and T_j(w) - T_(j+1)(w), with `store-and-forward` T_j(w). It
//   arrives at in(w) = b_m + λ_m + T_m(w). Let F be T of its source's server for
//   fetching, G of its destination's for draining, and P(w) the largest T_j(w); the
//   message has packets 0 to n - 1.
//   - Packet i enters e_i after packet 0: the sum, over packets k from 1 to i, of the
//     larger of P of packet k - 1 and F of packet k; or, with credits, floor(i / K_j) ·
//     L_j + (i mod K_j) · p for any link j if that is more. p is the larger of P and F
//     of a full packet (without `first_overhead`, as in K and L), K_j the number of
//     full packets that its buffer holds, and L_j the time until the blocks of one are
//     known to be free: b_(j+1) - b_j + T_(j+1) + λ of the reverse link; for link m,
//     λ_m + T_m + G + that λ.
//   - The last packet is drained G after the latest of e_(n-1) + its in; if n > 1 also
//     e_(n-2) + in + G of packet n - 2, and in of packet 0 + (n - 1) · G of a full
//     packet.
//   - Add F of packet 0 and the overheads.
//
// Private to replay/.

// tb_idle_credits_ps is the time of a message from post to delivery. Cost: on an
// irregular network a few looks at each link of the path.
tb_time_ps tb_idle_credits_ps(const struct tb_network *network, struct tb_node source,
	struct tb_node destination, uint64_t bytes);

#endif
