// Arrays that begin at a cache line, so that the items which one step of the engine
// touches lie in as few lines as possible.
#ifndef TB_LINES_H
#define TB_LINES_H

#include <stddef.h>

#define TB_LINE_BYTES 128 // two lines of 64: processors prefetch them in pairs

// tb_lines_new allocates `n` zeroed items of `size` bytes; NULL when there is no memory.
// The caller frees them with free().
void *tb_lines_new(size_t n, size_t size);

// tb_lines_new_untouched does so without zeroing, so that memory which is never used is
// never there.
void *tb_lines_new_untouched(size_t n, size_t size);

#endif
