// The reader of GOAL's binary form.
#include "capture_goal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_goal(data, size, tb_goal_binary_read);
	return 0;
}
