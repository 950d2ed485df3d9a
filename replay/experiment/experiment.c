// Runs an experiment and counts what happens in its window.
#include "experiment.h"

#include "experiment_plan.h"
#include "host.h"
#include "network_open.h"
#include "statistics.h"
#include "stop.h"
#include "timed.h"

#include <math.h>
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

bool tb_steady(const double *counts, uint32_t n, double *drift)
{
	double mean = 0, middle = (n - 1) / 2.0, spread = 0, along = 0, errors = 0;
	for (uint32_t i = 0; i < n; i++) {
		mean += counts[i] / n;
		spread += (i - middle) * (i - middle);
		along += (i - middle) * counts[i];
	}
	double slope = along / spread;
	for (uint32_t i = 0; i < n; i++) {
		double off = counts[i] - mean - slope * (i - middle);
		errors += off * off;
	}
	double interval = tb_student_t(n - 1) * sqrt(errors / (n - 2) / spread);
	*drift = mean > 0 ? slope * n / mean : 0;
	return fabs(*drift) <= TB_STEADY_DRIFT || fabs(slope) <= interval;
}

// A run of the engine: its observer knows which bins are the window.
struct window_run {
	struct run *run;
	struct watch *watch;
	struct tb_engine *engine;
	const struct tb_traffic *traffic;
	struct tb_traffic_stats before[TB_PLAN_JOBS]; // the window, by job
	tb_time_ps bin_ps;
	double share; // of what is averaged
};

// queues_grow returns whether more messages of a job were posted over the window than
// were done.
static bool queues_grow(const struct window_run *m, uint32_t job)
{
	struct tb_traffic_stats after = tb_traffic_stats_of(m->traffic, job);
	double posted = (double)(after.n_posted - m->before[job].n_posted);
	double done = (double)(after.n_done - m->before[job].n_done);
	return posted - done > TB_STEADY_QUEUES * done + 2 * sqrt(posted);
}

// measure_parts runs the window, and finds out whether it is steady.
static int measure_parts(const struct window_run *m, bool *steady, double *drift,
	bool *grows, struct tb_error *error)
{
	tb_time_ps from = (tb_time_ps)m->watch->first_bin * m->bin_ps;
	tb_time_ps window = (tb_time_ps)m->watch->end_bin * m->bin_ps - from;
	double counts[TB_STEADY_PARTS];
	uint64_t before = 0;
	int status = TB_OK;
	for (int i = 0; i < TB_STEADY_PARTS && status == TB_OK; i++) {
		status = run_until(m->run, m->engine,
			from + window * (i + 1) / TB_STEADY_PARTS, error);
		uint64_t now = m->watch->job_bytes[TB_PLAN_MEASURED];
		counts[i] = (double)(now - before);
		before = now;
	}
	*grows = false;
	for (uint32_t job = 0; job < m->run->plan.n_jobs; job++)
		*grows = *grows || queues_grow(m, job);
	*steady = tb_steady(counts, TB_STEADY_PARTS, drift) &&
		  !queues_grow(m, TB_PLAN_MEASURED);
	return status;
}

// run_window runs warm-up and window, and another one while it is not steady; the latency
// is that of the messages which came in the window.
static int run_window(struct window_run *m, struct tb_error *error)
{
	struct watch *watch = m->watch;
	struct tb_outcome *outcome = m->run->outcome;
	bool endless = m->run->plan.jobs[TB_PLAN_MEASURED].n_messages == 0;
	bool steady = true, grows = false;
	double drift = 0;
	int tries = m->run->experiment->fixed_window ? 1 : TB_STEADY_TRIES;
	int status = run_until(
		m->run, m->engine, (tb_time_ps)watch->first_bin * m->bin_ps, error);
	for (int i = 0; i < tries && status == TB_OK; i++) {
		if (i > 0) {
			uint64_t n_bins = watch->end_bin - watch->first_bin;
			watch->first_bin = watch->end_bin;
			watch->end_bin += 2 * n_bins;
			memset(watch->sums, 0, watch->n_links * sizeof *watch->sums);
		}
		memset(watch->delays, 0, watch->n_links * sizeof *watch->delays);
		memset(watch->job_bytes, 0, sizeof watch->job_bytes);
		for (uint32_t job = 0; job < m->run->plan.n_jobs; job++)
			m->before[job] = tb_traffic_stats_of(m->traffic, job);
		status = endless ? measure_parts(m, &steady, &drift, &grows, error)
				 : run_until(m->run, m->engine, TB_TIME_NEVER, error);
		if (steady)
			break;
	}
	outcome->steady = outcome->steady && steady;
	if (fabs(drift) > fabs(outcome->drift))
		outcome->drift = drift;
	outcome->grows = outcome->grows || grows;
	struct tb_traffic_stats after = tb_traffic_stats_of(m->traffic, TB_PLAN_MEASURED);
	const struct tb_traffic_stats *before = &m->before[TB_PLAN_MEASURED];
	if (after.n_done > before->n_done)
		outcome->latency_s +=
			m->share * (double)(after.latency_ps - before->latency_ps) /
			(double)TB_PS_PER_S / (double)(after.n_done - before->n_done);
	outcome->stats = tb_engine_stats_of(m->engine);
	return status == TB_OK ? tb_engine_finish(m->engine, error) : status;
}

