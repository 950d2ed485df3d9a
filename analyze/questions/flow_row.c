#include "flow_row.h"

struct tb_flow_sample tb_flow_row_get(
	const struct tb_run *run, struct tb_run_row *row, int first)
{
	uint32_t n_nodes = run->record.info.n_nodes;
	uint64_t latency_ps = tb_run_get(row, first + 6, INT64_MAX);
	uint64_t queue_ps = tb_run_get(row, first + 7, latency_ps);
	// Its last_post_ps is kept by sender alone.
	return (struct tb_flow_sample){
		.job = tb_run_get32(row, first, UINT32_MAX),
		.source = {tb_run_get_id(row, first + 1, n_nodes)},
		.destination = {tb_run_get_id(row, first + 2, n_nodes)},
		.n_messages = tb_run_get(row, first + 3, INT64_MAX),
		.n_packets = tb_run_get(row, first + 4, INT64_MAX),
		.bytes = tb_run_get(row, first + 5, INT64_MAX),
		.latency_ps = latency_ps,
		.queue_ps = queue_ps,
		.network_ps = tb_run_get(row, first + 8, latency_ps - queue_ps),
		.worst_latency_ps = tb_run_get(row, first + 9, INT64_MAX),
		.ideal_ps = tb_run_get(row, first + 10, INT64_MAX),
		.wait_ps = tb_run_get(row, first + 11, INT64_MAX),
		.blamed_ps = tb_run_get(row, first + 12, INT64_MAX),
		.first_ps = (tb_time_ps)tb_run_get(row, first + 13, INT64_MAX),
		.last_ps = (tb_time_ps)tb_run_get(row, first + 14, INT64_MAX),
	};
}
