// The reader of job.tbt.
#include "tbt_read.h"

#include "../support/fuzz_calls.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	// A file of a few bytes that names a million ranks costs memory and finds
	// nothing.
	if (size < 12 || memcmp(data, "TBTRACE", 7) != 0 || data[9] || data[10] ||
		data[11])
		return 0;
	return fuzz_calls(tb_tbt_read, data, size, 0);
}
