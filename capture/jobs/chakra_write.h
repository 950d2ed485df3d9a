// Writes a job as a Chakra execution trace (capture/chakra/execution_trace.proto): files
// NAME.0.et, NAME.1.et and so on, one a rank. Private to capture/jobs/.
//
// Operations are nodes of computation, sends and receives with what they wait for. What
// waits for an operation's start waits for all that this waits for, as Chakra has
// dependencies on ends alone; processors and network interfaces are left out. Durations
// are in microseconds, so an attribute, duration_ns, has the rest for our own reader.
#ifndef TB_CHAKRA_WRITE_H
#define TB_CHAKRA_WRITE_H

#include "job.h"

#define TB_CHAKRA_RANKS_MAX 65536 // files

// tb_chakra_write writes the files of a `path` NAME.et; see tb_job_write. TB_EUSAGE for
// standard output, another name, more ranks, and as of tb_job_order_init. On failure the
// files that were written are removed.
int tb_chakra_write(const struct tb_job *job, const char *path, char **note,
	struct tb_error *error) TB_MUST_USE;

#endif
