// What is selected and what is under the pointer, in all views alike, and what belongs to
// the selection: a flow's path, a node's links, the branches of a congestion tree.
#ifndef TB_SELECTION_H
#define TB_SELECTION_H

#include "marks.h"
#include "picture.h"
#include "viewer_data.h"

struct tb_selection {
	struct tb_pick selected, hovered;
	struct tb_marks marks; // of what is selected
};

// tb_selection_init makes room for the marks of a run. TB_ENOMEM; tb_selection_fini frees
// what there is in either case.
int tb_selection_init(
	struct tb_selection *selection, const struct tb_run_info *info) TB_MUST_USE;
void tb_selection_fini(struct tb_selection *selection);

// tb_selection_can says whether a click on it selects it in all views.
bool tb_selection_can(struct tb_pick pick);

// tb_selection_mark marks anew what belongs to the selection; `trees`: of a link also the
// congestion tree whose root it is. Reads of the run what that needs; when that fails the
// marks are incomplete.
int tb_selection_mark(struct tb_selection *selection, struct tb_viewer_data *data,
	bool trees, struct tb_error *error) TB_MUST_USE;

#endif
