// The ideal network in closed form: a lone message takes its ideal latency, packets meet
// at nodes and nowhere else.
#include "engine.h"
#include "network_impl.h"

#include "../support/replay_outcome.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

enum { N_NODES = 64 };

static void replay_ideally(const struct tb_network *net, struct line *lines, size_t n)
{
	struct outcome outcome = outcome_by(BY_ENGINE, net, lines, n,
		&(struct tb_engine_options){.seed = 1, .ideal = true});
	assert_int_equal(outcome.stats.wait_ps, 0);
	drop(&outcome);
}

static tb_time_ps ideal_of(const struct tb_network *net, const struct line *line)
{
	return tb_engine_ideal_ps(net, (struct tb_node){line->source},
		(struct tb_node){line->destination}, line->bytes);
}

static void a_lone_message_takes_its_ideal_latency(void **state)
{
	(void)state;
	static const char *const presets[] = {"qsnet", "qsnet,vcs=1", "qsnet,bus=200MB/s",
		"qsnet,bus=0,ack_delay=5us", "qsnet,vcs=3,flit=8B", "qsnet2",
		"ib-hdr,arity=4,levels=3", "ib-ndr,arity=4,levels=3,pcie=12GB/s",
		"roce-100,arity=8,levels=2"};
	for (size_t i = 0; i < sizeof presets / sizeof *presets; i++) {
		struct tb_network *net = network_of(presets[i]);
		for (uint64_t bytes = 0; bytes < 1000000; bytes = bytes * 3 + 100) {
			struct line line = {7000, 2, 44, bytes, 0, 0, 0, 0, 0};
			replay_ideally(net, &line, 1);
			if (line.delivered - line.at != ideal_of(net, &line))
				fail_msg("%s: %llu bytes take %lld ps, not %lld",
					presets[i], (unsigned long long)bytes,
					(long long)(line.delivered - line.at),
					(long long)ideal_of(net, &line));
		}
		tb_network_free(net);
	}
}

// Whatever the permutation, each message is alone between its two nodes.
static void a_permutation_runs_at_full_rate(void **state)
{
	(void)state;
	struct tb_network *net = network_of("qsnet,ascent=deterministic");
	for (uint32_t k = 1; k < N_NODES; k += 7) {
		struct line lines[N_NODES];
		for (uint32_t i = 0; i < N_NODES; i++)
			lines[i] = (struct line){0, i, (i * 4 + i / 16 + k) % N_NODES,
				100000, 0, 0, 0, 0, 0};
		// With a bus for both directions a node may be held up by its own
		// sending: only the later ends are compared then.
		replay_ideally(net, lines, N_NODES);
		for (uint32_t i = 0; i < N_NODES; i++)
			if (lines[i].source != lines[i].destination)
				assert_true(llabs(lines[i].delivered -
						    ideal_of(net, &lines[i])) < 1000000);
	}
	tb_network_free(net);
}

// The receiver's link carries all that N others send, back to back from the first header
// on, and then the bus drains the last packet.
static void many_to_one_is_as_quick_as_the_receiver_s_link(void **state)
{
	(void)state;
	struct tb_network *net = network_of("qsnet");
	struct line lines[N_NODES - 1];
	const uint32_t each = 100;
	for (uint32_t i = 0; i < N_NODES - 1; i++)
		lines[i] = (struct line){0, i + 1, 0, 320 * each, 0, 0, 0, 0, 0};
	replay_ideally(net, lines, N_NODES - 1);
	tb_time_ps last = 0, first_header = TB_TIME_NEVER;
	for (uint32_t i = 0; i < N_NODES - 1; i++)
		last = lines[i].delivered > last ? lines[i].delivered : last;
	// Overhead, fetch, and the hops of the nearest sender's way.
	first_header = 1000000 + 400000 + 40000;
	tb_time_ps all = (tb_time_ps)(N_NODES - 1) * each * 378 * 2500;
	assert_int_equal(last, first_header + all + 35000 + 400000 + 700000);
	tb_network_free(net);
}

static void one_to_many_is_as_quick_as_the_sender_s_link(void **state)
{
	(void)state;
	struct tb_network *net = network_of("qsnet,vcs=8");
	struct line lines[8];
	for (uint32_t i = 0; i < 8; i++)
		lines[i] = (struct line){0, 0, i + 1, 320, 0, 0, 0, 0, 0};
	replay_ideally(net, lines, 8);
	// Eight packets back to back; the last goes over four links.
	assert_int_equal(lines[7].delivered,
		1000000 + 400000 + 8 * 378 * 2500 + 3 * 40000 + 35000 + 400000 + 700000);
	tb_network_free(net);
}

static void a_slow_bus_limits_its_own_node_alone(void **state)
{
	(void)state;
	struct tb_network *net = network_of("qsnet,bus=100MB/s");
	struct line lines[] = {{0, 1, 0, 3200000, 0, 0, 0, 0, 0},
		{0, 2, 0, 3200000, 0, 0, 0, 0, 0}, {0, 3, 5, 320, 0, 0, 0, 0, 0}};
	replay_ideally(net, lines, 3);
	// 6.4 MB through a bus of 100 MB/s.
	tb_time_ps last = lines[0].delivered > lines[1].delivered ? lines[0].delivered
								  : lines[1].delivered;
	assert_true(fabs((double)last / 64e9 - 1) < 0.001);
	assert_int_equal(lines[2].delivered, ideal_of(net, &lines[2]));
	tb_network_free(net);
}

