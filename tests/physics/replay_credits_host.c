// Host channel adapters by closed forms: PCIe, slow receivers, queue pairs, what packets
// carry beside payload; and trees of them (docs/credits.md).
#include "../support/replay_outcome.h"

#include "faults.h"
#include "network_builder.h"
#include "network_impl.h"
#include "preset.h"
#include "slow_nodes.h"

#include <stdio.h>

#define BARE                                                                             \
	"ib-hdr,payload=4096,overhead=0,first_overhead=0,pcie=none,send_overhead=0,"     \
	"receive_overhead=0,fetch_delay=0,queue_pair_gap=0,message_gap=0"
#define PAIR	   BARE ",levels=1,arity=4"
#define T_PS	   ((tb_time_ps)4096 * 40) // of a packet at 25 GB/s
#define LATENCY_PS ((tb_time_ps)145000)
#define CROSS_PS   (2 * LATENCY_PS + T_PS) // two links

enum { N = 100 };

static struct outcome replayed(const char *preset, struct line *lines, size_t n)
{
	struct tb_network *net = network_of(preset);
	struct outcome outcome = replay(net, lines, n, 1, 0);
	drop(&outcome);
	tb_network_free(net);
	return outcome;
}

static void a_slow_receiver_takes_its_drain_s_time(void **state)
{
	(void)state;
	struct tb_network *net = network_of(PAIR);
	struct line lines[2] = {{.destination = 1, .bytes = N * 4096},
		{.source = 2, .destination = 3, .bytes = N * 4096}};
	assert_int_equal(
		tb_network_set_drain(net, (struct tb_node){1}, 2000000000), TB_OK);
	struct outcome outcome = replay(net, lines, 2, 1, 0);
	assert_int_equal(lines[0].delivered, CROSS_PS + N * (tb_time_ps)4096 * 500);
	assert_int_equal(lines[1].delivered, CROSS_PS + (N - 1) * T_PS);
	drop(&outcome);
	tb_network_free(net);
}

// Its packets stand in the network, and those of others behind them.
static void a_slow_receiver_is_the_root_of_waits(void **state)
{
	(void)state;
	struct tb_network *net = network_of(BARE ",levels=2,arity=4,buffer=8K");
	struct line lines[2] = {{.destination = 5, .bytes = N * 4096},
		{.source = 1, .destination = 5, .bytes = N * 4096}};
	assert_int_equal(
		tb_network_set_drain(net, (struct tb_node){5}, 1000000000), TB_OK);
	struct outcome outcome = replay(net, lines, 2, 1, 0);
	uint32_t ejection = net->ejection[5];
	const struct tb_link_sample *link = &outcome.tally.links[ejection];
	assert_true(link->busy_ps == 2 * N * (uint64_t)T_PS);
	assert_true(link->stall_ps > 20 * link->busy_ps);
	assert_true(outcome.stats.wait_ps > (uint64_t)lines[0].delivered);
	// What waits for its drain, and all behind that, is blamed on its link (C23).
	assert_int_equal(outcome.tally.worst_root.id, ejection);
	assert_int_equal(outcome.tally.blame_ps, outcome.stats.wait_ps);
	assert_true(outcome.tally.worst_root_ps * 100 > outcome.stats.wait_ps * 95);
	drop(&outcome);
	tb_network_free(net);
}

// A go-on lets many packets go, by links that are hardly busy: all of them waited for the
// node that drains slowly, not for each other.
static void an_incast_under_pause_has_one_root(void **state)
{
	(void)state;
	struct tb_network *net = network_of(
		BARE ",levels=2,arity=4,flow_control=pause,xoff=64K,xon=32K,buffer=96K");
	struct line lines[15] = {{0}};
	for (uint32_t i = 0; i < 15; i++)
		lines[i] = (struct line){.source = i + 1, .bytes = N * 4096};
	assert_int_equal(
		tb_network_set_drain(net, (struct tb_node){0}, 2500000000), TB_OK);
	struct outcome outcome = replay(net, lines, 15, 1, 0);
	assert_int_equal(outcome.tally.worst_root.id, net->ejection[0]);
	assert_int_equal(outcome.tally.blame_ps, outcome.stats.wait_ps);
	assert_true(outcome.tally.worst_root_ps * 100 > outcome.stats.wait_ps * 95);
	drop(&outcome);
	tb_network_free(net);
}

