// Connections, where nodes have TCP: when a message is in the send buffer, which is when
// its program goes on, and the share that a window has of a full link.
//
// Nothing is lost here, so that a window is a function of what its connection has had
// acknowledged: it grows by that until HyStart finds that acknowledgements come in a
// train, then by a twentieth of that (rules E10 and E11 of ethernet_impl.h). A flow stops
// on its way, without an end, where a message that was written is taken into the buffer
// and where its share grows.
#include "fluid.h"

#include "ethernet_params.h"
#include "idle.h"
#include "order.h"

enum {
	GROWTH = 20,  // segments that a window grows by one for, behind slow start
	WATCHED = 16, // segments from which on HyStart looks
	BATCH_BYTES = 1 << 16,
	STOP_GROWS = 8,	 // a flow stops when its window grew by this part of it
	SHARE_GROWS = 4, // its share follows when it grew by this part of that
};

// How long acknowledgements come in a train until HyStart ends slow start: half of what
// four batches take, a millisecond at most.
static const tb_time_ps train_ps = TB_PS_PER_MS / 2;

static uint64_t full_segment(const struct fluid *fluid)
{
	return fluid->replay.net->params.packet_payload_bytes;
}

// window_at is that of a connection, in segments, that has had so many bytes
// acknowledged.
static uint64_t window_at(
	const struct fluid *fluid, const struct fluid_line *line, uint64_t acked)
{
	const struct tb_ethernet_params *own =
		tb_ethernet_params(&fluid->replay.net->params);
	uint64_t segment = full_segment(fluid), window = line->threshold;
	if (window == 0)
		window = own->initial_window + 1 + acked / segment;
	else
		window += (acked - line->slow_until) / (segment * GROWTH);
	uint64_t most = own->window_bytes / segment;
	return window < most ? window : most + 1;
}

// segments_in returns how many full segments a rate carries in a time.
static uint64_t segments_in(const struct fluid *fluid, uint64_t rate, tb_time_ps time)
{
	fluid_amount frame =
		full_segment(fluid) + fluid->replay.net->params.packet_overhead_bytes;
	return (uint64_t)((fluid_amount)rate * (uint64_t)time / (frame * BYTE_AMOUNT));
}

// is_held returns whether a flow's own node is what limits it: its segments wait in the
// queue there.
static bool is_held(const struct fluid *fluid, uint32_t id)
{
	return fluid->shares.flows[id].limit == 0;
}

// slow_end is the window with which a connection ends slow start: after the first round
// that began with a window that HyStart looks at. Segments that leave in batches are
// acknowledged at the full rate, and where those of others stand before them the round
// trip is longer.
static uint64_t slow_end(const struct fluid *fluid, uint32_t id)
{
	const struct tb_share_flow *share = &fluid->shares.flows[id];
	const struct tb_ethernet_params *own =
		tb_ethernet_params(&fluid->replay.net->params);
	if (own->tcp != TB_TCP_CUBIC)
		return UINT64_MAX;
	uint64_t first = own->initial_window;
	while (first < WATCHED)
		first = 2 * first + 1;
	if (!is_held(fluid, id))
		return first + segments_in(fluid, share->rate, train_ps);
	bool is_alone = share->rate == share->free_rate;
	return first +
	       segments_in(fluid, share->free_rate, is_alone ? train_ps : 2 * train_ps);
}

// held_most is how large the window of a flow becomes that its own node holds: it has two
// batches there, or what it sends in a millisecond (rule E14).
static uint64_t held_most(const struct fluid *fluid, uint32_t id)
{
	uint64_t rate = fluid->shares.flows[id].rate;
	return segments_in(fluid, rate, TB_PS_PER_MS) + BATCH_BYTES / full_segment(fluid);
}

// take_in has messages that were written be sent, as far as the buffer has room for them
// when so many bytes are acknowledged.
static void take_in(struct fluid *fluid, struct fluid_line *line, uint64_t acked)
{
	struct tb_posted *messages = fluid->replay.messages;
	while (line->unsent != NOTHING && line->unsent_end <= acked + line->room) {
		uint32_t next = line->unsent == line->flowing
					? line->first
					: messages[line->unsent].next;
		tb_nodes_sent(&fluid->replay, line->unsent);
		line->unsent = next;
		if (next != NOTHING)
			line->unsent_end += messages[next].what.bytes;
	}
}

