#include "instant.h"

#include "units.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define NS_PER_S	INT64_C(1000000000)
#define DIGITS_OF_NS	16 // seconds have fewer digits until the year 318,857,406
#define SECONDS_MAX	INT64_C(9000000000)
#define FRACTION_DIGITS 9

// read_digits reads a number of at most `most` digits and moves on behind it; false when
// there is none, or it is longer or too large.
static bool read_digits(const char **at, int most, int64_t *value)
{
	int n = 0;
	*value = 0;
	for (; isdigit((unsigned char)**at) && n < most; n++) {
		if (*value > (INT64_MAX - 9) / 10)
			return false;
		*value = *value * 10 + *(*at)++ - '0';
	}
	return n > 0 && !isdigit((unsigned char)**at);
}

// read_fraction reads what stands behind a decimal point, in nanoseconds; there may be
// none. Digits beyond nanoseconds are cut off.
static bool read_fraction(const char **at, int64_t *ns)
{
	int n = 0;
	*ns = 0;
	if (**at != '.')
		return true;
	for (++*at; isdigit((unsigned char)**at); n++, ++*at)
		if (n < FRACTION_DIGITS)
			*ns = *ns * 10 + **at - '0';
	for (int i = n; i < FRACTION_DIGITS; i++)
		*ns *= 10;
	return n > 0;
}

static bool parse_epoch(const char *text, int64_t *ns)
{
	int64_t whole, fraction;
	size_t n_digits = strspn(text, "0123456789");
	if (!read_digits(&text, 18 + 1, &whole) || whole < 0)
		return false;
	if (n_digits >= DIGITS_OF_NS && *text == '\0') {
		*ns = whole;
		return whole / NS_PER_S <= SECONDS_MAX;
	}
	if (!read_fraction(&text, &fraction) || *text || whole > SECONDS_MAX)
		return false;
	*ns = whole * NS_PER_S + fraction;
	return true;
}

// expect_digits reads one number of a date and the mark behind it.
static bool expect_digits(const char **at, int digits, const char *marks, int64_t *value)
{
	if (!read_digits(at, digits, value) || !**at || !strchr(marks, **at))
		return false;
	++*at;
	return true;
}

static bool parse_date(const char *text, int64_t *ns)
{
	int64_t year, month, day, hour, minute, second, fraction;
	if (!expect_digits(&text, 4, "-", &year) ||
		!expect_digits(&text, 2, "-", &month) ||
		!expect_digits(&text, 2, "T ", &day) ||
		!expect_digits(&text, 2, ":", &hour) ||
		!expect_digits(&text, 2, ":", &minute) ||
		!read_digits(&text, 2, &second) || !read_fraction(&text, &fraction))
		return false;
	if (*text == 'Z')
		text++;
	if (*text || year < 1970 || year > 2250 || month < 1 || month > 12 || day < 1 ||
		day > 31 || hour > 23 || minute > 59 || second > 60)
		return false;
	// Count the days of the Gregorian calendar: a year that begins in March
	// ends with the leap day, and months in pairs of 61 and 31 days make 153 days in
	// five.
	int64_t shifted = month < 3 ? year - 1 : year;
	int64_t of_year = (153 * (month + (month < 3 ? 9 : -3)) + 2) / 5 + day - 1;
	int64_t days = shifted * 365 + shifted / 4 - shifted / 100 + shifted / 400 +
		       of_year - 719468;
	*ns = ((days * 24 + hour) * 60 + minute) * 60 + second;
	*ns = *ns * NS_PER_S + fraction;
	return true;
}

int tb_instant_parse(const char *text, struct tb_instant *instant)
{
	tb_time_ps since;
	int64_t ns;
	// 0 needs no unit as a time; as an epoch it would be the year 1970.
	if (tb_parse_time(text, &since) == TB_OK)
		*instant = (struct tb_instant){TB_INSTANT_RELATIVE, since / TB_PS_PER_NS};
	else if (parse_epoch(text, &ns) || parse_date(text, &ns))
		*instant = (struct tb_instant){TB_INSTANT_ABSOLUTE, ns};
	else
		return TB_EUSAGE;
	return TB_OK;
}

int64_t tb_instant_at(
	const struct tb_instant *instant, int64_t first_ns, int64_t otherwise)
{
	switch (instant->kind) {
	case TB_INSTANT_NONE:
		return otherwise;
	case TB_INSTANT_ABSOLUTE:
		return instant->ns;
	case TB_INSTANT_RELATIVE:
		break;
	}
	return first_ns + instant->ns; // neither exceeds 9e18 / 2
}

char *tb_instant_format(int64_t ns, char *buffer, size_t size)
{
	struct tm date = {0};
	int64_t fraction = (ns % NS_PER_S + NS_PER_S) % NS_PER_S;
	time_t seconds = (time_t)(ns / NS_PER_S - (ns % NS_PER_S < 0));
	gmtime_r(&seconds, &date);
	size_t n = strftime(buffer, size, "%Y-%m-%dT%H:%M:%S", &date);
	snprintf(buffer + n, size - n, ".%09" PRId64, fraction);
	return buffer;
}
