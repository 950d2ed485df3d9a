#include "packets.h"

#include "array.h"
#include "capture_file.h"
#include "clean.h"
#include "heap.h"
#include "map.h"
#include "map_file.h"
#include "nodes.h"
#include "order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Spreads sampled packets over time: each stands for several, of which the others were
// not captured.
//
// A sample becomes as many packets of its size and ends, the first when it was captured
// and the rest evenly until the next sample of the same ordered pair, at most a second
// later; of a pair's last one, until a second later or as long as the capture took up to
// there. So bytes and rates by pair are those that the samples estimate, and no burst is
// made up; bursts shorter than the time between samples of a pair are not seen.
//
// Samples are held back for up to a second and at most TB_SAMPLED_MAX of them; memory
// grows with the pairs. Order: packets leave in the order of time. Not thread safe.

#define TB_SAMPLED_SPAN_NS INT64_C(1000000000)
#define TB_SAMPLED_MAX	   (UINT32_C(1) << 16)

struct tb_sampled; // opaque

// A sample, or what is left of one that is being spread.
struct spread_sample {
	struct tb_cleaned packet;
	int64_t next_ns; // when the next packet leaves
	int64_t span_ns; // over which they are spread; negative: not known yet
	uint32_t n_gone;
	uint64_t number; // in the order of arrival
};

struct tb_sampled {
	struct spread_sample *ring; // samples whose span is awaited
	uint32_t first, n;
	struct spread_sample *heap; // those that are being spread
	size_t n_heap, heap_room;
	uint64_t n_put;
	int64_t begin_ns, newest_ns;
	struct tb_map pairs; // index of a pair
	uint64_t *last;	     // by pair: number of its last sample
	size_t last_room;
	uint32_t n_pairs;
};

static void sampled_free(struct tb_sampled *sampled)
{
	if (!sampled)
		return;
	tb_map_fini(&sampled->pairs);
	free(sampled->ring);
	free(sampled->heap);
	free(sampled->last);
	free(sampled);
}

static int sampled_new(struct tb_sampled **sampled)
{
	struct tb_sampled *new = calloc(1, sizeof *new);
	if (new)
		new->ring = malloc(TB_SAMPLED_MAX * sizeof *new->ring);
	if (!new || !new->ring) {
		sampled_free(new);
		return TB_ENOMEM;
	}
	*sampled = new;
	return TB_OK;
}

static struct spread_sample *waiting_for_port(struct tb_sampled *sampled, uint32_t i)
{
	return &sampled->ring[(sampled->first + i) & (TB_SAMPLED_MAX - 1)];
}

// end_last gives the pair's last sample its span, if it still waits, and takes note of
// the new one.
static int end_last(struct tb_sampled *sampled, const struct tb_cleaned *sample)
{
	uint64_t key = (uint64_t)sample->source << 32 | sample->destination;
	uint32_t pair = sampled->n_pairs;
	if (!tb_map_find(&sampled->pairs, key, &pair)) {
		if (TB_ARRAY_RESERVE(&sampled->last, &sampled->last_room,
			    (size_t)pair + 1) != TB_OK ||
			tb_map_put(&sampled->pairs, key, pair) != TB_OK)
			return TB_ENOMEM;
		sampled->n_pairs++;
	} else if (sampled->n > 0 &&
		   sampled->last[pair] >= waiting_for_port(sampled, 0)->number) {
		uint64_t i = sampled->last[pair] - waiting_for_port(sampled, 0)->number;
		struct spread_sample *last = waiting_for_port(sampled, (uint32_t)i);
		last->span_ns = sample->at_ns - last->next_ns;
	}
	sampled->last[pair] = sampled->n_put;
	return TB_OK;
}

// sampled_put adds a sample; `at_ns` must not decrease.
static int sampled_put(struct tb_sampled *sampled, const struct tb_cleaned *sample)
{
	if (end_last(sampled, sample) != TB_OK)
		return TB_ENOMEM;
	if (sampled->n_put == 0)
		sampled->begin_ns = sample->at_ns;
	sampled->newest_ns = sample->at_ns;
	*waiting_for_port(sampled, sampled->n++) =
		(struct spread_sample){.packet = *sample,
			.next_ns = sample->at_ns,
			.span_ns = -1,
			.number = sampled->n_put++};
	return TB_OK;
}

