// Writes records of the tracer (tbt_format.h) for tests, into a buffer of the caller's.
#ifndef TB_TBT_LANE_TEST_H
#define TB_TBT_LANE_TEST_H

#include "tbt_format.h"

#include <stdint.h>
#include <string.h>

struct tbt_lane {
	uint8_t bytes[1 << 16];
	size_t n;
	uint64_t now_ns;
};

static inline void tbt_u32(struct tbt_lane *lane, uint32_t value)
{
	for (int i = 0; i < 4; i++)
		lane->bytes[lane->n++] = (uint8_t)(value >> 8 * i);
}

static inline void tbt_u64(struct tbt_lane *lane, uint64_t value)
{
	tbt_u32(lane, (uint32_t)value);
	tbt_u32(lane, (uint32_t)(value >> 32));
}

static inline void tbt_varint(struct tbt_lane *lane, uint64_t value)
{
	for (; value > 127; value >>= 7)
		lane->bytes[lane->n++] = (uint8_t)(value | 0x80);
	lane->bytes[lane->n++] = (uint8_t)value;
}

// tbt_begin begins the lane's clock.
static inline void tbt_begin(struct tbt_lane *lane, uint64_t now_ns)
{
	lane->n = 0;
	lane->bytes[lane->n++] = TB_TBT_TIME;
	tbt_u64(lane, lane->now_ns = now_ns);
}

// tbt_put adds a record from `enter_ns` to `leave_ns` with its fields.
static inline void tbt_put(struct tbt_lane *lane, enum tb_tbt_kind kind,
	uint64_t enter_ns, uint64_t leave_ns, size_t n_fields, const uint64_t *fields)
{
	lane->bytes[lane->n++] = (uint8_t)kind;
	tbt_varint(lane, enter_ns - lane->now_ns);
	tbt_varint(lane, leave_ns - enter_ns);
	lane->now_ns = leave_ns;
	for (size_t i = 0; i < n_fields; i++)
		tbt_varint(lane, fields[i]);
}

// tbt_list adds the list of the record before.
static inline void tbt_list(struct tbt_lane *lane, size_t n, const uint64_t *values)
{
	for (size_t i = 0; i < n || i == 0; i += TB_TBT_LIST_PART) {
		if (i > 0) {
			lane->bytes[lane->n++] = TB_TBT_MORE;
			tbt_varint(lane, 0);
			tbt_varint(lane, 0);
		}
		tbt_varint(lane, n - i);
		for (size_t k = i; k < n && k < i + TB_TBT_LIST_PART; k++)
			tbt_varint(lane, values[k]);
	}
}

#endif
