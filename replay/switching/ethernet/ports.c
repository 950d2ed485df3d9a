// Ports: frames queue up, cross links, and go on at switches (rules E1 to E5).
#include "ethernet_impl.h"

#include "array.h"

// How many bits of a frame's number count the frames of its node.
enum { MADE_BITS = 40 };

#define PORTS_INLINE static inline __attribute__((always_inline))

static struct tcp_frame *frame_at(const struct ethernet *ethernet, uint32_t id)
{
	return &ethernet->frames[id];
}

// new_frame returns the number of a frame that is not in use.
static uint32_t new_frame(struct ethernet *ethernet)
{
	uint32_t id = ethernet->free_frame;
	if (id != NOTHING) {
		ethernet->free_frame = frame_at(ethernet, id)->next;
	} else if (TB_ARRAY_RESERVE(&ethernet->frames, &ethernet->frames_room,
			   (size_t)ethernet->n_frames + 1) == TB_OK) {
		id = ethernet->n_frames++;
	} else {
		tb_replay_no_memory(&ethernet->replay, "the frames");
	}
	return id;
}

uint32_t tb_ports_make(struct ethernet *ethernet, uint32_t node)
{
	uint32_t id = new_frame(ethernet);
	if (id != NOTHING)
		*frame_at(ethernet, id) = (struct tcp_frame){
			.made_at = ethernet->replay.now,
			.order = (uint64_t)node << MADE_BITS | ethernet->n_made[node]++,
			.from = node,
			.next = NOTHING};
	return id;
}

void tb_ports_adopt(
	struct ethernet *ethernet, const struct tcp_frame *frame, tb_time_ps at)
{
	uint32_t id = new_frame(ethernet);
	if (id == NOTHING)
		return;
	*frame_at(ethernet, id) = *frame;
	tb_wheel_put(&ethernet->replay.wheel, at, EV_COME, id);
}

void tb_ports_drop(struct ethernet *ethernet, uint32_t id)
{
	frame_at(ethernet, id)->next = ethernet->free_frame;
	ethernet->free_frame = id;
}

// port_carry has a frame begin to cross a port's link. A shaper lets it pass as soon as
// all that was sent but the burst could have crossed (rule E2); a cable has no burst.
PORTS_INLINE void port_carry(
	struct ethernet *ethernet, struct ethernet_port *port, uint32_t id)
{
	struct tb_replay *replay = &ethernet->replay;
	struct tcp_frame *frame = frame_at(ethernet, id);
	tb_time_ps begun = tb_time_later(replay->now, port->free_at);
	tb_time_ps crossed =
		begun +
		((tb_time_ps)((frame->bytes * port->byte_q20 + (UINT64_C(1) << 19)) >>
			      20));
	tb_time_ps passed = tb_time_later(replay->now, crossed - port->burst_ps);
	tb_records_burst(&replay->records,
		tb_records_near_cell(&replay->records, port->link),
		tb_time_later(replay->now, begun - port->burst_ps), passed, frame->bytes,
		true);
	port->free_at = crossed;
	port->flow = frame->flow;
	port->stream = frame->n_hops == 0 && frame->kind == FRAME_SEGMENT ? frame->stream
									  : NOTHING;
	port->bytes = frame->bytes;
	port->crosses = true;
	port->passed_at = passed;
	frame->n_hops++;
	frame->link = port->link;
	if (port->tells || port->first != NOTHING)
		tb_wheel_put(&replay->wheel, passed, EV_FREE, port->link);
	if (!tb_handover_crosses(replay, port->link)) {
		tb_wheel_put_steady(&replay->wheel,
			frame->bytes == ethernet->full_bytes ? ROW_FULL : ROW_SHORT,
			passed + port->latency_ps, EV_COME, id);
		return;
	}
	tb_ethernet_hand(ethernet, frame, passed + port->latency_ps);
	tb_ports_drop(ethernet, id);
}

// waits_count returns whether a frame's wait is one of the network: one at its own node
// is not.
static bool waits_count(const struct tcp_frame *frame)
{
	return frame->n_hops > 0;
}

// Waits are kept as sums by port, so that the end of a bin looks at no frame.

static void frame_waits_begin(struct frame_waits *waits, tb_time_ps late)
{
	waits->n++;
	waits->n_begun++;
	waits->late_ps += late;
}

// frame_waits_end forgets a frame that began to wait `late` after the bin's begin, or, at
// 0 or below, perhaps in an earlier bin.
static void frame_waits_end(struct frame_waits *waits, tb_time_ps late)
{
	waits->n--;
	if (late >= 0) {
		waits->n_begun--;
		waits->late_ps -= late;
	}
}

