#include "memory.h"

#include "units.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

// Arrays of a huge page or more lie on huge pages where the system has them.
#define HUGE_BYTES ((size_t)1 << 21)
#define PAGE_BYTES ((size_t)1 << 12)

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

void *tb_lines_new_sparse(size_t n, size_t size)
{
	if (size && n > (SIZE_MAX - PAGE_BYTES) / size)
		return NULL;
	size_t n_pages = (n * size + PAGE_BYTES - 1) / PAGE_BYTES;
	size_t bytes = (n_pages ? n_pages : 1) * PAGE_BYTES;
	void *memory = aligned_alloc(PAGE_BYTES, bytes);
	if (!memory)
		return NULL;
#ifdef MADV_NOHUGEPAGE
	(void)madvise(memory, bytes, MADV_NOHUGEPAGE);
#endif
	// Pages that are given back come again as zeros.
	if (madvise(memory, bytes, MADV_DONTNEED) != 0)
		memset(memory, 0, bytes);
	return memory;
}

int tb_memory_check(uint64_t bytes, const char *what, struct tb_error *error)
{
	long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
	if (pages <= 0 || page <= 0)
		return TB_OK; // not known
	uint64_t most = (uint64_t)pages * (uint64_t)page;
	char needed[32], there[32];
	if (bytes <= most)
		return TB_OK;
	return tb_fail(error, TB_ECAPACITY, "%s take %s of memory: this computer has %s",
		what, tb_format_size(bytes, needed, sizeof needed),
		tb_format_size(most, there, sizeof there));
}
