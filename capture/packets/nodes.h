// Gives endpoints their nodes, and counts what went from node to node.
//
// Memory grows with endpoints and pairs. One thread at a time per object.
#ifndef TB_NODES_H
#define TB_NODES_H

#include "address.h"
#include "map_file.h"
#include "packets.h"

struct tb_nodes; // opaque

// tb_nodes_new borrows the endpoints, the map and the summary. Without a map (NULL) nodes
// are numbered in the order in which endpoints are met. Only nodes below `n_max` are
// given out (0: no limit). It counts endpoints, nodes and pairs in `summary`.
int tb_nodes_new(struct tb_nodes **nodes, const struct tb_endpoints *endpoints,
	const struct tb_map_file *map, uint32_t n_max,
	struct tb_packets_summary *summary) TB_MUST_USE;
void tb_nodes_free(struct tb_nodes *nodes);

// tb_nodes_limit changes `n_max` for endpoints that are met from now on.
void tb_nodes_limit(struct tb_nodes *nodes, uint32_t n_max);

// tb_nodes_meet_sorted gives `n` endpoints their nodes, in the order of their addresses.
// It sorts `numbers`, which may contain an endpoint several times.
int tb_nodes_meet_sorted(struct tb_nodes *nodes, uint32_t *numbers, size_t n) TB_MUST_USE;

// tb_nodes_pairing stores the pair of nodes of two endpoints, in which the caller counts;
// it lives until the next call. Endpoints that have no node yet are given one. It returns
// TB_PAIRING_PLACED, or why there is no pair, or TB_ENOMEM.
enum tb_pairing {
	TB_PAIRING_PLACED,
	TB_PAIRING_LOCAL,    // both endpoints are one node
	TB_PAIRING_UNPLACED, // an endpoint has no node
};

int tb_nodes_pairing(struct tb_nodes *nodes, uint32_t source, uint32_t destination,
	struct tb_packets_pair **pair) TB_MUST_USE;

// tb_nodes_of returns the node of an endpoint, TB_ID_NONE if it has none.
uint32_t tb_nodes_of(const struct tb_nodes *nodes, uint32_t endpoint);

// See tb_packets_node_name, tb_packets_unplaced_name and tb_packets_pair.
const char *tb_nodes_name(const struct tb_nodes *nodes, struct tb_node node);
const char *tb_nodes_unplaced(const struct tb_nodes *nodes, uint32_t i);
const struct tb_packets_pair *tb_nodes_pair(const struct tb_nodes *nodes, uint64_t pair);

#endif
