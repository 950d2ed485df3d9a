// A run that is still being written: what was added since it was read.
#include "run_impl.h"

#include <inttypes.h>

// refresh_bins makes room for the number of bins in `now`. If the width changed, it drops
// the cached bins and the window summed from them.
static int refresh_bins(
	struct tb_run *run, const struct tb_run_info *now, struct tb_error *error)
{
	const struct tb_run_info *before = &run->record.info;
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
		return tb_fail_memory_in(error, run->path, "the run");
	return anew || now->complete
		       ? tb_run_sum_totals(run, now->n_bins, error)
		       : tb_run_add_totals(run, before->n_bins, now->n_bins, error);
}

// read_record reads the run's record anew, to be taken over, and the new bins.
static int read_record(struct tb_run *run, struct tb_error *error)
{
	struct tb_run_record fresh;
	int64_t id = run->record.info.id;
	int status = tb_run_record_load(run->db, run->path, id, &fresh, error);
	if (status)
		return status;
	const struct tb_run_info *a = &fresh.info, *b = &run->record.info;
	if (a->n_nodes == b->n_nodes && a->n_switches == b->n_switches &&
		a->n_links == b->n_links && a->n_levels == b->n_levels &&
		a->n_jobs == b->n_jobs)
		status = refresh_bins(run, &fresh.info, error);
	else
		status = tb_fail_in(error, TB_EIO, run->path,
			"another run %" PRId64 " was written in its place: open it again",
			id);
	if (status)
		tb_run_record_fini(&fresh);
	else
		run->fresh = fresh;
	return status;
}

int tb_run_refresh_read(struct tb_run *run, struct tb_error *error)
{
	int64_t version = 0;
	tb_run_refresh_take(run);
	int status = tb_sql_exec(run->db, run->path, "BEGIN", error);
	if (status)
		return status;
	status = tb_run_version(run, &version, error);
	bool changed = !status && version != run->seen_version;
	if (changed)
		status = read_record(run, error);
	if (changed && !status)
		run->seen_version = run->bins_version = version;
	sqlite3_exec(run->db, "COMMIT", NULL, NULL, NULL);
	return status ? status : changed;
}

void tb_run_refresh_take(struct tb_run *run)
{
	if (run->fresh.info.id == 0)
		return;
	tb_run_record_fini(&run->record);
	run->record = run->fresh;
	if (run->chooses_wait)
		run->record.info.wait = run->chosen_wait;
	run->fresh = (struct tb_run_record){.notes = NULL};
}

int tb_run_refresh(struct tb_run *run, struct tb_error *error)
{
	int status = tb_run_refresh_read(run, error);
	tb_run_refresh_take(run);
	return status;
}