// frame_waits_settle returns the waits of all frames until the end of a bin of such a
// length.
static tb_time_ps frame_waits_settle(struct frame_waits *waits, tb_time_ps bin)
{
	tb_time_ps all = (tb_time_ps)waits->n * bin - waits->late_ps;
	waits->n_begun = 0;
	waits->late_ps = 0;
	return all;
}

// began_at_or_after returns how many frames of a queue did not begin to wait before an
// instant: some only at the end of a replay.
static uint32_t began_at_or_after(const struct ethernet *ethernet,
	const struct ethernet_port *port, tb_time_ps until)
{
	uint32_t n = 0;
	if (frame_at(ethernet, port->last)->ready_at < until)
		return 0;
	for (uint32_t id = port->first; id != NOTHING; id = frame_at(ethernet, id)->next)
		n += frame_at(ethernet, id)->ready_at >= until;
	return n;
}

// came_by_of returns the sum of the waits of frames that came by the same link as this
// one, which its reverse keeps: that link begins in the same part.
static struct frame_waits *came_by_of(
	const struct ethernet *ethernet, const struct tcp_frame *frame)
{
	return &ethernet->ports[ethernet->ports[frame->link].reverse].came_by;
}

// port_wait_ends counts a frame's wait for a port in the open bin.
static void port_wait_ends(struct ethernet *ethernet, struct ethernet_port *port,
	const struct tcp_frame *frame)
{
	struct tb_records *records = &ethernet->replay.records;
	struct tb_cell *cell = tb_records_near_cell(records, port->link);
	tb_time_ps now = ethernet->replay.now;
	tb_time_ps late = frame->ready_at - records->bin_start;
	frame_waits_end(&port->waits_for, late);
	frame_waits_end(came_by_of(ethernet, frame), late);
	if (frame->ready_at == now)
		return;
	if (late >= 0)
		cell->n_blocked++;
	tb_time_ps wait = now - tb_time_later(frame->ready_at, records->bin_start);
	tb_records_wait_by(records, &ethernet->cell[frame->link], wait);
	tb_records_wait_for(records, cell, wait);
	tb_records_longest(cell, now - frame->ready_at);
}

// note_queue counts the bytes that stand before a port's link, where they wait for the
// network.
static void note_queue(struct ethernet *ethernet, const struct ethernet_port *port)
{
	if (waits_count(frame_at(ethernet, port->first)))
		tb_records_queue(&ethernet->replay.records,
			tb_records_near_cell(&ethernet->replay.records, port->link),
			port->queued);
}

// port_blame charges a wait to the flow whose frame crossed the link last (rule E19).
PORTS_INLINE void port_blame(struct ethernet *ethernet, const struct ethernet_port *port,
	const struct tcp_frame *frame, tb_time_ps until)
{
	struct tb_records *records = &ethernet->replay.records;
	tb_time_ps wait = until - frame->ready_at;
	tb_records_blame(
		records, frame->link, port->link, frame->flow, port->flow, wait, until);
	tb_records_flow_wait(records, frame->flow, wait);
}

// port_is_free returns whether a frame that comes may cross at once. Links of switches
// fall free before frames come, so that mostly nothing has to happen when they do.
static bool port_is_free(
	const struct ethernet *ethernet, const struct ethernet_port *port)
{
	return !port->crosses ||
	       (!port->tells && port->passed_at <= ethernet->replay.now);
}

static bool port_has_room(const struct ethernet_port *port, uint32_t bytes)
{
	return !port->crosses || (uint64_t)port->queued + bytes <= port->most;
}

bool tb_ports_await(struct ethernet *ethernet, uint32_t id, uint32_t bytes)
{
	struct tcp_stream *stream = tb_stream_at(ethernet, id);
	const struct tb_network *net = ethernet->replay.net;
	struct ethernet_port *port = &ethernet->ports[net->injection[stream->source]];
	if (port_has_room(port, bytes))
		return true;
	if (stream->waits)
		return false;
	stream->waits = true;
	stream->next_waiting = NOTHING;
	if (port->waits == NOTHING)
		port->waits = id;
	else
		tb_stream_at(ethernet, port->waits_last)->next_waiting = id;
	port->waits_last = id;
	return false;
}

