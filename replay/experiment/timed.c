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

const struct tb_experiment *tb_timed_find(const char *name)
{
	for (const struct tb_experiment *e = tb_timed_experiments; e->name; e++)
		if (strcmp(e->name, name) == 0)
			return e;
	return NULL;
}

int tb_timed_network(
	struct tb_network **network, const struct tb_timed *timed, struct tb_error *error)
{
	const struct tb_network_description description = {.name = timed->network};
	return tb_network_open(network, &description, error);
}

static int collective_job(
	struct tb_job **job, const struct tb_timed *timed, struct tb_error *error)
{
	struct tb_collective_options options = {.n_ranks = timed->n_ranks,
		.n_ports = timed->n_ports,
		.bytes = timed->bytes,
		.branch = BRANCH};
	const struct tb_plan_job how = {.n_repeats = timed->n_repeats};
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
	status = tb_plan_to_job(job, &plan, &how, error);
	tb_plan_fini(&plan);
	return status;
}

static int io_job(
	struct tb_job **job, const struct tb_timed *timed, struct tb_error *error)
{
	struct tb_io_options options = TB_IO_DEFAULTS;
	int status = tb_io_benchmark_find(&options.benchmark, timed->benchmark, error);
	if (status != TB_OK)
		return status;
	if (timed->n_clients)
		options.n_clients = timed->n_clients;
	if (timed->n_servers)
		options.n_servers = timed->n_servers;
	options.transport = timed->transport;
	options.pack_bytes_per_s = timed->pack_bytes_per_s;
	options.storage_bytes_per_s = timed->storage_bytes_per_s;
	options.service_ns = timed->service_ns;
	options.n_repeats = timed->n_repeats;
	return tb_io_job(job, &options, error);
}

static int run_engine(const struct tb_network *network, const struct tb_source *processes,
	const struct tb_engine_options *options, const volatile sig_atomic_t *stop,
	tb_time_ps *end, struct tb_error *error)
{
	struct tb_host *host = NULL;
	struct tb_engine *engine = NULL;
	int status =
		tb_host_new(&host, network, processes, NULL, tb_engine_ideal_ps, error);
	if (status != TB_OK)
		return status;
	const struct tb_source source = tb_host_source(host);
	status = tb_engine_new(&engine, network, &source, NULL, options, error);
	while (status >= 0 && (status = tb_engine_run(engine, INSTANTS, error)) > 0)
		if (tb_stop_asked(stop))
			status = tb_fail(error, TB_ESTOPPED, "stopped");
	if (status == TB_OK)
		status = tb_engine_finish(engine, error);
	if (status == TB_OK) {
		struct tb_engine_stats stats = tb_engine_stats_of(engine);
		tb_host_stats(host, &stats);
		*end = stats.now_ps;
	}
	tb_engine_free(engine);
	tb_host_free(host);
	return status;
}

int tb_timed_job(tb_time_ps *end, const struct tb_job *job, const uint32_t *nodes,
	const struct tb_network *network, const struct tb_engine_options *options,
	const volatile sig_atomic_t *stop, struct tb_error *error)
{
	struct tb_closed_loop *loop = NULL;
	int status = tb_closed_loop_new(
		&loop, job, nodes, 0, tb_network_params(network)->broadcast, error);
	if (status == TB_OK) {
		const struct tb_source processes = tb_closed_loop_source(loop);
		status = run_engine(network, &processes, options, stop, end, error);
	}
	tb_closed_loop_free(loop);
	return status;
}

int tb_timed_run(double *time_s, const struct tb_timed *timed,
	const struct tb_network *network, uint64_t seed, struct tb_error *error)
{
	const struct tb_engine_options options = {.seed = seed};
	struct tb_job *job = NULL;
	tb_time_ps end = 0;
	int status = timed->collective ? collective_job(&job, timed, error)
				       : io_job(&job, timed, error);
	if (status != TB_OK)
		return status;
	uint32_t *nodes = malloc(job->n_ranks * sizeof *nodes);
	if (!nodes)
		status = tb_fail_memory(error, "an experiment");
	for (uint32_t rank = 0; nodes && rank < job->n_ranks; rank++)
		nodes[rank] = rank / timed->ranks_a_node;
	if (status == TB_OK)
		status = tb_timed_job(&end, job, nodes, network, &options, NULL, error);
	if (status == TB_OK)
		*time_s = (double)end / (double)TB_PS_PER_S / timed->n_repeats;
	free(nodes);
	tb_job_free(job);
	return status;
}
