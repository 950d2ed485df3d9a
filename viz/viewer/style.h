// How everything is shown: the theme, the map of shades, and what numbers and shades are
// relative to. One style for all views, so that equal values look equal in each.
#ifndef TB_STYLE_H
#define TB_STYLE_H

#include "picture.h"
#include "scale.h"

struct tb_style {
	enum tb_theme theme;
	enum tb_colours colours;
	bool absolute;	  // numbers in their unit, not in percent of the largest
	bool logarithmic; // shades
};

// tb_style_type sets text in the theme's colour, left-aligned; `size` in pixels per em.
struct tb_type tb_style_type(
	const struct tb_style *style, enum tb_font font, double size, bool muted);

// tb_style_scale is the scale for values up to `largest`, tb_style_shade the shade of a
// percentage of it.
struct tb_scale tb_style_scale(
	const struct tb_style *style, enum tb_quantity quantity, double largest);
struct tb_colour tb_style_shade(const struct tb_style *style, double percent);

#endif
