// What the files of `tailback trace` share.
#ifndef TB_CMD_TRACE_H
#define TB_CMD_TRACE_H

#include "status.h"
#include "tbt_format.h"

#include <stdbool.h>

struct trace_arguments {
	const char *output, *merge;
	bool mpi_given, keep, quiet;
	enum tb_tbt_mpi mpi;
	char **command; // ends with NULL
};

// tb_trace_merge makes a trace of each world in the folder, as tbt_worlds.h orders them:
// the first is the output, the others have -2, -3 and so on before its ending. A world
// that cannot be merged does not keep the others from it. `code` becomes a failure where
// full disks left nothing of the run.
int tb_trace_merge(const struct trace_arguments *args, const char *folder, int *code,
	struct tb_error *error) TB_MUST_USE;

#endif
