// The runs of a store as a table: in what they differ, how long each takes, and what its
// network is built of.
#ifndef TB_RUN_TABLE_H
#define TB_RUN_TABLE_H

#include "status.h"

#include <stdio.h>

// tb_run_table_write writes a row for each run; shares are of the first one's run time.
// Errors as of tb_runs_open. Cost: that of tb_run_list_sums.
int tb_run_table_write(const char *path, unsigned width, FILE *stream,
	struct tb_error *error) TB_MUST_USE;

#endif
