// PNG and PDF drawn by cairo, and PNG of pixels drawn elsewhere.
#ifndef TB_DRAW_CAIRO_H
#define TB_DRAW_CAIRO_H

#include "picture.h"

// tb_picture_png and tb_picture_pdf write the picture scaled to `width` pixels (PNG) or
// points (PDF). TB_ENOMEM; TB_ECAPACITY when a side of the PNG would exceed 32767 pixels;
// write errors show in ferror(stream).
int tb_picture_png(
	const struct tb_picture *picture, double width, FILE *stream) TB_MUST_USE;
int tb_picture_pdf(
	const struct tb_picture *picture, double width, FILE *stream) TB_MUST_USE;

// tb_pixels_png writes h rows of w pixels (0xRRGGBB words) as a PNG. TB_ENOMEM; write
// errors show in ferror(stream).
int tb_pixels_png(uint32_t *pixels, int w, int h, FILE *stream) TB_MUST_USE;

#endif
