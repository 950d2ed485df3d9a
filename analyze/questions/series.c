#include "series.h"

#include "run_impl.h"

#include <string.h>

// A column while bins are being read.
struct series_column {
	uint32_t at;
	uint64_t sum, largest, n_looks;
};

static void finish_series_column(const struct series_column *column,
	enum tb_metric metric, uint64_t *columns, uint32_t n)
{
	if (column->at < n && column->n_looks)
		columns[column->at] = tb_link_figures[metric].adds == TB_ADDS_MOST
					      ? column->largest
					      : column->sum / column->n_looks;
}

// read_series_bin reads the metric of a link in one bin; 0 when the bin has no row.
static int read_series_bin(struct tb_run *run, struct tb_run_row *row,
	struct tb_link link, uint64_t bin, enum tb_metric metric, uint64_t *value)
{
	*value = 0;
	sqlite3_bind_int64(row->query, 2, (int64_t)bin);
	int code = sqlite3_step(row->query);
	struct tb_link_sample sample;
	if (code == SQLITE_ROW && tb_run_find_in_pack(row, link, &sample)) {
		tb_link_sample_derive(
			&sample, run->record.info.wait, run->record.info.bin_ps);
		*value = tb_metric_of(&sample, metric);
	}
	sqlite3_reset(row->query);
	return code == SQLITE_ROW || code == SQLITE_DONE ? TB_OK : TB_EIO;
}

int tb_run_series(struct tb_run *run, struct tb_link link, enum tb_metric metric,
	uint64_t *columns, uint32_t n, struct tb_error *error)
{
	struct tb_run_row row;
	struct series_column column = {.at = 0};
	uint64_t n_bins = run->record.info.n_bins;
	uint64_t step = (n_bins + TB_SERIES_LOOKS - 1) / TB_SERIES_LOOKS;
	int status = tb_run_query(run,
		"SELECT pack, links FROM link_pack WHERE run = ?1 AND bin = ?2 AND pack "
		"= ?3",
		&row, error);
	if (status)
		return status;
	memset(columns, 0, n * sizeof *columns);
	sqlite3_bind_int64(row.query, 3, link.id / TB_PACK_LINKS);
	for (uint64_t bin = 0; !status && bin < n_bins; bin += step) {
		uint64_t value;
		uint32_t at = (uint32_t)((double)bin / (double)n_bins * n);
		if (at != column.at) {
			finish_series_column(&column, metric, columns, n);
			column = (struct series_column){.at = at};
		}
		status = read_series_bin(run, &row, link, bin, metric, &value);
		column.sum += value;
		column.largest = value > column.largest ? value : column.largest;
		column.n_looks++;
	}
	finish_series_column(&column, metric, columns, n);
	if (status)
		status = tb_sql_fail(error, run->db, run->path);
	else if (row.bad)
		status = tb_run_damaged(run->path, "link_pack", error);
	sqlite3_finalize(row.query);
	return status;
}
