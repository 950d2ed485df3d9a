// PNG and PDF, drawn by cairo; and PNG of pixels that were drawn elsewhere.
#ifndef TB_DRAW_CAIRO_H
#define TB_DRAW_CAIRO_H

#include "picture.h"

// tb_picture_png and tb_picture_pdf write the picture `width` pixels (points) wide.
// TB_ENOMEM; TB_ECAPACITY when the image would be more than 32767 pixels a side; write
// errors show in ferror(stream).
int tb_picture_png(
	const struct tb_picture *picture, double width, FILE *stream) TB_MUST_USE;
int tb_picture_pdf(
	const struct tb_picture *picture, double width, FILE *stream) TB_MUST_USE;

// tb_pixels_png writes pixels (0xRRGGBB words in rows of `w`, h rows) as a PNG.
int tb_pixels_png(uint32_t *pixels, int w, int h, FILE *stream) TB_MUST_USE;

#endif
