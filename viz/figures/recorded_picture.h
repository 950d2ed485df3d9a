// Recorded times against simulated ones, as a scatter with the diagonal: a point per kind
// of call (its median) and per rank (its time in calls), on logarithmic axes. What lies
// above the diagonal takes longer in the replay.
#ifndef TB_RECORDED_PICTURE_H
#define TB_RECORDED_PICTURE_H

#include "picture.h"
#include "recorded.h"

// tb_recorded_scatter adds it to a picture, with its upper left corner at (x, y), and
// returns its height, which is about its width; 0 when there is no point to draw.
double tb_recorded_scatter(struct tb_picture *picture, const struct tb_recorded *recorded,
	enum tb_theme theme, struct tb_box place);

// tb_recorded_picture_svg makes it as one SVG element, malloc'ed; NULL when there are no
// points.
int tb_recorded_picture_svg(const struct tb_recorded *recorded, enum tb_theme theme,
	char **svg, struct tb_error *error) TB_MUST_USE;

#endif
