// Colours: perceptually even maps from a percentage to a shade, the palette of a theme,
// and which ink can be read on a shade.
//
// A map runs from the theme's background outwards: on the light theme the more congested
// is the darker (paper 000, figure 15), on the dark theme the brighter. Luminance is
// strictly monotonic in the percentage, so a grey print and a colour-blind eye read the
// same order. Everything that is shaded and every legend goes through tb_shade.
#ifndef TB_COLOUR_H
#define TB_COLOUR_H

#include "status.h"

#include <stdint.h>

struct tb_colour {
	uint8_t r, g, b, a; // sRGB, a 255 is opaque
};

enum tb_colours {
	TB_CIVIDIS, // Nunez, Anderton and Renslow, PLoS ONE 13(7), 2018
	TB_VIRIDIS, // van der Walt and Smith, SciPy 2015
	TB_GREYS
};

enum tb_theme { TB_LIGHT, TB_DARK };

// What a theme paints everything but shades with.
struct tb_palette {
	struct tb_colour page;	 // behind everything
	struct tb_colour panel;	 // boxes on the page
	struct tb_colour raised; // buttons, tooltips, the row under the pointer
	struct tb_colour empty;	 // a cell in which nothing was counted
	struct tb_colour line;	 // frames and rules
	struct tb_colour text;
	struct tb_colour muted;	 // secondary text
	struct tb_colour accent; // the selection
	struct tb_colour second; // what the selection is set against
};

const struct tb_palette *tb_palette_of(enum tb_theme theme);

// tb_shade gives the shade of a percentage, clipped to 0..100.
struct tb_colour tb_shade(enum tb_colours colours, enum tb_theme theme, double percent);

// tb_shade_change gives the shade of a change in percent of the largest: blue for what is
// less (down to -100), orange for what is more (up to 100), which colour-blind eyes tell
// apart (Okabe and Ito, 2008); the farther from 0, the farther from the theme's ground.
struct tb_colour tb_shade_change(enum tb_theme theme, double percent);

// tb_colour_luminance is the relative luminance of WCAG 2.1, 0 (black) to 1 (white).
double tb_colour_luminance(struct tb_colour colour);

// tb_colour_contrast is the contrast ratio of WCAG 2.1, 1 to 21.
double tb_colour_contrast(struct tb_colour one, struct tb_colour other);

// tb_colour_ink is black or white, whichever reads better on `ground` (at least
// 4.5 to 1).
struct tb_colour tb_colour_ink(struct tb_colour ground);

// Names as typed: "cividis", "viridis", "greys"; "light", "dark". TB_EUSAGE when unknown.
const char *tb_colours_name(enum tb_colours colours);
int tb_colours_parse(const char *name, enum tb_colours *colours) TB_MUST_USE;
int tb_theme_parse(const char *name, enum tb_theme *theme) TB_MUST_USE;

#endif
