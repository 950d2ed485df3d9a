// The brush: a range of values of a metric, at one or more levels, that picks links in
// the histogram by level. All views show the other links faded or not at all.
//
// It keeps values, not links: in another window the links with such values there pass.
#ifndef TB_BRUSH_H
#define TB_BRUSH_H

#include "viewer_data.h"

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

#endif
