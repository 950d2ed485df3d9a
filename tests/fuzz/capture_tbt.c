// The reader of job.tbt: a trace that it accepts has calls whose groups exist and that
// come after earlier ones.
#include "tbt_read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct tb_calls *calls, uint32_t rank)
{
	uint32_t n, n_before;
	const struct tb_call *of = tb_calls_of(calls, rank, &n);
	for (uint32_t i = 0; i < n; i++) {
		const uint32_t *before = tb_calls_befores(calls, rank, i, &n_before);
		for (uint32_t k = 0; k < n_before; k++)
			if (before[k] >= i)
				abort();
		if (of[i].group >= tb_calls_n_groups(calls) || of[i].lane > n)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[64];
	const char *const paths[] = {path};
	// A file of a few bytes that names a million ranks costs memory and finds
	// nothing.
	if (size < 12 || memcmp(data, "TBTRACE1", 8) != 0 || data[9] || data[10] ||
		data[11])
		return 0;
	int fd = memfd_create("fuzz", 0);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	const struct tb_reading reading = {.lenient = false};
	struct tb_calls *calls;
	struct tb_error error = {0};
	const char *made;
	int status = tb_tbt_read(&calls, &reading, paths, 1, &made, &error);
	if (status == TB_OK) {
		for (uint32_t i = 0; i < tb_calls_n_ranks(calls); i++)
			check(calls, i);
		tb_calls_free(calls);
	} else if (status != (int)error.code || !error.text[0]) {
		abort();
	}
	close(fd);
	return 0;
}
