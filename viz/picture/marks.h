// What a selection highlights, by id, in every view.
#ifndef TB_MARKS_H
#define TB_MARKS_H

#include "colour.h"

#include <stdbool.h>
#include <stdint.h>

enum tb_mark {
	TB_MARK_NONE,
	TB_MARK_ON,    // belongs to the selection: a path, a node's links
	TB_MARK_OTHER, // belongs to the culprit of the selected wait
	TB_MARK_ROOT,  // is the root of a congestion tree
};

// Arrays of enum tb_mark by id; NULL arrays mark nothing.
struct tb_marks {
	uint8_t *links, *switches, *nodes;
	bool any;
};

static inline struct tb_colour tb_mark_colour(
	const struct tb_palette *palette, enum tb_mark mark)
{
	return mark == TB_MARK_OTHER ? palette->second : palette->accent;
}

#endif
