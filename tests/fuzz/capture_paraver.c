// The reader of Paraver traces.
#include "paraver.h"

#include "../support/fuzz_calls.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_calls(tb_paraver_read, data, size, 0);
}
