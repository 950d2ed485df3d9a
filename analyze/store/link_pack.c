#include "link_pack.h"

#include <endian.h>
#include <stdio.h>
#include <string.h>

enum { DIGITS = 8 };
static const uint64_t below = 100000000; // numbers of so many digits

// eight_digits returns the digits of a number below 10^8, the first in the lowest byte:
// first in two halves, then in four and eight parts at once.
static inline uint64_t eight_digits(uint64_t value)
{
	uint64_t halves = value / 10000 | value % 10000 << 32;
	uint64_t hundreds = halves * 10486 >> 20 & UINT64_C(0x7f0000007f);
	uint64_t pairs = hundreds | (halves - 100 * hundreds) << 16;
	uint64_t tens = pairs * 103 >> 10 & UINT64_C(0xf000f000f000f);
	return tens | (pairs - 10 * tens) << 8;
}

static inline void put_eight(char *to, uint64_t digits)
{
	digits = htole64(digits | UINT64_C(0x3030303030303030));
	memcpy(to, &digits, sizeof digits);
}

// put_short writes a number of up to eight digits, and eight bytes at most.
static inline char *put_short(char *to, uint64_t value)
{
	if (value < 10) {
		*to = (char)('0' + value);
		return to + 1;
	}
	uint64_t digits = eight_digits(value);
	unsigned n_zeros = (unsigned)__builtin_ctzll(digits) / 8;
	put_eight(to, digits >> 8 * n_zeros);
	return to + DIGITS - n_zeros;
}

static char *put_long(char *to, uint64_t value)
{
	if (value >= below) {
		to = put_long(to, value / below);
		put_eight(to, eight_digits(value % below));
		return to + DIGITS;
	}
	return put_short(to, value);
}

static inline char *pack_put_number(char *to, uint64_t value)
{
	return value < below ? put_short(to, value) : put_long(to, value);
}

char *tb_row_pack_put(
	char *text, char *end, const uint64_t *numbers, int n_keys, int n_numbers)
{
	while (n_numbers > n_keys && numbers[n_numbers - 1] == 0)
		n_numbers--;
	*end = end == text ? '[' : ',';
	end[1] = '[';
	end = pack_put_number(end + 2, numbers[0]);
	for (int i = 1; i < n_numbers; i++) {
		*end++ = ',';
		end = pack_put_number(end, numbers[i]);
	}
	*end++ = ']';
	return end;
}

char *tb_row_pack_end(char *text, char *end)
{
	if (end != text)
		*end++ = ']';
	return end;
}

struct tb_row_pack tb_row_pack_open(const char *text, size_t n_bytes)
{
	return (struct tb_row_pack){.at = text, .end = text + n_bytes};
}

static bool pack_take(struct tb_row_pack *pack, char wanted)
{
	if (pack->at == pack->end || *pack->at != wanted)
		return false;
	pack->at++;
	return true;
}

// is_whole returns whether digits come to at most INT64_MAX, what a column may hold.
static bool is_whole(const char *at, const char *end)
{
	uint64_t sum = 0;
	for (; at < end; at++) {
		uint64_t digit = (uint64_t)(*at - '0');
		if (sum > ((uint64_t)INT64_MAX - digit) / 10)
			return false;
		sum = 10 * sum + digit;
	}
	return true;
}

// pack_take_number reads a number, of which few are so long that they might be too large.
static bool pack_take_number(struct tb_row_pack *pack, uint64_t *value)
{
	const char *at = pack->at, *end = pack->end;
	uint64_t sum = 0;
	unsigned digit;
	for (; at < end && (digit = (unsigned)*at - '0') <= 9; at++)
		sum = 10 * sum + digit;
	size_t n = (size_t)(at - pack->at);
	if (n > 18 && !is_whole(pack->at, at))
		return false;
	pack->at = at;
	*value = sum;
	return n > 0;
}

