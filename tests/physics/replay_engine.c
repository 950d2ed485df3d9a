// The engine against closed forms: latency on an idle network, one stream's bandwidth,
// the bus, conservation, and figures that must agree whichever way they are summed.
#include "engine.h"
#include "network_builder.h"
#include "random.h"
#include "workers.h"

#include "../support/replay_outcome.h"
#include "preset.h"

#include "circuit_params.h"
#include <math.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

// Recomputed when the model changes, never otherwise.
#define PINNED_HASH UINT64_C(0x61b2616d72508f3a)

static void one_packet_takes_the_sum_of_its_way(void **state)
{
	(void)state;
	struct tb_network *net = network_of("qsnet");
	static const uint32_t to[] = {1, 5, 63};
	for (int i = 0; i < 3; i++)
		for (uint64_t bytes = 0; bytes <= 320; bytes += 64) {
			struct line line = {1000, 0, to[i], bytes, 0, 0, 0, 0, 0};
			struct outcome outcome = replay(net, &line, 1, 1, 0);
			tb_time_ps links = 2 * i + 2;
			// Overheads, fetch, a hop of 40 ns a link but the last, the
			// packet at 2.5 ns a byte, the last wire, the drain.
			tb_time_ps bus = (tb_time_ps)((double)bytes * 1e12 / 800e6 + 0.5);
			tb_time_ps expected = 1000000 + bus + (links - 1) * 40000 +
					      (tb_time_ps)(bytes + 58) * 2500 + 35000 +
					      bus + 700000;
			assert_int_equal(line.delivered - line.at, expected);
			assert_int_equal(tb_engine_ideal_ps(net, (struct tb_node){0},
						 (struct tb_node){to[i]}, bytes),
				expected);
			// The acknowledgement: 200 ns at the node, 40 ns a link back.
			assert_int_equal(line.sent - line.at,
				expected - 700000 - bus + 200000 + links * 40000);
			assert_int_equal(outcome.stats.wait_ps, 0);
			drop(&outcome);
		}
	tb_network_free(net);
}

// Two headers meet at a switch: one gets the VC of the link to node 0, or the other has
// to wait for it with its whole packet.
static void a_header_that_waits_queues_its_packet(void **state)
{
	(void)state;
	struct tb_network *net = network_of("qsnet,vcs=1");
	struct line lines[2] = {{.source = 1, .destination = 0, .bytes = 320},
		{.source = 2, .destination = 0, .bytes = 320}};
	struct outcome outcome = replay(net, lines, 2, 1, 0);
	uint32_t n_queues = 0;
	for (uint32_t i = 0; i < outcome.n_links; i++) {
		const struct tb_link_sample *sum = &outcome.tally.links[i];
		assert_int_equal(
			sum->largest_queue_bytes, sum->came_by_ps ? 320 + 58 : 0);
		n_queues += sum->largest_queue_bytes > 0;
	}
	assert_int_equal(n_queues, 1);
	drop(&outcome);
	tb_network_free(net);
}

static void a_network_of_no_known_switching_is_refused(void **state)
{
	(void)state;
	struct tb_network_params params;
	struct tb_network *net = NULL;
	assert_int_equal(tb_network_preset(&params, "qsnet", NULL), TB_OK);
	snprintf(params.switching, sizeof params.switching, "boats");
	assert_int_equal(
		tb_network_open(
			&net, &(struct tb_network_description){.params = &params}, NULL),
		TB_OK);
	struct script script = {NULL, 0, 0};
	struct tb_source source = script_source(&script);
	struct tb_engine *engine = NULL;
	struct tb_error error = {0};
	assert_int_equal(tb_engine_new(&engine, net, &source, NULL,
				 &(struct tb_engine_options){.seed = 1}, &error),
		TB_EUSAGE);
	assert_non_null(strstr(error.text, "boats"));
	assert_null(engine);
	tb_network_free(net);
}

static double rate_of(const struct line *line)
{
	return (double)line->bytes / ((double)(line->delivered - line->at) / 1e12) / 1e6;
}

