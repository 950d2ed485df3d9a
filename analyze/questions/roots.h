// Roots: the links at the end of the chains of waits, by what waits for them. Sums, exact
// to the picosecond; no wait is left out.
#ifndef TB_ROOTS_H
#define TB_ROOTS_H

#include "waits.h"

struct tb_root {
	struct tb_link root;
	uint64_t n_waits; // 0 of a span of time: waits are counted in the whole run only
	uint64_t wait_ps;
	uint32_t n_links; // by which the waiting headers had come in, at least: counted
			  // in the heaviest rows of its tree (trees.h)
};

struct tb_roots {
	struct tb_root *rows;
	struct tb_listed listed;
	bool links_left_out; // n_links of some may be more
};

// tb_roots_init lists the first `top` roots (0: all) by their wait within the span. Cost:
// linear in the roots; with a span, in the roots of its slices; and in the heaviest rows
// of the trees. TB_EFORMAT when the file is damaged, TB_ENOMEM. tb_roots_fini frees them;
// a zeroed struct is fine to free.
int tb_roots_init(struct tb_roots *roots, struct tb_run *run, struct tb_span span,
	uint32_t top, struct tb_error *error) TB_MUST_USE;
void tb_roots_fini(struct tb_roots *roots);

// The jobs that wait for a root.
struct tb_root_jobs {
	struct tb_root_job_sample *rows; // root by root as asked for
	uint32_t n;
};

// tb_root_jobs_init lists all jobs that waited for these roots, over the whole run.
// Errors as above. tb_root_jobs_fini frees them; a zeroed struct is fine to free.
int tb_root_jobs_init(struct tb_root_jobs *jobs, struct tb_run *run,
	const struct tb_root *roots, uint32_t n_roots,
	struct tb_error *error) TB_MUST_USE;
void tb_root_jobs_fini(struct tb_root_jobs *jobs);

#endif
