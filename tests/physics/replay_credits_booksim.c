// Saturated traffic with credits on a 4-ary 3-tree and larger ones, against the
// flit-level simulator BookSim2 (Jiang and others, "A detailed and flexible
// cycle-accurate network-on-chip simulator", 2013), whose figures and settings are in
// tests/data/booksim.csv.
//
// A flit of BookSim2 is a block of 64 bytes here, and its cycle the time that this takes
// on a link. A packet has 65 flits, and a header needs three cycles from link to link. An
// input sends one packet at a time. What a sender gets is a share of its link.
//
// BookSim2 gives credits by the flit: a packet may begin while the one before it leaves
// the buffer ahead, and stop halfway. Here a packet needs room for all of it (C8), so
// with few packets in a buffer it takes one more to carry as much.
#include "engine.h"
#include "traffic.h"

#include "../support/replay_outcome.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { NODES_MOST = 256, PACKET_BYTES = 65 * 64 };

struct tree {
	uint32_t arity, levels, n_nodes;
};

static const struct tree small = {4, 3, 64};

struct flows {
	uint32_t all[NODES_MOST], senders[NODES_MOST], targets[NODES_MOST];
	uint32_t n; // senders: nodes that a permutation maps to themselves are silent
};

static struct tb_traffic_job job_of(struct flows *flows, const struct tree *tree,
	const char *name, unsigned buffer_packets)
{
	const struct tb_synth_pattern *pattern = NULL;
	const struct tb_synth_options options = {.n_nodes = tree->n_nodes};
	bool random = strcmp(name, "uniform") == 0;
	assert_int_equal(tb_synth_pattern_find(&pattern, name, NULL), TB_OK);
	flows->n = 0;
	for (uint32_t i = 0; i < tree->n_nodes; i++) {
		uint32_t target = random ? i : pattern->destination(&options, i, NULL);
		flows->all[i] = i;
		if (!random && target == i)
			continue;
		flows->senders[flows->n] = i;
		flows->targets[flows->n++] = target;
	}
	return (struct tb_traffic_job){.senders = flows->senders,
		.n_senders = flows->n,
		.rule = random ? TB_TRAFFIC_RANDOM : TB_TRAFFIC_FIXED,
		.targets = random ? flows->all : flows->targets,
		.n_targets = random ? tree->n_nodes : flows->n,
		.message_bytes = PACKET_BYTES,
		.size_dist = TB_SYNTH_FIXED,
		.depth = 8 * buffer_packets + 16};
}

static void run_until(struct tb_engine *engine, tb_time_ps at)
{
	while (tb_engine_stats_of(engine).now_ps < at)
		assert_int_equal(tb_engine_run(engine, 500, NULL), 1);
}

static double share_of_link(const struct tree *tree, const char *pattern,
	unsigned buffer_packets, unsigned *senders)
{
	struct flows flows;
	const struct tb_traffic_job job = job_of(&flows, tree, pattern, buffer_packets);
	const struct tb_engine_options options = {.seed = 1, .without_blame = true};
	struct tb_traffic *traffic = NULL;
	struct tb_engine *engine = NULL;
	char preset[320];
	snprintf(preset, sizeof preset,
		"ib-hdr,arity=%u,levels=%u,ascent=random,rate=25GB/s,hop_latency=7.68ns,"
		"payload=%d,overhead=0,first_overhead=0,buffer=%u,pcie=none,"
		"queues=fifo,input_speedup=1,queue_pairs=message,send_overhead=0,"
		"receive_overhead=0",
		tree->arity, tree->levels, PACKET_BYTES, buffer_packets * PACKET_BYTES);
	*senders = flows.n;
	struct tb_network *net = network_of(preset);
	assert_int_equal(tb_traffic_new(&traffic, &job, 1, 1, NULL), TB_OK);
	struct tb_source source = tb_traffic_source(traffic);
	assert_int_equal(
		tb_engine_new(&engine, net, &source, NULL, &options, NULL), TB_OK);
	run_until(engine, 200 * TB_PS_PER_US);
	struct tb_engine_stats before = tb_engine_stats_of(engine);
	run_until(engine, TB_PS_PER_MS);
	struct tb_engine_stats after = tb_engine_stats_of(engine);
	double capacity = (double)tb_network_params(net)->link_bytes_per_s *
			  (double)(after.now_ps - before.now_ps) / (double)TB_PS_PER_S;
	tb_engine_free(engine);
	tb_traffic_free(traffic);
	tb_network_free(net);
	return (double)(after.payload_bytes - before.payload_bytes) / capacity / flows.n;
}

// known returns BookSim2's mean over its seeds.
static double known(const char *pattern, unsigned buffer_packets, unsigned n_senders)
{
	char path[512], line[256], name[32];
	unsigned buffer, seed, senders, n = 0;
	double share, sum = 0;
	snprintf(path, sizeof path, "%s/tests/data/booksim.csv", getenv("TB_SOURCE"));
	FILE *file = fopen(path, "r");
	assert_non_null(file);
	while (fgets(line, sizeof line, file))
		if (sscanf(line, "%31[a-z-],%u,%u,%u,%lf", name, &buffer, &seed, &senders,
			    &share) == 5 &&
			strcmp(name, pattern) == 0 && buffer == buffer_packets &&
			senders == n_senders) {
			sum += share;
			n++;
		}
	fclose(file);
	assert_true(n > 0);
	return sum / n;
}

static const char *const patterns[] = {
	"uniform", "complement", "bit-reversal", "transpose", "shuffle"};

// check_one compares a pattern; `ours` packets in a buffer stand for `theirs`.
static void check_one(
	const struct tree *tree, const char *pattern, unsigned ours, unsigned theirs)
{
	unsigned senders = 0;
	double share = share_of_link(tree, pattern, ours, &senders);
	double other = known(pattern, theirs, senders);
	print_message("%u-ary %u-tree, %s, %u packets: %.3f of the link; BookSim2, %u: "
		      "%.3f (%+.1f %%)\n",
		tree->arity, tree->levels, pattern, ours, share, theirs, other,
		100 * (share / other - 1));
	assert_true(fabs(share / other - 1) < 0.05);
}

static void check(unsigned ours, unsigned theirs)
{
	for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
		check_one(&small, patterns[i], ours, theirs);
}

static void larger_trees_carry_what_booksim_carries(void **state)
{
	(void)state;
	// With a packet more the difference of the credits is gone.
	check_one(&(struct tree){6, 3, 216}, "uniform", 4, 4);
	check_one(&(struct tree){6, 3, 216}, "uniform", 5, 4);
	check_one(&(struct tree){16, 2, 256}, "transpose", 4, 4);
}

static void deep_buffers_carry_what_booksim_carries(void **state)
{
	(void)state;
	check(4, 4);
	check(16, 16);
}

static void shallow_ones_need_a_packet_more(void **state)
{
	(void)state;
	check(2, 1);
	check(3, 2);
}

int main(void)
{
	if (!getenv("TB_SOURCE")) {
		puts("skipped: TB_SOURCE does not say where booksim.csv is");
		return 77;
	}
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(deep_buffers_carry_what_booksim_carries),
		cmocka_unit_test(larger_trees_carry_what_booksim_carries),
		cmocka_unit_test(shallow_ones_need_a_packet_more)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
