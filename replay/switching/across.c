#include "across.h"

#include "array.h"
#include "credit_params.h"
#include "stop.h"

#include <stdlib.h>
#include <string.h>

// The program is the same in all processes of a job, so they send each other structs as
// they are in memory.

// The latest time that another process may send, 26 days, except for TB_TIME_NEVER. Sums
// of a few do not overflow.
#define TB_ACROSS_LATEST (TB_TIME_NEVER / 4)

struct packed { // a record that is being written
	unsigned char *bytes;
	size_t n, room;
	bool failed; // out of memory
};

struct unread { // what is left of a record that is being read
	const unsigned char *at;
	size_t n;
};

struct tb_across {
	struct tb_replay *whole;
	struct tb_peer_streams *streams;
	const struct tb_switching *model;
	tb_time_ps until; // end of the window exchanged last
	uint32_t rank, n;
	uint32_t first, end; // own parts
	struct packed packed;
};

// across_first is the first part of a process; that of the next ends its parts.
static inline uint32_t across_first(const struct tb_across *across, uint32_t rank)
{
	return (uint32_t)((uint64_t)across->whole->side->parts->n * rank / across->n);
}

static inline struct tb_replay *across_part(const struct tb_across *across, uint32_t part)
{
	return across->whole->side->by_part[part];
}

static inline void packed_put(struct packed *packed, const void *bytes, size_t n)
{
	if (TB_ARRAY_RESERVE(&packed->bytes, &packed->room, packed->n + n) != TB_OK) {
		packed->failed = true;
		return;
	}
	if (n)
		memcpy(packed->bytes + packed->n, bytes, n);
	packed->n += n;
}

// get reads `n` bytes; false if the record is shorter.
static inline bool get(struct unread *unread, void *to, size_t n)
{
	if (unread->n < n)
		return false;
	memcpy(to, unread->at, n);
	unread->at += n;
	unread->n -= n;
	return true;
}

// packed_skip returns the next `n` items, and moves on; NULL where the record is shorter.
static inline const void *packed_skip(struct unread *unread, uint64_t n, size_t size)
{
	const void *at = unread->at;
	if (n > unread->n / size)
		return NULL;
	unread->at += n * size;
	unread->n -= n * size;
	return at;
}

// What a process sends after a window: this, its error if it failed, and what
// pack_window writes.
struct window_record {
	tb_time_ps until, next, now;
	struct tb_engine_stats stats; // of its parts
	uint64_t exchanged_bytes;
	uint8_t failed;
	uint8_t stops; // a signal asked this process to stop
};

int tb_across_new(struct tb_across **across, struct tb_replay *whole,
	const struct tb_switching *model, struct tb_peer_streams *streams)
{
	struct tb_across *made = calloc(1, sizeof *made);
	if (!made)
		return TB_ENOMEM;
	made->whole = whole;
	made->streams = streams;
	made->model = model;
	made->rank = tb_peer_streams_rank(streams);
	made->n = tb_peer_streams_n(streams);
	made->first = whole->side->parts->own_first;
	made->end = whole->side->parts->own_end;
	whole->records.keeps_bins = true;
	*across = made;
	return TB_OK;
}

void tb_across_free(struct tb_across *across)
{
	if (!across)
		return;
	free(across->packed.bytes);
	free(across);
}

bool tb_across_leads(const struct tb_across *across)
{
	return across->rank == 0;
}

void tb_across_count(const struct tb_across *across, struct tb_engine_exchange *exchange)
{
	exchange->n_processes = across->n;
	exchange->bytes += tb_peer_streams_bytes(across->streams);
}

// across_fail makes a status of communication the failure of the replay.
static void across_fail(struct tb_across *across, int status)
{
	if (status == TB_ENOMEM)
		tb_replay_no_memory(across->whole, "messages between processes");
	else
		tb_replay_fail(across->whole, status == TB_EFORMAT ? TB_EFORMAT : TB_EIO,
			"the processes of this replay do not understand each other");
}

