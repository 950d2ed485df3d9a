// A legend: a bar of shades with their values.
#ifndef TB_LEGEND_H
#define TB_LEGEND_H

#include "picture.h"
#include "scale.h"

struct tb_legend {
	enum tb_colours colours;
	enum tb_theme theme;
	enum tb_font font; // TB_FONT_CELL: for a terminal
	struct tb_scale scale;
};

// tb_legend_draw adds a bar of shades with the scale's ticks, in a box that is at least
// 60 wide and 26 high (2 characters in a terminal).
void tb_legend_draw(
	struct tb_picture *picture, struct tb_box box, const struct tb_legend *legend);

#endif
