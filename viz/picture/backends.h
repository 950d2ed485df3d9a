// Places to draw a picture: SVG, a terminal. See paper.h for PNG and PDF.
#ifndef TB_BACKENDS_H
#define TB_BACKENDS_H

#include "picture.h"

// SVG: text stays text, and tips become <title>, which browsers show on hover.

// tb_picture_svg writes the picture as one <svg> element without prolog or ids, valid as
// a file and inside HTML. `width` is its width in pixels, 0 to fill its container; the
// viewBox is the picture's size. Write errors show in ferror(stream).
void tb_picture_svg(const struct tb_picture *picture, double width, FILE *stream);

// Pictures for a terminal: one pixel per character, as text with or without ANSI colours.

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
