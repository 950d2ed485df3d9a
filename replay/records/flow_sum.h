// The sum of several flows' figures, and what follows from them.
#ifndef TB_FLOW_SUM_H
#define TB_FLOW_SUM_H

#include "figure_kinds.h"
#include "observer.h"

// The figures of a flow, in the order in which they are packed and stored. ROW(field,
// column, adds): a member of struct tb_flow_sample; the column of the store's tables; of
// several flows the SUM, the MOST or the LEAST of those with messages counts.
#define TB_FLOW_FIGURES(ROW)                                                             \
	ROW(n_messages, "messages", SUM)                                                 \
	ROW(n_packets, "packets", SUM)                                                   \
	ROW(bytes, "bytes", SUM)                                                         \
	ROW(latency_ps, "latency_ps", SUM)                                               \
	ROW(queue_ps, "queue_ps", SUM)                                                   \
	ROW(network_ps, "network_ps", SUM)                                               \
	ROW(worst_latency_ps, "worst_latency_ps", MOST)                                  \
	ROW(ideal_ps, "ideal_ps", SUM)                                                   \
	ROW(wait_ps, "wait_ps", SUM)                                                     \
	ROW(blamed_ps, "blamed_ps", SUM)                                                 \
	ROW(first_ps, "first_ps", LEAST)                                                 \
	ROW(last_ps, "last_ps", MOST)

// What people are shown of a flow, and of a job: in reports, schemas, views of the store,
// comparisons and the viewer, which all follow from the row. ROW(ID, formula, kind, key,
// jobs, view, compared, name, brief, title, meaning):
//   formula   of the columns above, valid in C and in SQL: without messages, or where no
//             ideal time is known, it divides by 0, and the figure is unknown
//   kind      TIME, MEAN (picoseconds), COUNT, SIZE, RATIO, PACKETS;
//             of TIME, COUNT and SIZE the formula is whole
//   key       in JSON and CSV with "_ps" behind it for picoseconds, in views with "_us"
//   jobs      YES: jobs have it, too
//   view      YES: flow_latency has it, and of jobs job_summary
//   compared  YES: the viewer's square shows it, and comparisons of flows list it; KEYS:
//             these in JSON only; NO: neither, and name and brief are NULL
//   name      in the viewer's exports, and in comparisons followed by "_a" and "_b"
//   brief     as a heading there
//   title     as a heading; NULL: not shown to people
#define TB_FLOW_COLUMNS(ROW)                                                             \
	ROW(SLOWDOWN, 1.0 * network_ps / ideal_ps, RATIO, "slowdown", YES, YES, YES,     \
		"slowdown", "Slowdown", "Slowdown",                                      \
		"Time of its messages in the network against that on an idle one; "      \
		"null: not known")                                                       \
	ROW(LATENCY, 1.0 * latency_ps / messages, MEAN, "mean_latency", YES, YES, YES,   \
		"latency", "Latency", "Mean latency",                                    \
		"Of a message, from post to delivery; null: none was delivered")         \
	ROW(MEAN_QUEUE, 1.0 * queue_ps / messages, MEAN, "mean_queue", YES, YES, NO,     \
		NULL, NULL, "Sender's queue",                                            \
		"Of that, behind other messages of its node")                            \
	ROW(MEAN_NETWORK, 1.0 * network_ps / messages, MEAN, "mean_network", YES, YES,   \
		NO, NULL, NULL, "Network",                                               \
		"Of that, from when its node serves a message until its last byte is "   \
		"drained")                                                               \
	ROW(MEAN_SOFTWARE, 1.0 * (latency_ps - queue_ps - network_ps) / messages, MEAN,  \
		"mean_software", YES, YES, NO, NULL, NULL, "Software",                   \
		"The rest: overheads, and what the host's library adds")                 \
	ROW(LATENCY_SUM, latency_ps, TIME, "latency", YES, NO, NO, NULL, NULL, NULL,     \
		"Sum over messages, from post to delivery: of the three parts that "     \
		"follow")                                                                \
	ROW(QUEUE, queue_ps, TIME, "queue", YES, NO, NO, NULL, NULL, NULL,               \
		"In its sender's queue: behind other messages of the sending node")      \
	ROW(NETWORK, network_ps, TIME, "network", YES, NO, NO, NULL, NULL, NULL,         \
		"From when the sending node serves a message until its last byte is "    \
		"drained")                                                               \
	ROW(SOFTWARE, latency_ps - queue_ps - network_ps, TIME, "software", YES, NO, NO, \
		NULL, NULL, NULL, "Overheads, and what the host's library adds")         \
	ROW(WORST, worst_latency_ps, TIME, "worst_latency", YES, YES, NO, NULL, NULL,    \
		"Worst", "The longest latency of one message")                           \
	ROW(IDEAL, ideal_ps, TIME, "ideal", YES, NO, NO, NULL, NULL, NULL,               \
		"Sum of what network_ps is of the same messages on an idle network")     \
	ROW(MESSAGES, messages, COUNT, "messages", YES, YES, KEYS, "messages",           \
		"Messages", "Messages", "Delivered")                                     \
	ROW(PACKETS, packets, COUNT, "packets", YES, YES, NO, NULL, NULL, NULL,          \
		"Of its messages")                                                       \
	ROW(BYTES, bytes, SIZE, "bytes", YES, YES, KEYS, "bytes", "Bytes", "Bytes",      \
		"Of its messages, delivered, as run.delivered_bytes")                    \
	ROW(WAIT, wait_ps, TIME, "wait", YES, YES, KEYS, "wait", "Wait", "Wait",         \
		"Of its headers, over all links")                                        \
	ROW(WAITED, 1.0 * wait_ps / network_ps, PACKETS, "packets_waiting", YES, YES,    \
		YES, "waiting", "Packets waiting", "Packets waiting",                    \
		"Of a message in the network, on average: its wait against that time; "  \
		"null: none was there")                                                  \
	ROW(BLAMED, blamed_ps, TIME, "blamed", NO, YES, NO, NULL, NULL, NULL,            \
		"Of anybody's headers, for what its packets held")

#define TB_FLOW_ID(ID, ...) TB_FLOW_##ID,
enum tb_flow_figure { TB_FLOW_COLUMNS(TB_FLOW_ID) TB_N_FLOW_FIGURES };
#undef TB_FLOW_ID

// tb_flow_figure_of returns a figure of a flow, or of a sum of flows; NaN when it is
// unknown. tb_flow_figure_whole returns one of TIME, COUNT or SIZE exactly.
double tb_flow_figure_of(const struct tb_flow_sample *flow, enum tb_flow_figure figure);
int64_t tb_flow_figure_whole(
	const struct tb_flow_sample *flow, enum tb_flow_figure figure);

// tb_flow_add adds the figures of `more` to `sum`, whatever the ends of either. A sum
// begins with all figures 0.
void tb_flow_add(struct tb_flow_sample *sum, const struct tb_flow_sample *more);

// tb_flow_slowdown returns how many times as long the messages took in the network as
// they would on an idle one; 0 when that is unknown.
double tb_flow_slowdown(const struct tb_flow_sample *flow);

#endif
