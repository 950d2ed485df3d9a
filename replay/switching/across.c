#include "across.h"

#include "array.h"

#include <stdlib.h>
#include <string.h>

// The program is the same in all processes of a job, so what they tell each other are
// structs as they are in memory.

struct packed { // a record that is being written
	unsigned char *bytes;
	size_t n, room;
	bool failed; // out of memory
};

struct unread { // what is left of a record that is being read
	const unsigned char *at;
	size_t n;
};

// What a process tells of a window: this, an error if it failed, `n_endings` endings,
// `n_known` messages, the waits of its parts where it tells them rank 0, and what was
// handed over.
struct told_window {
	tb_time_ps until, next, now;
	struct tb_engine_stats stats; // of its parts
	uint32_t n_endings, n_known;
	bool failed, has_waits;
};

struct told_ending {
	struct tb_ending what;
	tb_time_ps queue_ps, started_at, delivered_at, ideal_ps;
	uint32_t n_packets, uses;
};

// What its source's part knows of a message whose last packet has been handed over: its
// destination's part needs it when the message has arrived.
struct told_known {
	tb_time_ps queue_ps, started_at;
	uint32_t message;
};

struct told_box { // then its bytes
	uint32_t from, to;
	uint64_t n;
};

struct told_records { // rows of flows, then bins, then the waits of its parts
	struct tb_engine_stats stats;
	uint64_t n_bytes; // of bins
	unsigned level;
	uint32_t n_waited;
};

struct tb_across {
	struct tb_replay *whole;
	struct tb_peer_streams *streams;
	uint32_t rank, n;
	uint32_t first, end; // own parts
	struct packed packed;
};

static uint32_t first_of(const struct tb_across *across, uint32_t rank)
{
	return (uint32_t)((uint64_t)across->whole->parts->n * rank / across->n);
}

