// What networks of the switching `ethernet` are made of beyond rates, latencies and
// queues: the TCP between their nodes (docs/ethernet.md).
//
// Of struct tb_network_params, `fifo_bytes` is the queue before each link,
// `packet_payload_bytes` a full segment, `packet_overhead_bytes` what its frame adds.
#ifndef TB_ETHERNET_PARAMS_H
#define TB_ETHERNET_PARAMS_H

#include "network_params.h"

#include <assert.h>

// How a connection's window grows and shrinks.
enum tb_tcp { TB_TCP_CUBIC, TB_TCP_RENO, TB_TCP_BBR };
extern const char *const tb_tcp_words[]; // in presets; NULL behind the last

struct tb_ethernet_params {
	uint32_t burst_bytes;	 // that a port's shaper lets pass at once; 0: a cable
	uint32_t initial_window; // segments
	uint32_t window_bytes;	 // payload that is sent and not acknowledged, at most
	tb_time_ps rto_min_ps;
	tb_time_ps delayed_ack_ps;
	unsigned idle_restart; // 1: an idle connection begins with slow start again
	uint32_t header_room;  // of a node's buffers, before a segment, bytes
	unsigned tcp;	       // an enum tb_tcp
};

static_assert(sizeof(struct tb_ethernet_params) <= TB_ETHERNET_ROOM, "larger room");

// tb_ethernet_params are those of a network; they live as long as `params`.
static inline const struct tb_ethernet_params *tb_ethernet_params(
	const struct tb_network_params *params)
{
	return (const struct tb_ethernet_params *)(const void *)params->ethernet_room;
}

// tb_ethernet_params_mutable likewise, to be changed.
static inline struct tb_ethernet_params *tb_ethernet_params_mutable(
	struct tb_network_params *params)
{
	return (struct tb_ethernet_params *)(void *)params->ethernet_room;
}

// The memory of a buffer besides its data: struct sk_buff, struct skb_shared_info, and
// the overhead of the smallest heads (SKB_SMALL_HEAD_SIZE of Linux 6). The largest send
// buffer (sysctl tcp_wmem).
enum { TB_BUFFER_OWN = 256, TB_BUFFER_SHARED = 320, TB_BUFFER_PAD = 64 };
enum { TB_BUFFER_MOST = 4 << 20 };

// tb_ethernet_send_room is how many bytes a send buffer has room for with a window of so
// many segments: twice what the window takes, a segment's buffer rounded up to a power of
// two (tcp_sndbuf_expand of Linux).
static inline uint64_t tb_ethernet_send_room(
	const struct tb_network_params *params, uint64_t window)
{
	const struct tb_ethernet_params *own = tb_ethernet_params(params);
	uint64_t payload = params->packet_payload_bytes, each = 1;
	while (each < payload + TB_BUFFER_SHARED + own->header_room)
		each *= 2;
	uint64_t bytes =
		(own->tcp == TB_TCP_BBR ? 3 : 2) * window * (each + TB_BUFFER_OWN);
	if (bytes > TB_BUFFER_MOST)
		bytes = TB_BUFFER_MOST;
	return bytes / payload ? bytes / payload * payload : payload;
}

#endif
