// Which job a node belongs to.
#include "run_impl.h"

#include <stdlib.h>

int tb_run_jobs_load(struct tb_run *run, struct tb_error *error)
{
	const struct tb_run_info *info = &run->record.info;
	struct tb_run_row row;
	run->node_jobs = malloc((info->n_nodes + 1u) * sizeof *run->node_jobs);
	if (!run->node_jobs)
		return tb_fail_memory_in(error, run->path, "the run");
	for (uint32_t i = 0; i < info->n_nodes; i++)
		run->node_jobs[i] = info->n_jobs == 1 ? 0 : TB_ID_NONE;
	if (info->n_jobs < 2)
		return TB_OK;
	int status = tb_run_query(run,
		"SELECT node, min(job), max(job) FROM job_node WHERE run = ?1 GROUP BY "
		"node",
		&row, error);
	if (status)
		return status;
	while ((status = tb_run_next(run, "job_node", &row, error)) > 0) {
		uint32_t node = tb_run_get_id(&row, 0, info->n_nodes);
		uint32_t first = tb_run_get_id(&row, 1, info->n_jobs);
		uint32_t last = tb_run_get_id(&row, 2, info->n_jobs);
		if (!row.bad && first == last)
			run->node_jobs[node] = first;
	}
	sqlite3_finalize(row.query);
	return status;
}

uint32_t tb_run_node_job(const struct tb_run *run, struct tb_node node)
{
	return node.id < run->record.info.n_nodes ? run->node_jobs[node.id] : TB_ID_NONE;
}
