#include "clean.h"

#include "frame.h"
#include "random.h"
#include "sflow.h"

#include <stdlib.h>

#define MTU_BYTES	1500
#define JUMBO_MTU_BYTES 9000
#define LEAST_MTU_BYTES 1280 // any path of IPv6 carries this much
#define LEAST_PAYLOAD	28u  // of TCP: any link carries IP packets of 68 bytes (RFC 791)
#define N_TYPES_MAX	16
#define N_ORIGINS	256

struct tb_clean {
	struct tb_inputs *inputs;
	struct tb_packets_summary *summary;
	struct tb_packets_options options;
	uint32_t sampled; // how many packets each stands for, unless sFlow gives it
	enum { SFLOW_UNKNOWN, SFLOW_SAMPLES, SFLOW_PACKETS } sflow;
	bool any_point;	     // a repeated frame is a copy even if one point saw both
	int64_t first_ns;    // stamp of the first record
	int64_t first_at_ns; // the same in the order of time
	int64_t last_ns;     // of the last packet
	bool inside;	     // a packet was within the span
	// Whether a packet of this stretch of the clock was captured before `to`, so that
	// no later one of it can be.
	int64_t stretch_ns;
	bool before_to;
	bool ended;
	int ending; // how the inputs ended: 0, or the status of a failure
	struct tb_error failure;
	struct tb_dedup *dedup; // NULL: off
	struct tb_connections *connections;
	struct tb_tcp_analysis *tcp;
	struct tb_tcp_events events; // of the last record of TCP
	struct tb_congestion_recorder *congestion;
	bool begun;	  // a packet was kept
	int64_t kept_ns;  // the last one
	tb_time_ps at_ps; // and its time in the trace
	struct tb_endpoints endpoints;
	struct tb_reorder reorder;
	// What frames in the reorder window have in common, by tb_frame's `origin`: of
	// more different ones than these the oldest is taken anew.
	struct clean_origin {
		int64_t offset_ns;   // between a stamp and the order of time
		uint32_t stands_for; // packets; of those that were sampled
	} origins[N_ORIGINS];
	uint8_t origin; // the last one
	struct types {
		struct tb_packets_type rows[N_TYPES_MAX];
		uint32_t n;
	} lists[TB_N_LISTS];
};

int tb_clean_new(struct tb_clean **clean, struct tb_inputs *inputs,
	const struct tb_packets_options *options, struct tb_packets_summary *summary)
{
	struct tb_clean *new = calloc(1, sizeof *new);
	if (!new)
		return TB_ENOMEM;
	new->inputs = inputs;
	new->summary = summary;
	new->options = *options;
	new->sampled = options->sampled ? options->sampled : 1;
	new->origins[0].stands_for = new->sampled;
	new->any_point = options->dedup == TB_YES;
	bool dedup = options->dedup == TB_YES ||
		     (options->dedup == TB_AUTO && tb_inputs_many_points(inputs));
	if (tb_connections_new(&new->connections) != TB_OK ||
		tb_tcp_analysis_new(&new->tcp) != TB_OK ||
		tb_congestion_recorder_new(&new->congestion) != TB_OK ||
		(dedup && tb_dedup_new(&new->dedup) != TB_OK)) {
		tb_clean_free(new);
		return TB_ENOMEM;
	}
	*clean = new;
	return TB_OK;
}

void tb_clean_free(struct tb_clean *clean)
{
	if (!clean)
		return;
	tb_dedup_free(clean->dedup);
	tb_connections_free(clean->connections);
	tb_tcp_analysis_free(clean->tcp);
	tb_congestion_recorder_free(clean->congestion);
	tb_endpoints_fini(&clean->endpoints);
	tb_reorder_fini(&clean->reorder);
	free(clean);
}

// count_type has a row for each of the first types and one for all others, so that a
// capture of noise does not fill memory.
static void count_type(
	struct tb_clean *clean, enum tb_packets_list list, const struct tb_frame *frame)
{
	struct types *types = &clean->lists[list];
	struct tb_frame_type type = {frame->type, frame->registry};
	uint32_t i = 0;
	while (i < types->n && (types->rows[i].type.number != type.number ||
				       types->rows[i].type.registry != type.registry))
		i++;
	if (i >= N_TYPES_MAX - 1) {
		i = N_TYPES_MAX - 1;
		type = (struct tb_frame_type){0, TB_REGISTRY_OTHERS};
	}
	if (i == types->n)
		types->rows[types->n++].type = type;
	types->rows[i].n_records++;
}

