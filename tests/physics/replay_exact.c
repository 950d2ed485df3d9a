// A fluid with a window of packets (docs/fluid.md): as packets where the window is all,
// near them where it is a part, and what crosses links is the same in any case.
#include "../support/replay_outcome.h"

#include "network_impl.h"

#include <stdio.h>

enum { N = 96 };

static const char *const trees[] = {
	"ib-hdr,levels=2,arity=4", "qsnet,levels=2", "roce-400,levels=2,arity=4"};
enum { N_TREES = sizeof trees / sizeof *trees };

static struct outcome replayed(
	const char *tree, const char *changes, struct line *lines, uint64_t bytes)
{
	char preset[160];
	for (uint32_t k = 0; k < N; k++) {
		lines[k] = (struct line){.at = k / 16 * 3000000,
			.source = k % 16,
			.destination = (k % 16 + k / 16 * 5 + 3) % 16,
			.bytes = bytes + k};
		if (lines[k].source == lines[k].destination)
			lines[k].destination ^= 1;
	}
	snprintf(preset, sizeof preset, "%s%s", tree, changes);
	return replay_blamed(preset, lines, N, 7);
}

static void a_window_of_the_whole_run_is_packets(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_TREES; i++) {
		struct line lines[N], windowed[N];
		struct outcome packets = replayed(trees[i], "", lines, 30000);
		struct outcome exact = replayed(
			trees[i], ",switching=fluid,exact_to=1s", windowed, 30000);
		assert_memory_equal(lines, windowed, sizeof lines);
		assert_true(packets.tally.hash == exact.tally.hash);
		drop(&packets);
		drop(&exact);
	}
}

// Wherever the window is, each packet crosses each link once, all payload arrives, and
// (see `replayed`) all that waits is blamed.
static void nothing_is_lost_or_sent_twice_at_the_edges(void **state)
{
	(void)state;
	const tb_time_ps starts[] = {0, 1, 1234567, 9000000, 15000000};
	const tb_time_ps lengths[] = {1, 777777, 8000000};
	for (size_t i = 0; i < N_TREES * 15; i++) {
		const char *tree = trees[i % N_TREES];
		tb_time_ps from = starts[i / N_TREES % 5];
		char changes[120];
		struct line lines[N];
		snprintf(changes, sizeof changes,
			",ascent=deterministic,switching=fluid,exact_from=%lldps,"
			"exact_to=%lldps",
			(long long)from, (long long)(from + lengths[i / N_TREES / 5]));
		struct outcome flows = replayed(
			tree, ",ascent=deterministic,switching=fluid", lines, 30000);
		struct outcome mixed = replayed(tree, changes, lines, 30000);
		assert_int_equal(flows.stats.n_packets, mixed.stats.n_packets);
		assert_int_equal(flows.stats.payload_bytes, mixed.stats.payload_bytes);
		assert_int_equal(flows.stats.n_hops, mixed.stats.n_hops);
		for (uint32_t l = 0; l < flows.n_links; l++) {
			const struct tb_link_sample *a = &flows.tally.links[l];
			const struct tb_link_sample *b = &mixed.tally.links[l];
			assert_int_equal(a->n_packets, b->n_packets);
			if (i % N_TREES != 1) // of qsnet tokens are counted, too
				assert_int_equal(a->bytes, b->bytes);
		}
		drop(&flows);
		drop(&mixed);
	}
}

