// Raw JSON: a value as it stands in its file, and what is in it.
//
// Nothing is copied and nothing recursive: values nest as deep as they like. Texts are
// borrowed and not terminated. RFC 8259.
#ifndef TB_RAW_JSON_H
#define TB_RAW_JSON_H

#include "status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tb_raw {
	const char *data;
	size_t n;
};

// tb_raw_end returns where the value that begins at text[at] ends, or 0 if it goes
// on beyond the text. A number or word that reaches the end of the text goes on.
size_t tb_raw_end(struct tb_raw text, size_t at);

// tb_raw_blanks returns the place of the first byte from `at` on that is no blank.
size_t tb_raw_blanks(struct tb_raw text, size_t at);

// A walk through the members of an object, or the elements of an array.
struct tb_raw_walk {
	struct tb_raw text;
	size_t at;
	bool failed; // it is not well formed
};

// tb_raw_walk_begin begins at the first member; of a value that is neither object nor
// array there are none.
struct tb_raw_walk tb_raw_walk_begin(struct tb_raw value);

// tb_raw_walk_next stores the next member's key, without quotes (empty in arrays), and
// its value, and returns whether there was one.
bool tb_raw_walk_next(struct tb_raw_walk *walk, struct tb_raw *key, struct tb_raw *value);

// tb_raw_is returns whether a key, or what a string holds, is `word`.
bool tb_raw_is(struct tb_raw text, const char *word);

// tb_raw_string returns what a string holds, escapes untouched; of another value, the
// value.
struct tb_raw tb_raw_string(struct tb_raw value);

// These read a number, also one in quotes, and return whether it is one in range.
// tb_raw_micros reads microseconds with decimals, 0 or above, as nanoseconds.
bool tb_raw_count(struct tb_raw value, uint64_t *count);
bool tb_raw_micros(struct tb_raw value, uint64_t *ns);

#endif
