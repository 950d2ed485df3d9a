#include "during.h"

#include "run_impl.h"

#include <stdio.h>
#include <string.h>

int tb_bin_totals(struct tb_run *run, struct tb_bin_total *totals, struct tb_error *error)
{
	struct tb_run_row row;
	uint64_t n_bins = run->record.info.n_bins;
	memset(totals, 0, n_bins * sizeof *totals);
	char sql[96];
	snprintf(sql, sizeof sql,
		"SELECT bin, %s, stall_ps, busy_ps FROM bin_total WHERE run = ?1",
		tb_link_figures[run->record.info.wait].column);
	int status = tb_run_query(run, sql, &row, error);
	if (status)
		return status;
	while ((status = tb_run_next(run, "bin_total", &row, error)) > 0) {
		uint64_t bin = tb_run_get(&row, 0, INT64_MAX);
		if (bin < n_bins)
			totals[bin] = (struct tb_bin_total){
				.wait_ps = tb_run_get(&row, 1, INT64_MAX),
				.stall_ps = tb_run_get(&row, 2, INT64_MAX),
				.busy_ps = tb_run_get(&row, 3, INT64_MAX)};
	}
	sqlite3_finalize(row.query);
	return status;
}

int tb_senders_to(struct tb_run *run, struct tb_node node, tb_time_ps from_ps,
	tb_time_ps to_ps, struct tb_senders *senders, struct tb_error *error)
{
	struct tb_run_row row;
	// Packs are passed over that cannot hold a flow to the node (packed_tables.h).
	int status = tb_run_query(run,
		"SELECT count(DISTINCT source), coalesce(min(first_ps), 0), "
		"coalesce(max(last_ps), 0), coalesce(min(source), 0), "
		"coalesce(min(job), 0), coalesce(max(job), 0) FROM unpacked_flow "
		"WHERE run = ?1 AND destination = ?2 AND messages > 0 AND source <> ?2 "
		"AND first_ps < ?4 AND last_ps > ?3",
		&row, error);
	if (status)
		return status;
	sqlite3_bind_int64(row.query, 2, node.id);
	sqlite3_bind_int64(row.query, 3, from_ps);
	sqlite3_bind_int64(row.query, 4, to_ps);
	status = tb_run_next(run, "flow_pack", &row, error);
	if (status > 0) {
		struct tb_senders found = {.n = tb_run_get32(&row, 0, UINT32_MAX),
			.first_ps = (tb_time_ps)tb_run_get(&row, 1, INT64_MAX),
			.last_ps = (tb_time_ps)tb_run_get(&row, 2, INT64_MAX),
			.first.id = tb_run_get32(&row, 3, UINT32_MAX),
			.job = tb_run_get32(&row, 4, UINT32_MAX)};
		if (found.job != tb_run_get32(&row, 5, UINT32_MAX))
			found.job = TB_ID_NONE;
		status = row.bad ? tb_run_damaged(run->path, "flow_pack", error) : TB_OK;
		if (!status)
			*senders = found;
	}
	sqlite3_finalize(row.query);
	return status;
}
