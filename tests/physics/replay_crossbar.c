// One crossbar, saturated: every node always has a packet for one of the others, drawn at
// random. Packets are so long that overheads do not count, and a link has one VC, so that
// a header that waits holds its input: the input-queued switch of Karol, Hluchyj and
// Morgan
// ("Input versus output queueing on a space-division packet switch", 1987), with circuits
// in the place of slots and without packets to oneself.
//
// The shares of the links' capacity that a slotted Monte Carlo simulation of that switch
// gives, none of which set a parameter: 1.000, 0.692, 0.625, 0.604 and 0.594 for 2, 4, 8,
// 16 and 32 ports. Without slots a freed output meets the inputs one by one, which is the
// reason for the tolerance of one per cent.
#include "engine.h"
#include "traffic.h"

#include "../support/replay_outcome.h"

#include <math.h>
#include <stdio.h>

enum { PORTS_MOST = 32 };

static double share_of_capacity(uint32_t n_ports, uint64_t seed)
{
	char preset[160];
	uint32_t nodes[PORTS_MOST];
	struct tb_error error = {0};
	struct tb_traffic *traffic = NULL;
	struct tb_engine *engine = NULL;
	snprintf(preset, sizeof preset,
		"qsnet,levels=1,arity=%u,vcs=1,bus=none,link_tokens=0,payload=64K,"
		"overhead=0,fifo=128K,"
		"slice=0,ack_delay=0,send_overhead=0,receive_overhead=0,partners=0",
		n_ports);
	struct tb_network *net = network_of(preset);
	for (uint32_t i = 0; i < n_ports; i++)
		nodes[i] = i;
	const struct tb_traffic_job job = {.senders = nodes,
		.n_senders = n_ports,
		.rule = TB_TRAFFIC_RANDOM,
		.targets = nodes,
		.n_targets = n_ports,
		.message_bytes = 65536,
		.size_dist = TB_SYNTH_FIXED,
		.depth = 2};
	assert_int_equal(tb_traffic_new(&traffic, &job, 1, seed, &error), TB_OK);
	const struct tb_source source = tb_traffic_source(traffic);
	const struct tb_engine_options options = {.seed = seed, .without_blame = true};
	assert_int_equal(
		tb_engine_new(&engine, net, &source, NULL, &options, &error), TB_OK);
	// Warm up for some 200 packets a node, measure for some 3000.
	assert_int_equal(tb_engine_run(engine, n_ports * 1000, &error), 1);
	struct tb_engine_stats before = tb_engine_stats(engine);
	assert_int_equal(tb_engine_run(engine, n_ports * 15000, &error), 1);
	struct tb_engine_stats after = tb_engine_stats(engine);
	double seconds = (double)(after.now_ps - before.now_ps) / (double)TB_PS_PER_S;
	double bytes = (double)(after.payload_bytes - before.payload_bytes);
	double rate = (double)tb_network_params(net)->link_bytes_per_s;
	tb_engine_free(engine);
	tb_traffic_free(traffic);
	tb_network_free(net);
	return bytes / seconds / rate / n_ports;
}

static void a_saturated_crossbar_carries_what_input_queues_let_it(void **state)
{
	(void)state;
	static const struct {
		uint32_t n_ports;
		double share;
	} known[] = {{2, 1.000}, {4, 0.692}, {8, 0.625}, {16, 0.604}, {32, 0.594}};
	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		double share = share_of_capacity(known[i].n_ports, 1);
		print_message("%u ports: %.4f, known %.3f\n", known[i].n_ports, share,
			known[i].share);
		assert_true(fabs(share / known[i].share - 1) < 0.01);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_saturated_crossbar_carries_what_input_queues_let_it)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
