// The slices of time in which a store keeps congestion trees: which of them the window
// touches, and the wait for a root in each.
#ifndef TB_ROOT_SLICES_H
#define TB_ROOT_SLICES_H

#include "view.h"

// The slices that the window touches, wholly or in part: [from, end).
struct tb_slices {
	uint32_t from, end;
};

struct tb_slices tb_slices_of(
	const struct tb_viewer_data *data, const struct tb_trees *trees);

// The wait for a root, by slice.
struct tb_root_waits {
	uint64_t wait_ps[TB_TREES_SLICES];
	uint32_t n_links[TB_TREES_SLICES]; // at which headers waited for it, at least
};

// tb_root_waits_fill sums the rows of a root. Linear in these.
void tb_root_waits_fill(
	struct tb_root_waits *waits, const struct tb_trees *trees, struct tb_link root);

// tb_root_waits_draw draws a bar per slice of the first n, those in the window brighter.
void tb_root_waits_draw(const struct tb_root_waits *waits, uint32_t n,
	struct tb_slices shown, const struct tb_style *style, struct tb_picture *picture,
	struct tb_box box);

#endif
