#include "tcp_analysis.h"

#include "clean.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

void tb_seq_ranges_begin(struct tb_seq_ranges *ranges, uint32_t first)
{
	ranges->next = first;
	ranges->first = first;
	ranges->n_holes = 0;
}

static void remove_hole(struct tb_seq_ranges *ranges, uint32_t i)
{
	ranges->n_holes--;
	memmove(&ranges->holes[i], &ranges->holes[i + 1],
		(ranges->n_holes - i) * sizeof *ranges->holes);
}

// insert_hole inserts a hole before hole `i`. If there is no room it closes the oldest,
// which may be the new one.
static void insert_hole(struct tb_seq_ranges *ranges, uint32_t i, struct tb_seq_hole hole)
{
	if (ranges->n_holes == TB_SEQ_HOLES) {
		if (i == 0)
			return;
		remove_hole(ranges, 0);
		i--;
	}
	memmove(&ranges->holes[i + 1], &ranges->holes[i],
		(ranges->n_holes - i) * sizeof *ranges->holes);
	ranges->holes[i] = hole;
	ranges->n_holes++;
}

// close_old closes holes, or parts of them, that are more than the window before `next`.
static void close_old(struct tb_seq_ranges *ranges)
{
	uint32_t edge = ranges->next - TB_SEQ_WINDOW;
	if ((int32_t)(edge - ranges->first) > 0)
		ranges->first = edge;
	while (ranges->n_holes > 0) {
		struct tb_seq_hole *hole = &ranges->holes[0];
		if ((int32_t)(edge - hole->from) <= 0)
			return;
		if ((int32_t)(edge - hole->to) < 0) {
			hole->from = edge;
			return;
		}
		remove_hole(ranges, 0);
	}
}

// extend_last_range adds [from, to), with `from` before `first`, and returns how many
// numbers are new. A gap up to the old `first` becomes a hole.
static uint32_t extend_last_range(
	struct tb_seq_ranges *ranges, uint32_t from, uint32_t to)
{
	uint32_t first = ranges->first;
	ranges->first = from;
	if ((int32_t)(first - to) <= 0)
		return first - from;
	insert_hole(ranges, 0, (struct tb_seq_hole){to, first});
	return to - from;
}

// fill_seq_range marks [from, to), which lies before `next`, and returns how many of its
// numbers were in holes.
static uint32_t fill_seq_range(struct tb_seq_ranges *ranges, uint32_t from, uint32_t to)
{
	uint32_t unseen = 0;
	// Backwards, because removing a hole moves those after it.
	for (uint32_t i = ranges->n_holes; i-- > 0;) {
		struct tb_seq_hole hole = ranges->holes[i];
		uint32_t first = (int32_t)(from - hole.from) > 0 ? from : hole.from;
		uint32_t last = (int32_t)(to - hole.to) < 0 ? to : hole.to;
		if ((int32_t)(last - first) <= 0)
			continue;
		unseen += last - first;
		bool before = first != hole.from;
		bool after = last != hole.to;
		if (before && after) {
			ranges->holes[i].from = last;
			insert_hole(ranges, i, (struct tb_seq_hole){hole.from, first});
			break; // the range lies within this hole
		} else if (before) {
			ranges->holes[i].to = first;
		} else if (after) {
			ranges->holes[i].from = last;
		} else {
			remove_hole(ranges, i);
		}
	}
	return unseen;
}

uint32_t tb_seq_ranges_add_slowly(struct tb_seq_ranges *ranges, uint32_t from, uint32_t n)
{
	uint32_t to = from + n;
	int32_t ahead = (int32_t)(from - ranges->next);
	// No sender jumps this far: the ports belong to a new connection.
	if (ahead > (int32_t)TB_SEQ_WINDOW || ahead < -(int32_t)TB_SEQ_WINDOW) {
		tb_seq_ranges_begin(ranges, from);
		ahead = 0;
	}
	uint32_t unseen = 0;
	if (ahead < 0 && n > 0) {
		uint32_t behind = (uint32_t)-ahead;
		uint32_t old = n < behind ? n : behind;
		if ((int32_t)(from - ranges->first) < 0)
			unseen = extend_last_range(ranges, from, from + old);
		unseen += fill_seq_range(ranges, from, from + old);
		if (n <= behind)
			return unseen;
		from += old;
	} else if (ahead > 0 && n > 0) {
		insert_hole(ranges, ranges->n_holes,
			(struct tb_seq_hole){ranges->next, from});
	}
	if (n > 0)
		ranges->next = to;
	close_old(ranges);
	return unseen + (to - from);
}

