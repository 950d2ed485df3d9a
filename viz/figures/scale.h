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
#include "waits.h"

#define TB_SCALE_DECADES    3
#define TB_SCALE_MOST_TICKS 5

enum tb_quantity {
	TB_QUANTITY_TIME,  // picoseconds
	TB_QUANTITY_BYTES, // written in powers of 1024
	TB_QUANTITY_COUNT,
	TB_QUANTITY_RATIO,
	TB_QUANTITY_PACKETS, // a mean number of them
	TB_QUANTITY_PERCENT,
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
// times", "3.1 packets"; 48 bytes suffice.
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

// Text for a run and a window of its time, for titles and tooltips.

// tb_window_whole is true when a window is the whole run.
bool tb_window_whole(const struct tb_run_info *info, struct tb_window window);

// tb_window_begin_ps and tb_window_end_ps return the ends of a window. The last bin ends
// with the run.
tb_time_ps tb_window_begin_ps(const struct tb_run_info *info, struct tb_window window);
tb_time_ps tb_window_end_ps(const struct tb_run_info *info, struct tb_window window);

// tb_window_between finds the window of whole bins that covers [from, to). TB_EUSAGE when
// it is empty or begins after the run's end.
int tb_window_between(const struct tb_run_info *info, tb_time_ps from, tb_time_ps to,
	struct tb_window *window, struct tb_error *error) TB_MUST_USE;

// tb_window_text writes "0 to 1.234 ms (whole run)"; 80 bytes suffice.
char *tb_window_text(const struct tb_run_info *info, struct tb_window window,
	char *buffer, size_t size);

// tb_span_text writes "4 us to 8 us", or "the whole run"; 64 bytes suffice.
char *tb_span_text(struct tb_span span, char *buffer, size_t size);

// tb_run_input_text writes a short name of an input (tb_run_info): the base name of its
// first file, and how many more files there are. 96 bytes suffice.
char *tb_run_input_text(const char *input, char *buffer, size_t size);

// tb_run_pair_text writes the two ends of a flow for a place `width` wide: "n7 > n9", by
// labels where there is room for names, else by numbers. 160 bytes suffice.
#define TB_PAIR_NAMES_W 190 // they may be cut at their beginnings (tb_picture_name)
char *tb_run_pair_text(const struct tb_run *run, struct tb_node source,
	struct tb_node destination, double width, char *buffer, size_t size);

// tb_run_caption describes a run: "bitrev.goal on qsnet, 64 nodes"; of a capture with its
// time scale and the idle time taken out. 256 bytes suffice.
char *tb_run_caption(const struct tb_run_info *info, char *buffer, size_t size);
char *tb_run_caption_with(const struct tb_run_info *info, const char *caution,
	char *buffer, size_t size); // instead of the run's own caution

// Text for metrics: values with units, titles, explanations.

// The sign of what became less.
#define TB_MINUS "\xe2\x88\x92"

// tb_metric_format writes a value with its unit ("1.234 ms", "256 KiB", "17 headers");
// 48 bytes suffice. Returns buffer.
char *tb_metric_format(enum tb_metric metric, uint64_t value, char *buffer, size_t size);

#define TB_METRIC_TEXT(metric, value) tb_metric_format(metric, value, (char[48]){0}, 48)

// tb_metric_format_as writes it in the unit that `model` would get: all numbers of one
// picture share a unit.
char *tb_metric_format_as(
	enum tb_metric metric, uint64_t value, uint64_t model, char *buffer, size_t size);

// tb_metric_unit returns the unit in exports: "ps", "bytes", "packets", "headers".
const char *tb_metric_unit(enum tb_metric metric);

// tb_metric_title returns a heading: "Wait", "Blocked headers", "Longest wait".
const char *tb_metric_title(enum tb_metric metric);

// tb_metric_meaning writes one line that explains what is counted, in the words of the
// run's switching; 96 bytes suffice. Returns buffer.
char *tb_metric_meaning(enum tb_metric metric, const struct tb_switching_words *switching,
	char *buffer, size_t size);

#endif
