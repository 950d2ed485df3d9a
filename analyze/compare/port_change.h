// How a port's counters went from one dump to the next.
#ifndef TB_PORT_CHANGE_H
#define TB_PORT_CHANGE_H

#include "counters.h"

struct port_change {
	uint64_t deltas[TB_N_COUNTERS];
	uint32_t known;	  // deltas that there are
	uint32_t full;	  // counters that are full: more, or nothing, is known
	uint32_t unknown; // of these, full in both dumps: nothing is known
	uint32_t wrapped;
	uint32_t at_least; // deltas that are bounds from below
	uint32_t overlap;  // of these, because priorities were paused beside each other
	bool is_reset;	   // in between: traffic is not known, and the rest at least
};

// port_change_find compares; `before` may be NULL: what was counted since the reset.
void port_change_find(struct port_change *change, const struct tb_counter_port *before,
	const struct tb_counter_port *after);

#endif