static bool spread_is_sooner(const struct spread_sample *a, const struct spread_sample *b)
{
	return a->next_ns != b->next_ns ? a->next_ns < b->next_ns : a->number < b->number;
}

TB_HEAP(spreads, struct spread_sample, spread_is_sooner)

// is_ready returns whether the oldest waiting sample need not wait any more.
static bool is_ready(struct tb_sampled *sampled, bool all)
{
	const struct spread_sample *oldest = waiting_for_port(sampled, 0);
	return all || oldest->span_ns >= 0 || sampled->n == TB_SAMPLED_MAX ||
	       sampled->newest_ns - oldest->next_ns >= TB_SAMPLED_SPAN_NS;
}

static int spread_oldest(struct tb_sampled *sampled)
{
	struct spread_sample *oldest = waiting_for_port(sampled, 0);
	int64_t most_ns = TB_SAMPLED_SPAN_NS;
	if (oldest->span_ns < 0) {
		oldest->span_ns = most_ns;
		if (most_ns > sampled->newest_ns - sampled->begin_ns)
			most_ns = sampled->newest_ns - sampled->begin_ns;
	}
	oldest->span_ns = tb_min_i64(oldest->span_ns, most_ns);
	if (TB_ARRAY_MORE(sampled, heap) != TB_OK)
		return TB_ENOMEM;
	spreads_put(sampled->heap, sampled->n_heap++, *oldest);
	sampled->first = (sampled->first + 1) & (TB_SAMPLED_MAX - 1);
	sampled->n--;
	return TB_OK;
}

// sampled_take stores the next packet if it is certain, or with `all` any: 1, 0 when
// there is none, TB_ENOMEM.
static int sampled_take(struct tb_sampled *sampled, bool all, struct tb_cleaned *packet)
{
	while (sampled->n > 0 && is_ready(sampled, all) &&
		(sampled->n_heap == 0 || waiting_for_port(sampled, 0)->next_ns <=
						 sampled->heap[0].next_ns))
		if (spread_oldest(sampled) != TB_OK)
			return TB_ENOMEM;
	if (sampled->n_heap == 0)
		return 0;
	struct spread_sample next = sampled->heap[0];
	// A sample that still waits, or is still to come, may be sooner.
	int64_t certain_ns = sampled->n > 0 ? waiting_for_port(sampled, 0)->next_ns
					    : sampled->newest_ns;
	if (next.next_ns > certain_ns && !(all && sampled->n == 0))
		return 0;
	*packet = next.packet;
	packet->at_ns = next.next_ns;
	packet->again = next.n_gone > 0;
	if (++next.n_gone >= next.packet.stands_for) {
		(void)spreads_take(sampled->heap, sampled->n_heap--);
		return 1;
	}
	// At most 2^30 times 2^32, and each packet's time by itself, so that no error
	// adds up.
	next.next_ns =
		next.packet.at_ns +
		(int64_t)((uint64_t)next.span_ns * next.n_gone / next.packet.stands_for);
	spreads_replace(sampled->heap, sampled->n_heap, next);
	return 1;
}

// Number of records that are read ahead, to number their endpoints by address.
#define AHEAD_RECORDS 131072

#define FRAME_BYTES_MIN 60 // Ethernet's least, without FCS

__extension__ typedef unsigned __int128 wide_time;

// Captured time times a factor, in integers: the same on every machine.
struct clock_scale {
	uint64_t mantissa; // factor = mantissa / 2^shift
	int shift;
};

