// What the fuzz targets of readers of calls (reading.h) share: a file of the bytes is
// read, strictly and leniently. What is accepted has calls whose groups exist and that
// come after earlier ones; what is not is refused in a sentence.
#ifndef TB_FUZZ_CALLS_TEST_H
#define TB_FUZZ_CALLS_TEST_H

#include "reading.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static inline void fuzz_check_rank(const struct tb_calls *calls, uint32_t rank)
{
	uint32_t n, n_before;
	const struct tb_call *of = tb_calls_of(calls, rank, &n);
	for (uint32_t i = 0; i < n; i++) {
		const uint32_t *before = tb_calls_befores(calls, rank, i, &n_before);
		for (uint32_t k = 0; k < n_before; k++)
			if (before[k] >= i)
				abort();
		if (of[i].group >= tb_calls_n_groups(calls))
			abort();
	}
}

static inline void fuzz_read(
	tb_calls_read *read, const char *path, const struct tb_reading *reading)
{
	struct tb_calls *calls = NULL;
	struct tb_error error = {0};
	const char *made;
	int status = read(&calls, reading, &path, 1, &made, &error);
	if (status != TB_OK && (status != (int)error.code || !error.text[0] || calls))
		abort();
	for (uint32_t i = 0; status == TB_OK && i < tb_calls_n_ranks(calls); i++)
		fuzz_check_rank(calls, i);
	tb_calls_free(calls);
}

// fuzz_calls reads the bytes as a file; `clone_ranks` as in struct tb_reading.
static inline int fuzz_calls(
	tb_calls_read *read, const uint8_t *data, size_t size, uint32_t clone_ranks)
{
	char path[64];
	int fd = memfd_create("fuzz", 0);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	fuzz_read(read, path, &(struct tb_reading){.clone_ranks = clone_ranks});
	fuzz_read(read, path, &(struct tb_reading){.lenient = true});
	close(fd);
	return 0;
}

#endif
