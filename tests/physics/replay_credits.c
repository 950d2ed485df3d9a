// Networks with credits by closed forms (docs/credits.md).
#include "../support/replay_outcome.h"

enum { WIRE_BYTES = 4096 + 26, PS_A_BYTE = 40 }; // ib-hdr: 25 GB/s
#define PACKET_PS  ((tb_time_ps)WIRE_BYTES * PS_A_BYTE)
#define LATENCY_PS ((tb_time_ps)145000)

// A 4-ary 3-tree of HDR links; nodes cost nothing.
#define BARE                                                                             \
	"ib-hdr,arity=4,levels=3,pcie=none,first_overhead=0,send_overhead=0,"            \
	"receive_overhead=0,fetch_delay=0,queue_pair_gap=0,message_gap=0"

// received is the wire bytes that all ejection links carried.
static uint64_t received(const struct tb_network *net, const struct outcome *outcome)
{
	uint64_t bytes = 0;
	for (uint32_t i = 0; i < outcome->n_links; i++)
		if (tb_network_link(net, (struct tb_link){i}).kind == TB_LINK_EJECTION)
			bytes += outcome->tally.links[i].bytes;
	return bytes;
}

// The closed form leaves out that a short last packet, where packets are stored, waits
// behind a long one, and that it needs less room.
static void a_lone_message_takes_the_ideal_time(void **state)
{
	(void)state;
	static const uint64_t sizes[] = {0, 1, 63, 4096, 4097, 100000};
	static const uint32_t ends[] = {1, 5, 63};
	static const char *const presets[] = {BARE, BARE ",forwarding=store-and-forward",
		BARE ",buffer=8KB",
		"roce-400,arity=4,levels=3,first_overhead=0,pcie=none"};
	for (size_t i = 0; i < 4 * 3 * 6; i++) {
		if ((i / 18 == 1 || i / 18 == 2) && sizes[i % 6] > 4096)
			continue;
		struct tb_network *net = network_of(presets[i / 18]);
		struct line line = {
			.destination = ends[i / 6 % 3], .bytes = sizes[i % 6]};
		struct outcome outcome = replay(net, &line, 1, 1, 0);
		assert_int_equal(line.delivered,
			tb_engine_ideal_ps(net, (struct tb_node){0},
				(struct tb_node){line.destination}, line.bytes));
		assert_int_equal(outcome.stats.wait_ps, 0);
		drop(&outcome);
		tb_network_free(net);
	}
}

static void a_header_takes_each_latency_and_the_tail_follows(void **state)
{
	(void)state;
	struct tb_network *net = network_of(BARE);
	struct line line = {.destination = 63, .bytes = 4096};
	struct outcome outcome = replay(net, &line, 1, 1, 0);
	assert_int_equal(line.delivered, 6 * LATENCY_PS + PACKET_PS);
	assert_int_equal(line.sent, 2 * 6 * LATENCY_PS + PACKET_PS + 30 * PS_A_BYTE);
	drop(&outcome);
	tb_network_free(net);
}

static void one_stream_fills_its_links(void **state)
{
	(void)state;
	struct tb_network *net = network_of(BARE);
	struct line line = {.destination = 63, .bytes = 1000 * 4096};
	struct outcome outcome = replay(net, &line, 1, 1, 0);
	assert_int_equal(line.delivered, 6 * LATENCY_PS + 1000 * PACKET_PS);
	assert_int_equal(received(net, &outcome), 1000 * WIRE_BYTES);
	drop(&outcome);
	tb_network_free(net);
}

// A buffer of one packet is free again when that has gone on and its sender knows: a
// packet each latency there, crossing and latency back.
static void a_small_buffer_limits_a_stream_to_buffer_by_loop(void **state)
{
	(void)state;
	struct tb_network *net = network_of(BARE ",buffer=4160");
	struct line line = {.destination = 63, .bytes = 100 * 4096};
	struct outcome outcome = replay(net, &line, 1, 1, 0);
	assert_int_equal(line.delivered,
		99 * (2 * LATENCY_PS + PACKET_PS) + 6 * LATENCY_PS + PACKET_PS);
	drop(&outcome);
	tb_network_free(net);
}

