// Units: simulated time in integer picoseconds, sizes in bytes, rates in bytes per
// second; and how to parse and format them.
//
// Prefixes of rates and times are decimal (1 MB/s = 10^6 B/s). In sizes K, M and G are
// powers of 1024, as in the papers' message sizes (256 KB = 262,144 B).
#ifndef TB_UNITS_H
#define TB_UNITS_H

#include "status.h"

#include <stddef.h>

typedef int64_t tb_time_ps; // a point in time or a duration, in ps; up to 106 days

#define TB_PS_PER_NS  INT64_C(1000)
#define TB_PS_PER_US  INT64_C(1000000)
#define TB_PS_PER_MS  INT64_C(1000000000)
#define TB_PS_PER_S   INT64_C(1000000000000)
#define TB_TIME_NEVER INT64_MAX

// tb_time_later and tb_time_earlier return the later and the earlier of two times.
static inline tb_time_ps tb_time_later(tb_time_ps a, tb_time_ps b)
{
	return a > b ? a : b;
}

static inline tb_time_ps tb_time_earlier(tb_time_ps a, tb_time_ps b)
{
	return a < b ? a : b;
}

// tb_parse_size reads "320", "256K", "1M", "2G" (also KiB, KB, B; powers of 1024) into
// bytes.
int tb_parse_size(const char *text, uint64_t *bytes) TB_MUST_USE;

// tb_parse_time reads "10us", "1.5ms", "2s", "500ns", "70ps"; a unit is required unless
// the number is 0. Negative or overflowing times are refused with TB_EUSAGE.
int tb_parse_time(const char *text, tb_time_ps *time) TB_MUST_USE;

// tb_parse_rate reads "400MB/s", "10Gbit/s", "10Gb/s", "10Gbps" into bytes per second (at
// least 1).
int tb_parse_rate(const char *text, uint64_t *bytes_per_s) TB_MUST_USE;

// How to write one, for messages.
#define TB_RATE_HINT "write 10Mbit/s or 1.25MB/s"

// tb_parse_count reads a whole number, base 10, in [min, max].
int tb_parse_count(
	const char *text, uint64_t min, uint64_t max, uint64_t *count) TB_MUST_USE;

// tb_parse_real reads a finite decimal number in [min, max].
int tb_parse_real(const char *text, double min, double max, double *value) TB_MUST_USE;

// These format for people, with four significant digits and a unit: "1.234 ms", "256
// KiB", "338.6 MB/s". They terminate and return buffer; 24 bytes suffice.
char *tb_format_time(tb_time_ps time, char *buffer, size_t size);
char *tb_format_size(uint64_t bytes, char *buffer, size_t size);
char *tb_format_rate(double bytes_per_s, char *buffer, size_t size);

// These write a value in the unit that `model` would get, so that all numbers of one
// picture have the same: "0.870 ms" or "3401 us"; "<0.001 ms" for what is too small.
char *tb_format_time_as(tb_time_ps time, tb_time_ps model, char *buffer, size_t size);
char *tb_format_size_as(uint64_t bytes, uint64_t model, char *buffer, size_t size);

// tb_format_percent writes "12.3 %", "0.000136 %", "2,664 %": three significant digits
// below 1000, whole numbers above; 40 bytes suffice.
char *tb_format_percent(double percent, char *buffer, size_t size);

// tb_format_count writes 1234567 as "1,234,567"; 32 bytes suffice.
char *tb_format_count(uint64_t count, char *buffer, size_t size);

// tb_format_counted writes "1 packet" or "1,234 packets". Where the plural takes more
// than an s, `noun` holds both forms: "switch|switches". 32 bytes beyond the noun
// suffice.
char *tb_format_counted(uint64_t count, const char *noun, char *buffer, size_t size);

// The same into memory of the block in which they stand.
#define TB_TIME_TEXT(time)	     tb_format_time(time, (char[24]){0}, 24)
#define TB_SIZE_TEXT(bytes)	     tb_format_size(bytes, (char[24]){0}, 24)
#define TB_COUNT_TEXT(count)	     tb_format_count(count, (char[32]){0}, 32)
#define TB_COUNTED_TEXT(count, noun) tb_format_counted(count, noun, (char[64]){0}, 64)

#endif
