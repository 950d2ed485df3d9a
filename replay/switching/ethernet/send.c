// The sending side of TCP: what goes out when, and the retransmission timer (rules E10
// to E14).
#include "ethernet_impl.h"

#include "random.h"

#include <stdlib.h>

static const tb_time_ps longest_timeout_ps = 120 * TB_PS_PER_S; // as Linux
static const tb_time_ps probe_least_ps = 2 * TB_PS_PER_MS; // TCP_TIMEOUT_MIN, at 1000 Hz

static bool rate_waits(struct ethernet *ethernet, uint32_t stream);
static void rate_paced(const struct ethernet *ethernet, struct tcp_stream *stream);

static struct tcp_stream *sender_stream_at(const struct ethernet *ethernet, uint32_t id)
{
	return tb_stream_at(ethernet, id);
}

// sender_put_timer makes an event for when the timer may run out. The timer may be
// started anew before that, which takes no event.
static void sender_put_timer(struct ethernet *ethernet, uint32_t id)
{
	struct tcp_stream *stream = sender_stream_at(ethernet, id);
	if (stream->timeout_at >= stream->timer_at)
		return;
	stream->timer_at = stream->timeout_at;
	tb_wheel_put(&ethernet->replay.wheel, stream->timer_at, EV_TIMEOUT, id);
}

void tb_send_await(
	struct ethernet *ethernet, uint32_t id, enum timer_kind kind, tb_time_ps at)
{
	struct tcp_stream *stream = sender_stream_at(ethernet, id);
	if (at > stream->give_up_at)
		return;
	stream->timer_kind = (uint8_t)kind;
	stream->timeout_at = at;
	sender_put_timer(ethernet, id);
}

// may_probe: what is under way is not known to be lost, nor is any behind it.
static bool may_probe(const struct tcp_stream *stream)
{
	return stream->next > stream->acked && stream->srtt > 0 && !stream->probes &&
	       stream->n_sacked == 0 && stream->n_lost == 0 && !stream->recovers &&
	       !stream->timed_out;
}

// await_probe has a probe follow what was sent: after two round trips, and where one
// segment is under way, whose acknowledgement may be put off, the least timeout.
static void await_probe(struct ethernet *ethernet, uint32_t id)
{
	const struct tcp_stream *stream = sender_stream_at(ethernet, id);
	if (!may_probe(stream))
		return;
	bool is_one = stream->next - stream->acked == 1;
	tb_send_await(ethernet, id, TIMER_PROBE,
		ethernet->replay.now + 2 * stream->srtt +
			(is_one ? ethernet_params(ethernet)->rto_min_ps
				: probe_least_ps));
}

void tb_send_set_timer(struct ethernet *ethernet, uint32_t id)
{
	struct tcp_stream *stream = sender_stream_at(ethernet, id);
	stream->timeout_at = stream->give_up_at = TB_TIME_NEVER;
	stream->timer_kind = TIMER_TIMEOUT;
	stream->timer_from = ethernet->replay.now;
	if (stream->next == stream->acked)
		return;
	tb_time_ps wait = tb_acks_timeout(stream);
	for (uint32_t i = 0; i < stream->n_timeouts && wait < longest_timeout_ps; i++)
		wait *= 2;
	if (wait > longest_timeout_ps)
		wait = longest_timeout_ps;
	stream->timeout_at = stream->give_up_at = ethernet->replay.now + wait;
	sender_put_timer(ethernet, id);
	await_probe(ethernet, id);
}

// memory_of is the room that a segment's frame takes in its node's queue.
static uint32_t memory_of(const struct ethernet *ethernet, uint32_t bytes)
{
	return bytes - ethernet->replay.net->params.packet_overhead_bytes +
	       tb_batch_beside(ethernet);
}

