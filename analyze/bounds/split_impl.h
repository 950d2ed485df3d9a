// What the files of split share. Private to analyze/bounds/.
#ifndef TB_SPLIT_IMPL_H
#define TB_SPLIT_IMPL_H

#include "split.h"

#define TB_SPLIT_WORK	    UINT64_C(60000000)
#define TB_SPLIT_FLOWS_MOST UINT64_C(4000000)

// Traffic between leaf switches: bytes on the wire, without acknowledgements.
struct tb_leaf_traffic {
	uint32_t *leaf_of_node;	  // by node: number of its switch; TB_ID_NONE: none
	uint32_t *switch_of_leaf; // n_leaves
	uint32_t n_leaves;
	double *bytes; // n_leaves x n_leaves, by destination, then source
	uint64_t n_flows;
};

int tb_leaf_traffic_init(struct tb_leaf_traffic *traffic, struct tb_run *run,
	struct tb_error *error) TB_MUST_USE;
void tb_leaf_traffic_fini(struct tb_leaf_traffic *traffic);

#endif