static void across_begin_record(struct tb_across *across)
{
	across->packed.n = 0;
	across->packed.failed = false;
}

static void across_send_record(struct tb_across *across, uint32_t to)
{
	struct packed *packed = &across->packed;
	int status = packed->failed ? TB_ENOMEM
				    : tb_peer_streams_put(across->streams, to,
					      packed->bytes, packed->n);
	if (status != TB_OK)
		across_fail(across, status);
}

static int across_receive_record(
	struct tb_across *across, uint32_t from, struct unread *unread)
{
	return tb_peer_streams_take(across->streams, from, &unread->at, &unread->n);
}

static struct tb_engine_stats across_own_stats(const struct tb_across *across)
{
	struct tb_engine_stats sum = {0};
	for (uint32_t part = across->first; part < across->end; part++) {
		const struct tb_replay *replay = across_part(across, part);
		sum.n_events += replay->stats.n_events;
		sum.n_packets += replay->stats.n_packets;
		sum.n_hops += replay->stats.n_hops;
		sum.payload_bytes += replay->stats.payload_bytes;
		sum.n_in_flight += tb_replay_in_flight(replay);
		sum.n_lost += replay->stats.n_lost;
		sum.n_resent += replay->stats.n_resent;
		sum.wait_ps += replay->records.wait_ps;
	}
	return sum;
}

// across_set_stats sets the statistics of another process, in the first of its parts, and
// how many bytes it had sent.
static void across_set_stats(struct tb_across *across, uint32_t rank,
	const struct tb_engine_stats *stats, uint64_t exchanged_bytes)
{
	struct tb_replay *replay = across_part(across, across_first(across, rank));
	replay->side->exchanged_bytes = exchanged_bytes;
	replay->stats = *stats;
	replay->n_packets_most = (uint32_t)stats->n_in_flight;
	replay->records.wait_ps = stats->wait_ps;
}

// The results of a window, as processes send them to each other.

// An ending. Only rank 0, which records messages, gets the figures of the message: the
// sources of the other processes need no more than its time.
struct ending_record {
	tb_time_ps at;
	uint32_t message;
	uint8_t kind, uses;
	uint8_t has_figures;
};

struct figures_record {
	tb_time_ps queue_ps, started_at, delivered_at, ideal_ps;
	uint32_t n_packets;
};

// What the part of its source knows of a message. It follows the message's last packet,
// as the part of its destination reports it with the ending.
struct start_record {
	tb_time_ps queue_ps, started_at;
	uint32_t message;
};

struct crossing_record { // a part message; then its words, then its packet, if it has
			 // them
	tb_time_ps at;
	uint32_t link;
	uint16_t kind;
	uint8_t has_words, has_packet;
};

static void add_ending(struct tb_replay *replay, const struct ending_record *record,
	const struct tb_posted *of)
{
	if (TB_ARRAY_RESERVE(&replay->endings, &replay->endings_room,
		    (size_t)replay->n_endings + 1) != TB_OK) {
		tb_replay_no_memory(replay, "the ended messages");
		return;
	}
	replay->endings[replay->n_endings++] = (struct tb_ending){.at = record->at,
		.serial = of->serial,
		.message = record->message,
		.kind = (enum tb_event_kind)record->kind};
}

// is_ending checks that the message exists and can have ended so.
static bool is_ending(const struct tb_replay *whole, const struct ending_record *record)
{
	return record->message < whole->n_messages && record->uses &&
	       whole->messages[record->message].uses && record->has_figures <= 1 &&
	       record->at >= 0 && record->at <= TB_ACROSS_LATEST &&
	       (record->kind == TB_EVENT_SENT || record->kind == TB_EVENT_DELIVERED ||
		       record->kind == TB_EVENT_UNDELIVERED);
}

static bool is_span(tb_time_ps ps)
{
	return ps >= -TB_ACROSS_LATEST && ps <= TB_ACROSS_LATEST;
}

