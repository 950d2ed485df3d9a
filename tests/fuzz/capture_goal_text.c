// The reader of GOAL's text form.
#include "capture_goal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_goal(data, size, tb_goal_text_read);
	return 0;
}
