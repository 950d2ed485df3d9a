// Curves as a picture: axes with round ticks, a line and a marker per curve, and the 95 %
// interval of each point. Curves differ in hue (those of jobs; --colours viridis and
// greys have shades), in marker, and each second one is dashed, so a grey print, or two
// that lie on each other, can be told apart. What the runs' headings warn of stands
// below.
#ifndef TB_CURVES_PICTURE_H
#define TB_CURVES_PICTURE_H

#include "curves.h"
#include "picture.h"
#include "run.h"
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

// tb_curves_csv and tb_curves_json write the points. Write errors show in ferror(stream).
void tb_curves_csv(const struct tb_curves *curves, FILE *stream);
int tb_curves_json(const struct tb_curves *curves, FILE *stream) TB_MUST_USE;

// Sparklines: a link's metric over the whole run in a few pixels. A picture shows those
// that are there and notes which it wants; somebody reads these for the next picture.
// They are kept until the metric changes.

#define TB_SPARK_COLUMNS 40
#define TB_SPARK_SLOTS	 512
#define TB_SPARK_WANTED	 128 // of one picture

struct tb_spark {
	bool known;
	uint32_t picture; // the last that showed it
	struct tb_link link;
	uint64_t largest;
	uint64_t values[TB_SPARK_COLUMNS];
};

struct tb_sparks {
	enum tb_metric metric;
	uint32_t picture; // a number that grows
	struct tb_spark slots[TB_SPARK_SLOTS];
	struct tb_link wanted[TB_SPARK_WANTED]; // by this picture, and not there
	uint32_t n_wanted;
};

// tb_sparks_begin starts a picture; another metric drops all lines.
void tb_sparks_begin(struct tb_sparks *sparks, enum tb_metric metric);

// tb_spark_of returns a link's line, or notes that it is wanted and returns NULL. It
// lives until the next tb_sparks_keep.
const struct tb_spark *tb_spark_of(struct tb_sparks *sparks, struct tb_link link);

// tb_spark_read reads a link's line. It may run in another thread than the pictures'.
// Cost and errors as of tb_run_series; after a failure the line is flat.
int tb_spark_read(struct tb_spark *spark, struct tb_run *run, struct tb_link link,
	enum tb_metric metric, struct tb_error *error) TB_MUST_USE;

// tb_sparks_keep keeps a line of the metric that is shown, in place of one that no
// picture has shown for long.
void tb_sparks_keep(struct tb_sparks *sparks, const struct tb_spark *spark);

// tb_spark_draw draws bars up from the box's lower edge; `largest` has the full height.
void tb_spark_draw(struct tb_picture *picture, struct tb_box box,
	const struct tb_spark *spark, uint64_t largest, struct tb_colour colour);

#endif
