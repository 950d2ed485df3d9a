// What does not fit into the computer's memory is refused before it is asked for: the
// system would promise it, and kill the program as it is filled.
#ifndef TB_MEMORY_H
#define TB_MEMORY_H

#include "status.h"

#include <stddef.h>
#include <stdint.h>

// tb_memory_check returns TB_ECAPACITY when `what`, such as "the routes of 9 switches to
// 40 nodes", takes more bytes than the computer has.
int tb_memory_check(uint64_t bytes, const char *what, struct tb_error *error) TB_MUST_USE;

// Arrays that begin at a cache line, so that the items which one step of the engine
// touches lie in as few lines as possible.
#define TB_LINE_BYTES 128 // two lines of 64: processors prefetch them in pairs

// tb_lines_new allocates `n` zeroed items of `size` bytes; NULL when there is no memory.
// The caller frees them with free().
void *tb_lines_new(size_t n, size_t size);

// tb_lines_new_untouched does so without zeroing, so that memory which is never used is
// never there.
void *tb_lines_new_untouched(size_t n, size_t size);

// tb_lines_new_sparse allocates zeroed items of which few are used, in stretches: memory
// is there in pages of 4 KB as they are written to. Slower to use than the others.
void *tb_lines_new_sparse(size_t n, size_t size);

#endif
