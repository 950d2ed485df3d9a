// Which known name somebody may have meant who typed an unknown one.
#ifndef TB_NEAREST_H
#define TB_NEAREST_H

#include <stddef.h>

// tb_nearest gives the place, of `n` names, of the one that takes the fewest letters to
// insert, delete or replace (Levenshtein 1966), the first of equals. `names` are pointers
// `stride` bytes apart, so that they may stand in a table of structs; n is at least 1.
// Letters of a known name behind the 63rd are not looked at.
size_t tb_nearest(const char *typed, const char *const *names, size_t n, size_t stride);

#endif
