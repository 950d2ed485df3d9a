// Link tokens in closed form: two nodes that send each other all that they can share the
// time of each cable between packets and the tokens that these make due, so that of the
// link's rate 1 / (1 + tokens) is left; and traffic in one direction loses nothing,
// because its tokens cross idle links.
#include "engine.h"
#include "traffic.h"

#include "../support/replay_outcome.h"

#include <math.h>
#include <stdio.h>

static double shares[] = {0, 0.1, 0.2125, 0.5, 1};
enum { N_SHARES = sizeof shares / sizeof *shares };

// reached is the share of the links' rate that two nodes, of which `n_senders`
// send, reach.
static double reached(double link_tokens, uint32_t n_senders)
{
	static const uint32_t nodes[] = {0, 1};
	char preset[192];
	struct tb_error error = {0};
	struct tb_traffic *traffic = NULL;
	struct tb_engine *engine = NULL;
	snprintf(preset, sizeof preset,
		"qsnet,levels=1,arity=2,bus=none,payload=64K,overhead=0,fifo=128K,"
		"slice=0,ack_delay=0,send_overhead=0,receive_overhead=0,partners=0,"
		"link_tokens=%g",
		link_tokens);
	struct tb_network *net = network_of(preset);
	const struct tb_traffic_job job = {.senders = nodes,
		.n_senders = n_senders,
		.rule = TB_TRAFFIC_RANDOM,
		.targets = nodes,
		.n_targets = 2,
		.message_bytes = 65536,
		.size_dist = TB_SYNTH_FIXED,
		.depth = 3};
	assert_int_equal(tb_traffic_new(&traffic, &job, 1, 1, &error), TB_OK);
	const struct tb_source source = tb_traffic_source(traffic);
	const struct tb_engine_options options = {.seed = 1, .without_blame = true};
	assert_int_equal(
		tb_engine_new(&engine, net, &source, NULL, &options, &error), TB_OK);
	assert_int_equal(tb_engine_run(engine, 1000, &error), 1);
	struct tb_engine_stats before = tb_engine_stats(engine);
	assert_int_equal(tb_engine_run(engine, 20000, &error), 1);
	struct tb_engine_stats after = tb_engine_stats(engine);
	double seconds = (double)(after.now_ps - before.now_ps) / (double)TB_PS_PER_S;
	double bytes = (double)(after.payload_bytes - before.payload_bytes);
	double rate = (double)tb_network_params(net)->link_bytes_per_s;
	tb_engine_free(engine);
	tb_traffic_free(traffic);
	tb_network_free(net);
	return bytes / seconds / rate / n_senders;
}

static void tokens_take_their_share_of_a_cable_that_is_busy_both_ways(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_SHARES; i++) {
		double share = reached(shares[i], 2);
		print_message("%g tokens a byte: %.4f of the rate, closed form %.4f\n",
			shares[i], share, 1 / (1 + shares[i]));
		assert_true(fabs(share * (1 + shares[i]) - 1) < 0.002);
	}
}

static void traffic_in_one_direction_loses_nothing(void **state)
{
	(void)state;
	double without = reached(0, 1);
	for (size_t i = 1; i < N_SHARES; i++)
		assert_true(fabs(reached(shares[i], 1) / without - 1) < 0.001);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			tokens_take_their_share_of_a_cable_that_is_busy_both_ways),
		cmocka_unit_test(traffic_in_one_direction_loses_nothing)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
