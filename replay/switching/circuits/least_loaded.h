// Which links of a group have the most free VCs: the choice of every ascending header.
// Private to replay/.
//
// A VC is free when the instant at which it falls free has come. For links of two VCs
// whose instants lie side by side this is a row of comparisons, done four at a time where
// the processor can; what comes out does not depend on how.
#ifndef TB_LEAST_LOADED_H
#define TB_LEAST_LOADED_H

#include "units.h"

#include <stdint.h>

// The most links that one choice can be made from.
#define TB_LEAST_LOADED_LINKS 32

// A tb_least_loaded gives the links that have two free VCs or, where there are none,
// those that have one: bit 2i stands for link i, 0 means that no VC is free. free_at[2i]
// and free_at[2i + 1] are link i's; three more can be read behind the last.
typedef uint64_t tb_least_loaded(
	const tb_time_ps *free_at, uint32_t n_links, tb_time_ps now);

// tb_least_loaded_best is the quickest on this processor, tb_least_loaded_plain the one
// that bursts on any.
tb_least_loaded *tb_least_loaded_best(void);
uint64_t tb_least_loaded_plain(
	const tb_time_ps *free_at, uint32_t n_links, tb_time_ps now);

// tb_bits_count counts the bits of a mask; tb_bits_nth is the place of its bit number n,
// from 0; it has that many.
static inline uint32_t tb_bits_count(uint64_t mask)
{
	mask -= mask >> 1 & UINT64_C(0x5555555555555555);
	mask = (mask & UINT64_C(0x3333333333333333)) +
	       (mask >> 2 & UINT64_C(0x3333333333333333));
	mask = (mask + (mask >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
	return (uint32_t)((mask * UINT64_C(0x0101010101010101)) >> 56);
}

static inline uint32_t tb_bits_nth(uint64_t mask, uint32_t n)
{
	for (; n > 0; n--)
		mask &= mask - 1;
	return (uint32_t)__builtin_ctzll(mask);
}

#endif
