#include "experiment_plan.h"

#include <stdlib.h>

#define IO_BYTES                                                                         \
	(UINT64_C(1024) * 1024) // of a message of the I/O job beside a compute job
#define QUEUE 128		// messages that a node keeps

static struct tb_traffic_job *add_job(struct tb_experiment_plan *plan, uint64_t bytes)
{
	uint32_t n = plan->n_jobs++;
	struct tb_traffic_job *job = &plan->jobs[n];
	*job = (struct tb_traffic_job){.senders = plan->senders[n],
		.targets = plan->targets[n],
		.message_bytes = bytes,
		.depth = QUEUE};
	return job;
}

static void add_sender(struct tb_experiment_plan *plan, uint32_t job, uint32_t node)
{
	plan->senders[job][plan->jobs[job].n_senders++] = node;
}

static void add_target(struct tb_experiment_plan *plan, uint32_t job, uint32_t node)
{
	plan->targets[job][plan->jobs[job].n_targets++] = node;
}

static int plan_pattern(struct tb_experiment_plan *plan,
	const struct tb_experiment *experiment, struct tb_error *error)
{
	struct tb_traffic_job *job = add_job(plan, experiment->message_bytes);
	struct tb_synth_options options = {.n_nodes = experiment->n_active};
	int status = tb_synth_pattern_find(&options.pattern, experiment->pattern, error);
	if (status != TB_OK)
		return status;
	bool uniform = options.pattern == tb_synth_patterns;
	job->rule = uniform ? TB_TRAFFIC_RANDOM : TB_TRAFFIC_FIXED;
	for (uint32_t node = 0; node < experiment->n_active; node++) {
		add_sender(plan, 0, node);
		add_target(plan, 0,
			uniform ? node
				: options.pattern->destination(&options, node, NULL));
	}
	return TB_OK;
}

// io_node places I/O nodes at the higher nodes or with a stride (paper 000, 4.6).
static uint32_t io_node(const struct tb_experiment *experiment, uint32_t i)
{
	uint32_t stride = experiment->n_active / experiment->n_io;
	return experiment->place == TB_IO_CLUSTERED
		       ? experiment->n_active - experiment->n_io + i
		       : i * stride + stride - 1;
}

static void place_io(
	struct tb_experiment_plan *plan, const struct tb_experiment *experiment)
{
	for (uint32_t i = 0; i < experiment->n_io; i++)
		plan->io[io_node(experiment, i)] = true;
}

// With one I/O node for each sender, senders take turns; none takes itself.
static void plan_io(
	struct tb_experiment_plan *plan, const struct tb_experiment *experiment)
{
	struct tb_traffic_job *job = add_job(plan, experiment->message_bytes);
	job->rule = experiment->deterministic ? TB_TRAFFIC_FIXED : TB_TRAFFIC_RANDOM;
	place_io(plan, experiment);
	uint32_t turn = 0;
	for (uint32_t node = 0; node < experiment->n_active; node++) {
		if (plan->io[node] && experiment->dedicated)
			continue;
		add_sender(plan, 0, node);
		if (!experiment->deterministic)
			continue;
		uint32_t target = io_node(experiment, turn++ % experiment->n_io);
		if (target == node)
			target = io_node(experiment, turn++ % experiment->n_io);
		add_target(plan, 0, target);
	}
	for (uint32_t i = 0; i < experiment->n_io && !experiment->deterministic; i++)
		add_target(plan, 0, io_node(experiment, i));
}

// plan_fill gives a job `n` nodes from `first` on, without I/O nodes where they are
// dedicated.
static void plan_fill(struct tb_experiment_plan *plan, uint32_t job, uint32_t first,
	uint32_t n, bool dedicated)
{
	for (uint32_t node = first; n > 0; node++) {
		if (dedicated && plan->io[node])
			continue;
		add_sender(plan, job, node);
		n--;
	}
}

