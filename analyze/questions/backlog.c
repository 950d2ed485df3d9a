#include "backlog.h"

#include "run_impl.h"

// carrying_ps returns what the links of a node take for so many bytes of payload.
static double carrying_ps(const struct tb_network_params *network, uint64_t bytes)
{
	double payload = (double)network->packet_payload_bytes;
	double wire = payload + (double)network->packet_overhead_bytes;
	double rate = (double)network->link_bytes_per_s * payload / wire;
	return (double)bytes / (rate * network->n_rails) * (double)TB_PS_PER_S;
}

int tb_backlog_find(
	struct tb_backlog *backlog, struct tb_run *run, struct tb_error *error)
{
	struct tb_run_row row;
	struct tb_backlog worst = {0};
	uint32_t n = 0;
	int status = tb_run_query(run,
		"SELECT node, messages, bytes, latency_ps, queue_ps, first_ps, "
		"last_post_ps FROM sender_total WHERE run = ?1 ORDER BY node",
		&row, error);
	if (status)
		return status;
	while ((status = tb_run_next(run, "sender_total", &row, error)) > 0) {
		struct tb_backlog sender;
		sender.n_nodes = 1;
		sender.node.id = tb_run_get_id(&row, 0, run->record.info.n_nodes);
		sender.n_messages = tb_run_get(&row, 1, INT64_MAX);
		sender.bytes = tb_run_get(&row, 2, INT64_MAX);
		sender.latency_ps = tb_run_get(&row, 3, INT64_MAX);
		sender.queue_ps = tb_run_get(&row, 4, sender.latency_ps);
		tb_time_ps last = (tb_time_ps)tb_run_get(&row, 6, INT64_MAX);
		sender.posting_ps =
			last - (tb_time_ps)tb_run_get(&row, 5, (uint64_t)last);
		sender.carrying_ps = carrying_ps(&run->record.info.network, sender.bytes);
		if (!(sender.queue_ps > 0 &&
			    100 * (double)sender.queue_ps >=
				    TB_BACKLOG_PERCENT * (double)sender.latency_ps))
			continue;
		n++;
		if (sender.queue_ps > worst.queue_ps)
			worst = sender;
	}
	sqlite3_finalize(row.query);
	if (status)
		return status;
	worst.n_nodes = n;
	*backlog = worst;
	return TB_OK;
}
