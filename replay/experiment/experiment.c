// Runs an experiment and counts what happens in its window.
#include "experiment.h"

#include "experiment_plan.h"
#include "host.h"
#include "network_open.h"
#include "stop.h"
#include "timed.h"

#include <stdlib.h>
#include <string.h>

#define INSTANTS 64 // between two looks at the stop flag

// The sums of the observer: link samples of the window's bins.
struct watch {
	struct tb_link_sample *sums;	  // by link
	tb_time_ps *delays;		  // by link, since the warm-up
	uint64_t job_bytes[TB_PLAN_JOBS]; // the same
	uint32_t n_links;
	uint64_t first_bin, end_bin;
	const struct tb_observer *also; // gets the same calls; may be NULL
};

static int on_start(void *context, tb_time_ps bin_ps)
{
	struct watch *watch = context;
	for (uint32_t i = 0; i < watch->n_links; i++)
		watch->sums[i] = (struct tb_link_sample){0};
	return watch->also ? watch->also->start(watch->also->context, bin_ps) : TB_OK;
}

static int on_bin(
	void *context, uint64_t bin, const struct tb_link_sample *samples, size_t n)
{
	struct watch *watch = context;
	bool counts = bin >= watch->first_bin && bin < watch->end_bin;
	for (size_t i = 0; i < n && counts; i++) {
		struct tb_link_sample *sum = &watch->sums[samples[i].link.id];
		sum->bytes += samples[i].bytes;
		sum->n_packets += samples[i].n_packets;
		sum->came_by_ps += samples[i].came_by_ps;
	}
	return watch->also ? watch->also->bin(watch->also->context, bin, samples, n)
			   : TB_OK;
}

static int on_flows(void *context, const struct tb_flow_sample *samples, size_t n)
{
	const struct watch *watch = context;
	return watch->also ? watch->also->flows(watch->also->context, samples, n) : TB_OK;
}

static int on_blame(void *context, const struct tb_blame_record *record)
{
	const struct watch *watch = context;
	return watch->also ? watch->also->blame(watch->also->context, record) : TB_OK;
}

static void set_roles(struct tb_outcome *outcome, const struct tb_experiment_plan *plan)
{
	for (uint32_t j = 0; j < plan->n_jobs; j++) {
		const struct tb_traffic_job *job = &plan->jobs[j];
		for (uint32_t i = 0; i < job->n_senders; i++) {
			uint32_t node = job->senders[i];
			bool silent =
				job->rule == TB_TRAFFIC_FIXED && job->targets[i] == node;
			if (!silent)
				outcome->nodes[node].role = j == TB_PLAN_MEASURED
								    ? TB_ROLE_SENDER
								    : TB_ROLE_OTHER;
		}
	}
	for (uint32_t node = 0; node < plan->n_active; node++)
		outcome->nodes[node].serves = plan->io[node];
}

struct run {
	const struct tb_experiment *experiment;
	const struct tb_network *network;
	const struct tb_experiment_options *options;
	struct tb_experiment_plan plan;
	struct tb_outcome *outcome;
};

// run_until runs until a time, or until nothing is left to do.
static int run_until(const struct run *run, struct tb_engine *engine, tb_time_ps end,
	struct tb_error *error)
{
	int status = 1;
	tb_engine_pause_at(engine, end);
	while (status == 1) {
		if (tb_stop_asked(run->options->stop))
			return tb_fail(error, TB_ESTOPPED, "stopped");
		status = tb_engine_run(engine, INSTANTS, error);
	}
	return status < 0 ? status : TB_OK;
}

// run_window runs warm-up and window; the latency is that of the messages which came in
// the window.
static int run_window(struct run *run, struct watch *watch, struct tb_engine *engine,
	const struct tb_traffic *traffic, tb_time_ps warm, tb_time_ps end, double share,
	struct tb_error *error)
{
	int status = run_until(run, engine, warm, error);
	memset(watch->delays, 0, watch->n_links * sizeof *watch->delays);
	memset(watch->job_bytes, 0, sizeof watch->job_bytes);
	struct tb_traffic_stats before = tb_traffic_stats_of(traffic, TB_PLAN_MEASURED);
	if (status == TB_OK)
		status = run_until(run, engine, end, error);
	struct tb_traffic_stats after = tb_traffic_stats_of(traffic, TB_PLAN_MEASURED);
	if (after.n_done > before.n_done)
		run->outcome->latency_s +=
			share * (double)(after.latency_ps - before.latency_ps) /
			(double)TB_PS_PER_S / (double)(after.n_done - before.n_done);
	run->outcome->stats = tb_engine_stats_of(engine);
	return status == TB_OK ? tb_engine_finish(engine, error) : status;
}