// Wireshark's limits: a fast retransmission comes this soon after the last duplicate
// acknowledgement, and a segment that overtook another is this late where the handshake
// does not give the round trip.
#define FAST_NS	      INT64_C(20000000)
#define ROUND_TRIP_NS INT64_C(3000000)

// After a time-out nothing has passed for at least two round trips. On captures with
// losses (io16_200m, mix64) repeated segments follow another frame of their connection
// within 1 ms, as acknowledgements drive a recovery, or after 4 ms, the least time-out.
#define SILENT_NS INT64_C(2000000)

#define N_SETS	  (UINT32_C(1) << 15)
#define SET_SLOTS 4

// A segment that was sent once: when, by whom, and the number after its last byte. A set
// fills a cache line.
struct segment_slot {
	int64_t at_ns;
	uint32_t id; // of the side; 0: free
	uint32_t end;
};

struct tb_tcp_analysis {
	struct segment_slot (*sets)[SET_SLOTS];
	uint32_t n_sides;
};

int tb_tcp_analysis_new(struct tb_tcp_analysis **analysis)
{
	struct tb_tcp_analysis *new = calloc(1, sizeof *new);
	// Zeroed pages cost nothing until they are used.
	if (new)
		new->sets = calloc(N_SETS, sizeof *new->sets);
	if (!new || !new->sets) {
		free(new);
		return TB_ENOMEM;
	}
	*analysis = new;
	return TB_OK;
}

void tb_tcp_analysis_free(struct tb_tcp_analysis *analysis)
{
	if (analysis)
		free(analysis->sets);
	free(analysis);
}

static struct segment_slot *set_of(
	struct tb_tcp_analysis *analysis, uint32_t id, uint32_t end)
{
	// Segments of a few KB share a set, and the next KBs have the next: they are used
	// one after another.
	uint64_t hash = id * UINT64_C(0x9e3779b97f4a7c15) >> 32;
	return analysis->sets[(hash + (end >> 12)) & (N_SETS - 1)];
}

// before compares sequence numbers (RFC 9293, section 3.4).
static bool before(uint32_t a, uint32_t b)
{
	return (int32_t)(a - b) < 0;
}

// spill_segment moves a side's oldest segment to the table.
static void spill_segment(struct tb_tcp_analysis *analysis, struct tb_tcp_side *side)
{
	if (side->id == 0)
		side->id = ++analysis->n_sides;
	uint32_t first = side->first_recent, end = side->ends[first];
	struct segment_slot *set = set_of(analysis, side->id, end), *oldest = set;
	for (int i = 0; i < SET_SLOTS && oldest->id != 0; i++)
		if (set[i].id == 0 || set[i].at_ns < oldest->at_ns)
			oldest = &set[i];
	*oldest = (struct segment_slot){side->times_ns[first], side->id, end};
	if (!side->has_spilled || before(side->spilled, end))
		side->spilled = end;
	side->has_spilled = true;
	side->first_recent = (first + 1) % TB_TCP_RECENT;
	side->n_recent--;
}

// take_segment finds the segment that ends at `end`, and forgets it and those before.
static bool take_segment(struct tb_tcp_analysis *analysis, struct tb_tcp_side *side,
	uint32_t end, int64_t *at_ns)
{
	bool found = false;
	while (side->n_recent > 0 && !before(end, side->ends[side->first_recent])) {
		uint32_t first = side->first_recent;
		if (side->ends[first] == end) {
			*at_ns = side->times_ns[first];
			found = true;
		}
		side->first_recent = (first + 1) % TB_TCP_RECENT;
		side->n_recent--;
	}
	if (side->has_spilled && before(side->spilled, end))
		side->has_spilled = false;
	if (found || !side->has_spilled)
		return found;
	struct segment_slot *set = set_of(analysis, side->id, end);
	for (int i = 0; i < SET_SLOTS; i++) {
		if (set[i].id != side->id || set[i].end != end)
			continue;
		*at_ns = set[i].at_ns;
		set[i].id = 0;
		return true;
	}
	return false;
}