// emit sends a segment in a frame, which acknowledges what has come the other way.
static void emit(struct ethernet *ethernet, uint32_t id, uint64_t number)
{
	struct tcp_stream *stream = sender_stream_at(ethernet, id);
	uint32_t made = tb_ports_make(ethernet, stream->source);
	if (made == NOTHING)
		return;
	struct segment *segment = segment_at(stream, number);
	struct tcp_frame *frame = &ethernet->frames[made];
	if (stream->rated)
		tb_rate_sent(ethernet, stream, number);
	segment->sent_at = stream->sent_at = ethernet->replay.now;
	tb_receive_replied(ethernet, tb_receiver_at(ethernet, id ^ 1));
	segment->state = SEGMENT_SENT;
	stream->in_nic += memory_of(ethernet, segment->bytes);
	frame->kind = FRAME_SEGMENT;
	frame->stream = id;
	frame->number = number;
	frame->copy = segment->copy;
	frame->end = segment->end;
	frame->is_pushed = segment->is_pushed;
	frame->n_taken = stream->n_taken;
	frame->flow = stream->flow;
	frame->to = stream->destination;
	frame->bytes = segment->bytes;
	tb_receive_answer(ethernet, frame);
	tb_ports_send(ethernet, made);
}

static void send_again(struct ethernet *ethernet, uint32_t id, uint64_t number)
{
	struct tcp_stream *stream = sender_stream_at(ethernet, id);
	segment_at(stream, number)->resent = true;
	segment_at(stream, number)->copy++;
	stream->n_lost--;
	stream->n_copies++;
	ethernet->replay.stats.n_resent++;
	tb_records_resent(&ethernet->replay.records, stream->flow);
	emit(ethernet, id, number);
}

static void send_new(struct ethernet *ethernet, uint32_t id, uint32_t payload)
{
	uint64_t number = sender_stream_at(ethernet, id)->next;
	if (tb_streams_cut(ethernet, id, payload))
		emit(ethernet, id, number);
}

static uint64_t first_lost(const struct tcp_stream *stream)
{
	uint64_t number = stream->acked;
	while (segment_at(stream, number)->state != SEGMENT_LOST)
		number++;
	return number;
}

// new_payload is what the next new segment carries: all that the send buffer has, up to a
// full segment, of however many messages (tcp_sendmsg of Linux adds to the last buffer
// that is not sent).
static uint32_t new_payload(
	const struct ethernet *ethernet, const struct tcp_stream *stream)
{
	uint64_t unsent = stream->taken - stream->sent;
	uint32_t full = ethernet->replay.net->params.packet_payload_bytes;
	return unsent < full ? (uint32_t)unsent : full;
}

// is_pushed_back returns whether the queue of the node has no room for a segment. What
// stays behind is not lost, but the window shrinks, once for what is under way
// (tcp_enter_cwr of Linux).
static bool is_pushed_back(struct ethernet *ethernet, uint32_t id, uint32_t bytes)
{
	struct tcp_stream *stream = sender_stream_at(ethernet, id);
	if (tb_ports_await(ethernet, id, bytes))
		return false;
	tb_losses_shrink_only(stream);
	return true;
}

// note_use records whether the window limits the sender; only then may it grow. One that
// was not used for a timeout shrinks (RFC 2861, RFC 7661).
static void note_use(
	struct ethernet *ethernet, struct tcp_stream *stream, bool is_limited)
{
	uint32_t out = (uint32_t)(stream->next - stream->acked);
	tb_time_ps now = ethernet->replay.now;
	if (stream->acked >= stream->round_end || is_limited ||
		(!stream->is_limited && out > stream->round_most)) {
		stream->is_limited = is_limited;
		stream->round_most = out;
		stream->round_end = stream->next;
	}
	if (tb_acks_limited(stream)) {
		stream->used = 0;
		stream->used_since = now;
		return;
	}
	if (out > stream->used)
		stream->used = out;
	if (now - stream->used_since < tb_acks_timeout(stream) ||
		!ethernet_params(ethernet)->idle_restart || stream->rated)
		return;
	tb_cubic_unused(&stream->cubic, stream->used);
	stream->used = 0;
	stream->used_since = now;
}

