#include "random.h"

static uint64_t rotate_u64_left(uint64_t x, int k)
{
	return (x << k) | (x >> (64 - k));
}

uint64_t tb_random_mix(uint64_t word)
{
	word = (word ^ (word >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	word = (word ^ (word >> 27)) * UINT64_C(0x94d049bb133111eb);
	return word ^ (word >> 31);
}

void tb_random_init(struct tb_random *random, uint64_t seed, uint64_t stream)
{
	// Mixing the stream's number keeps seed 1, stream 2 apart from seed 2, stream 1.
	uint64_t x = seed ^ tb_random_mix(stream + UINT64_C(0x9e3779b97f4a7c15));
	for (int i = 0; i < 4; i++) {
		x += UINT64_C(0x9e3779b97f4a7c15);
		random->state[i] = tb_random_mix(x);
	}
}

uint64_t tb_random_next(struct tb_random *random)
{
	uint64_t *s = random->state;
	uint64_t result = rotate_u64_left(s[1] * 5, 7) * 9;
	uint64_t t = s[1] << 17;
	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = rotate_u64_left(s[3], 45);
	return result;
}

uint64_t tb_random_below(struct tb_random *random, uint64_t bound)
{
	// Values below 2^64 mod bound would make small results likelier: draw again.
	uint64_t threshold = (0 - bound) % bound;
	for (;;) {
		uint64_t value = tb_random_next(random);
		if (value >= threshold)
			return value % bound;
	}
}

double tb_random_unit(struct tb_random *random)
{
	// A double has 53 significant bits; more would round up to 1.
	return (double)(tb_random_next(random) >> 11) * 0x1p-53;
}

double tb_random_exponential(struct tb_random *random)
{
	// In each round the length of a descending chain of uniforms is odd with
	// probability exp(-first). The number of failed rounds is the whole part (von
	// Neumann, "Various techniques used in connection with random digits", 1951).
	for (double rounds = 0;; rounds += 1) {
		double first = tb_random_unit(random);
		double last = first;
		for (;;) {
			double next = tb_random_unit(random);
			if (next >= last)
				return rounds + first;
			last = next;
			next = tb_random_unit(random);
			if (next >= last)
				break;
			last = next;
		}
	}
}