// acked_by returns what is acknowledged of the connection of a flow that was settled now.
static uint64_t acked_by(const struct fluid *fluid, const struct fluid_flow *flow)
{
	double part = (double)(flow->all - flow->left) / (double)flow->all;
	uint64_t bytes = fluid->replay.messages[flow->message].what.bytes;
	return fluid->lines[flow->line].acked + (uint64_t)(part * (double)bytes + .5);
}

// set_stop has a flow that is settled now stop where the next message is taken in, or
// where its window has grown or ends slow start.
static void set_stop(struct fluid *fluid, uint32_t id, uint64_t acked)
{
	struct fluid_flow *flow = &fluid->flows[id];
	struct fluid_line *line = &fluid->lines[flow->line];
	uint64_t window = window_at(fluid, line, acked);
	uint64_t grows = (window + STOP_GROWS - 1) / STOP_GROWS;
	uint64_t bytes = fluid->replay.messages[flow->message].what.bytes;
	if (line->threshold)
		grows *= GROWTH;
	else
		grows = tb_min_u64(grows, slow_end(fluid, id) - window);
	uint64_t stop = acked + grows * full_segment(fluid);
	flow->stops_in_step = true;
	if (line->unsent != NOTHING && line->unsent_end > acked + line->room &&
		line->unsent_end - line->room <= stop) {
		stop = line->unsent_end - line->room;
		flow->stops_in_step = false;
	}
	flow->stop = 0;
	if (stop < line->acked + bytes)
		flow->stop = (fluid_amount)((double)flow->all *
					    (double)(line->acked + bytes - stop) /
					    (double)bytes);
	if (flow->stop >= flow->left)
		flow->stop = 0;
}

// set_queue has a window of so many segments wait before the link that limits a flow.
static void set_queue(struct fluid *fluid, uint32_t id, uint32_t window)
{
	struct fluid_flow *flow = &fluid->flows[id];
	uint32_t limit = fluid->shares.flows[id].limit;
	if (flow->queued)
		fluid->links[flow->queue].queued -= flow->queued;
	flow->queued = 0;
	if (limit == TB_SHARES_NONE)
		return;
	flow->queue = tb_shares_steps(&fluid->shares, id)[limit].link;
	flow->queued = window;
	fluid->links[flow->queue].queued += window;
}

// queue_ps is how long what waits before a link takes to cross it.
static tb_time_ps queue_ps(const struct fluid *fluid, uint32_t link)
{
	const struct tb_network *net = fluid->replay.net;
	uint64_t frame = full_segment(fluid) + net->params.packet_overhead_bytes;
	return fluid->links[link].queued *
	       tb_idle_time(frame, tb_per_byte_q20(net->links[link].bytes_per_s));
}

// go_on has a flow go on that is settled now, until its next stop.
static void go_on(struct fluid *fluid, uint32_t id)
{
	struct fluid_flow *flow = &fluid->flows[id];
	struct fluid_line *line = &fluid->lines[flow->line];
	uint64_t acked = acked_by(fluid, flow);
	uint64_t window = window_at(fluid, line, acked);
	bool held = is_held(fluid, id);
	if (!line->threshold && fluid->shares.flows[id].rate &&
		window >= slow_end(fluid, id)) {
		line->threshold = window;
		line->slow_until = acked;
	}
	if (line->threshold && held && window > held_most(fluid, id)) {
		line->threshold = window = held_most(fluid, id);
		line->slow_until = acked;
	}
	// The buffer grows when the window is not full: where it limits that, or what
	// stands in the node's own queue.
	if ((held && line->threshold) || window * full_segment(fluid) > line->room)
		line->room = tb_ethernet_send_room(&fluid->replay.net->params, window);
	take_in(fluid, line, acked);
	set_queue(fluid, id, (uint32_t)window);
	uint32_t has = fluid->shares.flows[id].share;
	if (window < has || window > has + has / SHARE_GROWS)
		tb_shares_weigh(&fluid->shares, id, (uint32_t)window);
	set_stop(fluid, id, acked);
}