static void two_senders_share_a_link_in_turn(void **state)
{
	(void)state;
	struct tb_network *net = network_of(BARE ",buffer=16KB");
	struct line lines[2] = {{.source = 1, .destination = 0, .bytes = 200 * 4096},
		{.source = 2, .destination = 0, .bytes = 200 * 4096}};
	struct outcome outcome = replay(net, lines, 2, 1, 0);
	assert_int_equal(lines[1].delivered, 2 * LATENCY_PS + 400 * PACKET_PS);
	assert_int_equal(lines[0].delivered, lines[1].delivered - PACKET_PS);
	assert_true(outcome.stats.wait_ps > 0);
	drop(&outcome);
	tb_network_free(net);
}

// check_queues checks the largest queue for the link to node 0, that what waited had come
// by the links from nodes 1 and 2, and that nothing queued elsewhere.
static void check_queues(
	const struct tb_network *net, const struct outcome *outcome, uint64_t bytes)
{
	for (uint32_t i = 0; i < outcome->n_links; i++) {
		struct tb_link_info info = tb_network_link(net, (struct tb_link){i});
		const struct tb_link_sample *sums = &outcome->tally.links[i];
		bool is_wanted = info.kind == TB_LINK_EJECTION && info.to == 0;
		bool brings = info.kind == TB_LINK_INJECTION &&
			      (info.from == 1 || info.from == 2);
		assert_int_equal(sums->largest_queue_bytes, is_wanted ? bytes : 0);
		assert_int_equal(
			sums->wait_for_ps, is_wanted ? outcome->stats.wait_ps : 0);
		assert_true(sums->came_by_ps == 0 || brings);
		assert_true((sums->n_blocked > 0) == is_wanted);
		assert_true((sums->longest_wait_ps > 0) == is_wanted);
	}
}

// Of packets that come at once the first passes and the second waits. Of four each, which
// come one behind the other and leave by turns, half have left when the last has come.
static void what_waits_for_a_link_is_its_queue(void **state)
{
	(void)state;
	struct tb_network *net = network_of(BARE);
	for (uint64_t n = 1; n <= 4; n *= 4) {
		struct line lines[2] = {
			{.source = 1, .destination = 0, .bytes = n * 4096},
			{.source = 2, .destination = 0, .bytes = n * 4096}};
		struct outcome outcome = replay(net, lines, 2, 1, 0);
		check_queues(net, &outcome, n == 1 ? WIRE_BYTES : 2 * WIRE_BYTES);
		drop(&outcome);
	}
	tb_network_free(net);
}

// A packet that meets no other: each link but the last has held it for the latencies so
// far.
static void delays_are_counted_where_packets_come_in(void **state)
{
	(void)state;
	struct tb_network *net = network_of(BARE);
	struct line line = {.destination = 63, .bytes = 2 * 4096};
	tb_time_ps *delays = calloc(tb_network_n_links(net), sizeof *delays);
	tb_time_ps sum = 0, most = 0;
	assert_non_null(delays);
	struct outcome outcome = outcome_by(BY_ENGINE, net, &line, 1,
		&(struct tb_engine_options){.seed = 1, .delays = delays});
	for (uint32_t i = 0; i < outcome.n_links; i++) {
		sum += delays[i];
		most = delays[i] > most ? delays[i] : most;
	}
	assert_int_equal(most, 2 * 5 * LATENCY_PS);
	assert_int_equal(sum, 2 * (1 + 2 + 3 + 4 + 5) * LATENCY_PS);
	free(delays);
	drop(&outcome);
	tb_network_free(net);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_lone_message_takes_the_ideal_time),
		cmocka_unit_test(a_header_takes_each_latency_and_the_tail_follows),
		cmocka_unit_test(one_stream_fills_its_links),
		cmocka_unit_test(a_small_buffer_limits_a_stream_to_buffer_by_loop),
		cmocka_unit_test(two_senders_share_a_link_in_turn),
		cmocka_unit_test(what_waits_for_a_link_is_its_queue),
		cmocka_unit_test(delays_are_counted_where_packets_come_in),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
