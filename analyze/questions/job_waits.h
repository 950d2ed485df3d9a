// Which job waits for which, and which jobs wait and make others wait at a link. Sums,
// exact to the picosecond; no wait is left out.
#ifndef TB_JOB_WAITS_H
#define TB_JOB_WAITS_H

#include "waits.h"

struct tb_job_pair {
	uint32_t victim_job;
	uint32_t culprit_job;
	uint64_t n_waits; // that ended within the span
	uint64_t wait_ps;
};

struct tb_job_pairs {
	struct tb_job_pair *rows;
	struct tb_listed listed;
};

// tb_job_pairs_init lists the first `top` pairs (0: all) by their wait within the span.
// Cost: linear in the pairs of its slices. TB_EFORMAT when the file is damaged,
// TB_ENOMEM. tb_job_pairs_fini frees them; a zeroed struct is fine to free.
int tb_job_pairs_init(struct tb_job_pairs *pairs, struct tb_run *run, struct tb_span span,
	uint32_t top, struct tb_error *error) TB_MUST_USE;
void tb_job_pairs_fini(struct tb_job_pairs *pairs);

// tb_job_pairs_wait returns how long one job waited for another, 0 when that pair is not
// listed.
uint64_t tb_job_pairs_wait(
	const struct tb_job_pairs *pairs, uint32_t victim_job, uint32_t culprit_job);

// tb_job_pairs_for_others returns how long a job waited for other jobs,
// tb_job_pairs_of_others how long other jobs waited for it, by the pairs that are listed.
uint64_t tb_job_pairs_for_others(const struct tb_job_pairs *pairs, uint32_t job);
uint64_t tb_job_pairs_of_others(const struct tb_job_pairs *pairs, uint32_t job);

// The jobs at links.
struct tb_job_links {
	struct tb_job_link_sample *rows; // link by link as asked for
	uint32_t n;
};

// tb_job_links_init lists all jobs that waited or were waited for at these links, over
// the whole run. Errors as above. tb_job_links_fini frees them; a zeroed struct is fine
// to free.
int tb_job_links_init(struct tb_job_links *jobs, struct tb_run *run,
	const struct tb_link *links, uint32_t n_links,
	struct tb_error *error) TB_MUST_USE;
void tb_job_links_fini(struct tb_job_links *jobs);

#endif
