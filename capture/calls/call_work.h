// What ranks of MPIs do in collective calls beside sending: how long it takes.
#ifndef TB_CALL_WORK_H
#define TB_CALL_WORK_H

#include <stdbool.h>
#include <stdint.h>

// Rates in bytes per second; 0: it takes no time. A zeroed struct is work that takes
// none. Where what goes in and what comes out, each of as many bytes as the call's data,
// stay in a core's cache, work is done at another rate if that is more: copies at
// `cached`, adding up at two thirds of it, which moves three bytes where a copy moves
// two.
struct tb_call_work {
	uint64_t combine; // adding up what a reduction receives
	uint64_t pack;	  // packing and unpacking, and copying what stays
	uint64_t cached;
	uint64_t cache_bytes;
	uint64_t call_ns; // from a rank's entry to its first send, in MPIs
};

// tb_call_work_ns returns how long a rank adds up, or copies, `bytes` of a call's
// `whole`.
static inline uint64_t tb_call_work_ns(
	const struct tb_call_work *work, bool adds, uint64_t bytes, uint64_t whole)
{
	uint64_t rate = adds ? work->combine : work->pack;
	uint64_t cached = adds ? work->cached / 3 * 2 : work->cached;
	if (rate == 0)
		return 0;
	if (whole <= work->cache_bytes / 2 && cached > rate)
		rate = cached;
	return (uint64_t)((double)bytes * 1e9 / (double)rate + 0.5);
}

#endif
