// What is lost, as the sender of a stream finds out: by what was sent later and has come
// (RACK), and by probes of the tail (RFC 8985; tcp_recovery.c of Linux).
#include "ethernet_impl.h"

// From so many later segments that have come, a segment need not be waited for.
enum { REORDERED = 3 };

void tb_losses_come(struct tcp_stream *stream, uint64_t number, tb_time_ps now)
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

void tb_losses_shrink(struct tcp_stream *stream)
{
	if (stream->recovers || stream->timed_out)
		return;
	stream->recovers = true;
	stream->recover = stream->next;
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

// patience is for how long a segment may come later than one that was sent behind it.
static tb_time_ps patience(const struct tcp_stream *stream)
{
	if (stream->n_sacked >= REORDERED || stream->recovers || stream->timed_out)
		return 0;
	tb_time_ps quarter = stream->least / 4, eighth = stream->srtt / 8;
	return quarter < eighth ? quarter : eighth;
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
	if (stream->n_lost > 0)
		tb_losses_shrink(stream);
}

// A probe that was sent again repaired a loss unless a duplicate has come (RFC
// 8985, 7.4).
void tb_losses_probed(struct tcp_stream *stream, bool again)
{
	if (!stream->probes || stream->acked < stream->probe_end)
		return;
	if (stream->probe_resent && !again && stream->acked == stream->probe_end)
		return; // not known yet
	stream->probes = false;
	if (stream->probe_resent && !again)
		tb_losses_shrink_only(stream);
}
