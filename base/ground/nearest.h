// Finds the known name that a mistyped one stands for, and words the hint for a message.
#ifndef TB_NEAREST_H
#define TB_NEAREST_H

#include <stddef.h>

// tb_nearest returns the index, among `n` names, of the name with the smallest distance
// to `typed`, of equals the first; `n` if none is near. The distance counts letters that
// are inserted, deleted or replaced and neighbours that changed places (optimal string
// alignment; Damerau 1964). A name is near within one slip for every three letters typed,
// but at least one from two letters on; letters missing after a beginning of two or more
// are one slip. The pointers in `names` are
// `stride` bytes apart, so they may be fields of a table of structs. Only the first 63
// letters of a known name count.
size_t tb_nearest(const char *typed, const char *const *names, size_t n, size_t stride);

struct tb_hint {
	char text[640];
};

// tb_hint_near writes what to append to a message that `typed` is unknown: "; the nearest
// is 'NAME'", or nothing if no name is near. Returns hint->text.
const char *tb_hint_near(struct tb_hint *hint, const char *typed,
	const char *const *names, size_t n, size_t stride);

// tb_hint_choice is tb_hint_near for a closed list, short enough to be read: without a
// near name it writes "; expected A, B or C". Returns hint->text.
const char *tb_hint_choice(struct tb_hint *hint, const char *typed,
	const char *const *names, size_t n, size_t stride);

#endif
