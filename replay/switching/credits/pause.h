// Pauses in place of credits (rule C10). Private to this room.
#ifndef TB_PAUSE_H
#define TB_PAUSE_H

#include "credits.h"

// tb_pause_new makes what pauses need. TB_ENOMEM.
int tb_pause_new(struct credits *credits) TB_MUST_USE;
// tb_pause_join makes a part's own, which shares the rest with its whole.
int tb_pause_join(struct credits *credits, const struct credits *whole) TB_MUST_USE;
void tb_pause_free(struct credits *credits);

// tb_pause_come counts a packet that has arrived through a slot.
void tb_pause_come(struct credits *credits, uint32_t slot, uint32_t vl, uint32_t bytes);

// tb_pause_left counts a packet whose last byte has left; `update` has the flow and root
// to blame if it ends a pause.
void tb_pause_left(struct credits *credits, uint32_t slot, uint32_t vl, uint32_t bytes,
	const struct update *update);

// tb_pause_drain counts a packet that has arrived at its node, until it is drained.
void tb_pause_drain(struct credits *credits, const struct credit_packet *packet,
	tb_time_ps drained_at, const struct update *update);
void tb_pause_drained(struct credits *credits, uint32_t node); // EV_DRAINED

// tb_pause_compare compares this instant's counts with the thresholds, in phase 2, and
// sends pauses and ends of pauses.
void tb_pause_compare(struct credits *credits);

#endif
