// A run that is still being written: what was added since it was read.
#include "run_impl.h"

#include <inttypes.h>

static bool same_shape(const struct tb_run_info *a, const struct tb_run_info *b)
{
	return a->n_nodes == b->n_nodes && a->n_switches == b->n_switches &&
	       a->n_links == b->n_links && a->n_levels == b->n_levels &&
	       a->n_jobs == b->n_jobs;
}

// take_bins makes room for the current number of bins. If the width changed, it drops the
// cached bins and the window summed from them.
static int take_bins(
	struct tb_run *run, const struct tb_run_info *before, struct tb_error *error)
{
	const struct tb_run_info *now = &run->record.info;
	struct tb_bin_cache *cache = &run->cache;
	bool anew = now->bin_ps != before->bin_ps || now->n_bins < before->n_bins;
	int status = TB_OK;
	if (anew) {
		size_t budget_bytes = cache->budget_bytes;
		tb_bin_cache_fini(cache);
		run->sums.window = (struct tb_window){0, 0};
		status = tb_bin_cache_init(cache, now->n_bins, budget_bytes);
	} else {
		status = tb_bin_cache_grow(cache, now->n_bins);
	}
	if (status != TB_OK)
		return tb_fail_in(error, status, run->path, "no memory for the run");
	return anew || now->complete
		       ? tb_run_sum_totals(run, error)
		       : tb_run_add_totals(run, before->n_bins, now->n_bins, error);
}

static int take(struct tb_run *run, struct tb_error *error)
{
	struct tb_run_record fresh, before = run->record;
	int64_t id = before.info.id;
	int status = tb_run_record_load(run->db, run->path, id, &fresh, error);
	if (status)
		return status;
	if (!same_shape(&fresh.info, &before.info)) {
		tb_run_record_fini(&fresh);
		return tb_fail_in(error, TB_EIO, run->path,
			"another run %" PRId64 " was written in its place: open it again",
			id);
	}
	run->record = fresh;
	status = take_bins(run, &before.info, error);
	tb_run_record_fini(&before);
	return status;
}

int tb_run_refresh(struct tb_run *run, struct tb_error *error)
{
	int64_t version = 0;
	int status = tb_sql_exec(run->db, run->path, "BEGIN", error);
	if (status)
		return status;
	status = tb_run_version(run, &version, error);
	bool changed = !status && version != run->seen_version;
	if (changed)
		status = take(run, error);
	if (changed && !status)
		run->seen_version = version;
	sqlite3_exec(run->db, "COMMIT", NULL, NULL, NULL);
	return status ? status : changed;
}