static inline void count_kind(struct tb_clean *clean, const struct tb_frame *frame)
{
	switch ((enum tb_frame_kind)frame->kind) {
	case TB_FRAME_BROADCAST:
		clean->summary->n_broadcast++;
		break;
	case TB_FRAME_MULTICAST:
		clean->summary->n_multicast++;
		break;
	case TB_FRAME_CONTROL:
		clean->summary->n_non_ip++;
		count_type(clean, TB_LIST_CONTROL, frame);
		break;
	case TB_FRAME_UNDECODABLE:
		clean->summary->n_undecodable++;
		count_type(clean, TB_LIST_UNDECODABLE, frame);
		break;
	case TB_FRAME_DATA:
		if (frame->registry != TB_REGISTRY_NONE)
			count_type(clean, TB_LIST_BETWEEN_MACS, frame);
		break;
	}
}

// capture_point returns a number for the point where a record was captured, or
// TB_DEDUP_ANY_POINT if the capture does not contain it (cooked v1) or it does not
// matter.
static uint32_t capture_point(const struct tb_clean *clean,
	const struct tb_record *record, uint32_t in_frame, size_t input)
{
	if (clean->any_point || !tb_frame_has_point(record->link_type))
		return TB_DEDUP_ANY_POINT;
	uint64_t in_file = tb_random_mix((uint64_t)record->interface << 32 | in_frame);
	return (uint32_t)tb_random_mix(in_file + input) | 1;
}

static void count_step_back(struct tb_clean *clean)
{
	struct tb_packets_summary *summary = clean->summary;
	const struct tb_reorder *reorder = &clean->reorder;
	summary->n_reordered = reorder->n_reordered;
	summary->n_late = reorder->n_late;
	summary->peak_reorder_ps = reorder->peak_ns * TB_PS_PER_NS; // at most the window
	summary->n_clock_steps = reorder->n_stepped;
	summary->peak_step_ps = reorder->stepped_ns > TB_TIME_NEVER / TB_PS_PER_NS
					? TB_TIME_NEVER
					: reorder->stepped_ns * TB_PS_PER_NS;
}

// is_after_instant returns whether something was captured after an instant (of one that
// is not given `otherwise_ns`): an instant since the first record counts in the order of
// time, a date by the clock, from which the order is `offset_ns` away.
static bool is_after_instant(const struct tb_clean *clean,
	const struct tb_instant *instant, int64_t at_ns, int64_t offset_ns,
	int64_t otherwise_ns)
{
	bool relative = instant->kind == TB_INSTANT_RELATIVE;
	return (relative ? at_ns : at_ns - offset_ns) >
	       tb_instant_at(instant, relative ? clean->first_at_ns : 0, otherwise_ns);
}

static bool is_before_span(const struct tb_clean *clean, int64_t at_ns, int64_t offset_ns)
{
	struct tb_instant from = clean->options.from;
	from.ns -= from.kind != TB_INSTANT_NONE; // inclusive
	return !is_after_instant(clean, &from, at_ns, offset_ns, INT64_MIN);
}

static bool is_behind_span(const struct tb_clean *clean, int64_t at_ns, int64_t offset_ns)
{
	return is_after_instant(clean, &clean->options.to, at_ns, offset_ns, INT64_MAX);
}

// is_inside returns whether something was captured within the span that is asked for.
static inline bool is_inside(
	const struct tb_clean *clean, int64_t at_ns, int64_t offset_ns)
{
	if (clean->options.from.kind == TB_INSTANT_NONE &&
		clean->options.to.kind == TB_INSTANT_NONE)
		return true;
	return !is_before_span(clean, at_ns, offset_ns) &&
	       !is_behind_span(clean, at_ns, offset_ns);
}

