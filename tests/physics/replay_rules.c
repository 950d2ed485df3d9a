// Rules of docs/model.md by closed forms, for engine and oracle: what they once
// got wrong.
#include "../support/replay_account.h"
#include "circuit_params.h"
#include "names.h"
#include "preset.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

// two_leaves is a network of nodes 0 and 1 at one switch and node 2 at another, below a
// third; QsNet without a bus and without overheads, but for what the caller changes.
static struct program two_leaves(void)
{
	struct program program = {.seed = 1,
		.n_leaves = 2,
		.n_tops = 1,
		.nodes_a_leaf = {2, 1},
		.bin_ps = TB_PS_PER_US};
	assert_int_equal(tb_network_preset(&program.params,
				 "qsnet,bus=0,send_overhead=0,receive_overhead=0,"
				 "write_block=0",
				 NULL),
		TB_OK);
	for (uint32_t i = 0; i < CABLES_MOST; i++)
		program.cables[i].n_vcs = 2;
	return program;
}

// A short packet, its last flit of one byte, from a link of one rate to one of another.
static void a_packet_crosses_at_the_pace_of_the_slower_link(void **state)
{
	(void)state;
	static const struct {
		uint64_t in, out;    // rates
		tb_time_ps expected; // of 58 + 5 bytes, 35 ns a link
	} cases[] = {
		// A hop of 35 + 5 ns, 63 bytes, the wire.
		{400000000, 400000000, 40000 + 63 * 2500 + 35000},
		{400000000, 100000000, 40000 + 63 * 10000 + 35000},
		// 62 bytes, then the last flit: a hop of 35 + 20 ns, its byte, the wire.
		{100000000, 400000000, 62 * 10000 + 55000 + 2500 + 35000},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct program program = two_leaves();
		program.cables[0].bytes_per_s = cases[i].in;
		program.cables[1].bytes_per_s = cases[i].out;
		program.n_posts = 1;
		program.posts[0] =
			(struct post){.source = 0, .destination = 1, .bytes = 5};
		for (enum replayer by = 0; by < N_REPLAYERS; by++) {
			struct account *account = account_of(by, &program, UINT64_MAX);
			assert_int_equal(account->delivered[0], cases[i].expected);
			account_drop(account);
		}
	}
}

// Without a bus (rule 3) nothing of a node's own traffic holds up the rest, and a message
// to itself takes no time.
static void a_node_without_a_bus_fetches_and_drains_at_once(void **state)
{
	(void)state;
	struct program program = two_leaves();
	program.n_posts = 3;
	program.posts[0] = (struct post){.source = 0, .destination = 1, .bytes = 5};
	program.posts[1] = (struct post){.source = 1, .destination = 0, .bytes = 5};
	program.posts[2] = (struct post){.source = 1, .destination = 1, .bytes = 5000};
	static const tb_time_ps crossing = 40000 + 63 * 2500 + 35000;
	for (enum replayer by = 0; by < N_REPLAYERS; by++) {
		struct account *account = account_of(by, &program, UINT64_MAX);
		assert_int_equal(account->delivered[0], crossing);
		assert_int_equal(account->delivered[1], crossing);
		assert_int_equal(account->delivered[2], 0);
		account_drop(account);
	}
}

// Messages delivered in one instant: what is posted because of them, to node 2 itself,
// goes over its bus in the order in which they were posted themselves.
static void endings_at_one_time_are_reported_by_serial(void **state)
{
	(void)state;
	enum { PAIRS = 16 };
	struct program program = two_leaves();
	tb_circuit_params_mutable(&program.params)->bus_bytes_per_s = 1000000000;
	program.n_posts = 2 * PAIRS;
	for (uint32_t i = 0; i < PAIRS; i++) {
		program.posts[i] =
			(struct post){.source = i % 2, .destination = i % 2, .bytes = 0};
		program.posts[PAIRS + i] = (struct post){.when = POST_AFTER_DELIVERED,
			.after = PAIRS - 1 - i,
			.source = 2,
			.destination = 2,
			.bytes = 500};
	}
	for (enum replayer by = 0; by < N_REPLAYERS; by++) {
		struct account *account = account_of(by, &program, UINT64_MAX);
		for (uint32_t i = 0; i < PAIRS; i++) {
			assert_int_equal(account->delivered[i], 0);
			assert_int_equal(account->delivered[PAIRS + i],
				(tb_time_ps)(PAIRS - i) * 1000000);
		}
		account_drop(account);
	}
}

