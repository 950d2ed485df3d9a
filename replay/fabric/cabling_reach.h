// Whether the hosts of a fabric reach each other by going up and then down.
#ifndef TB_CABLING_REACH_H
#define TB_CABLING_REACH_H

#include "cabling_levels.h"

// tb_cabling_reach returns 1 when a path leads up and then down between every two
// switches with hosts, by the order of `levels`; 0 when not; TB_ENOMEM. Cost: a bit per
// pair of switches and cable; per pair of switches with hosts where no switch is above
// all.
int tb_cabling_reach(const struct tb_cabling *cabling,
	const struct tb_cabling_levels *levels) TB_MUST_USE;

#endif
