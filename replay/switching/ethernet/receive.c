// The receiving side of TCP: segments in order, and when they are acknowledged (rules E15
// and E16).
#include "ethernet_impl.h"

// Segments that one acknowledgement answers (RFC 5681, 4.2).
enum { ANSWERED_AT_ONCE = 2 };

void tb_receive_answer(struct ethernet *ethernet, struct frame *frame)
{
	struct tcp_stream *stream = &ethernet->streams[frame->stream ^ 1];
	frame->acked = stream->come;
	frame->newest = stream->newest;
	frame->again = stream->again;
	stream->again = false;
	stream->n_unanswered = 0;
	stream->answer_at = TB_TIME_NEVER;
}

static void answer(struct ethernet *ethernet, uint32_t id)
{
	uint32_t made = tb_ports_make(ethernet);
	if (made == NOTHING)
		return;
	const struct tcp_stream *stream = &ethernet->streams[id];
	struct frame *frame = &ethernet->frames[made];
	frame->kind = FRAME_ACK;
	frame->stream = id ^ 1;
	frame->flow = stream->flow;
	frame->from = stream->destination;
	frame->to = stream->source;
	frame->bytes = ethernet->replay.net->params.packet_overhead_bytes;
	tb_receive_answer(ethernet, frame);
	tb_ports_send(ethernet, made);
}

static void put_off(struct ethernet *ethernet, uint32_t id)
{
	struct tcp_stream *stream = &ethernet->streams[id];
	if (stream->answer_at != TB_TIME_NEVER)
		return;
	stream->answer_at = ethernet->replay.now + params_of(ethernet)->delayed_ack_ps;
	if (stream->answer_at >= stream->answer_timer_at)
		return;
	stream->answer_timer_at = stream->answer_at;
	tb_wheel_put(&ethernet->replay.wheel, stream->answer_at, EV_ACK, id);
}

void tb_receive_late(struct ethernet *ethernet, uint32_t id)
{
	struct tcp_stream *stream = &ethernet->streams[id];
	tb_time_ps now = ethernet->replay.now;
	if (now != stream->answer_timer_at)
		return;
	stream->answer_timer_at = TB_TIME_NEVER;
	if (stream->answer_at == TB_TIME_NEVER)
		return;
	if (now >= stream->answer_at) {
		answer(ethernet, id);
		return;
	}
	stream->answer_timer_at = stream->answer_at;
	tb_wheel_put(&ethernet->replay.wheel, stream->answer_at, EV_ACK, id);
}

// deliver gives the node the segments that have arrived in order, and returns how many.
static uint32_t deliver(struct ethernet *ethernet, struct tcp_stream *stream)
{
	uint32_t n = 0;
	for (; stream->come < stream->next; n++) {
		const struct segment *segment = segment_at(stream, stream->come);
		if (!segment->has_come)
			break;
		stream->come++;
		tb_nodes_arrive(&ethernet->replay, segment->packet);
	}
	return n;
}

void tb_receive_segment(struct ethernet *ethernet, uint32_t id, uint64_t number)
{
	struct tcp_stream *stream = &ethernet->streams[id];
	stream->newest = number;
	stream->n_unanswered++;
	bool is_new = number >= stream->come && !segment_at(stream, number)->has_come;
	if (!is_new) {
		stream->again = true;
		answer(ethernet, id);
		return;
	}
	segment_at(stream, number)->has_come = true;
	if (number >= stream->come_most)
		stream->come_most = number + 1;
	uint32_t n = deliver(ethernet, stream);
	bool has_gap = stream->come < stream->come_most;
	if (n != 1 || has_gap || stream->n_unanswered >= ANSWERED_AT_ONCE)
		answer(ethernet, id);
	else
		put_off(ethernet, id);
}