static int64_t round_trip_ns(const struct tb_tcp_side *a, const struct tb_tcp_side *b)
{
	int64_t handshake_ns = tb_tcp_handshake_ns(a, b);
	return handshake_ns >= 0 ? handshake_ns : ROUND_TRIP_NS;
}

// silent_ns returns how long nothing has passed between two ends.
static int64_t silent_ns(
	const struct tb_tcp_side *a, const struct tb_tcp_side *b, int64_t at_ns)
{
	return at_ns - (a->last_ns > b->last_ns ? a->last_ns : b->last_ns);
}

// usable_window returns how many bytes a side can take after those that it acknowledged.
static uint32_t usable_window(
	const struct tb_tcp_side *side, const struct tb_tcp_side *peer)
{
	if (side->window == 0)
		return 0;
	if (!side->syn)
		return TB_TCP_WINDOW_UNKNOWN;
	// Both ends must have asked for scaling; windows of SYNs are not scaled.
	if (side->last_was_syn || side->window_scale == 0 ||
		(peer->syn && peer->window_scale == 0))
		return side->window;
	return (uint32_t)side->window << (side->window_scale - 1);
}

// begin_connection forgets earlier connections on the same ports: a SYN with another
// number.
static void begin_connection(
	struct tb_tcp_side *there, struct tb_tcp_side *back, const struct tb_frame *frame)
{
	if (there->begun && there->first != frame->sequence) {
		*there = (struct tb_tcp_side){.begun = false};
		if (!(frame->flags & TB_TCP_ACK))
			*back = (struct tb_tcp_side){.begun = false};
	}
	there->syn = true;
	there->window_scale = frame->window_scale;
}

// classify_answer distinguishes frames that repeat an acknowledgement.
static uint32_t classify_answer(const struct tb_tcp_side *there,
	const struct tb_tcp_side *back, const struct tb_frame *frame)
{
	if (frame->window == there->window) {
		if (frame->window == 0)
			return back->last_was_probe ? TB_TCP_IS_PROBE_ACK : 0;
		if (back->last_was_keep_alive)
			return TB_TCP_IS_KEEP_ALIVE_ACK;
		return TB_TCP_IS_DUPLICATE_ACK;
	}
	return frame->window == 0 ? 0 : TB_TCP_IS_WINDOW_UPDATE;
}

// classify_window returns what a frame states about either end's window.
static uint32_t classify_window(const struct tb_tcp_side *there,
	const struct tb_tcp_side *back, const struct tb_frame *frame, bool controls)
{
	uint32_t n = frame->payload_bytes, is = 0;
	if (there->begun && n == 1 && frame->sequence == there->next && back->acked &&
		back->window == 0)
		return TB_TCP_IS_WINDOW_PROBE;
	if (controls)
		return 0;
	if (frame->window == 0)
		is |= TB_TCP_IS_ZERO_WINDOW;
	if (there->begun && n <= 1 && frame->sequence == there->next - 1)
		is |= TB_TCP_IS_KEEP_ALIVE;
	if (n > 0 && back->acked && back->syn &&
		frame->sequence + n == back->ack + usable_window(back, there))
		is |= TB_TCP_IS_WINDOW_FULL;
	if (n == 0 && there->begun && frame->sequence == there->next && there->acked &&
		frame->acknowledged == there->ack)
		is |= classify_answer(there, back, frame);
	return is;
}

