// Curves as a picture: axes with round ticks, a line and a marker per curve, and the 95 %
// interval of each point. Curves differ in shade and in marker, so a grey print still
// tells them apart.
#ifndef TB_CURVES_PICTURE_H
#define TB_CURVES_PICTURE_H

#include "curves.h"
#include "picture.h"
#include "ticks.h"

struct tb_curves_figure {
	const struct tb_curves *curves;
	enum tb_colours colours;
	enum tb_theme theme;
};

// tb_curves_picture prepares it for a screen or paper. TB_ENOMEM.
int tb_curves_picture(
	struct tb_picture *picture, const struct tb_curves_figure *figure) TB_MUST_USE;

// tb_curves_picture_text prepares it for a terminal of `columns` columns, at least 40,
// with a letter per curve. TB_ENOMEM.
int tb_curves_picture_text(struct tb_picture *picture,
	const struct tb_curves_figure *figure, uint32_t columns) TB_MUST_USE;

// tb_curves_ticks returns about `wanted` ticks for an axis.
struct tb_ticks tb_curves_ticks(const struct tb_curve_axis *axis, size_t wanted);

// tb_curves_axis_text writes "Offered bandwidth per node, MB/s"; 128 bytes suffice.
char *tb_curves_axis_text(const struct tb_curve_axis *axis, char *buffer, size_t size);

// tb_curves_csv and tb_curves_json write the points. Write errors show in ferror(stream).
void tb_curves_csv(const struct tb_curves *curves, FILE *stream);
int tb_curves_json(const struct tb_curves *curves, FILE *stream) TB_MUST_USE;

#endif
