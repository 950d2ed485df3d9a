// The reader of compressed files. It reads only the first 16 MiB, since an input of 64
// KiB may expand to gigabytes.
#include "infile.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[64], buffer[5000];
	int fd = memfd_create("fuzz", 0);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	FILE *stream;
	struct tb_infile *file;
	struct tb_error error = {0};
	if (tb_infile_open(&stream, &file, path, &error) == TB_OK) {
		size_t n = 0, got;
		while (n < 16 << 20 &&
			(got = fread(buffer, 1, sizeof buffer, stream)) > 0)
			n += got;
		if (tb_infile_check(file, &error) != error.code)
			abort();
		double fraction = tb_infile_fraction(file);
		if (fraction > 1 || (ferror(stream) && error.code == TB_OK))
			abort();
		fclose(stream);
	}
	close(fd);
	return 0;
}
