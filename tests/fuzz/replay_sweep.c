// Any bytes as a sweep file.
#include "sweep.h"

#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int file = memfd_create("sweep", 0);
	if (file < 0 || write(file, data, size) != (ssize_t)size)
		return 1;
	char path[64];
	snprintf(path, sizeof path, "/proc/self/fd/%d", file);
	struct tb_sweep sweep;
	struct tb_error error;
	if (tb_sweep_read(&sweep, path, NULL, 0, &error) == TB_OK)
		tb_sweep_fini(&sweep);
	close(file);
	return 0;
}
