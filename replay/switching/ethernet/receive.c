// The receiving side of TCP: segments in order, and when they are acknowledged (rules E15
// and E16).
#include "ethernet_impl.h"

// Acknowledgements of a connection's beginning that are not put off (TCP_MAX_QUICKACKS),
// and ends of messages that one acknowledgement answers.
enum { QUICK_MOST = 16, PUSHED_MOST = 2 };

// begin_quickly has acknowledgements not be put off while a sender begins: enough for
// half of what the receiver's window holds (tcp_incr_quickack of Linux).
static void begin_quickly(const struct ethernet *ethernet, struct tcp_stream *stream)
{
	uint64_t payload = ethernet->replay.net->params.packet_payload_bytes;
	uint64_t n = params_of(ethernet)->window_bytes / (2 * payload);
	if (n < PUSHED_MOST)
		n = PUSHED_MOST;
	if (n > QUICK_MOST)
		n = QUICK_MOST;
	if (n > stream->n_quick)
		stream->n_quick = (uint8_t)n;
}

// note_coming adapts to how segments follow each other: a gap longer than the timeout is
// a new beginning (tcp_event_data_recv).
static void note_coming(const struct ethernet *ethernet, uint32_t id)
{
	struct tcp_stream *stream = &ethernet->streams[id];
	tb_time_ps now = ethernet->replay.now,
		   least = params_of(ethernet)->delayed_ack_ps;
	tb_time_ps gap = now - stream->came_at;
	tb_time_ps timeout = tb_acks_timeout(&ethernet->streams[id ^ 1]);
	if (stream->came_at == TB_TIME_NEVER) {
		begin_quickly(ethernet, stream);
		stream->soon = least;
	} else if (gap <= least / 2) {
		stream->soon = stream->soon / 2 + least / 2;
	} else if (gap < stream->soon) {
		stream->soon = stream->soon / 2 + gap;
	} else if (gap > timeout) {
		begin_quickly(ethernet, stream);
	}
	stream->came_at = now;
}

void tb_receive_replied(const struct ethernet *ethernet, struct tcp_stream *stream)
{
	if (stream->came_at != TB_TIME_NEVER &&
		ethernet->replay.now - stream->came_at < stream->soon)
		stream->replies = true;
}

void tb_receive_answer(struct ethernet *ethernet, struct frame *frame)
{
	struct tcp_stream *stream = &ethernet->streams[frame->stream ^ 1];
	frame->acked = stream->come;
	frame->newest = stream->newest;
	frame->again = stream->again;
	stream->again = false;
	if (stream->unanswered > 0 && stream->n_quick > 0)
		stream->n_quick--;
	stream->unanswered = stream->n_pushed = 0;
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
		stream->replies = false;
		answer(ethernet, id);
		return;
	}
	stream->answer_timer_at = stream->answer_at;
	tb_wheel_put(&ethernet->replay.wheel, stream->answer_at, EV_ACK, id);
}

// deliver gives the node the packets whose last bytes have arrived in order, and returns
// how many segments have.
static uint32_t deliver(struct ethernet *ethernet, struct tcp_stream *stream)
{
	uint64_t end = 0;
	uint32_t n = 0;
	for (; stream->come < stream->next; n++) {
		const struct segment *segment = segment_at(stream, stream->come);
		if (!segment->has_come)
			break;
		stream->come++;
		end = segment->end;
	}
	while (stream->n_given < stream->n_taken &&
		tb_packet_of(stream, stream->n_given)->end <= end)
		tb_nodes_arrive(&ethernet->replay,
			tb_packet_of(stream, stream->n_given++)->packet);
	return n;
}

// is_due returns whether what has come in order is acknowledged at once: more than a full
// segment, the end of a message, as its program then reads it, unless that is expected to
// reply, and all that comes where a connection begins (__tcp_ack_snd_check and
// tcp_cleanup_rbuf of Linux).
static bool is_due(const struct ethernet *ethernet, const struct tcp_stream *stream)
{
	uint32_t payload = ethernet->replay.net->params.packet_payload_bytes;
	if (stream->unanswered > payload || stream->n_pushed >= PUSHED_MOST)
		return true;
	return !stream->replies && (stream->n_quick > 0 || stream->n_pushed > 0);
}

void tb_receive_segment(
	struct ethernet *ethernet, uint32_t id, uint64_t number, uint8_t copy)
{
	struct tcp_stream *stream = &ethernet->streams[id];
	stream->newest = number;
	bool is_new = number >= stream->come && !segment_at(stream, number)->has_come;
	note_coming(ethernet, id);
	if (!is_new) {
		stream->again = true;
		answer(ethernet, id);
		return;
	}
	const struct tb_network_params *params = &ethernet->replay.net->params;
	struct segment *segment = segment_at(stream, number);
	segment->has_come = true;
	segment->is_early = copy != segment->copy;
	stream->unanswered += segment->bytes - params->packet_overhead_bytes;
	if (segment->is_pushed)
		stream->n_pushed++;
	if (number >= stream->come_most)
		stream->come_most = number + 1;
	uint32_t n = deliver(ethernet, stream);
	bool has_gap = stream->come < stream->come_most;
	if (n != 1 || has_gap || is_due(ethernet, stream))
		answer(ethernet, id);
	else
		put_off(ethernet, id);
}