static void one_stream_fills_the_link_in_spite_of_the_round_trip(void **state)
{
	(void)state;
	struct tb_network *net = network_of("qsnet");
	struct line line = {0, 0, 63, 16 << 20, 0, 0, 0, 0, 0};
	struct outcome outcome = replay(net, &line, 1, 1, 0);
	// 320 of 378 bytes at 400 MB/s are 338.6 MB/s; paper 000, 5.1 measured 335.
	assert_true(fabs(rate_of(&line) - 338.6) < 0.5);
	drop(&outcome);
	tb_network_free(net);
}

static void one_vc_leaves_the_link_idle_for_the_round_trip(void **state)
{
	(void)state;
	struct tb_network *net = network_of("qsnet,vcs=1");
	struct line line = {0, 0, 63, 16 << 20, 0, 0, 0, 0, 0};
	struct outcome outcome = replay(net, &line, 1, 1, 0);
	// The next header enters when the circuit is closed: 5 hops, the packet, the
	// wire, the node's 200 ns and 6 hops back.
	double circuit_us = 0.2 + 0.945 + 0.035 + 0.2 + 0.24;
	assert_true(fabs(rate_of(&line) - 320 / circuit_us) < 0.5);
	drop(&outcome);
	tb_network_free(net);
}

static void two_streams_share_a_node_s_bus(void **state)
{
	(void)state;
	static const struct {
		const char *preset;
		double each_route;
	} buses[] = {{"qsnet,bus=560MB/s,link_tokens=0", 280}, {"qsnet,bus=320MB/s", 160},
		// Two streams that begin together alternate: of 320 bytes each, 1.6 us
		// out, a turn, 1.6 us in, a turn.
		{"qsnet,bus=200MB/s,bus_turn=600ns", 320 / 4.4}};
	for (size_t i = 0; i < sizeof buses / sizeof *buses; i++) {
		struct tb_network *net = network_of(buses[i].preset);
		struct line lines[] = {{0, 0, 63, 16 << 20, 0, 0, 0, 0, 0},
			{0, 63, 0, 16 << 20, 0, 0, 0, 0, 0}};
		struct outcome outcome = replay(net, lines, 2, 1, 0);
		for (size_t j = 0; j < 2; j++)
			if (fabs(rate_of(&lines[j]) / buses[i].each_route - 1) > 0.005)
				fail_msg("%s: %g MB/s", buses[i].preset,
					rate_of(&lines[j]));
		drop(&outcome);
		tb_network_free(net);
	}
}

static void the_closed_form_of_a_message_holds(void **state)
{
	(void)state;
	static const char *const presets[] = {
		"qsnet", "qsnet,vcs=1", "qsnet,bus=200MB/s", "qsnet,bus=0,ack_delay=5us"};
	for (size_t i = 0; i < sizeof presets / sizeof *presets; i++) {
		struct tb_network *net = network_of(presets[i]);
		for (uint64_t bytes = 1; bytes < 100000; bytes = bytes * 3 + 100) {
			struct line line = {0, 2, 44, bytes, 0, 0, 0, 0, 0};
			struct outcome outcome = replay(net, &line, 1, 1, 0);
			double ideal = (double)tb_engine_ideal_ps(
				net, (struct tb_node){2}, (struct tb_node){44}, bytes);
			double error = (double)line.delivered / ideal - 1;
			if (fabs(error) > 0.01)
				fail_msg("%s, %d bytes: %.0f ps, closed form %.0f",
					presets[i], (int)bytes, (double)line.delivered,
					ideal);
			drop(&outcome);
		}
		tb_network_free(net);
	}
}

static void a_message_to_oneself_crosses_no_link(void **state)
{
	(void)state;
	struct tb_network *net = network_of("qsnet,bus=560MB/s");
	struct line line = {0, 7, 7, 5600, 0, 0, 0, 0, 0};
	struct outcome outcome = replay(net, &line, 1, 1, 0);
	assert_int_equal(line.delivered, 1000000 + 20000000 + 700000);
	assert_int_equal(outcome.stats.n_hops, 0);
	drop(&outcome);
	// 56 GB, twice over the bus at 560 MB/s.
	line = (struct line){0, 7, 7, UINT64_C(56000000000), 0, 0, 0, 0, 0};
	outcome = replay(net, &line, 1, 1, 0);
	// The time of a byte has 20 binary places.
	assert_true(llabs(line.delivered - 200 * TB_PS_PER_S - 1700000) < 20000);
	drop(&outcome);
	tb_network_free(net);
}

