// What was tried to make a run better, in the store: the table `tried`.
#ifndef TB_STORE_TRIED_H
#define TB_STORE_TRIED_H

#include "status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tb_tried_row {
	const char *command;	  // that replays it, as a finding has it
	const char *title;	  // what is changed
	const char *verdict, *of; // as in schemas/results.sql
	uint32_t job;		  // TB_ID_NONE: not one job's
	uint32_t n_seeds;
	bool needs_hardware;
	int64_t gain_ppm, half_ppm; // half_ppm below 0: no interval
};

// tb_store_put_tried keeps the rows of a run of a finished store, in place of earlier
// tries of the same changes with as many seeds or fewer. TB_EIO when the store cannot be
// written.
int tb_store_put_tried(const char *path, int64_t run, const struct tb_tried_row *rows,
	size_t n, struct tb_error *error) TB_MUST_USE;

#endif
