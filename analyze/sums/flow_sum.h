// The sum of several flows' figures.
#ifndef TB_FLOW_SUM_H
#define TB_FLOW_SUM_H

#include "observer.h"

// tb_flow_add adds the figures of `more` to `sum`, whatever the ends of either. A sum
// begins with all figures 0.
void tb_flow_add(struct tb_flow_sample *sum, const struct tb_flow_sample *more);

#endif
