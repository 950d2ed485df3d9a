// Where a job sits: on how many leaf switches, and how much of what it sent never left a
// node.
#ifndef TB_JOB_SEAT_H
#define TB_JOB_SEAT_H

#include "run.h"

struct tb_job_seat {
	uint32_t n_leaves;	     // switches that its nodes are joined to
	uint64_t bytes, local_bytes; // delivered, and of these within a node
};

// tb_job_seat_find fills `seat`. Cost: the injection links, and the flows of the run.
// TB_EFORMAT when the file is damaged.
int tb_job_seat_find(struct tb_job_seat *seat, struct tb_run *run, uint32_t job,
	struct tb_error *error) TB_MUST_USE;

#endif
