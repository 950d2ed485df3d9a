// Who sends where in an experiment: its jobs and I/O nodes. Private to replay/.
#ifndef TB_EXPERIMENT_PLAN_H
#define TB_EXPERIMENT_PLAN_H

#include "experiment.h"
#include "traffic.h"

#define TB_PLAN_JOBS	 2
#define TB_PLAN_MEASURED 0 // the job that is measured; the other is I/O beside it

struct tb_experiment_plan {
	struct tb_traffic_job jobs[TB_PLAN_JOBS];
	uint32_t n_jobs;
	uint32_t n_active;
	uint32_t *senders[TB_PLAN_JOBS], *targets[TB_PLAN_JOBS]; // n_active entries each
	bool *io;						 // the same
};

// tb_experiment_plan_init plans an experiment that passed tb_experiment_check, on a
// network of `params`: its loads are shares of what a node of that can send.
int tb_experiment_plan_init(struct tb_experiment_plan *plan,
	const struct tb_experiment *experiment, const struct tb_network_params *params,
	struct tb_error *error) TB_MUST_USE;
void tb_experiment_plan_fini(struct tb_experiment_plan *plan);

#endif