// end_idle_time shrinks the window after an idle time.
static void end_idle_time(struct ethernet *ethernet, struct tcp_stream *stream)
{
	tb_time_ps idle = ethernet->replay.now - stream->sent_at;
	if (stream->next != stream->acked || stream->next == 0 || stream->rated)
		return;
	tb_cubic_idle(&stream->cubic, idle,
		ethernet_params(ethernet)->idle_restart ? tb_acks_timeout(stream)
							: TB_TIME_NEVER);
}

// sender_has_room returns whether the receiver's window has room for another segment.
static bool sender_has_room(
	const struct ethernet *ethernet, const struct tcp_stream *stream)
{
	return stream->next == stream->acked ||
	       stream->sent - stream->cleared + new_payload(ethernet, stream) <=
		       ethernet_params(ethernet)->window_bytes;
}

// is_corked returns whether what a program has just written waits for more: while more of
// the connection stands in its node's queue, until that takes less or a frame has left
// (tcp_should_autocork of Linux).
static bool is_corked(const struct ethernet *ethernet, const struct tcp_stream *stream)
{
	uint64_t unsent = stream->written - stream->sent;
	return stream->next > stream->acked && unsent < TB_BATCH_MOST &&
	       stream->in_nic > unsent + tb_batch_beside(ethernet);
}

// sender_is_last returns whether a packet is the last one of its message.
static bool sender_is_last(
	const struct ethernet *ethernet, const struct written_packet *packet)
{
	return packet->number + 1 == ethernet->replay.messages[packet->message].n_packets;
}

// sender_take_in moves posted messages into the operating system's buffer, as far as
// there is room. A message that is wholly in it counts as sent (rule E17).
static void sender_take_in(struct ethernet *ethernet, struct tcp_stream *stream)
{
	while (stream->n_taken < stream->n_written &&
		stream->taken < stream->cleared + stream->room) {
		const struct written_packet *packet = tb_streams_take(stream);
		stream->taken = packet->end;
		if (sender_is_last(ethernet, packet))
			tb_nodes_sent(&ethernet->replay, packet->message);
	}
}

void tb_send_acked(struct ethernet *ethernet, uint32_t id)
{
	struct tcp_stream *stream = sender_stream_at(ethernet, id);
	tb_send_more(ethernet, id);
	if (stream->n_taken == stream->n_written ||
		tb_send_under_way(stream) >= stream->cubic.window)
		return;
	uint64_t room = tb_send_room(ethernet, stream);
	if (room <= stream->room)
		return;
	stream->room = room;
	tb_send_more(ethernet, id);
}

// emit_batch sends segments until a batch has gone. Returns false when nothing more can
// go: the window is full, and `is_limited` set, or there is nothing.
static bool emit_batch(
	struct ethernet *ethernet, uint32_t id, uint32_t batch, bool *is_limited)
{
	struct tcp_stream *stream = sender_stream_at(ethernet, id);
	uint32_t header = ethernet->replay.net->params.packet_overhead_bytes;
	for (uint32_t i = 0; i < batch; i++) {
		bool is_new = stream->n_lost == 0;
		if (is_new && stream->sent == stream->taken)
			return false;
		*is_limited = tb_send_under_way(stream) >= stream->cubic.window;
		if (*is_limited || (is_new && !sender_has_room(ethernet, stream)))
			return false;
		uint64_t number = is_new ? stream->next : first_lost(stream);
		uint32_t payload = is_new ? new_payload(ethernet, stream) : 0;
		if (is_pushed_back(ethernet, id,
			    is_new ? payload + header
				   : segment_at(stream, number)->bytes))
			return false;
		if (is_new)
			send_new(ethernet, id, payload);
		else
			send_again(ethernet, id, number);
		if (ethernet->replay.failure.code != TB_OK)
			return false;
	}
	return true;
}

