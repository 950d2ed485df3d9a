#include "ticks.h"

#include <math.h>
#include <stdio.h>

double tb_tick_step(double least)
{
	double power = pow(10, floor(log10(least)));
	static const double steps[] = {1, 2, 5};
	for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
		if (steps[i] * power >= least * (1 - 1e-9))
			return steps[i] * power;
	return 10 * power;
}

static size_t wanted_or_most(size_t wanted)
{
	return wanted < 2 ? 2 : wanted < TB_TICKS_MOST ? wanted : TB_TICKS_MOST;
}

struct tb_ticks tb_ticks_linear(double least, double most, size_t wanted)
{
	// Start at 0 when that at most doubles the range.
	if (least > 0 && least < most / 2)
		least = 0;
	if (most <= least)
		most = least + (least == 0 ? 1 : fabs(least));
	size_t n = wanted_or_most(wanted);
	double step = tb_tick_step((most - least) / (double)(n - 1));
	struct tb_ticks ticks = {.begin = floor(least / step + 1e-9) * step};
	// Rounding both ends to whole steps may add a tick.
	if (ceil((most - ticks.begin) / step - 1e-9) + 1 > (double)TB_TICKS_MOST) {
		step = tb_tick_step(step * 1.5);
		ticks.begin = floor(least / step + 1e-9) * step;
	}
	while (ticks.n < TB_TICKS_MOST) {
		double at = ticks.begin + (double)ticks.n * step;
		// Adding steps of 0.1 to -0.3 does not quite give 0.
		ticks.at[ticks.n++] = fabs(at) < step * 1e-6 ? 0 : at;
		if (at >= most - step * 1e-9)
			break;
	}
	ticks.end = ticks.at[ticks.n - 1];
	return ticks;
}

struct tb_ticks tb_ticks_doubling(double least, double most, size_t wanted)
{
	double first = floor(log2(least) + 1e-9), last = ceil(log2(most) - 1e-9);
	if (last <= first)
		last = first + 1;
	size_t n = wanted_or_most(wanted);
	double step = ceil((last - first) / (double)(n - 1));
	struct tb_ticks ticks = {
		.begin = exp2(first), .end = exp2(last), .doubling = true};
	for (double at = first; at <= last && ticks.n < TB_TICKS_MOST; at += step)
		ticks.at[ticks.n++] = exp2(at);
	return ticks;
}

double tb_ticks_share(const struct tb_ticks *ticks, double value)
{
	if (ticks->doubling)
		return log2(value / ticks->begin) / log2(ticks->end / ticks->begin);
	return (value - ticks->begin) / (ticks->end - ticks->begin);
}

char *tb_tick_text(double value, bool of_bytes, char *buffer, size_t size)
{
	static const char *const units[] = {"", "K", "M", "G", "T"};
	size_t unit = 0;
	while (of_bytes && value >= 1024 && unit < 4) {
		value /= 1024;
		unit++;
	}
	snprintf(buffer, size, "%.6g%s", value, units[unit]);
	return buffer;
}
