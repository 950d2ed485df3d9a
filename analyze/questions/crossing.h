// The flows whose way leads over a link or through a switch.
//
// A store does not record ways. On a whole k-ary n-tree without faults whose headers
// ascend by the destination's or the source's digits (docs/model.md, "Who goes first"),
// the way of a flow follows from its ends, and the answer is exact. Elsewhere a flow is
// listed when at least one of its shortest paths leads there: it may cross.
#ifndef TB_CROSSING_H
#define TB_CROSSING_H

#include "flow_table.h"
#include "paths.h"

// The share of one job.
struct tb_crossing_job {
	uint32_t job, n_flows;
	uint64_t bytes; // payload of all of the run
};

struct tb_crossing {
	uint32_t *flows; // rows of the flow table, most bytes first
	uint32_t n;
	struct tb_crossing_job *jobs; // most bytes first
	uint32_t n_jobs;
	bool exact; // false: they may cross
};

// tb_crossing_of_link and tb_crossing_of_switch find the flows of a run's table; none
// where the table holds groups. tb_crossing_fini frees them; a zeroed struct is fine to
// free. Cost: linear in flows and in the links below; on other networks than k-ary
// n-trees a look for paths per flow. TB_ENOMEM.
int tb_crossing_of_link(struct tb_crossing *crossing, struct tb_paths *paths,
	const struct tb_flow_table *table, struct tb_link link,
	struct tb_error *error) TB_MUST_USE;
int tb_crossing_of_switch(struct tb_crossing *crossing, struct tb_paths *paths,
	const struct tb_flow_table *table, struct tb_switch sw,
	struct tb_error *error) TB_MUST_USE;
void tb_crossing_fini(struct tb_crossing *crossing);

#endif
