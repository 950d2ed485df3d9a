#include "lines.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

// Arrays of a huge page or more lie on huge pages where the system has them.
#define HUGE_BYTES ((size_t)1 << 21)

void *tb_lines_new_untouched(size_t n, size_t size)
{
	if (size && n > (SIZE_MAX - HUGE_BYTES) / size)
		return NULL;
	// aligned_alloc wants a multiple of the alignment.
	size_t unit = n * size >= HUGE_BYTES ? HUGE_BYTES : TB_LINE_BYTES;
	size_t n_units = (n * size + unit - 1) / unit;
	size_t bytes = (n_units ? n_units : 1) * unit;
	void *memory = aligned_alloc(unit, bytes);
#ifdef MADV_HUGEPAGE
	if (memory && unit == HUGE_BYTES) // a refusal only costs time
		(void)madvise(memory, bytes, MADV_HUGEPAGE);
#endif
	return memory;
}

void *tb_lines_new(size_t n, size_t size)
{
	void *memory = tb_lines_new_untouched(n, size);
	if (memory)
		memset(memory, 0, n * size);
	return memory;
}
