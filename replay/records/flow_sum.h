// The sum of several flows' figures, and what follows from them.
#ifndef TB_FLOW_SUM_H
#define TB_FLOW_SUM_H

#include "observer.h"

// tb_flow_add adds the figures of `more` to `sum`, whatever the ends of either. A sum
// begins with all figures 0.
void tb_flow_add(struct tb_flow_sample *sum, const struct tb_flow_sample *more);

// tb_flow_slowdown returns how many times as long the messages took in the network as
// they would on an idle one; 0 when that is unknown.
double tb_flow_slowdown(const struct tb_flow_sample *flow);

#endif
