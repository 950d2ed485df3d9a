// Memory that begins with a pair of cache lines, for arrays of which what one step
// touches should lie in as few lines as it can.
#ifndef TB_LINES_H
#define TB_LINES_H

#include <stddef.h>

#define TB_LINE_BYTES 128 // two of 64: they come in pairs

// tb_lines_new gives room for `n` items of `size` bytes, zeroed; NULL when there is no
// memory. Freed with free().
void *tb_lines_new(size_t n, size_t size);

#endif
