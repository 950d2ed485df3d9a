#include "flow_sum.h"

void tb_flow_add(struct tb_flow_sample *sum, const struct tb_flow_sample *more)
{
	// A flow without messages, such as that of a handshake, has nothing but waits.
	if (more->n_messages && (sum->n_messages == 0 || more->first_ps < sum->first_ps))
		sum->first_ps = more->first_ps;
	if (more->last_post_ps > sum->last_post_ps)
		sum->last_post_ps = more->last_post_ps;
#define ADD_SUM(field) sum->field += more->field;
#define ADD_MOST(field)                                                                  \
	if (more->field > sum->field)                                                    \
		sum->field = more->field;
#define ADD_LEAST(field)	 // above
#define ROW(field, column, adds) ADD_##adds(field)
	TB_FLOW_FIGURES(ROW)
#undef ROW
}

double tb_flow_slowdown(const struct tb_flow_sample *flow)
{
	return flow->ideal_ps ? (double)flow->network_ps / (double)flow->ideal_ps : 0;
}
