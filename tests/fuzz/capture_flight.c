// Dumps of PyTorch's flight recorder, JSON and pickle: as calls, and who is behind.
#include "recorders.h"

#include "../support/fuzz_calls.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_calls_and_facts(tb_flight_read, tb_flight_facts, data, size, 0);
}
