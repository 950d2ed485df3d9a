#include "flow_row.h"

#include "flow_sum.h"

#define RECORD			struct tb_flow_sample
#define ROW(field, column, ...) , TB_COLUMN(column, field)
const struct tb_stored_table tb_flow_rows = TB_STORED_TABLE("flow_pack", RECORD,
	TB_COLUMN("job", job), TB_COLUMN("source", source),
	TB_COLUMN("destination", destination) TB_FLOW_FIGURES(ROW));
#undef ROW
#undef RECORD

bool tb_flow_read(struct tb_row_reader *rows, struct tb_flow_sample *flow)
{
	*flow = (struct tb_flow_sample){0};
	bool found = tb_row_read(rows, flow);
	if (found && (flow->queue_ps > flow->latency_ps ||
			     flow->network_ps > flow->latency_ps - flow->queue_ps))
		tb_row_damaged(rows);
	return found && rows->status == TB_OK;
}
