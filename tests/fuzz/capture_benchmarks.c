// Whatever a file holds, its tables are read or refused; what is read can be shown.
#include "benchmark.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tb_benchmark *benchmark = NULL;
	struct tb_error error;
	char path[64];
	const char *paths[] = {path};
	int fd = memfd_create("table", 0);
	if (fd < 0)
		return 0;
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	size_t written = 0;
	while (written < size) {
		ssize_t n = write(fd, data + written, size - written);
		if (n <= 0)
			break;
		written += (size_t)n;
	}
	(void)tb_benchmark_tool(path);
	if (tb_benchmark_read(&benchmark, paths, 1, size & 7, &error) == TB_OK)
		for (size_t i = 0; i < tb_benchmark_n_rows(benchmark); i++) {
			const struct tb_benchmark_row *row =
				tb_benchmark_row(benchmark, i);
			const struct tb_benchmark_table *table =
				tb_benchmark_table(benchmark, row->table);
			if (table->hosts &&
				table->hosts[table->n_ranks - 1] >= table->n_hosts)
				abort();
			if (!table->file || !table->name || row->line == 0)
				abort();
		}
	tb_benchmark_close(benchmark);
	close(fd);
	return 0;
}
