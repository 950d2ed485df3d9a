// Reads an edge list: any network as a list of its cables, a line each.
//
//     # two leaves and a spine
//     leaf0 1 n0 0                      a cable: NAME PORT NAME PORT
//     leaf0 2 "n1 mlx5_0" 1             names with blanks in quotes, \" and \\ in them
//     leaf0 9 spine 0 400Gbit/s 150ns   its rate, and the latency of a hop over it
//     leaf1 9 spine 1 400Gbit/s
//     host n7                           n7 is a host, with however many cables
//     switch leaf1                      leaf1 is a switch, though it has but one cable
//
// Ports are numbers from 0 to 65534 that are a device's own, or names such as swp1 (see
// edge_ports.h). What has one cable is a
// host, what has more is a switch, unless a line "host" or "switch" says otherwise. '#'
// begins a comment. What a line does not give comes from the preset.
#ifndef TB_EDGE_LIST_H
#define TB_EDGE_LIST_H

#include "cabling.h"

#include <stdio.h>

// tb_edge_list_is returns whether a line is one of an edge list.
bool tb_edge_list_is(const char *line);

// tb_edge_list_lacks_ports returns whether a line could be a cable without its ports: two
// or three words, and nothing of a "key = value".
bool tb_edge_list_lacks_ports(const char *line);

// tb_edge_list_read adds what the stream holds. TB_EFORMAT with the line that cannot be
// understood; TB_EIO; TB_ENOMEM. Cost: linear.
int tb_edge_list_read(struct tb_cabling *cabling, FILE *stream) TB_MUST_USE;

#endif