// experiment_measure runs the engine once and adds its rates to the outcome.
static int experiment_measure(struct run *run, struct tb_traffic *traffic,
	struct watch *watch, double share, struct tb_error *error)
{
	const struct tb_experiment *experiment = run->experiment;
	// Warm-up and window are whole bins.
	tb_time_ps bin = (experiment->warm_us ? experiment->warm_us : 1) * TB_PS_PER_US;
	uint64_t n_bins =
		experiment->warm_us ? experiment->window_us / experiment->warm_us : 1;
	watch->first_bin = experiment->warm_us ? 1 : 0;
	watch->end_bin = watch->first_bin + n_bins;
	bool endless = run->plan.jobs[TB_PLAN_MEASURED].n_messages == 0;
	tb_time_ps end = endless ? (tb_time_ps)watch->end_bin * bin : TB_TIME_NEVER;
	tb_time_ps warm = experiment->warm_us ? bin : 0;
	const struct tb_source processes = tb_traffic_source(traffic);
	const struct tb_observer watching = {.context = watch,
		.start = on_start,
		.bin = on_bin,
		.flows = on_flows,
		.blame = on_blame};
	const struct tb_engine_options options = {.seed = run->options->seed,
		.bin_ps = bin,
		.without_blame = !run->options->with_blame,
		.delays = watch->delays,
		.job_bytes = watch->job_bytes};
	struct tb_engine *engine = NULL;
	struct tb_host *host = NULL;
	int status = tb_host_new(
		&host, run->network, &processes, &watching, tb_engine_ideal_ps, error);
	if (status != TB_OK)
		return status;
	const struct tb_source source = tb_host_source(host);
	const struct tb_observer observer = tb_host_observer(host);
	status =
		tb_engine_new(&engine, run->network, &source, &observer, &options, error);
	if (status == TB_OK)
		status = run_window(run, watch, engine, traffic, warm, end, share, error);
	double window_s = (double)n_bins * (double)bin / (double)TB_PS_PER_S;
	run->outcome->job_bps +=
		(double)watch->job_bytes[TB_PLAN_MEASURED] * share / window_s;
	for (uint32_t id = 0; id < watch->n_links && status == TB_OK; id++) {
		// Add what a link carried in one of the averaged runs, weighted with
		// `share`.
		struct tb_outcome *outcome = run->outcome;
		const struct tb_network *network = run->network;
		const struct tb_link_sample *sum = &watch->sums[id];
		double share_per_s = share / window_s;
		struct tb_link_info info = tb_network_link(network, (struct tb_link){id});
		struct tb_link_outcome *link = &outcome->links[id];
		double wire = (double)sum->bytes * share_per_s;
		double payload =
			wire - (double)sum->n_packets * share_per_s *
				       tb_network_params(network)->packet_overhead_bytes;
		link->kind = info.kind;
		link->level = tb_network_switch(network,
			(struct tb_switch){
				info.kind == TB_LINK_EJECTION ? info.from : info.to})
				      .level;
		link->wait_share +=
			(double)sum->came_by_ps / (double)TB_PS_PER_S * share_per_s;
		if (info.kind == TB_LINK_INJECTION) {
			outcome->nodes[info.from % outcome->n_nodes].sent_bps += payload;
			outcome->nodes[info.from % outcome->n_nodes].wire_bps += wire;
		} else if (info.kind == TB_LINK_EJECTION) {
			outcome->nodes[info.to % outcome->n_nodes].taken_bps += payload;
		}
		run->outcome->links[id].delay_share += (double)watch->delays[id] /
						       (double)TB_PS_PER_S * share /
						       window_s;
	}
	tb_engine_free(engine);
	tb_host_free(host);
	return status;
}

static int run_once(
	struct run *run, enum tb_synth_dist sizes, double share, struct tb_error *error)
{
	for (uint32_t j = 0; j < run->plan.n_jobs; j++)
		run->plan.jobs[j].size_dist =
			j == TB_PLAN_MEASURED ? sizes : TB_SYNTH_EXPONENTIAL;
	struct watch watch = {.n_links = tb_network_n_links(run->network),
		.also = run->options->observer};
	watch.sums = calloc(watch.n_links, sizeof *watch.sums);
	watch.delays = calloc(watch.n_links, sizeof *watch.delays);
	struct tb_traffic *traffic = NULL;
	int status = TB_OK;
	if (!watch.sums || !watch.delays)
		status = tb_fail_memory(error, "an experiment");
	if (status == TB_OK)
		status = tb_traffic_new(&traffic, run->plan.jobs, run->plan.n_jobs,
			run->options->seed, error);
	if (status == TB_OK)
		status = experiment_measure(run, traffic, &watch, share, error);
	tb_traffic_free(traffic);
	free(watch.sums);
	free(watch.delays);
	return status;
}

