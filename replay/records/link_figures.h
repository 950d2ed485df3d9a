// The figures of a link: what is recorded of it in a time bin, summed over a run, stored,
// and shown. A figure is one row of TB_LINK_FIGURES; cells, samples, packed bins, sums,
// the store's statements, reports and pictures are made from it. CONTRIBUTING, "A figure
// of a link", shows how one is added.
#ifndef TB_LINK_FIGURES_H
#define TB_LINK_FIGURES_H

#include "ids.h"
#include "units.h"

#include <stdbool.h>
#include <stdint.h>

// ROW(ID, field, column, type, adds, kind, unit, name, title, brief, meaning):
//   TB_ID    of the figure, among enum tb_metric
//   field    of struct tb_link_sample and struct tb_cell
//   column   of the store's link_bin, bin_total, link_total and link_sum, in this order
//            (schemas/results.sql); key in exports
//   type     in a cell, which sees one time bin
//   adds     SUM: several bins or links come to the sum; MOST: to the largest
//   kind     TIME (picoseconds), SIZE (bytes) or COUNT
//   unit     in exports; of a COUNT what is counted, in the plural
//   name     as users type it
//   title    as a heading; brief: where there is little room
//   meaning  one line; {awaited}, {stalled}, {lacked} and {beside} stand for the words
//            of the run's switching (struct tb_switching_words)
//
// Every wait inside switches counts in two figures: CAME_BY, of the link by which the
// packet came, and WAIT_FOR, of the link that it wanted and took in the end. Their sums
// over all links are equal. One of them leads (struct tb_switching_kind): BLOCKED,
// LONGEST and QUEUE are counted at its links. A wait in the own node's queue came by no
// link and is in neither; what the flows of a fluid lose to others of their node is in
// both, at the injection link.
#define TB_LINK_WAITS(ROW)                                                               \
	ROW(CAME_BY, came_by_ps, "came_by_ps", uint64_t, SUM, TIME, "ps", "came-by",     \
		"Wait, came by", "Came by",                                              \
		"time that headers arriving over the link waited for {awaited}")         \
	ROW(WAIT_FOR, wait_for_ps, "wait_for_ps", uint64_t, SUM, TIME, "ps", "wait-for", \
		"Wait for the link", "For it",                                           \
		"time that headers that wanted the link waited for {awaited}")
#define TB_LINK_OTHERS(ROW)                                                              \
	ROW(STALL, stall_ps, "stall_ps", uint64_t, SUM, TIME, "ps", "stall", "Stall",    \
		"Stall", "time that {stalled} while nothing moved")                      \
	ROW(BUSY, busy_ps, "busy_ps", uint64_t, SUM, TIME, "ps", "busy", "Busy", "Busy", \
		"time that bytes were moving")                                           \
	ROW(BYTES, bytes, "bytes", uint64_t, SUM, SIZE, "bytes", "bytes", "Bytes",       \
		"Bytes", "bytes on the wire")                                            \
	ROW(PACKETS, n_packets, "packets", uint32_t, SUM, COUNT, "packets", "packets",   \
		"Packets", "Packets", "packets whose header crossed the link")           \
	ROW(BLOCKED, n_blocked, "blocked", uint32_t, SUM, COUNT, "headers", "blocked",   \
		"Blocked headers", "Blocked", "headers {beside} that found {lacked}")    \
	ROW(LONGEST, longest_wait_ps, "longest_wait_ps", uint64_t, MOST, TIME, "ps",     \
		"longest", "Longest wait", "Longest",                                    \
		"the longest single wait of a header {beside}")                          \
	ROW(QUEUE, largest_queue_bytes, "largest_queue_bytes", uint32_t, MOST, SIZE,     \
		"bytes", "queue", "Largest queue", "Queue",                              \
		"the most bytes, of packets {beside}, that waited in one queue at once")
#define TB_LINK_FIGURES(ROW) TB_LINK_WAITS(ROW) TB_LINK_OTHERS(ROW)