static void pcie_carries_both_directions_at_once(void **state)
{
	(void)state;
	struct line lines[2] = {{.destination = 1, .bytes = N * 4096},
		{.source = 1, .destination = 0, .bytes = N * 4096}};
	const tb_time_ps pcie = (tb_time_ps)4096 * 100; // at 10 GB/s
	(void)replayed(PAIR ",pcie=10GB/s", lines, 2);
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(lines[i].delivered, N * pcie + CROSS_PS + pcie);
}

static void a_message_to_its_own_node_takes_both_directions(void **state)
{
	(void)state;
	struct line line = {.bytes = N * 4096};
	(void)replayed(PAIR ",pcie=10GB/s", &line, 1);
	assert_int_equal(line.delivered, N * (tb_time_ps)4096 * 100);
}

// A short message waits for one packet of a long one to another node; behind a long one
// to the same node it stands to its end, or takes turns where messages do.
static void queue_pairs_take_turns_packet_by_packet(void **state)
{
	(void)state;
	struct line other[2] = {
		{.destination = 1, .bytes = N * 4096}, {.destination = 2, .bytes = 4096}};
	(void)replayed(PAIR, other, 2);
	assert_int_equal(other[1].delivered, T_PS + CROSS_PS);
	assert_int_equal(other[0].delivered, N * T_PS + CROSS_PS);
	struct line same[2] = {
		{.destination = 1, .bytes = N * 4096}, {.destination = 1, .bytes = 4096}};
	(void)replayed(PAIR, same, 2);
	assert_int_equal(same[0].delivered, (N - 1) * T_PS + CROSS_PS);
	assert_int_equal(same[1].delivered, N * T_PS + CROSS_PS);
	(void)replayed(PAIR ",queue_pairs=message", same, 2);
	assert_int_equal(same[1].delivered, T_PS + CROSS_PS);
}

static tb_time_ps free_flow_beside_incast(const char *preset, struct line *lines)
{
	const uint8_t levels[2] = {0, 1};
	const struct tb_engine_options options = {
		.seed = 1, .service_levels = levels, .n_service_levels = 2};
	struct tb_network *net = network_of(preset);
	assert_int_equal(
		tb_network_set_drain(net, (struct tb_node){2}, 2500000000), TB_OK);
	lines[0] = (struct line){.destination = 1, .bytes = N * 4096};
	for (uint32_t i = 1; i < 3; i++)
		lines[i] = (struct line){.source = 3 * (i - 1),
			.destination = 2,
			.bytes = N * 4096,
			.job = 1};
	struct outcome outcome = outcome_by(BY_ENGINE, net, lines, 3, &options);
	drop(&outcome);
	tb_network_free(net);
	return lines[0].delivered;
}

// Of two flows of a node one goes into an incast. The other is as slow on its lane, but
// on one of its own, which goes first, has the link's rate, and, where both go in turn,
// what the incast leaves of it: a tenth of its link drains two flows (C16).
static void a_lane_of_its_own_helps_within_a_node(void **state)
{
	(void)state;
	const char *flows[] = {
		"buffer=16K", "flow_control=pause,xoff=16K,xon=8K,buffer=64K"};
	struct line lines[3];
	for (size_t i = 0; i < 2; i++) {
		char preset[400];
		snprintf(preset, sizeof preset, PAIR ",%s", flows[i]);
		assert_true(free_flow_beside_incast(preset, lines) > 15 * N * T_PS);
		assert_true(lines[1].delivered > 19 * N * T_PS);
		snprintf(preset, sizeof preset,
			PAIR ",%s,vls=2,vl_high=0:1,vl_low=1:1,vl_limit=255", flows[i]);
		assert_int_equal(free_flow_beside_incast(preset, lines),
			CROSS_PS + (N - 1) * T_PS);
		assert_true(lines[1].delivered > 19 * N * T_PS);
		snprintf(preset, sizeof preset, PAIR ",%s,vls=2", flows[i]);
		tb_time_ps in_turn = free_flow_beside_incast(preset, lines);
		assert_true(in_turn > CROSS_PS + (N + N / 20) * T_PS);
		assert_true(in_turn < CROSS_PS + (N + N / 20 + 16) * T_PS);
	}
}

