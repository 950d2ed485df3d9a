// A forwarding table for each switch, on its way into a network (what it must not do) or
// out of it. Private to replay/.
#ifndef TB_ROUTE_TABLE_H
#define TB_ROUTE_TABLE_H

#include "network_impl.h"

struct tb_route_table {
	const struct tb_network *net;
	const char *name;     // of the file, for messages
	uint32_t *routes;     // by switch and node: a link, TB_ROUTE_NONE
	uint32_t *lines;      // of the file, by switch and node
	uint32_t *begun;      // line at which the part of a switch begins; 0: it has none
	uint16_t *distance;   // links to go; filled by the check
	uint32_t longest;     // links of a path, likewise
	uint32_t n_in_file;   // tables, and those of them that are of
	uint32_t n_known;     // a switch of the network; for messages
	uint64_t n_unreached; // pairs of nodes without a route, likewise
	uint32_t unreached_from, unreached_to; // the first of them
	struct tb_error *error;
};

#define TB_ROUTE_FAR UINT16_MAX

static inline size_t tb_route_table_at(
	const struct tb_route_table *table, uint32_t sw, uint32_t to)
{
	return (size_t)sw * table->net->n_nodes + to;
}

// tb_route_table_init makes a table without routes; it borrows the network and the name.
// TB_ENOMEM, TB_ECAPACITY. Memory: 10 bytes a switch and node.
int tb_route_table_init(struct tb_route_table *table, const struct tb_network *net,
	const char *name, struct tb_error *error) TB_MUST_USE;
void tb_route_table_fini(struct tb_route_table *table);

// tb_route_table_take replaces the routes of its network with those of a checked table,
// which has none afterwards.
void tb_route_table_take(struct tb_route_table *table, struct tb_network *net);

// tb_route_table_is_whole returns whether each switch of a network has one link for each
// destination; tb_route_table_link is that link, TB_ROUTE_NONE where none leads on.
bool tb_route_table_is_whole(const struct tb_network *net);
uint32_t tb_route_table_link(const struct tb_network *net, uint32_t sw, uint32_t to);

// tb_route_table_first_port is by how much ports count higher in tables than in a
// network: by 1 where a port may be 0, which is the switch itself in tables. Cost: all
// ports.
uint32_t tb_route_table_first_port(const struct tb_network *net);

// tb_route_table_check follows the routes from every node to every other, fills their
// lengths, and counts the pairs of nodes that none joins.
int tb_route_table_check(struct tb_route_table *table) TB_MUST_USE;

// tb_route_table_check_cycles returns whether links wait for each other in a circle; for
// a table whose lengths are filled.
int tb_route_table_check_cycles(struct tb_route_table *table) TB_MUST_USE;

#endif