// What stands in the way of the worms behind it in a real network stops nobody here.
static void a_hot_node_holds_up_no_other_traffic(void **state)
{
	(void)state;
	struct tb_network *net = network_of("qsnet,ascent=deterministic");
	struct line lines[N_NODES];
	for (uint32_t i = 0; i < N_NODES - 1; i++)
		lines[i] = (struct line){0, i, N_NODES - 1, 50000, 0, 0, 0, 0, 0};
	lines[N_NODES - 1] =
		(struct line){40000000, N_NODES - 1, 30, 3200, 0, 0, 0, 0, 0};
	replay_ideally(net, lines, N_NODES);
	// Its own receiving only shares the bus with it: half a packet a piece.
	const struct line *other = &lines[N_NODES - 1];
	assert_true(other->delivered - other->at < ideal_of(net, other) + 11 * 400000);
	struct line again[N_NODES];
	for (uint32_t i = 0; i < N_NODES; i++)
		again[i] = lines[i];
	struct outcome real = replay(net, again, N_NODES, 1, 0);
	assert_true(real.stats.wait_ps > 0);
	drop(&real);
	tb_network_free(net);
}

// Node 0 sends to eight nodes of other leaves: N full packets back to back, and the way
// behind them, whatever slower links are between.
static void slower_links_between_switches_hold_up_nobody(void **state)
{
	(void)state;
	static const char *const presets[] = {"ib-ndr", "roce-400", "ethernet"};
	enum { N = 8 };
	for (size_t i = 0; i < sizeof presets / sizeof *presets; i++) {
		tb_time_ps last[2], way = 0;
		uint64_t link = 0, header = 0, full = 0;
		for (uint32_t slower = 0; slower < 2; slower++) {
			char name[200];
			struct line lines[N];
			snprintf(name, sizeof name, "%s,arity=8,levels=2,%s", presets[i],
				slower ? "level_rates=50GB/s 5GB/s"
				       : "level_rates=50GB/s 50GB/s");
			struct tb_network *net = network_of(name);
			link = net->links[net->injection[0]].bytes_per_s;
			header = net->params.packet_overhead_bytes;
			full = net->params.packet_payload_bytes;
			for (uint32_t k = 0; k < N; k++)
				lines[k] = (struct line){0, 0, 8 * k + 9 - 8 * (k / 7),
					100 * full, 0, 0, 0, 0, 0};
			replay_ideally(net, lines, N);
			const struct line one = {.destination = 9, .bytes = full};
			way = slower ? way : ideal_of(net, &one);
			last[slower] = 0;
			for (uint32_t k = 0; k < N; k++)
				last[slower] =
					tb_time_later(last[slower], lines[k].delivered);
			tb_network_free(net);
		}
		assert_int_equal(last[0], last[1]);
		double bytes = N * 100.0 * (double)(full + header);
		double sends_ps = bytes * 1e12 / (double)link;
		if ((double)last[0] < sends_ps ||
			(double)last[0] > sends_ps + (double)way)
			fail_msg("%s: %lld ps, not %.0f", presets[i], (long long)last[0],
				sends_ps);
	}
}

// What goes to a slow node waits behind its link, not in front of what another is sent.
static void a_slow_node_holds_up_no_other(void **state)
{
	(void)state;
	static const char *const presets[] = {"qsnet,vcs=4", "ib-ndr,arity=4,levels=2",
		"roce-400,arity=4,levels=2", "ethernet,arity=4,levels=2"};
	for (size_t i = 0; i < sizeof presets / sizeof *presets; i++) {
		struct tb_network *net = network_of(presets[i]);
		struct line lines[] = {
			{0, 1, 0, 320, 0, 0, 0, 0, 0}, {0, 1, 5, 320, 0, 0, 0, 0, 0}};
		struct line again[] = {lines[0], lines[1]};
		replay_ideally(net, lines, 2);
		net->links[net->ejection[0]].bytes_per_s /= 10;
		replay_ideally(net, again, 2);
		assert_true(again[0].delivered > lines[0].delivered);
		assert_int_equal(again[1].delivered, lines[1].delivered);
		tb_network_free(net);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_lone_message_takes_its_ideal_latency),
		cmocka_unit_test(a_permutation_runs_at_full_rate),
		cmocka_unit_test(many_to_one_is_as_quick_as_the_receiver_s_link),
		cmocka_unit_test(one_to_many_is_as_quick_as_the_sender_s_link),
		cmocka_unit_test(a_slow_bus_limits_its_own_node_alone),
		cmocka_unit_test(a_hot_node_holds_up_no_other_traffic),
		cmocka_unit_test(slower_links_between_switches_hold_up_nobody),
		cmocka_unit_test(a_slow_node_holds_up_no_other),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
