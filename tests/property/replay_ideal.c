// Ideal latencies: on a k-ary n-tree whose FIFOs are long enough a lone message takes
// what "What is counted" of docs/model.md says, but for the picoseconds that rounding
// brings; and on no tree with links of one rate is it quicker than that.
#include "../support/replay_compare.h"
#include "../support/replay_credits.h"
#include "../support/replay_ethernet.h"

enum { SEEDS = 300, POSTS_EACH = 6, ROUNDING_PS = 2 };

// stalls says whether a packet could wait for room in a FIFO: it does not fit one, and
// that is short of the round trip of a credit.
static bool stalls(const struct program *program)
{
	const struct tb_network_params *params = &program->params;
	uint32_t room = params->fifo_bytes / tb_circuit_params(params)->flit_bytes *
			tb_circuit_params(params)->flit_bytes;
	double byte_ps = 1e12 / (double)params->link_bytes_per_s;
	double hop_ps = (double)params->hop_latency_ps +
			byte_ps * tb_circuit_params(params)->flit_bytes;
	return params->packet_payload_bytes + params->packet_overhead_bytes > room &&
	       byte_ps * room < 2 * hop_ps;
}

struct lone {
	int64_t network_ps, ideal_ps;
};

// replay_alone replays post i of a program with nothing else under way.
static struct lone replay_alone(const struct program *program, uint32_t i)
{
	struct program alone = *program;
	alone.n_posts = 1;
	alone.posts[0] = program->posts[i];
	alone.posts[0].when = POST_AT;
	struct account *account = account_of(BY_ENGINE, &alone, UINT64_MAX);
	assert_int_equal(account->status, TB_OK);
	assert_int_equal(account->observed.n_flows, 1);
	const struct tb_flow_sample *flow = &account->observed.flows[0];
	assert_int_equal(flow->queue_ps, 0);
	const struct tb_network_params *params = &program->params;
	assert_int_equal(account->delivered[0] - alone.posts[0].at,
		(tb_time_ps)flow->network_ps + params->send_overhead_ps +
			params->receive_overhead_ps);
	struct tb_network *net = network_of(program, NULL);
	struct lone lone = {(int64_t)flow->network_ps,
		tb_engine_ideal_ps(
			net, flow->source, flow->destination, alone.posts[0].bytes) -
			params->send_overhead_ps - params->receive_overhead_ps};
	assert_true(flow->ideal_ps <= flow->network_ps);
	tb_network_free(net);
	account_drop(account);
	return lone;
}

static void a_lone_message_takes_its_ideal_latency(void **state)
{
	(void)state;
	uint32_t n = 0;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct program program = random_program(seed, SHAPE_TREE);
		if (stalls(&program))
			continue;
		for (uint32_t i = 0; i < program.n_posts && i < POSTS_EACH; i++, n++) {
			struct lone lone = replay_alone(&program, i);
			// A packet's bursts are rounded one by one, the ideal's whole.
			uint64_t n_packets =
				1 + program.posts[i].bytes /
					    program.params.packet_payload_bytes;
			if (llabs(lone.network_ps - lone.ideal_ps) >
				ROUNDING_PS + (int64_t)n_packets)
				fail_msg("seed %" PRIu64 ", message %u: took %" PRId64
					 ", ideal %" PRId64,
					seed, i, lone.network_ps, lone.ideal_ps);
		}
	}
	print_message("%u messages alone\n", n);
	assert_true(n > SEEDS);
}

static void no_message_is_quicker_where_rates_are_equal(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct program program = random_program(seed, SHAPE_IRREGULAR);
		for (uint32_t i = 0; i < program.n_posts && i < POSTS_EACH; i++) {
			struct lone lone = replay_alone(&program, i);
			if (lone.network_ps < lone.ideal_ps - 10 * ROUNDING_PS)
				fail_msg("seed %" PRIu64 ", message %u: took %" PRId64
					 ", ideal %" PRId64,
					seed, i, lone.network_ps, lone.ideal_ps);
		}
	}
}

// Where packets wait nowhere, that holds to the picosecond and whatever the tree.
static void it_takes_that_on_the_ideal_network_of_any_tree(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct program program =
			random_program(seed, seed % 2 ? SHAPE_TREE : SHAPE_IRREGULAR);
		program.ideal = true;
		for (uint32_t i = 0; i < program.n_posts && i < POSTS_EACH; i++) {
			struct lone lone = replay_alone(&program, i);
			if (lone.network_ps != lone.ideal_ps)
				fail_msg("seed %" PRIu64 ", message %u: took %" PRId64
					 ", ideal %" PRId64,
					seed, i, lone.network_ps, lone.ideal_ps);
		}
	}
}

// check_pulled replays a program on the ideal network with and without an event for each
// packet: bytes are counted by job, packet by packet, with one. It returns whether nodes
// could be pulled.
static bool check_pulled(struct program *program)
{
	const struct tb_network_params *params = &program->params;
	uint64_t job_bytes[JOBS_MOST] = {0};
	struct difference difference;
	program->ideal = true;
	struct account *pulled = account_of(BY_ENGINE, program, UINT64_MAX);
	program->job_bytes = job_bytes;
	struct account *by_packets = account_of(BY_ENGINE, program, UINT64_MAX);
	assert_int_equal(pulled->status, by_packets->status);
	if (messages_differ(pulled, by_packets, &difference) ||
		stats_differ(pulled, by_packets, &difference) ||
		observed_differ(&pulled->observed, &by_packets->observed, &difference))
		fail_msg("seed %" PRIu64 " on %s: %s", program->seed, params->switching,
			difference.text);
	bool fewer = pulled->stats.n_events < by_packets->stats.n_events;
	account_drop(pulled);
	account_drop(by_packets);
	return fewer;
}

static void nodes_that_are_pulled_come_to_the_same(void **state)
{
	(void)state;
	const enum shape shapes[] = {SHAPE_TREE, SHAPE_IRREGULAR, SHAPE_MIXED};
	uint32_t n_fewer = 0;
	for (uint64_t seed = 1; seed <= SEEDS; seed++)
		for (uint32_t i = 0; i < 3; i++) {
			struct tb_random random;
			struct program credits = random_credit_program(seed, shapes[i]);
			struct program ethernet =
				random_ethernet_program(&random, seed, shapes[i]);
			n_fewer += check_pulled(&credits);
			n_fewer += check_pulled(&ethernet);
		}
	print_message(
		"%" PRIu32 " of %d programs took fewer events\n", n_fewer, 6 * SEEDS);
	assert_true(n_fewer > 2 * SEEDS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_lone_message_takes_its_ideal_latency),
		cmocka_unit_test(no_message_is_quicker_where_rates_are_equal),
		cmocka_unit_test(it_takes_that_on_the_ideal_network_of_any_tree),
		cmocka_unit_test(nodes_that_are_pulled_come_to_the_same),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
