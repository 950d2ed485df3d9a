// Connections: their two streams, the segments of each, and how they open (rule E9): a
// frame there, one back, and whatever comes next. Each side measures its first round trip
// by that.
#include "ethernet_impl.h"

#include "array.h"

#include <stdlib.h>

enum { RING_FIRST = 16 };

static struct tcp_stream new_stream(
	const struct ethernet *ethernet, uint32_t source, uint32_t destination)
{
	struct tcp_stream stream = {.source = source,
		.destination = destination,
		.flow = NOTHING,
		.first_at = TB_TIME_NEVER,
		.least = TB_TIME_NEVER,
		.timeout_at = TB_TIME_NEVER,
		.give_up_at = TB_TIME_NEVER,
		.timer_at = TB_TIME_NEVER};
	tb_cubic_init(&stream.cubic, ethernet_params(ethernet)->initial_window);
	stream.cubic.is_reno = ethernet_params(ethernet)->tcp == TB_TCP_RENO;
	stream.room = tb_send_room(ethernet, &stream);
	return stream;
}

static struct tcp_receiver new_receiver(uint32_t source, uint32_t destination)
{
	return (struct tcp_receiver){.source = source,
		.destination = destination,
		.flow = NOTHING,
		.newest = UINT64_MAX, // none has come
		.came_at = TB_TIME_NEVER,
		.answer_at = TB_TIME_NEVER,
		.answer_timer_at = TB_TIME_NEVER};
}

static void stream_no_memory(struct ethernet *ethernet)
{
	tb_replay_no_memory(&ethernet->replay, "the connections");
}

// add_streams adds the two streams of a connection, from the lower node and from the
// other one.
static bool add_streams(
	struct ethernet *ethernet, uint64_t key, uint32_t low, uint32_t high)
{
	struct tcp_table *tcp = ethernet->tcp;
	uint32_t first = tcp->n;
	if (TB_ARRAY_RESERVE(&tcp->streams, &tcp->streams_room, (size_t)first + 2) !=
			TB_OK ||
		TB_ARRAY_RESERVE(&tcp->receivers, &tcp->receivers_room,
			(size_t)first + 2) != TB_OK ||
		TB_ARRAY_RESERVE(&tcp->ways, &tcp->ways_room,
			((size_t)first + 2) * tcp->hops_most) != TB_OK ||
		tb_map_put(&tcp->stream_of, key, first) != TB_OK) {
		stream_no_memory(ethernet);
		return false;
	}
	tcp->streams[first] = new_stream(ethernet, low, high);
	tcp->streams[first + 1] = new_stream(ethernet, high, low);
	tcp->receivers[first] = new_receiver(low, high);
	tcp->receivers[first + 1] = new_receiver(high, low);
	for (size_t i = 0; i < 2 * (size_t)tcp->hops_most; i++)
		tcp->ways[(size_t)first * tcp->hops_most + i] = NOTHING;
	tcp->n += 2;
	return true;
}

// stream_of returns the stream of a message, and makes it and its reverse, number ^ 1, if
// they are not there. NOTHING without memory.
static uint32_t stream_of(struct ethernet *ethernet, uint32_t id)
{
	struct tcp_table *tcp = ethernet->tcp;
	const struct tb_posted *message = &ethernet->replay.messages[id];
	uint32_t source = message->what.source.id, destination = message->end;
	uint32_t low = source < destination ? source : destination;
	uint32_t high = source < destination ? destination : source;
	uint64_t key = (uint64_t)message->what.job << 48 | (uint64_t)low << 24 | high;
	uint32_t first = tcp->n;
	bool is_new = !tb_map_find(&tcp->stream_of, key, &first);
	if (is_new && !add_streams(ethernet, key, low, high))
		return NOTHING;
	uint32_t stream = first + (source > destination);
	if (is_new)
		tcp->streams[stream].is_opener = true;
	if (tcp->streams[stream].flow == NOTHING)
		tcp->streams[stream].flow = tcp->receivers[stream].flow = message->flow;
	return stream;
}

// settle_opener: of two nodes that write first at one instant the lower one opens, whose
// connection it is that stays in Open MPI (mca_btl_tcp_endpoint_accept).
static void settle_opener(
	struct tcp_stream *stream, struct tcp_stream *reverse, tb_time_ps at)
{
	if (stream->first_at != TB_TIME_NEVER)
		return;
	stream->first_at = at;
	if (reverse->opens || reverse->first_at != at || stream->source > reverse->source)
		return;
	reverse->is_opener = false;
	stream->is_opener = true;
}