// trace_time returns when something was captured, in the time of the trace.
static tb_time_ps trace_time(const struct tb_clean *clean, int64_t at_ns)
{
	tb_time_ps at_ps;
	if (!clean->begun || at_ns <= clean->kept_ns)
		return clean->at_ps;
	return __builtin_add_overflow(clean->at_ps,
		       tb_packets_gap(
			       clean->options.squeeze_idle, at_ns - clean->kept_ns),
		       &at_ps)
		       ? TB_TIME_NEVER
		       : at_ps;
}

// record_figure counts in the pair of a frame, or of what it answers.
static int record_figure(struct tb_clean *clean, const struct tb_held *held,
	enum tb_congestion_figure figure)
{
	uint32_t pair;
	bool answers = figure == TB_CONGESTION_NOT_READY;
	const struct clean_origin *origin = &clean->origins[held->frame.origin];
	if (!is_inside(clean, held->at_ns, origin->offset_ns))
		return TB_OK;
	int status = tb_congestion_pair_of(clean->congestion,
		answers ? held->destination : held->source,
		answers ? held->source : held->destination, &pair);
	return status != TB_OK ? status
			       : tb_congestion_count(clean->congestion, pair,
					 trace_time(clean, held->at_ns), figure,
					 origin->stands_for);
}

static int record_pause(struct tb_clean *clean, const struct tb_frame_ends *ends,
	int64_t at_ns, uint64_t bits_per_s)
{
	uint32_t source, destination, pair;
	if (!is_inside(clean, at_ns, clean->reorder.offset_ns))
		return TB_OK;
	if (tb_endpoints_add(&clean->endpoints, &ends->source, &source) != TB_OK ||
		tb_endpoints_add(&clean->endpoints, &ends->destination, &destination) !=
			TB_OK ||
		tb_congestion_pair_of(clean->congestion, source, destination, &pair) !=
			TB_OK)
		return TB_ENOMEM;
	return tb_congestion_pause(clean->congestion, pair, trace_time(clean, at_ns),
		&ends->pause, bits_per_s);
}

// take_frame counts a frame that was decoded into the place `held`, and holds it back if
// it may be replayed.
static inline int take_frame(struct tb_clean *clean, struct tb_held *held,
	const struct tb_frame_ends *ends, int64_t at_ns, uint32_t stands_for)
{
	struct tb_packets_summary *summary = clean->summary;
	struct tb_frame *frame = &held->frame;
	count_kind(clean, frame);
	if (frame->kind != TB_FRAME_DATA)
		return TB_OK;
	if (tb_address_equal(&ends->source, &ends->destination)) {
		summary->n_local++;
		return TB_OK;
	}
	if (frame->acknowledgement && frame->transport != TB_TRANSPORT_TCP &&
		!frame->cnp && !frame->marked && !frame->not_ready &&
		!clean->options.keep_acks && !clean->dedup) {
		// Nothing later needs them. But if there may be copies, these must be
		// counted as copies first.
		summary->n_acks++;
		return TB_OK;
	}
	if (frame->sliced)
		summary->n_sliced++;
	if (stands_for > 1) {
		summary->n_sampled++;
		if (stands_for > summary->sampled_most)
			summary->sampled_most = stands_for;
		if (stands_for < summary->sampled_least || summary->n_sampled == 1)
			summary->sampled_least = stands_for;
	}
	// Note of what stretch of the clock a frame is, and for how many it stands.
	struct clean_origin *origins = clean->origins;
	int64_t offset_ns = clean->reorder.offset_ns;
	uint8_t last = clean->origin, at = last;
	// The last one is mostly right; several sources of samples take turns.
	while (origins[at].offset_ns != offset_ns || origins[at].stands_for != stands_for)
		if (--at == last) {
			at = ++clean->origin;
			origins[at] = (struct clean_origin){offset_ns, stands_for};
			break;
		}
	frame->origin = at;
	if (tb_endpoints_add(&clean->endpoints, &ends->source, &held->source) != TB_OK ||
		tb_endpoints_add(&clean->endpoints, &ends->destination,
			&held->destination) != TB_OK)
		return TB_ENOMEM;
	return tb_reorder_put(&clean->reorder, at_ns);
}