// port_admit resumes streams that wait for room in their node's queue, in order, as long
// as there is room for a full frame.
static void port_admit(struct ethernet *ethernet, uint32_t link)
{
	const struct tb_network_params *params = &ethernet->replay.net->params;
	struct ethernet_port *port = &ethernet->ports[link];
	uint32_t full = params->packet_payload_bytes + params->packet_overhead_bytes;
	while (port->waits != NOTHING && port_has_room(port, full)) {
		uint32_t id = port->waits;
		port->waits = tb_stream_at(ethernet, id)->next_waiting;
		tb_stream_at(ethernet, id)->waits = false;
		tb_send_more(ethernet, id);
	}
}

void tb_ports_free(struct ethernet *ethernet, uint32_t link)
{
	struct ethernet_port *port = &ethernet->ports[link];
	uint32_t passed = port->stream, bytes = port->bytes;
	port->crosses = false;
	if (port->first != NOTHING) {
		// Let the first frame of the queue cross the link.
		uint32_t id = port->first;
		struct tcp_frame *frame = frame_at(ethernet, id);
		tb_time_ps now = ethernet->replay.now;
		note_queue(ethernet, port);
		port->first = frame->next;
		port->queued -= frame->bytes;
		if (waits_count(frame)) {
			port_wait_ends(ethernet, port, frame);
			if (frame->ready_at < now)
				port_blame(ethernet, port, frame, now);
		}
		port_carry(ethernet, port, id);
	}
	if (passed != NOTHING)
		tb_send_passed(ethernet, passed, bytes);
	port_admit(ethernet, link);
}

static void port_lose(
	struct ethernet *ethernet, const struct ethernet_port *port, uint32_t id)
{
	const struct tcp_frame *frame = frame_at(ethernet, id);
	struct tb_replay *replay = &ethernet->replay;
	replay->stats.n_lost++;
	tb_records_lost(
		&replay->records, frame->flow, port->link, frame->bytes, replay->now);
	tb_ports_drop(ethernet, id);
}

// port_trades returns whether a frame takes the place of the one that came last, which is
// lost in its stead (rule E5): nodes are not in step to a part of a frame, and whose
// comes first is drawn.
static bool port_trades(
	struct ethernet *ethernet, struct ethernet_port *port, uint32_t id)
{
	if (port->first == NOTHING)
		return false;
	struct tcp_frame *frame = frame_at(ethernet, id);
	struct tcp_frame *last = frame_at(ethernet, port->last);
	tb_time_ps now = ethernet->replay.now;
	uint64_t crosses = last->bytes * port->byte_q20 >> 20;
	if (!waits_count(last) || last->kind >= FRAME_OPEN || last->from == frame->from ||
		last->bytes < frame->bytes || (uint64_t)(now - last->ready_at) >= crosses)
		return false;
	if (tb_ethernet_draw(ethernet, frame->from, last->from) % 2 == 0)
		return false;
	port_wait_ends(ethernet, port, last);
	if (last->ready_at < now)
		port_blame(ethernet, port, last, now);
	port->queued -= last->bytes;
	uint32_t next = last->next;
	struct tcp_frame lost = *last;
	*last = *frame;
	last->next = next;
	*frame = lost;
	port_lose(ethernet, port, id);
	return true;
}

// port_join puts a frame into a port's queue; a frame for which there is no room is lost.
// Captured frames and those that open connections always have room, as nobody would send
// them again.
PORTS_INLINE void port_join(
	struct ethernet *ethernet, struct ethernet_port *port, uint32_t id)
{
	struct tcp_frame *frame = frame_at(ethernet, id);
	frame->ready_at = ethernet->replay.now;
	frame->next = NOTHING;
	if (port_is_free(ethernet, port)) {
		port_carry(ethernet, port, id);
		return;
	}
	if (port_has_room(port, frame->bytes) || frame->kind >= FRAME_OPEN) {
		if (port->first == NOTHING && !port->tells)
			tb_wheel_put(&ethernet->replay.wheel, port->passed_at, EV_FREE,
				port->link);
		if (port->first == NOTHING)
			port->first = id;
		else
			frame_at(ethernet, port->last)->next = id;
		port->last = id;
	} else if (port_trades(ethernet, port, id)) {
		frame = frame_at(ethernet, port->last);
	} else {
		port_lose(ethernet, port, id);
		return;
	}
	port->queued += frame->bytes;
	if (waits_count(frame)) {
		tb_time_ps late = frame->ready_at - ethernet->replay.records.bin_start;
		frame_waits_begin(&port->waits_for, late);
		frame_waits_begin(came_by_of(ethernet, frame), late);
	}
	note_queue(ethernet, port);
}

