// One output as a queue: the mean wait of Poisson arrivals with a fixed service time is
// that of M/D/1, Pollaczek and Khinchine's rho S / (2 (1 - rho)).
//
// What makes it exact. One switch, one VC a link, packets of one message each, no bus and
// no overheads. Every message comes from a node whose message before it is long
// acknowledged, so that none waits at its source and the Poisson process of posts is, a
// hop later, that of headers at the switch. The server is the one VC of node 0's ejection
// link. It serves a packet of w bytes from the grant of this VC to its falling free:
//
//     S = T(w)         the flits cross, without a gap: they all fit the FIFO
//       + latency      of the wire
//       + ack_delay
//       + 2 hops       the acknowledgement goes back over both links
//       + 1 hop        the token comes to the ejection link
//
// and a VC that falls free is taken in the same instant by the oldest header that waits,
// so that the server never idles while one does.
#include "random.h"
#include "statistics.h"

#include "../support/replay_outcome.h"

#include <math.h>
#include <stdio.h>

enum { N_NODES = 256, N_SEEDS = 16, N_MESSAGES = 12000, N_WARM = 1000, PAYLOAD = 64 };

#define WIRE_PS	   ((PAYLOAD + 58) * 2500)
#define LATENCY_PS 35000
#define HOP_PS	   (LATENCY_PS + 2 * 2500)
#define ACK_PS	   200000
#define SERVICE_PS (WIRE_PS + LATENCY_PS + ACK_PS + 3 * HOP_PS)
// From post to delivery when nothing is in the way.
#define IDLE_PS (HOP_PS + WIRE_PS + LATENCY_PS)

static struct tb_network *one_switch(void)
{
	return network_of("qsnet,levels=1,arity=256,vcs=1,bus=none,ack_delay=200ns,"
			  "send_overhead=0,receive_overhead=0,partners=0");
}

static struct line *poisson(uint64_t seed, double load)
{
	struct tb_random random;
	struct line *lines = calloc(N_MESSAGES, sizeof *lines);
	double at = 0;
	tb_random_init(&random, seed, 0);
	for (uint32_t i = 0; i < N_MESSAGES; i++) {
		at += tb_random_exponential(&random) * SERVICE_PS / load;
		lines[i] = (struct line){.at = (tb_time_ps)at,
			.source = 1 + i % (N_NODES - 1),
			.bytes = PAYLOAD};
	}
	return lines;
}

// mean_wait is that of the messages behind the first ones; all waits together are what
// the injection links were charged.
static double mean_wait(const struct line *lines, const struct outcome *outcome)
{
	uint64_t all = 0;
	double sum = 0;
	for (uint32_t i = 0; i < N_MESSAGES; i++) {
		tb_time_ps wait = lines[i].delivered - lines[i].at - IDLE_PS;
		assert_true(wait >= 0);
		if (i >= N_NODES - 1)
			assert_true(lines[i - N_NODES + 1].sent < lines[i].at);
		all += (uint64_t)wait;
		sum += i < N_WARM ? 0 : (double)wait;
	}
	assert_int_equal(all, outcome->stats.wait_ps);
	assert_int_equal(all, outcome->tally.flow_wait_ps);
	return sum / (N_MESSAGES - N_WARM);
}

static void check_load(enum replayer by, double load, unsigned n_seeds)
{
	struct tb_network *net = one_switch();
	double means[N_SEEDS];
	for (unsigned seed = 0; seed < n_seeds; seed++) {
		struct line *lines = poisson(seed, load);
		struct outcome outcome = outcome_by(by, net, lines, N_MESSAGES,
			&(struct tb_engine_options){.seed = seed});
		means[seed] = mean_wait(lines, &outcome);
		drop(&outcome);
		free(lines);
	}
	struct tb_estimate wait = tb_estimate_of(means, n_seeds);
	double expected = load * SERVICE_PS / (2 * (1 - load));
	print_message("%s, load %.2f: wait %.1f +- %.1f ns, M/D/1 %.1f\n",
		replayer_names[by], load, wait.mean / 1000, wait.half_ci / 1000,
		expected / 1000);
	assert_true(fabs(wait.mean - expected) <= wait.half_ci);
	assert_true(wait.half_ci < 0.06 * expected);
	tb_network_free(net);
}

static void waits_at_one_output_are_those_of_m_d_1(void **state)
{
	(void)state;
	static const double loads[] = {0.1, 0.3, 0.5, 0.7, 0.9};
	for (size_t i = 0; i < sizeof loads / sizeof *loads; i++)
		check_load(BY_ENGINE, loads[i], N_SEEDS);
}

static void flit_by_flit_they_are_too(void **state)
{
	(void)state;
	check_load(BY_ORACLE, 0.5, 6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(waits_at_one_output_are_those_of_m_d_1),
		cmocka_unit_test(flit_by_flit_they_are_too),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
