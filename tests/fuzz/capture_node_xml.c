// NCCL's topology of a node.
#include "node_xml.h"

#include "../support/fuzz_calls.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_calls_and_facts(tb_node_xml_read, tb_node_xml_facts, data, size, 0);
}
