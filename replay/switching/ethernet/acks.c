// What acknowledgements change at the sender: round trip, window, losses (rules E10 to
// E13).
#include "ethernet_impl.h"

static struct tcp_stream *ack_stream_at(const struct ethernet *ethernet, uint32_t id)
{
	return tb_stream_at(ethernet, id);
}

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
			tb_losses_come(stream, stream->acked, now);
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

// undo_timeout: the timer ran out too early, for what it gave up had come (RFC 5682).
static void undo_timeout(struct tcp_stream *stream)
{
	for (uint64_t i = stream->acked; i < stream->next; i++)
		if (segment_at(stream, i)->state == SEGMENT_LOST)
			segment_at(stream, i)->state = SEGMENT_SENT;
	stream->n_lost = 0;
	stream->cubic = stream->before_timeout;
	stream->timed_out = false;
	if (!stream->rated)
		return;
	stream->rated->bbr.window = stream->cubic.window;
	tb_bbr_undone(&stream->rated->bbr);
	stream->cubic.window = stream->rated->bbr.window;
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
	tb_losses_come(stream, newest, ethernet->replay.now);
	if (stream->rated)
		tb_rate_delivered(ethernet, stream, newest);
	segment->state = SEGMENT_SACKED;
	stream->n_sacked++;
}

// note_copy: the segment for which a frame acknowledges may have been sent again since
// the copy that came (Eifel: RFC 3522).
static void note_copy(struct tcp_stream *stream, const struct tcp_frame *frame)
{
	uint64_t newest = frame->newest;
	if (newest >= stream->acked && newest < stream->next &&
		frame->newest_copy != segment_at(stream, newest)->copy)
		segment_at(stream, newest)->is_early = true;
}

static void end_recovery(struct tcp_stream *stream)
{
	if (stream->acked >= stream->recover)
		stream->recovers = stream->timed_out = false;
}

static void ack_advance(
	struct ethernet *ethernet, struct tcp_stream *stream, uint64_t acked)
{
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
	if (stream->timed_out && gone.was_early)
		undo_timeout(stream);
	if (!stream->recovers && !stream->rated)
		tb_cubic_acked(&stream->cubic, &ack);
	end_recovery(stream);
}

void tb_acks_come(struct ethernet *ethernet, uint32_t id, const struct tcp_frame *frame)
{
	struct tcp_stream *stream = ack_stream_at(ethernet, id);
	bool advances = frame->acked > stream->acked;
	note_copy(stream, frame);
	if (advances)
		ack_advance(ethernet, stream, frame->acked);
	note_sacked(ethernet, stream, frame->newest);
	tb_losses_probed(stream, frame->again);
	if (advances)
		tb_send_set_timer(ethernet, id);
	uint32_t n_lost = stream->n_lost;
	tb_losses_find(ethernet, id);
	if (stream->rated)
		tb_rate_acked(ethernet, stream, stream->n_lost - n_lost);
	tb_send_acked(ethernet, id);
}
