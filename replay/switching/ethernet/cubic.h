// How many segments a TCP connection may have under way: slow start, when that ends, and
// CUBIC after it.
//
// Windows are counted in segments, as Linux does it. All arithmetic is in integers, so
// that a replay is the same on every machine. Sources: RFC 5681 (slow start), RFC 9438
// (CUBIC), RFC 2861 and RFC 5681 4.1 (after an idle time), Ha and Rhee, "Taming the
// elephants: New TCP slow start", Computer Networks 55, 2011 (HyStart).
#ifndef TB_CUBIC_H
#define TB_CUBIC_H

#include "units.h"

#include <stdbool.h>
#include <stdint.h>

#define TB_CUBIC_NO_THRESHOLD UINT32_MAX

struct tb_cubic {
	uint32_t window;    // segments that may be under way
	uint32_t threshold; // below it the window is in slow start
	uint32_t credit;    // acknowledged since the window last grew, in 1/1024 segments
	uint32_t restart;   // the initial window
	// CUBIC, since its last loss or from slow start on.
	tb_time_ps epoch; // TB_TIME_NEVER: has not begun
	uint32_t most;	  // the window at the last loss; 0: none was lost
	uint32_t origin;  // of the curve, where it is flat
	uint64_t k;	  // when the curve reaches it, in 1/1024 s from the epoch
	uint64_t reno;	  // what Reno would have, in 1/1024 segments
	// HyStart, of this round: one begins when what was sent at the beginning of the
	// one before is acknowledged.
	tb_time_ps least;	// round trip of all
	tb_time_ps round_least; // of this round's first acknowledgements
	tb_time_ps round_at, train_at;
	uint64_t round_end; // segment
	uint32_t n_samples;
	bool has_ended; // slow start; HyStart looks for its end once, until a timeout
};

// One acknowledgement, as the window sees it.
struct tb_cubic_ack {
	tb_time_ps now;
	tb_time_ps round_trip; // of the newest segment acknowledged; 0: not known
	uint32_t n;	       // segments that it acknowledges
	bool is_limited;       // the window, not the program, limited what was sent
	uint64_t acked, next;  // segments acknowledged so far, and sent so far
};

void tb_cubic_init(struct tb_cubic *cubic, uint32_t initial_window);

// tb_cubic_acked grows the window.
void tb_cubic_acked(struct tb_cubic *cubic, const struct tb_cubic_ack *ack);

// tb_cubic_lost shrinks it for a segment that was lost; tb_cubic_timed_out to one
// segment, for a connection whose retransmission timer has run out.
void tb_cubic_lost(struct tb_cubic *cubic);
void tb_cubic_timed_out(struct tb_cubic *cubic);

// tb_cubic_idle: nothing was under way for `idle`. Beyond the timeout the window is
// halved for each, down to the initial one.
void tb_cubic_idle(struct tb_cubic *cubic, tb_time_ps idle, tb_time_ps timeout);

// tb_cubic_unused: in the last timeout no more than `used` segments of the window were
// under way.
void tb_cubic_unused(struct tb_cubic *cubic, uint32_t used);

// tb_cubic_root3 returns the integer cube root, rounded down.
uint64_t tb_cubic_root3(uint64_t value);

#endif
