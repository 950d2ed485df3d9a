// A node's partners: the other nodes of whose messages to it at least one is under way.
//
// A message is under way from the cutting of its first packet until the last one is in at
// its destination, or it is given up. Both engines count so (docs/model.md, rule 6).
//
// Memory: 24 bytes for each pair of nodes that ever had a message under way, none where
// the network sets no limit. Calls cost a lookup a message; none a packet.
#ifndef TB_PARTNERS_H
#define TB_PARTNERS_H

#include "map.h"
#include "source.h"
#include "status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tb_partners {
	uint32_t most;	      // beyond which a node releases circuits later; 0: no limit
	uint32_t *n_partners; // by node
	struct tb_map pair_of;
	uint32_t *n_messages; // under way, by pair
	uint32_t n_pairs;
	size_t room;
};

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

#endif
