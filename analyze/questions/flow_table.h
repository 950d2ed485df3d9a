// All flows of a run in memory, by source and destination, for pictures of the traffic
// between nodes.
//
// Memory is bounded: beyond TB_FLOW_TABLE_MOST flows neighbouring nodes form groups, and
// a row holds what one group of nodes sent to another. Flows are written at the end of a
// run and cover all of it; a run that did not end has none.
#ifndef TB_FLOW_TABLE_H
#define TB_FLOW_TABLE_H

#include "flow_sum.h"
#include "run.h"

#define TB_FLOW_TABLE_MOST 1000000

struct tb_flow_table {
	// By source, destination, job. With groups, `source` and `destination` are the
	// first nodes of their groups, and the job is TB_ID_NONE where flows of several
	// jobs are summed.
	struct tb_flow_sample *rows;
	uint32_t n;
	uint32_t group; // nodes in a group, at least 1
	uint64_t n_flows;
};

// tb_flow_table_init reads the flows. Cost: linear in the run's flows, plus sorting. A
// zeroed struct is an empty table.
int tb_flow_table_init(struct tb_flow_table *table, struct tb_run *run,
	struct tb_error *error) TB_MUST_USE;
void tb_flow_table_fini(struct tb_flow_table *table);

// tb_flow_table_from returns the index of the first row whose source is at least
// `source`, `n` if there is none.
uint32_t tb_flow_table_from(const struct tb_flow_table *table, uint32_t source);

// tb_flow_table_find returns the index of a flow's row, `n` when it has none. Cost:
// linear in the flows of its source.
uint32_t tb_flow_table_find(const struct tb_flow_table *table, uint32_t job,
	struct tb_node source, struct tb_node destination);

// A row's place in a list of those with the most bytes.
struct tb_flow_bytes {
	uint64_t bytes;
	uint32_t row;
};

// tb_flow_bytes_order compares two of them: most bytes first, of equals the earlier row.
int tb_flow_bytes_order(const void *one, const void *other);

#endif