// take_sflow takes the packets that a datagram samples, each as a record of its own. It
// returns 0 if the datagram is to be replayed itself: in a capture that did not begin
// with one, which thus has the traffic itself.
__attribute__((noinline)) static int take_sflow(struct tb_clean *clean,
	struct tb_held *held, struct tb_bytes datagram, int64_t at_ns)
{
	struct tb_sflow sflow;
	struct tb_sflow_sample sample;
	bool is_sflow = tb_sflow_begin(&sflow, datagram);
	if (clean->sflow == SFLOW_UNKNOWN)
		clean->sflow = is_sflow ? SFLOW_SAMPLES : SFLOW_PACKETS;
	if (!is_sflow || clean->sflow == SFLOW_PACKETS) {
		clean->summary->n_sflow += is_sflow;
		return 0;
	}
	held->frame.kind = TB_FRAME_CONTROL;
	held->frame.registry = TB_REGISTRY_UDP;
	held->frame.type = TB_SFLOW_PORT;
	count_kind(clean, &held->frame);
	while (tb_sflow_next(&sflow, &sample)) {
		struct tb_frame_ends ends;
		if (!(held = tb_reorder_place(&clean->reorder)))
			return TB_ENOMEM;
		tb_frame_decode(&held->frame, &ends, sample.link_type, sample.bytes,
			sample.wire_bytes, clean->dedup != NULL);
		clean->summary->n_records++;
		int status = take_frame(clean, held, &ends, at_ns, sample.stands_for);
		if (status != TB_OK)
			return status;
	}
	return 1;
}

// clean_record decodes a record directly into the reorder window.
static int clean_record(
	struct tb_clean *clean, const struct tb_record *record, size_t input)
{
	struct tb_packets_summary *summary = clean->summary;
	struct tb_held *held = tb_reorder_place(&clean->reorder);
	if (!held)
		return TB_ENOMEM;
	struct tb_frame *frame = &held->frame;
	struct tb_frame_ends ends;
	if (record->bytes.n < record->wire_bytes)
		summary->n_truncated++;
	if (record->untimed)
		summary->n_untimed++;
	tb_frame_decode(frame, &ends, record->link_type, record->bytes,
		record->wire_bytes, clean->dedup != NULL);
	int64_t at_ns = tb_reorder_stamp(&clean->reorder, record->at_ns);
	if (at_ns < clean->reorder.newest_ns || clean->reorder.offset_ns != 0)
		count_step_back(clean);
	if (summary->n_records++ == 0) {
		clean->first_ns = record->at_ns;
		clean->first_at_ns = at_ns;
	}
	if (ends.pause.classes &&
		record_pause(clean, &ends, at_ns, record->bits_per_s) != TB_OK)
		return TB_ENOMEM;
	if (frame->kind == TB_FRAME_DATA && !summary->is_untold &&
		!tb_frame_tells_network(record->link_type)) {
		summary->is_untold = true;
		summary->link_type = (uint16_t)record->link_type;
	}
	if (frame->kind == TB_FRAME_DATA &&
		(ends.sflow.n > 0 || clean->sflow == SFLOW_UNKNOWN)) {
		int taken = take_sflow(clean, held, ends.sflow, at_ns);
		if (taken != 0)
			return taken < 0 ? taken : TB_OK;
	}
	if (clean->dedup)
		frame->point = capture_point(clean, record, frame->point, input);
	return take_frame(clean, held, &ends, at_ns, clean->sampled);
}

// fresh_bytes marks the record's sequence numbers as seen and returns how many were new.
// A SYN with another number is a new connection on the same ports.
static uint32_t fresh_bytes(struct tb_direction *direction, const struct tb_held *held,
	uint32_t from, uint32_t n)
{
	bool begins = held->frame.transport == TB_TRANSPORT_TCP &&
		      (held->frame.flags & TB_TCP_SYN);
	if (!direction->begun || (begins && direction->first != from)) {
		tb_seq_ranges_begin(&direction->seen, from);
		direction->first = from;
		direction->begun = true;
	}
	return n < TB_SEQ_WINDOW ? tb_seq_ranges_add(&direction->seen, from, n) : n;
}

static uint32_t network_bytes(const struct tb_held *held)
{
	return held->frame.network_header_bytes + held->frame.payload_bytes;
}

static uint32_t segment_within_mtu(const struct tb_held *held)
{
	uint32_t headers = held->frame.network_header_bytes;
	return headers < MTU_BYTES / 2 ? MTU_BYTES - headers : MTU_BYTES / 2;
}

