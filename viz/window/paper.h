// PNG and PDF, drawn by cairo. Like the window, the program loads it when it is needed.
#ifndef TB_PAPER_H
#define TB_PAPER_H

#include "picture.h"

// tb_picture_png writes the picture scaled to `width` pixels. TB_ENOMEM; TB_ECAPACITY
// when a side would exceed 32767 pixels; TB_EIO when cairo cannot be loaded; write
// errors show in ferror(stream).
int tb_picture_png(const struct tb_picture *picture, double width, FILE *stream,
	struct tb_error *error) TB_MUST_USE;

// tb_pictures_pdf writes n pictures as the pages of one PDF, the first scaled to `width`
// points and the others likewise. `title` is its name in PDF readers; NULL: none. Errors
// as of tb_picture_png.
int tb_pictures_pdf(const struct tb_picture *pictures, size_t n, double width,
	const char *title, FILE *stream, struct tb_error *error) TB_MUST_USE;

// tb_pixels_png writes h rows of w pixels (0xRRGGBB words) as a PNG. TB_ENOMEM; write
// errors show in ferror(stream).
int tb_pixels_png(uint32_t *pixels, int w, int h, FILE *stream) TB_MUST_USE;

#endif
