// The receiving side of TCP: segments in order, and when they are acknowledged (rules E15
// and E16).
#include "ethernet_impl.h"

// The number of acknowledgements at the beginning of a connection that are not delayed
// (TCP_MAX_QUICKACKS), and of message ends that one acknowledgement answers.
enum { QUICK_MOST = 16, PUSHED_MOST = 2 };

static void losses_probed(struct tcp_stream *stream, bool again);

static void losses_come(struct tcp_stream *stream, uint64_t number, tb_time_ps now);

static void losses_again(
	struct tcp_stream *stream, const struct tcp_frame *frame, tb_time_ps now);

// begin_quickly disables delayed acknowledgements while a sender begins, for half of the
// segments of the receiver's window (tcp_incr_quickack of Linux).
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

// is_new returns whether a segment arrives for the first time.
static bool is_new(const struct tcp_receiver *receiver, uint64_t number)
{
	return number >= receiver->come &&
	       (number >= receiver->come_most ||
		       !receiver->ends[number & receiver->mask]);
}

// receiver_take accepts a segment that arrives for the first time.
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

// What acknowledgements change at the sender: round trip, window, losses (rules E10 to
// E13).

tb_time_ps tb_acks_timeout(const struct tcp_stream *stream)
{
	if (stream->srtt == 0)
		return TB_PS_PER_S; // no round trip has been measured (RFC 6298, 2.1)
	return stream->srtt + stream->rttvar;
}

bool tb_acks_limited(const struct tcp_stream *stream)
{
	if (stream->is_limited)
		return true;
	return stream->cubic.window < stream->cubic.threshold &&
	       stream->cubic.window < 2 * stream->round_most;
}

// tb_acks_measure smooths the round trip (RFC 6298), with a margin that falls slowly and
// is never below the least timeout, as in Linux (tcp_rtt_estimator).
void tb_acks_measure(
	const struct ethernet *ethernet, struct tcp_stream *stream, tb_time_ps took)
{
	tb_time_ps least = ethernet_params(ethernet)->rto_min_ps;
	if (took < stream->least)
		stream->least = took;
	if (stream->srtt == 0) {
		stream->srtt = took;
		stream->mdev = took / 2;
		stream->rttvar = stream->mdev_max =
			tb_time_later(4 * stream->mdev, least);
		stream->mdev_end = stream->next;
		return;
	}
	tb_time_ps off = took - stream->srtt;
	stream->srtt += off / 8;
	tb_time_ps more = (off < 0 ? -off : off) - stream->mdev;
	if (off < 0 && more > 0)
		more /= 8; // a shorter round trip is no reason to wait longer
	stream->mdev += more / 4;
	stream->mdev_max = tb_time_later(stream->mdev_max, 4 * stream->mdev);
	stream->rttvar = tb_time_later(stream->rttvar, stream->mdev_max);
	if (stream->acked <= stream->mdev_end)
		return;
	if (stream->mdev_max < stream->rttvar)
		stream->rttvar -= (stream->rttvar - stream->mdev_max) / 4;
	stream->mdev_end = stream->next;
	stream->mdev_max = least;
}

struct acked_segments { // what one acknowledgement takes off the stream
	uint32_t n;
	tb_time_ps first_at, last_at; // sent; 0: resent, or sacked before
	bool was_early;		      // some that was given up had come
};

static struct acked_segments ack_take(
	const struct ethernet *ethernet, struct tcp_stream *stream, uint64_t acked)
{
	tb_time_ps now = ethernet->replay.now;
	struct acked_segments gone = {0};
	bool any = false;
	for (; stream->acked < acked; stream->acked++) {
		const struct segment *segment = segment_at(stream, stream->acked);
		stream->n_lost -= segment->state == SEGMENT_LOST;
		stream->n_sacked -= segment->state == SEGMENT_SACKED;
		gone.was_early |= segment->is_early ||
				  (segment->state == SEGMENT_LOST && !segment->resent);
		gone.n++;
		stream->cleared = segment->end;
		if (segment->state != SEGMENT_SACKED) {
			stream->reorders |= stream->n_sacked > 0 && !segment->resent &&
					    stream->acked + 1 < stream->sacked_most;
			losses_come(stream, stream->acked, now);
			if (stream->rated)
				tb_rate_delivered(ethernet, stream, stream->acked);
		}
		if (segment->resent || segment->state == SEGMENT_SACKED)
			continue;
		if (!any)
			gone.first_at = segment->sent_at;
		gone.last_at = segment->sent_at;
		any = true;
	}
	if (!any)
		gone.first_at = gone.last_at = TB_TIME_NEVER;
	return gone;
}

