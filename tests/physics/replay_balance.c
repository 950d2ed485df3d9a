// Balances that hold whatever the traffic: Little's law, and conservation at any instant
// in which a replay is stopped, for engine and oracle.
#include "random.h"

#include "../support/replay_outcome.h"
#include "circuit_params.h"

#include <stdio.h>

enum { N_MESSAGES = 400 };

// random_lines makes messages of random pairs, sizes and times, a third of them to node
// 1, so that headers wait and FIFOs fill.
static void random_lines(struct line *lines, uint64_t seed, uint32_t n_nodes)
{
	struct tb_random random;
	tb_time_ps at = 0;
	tb_random_init(&random, seed, 0);
	for (size_t i = 0; i < N_MESSAGES; i++) {
		at += (tb_time_ps)tb_random_below(&random, 400000);
		lines[i] = (struct line){.at = at,
			.source = (uint32_t)tb_random_below(&random, n_nodes),
			.destination =
				tb_random_below(&random, 3) == 0
					? 1
					: (uint32_t)tb_random_below(&random, n_nodes),
			.bytes = tb_random_below(&random, 9000)};
	}
}

static const char *const presets[] = {"qsnet,levels=2", "qsnet,levels=2,vcs=1,fifo=64",
	"qsnet,levels=2,vcs=4,fifo=1K,payload=4K,bus=0",
	"qsnet,arity=2,levels=4,ascent=random,ack_delay=5us,hop_latency=1us",
	"qsnet,levels=2,rate=1GB/s,bus=200MB/s,bus_turn=600ns,link_tokens=0.2"};

// Little's law: the mean number of messages under way is the rate of their arrival times
// the mean of their latency. Over a whole replay both sides times its length are sums
// that must agree to the picosecond: of the number under way over time, which is read off
// after each instant, and of latencies, which the flows keep.
static void what_is_under_way_is_the_rate_times_the_latency(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof presets / sizeof *presets; i++) {
		struct tb_network *net = network_of(presets[i]);
		struct line lines[N_MESSAGES];
		struct script script = {lines, N_MESSAGES, 0};
		struct tb_source source = script_source(&script);
		struct tally tally;
		struct tb_observer observer =
			tally_observer(&tally, tb_network_n_links(net));
		struct tb_engine_options options = {.seed = i};
		struct tb_engine *engine = NULL;
		struct tb_engine_stats stats = {0};
		uint64_t under_way_ps = 0, latency_ps = 0;
		int status = 1;
		random_lines(lines, i, tb_network_n_nodes(net));
		assert_int_equal(
			tb_engine_new(&engine, net, &source, &observer, &options, NULL),
			TB_OK);
		while (status == 1) {
			uint64_t n = stats.n_posted - stats.n_delivered;
			tb_time_ps from = stats.now_ps;
			status = tb_engine_run(engine, 1, NULL);
			stats = tb_engine_stats_of(engine);
			under_way_ps += n * (uint64_t)(stats.now_ps - from);
		}
		assert_int_equal(status, TB_OK);
		assert_int_equal(tb_engine_finish(engine, NULL), TB_OK);
		for (size_t k = 0; k < N_MESSAGES; k++)
			latency_ps += (uint64_t)(lines[k].delivered - lines[k].at);
		assert_true(under_way_ps > 3 * (uint64_t)stats.now_ps);
		assert_int_equal(under_way_ps, latency_ps);
		assert_int_equal(under_way_ps, tally.flow_latency_ps);
		free(tally.links);
		tb_engine_free(engine);
		tb_network_free(net);
	}
}

// What has come to a switch or left it.
struct place {
	int64_t bytes, packets; // more that came than that left
	int64_t bytes_most, packets_most;
	int64_t bytes_slack; // of flits whose crossing has begun, and rounded
};