double tb_fluid_acks(const struct tb_network_params *params)
{
	// A frame without payload for each two segments.
	double frame = params->packet_payload_bytes + params->packet_overhead_bytes;
	return params->packet_overhead_bytes / (2 * frame);
}

void tb_fluid_open(struct fluid *fluid, uint32_t at, uint32_t message)
{
	if (fluid->is_ideal)
		return;
	// A frame without payload goes there, and one comes back; the other side sends
	// when it has a segment.
	const struct tb_network *net = fluid->replay.net;
	const struct tb_posted *posted = &fluid->replay.messages[message];
	uint32_t from = posted->what.source.id, to = posted->end;
	tb_time_ps trip =
		tb_fluid_ideal_ps(net, (struct tb_node){from}, (struct tb_node){to}, 0) -
		net->params.send_overhead_ps - net->params.receive_overhead_ps;
	tb_time_ps there = trip + queue_ps(fluid, net->injection[from]) +
			   queue_ps(fluid, net->ejection[to]);
	tb_time_ps back = trip + queue_ps(fluid, net->injection[to]) +
			  queue_ps(fluid, net->ejection[from]);
	uint32_t reverse = tb_fluid_line_find(fluid, to, from);
	fluid->lines[at].opens_at = reverse == NOTHING
					    ? fluid->replay.now + there + back
					    : fluid->lines[reverse].opens_at + back;
}

void tb_fluid_written(struct fluid *fluid, uint32_t at, uint32_t message)
{
	struct fluid_line *line = &fluid->lines[at];
	const struct tb_network_params *params = &fluid->replay.net->params;
	if (line->room == 0)
		line->room = tb_ethernet_send_room(
			params, tb_ethernet_params(params)->initial_window);
	line->written += fluid->replay.messages[message].what.bytes;
	if (line->unsent != NOTHING)
		return;
	line->unsent = message;
	line->unsent_end = line->written;
	uint64_t acked = line->acked;
	if (line->flow != NOTHING) {
		tb_fluid_settle(fluid, line->flow, fluid->replay.now);
		acked = acked_by(fluid, &fluid->flows[line->flow]);
	}
	take_in(fluid, line, acked);
	if (line->flow == NOTHING || line->unsent == NOTHING)
		return;
	set_stop(fluid, line->flow, acked); // it did not stop for this message
	tb_fluid_await(fluid, line->flow, fluid->shares.flows[line->flow].rate);
}

void tb_fluid_opened(struct fluid *fluid, uint32_t id, uint32_t at)
{
	fluid->flows[id].line = at;
	fluid->lines[at].flow = id;
	go_on(fluid, id);
}

// Windows that grow at nearly the same time have rates solved at once, in steps of what
// a node's link takes for a part of a batch.
tb_time_ps tb_fluid_stops_at(const struct fluid *fluid, const struct fluid_flow *flow,
	tb_time_ps stop, tb_time_ps end)
{
	const struct tb_network *net = fluid->replay.net;
	tb_time_ps step = tb_idle_time(BATCH_BYTES / 32,
		tb_per_byte_q20(net->links[net->injection[0]].bytes_per_s));
	if (flow->stop == 0 || !flow->stops_in_step || step <= 0)
		return stop;
	tb_time_ps passed = stop - fluid->shares.begun_at;
	stop += (step - passed % step) % step;
	return stop < end ? stop : end;
}

bool tb_fluid_stopped(struct fluid *fluid, uint32_t id)
{
	if (fluid->flows[id].stop == 0)
		return false;
	tb_fluid_settle(fluid, id, fluid->replay.now);
	go_on(fluid, id);
	tb_fluid_await(fluid, id, fluid->shares.flows[id].rate);
	return true;
}

void tb_fluid_closed(struct fluid *fluid, uint32_t id)
{
	const struct fluid_flow *flow = &fluid->flows[id];
	struct fluid_line *line = &fluid->lines[flow->line];
	set_queue(fluid, id, 0);
	line->flow = NOTHING;
	line->acked += fluid->replay.messages[flow->message].what.bytes;
	take_in(fluid, line, line->acked);
}