// A message is split over ways before the window and behind it: each packet crosses as
// many links as in packets alone, and no byte is lost at nodes.
static void split_messages_lose_nothing_at_the_edges(void **state)
{
	(void)state;
	const char *const ascents[] = {"adaptive", "random"};
	for (size_t i = 0; i < 8; i++) {
		char changes[160], split[60];
		struct line lines[N];
		uint64_t n_crossed = 0;
		snprintf(split, sizeof split, ",ascent=%s,switching=fluid",
			ascents[i % 2]);
		snprintf(changes, sizeof changes, "%s,exact_from=%zuus,exact_to=%zuus",
			split, i * 2 + 1, i * 4 + 2);
		struct outcome flows = replayed(trees[0], split, lines, 300000);
		struct outcome mixed = replayed(trees[0], changes, lines, 300000);
		assert_int_equal(flows.stats.n_packets, mixed.stats.n_packets);
		assert_int_equal(flows.stats.payload_bytes, mixed.stats.payload_bytes);
		assert_int_equal(flows.stats.n_hops, mixed.stats.n_hops);
		struct tb_network *net = network_of(trees[0]);
		for (uint32_t l = 0; l < mixed.n_links; l++)
			n_crossed += mixed.tally.links[l].n_packets;
		assert_int_equal(n_crossed, mixed.stats.n_hops);
		for (uint32_t k = 0; k < 2 * net->n_nodes; k++) {
			uint32_t l = k % 2 ? net->injection[k / 2] : net->ejection[k / 2];
			assert_int_equal(
				flows.tally.links[l].bytes, mixed.tally.links[l].bytes);
		}
		tb_network_free(net);
		drop(&flows);
		drop(&mixed);
	}
}

// A message that is about to flow where the window begins has sent nothing.
static void a_message_that_begins_at_the_edge_is_sent_once(void **state)
{
	(void)state;
	const char *tree = "ib-hdr,levels=2,arity=4,send_overhead=0,fetch_delay=0,"
			   "message_gap=0,queue_pair_gap=0,first_overhead=16,"
			   "switching=fluid";
	uint64_t bytes[2];
	for (size_t i = 0; i < 2; i++) {
		char preset[200];
		struct line line = {.at = 1000000, .destination = 9, .bytes = 100000};
		snprintf(preset, sizeof preset, "%s%s", tree,
			i ? ",exact_from=1us,exact_to=1s" : "");
		struct tb_network *net = network_of(preset);
		struct outcome outcome = replay(net, &line, 1, 1, 0);
		bytes[i] = outcome.tally.links[net->injection[0]].bytes;
		drop(&outcome);
		tb_network_free(net);
	}
	assert_int_equal(bytes[0], bytes[1]);
}

static void what_flows_lack_is_refused_in_windows(void **state)
{
	(void)state;
	const uint8_t levels[] = {0, 1};
	for (uint32_t i = 0; i < 3; i++) {
		struct tb_network *net =
			network_of("qsnet,levels=2,switching=fluid,exact_to=1s");
		net->params.broadcast = i == 0;
		struct line line = {.destination = 5, .bytes = 1000};
		struct script script = {&line, 1, 0};
		struct tb_source source = script_source(&script);
		struct replay asked = {.network = net,
			.source = &source,
			.options = {.service_levels = levels, .n_service_levels = i},
			.n_instants = UINT64_MAX};
		int status = replay_by(BY_ENGINE, &asked);
		// One job alone has level 0, as all have that ask for none.
		assert_int_equal(status, i == 1 ? TB_OK : TB_EUSAGE);
		if (i != 1)
			assert_non_null(strstr(asked.error.text, "fluid has no"));
		tb_network_free(net);
	}
}

static tb_time_ps last_of(const struct line *lines)
{
	tb_time_ps last = 0;
	for (uint32_t k = 0; k < N; k++)
		last = lines[k].delivered > last ? lines[k].delivered : last;
	return last;
}

static void a_window_within_takes_as_long_as_packets(void **state)
{
	(void)state;
	struct line lines[N], windowed[N];
	struct outcome packets = replayed(trees[0], "", lines, 1000000);
	struct outcome mixed = replayed(trees[0],
		",switching=fluid,exact_from=100us,exact_to=180us", windowed, 1000000);
	tb_time_ps apart = last_of(windowed) - last_of(lines);
	assert_true(llabs(apart) * 20 <= last_of(lines));
	drop(&packets);
	drop(&mixed);
}