// segment_of returns the largest payload that the connection puts into one frame. An MSS
// includes the options that segments carry, so these are subtracted (RFC 6691).
static uint32_t segment_of(const struct tb_direction *there,
	const struct tb_direction *back, const struct tb_held *held)
{
	uint32_t mss = there->mss;
	if (mss == 0 || (back->mss != 0 && back->mss < mss))
		mss = back->mss;
	if (mss >= held->frame.tcp_options + LEAST_PAYLOAD)
		return mss - held->frame.tcp_options;
	if (there->largest != 0)
		return there->largest;
	return segment_within_mtu(held);
}

// learn_segment recognises full-sized frames that no card has merged: large ones within
// the usual MTU, and those that fill a jumbo MTU exactly.
static void learn_segment(struct tb_direction *there, const struct tb_held *held)
{
	uint32_t n = network_bytes(held);
	bool whole = (n >= LEAST_MTU_BYTES && n <= MTU_BYTES) || n == JUMBO_MTU_BYTES;
	if (whole && held->frame.payload_bytes > there->largest)
		there->largest = (uint16_t)held->frame.payload_bytes;
}

// Which figures the events of TCP count in, of the pair that the frame goes from and to;
// a closed window, of the pair that it stops.
static const struct {
	uint32_t is;
	enum tb_congestion_figure figure;
} figures_of_tcp[] = {
	{TB_TCP_IS_RETRANSMISSION, TB_CONGESTION_RETRANSMISSIONS},
	{TB_TCP_IS_FAST, TB_CONGESTION_FAST},
	{TB_TCP_IS_TIMEOUT, TB_CONGESTION_TIMEOUTS},
	{TB_TCP_IS_SPURIOUS, TB_CONGESTION_SPURIOUS},
	{TB_TCP_IS_KEEP_ALIVE, TB_CONGESTION_KEEP_ALIVES},
	{TB_TCP_IS_DUPLICATE_ACK, TB_CONGESTION_DUPLICATE_ACKS},
	{TB_TCP_IS_OUT_OF_ORDER, TB_CONGESTION_OUT_OF_ORDER},
	{TB_TCP_IS_ZERO_WINDOW, TB_CONGESTION_ZERO_WINDOWS},
	{TB_TCP_IS_WINDOW_FULL, TB_CONGESTION_FULL_WINDOWS},
};

#define IS_COUNTED                                                                       \
	(TB_TCP_IS_RETRANSMISSION | TB_TCP_IS_KEEP_ALIVE | TB_TCP_IS_DUPLICATE_ACK |     \
		TB_TCP_IS_OUT_OF_ORDER | TB_TCP_IS_ZERO_WINDOW | TB_TCP_IS_WINDOW_FULL)

// record_tcp counts what the analysis found in a frame. Most frames give a round trip, or
// nothing.
static int record_tcp(struct tb_clean *clean, const struct tb_held *held,
	struct tb_tcp_side *there, struct tb_tcp_side *back,
	const struct tb_tcp_events *events)
{
	struct tb_congestion_recorder *to = clean->congestion;
	bool rests = !(events->is & IS_COUNTED) && events->closed_ns == 0 &&
		     events->peer_closed_ns == 0 && events->limited_ns == 0;
	bool spends = events->spends || events->peer_spends;
	if ((rests && events->rtt_ns < 0 && !spends) ||
		!is_inside(
			clean, held->at_ns, clean->origins[held->frame.origin].offset_ns))
		return TB_OK;
	if ((there->pair == 0 && tb_congestion_pair_of(to, held->source,
					 held->destination, &there->pair) != TB_OK) ||
		(back->pair == 0 && tb_congestion_pair_of(to, held->destination,
					    held->source, &back->pair) != TB_OK))
		return TB_ENOMEM;
	if (events->spends)
		tb_congestion_spend(to, there->pair, held->at_ns,
			events->is & TB_TCP_IS_RETRANSMISSION ? 0
							      : held->frame.payload_bytes,
			events->spent_ns);
	if (events->peer_spends)
		tb_congestion_spend(
			to, back->pair, held->at_ns, 0, events->peer_spent_ns);
	if (events->rtt_ns >= 0)
		tb_congestion_round_trip(to, back->pair, false, events->rtt_ns);
	// The handshake is the round trip of the end that opened the connection.
	if ((events->is & TB_TCP_IS_HANDSHAKE) && !(held->frame.flags & TB_TCP_SYN) &&
		tb_tcp_handshake_ns(there, back) >= 0)
		tb_congestion_round_trip(
			to, there->pair, true, tb_tcp_handshake_ns(there, back));
	if (rests)
		return TB_OK;
	tb_time_ps at_ps = trace_time(clean, held->at_ns);
	int status = TB_OK;
	for (size_t i = 0;
		status == TB_OK && i < sizeof figures_of_tcp / sizeof *figures_of_tcp;
		i++)
		if (events->is & figures_of_tcp[i].is)
			status = tb_congestion_count(to,
				figures_of_tcp[i].is == TB_TCP_IS_ZERO_WINDOW
					? back->pair
					: there->pair,
				at_ps, figures_of_tcp[i].figure, 1);
	TB_THEN(status, tb_congestion_spread(to, back->pair, at_ps,
				TB_CONGESTION_CLOSED_PS, events->closed_ns));
	TB_THEN(status, tb_congestion_spread(to, there->pair, at_ps,
				TB_CONGESTION_CLOSED_PS, events->peer_closed_ns));
	TB_THEN(status, tb_congestion_spread(to, there->pair, at_ps,
				TB_CONGESTION_LIMITED_PS, events->limited_ns));
	return status;
}

