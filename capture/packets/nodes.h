// Which endpoint is which node, and what went from node to node.
//
// Memory grows with endpoints and pairs. One thread at a time per object.
#ifndef TB_NODES_H
#define TB_NODES_H

#include "endpoints.h"
#include "map_file.h"
#include "packets.h"

struct tb_nodes; // opaque

// tb_nodes_new borrows the endpoints and the map (NULL: none, the nodes are numbered as
// they are met); `n_max` is how many may be placed, 0 for no limit. Counts of endpoints,
// nodes and pairs are kept in `summary`.
int tb_nodes_new(struct tb_nodes **nodes, const struct tb_endpoints *endpoints,
	const struct tb_map_file *map, uint32_t n_max,
	struct tb_packets_summary *summary) TB_MUST_USE;
void tb_nodes_free(struct tb_nodes *nodes);

// tb_nodes_limit sets another `n_max` for the endpoints that are met from now on.
void tb_nodes_limit(struct tb_nodes *nodes, uint32_t n_max);

// tb_nodes_meet_sorted meets endpoints in the order of their addresses. `numbers` may
// name one several times; it comes back sorted.
int tb_nodes_meet_sorted(struct tb_nodes *nodes, uint32_t *numbers, size_t n) TB_MUST_USE;

// tb_nodes_route stores the pair of nodes of two endpoints, which are met if they were
// not, for the caller to count in; it lives until the next call. TB_ROUTE_PLACED, or why
// there is no pair, or negative.
enum tb_route { TB_ROUTE_PLACED, TB_ROUTE_LOCAL, TB_ROUTE_UNPLACED };

int tb_nodes_route(struct tb_nodes *nodes, uint32_t source, uint32_t destination,
	struct tb_packets_pair **pair) TB_MUST_USE;

// As of packets.h. tb_nodes_unplaced names some of the endpoints that have no node; NULL
// from the last on.
const char *tb_nodes_name(const struct tb_nodes *nodes, struct tb_node node);
const char *tb_nodes_unplaced(const struct tb_nodes *nodes, uint32_t i);
const struct tb_packets_pair *tb_nodes_pair(const struct tb_nodes *nodes, uint64_t pair);

#endif
