#include "shared_leaves.h"

#include "run_impl.h"

int tb_shared_leaves(struct tb_run *run, uint32_t one_job, uint32_t other_job,
	uint32_t *n, struct tb_error *error)
{
	struct tb_run_row row;
	int status = tb_run_query(run,
		"WITH at (node, leaf) AS (SELECT from_node, to_switch FROM link WHERE "
		"run = ?1 AND kind = 'injection'), leaf (job, leaf) AS (SELECT DISTINCT "
		"job, leaf FROM job_node JOIN at USING (node) WHERE run = ?1 AND job IN "
		"(?2, ?3)) SELECT count(*) FROM leaf AS a JOIN leaf AS b ON a.job = ?2 "
		"AND b.job = ?3 AND a.leaf = b.leaf",
		&row, error);
	if (status)
		return status;
	sqlite3_bind_int64(row.query, 2, one_job);
	sqlite3_bind_int64(row.query, 3, other_job);
	status = tb_run_next(run, "job_node", &row, error);
	if (status > 0) {
		*n = tb_run_get32(&row, 0, UINT32_MAX);
		status = row.bad ? tb_run_damaged(run->path, "job_node", error) : TB_OK;
	}
	sqlite3_finalize(row.query);
	return status;
}
