// The levels and the order of a fabric's switches.
//
// A leaf is a switch with many hosts: at least a quarter of what the switch with most
// has, and at least half as many as it has cables to other switches. Leaves are level 0.
// The others are placed from there, wave by wave: a switch is a level above the lowest
// that it is cabled to, unless it is cabled like one that lies a level below these
// (place_switches), a leaf for instance. Then it is of that level, with few hosts or
// none; without hosts, also when all its cables are among a leaf's and few are like it.
// Within a level switches go by their names, and a cable between two of them leads up to
// the later one. Levels that cables and hosts leave open are marked as doubtful.
//
// Where not every host reaches every other up and then down by these levels, a switch is
// as many levels up as cables lie between it and the nearest leaf; where not by these
// either, levels are counted from a root: the switch from which the farthest is nearest
// is the top, and the others are as many levels below as cables lie between; all
// are doubtful. From roots that somebody named they are counted so, and are not.
#ifndef TB_CABLING_LEVELS_H
#define TB_CABLING_LEVELS_H

#include "cabling.h"

struct tb_cabling_levels {
	uint32_t *level;    // by device; switches that are not left out
	uint32_t *switches; // devices by part, in this by level, in that by name
	bool *is_doubtful;  // by device
	uint32_t n_switches;
	uint32_t n_levels;
};

// tb_cabling_levels_init finds them, in each part by itself, in a settled fabric whose
// devices have names of their own. `is_root`, by device, has at least one root; NULL:
// none is named. TB_EFORMAT when from roots that are named not every host reaches every
// other; TB_ENOMEM; TB_ECAPACITY beyond 64 levels. Cost: cables times levels, and cables
// times switches with hosts, 256 of these at once; per switch above the leaves the cables
// of those that it can match.
int tb_cabling_levels_init(struct tb_cabling_levels *levels, struct tb_cabling *cabling,
	const bool *is_root) TB_MUST_USE;
void tb_cabling_levels_fini(struct tb_cabling_levels *levels);

// tb_cabling_is_switch returns whether a device is a switch that is not left out.
bool tb_cabling_is_switch(const struct tb_cabling *cabling, uint32_t device);

// tb_cabling_find_parts numbers the parts that hang together, by cables between switches,
// and leaves out devices that no cable joins to a host. `of`, which may be NULL, names a
// switch, as short as on the command line: then all parts but its own are left out.
// TB_EFORMAT when no part has hosts, TB_EUSAGE when no switch or several are called so.
int tb_cabling_find_parts(struct tb_cabling *cabling, const char *of) TB_MUST_USE;

// tb_cabling_boss returns the one that stands for a set of numbers, in which boss[i]
// leads there.
static inline uint32_t tb_cabling_boss(uint32_t *boss, uint32_t i)
{
	while (boss[i] != i)
		i = boss[i] = boss[boss[i]];
	return i;
}

#endif
