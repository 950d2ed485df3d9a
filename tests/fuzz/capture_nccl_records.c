// What NCCL's inspector and its example profiler write, and DeepSpeed's log.
#include "recorders.h"

#include "../support/fuzz_calls.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	(void)fuzz_calls(tb_deepspeed_read, data, size, 3);
	return fuzz_calls_and_facts(
		tb_nccl_records_read, tb_nccl_records_facts, data, size, 0);
}