// random_lines makes messages of random pairs, sizes and times.
static struct line *random_lines(uint64_t seed, size_t n, uint32_t n_nodes, uint64_t most)
{
	struct tb_random random;
	tb_random_init(&random, seed, 0);
	struct line *lines = calloc(n, sizeof *lines);
	tb_time_ps at = 0;
	for (size_t i = 0; i < n; i++) {
		at += (tb_time_ps)tb_random_below(&random, 200000);
		lines[i] = (struct line){.at = at,
			.source = (uint32_t)tb_random_below(&random, n_nodes),
			.destination = (uint32_t)tb_random_below(&random, n_nodes),
			.bytes = tb_random_below(&random, most)};
	}
	return lines;
}

// check_records: whatever was sent crossed every link of its way once; sums agree
// whichever way they are made.
static void check_records(const struct tb_network *net, const struct line *lines,
	size_t n, struct outcome *outcome)
{
	const struct tb_network_params *params = tb_network_params(net);
	uint64_t bytes = 0, hops = 0, payload = 0;
	for (size_t i = 0; i < n; i++) {
		payload += lines[i].bytes;
		assert_true(lines[i].delivered >= lines[i].at);
		if (lines[i].source == lines[i].destination)
			continue;
		uint64_t full = params->packet_payload_bytes;
		uint64_t packets =
			lines[i].bytes ? (lines[i].bytes + full - 1) / full : 1;
		uint64_t links = tb_network_hops(net, (struct tb_node){lines[i].source},
			(struct tb_node){lines[i].destination});
		hops += packets * links;
		bytes += (lines[i].bytes + packets * params->packet_overhead_bytes +
				 tb_circuit_padding(params, lines[i].bytes % full)) *
			 links;
	}
	uint64_t wait = 0, crossed = 0, told = 0;
	for (uint32_t i = 0; i < outcome->n_links; i++) {
		const struct tb_link_sample *link = &outcome->tally.links[i];
		struct tb_link_info info = tb_network_link(net, (struct tb_link){i});
		double at_least = (double)link->bytes * 1e12 / (double)info.bytes_per_s;
		wait += link->came_by_ps;
		crossed += link->n_packets;
		told += link->bytes;
		assert_true((double)link->busy_ps >= at_least * 0.9999 - 2);
		assert_true(link->longest_wait_ps <= link->came_by_ps);
		assert_true((link->n_blocked == 0) == (link->came_by_ps == 0));
	}
	assert_int_equal(told, bytes);
	assert_int_equal(crossed, hops);
	assert_int_equal(outcome->stats.n_hops, hops);
	assert_int_equal(outcome->stats.payload_bytes, payload);
	assert_int_equal(wait, outcome->stats.wait_ps);
	assert_int_equal(wait, outcome->tally.flow_wait_ps);
	assert_int_equal(wait, outcome->tally.blame_ps);
	assert_int_equal(payload, outcome->tally.flow_bytes);
	assert_int_equal(n, outcome->tally.flow_messages);
}

static void nothing_is_lost_on_trees_of_any_shape(void **state)
{
	(void)state;
	static const char *const presets[] = {"qsnet", "qsnet,ascent=deterministic",
		"qsnet,vcs=1,fifo=64", "qsnet,vcs=4,levels=2,payload=4096,fifo=512",
		"qsnet,arity=2,levels=5,bus=none,age_weight=0", "qsnet,arity=7,levels=2",
		"qsnet,levels=1,send_overhead=0,receive_overhead=0,ack_delay=0"};
	for (size_t i = 0; i < sizeof presets / sizeof *presets; i++) {
		struct tb_network *net = network_of(presets[i]);
		struct line *lines = random_lines(i, 400, tb_network_n_nodes(net), 9000);
		struct outcome outcome = replay(net, lines, 400, i, 0);
		check_records(net, lines, 400, &outcome);
		drop(&outcome);
		free(lines);
		tb_network_free(net);
	}
}