// Between payload of one direction and of the other a bus rests for a turn, unless it has
// rested for as long already. A message to its own node goes out, turns and comes in.
static void a_bus_turns_between_out_and_in(void **state)
{
	(void)state;
	static const struct {
		struct post post;
		tb_time_ps delivered;
	} cases[] = {
		{{.source = 2, .destination = 2, .bytes = 500}, 1100000},
		{{.source = 2, .destination = 2, .bytes = 500}, 2300000},
		// Nothing to carry, nothing to turn for.
		{{.source = 2, .destination = 2, .bytes = 0}, 2300000},
		{{.at = 2400000, .source = 2, .destination = 2, .bytes = 500}, 3500000},
		{{.at = 3530000, .source = 2, .destination = 2, .bytes = 500}, 4700000},
		// Fetched in 5 ns, 232.5 on the way, drained in 5.
		{{.source = 0, .destination = 1, .bytes = 5}, 242500},
		// Node 1 turns from that drain to a fetch; node 0 rests long since.
		{{.at = 240000, .source = 1, .destination = 0, .bytes = 5},
			242500 + 100000 + 242500},
	};
	struct program program = two_leaves();
	tb_circuit_params_mutable(&program.params)->bus_bytes_per_s = 1000000000;
	tb_circuit_params_mutable(&program.params)->bus_turn_ps = 100000;
	program.n_posts = sizeof cases / sizeof *cases;
	for (uint32_t i = 0; i < program.n_posts; i++)
		program.posts[i] = cases[i].post;
	for (enum replayer by = 0; by < N_REPLAYERS; by++) {
		struct account *account = account_of(by, &program, UINT64_MAX);
		for (uint32_t i = 0; i < program.n_posts; i++)
			assert_int_equal(account->delivered[i], cases[i].delivered);
		account_drop(account);
	}
}

// Without overhead a packet of a message of no bytes is a byte long, so that it takes its
// turn on the link.
static void a_packet_of_nothing_is_a_byte_long(void **state)
{
	(void)state;
	struct program program = two_leaves();
	program.params.packet_overhead_bytes = 0;
	program.n_posts = 2;
	program.posts[0] = (struct post){.source = 0, .destination = 1};
	program.posts[1] = (struct post){.source = 0, .destination = 1};
	for (enum replayer by = 0; by < N_REPLAYERS; by++) {
		struct account *account = account_of(by, &program, UINT64_MAX);
		assert_int_equal(account->delivered[0], 40000 + 2500 + 35000);
		assert_int_equal(account->delivered[1], 40000 + 2 * 2500 + 35000);
		assert_int_equal(account->observed.bins[0].sample.bytes, 2);
		account_drop(account);
	}
}

// up_ports replays one message of a packet after the other from node 5 of a 4-ary 2-tree
// to node 8, and counts which up port of switch 0.1 they took.
enum { N_ONE_BY_ONE = 40 };

static void up_ports(enum replayer by, const char *network, uint32_t counts[4])
{
	struct program program = {.seed = 1, .bin_ps = TB_PS_PER_S};
	assert_int_equal(tb_network_preset(&program.params, network, NULL), TB_OK);
	program.n_posts = N_ONE_BY_ONE;
	for (uint32_t i = 0; i < N_ONE_BY_ONE; i++)
		program.posts[i] = (struct post){.at = (tb_time_ps)i * 10 * TB_PS_PER_US,
			.source = 5,
			.destination = 8,
			.bytes = 64};
	struct account *account = account_of(by, &program, UINT64_MAX);
	struct tb_network *net = network_of(&program, NULL);
	for (size_t i = 0; i < account->observed.n_bins; i++) {
		struct tb_link_info link =
			tb_network_link(net, account->observed.bins[i].sample.link);
		if (link.kind == TB_LINK_UP)
			counts[link.from_port - 4] +=
				(uint32_t)account->observed.bins[i].sample.n_packets;
	}
	tb_network_free(net);
	account_drop(account);
}