static bool pack_take_row(
	struct tb_row_pack *pack, uint64_t *numbers, int n_keys, int n_numbers)
{
	int n = 0;
	if (!pack_take(pack, '['))
		return false;
	do {
		if (n == n_numbers || !pack_take_number(pack, &numbers[n++]))
			return false;
		if (n == n_keys && pack->picks && numbers[n - 1] != pack->picked) {
			const char *end =
				memchr(pack->at, ']', (size_t)(pack->end - pack->at));
			pack->at = end ? end : pack->end;
		}
	} while (pack_take(pack, ','));
	bool whole = n >= n_keys;
	for (; n < n_numbers; n++)
		numbers[n] = 0;
	return whole && pack_take(pack, ']');
}

int tb_row_pack_next(
	struct tb_row_pack *pack, uint64_t *numbers, int n_keys, int n_numbers)
{
	if (pack->begun && pack_take(pack, ']'))
		return pack->at == pack->end ? 0 : TB_EFORMAT;
	if (!pack_take(pack, pack->begun ? ',' : '['))
		return TB_EFORMAT;
	pack->begun = true;
	return pack_take_row(pack, numbers, n_keys, n_numbers) ? 1 : TB_EFORMAT;
}

static char *pack_put_sample(char *text, char *end, const struct tb_link_sample *sample)
{
#define ROW(ID, field, ...) , sample->field
	uint64_t numbers[1 + TB_N_FIGURES] = {sample->link.id TB_LINK_FIGURES(ROW)};
#undef ROW
	return tb_row_pack_put(text, end, numbers, 1, 1 + TB_N_FIGURES);
}

size_t tb_link_pack_write(const struct tb_link_sample *samples, size_t n,
	char text[TB_PACK_MOST], size_t *n_bytes)
{
	char *end = text;
	size_t i = 0;
	uint32_t pack = samples[0].link.id / TB_PACK_LINKS;
	for (; i < n && samples[i].link.id / TB_PACK_LINKS == pack; i++)
		if (!tb_link_sample_empty(&samples[i]))
			end = pack_put_sample(text, end, &samples[i]);
	*n_bytes = (size_t)(tb_row_pack_end(text, end) - text);
	return i;
}

struct tb_link_pack tb_link_pack_open(uint64_t pack, const char *text, size_t n_bytes)
{
	struct tb_link_pack made = {.rows = tb_row_pack_open(text, n_bytes), .first = 1};
	if (pack <= TB_ID_NONE / TB_PACK_LINKS) {
		made.first = pack * TB_PACK_LINKS;
		made.last = made.first + TB_PACK_LINKS - 1;
	}
	return made;
}

int tb_link_pack_next(struct tb_link_pack *pack, struct tb_link_sample *sample)
{
	uint64_t numbers[1 + TB_N_FIGURES];
	int status = tb_row_pack_next(&pack->rows, numbers, 1, 1 + TB_N_FIGURES);
	if (status <= 0)
		return status;
	if (numbers[0] < pack->first || numbers[0] > pack->last)
		return TB_EFORMAT;
	pack->first = numbers[0] + 1;
	sample->link.id = (uint32_t)numbers[0];
	const uint64_t *number = numbers;
#define ROW(ID, field, ...) sample->field = *++number;
	TB_LINK_FIGURES(ROW)
#undef ROW
	return 1;
}

int tb_link_pack_find(
	struct tb_link_pack *pack, struct tb_link link, struct tb_link_sample *sample)
{
	struct tb_row_pack *rows = &pack->rows;
	char begin[16];
	size_t n = (size_t)snprintf(begin, sizeof begin, "[%u,", link.id);
	const char *found = memmem(rows->at, (size_t)(rows->end - rows->at), begin, n);
	if (!found)
		return 0;
	if (found == rows->at)
		return TB_EFORMAT; // a row stands behind a bracket or a comma
	rows->at = found - 1;
	rows->begun = *rows->at == ',';
	return tb_link_pack_next(pack, sample);
}
