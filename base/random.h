// Seeded random streams: the only source of randomness in the program.
//
// A stream is a value, passed explicitly. Streams made from one seed and different stream
// numbers are independent. Every draw uses integer arithmetic or IEEE operations that are
// exactly rounded, so a seed gives the same numbers on every machine, compiler and -O
// level.
#ifndef TB_RANDOM_H
#define TB_RANDOM_H

#include <stdint.h>

// xoshiro256** (Blackman and Vigna, "Scrambled linear pseudorandom number generators",
// ACM TOMS 47, 2021), state filled by splitmix64 as its authors advise.
struct tb_random {
	uint64_t state[4];
};

void tb_random_init(struct tb_random *random, uint64_t seed, uint64_t stream);

// tb_random_next gives 64 uniform bits.
uint64_t tb_random_next(struct tb_random *random);

// tb_random_below gives a uniform integer in [0, bound), bound at least 1, without bias.
uint64_t tb_random_below(struct tb_random *random, uint64_t bound);

// tb_random_unit gives a uniform double in [0, 1) with 53 bits.
double tb_random_unit(struct tb_random *random);

// tb_random_exponential gives an exponential variate of mean 1 (von Neumann's comparison
// method: no logarithm, so no dependence on the C library).
double tb_random_exponential(struct tb_random *random);

// tb_random_mix hashes a word to 64 well-mixed bits (splitmix64's finalizer): for choices
// that must not depend on the order in which they are made.
uint64_t tb_random_mix(uint64_t word);

#endif
