// The reader of Chakra traces, in both forms.
#include "chakra.h"

#include "../support/fuzz_calls.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_calls(tb_chakra_read, data, size, 0);
}