// ROW(ID, field, formula, adds, kind, compared, key, unit, name, title, brief, meaning):
// a figure that follows from those above, and is not stored. Readers fill it in
// (tb_link_sample_derive). Report, comparison, view, exports, schemas, metrics and the
// viewer's lists follow from the row.
//   formula   in C and in SQL, of wait_ps, packets and the time simulated_ps
//   adds      also MEAN: per packet, of which several links show the largest; without
//             packets it is not measured
//   kind      also RATE: per second
//   compared  YES: a comparison lists it of both runs
//   key       in JSON and CSV, with "_ps" behind it for a TIME; in the view hot_links
//   with
//             "_us"; in a comparison followed by "_a" and "_b" before that
#define TB_LINK_DERIVED(ROW)                                                             \
	ROW(PACKET_RATE, packets_per_s, packets * 1e12 / simulated_ps, SUM, RATE, NO,    \
		"packets_per_s", "packets/s", "packet-rate", "Packets per second",       \
		"Packets/s", "packets whose header crossed the link, per second")        \
	ROW(PACKET_WAIT, packet_wait_ps, 1.0 * wait_ps / packets, MEAN, TIME, YES,       \
		"packet_wait", "ps", "packet-wait", "Wait per packet", "Per packet",     \
		"mean wait of the packets that crossed the link; a median would need "   \
		"each single wait, of which only the sum is kept")

// WAIT is not stored either: it is the wait that leads, or the one that a reader chose.
#define TB_LINK_WAIT(ROW)                                                                \
	ROW(WAIT, wait_ps, "wait_ps", "ps", "wait", "Wait", "Wait",                      \
		"time that headers waited for {awaited}, by the wait that is shown")

// A metric is what a matrix or a list can show: WAIT, a figure, or one that is derived.
// Behind those that users choose by name are the two waits, of which WAIT is one.
#define TB_FIGURE_ID(ID, ...) TB_##ID,
enum tb_metric {
	TB_LINK_WAIT(TB_FIGURE_ID) TB_LINK_OTHERS(TB_FIGURE_ID)
		TB_LINK_DERIVED(TB_FIGURE_ID) TB_N_METRICS,
	TB_BEFORE_WAITS = TB_N_METRICS - 1,
	TB_LINK_WAITS(TB_FIGURE_ID) TB_N_ALL_METRICS
};
#undef TB_FIGURE_ID

#define TB_FIGURE_ONE(...) +1
enum { TB_N_FIGURES = TB_LINK_FIGURES(TB_FIGURE_ONE) }; // that are stored

// Of one link in one time bin, or added up. The sum over bins is the figure of the whole
// run, but for a MOST, of which the largest is.
struct tb_link_sample {
	struct tb_link link;
	union {
#define TB_FIGURE_FIELD(ID, field, ...) uint64_t field;
		struct {
			TB_LINK_WAIT(TB_FIGURE_FIELD)
			TB_LINK_OTHERS(TB_FIGURE_FIELD)
			TB_LINK_DERIVED(TB_FIGURE_FIELD)
			TB_LINK_WAITS(TB_FIGURE_FIELD)
		};
#undef TB_FIGURE_FIELD
		uint64_t figures[TB_N_ALL_METRICS]; // by enum tb_metric
	};
};

enum tb_figure_adds { TB_ADDS_SUM, TB_ADDS_MOST, TB_ADDS_MEAN };
enum tb_figure_kind { TB_KIND_TIME, TB_KIND_SIZE, TB_KIND_COUNT, TB_KIND_RATE };

struct tb_link_figure {
	enum tb_figure_adds adds;
	enum tb_figure_kind kind;
	const char *column; // or key, of one that is derived
	const char *unit, *name, *title, *brief, *meaning;
};

// By enum tb_metric.
extern const struct tb_link_figure tb_link_figures[TB_N_ALL_METRICS];

// ", wait_ps, stall_ps, ...": the columns behind the keys of the store's tables.
#define TB_FIGURE_COLUMN(ID, field, column, ...) ", " column
#define TB_FIGURE_COLUMNS			 TB_LINK_FIGURES(TB_FIGURE_COLUMN)

#define TB_FIGURE_SUM(to, by)  ((to) += (by))
#define TB_FIGURE_MOST(to, by) ((to) = (to) < (by) ? (by) : (to))
#define TB_FIGURE_MEAN(to, by) TB_FIGURE_MOST(to, by)

// tb_link_sample_add adds the figures of `more` to a sum.
static inline void tb_link_sample_add(
	struct tb_link_sample *sum, const struct tb_link_sample *more)
{
#define ROW(ID, field, column, type, adds, ...) TB_FIGURE_##adds(sum->field, more->field);
	TB_LINK_FIGURES(ROW)
#undef ROW
#define ROW(ID, field, formula, adds, ...) TB_FIGURE_##adds(sum->field, more->field);
	TB_LINK_DERIVED(ROW)
#undef ROW
#define ROW(ID, field, ...) sum->field += more->field;
	TB_LINK_WAIT(ROW)
#undef ROW
}

// tb_link_derived rounds a figure, to 0 where a formula divides by that.
static inline uint64_t tb_link_derived(double figure)
{
	return figure < 1.8e19 ? (uint64_t)(figure + 0.5) : 0;
}

