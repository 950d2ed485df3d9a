// A map file: the node of each rank of a job.
//
// The file has a line 'RANK NODE' for every rank, separated by blanks; `#` begins a
// comment. Several ranks may share a node. In a fabric that was read from a file NODE may
// be a network interface by its name (names.h), or a host that has but one.
//
// Lines of Open MPI's rank files are taken, too: "rank 3=node07 slot=0". Elsewhere than
// in such a fabric the number that the host's name ends with is its node.
#ifndef TB_RANK_MAP_H
#define TB_RANK_MAP_H

#include "network.h"
#include "status.h"

// tb_rank_map stores the node of each of `n_ranks` ranks in a malloc'ed array. TB_EUSAGE
// for malformed lines and ranks that are missing or listed twice; TB_ECAPACITY for nodes
// that the network does not have (the sentence gives their number); TB_EIO.
int tb_rank_map(uint32_t **node_of_rank, uint32_t n_ranks,
	const struct tb_network *network, const char *map_file,
	struct tb_error *error) TB_MUST_USE;

#endif
