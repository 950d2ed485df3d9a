// Congestion control over lossless Ethernet (docs/credits.md, C33 to C37): what it does
// for a flow that shares a link with an incast, and that it leaves others alone.
#include "replay_outcome.h"

#include "preset.h"

#include <stdio.h>

// Two switches of four nodes each, joined by a single link over a third one.
#define TREE "roce-100,shape=pgft(2; 4,2; 1,1; 1,1)"

// gbits_of_victim: three nodes, and one beside it, send 200 MB each to node 4 of the
// other switch. The victim sends 60 MB over the shared link to node 5, which is idle.
static double gbits_of_victim(const char *preset)
{
	struct line lines[5];
	for (uint32_t i = 0; i < 4; i++)
		lines[i] = (struct line){
			.source = i < 3 ? i : 6, .destination = 4, .bytes = 200000000};
	lines[4] = (struct line){.source = 3, .destination = 5, .bytes = 60000000};
	struct tb_network *net = network_of(preset);
	struct outcome outcome = replay(net, lines, 5, 1, 0);
	drop(&outcome);
	tb_network_free(net);
	print_message(
		"%s: %.1f Gbit/s\n", preset, 60e6 * 8e3 / (double)lines[4].delivered);
	return 60e6 * 8e3 / (double)lines[4].delivered;
}

static void a_victim_gets_more_where_senders_are_slowed(void **state)
{
	(void)state;
	double without = gbits_of_victim(TREE);
	double with = gbits_of_victim(TREE ",congestion_control=dcqcn");
	// The shared link carries what the hot node takes from it, half of its link, in
	// three shares, and a fourth for the victim.
	assert_true(without > 100.0 / 6 * 0.97 && without < 100.0 / 6 * 1.03);
	// Four senders to the hot node with a quarter of its link each leave a quarter.
	assert_true(with > 1.2 * without && with < 26);
}

static void one_flow_alone_is_never_slowed(void **state)
{
	(void)state;
	tb_time_ps took[2];
	static const char *const presets[] = {
		TREE, TREE ",congestion_control=dcqcn,ecn_min=0"};
	for (int i = 0; i < 2; i++) {
		struct line line = {.source = 0, .destination = 5, .bytes = 20000000};
		struct tb_network *net = network_of(presets[i]);
		struct outcome outcome = replay(net, &line, 1, 1, 0);
		took[i] = line.delivered;
		drop(&outcome);
		tb_network_free(net);
	}
	assert_int_equal(took[0], took[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_victim_gets_more_where_senders_are_slowed),
		cmocka_unit_test(one_flow_alone_is_never_slowed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
