// The heaviest of many sums of waits, in a table of bounded size. Private to replay/.
//
// Space-saving (Metwally, Agrawal, El Abbadi, "Efficient computation of frequent and
// top-k elements in data streams", ICDT 2005), with all but the heavier ones evicted at
// once, which costs a constant per wait, where evicting the lightest for each newcomer
// needs a heap. What an evicted key waited for is forgotten; the floor, the most that any
// evicted key may have waited for, is remembered, and a key that comes back starts with
// it as its error. So at any time
//
//	a kept key surely waited for most_ps - error_ps, and at most for most_ps;
//	a key that is not kept waited for the floor at most.
//
// An eviction raises the floor by d only if more than half of the `n_most` keys had come
// to 16/17 d above it or more since then. So the floor is less than 2.13 / n_most of all
// that was added, whatever came in which order, and 0 until n_most keys have occurred.
//
// Keys are evicted when the caller asks for it (tb_heaviest_trim), and the table grows
// until then. So what is kept depends on which waits were added between two such calls,
// not on their order: waits of parts, added part by part, come to what those of the whole
// do, added by time.
//
// A list by time has a floor per slice, since what was evicted from one says nothing
// about another: those have no such bound beforehand, but are mostly far lower.
#ifndef TB_HEAVIEST_H
#define TB_HEAVIEST_H

#include "status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// What waits are added up by: up to three numbers.
struct tb_wait_key { // unused numbers are 0
	uint32_t a, b, c;
};

static inline bool tb_wait_key_equal(struct tb_wait_key one, struct tb_wait_key other)
{
	return one.a == other.a && one.b == other.b && one.c == other.c;
}

// tb_wait_key_hash hashes a key by three multiplications; use the upper bits.
static inline uint64_t tb_wait_key_hash(struct tb_wait_key key)
{
	return key.a * UINT64_C(0xd6e8feb86659fd93) +
	       key.b * UINT64_C(0x9e3779b97f4a7c15) +
	       key.c * UINT64_C(0xa0761d6478bd642f);
}

// tb_wait_key_order is negative, 0 or positive: `one` comes before, with or after.
static inline int tb_wait_key_order(struct tb_wait_key one, struct tb_wait_key other)
{
	if (one.a != other.a)
		return one.a < other.a ? -1 : 1;
	if (one.b != other.b)
		return one.b < other.b ? -1 : 1;
	return (one.c > other.c) - (one.c < other.c);
}

#define TB_HEAVIEST_BINS 64

struct tb_heavy {
	struct tb_wait_key key;
	uint32_t n_waits;  // of those in most_ps - error_ps
	uint64_t most_ps;  // not 0
	uint64_t error_ps; // less than most_ps
};

// The keys stand one after the other; an index of a quarter of their size finds them, so
// that what a batch adds stays in the cache.
struct tb_heaviest {
	struct tb_heavy *slots; // n_used, in any order
	uint32_t *index;	// hashed: a slot's number, from 1 on; 0: free
	uint32_t n_index;	// a power of two, at least twice n_used
	uint32_t n_used;
	uint32_t n_most; // that are kept when trimmed
	bool by_bin;	 // key.a is a slice of time, less than TB_HEAVIEST_BINS
	uint64_t floors_ps[TB_HEAVIEST_BINS]; // by slice, or only the first
};

// tb_heaviest_init makes an empty table that keeps at most `n_most` keys, a power of two.
int tb_heaviest_init(
	struct tb_heaviest *heaviest, uint32_t n_most, bool by_bin) TB_MUST_USE;
void tb_heaviest_fini(struct tb_heaviest *heaviest); // a zeroed one, too

// tb_heaviest_reserve makes room for `n` more keys. TB_ENOMEM, after which the table can
// only be freed.
int tb_heaviest_reserve(struct tb_heaviest *heaviest, uint32_t n) TB_MUST_USE;

// tb_heaviest_find returns the place of a key in the index, or the free one where it
// belongs.
static inline uint32_t *tb_heaviest_find(
	struct tb_heaviest *heaviest, struct tb_wait_key key)
{
	uint32_t mask = heaviest->n_index - 1;
	uint32_t i = (uint32_t)(tb_wait_key_hash(key) >> 32) & mask;
	for (; heaviest->index[i]; i = (i + 1) & mask)
		if (tb_wait_key_equal(heaviest->slots[heaviest->index[i] - 1].key, key))
			break;
	return &heaviest->index[i];
}

// tb_heaviest_add adds waits of `wait_ps` together, not 0. There is room.
static inline void tb_heaviest_add(struct tb_heaviest *heaviest, struct tb_wait_key key,
	uint32_t n_waits, uint64_t wait_ps)
{
	uint32_t *place = tb_heaviest_find(heaviest, key);
	if (*place) {
		struct tb_heavy *slot = &heaviest->slots[*place - 1];
		slot->n_waits += n_waits;
		slot->most_ps += wait_ps;
		return;
	}
	uint64_t floor_ps = heaviest->floors_ps[heaviest->by_bin ? key.a : 0];
	heaviest->slots[heaviest->n_used++] =
		(struct tb_heavy){key, n_waits, floor_ps + wait_ps, floor_ps};
	*place = heaviest->n_used;
}

// tb_heaviest_trim evicts keys if there are more than n_most: half as many stay at most.
void tb_heaviest_trim(struct tb_heaviest *heaviest);

// tb_heaviest_widen makes slices twice as wide: 2b and 2b + 1 become b.
void tb_heaviest_widen(struct tb_heaviest *heaviest);

// tb_heaviest_pick moves the keys that waited longest (by what they surely waited, ties
// by key), at most `n_listed`, to the front of the slots, in any order, and returns how
// many there are. Do not add to the table then. `floor_ps` becomes what a
// key that is not listed may have waited for. tb_heaviest_list also sorts them by key,
// and stores how many there are; TB_ENOMEM.
uint32_t tb_heaviest_pick(
	struct tb_heaviest *heaviest, uint32_t n_listed, uint64_t *floor_ps);
int tb_heaviest_list(struct tb_heaviest *heaviest, uint32_t n_listed, uint64_t *floor_ps,
	uint32_t *n) TB_MUST_USE;

// A histogram of waits in steps of a sixteenth of a power of two: finds the heaviest of
// many without sorting them. Private to replay/.

struct tb_wait_steps { // zeroed: none
	uint32_t counts[64 * 16];
};

static inline void tb_wait_steps_add(struct tb_wait_steps *steps, uint64_t wait_ps)
{
	unsigned power = 63 - (unsigned)__builtin_clzll(wait_ps | 16);
	steps->counts[power * 16 + (wait_ps >> (power - 4) & 15)]++;
}

// tb_wait_steps_reached is a wait, in ps, that no more than `n_most` of the waits reach:
// the least one, but for a step. 0 when they all may.
static inline uint64_t tb_wait_steps_reached(
	const struct tb_wait_steps *steps, uint32_t n_most)
{
	uint32_t n = 0;
	for (unsigned step = 64 * 16; step-- > 4 * 16;) {
		n += steps->counts[step];
		if (n > n_most)
			return (uint64_t)(step % 16 + 17) << (step / 16 - 4);
	}
	return 0;
}

#endif
