#include "store_counts.h"

#include "store_impl.h"
#include "store_row.h"

int tb_store_write_counts(struct tb_store *store, const struct tb_link_count *counts,
	size_t n, struct tb_error *error)
{
	int status = tb_store_begin(store, error);
	if (status)
		return status;
	struct tb_row row = tb_row_into(tb_store_db(store), tb_store_path(store),
		"INSERT OR REPLACE INTO link_count (run, link, counter, count, at_least) "
		"VALUES (?,?,?,?,?)",
		error);
	for (size_t i = 0; !row.status && i < n; i++) {
		uint64_t count = counts[i].count;
		tb_row_put(&row, tb_store_run(store));
		tb_row_put(&row, counts[i].link.id);
		tb_row_put_text(&row, counts[i].counter);
		tb_row_put(&row, count < INT64_MAX ? (int64_t)count : INT64_MAX);
		tb_row_put(&row, counts[i].at_least);
		tb_row_end(&row);
	}
	return tb_row_done(&row);
}

static void count_put_known(struct tb_row *row, enum tb_known known)
{
	if (tb_known_word(known))
		tb_row_put_text(row, tb_known_word(known));
	else
		tb_row_put_null(row);
}

int tb_store_write_known(struct tb_store *store, const struct tb_link_known *known,
	const struct tb_link_sample *samples, const uint32_t *tick_bytes,
	uint32_t n_links, struct tb_error *error)
{
	int status = tb_store_begin(store, error);
	if (status)
		return status;
	struct tb_row row = tb_row_into(tb_store_db(store), tb_store_path(store),
		"INSERT INTO link_known (run, link, wait, bytes, packets, tick_bytes, "
		"is_idle) "
		"VALUES (?,?,?,?,?,?,?)",
		error);
	for (uint32_t i = 0; !row.status && i < n_links; i++) {
		tb_row_put(&row, tb_store_run(store));
		tb_row_put(&row, i);
		count_put_known(&row, known[i].wait);
		count_put_known(&row, known[i].bytes);
		count_put_known(&row, known[i].packets);
		tb_row_put(&row, tick_bytes[i]);
		tb_row_put(&row, tb_link_sample_empty(&samples[i]));
		tb_row_end(&row);
	}
	return tb_row_done(&row);
}
