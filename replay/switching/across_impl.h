// What the files of across.h share: records as they are written and read, and what is in
// them. Private to replay/switching/.
#ifndef TB_ACROSS_IMPL_H
#define TB_ACROSS_IMPL_H

#include "across.h"

#include "array.h"

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
	return (uint32_t)((uint64_t)across->whole->parts->n * rank / across->n);
}

static inline struct tb_replay *across_part(const struct tb_across *across, uint32_t part)
{
	return across->whole->by_part[part];
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

// get reads `n` bytes; false where the record is shorter.
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

// across.c: begin_record empties the record, send sends it to a process, receive receives
// one. fail makes a status of communication the failure of the replay.
void tb_across_begin_record(struct tb_across *across);
void tb_across_send(struct tb_across *across, uint32_t to);
int tb_across_receive(
	struct tb_across *across, uint32_t from, struct unread *unread) TB_MUST_USE;
void tb_across_fail(struct tb_across *across, int status);

// across.c: sums the statistics of own parts; sets those of another process, in the first
// of its parts.
struct tb_engine_stats tb_across_own_stats(const struct tb_across *across);
void tb_across_take_stats(
	struct tb_across *across, uint32_t rank, const struct tb_engine_stats *stats);

// across.c: pack_window writes the results of own parts for a process: endings,
// starts of messages, waits (for rank 0), and the part messages to its parts;
// unpack_window reads them. pack_waits and unpack_waits do so with waits alone.
// TB_EFORMAT, TB_ENOMEM.
void tb_across_pack_window(struct tb_across *across, uint32_t rank);
int tb_across_unpack_window(
	struct tb_across *across, uint32_t rank, struct unread *unread) TB_MUST_USE;
void tb_across_pack_waits(struct tb_across *across);
int tb_across_unpack_waits(
	struct tb_across *across, uint32_t rank, struct unread *unread) TB_MUST_USE;

#endif
