// The nodes on which the ranks of a run's jobs sat.
#ifndef TB_RANK_SEATS_H
#define TB_RANK_SEATS_H

#include "run.h"

struct tb_rank_seat {
	uint32_t job, rank;
	struct tb_node node;
};

struct tb_rank_seats {		    // zeroed: none
	struct tb_rank_seat *seats; // by job and rank
	size_t n, room;
};

// tb_rank_seats_init reads them. Cost: linear in ranks. TB_EFORMAT when the file is
// damaged, TB_ENOMEM.
int tb_rank_seats_init(struct tb_rank_seats *seats, struct tb_run *run,
	struct tb_error *error) TB_MUST_USE;
void tb_rank_seats_fini(struct tb_rank_seats *seats);

// tb_rank_seats_node returns the node of a rank, TB_ID_NONE when it is not known.
struct tb_node tb_rank_seats_node(
	const struct tb_rank_seats *seats, uint32_t job, uint32_t rank);

#endif
