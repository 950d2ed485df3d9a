// Names of a network's parts: as people type them, as the store and the figures show
// them.
//
// A switch, a node or a port of a fabric that was read from a file has the name and
// number that the fabric gives it (tb_network_switch_identity and so on). Where it has
// none, switches are "level.index" ("1.4"), nodes "node 5", and ports count down first,
// then up. A link is "node 5 > 0.1", "0.1:4 > 1.0:1" or "0.1 > node 5", each part by its
// own name. When it is read, a fabric's name may be shorter where only one part can be
// meant: "spine3" for "MF0;spine3:MQM9700/U1", a host for its only network interface.
//
// With several rails switches are "r1/1.4", and "r1/node 5" is the node at that rail;
// without a rail in front the first is meant. When they are read, "0.1:up0" and
// "0.1:down2" count up and down ports each from 0, and spaces between the parts do not
// matter.
#ifndef TB_NAMES_H
#define TB_NAMES_H

#include "network.h"

// What suffices for any name of a switch or node, and of a link.
#define TB_NAME_SIZE	  96
#define TB_LINK_NAME_SIZE (2 * TB_NAME_SIZE + 24)

// tb_names_switch, tb_names_node and tb_names_link write a name and return `buffer`.
char *tb_names_switch(
	const struct tb_network *network, struct tb_switch sw, char *buffer, size_t size);
char *tb_names_node(
	const struct tb_network *network, struct tb_node node, char *buffer, size_t size);
char *tb_names_link(
	const struct tb_network *network, struct tb_link link, char *buffer, size_t size);

// tb_names_find_switch finds a switch by its name: its own, or level.index. TB_EUSAGE
// lists what there is. Cost: linear in switches.
int tb_names_find_switch(const struct tb_network *network, const char *text,
	struct tb_switch *sw, struct tb_error *error) TB_MUST_USE;

// tb_names_find_link finds a link by its name, or the one that leaves by a port
// ("0.1:4"), or a node's injection link ("node 5"). Cost: linear in links.
int tb_names_find_link(const struct tb_network *network, const char *text,
	struct tb_link *link, struct tb_error *error) TB_MUST_USE;

// Nodes of one host: `first`, `first` + `step` and so on, `n` of them.
struct tb_named_nodes {
	uint32_t first, n, step;
};

// tb_names_find_nodes finds the nodes that a name stands for: a host's name for all its
// network interfaces, on all rails; "HOST:2" for the only one whose name ends with that
// number ("n7 HCA-2", "n7 mlx5_2", "n7 mlx5_0:2"); a node's own name, or "node 5", for
// that node. TB_EUSAGE. Cost: linear in nodes and links.
int tb_names_find_nodes(const struct tb_network *network, const char *text,
	struct tb_named_nodes *nodes, struct tb_error *error) TB_MUST_USE;

// tb_names_find_host finds those of the first rail, which lie side by side; no "node 5".
// False when there is none. Cost: linear in nodes.
bool tb_names_find_host(const struct tb_network *network, const char *name,
	struct tb_node *first, uint32_t *n_nodes);

// tb_names_host_bytes returns how many bytes of a name are the host's, before a suffix
// that names a rail or interface: a dash, dot, underscore, colon or slash, then a word
// such as ib, hca, mlx5, eth, hsn, nic or rail, digits and underscores ("n01-ib0",
// "n01_mlx5_0"). All of the name where it has none.
size_t tb_names_host_bytes(const char *name);

// tb_names_adapter returns what a node is called on its host, behind the host's name
// ("mlx5_0", "mlx5_0:2"); "" where it has no such name.
const char *tb_names_adapter(const struct tb_identity *own);

// tb_names_match returns with how many bytes the text begins that name such a part; 0:
// another one.
size_t tb_names_match(const char *text, const struct tb_identity *own);

#endif
