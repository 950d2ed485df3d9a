// Appends a plan to the operations of a job that is being built: a collective call in the
// middle of a rank's work.
#ifndef TB_PLAN_APPEND_H
#define TB_PLAN_APPEND_H

#include "plan.h"

struct tb_plan_place {
	const uint32_t *ranks; // of the job, by the plan's ranks
	// By the plan's ranks: the operation, by its index within the rank, at whose end
	// the rank enters the call; replaced by the one at whose end it leaves it, a calc
	// of its own where several must have ended. UINT32_MAX: at the beginning of the
	// job. A rank that neither sends nor receives keeps its own.
	uint32_t *at;
	uint32_t tag; // of round 0, port 0; the plan uses tb_plan_append_tags from it
	uint64_t combine_bytes_per_s; // as in struct tb_plan_job
	// Transfers of more bytes go by rendezvous between hosts: the sender asks, the
	// receiver answers once it has come to the transfer's round, then the data go.
	// UINT64_MAX or 0: none.
	uint64_t eager_bytes;
	const uint32_t *hosts; // by the plan's ranks: the number of its host; NULL: each
			       // its own
	const uint8_t *cpus;   // by the plan's ranks: the processor of its calcs; NULL: 0
};

// tb_plan_append_tags returns how many tags the plan uses there.
uint64_t tb_plan_append_tags(
	const struct tb_plan *plan, const struct tb_plan_place *place);

// tb_plan_append adds the operations. Order within a rank as in tb_plan_to_job, but that
// its receives, too, wait for it to enter the call. Errors as tb_job_add; the builder is
// then good only for freeing.
int tb_plan_append(struct tb_job_builder *builder, const struct tb_plan *plan,
	const struct tb_plan_place *place, struct tb_error *error) TB_MUST_USE;

#endif
