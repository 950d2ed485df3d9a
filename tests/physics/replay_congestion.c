// Congestion control (docs/credits.md, C33 to C37 and C40): what it does for a flow that
// shares a link with an incast, and that it leaves others alone.
#include "replay_outcome.h"

#include "preset.h"

#include <stdio.h>

// Two switches of four nodes each, joined by a single link over a third one.
#define SHAPE ",shape=pgft(2; 4,2; 1,1; 1,1)"
#define ROCE  "roce-100" SHAPE
#define IB    "ib-hdr" SHAPE

enum { N_HOT = 4, VICTIM = N_HOT };

struct rates { // Gbit/s
	double victim;
	double hot[N_HOT]; // to the node of the incast; the last begins beside it
};

// rates_of: three nodes, and one beside it, send 200 MB each to node 4 of the other
// switch. The victim sends 60 MB over the shared link to node 5, which is idle.
static struct rates rates_of(const char *preset)
{
	struct line lines[N_HOT + 1];
	for (uint32_t i = 0; i < N_HOT; i++)
		lines[i] = (struct line){
			.source = i < 3 ? i : 6, .destination = 4, .bytes = 200000000};
	lines[VICTIM] = (struct line){.source = 3, .destination = 5, .bytes = 60000000};
	struct tb_network *net = network_of(preset);
	struct outcome outcome = replay(net, lines, N_HOT + 1, 1, 0);
	drop(&outcome);
	tb_network_free(net);
	struct rates rates = {60e6 * 8e3 / (double)lines[VICTIM].delivered, {0}};
	for (uint32_t i = 0; i < N_HOT; i++)
		rates.hot[i] = 200e6 * 8e3 / (double)lines[i].delivered;
	print_message("%s: victim %.1f Gbit/s, hot %.1f %.1f %.1f, beside it %.1f\n",
		preset, rates.victim, rates.hot[0], rates.hot[1], rates.hot[2],
		rates.hot[3]);
	return rates;
}

static void a_victim_gets_more_where_senders_are_slowed(void **state)
{
	(void)state;
	double without = rates_of(ROCE).victim;
	double with = rates_of(ROCE ",congestion_control=dcqcn").victim;
	// The shared link carries what the hot node takes from it, half of its link, in
	// three shares, and a fourth for the victim.
	assert_true(without > 100.0 / 6 * 0.97 && without < 100.0 / 6 * 1.03);
	// Four senders to the hot node with a quarter of its link each leave a quarter.
	assert_true(with > 1.2 * without && with < 26);
}

static void infiniband_frees_the_victim_and_shares_by_flow(void **state)
{
	(void)state;
	struct rates without = rates_of(IB);
	struct rates with = rates_of(IB ",congestion_control=fecn");
	// The hot node's link in halves, one of them in three and a third for the victim.
	assert_true(without.victim > 200.0 / 6 * 0.97 && without.victim < 200.0 / 6);
	assert_true(without.hot[3] > 1.9 * without.hot[0]); // the parking lot
	// Now by flow: what four quarters of the hot link leave of the shared one is 50.
	assert_true(with.victim > 1.3 * without.victim && with.victim < 50);
	for (uint32_t i = 0; i < N_HOT; i++)
		assert_true(with.hot[i] > 0.8 * 50 && with.hot[i] < 1.2 * 50);
}

static void one_flow_alone_is_never_slowed(void **state)
{
	(void)state;
	static const char *const presets[][2] = {
		{ROCE, ROCE ",congestion_control=dcqcn,ecn_min=0"},
		{IB, IB ",congestion_control=fecn"}};
	for (int p = 0; p < 2; p++) {
		tb_time_ps took[2];
		for (int i = 0; i < 2; i++) {
			struct line line = {
				.source = 0, .destination = 5, .bytes = 20000000};
			struct tb_network *net = network_of(presets[p][i]);
			struct outcome outcome = replay(net, &line, 1, 1, 0);
			took[i] = line.delivered;
			drop(&outcome);
			tb_network_free(net);
		}
		assert_int_equal(took[0], took[1]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_victim_gets_more_where_senders_are_slowed),
		cmocka_unit_test(infiniband_frees_the_victim_and_shares_by_flow),
		cmocka_unit_test(one_flow_alone_is_never_slowed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
