// What waits are added up by: up to three numbers. Private to replay/.
#ifndef TB_WAIT_KEY_H
#define TB_WAIT_KEY_H

#include <stdbool.h>
#include <stdint.h>

struct tb_wait_key { // unused numbers are 0
	uint32_t a, b, c;
};

static inline bool tb_wait_key_equal(struct tb_wait_key one, struct tb_wait_key other)
{
	return one.a == other.a && one.b == other.b && one.c == other.c;
}

// tb_wait_key_hash mixes a key by two multiplications; use the upper bits.
static inline uint64_t tb_wait_key_hash(struct tb_wait_key key)
{
	uint64_t hash = ((uint64_t)key.b << 32 | key.c) * UINT64_C(0x9e3779b97f4a7c15);
	return ((hash ^ hash >> 32) + key.a) * UINT64_C(0xd6e8feb86659fd93);
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

#endif
