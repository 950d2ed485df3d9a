// Where the calls of a program are in the job that was made of them, and what they moved.
//
// Model: a collective call lasts from when its rank has come to it until the rank's part
// is complete, if it only starts something, too. Any other call lasts from its entering
// to its leaving, and stands here only where the trace recorded both. Calls that take no
// time in any replay are left out. Memory: 24 bytes a call.
#ifndef TB_PLACED_CALLS_H
#define TB_PLACED_CALLS_H

#include <stddef.h>
#include <stdint.h>

#define TB_PLACED_ALGORITHMS 256

struct tb_placed_call {
	uint64_t bytes;	       // of a collective what the rank gave it
	uint32_t enter, leave; // instants of the job (call_times.h)
	uint8_t kind;	       // TB_TIMED_SEND, ... (call_times.h)
	uint8_t algorithm;     // its number; 0: none
};

struct tb_placed_calls {
	struct tb_placed_call *calls; // rank after rank, each in the order of entering
	size_t *first;		      // n_ranks + 1: rank r has calls [r] to [r + 1] - 1
	uint32_t n_ranks;
	const char *algorithms[TB_PLACED_ALGORITHMS]; // constants; NULL: none
};

void tb_placed_calls_free(struct tb_placed_calls *placed); // NULL is fine

#endif
