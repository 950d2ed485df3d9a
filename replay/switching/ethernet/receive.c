// The receiving side of TCP: segments in order, and when they are acknowledged (rules E15
// and E16).
#include "ethernet_impl.h"

// Acknowledgements of a connection's beginning that are not put off (TCP_MAX_QUICKACKS),
// and ends of messages that one acknowledgement answers.
enum { QUICK_MOST = 16, PUSHED_MOST = 2 };

// begin_quickly has acknowledgements not be put off while a sender begins: enough for
// half of what the receiver's window holds (tcp_incr_quickack of Linux).
static void begin_quickly(const struct ethernet *ethernet, struct tcp_receiver *receiver)
{
	uint64_t payload = ethernet->replay.net->params.packet_payload_bytes;
	uint64_t n = ethernet_params(ethernet)->window_bytes / (2 * payload);
	if (n < PUSHED_MOST)
		n = PUSHED_MOST;
	if (n > QUICK_MOST)
		n = QUICK_MOST;
	if (n > receiver->n_quick)
		receiver->n_quick = (uint8_t)n;
}

// note_coming adapts to how segments follow each other: a gap longer than the timeout is
// a new beginning (tcp_event_data_recv).
static void note_coming(const struct ethernet *ethernet, uint32_t id)
{
	struct tcp_receiver *receiver = tb_receiver_at(ethernet, id);
	tb_time_ps now = ethernet->replay.now,
		   least = ethernet_params(ethernet)->delayed_ack_ps;
	tb_time_ps gap = now - receiver->came_at;
	tb_time_ps timeout = tb_acks_timeout(tb_stream_at(ethernet, id ^ 1));
	if (receiver->came_at == TB_TIME_NEVER) {
		begin_quickly(ethernet, receiver);
		receiver->soon = least;
	} else if (gap <= least / 2) {
		receiver->soon = receiver->soon / 2 + least / 2;
	} else if (gap < receiver->soon) {
		receiver->soon = receiver->soon / 2 + gap;
	} else if (gap > timeout) {
		begin_quickly(ethernet, receiver);
	}
	receiver->came_at = now;
}

void tb_receive_replied(const struct ethernet *ethernet, struct tcp_receiver *receiver)
{
	if (receiver->came_at != TB_TIME_NEVER &&
		ethernet->replay.now - receiver->came_at < receiver->soon)
		receiver->replies = true;
}

void tb_receive_answer(struct ethernet *ethernet, struct tcp_frame *frame)
{
	struct tcp_receiver *receiver = tb_receiver_at(ethernet, frame->stream ^ 1);
	frame->acked = receiver->come;
	frame->newest = receiver->newest;
	frame->newest_copy = receiver->newest_copy;
	frame->again = receiver->again;
	receiver->again = false;
	if (receiver->unanswered > 0 && receiver->n_quick > 0)
		receiver->n_quick--;
	receiver->unanswered = receiver->n_pushed = 0;
	receiver->answer_at = TB_TIME_NEVER;
}

static void receiver_answer(struct ethernet *ethernet, uint32_t id)
{
	const struct tcp_receiver *receiver = tb_receiver_at(ethernet, id);
	uint32_t made = tb_ports_make(ethernet, receiver->destination);
	if (made == NOTHING)
		return;
	struct tcp_frame *frame = &ethernet->frames[made];
	frame->kind = FRAME_ACK;
	frame->stream = id ^ 1;
	frame->flow = receiver->flow;
	frame->to = receiver->source;
	frame->bytes = ethernet->replay.net->params.packet_overhead_bytes;
	tb_receive_answer(ethernet, frame);
	tb_ports_send(ethernet, made);
}

static void receiver_put_off(struct ethernet *ethernet, uint32_t id)
{
	struct tcp_receiver *receiver = tb_receiver_at(ethernet, id);
	if (receiver->answer_at != TB_TIME_NEVER)
		return;
	receiver->answer_at =
		ethernet->replay.now + ethernet_params(ethernet)->delayed_ack_ps;
	if (receiver->answer_at >= receiver->answer_timer_at)
		return;
	receiver->answer_timer_at = receiver->answer_at;
	tb_wheel_put(&ethernet->replay.wheel, receiver->answer_at, EV_ACK, id);
}