int tb_across_new(struct tb_across **across, struct tb_replay *whole,
	struct tb_peer_streams *streams)
{
	struct tb_across *made = calloc(1, sizeof *made);
	if (!made)
		return TB_ENOMEM;
	made->whole = whole;
	made->streams = streams;
	made->rank = tb_peer_streams_rank(streams);
	made->n = tb_peer_streams_n(streams);
	made->first = whole->own_first;
	made->end = whole->own_end;
	whole->records.is_shared = true;
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

void tb_across_stats(const struct tb_across *across, struct tb_engine_stats *stats)
{
	stats->n_processes = across->n;
	stats->told_bytes += tb_peer_streams_bytes(across->streams);
}

static struct tb_replay *part_at(const struct tb_across *across, uint32_t part)
{
	return across->whole->by_part[part];
}

static void put(struct packed *packed, const void *bytes, size_t n)
{
	if (TB_ARRAY_RESERVE(&packed->bytes, &packed->room, packed->n + n) != TB_OK) {
		packed->failed = true;
		return;
	}
	if (n)
		memcpy(packed->bytes + packed->n, bytes, n);
	packed->n += n;
}

// get reads `n` bytes; false where the record is shorter.
static bool get(struct unread *unread, void *to, size_t n)
{
	if (unread->n < n)
		return false;
	memcpy(to, unread->at, n);
	unread->at += n;
	unread->n -= n;
	return true;
}

// skip returns the next `n` items, and moves on; NULL where the record is shorter.
static const void *skip(struct unread *unread, uint64_t n, size_t size)
{
	const void *at = unread->at;
	if (n > unread->n / size)
		return NULL;
	unread->at += n * size;
	unread->n -= n * size;
	return at;
}

static void fail(struct tb_across *across, int status)
{
	if (status == TB_ENOMEM)
		tb_replay_no_memory(across->whole, "what processes tell each other");
	else
		tb_replay_fail(across->whole, TB_EIO,
			"the processes of this replay do not understand each other");
}

// say sends what has been packed.
static void say(struct tb_across *across, uint32_t to)
{
	struct packed *packed = &across->packed;
	int status = packed->failed ? TB_ENOMEM
				    : tb_peer_streams_put(across->streams, to,
					      packed->bytes, packed->n);
	if (status != TB_OK)
		fail(across, status);
}

static void begin(struct tb_across *across)
{
	across->packed.n = 0;
	across->packed.failed = false;
}

static int hear(struct tb_across *across, uint32_t from, struct unread *unread)
{
	return tb_peer_streams_take(across->streams, from, &unread->at, &unread->n);
}

static struct tb_engine_stats own_stats(const struct tb_across *across)
{
	struct tb_engine_stats sum = {0};
	for (uint32_t part = across->first; part < across->end; part++) {
		const struct tb_replay *replay = part_at(across, part);
		sum.n_events += replay->stats.n_events;
		sum.n_packets += replay->stats.n_packets;
		sum.n_hops += replay->stats.n_hops;
		sum.payload_bytes += replay->stats.payload_bytes;
		sum.n_in_flight += tb_replay_in_flight(replay);
		sum.n_lost += replay->stats.n_lost;
		sum.n_resent += replay->stats.n_resent;
		sum.wait_ps += replay->records.wait_ps;
	}
	sum.told_bytes = tb_peer_streams_bytes(across->streams);
	return sum;
}

// take_stats has the sums of a process in the first of its parts.
static void take_stats(
	struct tb_across *across, uint32_t rank, const struct tb_engine_stats *stats)
{
	struct tb_replay *replay = part_at(across, first_of(across, rank));
	replay->stats = *stats;
	replay->n_packets_most = (uint32_t)stats->n_in_flight;
	replay->records.wait_ps = stats->wait_ps;
}

static void put_endings(struct tb_across *across)
{
	const struct tb_posted *messages = across->whole->messages;
	for (uint32_t part = across->first; part < across->end; part++) {
		const struct tb_replay *replay = part_at(across, part);
		for (uint32_t i = 0; i < replay->n_endings; i++) {
			const struct tb_posted *of =
				&messages[replay->endings[i].message];
			const struct told_ending told = {.what = replay->endings[i],
				.queue_ps = of->queue_ps,
				.started_at = of->started_at,
				.delivered_at = of->delivered_at,
				.ideal_ps = of->ideal_ps,
				.n_packets = of->n_packets,
				.uses = of->uses};
			put(&across->packed, &told, sizeof told);
		}
	}
}

static uint32_t n_own_endings(const struct tb_across *across)
{
	uint32_t n = 0;
	for (uint32_t part = across->first; part < across->end; part++)
		n += part_at(across, part)->n_endings;
	return n;
}

static void add_ending(struct tb_replay *replay, const struct tb_ending *ending)
{
	if (TB_ARRAY_RESERVE(&replay->endings, &replay->endings_room,
		    (size_t)replay->n_endings + 1) != TB_OK)
		tb_replay_no_memory(replay, "the ended messages");
	else
		replay->endings[replay->n_endings++] = *ending;
}

static bool take_endings(
	struct tb_across *across, uint32_t rank, struct unread *unread, uint32_t n)
{
	struct tb_replay *whole = across->whole;
	struct told_ending told;
	for (uint32_t i = 0; i < n; i++) {
		if (!get(unread, &told, sizeof told) ||
			told.what.message >= whole->n_messages)
			return false;
		struct tb_posted *of = &whole->messages[told.what.message];
		of->queue_ps = told.queue_ps;
		of->started_at = told.started_at;
		of->delivered_at = told.delivered_at;
		of->ideal_ps = told.ideal_ps;
		of->n_packets = told.n_packets;
		of->uses = told.uses;
		add_ending(part_at(across, first_of(across, rank)), &told.what);
	}
	return true;
}

// is_last returns whether a packet is the last of its message.
static bool is_last(const struct tb_posted *message, const struct tb_packet *packet)
{
	return (packet->order ^ message->serial << 24) == message->n_packets - 1;
}

// put_known puts what is known of the messages whose last packets leave for a part.
static uint32_t put_known(
	struct tb_across *across, const struct tb_replay *replay, uint32_t to)
{
	const void *record;
	size_t n_bytes = 0, at = 0;
	uint32_t n = 0;
	const char *bytes = tb_handover_bytes(replay, to, &n_bytes);
	while (at < n_bytes) {
		(void)tb_handover_next(bytes, &at, &record);
		const struct tb_packet *packet = record;
		if (!packet)
			continue;
		const struct tb_posted *of = &across->whole->messages[packet->message];
		if (!is_last(of, packet))
			continue;
		const struct told_known known = {
			of->queue_ps, of->started_at, packet->message};
		put(&across->packed, &known, sizeof known);
		n++;
	}
	return n;
}

static uint32_t put_all_known(struct tb_across *across, uint32_t rank)
{
	uint32_t n = 0;
	for (uint32_t part = across->first; part < across->end; part++)
		for (uint32_t to = first_of(across, rank);
			to < first_of(across, rank + 1); to++)
			n += put_known(across, part_at(across, part), to);
	return n;
}

// take_known: a message's source may be here, and its packet have come back.
static bool take_known(struct tb_across *across, struct unread *unread, uint32_t n)
{
	struct tb_replay *whole = across->whole;
	struct told_known told;
	for (uint32_t i = 0; i < n; i++) {
		if (!get(unread, &told, sizeof told) || told.message >= whole->n_messages)
			return false;
		struct tb_posted *of = &whole->messages[told.message];
		uint32_t part = whole->parts->of_node[of->what.source.id];
		if (part >= across->first && part < across->end)
			continue;
		of->queue_ps = told.queue_ps;
		of->started_at = told.started_at;
	}
	return true;
}

static void put_waits(struct tb_across *across)
{
	for (uint32_t part = across->first; part < across->end; part++) {
		struct tb_wait_log *log = &part_at(across, part)->records.log;
		uint64_t n = log->n;
		put(&across->packed, &n, sizeof n);
		put(&across->packed, log->waits, log->n * sizeof *log->waits);
		log->n = 0;
	}
}

static int take_waits(struct tb_across *across, uint32_t rank, struct unread *unread)
{
	int status = TB_OK;
	for (uint32_t part = first_of(across, rank);
		part < first_of(across, rank + 1) && status == TB_OK; part++) {
		uint64_t n = 0;
		if (!get(unread, &n, sizeof n))
			return TB_EFORMAT;
		const void *waits = skip(unread, n, sizeof(struct tb_blame_wait));
		status = waits ? tb_records_add_waits(
					 &part_at(across, part)->records, waits, n)
			       : TB_EFORMAT;
	}
	return status;
}

static void put_boxes(struct tb_across *across, uint32_t rank)
{
	for (uint32_t part = across->first; part < across->end; part++)
		for (uint32_t to = first_of(across, rank);
			to < first_of(across, rank + 1); to++) {
			size_t n = 0;
			const char *bytes =
				tb_handover_bytes(part_at(across, part), to, &n);
			const struct told_box box = {part, to, n};
			if (n == 0)
				continue;
			put(&across->packed, &box, sizeof box);
			put(&across->packed, bytes, n);
		}
}

static int take_boxes(struct tb_across *across, uint32_t rank, struct unread *unread)
{
	int status = TB_OK;
	while (unread->n && status == TB_OK) {
		struct told_box box;
		if (!get(unread, &box, sizeof box) || box.from < first_of(across, rank) ||
			box.from >= first_of(across, rank + 1) ||
			box.to < across->first || box.to >= across->end)
			return TB_EFORMAT;
		const void *bytes = skip(unread, box.n, 1);
		status = bytes ? tb_handover_put_bytes(
					 part_at(across, box.from), box.to, bytes, box.n)
			       : TB_EFORMAT;
	}
	return status;
}

// failure_of returns the failure of an own part; NULL: all is well.
static const struct tb_error *failure_of(const struct tb_across *across)
{
	for (uint32_t part = across->first; part < across->end; part++)
		if (part_at(across, part)->failure.code != TB_OK)
			return &part_at(across, part)->failure;
	return NULL;
}

static tb_time_ps own_now(const struct tb_across *across)
{
	tb_time_ps now = -1;
	for (uint32_t part = across->first; part < across->end; part++)
		if (part_at(across, part)->now > now)
			now = part_at(across, part)->now;
	return now;
}

static void tell(
	struct tb_across *across, uint32_t rank, tb_time_ps until, tb_time_ps next)
{
	const struct tb_error *failure = failure_of(across);
	struct told_window told = {.until = until,
		.next = next,
		.now = own_now(across),
		.stats = own_stats(across),
		.n_endings = n_own_endings(across),
		.failed = failure != NULL,
		.has_waits = rank == 0};
	begin(across);
	put(&across->packed, &told, sizeof told);
	if (failure)
		put(&across->packed, failure, sizeof *failure);
	put_endings(across);
	told.n_known = put_all_known(across, rank);
	if (told.has_waits)
		put_waits(across);
	put_boxes(across, rank);
	if (!across->packed.failed)
		memcpy(across->packed.bytes, &told, sizeof told);
	say(across, rank);
}

static int take_told(struct tb_across *across, uint32_t rank, struct unread *unread,
	struct told_window *told, tb_time_ps until)
{
	struct tb_replay *first = part_at(across, first_of(across, rank));
	if (!get(unread, told, sizeof *told) || told->until != until ||
		(told->failed && !get(unread, &first->failure, sizeof first->failure)))
		return TB_EFORMAT;
	first->now = told->now;
	take_stats(across, rank, &told->stats);
	if (!take_endings(across, rank, unread, told->n_endings) ||
		!take_known(across, unread, told->n_known))
		return TB_EFORMAT;
	int status = told->has_waits ? take_waits(across, rank, unread) : TB_OK;
	return status == TB_OK ? take_boxes(across, rank, unread) : status;
}

void tb_across_exchange(struct tb_across *across, tb_time_ps until, tb_time_ps *next)
{
	struct told_window told;
	struct unread unread;
	for (uint32_t rank = 0; rank < across->n; rank++)
		if (rank != across->rank)
			tell(across, rank, until, *next);
	for (uint32_t rank = 0; rank < across->n; rank++) {
		if (rank == across->rank)
			continue;
		int status = hear(across, rank, &unread);
		if (status == TB_OK)
			status = take_told(across, rank, &unread, &told, until);
		if (status != TB_OK) {
			fail(across, status);
			return;
		}
		if (told.next < *next)
			*next = told.next;
	}
}

tb_time_ps tb_across_least(struct tb_across *across, tb_time_ps own)
{
	tb_time_ps least = own, other = own;
	begin(across);
	put(&across->packed, &own, sizeof own);
	for (uint32_t rank = 0; rank < across->n; rank++)
		if (rank != across->rank)
			say(across, rank);
	for (uint32_t rank = 0; rank < across->n; rank++) {
		struct unread unread;
		if (rank == across->rank)
			continue;
		if (hear(across, rank, &unread) != TB_OK ||
			!get(&unread, &other, sizeof other))
			fail(across, TB_EFORMAT);
		least = other < least ? other : least;
	}
	return least;
}

tb_time_ps tb_across_most(struct tb_across *across, tb_time_ps own)
{
	return -tb_across_least(across, -own);
}

// tell_records tells rank 0 what this process has recorded.
static int tell_records(struct tb_across *across, bool all)
{
	struct tb_records *records = &across->whole->records;
	struct tb_flow_waited *waited = NULL;
	struct told_records told = {.stats = own_stats(across),
		.n_bytes = records->kept.n_bytes,
		.level = records->kept.level};
	int status =
		all ? tb_records_count_waited(records, &waited, &told.n_waited) : TB_OK;
	if (status != TB_OK)
		return status;
	begin(across);
	put(&across->packed, &told, sizeof told);
	put(&across->packed, waited, told.n_waited * sizeof *waited);
	put(&across->packed, records->kept.bytes, records->kept.n_bytes);
	if (all)
		put_waits(across);
	free(waited);
	say(across, 0);
	return across->packed.failed ? TB_ENOMEM : TB_OK;
}

static int take_bins(
	struct tb_kept_bins *bins, struct unread *unread, const struct told_records *told)
{
	const void *bytes = skip(unread, told->n_bytes, 1);
	bins->level = told->level;
	if (!bytes)
		return TB_EFORMAT;
	if (TB_ARRAY_RESERVE(&bins->bytes, &bins->room, told->n_bytes + 1) != TB_OK)
		return TB_ENOMEM;
	memcpy(bins->bytes, bytes, told->n_bytes);
	bins->n_bytes = told->n_bytes;
	return TB_OK;
}

static int take_records(
	struct tb_across *across, uint32_t rank, bool all, struct tb_kept_bins *bins)
{
	struct told_records told;
	struct unread unread;
	int status = hear(across, rank, &unread);
	if (status == TB_OK && !get(&unread, &told, sizeof told))
		status = TB_EFORMAT;
	if (status != TB_OK)
		return status;
	take_stats(across, rank, &told.stats);
	const void *waited = skip(&unread, told.n_waited, sizeof(struct tb_flow_waited));
	status = waited ? tb_records_add_waited(
				  &across->whole->records, waited, told.n_waited)
			: TB_EFORMAT;
	if (status == TB_OK)
		status = take_bins(bins, &unread, &told);
	return status == TB_OK && all ? take_waits(across, rank, &unread) : status;
}

// join_records has the records of the others in those of rank 0; `own` is what was kept.
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

static int end(struct tb_across *across, int status, struct tb_error *error)
{
	if (status != TB_OK)
		fail(across, status);
	if (status != TB_OK && error)
		*error = across->whole->failure;
	return status;
}

int tb_across_show(struct tb_across *across, struct tb_error *error)
{
	struct tb_records *records = &across->whole->records;
	struct tb_kept_bins own = {0};
	if (!tb_across_leads(across))
		return end(across, tell_records(across, false), error);
	int status = join_records(across, false, &own);
	if (status != TB_OK)
		return end(across, status, error);
	status = tb_records_report_bins(records, error);
	tb_kept_bins_fini(&records->kept);
	records->kept = own;
	return status;
}

int tb_across_gather(struct tb_across *across, struct tb_error *error)
{
	struct tb_kept_bins own = {0};
	if (!tb_across_leads(across))
		return end(across, tell_records(across, true), error);
	int status = join_records(across, true, &own);
	tb_kept_bins_fini(&own);
	return end(across, status, error);
}