// classify_repeated classifies a segment that does not go on where the last one ended.
static uint32_t classify_repeated(const struct tb_tcp_side *there,
	const struct tb_tcp_side *back, const struct tb_frame *frame, uint32_t end,
	int64_t at_ns)
{
	uint32_t n = frame->payload_bytes, from = frame->sequence;
	bool advances = !there->begun || !before(from, there->next);
	// The byte of a window's probe is sent again with those behind it.
	if (n > 1 && from == there->next - 1)
		advances = true;
	if (n > 0 && back->acked && !before(back->ack, from + n))
		return TB_TCP_IS_SPURIOUS;
	if (advances)
		return 0;
	if (back->n_dup_acks >= 2 && back->ack == from && at_ns - back->ack_ns < FAST_NS)
		return TB_TCP_IS_FAST;
	int64_t round_ns = round_trip_ns(there, back);
	if (at_ns - there->next_ns < round_ns && end != there->next)
		return TB_TCP_IS_OUT_OF_ORDER;
	return silent_ns(there, back, at_ns) >= SILENT_NS &&
			       silent_ns(there, back, at_ns) >= 2 * round_ns
		       ? TB_TCP_IS_TIMEOUT
		       : TB_TCP_IS_AGAIN;
}

// take_ack takes up what a frame acknowledges: the round trip, and the room that it makes
// for its peer.
static void take_ack(struct tb_tcp_analysis *analysis, struct tb_tcp_side *there,
	struct tb_tcp_side *back, const struct tb_frame *frame, int64_t at_ns,
	struct tb_tcp_events *events)
{
	uint32_t ack = frame->acknowledged;
	int64_t sent_ns;
	if ((!there->acked || before(there->ack, ack)) && back->begun) {
		bool found = take_segment(analysis, back, ack, &sent_ns);
		bool known = found && !back->ambiguous;
		if (back->ambiguous && !before(ack, back->again))
			back->ambiguous = false;
		if (known) {
			events->rtt_ns = at_ns - sent_ns;
			if (back->syn && ack == back->first + 1) {
				events->is |= TB_TCP_IS_HANDSHAKE;
				back->half_ns = events->rtt_ns;
				back->has_half = true;
			}
		}
	}
	if (!there->acked || ack != there->ack)
		there->n_dup_acks = 0;
	else if ((events->is & TB_TCP_IS_DUPLICATE_ACK) && there->n_dup_acks < UINT16_MAX)
		there->n_dup_acks++;
	there->ack = ack;
	there->ack_ns = at_ns;
	there->acked = true;
}

// lacks_room returns whether the receiver's window has no room for a full segment. A
// window that is smaller than that is filled by less.
static bool lacks_room(const struct tb_tcp_side *sender,
	const struct tb_tcp_side *receiver, uint32_t full_bytes)
{
	uint32_t window = usable_window(receiver, sender);
	if (!receiver->acked || window == TB_TCP_WINDOW_UNKNOWN)
		return false;
	uint32_t flying =
		before(receiver->ack, sender->next) ? sender->next - receiver->ack : 0;
	return window == 0 ||
	       flying + (full_bytes < window ? full_bytes : window) > window;
}

// follow_window follows for how long the window of a frame's receiver stops its sender:
// from the segment after which there is no room for a full one until there is again.
static void follow_window(struct tb_tcp_side *there, struct tb_tcp_side *back,
	const struct tb_frame *frame, int64_t at_ns, uint32_t full_bytes,
	struct tb_tcp_events *events)
{
	bool repeated = events->is & (TB_TCP_IS_RETRANSMISSION | TB_TCP_IS_KEEP_ALIVE |
					     TB_TCP_IS_WINDOW_PROBE);
	if (full_bytes == 0)
		full_bytes = 1;
	if (frame->payload_bytes > 0 && !repeated) {
		if (there->is_full && there->has_room &&
			at_ns - there->room_ns <= round_trip_ns(there, back)) {
			events->limited_from_ns = there->full_ns;
			events->limited_ns = there->room_ns - there->full_ns;
		}
		if (!there->is_full || there->has_room) {
			there->is_full = lacks_room(there, back, full_bytes);
			there->full_ns = at_ns;
			there->has_room = false;
		}
	}
	if (back->is_full && !back->has_room && !lacks_room(back, there, full_bytes)) {
		back->has_room = true;
		back->room_ns = at_ns;
	}
}

// How a direction of a connection stands, before a frame is taken up.
struct tcp_standing {
	bool flying;   // data that is not acknowledged
	bool stopped;  // by the receiver's window
	bool has_room; // it was, and there is room now
	bool waits;    // data was sent, and acknowledgements were captured
};

