// A second run beside the one that is shown: both in the same window of time and metric,
// and their difference.
//
// The first is A, before; the second is B, after. Windows are the same in simulated time.
// Where both networks have the same shape, the difference is a matrix of its own; else
// only links that both have are compared. One thread at a time per object.
#ifndef TB_PAIR_H
#define TB_PAIR_H

#include "matrix.h"
#include "movers.h"
#include "settings.h"

// How many of the most changed links are kept.
#define TB_PAIR_MOVERS 100

struct tb_pair {
	char *path;
	struct tb_run *run; // B
	const struct tb_run_info *info;
	struct tb_window window; // of B
	bool over;		 // B ended before the window
	bool same_shape;
	struct tb_link_pairs pairs;
	struct tb_matrix matrix; // of B
	// The change, for networks of the same shape: its size, and, by id, 1 where B has
	// less.
	struct tb_matrix change;
	uint8_t *less_links, *less_switches;
	const struct tb_link_sample *samples; // of B, by its link ids
	struct tb_mover *movers;
	uint32_t n_movers, n_moved;
	struct tb_difference differences[TB_DIFFERENCES_MOST];
	int n_differences;
	struct tb_link_sample *nothing; // zeros, for windows after the end of B
};

// tb_pair_new opens run `id` (0: the newest) of `path` as B. Errors as of tb_run_open.
int tb_pair_new(struct tb_pair **pair, const struct tb_run *a, const char *path,
	int64_t id, struct tb_error *error) TB_MUST_USE;
void tb_pair_free(struct tb_pair *pair);

// tb_pair_show reads B in A's window and computes the difference; `samples` and `matrix`
// are A's. Errors as of tb_run_look and tb_movers; the old movers stay then.
int tb_pair_show(struct tb_pair *pair, const struct tb_run *a, struct tb_window window,
	const struct tb_link_sample *samples, const struct tb_matrix *matrix,
	struct tb_error *error) TB_MUST_USE;

#endif
