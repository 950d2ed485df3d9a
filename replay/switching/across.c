#include "across_impl.h"

#include "stop.h"

#include <stdlib.h>

// What a process sends after a window: this, its error if it failed, and what
// tb_across_pack_window writes.
struct window_record {
	tb_time_ps until, next, now;
	struct tb_engine_stats stats; // of its parts
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
	made->first = whole->parts->own_first;
	made->end = whole->parts->own_end;
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
	stats->exchanged_bytes += tb_peer_streams_bytes(across->streams);
}

void tb_across_fail(struct tb_across *across, int status)
{
	if (status == TB_ENOMEM)
		tb_replay_no_memory(across->whole, "messages between processes");
	else
		tb_replay_fail(across->whole, status == TB_EFORMAT ? TB_EFORMAT : TB_EIO,
			"the processes of this replay do not understand each other");
}

void tb_across_begin_record(struct tb_across *across)
{
	across->packed.n = 0;
	across->packed.failed = false;
}

void tb_across_send(struct tb_across *across, uint32_t to)
{
	struct packed *packed = &across->packed;
	int status = packed->failed ? TB_ENOMEM
				    : tb_peer_streams_put(across->streams, to,
					      packed->bytes, packed->n);
	if (status != TB_OK)
		tb_across_fail(across, status);
}

int tb_across_receive(struct tb_across *across, uint32_t from, struct unread *unread)
{
	return tb_peer_streams_take(across->streams, from, &unread->at, &unread->n);
}

struct tb_engine_stats tb_across_own_stats(const struct tb_across *across)
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
	sum.exchanged_bytes = tb_peer_streams_bytes(across->streams);
	return sum;
}

void tb_across_take_stats(
	struct tb_across *across, uint32_t rank, const struct tb_engine_stats *stats)
{
	struct tb_replay *replay = across_part(across, across_first(across, rank));
	replay->stats = *stats;
	replay->n_packets_most = (uint32_t)stats->n_in_flight;
	replay->records.wait_ps = stats->wait_ps;
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
		.stats = tb_across_own_stats(across),
		.failed = failure != NULL,
		.stops = tb_stop_asked(tb_stop_of_signals())};
	tb_across_begin_record(across);
	packed_put(&across->packed, &record, sizeof record);
	if (failure)
		packed_put(&across->packed, failure, sizeof *failure);
	tb_across_pack_window(across, rank);
	tb_across_send(across, rank);
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

// is_window checks what another process sent.
static bool is_window(const struct window_record *record, tb_time_ps until)
{
	return record->until == until && is_time(record->next, until) &&
	       record->now >= -1 && record->now <= until && record->failed <= 1 &&
	       record->stops <= 1;
}

static int receive_window(struct tb_across *across, uint32_t rank,
	struct window_record *record, tb_time_ps until)
{
	struct tb_replay *first = across_part(across, across_first(across, rank));
	struct unread unread;
	int status = tb_across_receive(across, rank, &unread);
	if (status != TB_OK)
		return status;
	if (!get(&unread, record, sizeof *record) || !is_window(record, until) ||
		(record->failed && !unpack_failure(&unread, &first->failure)))
		return TB_EFORMAT;
	// Whichever process a signal reached: rank 0 decides what becomes of it.
	if (record->stops && tb_across_leads(across))
		tb_stop_set(tb_stop_of_signals(), true);
	first->now = record->now;
	tb_across_take_stats(across, rank, &record->stats);
	return tb_across_unpack_window(across, rank, &unread);
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
			tb_across_fail(across, status);
			return;
		}
		if (record.next < *next)
			*next = record.next;
	}
}

tb_time_ps tb_across_least(struct tb_across *across, tb_time_ps own)
{
	tb_time_ps least = own, other = own;
	tb_across_begin_record(across);
	packed_put(&across->packed, &own, sizeof own);
	for (uint32_t rank = 0; rank < across->n; rank++)
		if (rank != across->rank)
			tb_across_send(across, rank);
	for (uint32_t rank = 0; rank < across->n; rank++) {
		struct unread unread;
		if (rank == across->rank)
			continue;
		if (tb_across_receive(across, rank, &unread) != TB_OK ||
			!get(&unread, &other, sizeof other) ||
			!is_time(other, -TB_ACROSS_LATEST)) {
			tb_across_fail(across, TB_EFORMAT);
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
