// Writes a network as a file that other programs and tb_network_open read.
//
//   ibnetdiscover  the text of InfiniBand's ibnetdiscover: switches, adapters, ports,
//                  GUIDs, LIDs, width and speed of each cable
//   edges          an edge list, a line per cable (fabric_readers.h)
//   dot            a graph for Graphviz: a rank per level, an edge per pair of switches
//   graph          the same as JSON with all figures, for scripts
//
// The first two read back as the same network: switches, nodes, cables, rates, names and
// order, but for names like "node 5", which become "node5". Ports that count from 0 count
// from 1 in the text of ibnetdiscover, which has no word for latencies, nor for a rate
// that no InfiniBand link has; edge lists have none for GUIDs and LIDs, nor for what is a
// router. Read-only; threads may share the network.
#ifndef TB_FABRIC_FILE_WRITE_H
#define TB_FABRIC_FILE_WRITE_H

#include "network.h"

#include <stdio.h>

enum tb_fabric_file_format {
	TB_FABRIC_FILE_IBNETDISCOVER,
	TB_FABRIC_FILE_EDGES,
	TB_FABRIC_FILE_DOT,
	TB_FABRIC_FILE_GRAPH,
};

// tb_fabric_file_write writes the network. TB_EUSAGE names what the format cannot hold,
// before anything is written: a rate, a port above InfiniBand's 254, rails that share no
// switch. TB_ENOMEM. The caller checks the stream (ferror). Cost: linear in ports.
int tb_fabric_file_write(FILE *stream, const struct tb_network *network,
	enum tb_fabric_file_format format, struct tb_error *error) TB_MUST_USE;

#endif
