#include "flow_sum.h"

#include <math.h>

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

// The columns of the store's tables by name, for formulas.
#define FLOW_LOCALS(type)                                                                \
	const type messages = (type)flow->n_messages, packets = (type)flow->n_packets,   \
		   bytes = (type)flow->bytes, latency_ps = (type)flow->latency_ps,       \
		   queue_ps = (type)flow->queue_ps, network_ps = (type)flow->network_ps, \
		   worst_latency_ps = (type)flow->worst_latency_ps,                      \
		   ideal_ps = (type)flow->ideal_ps, wait_ps = (type)flow->wait_ps,       \
		   blamed_ps = (type)flow->blamed_ps;

double tb_flow_figure_of(const struct tb_flow_sample *flow, enum tb_flow_figure figure)
{
	FLOW_LOCALS(double)
	double value = NAN;
	switch (figure) {
#define ROW(ID, formula, ...)                                                            \
	case TB_FLOW_##ID:                                                               \
		value = (formula);                                                       \
		break;
		TB_FLOW_COLUMNS(ROW)
#undef ROW
	case TB_N_FLOW_FIGURES:
		break;
	}
	return isfinite(value) ? value : (double)NAN;
}

int64_t tb_flow_figure_whole(
	const struct tb_flow_sample *flow, enum tb_flow_figure figure)
{
	FLOW_LOCALS(int64_t)
#define CASE(ID, formula)                                                                \
	case TB_FLOW_##ID:                                                               \
		return (formula);
#define ROW(ID, formula, kind, ...) TB_IF_WHOLE_##kind(CASE(ID, formula))
	switch ((int)figure) {
		TB_FLOW_COLUMNS(ROW)
	default:
		return 0;
	}
#undef ROW
#undef CASE
}

double tb_flow_slowdown(const struct tb_flow_sample *flow)
{
	return flow->ideal_ps ? (double)flow->network_ps / (double)flow->ideal_ps : 0;
}
