// What nodes sent each other in a run, pair by pair: for sums of which no list is kept.
#ifndef TB_FLOW_PAIRS_H
#define TB_FLOW_PAIRS_H

#include "run.h"

// Who takes the bytes of one job from one node to another.
struct tb_flow_taker {
	void (*take)(void *context, struct tb_node source, struct tb_node destination,
		uint64_t bytes);
	void *context;
};

// tb_flow_pairs_read hands over all flows of a run by job, source and destination, and
// stores how many there are: none of a run that did not end. Cost: linear in them.
// TB_EFORMAT, TB_EIO.
int tb_flow_pairs_read(struct tb_run *run, const struct tb_flow_taker *taker, uint64_t *n,
	struct tb_error *error) TB_MUST_USE;

#endif
