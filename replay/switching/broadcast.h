// The path of a broadcast through a k-ary n-tree: which links its branches are.
//
// Model (docs/model.md, rules 28 to 32): a message to n_receivers > 1 nodes, contiguous
// from its destination on, ascends as one packet until all of them lie below it, at its
// apex. From there on it takes, level by level, all links that lead to part of the range.
// It crosses all links of a level at the same instants, so engines follow one branch, the
// one to tb_broadcast_end, and count the others with it. Private to replay/.
#ifndef TB_BROADCAST_H
#define TB_BROADCAST_H

#include "network_impl.h"
#include "source.h"

// tb_broadcast_end returns the node to which the followed branch leads: of the two ends
// of the range the one further from the source, so that its path passes the apex.
uint32_t tb_broadcast_end(
	const struct tb_network *network, const struct tb_message *message);

// tb_broadcast_links finds the links that branches take after `depth` others below the
// apex, which lies `ascending` levels up; at most n_receivers. Cost: a route a receiver.
uint32_t tb_broadcast_links(const struct tb_network *network,
	const struct tb_message *message, uint32_t apex, uint32_t ascending,
	uint32_t depth, uint32_t *links);

// tb_broadcast_refusal is why a broadcast cannot be replayed, NULL when it can.
const char *tb_broadcast_refusal(const struct tb_network *network,
	const struct tb_message *message, bool with_faults);

#endif