void tb_send_more(struct ethernet *ethernet, uint32_t id)
{
	struct tcp_stream *stream = sender_stream_at(ethernet, id);
	bool was_idle = stream->next == stream->acked, is_limited = false;
	uint64_t before = stream->next;
	sender_take_in(ethernet, stream);
	if (!stream->is_open)
		return;
	if (stream->sent < stream->written)
		end_idle_time(ethernet, stream);
	uint32_t batch = tb_send_batch(ethernet, stream);
	bool goes_on = true;
	while (goes_on) {
		uint32_t quota = tb_batch_quota(stream, batch);
		stream->is_held = stream->in_nic > 0 && stream->acked < stream->batch_at;
		if (stream->is_held) {
			stream->limit = tb_batch_limit(ethernet, stream, quota);
			stream->is_held = stream->in_nic > stream->limit;
		}
		if (stream->is_held || (stream->rated && rate_waits(ethernet, id)))
			break;
		uint64_t first = stream->next;
		goes_on = emit_batch(ethernet, id, quota > 0 ? quota : 1, &is_limited);
		if (stream->next > first)
			stream->batch_at = first;
		if (stream->rated)
			rate_paced(ethernet, stream);
	}
	is_limited |= tb_send_under_way(stream) >= stream->cubic.window;
	if (is_limited || stream->next > before)
		note_use(ethernet, stream, is_limited);
	if (was_idle)
		tb_send_set_timer(ethernet, id);
	else if (stream->next > before)
		await_probe(ethernet, id);
}

void tb_send_passed(struct ethernet *ethernet, uint32_t id, uint32_t bytes)
{
	struct tcp_stream *stream = sender_stream_at(ethernet, id);
	stream->in_nic -= memory_of(ethernet, bytes);
	if (stream->is_held && stream->in_nic <= stream->limit)
		tb_send_more(ethernet, id);
}

// write_on sends what was posted, once the message is whole or fills a batch, unless it
// is to wait for more.
static void write_on(struct ethernet *ethernet, uint32_t id)
{
	struct tcp_stream *stream = sender_stream_at(ethernet, id);
	uint64_t last = (stream->n_written - 1) % PACKETS_A_BLOCK;
	if (!sender_is_last(ethernet, &stream->last->at[last]) &&
		stream->written - stream->sent < TB_BATCH_MOST)
		return;
	if (is_corked(ethernet, stream)) {
		sender_take_in(ethernet, stream);
		stream->is_held = true;
		stream->limit = UINT64_MAX; // until a frame has left
	} else {
		tb_send_more(ethernet, id);
	}
}

void tb_send_post(struct ethernet *ethernet, uint32_t id)
{
	uint32_t message = tb_packet_at(&ethernet->replay, id)->message;
	const struct tcp_table *tcp = ethernet->tcp;
	uint32_t stream =
		message < tcp->of_message_room ? tcp->of_message[message] : NOTHING;
	if (stream == NOTHING) // there was no memory
		return;
	if (sender_stream_at(ethernet, stream)->rated)
		tb_rate_posted(ethernet, sender_stream_at(ethernet, stream));
	if (!tb_streams_write(ethernet, stream, id))
		return;
	tb_open_begin(ethernet, stream);
	write_on(ethernet, stream);
}

static void sender_give_up(struct ethernet *ethernet, uint32_t id)
{
	struct tcp_stream *stream = sender_stream_at(ethernet, id);
	if (!stream->timed_out) {
		stream->before_timeout = stream->cubic;
		tb_cubic_timed_out(&stream->cubic);
		if (stream->rated)
			tb_bbr_timed_out(&stream->rated->bbr);
	}
	stream->timed_out = true;
	stream->recovers = stream->probes = stream->may_undo = false;
	stream->recover = stream->next;
	stream->n_timeouts++;
	stream->cubic.window = 1;
	// Mark all segments as lost that are under way and have not been sacked.
	for (uint64_t i = stream->acked; i < stream->next; i++) {
		struct segment *segment = segment_at(stream, i);
		if (segment->state != SEGMENT_SENT)
			continue;
		segment->state = SEGMENT_LOST;
		stream->n_lost++;
	}
	tb_send_more(ethernet, id);
}

