// A second run beside the one that is shown: both in the same window of time and metric,
// and their difference.
//
// The first is A, before; the second is B, after. Windows are the same in simulated time.
// Where both networks have the same shape, the difference is a matrix of its own; else
// only links that both have are compared. One thread at a time per object.
#ifndef TB_PAIR_H
#define TB_PAIR_H

#include "colour.h"
#include "matrix.h"
#include "movers.h"
#include "picture.h"
#include "run.h"
#include "settings.h"
#include "waits.h"

// How many of the most changed links are kept.
#define TB_PAIR_MOVERS 100

struct tb_run_pair {
	char *path;
	struct tb_run *run; // B
	const struct tb_run_info *info;
	struct tb_window window; // of B
	bool over;		 // B ended before the window
	bool apart;		 // B keeps its window while that of A moves
	bool same_shape;
	struct tb_link_pairs pairs;
	struct tb_matrix matrix; // of B
	// The change, for networks of the same shape: its size, and, by id, 1 where B has
	// less.
	struct tb_matrix change;
	uint8_t *less_links, *less_switches;
	// 1 where either run does not know the figure exactly
	uint8_t *unmeasured, *unmeasured_switches;
	// exactly
	const struct tb_link_sample *samples; // of B, by its link ids
	struct tb_mover *movers;
	uint32_t n_movers, n_moved;
	struct tb_difference differences[TB_DIFFERENCES_MOST];
	int n_differences;
	struct tb_link_sample *nothing; // zeros, for windows after the end of B
};

// tb_run_pair_new opens run `id` (0: the newest) of `path` as B. Errors as of
// tb_run_open.
int tb_run_pair_new(struct tb_run_pair **pair, const struct tb_run *a, const char *path,
	int64_t id, struct tb_error *error) TB_MUST_USE;
void tb_run_pair_free(struct tb_run_pair *pair);

// tb_run_pair_show reads B in A's window, or its own, and computes the difference;
// `samples` and `matrix` are A's. Errors as of tb_run_look and tb_movers; the old movers
// stay then.
int tb_run_pair_show(struct tb_run_pair *pair, const struct tb_run *a,
	struct tb_window window, const struct tb_link_sample *samples,
	const struct tb_matrix *matrix, struct tb_error *error) TB_MUST_USE;

// What changed between two runs as a whole: in words, and as the wait of all links over
// time.
//
// It opens both runs for itself, so it can be read while others read them. Cost as of
// tb_compare_new: it reads the flows and bins of both.

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
	char verdict[2200];		// tb_compare_verdict and _slowest_job
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
// one of wait per time; `shown` has the window of each.
void tb_pair_overview_strips(const struct tb_pair_overview *overview,
	struct tb_picture *picture, const struct tb_palette *palette,
	const struct tb_span shown[2], struct tb_box box);

#endif
