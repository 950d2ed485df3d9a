// A fluid with a window of packets (docs/fluid.md): the replay goes on as one of packets
// where the window begins, and as one of flows once what was sent in it has arrived.
// Private to this room.
//
// From the end of the window on nodes cut no more packets, and when the last ones have
// arrived the rest of all messages flows on. Records, messages and who waits for them are
// the same throughout.
#ifndef TB_EXACT_H
#define TB_EXACT_H

#include "switching.h"

struct tb_exact;

// tb_exact_new plans the window of a network's parameters. It changes options: parts are
// not simulated side by side. TB_ENOMEM. Faults, service levels and broadcasts are
// refused when it runs.
int tb_exact_new(struct tb_exact **exact, const struct tb_switching *fluid,
	const struct tb_switching *packets, const struct tb_network *network,
	struct tb_engine_options *options) TB_MUST_USE;
void tb_exact_free(struct tb_exact *exact);

// tb_exact_first is the model that a replay begins with.
const struct tb_switching *tb_exact_first(const struct tb_exact *exact);

// tb_exact_pause_at is tb_engine_pause_at.
void tb_exact_pause_at(struct tb_exact *exact, tb_time_ps at);

// tb_exact_run does what tb_engine_run does, with the model and the replay of the moment,
// which it replaces. TB_EUSAGE at the end of a replay that the window is not in.
int tb_exact_run(struct tb_exact *exact, const struct tb_switching **model,
	struct tb_replay **replay, uint64_t n_rounds, struct tb_error *error) TB_MUST_USE;

#endif