struct tb_packets {
	struct tb_inputs *inputs;
	struct tb_clean *clean;
	struct tb_map_file *own_map; // if it was read from a file
	const struct tb_map_file *map;
	struct tb_nodes *nodes;
	char *default_job_name;
	uint32_t default_job; // of nodes to which the map gives none
	uint32_t n_jobs;
	struct tb_packets_summary summary;
	struct tb_packets_options options;
	struct clock_scale scale;
	// Records read ahead.
	struct tb_cleaned *ahead;
	uint32_t ahead_at;
	uint32_t ahead_n;
	size_t ahead_room;
	struct tb_tcp_events *ahead_tcp; // of these; NULL: acknowledgements are not kept
	size_t ahead_tcp_room;
	bool looked_ahead;
	int ending; // status of the last record read ahead; 1: there may be more
	struct tb_error failure;
	// The record that is being returned, frame by frame.
	struct tb_cleaned record;
	struct tb_sampled *sampled; // NULL: nothing was sampled
	bool spread_all;	    // all of it was put, and how that ended
	int spread_status;
	struct tb_error spread_failure;
	struct tb_tcp_events tcp; // of it
	struct tb_packets_pair *pair;
	tb_time_ps at_ps;
	uint32_t job;
	uint32_t payload_left;
	bool in_record;
	// The clock.
	bool begun;
	int64_t first_ns; // stamp of the first packet
	int64_t last_ns;  // the last one, in the order of time
	int64_t last_stamp_ns;
	tb_time_ps captured_ps; // since the first packet, without squeezed time
};

static int open_all(struct tb_packets *packets, const char *const *paths, size_t n,
	const struct tb_packets_options *options, struct tb_error *error)
{
	int status = options->map_file ? tb_map_file_read(&packets->own_map,
						 options->map_file, error)
				       : TB_OK;
	packets->map = options->map_file ? packets->own_map : options->map;
	TB_THEN(status,
		tb_inputs_open(&packets->inputs, paths, n, options->opened, error));
	if (status != TB_OK)
		return status;
	tb_inputs_stop_on(packets->inputs, options->stop);
	packets->options = *options;
	if (options->time_scale <= 0)
		packets->options.time_scale = 1;
	int exponent;
	double fraction = frexp(packets->options.time_scale, &exponent); // [0.5, 1)
	packets->scale =
		(struct clock_scale){(uint64_t)ldexp(fraction, 53), 53 - exponent};
	packets->default_job_name =
		strdup(options->job_name ? options->job_name : "trace");
	if (!packets->default_job_name ||
		tb_clean_new(&packets->clean, packets->inputs, options,
			&packets->summary) != TB_OK ||
		tb_nodes_new(&packets->nodes, tb_clean_endpoints(packets->clean),
			packets->map, options->n_nodes_max, &packets->summary) != TB_OK)
		return tb_fail_memory(error, "the packets");
	// Put the default job after the map's jobs, unless the map has a job of that
	// name or a job for every node.
	uint32_t n_known = packets->map ? tb_map_file_n_jobs(packets->map) : 0;
	uint32_t job = 0;
	while (job < n_known && strcmp(tb_map_file_job_name(packets->map, job),
					packets->default_job_name) != 0)
		job++;
	packets->default_job = job;
	packets->n_jobs = n_known;
	if (job == n_known && (!packets->map || tb_map_file_leaves_jobs(packets->map)))
		packets->n_jobs++;
	return TB_OK;
}

int tb_packets_open(struct tb_packets **packets, const char *const *paths, size_t n,
	const struct tb_packets_options *options, struct tb_error *error)
{
	static const struct tb_packets_options defaults = {0};
	if (!options)
		options = &defaults;
	if (n == 0)
		return tb_fail(error, TB_EUSAGE, "no capture is given");
	double scale = options->time_scale;
	if (!isfinite(scale) || scale < 0 || (scale > 0 && (scale < 1e-9 || scale > 1e9)))
		return tb_fail(error, TB_EUSAGE,
			"a time scale of %g makes no sense: expected 1e-9 to 1e9", scale);
	if (options->squeeze_idle < 0)
		return tb_fail(error, TB_EUSAGE, "idle time cannot be squeezed below 0");
	int status = TB_OK;
	struct tb_packets *new = calloc(1, sizeof *new);
	if (!new)
		return tb_fail_memory(error, "the packets");
	status = open_all(new, paths, n, options, error);
	if (status == TB_OK)
		*packets = new;
	else
		tb_packets_free(new);
	return status;
}

void tb_packets_free(struct tb_packets *packets)
{
	if (!packets)
		return;
	tb_nodes_free(packets->nodes);
	tb_clean_free(packets->clean);
	tb_inputs_free(packets->inputs);
	tb_map_file_free(packets->own_map);
	sampled_free(packets->sampled);
	free(packets->default_job_name);
	free(packets->ahead);
	free(packets->ahead_tcp);
	free(packets);
}

