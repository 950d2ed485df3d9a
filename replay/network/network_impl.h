// The inside of a network: arrays that the engine and the builders read. Private to
// replay/.
#ifndef TB_NETWORK_IMPL_H
#define TB_NETWORK_IMPL_H

#include "network.h"
#include "stop.h"

#include <signal.h>
#include <string.h>

// Where a header may go next: one link (its id), or one of a group of links
// (TB_ROUTE_GROUP set, the rest indexes `groups`).
#define TB_ROUTE_GROUP UINT32_C(0x80000000)
#define TB_ROUTE_NONE  UINT32_MAX

struct tb_route_group {
	uint32_t first; // into group_links
	uint32_t n;
};

// What the fabric calls the first `n` switches or nodes; later ones have no names.
struct tb_identities {
	struct tb_identity *of;
	char **names; // that `of` points to
	uint32_t n;
	size_t of_room, names_room;
};

#define TB_PORT_UNNUMBERED UINT16_MAX // goes by its own number

struct tb_network {
	struct tb_network_params params;
	uint32_t n_nodes, n_switches, n_links, n_levels, n_groups;
	uint32_t n_rails, n_hosts; // n_rails * n_hosts = n_nodes
	uint32_t longest_path;	   // links
	bool are_cables_unknown;   // a cable stands for any number between two switches
	struct tb_link_info *links;
	struct tb_switch_info *switches;
	uint32_t *first_out; // n_switches + 1
	uint32_t *out_links; // by port from first_out[switch]; TB_ID_NONE: no cable
	uint32_t *injection; // link of each node
	uint32_t *ejection;
	uint64_t *drains; // bytes per second by node, 0: as its PCIe; NULL: no slow ones
	struct tb_identities switch_identities, node_identities;
	uint16_t *port_numbers; // of the first ports, as out_links
	uint32_t n_port_numbers;
	size_t port_numbers_room;
	struct tb_port_name *port_names; // names are owned
	uint32_t n_port_names;
	size_t port_names_room;
	char **remarks;
	uint32_t n_remarks;
	size_t remarks_room;
	uint32_t *left_out; // LIDs of the fabric's aggregation nodes
	uint32_t n_left_out;
	size_t left_out_room;
	struct tb_route_group *groups;
	uint32_t *group_links;
	// A k-ary n-tree computes its routes: group id of a switch's up-links is its own
	// id.
	bool regular;
	uint16_t *digits; // n_nodes x n_levels: base-k digits of each node, least first
	unsigned digit_bits; // of one digit where k is a power of two, else 0
	// Any other graph looks them up: n_switches x n_nodes.
	uint32_t *strides; // of a regular shape, by level; see tb_network_number
	uint32_t *routes;
	uint16_t *distance; // n_switches x n_nodes: links still to go
};

// tb_network_digit is digit `level` of a node of a regular tree, base its arity.
static inline uint32_t tb_network_digit(
	const struct tb_network *net, uint32_t node, uint32_t level)
{
	if (net->digit_bits) // spares a read
		return node >> level * net->digit_bits & (net->params.arity - 1);
	return net->digits[(size_t)node * net->n_levels + level];
}

// tb_network_number is the number of a node by which, modulo the number of links that
// lead on, a switch chooses among them where digits say which: in a regular shape its
// number in its rail, divided by how many switches of the switch's level lie above one
// node.
static inline uint32_t tb_network_number(
	const struct tb_network *net, uint32_t sw, uint32_t node)
{
	if (!net->strides)
		return node;
	return node % net->n_hosts / net->strides[net->switches[sw].level];
}

// tb_network_is_balanced returns whether the routes are those of balance.h.
static inline bool tb_network_is_balanced(const struct tb_network *net)
{
	return net->params.ascent == TB_ASCENT_DETERMINISTIC && !net->regular &&
	       !net->strides;
}

// tb_network_leads returns whether routes lead from one node to another of its rail,
// which tables from a file need not.
static inline bool tb_network_leads(
	const struct tb_network *net, uint32_t source, uint32_t destination)
{
	uint32_t sw = net->links[net->injection[source]].to;
	return net->regular ||
	       net->distance[(size_t)sw * net->n_nodes + destination] != UINT16_MAX;
}

// tb_network_way is tb_network_route of a regular tree, with a link given by its place in
// out_links.
static inline uint32_t tb_network_way(const struct tb_network *net, uint32_t sw,
	uint32_t to, uint32_t hop, uint32_t ascending)
{
	if (hop >= ascending) {
		uint32_t level = ascending - (hop - ascending);
		return net->first_out[sw] + tb_network_digit(net, to, level);
	}
	if (net->params.ascent != TB_ASCENT_DETERMINISTIC)
		return TB_ROUTE_GROUP | sw;
	return net->first_out[sw] + net->params.arity + tb_network_digit(net, to, hop);
}

