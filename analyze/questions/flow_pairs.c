#include "flow_pairs.h"

#include "flow_row.h"

int tb_flow_pairs_read(struct tb_run *run, const struct tb_flow_taker *taker, uint64_t *n,
	struct tb_error *error)
{
	struct tb_run_row row;
	uint64_t found = 0;
	int status = tb_run_query(run,
		"SELECT " TB_FLOW_COLUMNS "FROM unpacked_flow WHERE run = ?1 "
		"ORDER BY job, source, destination",
		&row, error);
	if (status)
		return status;
	while ((status = tb_run_next(run, "flow_pack", &row, error)) > 0) {
		const struct tb_flow_sample flow = tb_flow_row_get(run, &row, 0);
		if (row.bad)
			continue; // the next step reports it
		taker->take(taker->context, flow.source, flow.destination, flow.bytes);
		found++;
	}
	sqlite3_finalize(row.query);
	if (status == TB_OK)
		*n = found;
	return status;
}