// Everybody sends to node 0; what waits when the replay is stopped waits for somebody.
static void a_replay_that_is_cut_short_blames_waits_that_last(void **state)
{
	(void)state;
	struct tb_network *net = network_of("qsnet,levels=2");
	struct line lines[15];
	for (uint32_t i = 0; i < 15; i++)
		lines[i] = (struct line){.source = i + 1, .bytes = 100000};
	struct outcome outcome = {.n_links = tb_network_n_links(net)};
	struct script script = {lines, 15, 0};
	struct tb_source source = script_source(&script);
	struct tb_observer observer = tally_observer(&outcome.tally, outcome.n_links);
	struct replay replay = {.network = net,
		.source = &source,
		.observer = &observer,
		.options = {.seed = 1},
		.n_instants = 500};
	assert_int_equal(replay_by(BY_ENGINE, &replay), TB_OK);
	assert_int_equal(replay.stats.n_delivered, 0);
	assert_true(replay.stats.wait_ps > 0);
	assert_int_equal(outcome.tally.flow_wait_ps, replay.stats.wait_ps);
	assert_int_equal(outcome.tally.blame_ps, replay.stats.wait_ps);
	drop(&outcome);
	tb_network_free(net);
}

// random_tree: a few leaves of uneven size below a few tops, cables of uneven rates and
// VCs, some missing.
static struct tb_network *random_tree(uint64_t seed)
{
	struct tb_network_params params;
	struct tb_random random;
	struct tb_network_builder *builder;
	struct tb_switch leaves[5], tops[3];
	struct tb_network *net = NULL;
	tb_random_init(&random, seed, 1);
	assert_int_equal(tb_network_preset(&params, "qsnet", NULL), TB_OK);
	assert_int_equal(tb_network_builder_new(&builder, &params, NULL), TB_OK);
	for (int i = 0; i < 5; i++)
		assert_int_equal(
			tb_network_add_switch(builder, 0, 6, 3, &leaves[i], NULL), TB_OK);
	for (int i = 0; i < 3; i++)
		assert_int_equal(
			tb_network_add_switch(builder, 1, 6, 0, &tops[i], NULL), TB_OK);
	for (uint32_t leaf = 0; leaf < 5; leaf++) {
		uint32_t n = 1 + (uint32_t)tb_random_below(&random, 6);
		for (uint32_t port = 0; port < n; port++)
			assert_int_equal(tb_network_add_node(
						 builder, leaves[leaf], port, NULL, NULL),
				TB_OK);
		for (uint32_t top = 0; top < 3; top++) {
			struct tb_cable cable = {
				.bytes_per_s =
					100000000 * (1 + tb_random_below(&random, 8)),
				.n_vcs = 1 + (uint32_t)tb_random_below(&random, 3),
				.fifo_bytes = 256u << tb_random_below(&random, 3)};
			if (top > 0 && tb_random_below(&random, 3) == 0)
				continue;
			assert_int_equal(tb_network_add_cable(builder, leaves[leaf],
						 6 + top, tops[top], leaf, &cable, NULL),
				TB_OK);
		}
	}
	assert_int_equal(tb_network_finish(builder, &net, NULL), TB_OK);
	tb_network_builder_free(builder);
	return net;
}

static void nothing_is_lost_on_irregular_trees(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 40; seed++) {
		struct tb_network *net = random_tree(seed);
		struct line *lines =
			random_lines(seed, 300, tb_network_n_nodes(net), 5000);
		struct outcome outcome = replay(net, lines, 300, seed, 0);
		check_records(net, lines, 300, &outcome);
		drop(&outcome);
		free(lines);
		tb_network_free(net);
	}
}

static void the_width_of_bins_changes_no_sum(void **state)
{
	(void)state;
	struct tb_network *net = network_of("qsnet");
	static const tb_time_ps widths[] = {0, 77777, 100000, 1000000000};
	struct outcome first = {0};
	for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
		struct line *lines = random_lines(3, 300, 64, 20000);
		struct outcome outcome = replay(net, lines, 300, 3, widths[i]);
		check_records(net, lines, 300, &outcome);
		free(lines);
		if (i == 0) {
			first = outcome;
			continue;
		}
		assert_memory_equal(first.tally.links, outcome.tally.links,
			first.n_links * sizeof *first.tally.links);
		drop(&outcome);
	}
	drop(&first);
	tb_network_free(net);
}

