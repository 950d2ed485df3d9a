// Preloaded: the allocation of number FAIL_AT fails, with FAIL_ALL those behind it, too.
// At its end the program prints how many there were.
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *memory, size_t size);

static long made, fail_at;

static bool fails(void)
{
	const char *at = fail_at ? NULL : getenv("FAIL_AT");
	if (!fail_at)
		fail_at = at ? atol(at) : -1;
	long number = __atomic_add_fetch(&made, 1, __ATOMIC_RELAXED);
	bool is_it = fail_at > 0 &&
		     (number == fail_at || (number > fail_at && getenv("FAIL_ALL")));
	if (is_it)
		errno = ENOMEM;
	return is_it;
}

void *malloc(size_t size)
{
	return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
	return fails() ? NULL : __libc_calloc(n, size);
}

void *realloc(void *memory, size_t size)
{
	return fails() ? NULL : __libc_realloc(memory, size);
}

static __attribute__((destructor)) void print_made(void)
{
	if (getenv("FAIL_COUNT"))
		dprintf(2, "%ld allocations\n", made);
}
