// Text without a font file: for a machine that has none, so that a window can say so.
#ifndef TB_BUILTIN_TEXT_H
#define TB_BUILTIN_TEXT_H

#include "picture.h"

// Pixels of one line: white, the alpha says where there is ink.
struct tb_builtin_text {
	uint32_t *pixels; // 0xAARRGGBB, rows of w
	int w, h, ascent; // baseline below the upper edge
};

// tb_builtin_text_init draws a line at `size` pixels an em with cairo's own strokes (the
// family "@cairo:" of its manual), as wide as the fonts' tables have it. TB_ENOMEM.
int tb_builtin_text_init(struct tb_builtin_text *line, enum tb_font font, int size,
	const char *text) TB_MUST_USE;
void tb_builtin_text_fini(struct tb_builtin_text *line);

#endif
