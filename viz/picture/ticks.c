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

#define MINUTE 60e12
#define HOUR   (60 * MINUTE)
#define DAY    (24 * HOUR)

double tb_tick_time_step(double least_ps)
{
	static const double steps[] = {MINUTE, 2 * MINUTE, 5 * MINUTE, 10 * MINUTE,
		30 * MINUTE, HOUR, 2 * HOUR, 6 * HOUR, 12 * HOUR};
	if (tb_tick_step(least_ps) < MINUTE)
		return tb_tick_step(least_ps);
	for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
		if (steps[i] >= least_ps * (1 - 1e-9))
			return steps[i];
	return DAY * fmax(tb_tick_step(least_ps / DAY), 1);
}

static size_t wanted_or_most(size_t wanted)
{
	return wanted < 2 ? 2 : wanted < TB_TICKS_MOST ? wanted : TB_TICKS_MOST;
}

// round_values fills in the multiples of `step` from begin to end.
static void round_values(struct tb_ticks *ticks, double step)
{
	double first = ceil(ticks->begin / step - 1e-9);
	for (ticks->n = 0; ticks->n < TB_TICKS_MOST; ticks->n++) {
		double at = (first + (double)ticks->n) * step;
		if (at > ticks->end + step * 1e-9)
			break;
		ticks->at[ticks->n] = at;
	}
}

static struct tb_ticks ticks_of(
	double least, double most, size_t wanted, double (*step_of)(double))
{
	if (most <= least)
		most = least + (least == 0 ? 1 : fabs(least));
	struct tb_ticks ticks = {.begin = least, .end = most};
	double step = (most - least) / (double)(wanted_or_most(wanted) - 1);
	// A coarse step may miss a range that begins and ends between its multiples.
	do {
		round_values(&ticks, step_of(step));
		step /= 2;
	} while (ticks.n < 2);
	return ticks;
}

struct tb_ticks tb_ticks_linear(double least, double most, size_t wanted)
{
	return ticks_of(least, most, wanted, tb_tick_step);
}

struct tb_ticks tb_ticks_times(double least_ps, double most_ps, size_t wanted)
{
	return ticks_of(least_ps, most_ps, wanted, tb_tick_time_step);
}

struct tb_ticks tb_ticks_doubling(double least, double most, size_t wanted)
{
	if (most <= least)
		most = 2 * least;
	struct tb_ticks ticks = {.begin = least, .end = most, .doubling = true};
	double first = ceil(log2(least) - 1e-9), last = floor(log2(most) + 1e-9);
	double step = ceil((last - first) / (double)(wanted_or_most(wanted) - 1));
	for (double at = first; at <= last && ticks.n < TB_TICKS_MOST;
		at += fmax(step, 1))
		ticks.at[ticks.n++] = exp2(at);
	if (ticks.n < 2) { // no two powers of two between the ends
		ticks.at[0] = least;
		ticks.at[1] = most;
		ticks.n = 2;
	}
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
	// Small powers of two, of doubling axes, have more digits than an axis has room
	// for.
	int power;
	if (value > 0 && value < .1 && frexp(value, &power) == .5 && power > -30)
		snprintf(buffer, size, "1/%.0f", 1 / value);
	else
		snprintf(buffer, size, "%.6g%s", value, units[unit]);
	return buffer;
}

char *tb_tick_time(double at_ps, double step_ps, char *buffer, size_t size)
{
	static const struct {
		double ps;
		const char *name;
	} units[] = {{1, "ps"}, {1e3, "ns"}, {1e6, "us"}, {1e9, "ms"}, {1e12, "s"},
		{MINUTE, "min"}, {HOUR, "h"}, {DAY, "d"}};
	size_t i = 0;
	// Minutes, hours and days have no decimals that are round.
	while (i + 1 < sizeof units / sizeof *units &&
		step_ps * (units[i + 1].ps < MINUTE ? 10 : 1) >= units[i + 1].ps)
		i++;
	snprintf(buffer, size, at_ps == 0 ? "0" : "%.6g %s", at_ps / units[i].ps,
		units[i].name);
	return buffer;
}
