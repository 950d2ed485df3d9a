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

// X(NAME, key, title, meaning, one, kind): the key in JSON and the store, the title of a
// column (NULL: it is not shown), a sentence without its period, "retransmission" (NULL:
// a time, or quanta), and COUNT or TIME.
// clang-format off
#define TB_CONGESTION_FIGURES(X)                                                         \
	X(RETRANSMISSIONS, "retransmissions", "Sent again",                              \
		"Segments or packets that were sent again, without keep-alives",         \
		"retransmission", COUNT)                                                 \
	X(FAST, "fast_retransmissions", "fast",                                          \
		"Of them, after two duplicate acknowledgements", "fast", COUNT)          \
	X(TIMEOUTS, "timeout_retransmissions", "by time-out",                            \
		"Of them, after both ends had been silent for two round trips",          \
		"by time-out", COUNT)                                                    \
	X(SPURIOUS, "spurious_retransmissions", "in vain",                               \
		"Of them, although they had been acknowledged", "in vain", COUNT)        \
	X(KEEP_ALIVES, "keep_alives", NULL,                                              \
		"Segments that only ask whether the other end is there",                 \
		"keep-alive", COUNT)                                                     \
	X(DUPLICATE_ACKS, "duplicate_acks", NULL,                                        \
		"Acknowledgements that repeat the one before",                           \
		"duplicate acknowledgement", COUNT)                                      \
	X(DUPLICATES, "duplicates", NULL,                                                \
		"Copies of a frame that another point of the capture saw",               \
		"copied frame", COUNT)                                                   \
	X(OUT_OF_ORDER, "out_of_order", "Out of order",                                  \
		"Packets that a later one overtook", "out-of-order packet", COUNT)       \
	X(ZERO_WINDOWS, "zero_windows", "Zero windows",                                  \
		"Segments in which their sender takes no more bytes",                    \
		"zero window", COUNT)                                                    \
	X(CLOSED_PS, "zero_window_ps", "lasted",                                         \
		"How long that lasted, of all connections together", NULL, TIME)         \
	X(FULL_WINDOWS, "full_windows", NULL,                                            \
		"Segments that fill the receiver's window exactly", "full window", COUNT) \
	X(LIMITED_PS, "window_limited_ps", "Window-limited",                             \
		"How long the receiver's window left no room for a full segment, and the " \
		"sender went on once it did, of all connections together", NULL, TIME)   \
	X(MARKED, "marked", "Marked",                                                    \
		"Packets with a congestion mark (ECN's CE, InfiniBand's FECN)",          \
		"marked packet", COUNT)                                                  \
	X(CNPS, "cnps", "CNPs", "Congestion notification packets of RoCE v2", "CNP", COUNT) \
	X(NOT_READY, "not_ready", "Not ready",                                           \
		"RNR NAKs of RoCE and InfiniBand: the receiver had no buffer for a message", \
		"RNR NAK of a receiver that was not ready|RNR NAKs of a receiver that was not ready", COUNT) \
	X(PAUSES, "pauses", "Pauses",                                                    \
		"Classes that frames ask to pause (IEEE 802.1Qbb, 802.3x)", "pause", COUNT) \
	X(RESUMES, "pause_resumes", NULL,                                                \
		"Classes that such frames let go on (0 quanta)", "resumption", COUNT)    \
	X(PAUSE_QUANTA, "pause_quanta", NULL,                                            \
		"For how long they ask, in 512 bit times of the port, at most", NULL, COUNT)

// Where the time of a flow went, by the same X. Each moment of a TCP connection counts in
// one of them, from the flow's first segment of data to its last, or that one's
// acknowledgement.
#define TB_FLOW_TIMES(X)                                                                 \
	X(TIMEOUTS, "in_timeouts_ps", "Time-outs",                                       \
		"Silent before a segment that a time-out sent again",                    \
		"in time-outs", TIME)                                                    \
	X(RECOVERY, "in_recovery_ps", "Recovery",                                        \
		"From a segment sent again until all that was under way then had arrived", \
		"recovering losses", TIME)                                               \
	X(WINDOW, "in_window_ps", "Window",                                              \
		"Held by the receiver's window", "held by the receiver's window", TIME)  \
	X(IDLE, "idle_ps", "Idle",                                                       \
		"All that was sent had been acknowledged, or waited for an answer; between connections",         \
		"with nothing to send", TIME)                                            \
	X(SENDING, "sending_ps", "Sending", "The rest: data was under way", "sending", TIME)
// clang-format on

enum tb_congestion_figure {
#define FIGURE(NAME, ...) TB_CONGESTION_##NAME,
	TB_CONGESTION_FIGURES(FIGURE)
#undef FIGURE
		TB_CONGESTION_N
};

enum tb_flow_time {
#define FLOW_TIME(NAME, ...) TB_FLOW_##NAME,
	TB_FLOW_TIMES(FLOW_TIME)
#undef FLOW_TIME
		TB_FLOW_TIME_N
};

struct tb_congestion_name {
	const char *key, *one;
};

extern const struct tb_congestion_name tb_congestion_names[TB_CONGESTION_N];
extern const struct tb_congestion_name tb_flow_time_names[TB_FLOW_TIME_N];

struct tb_congestion_counts {
	uint64_t of[TB_CONGESTION_N];
};

// Zeroed, nothing is known: it is no TCP. Captured in one direction it has no parts.
struct tb_flow_times {
	uint64_t payload_bytes;		// without what was sent again
	uint64_t lasted_ps;		// from the first data to the last
	uint64_t of_ps[TB_FLOW_TIME_N]; // of all connections together
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
	struct tb_flow_times times;
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

// tb_congestion_worst returns the numbers of all pairs, those that suffered most first: a
// segment sent again weighs as much as a millisecond of its flow in time-outs, recovery
// or behind a window, or a hundred CNPs. *n gets how many suffered anything. The caller
// frees it; NULL when there is no memory.
size_t *tb_congestion_worst(const struct tb_congestion *congestion, size_t *n);

// tb_congestion_format writes what was recorded, the figures that are not 0: "12
// retransmissions (3 fast, 9 by time-out), 2 marked". It returns `buffer`.
#define TB_CONGESTION_TEXT_SIZE 512
char *tb_congestion_format(
	const struct tb_congestion_counts *counts, char *buffer, size_t size);

// tb_flow_lost_ps returns how long loss kept a flow, or its receiver's window;
// tb_flow_told_ps the sum of all parts.
uint64_t tb_flow_lost_ps(const struct tb_flow_times *times);
uint64_t tb_flow_told_ps(const struct tb_flow_times *times);

// tb_flow_times_add adds the parts and the payload of another flow.
void tb_flow_times_add(struct tb_flow_times *to, const struct tb_flow_times *from);

// tb_flow_times_format writes the parts of 1 % or more, what was lost first: "2.002 s in
// time-outs, 38.11 ms sending"; "" of none. It returns `buffer`.
char *tb_flow_times_format(const struct tb_flow_times *times, char *buffer, size_t size);

#endif