static int run_all(struct run *run, struct tb_error *error)
{
	switch (run->experiment->sizes) {
	case TB_SIZES_FIXED:
		return run_once(run, TB_SYNTH_FIXED, 1, error);
	case TB_SIZES_UNIFORM:
		return run_once(run, TB_SYNTH_UNIFORM, 1, error);
	case TB_SIZES_EXPONENTIAL:
		return run_once(run, TB_SYNTH_EXPONENTIAL, 1, error);
	case TB_SIZES_BOTH:
		break;
	}
	int status = run->options->observer
			     ? tb_fail(error, TB_EUSAGE,
				       "one observer cannot follow two replays at once")
			     : run_once(run, TB_SYNTH_UNIFORM, 0.5, error);
	return status == TB_OK ? run_once(run, TB_SYNTH_EXPONENTIAL, 0.5, error) : status;
}

static int outcome_new(struct tb_outcome **outcome, const struct tb_network *network,
	struct tb_error *error)
{
	struct tb_outcome *made = calloc(1, sizeof *made);
	if (!made)
		return tb_fail_memory(error, "an experiment");
	made->n_nodes = tb_network_n_hosts(network);
	made->n_links = tb_network_n_links(network);
	made->nodes = calloc(made->n_nodes, sizeof *made->nodes);
	made->links = calloc(made->n_links, sizeof *made->links);
	if (!made->nodes || !made->links) {
		tb_outcome_free(made);
		return tb_fail_memory(error, "an experiment");
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

int tb_experiment_fits(const struct tb_experiment *experiment, const char *name,
	uint32_t n_hosts, struct tb_error *error)
{
	if (experiment->timed || n_hosts == 0 || experiment->n_nodes <= n_hosts)
		return TB_OK;
	return tb_fail(error, TB_EUSAGE,
		"%u nodes are needed: %s has %u, and cannot grow", experiment->n_nodes,
		name, n_hosts);
}

int tb_experiment_network(struct tb_network **network,
	const struct tb_experiment *experiment, const struct tb_network_params *params,
	const char *name, struct tb_error *error)
{
	struct tb_network_params fitted = *params;
	if (experiment->timed)
		return tb_timed_network(network, experiment->timed, error);
	fitted.levels = 1;
	const struct tb_network_description description = {
		.name = name, .params = &fitted, .n_nodes = experiment->n_nodes};
	struct tb_network *made = NULL;
	int status = tb_network_open(&made, &description, error);
	if (status == TB_OK && !tb_network_grows(made))
		status = tb_experiment_fits(experiment, tb_network_params(made)->name,
			tb_network_n_hosts(made), error);
	if (status == TB_OK)
		*network = made;
	else
		tb_network_free(made);
	return status;
}

static int run_timed(struct tb_outcome **outcome, const struct tb_timed *timed,
	const struct tb_network *network, uint64_t seed, struct tb_error *error)
{
	struct tb_outcome *made = NULL;
	int status = outcome_new(&made, network, error);
	if (status == TB_OK)
		status = tb_timed_run(&made->latency_s, timed, network, seed, error);
	if (status == TB_OK)
		*outcome = made;
	else
		tb_outcome_free(made);
	return status;
}

int tb_experiment_run(struct tb_outcome **outcome, const struct tb_experiment *experiment,
	const struct tb_network *network, const struct tb_experiment_options *options,
	struct tb_error *error)
{
	struct run run = {
		.experiment = experiment, .network = network, .options = options};
	if (experiment->timed)
		return run_timed(
			outcome, experiment->timed, network, options->seed, error);
	int status = tb_experiment_check(experiment, error);
	if (status == TB_OK)
		status = tb_experiment_plan_init(
			&run.plan, experiment, tb_network_params(network), error);
	if (status != TB_OK)
		return status;
	status = outcome_new(&run.outcome, network, error);
	if (status == TB_OK)
		status = run_all(&run, error);
	if (status == TB_OK) {
		set_roles(run.outcome, &run.plan);
		*outcome = run.outcome;
	} else {
		tb_outcome_free(run.outcome);
	}
	tb_experiment_plan_fini(&run.plan);
	return status;
}
