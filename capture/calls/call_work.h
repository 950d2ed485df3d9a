// How long ranks of an MPI work in collective calls, beside sending.
#ifndef TB_CALL_WORK_H
#define TB_CALL_WORK_H

#include <stdbool.h>
#include <stdint.h>

// Rates in bytes per second; 0: it takes no time. A zeroed struct is work that takes
// none. Where what goes in and what comes out, each of as many bytes as the call's data,
// stay in a core's cache, work is done at another rate if that is more: copies at
// `cached`, adding up, which streams, also in the core's part of the shared cache at
// `combine_cached`, or where that is 0 at two thirds of `cached`: it moves three bytes
// where a copy moves two.
struct tb_call_work {
	uint64_t combine; // adding up what a reduction receives
	uint64_t combine_cached;
	uint64_t pack; // packing and unpacking, and copying what stays
	uint64_t copy; // copying the whole vector
	uint64_t cached;
	uint64_t cache_bytes;
	uint64_t shared_cache_bytes; // for all members on a host
	uint64_t call_ns;	     // from a rank's entry to its first send, in MPIs
	// Memory that a call allocates and returns to the system: touched for the first
	// time at a rate, and registered with the adapter for each message of more than
	// so many bytes that it is the source or the target of.
	uint64_t fresh, pin_ns, pin_above_bytes;
};

// tb_call_rate_ns returns how long `bytes` take at a rate; 0 without one.
static inline uint64_t tb_call_rate_ns(uint64_t bytes, uint64_t rate)
{
	return rate ? (uint64_t)((double)bytes * 1e9 / (double)rate + 0.5) : 0;
}

// tb_call_work_ns returns how long a rank takes to add up, or to copy, `bytes` of a
// call's `whole`.
static inline uint64_t tb_call_work_ns(
	const struct tb_call_work *work, bool adds, uint64_t bytes, uint64_t whole)
{
	uint64_t rate = adds ? work->combine : work->pack;
	uint64_t cached = !adds			 ? work->cached
			  : work->combine_cached ? work->combine_cached
						 : work->cached / 3 * 2;
	uint64_t cache = work->cache_bytes;
	if (adds && work->shared_cache_bytes > cache)
		cache = work->shared_cache_bytes;
	if (whole <= cache / 2 && cached > rate && rate > 0)
		rate = cached;
	return tb_call_rate_ns(bytes, rate);
}

#endif