void tb_receive_late(struct ethernet *ethernet, uint32_t id)
{
	struct tcp_receiver *receiver = tb_receiver_at(ethernet, id);
	tb_time_ps now = ethernet->replay.now;
	if (now != receiver->answer_timer_at)
		return;
	receiver->answer_timer_at = TB_TIME_NEVER;
	if (receiver->answer_at == TB_TIME_NEVER)
		return;
	if (now >= receiver->answer_at) {
		receiver->replies = false;
		receiver_answer(ethernet, id);
		return;
	}
	receiver->answer_timer_at = receiver->answer_at;
	tb_wheel_put(&ethernet->replay.wheel, receiver->answer_at, EV_ACK, id);
}

// receiver_deliver gives the node the packets whose last bytes have arrived in order, and
// returns how many segments have.
static uint32_t receiver_deliver(struct ethernet *ethernet, uint32_t id)
{
	struct tcp_receiver *receiver = tb_receiver_at(ethernet, id);
	struct tb_replay *replay = &ethernet->replay;
	uint64_t end = 0;
	uint32_t n = 0;
	for (; receiver->come < receiver->come_most; n++) {
		uint64_t *of = &receiver->ends[receiver->come & receiver->mask];
		if (*of == 0)
			break;
		end = *of;
		*of = 0;
		receiver->come++;
	}
	for (const struct written_packet *packet;
		n > 0 && (packet = tb_streams_next(ethernet, id)) && packet->end <= end;
		receiver->n_given++)
		tb_nodes_arrive(
			replay, tb_nodes_recall(replay, packet->message, packet->number));
	return n;
}

// is_due returns whether what has come in order is acknowledged at once: more than a full
// segment, the end of a message, as its program then reads it, unless that is expected to
// reply, and all that comes where a connection begins (__tcp_ack_snd_check and
// tcp_cleanup_rbuf of Linux).
static bool is_due(const struct ethernet *ethernet, const struct tcp_receiver *receiver)
{
	uint32_t payload = ethernet->replay.net->params.packet_payload_bytes;
	if (receiver->unanswered > payload || receiver->n_pushed >= PUSHED_MOST)
		return true;
	return !receiver->replies && (receiver->n_quick > 0 || receiver->n_pushed > 0);
}

// is_new returns whether a segment has not come before.
static bool is_new(const struct tcp_receiver *receiver, uint64_t number)
{
	return number >= receiver->come &&
	       (number >= receiver->come_most ||
		       !receiver->ends[number & receiver->mask]);
}

// receiver_take takes a segment that has not come before.
static void receiver_take(struct ethernet *ethernet, const struct tcp_frame *frame)
{
	struct tcp_receiver *receiver = tb_receiver_at(ethernet, frame->stream);
	if (!tb_streams_come(receiver, frame->number, frame->end)) {
		tb_replay_no_memory(&ethernet->replay, "the connections");
		return;
	}
	if (frame->n_taken > receiver->n_taken)
		receiver->n_taken = frame->n_taken;
	receiver->unanswered +=
		frame->bytes - ethernet->replay.net->params.packet_overhead_bytes;
	if (frame->is_pushed)
		receiver->n_pushed++;
}

void tb_receive_segment(struct ethernet *ethernet, const struct tcp_frame *frame)
{
	uint32_t id = frame->stream;
	struct tcp_receiver *receiver = tb_receiver_at(ethernet, id);
	receiver->newest = frame->number;
	receiver->newest_copy = frame->copy;
	note_coming(ethernet, id);
	if (!is_new(receiver, frame->number)) {
		receiver->again = true;
		receiver_answer(ethernet, id);
		return;
	}
	receiver_take(ethernet, frame);
	uint32_t n = receiver_deliver(ethernet, id);
	bool has_gap = receiver->come < receiver->come_most;
	if (n != 1 || has_gap || is_due(ethernet, receiver))
		receiver_answer(ethernet, id);
	else
		receiver_put_off(ethernet, id);
}
