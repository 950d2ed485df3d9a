// Running an experiment: who sends where, and what is counted in the window.
#include "experiment.h"

#include "engine.h"
#include "traffic.h"

#include <stdlib.h>

#define N_IO	     8 // I/O nodes of 64 (paper 000, figure 7)
#define IO_BYTES     (UINT64_C(1024) * 1024)
#define INSTANTS     4096 // between two looks at the clock
#define QUEUE	     2	  // messages that a node keeps
#define NODES_MOST   64
#define MEASURED_JOB 0

// The jobs of an experiment and the nodes that they name.
struct plan {
	struct tb_traffic_job jobs[2];
	uint32_t n_jobs;
	uint32_t senders[2][NODES_MOST];
	uint32_t targets[2][NODES_MOST];
	bool io[NODES_MOST];
};

// What the observer adds up: link samples of the window's bins.
struct watch {
	struct tb_link_sample *sums; // by link
	uint32_t n_links;
	uint64_t first_bin, end_bin;
};

static int on_start(void *context, tb_time_ps bin_ps)
{
	(void)bin_ps;
	struct watch *watch = context;
	for (uint32_t i = 0; i < watch->n_links; i++)
		watch->sums[i] = (struct tb_link_sample){0};
	return TB_OK;
}

static int on_bin(
	void *context, uint64_t bin, const struct tb_link_sample *samples, size_t n)
{
	struct watch *watch = context;
	if (bin < watch->first_bin || bin >= watch->end_bin)
		return TB_OK;
	for (size_t i = 0; i < n; i++) {
		struct tb_link_sample *sum = &watch->sums[samples[i].link.id];
		sum->bytes += samples[i].bytes;
		sum->n_packets += samples[i].n_packets;
		sum->wait_ps += samples[i].wait_ps;
	}
	return TB_OK;
}

static int on_flows(void *context, const struct tb_flow_sample *samples, size_t n)
{
	(void)context, (void)samples, (void)n;
	return TB_OK;
}

static int on_blame(void *context, const struct tb_blame_sample *samples, size_t n)
{
	(void)context, (void)samples, (void)n;
	return TB_OK;
}

static struct tb_traffic_job *add_job(struct plan *plan, uint64_t bytes)
{
	uint32_t n = plan->n_jobs++;
	struct tb_traffic_job *job = &plan->jobs[n];
	*job = (struct tb_traffic_job){.senders = plan->senders[n],
		.targets = plan->targets[n],
		.message_bytes = bytes,
		.depth = QUEUE};
	return job;
}

static void add_sender(struct plan *plan, uint32_t job, uint32_t node)
{
	plan->senders[job][plan->jobs[job].n_senders++] = node;
}

static void add_target(struct plan *plan, uint32_t job, uint32_t node)
{
	plan->targets[job][plan->jobs[job].n_targets++] = node;
}

static void plan_ping(struct plan *plan, const struct tb_experiment *experiment)
{
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
}

static int plan_pattern(
	struct plan *plan, const struct tb_experiment *experiment, struct tb_error *error)
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

static void plan_hot(struct plan *plan, const struct tb_experiment *experiment)
{
	struct tb_traffic_job *job = add_job(plan, experiment->message_bytes);
	job->rule = TB_TRAFFIC_FIXED;
	job->reads = experiment->reads;
	for (uint32_t node = 1; node < experiment->n_active; node++) {
		add_sender(plan, 0, node);
		add_target(plan, 0, 0);
	}
	plan->io[0] = true;
}

// io_node places I/O nodes at the higher nodes or with a stride (paper 000, 4.6).
static uint32_t io_node(const struct tb_experiment *experiment, uint32_t i)
{
	uint32_t stride = experiment->n_active / N_IO;
	return experiment->place == TB_IO_CLUSTERED ? experiment->n_active - N_IO + i
						    : i * stride + stride - 1;
}

static void place_io(struct plan *plan, const struct tb_experiment *experiment)
{
	for (uint32_t i = 0; i < N_IO; i++)
		plan->io[io_node(experiment, i)] = true;
}

// With one I/O node for each sender, senders take turns; none takes itself.
static void plan_io(struct plan *plan, const struct tb_experiment *experiment)
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
		uint32_t target = io_node(experiment, turn++ % N_IO);
		if (target == node)
			target = io_node(experiment, turn++ % N_IO);
		add_target(plan, 0, target);
	}
	for (uint32_t i = 0; i < N_IO && !experiment->deterministic; i++)
		add_target(plan, 0, io_node(experiment, i));
}

// fill gives a job `n` nodes from `first` on, without I/O nodes where they are dedicated.
static void fill(
	struct plan *plan, uint32_t job, uint32_t first, uint32_t n, bool dedicated)
{
	for (uint32_t node = first; n > 0; node++) {
		if (dedicated && plan->io[node])
			continue;
		add_sender(plan, job, node);
		n--;
	}
}

