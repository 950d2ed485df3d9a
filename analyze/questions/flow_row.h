// Reads rows of the table flow. Private to this room.
#ifndef TB_FLOW_ROW_H
#define TB_FLOW_ROW_H

#include "run_impl.h"

#define TB_FLOW_COLUMNS                                                                  \
	"job, source, destination, messages, packets, bytes, latency_ps, "               \
	"queue_ps, network_ps, worst_latency_ps, ideal_ps, wait_ps, blamed_ps, "         \
	"first_ps, last_ps "

// tb_flow_row_get reads TB_FLOW_COLUMNS, which begin at column `first`.
struct tb_flow_sample tb_flow_row_get(
	const struct tb_run *run, struct tb_run_row *row, int first);

#endif
