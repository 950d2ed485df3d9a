// Times on an idle network that were computed last, in a table by hash. Private to
// replay/.
//
// Most packets and messages have the length of another that goes as far, or the same way:
// in a regular tree the time depends on both alone.
#ifndef TB_IDLE_TIMES_H
#define TB_IDLE_TIMES_H

#include "network_impl.h"
#include "units.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TB_IDLE_TIMES_BITS = 9, TB_IDLE_TIMES = 1 << TB_IDLE_TIMES_BITS };

struct tb_idle_key {  // zeroed: of nothing
	uint64_t way; // tb_idle_way
	uint64_t bytes;
};

struct tb_kept_idle_time { // of a message
	struct tb_idle_key of;
	tb_time_ps ps;
};

// tb_idle_way returns a number that two pairs of nodes share only if all times between
// them are alike; never 0.
static inline uint64_t tb_idle_way(
	const struct tb_network *network, uint32_t source, uint32_t destination)
{
	if (!network->regular || network->drains)
		return (uint64_t)source << 32 | destination | UINT64_C(1) << 63;
	return source == destination
		       ? 1
		       : 2 + tb_network_ascending(network, source, destination);
}

// tb_idle_place returns where in such a table a time stands, if it does.
static inline size_t tb_idle_place(struct tb_idle_key key)
{
	return (key.way * UINT64_C(0x9e3779b97f4a7c15) ^
		       key.bytes * UINT64_C(0xd6e8feb86659fd93)) >>
	       (64 - TB_IDLE_TIMES_BITS);
}

static inline bool tb_idle_is(struct tb_idle_key a, struct tb_idle_key b)
{
	return a.way == b.way && a.bytes == b.bytes;
}

#endif
