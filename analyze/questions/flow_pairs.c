#include "flow_pairs.h"

#include "flow_row.h"

int tb_flow_pairs_read(struct tb_run *run, const struct tb_flow_taker *taker, uint64_t *n,
	struct tb_error *error)
{
	struct tb_flow_sample flow;
	uint64_t found = 0;
	struct tb_row_reader rows = tb_run_read(run, &tb_flow_rows,
		"unpacked_flow WHERE run = ?1 ORDER BY job, source, destination", error);
	for (; tb_flow_read(&rows, &flow); found++)
		taker->take(taker->context, flow.source, flow.destination, flow.bytes);
	int status = tb_row_reader_end(&rows);
	if (status == TB_OK)
		*n = found;
	return status;
}
