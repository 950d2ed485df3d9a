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
		"INSERT OR REPLACE INTO link_count (run, link, counter, count) VALUES "
		"(?,?,?,?)",
		error);
	for (size_t i = 0; !row.status && i < n; i++) {
		uint64_t count = counts[i].count;
		tb_row_put(&row, tb_store_run(store));
		tb_row_put(&row, counts[i].link.id);
		tb_row_put_text(&row, counts[i].counter);
		tb_row_put(&row, count < INT64_MAX ? (int64_t)count : INT64_MAX);
		tb_row_end(&row);
	}
	return tb_row_done(&row);
}