// meet_ahead gives the endpoints of the records read ahead their nodes, in the order of
// their addresses.
static int meet_ahead(struct tb_packets *packets)
{
	uint32_t n = packets->ahead_n;
	if (n == 0)
		return TB_OK;
	uint32_t n_endpoints = tb_clean_endpoints(packets->clean)->n;
	uint32_t *numbers = malloc(n_endpoints * sizeof *numbers);
	// Sort each endpoint once, not once per record.
	bool *met = calloc(n_endpoints, sizeof *met);
	int status = numbers && met ? TB_OK : TB_ENOMEM;
	size_t n_met = 0;
	for (uint32_t i = 0; status == TB_OK && i < n; i++) {
		const uint32_t ends[2] = {
			packets->ahead[i].source, packets->ahead[i].destination};
		for (int end = 0; end < 2; end++) {
			if (!met[ends[end]])
				numbers[n_met++] = ends[end];
			met[ends[end]] = true;
		}
	}
	TB_THEN(status, tb_nodes_meet_sorted(packets->nodes, numbers, n_met));
	free(numbers);
	free(met);
	return status;
}

// room_ahead returns room for the next record that is read ahead; NULL when there is no
// memory.
static struct tb_cleaned *room_ahead(struct tb_packets *packets)
{
	if (TB_ARRAY_RESERVE(
		    &packets->ahead, &packets->ahead_room, packets->ahead_n + 1) != TB_OK)
		return NULL;
	if (packets->options.keep_acks &&
		TB_ARRAY_RESERVE(&packets->ahead_tcp, &packets->ahead_tcp_room,
			packets->ahead_n + 1) != TB_OK)
		return NULL;
	return &packets->ahead[packets->ahead_n];
}

static int read_packet_ahead(struct tb_packets *packets, struct tb_error *error)
{
	packets->looked_ahead = true;
	packets->ending = 1;
	while (packets->ahead_n < AHEAD_RECORDS && packets->ending == 1) {
		struct tb_cleaned *record = room_ahead(packets);
		if (!record)
			return tb_fail_memory(error, "the packets");
		packets->ending =
			tb_clean_next(packets->clean, record, &packets->failure);
		if (packets->ending == 1 && packets->options.keep_acks)
			packets->ahead_tcp[packets->ahead_n] =
				*tb_clean_tcp(packets->clean);
		if (packets->ending == 1)
			packets->ahead_n++;
	}
	if (meet_ahead(packets) != TB_OK)
		return tb_fail_memory(error, "the packets");
	return TB_OK;
}

int tb_packets_look_ahead(struct tb_packets *packets, struct tb_error *error)
{
	return packets->looked_ahead ? TB_OK : read_packet_ahead(packets, error);
}

void tb_packets_limit_nodes(struct tb_packets *packets, uint32_t n_nodes_max)
{
	tb_nodes_limit(packets->nodes, n_nodes_max);
}

static inline int next_cleaned(struct tb_packets *packets, struct tb_error *error)
{
	int status = tb_packets_look_ahead(packets, error);
	if (status != TB_OK)
		return status;
	if (packets->ahead_at < packets->ahead_n) {
		if (packets->options.keep_acks)
			packets->tcp = packets->ahead_tcp[packets->ahead_at];
		packets->record = packets->ahead[packets->ahead_at++];
		return 1;
	}
	if (packets->ending != 1) {
		if (packets->ending < 0 && error)
			*error = packets->failure;
		return packets->ending;
	}
	status = tb_clean_next(packets->clean, &packets->record, error);
	if (status == 1 && packets->options.keep_acks)
		packets->tcp = *tb_clean_tcp(packets->clean);
	return status;
}

// next_spread returns the next packet for which a sampled one stands.
static int next_spread(struct tb_packets *packets, struct tb_error *error)
{
	int status;
	while ((status = sampled_take(
			packets->sampled, packets->spread_all, &packets->record)) == 0) {
		if (packets->spread_all) {
			if (packets->spread_status < 0 && error)
				*error = packets->spread_failure;
			return packets->spread_status;
		}
		packets->spread_status = next_cleaned(packets, &packets->spread_failure);
		packets->spread_all = packets->spread_status != 1;
		if (!packets->spread_all &&
			sampled_put(packets->sampled, &packets->record) != TB_OK)
			return tb_fail_memory(error, "the packets");
	}
	return status < 0 ? tb_fail_memory(error, "the packets") : status;
}

