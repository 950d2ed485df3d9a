// Finds the known name that is closest to a mistyped one.
#ifndef TB_NEAREST_H
#define TB_NEAREST_H

#include <stddef.h>

// tb_nearest returns the index, among `n` names (at least 1), of the name with the
// smallest edit distance to `typed` (letters inserted, deleted or replaced; Levenshtein
// 1966); of equals the first. The pointers in `names` are `stride` bytes apart, so they
// may be fields of a table of structs. Only the first 63 letters of a known name count.
size_t tb_nearest(const char *typed, const char *const *names, size_t n, size_t stride);

#endif
