#include "lines.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

// Arrays of a huge page or more lie on huge pages where the system has them.
#define HUGE_BYTES ((size_t)1 << 21)

void *tb_lines_new(size_t n, size_t size)
{
	if (size && n > (SIZE_MAX - TB_LINE_BYTES) / size)
		return NULL;
	// aligned_alloc wants a multiple of the alignment.
	size_t n_lines = (n * size + TB_LINE_BYTES - 1) / TB_LINE_BYTES;
	size_t bytes = (n_lines ? n_lines : 1) * TB_LINE_BYTES;
	bool huge = bytes >= HUGE_BYTES;
	void *memory = aligned_alloc(huge ? HUGE_BYTES : TB_LINE_BYTES,
		huge ? (bytes + HUGE_BYTES - 1) / HUGE_BYTES * HUGE_BYTES : bytes);
	if (!memory)
		return NULL;
#ifdef MADV_HUGEPAGE
	if (huge) // a refusal only costs time
		(void)madvise(memory, bytes, MADV_HUGEPAGE);
#endif
	memset(memory, 0, bytes);
	return memory;
}