static bool unpack_endings(struct tb_across *across, uint32_t rank, struct unread *unread)
{
	struct tb_replay *whole = across->whole;
	struct ending_record record;
	struct figures_record figures;
	uint32_t n = 0;
	if (!get(unread, &n, sizeof n))
		return false;
	for (uint32_t i = 0; i < n; i++) {
		if (!get(unread, &record, sizeof record) || !is_ending(whole, &record) ||
			(record.has_figures &&
				(!get(unread, &figures, sizeof figures) ||
					!(is_span(figures.queue_ps) &&
						is_span(figures.delivered_at) &&
						is_span(figures.ideal_ps) &&
						(figures.started_at == TB_TIME_NEVER ||
							is_span(figures.started_at))))))
			return false;
		struct tb_posted *of = &whole->messages[record.message];
		of->uses = record.uses;
		add_ending(across_part(across, across_first(across, rank)), &record, of);
		if (!record.has_figures)
			continue;
		of->queue_ps = figures.queue_ps;
		of->started_at = figures.started_at;
		of->delivered_at = figures.delivered_at;
		of->ideal_ps = figures.ideal_ps;
		of->n_packets = figures.n_packets;
	}
	return true;
}

// across_is_last returns whether a packet is the last of its message.
static bool across_is_last(
	const struct tb_posted *message, const struct tb_packet *packet)
{
	return (packet->order ^ message->serial << 24) == message->n_packets - 1;
}

// unpack_start skips a message whose source is a node of this process: its packet has
// come back.
static bool unpack_start(
	struct tb_across *across, const struct tb_packet *packet, struct unread *unread)
{
	struct tb_replay *whole = across->whole;
	struct tb_posted *of = &whole->messages[packet->message];
	struct start_record record;
	if (!across_is_last(of, packet))
		return true;
	if (!get(unread, &record, sizeof record) || record.message != packet->message ||
		!is_span(record.queue_ps) ||
		(record.started_at != TB_TIME_NEVER && !is_span(record.started_at)))
		return false;
	if (tb_replay_has_node(whole, of->what.source.id))
		return true;
	of->queue_ps = record.queue_ps;
	of->started_at = record.started_at;
	return true;
}

static void pack_waits(struct tb_across *across)
{
	for (uint32_t part = across->first; part < across->end; part++) {
		struct tb_wait_log *log = &across_part(across, part)->records.log;
		uint64_t n = log->n;
		packed_put(&across->packed, &n, sizeof n);
		packed_put(&across->packed, log->waits, log->n * sizeof *log->waits);
		log->n = 0;
	}
}

// are_waits checks that bytes are waits, of links and flows that exist.
static bool are_waits(
	const struct tb_records *records, const unsigned char *bytes, size_t n)
{
	struct tb_blame_wait wait;
	for (size_t i = 0; i < n; i++) {
		memcpy(&wait, bytes + i * sizeof wait, sizeof wait);
		if (wait.key.link >= records->n_links ||
			wait.key.root >= records->n_links ||
			wait.key.victim >= records->n_flows ||
			wait.key.culprit >= records->n_flows || wait.from < 0 ||
			wait.to < wait.from || wait.to > TB_ACROSS_LATEST)
			return false;
	}
	return true;
}

static int unpack_waits(struct tb_across *across, uint32_t rank, struct unread *unread)
{
	int status = TB_OK;
	for (uint32_t part = across_first(across, rank);
		part < across_first(across, rank + 1) && status == TB_OK; part++) {
		uint64_t n = 0;
		if (!get(unread, &n, sizeof n))
			return TB_EFORMAT;
		const void *waits = packed_skip(unread, n, sizeof(struct tb_blame_wait));
		if (!waits || !are_waits(&across->whole->records, waits, n))
			return TB_EFORMAT;
		status = tb_records_add_waits(
			&across_part(across, part)->records, waits, n);
	}
	return status;
}