static void bins_stay_bounded_on_a_long_run_with_gaps(void **state)
{
	(void)state;
	struct tb_network *net = network_of("qsnet,levels=2");
	struct line lines[200];
	tb_time_ps at = 0;
	for (size_t i = 0; i < 200; i++) {
		lines[i] =
			(struct line){at, i % 16, (i * 7 + 3) % 16, 5000, 0, 0, 0, 0, 0};
		at += i % 50 == 49 ? TB_PS_PER_S : 1000000;
	}
	struct outcome outcome = replay(net, lines, 200, 1, 0);
	check_records(net, lines, 200, &outcome);
	assert_true(outcome.tally.last_bin < 1024);
	assert_true(outcome.tally.bin_ps >= 3 * TB_PS_PER_S / 1024);
	drop(&outcome);
	tb_network_free(net);
}

static void the_same_seed_gives_the_same_replay(void **state)
{
	(void)state;
	struct tb_network *net = network_of("qsnet");
	uint64_t hash[3];
	for (uint64_t run = 0; run < 3; run++) {
		struct line *lines = random_lines(5, 500, 64, 20000);
		struct outcome outcome = replay(net, lines, 500, run == 2 ? 2 : 1, 0);
		hash[run] = outcome.tally.hash;
		drop(&outcome);
		free(lines);
	}
	assert_int_equal(hash[0], hash[1]);
	assert_int_not_equal(hash[0], hash[2]);
	tb_network_free(net);
}

// One state hash, pinned: the same for every compiler, -O level and machine. A change of
// the model changes it, and says so in its commit.
static void the_pinned_scenario_has_its_hash(void **state)
{
	(void)state;
	struct tb_network *net = network_of("qsnet");
	struct line *lines = random_lines(11, 2000, 64, 30000);
	struct outcome outcome = replay(net, lines, 2000, 11, 10000000);
	print_message("state hash %016llx\n", (unsigned long long)outcome.tally.hash);
	assert_int_equal(outcome.tally.hash, PINNED_HASH);
	drop(&outcome);
	free(lines);
	tb_network_free(net);
}

struct pinned_task {
	const struct tb_network *net;
	uint64_t hashes[4];
};

static int replay_pinned(void *context, size_t index, struct tb_error *error)
{
	(void)error;
	struct pinned_task *task = context;
	struct line *lines = random_lines(11, 2000, 64, 30000);
	struct outcome outcome = replay(task->net, lines, 2000, 11, 10000000);
	task->hashes[index] = outcome.tally.hash;
	drop(&outcome);
	free(lines);
	return TB_OK;
}

// Replays that run side by side share nothing but the network.
static void any_number_of_workers_gives_the_pinned_hash(void **state)
{
	(void)state;
	struct tb_network *net = network_of("qsnet");
	for (unsigned n_workers = 1; n_workers <= 4; n_workers++) {
		struct pinned_task task = {.net = net};
		const struct tb_work work = {&task, .n_tasks = 4, .task = replay_pinned};
		assert_int_equal(tb_workers_run(&work, n_workers, NULL), TB_OK);
		for (int i = 0; i < 4; i++)
			assert_int_equal(task.hashes[i], PINNED_HASH);
	}
	tb_network_free(net);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_header_that_waits_queues_its_packet),
		cmocka_unit_test(a_network_of_no_known_switching_is_refused),
		cmocka_unit_test(one_packet_takes_the_sum_of_its_way),
		cmocka_unit_test(one_stream_fills_the_link_in_spite_of_the_round_trip),
		cmocka_unit_test(one_vc_leaves_the_link_idle_for_the_round_trip),
		cmocka_unit_test(two_streams_share_a_node_s_bus),
		cmocka_unit_test(the_closed_form_of_a_message_holds),
		cmocka_unit_test(a_message_to_oneself_crosses_no_link),
		cmocka_unit_test(nothing_is_lost_on_trees_of_any_shape),
		cmocka_unit_test(a_replay_that_is_cut_short_blames_waits_that_last),
		cmocka_unit_test(nothing_is_lost_on_irregular_trees),
		cmocka_unit_test(the_width_of_bins_changes_no_sum),
		cmocka_unit_test(bins_stay_bounded_on_a_long_run_with_gaps),
		cmocka_unit_test(the_same_seed_gives_the_same_replay),
		cmocka_unit_test(the_pinned_scenario_has_its_hash),
		cmocka_unit_test(any_number_of_workers_gives_the_pinned_hash),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
