// The ports of an edge list: numbers, or names, which are numbered from 1 on their device
// in the order in which the file has them.
#ifndef TB_EDGE_PORTS_H
#define TB_EDGE_PORTS_H

#include "cabling.h"

// A zeroed struct is empty.
struct tb_edge_ports {
	struct tb_map of_key;
	struct tb_edge_port {
		uint32_t device, number;
		char *name;
	} * ports;
	uint32_t n;
	size_t room;
};

void tb_edge_ports_fini(struct tb_edge_ports *ports);

// tb_edge_ports_has returns whether a word can be a port: a number up to
// TB_CABLING_PORT_MOST, or a name with a letter and a digit that is no rate or time.
bool tb_edge_ports_has(const char *word);

// tb_edge_ports_find stores the number of a device's port, which tb_edge_ports_has.
// TB_EFORMAT when the device has ports of the other kind.
int tb_edge_ports_find(struct tb_edge_ports *ports, struct tb_cabling *cabling,
	uint32_t device, char *word, uint64_t line, uint32_t *number) TB_MUST_USE;

// tb_edge_hash hashes a name.
uint64_t tb_edge_hash(const char *name);

#endif