// Two jobs, each on half of the nodes available to them (paper 000, 4.7, figure 8).
static void plan_mix(
	struct tb_experiment_plan *plan, const struct tb_experiment *experiment)
{
	struct tb_traffic_job *compute = add_job(plan, experiment->message_bytes);
	place_io(plan, experiment);
	uint32_t half =
		(experiment->n_active - (experiment->dedicated ? experiment->n_io : 0)) /
		2;
	uint32_t second = half;
	if (experiment->dedicated && experiment->place == TB_IO_DISTRIBUTED)
		second = experiment->n_active / 2;
	plan_fill(plan, 0, experiment->compute_last ? second : 0, half,
		experiment->dedicated);
	for (uint32_t i = 0; i < half; i++)
		add_target(plan, 0, plan->senders[0][i]);
	compute->rule = TB_TRAFFIC_RANDOM;
	if (experiment->io_load <= 0)
		return;
	struct tb_traffic_job *io = add_job(plan, IO_BYTES);
	io->rule = TB_TRAFFIC_RANDOM;
	io->load = experiment->io_load;
	io->time_dist = TB_SYNTH_EXPONENTIAL;
	plan_fill(plan, 1, experiment->compute_last ? 0 : second, half,
		experiment->dedicated);
	for (uint32_t i = 0; i < experiment->n_io; i++)
		add_target(plan, 1, io_node(experiment, i));
}

static int make_plan(struct tb_experiment_plan *plan,
	const struct tb_experiment *experiment, struct tb_error *error)
{
	switch (experiment->kind) {
	case TB_EXPERIMENT_PING:
	case TB_EXPERIMENT_BOTH_WAYS:
	case TB_EXPERIMENT_LATENCY: {
		struct tb_traffic_job *job = add_job(plan, experiment->message_bytes);
		uint32_t last = experiment->n_active - 1;
		job->rule = TB_TRAFFIC_FIXED;
		add_sender(plan, 0, 0);
		add_target(plan, 0, last);
		if (experiment->kind == TB_EXPERIMENT_BOTH_WAYS) {
			add_sender(plan, 0, last);
			add_target(plan, 0, 0);
		}
		if (experiment->kind == TB_EXPERIMENT_LATENCY)
			job->n_messages = job->depth = 1;
		return TB_OK;
	}
	case TB_EXPERIMENT_PATTERN:
		return plan_pattern(plan, experiment, error);
	case TB_EXPERIMENT_HOT: {
		struct tb_traffic_job *job = add_job(plan, experiment->message_bytes);
		job->rule = TB_TRAFFIC_FIXED;
		for (uint32_t node = 1; node < experiment->n_active; node++) {
			add_sender(plan, 0, node);
			add_target(plan, 0, 0);
		}
		plan->io[0] = true;
		return TB_OK;
	}
	case TB_EXPERIMENT_IO:
		plan_io(plan, experiment);
		return TB_OK;
	case TB_EXPERIMENT_MIX:
		plan_mix(plan, experiment);
		return TB_OK;
	case TB_EXPERIMENT_TIMED: // has no plan
		break;
	}
	return TB_EUSAGE;
}

int tb_experiment_plan_init(struct tb_experiment_plan *plan,
	const struct tb_experiment *experiment, const struct tb_network_params *params,
	struct tb_error *error)
{
	size_t n = experiment->n_active;
	*plan = (struct tb_experiment_plan){.n_active = experiment->n_active};
	plan->io = calloc(n, sizeof *plan->io);
	bool room = plan->io != NULL;
	for (int j = 0; j < TB_PLAN_JOBS; j++) {
		plan->senders[j] = calloc(n, sizeof *plan->senders[j]);
		plan->targets[j] = calloc(n, sizeof *plan->targets[j]);
		room = room && plan->senders[j] && plan->targets[j];
	}
	int status = room ? make_plan(plan, experiment, error)
			  : tb_fail_memory(error, "an experiment");
	if (status == TB_OK) {
		uint64_t rate_bytes_per_s = tb_network_payload_rate(params);
		struct tb_traffic_job *job = &plan->jobs[TB_PLAN_MEASURED];
		job->load = experiment->load;
		job->time_dist = experiment->times;
		for (uint32_t i = 0; i < plan->n_jobs; i++) {
			// Without a load the rate spreads the first messages alone: as
			// published.
			if (plan->jobs[i].load > 0)
				plan->jobs[i].rate_bytes_per_s = rate_bytes_per_s;
			plan->jobs[i].reads = experiment->kind == TB_EXPERIMENT_MIX &&
							      i == TB_PLAN_MEASURED
						      ? 0
						      : experiment->reads;
		}
	} else
		tb_experiment_plan_fini(plan);
	return status;
}

void tb_experiment_plan_fini(struct tb_experiment_plan *plan)
{
	for (int j = 0; j < TB_PLAN_JOBS; j++) {
		free(plan->senders[j]);
		free(plan->targets[j]);
	}
	free(plan->io);
	*plan = (struct tb_experiment_plan){0};
}
