#include "flows.h"

#include "array.h"
#include "flow_row.h"
#include "flow_sum.h"

#include <stdlib.h>

// Flows of which the store keeps the order, and those of other runs.
#define KEPT_ORDER                                                                       \
	"flow_top CROSS JOIN unpacked_flow USING (run, job, source, destination) "       \
	"WHERE run = ?1 AND rank <= ?2 ORDER BY rank"
#define FOUND_ORDER                                                                      \
	"unpacked_flow WHERE run = ?1 ORDER BY 1.0 * network_ps / nullif(ideal_ps, 0) "  \
	"DESC, job, source, destination LIMIT ?2"

struct flow_list {
	struct tb_flow *flows;
	uint32_t n;
	size_t room;
};

static int read_top_flows(struct tb_run *run, const char *from, uint32_t top,
	struct flow_list *found, struct tb_error *error)
{
	struct tb_flow_sample sample;
	struct tb_row_reader rows = tb_run_read(run, &tb_flow_rows, from, error);
	tb_row_bind(&rows, 2, top ? top : UINT32_MAX);
	while (tb_flow_read(&rows, &sample)) {
		if (TB_ARRAY_RESERVE(&found->flows, &found->room, (size_t)found->n + 1) !=
			TB_OK) {
			tb_row_no_memory(&rows, "flows");
			break;
		}
		struct tb_flow *flow = &found->flows[found->n++];
		*flow = (struct tb_flow){
			.sample = sample, .slowdown = tb_flow_slowdown(&sample)};
		if (sample.n_messages)
			flow->mean_latency_ps =
				(double)sample.latency_ps / (double)sample.n_messages;
	}
	return tb_row_reader_end(&rows);
}

static int read_count(
	struct tb_run *run, const char *sql, uint64_t *n, struct tb_error *error)
{
	int64_t number = 0;
	int status = tb_sql_number(
		run->db, run->path, sql, run->record.info.id, &number, error);
	if (!status && (number < 0 || number > UINT32_MAX))
		status = tb_sql_damaged(run->path, "flow_top", error);
	*n = (uint64_t)number;
	return status;
}

int tb_flows_slowest(struct tb_run *run, uint32_t top, struct tb_flow **flows,
	uint32_t *n, struct tb_error *error)
{
	struct flow_list found = {0};
	uint64_t n_kept = 0;
	// Of how many flows the store keeps the order; 0: it does not.
	int status = read_count(run,
		"SELECT coalesce(max(rank), 0) FROM flow_top WHERE run = ?1", &n_kept,
		error);
	if (!status)
		status = read_top_flows(run,
			top > 0 && top <= n_kept ? KEPT_ORDER : FOUND_ORDER, top, &found,
			error);
	if (status) {
		free(found.flows);
		return status;
	}
	*flows = found.flows;
	*n = found.n;
	return TB_OK;
}

int tb_flows_count(struct tb_run *run, uint64_t *n, struct tb_error *error)
{
	uint64_t kept = 0;
	int status = read_count(
		run, "SELECT n FROM flow_top WHERE run = ?1 AND rank = 1", &kept, error);
	if (status || kept > 0) {
		*n = kept;
		return status;
	}
	return read_count(
		run, "SELECT count(*) FROM unpacked_flow WHERE run = ?1", n, error);
}