// Two jobs, each on half of the nodes that there are for them (paper 000, 4.7, figure 8).
static void plan_mix(struct plan *plan, const struct tb_experiment *experiment)
{
	struct tb_traffic_job *compute = add_job(plan, experiment->message_bytes);
	place_io(plan, experiment);
	uint32_t half = (experiment->n_active - (experiment->dedicated ? N_IO : 0)) / 2;
	uint32_t second = half;
	if (experiment->dedicated && experiment->place == TB_IO_DISTRIBUTED)
		second = experiment->n_active / 2;
	fill(plan, 0, experiment->compute_last ? second : 0, half, experiment->dedicated);
	for (uint32_t i = 0; i < half; i++)
		add_target(plan, 0, plan->senders[0][i]);
	compute->rule = TB_TRAFFIC_RANDOM;
	if (experiment->io_load <= 0)
		return;
	struct tb_traffic_job *io = add_job(plan, IO_BYTES);
	io->rule = TB_TRAFFIC_RANDOM;
	io->load = experiment->io_load;
	io->time_dist = TB_SYNTH_EXPONENTIAL;
	fill(plan, 1, experiment->compute_last ? 0 : second, half, experiment->dedicated);
	for (uint32_t i = 0; i < N_IO; i++)
		add_target(plan, 1, io_node(experiment, i));
}

static int make_plan(
	struct plan *plan, const struct tb_experiment *experiment, struct tb_error *error)
{
	*plan = (struct plan){0};
	switch (experiment->kind) {
	case TB_EXPERIMENT_PING:
	case TB_EXPERIMENT_BOTH_WAYS:
	case TB_EXPERIMENT_LATENCY:
		plan_ping(plan, experiment);
		return TB_OK;
	case TB_EXPERIMENT_PATTERN:
		return plan_pattern(plan, experiment, error);
	case TB_EXPERIMENT_HOT:
		plan_hot(plan, experiment);
		return TB_OK;
	case TB_EXPERIMENT_IO:
		plan_io(plan, experiment);
		return TB_OK;
	case TB_EXPERIMENT_MIX:
		plan_mix(plan, experiment);
		return TB_OK;
	}
	return TB_EUSAGE;
}

// run_until runs until the window's end, or until nothing is left to do.
static int run_until(struct tb_engine *engine, tb_time_ps end, struct tb_error *error)
{
	int status;
	do
		status = tb_engine_run(engine, INSTANTS, error);
	while (status == 1 && tb_engine_stats(engine).now_ps < end);
	return status < 0 ? status : tb_engine_finish(engine, error);
}

static void set_roles(struct tb_outcome *outcome, const struct plan *plan)
{
	for (uint32_t j = 0; j < plan->n_jobs; j++) {
		const struct tb_traffic_job *job = &plan->jobs[j];
		for (uint32_t i = 0; i < job->n_senders; i++) {
			uint32_t node = job->senders[i];
			bool silent =
				job->rule == TB_TRAFFIC_FIXED && job->targets[i] == node;
			if (!silent)
				outcome->nodes[node].role = j == MEASURED_JOB
								    ? TB_ROLE_SENDER
								    : TB_ROLE_OTHER;
		}
	}
	for (uint32_t node = 0; node < outcome->n_nodes && node < NODES_MOST; node++)
		outcome->nodes[node].serves = plan->io[node];
}

// add_link adds what a link carried in one of the averaged runs, `share` of them all.
static void add_link(struct tb_outcome *outcome, const struct tb_network *network,
	uint32_t id, const struct tb_link_sample *sum, double share_per_s)
{
	struct tb_link_info info = tb_network_link(network, (struct tb_link){id});
	struct tb_link_outcome *link = &outcome->links[id];
	double wire = (double)sum->bytes * share_per_s;
	double payload = wire - (double)sum->n_packets * share_per_s *
					tb_network_params(network)->packet_overhead_bytes;
	link->kind = info.kind;
	link->level = tb_network_switch(network,
		(struct tb_switch){info.kind == TB_LINK_EJECTION ? info.from : info.to})
			      .level;
	link->wait_share += (double)sum->wait_ps / (double)TB_PS_PER_S * share_per_s;
	if (info.kind == TB_LINK_INJECTION) {
		outcome->nodes[info.from].sent_bps += payload;
		outcome->nodes[info.from].wire_bps += wire;
	} else if (info.kind == TB_LINK_EJECTION) {
		outcome->nodes[info.to].taken_bps += payload;
	}
}

struct run {
	const struct tb_experiment *experiment;
	const struct tb_network *network;
	struct plan plan;
	uint64_t seed;
	struct tb_outcome *outcome;
};

