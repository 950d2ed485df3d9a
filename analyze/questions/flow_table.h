// All flows of a run at hand, by source and destination: what a picture of who sends to
// whom is made of.
//
// Memory is bounded: beyond TB_FLOW_TABLE_MOST flows neighbouring nodes are taken
// together, and a row is what one group of nodes sent to another. Flows are told at the
// end of a run and cover the whole of it; a run that did not end has none.
#ifndef TB_FLOW_TABLE_H
#define TB_FLOW_TABLE_H

#include "run.h"

#define TB_FLOW_TABLE_MOST 1000000

struct tb_flow_table {
	// By source, destination, job. In groups, `source` and `destination` are the
	// first nodes of theirs and the job is TB_ID_NONE where several are added up.
	struct tb_flow_sample *rows;
	uint32_t n;
	uint32_t group; // nodes that are one: 1 or more
	uint64_t n_flows;
};

// tb_flow_table_init reads them. Cost: linear in the run's flows, and sorting. A zeroed
// struct is an empty table.
int tb_flow_table_init(struct tb_flow_table *table, struct tb_run *run,
	struct tb_error *error) TB_MUST_USE;
void tb_flow_table_fini(struct tb_flow_table *table);

// tb_flow_table_from is the first row whose source is `source` or above.
uint32_t tb_flow_table_from(const struct tb_flow_table *table, uint32_t source);

// tb_flow_add adds the figures of one row to another's, whatever its ends.
void tb_flow_add(struct tb_flow_sample *sum, const struct tb_flow_sample *more);

#endif