static inline int next_record(struct tb_packets *packets, struct tb_error *error)
{
	if (packets->sampled)
		return next_spread(packets, error);
	int status = next_cleaned(packets, error);
	if (status != 1 || packets->record.stands_for <= 1)
		return status;
	// The first record that was sampled.
	if (sampled_new(&packets->sampled) != TB_OK ||
		sampled_put(packets->sampled, &packets->record) != TB_OK)
		return tb_fail_memory(error, "the packets");
	return next_spread(packets, error);
}

static bool apply_time_scale(
	const struct clock_scale *scale, tb_time_ps time, tb_time_ps *result)
{
	// The usual factor is 1, which needs no arithmetic in 128 bits.
	if (scale->shift == 52 && scale->mantissa == UINT64_C(1) << 52) {
		*result = time; // by one
		return true;
	}
	wide_time product = (wide_time)(uint64_t)time * scale->mantissa;
	// A factor is at most 1e9, so the shift is at least 53 - 30.
	wide_time rounded =
		(product + ((wide_time)1 << (scale->shift - 1))) >> scale->shift;
	if (rounded > (wide_time)TB_TIME_NEVER - 1)
		return false;
	*result = (tb_time_ps)rounded;
	return true;
}

tb_time_ps tb_packets_gap(tb_time_ps squeeze_idle, int64_t gap_ns)
{
	bool squeezes = squeeze_idle > 0 && squeeze_idle < TB_PACKETS_GAP_MAX;
	tb_time_ps limit = squeezes ? squeeze_idle : TB_PACKETS_GAP_MAX;
	if (gap_ns <= limit / TB_PS_PER_NS)
		return gap_ns * TB_PS_PER_NS;
	return squeezes ? squeeze_idle : TB_PS_PER_S;
}

// squeezed returns the captured time between the last packet and this one, less what idle
// time is taken out.
static tb_time_ps squeezed(struct tb_packets *packets, int64_t gap_ns)
{
	tb_time_ps shrunk = tb_packets_gap(packets->options.squeeze_idle, gap_ns);
	if (shrunk / TB_PS_PER_NS == gap_ns)
		return shrunk;
	// With broken clocks this may be centuries, so let the sum saturate.
	tb_time_ps gap;
	tb_time_ps *sum = &packets->summary.squeezed_ps;
	if (__builtin_mul_overflow(gap_ns, TB_PS_PER_NS, &gap) ||
		__builtin_add_overflow(*sum, gap - shrunk, sum))
		*sum = TB_TIME_NEVER;
	return shrunk;
}

// stamp_packet sets the time of the record's frames.
static int stamp_packet(struct tb_packets *packets, struct tb_error *error)
{
	struct tb_packets_summary *summary = &packets->summary;
	int64_t at_ns = packets->record.at_ns, stamp_ns = packets->record.stamp_ns;
	if (!packets->begun) {
		packets->first_ns = packets->last_stamp_ns = stamp_ns;
		summary->first_at_ns = summary->last_at_ns = stamp_ns;
		packets->last_ns = at_ns;
	}
	packets->begun = true;
	int64_t gap_ns = at_ns - packets->last_ns;
	// In the order of time, a gap of more than a day is shortened (clean.h).
	if (gap_ns > TB_PACKETS_GAP_MAX / TB_PS_PER_NS &&
		stamp_ns - packets->last_stamp_ns > gap_ns)
		gap_ns = stamp_ns - packets->last_stamp_ns;
	tb_time_ps gap = squeezed(packets, gap_ns);
	packets->last_ns = at_ns;
	packets->last_stamp_ns = stamp_ns;
	summary->first_at_ns = tb_min_i64(summary->first_at_ns, stamp_ns);
	if (stamp_ns > summary->last_at_ns)
		summary->last_at_ns = stamp_ns;
	if (__builtin_add_overflow(packets->captured_ps, gap, &packets->captured_ps) ||
		!apply_time_scale(&packets->scale, packets->captured_ps, &packets->at_ps))
		return tb_fail(error, TB_ECAPACITY,
			"the packets are spread over more than 106 days: --squeeze-idle "
			"1h shortens the gaps between them");
	summary->duration_ps = packets->at_ps;
	return TB_OK;
}