static void note_sacked(
	const struct ethernet *ethernet, struct tcp_stream *stream, uint64_t newest)
{
	if (newest < stream->acked || newest >= stream->next)
		return;
	struct segment *segment = segment_at(stream, newest);
	if (segment->state == SEGMENT_SACKED)
		return;
	stream->n_lost -= segment->state == SEGMENT_LOST;
	losses_come(stream, newest, ethernet->replay.now);
	if (stream->rated)
		tb_rate_delivered(ethernet, stream, newest);
	stream->reorders |= stream->n_sacked > 0 && !segment->resent &&
			    newest + 1 < stream->sacked_most;
	if (newest + 1 > stream->sacked_most)
		stream->sacked_most = newest + 1;
	segment->state = SEGMENT_SACKED;
	stream->n_sacked++;
}

// is_idle returns whether a stream has nothing to send, nothing under way, and no probe
// of which an acknowledgement may tell.
static bool is_idle(const struct tcp_stream *stream)
{
	return stream->next == stream->acked && stream->n_taken == stream->n_written &&
	       stream->sent == stream->written && !stream->probes && !stream->rated;
}

void tb_acks_come(struct ethernet *ethernet, uint32_t id, const struct tcp_frame *frame)
{
	struct tcp_stream *stream = tb_stream_at(ethernet, id);
	if (is_idle(stream) && !frame->again) // the rule where nothing is sent back
		return;
	bool advances = frame->acked > stream->acked;
	// The segment for which a frame acknowledges may have been sent again since
	// the copy that came (Eifel: RFC 3522).
	uint64_t newest = frame->newest;
	if (newest >= stream->acked && newest < stream->next &&
		frame->newest_copy != segment_at(stream, newest)->copy)
		segment_at(stream, newest)->is_early = true;
	if (advances) {
		uint64_t acked = frame->acked;
		tb_time_ps now = ethernet->replay.now;
		bool is_limited = tb_acks_limited(stream);
		struct acked_segments gone = ack_take(ethernet, stream, acked);
		struct tb_cubic_ack ack = {.now = now,
			.n = gone.n,
			.is_limited = is_limited,
			.spread = tb_send_spread(ethernet, stream),
			.acked = stream->acked,
			.next = stream->next};
		if (gone.first_at != TB_TIME_NEVER) {
			tb_acks_measure(ethernet, stream, now - gone.first_at);
			ack.round_trip = now - gone.last_at;
		}
		stream->n_timeouts = 0;
		if (stream->timed_out && gone.was_early) {
			// The timer ran out too early, for what it gave up had come (RFC
			// 5682).
			for (uint64_t i = stream->acked; i < stream->next; i++)
				if (segment_at(stream, i)->state == SEGMENT_LOST)
					segment_at(stream, i)->state = SEGMENT_SENT;
			stream->n_lost = 0;
			stream->cubic = stream->before_timeout;
			stream->timed_out = false;
			if (stream->rated) {
				stream->rated->bbr.window = stream->cubic.window;
				tb_bbr_undone(&stream->rated->bbr);
				stream->cubic.window = stream->rated->bbr.window;
			}
		}
		if (!stream->recovers && !stream->rated)
			tb_cubic_acked(&stream->cubic, &ack);
		if (stream->acked >= stream->recover) {
			if (stream->recovers && stream->n_repairs > 0)
				stream->n_repairs--;
			stream->recovers = stream->timed_out = false;
		}
	}
	note_sacked(ethernet, stream, frame->newest);
	losses_again(stream, frame, ethernet->replay.now);
	losses_probed(stream, frame->again);
	if (advances)
		tb_send_set_timer(ethernet, id);
	uint32_t n_lost = stream->n_lost;
	tb_losses_find(ethernet, id);
	if (stream->rated)
		tb_rate_acked(ethernet, stream, stream->n_lost - n_lost);
	tb_send_acked(ethernet, id);
}

// What is lost, as the sender of a stream finds out: by what was sent later and has come
// (RACK), and by probes of the tail (RFC 8985; tcp_recovery.c of Linux).

// After this many later segments have arrived, a missing one is lost; for so many repairs
// a copy that came twice has RACK wait longer (TCP_RACK_RECOVERY_THRESH).
enum { REORDERED = 3, REPAIRS = 16 };