// Short messages of one queue pair begin one gap after the other, those of several
// between them; long ones do not notice (C38).
static void messages_begin_at_their_gaps(void **state)
{
	(void)state;
	const tb_time_ps pair = 130000, adapter = 5000, first = 2 * LATENCY_PS + 64 * 40;
	const char *gaps = PAIR ",queue_pair_gap=130ns,message_gap=5ns";
	struct line lines[N];
	for (size_t i = 0; i < N; i++)
		lines[i] = (struct line){.destination = 1, .bytes = 64};
	(void)replayed(gaps, lines, N);
	for (size_t i = 0; i < N; i++)
		assert_int_equal(lines[i].delivered, first + (tb_time_ps)i * pair);
	for (size_t i = 0; i < N; i++)
		lines[i].destination = 1 + (uint32_t)i % 3;
	(void)replayed(gaps, lines, N);
	for (size_t i = 0; i < N; i++)
		assert_int_equal(
			lines[i].delivered, first + (tb_time_ps)(i / 3) * pair +
						    (tb_time_ps)(i % 3) * adapter);
	for (size_t i = 0; i < N; i++)
		lines[i] = (struct line){.destination = 1, .bytes = 4096};
	(void)replayed(gaps, lines, N);
	assert_int_equal(lines[N - 1].delivered, (N - 1) * T_PS + CROSS_PS);
}

// An adapter fetches what does not come with a message's description (C39).
static void data_beyond_inline_are_fetched(void **state)
{
	(void)state;
	struct line lines[3] = {{.destination = 1, .bytes = 221},
		{.destination = 2, .bytes = 220},
		{.source = 3, .destination = 3, .bytes = 4096}};
	(void)replayed(PAIR ",inline=220,fetch_delay=500ns", lines, 3);
	assert_int_equal(lines[0].delivered, 500000 + 2 * LATENCY_PS + 221 * 40);
	assert_int_equal(lines[1].delivered, 2 * LATENCY_PS + 220 * 40);
	assert_int_equal(lines[2].delivered, 0);
}

// LRH, BTH, ICRC and VCRC on each, RETH on the first; an acknowledgement of 30 bytes that
// nothing holds up.
static void packets_have_their_headers(void **state)
{
	(void)state;
	struct line line = {.destination = 1, .bytes = 2 * 4096 + 100};
	struct outcome outcome =
		replayed(PAIR ",overhead=26,first_overhead=16,ack=30", &line, 1);
	uint64_t wire = 2 * (4096 + 26) + 16 + 100 + 26;
	assert_int_equal(line.delivered, (tb_time_ps)wire * 40 + 2 * LATENCY_PS);
	assert_int_equal(line.sent, line.delivered + 2 * LATENCY_PS + 30 * 40);
	assert_int_equal(outcome.stats.n_packets, 3);
}

