#include "profile.h"

#include <stdlib.h>
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

// raw_blanks returns the place of the first byte from `at` on that is no blank.
static size_t raw_blanks(struct tb_raw text, size_t at)
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

static bool ends_word(char byte)
{
	return byte == ',' || byte == ':' || byte_is_blank(byte) ||
	       meaning[(uint8_t)byte] != OTHER;
}

// raw_end returns where the value that begins at text[at] ends, or 0 if it goes
// on beyond the text. A number or word that reaches the end of the text goes on.
static size_t raw_end(struct tb_raw text, size_t at)
{
	if (at >= text.n)
		return 0;
	uint8_t first = meaning[(uint8_t)text.data[at]];
	if (first == QUOTE)
		return string_end(text, at);
	if (first == OPENS) {
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
	size_t end = raw_end(walk->text, walk->at);
	if (end <= walk->at)
		return raw_walk_fail(walk);
	*value = (struct tb_raw){walk->text.data + walk->at, end - walk->at};
	walk->at = raw_blanks(walk->text, end);
	return true;
}

bool tb_raw_walk_next(struct tb_raw_walk *walk, struct tb_raw *key, struct tb_raw *value)
{
	struct tb_raw text = walk->text;
	walk->at = raw_blanks(text, walk->at);
	if (walk->at < text.n && text.data[walk->at] == ',')
		walk->at = raw_blanks(text, walk->at + 1);
	if (walk->at >= text.n || meaning[(uint8_t)text.data[walk->at]] == CLOSES)
		return false;
	*key = (struct tb_raw){"", 0};
	if (text.data[0] == '{') {
		if (!raw_walk_take(walk, key))
			return false;
		*key = tb_raw_string(*key);
		if (walk->at >= text.n || text.data[walk->at] != ':')
			return raw_walk_fail(walk);
		walk->at = raw_blanks(text, walk->at + 1);
	}
	return raw_walk_take(walk, value);
}

struct tb_raw tb_raw_find(struct tb_raw object, const char *name)
{
	struct tb_raw key, value;
	struct tb_raw_walk walk = tb_raw_walk_begin(object);
	while (tb_raw_walk_next(&walk, &key, &value))
		if (tb_raw_is(key, name))
			return value;
	return (struct tb_raw){"", 0};
}

// raw_exponent reads what follows the "e" of a number, if there is one, and cuts it off.
static bool raw_exponent(struct tb_raw *text, int *exponent)
{
	size_t n = 0;
	*exponent = 0;
	while (n < text->n && (text->data[n] | 0x20) != 'e')
		n++;
	size_t at = n + 1;
	bool has_sign = at < text->n && (text->data[at] == '-' || text->data[at] == '+');
	int sign = has_sign && text->data[at] == '-' ? -1 : 1;
	bool is = n == text->n || at + has_sign < text->n;
	for (at += has_sign; at < text->n; at++) {
		int digit = text->data[at] - '0';
		is = is && digit >= 0 && digit <= 9 && abs(*exponent) < 100;
		*exponent = is ? *exponent * 10 + sign * digit : 0;
	}
	text->n = n;
	return is;
}

// raw_scaled reads a number of 0 or more times 10^shift, cut to an integer below 2^64;
// `is_cut`: there was more.
static bool raw_scaled(struct tb_raw value, int shift, uint64_t *scaled, bool *is_cut)
{
	struct tb_raw text = tb_raw_string(value);
	uint64_t number = 0;
	int exponent;
	bool in_fraction = false;
	*is_cut = false;
	if (text.n == 0 || *text.data < '0' || *text.data > '9' ||
		!raw_exponent(&text, &exponent))
		return false;
	shift += exponent;
	for (size_t i = 0; i < text.n; i++) {
		unsigned digit = (unsigned)text.data[i] - '0';
		if (text.data[i] == '.' && !in_fraction) {
			in_fraction = true;
			continue;
		}
		if (digit > 9)
			return false;
		if (in_fraction && shift <= 0) {
			*is_cut = *is_cut || digit > 0;
			continue;
		}
		shift -= in_fraction;
		if (number > (UINT64_MAX - digit) / 10)
			return false;
		number = number * 10 + digit;
	}
	for (; shift > 0 && number > 0; shift--)
		if (__builtin_mul_overflow(number, 10, &number))
			return false;
	for (; shift < 0 && number > 0; shift++, number /= 10)
		*is_cut = *is_cut || number % 10 > 0;
	*scaled = number;
	return true;
}

bool tb_raw_count(struct tb_raw value, uint64_t *count)
{
	uint64_t number;
	bool is_cut;
	if (!raw_scaled(value, 0, &number, &is_cut) || is_cut)
		return false;
	*count = number;
	return true;
}

bool tb_raw_micros(struct tb_raw value, uint64_t *ns)
{
	uint64_t number;
	bool is_cut;
	// A duration is added to it.
	if (!raw_scaled(value, 3, &number, &is_cut) || number > UINT64_MAX / 4)
		return false;
	*ns = number;
	return true;
}

#define FIRST_ROOM ((size_t)1 << 20)

struct tb_json_items {
	FILE *stream;
	const char *name;
	char *buffer;
	size_t room, n, at;
	uint64_t offset; // of the buffer's first byte in the file
	bool ended;	 // the stream has no more
	bool begun, in_array, done;
	bool is_cut;
	char *key; // of the array
	size_t key_n, key_room;
};

int tb_json_items_new(struct tb_json_items **items, FILE *stream, const char *name,
	struct tb_error *error)
{
	struct tb_json_items *made = calloc(1, sizeof *made);
	char *buffer = malloc(FIRST_ROOM);
	if (!made || !buffer) {
		free(made);
		free(buffer);
		return tb_fail_memory_in(error, name, "it");
	}
	*made = (struct tb_json_items){
		.stream = stream, .name = name, .buffer = buffer, .room = FIRST_ROOM};
	*items = made;
	return TB_OK;
}

void tb_json_items_free(struct tb_json_items *items)
{
	if (!items)
		return;
	free(items->buffer);
	free(items->key);
	free(items);
}

bool tb_json_items_is_cut(const struct tb_json_items *items)
{
	return items->is_cut;
}

static int items_refuse(
	struct tb_json_items *items, struct tb_error *error, const char *expected)
{
	uint64_t offset = items->offset + items->at;
	items->is_cut = items->at >= items->n;
	if (items->is_cut)
		return tb_fail_at(error, TB_EFORMAT, items->name, TB_PLACE_OFFSET, offset,
			"ends here, where %s should stand: the file is not complete",
			expected);
	return tb_fail_at(error, TB_EFORMAT, items->name, TB_PLACE_OFFSET, offset,
		"is no JSON here: expected %s", expected);
}

// items_fill reads more behind what stands in the buffer, of which the bytes before `at`
// are no longer needed. When the stream has ended it does nothing.
static int items_fill(struct tb_json_items *items, struct tb_error *error)
{
	if (items->at > 0) {
		items->n -= items->at;
		memmove(items->buffer, items->buffer + items->at, items->n);
		items->offset += items->at;
		items->at = 0;
	}
	if (items->n == items->room) {
		if (items->room >= TB_JSON_ITEM_MAX)
			return tb_fail_at(error, TB_EFORMAT, items->name, TB_PLACE_OFFSET,
				items->offset,
				"has a value of more than %zu MiB, which is no event of "
				"a profile",
				TB_JSON_ITEM_MAX >> 20);
		char *grown = realloc(items->buffer, items->room * 2);
		if (!grown)
			return tb_fail_memory_in(
				error, items->name, "a value of %zu bytes", items->room);
		items->buffer = grown;
		items->room *= 2;
	}
	size_t n =
		fread(items->buffer + items->n, 1, items->room - items->n, items->stream);
	items->n += n;
	items->ended = n == 0;
	return TB_OK;
}

// see moves to the next byte that is no blank, and stores it; at the end it does not.
static int see(struct tb_json_items *items, char *byte, struct tb_error *error)
{
	for (;;) {
		struct tb_raw text = {items->buffer, items->n};
		items->at = raw_blanks(text, items->at);
		if (items->at < items->n) {
			*byte = items->buffer[items->at];
			return TB_OK;
		}
		if (items->ended)
			return TB_OK;
		int status = items_fill(items, error);
		if (status != TB_OK)
			return status;
	}
}

// items_take_value stores the value that begins at `at` and moves behind it. A value that
// is cut off by the end of the buffer is looked for anew in a fuller one: they are short.
static int items_take_value(
	struct tb_json_items *items, struct tb_raw *value, struct tb_error *error)
{
	for (;;) {
		struct tb_raw text = {items->buffer, items->n};
		size_t end = raw_end(text, items->at);
		if (end > items->at) {
			*value = (struct tb_raw){text.data + items->at, end - items->at};
			items->at = end;
			return TB_OK;
		}
		if (end != 0)
			return items_refuse(items, error, "a value");
		if (items->ended) {
			items->at = items->n;
			return items_refuse(items, error, "the rest of a value");
		}
		int status = items_fill(items, error);
		if (status != TB_OK)
			return status;
	}
}

static int items_expect(struct tb_json_items *items, char wanted, const char *expected,
	struct tb_error *error)
{
	char byte = 0;
	int status = see(items, &byte, error);
	if (status != TB_OK)
		return status;
	if (byte != wanted)
		return items_refuse(items, error, expected);
	items->at++;
	return TB_OK;
}

// items_take_key keeps a copy of the next member's key, since its value may move the
// buffer.
static int items_take_key(struct tb_json_items *items, struct tb_error *error)
{
	char byte = 0;
	struct tb_raw key;
	int status = see(items, &byte, error);
	if (status == TB_OK && byte != '"')
		return items_refuse(items, error, "the name of a member in quotes");
	if (status == TB_OK)
		status = items_take_value(items, &key, error);
	if (status != TB_OK)
		return status;
	key = tb_raw_string(key);
	if (key.n > items->key_room || !items->key) {
		char *grown = realloc(items->key, key.n + 1);
		if (!grown)
			return tb_fail_memory_in(error, items->name, "it");
		items->key = grown;
		items->key_room = key.n;
	}
	memcpy(items->key, key.data, key.n);
	items->key_n = key.n;
	return items_expect(items, ':', "a colon", error);
}

// take_comma passes the comma before what follows: 1 if something does, 0 if `closing`
// ends it.
static int take_comma(struct tb_json_items *items, char closing, struct tb_error *error)
{
	char byte = 0;
	int status = see(items, &byte, error);
	if (status == TB_OK && byte == ',') {
		items->at++;
		status = see(items, &byte, error);
	}
	if (status != TB_OK)
		return status;
	if (byte != closing)
		return 1;
	items->at++;
	return 0;
}

// items_enter moves to the next value: an element of the array, or a member of the
// outermost object. 1, or 0 at the end.
static int items_enter(struct tb_json_items *items, struct tb_error *error)
{
	for (;;) {
		int more = take_comma(items, items->in_array ? ']' : '}', error);
		if (more < 0 || (more && items->in_array))
			return more;
		if (!more && !items->in_array)
			return 0;
		items->in_array = false;
		if (!more)
			continue;
		char byte = 0;
		int status = items_take_key(items, error);
		if (status == TB_OK)
			status = see(items, &byte, error);
		if (status != TB_OK)
			return status;
		if (byte != '[')
			return 1;
		items->at++;
		items->in_array = true;
	}
}

int tb_json_items_next(
	struct tb_json_items *items, struct tb_json_item *item, struct tb_error *error)
{
	int status = TB_OK;
	if (items->done)
		return 0;
	if (!items->begun)
		status = items_expect(items, '{', "the outermost object, '{'", error);
	items->begun = true;
	if (status == TB_OK)
		status = items_enter(items, error);
	items->done = status == 0;
	if (status != 1)
		return status;
	struct tb_raw value;
	status = items_take_value(items, &value, error);
	if (status != TB_OK)
		return status;
	*item = (struct tb_json_item){.key = {items->key, items->key_n},
		.value = value,
		.offset = items->offset + (uint64_t)(value.data - items->buffer),
		.in_array = items->in_array};
	return 1;
}
