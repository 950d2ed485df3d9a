// The terminal: a picture of one pixel a character, as text with ANSI colours or without.
#ifndef TB_DRAW_TERMINAL_H
#define TB_DRAW_TERMINAL_H

#include "picture.h"

enum tb_terminal_colours {
	TB_TERMINAL_PLAIN, // no escape sequences; rectangles do not show
	TB_TERMINAL_256,   // the xterm palette
	TB_TERMINAL_RGB,   // 24-bit
};

// tb_terminal_colours says what a stream can show: plain unless it is a terminal, TERM is
// not "dumb" and NO_COLOR is unset or empty; 24-bit where COLORTERM says so.
enum tb_terminal_colours tb_terminal_colours(FILE *stream);

// tb_picture_terminal writes the picture as lines of text without trailing blanks. The
// page's colour is not painted: it is the terminal's own. TB_ENOMEM; write errors show in
// ferror(stream).
int tb_picture_terminal(const struct tb_picture *picture,
	enum tb_terminal_colours colours, FILE *stream) TB_MUST_USE;

#endif