// C41: frames of RoCE with MTU 4096, the first of a write with RETH, and an
// acknowledgement, captured where full ones stood back to back: each is one packet, with
// this network's headers in place of the 58 bytes that it has.
static void captured_frames_are_packets_of_their_length(void **state)
{
	(void)state;
	static const char *const presets[] = {PAIR ",overhead=82,first_overhead=16",
		PAIR ",overhead=26,first_overhead=16"};
	static const uint32_t overheads[] = {82, 26};
	for (size_t i = 0; i < 2; i++) {
		uint32_t wires[3] = {4096 + 16, 4096, 4};
		struct line lines[3];
		tb_time_ps at = 0;
		for (size_t k = 0; k < 3; k++) {
			wires[k] += overheads[i];
			lines[k] = (struct line){.at = at,
				.destination = 1,
				.bytes = wires[k] - overheads[i] + 58,
				.source_rank = CAPTURED};
			at += (tb_time_ps)wires[k] * 40;
		}
		struct outcome outcome = replayed(presets[i], lines, 3);
		assert_int_equal(outcome.stats.n_packets, 3);
		for (size_t k = 0; k < 3; k++)
			assert_int_equal(lines[k].delivered,
				lines[k].at + (tb_time_ps)wires[k] * 40 + 2 * LATENCY_PS);
		// Longer than any packet, by less than the headers, and shorter than
		// these.
		lines[0].bytes = 4096 + 16 + 58 + 1;
		outcome = replayed(presets[i], lines, 1);
		assert_int_equal(outcome.stats.n_packets, 2);
		uint64_t wire = lines[0].bytes + (i ? 2 * 26 + 16 : 2 * (82 - 58));
		assert_int_equal(lines[0].delivered, wire * 40 + 2 * LATENCY_PS);
		lines[0].bytes = 20;
		(void)replayed(presets[i], lines, 1);
		wire = 20 + (i ? 26 + 16 : 82 - 58);
		assert_int_equal(lines[0].delivered, wire * 40 + 2 * LATENCY_PS);
	}
}

// lost replays a packet whose way is dead from 1 ps on.
static struct outcome lost(enum replayer by, const char *fault, struct line *line)
{
	struct tb_network *net = network_of(BARE ",levels=2,arity=4");
	struct tb_faults *faults = NULL;
	assert_int_equal(tb_faults_new(&faults, net, NULL), TB_OK);
	assert_int_equal(tb_faults_add(faults, fault, NULL), TB_OK);
	struct outcome outcome = outcome_by(by, net, line, 1,
		&(struct tb_engine_options){.seed = 1, .faults = faults});
	drop(&outcome);
	tb_faults_free(faults);
	tb_network_free(net);
	return outcome;
}

// C32: a packet is discarded at its leaf, and tried again after 4.096 us 2^14, seven
// times with the tables that lead there; then there are new ones.
static void a_lost_packet_is_sent_again_until_there_are_new_tables(void **state)
{
	(void)state;
	const tb_time_ps timeout = (tb_time_ps)4096000 << 14;
	for (enum replayer by = 0; by < N_REPLAYERS; by++) {
		struct line line = {.destination = 5, .bytes = 4096};
		struct outcome outcome = lost(by, "link=0.0:5@1ps", &line);
		assert_int_equal(line.delivered,
			8 * (LATENCY_PS + timeout) + 4 * LATENCY_PS + T_PS);
		assert_int_equal(outcome.stats.n_retries, 8);
		struct line nowhere = {.destination = 1, .bytes = 4096};
		outcome = lost(by, "link=0.0:1@1ps", &nowhere);
		assert_int_equal(outcome.stats.n_undelivered, 1);
		assert_int_equal(outcome.stats.n_retries, 8);
		assert_int_equal(outcome.stats.now_ps, 8 * (LATENCY_PS + timeout));
	}
}

static void every_preset_has_the_timeout_of_a_reliable_connection(void **state)
{
	(void)state;
	static const char *const presets[] = {
		"ib-qdr", "ib-edr", "ib-hdr", "ib-ndr", "roce-100", "roce-400"};
	for (size_t i = 0; i < sizeof presets / sizeof *presets; i++) {
		struct tb_network_params params;
		assert_int_equal(tb_network_preset(&params, presets[i], NULL), TB_OK);
		assert_int_equal(params.retry_delay_ps, INT64_C(4096000) << 14);
		assert_int_equal(params.retries, 7);
	}
}

