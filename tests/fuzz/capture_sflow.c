// Datagrams of sFlow: their samples lie within them, and the last ends them.
#include "sflow.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tb_sflow sflow;
	struct tb_sflow_sample sample;
	if (!tb_sflow_begin(&sflow, (struct tb_bytes){data, size}))
		return 0;
	size_t n = 0, sum = 0;
	while (tb_sflow_next(&sflow, &sample)) {
		if (sample.stands_for == 0 || sample.wire_bytes < sample.bytes.n ||
			++n > size)
			abort();
		for (size_t i = 0; i < sample.bytes.n; i++)
			sum += sample.bytes.data[i];
	}
	return sum == SIZE_MAX;
}