void tb_streams_posted(struct ethernet *ethernet, uint32_t id)
{
	const struct tb_posted *message = &ethernet->replay.messages[id];
	if (message->what.captured)
		return;
	struct tcp_table *tcp = ethernet->tcp;
	if (TB_ARRAY_RESERVE(&tcp->of_message, &tcp->of_message_room, (size_t)id + 1) !=
		TB_OK) {
		stream_no_memory(ethernet);
		return;
	}
	uint32_t stream = tcp->of_message[id] = stream_of(ethernet, id);
	if (stream != NOTHING)
		settle_opener(tb_stream_at(ethernet, stream),
			tb_stream_at(ethernet, stream ^ 1), message->start_at);
}

// stream_grow doubles the ring, in which a segment's place depends on how large it is.
static bool stream_grow(struct tcp_stream *stream)
{
	uint64_t room = stream->ring ? 2 * (stream->mask + 1) : RING_FIRST;
	struct segment *ring = malloc(room * sizeof *ring);
	if (!ring)
		return false;
	for (uint64_t i = stream->acked; i < stream->next; i++)
		ring[i & (room - 1)] = *segment_at(stream, i);
	free(stream->ring);
	stream->ring = ring;
	stream->mask = room - 1;
	return true;
}

// grow_ends does so for a receiver: outside of those from `come` on that have come, ends
// are 0.
static bool grow_ends(struct tcp_receiver *receiver, uint64_t number)
{
	uint64_t room = receiver->ends ? 2 * (receiver->mask + 1) : RING_FIRST;
	while (number - receiver->come >= room)
		room *= 2;
	uint64_t *ends = calloc(room, sizeof *ends);
	if (!ends)
		return false;
	for (uint64_t i = receiver->come; i < receiver->come_most; i++)
		ends[i & (room - 1)] = receiver->ends[i & receiver->mask];
	free(receiver->ends);
	receiver->ends = ends;
	receiver->mask = room - 1;
	return true;
}

bool tb_streams_come(struct tcp_receiver *receiver, uint64_t number, uint64_t end)
{
	bool has_room = receiver->ends && number - receiver->come <= receiver->mask;
	if (!has_room && !grow_ends(receiver, number))
		return false;
	receiver->ends[number & receiver->mask] = end;
	if (number >= receiver->come_most)
		receiver->come_most = number + 1;
	return true;
}

static bool stream_add_block(struct tcp_stream *stream)
{
	struct written_block *block = calloc(1, sizeof *block);
	if (!block)
		return false;
	if (stream->last)
		stream->last->next = block;
	else
		stream->first = block;
	stream->last = block;
	return true;
}

// A packet without payload takes a byte, as TCP sends nothing without one.
bool tb_streams_write(struct ethernet *ethernet, uint32_t id, uint32_t packet)
{
	struct tcp_stream *stream = tb_stream_at(ethernet, id);
	uint32_t place = (uint32_t)(stream->n_written % PACKETS_A_BLOCK);
	if (place == 0 && !stream_add_block(stream)) {
		stream_no_memory(ethernet);
		return false;
	}
	const struct tb_packet record = *tb_packet_at(&ethernet->replay, packet);
	uint32_t header = ethernet->replay.net->params.packet_overhead_bytes;
	stream->written += record.wire_bytes > header ? record.wire_bytes - header : 1;
	stream->last->at[place] = (struct written_packet){.end = stream->written,
		.message = record.message,
		.number = tb_nodes_forget(&ethernet->replay, packet)};
	stream->n_written++;
	return true;
}

const struct written_packet *tb_streams_take(struct tcp_stream *stream)
{
	uint32_t place = (uint32_t)(stream->n_taken % PACKETS_A_BLOCK);
	if (place == 0)
		stream->taken_of =
			stream->taken_of ? stream->taken_of->next : stream->first;
	stream->n_taken++;
	return &stream->taken_of->at[place];
}

// tb_streams_next frees a block only when it comes to the next one, to which the sender
// has gone on before.
const struct written_packet *tb_streams_next(struct ethernet *ethernet, uint32_t id)
{
	struct tcp_receiver *receiver = tb_receiver_at(ethernet, id);
	struct written_block *before = receiver->given_of;
	if (receiver->n_given == receiver->n_taken)
		return NULL;
	if (receiver->n_given == receiver->block_end) {
		receiver->given_of =
			before ? before->next : tb_stream_at(ethernet, id)->first;
		receiver->block_end += PACKETS_A_BLOCK;
		free(before);
	}
	return &receiver->given_of->at[receiver->n_given % PACKETS_A_BLOCK];
}

