// Writes a network's routes as forwarding tables that OpenSM loads (`-R file -U FILE`;
// osm_ucast_file.c of OpenSM 3.3) and tb_route_file_read reads (route_file.h), in the
// form of OpenSM's own dump, opensm-lfts.dump.
//
// All LIDs of a port with several (LMC) have the port of the first. Switches have LIDs,
// too, for counters and traps: the ways to them are shortest ones up and then down, and
// where there is none (from one top to another) the line is left out, as OpenSM does
// without connect_roots. A remark tells of LIDs that are not in the network and so have
// no lines. Of a network without LIDs the file holds TB_ROUTE_FILE_COUNTS.
#ifndef TB_ROUTE_FILE_WRITE_H
#define TB_ROUTE_FILE_WRITE_H

#include "network.h"

#include <stdio.h>

// tb_route_file_write writes the tables. TB_EUSAGE, before anything is written, where
// there are none, for switches choose among links, or what they hold cannot be written: a
// port above 254, a LID of two, a node without one where others have them, rails
// without GUIDs. TB_ENOMEM. The caller checks the stream (ferror). Cost: linear in
// switches times LIDs.
int tb_route_file_write(FILE *stream, const struct tb_network *network,
	struct tb_error *error) TB_MUST_USE;

#endif
