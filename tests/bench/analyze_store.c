// What storing costs: the same replay with nothing recorded, into a store, and into one
// that is also told who waited for whom, in turns: the median of what the turns show.
#include "engine.h"
#include "network_open.h"
#include "preset.h"
#include "store.h"
#include "synth.h"
#include "workload_impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { N_NODES = 64, TURNS = 7 };

static double now_s(void)
{
	struct timespec now;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static _Noreturn void give_up(const struct tb_error *error)
{
	fprintf(stderr, "%s\n", error->text);
	exit(1);
}

static void check(int status, const struct tb_error *error)
{
	if (status < 0)
		give_up(error);
}

static struct tb_job *make_job(const char *pattern, uint32_t n_messages)
{
	struct tb_error error;
	struct tb_synth_options options = {.n_nodes = N_NODES,
		.message_bytes = 262144,
		.n_messages = n_messages,
		.seed = 1};
	struct tb_job *job = NULL;
	check(tb_synth_pattern_find(&options.pattern, pattern, &error), &error);
	check(tb_synth_job(&job, &options, &error), &error);
	return job;
}

// replay runs the job and tells the packets; with a path it keeps the run in a new store
// there.
static uint64_t replay(const struct tb_network *network, const struct tb_job *job,
	const char *path, bool blame)
{
	struct tb_error error;
	uint32_t node_of_rank[N_NODES];
	for (uint32_t i = 0; i < N_NODES; i++)
		node_of_rank[i] = i;
	struct tb_closed_loop *loop;
	check(tb_closed_loop_new(&loop, job, node_of_rank, 0, false, &error), &error);
	struct tb_source source = tb_closed_loop_source(loop);
	struct tb_store *store = NULL;
	struct tb_observer observer;
	if (path) {
		const struct tb_run_job bench = {.name = "bench"};
		struct tb_run_config config = {.input_kind = "job",
			.seed = 1,
			.time_scale = 1,
			.jobs = &bench,
			.n_jobs = 1};
		check(tb_store_create(&store, path, &error), &error);
		check(tb_store_begin_run(store, network, &config, &error), &error);
		observer = tb_store_observer(store);
	}
	struct tb_engine_options options = {.seed = 1, .without_blame = !blame};
	struct tb_engine *engine;
	check(tb_engine_new(&engine, network, &source, path ? &observer : NULL, &options,
		      &error),
		&error);
	int status;
	while ((status = tb_engine_run(engine, 1 << 20, &error)) > 0)
		;
	check(status, &error);
	check(tb_engine_finish(engine, &error), &error);
	struct tb_engine_stats stats = tb_engine_stats_of(engine);
	if (path) {
		struct tb_run_result result = {.complete = true,
			.simulated_ps = stats.now_ps,
			.n_messages = stats.n_delivered,
			.n_packets = stats.n_packets,
			.delivered_bytes = stats.payload_bytes};
		check(tb_store_end_run(store, &result, &error), &error);
		tb_store_free(store);
	}
	tb_engine_free(engine);
	tb_closed_loop_free(loop);
	return stats.n_packets;
}

static int ascending(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;
	return (a > b) - (a < b);
}

static double median(double *values, int n)
{
	qsort(values, (size_t)n, sizeof *values, ascending);
	return values[n / 2];
}

// timed tells the seconds of one replay.
static double timed(const struct tb_network *network, const struct tb_job *job,
	const char *path, bool blame)
{
	double begin = now_s();
	replay(network, job, path, blame);
	double seconds = now_s() - begin;
	if (path)
		unlink(path);
	return seconds;
}

static void compare(const struct tb_network *network, const char *pattern,
	uint32_t n_messages, int turns)
{
	struct tb_job *job = make_job(pattern, n_messages);
	double bare[TURNS], stored[TURNS], cost[TURNS], blame_cost[TURNS];
	char path[] = "/tmp/bench_store_XXXXXX";
	int file = mkstemp(path);
	if (file < 0)
		exit(1);
	close(file);
	unlink(path);
	uint64_t n_packets = replay(network, job, NULL, false);
	for (int i = 0; i < turns; i++) {
		bare[i] = timed(network, job, NULL, false);
		double silent = timed(network, job, path, false);
		stored[i] = timed(network, job, path, true);
		cost[i] = 100 * (silent / bare[i] - 1);
		blame_cost[i] = 100 * (stored[i] / silent - 1);
	}
	double without = median(bare, turns), with = median(stored, turns);
	printf("replay_%s,%.0f,packets/s\n", pattern, (double)n_packets / without);
	printf("store_%s,%.0f,packets/s\n", pattern, (double)n_packets / with);
	printf("store_%s_cost,%.1f,%%\n", pattern, median(cost, turns));
	printf("store_%s_blame,%.1f,%%\n", pattern, median(blame_cost, turns));
	tb_job_free(job);
}

int main(int argc, char **argv)
{
	int smoke = argc > 1 && strcmp(argv[1], "--smoke") == 0;
	struct tb_network_params params;
	struct tb_network *network;
	struct tb_error error;
	check(tb_network_preset(&params, "qsnet", &error), &error);
	check(tb_network_open(&network,
		      &(struct tb_network_description){
			      .params = &params, .n_nodes = N_NODES},
		      &error),
		&error);
	compare(network, "complement", smoke ? 1 : 40, smoke ? 1 : TURNS);
	compare(network, "bit-reversal", smoke ? 1 : 40, smoke ? 1 : TURNS);
	compare(network, "uniform", smoke ? 1 : 20, smoke ? 1 : TURNS);
	tb_network_free(network);
	return 0;
}
