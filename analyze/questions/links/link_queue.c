#include "link_queue.h"

#include "run_impl.h"

int tb_link_queue_find(struct tb_link_queue *queue, struct tb_run *run,
	struct tb_link link, struct tb_error *error)
{
	struct tb_run_row row;
	struct tb_link_queue found = {0};
	tb_time_ps bin_ps = run->record.info.bin_ps, from_ps = 0, to_ps = -1;
	// Bin by bin, or the bins would be read with all of their packs.
	int status = tb_run_query(run,
		"SELECT l.pack, l.links, b.bin FROM bin_total AS b "
		"CROSS JOIN link_pack AS l ON l.run = b.run AND l.bin = b.bin AND "
		"l.pack = ?2 WHERE b.run = ?1 ORDER BY b.bin",
		&row, error);
	if (status)
		return status;
	sqlite3_bind_int64(row.query, 2, link.id / TB_PACK_LINKS);
	while ((status = tb_run_next(run, "link_pack", &row, error)) > 0) {
		struct tb_link_sample one;
		tb_time_ps at_ps =
			(tb_time_ps)tb_run_get(&row, 2, run->record.info.n_bins) * bin_ps;
		if (!tb_run_find_in_pack(&row, link, &one))
			continue;
		if (one.largest_queue_bytes > found.largest_bytes) {
			found.largest_bytes = one.largest_queue_bytes;
			found.largest_at_ps = at_ps;
		}
		if (one.wait_for_ps == 0)
			continue;
		from_ps = at_ps == to_ps ? from_ps : at_ps;
		to_ps = at_ps + bin_ps;
		if (to_ps - from_ps > found.to_ps - found.from_ps) {
			found.from_ps = from_ps;
			found.to_ps = to_ps;
		}
	}
	sqlite3_finalize(row.query);
	if (!status)
		*queue = found;
	return status;
}
