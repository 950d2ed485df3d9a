// Seeded random streams: the only source of randomness in the program.
//
// A stream is a value, passed explicitly. Streams with the same seed but different stream
// numbers are independent. Draws use only integer arithmetic and exactly rounded IEEE
// operations, so a seed yields the same numbers on every machine, with every compiler and
// at every -O level.
#ifndef TB_RANDOM_H
#define TB_RANDOM_H

#include <stdint.h>

// xoshiro256** (Blackman and Vigna, "Scrambled linear pseudorandom number generators",
// ACM TOMS 47, 2021); splitmix64 fills the state, as the authors advise.
struct tb_random {
	uint64_t state[4];
};

void tb_random_init(struct tb_random *random, uint64_t seed, uint64_t stream);

// tb_random_next returns 64 uniform bits.
uint64_t tb_random_next(struct tb_random *random);

// tb_random_below returns a uniform integer in [0, bound), without bias; bound is at
// least
// 1.
uint64_t tb_random_below(struct tb_random *random, uint64_t bound);

// tb_random_unit returns a uniform double in [0, 1) with 53 random bits.
double tb_random_unit(struct tb_random *random);

// tb_random_exponential returns an exponential variate of mean 1. Von Neumann's
// comparison method needs no logarithm, whose last bit depends on the C library.
double tb_random_exponential(struct tb_random *random);

// tb_random_mix hashes a word to 64 well-mixed bits (splitmix64's finalizer), for choices
// that must not depend on the order in which they are made.
uint64_t tb_random_mix(uint64_t word);

#endif
