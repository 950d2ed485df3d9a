#include "lines.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void *tb_lines_new(size_t n, size_t size)
{
	if (size && n > (SIZE_MAX - TB_LINE_BYTES) / size)
		return NULL;
	// aligned_alloc wants a multiple of the alignment.
	size_t n_lines = (n * size + TB_LINE_BYTES - 1) / TB_LINE_BYTES;
	size_t bytes = (n_lines ? n_lines : 1) * TB_LINE_BYTES;
	void *memory = aligned_alloc(TB_LINE_BYTES, bytes);
	if (memory)
		memset(memory, 0, bytes);
	return memory;
}