// Zahavi, 2010: on a full tree with d-mod-k routes no packet of a shift waits.
static void shifts_do_not_wait_on_full_trees(void **state)
{
	(void)state;
	static const char *const trees[] = {BARE ",arity=4,levels=3",
		BARE ",arity=8,levels=2,queues=voq,input_speedup=1",
		BARE ",shape=pgft(2; 8,8; 1,4; 1,2)",
		BARE ",shape=pgft(3; 4,4,4; 1,2,8; 1,2,1)"};
	for (size_t i = 0; i < sizeof trees / sizeof *trees; i++) {
		struct tb_network *net = network_of(trees[i]);
		assert_int_equal(tb_network_n_nodes(net), 64);
		for (uint32_t k = 1; k < 64; k++) {
			struct line lines[64];
			for (uint32_t j = 0; j < 64; j++)
				lines[j] = (struct line){.source = j,
					.destination = (j + k) % 64,
					.bytes = 40000};
			struct outcome outcome = replay(net, lines, 64, 1, 0);
			if (outcome.stats.wait_ps)
				fail_msg("%s: shift %u waits", trees[i], k);
			drop(&outcome);
		}
		tb_network_free(net);
	}
}

static void put(int status, const struct tb_error *error)
{
	if (status != TB_OK)
		fail_msg("%s", error->text);
}

// two_switches has a cable of another rate between them, and a node at each.
static struct tb_network *two_switches(uint64_t bytes_per_s)
{
	struct tb_network_builder *builder = NULL;
	struct tb_network *net = NULL;
	struct tb_network_params params;
	struct tb_switch lower, upper;
	const struct tb_cable cable = {.bytes_per_s = bytes_per_s};
	struct tb_error error = {0};
	put(tb_network_preset(&params, BARE, &error), &error);
	put(tb_network_builder_new(&builder, &params, &error), &error);
	put(tb_network_add_switch(builder, 0, 1, 1, &lower, &error), &error);
	put(tb_network_add_switch(builder, 1, 2, 0, &upper, &error), &error);
	put(tb_network_add_node(builder, lower, 0, NULL, &error), &error);
	put(tb_network_add_node(builder, upper, 0, NULL, &error), &error);
	put(tb_network_add_cable(builder, lower, 1, upper, 1, &cable, &error), &error);
	put(tb_network_finish(builder, &net, &error), &error);
	tb_network_builder_free(builder);
	return net;
}

// Behind a slow link a packet goes on as soon as its last byte will be there in time; a
// stream has the slow link's pace.
static void a_stream_has_the_pace_of_its_slowest_link(void **state)
{
	(void)state;
	static const struct {
		uint64_t bytes_per_s;
		tb_time_ps ps_a_byte; // of the slowest
	} middles[] = {{10000000000, 100}, {50000000000, 40}, {25000000000, 40}};
	for (size_t i = 0; i < sizeof middles / sizeof *middles; i++) {
		struct tb_network *net = two_switches(middles[i].bytes_per_s);
		struct line line = {.destination = 1, .bytes = N * 4096};
		struct outcome outcome = replay(net, &line, 1, 1, 0);
		// From a slow link to a fast one a switch stores the difference.
		tb_time_ps stored = middles[i].bytes_per_s > 25000000000
					    ? T_PS - (tb_time_ps)4096 * 20
					    : 0;
		assert_int_equal(line.delivered,
			3 * LATENCY_PS + stored + N * 4096 * middles[i].ps_a_byte);
		drop(&outcome);
		tb_network_free(net);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_slow_receiver_takes_its_drain_s_time),
		cmocka_unit_test(a_slow_receiver_is_the_root_of_waits),
		cmocka_unit_test(an_incast_under_pause_has_one_root),
		cmocka_unit_test(pcie_carries_both_directions_at_once),
		cmocka_unit_test(a_message_to_its_own_node_takes_both_directions),
		cmocka_unit_test(queue_pairs_take_turns_packet_by_packet),
		cmocka_unit_test(a_lane_of_its_own_helps_within_a_node),
		cmocka_unit_test(messages_begin_at_their_gaps),
		cmocka_unit_test(data_beyond_inline_are_fetched),
		cmocka_unit_test(packets_have_their_headers),
		cmocka_unit_test(captured_frames_are_packets_of_their_length),
		cmocka_unit_test(a_lost_packet_is_sent_again_until_there_are_new_tables),
		cmocka_unit_test(every_preset_has_the_timeout_of_a_reliable_connection),
		cmocka_unit_test(shifts_do_not_wait_on_full_trees),
		cmocka_unit_test(a_stream_has_the_pace_of_its_slowest_link),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
