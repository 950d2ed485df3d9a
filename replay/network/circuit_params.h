// What networks of the switching `circuits` are made of beyond rates and latencies
// (docs/model.md). Of struct tb_network_params, `fifo_bytes` is the FIFO of each virtual
// channel.
#ifndef TB_CIRCUIT_PARAMS_H
#define TB_CIRCUIT_PARAMS_H

#include "network_params.h"

#include <assert.h>

struct tb_circuit_params {
	uint32_t flit_bytes;
	double link_tokens;	  // flow-control bytes that each byte on a link makes its
				  // reverse carry
	uint64_t bus_bytes_per_s; // payload, in and out of a node together; 0: no limit
				  // (bus = none)
	tb_time_ps bus_turn_ps;	  // between payload of one direction and of the other
	tb_time_ps ack_delay_ps;  // at the destination, before the acknowledgement leaves
	uint32_t slice_bytes; // payload that a message sends before it is the next one's
			      // turn, rounded up to packets; 0: sent to its end
	uint32_t partners; // of a node, beyond which acknowledgements leave it
			   // partner_delay_ps later; 0: no limit
	tb_time_ps partner_delay_ps;
	double age_weight; // w: weight of waits at earlier switches in the arbitration
			   // key
};

static_assert(sizeof(struct tb_circuit_params) <= TB_CIRCUIT_ROOM, "larger room");

// tb_circuit_params are those of a network; they live as long as `params`.
static inline const struct tb_circuit_params *tb_circuit_params(
	const struct tb_network_params *params)
{
	return (const struct tb_circuit_params *)(const void *)params->circuit_room;
}

// tb_circuit_params_mutable likewise, to be changed.
static inline struct tb_circuit_params *tb_circuit_params_mutable(
	struct tb_network_params *params)
{
	return (struct tb_circuit_params *)(void *)params->circuit_room;
}

// tb_slice_packets is how many packets of a message go before it is the next one's turn;
// 0: all.
static inline uint32_t tb_slice_packets(const struct tb_network_params *params)
{
	uint32_t payload = params->packet_payload_bytes;
	return (tb_circuit_params(params)->slice_bytes + payload - 1) / payload;
}

#endif
