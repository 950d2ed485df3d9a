#include "units.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct unit_suffix {
	const char *name;
	double factor;
};

// parse_decimal reads a plain decimal number (no hex, no "inf") and points `rest` to the
// unit.
static int parse_decimal(const char *text, double *value, const char **rest)
{
	if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
		return TB_EUSAGE;
	if (!strchr("0123456789.", text[0]) || text[0] == '\0')
		return TB_EUSAGE; // signs, blanks, "inf" and "nan", which strtod accepts
	char *end;
	errno = 0;
	double parsed = strtod(text, &end);
	if (end == text || errno == ERANGE || !isfinite(parsed))
		return TB_EUSAGE;
	while (*end == ' ')
		end++;
	*value = parsed;
	*rest = end;
	return TB_OK;
}

static int parse_scaled(const char *text, const struct unit_suffix *units,
	int (*compare)(const char *, const char *), double limit, double *value)
{
	double amount;
	const char *rest;
	if (parse_decimal(text, &amount, &rest) != TB_OK)
		return TB_EUSAGE;
	for (const struct unit_suffix *unit = units; unit->name; unit++) {
		if (compare(rest, unit->name) != 0)
			continue;
		amount *= unit->factor;
		if (amount >= limit)
			return TB_EUSAGE;
		*value = amount;
		return TB_OK;
	}
	return TB_EUSAGE;
}

int tb_parse_size(const char *text, uint64_t *bytes)
{
	static const struct unit_suffix units[] = {{"", 1}, {"B", 1}, {"K", 1024},
		{"KB", 1024}, {"KiB", 1024}, {"M", 1048576}, {"MB", 1048576},
		{"MiB", 1048576}, {"G", 1073741824}, {"GB", 1073741824},
		{"GiB", 1073741824}, {NULL, 0}};
	double value;
	// Up to 2^53 a double holds every whole number of bytes.
	if (parse_scaled(text, units, strcasecmp, 9007199254740992.0, &value) != TB_OK ||
		value != floor(value))
		return TB_EUSAGE;
	*bytes = (uint64_t)value;
	return TB_OK;
}

int tb_parse_time(const char *text, tb_time_ps *time)
{
	static const struct unit_suffix units[] = {
		{"ps", 1}, {"ns", 1e3}, {"us", 1e6}, {"ms", 1e9}, {"s", 1e12}, {NULL, 0}};
	if (strcmp(text, "0") == 0) {
		*time = 0;
		return TB_OK;
	}
	double value;
	if (parse_scaled(text, units, strcasecmp, 9.2e18, &value) != TB_OK)
		return TB_EUSAGE;
	*time = (tb_time_ps)llround(value);
	return TB_OK;
}

int tb_parse_rate(const char *text, uint64_t *bytes_per_s)
{
	static const struct unit_suffix units[] = {{"B/s", 1}, {"KB/s", 1e3},
		{"MB/s", 1e6}, {"GB/s", 1e9}, {"bit/s", 1.0 / 8}, {"Kbit/s", 1e3 / 8},
		{"Mbit/s", 1e6 / 8}, {"Gbit/s", 1e9 / 8}, {NULL, 0}};
	// A small b is a bit, if only that is small: of 400gb/s nobody knows.
	static const struct unit_suffix bits[] = {{"b/s", 1.0 / 8}, {"Kb/s", 1e3 / 8},
		{"Mb/s", 1e6 / 8}, {"Gb/s", 1e9 / 8}, {"bps", 1.0 / 8}, {"Kbps", 1e3 / 8},
		{"Mbps", 1e6 / 8}, {"Gbps", 1e9 / 8}, {NULL, 0}};
	double value;
	int small = strstr(text, "b/s") || strstr(text, "bps");
	if (parse_scaled(text, small ? bits : units, small ? strcmp : strcasecmp, 1e15,
		    &value) != TB_OK ||
		value < 1)
		return TB_EUSAGE;
	*bytes_per_s = (uint64_t)llround(value);
	return TB_OK;
}

int tb_parse_count(const char *text, uint64_t min, uint64_t max, uint64_t *count)
{
	if (text[0] == '\0' || text[strspn(text, "0123456789")] != '\0')
		return TB_EUSAGE;
	errno = 0;
	unsigned long long value = strtoull(text, NULL, 10);
	if (errno == ERANGE || value < min || value > max)
		return TB_EUSAGE;
	*count = value;
	return TB_OK;
}

