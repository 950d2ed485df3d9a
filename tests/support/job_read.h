// Reads a job in any format, as programs do that take jobs alone.
#ifndef JOB_READ_H
#define JOB_READ_H

#include "trace.h"

// job_read fails with TB_EFOREIGN for packets.
static inline int job_read(struct tb_job **job, const char *path, struct tb_error *error)
{
	struct tb_trace trace;
	const struct tb_trace_request request = {
		.paths = &path, .n = 1, .stdin_kind = TB_TRACE_JOB};
	int status = tb_trace_read(&trace, &request, error);
	if (status == TB_OK && !trace.job)
		status = TB_EFOREIGN;
	if (status == TB_OK)
		*job = trace.job;
	return status;
}

#endif
