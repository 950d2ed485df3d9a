// Recorded times against simulated ones, as a scatter with the diagonal: a point per kind
// of call (its median) and per rank (its time in calls), on logarithmic axes. What lies
// above the diagonal takes longer in the replay.
#ifndef TB_RECORDED_PICTURE_H
#define TB_RECORDED_PICTURE_H

#include "picture.h"
#include "recorded.h"

// tb_recorded_picture prepares it, `width` wide and as high; there is no picture, and the
// result is 0 items, of fewer than one point. TB_ENOMEM.
int tb_recorded_picture(struct tb_picture *picture, const struct tb_recorded *recorded,
	enum tb_theme theme, double width) TB_MUST_USE;

// tb_recorded_picture_svg makes it as one SVG element, malloc'ed; NULL when there are no
// points.
int tb_recorded_picture_svg(const struct tb_recorded *recorded, enum tb_theme theme,
	char **svg, struct tb_error *error) TB_MUST_USE;

#endif
