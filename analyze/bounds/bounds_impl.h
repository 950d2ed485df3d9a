// What the files of bounds share. Private to analyze/bounds/.
#ifndef TB_BOUNDS_IMPL_H
#define TB_BOUNDS_IMPL_H

#include "bounds.h"

// tb_phases_find stores the windows of a run's phases, and how many.
int tb_phases_find(struct tb_window phases[TB_PHASES_MOST], uint32_t *n,
	struct tb_run *run, struct tb_error *error) TB_MUST_USE;

// tb_time_parts_make makes the parts of a run whose bounds are known.
int tb_time_parts_make(
	struct tb_bounds *bounds, struct tb_run *run, struct tb_error *error) TB_MUST_USE;

#endif