// Node 0 sends to 4 with three others, and to 5 alone: its message to 5 stands behind the
// others in one queue, in the window as outside.
static void messages_block_one_another_in_and_outside(void **state)
{
	(void)state;
	const char *const changes[] = {"", ",exact_to=1s"};
	tb_time_ps delivered[2];
	for (size_t i = 0; i < 2; i++) {
		char preset[160];
		struct line lines[5];
		for (uint32_t k = 0; k < 5; k++)
			lines[k] = (struct line){.source = k % 4,
				.destination = k < 4 ? 4 : 5,
				.bytes = 1000000};
		snprintf(preset, sizeof preset,
			"ib-hdr,levels=2,arity=4%s%s,switching=fluid",
			i ? ",queues=fifo,input_speedup=1" : ",queues=fifo", changes[i]);
		struct tb_network *net = network_of(preset);
		struct outcome outcome = replay(net, lines, 5, 1, 0);
		delivered[i] = lines[4].delivered;
		drop(&outcome);
		tb_network_free(net);
	}
	assert_true(llabs(delivered[1] - delivered[0]) * 20 < delivered[0]);
}

// Eight nodes send to one. Its link carries all bytes in no less than they take, wherever
// the window is: what stands in buffers at its begin passes before packets do.
static void links_carry_no_more_than_they_can(void **state)
{
	(void)state;
	const int windows[][2] = {{5, 30}, {10, 20}, {100, 200}, {50, 300}, {320, 330}};
	const char *const ascents[] = {"deterministic", "adaptive"};
	enum { SENDERS = 8 };
	for (size_t i = 0; i < 10; i++) {
		struct line lines[SENDERS];
		tb_time_ps last = 0;
		char preset[160];
		for (uint32_t k = 0; k < SENDERS; k++)
			lines[k] = (struct line){.source = k + 1, .bytes = 1 << 20};
		snprintf(preset, sizeof preset,
			"ib-hdr,levels=2,arity=4,switching=fluid,ascent=%s,"
			"exact_from=%dus,exact_to=%dus",
			ascents[i % 2], windows[i / 2][0], windows[i / 2][1]);
		struct outcome outcome = replay_blamed(preset, lines, SENDERS, 7);
		for (uint32_t k = 0; k < SENDERS; k++)
			last = tb_time_later(last, lines[k].delivered);
		struct tb_network *net = network_of(preset);
		uint64_t bytes = outcome.tally.links[net->ejection[0]].bytes;
		tb_time_ps least = (tb_time_ps)(bytes * 40); // at 25 GB/s
		assert_true(bytes >= SENDERS << 20);
		if (last < least || last > least * 102 / 100)
			fail_msg("%s: %lld ps, at least %lld", preset, (long long)last,
				(long long)least);
		tb_network_free(net);
		drop(&outcome);
	}
}

static void a_window_behind_the_end_is_refused(void **state)
{
	(void)state;
	struct tb_network *net = network_of(
		"ib-hdr,levels=2,arity=4,switching=fluid,exact_from=1s,exact_to=2s");
	for (int may_miss = 0; may_miss < 2; may_miss++) {
		struct line line = {.destination = 5, .bytes = 1000};
		struct script script = {&line, 1, 0};
		struct tb_source source = script_source(&script);
		struct replay asked = {.network = net,
			.source = &source,
			.options = {.window_may_miss = may_miss},
			.n_instants = UINT64_MAX};
		int status = replay_by(BY_ENGINE, &asked);
		assert_int_equal(status, may_miss ? TB_OK : TB_EUSAGE);
		if (!may_miss)
			assert_non_null(strstr(asked.error.text, "expected a window"));
	}
	tb_network_free(net);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_window_of_the_whole_run_is_packets),
		cmocka_unit_test(nothing_is_lost_or_sent_twice_at_the_edges),
		cmocka_unit_test(split_messages_lose_nothing_at_the_edges),
		cmocka_unit_test(a_message_that_begins_at_the_edge_is_sent_once),
		cmocka_unit_test(what_flows_lack_is_refused_in_windows),
		cmocka_unit_test(a_window_within_takes_as_long_as_packets),
		cmocka_unit_test(messages_block_one_another_in_and_outside),
		cmocka_unit_test(links_carry_no_more_than_they_can),
		cmocka_unit_test(a_window_behind_the_end_is_refused)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
