// The index of a queue pair into the congestion control table of its adapter, and the
// delay that the table gives (docs/credits.md, C40; IBTA, annex A10).
//
// An index falls with time but makes no events: what was due is done when it is asked
// for. All calls take constant time.
#ifndef TB_CONGESTION_INDEX_H
#define TB_CONGESTION_INDEX_H

#include "credit_params.h"

struct tb_congestion_index { // zeroed: it has never risen
	uint32_t above;	     // ccti_min
	tb_time_ps since;    // above 0: when it began to, or fell last
};

// tb_congestion_index_at is its value at `now`, not before that of any call before.
uint32_t tb_congestion_index_at(struct tb_congestion_index *index,
	const struct tb_credit_params *params, tb_time_ps now);

// tb_congestion_index_raise: the source is notified.
void tb_congestion_index_raise(struct tb_congestion_index *index,
	const struct tb_credit_params *params, tb_time_ps now);

// tb_congestion_delay is what a queue pair waits at an index after a packet that takes
// `packet_ps` of its link.
tb_time_ps tb_congestion_delay(
	const struct tb_credit_params *params, uint32_t index, tb_time_ps packet_ps);

#endif