bool tb_streams_cut(struct ethernet *ethernet, uint32_t id, uint32_t payload)
{
	struct tcp_stream *stream = tb_stream_at(ethernet, id);
	bool is_full = !stream->ring || stream->next - stream->acked > stream->mask;
	if (is_full && !stream_grow(stream)) {
		stream_no_memory(ethernet);
		return false;
	}
	stream->sent += payload;
	*segment_at(stream, stream->next++) = (struct segment){.end = stream->sent,
		.bytes = payload + ethernet->replay.net->params.packet_overhead_bytes,
		.is_pushed = stream->sent == stream->taken,
		.state = SEGMENT_QUEUED};
	return true;
}

// send_opening sends a frame without a segment, which opens a connection or confirms
// that it is open. All are of the flow that opens it.
static void send_opening(struct ethernet *ethernet, uint32_t id, enum frame_kind kind)
{
	const struct tcp_stream *stream = tb_stream_at(ethernet, id);
	uint32_t made = tb_ports_make(ethernet, stream->source);
	if (made == NOTHING)
		return;
	struct tcp_frame *frame = &ethernet->frames[made];
	frame->kind = (uint8_t)kind;
	frame->stream = id;
	frame->flow =
		stream->is_opener ? stream->flow : tb_receiver_at(ethernet, id ^ 1)->flow;
	frame->to = stream->destination;
	frame->bytes = ethernet->replay.net->params.packet_overhead_bytes;
	tb_receive_answer(ethernet, frame);
	tb_ports_send(ethernet, made);
}

void tb_open_begin(struct ethernet *ethernet, uint32_t id)
{
	struct tcp_stream *stream = tb_stream_at(ethernet, id);
	if (stream->opens || !stream->is_opener)
		return;
	stream->opens = true;
	stream->opens_at = ethernet->replay.now;
	send_opening(ethernet, id, FRAME_OPEN);
}

// opened: the other side has answered, and the connection is open.
static void opened(struct ethernet *ethernet, uint32_t id)
{
	struct tcp_stream *stream = tb_stream_at(ethernet, id);
	stream->is_open = true;
	tb_acks_measure(ethernet, stream, ethernet->replay.now - stream->opens_at);
	if (ethernet_params(ethernet)->tcp != TB_TCP_BBR)
		return;
	stream->rated = tb_rate_new(ethernet, id);
	if (!stream->rated)
		stream_no_memory(ethernet);
}

void tb_open_come(struct ethernet *ethernet, const struct tcp_frame *frame)
{
	uint32_t id = frame->stream ^ 1; // of the side at which it comes
	struct tcp_stream *stream = tb_stream_at(ethernet, id);
	if (stream->is_open)
		return;
	if (frame->kind == FRAME_OPEN) {
		stream->opens = true;
		stream->opens_at = ethernet->replay.now;
		send_opening(ethernet, id, FRAME_OPENED);
		return;
	}
	opened(ethernet, id);
	tb_send_more(ethernet, id);
	if (frame->kind == FRAME_OPENED && stream->next == 0)
		send_opening(ethernet, id, FRAME_ACK);
}

void tb_streams_free(struct tcp_table *tcp)
{
	for (uint32_t i = 0; i < tcp->n; i++) {
		const struct tcp_receiver *receiver = &tcp->receivers[i];
		struct written_block *block =
			receiver->given_of ? receiver->given_of : tcp->streams[i].first;
		while (block) {
			struct written_block *next = block->next;
			free(block);
			block = next;
		}
		free(receiver->ends);
		free(tcp->streams[i].ring);
		tb_rate_free(tcp->streams[i].rated);
	}
	free(tcp->streams);
	free(tcp->receivers);
	free(tcp->ways);
	free(tcp->of_message);
	tb_map_fini(&tcp->stream_of);
}

// How much a connection sends at once: batches (TSO), what of them may stand in its
// node's queue (TCP small queues), and the send buffer (rules E14 and E17).

// The least number of segments in a batch.
enum { BATCH_LEAST = 2 };

// The most bytes of a connection in its node's queue, whatever its rate (sysctl
// tcp_limit_output_bytes).
enum { IN_NIC_MOST = 4 << 20 };

uint32_t tb_batch_beside(const struct ethernet *ethernet)
{
	return TB_BUFFER_OWN + TB_BUFFER_SHARED + TB_BUFFER_PAD +
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

uint64_t tb_send_room(const struct ethernet *ethernet, const struct tcp_stream *stream)
{
	uint32_t window = stream->cubic.window, least = stream->cubic.restart;
	return tb_ethernet_send_room(
		&ethernet->replay.net->params, window > least ? window : least);
}
