// Profiles of PyTorch: what is accepted fills calls whose order can be followed.
#include "kineto.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void follow(const struct tb_calls *calls)
{
	for (uint32_t rank = 0; rank < tb_calls_n_ranks(calls); rank++) {
		uint32_t n, n_befores;
		(void)tb_calls_of(calls, rank, &n);
		for (uint32_t i = 0; i < n; i++) {
			const uint32_t *befores =
				tb_calls_befores(calls, rank, i, &n_befores);
			for (uint32_t j = 0; j < n_befores; j++)
				if (befores[j] >= i)
					abort();
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[64];
	const char *paths[] = {path};
	int fd = memfd_create("fuzz", 0);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	const struct tb_reading readings[] = {{.lenient = true}, {.clone_ranks = 4}};
	for (size_t i = 0; i < 2; i++) {
		struct tb_calls *calls = NULL;
		const char *made;
		struct tb_error error = {0};
		int status =
			tb_kineto_read(&calls, &readings[i], paths, 1, &made, &error);
		if (status == TB_OK)
			follow(calls);
		else if (status != (int)error.code || !error.text[0] || calls)
			abort();
		tb_calls_free(calls);
	}
	close(fd);
	return 0;
}