// probe sends a new segment, or the last one again, beyond the window: its
// acknowledgement shows what has arrived.
static void probe(struct ethernet *ethernet, uint32_t id)
{
	struct tcp_stream *stream = sender_stream_at(ethernet, id);
	bool has_new = stream->sent < stream->taken && sender_has_room(ethernet, stream);
	uint32_t payload = has_new ? new_payload(ethernet, stream) : 0;
	uint32_t header = ethernet->replay.net->params.packet_overhead_bytes;
	if (!may_probe(stream) ||
		!tb_ports_await(ethernet, id,
			has_new ? payload + header
				: segment_at(stream, stream->next - 1)->bytes))
		return;
	stream->probes = true;
	stream->probe_resent = !has_new;
	if (has_new) {
		send_new(ethernet, id, payload);
	} else {
		stream->n_lost++; // as send_again takes it
		send_again(ethernet, id, stream->next - 1);
	}
	stream->probe_end = stream->next;
	if (stream->rated)
		rate_paced(ethernet, stream);
}

void tb_send_timeout(struct ethernet *ethernet, uint32_t id)
{
	struct tcp_stream *stream = sender_stream_at(ethernet, id);
	tb_time_ps now = ethernet->replay.now;
	if (now != stream->timer_at)
		return; // an earlier one was put since
	stream->timer_at = TB_TIME_NEVER;
	if (now < stream->timeout_at) {
		if (stream->timeout_at != TB_TIME_NEVER)
			sender_put_timer(ethernet, id);
		return;
	}
	enum timer_kind kind = (enum timer_kind)stream->timer_kind;
	if (kind != TIMER_REORDER)
		tb_records_timed_out(&ethernet->replay.records, stream->flow,
			tb_time_later(stream->sent_at, stream->timer_from), now);
	if (kind == TIMER_TIMEOUT)
		sender_give_up(ethernet, id);
	else if (kind == TIMER_PROBE)
		probe(ethernet, id);
	tb_send_set_timer(ethernet, id);
	if (kind != TIMER_REORDER)
		return;
	tb_losses_find(ethernet, id);
	tb_send_more(ethernet, id);
}

// Linux does not pace the first ten segments of a connection, as its scheduler fq.
enum { UNPACED = 10 };

// Below 1.2 Mbit/s, here in a 1024th of a second, segments leave one by one.
enum { SLOW_BYTES = 146 };

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

// rate_mark_limited: until everything under way is delivered, the program limits the
// rate.
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

// rate_goal is how many segments leave as one by the rate alone, whatever the least round
// trip allows (bbr_tso_segs_goal of Linux).
static uint32_t rate_goal(
	const struct ethernet *ethernet, const struct tcp_stream *stream)
{
	uint64_t payload = ethernet->replay.net->params.packet_payload_bytes;
	uint64_t bytes = tb_rate_bytes(ethernet, stream);
	uint32_t least = bytes < SLOW_BYTES ? 1 : 2;
	if (bytes >= TB_BATCH_MOST)
		bytes = TB_BATCH_MOST - 1;
	return bytes / payload > least ? (uint32_t)(bytes / payload) : least;
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
		.batch = rate_goal(ethernet, stream),
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

// rate_waits returns whether pacing holds a stream back; tb_send_more is called when
// it does no longer. rate_paced has the next batch follow what was sent since.
static bool rate_waits(struct ethernet *ethernet, uint32_t id)
{
	if (tb_stream_at(ethernet, id)->rated->goes_at <= ethernet->replay.now)
		return false;
	struct rated *rated = tb_stream_at(ethernet, id)->rated;
	if (rated->goes_at < rated->timer_at) {
		rated->timer_at = rated->goes_at;
		tb_wheel_put(&ethernet->replay.wheel, rated->timer_at, EV_PACE, id);
	}
	return true;
}

static void rate_paced(const struct ethernet *ethernet, struct tcp_stream *stream)
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
	// At most half of the next interval makes up for a late batch.
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
