// Routes from a file: forwarding tables as InfiniBand's tools write them.
//
// dump_lfts, dump_fts and OpenSM (opensm-lfts.dump): for each switch a line "Unicast lids
// [...] of switch Lid L guid G ('NAME'):" and below it a line "LID PORT" for each
// destination, LID in hexadecimal, what follows a '#' or ':' being a remark.
//
// ibdiagnet and OpenSM (.fdbs): a line "osm_ucast_mgr_dump_ucast_routes: Switch G", a
// head "LID : Port : Hops : Optimal", and lines "LID : PORT : ..." or "LID :
// UNREACHABLE". Of several tables of a switch (PLFT_NUM) the first is taken.
//
// A switch is found by its GUID where the network has GUIDs, else by NAME (names.h). LIDs
// are those of the network (tb_network_node_identity); of a port with several the first
// is replayed; those of switches lead nowhere here. Ports are InfiniBand's, from 1, by
// the numbers that the fabric gives them; where it gives none, or counts them from 0,
// port p is what is called p - 1 elsewhere. 0 is the switch itself, 255 no port.
//
// A file with the line TB_ROUTE_FILE_COUNTS, as it is written of networks without LIDs
// (route_file_write.h), gives node i the LID i + 1; no subnet manager has a use for it.
//
// Remarks on the network (tb_network_remark) name switches and LIDs that are not in it,
// and pairs of nodes that no route joins: a message between these ends a replay.
#ifndef TB_ROUTE_FILE_H
#define TB_ROUTE_FILE_H

#include "network.h"

#include <stdio.h>

#define TB_ROUTE_FILE_COUNTS "# LIDs count the nodes from 1: not for OpenSM"

// tb_route_file_read gives the network the routes of a stream in place of its own, and
// the ascent TB_ASCENT_TABLE; before it is shared. `name` is for messages. TB_EUSAGE when
// the network's nodes have no LIDs and the file does not count; TB_EFORMAT when two of
// them have one, and, with the line where there is one: what is no such file or cut off,
// the tables of another fabric (less than half of the switches are in this one) or of
// this one with other LIDs, unknown ports, switches without a table where packets come
// by, routes that loop or end at another node, and routes that can deadlock: links that
// wait for each other in a circle (W. Dally, C. Seitz, "Deadlock-free message routing in
// multiprocessor interconnection networks", 1987). A packet keeps its virtual lane on its
// way and all lanes have the same routes, so a circle is one of each lane and the lanes
// can be left out. Then the network is as before. Memory: 10 bytes a switch and node.
int tb_route_file_read(struct tb_network *network, FILE *stream, const char *name,
	struct tb_error *error) TB_MUST_USE;

// tb_route_file_open does the same with a file, plain or compressed (infile.h).
int tb_route_file_open(
	struct tb_network *network, const char *path, struct tb_error *error) TB_MUST_USE;

#endif