static void pack_crossing(struct tb_across *across, const struct tb_part_message *message,
	const struct tb_packet *packet)
{
	const uint64_t *words = message->words;
	const struct crossing_record record = {.at = message->at,
		.link = message->link,
		.kind = (uint16_t)message->kind,
		.has_words = (words[0] | words[1] | words[2] | words[3] | words[4]) != 0,
		.has_packet = packet != NULL};
	packed_put(&across->packed, &record, sizeof record);
	if (record.has_words)
		packed_put(&across->packed, words, sizeof message->words);
	if (!packet)
		return;
	packed_put(&across->packed, packet, across->whole->packet_bytes);
	const struct tb_posted *of = &across->whole->messages[packet->message];
	if (!across_is_last(of, packet))
		return;
	const struct start_record known = {of->queue_ps, of->started_at, packet->message};
	packed_put(&across->packed, &known, sizeof known);
}

static void pack_handed(struct tb_across *across, uint32_t from, uint32_t rank)
{
	const struct tb_replay *replay = across_part(across, from);
	uint32_t end = across_first(across, rank + 1);
	for (uint32_t to = across_first(across, rank); to < end; to++) {
		const void *record;
		size_t n = 0, at = 0;
		const char *bytes = tb_handover_bytes(replay, to, &n);
		while (at < n) {
			const struct tb_part_message *message =
				tb_handover_next(bytes, &at, &record);
			pack_crossing(across, message, record);
		}
	}
}

// across_parts_of_packet stores from which part to which a part message goes.
static bool across_parts_of_packet(const struct tb_replay *whole,
	const struct crossing_record *record, uint32_t *from, uint32_t *to)
{
	if (record->has_words > 1 || record->has_packet > 1 ||
		record->link >= whole->net->n_links ||
		!tb_handover_crosses(whole, record->link))
		return false;
	uint32_t near = tb_parts_from(whole->side->parts, whole->net, record->link);
	uint32_t far = tb_parts_to(whole->side->parts, whole->net, record->link);
	*from = record->has_packet ? near : far;
	*to = record->has_packet ? far : near;
	return true;
}

// is_packet checks that bytes are a packet of a message that exists: all processes cut it
// alike.
static bool is_packet(const struct tb_replay *whole, const unsigned char *bytes)
{
	const struct tb_network_params *params = &whole->net->params;
	uint64_t most = (uint64_t)params->packet_payload_bytes +
			params->packet_overhead_bytes +
			tb_credit_params(params)->first_overhead_bytes;
	struct tb_packet packet;
	// Before they are read: a bool is 0 or 1.
	if (bytes[offsetof(struct tb_packet, is_empty)] > 1 ||
		bytes[offsetof(struct tb_packet, is_first)] > 1)
		return false;
	memcpy(&packet, bytes, sizeof packet);
	if (packet.message >= whole->n_messages)
		return false;
	const struct tb_posted *of = &whole->messages[packet.message];
	return of->uses && (packet.order ^ of->serial << 24) < of->n_packets &&
	       packet.flow == of->flow && packet.destination == of->end &&
	       packet.ascending == of->ascending && packet.wire_bytes > 0 &&
	       packet.wire_bytes <= (most ? most : 1);
}

// unpack_packet reads a packet and, if it is the last, the start of its message. It
// returns the packet's bytes; NULL if they are no packet.
static const void *unpack_packet(struct tb_across *across, struct unread *unread)
{
	const struct tb_replay *whole = across->whole;
	const void *bytes = packed_skip(unread, 1, whole->packet_bytes);
	struct tb_packet packet;
	if (!bytes)
		return NULL;
	if (!is_packet(whole, bytes))
		return NULL;
	memcpy(&packet, bytes, sizeof packet);
	if (!unpack_start(across, &packet, unread))
		return NULL;
	return bytes;
}

