// What the files of `tailback trace` share.
#ifndef TB_CMD_TRACE_H
#define TB_CMD_TRACE_H

#include "status.h"
#include "tbt_format.h"
#include "temporary.h"

#include <stdbool.h>

struct trace_arguments {
	const char *output, *merge;
	bool mpi_given, keep, quiet;
	enum tb_tbt_mpi mpi; // 0: each process's own
	char **command;	     // ends with NULL
};

// tb_trace_merge makes a trace of each world in the folder, as tbt_merge.h orders them:
// the first is the output, the others have -2, -3 and so on before its ending. A world
// that cannot be merged does not keep the others from it. `code` becomes a failure where
// full disks left nothing of the run.
int tb_trace_merge(const struct trace_arguments *args, const char *folder, int *code,
	struct tb_error *error) TB_MUST_USE;

// What the processes of the command load.
struct trace_preload {
	char *libraries;
	struct tb_temporary links; // of links to them, where it takes some
};

// tb_trace_preload_find finds the tracer of an MPI (enum tb_tbt_mpi, or 0: what finds
// each process's own); TB_EUSAGE where it is not installed. tb_trace_preload_set has the
// children of this process load it and write into `folder`. tb_trace_preload_fini is for
// after failures, too.
int tb_trace_preload_find(
	struct trace_preload *preload, unsigned mpi, struct tb_error *error) TB_MUST_USE;
int tb_trace_preload_set(const struct trace_preload *preload, const char *folder,
	struct tb_error *error) TB_MUST_USE;
void tb_trace_preload_fini(struct trace_preload *preload);

// tb_trace_not_installed returns TB_EUSAGE and how the tracer of an MPI is installed.
int tb_trace_not_installed(unsigned mpi, struct tb_error *error);

#endif
