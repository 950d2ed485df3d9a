// BBR: how many segments of a TCP connection may be under way, and how fast they leave,
// by a model of the path: the rate at which it delivers, and its shortest round trip.
//
// Version 1, as Linux has it since 4.9 (net/ipv4/tcp_bbr.c): Cardwell, Cheng, Gunn,
// Yeganeh, Jacobson, "BBR: congestion-based congestion control", CACM 60, 2017;
// draft-cardwell-iccrg-bbr-congestion-control-00, from which names and values of the
// phases come. Left out: what it allows for aggregated acknowledgements, and its detector
// of policers (lt_bw). All arithmetic is in integers, so that a replay is the same on
// every machine.
#ifndef TB_BBR_H
#define TB_BBR_H

#include "units.h"

#include <stdbool.h>
#include <stdint.h>

// A rate of segments, in 1/2^24 of one per microsecond.
typedef uint64_t tb_segment_rate;

// tb_segment_rate_of is n segments in a time; the time is at least a nanosecond.
tb_segment_rate tb_segment_rate_of(uint64_t n, tb_time_ps took);

enum tb_bbr_mode { TB_BBR_STARTUP, TB_BBR_DRAIN, TB_BBR_PROBE_BW, TB_BBR_PROBE_RTT };

// The largest rate of the last rounds: a maximum over a window, of which the three best
// are kept (Nichols; lib/win_minmax.c of Linux).
struct tb_bbr_best {
	uint32_t round;
	tb_segment_rate rate;
};

struct tb_bbr {
	uint32_t window;	// segments that may be under way
	tb_segment_rate pacing; // at which they leave
	enum tb_bbr_mode mode;
	struct tb_bbr_best best[3];
	tb_time_ps least, least_at; // round trip, and when it was seen
	uint64_t round_end;	    // segments delivered at its end
	uint32_t n_rounds;
	bool round_begins;
	tb_segment_rate full; // at which the path was found full
	uint32_t n_full;      // rounds since it grew
	bool is_full;
	uint32_t gain, window_gain; // in 1/256
	uint32_t phase;		    // of the gain cycle
	tb_time_ps phase_at;
	uint64_t random;	  // chooses the phase in which the cycle begins
	tb_time_ps probe_end;	  // of probing the round trip; TB_TIME_NEVER: not yet
	bool probed_round;	  // a round has passed in it
	uint32_t kept;		  // window before losses or a probe
	bool recovers, conserves; // losses are repaired; this round nothing is added
	bool restarts;		  // from an idle time
};

// What one acknowledgement says. A delivery rate sample is `delivered` in `interval`
// (draft-cheng-iccrg-delivery-rate-estimation-00).
struct tb_bbr_ack {
	tb_time_ps now;
	tb_time_ps round_trip; // 0: not known
	tb_time_ps interval;   // 0: no sample
	uint64_t delivered;    // segments in the interval
	uint64_t before;       // segments delivered before it
	uint64_t total;	       // segments delivered so far
	uint32_t n, n_lost;    // segments newly delivered, and lost
	uint32_t under_way, was_under_way;
	tb_time_ps ahead; // until pacing lets the next segment go
	uint32_t batch;	  // segments that leave as one
	bool is_limited;  // by the program, not by the window
	bool is_delayed;  // the acknowledgement may have been put off
	bool recovers;	  // losses are being repaired
};

// tb_bbr_init: a connection opens with a window, at `now`; its first round trip took
// `took`. `random` is any number; by it the phase is chosen in which the gain cycle
// begins.
void tb_bbr_init(struct tb_bbr *bbr, uint32_t window, uint64_t random, tb_time_ps now,
	tb_time_ps took);

void tb_bbr_acked(struct tb_bbr *bbr, const struct tb_bbr_ack *ack);

// tb_bbr_lost: repairing losses begins. tb_bbr_timed_out: all that was under way is given
// up; tb_bbr_undone: that was wrong.
void tb_bbr_lost(struct tb_bbr *bbr);
void tb_bbr_timed_out(struct tb_bbr *bbr);
void tb_bbr_undone(struct tb_bbr *bbr);

// tb_bbr_restarts: a segment is sent after an idle time.
void tb_bbr_restarts(struct tb_bbr *bbr, tb_time_ps now);

// tb_bbr_rate is the rate of the path, as far as it is known.
tb_segment_rate tb_bbr_rate(const struct tb_bbr *bbr);

#endif
