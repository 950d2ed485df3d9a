// What went on during a stretch of simulated time: on all links together, and who sent to
// a node.
#ifndef TB_DURING_H
#define TB_DURING_H

#include "run.h"

// All links together, in one bin; sums.
struct tb_bin_total {
	uint64_t wait_ps, stall_ps, busy_ps;
};

// tb_bin_totals stores those of each bin, n_bins entries. TB_EFORMAT when the file is
// damaged.
int tb_bin_totals(struct tb_run *run, struct tb_bin_total *totals,
	struct tb_error *error) TB_MUST_USE;

struct tb_senders {
	uint32_t n;		      // nodes
	struct tb_node first;	      // of them the one with the lowest id
	uint32_t job;		      // of all their messages; TB_ID_NONE: of several
	tb_time_ps first_ps, last_ps; // their first post, the last delivery; over all of
				      // the run
};

// tb_senders_to stores who sent to a node: the sources of its flows that had messages on
// their way at some time in [from_ps, to_ps), the node itself left out. All 0 when nobody
// did, or the run did not end. Cost: a look-up per node and job. Errors as above.
int tb_senders_to(struct tb_run *run, struct tb_node node, tb_time_ps from_ps,
	tb_time_ps to_ps, struct tb_senders *senders, struct tb_error *error) TB_MUST_USE;

#endif
