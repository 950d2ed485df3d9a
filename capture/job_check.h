// What makes a job impossible to run, found before it runs.
#ifndef TB_JOB_CHECK_H
#define TB_JOB_CHECK_H

#include "job.h"

// tb_job_check_cycles finds operations of a rank that wait for each other: TB_EDEADLOCK
// naming them. `lines` gives an operation's line in its text; NULL when there is none.
// Linear in operations and dependencies.
int tb_job_check_cycles(const struct tb_job *job, const uint32_t *lines,
	struct tb_error *error) TB_MUST_USE;

// tb_job_check_matches finds sends and receives that can never match: TB_EFORMAT. Sends
// and receives of one source, destination and tag must agree in number and in sizes.
// Where a rank receives with a wildcard, time decides which of them match, so only the
// numbers are checked. Linear in sends and receives. Counts job->n_pairs as well.
int tb_job_check_matches(
	struct tb_job *job, const uint32_t *lines, struct tb_error *error) TB_MUST_USE;

// tb_job_check_fail tells `text` about operation `op`, at its line when that is known,
// and returns `code`.
int tb_job_check_fail(const struct tb_job *job, const uint32_t *lines, uint32_t op,
	enum tb_status code, const char *text, struct tb_error *error);

#endif
