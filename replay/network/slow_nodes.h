// Slow receivers: nodes that drain what arrives at a rate of their own (docs/credits.md,
// rule C14). In the field they are the commonest root of congestion.
//
// As text a slow receiver is "NODE=RATE", such as "node 5=2GB/s" or "5=2GB/s"; a NODE of
// a fabric goes by its name (names.h); a host's stands for all its network interfaces.
#ifndef TB_SLOW_NODES_H
#define TB_SLOW_NODES_H

#include "network.h"

// tb_network_set_drain has a node drain at `bytes_per_s`, above 0, whatever its PCIe
// carries; before the network is shared. TB_ENOMEM leaves it as it was.
int tb_network_set_drain(struct tb_network *network, struct tb_node node,
	uint64_t bytes_per_s) TB_MUST_USE;

// tb_network_drain_bytes_per_s is at what rate a node of a network with credits drains;
// 0: without limit.
uint64_t tb_network_drain_bytes_per_s(
	const struct tb_network *network, struct tb_node node);

// tb_slow_nodes_add takes a slow receiver as text. TB_EUSAGE with what was expected, also
// of a network whose switching is not `credits`; TB_ENOMEM.
int tb_slow_nodes_add(
	struct tb_network *network, const char *text, struct tb_error *error) TB_MUST_USE;

#endif
