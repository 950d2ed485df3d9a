// All views. Each view_NAME.c defines one struct tb_view; callers of tb_viewer_new pass
// it this list.
#ifndef TB_VIEWS_H
#define TB_VIEWS_H

#include "view.h"

// tb_views lists the views in drawing order and ends with NULL.
extern const struct tb_view *const tb_views[];

extern const struct tb_view tb_view_head, tb_view_tabs, tb_view_matrix, tb_view_tree,
	tb_view_levels, tb_view_lists, tb_view_flows, tb_view_roots, tb_view_blame,
	tb_view_pair, tb_view_findings, tb_view_ranks, tb_view_list, tb_view_detail,
	tb_view_time;

// tb_views_compare opens run `id` (0: the newest) of another store, or of the same,
// beside the one that the viewer shows, and shows both. Errors as of tb_run_open;
// TB_EUSAGE when the viewer shows no run.
int tb_views_compare(struct tb_viewer *viewer, const char *path, int64_t id,
	struct tb_error *error) TB_MUST_USE;

// tb_views_name returns the name of the nth main view, NULL beyond the last.
const char *tb_views_name(size_t n);

// tb_views_show shows the nth main view. TB_EUSAGE when the run has nothing to show in
// it, or there is no run.
int tb_views_show(struct tb_viewer *viewer, size_t n, struct tb_error *error) TB_MUST_USE;

#endif
