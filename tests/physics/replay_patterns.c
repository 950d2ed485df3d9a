// Steady traffic at full load, against what no parameter was set by: the flit-level
// simulator BookSim2, and the symmetry of the tree.
//
// BookSim2 (Jiang and others, "A detailed and flexible cycle-accurate network-on-chip
// simulator", 2013) simulates wormholes without circuits: a VC is free again when the
// last flit has left it, not when an acknowledgement has been back at the source. Its
// figures are of a 4-ary 3-tree with 2 VCs, packets of 189 flits, buffers of 64 flits and
// random ascent. Tailback has the same here: 378 bytes in flits of 2, FIFOs of 128 bytes;
// no bus, no overheads, no slices, no delay of acknowledgements. What a sender gets is a
// share of its link.
#include "engine.h"
#include "traffic.h"

#include "../support/replay_outcome.h"

#include <math.h>
#include <stdio.h>

enum { N_NODES = 64, GROUPS = 3, MESSAGES_DEEP = 8 };

struct traffic_run {
	struct tb_network *net;
	struct tb_traffic *traffic;
	struct tb_source source;
	struct tb_engine *engine;
};

static void begin(struct traffic_run *run, const char *preset,
	const struct tb_traffic_job *jobs, uint32_t n_jobs, uint64_t seed)
{
	struct tb_engine_options options = {.seed = seed, .without_blame = true};
	run->net = network_of(preset);
	assert_int_equal(tb_traffic_new(&run->traffic, jobs, n_jobs, seed, NULL), TB_OK);
	run->source = tb_traffic_source(run->traffic);
	assert_int_equal(
		tb_engine_new(&run->engine, run->net, &run->source, NULL, &options, NULL),
		TB_OK);
}

static void run_until(const struct traffic_run *run, tb_time_ps at)
{
	while (tb_engine_stats_of(run->engine).now_ps < at)
		assert_int_equal(tb_engine_run(run->engine, 500, NULL), 1);
}

static void end(struct traffic_run *run)
{
	tb_engine_free(run->engine);
	tb_traffic_free(run->traffic);
	tb_network_free(run->net);
}

static double share_of_link(const char *name, uint64_t seed)
{
	uint32_t nodes[N_NODES], targets[N_NODES], n_senders = 0;
	const struct tb_synth_pattern *pattern = NULL;
	const struct tb_synth_options options = {.n_nodes = N_NODES};
	bool random = strcmp(name, "uniform") == 0;
	assert_int_equal(tb_synth_pattern_find(&pattern, name, NULL), TB_OK);
	for (uint32_t i = 0; i < N_NODES; i++) {
		nodes[i] = i;
		targets[i] = random ? i : pattern->destination(&options, i, NULL);
		n_senders += random || targets[i] != i;
	}
	const struct tb_traffic_job job = {.senders = nodes,
		.n_senders = N_NODES,
		.rule = random ? TB_TRAFFIC_RANDOM : TB_TRAFFIC_FIXED,
		.targets = targets,
		.n_targets = N_NODES,
		.message_bytes = 378,
		.size_dist = TB_SYNTH_FIXED,
		.depth = MESSAGES_DEEP};
	struct traffic_run run;
	begin(&run,
		"qsnet,ascent=random,bus=0,link_tokens=0,ack_delay=0,slice=0,partners=0,"
		"fifo=128,"
		"payload=378,overhead=0,send_overhead=0,receive_overhead=0",
		&job, 1, seed);
	run_until(&run, 200 * TB_PS_PER_US);
	struct tb_engine_stats before = tb_engine_stats_of(run.engine);
	run_until(&run, TB_PS_PER_MS);
	struct tb_engine_stats after = tb_engine_stats_of(run.engine);
	double capacity = (double)tb_network_params(run.net)->link_bytes_per_s *
			  (double)(after.now_ps - before.now_ps) / (double)TB_PS_PER_S;
	end(&run);
	return (double)(after.payload_bytes - before.payload_bytes) / capacity /
	       n_senders;
}

