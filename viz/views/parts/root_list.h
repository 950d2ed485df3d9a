// The list of roots of congestion trees, by the wait for them in the window.
#ifndef TB_ROOT_LIST_H
#define TB_ROOT_LIST_H

#include "root_slices.h"
#include "tree_shape.h"

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
	struct tb_link shown, const struct tb_pane *pane, struct tb_picture *picture,
	struct tb_box place);

#endif
