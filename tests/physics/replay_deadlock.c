// No deadlock: on random irregular trees, routed up and then down, every message arrives,
// however much is sent at once and however little room there is.
//
// Trees of three levels: switches of uneven numbers of nodes and cables, some doubled,
// many missing, one or two VCs, FIFOs of a flit and up. At time 0 every node has many
// messages for random others: all circuits that can stand stand at once.
#include "network_builder.h"
#include "random.h"

#include "../support/replay_outcome.h"
#include "circuit_params.h"
#include "preset.h"

enum {
	N_LEAVES = 6,
	N_MIDDLE = 4,
	N_TOPS = 3,
	PORTS = 8,
	N_TREES = 40,
	EACH = 10,
	LINKS_MOST = 1024
};

static struct tb_cable random_cable(struct tb_random *random)
{
	return (struct tb_cable){.n_vcs = 1 + (uint32_t)tb_random_below(random, 2),
		.fifo_bytes = 2 + (uint32_t)tb_random_below(random, 300),
		.bytes_per_s = 100000000 * (1 + tb_random_below(random, 4))};
}

struct level {
	struct tb_switch switches[N_LEAVES];
	uint32_t n, n_down; // switches, down ports of each
};

// plug joins two levels: each lower switch to the first of the upper ones, which holds
// the tree together, and to others by chance, now and then by two cables.
static void plug(struct tb_network_builder *builder, struct tb_random *random,
	const struct level *lower, const struct level *upper)
{
	uint32_t n_plugged[N_LEAVES] = {0};
	for (uint32_t i = 0; i < lower->n; i++) {
		uint32_t up_port = lower->n_down, end = up_port + PORTS;
		for (uint32_t j = 0; j < upper->n; j++) {
			uint32_t n = j == 0 ? 1 : (uint32_t)tb_random_below(random, 3);
			for (; n > 0 && up_port < end; n--) {
				struct tb_cable cable = random_cable(random);
				assert_int_equal(
					tb_network_add_cable(builder, lower->switches[i],
						up_port++, upper->switches[j],
						n_plugged[j]++, &cable, NULL),
					TB_OK);
			}
		}
	}
}

static struct level add_level(
	struct tb_network_builder *builder, uint32_t number, uint32_t n, uint32_t n_down)
{
	struct level level = {.n = n, .n_down = n_down};
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(
			tb_network_add_switch(builder, number, n_down,
				number == 2 ? 0 : PORTS, &level.switches[i], NULL),
			TB_OK);
	return level;
}

static struct tb_network *random_tree(struct tb_random *random)
{
	struct tb_network_params params;
	struct tb_network_builder *builder = NULL;
	struct tb_network *net = NULL;
	struct tb_error error = {0};
	assert_int_equal(tb_network_preset(&params, "qsnet", NULL), TB_OK);
	tb_circuit_params_mutable(&params)->link_tokens =
		(double)tb_random_below(random, 3) / 2;
	params.ascent =
		tb_random_below(random, 2) ? TB_ASCENT_ADAPTIVE : TB_ASCENT_DETERMINISTIC;
	assert_int_equal(tb_network_builder_new(&builder, &params, NULL), TB_OK);
	struct level leaves = add_level(builder, 0, N_LEAVES, PORTS);
	struct level middle = add_level(builder, 1, N_MIDDLE, 2 * N_LEAVES);
	struct level tops = add_level(builder, 2, N_TOPS, 2 * N_MIDDLE);
	for (uint32_t i = 0; i < N_LEAVES; i++)
		for (uint32_t n = 1 + (uint32_t)tb_random_below(random, PORTS); n > 0;
			n--) {
			struct tb_cable cable = random_cable(random);
			assert_int_equal(tb_network_add_node(builder, leaves.switches[i],
						 n - 1, &cable, NULL),
				TB_OK);
		}
	plug(builder, random, &leaves, &middle);
	plug(builder, random, &middle, &tops);
	if (tb_network_finish(builder, &net, &error) != TB_OK)
		fail_msg("%s", error.text);
	tb_network_builder_free(builder);
	return net;
}

static struct line *flood(struct tb_random *random, uint32_t n_nodes)
{
	struct line *lines = calloc((size_t)n_nodes * EACH, sizeof *lines);
	for (uint32_t i = 0; i < n_nodes * EACH; i++)
		lines[i] = (struct line){.source = i % n_nodes,
			.destination = (uint32_t)tb_random_below(random, n_nodes),
			.bytes = tb_random_below(random, 4000)};
	return lines;
}

// across returns the bytes of the messages that cross the network.
static uint64_t across(const struct line *lines, uint32_t n)
{
	uint64_t bytes = 0;
	for (uint32_t i = 0; i < n; i++)
		bytes += lines[i].source != lines[i].destination ? lines[i].bytes : 0;
	return bytes;
}

// check_tree adds the delays of headers by link to `delays`. All that arrived is counted
// for the only job, 0.
static void check_tree(enum replayer by, uint64_t seed, tb_time_ps *delays)
{
	struct tb_random random;
	tb_random_init(&random, seed, 0);
	struct tb_network *net = random_tree(&random);
	uint32_t n_nodes = tb_network_n_nodes(net);
	assert_true(tb_network_n_links(net) <= LINKS_MOST);
	struct line *lines = flood(&random, n_nodes);
	uint64_t arrived = 0;
	struct outcome outcome = outcome_by(by, net, lines, (size_t)n_nodes * EACH,
		&(struct tb_engine_options){
			.seed = seed, .delays = delays, .job_bytes = &arrived});
	assert_true(outcome.stats.wait_ps > 0);
	assert_int_equal(arrived, across(lines, n_nodes * EACH));
	assert_int_equal(outcome.stats.n_undelivered, 0);
	drop(&outcome);
	free(lines);
	tb_network_free(net);
}

static void every_message_arrives_on_any_tree(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= N_TREES; seed++)
		check_tree(BY_ENGINE, seed, NULL);
}

static void flit_by_flit_too_and_with_the_same_delays(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 8; seed++) {
		tb_time_ps by_events[LINKS_MOST] = {0}, by_flits[LINKS_MOST] = {0};
		check_tree(BY_ENGINE, seed, by_events);
		check_tree(BY_ORACLE, seed, by_flits);
		assert_memory_equal(by_events, by_flits, sizeof by_events);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_message_arrives_on_any_tree),
		cmocka_unit_test(flit_by_flit_too_and_with_the_same_delays),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
