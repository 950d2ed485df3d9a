#include "rate.h"

#include "ethernet_impl.h"
#include "random.h"

#include <stdlib.h>

// Linux does not pace the first ten segments of a connection, as its scheduler fq.
enum { UNPACED = 10 };

struct rated *tb_rate_new(const struct ethernet *ethernet, uint32_t id)
{
	const struct tcp_stream *stream = tb_stream_at(ethernet, id);
	struct rated *rated = calloc(1, sizeof *rated);
	if (!rated)
		return NULL;
	rated->timer_at = TB_TIME_NEVER;
	uint64_t pair = (uint64_t)stream->source << 32 | stream->destination;
	tb_bbr_init(&rated->bbr, stream->cubic.window,
		tb_random_mix(ethernet->replay.choice.seed ^ tb_random_mix(pair)),
		ethernet->replay.now, stream->srtt);
	return rated;
}

void tb_rate_free(struct rated *rated)
{
	if (rated)
		free(rated->marks);
	free(rated);
}

// rate_mark_limited: the rate is the program's until all that is under way is delivered.
static void rate_mark_limited(struct tcp_stream *stream)
{
	uint64_t until = stream->rated->delivered + tb_send_under_way(stream);
	stream->rated->limited = until ? until : 1;
}

void tb_rate_posted(const struct ethernet *ethernet, struct tcp_stream *stream)
{
	(void)ethernet;
	if (stream->written == stream->sent && stream->in_nic == 0 &&
		stream->n_lost == 0 && tb_send_under_way(stream) < stream->cubic.window)
		rate_mark_limited(stream);
}

static bool rate_grow(struct tcp_stream *stream)
{
	struct rated *rated = stream->rated;
	struct rate_mark *marks = malloc((stream->mask + 1) * sizeof *marks);
	if (!marks)
		return false;
	for (uint64_t i = stream->acked; rated->marks && i < stream->next; i++)
		marks[i & stream->mask] = rated->marks[i & rated->mask];
	free(rated->marks);
	rated->marks = marks;
	rated->mask = stream->mask;
	return true;
}

void tb_rate_sent(struct ethernet *ethernet, struct tcp_stream *stream, uint64_t number)
{
	struct rated *rated = stream->rated;
	const struct segment *segment = segment_at(stream, number);
	tb_time_ps now = ethernet->replay.now;
	if ((!rated->marks || rated->mask != stream->mask) && !rate_grow(stream)) {
		tb_replay_no_memory(&ethernet->replay, "the connections");
		return;
	}
	if (tb_send_under_way(stream) <= 1 && rated->limited > 0) // it counts as such
		tb_bbr_restarts(&rated->bbr, now);
	if (segment->state == SEGMENT_QUEUED && number == stream->acked)
		rated->first_at = rated->delivered_at = now;
	rated->marks[number & rated->mask] =
		(struct rate_mark){.delivered = rated->delivered,
			.delivered_at = rated->delivered_at,
			.first_at = rated->first_at,
			.is_limited = rated->limited > 0};
	rated->n_sent++;
	rated->bytes += segment->bytes;
}

void tb_rate_delivered(
	const struct ethernet *ethernet, struct tcp_stream *stream, uint64_t number)
{
	struct rated *rated = stream->rated;
	const struct segment *segment = segment_at(stream, number);
	const struct tb_network_params *params = &ethernet->replay.net->params;
	rated->delivered++;
	rated->n++;
	bool is_newer =
		rated->n == 1 || segment->sent_at > rated->newest_at ||
		(segment->sent_at == rated->newest_at && number > rated->newest_number);
	if (!is_newer)
		return;
	rated->newest = rated->marks[number & rated->mask];
	rated->newest_at = rated->first_at = segment->sent_at;
	rated->newest_number = number;
	rated->is_short = segment->bytes <
			  params->packet_payload_bytes + params->packet_overhead_bytes;
	if (!segment->resent)
		rated->round_trip = ethernet->replay.now - segment->sent_at;
}