// experiment_measure runs the engine once and adds its rates to the outcome.
static int experiment_measure(struct run *run, struct tb_traffic *traffic,
	struct watch *watch, double share, struct tb_error *error)
{
	// Warm-up and window are whole bins.
	uint32_t warm_us = run->experiment->warm_us;
	tb_time_ps bin = (warm_us ? warm_us : 1) * TB_PS_PER_US;
	watch->first_bin = warm_us ? 1 : 0;
	watch->end_bin =
		watch->first_bin + (warm_us ? run->experiment->window_us / warm_us : 1);
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
	struct window_run m = {.run = run,
		.watch = watch,
		.traffic = traffic,
		.bin_ps = bin,
		.share = share};
	struct tb_host *host = NULL;
	int status = tb_host_new(
		&host, run->network, &processes, &watching, tb_engine_ideal_ps, error);
	if (status != TB_OK)
		return status;
	const struct tb_source source = tb_host_source(host);
	const struct tb_observer observer = tb_host_observer(host);
	status = tb_engine_new(
		&m.engine, run->network, &source, &observer, &options, error);
	if (status == TB_OK)
		status = run_window(&m, error);
	uint64_t n_bins = watch->end_bin - watch->first_bin;
	double window_s = (double)n_bins * (double)bin / (double)TB_PS_PER_S;
	run->outcome->job_bps +=
		(double)watch->job_bytes[TB_PLAN_MEASURED] * share / window_s;
	run->outcome->posted_bps +=
		(double)(tb_traffic_stats_of(traffic, TB_PLAN_MEASURED).posted_bytes -
			 m.before[TB_PLAN_MEASURED].posted_bytes) *
		share / window_s;
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
	tb_engine_free(m.engine);
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
	run->outcome->by_sizes_bps[0] = 2 * run->outcome->job_bps;
	if (status == TB_OK)
		status = run_once(run, TB_SYNTH_EXPONENTIAL, 0.5, error);
	run->outcome->by_sizes_bps[1] =
		2 * run->outcome->job_bps - run->outcome->by_sizes_bps[0];
	return status;
}

static int outcome_new(struct tb_outcome **outcome, const struct tb_network *network,
	struct tb_error *error)
{
	struct tb_outcome *made = calloc(1, sizeof *made);
	if (!made)
		return tb_fail_memory(error, "an experiment");
	made->steady = true;
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

static uint32_t nodes_needed(const struct tb_experiment *experiment)
{
	return experiment->timed ? tb_timed_nodes(experiment) : experiment->n_nodes;
}

int tb_experiment_fits(const struct tb_experiment *experiment, const char *name,
	uint32_t n_hosts, struct tb_error *error)
{
	uint32_t n_nodes = nodes_needed(experiment);
	if (n_hosts == 0 || n_nodes <= n_hosts)
		return TB_OK;
	return tb_fail(error, TB_EUSAGE,
		"%u nodes are needed: %s has %u, and cannot grow", n_nodes, name,
		n_hosts);
}

int tb_experiment_network(struct tb_network **network,
	const struct tb_experiment *experiment, const struct tb_network_params *params,
	const char *name, struct tb_error *error)
{
	struct tb_network_params fitted = *params;
	fitted.levels = 1;
	const struct tb_network_description description = {
		.name = name, .params = &fitted, .n_nodes = nodes_needed(experiment)};
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

int tb_experiment_run(struct tb_outcome **outcome, const struct tb_experiment *experiment,
	const struct tb_network *network, const struct tb_experiment_options *options,
	struct tb_error *error)
{
	struct run run = {
		.experiment = experiment, .network = network, .options = options};
	int status = tb_experiment_check(experiment, error);
	if (status == TB_OK && !experiment->timed)
		status = tb_experiment_plan_init(
			&run.plan, experiment, tb_network_params(network), error);
	if (status != TB_OK)
		return status;
	status = outcome_new(&run.outcome, network, error);
	if (status == TB_OK)
		status = experiment->timed ? tb_timed_run(run.outcome, experiment,
						     network, options, error)
					   : run_all(&run, error);
	if (status == TB_OK) {
		set_roles(run.outcome, &run.plan);
		*outcome = run.outcome;
	} else {
		tb_outcome_free(run.outcome);
	}
	tb_experiment_plan_fini(&run.plan);
	return status;
}
