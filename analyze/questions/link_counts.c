#include "link_counts.h"

#include "run_impl.h"

#include <string.h>

static struct tb_link_count_sum *count_sum_of(
	struct tb_link_counts *counts, const char *key)
{
	for (int i = 0; key && i < TB_N_COUNTERS; i++)
		if (strcmp(tb_counter_infos[i].key, key) == 0)
			return &counts->sums[i];
	return NULL;
}

int tb_link_counts_sum(
	struct tb_link_counts *counts, struct tb_run *run, struct tb_error *error)
{
	struct tb_run_row row;
	*counts = (struct tb_link_counts){0};
	int status = tb_run_query(run,
		"SELECT counter, link, count, at_least FROM link_count WHERE run = ?1 "
		"ORDER BY link, counter",
		&row, error);
	if (status)
		return status;
	while ((status = tb_run_next(run, "link_count", &row, error)) > 0) {
		const char *key = (const char *)sqlite3_column_text(row.query, 0);
		uint32_t link = tb_run_get_id(&row, 1, run->record.info.n_links);
		uint64_t count = tb_run_get(&row, 2, INT64_MAX);
		struct tb_link_count_sum *sum = count_sum_of(counts, key);
		if (row.bad || !sum || count == 0)
			continue;
		sum->n_links++;
		sum->at_least |= tb_run_get(&row, 3, 1) != 0;
		sum->count =
			sum->count > UINT64_MAX - count ? UINT64_MAX : sum->count + count;
		if (count > sum->worst_count) {
			sum->worst_count = count;
			sum->worst = (struct tb_link){link};
		}
	}
	sqlite3_finalize(row.query);
	return status;
}