// losses_come: segment `number` has arrived, as an acknowledgement reports.
static void losses_come(struct tcp_stream *stream, uint64_t number, tb_time_ps now)
{
	const struct segment *segment = segment_at(stream, number);
	tb_time_ps took = now - segment->sent_at;
	if (segment->resent && took < stream->least)
		return; // that was an earlier copy
	if (segment->sent_at < stream->rack_at ||
		(segment->sent_at == stream->rack_at && number < stream->rack_number))
		return;
	stream->rack_at = segment->sent_at;
	stream->rack_number = number;
	stream->rack_took = took;
}

// losses_again takes in that a copy came that had come before. It ends a repair that was
// for nothing (tcp_rack_update_reo_wnd, tcp_try_undo_dsack).
static void losses_again(
	struct tcp_stream *stream, const struct tcp_frame *frame, tb_time_ps now)
{
	if (stream->n_repairs == 0)
		stream->n_quarters = 1;
	if (!frame->again || (stream->probes && frame->newest + 1 == stream->probe_end))
		return;
	if (stream->rack_at >= stream->quarters_at && stream->n_quarters < UINT8_MAX) {
		stream->n_quarters++;
		stream->n_repairs = REPAIRS;
		stream->quarters_at = now;
	}
	if (!stream->may_undo || frame->newest < stream->undo_from ||
		stream->n_copies == 0 || --stream->n_copies > 0 || stream->timed_out)
		return;
	stream->may_undo = stream->recovers = false;
	struct tb_cubic *cubic = &stream->cubic;
	if (stream->rated) {
		tb_bbr_undone(&stream->rated->bbr);
		return;
	}
	if (cubic->window < stream->window_then)
		cubic->window = stream->window_then;
	if (cubic->threshold < stream->threshold_then)
		cubic->threshold = stream->threshold_then;
}

void tb_losses_shrink(struct tcp_stream *stream)
{
	if (stream->recovers || stream->timed_out)
		return;
	stream->recovers = true;
	stream->recover = stream->next;
	stream->may_undo = false;
	if (stream->rated)
		tb_bbr_lost(&stream->rated->bbr);
	else
		tb_cubic_lost(&stream->cubic);
}

void tb_losses_shrink_only(struct tcp_stream *stream)
{
	if (!stream->rated)
		tb_losses_shrink(stream);
}

// patience is how much later a segment may arrive than one that was sent after it.
static tb_time_ps patience(const struct tcp_stream *stream)
{
	if (!stream->reorders &&
		(stream->n_sacked >= REORDERED || stream->recovers || stream->timed_out))
		return 0;
	tb_time_ps quarters = stream->least / 4 * stream->n_quarters;
	return quarters < stream->srtt ? quarters : stream->srtt;
}

static bool was_overtaken(const struct tcp_stream *stream, uint64_t number)
{
	const struct segment *segment = segment_at(stream, number);
	return segment->state == SEGMENT_SENT &&
	       (segment->sent_at < stream->rack_at ||
		       (segment->sent_at == stream->rack_at &&
			       number < stream->rack_number));
}

void tb_losses_find(struct ethernet *ethernet, uint32_t id)
{
	struct tcp_stream *stream = tb_stream_at(ethernet, id);
	tb_time_ps now = ethernet->replay.now, last = 0;
	if (stream->n_sacked == 0 && !stream->recovers && !stream->timed_out)
		return; // nothing was overtaken
	tb_time_ps wait = stream->rack_took + patience(stream);
	for (uint64_t i = stream->acked; i < stream->next; i++) {
		if (!was_overtaken(stream, i))
			continue;
		tb_time_ps due = segment_at(stream, i)->sent_at + wait;
		if (due <= now) {
			segment_at(stream, i)->state = SEGMENT_LOST;
			stream->n_lost++;
		} else if (due > last) {
			last = due;
		}
	}
	if (last > 0)
		tb_send_await(ethernet, id, TIMER_REORDER, last);
	if (stream->n_lost == 0 || stream->recovers || stream->timed_out)
		return;
	stream->window_then = stream->cubic.window;
	stream->threshold_then = stream->cubic.threshold;
	stream->n_copies = 0;
	stream->undo_from = stream->acked;
	tb_losses_shrink(stream);
	stream->may_undo = true;
}

// A probe that was sent again repaired a loss unless a duplicate has come (RFC
// 8985, 7.4).
static void losses_probed(struct tcp_stream *stream, bool again)
{
	if (!stream->probes || stream->acked < stream->probe_end)
		return;
	if (stream->probe_resent && !again && stream->acked == stream->probe_end)
		return; // not known yet
	stream->probes = false;
	if (stream->probe_resent && !again)
		tb_losses_shrink_only(stream);
}
