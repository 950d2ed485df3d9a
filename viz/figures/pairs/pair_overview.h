// What changed between two runs as a whole: in words, and as the wait of all links over
// time.
//
// It opens both runs for itself, so it can be read while others read them. Cost as of
// tb_compare_new: it reads the flows and bins of both.
#ifndef TB_PAIR_OVERVIEW_H
#define TB_PAIR_OVERVIEW_H

#include "colour.h"
#include "picture.h"
#include "run.h"

// A run of a store.
struct tb_pair_side {
	const char *path;
	int64_t id; // 0: the newest
};

struct tb_pair_strip {
	tb_time_ps bin_ps;
	tb_time_ps simulated_ps;
	uint64_t n_bins;
	uint64_t *wait_ps; // of all links, by bin
};

struct tb_pair_overview {
	char verdict[1100];		// tb_compare_verdict and _slowest_job
	struct tb_pair_strip strips[2]; // of A and B
};

// tb_pair_overview_init compares run A with B. Errors as of tb_run_open, tb_compare_new
// and tb_run_wait_by_bin; the overview is empty then.
int tb_pair_overview_init(struct tb_pair_overview *overview, struct tb_pair_side a,
	struct tb_pair_side b, struct tb_error *error) TB_MUST_USE;
void tb_pair_overview_fini(struct tb_pair_overview *overview);

// tb_pair_overview_words writes the verdict into a box, in lines of whole words, and
// returns the height that it takes; with no picture it only returns that.
double tb_pair_overview_words(const struct tb_pair_overview *overview,
	struct tb_picture *picture, struct tb_type type, struct tb_box box);

// tb_pair_overview_strips draws the wait of A above that of B, on one scale of time and
// one of wait per time; `from` to `to` is the window that is shown.
void tb_pair_overview_strips(const struct tb_pair_overview *overview,
	struct tb_picture *picture, const struct tb_palette *palette, tb_time_ps from,
	tb_time_ps to, struct tb_box box);

#endif
