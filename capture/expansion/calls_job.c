#include "calls_job.h"

int tb_calls_job(const struct tb_calls *calls, const char *name, const char *made,
	const struct tb_reading *reading, struct tb_job **job, struct tb_error *error)
{
	(void)calls;
	(void)made;
	(void)reading;
	(void)job;
	return tb_fail_in(
		error, TB_EFOREIGN, name, "traces of calls are not yet made jobs of");
}
