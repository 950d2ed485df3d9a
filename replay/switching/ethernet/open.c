// How a connection opens: a frame there, one back, and whatever comes next (rule E9).
// Each side measures its first round trip by it.
#include "ethernet_impl.h"

static void send(struct ethernet *ethernet, uint32_t id, enum frame_kind kind)
{
	uint32_t made = tb_ports_make(ethernet);
	if (made == NOTHING)
		return;
	const struct stream *stream = &ethernet->streams[id];
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
	struct stream *stream = &ethernet->streams[id];
	if (stream->opens || ethernet->streams[id ^ 1].opens)
		return;
	stream->opens = true;
	stream->opens_at = ethernet->replay.now;
	send(ethernet, id, FRAME_OPEN);
}

// opened: the other side has answered.
static void opened(struct ethernet *ethernet, struct stream *stream)
{
	stream->is_open = true;
	tb_acks_measure(ethernet, stream, ethernet->replay.now - stream->opens_at);
}

void tb_open_come(struct ethernet *ethernet, const struct frame *frame)
{
	uint32_t id = frame->stream ^ 1; // of the side at which it comes
	struct stream *stream = &ethernet->streams[id];
	if (stream->is_open)
		return;
	if (frame->kind == FRAME_OPEN) {
		stream->opens = true;
		stream->opens_at = ethernet->replay.now;
		send(ethernet, id, FRAME_OPENED);
		return;
	}
	opened(ethernet, stream);
	tb_send_more(ethernet, id);
	if (frame->kind == FRAME_OPENED && stream->next == 0)
		send(ethernet, id, FRAME_ACK);
}