// clean_tcp removes bytes that were sent before and sets the segment size; it returns
// 0 if nothing remains, else 1, or TB_ENOMEM.
static int clean_tcp(struct tb_clean *clean, struct tb_held *held,
	struct tb_direction *there, struct tb_direction *back, struct tb_cleaned *cleaned)
{
	const struct tb_frame *frame = &held->frame;
	// SYN and FIN take a sequence number each. The number of a reset is not always
	// that of the stream.
	uint32_t n = frame->payload_bytes + ((frame->flags & TB_TCP_SYN) != 0) +
		     ((frame->flags & TB_TCP_FIN) != 0);
	bool counts = n > 0 && !(frame->flags & TB_TCP_RST);
	uint32_t n_new = counts ? fresh_bytes(there, held, frame->sequence, n) : n;
	if (frame->mss != 0)
		there->mss = frame->mss;
	learn_segment(there, held);
	cleaned->full_bytes = segment_of(there, back, held);
	cleaned->repeated = counts && n_new == 0;
	// Of a sampled connection nobody knows what lies between two segments.
	if (clean->origins[frame->origin].stands_for == 1) {
		tb_tcp_analyze(clean->tcp, &there->tcp, &back->tcp, frame, held->at_ns,
			cleaned->full_bytes, &clean->events);
		if (record_tcp(clean, held, &there->tcp, &back->tcp, &clean->events) !=
			TB_OK)
			return TB_ENOMEM;
	} else {
		clean->events = (struct tb_tcp_events){.rtt_ns = -1};
	}
	if (clean->options.keep_retransmissions || n_new == n)
		return 1;
	if (n_new == 0)
		return 0;
	if (n_new < held->frame.payload_bytes) {
		held->frame.payload_bytes = n_new;
		held->frame.wire_bytes = held->frame.header_bytes + n_new;
	}
	return 1;
}

// clean_rc returns whether the packet is to be kept, or TB_ENOMEM. A queue pair counts
// packets in 24 bits; shifted to the top of 32 bits they wrap around like TCP's bytes.
static int clean_rc(struct tb_clean *clean, const struct tb_held *held,
	struct tb_direction *there, struct tb_cleaned *cleaned)
{
	uint32_t at = held->frame.sequence << 8;
	bool late = there->begun && (int32_t)(at - there->seen.next) < 0;
	int status = TB_OK;
	cleaned->repeated = fresh_bytes(there, held, at, 1u << 8) == 0;
	if (late && clean->origins[held->frame.origin].stands_for == 1)
		status = record_figure(clean, held,
			cleaned->repeated ? TB_CONGESTION_RETRANSMISSIONS
					  : TB_CONGESTION_OUT_OF_ORDER);
	if (status != TB_OK)
		return status;
	return !cleaned->repeated || clean->options.keep_retransmissions;
}

