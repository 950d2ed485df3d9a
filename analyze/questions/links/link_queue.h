// The queue of a link: the most bytes that stood in it, and how long packets waited for
// the link without a rest, with when; to the width of a time bin.
#ifndef TB_LINK_QUEUE_H
#define TB_LINK_QUEUE_H

#include "run.h"

struct tb_link_queue {
	uint64_t largest_bytes;	  // 0: the run does not tell, or nothing stood
	tb_time_ps largest_at_ps; // the first bin that has it begins
	tb_time_ps from_ps,
		to_ps; // the longest stretch of bins, of equal ones the first,
		       // in each of which packets waited for it; 0, 0: none
};

// tb_link_queue_find reads it, of the whole run. Cost: a look-up per bin, about 2 us.
// Errors as of tb_run_series.
int tb_link_queue_find(struct tb_link_queue *queue, struct tb_run *run,
	struct tb_link link, struct tb_error *error) TB_MUST_USE;

#endif
