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
// and receives of one source, destination and tag (a channel) must agree in number and in
// sizes. Where a rank receives with a wildcard, time decides which of them match, so only
// the numbers are checked. Linear in sends and receives. Counts job->n_pairs as well, and
// numbers the channels where `channels` is wanted.
struct tb_job_channels {
	uint32_t *of;	   // by operation: of a send or receive, its channel
	uint32_t n;	   // channels
	bool any_wildcard; // somewhere in the job; then `of` is of no use
};

int tb_job_check_matches(struct tb_job *job, const uint32_t *lines,
	struct tb_job_channels *channels, struct tb_error *error) TB_MUST_USE;

// tb_job_check_deadlock finds ranks that wait for each other's messages, whatever the
// network does and even if every send is done at once: TB_EDEADLOCK naming the
// operations. It goes where tb_job_check_matches has passed. Where the order of arrival
// decides which of several receives gets a message, only what is stuck in any case is
// told, and nothing where wildcards are about: the replay sees what comes of it. Linear
// in operations and dependencies.
int tb_job_check_deadlock(const struct tb_job *job, const uint32_t *lines,
	const struct tb_job_channels *channels, struct tb_error *error) TB_MUST_USE;

// tb_job_waits_across says whether anything waits for a receive: without that, ranks
// cannot wait for each other.
bool tb_job_waits_across(const struct tb_job *job);

// tb_job_check_fail tells `text` about operation `op`, at its line when that is known,
// and returns `code`.
int tb_job_check_fail(const struct tb_job *job, const uint32_t *lines, uint32_t op,
	enum tb_status code, const char *text, struct tb_error *error);

// tb_job_fail_cycle tells of the cycle that `stuck` runs into: on[i] is what operation i
// waits for, of every operation that is reached so. Returns TB_EDEADLOCK.
int tb_job_fail_cycle(const struct tb_job *job, const uint32_t *lines, const uint32_t *on,
	uint32_t stuck, struct tb_error *error);

#endif
