// Who waits for whom, grouped as finely as a store can tell: flows where it keeps enough
// of them; where those are too many, all traffic to a node, to the nodes of a leaf
// switch, from those of one, or of a job.
#ifndef TB_GROUPED_H
#define TB_GROUPED_H

#include "heavy_waits.h"
#include "job_waits.h"

enum tb_grain {
	TB_GRAIN_FLOWS, // at a link
	TB_GRAIN_DESTINATIONS,
	TB_GRAIN_DESTINATION_LEAVES,
	TB_GRAIN_SOURCE_LEAVES,
	TB_GRAIN_JOBS, // sums: no errors
	TB_GRAINS
};

// tb_grain_name returns "flows", "destinations", "destination leaves", ...
const char *tb_grain_name(enum tb_grain grain);

struct tb_grouped {
	enum tb_grain grain;
	struct tb_heavy_waits flows;  // when they are the grain, else empty
	struct tb_group_sample *rows; // else: of jobs, switches or nodes
	struct tb_listed listed;      // in either case
};

// tb_grouped_init takes the finest grain whose rows hold at least half of the run's wait,
// and lists the first `top` of them (0: all). So the grain does not depend on `top`. Cost
// and errors as of tb_heavy_waits_init. tb_grouped_fini frees it; a zeroed struct is fine
// to free.
int tb_grouped_init(struct tb_grouped *grouped, struct tb_run *run, uint32_t top,
	struct tb_error *error) TB_MUST_USE;
void tb_grouped_fini(struct tb_grouped *grouped);

// tb_grouped_party writes whom the id of a group means: "node 5", "leaf 0.3", "melt".
// Returns `buffer`.
char *tb_grouped_party(const struct tb_run *run, enum tb_grain grain, uint32_t id,
	char *buffer, size_t size);

#endif
