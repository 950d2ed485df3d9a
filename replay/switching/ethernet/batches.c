// How much a connection sends at once: batches (TSO), what of them may stand in its
// node's queue (TCP small queues), and the send buffer (rules E14 and E17).
#include "ethernet_impl.h"

// Segments that leave a connection as one, at least.
enum { BATCH_LEAST = 2 };

// What is in the node's queue of a connection, at most, at any rate (sysctl
// tcp_limit_output_bytes).
enum { IN_NIC_MOST = 4 << 20 };

// What a buffer takes: struct sk_buff, struct skb_shared_info, and what is beside the
// room for headers in the smallest ones (SKB_SMALL_HEAD_SIZE of Linux 6).
enum { BUFFER_OWN = 256, BUFFER_SHARED = 320, BUFFER_PAD = 64 };

// The send buffer, at most (sysctl tcp_wmem).
enum { BUFFER_MOST = 4 << 20 };

uint32_t tb_batch_beside(const struct ethernet *ethernet)
{
	return BUFFER_OWN + BUFFER_SHARED + BUFFER_PAD +
	       ethernet_params(ethernet)->header_room;
}

// bytes_at_once is what the connection sends in a 1024th of a second (sk_pacing_rate of
// Linux, shifted by 10).
static uint64_t bytes_at_once(
	const struct ethernet *ethernet, const struct tcp_stream *stream)
{
	uint64_t window = (uint64_t)stream->cubic.window *
			  ethernet->replay.net->params.packet_payload_bytes;
	bool is_slow_start = stream->cubic.window < stream->cubic.threshold / 2;
	uint64_t rounds = (uint64_t)(stream->srtt * 1024 / TB_PS_PER_MS);
	if (stream->rated)
		return tb_rate_bytes(ethernet, stream);
	return (is_slow_start ? 2 * window : window * 6 / 5) * 1024 / (rounds + 1);
}

tb_time_ps tb_send_spread(
	const struct ethernet *ethernet, const struct tcp_stream *stream)
{
	uint64_t rate = bytes_at_once(ethernet, stream);
	if (rate <= 4 * TB_BATCH_MOST)
		return TB_PS_PER_MS;
	return (tb_time_ps)(4 * TB_BATCH_MOST * (uint64_t)TB_PS_PER_MS / rate);
}

// tb_send_batch: the more, the shorter the least round trip, and what the connection
// sends in a millisecond.
uint32_t tb_send_batch(const struct ethernet *ethernet, const struct tcp_stream *stream)
{
	uint64_t payload = ethernet->replay.net->params.packet_payload_bytes;
	uint64_t halvings = (uint64_t)(stream->least / (TB_PS_PER_MS / 2));
	uint64_t bytes = halvings < 16 ? (uint64_t)TB_BATCH_MOST >> halvings : 0;
	bytes += bytes_at_once(ethernet, stream);
	if (bytes > TB_BATCH_MOST)
		bytes = TB_BATCH_MOST;
	return bytes / payload > BATCH_LEAST ? (uint32_t)(bytes / payload) : BATCH_LEAST;
}

// tb_batch_quota: half of the window, so that two batches are under way, and what the
// window has room for (tcp_cwnd_test of Linux).
uint32_t tb_batch_quota(const struct tcp_stream *stream, uint32_t batch)
{
	uint32_t window = stream->cubic.window, out = tb_send_under_way(stream);
	uint32_t half = window > 1 ? window / 2 : 1;
	uint32_t room = window > out ? window - out : 0;
	uint32_t most = half < room ? half : room;
	return batch < most ? batch : most;
}

// tb_batch_limit: tcp_small_queue_check of Linux.
uint64_t tb_batch_limit(
	const struct ethernet *ethernet, const struct tcp_stream *stream, uint32_t batch)
{
	uint64_t next =
		batch * (uint64_t)ethernet->replay.net->params.packet_payload_bytes;
	uint64_t unsent = stream->written - stream->sent;
	if (stream->n_lost == 0 && unsent < next)
		next = unsent;
	uint64_t limit = 2 * (next + tb_batch_beside(ethernet));
	uint64_t at_once = bytes_at_once(ethernet, stream);
	if (at_once > IN_NIC_MOST && !stream->rated)
		at_once = IN_NIC_MOST;
	if (at_once > limit)
		limit = at_once;
	return stream->n_lost > 0 ? 2 * limit : limit;
}

// tb_send_room: twice what the window takes, a segment's buffer rounded up to a power of
// two (tcp_sndbuf_expand of Linux).
uint64_t tb_send_room(const struct ethernet *ethernet, const struct tcp_stream *stream)
{
	uint64_t payload = ethernet->replay.net->params.packet_payload_bytes, each = 1;
	uint64_t window = stream->cubic.window > stream->cubic.restart
				  ? stream->cubic.window
				  : stream->cubic.restart;
	while (each < payload + BUFFER_SHARED + ethernet_params(ethernet)->header_room)
		each *= 2;
	bool is_bbr = ethernet_params(ethernet)->tcp == TB_TCP_BBR;
	uint64_t bytes = (is_bbr ? 3 : 2) * window * (each + BUFFER_OWN);
	if (bytes > BUFFER_MOST)
		bytes = BUFFER_MOST;
	return bytes / payload ? bytes / payload * payload : payload;
}
