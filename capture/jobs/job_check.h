// Finds, before a replay, what makes a job impossible to finish.
#ifndef TB_JOB_CHECK_H
#define TB_JOB_CHECK_H

#include "job.h"

// tb_job_check_cycles returns TB_EDEADLOCK, naming the operations, if operations of a
// rank wait for each other. `lines` holds the line of each operation in its file, or is
// NULL. Linear in operations and dependencies.
int tb_job_check_cycles(const struct tb_job *job, const uint32_t *lines,
	struct tb_error *error) TB_MUST_USE;

// The sends and receives with one source, destination and tag are a channel.
struct tb_job_channels {
	uint32_t *of;	   // by operation: the channel of a send or receive
	uint32_t n;	   // number of channels
	bool any_wildcard; // a receive somewhere has a wildcard; `of` is then undefined
};

// tb_job_check_matches returns TB_EFORMAT if sends and receives can never match: those of
// a channel must agree in number and in sizes. Where a rank receives with a wildcard,
// time decides which of them match, so it checks only the numbers. It also counts
// job->n_pairs, and numbers the channels unless `channels` is NULL. Linear in sends and
// receives.

int tb_job_check_matches(struct tb_job *job, const uint32_t *lines,
	struct tb_job_channels *channels, struct tb_error *error) TB_MUST_USE;

// tb_job_check_deadlock returns TB_EDEADLOCK, naming the operations, if ranks wait for
// each other's messages whatever the network does, even if every send is done at once.
// Call it after tb_job_check_matches has passed. Where the order of arrival decides which
// of several receives gets a message, it reports only what is stuck in every order, and
// with wildcards nothing: such deadlocks show in the replay. Linear in operations and
// dependencies.
int tb_job_check_deadlock(const struct tb_job *job, const uint32_t *lines,
	const struct tb_job_channels *channels, struct tb_error *error) TB_MUST_USE;

// tb_job_waits_across returns whether any operation waits for a receive. If none does,
// ranks cannot wait for each other.
bool tb_job_waits_across(const struct tb_job *job);

#endif
