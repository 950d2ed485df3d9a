// The sum of several flows' figures, and what follows from them.
#ifndef TB_FLOW_SUM_H
#define TB_FLOW_SUM_H

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

// tb_flow_add adds the figures of `more` to `sum`, whatever the ends of either. A sum
// begins with all figures 0.
void tb_flow_add(struct tb_flow_sample *sum, const struct tb_flow_sample *more);

// tb_flow_slowdown returns how many times as long the messages took in the network as
// they would on an idle one; 0 when that is unknown.
double tb_flow_slowdown(const struct tb_flow_sample *flow);

#endif
