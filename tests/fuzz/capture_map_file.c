// The reader of map files.
#include "map_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[64];
	int fd = memfd_create("fuzz", 0);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	struct tb_map_file *map;
	struct tb_error error = {0};
	int status = tb_map_file_read(&map, path, &error);
	if (status == TB_OK) {
		for (uint32_t node = 0; node < 100; node++) {
			uint32_t job = tb_map_file_job(map, (struct tb_node){node});
			if (job != TB_ID_NONE && job >= tb_map_file_n_jobs(map))
				abort();
		}
		tb_map_file_free(map);
	} else if (status != (int)error.code || !error.text[0]) {
		abort();
	}
	close(fd);
	return 0;
}