static struct tcp_standing tcp_standing_of(
	const struct tb_tcp_side *sender, const struct tb_tcp_side *receiver)
{
	return (struct tcp_standing){.flying = before(receiver->ack, sender->next),
		.stopped = receiver->closed || (sender->is_full && !sender->has_room),
		.has_room = sender->has_room,
		.waits = sender->told_ns > 0 && receiver->acked};
}

// spend_data is what a segment of data tells of the time before it: when a time-out sent
// it, that nothing else happened; else how its direction stood. Where all had been
// acknowledged the sender had nothing to send, but for the way of an acknowledgement to
// it and of data back.
static void spend_data(struct tb_tcp_side *there, const struct tb_tcp_side *back,
	struct tcp_standing stood, int64_t at_ns, struct tb_tcp_events *events)
{
	int64_t gap_ns = at_ns - there->told_ns, *spent = events->spent_ns;
	bool again = events->is & TB_TCP_IS_RETRANSMISSION;
	if (again && !there->recovers && !(events->is & TB_TCP_IS_SPURIOUS)) {
		there->recovers = true;
		there->recovered = there->next;
	}
	if (stood.waits && gap_ns > 0) {
		int64_t round_ns = round_trip_ns(there, back);
		int64_t way_ns = back->has_half ? back->half_ns : round_ns;
		if (again && events->silent_ns >= SILENT_NS &&
			events->silent_ns >= 2 * round_ns)
			spent[TB_FLOW_TIMEOUTS] = gap_ns;
		else if (there->recovers)
			spent[TB_FLOW_RECOVERY] = gap_ns;
		else if (stood.stopped)
			there->stopped_ns += gap_ns;
		else if (!stood.flying && gap_ns > way_ns) {
			spent[TB_FLOW_IDLE] = gap_ns - way_ns;
			spent[TB_FLOW_SENDING] = way_ns;
		} else
			spent[TB_FLOW_SENDING] = gap_ns;
	}
	if (!again && there->stopped_ns > 0) {
		// That it went on soon, or asked for room, shows that it was held: behind
		// a loaded path a round trip takes longer than the handshake.
		bool held = there->last_was_probe ||
			    (stood.has_room && at_ns - there->room_ns <=
						       2 * round_trip_ns(there, back));
		spent[held	       ? TB_FLOW_WINDOW
			: stood.flying ? TB_FLOW_SENDING
				       : TB_FLOW_IDLE] += there->stopped_ns;
		there->stopped_ns = 0;
	}
	there->told_ns = at_ns;
	events->spends = true;
}

// spend_ack is what a frame of the receiver tells of the sender's time before it. An
// acknowledgement that comes with an answer waited for that: the sender did, too.
static void spend_ack(struct tb_tcp_side *sender, const struct tb_tcp_side *receiver,
	struct tcp_standing stood, bool advances, bool answers, int64_t at_ns,
	struct tb_tcp_events *events)
{
	int64_t gap_ns = at_ns - sender->told_ns;
	bool opens = stood.stopped && !tcp_standing_of(sender, receiver).stopped;
	if (!stood.waits || gap_ns <= 0 || !(opens || (stood.flying && advances)))
		return;
	int64_t way_ns =
		sender->has_half ? sender->half_ns : round_trip_ns(sender, receiver);
	int64_t waited_ns = answers && gap_ns > way_ns ? gap_ns - way_ns : 0;
	// What the window holds is told once the sender goes on.
	events->peer_spends = sender->recovers || !stood.stopped;
	if (sender->recovers)
		events->peer_spent_ns[TB_FLOW_RECOVERY] = gap_ns;
	else if (stood.stopped)
		sender->stopped_ns += gap_ns;
	else {
		events->peer_spent_ns[TB_FLOW_SENDING] = gap_ns - waited_ns;
		events->peer_spent_ns[TB_FLOW_IDLE] = waited_ns;
	}
	sender->told_ns = at_ns;
	if (!before(receiver->ack, sender->recovered))
		sender->recovers = false;
}