static int connection_of(struct tb_clean *clean, const struct tb_held *held,
	struct tb_direction **there, struct tb_direction **back)
{
	struct tb_connection_key key = {
		.source = held->source,
		.destination = held->destination,
		.channel = held->frame.channel,
		// A responder numbers like the requester, so its packets are kept apart.
		.kind = held->frame.transport * 2u + held->frame.response,
		.two_way = held->frame.transport == TB_TRANSPORT_TCP,
	};
	return tb_connections_get(clean->connections, &key, there, back);
}

// clean_one cleans a record: 1, 0 when it was dropped, negative when there is no memory.
static int clean_one(
	struct tb_clean *clean, struct tb_held *held, struct tb_cleaned *cleaned)
{
	struct tb_packets_summary *summary = clean->summary;
	const struct clean_origin *origin = &clean->origins[held->frame.origin];
	// Samples of one packet each stand for others.
	if (clean->dedup && origin->stands_for == 1 &&
		tb_dedup_is_copy(clean->dedup, held->frame.digest, held->frame.point,
			held->at_ns)) {
		summary->n_duplicates++;
		return record_figure(clean, held, TB_CONGESTION_DUPLICATES);
	}
	const struct tb_frame *frame = &held->frame;
	if ((frame->marked &&
		    record_figure(clean, held, TB_CONGESTION_MARKED) != TB_OK) ||
		(frame->cnp && record_figure(clean, held, TB_CONGESTION_CNPS) != TB_OK) ||
		(frame->not_ready &&
			record_figure(clean, held, TB_CONGESTION_NOT_READY) != TB_OK))
		return TB_ENOMEM;
	int keep = 1;
	bool is_tcp = frame->transport == TB_TRANSPORT_TCP;
	cleaned->repeated = false;
	cleaned->full_bytes = 0;
	if (is_tcp || (frame->transport == TB_TRANSPORT_RC && !frame->acknowledgement)) {
		struct tb_direction *there;
		struct tb_direction *back;
		if (connection_of(clean, held, &there, &back) != TB_OK)
			return TB_ENOMEM;
		keep = is_tcp ? clean_tcp(clean, held, there, back, cleaned)
			      : clean_rc(clean, held, there, cleaned);
	} else if (frame->offloadable && network_bytes(held) > JUMBO_MTU_BYTES) {
		// No network carries such a frame: the card was to cut it.
		cleaned->full_bytes = segment_within_mtu(held);
	}
	if (frame->acknowledgement && !clean->options.keep_acks) {
		summary->n_acks += keep >= 0;
		return keep < 0 ? keep : 0;
	}
	if (keep < 0)
		return keep;
	if (!keep) {
		summary->n_retransmissions++;
		return 0;
	}
	cleaned->transport = frame->transport;
	cleaned->flags = frame->flags;
	cleaned->acknowledgement = frame->acknowledgement;
	cleaned->response = frame->response;
	cleaned->channel = frame->channel;
	cleaned->sequence = frame->sequence;
	cleaned->acknowledged = frame->acknowledged;
	cleaned->at_ns = held->at_ns;
	cleaned->stamp_ns = held->at_ns - origin->offset_ns;
	cleaned->stands_for = origin->stands_for;
	cleaned->again = false;
	cleaned->source = held->source;
	cleaned->destination = held->destination;
	cleaned->wire_bytes = frame->wire_bytes;
	cleaned->payload_bytes = frame->payload_bytes;
	cleaned->header_bytes = frame->header_bytes;
	cleaned->segment_bytes =
		frame->payload_bytes > cleaned->full_bytes ? cleaned->full_bytes : 0;
	return 1;
}

