#include "builtin_text.h"

#include <cairo.h>
#include <math.h>
#include <stdlib.h>

int tb_builtin_text_init(
	struct tb_builtin_text *line, enum tb_font font, int size, const char *text)
{
	struct tb_builtin_text made = {
		.w = (int)fmax(ceil(tb_text_width(font, size, text)), 1) + 1,
		.h = (int)ceil(1.3 * size),
		.ascent = (int)ceil(0.95 * size)};
	size_t n = (size_t)made.w * (size_t)made.h;
	made.pixels = calloc(n, sizeof *made.pixels);
	if (!made.pixels)
		return TB_ENOMEM;
	cairo_surface_t *surface =
		cairo_image_surface_create_for_data((unsigned char *)made.pixels,
			CAIRO_FORMAT_ARGB32, made.w, made.h, made.w * 4);
	cairo_t *cairo = cairo_create(surface);
	cairo_text_extents_t extents;
	double wanted = tb_text_width(font, size, text);
	cairo_select_font_face(cairo, "@cairo:", CAIRO_FONT_SLANT_NORMAL,
		font == TB_FONT_BOLD ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
	cairo_set_font_size(cairo, size);
	cairo_text_extents(cairo, text, &extents);
	if (extents.x_advance > 0)
		cairo_scale(cairo, wanted / extents.x_advance, 1);
	cairo_set_source_rgb(cairo, 1, 1, 1);
	cairo_move_to(cairo, 0, made.ascent);
	cairo_show_text(cairo, text);
	cairo_destroy(cairo);
	cairo_surface_finish(surface);
	bool drawn = cairo_surface_status(surface) == CAIRO_STATUS_SUCCESS ||
		     cairo_surface_status(surface) == CAIRO_STATUS_SURFACE_FINISHED;
	cairo_surface_destroy(surface);
	if (!drawn) {
		free(made.pixels);
		return TB_ENOMEM;
	}
	// Cairo multiplies colours by their alpha; a texture does that when it is drawn.
	for (size_t i = 0; i < n; i++)
		made.pixels[i] |= 0xffffff;
	*line = made;
	return TB_OK;
}

void tb_builtin_text_fini(struct tb_builtin_text *line)
{
	free(line->pixels);
	*line = (struct tb_builtin_text){.pixels = NULL};
}