uint32_t tb_packets_job_of(const struct tb_packets *packets, struct tb_node node)
{
	if (!packets->map)
		return 0;
	uint32_t job = tb_map_file_job(packets->map, node);
	return job == TB_ID_NONE ? packets->default_job : job;
}

// begin_record finds the record's nodes: 1, 0 when it is not to be replayed, or negative.
static int begin_record(struct tb_packets *packets, struct tb_error *error)
{
	struct tb_packets_summary *summary = &packets->summary;
	const struct tb_cleaned *record = &packets->record;
	int pairing = tb_nodes_pairing(
		packets->nodes, record->source, record->destination, &packets->pair);
	if (pairing < 0)
		return tb_fail_memory(error, "the packets");
	if (pairing == TB_PAIRING_UNPLACED)
		summary->n_unplaced += !record->again;
	else if (pairing == TB_PAIRING_LOCAL)
		summary->n_local += !record->again;
	if (pairing != TB_PAIRING_PLACED)
		return 0;
	int status = stamp_packet(packets, error);
	if (status != TB_OK)
		return status;
	packets->job = tb_packets_job_of(packets, packets->pair->source);
	packets->payload_left = record->payload_bytes;
	packets->in_record = true;
	summary->n_replayed_records += !record->again;
	if (record->segment_bytes > 0)
		summary->n_offloaded += !record->again;
	return 1;
}

int tb_packets_next(struct tb_packets *packets, struct tb_captured_packet *packet,
	struct tb_error *error)
{
	while (!packets->in_record) {
		int status = next_record(packets, error);
		if (status == 1)
			status = begin_record(packets, error);
		else if (status == 0)
			return 0;
		if (status < 0)
			return status;
	}
	// Cut the next frame from the record.
	const struct tb_cleaned *record = &packets->record;
	struct tb_packets_pair *pair = packets->pair;
	uint32_t payload_bytes = record->payload_bytes;
	uint32_t wire_bytes = record->wire_bytes;
	packets->in_record = false;
	if (record->segment_bytes > 0) {
		payload_bytes = packets->payload_left < record->segment_bytes
					? packets->payload_left
					: record->segment_bytes;
		wire_bytes = record->header_bytes + payload_bytes;
		// The last frame may be short; the wire pads it.
		if (wire_bytes < FRAME_BYTES_MIN)
			wire_bytes = FRAME_BYTES_MIN;
		packets->payload_left -= payload_bytes;
		packets->in_record = packets->payload_left > 0;
	}
	packet->at_ps = packets->at_ps;
	packet->source = pair->source;
	packet->destination = pair->destination;
	packet->wire_bytes = wire_bytes;
	packet->payload_bytes = payload_bytes;
	packet->job = packets->job;
	packets->summary.n_packets++;
	packets->summary.wire_bytes += wire_bytes;
	packets->summary.payload_bytes += payload_bytes;
	pair->n_packets++;
	pair->wire_bytes += wire_bytes;
	pair->payload_bytes += payload_bytes;
	return 1;
}

int tb_packets_next_record(struct tb_packets *packets, struct tb_packet_record *record,
	struct tb_error *error)
{
	int status;
	do {
		status = next_record(packets, error);
		if (status == 1)
			status = begin_record(packets, error);
		else if (status == 0)
			return 0;
	} while (status == 0);
	if (status < 0)
		return status;
	const struct tb_cleaned *from = &packets->record;
	if (packets->sampled)
		return tb_fail(error, TB_EUSAGE,
			"is sampled: most packets of each message are missing, so no job "
			"can be inferred from it; replay its packets, without "
			"--closed-loop");
	packets->in_record = false;
	int64_t since_ns = packets->captured_ps / TB_PS_PER_NS; // gaps shrunk
	*record = (struct tb_packet_record){.at_ns = packets->first_ns + since_ns,
		.source = packets->pair->source,
		.destination = packets->pair->destination,
		.wire_bytes = from->wire_bytes,
		.payload_bytes = from->payload_bytes,
		.full_bytes = from->full_bytes,
		.channel = from->channel,
		.sequence = from->sequence,
		.acknowledged = from->acknowledged,
		.transport = from->transport,
		.flags = from->flags,
		.acknowledgement = from->acknowledgement,
		.response = from->response,
		.repeated = from->repeated,
		.tcp = packets->tcp};
	return 1;
}

