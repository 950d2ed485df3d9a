// The straight path through a network with credits; see straight.c. Private to this room.
#ifndef TB_STRAIGHT_H
#define TB_STRAIGHT_H

#include "credits_impl.h"

// tb_straight_is_possible returns whether a network, set up but for that, is of the
// common case. The calls below do what those of the same name do there, with the same
// results: tb_straight_inject what tb_crossing_inject does, tb_straight_arrive what an
// EV_DONE or EV_READY does in phase 1, tb_straight_serve phase 3 of an instant;
// tb_straight_alone does both where the event is all that happens in its instant.
// tb_straight_injects_at is the carrier's injects_at.
bool tb_straight_is_possible(const struct credits *credits);
void tb_straight_inject(struct credits *credits, uint32_t node, uint32_t packet);
tb_time_ps tb_straight_injects_at(
	const struct credits *credits, uint32_t node, uint32_t packet);
void tb_straight_arrive(struct credits *credits, struct tb_event event);
void tb_straight_serve(struct credits *credits);
void tb_straight_alone(struct credits *credits, struct tb_event event);

#endif
