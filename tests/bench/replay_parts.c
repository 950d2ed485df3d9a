// One replay in parts on several threads, by the clock on the wall: saturated uniform
// traffic on trees, recorded into memory with blame. Each number of threads in turns; the
// median is told, and how much faster than one thread.
//
//   bench_replay_parts [--smoke] [SCENE...]
//   bench_replay_parts --once SCENE PACKETS uncut|THREADS
//
// --once replays a scene in this process, with everything recorded, and prints how many
// packets were delivered: for instructions.sh, which counts the windows and what in them
// is left to one thread; so it does not end the replay. The parts are those of several
// threads, also for one.
#include "../support/count_records.h"

#include "engine.h"
#include "network_open.h"
#include "network_parts.h"
#include "preset.h"
#include "traffic.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { TURNS = 3, MOST_THREADS = 8, MESSAGE_BYTES = 262144 };

struct scene {
	const char *name, *network;
	double packets; // to deliver, about
};

static const struct scene scenes[] = {
	{"1000", "ib-hdr,arity=10,levels=3", 5e5},
	{"4096", "ib-hdr,arity=16,levels=3", 4e5},
	{"ethernet_4096", "ethernet,arity=16,levels=3", 4e5},
	{"65536", "ib-hdr,arity=16,levels=4", 5e5},
	{"qsnet-1024", "qsnet,levels=5", 4e5},
	{"qsnet-4096", "qsnet,levels=6", 3e5},
	{"qsnet-4096-wide", "qsnet,arity=16,levels=3", 3e5},
};

// One part, which is what a smaller network is; then threads on parts.
static const unsigned threads[] = {0, 1, 2, 4, MOST_THREADS};
enum { RUNS = sizeof threads / sizeof *threads };

static void check(int status, const struct tb_error *error)
{
	if (status >= 0)
		return;
	fprintf(stderr, "%s\n", error->text);
	exit(1);
}

static double now_s(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static struct tb_traffic *make_traffic(uint32_t n_nodes)
{
	struct tb_error error;
	uint32_t *nodes = malloc(n_nodes * sizeof *nodes);
	if (!nodes)
		exit(1);
	for (uint32_t i = 0; i < n_nodes; i++)
		nodes[i] = i;
	struct tb_traffic_job job = {.senders = nodes,
		.n_senders = n_nodes,
		.rule = TB_TRAFFIC_RANDOM,
		.targets = nodes,
		.n_targets = n_nodes,
		.message_bytes = MESSAGE_BYTES,
		.size_dist = TB_SYNTH_FIXED,
		.depth = 2};
	struct tb_traffic *traffic = NULL;
	check(tb_traffic_new(&traffic, &job, 1, 1, &error), &error);
	free(nodes);
	return traffic;
}

// parts_of is into how many parts a network is cut for several threads; circuits into as
// many as there are threads.
static uint32_t parts_of(const struct tb_network *network, unsigned n_threads)
{
	struct tb_parts *parts = NULL;
	if (strcmp(network->params.switching, "circuits") == 0)
		return n_threads > 2 ? n_threads : 2;
	if (tb_parts_new(&parts, network, 0) != TB_OK)
		exit(1);
	uint32_t n = parts->n;
	tb_parts_free(parts);
	return n;
}

struct outcome {
	double n_packets, seconds;
};

// replay replays on so many threads, on 0 uncut.
static struct outcome replay(const struct tb_network *network, unsigned n_threads,
	double n_packets, bool finishes)
{
	struct tb_error error;
	struct tb_traffic *traffic = make_traffic(tb_network_n_nodes(network));
	struct tb_source source = tb_traffic_source(traffic);
	uint64_t n_records = 0;
	struct tb_observer observer = count_records(&n_records);
	struct tb_engine_options options = {.seed = 1,
		.n_parts = n_threads ? parts_of(network, n_threads) : 1,
		.n_threads = n_threads};
	struct tb_engine *engine;
	check(tb_engine_new(&engine, network, &source, &observer, &options, &error),
		&error);
	double begin = now_s();
	struct tb_engine_stats stats;
	do {
		check(tb_engine_run(engine, n_threads ? 4 : 4000, &error), &error);
		stats = tb_engine_stats_of(engine);
	} while ((double)stats.n_packets < n_packets);
	double seconds = now_s() - begin;
	if (finishes)
		check(tb_engine_finish(engine, &error), &error);
	tb_engine_free(engine);
	tb_traffic_free(traffic);
	return (struct outcome){(double)stats.n_packets, seconds};
}

static int by_value(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;
	return (a > b) - (a < b);
}

static struct tb_network *network_of(const struct scene *scene)
{
	struct tb_error error;
	struct tb_network_params params;
	struct tb_network *network;
	check(tb_network_preset(&params, scene->network, &error), &error);
	check(tb_network_open(&network,
		      &(struct tb_network_description){.params = &params}, &error),
		&error);
	return network;
}

static void measure(const struct scene *scene, bool smoke)
{
	struct tb_network *network = network_of(scene);
	double speeds[RUNS][TURNS];
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	int n = smoke ? 1 : TURNS;
	for (int turn = 0; turn < n; turn++)
		for (int run = 0; run < RUNS; run++)
			if (threads[run] <= cores || (smoke && threads[run] <= 2)) {
				struct outcome outcome = replay(network, threads[run],
					smoke ? 1 : scene->packets, true);
				speeds[run][turn] = outcome.n_packets / outcome.seconds;
			}
	for (int run = 0; run < RUNS && (smoke || threads[run] <= cores); run++) {
		if (smoke && threads[run] > 2)
			break;
		qsort(speeds[run], (size_t)n, sizeof(double), by_value);
		printf("parts_%s_%u_threads,%.0f,packets/s\n", scene->name, threads[run],
			speeds[run][n / 2]);
		if (threads[run] > 1)
			printf("parts_%s_%u_threads_gain,%.2f,times\n", scene->name,
				threads[run], speeds[run][n / 2] / speeds[1][n / 2]);
		fflush(stdout);
	}
	tb_network_free(network);
}

static int replay_once(const char *name, const char *n_packets, const char *threads_of)
{
	for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) {
		if (strcmp(name, scenes[i].name) != 0)
			continue;
		struct tb_network *network = network_of(&scenes[i]);
		struct outcome outcome =
			replay(network, (unsigned)strtoul(threads_of, NULL, 10),
				strtod(n_packets, NULL), false);
		tb_network_free(network);
		printf("%.0f\n", outcome.n_packets);
		return 0;
	}
	fprintf(stderr, "no scene is called %s\n", name);
	return 2;
}

int main(int argc, char **argv)
{
	if (argc == 5 && strcmp(argv[1], "--once") == 0)
		return replay_once(argv[2], argv[3], argv[4]);
	bool smoke = argc > 1 && strcmp(argv[1], "--smoke") == 0;
	int first = smoke ? 2 : 1;
	for (size_t i = 0; i < sizeof scenes / sizeof *scenes - smoke; i++) {
		bool wanted = argc == first;
		for (int a = first; a < argc; a++)
			wanted |= strcmp(argv[a], scenes[i].name) == 0;
		if (wanted)
			measure(&scenes[i], smoke);
	}
	return 0;
}
