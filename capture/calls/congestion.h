// What a capture recorded of congestion, by ordered pair of endpoints and over time:
// marks, notifications, pauses, closed windows, segments sent again, round trips.
//
// Events belong to the pair of the frame that reports them: a congestion notification
// goes from the receiver of marked packets to their sender, and a window of zero is its
// sender's. What is not known is not 0: -1, or TB_ID_NONE. One table names the figures
// for text, JSON, schemas and the store.
#ifndef TB_CONGESTION_H
#define TB_CONGESTION_H

#include "ids.h"
#include "units.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tb_congestion_figure {
	TB_CONGESTION_RETRANSMISSIONS,
	TB_CONGESTION_FAST,
	TB_CONGESTION_TIMEOUTS,
	TB_CONGESTION_SPURIOUS,
	TB_CONGESTION_KEEP_ALIVES,
	TB_CONGESTION_DUPLICATE_ACKS,
	TB_CONGESTION_DUPLICATES,
	TB_CONGESTION_OUT_OF_ORDER,
	TB_CONGESTION_ZERO_WINDOWS,
	TB_CONGESTION_CLOSED_PS,
	TB_CONGESTION_FULL_WINDOWS,
	TB_CONGESTION_LIMITED_PS,
	TB_CONGESTION_MARKED,
	TB_CONGESTION_CNPS,
	TB_CONGESTION_PAUSES,
	TB_CONGESTION_RESUMES,
	TB_CONGESTION_PAUSE_QUANTA,
	TB_CONGESTION_N
};

struct tb_congestion_name {
	const char *key;     // in JSON and the store
	const char *title;   // of a column
	const char *meaning; // a sentence without its period
	const char *one;     // "retransmission"; NULL: a time, "3 ms" and `title`
};

extern const struct tb_congestion_name tb_congestion_names[TB_CONGESTION_N];

struct tb_congestion_counts {
	uint64_t of[TB_CONGESTION_N];
};

// Round trips; with `n` 0 the rest means nothing. The median and the 95th percentile are
// at most 1/32 off.
struct tb_round_trips {
	uint64_t n;
	int64_t least_ps;
	int64_t median_ps, p95_ps; // -1: unknown: too many pairs were captured
};

struct tb_congestion_pair {
	char *source, *destination; // endpoints; NULL: pairs beyond those listed
	uint32_t source_node, destination_node; // of the capture; TB_ID_NONE: none
	struct tb_congestion_counts counts;
	struct tb_round_trips handshake;    // of connections that the source opened
	struct tb_round_trips acknowledged; // of what the source sent
};

// What a pair had within bin_ps from `from_ps` on, if it had anything.
struct tb_congestion_bin {
	uint32_t pair;
	tb_time_ps from_ps; // since the first packet of the capture, gaps shrunk
	struct tb_congestion_counts counts;
};

// Pause frames of a pair by class: class 8 is the whole port (IEEE 802.3x).
struct tb_congestion_pause {
	uint32_t pair;
	uint32_t class;
	uint64_t n, n_resumes, quanta;
	bool rate_known;     // of the port, at every frame
	uint64_t at_most_ps; // then: how long the quanta last at that rate
};

#define TB_CONGESTION_WHOLE_PORT 8

struct tb_congestion {
	struct tb_congestion_pair *pairs; // in the order in which they appear
	size_t n_pairs;
	struct tb_congestion_bin *bins; // by pair and time
	size_t n_bins;
	struct tb_congestion_pause *pauses; // by pair and class
	size_t n_pauses;
	tb_time_ps bin_ps;
	struct tb_congestion_pair all; // sums; its ends are NULL
};

// tb_congestion_free also takes NULL.
void tb_congestion_free(struct tb_congestion *congestion);

// tb_congestion_is_quiet returns whether nothing but round trips was recorded.
bool tb_congestion_is_quiet(const struct tb_congestion_counts *counts);

// tb_congestion_worst returns the numbers of the `n` pairs that suffered anything, those
// that suffered most first: a segment sent again weighs as much as a millisecond behind a
// window, or a hundred CNPs. The caller frees it; NULL when there is no memory.
size_t *tb_congestion_worst(const struct tb_congestion *congestion, size_t *n);

// tb_congestion_format writes what was recorded, the figures that are not 0: "12
// retransmissions (3 fast, 9 by time-out), 2 marked". It returns `buffer`.
#define TB_CONGESTION_TEXT_SIZE 512
char *tb_congestion_format(
	const struct tb_congestion_counts *counts, char *buffer, size_t size);

#endif
