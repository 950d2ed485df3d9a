// The heaviest: which flow waited for which, and where or when; and which group of flows
// waited for which. A row surely waited for wait_ps, and at most for wait_ps + error_ps;
// what a store left out is in `listed`.
#ifndef TB_HEAVY_WAITS_H
#define TB_HEAVY_WAITS_H

#include "waits.h"

struct tb_heavy_waits {
	struct tb_blame_sample *rows; // of a span of time: `link` TB_ID_NONE, no n_waits
	struct tb_listed listed;
};

// tb_heavy_waits_init lists the first `top` (0: all) of link, victim and culprit, over
// the whole run. Cost: linear in what the store keeps, some ten thousand rows. TB_EFORMAT
// when the file is damaged, TB_ENOMEM. tb_heavy_waits_fini frees them; a zeroed struct is
// fine to free.
int tb_heavy_waits_init(struct tb_heavy_waits *waits, struct tb_run *run, uint32_t top,
	struct tb_error *error) TB_MUST_USE;
void tb_heavy_waits_fini(struct tb_heavy_waits *waits);

// tb_heavy_waits_at lists those at one link; listed.whole_ps is the link's wait.
int tb_heavy_waits_at(struct tb_heavy_waits *waits, struct tb_run *run,
	struct tb_link link, uint32_t top, struct tb_error *error) TB_MUST_USE;

// tb_heavy_waits_into lists victim and culprit by their wait at all links into a switch;
// listed.whole_ps is the wait of these links. The error of a row contains what may be
// left out of it at some of them.
int tb_heavy_waits_into(struct tb_heavy_waits *waits, struct tb_run *run,
	struct tb_switch sw, uint32_t top, struct tb_error *error) TB_MUST_USE;

// tb_heavy_waits_during lists victim and culprit by their wait within the span, at all
// links. The error of a row contains what was left out of it in slices of the span.
int tb_heavy_waits_during(struct tb_heavy_waits *waits, struct tb_run *run,
	struct tb_span span, uint32_t top, struct tb_error *error) TB_MUST_USE;

// Groups of flows: all to a node, to the nodes of a leaf switch, from those of one.
struct tb_groups {
	enum tb_grouping grouping;
	struct tb_group_sample *rows;
	struct tb_listed listed;
};

// tb_groups_init lists the first `top` (0: all) pairs of groups, over the whole run. Cost
// and errors as of tb_heavy_waits_init.
int tb_groups_init(struct tb_groups *groups, struct tb_run *run,
	enum tb_grouping grouping, uint32_t top, struct tb_error *error) TB_MUST_USE;
void tb_groups_fini(struct tb_groups *groups);

#endif
