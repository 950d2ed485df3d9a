// Pictures for a terminal: one pixel per character, as text with or without ANSI colours.
#ifndef TB_DRAW_TERMINAL_H
#define TB_DRAW_TERMINAL_H

#include "picture.h"

enum tb_terminal_colours {
	TB_TERMINAL_PLAIN, // no escape sequences; rectangles do not show
	TB_TERMINAL_256,   // the xterm palette
	TB_TERMINAL_RGB,   // 24-bit
};

// tb_terminal_colours returns what a stream can show: plain unless it is a terminal, TERM
// is set and not "dumb", and NO_COLOR is unset or empty; 24-bit when COLORTERM is
// "truecolor" or "24bit".
enum tb_terminal_colours tb_terminal_colours(FILE *stream);

// tb_picture_terminal writes the picture as lines of text without trailing blanks. The
// page keeps the terminal's background. TB_ENOMEM; write errors show in ferror(stream).
int tb_picture_terminal(const struct tb_picture *picture,
	enum tb_terminal_colours colours, FILE *stream) TB_MUST_USE;

#endif