// unpack_crossing reads a part message, which the part at the other end of its link hands
// over to one of this process.
static bool unpack_crossing(
	struct tb_across *across, uint32_t rank, struct unread *unread)
{
	struct crossing_record record;
	uint32_t from = 0, to = 0;
	if (!get(unread, &record, sizeof record) ||
		!across_parts_of_packet(across->whole, &record, &from, &to) ||
		from < across_first(across, rank) ||
		from >= across_first(across, rank + 1) ||
		!tb_parts_has(across->whole->side->parts, to) ||
		record.at < across->until || record.at > TB_ACROSS_LATEST)
		return false;
	struct tb_part_message message = {
		.at = record.at, .link = record.link, .kind = record.kind};
	if (record.has_words && !get(unread, message.words, sizeof message.words))
		return false;
	message.n_bytes = record.has_packet ? across->whole->packet_bytes : 0;
	const void *packet = record.has_packet ? unpack_packet(across, unread) : NULL;
	if ((record.has_packet && !packet) ||
		!across->model->can_receive(across_part(across, to), &message, packet))
		return false;
	tb_handover_put(across_part(across, from), to, &message, packet);
	return true;
}

// pack_window writes the results of own parts for a process: endings, starts of messages,
// waits (for rank 0), and the part messages to its parts.
static void pack_window(struct tb_across *across, uint32_t rank)
{
	uint32_t n = 0;
	for (uint32_t part = across->first; part < across->end; part++)
		n += across_part(across, part)->n_endings;
	packed_put(&across->packed, &n, sizeof n);
	for (uint32_t part = across->first; part < across->end; part++) {
		const struct tb_replay *replay = across_part(across, part);
		for (uint32_t i = 0; i < replay->n_endings; i++) {
			struct packed *packed = &across->packed;
			const struct tb_ending *ending = &replay->endings[i];
			const struct tb_posted *of =
				&across->whole->messages[replay->endings[i].message];
			const struct ending_record record = {.at = ending->at,
				.message = ending->message,
				.kind = (uint8_t)ending->kind,
				.uses = (uint8_t)of->uses,
				.has_figures =
					rank == 0 && ending->kind == TB_EVENT_DELIVERED};
			packed_put(packed, &record, sizeof record);
			if (!record.has_figures)
				continue;
			const struct figures_record figures = {.queue_ps = of->queue_ps,
				.started_at = of->started_at,
				.delivered_at = of->delivered_at,
				.ideal_ps = of->ideal_ps,
				.n_packets = of->n_packets};
			packed_put(packed, &figures, sizeof figures);
		}
	}
	if (rank == 0)
		pack_waits(across);
	for (uint32_t part = across->first; part < across->end; part++)
		pack_handed(across, part, rank);
}

// failure_of returns the failure of an own part; NULL: all is well.
static const struct tb_error *failure_of(const struct tb_across *across)
{
	for (uint32_t part = across->first; part < across->end; part++)
		if (across_part(across, part)->failure.code != TB_OK)
			return &across_part(across, part)->failure;
	return NULL;
}

static tb_time_ps own_now(const struct tb_across *across)
{
	tb_time_ps now = -1;
	for (uint32_t part = across->first; part < across->end; part++)
		if (across_part(across, part)->now > now)
			now = across_part(across, part)->now;
	return now;
}

static void send_window(
	struct tb_across *across, uint32_t rank, tb_time_ps until, tb_time_ps next)
{
	const struct tb_error *failure = failure_of(across);
	const struct window_record record = {.until = until,
		.next = next,
		.now = own_now(across),
		.stats = across_own_stats(across),
		.exchanged_bytes = tb_peer_streams_bytes(across->streams),
		.failed = failure != NULL,
		.stops = tb_stop_asked(tb_stop_of_signals())};
	across_begin_record(across);
	packed_put(&across->packed, &record, sizeof record);
	if (failure)
		packed_put(&across->packed, failure, sizeof *failure);
	pack_window(across, rank);
	across_send_record(across, rank);
}

