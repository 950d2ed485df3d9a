// What is selected, marked and brushed: all views share it.
#ifndef TB_SELECTION_H
#define TB_SELECTION_H

#include "colour.h"
#include "picture.h"
#include "viewer_data.h"

// The brush: a range of values of a metric, at one or more levels, that picks links in
// the histogram by level. All views show the other links faded or not at all.
//
// It keeps values, not links: in another window the links with such values there pass.

struct tb_brush {
	bool on;
	// Levels of the switches that links lead to; n_levels stands for links to nodes.
	uint32_t from_level, to_level; // both included
	uint64_t low, high;	       // both included
	enum tb_metric metric;
};

// tb_brush_level returns the level at which a link is counted.
uint32_t tb_brush_level(const struct tb_viewer_data *data, uint32_t link);

// tb_brush_apply stores 1 for each link that a brush leaves out in the window, by id, and
// returns how many pass.
uint32_t tb_brush_apply(const struct tb_brush *brush, const struct tb_viewer_data *data,
	uint8_t *outside);

// tb_brush_text writes "wait 2.1 us to 3 ms at level 1"; 128 bytes suffice.
char *tb_brush_text(const struct tb_brush *brush, const struct tb_viewer_data *data,
	char *buffer, size_t size);

// The selection and what is under the pointer, the same in all views, and what belongs to
// the selection: a flow's path, a node's links, the branches of a congestion tree.

struct tb_selection {
	struct tb_pick selected, hovered;
	struct tb_pick end; // of routes to the selected node or switch; else of no kind
	struct tb_marks marks; // of the selection
	struct tb_brush brush;
	uint8_t *outside;   // by link: 1 where the brush leaves it out
	uint32_t n_brushed; // links that pass
};

// tb_selection_init allocates the marks of a run. TB_ENOMEM; call tb_selection_fini in
// either case.
int tb_selection_init(
	struct tb_selection *selection, const struct tb_run_info *info) TB_MUST_USE;
void tb_selection_fini(struct tb_selection *selection);

// tb_selection_can is true for what a click selects in all views.
bool tb_selection_can(struct tb_pick pick);

// tb_selection_is_end is true for what a route can begin and end at.
bool tb_selection_is_end(struct tb_pick pick);

// tb_selection_has_routes is true when two different ends are selected.
bool tb_selection_has_routes(const struct tb_selection *selection);

// tb_selection_outside returns `outside`, NULL without a brush.
const uint8_t *tb_selection_outside(const struct tb_selection *selection);

// tb_selection_mark sets the marks; with `trees`, a selected link also marks the
// congestion tree whose root it is. It reads flows, blame, paths and trees as needed; on
// failure, with their errors, the marks are incomplete.
int tb_selection_mark(struct tb_selection *selection, struct tb_viewer_data *data,
	bool trees, struct tb_error *error) TB_MUST_USE;

#endif
