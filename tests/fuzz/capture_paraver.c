// The reader of Paraver traces: a trace that it accepts has calls whose
// groups and dependencies exist.
#include "paraver.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct tb_calls *calls)
{
	uint32_t n, n_before;
	const struct tb_call *of = tb_calls_of(calls, 0, &n);
	for (uint32_t i = 0; i < n; i++) {
		const uint32_t *before = tb_calls_befores(calls, 0, i, &n_before);
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
	int fd = memfd_create("fuzz", 0);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	struct tb_reading reading = {.lenient = false};
	struct tb_calls *calls;
	struct tb_error error = {0};
	const char *made;
	int status = tb_paraver_read(&calls, &reading, paths, 1, &made, &error);
	if (status == TB_OK) {
		check(calls);
		tb_calls_free(calls);
	} else if (status != (int)error.code || !error.text[0]) {
		abort();
	}
	close(fd);
	return 0;
}
