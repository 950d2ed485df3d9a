// The flows that waited for the root of a congestion tree.
//
// A store keeps who waited at a link, and how long headers waited there for each root,
// but not which flow waited for which root. A flow that waited at a link for longer than
// all headers did there for other roots has waited for this one, for at least the rest.
#ifndef TB_ROOT_VICTIMS_H
#define TB_ROOT_VICTIMS_H

#include "heavy_waits.h"
#include "trees.h"

struct tb_root_victim {
	uint32_t row;	   // of the heaviest waits
	uint64_t least_ps; // that it waited for the root
	bool exact;	   // it waited no longer
};

// A zeroed struct is an empty list of no root.
struct tb_root_victims {
	struct tb_root_victim *list; // longest first
	uint32_t n;
	uint32_t n_doubtful; // rows that waited at its links, for it or for another root
	struct tb_link root;
	bool listed;
};

// tb_root_victims_read lists those of a root unless they are listed already; wait_ps is
// the wait at each link in the whole run. TB_ENOMEM. Linear in the rows of the trees.
int tb_root_victims_read(struct tb_root_victims *victims, const struct tb_trees *trees,
	const struct tb_heavy_waits *waits, const uint64_t *wait_ps,
	struct tb_link root) TB_MUST_USE;
void tb_root_victims_fini(struct tb_root_victims *victims);

#endif
