// Queue pairs: random programs of messages that join, are cut and are dropped, at nodes
// that share one table, against arrays of arrays.
#include "nodes_impl.h"
#include "random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { PROGRAMS = 100, STEPS = 1500, NODES = 5, PAIRS = 700, MESSAGES = STEPS };

struct naive_pair {
	uint32_t to, n, messages[MESSAGES];
};

struct naive_node { // queue pairs with something to send, whose turn is next first
	uint32_t n;
	struct naive_pair pairs[MESSAGES];
};

static struct naive_node naive[NODES];
static uint32_t left[MESSAGES]; // packets to be cut, by message

static void naive_join(uint32_t node, uint32_t to, uint32_t message)
{
	struct naive_node *at = &naive[node];
	uint32_t i = 0;
	while (i < at->n && at->pairs[i].to != to)
		i++;
	struct naive_pair *pair = &at->pairs[i];
	if (i == at->n) {
		at->n++;
		pair->to = to;
		pair->n = 0;
	}
	pair->messages[pair->n++] = message;
}

static void naive_remove_pair(struct naive_node *at, uint32_t i)
{
	memmove(&at->pairs[i], &at->pairs[i + 1],
		(--at->n - i) * sizeof(struct naive_pair));
}

static void naive_remove(struct naive_pair *pair, uint32_t i)
{
	memmove(&pair->messages[i], &pair->messages[i + 1],
		(--pair->n - i) * sizeof(uint32_t));
}

static uint32_t naive_cut(uint32_t node)
{
	static struct naive_pair first;
	struct naive_node *at = &naive[node];
	first = at->pairs[0];
	uint32_t message = first.messages[0];
	naive_remove_pair(at, 0);
	if (--left[message] == 0)
		naive_remove(&first, 0);
	if (first.n)
		at->pairs[at->n++] = first;
	return message;
}

static void naive_drop(uint32_t node, uint32_t message)
{
	struct naive_node *at = &naive[node];
	for (uint32_t i = 0; i < at->n; i++)
		for (uint32_t j = 0; j < at->pairs[i].n; j++)
			if (at->pairs[i].messages[j] == message) {
				naive_remove(&at->pairs[i], j);
				if (at->pairs[i].n == 0)
					naive_remove_pair(at, i);
				return;
			}
}

static uint32_t naive_pick(uint32_t node, struct tb_random *random)
{
	const struct naive_node *at = &naive[node];
	const struct naive_pair *pair = &at->pairs[tb_random_below(random, at->n)];
	return pair->messages[tb_random_below(random, pair->n)];
}

struct fixture {
	struct tb_replay replay;
	struct tb_network net;
	struct tb_nic nics[NODES];
	struct tb_posted messages[MESSAGES];
	_Alignas(64) char packet[64];
	uint32_t free_packets[1];
	uint64_t seed;
};

static void set_up(struct fixture *fixture)
{
	memset(naive, 0, sizeof naive);
	*fixture = (struct fixture){.net.params.packet_payload_bytes = 64};
	fixture->replay = (struct tb_replay){.net = &fixture->net,
		.messages = fixture->messages,
		.packets = fixture->packet,
		.packet_bytes = sizeof fixture->packet,
		.free_packets = fixture->free_packets,
		.n_free_packets = 1,
		.slice_packets = 1,
		.pairs.by_connection = true,
		.nics = fixture->nics};
	for (uint32_t i = 0; i < NODES; i++)
		fixture->nics[i] = (struct tb_nic){.queue = TB_NOTHING,
			.queue_end = TB_NOTHING,
			.fetched = TB_NOTHING,
			.turned = TB_NOTHING};
}

static void join(
	struct fixture *fixture, uint32_t node, uint32_t to, uint32_t id, uint32_t n)
{
	left[id] = n;
	fixture->messages[id] =
		(struct tb_posted){.what.source = {node << 8}, // one bucket
			.what.bytes = n * 64,
			.end = to,
			.n_packets = n,
			.n_unfetched = n,
			.next = TB_NOTHING,
			.pair_next = TB_NOTHING,
			.is_behind = true};
	tb_queue_pairs_join(&fixture->replay, &fixture->nics[node], id);
	naive_join(node, to, id);
}

static void cut(struct fixture *fixture, uint32_t node)
{
	uint32_t packet = tb_nodes_cut(&fixture->replay, &fixture->nics[node]);
	uint32_t message = tb_packet_at(&fixture->replay, packet)->message;
	uint32_t expected = naive_cut(node);
	if (message != expected)
		fail_msg("seed %llu: message %u is cut, not %u",
			(unsigned long long)fixture->seed, message, expected);
	fixture->replay.n_free_packets = 1;
}

static void drop(struct fixture *fixture, uint32_t node, struct tb_random *random)
{
	uint32_t id = naive_pick(node, random);
	tb_queue_pairs_drop(&fixture->replay, &fixture->nics[node], id);
	naive_drop(node, id);
}

static void run(uint64_t seed)
{
	static struct fixture fixture;
	struct tb_random random;
	tb_random_init(&random, seed, 0);
	uint32_t pairs = 1 + (uint32_t)tb_random_below(&random, seed % 2 ? PAIRS : 6);
	uint32_t base = (uint32_t)tb_random_below(&random, 1 << 20); // others collide
	set_up(&fixture);
	fixture.seed = seed;
	for (uint32_t step = 0; step < STEPS; step++) {
		uint32_t node = (uint32_t)tb_random_below(&random, NODES);
		uint32_t what = (uint32_t)tb_random_below(&random, 8);
		if (what < 5)
			join(&fixture, node,
				base + (uint32_t)tb_random_below(&random, pairs), step,
				1 + (uint32_t)tb_random_below(&random, 3));
		else if (naive[node].n && what < 7)
			cut(&fixture, node);
		else if (naive[node].n)
			drop(&fixture, node, &random);
	}
	for (uint32_t node = 0; node < NODES; node++) {
		while (naive[node].n)
			cut(&fixture, node);
		assert_int_equal(fixture.nics[node].queue, TB_NOTHING);
	}
	assert_int_equal(fixture.replay.pairs.n_listed, 0);
	tb_queue_pairs_fini(&fixture.replay.pairs);
}

static void queue_pairs_take_turns_packet_by_packet(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < PROGRAMS; seed++)
		run(seed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(queue_pairs_take_turns_packet_by_packet),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
