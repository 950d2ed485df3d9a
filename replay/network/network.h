// A network: nodes, switches with levels, and directed links that each have their own
// rate, latency, virtual channels (VCs) and FIFO; and the routes that lead through it.
//
// Model: a directed graph. A physical cable is two directed links, each other's
// `reverse`. A node has one link into the network (injection) and one out of it
// (ejection) per rail. Routing asks the network for the links that lead on from a switch
// towards a node: any of a group in the ascending phase, exactly one in the descending
// phase of a tree.
//
// A network of several rails is as many networks side by side: rail i is joined to
// network interface (NIC) i of every host. What is called a node in this graph is a NIC:
// that of host h at rail r is node r * tb_network_n_hosts + h. Nothing leads from rail to
// rail; who spreads messages over them is host.h. With one rail hosts and nodes are the
// same.
//
// A finished network is read-only and may be shared by threads. tb_network_open
// (network_open.h) builds it from its description; a tb_network_builder builds any graph.
#ifndef TB_NETWORK_H
#define TB_NETWORK_H

#include "ids.h"
#include "network_params.h"
#include "status.h"
#include "units.h"

#include <stdbool.h>
#include <stddef.h>

struct tb_network; // opaque

void tb_network_free(struct tb_network *network);

// What a link joins.
enum tb_link_kind {
	TB_LINK_INJECTION, // node to switch
	TB_LINK_UP,	   // switch to a switch of a higher level, or to a later switch
			   // of its own
	TB_LINK_DOWN,	   // the other way
	TB_LINK_EJECTION,  // switch to node
};

struct tb_link_info {
	enum tb_link_kind kind;
	uint32_t from;	    // node id for injection, else switch id
	uint32_t to;	    // node id for ejection, else switch id
	uint32_t from_port; // 0 .. ports - 1 at a switch: down ports first, then up; 0 at
			    // a node
	uint32_t to_port;
	struct tb_link reverse;
	uint64_t bytes_per_s;
	tb_time_ps latency_ps;
	uint32_t n_vcs;
	uint32_t fifo_bytes;
};

struct tb_switch_info {
	uint32_t level; // 0 joins the nodes
	uint32_t index; // within the level of its rail, from 0
	uint32_t n_down_ports;
	uint32_t n_up_ports;
	uint32_t rail;
};

const struct tb_network_params *tb_network_params(const struct tb_network *network);
uint32_t tb_network_n_nodes(const struct tb_network *network);
uint32_t tb_network_n_switches(const struct tb_network *network);
uint32_t tb_network_n_links(const struct tb_network *network);
uint32_t tb_network_n_levels(const struct tb_network *network);
uint32_t tb_network_n_rails(const struct tb_network *network); // 1 or more
uint32_t tb_network_n_hosts(const struct tb_network *network); // nodes of a rail

// tb_network_knows_cables returns whether it has each cable. Without them a cable stands
// for any number between two switches, and no capacity between switches is known.
bool tb_network_knows_cables(const struct tb_network *network);

// tb_network_grows returns whether it can be built with more levels for more nodes
// (network_open.h): not a shape, a fabric that was read, or one with tables of its own.
bool tb_network_grows(const struct tb_network *network);

struct tb_link_info tb_network_link(
	const struct tb_network *network, struct tb_link link);
struct tb_switch_info tb_network_switch(
	const struct tb_network *network, struct tb_switch sw);

// What a part of the network is called outside Tailback: in the fabric that it was read
// from, in forwarding tables.
struct tb_identity {
	const char *name;   // at most TB_IDENTITY_NAME_MOST bytes; "" when it has none
	uint64_t guid;	    // InfiniBand's, of a node its port's; 0 when it has none
	uint32_t lid;	    // InfiniBand's local identifier, the first of 2^lmc
	uint32_t lmc;	    // LID mask control, 0 to 7
	uint32_t device_id; // of PCI; 0 when the fabric does not tell
	bool is_doubtful; // of a switch: its level does not follow from hosts and cables
	// Of a node:
	uint64_t adapter_guid; // of the host channel adapter that it is a port of
	uint32_t adapter_port; // its number there, from 1; 0 when it has none
	uint32_t n_host_bytes; // how many bytes of the name name its host
	bool is_router;	       // or gateway: no process runs there
};

#define TB_IDENTITY_NAME_MOST 88 // 64 of InfiniBand, a GUID, a port

// Where the fabric gives none, the LID of node i is i + 1, and those of the switches
// follow. Names live as long as the network.
struct tb_identity tb_network_switch_identity(
	const struct tb_network *network, struct tb_switch sw);
struct tb_identity tb_network_node_identity(
	const struct tb_network *network, struct tb_node node);

// tb_network_port_number is the number that a port goes by outside; the port itself where
// the fabric numbers none.
uint32_t tb_network_port_number(
	const struct tb_network *network, struct tb_switch sw, uint32_t port);

// tb_network_find_port finds the port that goes by `number`; false when there is none.
bool tb_network_find_port(const struct tb_network *network, struct tb_switch sw,
	uint32_t number, uint32_t *port);

// A port that the fabric gives a name, such as swp1, beside a number.
struct tb_port_name {
	bool of_node;	 // else of a switch
	uint32_t id;	 // of the node or switch
	uint32_t number; // of the switch's port
	const char *name;
};

// They live as long as the network.
uint32_t tb_network_n_port_names(const struct tb_network *network);
struct tb_port_name tb_network_port_name(const struct tb_network *network, uint32_t i);

// What the reader of a fabric, or of its tables, noticed and went on: a sentence each,
// such as how many cables it left out and the name of the first. They live as long as the
// network.
uint32_t tb_network_n_remarks(const struct tb_network *network);
const char *tb_network_remark(const struct tb_network *network, uint32_t i);

// tb_network_hops is the number of links on a shortest path between two different nodes.
uint32_t tb_network_hops(const struct tb_network *network, struct tb_node source,
	struct tb_node destination);

#endif