int tb_parse_real(const char *text, double min, double max, double *value)
{
	double parsed;
	const char *rest;
	if (parse_decimal(text, &parsed, &rest) != TB_OK || *rest != '\0')
		return TB_EUSAGE;
	if (parsed < min || parsed > max)
		return TB_EUSAGE;
	*value = parsed;
	return TB_OK;
}

// human_as picks the largest unit in which `model` rounds to at least 1.000.
static char *human_as(double value, double model, const struct unit_suffix *units,
	char *buffer, size_t size)
{
	const struct unit_suffix *unit = units;
	while (unit[1].name && fabs(model) >= unit[1].factor * 0.99995)
		unit++;
	double shown = value / unit->factor;
	int decimals = fabs(shown) >= 1000  ? 0
		       : fabs(shown) >= 100 ? 1
		       : fabs(shown) >= 10  ? 2
					    : 3;
	if (shown == floor(shown))
		decimals = 0;
	if (shown > 0 && shown < 0.0005) // only beside a far larger model
		snprintf(buffer, size, "<0.001 %s", unit->name);
	else
		snprintf(buffer, size, "%.*f %s", decimals, shown, unit->name);
	return buffer;
}

char *tb_format_time_as(tb_time_ps time, tb_time_ps model, char *buffer, size_t size)
{
	static const struct unit_suffix units[] = {
		{"ps", 1}, {"ns", 1e3}, {"us", 1e6}, {"ms", 1e9}, {"s", 1e12}, {NULL, 0}};
	return human_as((double)time, (double)model, units, buffer, size);
}

char *tb_format_time(tb_time_ps time, char *buffer, size_t size)
{
	return tb_format_time_as(time, time, buffer, size);
}

char *tb_format_size_as(uint64_t bytes, uint64_t model, char *buffer, size_t size)
{
	static const struct unit_suffix units[] = {{"B", 1}, {"KiB", 1024},
		{"MiB", 1048576}, {"GiB", 1073741824}, {"TiB", 1099511627776.0},
		{NULL, 0}};
	return human_as((double)bytes, (double)model, units, buffer, size);
}

char *tb_format_size(uint64_t bytes, char *buffer, size_t size)
{
	return tb_format_size_as(bytes, bytes, buffer, size);
}

char *tb_format_rate(double bytes_per_s, char *buffer, size_t size)
{
	static const struct unit_suffix units[] = {{"B/s", 1}, {"KB/s", 1e3},
		{"MB/s", 1e6}, {"GB/s", 1e9}, {"TB/s", 1e12}, {NULL, 0}};
	return human_as(bytes_per_s, bytes_per_s, units, buffer, size);
}

char *tb_format_percent(double percent, char *buffer, size_t size)
{
	char whole[32];
	if (percent < 999.5)
		snprintf(buffer, size, "%.3g %%", percent);
	else if (percent < 1e18)
		snprintf(buffer, size, "%s %%",
			tb_format_count((uint64_t)llround(percent), whole, sizeof whole));
	else
		snprintf(buffer, size, "%.3g %%", percent);
	return buffer;
}

char *tb_format_count(uint64_t count, char *buffer, size_t size)
{
	char digits[24];
	int n = snprintf(digits, sizeof digits, "%" PRIu64, count);
	size_t out = 0;
	for (int i = 0; i < n && out + 2 < size; i++) {
		if (i > 0 && (n - i) % 3 == 0)
			buffer[out++] = ',';
		buffer[out++] = digits[i];
	}
	buffer[out] = '\0';
	return buffer;
}

char *tb_format_counted(uint64_t count, const char *noun, char *buffer, size_t size)
{
	char number[32];
	size_t one = strcspn(noun, "|");
	const char *many = noun[one] ? noun + one + 1 : noun;
	tb_format_count(count, number, sizeof number);
	if (count == 1)
		snprintf(buffer, size, "%s %.*s", number, (int)one, noun);
	else
		snprintf(buffer, size, "%s %s%s", number, many, noun[one] ? "" : "s");
	return buffer;
}