// stand adds up what stands at each switch of a replay that was cut short.
static void stand(
	const struct tb_network *net, const struct tally *tally, struct place *places)
{
	const struct tb_network_params *params = tb_network_params(net);
	for (uint32_t id = 0; id < tb_network_n_links(net); id++) {
		struct tb_link_info info = tb_network_link(net, (struct tb_link){id});
		const struct tb_link_sample *link = &tally->links[id];
		if (info.kind != TB_LINK_EJECTION) {
			struct place *to = &places[info.to];
			to->bytes += (int64_t)link->bytes;
			to->packets += (int64_t)link->n_packets;
			to->bytes_most += (int64_t)info.n_vcs * info.fifo_bytes;
			to->packets_most += info.n_vcs;
		}
		if (info.kind != TB_LINK_INJECTION) {
			struct place *from = &places[info.from];
			from->bytes -= (int64_t)link->bytes;
			from->packets -= (int64_t)link->n_packets;
			from->bytes_slack += tb_circuit_params(params)->flit_bytes + 1;
		}
	}
}

// check_standing: a switch holds no more bytes than its FIFOs and no more headers than
// its VCs, and it sends on nothing that has not come. All together are what entered the
// network and has not left it. Returns the bytes in the fullest FIFOs of a switch, in
// percent of what these hold.
static double check_standing(const struct tb_network *net, const struct outcome *outcome)
{
	uint32_t n = tb_network_n_switches(net);
	struct place *places = calloc(n, sizeof *places);
	int64_t packets = 0;
	double fullest = 0;
	uint64_t left = 0;
	assert_non_null(places);
	stand(net, &outcome->tally, places);
	for (uint32_t i = 0; i < n; i++) {
		assert_true(places[i].bytes >= -2 * places[i].packets_most);
		assert_true(
			places[i].bytes <= places[i].bytes_most + places[i].bytes_slack);
		assert_true(places[i].packets >= 0);
		assert_true(places[i].packets <= places[i].packets_most);
		packets += places[i].packets;
		double full =
			100.0 * (double)places[i].bytes / (double)places[i].bytes_most;
		fullest = full > fullest ? full : fullest;
	}
	for (uint32_t id = 0; id < outcome->n_links; id++)
		if (tb_network_link(net, (struct tb_link){id}).kind == TB_LINK_EJECTION)
			left += outcome->tally.links[id].n_packets;
	// Of the packets in the network some headers stand at switches, others are out at
	// the other end; those that were acknowledged have left both.
	assert_true(packets <= outcome->stats.n_in_flight);
	assert_true(outcome->stats.n_packets <= left);
	assert_true(left <= outcome->stats.n_packets + outcome->stats.n_in_flight);
	free(places);
	return fullest;
}

// cut_short replays so many instants.
static struct outcome cut_short(enum replayer by, const struct tb_network *net,
	struct line *lines, uint64_t n_instants)
{
	struct outcome outcome = {.n_links = tb_network_n_links(net)};
	struct script script = {lines, N_MESSAGES, 0};
	struct tb_source source = script_source(&script);
	struct tb_observer observer = tally_observer(&outcome.tally, outcome.n_links);
	struct replay replay = {.network = net,
		.source = &source,
		.observer = &observer,
		.options = {.seed = 1},
		.n_instants = n_instants};
	if (replay_by(by, &replay) != TB_OK)
		fail_msg("%s", replay.error.text);
	outcome.stats = replay.stats;
	return outcome;
}

static void what_came_and_has_not_left_stands_in_fifos(void **state)
{
	(void)state;
	static const uint64_t instants[N_REPLAYERS][4] = {
		[BY_ENGINE] = {200, 1000, 3000, 7000},
		[BY_ORACLE] = {2000, 6000, 12000, 20000}};
	for (size_t i = 0; i < sizeof presets / sizeof *presets; i++) {
		struct tb_network *net = network_of(presets[i]);
		double fullest = 0;
		for (enum replayer by = 0; by < N_REPLAYERS; by++)
			for (size_t k = 0; k < 4; k++) {
				struct line lines[N_MESSAGES];
				random_lines(lines, i, tb_network_n_nodes(net));
				struct outcome outcome =
					cut_short(by, net, lines, instants[by][k]);
				double full = check_standing(net, &outcome);
				fullest = full > fullest ? full : fullest;
				free(outcome.tally.links);
			}
		print_message("%s: FIFOs of a switch up to %.0f %% full\n", presets[i],
			fullest);
		assert_true(fullest > 25);
		tb_network_free(net);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_came_and_has_not_left_stands_in_fifos),
		cmocka_unit_test(what_is_under_way_is_the_rate_times_the_latency)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
