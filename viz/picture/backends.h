// Places to draw a picture: cairo (PNG, PDF), SVG, a terminal.
#ifndef TB_BACKENDS_H
#define TB_BACKENDS_H

#include "picture.h"

// PNG and PDF drawn by cairo, and PNG of pixels drawn elsewhere.

// tb_picture_png and tb_picture_pdf write the picture scaled to `width` pixels (PNG) or
// points (PDF). TB_ENOMEM; TB_ECAPACITY when a side of the PNG would exceed 32767 pixels;
// write errors show in ferror(stream).
int tb_picture_png(
	const struct tb_picture *picture, double width, FILE *stream) TB_MUST_USE;
int tb_picture_pdf(
	const struct tb_picture *picture, double width, FILE *stream) TB_MUST_USE;

// tb_pictures_pdf writes `n` pictures as the pages of one PDF, a point a pixel.
// `title` is its name in viewers. Errors as of tb_picture_pdf.
int tb_pictures_pdf(const struct tb_picture *pictures, size_t n, const char *title,
	FILE *stream) TB_MUST_USE;

// tb_pixels_png writes h rows of w pixels (0xRRGGBB words) as a PNG. TB_ENOMEM; write
// errors show in ferror(stream).
int tb_pixels_png(uint32_t *pixels, int w, int h, FILE *stream) TB_MUST_USE;

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
