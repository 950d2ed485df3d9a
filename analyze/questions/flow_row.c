#include "flow_row.h"

struct tb_flow_sample tb_flow_row_read(const struct tb_run *run, struct tb_run_row *row)
{
	uint32_t n_nodes = run->record.info.n_nodes;
	struct tb_flow_sample flow;
	flow.job = tb_run_get32(row, 0, UINT32_MAX);
	flow.source.id = tb_run_get_id(row, 1, n_nodes);
	flow.destination.id = tb_run_get_id(row, 2, n_nodes);
	flow.n_messages = tb_run_get(row, 3, INT64_MAX);
	flow.n_packets = tb_run_get(row, 4, INT64_MAX);
	flow.bytes = tb_run_get(row, 5, INT64_MAX);
	flow.latency_ps = tb_run_get(row, 6, INT64_MAX);
	flow.queue_ps = tb_run_get(row, 7, flow.latency_ps);
	flow.network_ps = tb_run_get(row, 8, flow.latency_ps - flow.queue_ps);
	flow.worst_latency_ps = tb_run_get(row, 9, INT64_MAX);
	flow.ideal_ps = tb_run_get(row, 10, INT64_MAX);
	flow.wait_ps = tb_run_get(row, 11, INT64_MAX);
	flow.first_ps = (tb_time_ps)tb_run_get(row, 12, INT64_MAX);
	flow.last_ps = (tb_time_ps)tb_run_get(row, 13, INT64_MAX);
	flow.last_post_ps = 0; // kept by sender alone
	return flow;
}
