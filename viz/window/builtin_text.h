// Text without a font file, so that a window can show a message on a machine without
// fonts.
#ifndef TB_BUILTIN_TEXT_H
#define TB_BUILTIN_TEXT_H

#include "picture.h"

// The pixels of one line of text: white, with the ink in the alpha channel.
struct tb_builtin_text {
	uint32_t *pixels; // 0xAARRGGBB, rows of w
	int w, h, ascent; // ascent: from the upper edge to the baseline
};

// tb_builtin_text_init draws a line of text at `size` pixels per em with cairo's built-in
// stroke font (the family "@cairo:" of its manual), stretched to the width that
// tb_text_width returns. TB_ENOMEM. tb_builtin_text_fini frees the pixels.
int tb_builtin_text_init(struct tb_builtin_text *line, enum tb_font font, int size,
	const char *text) TB_MUST_USE;
void tb_builtin_text_fini(struct tb_builtin_text *line);

#endif
