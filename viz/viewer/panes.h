// All panes of the window: the place of each view, and which main view is shown.
#ifndef TB_PANES_H
#define TB_PANES_H

#include "view.h"

struct tb_panes {
	struct tb_pane *list; // in drawing order
	uint32_t n;
	struct tb_pane *main; // the main view that is shown
	double width, height; // of the window
	struct tb_box slots[TB_N_SLOTS];
	uint32_t n_lanes; // of the time strip, which it makes higher
};

// tb_panes_init makes a pane for each view of a list that ends with NULL and has at least
// one main view. Each pane is a copy of `pattern` with a view of its own; the first main
// view is shown. TB_ENOMEM.
int tb_panes_init(struct tb_panes *panes, const struct tb_view *const *views,
	const struct tb_pane *pattern) TB_MUST_USE;
void tb_panes_fini(struct tb_panes *panes);

// tb_panes_lay_out places the visible views in a window of this size.
void tb_panes_lay_out(struct tb_panes *panes, double width, double height);

// tb_panes_shows is true when a view is visible.
bool tb_panes_shows(const struct tb_panes *panes, const struct tb_pane *pane);
// tb_panes_at returns the pane at a point, NULL for none.
struct tb_pane *tb_panes_at(const struct tb_panes *panes, double x, double y);

// tb_panes_main returns the nth main view, from 0, available or not; NULL beyond the
// last. tb_panes_main_number returns the number of the one that is shown.
struct tb_pane *tb_panes_main(const struct tb_panes *panes, int n);
int tb_panes_main_number(const struct tb_panes *panes);
// tb_panes_next returns the next main view that is available; the first follows the last.
struct tb_pane *tb_panes_next(const struct tb_panes *panes);

// tb_pane_is_there is false for a view that has nothing to show, such as that of two runs
// while there is one.
bool tb_pane_is_there(const struct tb_pane *pane);

#endif
