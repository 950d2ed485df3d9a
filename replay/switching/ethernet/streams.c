// Connections: their two streams, the segments of each, and how they open (rule E9): a
// frame there, one back, and whatever comes next. Each side measures its first round trip
// by that.
#include "ethernet_impl.h"

#include "array.h"

#include <stdlib.h>
#include <string.h>

enum { RING_FIRST = 16 };

static struct tcp_stream new_stream(
	const struct ethernet *ethernet, uint32_t source, uint32_t destination)
{
	struct tcp_stream stream = {.source = source,
		.destination = destination,
		.least = TB_TIME_NEVER,
		.newest = UINT64_MAX, // none has come
		.came_at = TB_TIME_NEVER,
		.timeout_at = TB_TIME_NEVER,
		.give_up_at = TB_TIME_NEVER,
		.timer_at = TB_TIME_NEVER,
		.answer_at = TB_TIME_NEVER,
		.answer_timer_at = TB_TIME_NEVER};
	tb_cubic_init(&stream.cubic, params_of(ethernet)->initial_window);
	stream.cubic.is_reno = params_of(ethernet)->tcp == TB_TCP_RENO;
	stream.room = tb_send_room(ethernet, &stream);
	return stream;
}

static void no_memory(struct ethernet *ethernet)
{
	tb_replay_no_memory(&ethernet->replay, "the connections");
}

uint32_t tb_streams_of(
	struct ethernet *ethernet, uint32_t job, uint32_t source, uint32_t destination)
{
	uint32_t low = source < destination ? source : destination;
	uint32_t high = source < destination ? destination : source;
	uint64_t key = (uint64_t)job << 48 | (uint64_t)low << 24 | high;
	uint32_t first;
	if (tb_map_find(&ethernet->stream_of, key, &first))
		return first + (source > destination);
	first = ethernet->n_streams;
	if (TB_ARRAY_RESERVE(&ethernet->streams, &ethernet->streams_room,
		    (size_t)first + 2) != TB_OK ||
		tb_map_put(&ethernet->stream_of, key, first) != TB_OK) {
		no_memory(ethernet);
		return NOTHING;
	}
	ethernet->streams[first] = new_stream(ethernet, low, high);
	ethernet->streams[first + 1] = new_stream(ethernet, high, low);
	ethernet->n_streams += 2;
	return first + (source > destination);
}

// grow doubles the ring, in which a segment's place depends on how large it is.
static bool grow(struct tcp_stream *stream)
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

static bool grow_packets(struct tcp_stream *stream)
{
	uint64_t room = stream->packets ? 2 * (stream->packets_mask + 1) : RING_FIRST;
	struct written_packet *packets = malloc(room * sizeof *packets);
	if (!packets)
		return false;
	for (uint64_t i = stream->n_given; i < stream->n_written; i++)
		packets[i & (room - 1)] = *tb_packet_of(stream, i);
	free(stream->packets);
	stream->packets = packets;
	stream->packets_mask = room - 1;
	return true;
}

// A packet without payload takes a byte, as TCP sends nothing without one.
bool tb_streams_write(struct ethernet *ethernet, uint32_t id, uint32_t packet)
{
	struct tcp_stream *stream = &ethernet->streams[id];
	bool is_full = !stream->packets ||
		       stream->n_written - stream->n_given > stream->packets_mask;
	if (is_full && !grow_packets(stream)) {
		no_memory(ethernet);
		return false;
	}
	const struct segment_packet *record = packet_at(ethernet, packet);
	const struct tb_posted *message = &ethernet->replay.messages[record->of.message];
	uint32_t header = ethernet->replay.net->params.packet_overhead_bytes;
	stream->written +=
		record->of.wire_bytes > header ? record->of.wire_bytes - header : 1;
	*tb_packet_of(stream, stream->n_written++) = (struct written_packet){
		.end = stream->written,
		.packet = packet,
		.message = message->n_unfetched == 0 ? record->of.message : NOTHING};
	stream->flow = record->of.flow;
	return true;
}

bool tb_streams_cut(struct ethernet *ethernet, uint32_t id, uint32_t payload)
{
	struct tcp_stream *stream = &ethernet->streams[id];
	bool is_full = !stream->ring || stream->next - stream->acked > stream->mask;
	if (is_full && !grow(stream)) {
		no_memory(ethernet);
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
// that it is open.
static void send_opening(struct ethernet *ethernet, uint32_t id, enum frame_kind kind)
{
	uint32_t made = tb_ports_make(ethernet);
	if (made == NOTHING)
		return;
	const struct tcp_stream *stream = &ethernet->streams[id];
	struct frame *frame = &ethernet->frames[made];
	frame->kind = (uint8_t)kind;
	frame->stream = id;
	frame->flow = kind == FRAME_OPEN ? stream->flow : ethernet->streams[id ^ 1].flow;
	frame->from = stream->source;
	frame->to = stream->destination;
	frame->bytes = ethernet->replay.net->params.packet_overhead_bytes;
	tb_receive_answer(ethernet, frame);
	tb_ports_send(ethernet, made);
}

void tb_open_begin(struct ethernet *ethernet, uint32_t id)
{
	struct tcp_stream *stream = &ethernet->streams[id];
	if (stream->opens || ethernet->streams[id ^ 1].opens)
		return;
	stream->opens = true;
	stream->opens_at = ethernet->replay.now;
	send_opening(ethernet, id, FRAME_OPEN);
}

// opened: the other side has answered.
static void opened(struct ethernet *ethernet, uint32_t id)
{
	struct tcp_stream *stream = &ethernet->streams[id];
	stream->is_open = true;
	tb_acks_measure(ethernet, stream, ethernet->replay.now - stream->opens_at);
	if (params_of(ethernet)->tcp != TB_TCP_BBR)
		return;
	stream->rated = tb_rate_new(ethernet, id);
	if (!stream->rated)
		no_memory(ethernet);
}

void tb_open_come(struct ethernet *ethernet, const struct frame *frame)
{
	uint32_t id = frame->stream ^ 1; // of the side at which it comes
	struct tcp_stream *stream = &ethernet->streams[id];
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

void tb_streams_free(struct ethernet *ethernet)
{
	for (uint32_t i = 0; i < ethernet->n_streams; i++) {
		free(ethernet->streams[i].ring);
		free(ethernet->streams[i].packets);
		tb_rate_free(ethernet->streams[i].rated);
	}
	free(ethernet->streams);
	tb_map_fini(&ethernet->stream_of);
}
