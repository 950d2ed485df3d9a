#include "timed.h"

#include "collective.h"
#include "engine.h"
#include "host.h"
#include "network_open.h"
#include "stop.h"
#include "workload_impl.h"

#include <stdlib.h>
#include <string.h>

#define BRANCH	 4	 // of trees: as an Elite switch has links down
#define INSTANTS 1 << 16 // in one go

uint32_t tb_timed_nodes(const struct tb_experiment *experiment)
{
	const struct tb_timed *timed = experiment->timed;
	uint32_t n_ranks =
		experiment->n_active + (timed->collective ? 0 : experiment->n_io);
	return (n_ranks + timed->ranks_a_node - 1) / timed->ranks_a_node;
}

static int collective_job(struct tb_job **job, uint64_t *wanted_bytes,
	const struct tb_experiment *experiment, struct tb_error *error)
{
	const struct tb_timed *timed = experiment->timed;
	uint64_t n = experiment->n_active, bytes = experiment->message_bytes;
	struct tb_collective_options options = {.n_ranks = experiment->n_active,
		.n_ports = timed->n_ports,
		.bytes = bytes,
		.branch = BRANCH};
	const struct tb_plan_job how = {.n_repeats = timed->n_repeats,
		.shift_ns = timed->shift_bytes_per_s
				    ? n * bytes * 1000000000 / timed->shift_bytes_per_s
				    : 0};
	struct tb_plan plan;
	enum tb_collective_op op = TB_COLL_N;
	int status = tb_collective_op_find(&op, timed->collective)
			     ? tb_algorithm_find(
				       &options.algorithm, op, timed->algorithm, error)
			     : tb_fail(error, TB_EUSAGE, "no collective is called '%s'",
				       timed->collective);
	if (status == TB_OK)
		status = tb_collective_plan(&plan, &options, error);
	if (status != TB_OK)
		return status;
	bool to_all = op == TB_COLL_ALLGATHER || op == TB_COLL_ALLTOALL;
	*wanted_bytes = (to_all ? n : 1) * (n - 1) * bytes;
	status = tb_plan_to_job(job, &plan, &how, error);
	tb_plan_fini(&plan);
	return status;
}

static int io_job(struct tb_job **job, uint64_t *wanted_bytes,
	const struct tb_experiment *experiment, struct tb_error *error)
{
	const struct tb_timed *timed = experiment->timed;
	struct tb_io_options options = TB_IO_DEFAULTS;
	struct tb_io_extent extent;
	int status = tb_io_benchmark_find(&options.benchmark, timed->benchmark, error);
	if (status != TB_OK)
		return status;
	options.n_clients = experiment->n_active;
	options.n_servers = experiment->n_io;
	if (experiment->message_bytes)
		options.block_bytes = experiment->message_bytes;
	options.transport = timed->transport;
	options.pack_bytes_per_s = timed->pack_bytes_per_s;
	options.storage_bytes_per_s = timed->storage_bytes_per_s;
	options.service_ns = timed->service_ns;
	options.client_ns = timed->client_ns;
	options.n_repeats = timed->n_repeats;
	*wanted_bytes = 0;
	for (uint32_t client = 0; options.benchmark->extent && client < options.n_clients;
		client++)
		for (uint64_t i = 0;
			options.benchmark->extent(&options, client, i, &extent); i++)
			*wanted_bytes += extent.bytes;
	return tb_io_job(job, &options, error);
}

static int run_engine(const struct tb_network *network, const struct tb_source *processes,
	const struct tb_observer *watching, const struct tb_engine_options *options,
	const volatile sig_atomic_t *stop, struct tb_engine_stats *stats,
	struct tb_error *error)
{
	struct tb_host *host = NULL;
	struct tb_engine *engine = NULL;
	int status = tb_host_new(
		&host, network, processes, watching, tb_engine_ideal_ps, error);
	if (status != TB_OK)
		return status;
	const struct tb_source source = tb_host_source(host);
	struct tb_observer observer;
	if (watching)
		observer = tb_host_observer(host);
	status = tb_engine_new(
		&engine, network, &source, watching ? &observer : NULL, options, error);
	while (status >= 0 && (status = tb_engine_run(engine, INSTANTS, error)) > 0)
		if (tb_stop_asked(stop))
			status = tb_fail(error, TB_ESTOPPED, "stopped");
	if (status == TB_OK)
		status = tb_engine_finish(engine, error);
	if (status == TB_OK) {
		*stats = tb_engine_stats_of(engine);
		tb_host_stats(host, stats);
	}
	tb_engine_free(engine);
	tb_host_free(host);
	return status;
}

static int run_job(struct tb_engine_stats *stats, const struct tb_job *job,
	const uint32_t *nodes, const struct tb_network *network,
	const struct tb_observer *observer, const struct tb_engine_options *options,
	const volatile sig_atomic_t *stop, struct tb_error *error)
{
	struct tb_closed_loop *loop = NULL;
	int status = tb_closed_loop_new(
		&loop, job, nodes, 0, tb_network_params(network)->broadcast, error);
	if (status == TB_OK) {
		const struct tb_source processes = tb_closed_loop_source(loop);
		status = run_engine(
			network, &processes, observer, options, stop, stats, error);
	}
	tb_closed_loop_free(loop);
	return status;
}

int tb_timed_job(tb_time_ps *end, const struct tb_job *job, const uint32_t *nodes,
	const struct tb_network *network, const struct tb_engine_options *options,
	const volatile sig_atomic_t *stop, struct tb_error *error)
{
	struct tb_engine_stats stats;
	int status = run_job(&stats, job, nodes, network, NULL, options, stop, error);
	if (status == TB_OK)
		*end = stats.now_ps;
	return status;
}

int tb_timed_run(struct tb_outcome *outcome, const struct tb_experiment *experiment,
	const struct tb_network *network, const struct tb_experiment_options *options,
	struct tb_error *error)
{
	const struct tb_timed *timed = experiment->timed;
	const struct tb_engine_options of_engine = {
		.seed = options->seed, .without_blame = !options->with_blame};
	struct tb_job *job = NULL;
	uint64_t wanted_bytes = 0;
	int status = tb_experiment_fits(experiment, tb_network_params(network)->name,
		tb_network_n_hosts(network), error);
	if (status == TB_OK)
		status = timed->collective
				 ? collective_job(&job, &wanted_bytes, experiment, error)
				 : io_job(&job, &wanted_bytes, experiment, error);
	if (status != TB_OK)
		return status;
	uint32_t *nodes = malloc(job->n_ranks * sizeof *nodes);
	if (!nodes)
		status = tb_fail_memory(error, "an experiment");
	for (uint32_t rank = 0; nodes && rank < job->n_ranks; rank++)
		nodes[rank] = rank / timed->ranks_a_node;
	if (status == TB_OK)
		status = run_job(&outcome->stats, job, nodes, network, options->observer,
			&of_engine, options->stop, error);
	if (status == TB_OK) {
		outcome->latency_s = (double)outcome->stats.now_ps / (double)TB_PS_PER_S /
				     timed->n_repeats;
		outcome->job_bps = (double)wanted_bytes / outcome->latency_s;
	}
	free(nodes);
	tb_job_free(job);
	return status;
}
