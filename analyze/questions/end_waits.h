// How long the flows from or to a node, or from or to the nodes of a leaf switch, waited,
// and how long others waited for them. Sums, exact to the picosecond, over all links and
// the whole run.
#ifndef TB_END_WAITS_H
#define TB_END_WAITS_H

#include "waits.h"

// What flows are added up by: a node, or the switch that joins it to the network (its
// leaf; with rails, that of the first).
enum tb_end {
	TB_END_SOURCE,
	TB_END_DESTINATION,
	TB_END_SOURCE_LEAF,
	TB_END_DESTINATION_LEAF
};

struct tb_end_wait {
	uint32_t id;	    // of the node or switch
	uint64_t wait_ps;   // of its flows' headers
	uint64_t blamed_ps; // of anybody's headers, for what its flows' packets held
};

struct tb_end_waits {
	enum tb_end end;
	struct tb_end_wait *rows;
	struct tb_listed listed;
};

// tb_end_waits_init lists the first `top` ends (0: all), by wait_ps or, with `blamed`, by
// blamed_ps, to which `listed` then refers. Cost: reads all flows of the run, about 0.3
// us each. TB_EFORMAT when the file is damaged, TB_ENOMEM. tb_end_waits_fini frees them;
// a zeroed struct is fine to free.
int tb_end_waits_init(struct tb_end_waits *waits, struct tb_run *run, enum tb_end end,
	bool blamed, uint32_t top, struct tb_error *error) TB_MUST_USE;
void tb_end_waits_fini(struct tb_end_waits *waits);

// tb_flows_by_wait stores the first `top` flows (0: all) by wait_ps or, with `blamed`, by
// blamed_ps, in a malloc'ed array that the caller frees. Cost and errors as above.
int tb_flows_by_wait(struct tb_run *run, bool blamed, uint32_t top,
	struct tb_flow_sample **flows, struct tb_listed *listed,
	struct tb_error *error) TB_MUST_USE;

#endif