// How near is near enough: the permutations collide in the tree as they do there, and
// come within 4 %. Uniform traffic collides at the destinations too, where a circuit is
// held for longer; it is allowed 8 % less, and no more than there.
static void patterns_get_what_booksim_gives_them(void **state)
{
	(void)state;
	static const struct {
		const char *pattern;
		double share, least, most; // of it
	} known[] = {{"uniform", 0.492, 0.92, 1.0}, {"complement", 0.546, 1.0, 1.04},
		{"bit-reversal", 0.561, 0.97, 1.01}, {"transpose", 0.573, 0.97, 1.01},
		{"shuffle", 0.567, 0.98, 1.02}};
	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		double share = share_of_link(known[i].pattern, 1);
		print_message("%s: %.3f of the link, by BookSim2 %.3f\n",
			known[i].pattern, share, known[i].share);
		assert_true(share >= known[i].least * known[i].share);
		assert_true(share <= known[i].most * known[i].share);
	}
}

// distance_group: 0 for nodes at the same switch, 1 for those below the same switch of
// level 1, 2 for the others.
static uint32_t distance_group(uint32_t a, uint32_t b)
{
	return a / 4 == b / 4 ? 0 : a / 16 == b / 16 ? 1 : 2;
}

// hot_spot measures how many messages a group's node sends to the hot node, and all
// together.
static void hot_spot(uint32_t hot, double per_node[GROUPS], double *all)
{
	uint32_t senders[GROUPS][N_NODES], n_senders[GROUPS] = {0}, targets[N_NODES];
	struct tb_traffic_job jobs[GROUPS];
	uint64_t before[GROUPS];
	for (uint32_t i = 0; i < N_NODES; i++) {
		uint32_t group = distance_group(i, hot);
		targets[i] = hot;
		if (i != hot)
			senders[group][n_senders[group]++] = i;
	}
	for (uint32_t i = 0; i < GROUPS; i++)
		jobs[i] = (struct tb_traffic_job){.senders = senders[i],
			.n_senders = n_senders[i],
			.rule = TB_TRAFFIC_FIXED,
			.targets = targets,
			.n_targets = n_senders[i],
			.message_bytes = 320,
			.size_dist = TB_SYNTH_FIXED,
			.depth = MESSAGES_DEEP};
	struct traffic_run run;
	begin(&run, "qsnet", jobs, GROUPS, 1);
	run_until(&run, 2 * TB_PS_PER_MS);
	for (uint32_t i = 0; i < GROUPS; i++)
		before[i] = tb_traffic_stats_of(run.traffic, i).n_done;
	run_until(&run, 22 * TB_PS_PER_MS);
	*all = 0;
	for (uint32_t i = 0; i < GROUPS; i++) {
		double n =
			(double)(tb_traffic_stats_of(run.traffic, i).n_done - before[i]);
		per_node[i] = n / n_senders[i];
		*all += n;
	}
	end(&run);
}

static void it_does_not_matter_which_node_is_hot(void **state)
{
	(void)state;
	static const uint32_t places[] = {0, 22, 41, 63};
	double first[GROUPS], first_all = 0;
	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		double per_node[GROUPS], all;
		hot_spot(places[i], per_node, &all);
		print_message("node %u: %.0f messages, %.1f, %.1f and %.1f a node\n",
			places[i], all, per_node[0], per_node[1], per_node[2]);
		if (i == 0) {
			memcpy(first, per_node, sizeof first);
			first_all = all;
		}
		assert_true(fabs(all / first_all - 1) < 0.01);
		for (size_t k = 0; k < GROUPS; k++)
			assert_true(fabs(per_node[k] / first[k] - 1) < 0.02);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(patterns_get_what_booksim_gives_them),
		cmocka_unit_test(it_does_not_matter_which_node_is_hot)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