// tb_network_route is the way on from switch `sw` towards node `to` for a header that has
// crossed `hop` + 1 links on a path of which `ascending` links lead from switch to switch
// upwards (only a regular tree uses these two).
static inline uint32_t tb_network_route(const struct tb_network *net, uint32_t sw,
	uint32_t to, uint32_t hop, uint32_t ascending)
{
	if (!net->regular)
		return net->routes[(size_t)sw * net->n_nodes + to];
	uint32_t way = tb_network_way(net, sw, to, hop, ascending);
	return way & TB_ROUTE_GROUP ? way : net->out_links[way];
}

// tb_network_ascending is the number of up-links between switches on the way (regular
// trees).
static inline uint32_t tb_network_ascending(
	const struct tb_network *net, uint32_t source, uint32_t destination)
{
	uint32_t level = net->n_levels - 1;
	while (level > 0 && tb_network_digit(net, source, level) ==
				    tb_network_digit(net, destination, level))
		level--;
	return level;
}

// tb_network_check_memory refuses a network that takes more memory than there is, before
// it is built; `tables`: its routes are looked up. Each number is 2^28 at most.
// TB_ECAPACITY.
int tb_network_check_memory(uint64_t n_switches, uint64_t n_nodes, uint64_t n_links,
	bool tables, struct tb_error *error) TB_MUST_USE;

// tb_network_make_routes fills the tables of an irregular network and checks that every
// node reaches every other; a regular one needs none. TB_ESTOPPED once `stop` (NULL:
// none) is set.
int tb_network_make_routes(struct tb_network *net, const volatile sig_atomic_t *stop,
	struct tb_error *error) TB_MUST_USE;

// tb_network_stopped returns TB_ESTOPPED when `stop` is set, else TB_OK.
static inline int tb_network_stopped(
	const volatile sig_atomic_t *stop, struct tb_error *error)
{
	return tb_stop_asked(stop) ? tb_fail(error, TB_ESTOPPED, "stopped") : TB_OK;
}

// tb_network_kary_ntree builds the k-ary n-tree of `params`, with as many levels as
// n_nodes need.
int tb_network_kary_ntree(struct tb_network **network,
	const struct tb_network_params *params, uint32_t n_nodes,
	const volatile sig_atomic_t *stop, struct tb_error *error) TB_MUST_USE;

// tb_network_regular_tree builds the tree of the shape of `params`, or a k-ary n-tree
// whose levels have cables of their own; of that with as many levels as n_nodes need.
int tb_network_regular_tree(struct tb_network **network,
	const struct tb_network_params *params, uint32_t n_nodes,
	const volatile sig_atomic_t *stop, struct tb_error *error) TB_MUST_USE;

// tb_network_next_node returns the node at the next port of a switch from *port on, which
// is first_out of the switch at first; TB_ID_NONE when there is none.
uint32_t tb_network_next_node(const struct tb_network *net, uint32_t sw, uint32_t *port);

// tb_network_most_ports is the largest number of ports that a switch has.
uint32_t tb_network_most_ports(const struct tb_network *net);

// tb_network_add_remark adds a sentence to the remarks. TB_ENOMEM.
int tb_network_add_remark(struct tb_network *net, const char *sentence) TB_MUST_USE;

// tb_network_forget_identities frees what the fabric calls its parts.
void tb_network_forget_identities(struct tb_network *net);

// tb_network_builder_inside is the network under construction, for builders of regular
// shapes.
struct tb_network_builder;
struct tb_network *tb_network_builder_inside(struct tb_network_builder *builder);

// Route groups: the links of a switch any of which leads on, each combination kept once.
// Cost: finding a group compares it with the earlier ones of its switch.

struct tb_route_groups {
	struct tb_route_group *rows;
	uint32_t *links;
	uint32_t *older;  // by group: the one before it of the same switch
	uint32_t *newest; // by switch
	uint32_t n_groups, n_links;
	size_t rows_room, older_room, links_room;
};

int tb_route_groups_init(struct tb_route_groups *groups, uint32_t n_switches) TB_MUST_USE;
void tb_route_groups_fini(struct tb_route_groups *groups);

// tb_route_groups_route is the route to take by any of `n` links of a switch, one or
// more: the link itself, or the number of their group with TB_ROUTE_GROUP. TB_ROUTE_NONE
// without memory.
uint32_t tb_route_groups_route(
	struct tb_route_groups *groups, uint32_t sw, const uint32_t *links, uint32_t n);

#endif
