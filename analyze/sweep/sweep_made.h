// A point of a sweep that has been simulated, on its way into a store. Private to
// analyze/sweep/.
#ifndef TB_SWEEP_MADE_H
#define TB_SWEEP_MADE_H

#include "store.h"
#include "sweep.h"
#include "tape.h"

// Zeroed: nothing.
struct tb_sweep_made {
	struct tb_network *network;
	struct tb_tape *tape;
	struct tb_engine_stats stats;
	double results[TB_N_RESULTS];
	double wall_s;
};

// tb_sweep_made_simulate runs a point and keeps what is recorded. Errors of the engine;
// TB_ESTOPPED once `stop`, which may be NULL, is set.
int tb_sweep_made_simulate(struct tb_sweep_made *made, const struct tb_sweep_point *point,
	bool with_blame, const volatile sig_atomic_t *stop,
	struct tb_error *error) TB_MUST_USE;

// tb_sweep_made_write writes it into a store as the run of that number, whole.
int tb_sweep_made_write(const struct tb_sweep_made *made,
	const struct tb_sweep_point *point, struct tb_store *store, int64_t run,
	struct tb_error *error) TB_MUST_USE;

// tb_sweep_made_fini frees what was made and leaves it zeroed.
void tb_sweep_made_fini(struct tb_sweep_made *made);

#endif