// unpack_failure reads the failure of another process.
static bool unpack_failure(struct unread *unread, struct tb_error *failure)
{
	if (!get(unread, failure, sizeof *failure))
		return false;
	failure->file[sizeof failure->file - 1] = '\0';
	failure->text[sizeof failure->text - 1] = '\0';
	return failure->code < TB_OK;
}

static bool is_time(tb_time_ps at, tb_time_ps least)
{
	return at == TB_TIME_NEVER || (at >= least && at <= TB_ACROSS_LATEST);
}

static int receive_window(struct tb_across *across, uint32_t rank,
	struct window_record *record, tb_time_ps until)
{
	struct tb_replay *first = across_part(across, across_first(across, rank));
	struct unread unread;
	int status = across_receive_record(across, rank, &unread);
	if (status != TB_OK)
		return status;
	// Check what another process sent.
	if (!get(&unread, record, sizeof *record) ||
		!(record->until == until && is_time(record->next, until) &&
			record->now >= -1 && record->now <= until &&
			record->failed <= 1 && record->stops <= 1) ||
		(record->failed && !unpack_failure(&unread, &first->failure)))
		return TB_EFORMAT;
	// Whichever process a signal reached: rank 0 decides what becomes of it.
	if (record->stops && tb_across_leads(across))
		tb_stop_set(tb_stop_of_signals(), true);
	first->now = record->now;
	across_set_stats(across, rank, &record->stats, record->exchanged_bytes);
	if (!unpack_endings(across, rank, &unread))
		return TB_EFORMAT;
	status = across->rank == 0 ? unpack_waits(across, rank, &unread) : TB_OK;
	while (status == TB_OK && unread.n)
		if (!unpack_crossing(across, rank, &unread))
			status = TB_EFORMAT;
	return status;
}

void tb_across_exchange(struct tb_across *across, tb_time_ps until, tb_time_ps *next)
{
	struct window_record record;
	tb_time_ps own = *next;
	across->until = until;
	for (uint32_t rank = 0; rank < across->n; rank++)
		if (rank != across->rank)
			send_window(across, rank, until, own);
	for (uint32_t rank = 0; rank < across->n; rank++) {
		if (rank == across->rank)
			continue;
		int status = receive_window(across, rank, &record, until);
		if (status != TB_OK) {
			across_fail(across, status);
			return;
		}
		if (record.next < *next)
			*next = record.next;
	}
}

tb_time_ps tb_across_least(struct tb_across *across, tb_time_ps own)
{
	tb_time_ps least = own, other = own;
	across_begin_record(across);
	packed_put(&across->packed, &own, sizeof own);
	for (uint32_t rank = 0; rank < across->n; rank++)
		if (rank != across->rank)
			across_send_record(across, rank);
	for (uint32_t rank = 0; rank < across->n; rank++) {
		struct unread unread;
		if (rank == across->rank)
			continue;
		if (across_receive_record(across, rank, &unread) != TB_OK ||
			!get(&unread, &other, sizeof other) ||
			!is_time(other, -TB_ACROSS_LATEST)) {
			across_fail(across, TB_EFORMAT);
			return own;
		}
		least = other < least ? other : least;
	}
	return least;
}

tb_time_ps tb_across_most(struct tb_across *across, tb_time_ps own)
{
	return -tb_across_least(across, -own);
}

// Collecting the records of all processes in rank 0.

struct records_record { // then rows of flows, bins, and the waits of its parts
	struct tb_engine_stats stats;
	uint64_t exchanged_bytes;
	uint64_t n_bytes; // of bins
	unsigned level;
	uint32_t n_waited;
};