static void each_ascent_takes_its_links(void **state)
{
	(void)state;
	static const struct {
		const char *network;
		uint32_t counts[4];
	} cases[] = {
		{"qsnet,levels=2,ascent=adaptive-lowest", {40, 0, 0, 0}},
		{"qsnet,levels=2,ascent=adaptive-round-robin", {10, 10, 10, 10}},
		{"qsnet,levels=2,ascent=deterministic", {40, 0, 0, 0}}, // 8 mod 4
		{"qsnet,levels=2,ascent=source", {0, 40, 0, 0}},	// 5 mod 4
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		for (enum replayer by = 0; by < N_REPLAYERS; by++) {
			uint32_t counts[4] = {0};
			up_ports(by, cases[i].network, counts);
			assert_memory_equal(counts, cases[i].counts, sizeof counts);
		}
}

static void random_ascents_spread_over_all_links(void **state)
{
	(void)state;
	for (enum replayer by = 0; by < N_REPLAYERS; by++) {
		uint32_t counts[4] = {0};
		up_ports(by, "qsnet,levels=2,ascent=random", counts);
		for (int port = 0; port < 4; port++)
			assert_in_range(counts[port], 4, 18);
	}
}

// fault_at is the cable of a link, by its name, that dies at an instant.
static struct tb_fault fault_at(
	const struct program *program, const char *name, tb_time_ps at_ps)
{
	struct tb_link link = {0};
	struct tb_network *net = network_of(program, NULL);
	assert_int_equal(tb_names_find_link(net, name, &link, NULL), TB_OK);
	tb_network_free(net);
	return (struct tb_fault){.id = link.id, .at_ps = at_ps};
}

// The packet is all in at the switch a hop after its last flit began, 62 bytes after the
// first; its error takes a hop back. After three tries the node looks for another way.
static void a_dead_end_is_tried_and_given_up(void **state)
{
	(void)state;
	struct program program = two_leaves();
	program.params.retries = 2;
	program.params.retry_delay_ps = 1000;
	program.n_posts = 2;
	program.posts[0] =
		(struct post){.at = 10, .source = 0, .destination = 1, .bytes = 5};
	program.posts[1] =
		(struct post){.at = 900000, .source = 0, .destination = 1, .bytes = 5};
	program.n_faults = 1;
	program.faults[0] = fault_at(&program, "0.0 > node 1", 5);
	for (enum replayer by = 0; by < N_REPLAYERS; by++) {
		struct account *account = account_of(by, &program, UINT64_MAX);
		assert_int_equal(account->status, TB_OK);
		assert_int_equal(account->given_up[0],
			10 + 3 * (62 * 2500 + 40000 + 40000 + 1000));
		// Now the node knows.
		assert_int_equal(account->given_up[1], 900000);
		assert_int_equal(account->stats.n_retries, 3);
		assert_int_equal(account->stats.n_undelivered, 2);
		assert_int_equal(account->observed.n_undelivered, 2);
		assert_int_equal(account->observed.undelivered[1].dead.id, TB_ID_NONE);
		account_drop(account);
	}
}

// The worm is corrupted by the link that it has already left, comes in all the same, and
// is tried again over the other cable as soon as its error is back.
static void a_worm_over_a_dying_link_is_sent_again(void **state)
{
	(void)state;
	struct program program = two_leaves();
	program.params.ascent = TB_ASCENT_ADAPTIVE_LOWEST;
	program.params.retries = 1;
	program.n_posts = 1;
	program.posts[0] = (struct post){.source = 0, .destination = 2, .bytes = 5};
	program.n_faults = 1;
	tb_time_ps in = 3 * 40000 + 63 * 2500 + 35000, back = 4 * 40000;
	const tb_time_ps deaths[] = {1, 40001, in, in + 1};
	const tb_time_ps delivered[] = {in, in + back + in, in + back + in, in};
	for (size_t i = 0; i < sizeof deaths / sizeof *deaths; i++) {
		program.faults[0] = fault_at(&program, "0.0:4", deaths[i]);
		for (enum replayer by = 0; by < N_REPLAYERS; by++) {
			struct account *account = account_of(by, &program, UINT64_MAX);
			assert_int_equal(account->delivered[0], delivered[i]);
			assert_int_equal(account->stats.n_undelivered, 0);
			account_drop(account);
		}
	}
}

// Headers wait for the one link to node 1, which a long packet holds; when it dies their
// waits end and count.
static void a_header_that_waits_for_a_dying_link_is_refused(void **state)
{
	(void)state;
	struct program program = two_leaves();
	program.cables[1].n_vcs = 1; // of node 1
	program.n_posts = 2;
	program.posts[0] = (struct post){.source = 0, .destination = 1, .bytes = 320};
	program.posts[1] =
		(struct post){.at = 1, .source = 2, .destination = 1, .bytes = 0};
	program.n_faults = 1;
	program.faults[0] = fault_at(&program, "node 1", 300000);
	for (enum replayer by = 0; by < N_REPLAYERS; by++) {
		struct account *account = account_of(by, &program, UINT64_MAX);
		assert_int_equal(account->stats.wait_ps, 300000 - 3 * 40000 - 1);
		assert_int_equal(account->stats.n_undelivered, 2);
		account_drop(account);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_node_without_a_bus_fetches_and_drains_at_once),
		cmocka_unit_test(each_ascent_takes_its_links),
		cmocka_unit_test(random_ascents_spread_over_all_links),
		cmocka_unit_test(a_packet_crosses_at_the_pace_of_the_slower_link),
		cmocka_unit_test(endings_at_one_time_are_reported_by_serial),
		cmocka_unit_test(a_bus_turns_between_out_and_in),
		cmocka_unit_test(a_packet_of_nothing_is_a_byte_long),
		cmocka_unit_test(a_dead_end_is_tried_and_given_up),
		cmocka_unit_test(a_worm_over_a_dying_link_is_sent_again),
		cmocka_unit_test(a_header_that_waits_for_a_dying_link_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
