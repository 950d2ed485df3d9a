// Flows in the order of job, source and destination. Private to replay/.
#ifndef TB_FLOW_ORDER_H
#define TB_FLOW_ORDER_H

#include "observer.h"

// tb_flow_key is a flow's key among those of a replay: of equals there is one.
static inline uint64_t tb_flow_key(uint32_t job, uint32_t source, uint32_t destination)
{
	return (uint64_t)job << 48 | (uint64_t)source << 24 | destination;
}

// tb_flows_in_order copies `n` flows to `sorted`, by their keys. TB_ENOMEM. Cost: some 20
// instructions a flow and byte in which keys differ, and the copy.
int tb_flows_in_order(const struct tb_flow_sample *flows, size_t n,
	struct tb_flow_sample *sorted) TB_MUST_USE;

#endif
