#include "scale.h"

#include <math.h>
#include <stdio.h>

enum tb_quantity tb_quantity_of(enum tb_metric metric)
{
	switch (metric) {
	case TB_BYTES:
		return TB_QUANTITY_BYTES;
	case TB_PACKETS:
	case TB_BLOCKED:
		return TB_QUANTITY_COUNT;
	case TB_WAIT:
	case TB_STALL:
	case TB_BUSY:
	case TB_LONGEST:
		break;
	}
	return TB_QUANTITY_TIME;
}

// round_up returns the next 1, 2 or 5 times a power of ten; for bytes the next power of
// two.
static double round_up(enum tb_quantity quantity, double value)
{
	static const double steps[] = {1, 2, 5};
	if (value <= 0)
		return 0;
	if (quantity == TB_QUANTITY_BYTES)
		return exp2(ceil(log2(value)));
	double power = pow(10, floor(log10(value)));
	for (size_t i = 0; i < 3; i++)
		if (steps[i] * power >= value * (1 - 1e-12))
			return steps[i] * power;
	return 10 * power;
}

struct tb_scale tb_scale_of(
	enum tb_quantity quantity, double largest, bool absolute, bool logarithmic)
{
	return (struct tb_scale){.quantity = quantity,
		.top = absolute ? round_up(quantity, largest) : largest,
		.absolute = absolute,
		.logarithmic = logarithmic};
}

double tb_scale_percent(const struct tb_scale *scale, double value)
{
	if (scale->top <= 0 || value <= 0)
		return 0;
	if (!scale->logarithmic)
		return 100.0 * value / scale->top;
	double share = 1 + log10(value / scale->top) / TB_SCALE_DECADES;
	return fmin(fmax(100 * share, 1), 100);
}

struct unit {
	double size;
	const char *name;
};

static struct unit unit_of(const struct tb_scale *scale)
{
	static const struct unit units[][5] = {
		[TB_QUANTITY_TIME] = {{1, "ps"}, {1e3, "ns"}, {1e6, "us"}, {1e9, "ms"},
			{1e12, "s"}},
		[TB_QUANTITY_BYTES] = {{1, "B"}, {0x1p10, "KiB"}, {0x1p20, "MiB"},
			{0x1p30, "GiB"}, {0x1p40, "TiB"}},
		[TB_QUANTITY_COUNT] = {{1, ""}, {1e3, "thousand"}, {1e6, "million"},
			{1e9, "billion"}, {1e12, "trillion"}},
		[TB_QUANTITY_RATIO] = {{1, "times"}, {INFINITY, ""}, {INFINITY, ""},
			{INFINITY, ""}, {INFINITY, ""}},
	};
	const struct unit *of = units[scale->quantity];
	double decides = scale->unit_value > 0 ? scale->unit_value : scale->top;
	size_t i = 0;
	while (i + 1 < 5 && decides >= of[i + 1].size)
		i++;
	return of[i];
}

char *tb_scale_number(
	const struct tb_scale *scale, double value, char *buffer, size_t size)
{
	double percent = scale->top > 0 ? 100.0 * value / scale->top : 0;
	double number = scale->absolute ? value / unit_of(scale).size : percent;
	bool whole = !scale->absolute ||
		     (scale->quantity == TB_QUANTITY_COUNT && unit_of(scale).size == 1);
	if (!scale->absolute && value > 0 && percent < 0.5)
		snprintf(buffer, size, "<1");
	else if (whole || number >= 9.95 || value <= 0)
		snprintf(buffer, size, "%.0f", number);
	else if (number < 0.05)
		snprintf(buffer, size, "<.1");
	else
		snprintf(buffer, size, "%.1f", number);
	return buffer;
}

const char *tb_scale_unit(const struct tb_scale *scale)
{
	return scale->absolute ? unit_of(scale).name : "%";
}

int tb_scale_ticks(const struct tb_scale *scale, double values[TB_SCALE_MOST_TICKS])
{
	if (scale->logarithmic) {
		for (int i = 0; i <= TB_SCALE_DECADES; i++)
			values[i] = scale->top * pow(10, i - TB_SCALE_DECADES);
		return TB_SCALE_DECADES + 1;
	}
	for (int i = 0; i < TB_SCALE_MOST_TICKS; i++)
		values[i] = scale->top * i / (TB_SCALE_MOST_TICKS - 1);
	return TB_SCALE_MOST_TICKS;
}

char *tb_quantity_format(
	enum tb_quantity quantity, double value, char *buffer, size_t size)
{
	switch (quantity) {
	case TB_QUANTITY_TIME:
		return tb_format_time((tb_time_ps)fmin(value, 9e18), buffer, size);
	case TB_QUANTITY_BYTES:
		return tb_format_size((uint64_t)fmin(value, 9e18), buffer, size);
	case TB_QUANTITY_COUNT:
		return tb_format_count((uint64_t)fmin(value, 9e18), buffer, size);
	case TB_QUANTITY_RATIO:
		snprintf(buffer, size, "%.3g times", value);
		break;
	}
	return buffer;
}