// send_records sends rank 0 what this process has recorded.
static int send_records(struct tb_across *across, bool all)
{
	struct tb_records *records = &across->whole->records;
	struct tb_flow_waited *waited = NULL;
	struct records_record record = {.stats = across_own_stats(across),
		.exchanged_bytes = tb_peer_streams_bytes(across->streams),
		.n_bytes = records->kept.n_bytes,
		.level = records->kept.level};
	int status =
		all ? tb_records_count_waited(records, &waited, &record.n_waited) : TB_OK;
	if (status != TB_OK)
		return status;
	across_begin_record(across);
	packed_put(&across->packed, &record, sizeof record);
	packed_put(&across->packed, waited, record.n_waited * sizeof *waited);
	packed_put(&across->packed, records->kept.bytes, records->kept.n_bytes);
	if (all)
		pack_waits(across);
	free(waited);
	across_send_record(across, 0);
	return across->packed.failed ? TB_ENOMEM : TB_OK;
}

static int across_unpack_bins(struct tb_kept_bins *bins, struct unread *unread,
	const struct records_record *record)
{
	const void *bytes = packed_skip(unread, record->n_bytes, 1);
	bins->level = record->level;
	if (!bytes)
		return TB_EFORMAT;
	if (TB_ARRAY_RESERVE(&bins->bytes, &bins->room, record->n_bytes + 1) != TB_OK)
		return TB_ENOMEM;
	memcpy(bins->bytes, bytes, record->n_bytes);
	bins->n_bytes = record->n_bytes;
	return TB_OK;
}

static int take_records(
	struct tb_across *across, uint32_t rank, bool all, struct tb_kept_bins *bins)
{
	struct records_record record;
	struct unread unread;
	int status = across_receive_record(across, rank, &unread);
	if (status == TB_OK && !get(&unread, &record, sizeof record))
		status = TB_EFORMAT;
	if (status != TB_OK)
		return status;
	across_set_stats(across, rank, &record.stats, record.exchanged_bytes);
	const void *waited =
		packed_skip(&unread, record.n_waited, sizeof(struct tb_flow_waited));
	status = waited ? tb_records_add_waited(
				  &across->whole->records, waited, record.n_waited)
			: TB_EFORMAT;
	if (status == TB_OK)
		status = across_unpack_bins(bins, &unread, &record);
	return status == TB_OK && all ? unpack_waits(across, rank, &unread) : status;
}

// join_records merges the records of the other processes into those of rank 0; `own`
// receives the bins kept before.
static int join_records(struct tb_across *across, bool all, struct tb_kept_bins *own)
{
	struct tb_kept_bins *others = calloc(across->n, sizeof *others);
	int status = others ? TB_OK : TB_ENOMEM;
	for (uint32_t rank = 1; rank < across->n && status == TB_OK; rank++)
		status = take_records(across, rank, all, &others[rank - 1]);
	if (status == TB_OK)
		status = tb_records_join_bins(
			&across->whole->records, others, across->n - 1, own);
	for (uint32_t i = 0; others && i < across->n; i++)
		tb_kept_bins_fini(&others[i]);
	free(others);
	return status;
}

static int across_end(struct tb_across *across, int status, struct tb_error *error)
{
	if (status != TB_OK)
		across_fail(across, status);
	if (status != TB_OK && error)
		*error = across->whole->failure;
	return status;
}

int tb_across_show(struct tb_across *across, struct tb_error *error)
{
	struct tb_records *records = &across->whole->records;
	struct tb_kept_bins own = {0};
	if (!tb_across_leads(across))
		return across_end(across, send_records(across, false), error);
	int status = join_records(across, false, &own);
	if (status != TB_OK)
		return across_end(across, status, error);
	status = tb_records_report_bins(records, error);
	tb_kept_bins_fini(&records->kept);
	records->kept = own;
	return status;
}

int tb_across_gather(struct tb_across *across, struct tb_error *error)
{
	struct tb_kept_bins own = {0};
	if (!tb_across_leads(across))
		return across_end(across, send_records(across, true), error);
	int status = join_records(across, true, &own);
	tb_kept_bins_fini(&own);
	return across_end(across, status, error);
}