void tb_ports_send(struct ethernet *ethernet, uint32_t id)
{
	const struct tb_network *net = ethernet->replay.net;
	struct tcp_frame *frame = frame_at(ethernet, id);
	if (net->regular)
		frame->ascending =
			(uint8_t)tb_network_ascending(net, frame->from, frame->to);
	port_join(ethernet, &ethernet->ports[net->injection[frame->from]], id);
}

// find_way finds the link over which a frame goes on from a switch.
static __attribute__((noinline)) uint32_t find_way(
	const struct ethernet *ethernet, uint32_t sw, const struct tcp_frame *frame)
{
	const struct tb_replay *replay = &ethernet->replay;
	const struct tb_network *net = replay->net;
	uint32_t route = tb_network_route(
		net, sw, frame->to, frame->n_hops - 1u, frame->ascending);
	const struct tb_heading heading = {frame->order, frame->from, frame->to, 0};
	if (!(route & TB_ROUTE_GROUP))
		return route;
	if (replay->choice.fixed)
		return tb_route_choice_fix(&replay->choice, route, sw, &heading);
	// Take the link of the group with the fewest bytes before it, of equals the
	// first.
	struct tb_route_group group = net->groups[route & ~TB_ROUTE_GROUP];
	const uint32_t *links = ethernet->replay.net->group_links + group.first;
	uint32_t best = links[0];
	for (uint32_t i = 1; i < group.n; i++)
		if (ethernet->ports[links[i]].queued < ethernet->ports[best].queued)
			best = links[i];
	return best;
}

// port_way returns that link; where all frames of a stream take the same ones, it is
// found once. Only the part of the switch asks for it.
PORTS_INLINE uint32_t port_way(
	const struct ethernet *ethernet, uint32_t sw, const struct tcp_frame *frame)
{
	const struct tcp_table *tcp = ethernet->tcp;
	if (tcp->hops_most == 0 || frame->kind == FRAME_CAPTURED)
		return find_way(ethernet, sw, frame);
	uint32_t *way =
		&tcp->ways[(size_t)frame->stream * tcp->hops_most + frame->n_hops];
	if (*way == NOTHING)
		*way = find_way(ethernet, sw, frame);
	return *way;
}

bool tb_ports_come(struct ethernet *ethernet, uint32_t id)
{
	const struct tcp_frame *frame = frame_at(ethernet, id);
	const struct tb_link_info *info = &ethernet->replay.net->links[frame->link];
	if (info->kind == TB_LINK_EJECTION)
		return true;
	port_join(ethernet, &ethernet->ports[port_way(ethernet, info->to, frame)], id);
	return false;
}

bool tb_ports_settle(struct tb_replay *replay, tb_time_ps until)
{
	struct ethernet *ethernet = (void *)replay;
	struct tb_records *records = &replay->records;
	tb_time_ps bin = until - records->bin_start;
	bool lasts = false;
	for (uint32_t i = 0; i < ethernet->n_own; i++) {
		uint32_t link = ethernet->own_links[i];
		struct ethernet_port *port = &ethernet->ports[link];
		struct tb_cell *cell = tb_records_near_cell(records, link);
		if (port->came_by.n > 0)
			tb_records_wait_by(records,
				&ethernet->cell[replay->net->links[link].reverse.id],
				frame_waits_settle(&port->came_by, bin));
		if (port->first == NOTHING)
			continue;
		lasts = true;
		note_queue(ethernet, port);
		if (port->waits_for.n == 0)
			continue;
		cell->n_blocked += port->waits_for.n_begun -
				   began_at_or_after(ethernet, port, until);
		tb_records_wait_for(
			records, cell, frame_waits_settle(&port->waits_for, bin));
		tb_records_longest(
			cell, until - frame_at(ethernet, port->first)->ready_at);
	}
	return lasts;
}

void tb_ports_blame_open(struct tb_replay *replay, tb_time_ps until)
{
	struct ethernet *ethernet = (void *)replay;
	for (uint32_t i = 0; i < ethernet->n_own; i++) {
		const struct ethernet_port *port =
			&ethernet->ports[ethernet->own_links[i]];
		for (uint32_t id = port->first; id != NOTHING;
			id = frame_at(ethernet, id)->next) {
			const struct tcp_frame *frame = frame_at(ethernet, id);
			if (waits_count(frame) && frame->ready_at < until)
				port_blame(ethernet, port, frame, until);
		}
	}
}
