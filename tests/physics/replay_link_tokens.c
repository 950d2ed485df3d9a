// Link tokens in closed form: two nodes that send each other all that they can share the
// time of each cable between packets and the tokens that these make due, so that of the
// link's rate 1 / (1 + tokens) is left; and traffic in one direction loses nothing,
// because its tokens cross idle links.
#include "../support/replay_saturated.h"

#include <math.h>
#include <stdio.h>

static const double shares[] = {0, 0.1, 0.2125, 0.5, 1};
enum { N_SHARES = sizeof shares / sizeof *shares };

// reached is the share of the links' rate that two nodes, of which `n_senders`
// send, reach.
static double reached(double link_tokens, uint32_t n_senders)
{
	char preset[192];
	snprintf(preset, sizeof preset,
		"qsnet,levels=1,arity=2,bus=none,payload=64K,overhead=0,fifo=128K,"
		"slice=0,ack_delay=0,send_overhead=0,receive_overhead=0,partners=0,"
		"link_tokens=%g",
		link_tokens);
	return saturated_share(&(struct saturated){.preset = preset,
		.n_nodes = 2,
		.n_senders = n_senders,
		.depth = 3,
		.n_warm = 1000,
		.n_measured = 20000});
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
