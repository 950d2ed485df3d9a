// Roots of congestion trees: their waits by slice of time, and the list of them.
#ifndef TB_ROOT_LIST_H
#define TB_ROOT_LIST_H

#include "heavy_waits.h"
#include "list_view.h"
#include "tree_shape.h"
#include "trees.h"
#include "view.h"

// The slices of time in which a store keeps congestion trees: which of them the window
// touches, and the wait for a root in each.

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

// tb_root_slice returns the place of a slice in a box that is as wide as the run is long:
// trees end with the last wait, or a slice after the run.
struct tb_box tb_root_slice(const struct tb_viewer_data *data,
	const struct tb_trees *trees, struct tb_box box, uint32_t slice);

// tb_root_waits_draw draws a bar per slice, those in the window brighter.
void tb_root_waits_draw(const struct tb_root_waits *waits, const struct tb_trees *trees,
	const struct tb_pane *pane, struct tb_picture *picture, struct tb_box box);

// The list of roots of congestion trees, by the wait for them in the window.

#define TB_ROOT_LIST_ROW_H 30

// A zeroed struct is an empty list.
struct tb_root_list {
	struct tb_tree_root *roots; // heaviest in the window first
	uint32_t n;
	double scroll;
	bool listed; // for the window that is shown
};

// tb_root_list_read lists the roots unless they are listed already, without those for
// which `outside` (by link; NULL: none) holds 1; tb_root_list_forget drops them for
// another window or brush. TB_ENOMEM.
int tb_root_list_read(struct tb_root_list *list, const struct tb_trees *trees,
	struct tb_slices slices, const uint8_t *outside) TB_MUST_USE;
void tb_root_list_forget(struct tb_root_list *list);

// tb_root_list_find returns the root to show for a link: the link itself when it is one,
// else the heaviest root that headers on it waited for; TB_ID_NONE when there is none.
struct tb_link tb_root_list_find(const struct tb_root_list *list,
	const struct tb_trees *trees, struct tb_link link);

// tb_root_list_step returns the root before `from` in the list (by -1) or after it (by
// 1); TB_ID_NONE when `from` is not listed.
struct tb_link tb_root_list_step(
	const struct tb_root_list *list, struct tb_link from, int by);

// tb_root_list_draw draws the list; `shown` is the root whose tree is shown.
void tb_root_list_draw(struct tb_root_list *list, const struct tb_trees *trees,
	struct tb_link shown, struct tb_pane *pane, struct tb_picture *picture,
	struct tb_box place);

// tb_root_list_view returns how it scrolls there.
struct tb_list_view tb_root_list_view(struct tb_root_list *list, struct tb_box place);

// The flows that waited for the root of a congestion tree.
//
// A store keeps who waited at a link, and how long headers waited there for each root,
// but not which flow waited for which root. A flow that waited at a link for longer than
// all headers did there for other roots has waited for this one, for at least the rest;
// one that did not may have waited for either.

struct tb_root_victim {
	uint32_t row;	   // of the heaviest waits
	uint64_t least_ps; // that it waited for the root
	uint64_t most_ps;  // and at most
};

// A zeroed struct is an empty list of no root.
struct tb_root_victims {
	struct tb_root_victim *list; // longest first, by what is sure, then at most
	uint32_t n;
	struct tb_link root;
	bool listed;
};

// tb_root_victims_read lists those of a root unless they are listed already; wait_ps is
// the wait at each link in the whole run. TB_ENOMEM. Linear in the rows of the trees.
int tb_root_victims_read(struct tb_root_victims *victims, const struct tb_trees *trees,
	const struct tb_heavy_waits *waits, const uint64_t *wait_ps,
	struct tb_link root) TB_MUST_USE;
void tb_root_victims_fini(struct tb_root_victims *victims);

#endif
