// Sparklines: a link's metric over the whole run in a few pixels. They are read when
// first drawn, a few per picture, and kept until the metric changes.
#ifndef TB_SPARK_H
#define TB_SPARK_H

#include "picture.h"
#include "run.h"

#define TB_SPARK_COLUMNS 40
#define TB_SPARK_SLOTS	 512
#define TB_SPARK_LOOKS	 2048 // into the store per picture: about 4 ms

struct tb_spark {
	bool known;
	struct tb_link link;
	uint64_t largest;
	uint64_t values[TB_SPARK_COLUMNS];
};

struct tb_sparks {
	enum tb_metric metric;
	uint64_t looks_left; // in this picture
	bool wanting;	     // some are not read yet: the next picture shows more
	struct tb_spark slots[TB_SPARK_SLOTS];
};

// tb_sparks_begin starts a picture; another metric drops all lines.
void tb_sparks_begin(struct tb_sparks *sparks, enum tb_metric metric);

// tb_spark_of returns a link's line, or NULL when it is not read yet or cannot be read.
// It lives until the next call.
const struct tb_spark *tb_spark_of(
	struct tb_sparks *sparks, struct tb_run *run, struct tb_link link);

// tb_spark_draw draws bars up from the box's lower edge; `largest` has the full height.
void tb_spark_draw(struct tb_picture *picture, struct tb_box box,
	const struct tb_spark *spark, uint64_t largest, struct tb_colour colour);

#endif
