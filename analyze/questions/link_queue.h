// The queues of links: the most bytes that stood in each, and how long packets waited
// there without a rest, with when; to the width of a time bin.
#ifndef TB_LINK_QUEUE_H
#define TB_LINK_QUEUE_H

#include "run.h"

struct tb_link_queue {
	uint64_t largest_bytes;	  // 0: the run does not tell, or nothing stood
	tb_time_ps largest_at_ps; // the first bin that has it begins
	tb_time_ps from_ps,
		to_ps; // the longest stretch of bins, of equal ones the first, in
		       // each of which it had the wait asked for; 0, 0: none
};

// tb_link_queues_find reads those of n different links, over the whole run; `wait` is
// TB_WAIT_FOR or TB_CAME_BY. Cost: of one link a look-up per bin, about 2 us; of many,
// every pack of bins that has some of them is read once. Errors as of tb_run_series, and
// TB_ENOMEM.
int tb_link_queues_find(struct tb_link_queue *queues, struct tb_run *run,
	enum tb_metric wait, const struct tb_link *links, uint32_t n,
	struct tb_error *error) TB_MUST_USE;

#endif
