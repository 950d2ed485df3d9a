// The engine's speed and size, recording into memory: saturated traffic on networks of 64
// to 65,536 nodes. Every scene is replayed in turns, in a process of its own; the median
// of processor time is told.
//
//   bench_replay_engine [--smoke] [SCENE...]
//   bench_replay_engine --once SCENE PACKETS
//
// --once replays a scene in this process, with everything recorded, and prints how many
// packets were delivered: for instructions.sh, which counts what main calls.
#include "../support/count_records.h"

#include "engine.h"
#include "network_open.h"
#include "preset.h"
#include "traffic.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { TURNS = 5, MESSAGE_BYTES = 262144 };

struct scene {
	const char *name, *network;
	const char *pattern; // NULL: random destinations
	double packets;	     // to deliver, about
	bool blame;	     // is kept
};

static const struct scene scenes[] = {
	{"complement", "qsnet", "complement", 2e6, false},
	{"bit-reversal", "qsnet", "bit-reversal", 1e6, false},
	{"uniform", "qsnet", NULL, 1e6, false},
	{"uniform_1024", "qsnet,levels=5", NULL, 1e6, false},
	{"uniform_4096", "qsnet,arity=16,levels=3", NULL, 1e6, false},
	{"uniform_4ary6", "qsnet,levels=6", NULL, 1e6, false},
	{"uniform_65536", "qsnet,arity=16,levels=4", NULL, 4e5, false},
	{"credits", "ib-hdr,arity=4,levels=3", NULL, 2e6, true},
	{"credits_4096", "ib-hdr,arity=16,levels=3", NULL, 1e6, true},
	{"credits_65536", "ib-hdr,arity=16,levels=4", NULL, 4e5, true},
	{"ethernet", "ethernet", NULL, 5e5, true},
};

struct figures {
	double seconds, packets, hops, events;
	double link_bytes, packet_bytes; // of the engine's memory, a link and a packet
	double peak_bytes;		 // of the process
};

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