// measure runs the engine once and adds its rates to the outcome.
static int measure(struct run *run, struct tb_traffic *traffic, struct watch *watch,
	double share, struct tb_error *error)
{
	const struct tb_experiment *experiment = run->experiment;
	// Warm-up and window are whole bins.
	tb_time_ps bin = (experiment->warm_us ? experiment->warm_us : 1) * TB_PS_PER_US;
	uint64_t n_bins =
		experiment->warm_us ? experiment->window_us / experiment->warm_us : 1;
	watch->first_bin = experiment->warm_us ? 1 : 0;
	watch->end_bin = watch->first_bin + n_bins;
	bool endless = run->plan.jobs[0].n_messages == 0;
	tb_time_ps end = endless ? (tb_time_ps)watch->end_bin * bin : TB_TIME_NEVER;
	const struct tb_source source = tb_traffic_source(traffic);
	const struct tb_observer observer = {watch, on_start, on_bin, on_flows, on_blame};
	const struct tb_engine_options options = {
		.seed = run->seed, .bin_ps = bin, .without_blame = true};
	struct tb_engine *engine = NULL;
	int status =
		tb_engine_new(&engine, run->network, &source, &observer, &options, error);
	if (status == TB_OK)
		status = run_until(engine, end, error);
	double window_s = (double)n_bins * (double)bin / (double)TB_PS_PER_S;
	for (uint32_t id = 0; id < watch->n_links && status == TB_OK; id++)
		add_link(run->outcome, run->network, id, &watch->sums[id],
			share / window_s);
	tb_engine_free(engine);
	return status;
}

static int run_once(
	struct run *run, enum tb_synth_dist sizes, double share, struct tb_error *error)
{
	for (uint32_t j = 0; j < run->plan.n_jobs; j++)
		run->plan.jobs[j].size_dist = j ? TB_SYNTH_EXPONENTIAL : sizes;
	struct watch watch = {.n_links = tb_network_n_links(run->network)};
	watch.sums = calloc(watch.n_links, sizeof *watch.sums);
	if (!watch.sums)
		return tb_fail(error, TB_ENOMEM, "no memory for an experiment");
	struct tb_traffic *traffic = NULL;
	int status = tb_traffic_new(
		&traffic, run->plan.jobs, run->plan.n_jobs, run->seed, error);
	if (status == TB_OK)
		status = measure(run, traffic, &watch, share, error);
	if (status == TB_OK) {
		struct tb_traffic_stats stats = tb_traffic_stats(traffic);
		if (stats.n_done)
			run->outcome->latency_s += share * (double)stats.latency_ps /
						   (double)TB_PS_PER_S /
						   (double)stats.n_done;
	}
	tb_traffic_free(traffic);
	free(watch.sums);
	return status;
}

static int run_all(struct run *run, struct tb_error *error)
{
	switch (run->experiment->kind) {
	case TB_EXPERIMENT_PING:
	case TB_EXPERIMENT_BOTH_WAYS:
	case TB_EXPERIMENT_LATENCY:
		return run_once(run, TB_SYNTH_FIXED, 1, error);
	case TB_EXPERIMENT_PATTERN:
	case TB_EXPERIMENT_HOT:
	case TB_EXPERIMENT_IO:
	case TB_EXPERIMENT_MIX:
		break;
	}
	if (run->experiment->exponential_only)
		return run_once(run, TB_SYNTH_EXPONENTIAL, 1, error);
	int status = run_once(run, TB_SYNTH_UNIFORM, 0.5, error);
	return status == TB_OK ? run_once(run, TB_SYNTH_EXPONENTIAL, 0.5, error) : status;
}

static int outcome_new(struct tb_outcome **outcome, const struct tb_network *network,
	struct tb_error *error)
{
	struct tb_outcome *made = calloc(1, sizeof *made);
	if (!made)
		return tb_fail(error, TB_ENOMEM, "no memory for an experiment");
	made->n_nodes = tb_network_n_nodes(network);
	made->n_links = tb_network_n_links(network);
	made->nodes = calloc(made->n_nodes, sizeof *made->nodes);
	made->links = calloc(made->n_links, sizeof *made->links);
	if (!made->nodes || !made->links) {
		tb_outcome_free(made);
		return tb_fail(error, TB_ENOMEM, "no memory for an experiment");
	}
	*outcome = made;
	return TB_OK;
}

void tb_outcome_free(struct tb_outcome *outcome)
{
	if (!outcome)
		return;
	free(outcome->nodes);
	free(outcome->links);
	free(outcome);
}

// network_for builds the lowest tree that has the experiment's nodes.
static int network_for(struct tb_network **network,
	const struct tb_network_params *params, uint32_t n_nodes, struct tb_error *error)
{
	struct tb_network_params fitted = *params;
	fitted.levels = 1;
	return tb_network_kary_ntree(network, &fitted, n_nodes, error);
}

int tb_experiment_run(struct tb_outcome **outcome, const struct tb_experiment *experiment,
	const struct tb_network_params *params, uint64_t seed, struct tb_error *error)
{
	struct tb_network *network = NULL;
	struct run run = {.experiment = experiment, .seed = seed};
	int status = network_for(&network, params, experiment->n_nodes, error);
	if (status == TB_OK)
		status = make_plan(&run.plan, experiment, error);
	if (status == TB_OK)
		status = outcome_new(&run.outcome, network, error);
	run.network = network;
	if (status == TB_OK)
		status = run_all(&run, error);
	if (status == TB_OK) {
		set_roles(run.outcome, &run.plan);
		*outcome = run.outcome;
	} else {
		tb_outcome_free(run.outcome);
	}
	tb_network_free(network);
	return status;
}
