// All views in the window: where each has its place, and which main view is shown.
#ifndef TB_PANES_H
#define TB_PANES_H

#include "view.h"

struct tb_panes {
	struct tb_pane *list; // in the order in which they are drawn
	uint32_t n;
	struct tb_pane *main; // the main view that is shown
	double width, height; // of the window
	struct tb_box slots[TB_N_SLOTS];
};

// tb_panes_init makes a pane for every view of a list that ends with NULL and holds at
// least one main view, each a copy of `pattern` but for the view; the first main view is
// shown. TB_ENOMEM.
int tb_panes_init(struct tb_panes *panes, const struct tb_view *const *views,
	const struct tb_pane *pattern) TB_MUST_USE;
void tb_panes_fini(struct tb_panes *panes);

// tb_panes_lay_out gives every view that is shown its place in a window of that size.
void tb_panes_lay_out(struct tb_panes *panes, double width, double height);

// tb_panes_shows says whether a view is in sight.
bool tb_panes_shows(const struct tb_panes *panes, const struct tb_pane *pane);
// tb_panes_at is the pane at a point, NULL for none.
struct tb_pane *tb_panes_at(const struct tb_panes *panes, double x, double y);

// tb_panes_main is the nth main view from 0, there or not; NULL beyond the last.
// tb_panes_main_number is the number of the one that is shown.
struct tb_pane *tb_panes_main(const struct tb_panes *panes, int n);
int tb_panes_main_number(const struct tb_panes *panes);
// tb_panes_next is the main view after the one that is shown, the first after the last.
struct tb_pane *tb_panes_next(const struct tb_panes *panes);

// tb_pane_is_there says whether there is anything to open a view for.
bool tb_pane_is_there(const struct tb_pane *pane);

#endif
