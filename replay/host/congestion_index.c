#include "congestion_index.h"

uint32_t tb_congestion_index_at(struct tb_congestion_index *index,
	const struct tb_credit_params *params, tb_time_ps now)
{
	if (index->above > 0) {
		tb_time_ps n = (now - index->since) / params->ccti_timer_ps;
		index->since += n * params->ccti_timer_ps;
		index->above =
			n < (tb_time_ps)index->above ? index->above - (uint32_t)n : 0;
	}
	return params->ccti_min + index->above;
}

void tb_congestion_index_raise(struct tb_congestion_index *index,
	const struct tb_credit_params *params, tb_time_ps now)
{
	uint32_t most = params->ccti_limit - params->ccti_min;
	(void)tb_congestion_index_at(index, params, now);
	if (index->above == 0)
		index->since = now;
	index->above += params->ccti_increase;
	if (index->above > most)
		index->above = most;
}

tb_time_ps tb_congestion_delay(
	const struct tb_credit_params *params, uint32_t index, tb_time_ps packet_ps)
{
	uint64_t square_q32 = (uint64_t)(params->cct_square * 4294967296.0 + 0.5);
	uint64_t multiplier = (uint64_t)index * index * square_q32 >> 32;
	if (multiplier > TB_CCT_MULTIPLIER_MOST)
		multiplier = TB_CCT_MULTIPLIER_MOST;
	return (packet_ps >> params->cct_shift) * (tb_time_ps)multiplier;
}
