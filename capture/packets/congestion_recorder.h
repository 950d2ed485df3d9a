// Adds up what a capture records of congestion (congestion.h) while it is read.
//
// Memory is bounded, whatever the length of the capture: at most TB_CONGESTION_PAIRS_MAX
// pairs are distinguished, later ones share one row; time bins double in width when there
// are more than TB_CONGESTION_BINS_MAX; round trips are counted in ranges of 1/16 of
// their octave. At most 40 MB. The same records give the same result. Not thread safe.
#ifndef TB_CONGESTION_RECORDER_H
#define TB_CONGESTION_RECORDER_H

#include "address.h"
#include "congestion.h"
#include "frame.h"
#include "status.h"
#include "tcp_analysis.h"

#define TB_CONGESTION_PAIRS_MAX (UINT32_C(1) << 15)
#define TB_CONGESTION_BINS_MAX	(UINT32_C(1) << 16)
#define TB_CONGESTION_BIN_PS	TB_PS_PER_MS // least width of a bin

struct tb_congestion_recorder; // opaque

int tb_congestion_recorder_new(struct tb_congestion_recorder **recorder) TB_MUST_USE;
void tb_congestion_recorder_free(struct tb_congestion_recorder *recorder);

// tb_congestion_pair_of stores the number of an ordered pair of endpoints, for the calls
// below, which return TB_OK or TB_ENOMEM. Numbers are from 1 on and stay.
int tb_congestion_pair_of(struct tb_congestion_recorder *recorder, uint32_t source,
	uint32_t destination, uint32_t *pair) TB_MUST_USE;

// tb_congestion_count adds `n` to a figure of a pair. TB_CONGESTION_PAUSES and what
// belongs to them are for tb_congestion_pause. `at_ps` need not ascend.
int tb_congestion_count(struct tb_congestion_recorder *recorder, uint32_t pair,
	tb_time_ps at_ps, enum tb_congestion_figure figure, uint64_t n) TB_MUST_USE;

// tb_congestion_spread adds a time that ended at `at_ps` to the bins in which it was.
int tb_congestion_spread(struct tb_congestion_recorder *recorder, uint32_t pair,
	tb_time_ps at_ps, enum tb_congestion_figure figure, int64_t ns) TB_MUST_USE;

// tb_congestion_spend adds where the time of a pair's flow went until `at_ns`, and what
// it sent then.
void tb_congestion_spend(struct tb_congestion_recorder *recorder, uint32_t pair,
	int64_t at_ns, uint32_t payload_bytes, const int64_t spent_ns[TB_FLOW_TIME_N]);

// tb_congestion_pause counts what a frame asks for, of a port of `bits_per_s` (0:
// unknown).
int tb_congestion_pause(struct tb_congestion_recorder *recorder, uint32_t pair,
	tb_time_ps at_ps, const struct tb_frame_pause *pause,
	uint64_t bits_per_s) TB_MUST_USE;

// tb_congestion_round_trip counts a round trip of what the source of the pair sent.
void tb_congestion_round_trip(struct tb_congestion_recorder *recorder, uint32_t pair,
	bool handshake, int64_t ns);

// tb_congestion_make makes a table of what was recorded so far. Nodes of endpoints are
// TB_ID_NONE and left to the caller, who frees it; `numbers` gets the endpoints of pairs,
// two of each (NULL: not wanted).
int tb_congestion_make(struct tb_congestion_recorder *recorder,
	const struct tb_endpoints *endpoints, struct tb_congestion **congestion,
	uint32_t *numbers) TB_MUST_USE;

uint32_t tb_congestion_n_pairs(const struct tb_congestion_recorder *recorder);

#endif