const struct tb_packets_summary *tb_packets_summary(const struct tb_packets *packets)
{
	return &packets->summary;
}

const char *tb_packets_beside(const struct tb_packets *packets)
{
	return packets->options.beside;
}

double tb_packets_fraction(const struct tb_packets *packets)
{
	return tb_inputs_fraction(packets->inputs);
}

const char *tb_packets_node_name(const struct tb_packets *packets, struct tb_node node)
{
	return tb_nodes_name(packets->nodes, node);
}

uint32_t tb_packets_n_jobs(const struct tb_packets *packets)
{
	return packets->n_jobs;
}

const char *tb_packets_job_name(const struct tb_packets *packets, uint32_t job)
{
	if (packets->map && job < tb_map_file_n_jobs(packets->map))
		return tb_map_file_job_name(packets->map, job);
	return packets->default_job_name;
}

const struct tb_packets_type *tb_packets_type(
	const struct tb_packets *packets, enum tb_packets_list list, uint32_t i)
{
	return tb_clean_type(packets->clean, list, i);
}

const char *tb_packets_unplaced_name(const struct tb_packets *packets, uint32_t i)
{
	return tb_nodes_unplaced(packets->nodes, i);
}

const struct tb_packets_pair *tb_packets_pair(
	const struct tb_packets *packets, uint64_t pair)
{
	return tb_nodes_pair(packets->nodes, pair);
}

int tb_packets_congestion(const struct tb_packets *packets,
	struct tb_congestion **congestion, struct tb_error *error)
{
	struct tb_congestion_recorder *recorder = tb_clean_congestion(packets->clean);
	uint32_t *numbers =
		calloc(2 * (size_t)tb_congestion_n_pairs(recorder), sizeof *numbers);
	struct tb_congestion *new = NULL;
	if (!numbers || tb_congestion_make(recorder, tb_clean_endpoints(packets->clean),
				&new, numbers) != TB_OK) {
		free(numbers);
		return tb_fail_memory(error, "the packets");
	}
	for (size_t i = 0; i < new->n_pairs; i++) {
		struct tb_congestion_pair *pair = &new->pairs[i];
		if (!pair->source)
			continue;
		pair->source_node = tb_nodes_of(packets->nodes, numbers[2 * i]);
		pair->destination_node = tb_nodes_of(packets->nodes, numbers[2 * i + 1]);
	}
	free(numbers);
	*congestion = new;
	return TB_OK;
}

struct tb_packets_load tb_packets_load(
	const struct tb_packets *packets, struct tb_packets_rate node)
{
	const struct tb_packets_summary *summary = &packets->summary;
	struct tb_packets_load load = {0};
	double seconds = (double)packets->captured_ps / (double)TB_PS_PER_S;
	double *in_out =
		calloc(summary->n_nodes ? summary->n_nodes * 2u : 1, sizeof *in_out);
	if (!in_out || seconds <= 0 || node.bytes_per_s <= 0) {
		free(in_out);
		return load;
	}
	double most = 0, sum = 0;
	for (uint64_t i = 0; i < summary->n_pairs; i++) {
		const struct tb_packets_pair *pair = tb_nodes_pair(packets->nodes, i);
		double bytes = (double)pair->wire_bytes +
			       node.more_bytes * (double)pair->n_packets;
		in_out[pair->source.id * 2] += bytes;
		in_out[pair->destination.id * 2 + 1] += bytes;
		sum += bytes;
	}
	for (uint32_t i = 0; i < summary->n_nodes * 2; i++)
		if (in_out[i] > most) {
			most = in_out[i];
			load.busiest.id = i / 2;
		}
	free(in_out);
	double capacity =
		node.bytes_per_s * seconds; // of a node, in bytes, at time scale 1
	load.mean_share =
		sum / (capacity * packets->options.time_scale * summary->n_nodes);
	load.busiest_share = most / (capacity * packets->options.time_scale);
	load.half_scale = most / capacity * 2;
	return load;
}
