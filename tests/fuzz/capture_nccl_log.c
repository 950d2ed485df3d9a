// Logs of NCCL: as calls, and what they tell beside these.
#include "nccl_log.h"

#include "../support/fuzz_calls.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_calls_and_facts(tb_nccl_read, tb_nccl_facts, data, size, 4);
}
