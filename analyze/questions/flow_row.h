// A row of the store's table of flows. Private to questions/.
#ifndef TB_FLOW_ROW_H
#define TB_FLOW_ROW_H

#include "run_impl.h"

// What tb_flow_row_read reads, of the table flow as f.
#define TB_FLOW_COLUMNS                                                                  \
	"f.job, f.source, f.destination, messages, packets, bytes, latency_ps, "         \
	"queue_ps, network_ps, worst_latency_ps, ideal_ps, wait_ps, first_ps, last_ps "

// tb_flow_row_read reads a flow; values out of range make the row bad.
struct tb_flow_sample tb_flow_row_read(const struct tb_run *run, struct tb_run_row *row);

#endif