void tb_tcp_analyze(struct tb_tcp_analysis *analysis, struct tb_tcp_side *there,
	struct tb_tcp_side *back, const struct tb_frame *frame, int64_t at_ns,
	uint32_t full_bytes, struct tb_tcp_events *events)
{
	uint8_t flags = frame->flags;
	bool syn = flags & TB_TCP_SYN;
	uint32_t n = frame->payload_bytes + syn + ((flags & TB_TCP_FIN) != 0);
	uint32_t end = frame->sequence + n;
	*events = (struct tb_tcp_events){.rtt_ns = -1};
	// Needed further below, and seldom in the processor's cache.
	if (back->has_spilled)
		__builtin_prefetch(set_of(analysis, back->id, frame->acknowledged));
	if (n > 0 && there->n_recent == TB_TCP_RECENT)
		__builtin_prefetch(
			set_of(analysis, there->id, there->ends[there->first_recent]));
	if (syn)
		begin_connection(there, back, frame);
	events->is = classify_window(there, back, frame,
		(flags & (TB_TCP_SYN | TB_TCP_FIN | TB_TCP_RST)) != 0);
	if (n > 0 && !(events->is & TB_TCP_IS_KEEP_ALIVE))
		events->is |= classify_repeated(there, back, frame, end, at_ns);
	if (events->is & TB_TCP_IS_RETRANSMISSION)
		events->silent_ns = silent_ns(there, back, at_ns);
	struct tcp_standing stood = tcp_standing_of(there, back);
	struct tcp_standing stood_back = tcp_standing_of(back, there);
	bool advances = !there->acked || before(there->ack, frame->acknowledged);
	// Add up how long windows of zero lasted.
	int64_t last_ns = there->last_ns > back->last_ns ? there->last_ns : back->last_ns;
	if (there->closed)
		events->closed_ns = at_ns - last_ns;
	if (back->closed)
		events->peer_closed_ns = at_ns - last_ns;
	if (events->is & TB_TCP_IS_ZERO_WINDOW)
		there->closed = true;
	else if (frame->window > 0)
		there->closed = false;
	if (frame->flags & TB_TCP_RST)
		there->closed = back->closed = false;
	there->window = frame->window;
	there->last_was_syn = syn;
	if (flags & TB_TCP_ACK)
		take_ack(analysis, there, back, frame, at_ns, events);
	else if (flags & TB_TCP_RST)
		there->acked = false;
	if ((events->is & TB_TCP_IS_RETRANSMISSION) &&
		!(events->is & TB_TCP_IS_SPURIOUS)) {
		there->ambiguous = true;
		there->again = end;
	} else if (n > 0 && !(events->is & (TB_TCP_IS_KEEP_ALIVE | TB_TCP_IS_SPURIOUS))) {
		// Keep when a segment passed: the last few are with their side, since
		// most connections have no more under way, and the table would be a cache
		// miss.
		if (there->n_recent == TB_TCP_RECENT)
			spill_segment(analysis, there);
		uint32_t at = ((uint32_t)there->first_recent + there->n_recent++) %
			      TB_TCP_RECENT;
		there->ends[at] = end;
		there->times_ns[at] = at_ns;
	}
	if (!there->begun)
		there->first = frame->sequence;
	if (!there->begun ||
		(before(there->next, end) && !(events->is & TB_TCP_IS_WINDOW_PROBE))) {
		there->next = end;
		there->next_ns = at_ns;
		there->begun = true;
	}
	follow_window(there, back, frame, at_ns, full_bytes, events);
	if (flags & TB_TCP_ACK)
		spend_ack(back, there, stood_back, advances, frame->payload_bytes > 0,
			at_ns, events);
	if (frame->payload_bytes > 0 &&
		!(events->is & (TB_TCP_IS_KEEP_ALIVE | TB_TCP_IS_WINDOW_PROBE)))
		spend_data(there, back, stood, at_ns, events);
	there->last_ns = at_ns;
	there->last_was_keep_alive = events->is & TB_TCP_IS_KEEP_ALIVE;
	there->last_was_probe = events->is & TB_TCP_IS_WINDOW_PROBE;
	events->window = usable_window(there, back);
}
