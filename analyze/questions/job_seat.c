#include "job_seat.h"

#include "run_impl.h"

int tb_job_seat_find(struct tb_job_seat *seat, struct tb_run *run, uint32_t job,
	struct tb_error *error)
{
	struct tb_run_row row;
	*seat = (struct tb_job_seat){0};
	int status = tb_run_query(run,
		"WITH at (node, leaf) AS (SELECT from_node, to_switch FROM link WHERE "
		"run = ?1 AND kind = 'injection') SELECT (SELECT count(DISTINCT leaf) "
		"FROM "
		"job_node JOIN at USING (node) WHERE run = ?1 AND job = ?2), "
		"coalesce(sum(bytes), 0), coalesce(sum(bytes) FILTER (WHERE source = "
		"destination), 0) FROM unpacked_flow WHERE run = ?1 AND job = ?2",
		&row, error);
	if (status)
		return status;
	sqlite3_bind_int64(row.query, 2, job);
	status = tb_run_next(run, "flow_pack", &row, error);
	if (status > 0) {
		seat->n_leaves = tb_run_get32(&row, 0, UINT32_MAX);
		seat->bytes = tb_run_get(&row, 1, INT64_MAX);
		seat->local_bytes = tb_run_get(&row, 2, seat->bytes);
		status = row.bad ? tb_run_damaged(run->path, "flow_pack", error) : TB_OK;
	}
	sqlite3_finalize(row.query);
	return status;
}
