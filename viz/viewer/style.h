// The style of all views: theme, colour map, and the scale of numbers and shades. There
// is one for all, so equal values look equal in each view.
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

// tb_style_type returns left-aligned text in a colour of the theme; `size` in pixels per
// em.
struct tb_type tb_style_type(
	const struct tb_style *style, enum tb_font font, double size, bool muted);

// tb_style_scale returns the scale for values up to `largest`, tb_style_shade the shade
// of a percentage.
struct tb_scale tb_style_scale(
	const struct tb_style *style, enum tb_quantity quantity, double largest);
struct tb_colour tb_style_shade(const struct tb_style *style, double percent);

#endif
