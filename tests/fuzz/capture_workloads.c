// What simulators are given: SimAI's layers, and MPI programs as SimGrid, dumpi2ascii and
// liballprof write them.
#include "mpi_text.h"
#include "simai.h"

#include "../support/fuzz_calls.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[64], name[80];
	(void)fuzz_calls(tb_simai_read, data, size, 8);
	(void)fuzz_calls(tb_ti_read, data, size, 0);
	// A rank's file is known by the number in its name.
	int fd = memfd_create("fuzz", 0);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	snprintf(name, sizeof name, "/tmp/tailback_fuzz_%d_0", (int)getpid());
	if (symlink(path, name) == 0) {
		fuzz_file(tb_dumpi_text_read, NULL, name, 0);
		fuzz_file(tb_allprof_read, NULL, name, 0);
		unlink(name);
	}
	close(fd);
	return 0;
}
