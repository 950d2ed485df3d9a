// What the files of across.h share: records as they are written and read, and what is in
// them. Private to replay/switching/.
#ifndef TB_ACROSS_IMPL_H
#define TB_ACROSS_IMPL_H

#include "across.h"

#include "array.h"

#include <string.h>

// The program is the same in all processes of a job, so what they tell each other are
// structs as they are in memory.

// No time that another process tells is later, but TB_TIME_NEVER: 26 days. Sums of some
// do not overflow.
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
	tb_time_ps until; // the end of the window that is told of
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

// across.c: begin begins a record, say sends it to a process, hear takes one from it.
// fail keeps a failure of what processes tell each other, by its status.
void tb_across_begin(struct tb_across *across);
void tb_across_say(struct tb_across *across, uint32_t to);
int tb_across_hear(
	struct tb_across *across, uint32_t from, struct unread *unread) TB_MUST_USE;
void tb_across_fail(struct tb_across *across, int status);

// across.c: the figures of own parts; those of another process, in the first of its
// parts.
struct tb_engine_stats tb_across_own_stats(const struct tb_across *across);
void tb_across_take_stats(
	struct tb_across *across, uint32_t rank, const struct tb_engine_stats *stats);

// across_told.c: put_window puts what own parts tell a process of a window: endings, what
// is known of messages, for rank 0 waits, and what was handed over; take_window takes it.
// put_waits and take_waits do so with waits alone. TB_EFORMAT, TB_ENOMEM.
void tb_across_put_window(struct tb_across *across, uint32_t rank);
int tb_across_take_window(
	struct tb_across *across, uint32_t rank, struct unread *unread) TB_MUST_USE;
void tb_across_put_waits(struct tb_across *across);
int tb_across_take_waits(
	struct tb_across *across, uint32_t rank, struct unread *unread) TB_MUST_USE;

#endif
