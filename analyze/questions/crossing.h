// The flows whose way leads over a link or through a switch.
//
// Where ways are known (tb_paths_are_known), the answer is exact. Elsewhere a flow is
// listed when at least one of its shortest paths leads there: it may cross.
#ifndef TB_CROSSING_H
#define TB_CROSSING_H

#include "flow_table.h"
#include "paths.h"

// The share of one job.
struct tb_crossing_job {
	uint32_t job, n_flows;
	uint64_t bytes; // payload of these flows, over their whole life
};

struct tb_crossing {
	uint32_t *flows; // rows of the flow table, most bytes first
	uint32_t n;
	struct tb_crossing_job *jobs; // most bytes first
	uint32_t n_jobs;
	bool exact; // false: they may cross
};

// What they cross, and which flows count.
struct tb_crossing_query {
	bool of_switch; // else of a link
	uint32_t id;
	tb_time_ps from_ps, to_ps; // under way within; 0 and INT64_MAX: all
	uint32_t job;		   // TB_ID_NONE: of all jobs
};

// tb_crossing_init finds the flows of a run's table; none where the table holds groups.
// tb_crossing_fini frees them; a zeroed struct is fine to free. Cost: linear in flows and
// in the links below; on other networks than k-ary n-trees a look for paths per flow.
// TB_ENOMEM.
int tb_crossing_init(struct tb_crossing *crossing, struct tb_paths *paths,
	const struct tb_flow_table *table, const struct tb_crossing_query *query,
	struct tb_error *error) TB_MUST_USE;
void tb_crossing_fini(struct tb_crossing *crossing);

#endif