// is_outside returns whether a record was captured outside the span that is asked for.
// Nothing behind the span is read any more, unless the whole stretch of the clock is
// behind it: another one may not be.
static bool is_outside(struct tb_clean *clean, const struct tb_cleaned *cleaned)
{
	int64_t at_ns = cleaned->at_ns, offset_ns = at_ns - cleaned->stamp_ns;
	bool inside = true;
	if (clean->options.from.kind != TB_INSTANT_NONE ||
		clean->options.to.kind != TB_INSTANT_NONE) {
		clean->last_ns = cleaned->stamp_ns;
		if (offset_ns != clean->stretch_ns)
			clean->before_to = false;
		clean->stretch_ns = offset_ns;
		bool behind = is_behind_span(clean, at_ns, offset_ns);
		inside = !behind && !is_before_span(clean, at_ns, offset_ns);
		clean->ended |=
			behind && (clean->before_to ||
					  clean->options.to.kind == TB_INSTANT_RELATIVE);
		clean->before_to |= !behind;
		clean->inside |= inside;
		clean->summary->n_outside += !inside;
	}
	if (inside) {
		clean->at_ps = trace_time(clean, at_ns);
		clean->kept_ns = at_ns;
		clean->begun = true;
	}
	return !inside;
}

// check_span refuses a capture without packets, and a span without one.
static int check_span(struct tb_clean *clean)
{
	int64_t from_ns =
		tb_instant_at(&clean->options.from, clean->first_ns, clean->first_ns);
	int64_t to_ns = tb_instant_at(&clean->options.to, clean->first_ns, INT64_MAX);
	char from[48], to[48], first[48], last[48];
	if (clean->summary->n_records == 0 && !clean->summary->is_cut)
		return tb_fail(&clean->failure, TB_EFORMAT,
			"there is nothing to replay: the capture holds no packets");
	if (clean->inside || clean->summary->n_outside == 0)
		return TB_OK;
	tb_instant_format(from_ns, from, sizeof from);
	tb_instant_format(to_ns, to, sizeof to);
	tb_instant_format(clean->first_ns, first, sizeof first);
	tb_instant_format(clean->last_ns, last, sizeof last);
	if (clean->options.from.kind != TB_INSTANT_NONE && from_ns > to_ns)
		return tb_fail(&clean->failure, TB_EUSAGE,
			"the span ends at %s, before it begins at %s", to, from);
	if (clean->last_ns > to_ns)
		return tb_fail(&clean->failure, TB_EUSAGE,
			"no packet was captured from %s to %s: the capture begins at %s",
			clean->options.from.kind != TB_INSTANT_NONE ? from
								    : "the beginning",
			to, first);
	return tb_fail(&clean->failure, TB_EUSAGE,
		"no packet was captured from %s on: the last one is of %s", from, last);
}

int tb_clean_next(
	struct tb_clean *clean, struct tb_cleaned *cleaned, struct tb_error *error)
{
	int status = 0;
	while (status == 0) {
		struct tb_held *held = tb_reorder_take(&clean->reorder, clean->ended);
		if (held) {
			status = clean_one(clean, held, cleaned);
			if (status == 1 && is_outside(clean, cleaned))
				status = 0;
			continue;
		}
		if (clean->ended)
			break;
		const struct tb_record *record;
		size_t input;
		int code =
			tb_inputs_next(clean->inputs, &record, &input, &clean->failure);
		clean->ended = code != 1;
		if (code == 1)
			status = clean_record(clean, record, input);
		else if (code == TB_EFORMAT && clean->options.lenient)
			clean->summary->is_cut = true;
		else
			clean->ending = code;
		if (clean->ending == TB_EFORMAT &&
			clean->failure.place == TB_PLACE_RECORD) {
			size_t n = strlen(clean->failure.text);
			snprintf(clean->failure.text + n, sizeof clean->failure.text - n,
				" (--lenient takes what is whole)");
		}
	}
	if (status < 0)
		return tb_fail_memory(error, "the packets");
	if (status == 0 && clean->ending == 0)
		clean->ending = check_span(clean);
	if (status == 0 && clean->ending < 0 && error)
		*error = clean->failure;
	return status == 0 ? clean->ending : status;
}

struct tb_congestion_recorder *tb_clean_congestion(const struct tb_clean *clean)
{
	return clean->congestion;
}

const struct tb_tcp_events *tb_clean_tcp(const struct tb_clean *clean)
{
	return &clean->events;
}

const struct tb_endpoints *tb_clean_endpoints(const struct tb_clean *clean)
{
	return &clean->endpoints;
}

const struct tb_packets_type *tb_clean_type(
	const struct tb_clean *clean, enum tb_packets_list list, uint32_t i)
{
	const struct types *types = &clean->lists[list];
	return i < types->n ? &types->rows[i] : NULL;
}