// interval_of is how long it took to deliver what was between the sample's segment and
// what was delivered before it: to send it or to acknowledge it, what took longer. 0: no
// sample, as it would be below the shortest round trip.
static tb_time_ps interval_of(
	const struct rated *rated, const struct tcp_stream *stream, tb_time_ps now)
{
	tb_time_ps sent = rated->newest_at - rated->newest.first_at;
	tb_time_ps acked = now - rated->newest.delivered_at;
	tb_time_ps longer = sent > acked ? sent : acked;
	return rated->n == 0 || longer < stream->least ? 0 : longer;
}

void tb_rate_acked(
	const struct ethernet *ethernet, struct tcp_stream *stream, uint32_t n_lost)
{
	struct rated *rated = stream->rated;
	tb_time_ps now = ethernet->replay.now;
	uint32_t under_way = tb_send_under_way(stream);
	if (rated->limited > 0 && rated->delivered > rated->limited)
		rated->limited = 0;
	if (rated->n > 0)
		rated->delivered_at = now;
	const struct tb_bbr_ack ack = {.now = now,
		.round_trip = rated->round_trip,
		.interval = interval_of(rated, stream, now),
		.delivered = rated->delivered - rated->newest.delivered,
		.before = rated->newest.delivered,
		.total = rated->delivered,
		.n = rated->n,
		.n_lost = n_lost,
		.under_way = under_way,
		.was_under_way = under_way + n_lost + rated->n,
		.ahead = rated->goes_at > now ? rated->goes_at - now : 0,
		.batch = tb_send_batch(ethernet, stream),
		.is_limited = rated->newest.is_limited,
		.is_delayed = rated->n == 1 && rated->is_short,
		.recovers = stream->recovers || stream->timed_out};
	rated->bbr.window = stream->cubic.window;
	tb_bbr_acked(&rated->bbr, &ack);
	stream->cubic.window = rated->bbr.window;
	if (rated->bbr.mode == TB_BBR_PROBE_RTT)
		rate_mark_limited(stream);
	rated->n = 0;
	rated->round_trip = 0;
}

static void rate_put_timer(struct ethernet *ethernet, uint32_t id)
{
	struct rated *rated = tb_stream_at(ethernet, id)->rated;
	if (rated->goes_at >= rated->timer_at)
		return;
	rated->timer_at = rated->goes_at;
	tb_wheel_put(&ethernet->replay.wheel, rated->timer_at, EV_PACE, id);
}

bool tb_rate_waits(struct ethernet *ethernet, uint32_t id)
{
	if (tb_stream_at(ethernet, id)->rated->goes_at <= ethernet->replay.now)
		return false;
	rate_put_timer(ethernet, id);
	return true;
}

void tb_rate_paced(const struct ethernet *ethernet, struct tcp_stream *stream)
{
	struct rated *rated = stream->rated;
	const struct tb_network_params *params = &ethernet->replay.net->params;
	tb_time_ps now = ethernet->replay.now;
	uint64_t full = params->packet_payload_bytes + params->packet_overhead_bytes;
	uint64_t segments = (rated->bytes << 24) / full;
	rated->bytes = 0;
	if (rated->n_sent < UNPACED || segments == 0 || rated->bbr.pacing == 0)
		return;
	tb_time_ps takes =
		(tb_time_ps)(segments * (uint64_t)TB_PS_PER_US / rated->bbr.pacing);
	// What was late may be made up for by half of what it takes.
	tb_time_ps late = now - rated->goes_at;
	if (late > takes / 2)
		late = takes / 2;
	if (late < 0)
		rated->goes_at += takes;
	else
		rated->goes_at = now + takes - late;
}

void tb_rate_late(struct ethernet *ethernet, uint32_t id)
{
	struct rated *rated = tb_stream_at(ethernet, id)->rated;
	if (rated->timer_at != ethernet->replay.now)
		return; // an earlier one was put since
	rated->timer_at = TB_TIME_NEVER;
	tb_send_more(ethernet, id);
}

uint64_t tb_rate_bytes(const struct ethernet *ethernet, const struct tcp_stream *stream)
{
	uint64_t payload = ethernet->replay.net->params.packet_payload_bytes;
	uint64_t second = (stream->rated->bbr.pacing * payload >> 10) * 1000000;
	return second >> 24;
}
