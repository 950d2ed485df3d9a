// A second run beside the one that is shown: the same window of time and the same metric
// of both, and their difference.
//
// The first is A, what was before; the second B, what is after. Windows are the same in
// simulated time. Where both networks have one shape the difference is a matrix of its
// own; else the links that both have are compared. One thread at a time per object.
#ifndef TB_PAIR_H
#define TB_PAIR_H

#include "matrix.h"
#include "movers.h"
#include "settings.h"

// Links that moved most, at hand.
#define TB_PAIR_MOVERS 100

struct tb_pair {
	char *path;
	struct tb_run *run; // B
	const struct tb_run_info *info;
	struct tb_window window; // of B
	bool over;		 // B had ended by then
	bool same_shape;
	struct tb_link_pairs pairs;
	struct tb_matrix matrix; // of B
	// What changed, of one shape: values are the change's size, and what is less in B
	// is told by id.
	struct tb_matrix change;
	uint8_t *less_links, *less_switches;
	const struct tb_link_sample *samples; // of B, by its link ids
	struct tb_mover *movers;
	uint32_t n_movers, n_moved;
	struct tb_difference differences[TB_DIFFERENCES_MOST];
	int n_differences;
	struct tb_link_sample *nothing; // zeros, for where B had ended
};

// tb_pair_new opens run `id` of `path` (0: the newest, or of the store of A the one
// before A) to stand beside A.
int tb_pair_new(struct tb_pair **pair, const struct tb_run *a, const char *path,
	int64_t id, struct tb_error *error) TB_MUST_USE;
void tb_pair_free(struct tb_pair *pair);

// tb_pair_show takes A's window, samples and matrix, and brings B and the difference to
// the same. On failure what was shown stays.
int tb_pair_show(struct tb_pair *pair, const struct tb_run *a, struct tb_window window,
	const struct tb_link_sample *samples, const struct tb_matrix *matrix,
	struct tb_error *error) TB_MUST_USE;

#endif
