// Round values along an axis, and how they are written.
#ifndef TB_TICKS_H
#define TB_TICKS_H

#include <stdbool.h>
#include <stddef.h>

#define TB_TICKS_MOST 24

struct tb_ticks {
	double at[TB_TICKS_MOST]; // rising
	size_t n;
	double begin, end; // of the axis: round, and around all that is to be shown
	bool doubling;	   // each twice the one before, or a power of two times
};

// tb_tick_step is the round number, 1, 2 or 5 times a power of ten, nearest above the
// least, which is above 0.
double tb_tick_step(double least);

// tb_ticks_linear makes `wanted` ticks or fewer that reach around [least, most], and
// to 0 when that is as near as the most. tb_ticks_doubling wants both above 0.
struct tb_ticks tb_ticks_linear(double least, double most, size_t wanted);
struct tb_ticks tb_ticks_doubling(double least, double most, size_t wanted);

// tb_ticks_share is where a value lies on the axis, 0 to 1.
double tb_ticks_share(const struct tb_ticks *ticks, double value);

// tb_tick_text writes a tick's value; sizes in bytes as people type them: "256K". 24
// bytes suffice.
char *tb_tick_text(double value, bool of_bytes, char *buffer, size_t size);

#endif
