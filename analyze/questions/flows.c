#include "flows.h"

#include "array.h"
#include "flow_row.h"
#include "flow_sum.h"

#include <stdlib.h>

static struct tb_flow get_flow(const struct tb_run *run, struct tb_run_row *row)
{
	const struct tb_flow_sample sample = tb_flow_row_get(run, row, 0);
	struct tb_flow flow = {.sample = sample};
	if (sample.n_messages)
		flow.mean_latency_ps =
			(double)sample.latency_ps / (double)sample.n_messages;
	flow.slowdown = tb_flow_slowdown(&sample);
	return flow;
}

// Flows of which the store keeps the order, and those of other runs.
#define KEPT_ORDER                                                                       \
	"SELECT " TB_FLOW_COLUMNS "FROM flow_top CROSS JOIN unpacked_flow "              \
	"USING (run, job, source, destination) WHERE run = ?1 AND rank <= ?2 "           \
	"ORDER BY rank"
#define FOUND_ORDER                                                                      \
	"SELECT " TB_FLOW_COLUMNS "FROM unpacked_flow WHERE run = ?1 ORDER BY "          \
	"1.0 * network_ps / nullif(ideal_ps, 0) DESC, job, source, destination LIMIT ?2"

struct flow_list {
	struct tb_flow *flows;
	uint32_t n;
	size_t room;
};

static int read_top_flows(struct tb_run *run, const char *sql, uint32_t top,
	struct flow_list *found, struct tb_error *error)
{
	struct tb_run_row row;
	int status = tb_run_query(run, sql, &row, error);
	if (status)
		return status;
	sqlite3_bind_int64(row.query, 2, top ? top : UINT32_MAX);
	while ((status = tb_run_next(run, "flow_pack", &row, error)) > 0) {
		if (TB_ARRAY_RESERVE(&found->flows, &found->room, (size_t)found->n + 1) !=
			TB_OK) {
			status = tb_fail_memory_in(error, run->path, "flows");
			break;
		}
		found->flows[found->n++] = get_flow(run, &row);
	}
	sqlite3_finalize(row.query);
	return status;
}

static int read_count(
	struct tb_run *run, const char *sql, uint64_t *n, struct tb_error *error)
{
	struct tb_run_row row;
	int status = tb_run_query(run, sql, &row, error);
	if (status)
		return status;
	status = tb_run_next(run, "flow_pack", &row, error);
	if (status > 0) {
		*n = tb_run_get(&row, 0, UINT32_MAX);
		status = row.bad ? tb_run_damaged(run->path, "flow_top", error) : TB_OK;
	}
	sqlite3_finalize(row.query);
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