// tb_link_sample_derive sets what is not stored: wait_ps, which is the figure `wait`, and
// the derived figures of a sample that covers `span_ps` of time; rates to 0 where that is
// not positive.
static inline void tb_link_sample_derive(
	struct tb_link_sample *sample, enum tb_metric wait, tb_time_ps span_ps)
{
	sample->wait_ps = sample->figures[wait];
	double wait_ps = (double)sample->wait_ps, packets = (double)sample->n_packets;
	double simulated_ps = span_ps > 0 ? (double)span_ps : 0;
#define ROW(ID, field, formula, ...) sample->field = tb_link_derived(formula);
	TB_LINK_DERIVED(ROW)
#undef ROW
}

// tb_link_sample_empty returns whether all figures are 0.
static inline int tb_link_sample_empty(const struct tb_link_sample *sample)
{
	uint64_t any = 0;
#define ROW(ID, field, ...) any |= sample->field;
	TB_LINK_FIGURES(ROW)
#undef ROW
	return any == 0;
}

// tb_metric_of returns the figure of a sample that a metric shows, in ps, bytes or
// counts. Pictures ask for it of a million links.
static inline uint64_t tb_metric_of(
	const struct tb_link_sample *sample, enum tb_metric metric)
{
	return sample->figures[metric];
}

// How well the figures of a link are known. A replay knows them all. Counters of a live
// fabric may lack one, or bound it: one that stands at its end counted at least so much,
// and pause frames hold a port for at most so long. Unknown is not zero: what is not
// measured has a figure of 0 that stands for nothing, which is written as NULL, null, "-"
// or an empty field.

enum tb_known { TB_EXACT, TB_AT_LEAST, TB_AT_MOST, TB_NOT_MEASURED };

// A zeroed struct knows all exactly.
struct tb_link_known {
	enum tb_known wait;    // of waits and stalls
	enum tb_known bytes;   // also of busy time, which follows from them
	enum tb_known packets; // also of their rate
	enum tb_known rest;    // of headers, queues and what came by: NOT_MEASURED by any
			       // counter
};

// tb_known_of returns how well a figure is known.
static inline enum tb_known tb_known_of(struct tb_link_known known, enum tb_metric metric)
{
	if (metric == TB_BYTES || metric == TB_BUSY)
		return known.bytes;
	if (metric == TB_PACKETS || metric == TB_PACKET_RATE)
		return known.packets;
	// By packets that are bounded it is not known.
	if (metric == TB_PACKET_WAIT && known.packets != TB_EXACT)
		return TB_NOT_MEASURED;
	if (metric == TB_CAME_BY || metric == TB_BLOCKED || metric == TB_LONGEST ||
		metric == TB_QUEUE)
		return known.rest;
	return known.wait;
}

// tb_figure_known returns how well a figure of a sample is known that links know so well:
// without packets there is no mean per packet.
static inline enum tb_known tb_figure_known(
	const struct tb_link_sample *sample, enum tb_known known, enum tb_metric metric)
{
	return tb_link_figures[metric].adds == TB_ADDS_MEAN && sample->n_packets == 0
		       ? TB_NOT_MEASURED
		       : known;
}

// tb_known_add returns how well the sum of two figures is known, the first of which may
// be that of no figure yet (EXACT): the sum of what was measured. One that is bounded
// from below and from above is at least what the first bound says, so bounds from above
// do not count then.
static inline enum tb_known tb_known_add(enum tb_known sum, enum tb_known more)
{
	if (sum == TB_AT_LEAST || more == TB_AT_LEAST)
		return TB_AT_LEAST;
	return sum == TB_AT_MOST || more == TB_AT_MOST ? TB_AT_MOST : TB_EXACT;
}

// tb_known_word returns "at least", "at most", "not measured", as the store has them;
// NULL of what is exact. tb_known_sign returns "\u2265 ", "\u2264 " or "".
static inline const char *tb_known_word(enum tb_known known)
{
	static const char *const words[] = {NULL, "at least", "at most", "not measured"};
	return words[known];
}

static inline const char *tb_known_sign(enum tb_known known)
{
	return known == TB_AT_LEAST ? "\u2265 " : known == TB_AT_MOST ? "\u2264 " : "";
}

// tb_known_name returns the word with "exact", NULL beyond the last.
static inline const char *tb_known_name(size_t known)
{
	return known == 0		  ? "exact"
	       : known <= TB_NOT_MEASURED ? tb_known_word((enum tb_known)known)
					  : NULL;
}

#endif
