// Exports of Nsight Systems: as calls, and what they tell beside these. SQLite follows
// links, so the file must have a name.
#include "nsys_export.h"

#include "../support/fuzz_calls.h"
#include "../support/fuzz_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[64];
	snprintf(path, sizeof path, "%s/tailback_fuzz_XXXXXX", fuzz_folder());
	int fd = mkstemp(path);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	close(fd);
	fuzz_file(tb_nsys_read, tb_nsys_facts, path, 0);
	unlink(path);
	return 0;
}
