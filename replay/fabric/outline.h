// A network as files show it: adapters with ports, which are its nodes, beside switches.
#ifndef TB_OUTLINE_H
#define TB_OUTLINE_H

#include "network_impl.h"

#include <stdio.h>

// What suffices for the name of a device.
#define TB_OUTLINE_NAME_SIZE 100

struct tb_outline {
	const struct tb_network *net;
	uint32_t *nodes;      // in the order of hosts, and of rails within each
	uint32_t *first;      // of each adapter in `nodes`, one more at the end
	uint32_t *adapter_of; // by node
	uint32_t n_adapters;
	// What is added to ports where InfiniBand's begin with 1: to those of switches,
	// and of nodes.
	uint32_t shift, node_shift;
};

// tb_outline_init groups the nodes that are ports of one adapter. TB_EUSAGE for rails
// without a switch in common, which no file of one fabric holds; TB_ENOMEM.
int tb_outline_init(struct tb_outline *outline, const struct tb_network *net,
	struct tb_error *error) TB_MUST_USE;
void tb_outline_fini(struct tb_outline *outline);

// tb_outline_switch and tb_outline_adapter write the name of a device and return
// `buffer`, of TB_OUTLINE_NAME_SIZE bytes.
const char *tb_outline_switch(
	const struct tb_outline *outline, uint32_t sw, char *buffer);
const char *tb_outline_adapter(
	const struct tb_outline *outline, uint32_t adapter, char *buffer);

// GUIDs of devices; made up from their numbers where the network has none.
uint64_t tb_outline_switch_guid(const struct tb_outline *outline, uint32_t sw);
uint64_t tb_outline_adapter_guid(const struct tb_outline *outline, uint32_t adapter);
uint64_t tb_outline_port_guid(const struct tb_outline *outline, uint32_t node);

// tb_outline_switch_port and tb_outline_node_port are numbers of ports as InfiniBand
// counts, from 1.
uint32_t tb_outline_switch_port(
	const struct tb_outline *outline, uint32_t sw, uint32_t port);
uint32_t tb_outline_node_port(const struct tb_outline *outline, uint32_t node);

// The formats. They check what they cannot hold before they write.
int tb_outline_ibnetdiscover(FILE *stream, const struct tb_outline *outline,
	struct tb_error *error) TB_MUST_USE;
void tb_outline_edges(FILE *stream, const struct tb_outline *outline);
void tb_outline_dot(FILE *stream, const struct tb_outline *outline);
int tb_outline_graph(FILE *stream, const struct tb_outline *outline,
	struct tb_error *error) TB_MUST_USE;

#endif
