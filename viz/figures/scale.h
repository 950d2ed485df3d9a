// Scales turn a value into a shade and a number: relative to the largest or in its own
// unit, linear or logarithmic.
//
// A relative scale writes percentages of `top`; an absolute one writes values, all in the
// unit in which `top` (or `unit_value`) has one to three digits before the point. A
// logarithmic scale spreads the shades over TB_SCALE_DECADES powers of ten below the top.
// Shades and legends of all views come from here, so equal values look equal.
#ifndef TB_SCALE_H
#define TB_SCALE_H

#include "picture.h"
#include "run.h"

#define TB_SCALE_DECADES    3
#define TB_SCALE_MOST_TICKS 5

enum tb_quantity {
	TB_QUANTITY_TIME,  // picoseconds
	TB_QUANTITY_BYTES, // written in powers of 1024
	TB_QUANTITY_COUNT,
	TB_QUANTITY_RATIO,
};

struct tb_scale {
	enum tb_quantity quantity;
	double top; // the value with the full shade; 0: all values have none
	// The value that decides the unit of an absolute scale, for scales of one picture
	// that share a unit; 0: the top.
	double unit_value;
	bool absolute, logarithmic;
};

enum tb_quantity tb_quantity_of(enum tb_metric metric);

// tb_scale_of makes a scale for values up to `largest`. An absolute one ends at the next
// round number, so it seldom changes while a window moves.
struct tb_scale tb_scale_of(
	enum tb_quantity quantity, double largest, bool absolute, bool logarithmic);

// tb_scale_percent returns the shade of a value, 0..100 for tb_shade; above 0 for every
// value above 0 while the top is.
double tb_scale_percent(const struct tb_scale *scale, double value);

// tb_scale_number writes a value for a cell, in three characters where possible ("0",
// "<1", "37", "4.5"); 16 bytes suffice.
char *tb_scale_number(
	const struct tb_scale *scale, double value, char *buffer, size_t size);

// tb_scale_unit returns the unit of the numbers: "%", "ms", "KiB", "" for plain counts.
const char *tb_scale_unit(const struct tb_scale *scale);

// tb_scale_ticks stores the values that a legend marks, rising, and returns their number.
int tb_scale_ticks(const struct tb_scale *scale, double values[TB_SCALE_MOST_TICKS]);

// tb_quantity_format writes a value for a sentence: "1.234 ms", "256 KiB", "17", "2.4
// times"; 48 bytes suffice.
char *tb_quantity_format(
	enum tb_quantity quantity, double value, char *buffer, size_t size);

// A legend: a bar of shades with their values.

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

// tb_unmeasured_draw draws a cell of which nothing was measured: hatched in grey, or all
// grey where it is too small for that.
void tb_unmeasured_draw(
	struct tb_picture *picture, struct tb_box box, enum tb_theme theme);

#endif
