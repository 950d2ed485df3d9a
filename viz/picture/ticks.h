// Round values along an axis, and their text.
#ifndef TB_TICKS_H
#define TB_TICKS_H

#include <stdbool.h>
#include <stddef.h>

#define TB_TICKS_MOST 24

struct tb_ticks {
	double at[TB_TICKS_MOST]; // rising
	size_t n;
	double begin, end; // of the axis: those of the values
	bool doubling;	   // each tick is a power of two times the one before
};

// tb_tick_step returns the smallest 1, 2 or 5 times a power of ten that is not below
// `least`, which must be above 0.
double tb_tick_step(double least);

// tb_tick_time_step is the same of times in ps, which from a minute on count minutes,
// hours and days.
double tb_tick_time_step(double least_ps);

// tb_ticks_linear makes an axis from least to most and about `wanted` round ticks on it,
// at least 2. tb_ticks_doubling makes powers of two, or, where two do not lie between
// them, the ends themselves; both must be above 0. A range without extent is doubled.
// tb_ticks_times makes an axis of times in ps.
struct tb_ticks tb_ticks_linear(double least, double most, size_t wanted);
struct tb_ticks tb_ticks_times(double least_ps, double most_ps, size_t wanted);
struct tb_ticks tb_ticks_doubling(double least, double most, size_t wanted);

// tb_ticks_share returns where a value lies on the axis, 0 to 1.
double tb_ticks_share(const struct tb_ticks *ticks, double value);

// tb_tick_text writes a tick's value, small powers of two as "1/2048"; with `of_bytes` as
// users type sizes: "256K". 24 bytes suffice. Returns buffer.
char *tb_tick_text(double value, bool of_bytes, char *buffer, size_t size);

// tb_tick_time writes a time in the unit in which ticks `step_ps` apart have few digits,
// so that all ticks of an axis share it: "1.2 ms". 24 bytes suffice. Returns buffer.
char *tb_tick_time(double at_ps, double step_ps, char *buffer, size_t size);

#endif
