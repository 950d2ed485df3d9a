// Places of a network by the names that the store and the figures give them: switch
// "1.4" (level.index), port "0.1:4", links "node 5 > 0.1", "0.1:4 > 1.0:1", "0.1 > node
// 5".
//
// With several rails switches are "r1/1.4", and "r1/node 5" is the node at that rail;
// without a rail in front the first is meant.
//
// Ports count down first, then up; "0.1:up0" and "0.1:down2" count each from 0. Spaces
// between the parts do not matter.
#ifndef TB_PLACES_H
#define TB_PLACES_H

#include "network.h"

// tb_place_switch finds a switch by its name. TB_EUSAGE says what there is.
int tb_place_switch(const struct tb_network *network, const char *text,
	struct tb_switch *sw, struct tb_error *error) TB_MUST_USE;

// tb_place_link finds a link by its name, or the one that leaves by a port, or a node's
// injection link ("node 5").
int tb_place_link(const struct tb_network *network, const char *text,
	struct tb_link *link, struct tb_error *error) TB_MUST_USE;

// tb_place_name_link writes the name of a link; 64 bytes suffice.
char *tb_place_name_link(
	const struct tb_network *network, struct tb_link link, char *buffer, size_t size);

#endif
