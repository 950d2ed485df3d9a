#include "profile.h"

#include <string.h>

// What a byte outside of strings means for where a value ends.
enum { OTHER, QUOTE, OPENS, CLOSES };
static const uint8_t meaning[256] = {
	['"'] = QUOTE,
	['{'] = OPENS,
	['['] = OPENS,
	['}'] = CLOSES,
	[']'] = CLOSES,
};

static bool byte_is_blank(char byte)
{
	return byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r';
}

size_t tb_raw_blanks(struct tb_raw text, size_t at)
{
	while (at < text.n && byte_is_blank(text.data[at]))
		at++;
	return at;
}

// string_end returns where the string whose quote is at text[at] ends, or 0. Most strings
// have no backslash.
static size_t string_end(struct tb_raw text, size_t at)
{
	at++;
	if (at >= text.n)
		return 0;
	const char *begin = text.data + at, *quote = memchr(begin, '"', text.n - at);
	size_t n = quote ? (size_t)(quote - begin) : text.n - at;
	const char *escape = memchr(begin, '\\', n);
	if (!escape)
		return quote ? at + n + 1 : 0;
	for (at += (size_t)(escape - begin); at < text.n; at++) {
		if (text.data[at] == '"')
			return at + 1;
		if (text.data[at] == '\\')
			at++;
	}
	return 0;
}

static size_t nested_end(struct tb_raw text, size_t at)
{
	size_t depth = 0;
	while (at < text.n) {
		switch (meaning[(uint8_t)text.data[at]]) {
		case QUOTE:
			at = string_end(text, at);
			if (at == 0)
				return 0;
			continue;
		case OPENS:
			depth++;
			break;
		case CLOSES:
			if (--depth == 0)
				return at + 1;
			break;
		default:
			break;
		}
		at++;
	}
	return 0;
}

static bool ends_word(char byte)
{
	return byte == ',' || byte == ':' || byte_is_blank(byte) ||
	       meaning[(uint8_t)byte] != OTHER;
}

size_t tb_raw_end(struct tb_raw text, size_t at)
{
	if (at >= text.n)
		return 0;
	uint8_t first = meaning[(uint8_t)text.data[at]];
	if (first == QUOTE)
		return string_end(text, at);
	if (first == OPENS)
		return nested_end(text, at);
	while (at < text.n && !ends_word(text.data[at]))
		at++;
	return at < text.n ? at : 0;
}

struct tb_raw_walk tb_raw_walk_begin(struct tb_raw value)
{
	struct tb_raw_walk walk = {.text = value, .at = value.n};
	if (value.n >= 2 && meaning[(uint8_t)value.data[0]] == OPENS)
		walk.at = 1;
	return walk;
}

static bool raw_walk_fail(struct tb_raw_walk *walk)
{
	walk->failed = true;
	walk->at = walk->text.n;
	return false;
}

static bool raw_walk_take(struct tb_raw_walk *walk, struct tb_raw *value)
{
	size_t end = tb_raw_end(walk->text, walk->at);
	if (end <= walk->at)
		return raw_walk_fail(walk);
	*value = (struct tb_raw){walk->text.data + walk->at, end - walk->at};
	walk->at = tb_raw_blanks(walk->text, end);
	return true;
}

bool tb_raw_walk_next(struct tb_raw_walk *walk, struct tb_raw *key, struct tb_raw *value)
{
	struct tb_raw text = walk->text;
	walk->at = tb_raw_blanks(text, walk->at);
	if (walk->at < text.n && text.data[walk->at] == ',')
		walk->at = tb_raw_blanks(text, walk->at + 1);
	if (walk->at >= text.n || meaning[(uint8_t)text.data[walk->at]] == CLOSES)
		return false;
	*key = (struct tb_raw){"", 0};
	if (text.data[0] == '{') {
		if (!raw_walk_take(walk, key))
			return false;
		*key = tb_raw_string(*key);
		if (walk->at >= text.n || text.data[walk->at] != ':')
			return raw_walk_fail(walk);
		walk->at = tb_raw_blanks(text, walk->at + 1);
	}
	return raw_walk_take(walk, value);
}

// take_digits reads digits as a number and moves behind them; false beyond 2^64 - 1.
static bool take_digits(struct tb_raw *text, uint64_t *number)
{
	*number = 0;
	for (; text->n > 0 && *text->data >= '0' && *text->data <= '9';
		text->data++, text->n--) {
		uint64_t digit = (uint64_t)(*text->data - '0');
		if (*number > (UINT64_MAX - digit) / 10)
			return false;
		*number = *number * 10 + digit;
	}
	return true;
}

bool tb_raw_count(struct tb_raw value, uint64_t *count)
{
	struct tb_raw text = tb_raw_string(value);
	uint64_t number;
	if (text.n == 0 || !take_digits(&text, &number) || text.n > 0)
		return false;
	*count = number;
	return true;
}

bool tb_raw_micros(struct tb_raw value, uint64_t *ns)
{
	struct tb_raw text = tb_raw_string(value);
	uint64_t whole;
	size_t n = text.n;
	if (!take_digits(&text, &whole) || text.n == n || whole > UINT64_MAX / 4000)
		return false;
	uint64_t nanoseconds = whole * 1000, unit = 100;
	if (text.n > 0 && *text.data == '.') {
		for (text.data++, text.n--;
			text.n > 0 && *text.data >= '0' && *text.data <= '9';
			text.data++, text.n--, unit /= 10)
			nanoseconds += (uint64_t)(*text.data - '0') * unit;
	}
	if (text.n > 0)
		return false;
	*ns = nanoseconds;
	return true;
}