static double now_s(void)
{
	struct timespec now;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double resident_bytes(void)
{
	struct rusage usage;
	getrusage(RUSAGE_SELF, &usage);
	return (double)usage.ru_maxrss * 1024;
}

// make_traffic lets every node keep two messages, so that it never idles.
static struct tb_traffic *make_traffic(const struct scene *scene, uint32_t n_nodes)
{
	struct tb_error error;
	uint32_t *nodes = malloc(n_nodes * sizeof *nodes);
	uint32_t *targets = malloc(n_nodes * sizeof *targets);
	if (!nodes || !targets)
		exit(1);
	for (uint32_t i = 0; i < n_nodes; i++)
		nodes[i] = targets[i] = i;
	enum tb_traffic_rule rule = TB_TRAFFIC_RANDOM;
	if (scene->pattern) {
		rule = TB_TRAFFIC_FIXED;
		unsigned bits = (unsigned)__builtin_ctz(n_nodes);
		for (uint32_t i = 0; i < n_nodes; i++) {
			targets[i] = n_nodes - 1 - i;
			if (strcmp(scene->pattern, "bit-reversal") != 0)
				continue;
			targets[i] = 0;
			for (unsigned b = 0; b < bits; b++)
				targets[i] |= (i >> b & 1) << (bits - 1 - b);
		}
	}
	struct tb_traffic_job job = {.senders = nodes,
		.n_senders = n_nodes,
		.rule = rule,
		.targets = targets,
		.n_targets = n_nodes,
		.message_bytes = MESSAGE_BYTES,
		.size_dist = TB_SYNTH_FIXED,
		.depth = 2};
	struct tb_traffic *traffic = NULL;
	check(tb_traffic_new(&traffic, &job, 1, 1, &error), &error);
	free(nodes);
	free(targets);
	return traffic;
}

static struct figures replay(const struct scene *scene, double n_packets, bool everything)
{
	struct tb_error error;
	struct tb_network_params params;
	struct tb_network *network;
	check(tb_network_preset(&params, scene->network, &error), &error);
	check(tb_network_open(&network,
		      &(struct tb_network_description){.params = &params}, &error),
		&error);
	struct tb_traffic *traffic = make_traffic(scene, tb_network_n_nodes(network));
	struct tb_source source = tb_traffic_source(traffic);
	uint64_t n_records = 0;
	struct tb_observer observer = count_records(&n_records);
	if (!everything) {
		observer.flows = NULL;
		observer.messages = NULL;
	}
	if (!scene->blame && !everything)
		observer.blame = NULL;
	struct tb_engine_options options = {.seed = 1};
	struct tb_engine *engine;
	check(tb_engine_new(&engine, network, &source, &observer, &options, &error),
		&error);
	// In parts a step is a window, which has many packets of a large network.
	uint64_t n_steps = everything || n_packets <= 1 ? 10 : 1000;
	double begin = now_s();
	struct tb_engine_stats stats;
	do {
		check(tb_engine_run(engine, n_steps, &error), &error);
		stats = tb_engine_stats_of(engine);
	} while ((double)stats.n_packets < n_packets);
	double seconds = now_s() - begin;
	struct figures figures = {.seconds = seconds,
		.packets = (double)stats.n_packets,
		.hops = (double)stats.n_hops,
		.events = (double)stats.n_events,
		.link_bytes = stats.link_bytes,
		.packet_bytes = stats.packet_bytes,
		.peak_bytes = resident_bytes()};
	check(tb_engine_finish(engine, &error), &error);
	tb_engine_free(engine);
	tb_traffic_free(traffic);
	tb_network_free(network);
	return figures;
}

// replay_apart replays in a process of its own, so that its memory is its own.
static struct figures replay_apart(const struct scene *scene, double n_packets)
{
	struct figures figures;
	int ends[2];
	if (pipe(ends) != 0)
		exit(1);
	pid_t child = fork();
	if (child == 0) {
		figures = replay(scene, n_packets, false);
		_exit(write(ends[1], &figures, sizeof figures) != sizeof figures);
	}
	close(ends[1]);
	if (read(ends[0], &figures, sizeof figures) != sizeof figures)
		exit(1);
	close(ends[0]);
	waitpid(child, NULL, 0);
	return figures;
}

static int by_seconds(const void *left, const void *right)
{
	double a = ((const struct figures *)left)->seconds /
		   ((const struct figures *)left)->packets;
	double b = ((const struct figures *)right)->seconds /
		   ((const struct figures *)right)->packets;
	return (a > b) - (a < b);
}

static void measure(const struct scene *scene, bool smoke)
{
	struct figures turns[TURNS];
	int n = smoke ? 1 : TURNS;
	for (int i = 0; i < n; i++)
		turns[i] = replay_apart(scene, smoke ? 1 : scene->packets);
	qsort(turns, (size_t)n, sizeof *turns, by_seconds);
	struct figures f = turns[n / 2];
	printf("engine_%s,%.0f,packets/s\n", scene->name, f.packets / f.seconds);
	printf("engine_%s_hop,%.1f,ns/packet-hop\n", scene->name,
		1e9 * f.seconds / f.hops);
	printf("engine_%s_events,%.1f,events/packet\n", scene->name,
		f.events / f.packets);
	printf("engine_%s_peak,%.1f,MiB\n", scene->name, f.peak_bytes / 1048576);
	printf("engine_%s_link,%.0f,bytes\n", scene->name, f.link_bytes);
	printf("engine_%s_packet,%.0f,bytes\n", scene->name, f.packet_bytes);
	fflush(stdout);
}

static int replay_once(const char *name, const char *n_packets)
{
	for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) {
		if (strcmp(name, scenes[i].name) != 0)
			continue;
		struct figures f = replay(&scenes[i], strtod(n_packets, NULL), true);
		printf("%.0f\n", f.packets);
		return 0;
	}
	fprintf(stderr, "no scene is called %s\n", name);
	return 2;
}

int main(int argc, char **argv)
{
	if (argc == 4 && strcmp(argv[1], "--once") == 0)
		return replay_once(argv[2], argv[3]);
	bool smoke = argc > 1 && strcmp(argv[1], "--smoke") == 0;
	int first = smoke ? 2 : 1;
	for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) {
		bool wanted = argc == first;
		for (int a = first; a < argc; a++)
			wanted |= strcmp(argv[a], scenes[i].name) == 0;
		if (wanted)
			measure(&scenes[i], smoke);
	}
	return 0;
}
