// What networks of the switching `ethernet` are made of beyond rates, latencies and
// queues: the TCP between their nodes (docs/ethernet.md).
//
// Of struct tb_network_params, `fifo_bytes` is the queue before each link,
// `packet_payload_bytes` a full segment, `packet_overhead_bytes` what its frame adds.
#ifndef TB_ETHERNET_PARAMS_H
#define TB_ETHERNET_PARAMS_H

#include "units.h"

#include <stdint.h>

struct tb_ethernet_params {
	uint32_t burst_bytes;	 // that a port's shaper lets pass at once; 0: a cable
	uint32_t initial_window; // segments
	uint32_t window_bytes;	 // payload that is sent and not acknowledged, at most
	tb_time_ps rto_min_ps;
	tb_time_ps delayed_ack_ps;
	unsigned idle_restart; // 1: an idle connection begins with slow start again
};

#endif
