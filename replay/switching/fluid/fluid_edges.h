// The edges of a window of packets in a fluid: from flows to packets, and back. Private
// to replay/.
//
// What flows at the instant has sent its packets up to and with the one that it is
// within; the others are cut from then on. Of packets all have arrived when a flow takes
// the rest of their message. Nothing is sent or counted twice.
#ifndef TB_FLUID_EDGES_H
#define TB_FLUID_EDGES_H

#include "switching.h"

// tb_fluid_stop ends all flows of a fluid, now, and returns when what stands in buffers
// has passed all links; until then nothing begins. tb_fluid_leave counts what has passed,
// now, in the open bin. It is called before tb_replay_take_over, whose `other` is
// tb_fluid_waits: a message whose gap is not over waits too.
tb_time_ps tb_fluid_stop(struct tb_replay *replay);
void tb_fluid_leave(struct tb_replay *replay);
void tb_fluid_waits(struct tb_replay *replay, struct tb_event event);

// tb_fluid_left lists the messages, of another replay by then, that have packets left, in
// the order in which their nodes are to send them; the list lives until the fluid ends.
// Returns how many. The fluid's `failure` is set when memory runs out.
uint32_t tb_fluid_left(
	struct tb_replay *replay, const struct tb_posted *messages, const uint32_t **ids);

// tb_fluid_enter has the rest of messages flow from now on, in the order of the list.
void tb_fluid_enter(struct tb_replay *replay, const uint32_t *ids, uint32_t n);

#endif
