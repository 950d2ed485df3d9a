// Colours: perceptually uniform maps from a percentage to a shade, the palette of each
// theme, and a readable text colour for each shade.
//
// A map starts near the theme's background: more congestion is darker on the light theme
// (paper 000, figure 15) and brighter on the dark one. Luminance is strictly monotonic in
// the percentage, so the order survives grey prints and colour blindness. All shades of
// amounts, legends included, come from tb_shade.
#ifndef TB_COLOUR_H
#define TB_COLOUR_H

#include "status.h"

#include <stdbool.h>
#include <stddef.h>
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

// The colours of a theme, apart from shades.
struct tb_palette {
	struct tb_colour page;	 // behind everything
	struct tb_colour panel;	 // boxes on the page
	struct tb_colour raised; // buttons, tooltips, the row under the pointer
	struct tb_colour empty;	 // a cell whose value is 0
	struct tb_colour line;	 // frames and rules
	struct tb_colour text;
	struct tb_colour muted;	 // secondary text
	struct tb_colour accent; // the selection
	struct tb_colour second; // what the selection waited for
	struct tb_colour dead;	 // cables and switches: no shade has this hue
};

const struct tb_palette *tb_palette_of(enum tb_theme theme);

// tb_job_colour returns the colour of a job, the same in every view; jobs share colours
// from the seventeenth on. The eight hues are apart for colour-blind readers too (after
// Tol, "Colour schemes", SRON/EPS/TN/09-002, 2021); the second eight are the same,
// fainter. A number that is no job's (UINT32_MAX) is grey.
struct tb_colour tb_job_colour(enum tb_theme theme, uint32_t job);

// tb_shade returns the shade of a percentage, which it clips to 0..100.
struct tb_colour tb_shade(enum tb_colours colours, enum tb_theme theme, double percent);

// tb_shade_change returns the shade of a change in percent of the largest change, which
// it clips to -100..100: blue below 0, orange above, a pair that colour-blind readers can
// distinguish (Okabe and Ito, 2008). The further from 0, the further from the background.
struct tb_colour tb_shade_change(enum tb_theme theme, double percent);

// tb_colour_mix returns the colour a share of the way from one to another.
struct tb_colour tb_colour_mix(struct tb_colour from, struct tb_colour to, double share);

// tb_colour_luminance returns the relative luminance of WCAG 2.1, 0 (black) to 1 (white).
double tb_colour_luminance(struct tb_colour colour);

// tb_colour_contrast returns the contrast ratio of WCAG 2.1, 1 to 21.
double tb_colour_contrast(struct tb_colour one, struct tb_colour other);

// tb_colour_ink returns black or white, whichever has more contrast on `ground` (at least
// 4.5 to 1).
struct tb_colour tb_colour_ink(struct tb_colour ground);

// Names as users type them, by enum: "cividis", "viridis", "greys"; "light", "dark". NULL
// beyond the last.
const char *tb_colours_name(size_t colours);
const char *tb_theme_name(size_t theme);

// What a selection highlights, by id, in every view.

enum tb_mark {
	TB_MARK_NONE,
	TB_MARK_ON,    // belongs to the selection: a path, a node's links
	TB_MARK_OTHER, // belongs to the culprit of the selected wait
	TB_MARK_ROOT,  // is the root of a congestion tree
};

// Arrays of enum tb_mark by id; NULL arrays mark nothing.
struct tb_marks {
	uint8_t *links, *switches, *nodes;
	bool any;
};

static inline struct tb_colour tb_mark_colour(
	const struct tb_palette *palette, enum tb_mark mark)
{
	return mark == TB_MARK_OTHER ? palette->second : palette->accent;
}

#endif
