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
#include "../support/replay_saturated.h"

#include <math.h>
#include <stdio.h>

static double share_of_capacity(uint32_t n_ports)
{
	char preset[160];
	snprintf(preset, sizeof preset,
		"qsnet,levels=1,arity=%u,vcs=1,bus=none,link_tokens=0,payload=64K,"
		"overhead=0,fifo=128K,"
		"slice=0,ack_delay=0,send_overhead=0,receive_overhead=0,partners=0",
		n_ports);
	// Warm up for some 200 packets a node, measure for some 3000.
	return saturated_share(&(struct saturated){.preset = preset,
		.n_nodes = n_ports,
		.n_senders = n_ports,
		.depth = 2,
		.n_warm = n_ports * UINT64_C(1000),
		.n_measured = n_ports * UINT64_C(15000)});
}

static void a_saturated_crossbar_carries_what_input_queues_let_it(void **state)
{
	(void)state;
	static const struct {
		uint32_t n_ports;
		double share;
	} known[] = {{2, 1.000}, {4, 0.692}, {8, 0.625}, {16, 0.604}, {32, 0.594}};
	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		double share = share_of_capacity(known[i].n_ports);
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
