// Whether two jobs share switches of level 0 (leaves), over which one can make the other
// wait however the rest of the network is routed.
#ifndef TB_SHARED_LEAVES_H
#define TB_SHARED_LEAVES_H

#include "run.h"

// tb_shared_leaves stores at how many leaves both jobs have nodes. Cost: a look-up per
// rank of the two. TB_EFORMAT when the file is damaged.
int tb_shared_leaves(struct tb_run *run, uint32_t one_job, uint32_t other_job,
	uint32_t *n, struct tb_error *error) TB_MUST_USE;

#endif
