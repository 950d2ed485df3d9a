// The nodes of a fabric in their order: the ports of its adapters and routers.
#ifndef TB_CABLING_NODES_H
#define TB_CABLING_NODES_H

#include "cabling.h"

struct tb_cabling_node {
	uint32_t device, port;
	uint32_t host;	     // from 0, in order
	size_t n_host_bytes; // of the device's name
	bool is_one_of_many; // of its device's ports
};

struct tb_cabling_nodes {
	struct tb_cabling_node *nodes;
	uint32_t n, n_hosts;
};

int tb_cabling_nodes_init(
	struct tb_cabling_nodes *nodes, const struct tb_cabling *cabling) TB_MUST_USE;
void tb_cabling_nodes_fini(struct tb_cabling_nodes *nodes);

// tb_cabling_nodes_by_rail puts the first node of every host before every second, and so
// on, and stores how many each host has. TB_EFORMAT names hosts that have more or fewer.
int tb_cabling_nodes_by_rail(struct tb_cabling_nodes *nodes,
	const struct tb_cabling *cabling, uint32_t *n_rails) TB_MUST_USE;

#endif
