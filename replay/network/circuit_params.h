// What networks of the switching `circuits` are made of beyond rates and latencies
// (docs/model.md). Of struct tb_network_params, `fifo_bytes` is the FIFO of each virtual
// channel.
#ifndef TB_CIRCUIT_PARAMS_H
#define TB_CIRCUIT_PARAMS_H

#include "network_params.h"

#include <assert.h>

// Where the bytes of messages lie: in the memory of the NIC, which is behind the node's
// bus, or in main memory, which is behind its PCI bus in place of that. From one to the
// other each bus carries one direction.
enum tb_buffers {
	TB_BUFFERS_NIC,
	TB_BUFFERS_MAIN,
	TB_BUFFERS_MAIN_TO_NIC, // a sender's in main memory, a receiver's in the NIC's
	TB_BUFFERS_NIC_TO_MAIN,
};
extern const char *const tb_buffers_words[];

struct tb_circuit_params {
	uint32_t flit_bytes;
	double link_tokens;	  // flow-control bytes that each byte on a link makes its
				  // reverse carry
	uint64_t bus_bytes_per_s; // payload, in and out of a node together; 0: no limit
				  // (bus = none)
	tb_time_ps bus_turn_ps;	  // between payload of one direction and of the other
	uint64_t pci_bytes_per_s; // of main memory; 0: there is none (pci = none)
	tb_time_ps pci_turn_ps;
	enum tb_buffers buffers;
	uint32_t write_block_bytes; // packets carry whole blocks; 0: what there is
	tb_time_ps ack_delay_ps; // at the destination, before the acknowledgement leaves
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

// tb_circuit_buses_shared returns whether one bus carries both directions.
static inline bool tb_circuit_buses_shared(const struct tb_network_params *params)
{
	return tb_circuit_params(params)->buffers <= TB_BUFFERS_MAIN;
}

// tb_circuit_bus_rate is that of the bus for one direction; 0: no limit.
static inline uint64_t tb_circuit_bus_rate(
	const struct tb_network_params *params, bool inward)
{
	const struct tb_circuit_params *circuits = tb_circuit_params(params);
	enum tb_buffers other = inward ? TB_BUFFERS_NIC_TO_MAIN : TB_BUFFERS_MAIN_TO_NIC;
	bool main = circuits->buffers == TB_BUFFERS_MAIN || circuits->buffers == other;
	return main ? circuits->pci_bytes_per_s : circuits->bus_bytes_per_s;
}

// tb_circuit_bus_turn is that of a bus which carries both directions.
static inline tb_time_ps tb_circuit_bus_turn(const struct tb_network_params *params)
{
	const struct tb_circuit_params *circuits = tb_circuit_params(params);
	return circuits->buffers == TB_BUFFERS_MAIN ? circuits->pci_turn_ps
						    : circuits->bus_turn_ps;
}

// tb_circuit_padding returns what a packet with so much payload carries besides, so that
// its blocks are whole or the packet is full.
static inline uint32_t tb_circuit_padding(
	const struct tb_network_params *params, uint64_t payload)
{
	uint32_t block = tb_circuit_params(params)->write_block_bytes;
	if (block == 0 || payload % block == 0)
		return 0;
	uint64_t padding = block - payload % block;
	uint64_t room = params->packet_payload_bytes - payload;
	return (uint32_t)(padding < room ? padding : room);
}

// tb_slice_packets is how many packets of a message go before it is the next one's turn;
// 0: all.
static inline uint32_t tb_slice_packets(const struct tb_network_params *params)
{
	uint32_t payload = params->packet_payload_bytes;
	return (tb_circuit_params(params)->slice_bytes + payload - 1) / payload;
}

#endif
