// A histogram of waits in steps of a sixteenth of a power of two: finds the heaviest of
// many without sorting them. Private to replay/.
#ifndef TB_WAIT_STEPS_H
#define TB_WAIT_STEPS_H

#include <stdint.h>

struct tb_wait_steps { // zeroed: none
	uint32_t counts[64 * 16];
};

static inline void tb_wait_steps_add(struct tb_wait_steps *steps, uint64_t wait_ps)
{
	unsigned power = 63 - (unsigned)__builtin_clzll(wait_ps | 16);
	steps->counts[power * 16 + (wait_ps >> (power - 4) & 15)]++;
}

// tb_wait_steps_reached is a wait, in ps, that no more than `n_most` of the waits reach:
// the least one, but for a step. 0 when they all may.
static inline uint64_t tb_wait_steps_reached(
	const struct tb_wait_steps *steps, uint32_t n_most)
{
	uint32_t n = 0;
	for (unsigned step = 64 * 16; step-- > 4 * 16;) {
		n += steps->counts[step];
		if (n > n_most)
			return (uint64_t)(step % 16 + 17) << (step / 16 - 4);
	}
	return 0;
}

#endif
