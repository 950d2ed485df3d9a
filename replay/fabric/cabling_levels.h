// The levels and the order of a fabric's switches.
//
// A leaf is a switch with many hosts: at least a quarter of what the switch with most
// has, and at least half as many as it has cables to other switches. Leaves are level 0,
// every other switch is as many levels up as cables lie between it and the nearest leaf.
// If all switches of a level above 1 have hosts, they are leaves with few. Within a level
// switches go by their names, and a cable between two of them leads up to the later one.
//
// Where not every host reaches every other up and then down by these levels, they are
// counted from a root instead: the switch from which the farthest is nearest is the top,
// and the others are as many levels below as cables lie between.
#ifndef TB_CABLING_LEVELS_H
#define TB_CABLING_LEVELS_H

#include "cabling.h"

struct tb_cabling_levels {
	uint32_t *level;    // by device; switches that are not left out
	uint32_t *switches; // devices in order: level by level, within one by name
	uint32_t n_switches;
	uint32_t n_levels;
};

// tb_cabling_levels_init finds them in a settled fabric whose devices have names of their
// own and hang together. TB_ENOMEM; TB_ECAPACITY beyond 64 levels. Cost: cables times
// levels, and a bit per pair of switches.
int tb_cabling_levels_init(
	struct tb_cabling_levels *levels, struct tb_cabling *cabling) TB_MUST_USE;
void tb_cabling_levels_fini(struct tb_cabling_levels *levels);

#endif
