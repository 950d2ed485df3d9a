#include "circuits.h"

// least_loaded_of takes one bit per VC, two per link.
static inline uint64_t least_loaded_of(uint64_t free)
{
	const uint64_t first = UINT64_C(0x5555555555555555);
	uint64_t two = free & free >> 1 & first;
	uint64_t one = (free | free >> 1) & first;
	return two ? two : one;
}

static inline uint64_t lowest_bits(uint32_t n_bits)
{
	return n_bits < 64 ? (UINT64_C(1) << n_bits) - 1 : ~UINT64_C(0);
}

uint64_t tb_least_loaded_plain(
	const tb_time_ps *free_at, uint32_t n_links, tb_time_ps now)
{
	uint64_t free = 0;
	for (uint32_t i = 0; i < 2 * n_links; i++)
		free |= (uint64_t)(free_at[i] <= now) << i;
	return least_loaded_of(free);
}

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>

__attribute__((target("avx2"))) static uint64_t by_four(
	const tb_time_ps *free_at, uint32_t n_links, tb_time_ps now)
{
	const __m256i nows = _mm256_set1_epi64x(now);
	uint64_t held = 0;
	for (uint32_t i = 0; i < 2 * n_links; i += 4) {
		__m256i at = _mm256_loadu_si256((const void *)(free_at + i));
		__m256d later = _mm256_castsi256_pd(_mm256_cmpgt_epi64(at, nows));
		held |= (uint64_t)(unsigned)_mm256_movemask_pd(later) << i;
	}
	return least_loaded_of(~held & lowest_bits(2 * n_links));
}

tb_least_loaded *tb_least_loaded_best(void)
{
	return __builtin_cpu_supports("avx2") ? by_four : tb_least_loaded_plain;
}
#else
tb_least_loaded *tb_least_loaded_best(void)
{
	return tb_least_loaded_plain;
}
#endif
