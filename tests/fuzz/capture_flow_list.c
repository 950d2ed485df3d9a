// The reader of flow lists: a job that it accepts can be written as GOAL and read back.
#include "capture_goal.h"
#include "flow_list.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_goal(data, size, tb_flow_list_read);
	return 0;
}
