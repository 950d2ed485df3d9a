#include "flows.h"

#include "array.h"
#include "run_impl.h"

#include <stdlib.h>

static struct tb_flow get_flow(const struct tb_run *run, struct tb_run_row *row)
{
	uint32_t n_nodes = run->record.info.n_nodes;
	struct tb_flow_sample sample;
	sample.job = tb_run_get32(row, 0, UINT32_MAX);
	sample.source.id = tb_run_get_id(row, 1, n_nodes);
	sample.destination.id = tb_run_get_id(row, 2, n_nodes);
	sample.n_messages = tb_run_get(row, 3, INT64_MAX);
	sample.n_packets = tb_run_get(row, 4, INT64_MAX);
	sample.bytes = tb_run_get(row, 5, INT64_MAX);
	sample.latency_ps = tb_run_get(row, 6, INT64_MAX);
	sample.worst_latency_ps = tb_run_get(row, 7, INT64_MAX);
	sample.ideal_ps = tb_run_get(row, 8, INT64_MAX);
	sample.wait_ps = tb_run_get(row, 9, INT64_MAX);
	sample.first_ps = (tb_time_ps)tb_run_get(row, 10, INT64_MAX);
	sample.last_ps = (tb_time_ps)tb_run_get(row, 11, INT64_MAX);
	struct tb_flow flow = {.sample = sample};
	if (sample.n_messages)
		flow.mean_latency_ps =
			(double)sample.latency_ps / (double)sample.n_messages;
	if (sample.ideal_ps)
		flow.slowdown = (double)sample.latency_ps / (double)sample.ideal_ps;
	return flow;
}

int tb_flows_slowest(struct tb_run *run, uint32_t top, struct tb_flow **flows,
	uint32_t *n, struct tb_error *error)
{
	struct tb_run_row row;
	struct tb_flow *found = NULL;
	uint32_t n_found = 0;
	size_t room = 0;
	int status = tb_run_query(run,
		"SELECT job, source, destination, messages, packets, bytes, latency_ps, "
		"worst_latency_ps, ideal_ps, wait_ps, first_ps, last_ps FROM flow WHERE "
		"run = ?1 ORDER BY "
		"1.0 * latency_ps / nullif(ideal_ps, 0) DESC, job, source, destination "
		"LIMIT ?2",
		&row, error);
	if (status)
		return status;
	sqlite3_bind_int64(row.query, 2, top ? top : UINT32_MAX);
	while ((status = tb_run_next(run, "flow", &row, error)) > 0) {
		if (TB_ARRAY_RESERVE(&found, &room, (size_t)n_found + 1) != TB_OK) {
			status = tb_fail_in(
				error, TB_ENOMEM, run->path, "no memory for flows");
			break;
		}
		found[n_found++] = get_flow(run, &row);
	}
	sqlite3_finalize(row.query);
	if (status) {
		free(found);
		return status;
	}
	*flows = found;
	*n = n_found;
	return TB_OK;
}

int tb_flows_count(struct tb_run *run, uint64_t *n, struct tb_error *error)
{
	struct tb_run_row row;
	int status = tb_run_query(
		run, "SELECT count(*) FROM flow WHERE run = ?1", &row, error);
	if (status)
		return status;
	status = tb_run_next(run, "flow", &row, error);
	if (status > 0) {
		*n = (uint64_t)sqlite3_column_int64(row.query, 0);
		status = TB_OK;
	}
	sqlite3_finalize(row.query);
	return status;
}
