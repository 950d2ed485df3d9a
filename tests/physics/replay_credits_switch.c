// Switches of networks with credits, by what is known of them: input queues with and
// without virtual output queues, one server with random arrivals, buffers and loops,
// merging streams (docs/credits.md).
#include "../support/replay_saturated.h"

#include "network_builder.h"
#include "preset.h"
#include "random.h"

#include <math.h>
#include <stdio.h>

// Nodes cost nothing, packets are 4096 bytes on the wire.
#define BARE                                                                             \
	"ib-hdr,payload=4096,overhead=0,first_overhead=0,pcie=none,send_overhead=0,"     \
	"receive_overhead=0,fetch_delay=0,queue_pair_gap=0,message_gap=0,queue_pairs="   \
	"message"
#define T_PS ((tb_time_ps)4096 * 40) // of a packet at 25 GB/s

// N senders on one side of a switch, N receivers on the other, so that an input sends to
// each output alike.
static double share_of_capacity(uint32_t n, const char *changes)
{
	char preset[320];
	snprintf(preset, sizeof preset, BARE ",levels=1,arity=%u,hop_latency=1ns%s",
		2 * n, changes);
	return saturated_share(&(struct saturated){.preset = preset,
		.n_nodes = 2 * n,
		.n_senders = n,
		.first_target = n,
		.message_bytes = 4096,
		.depth = 256,
		.n_warm = n * UINT64_C(20000),
		.n_measured = n * UINT64_C(100000)});
}

// Karol, Hluchyj and Morgan, 1987, table I, for slots. Here a packet is as long as a slot
// and nothing else is in step.
static void input_queues_carry_what_karol_found(void **state)
{
	(void)state;
	static const double known[] = {
		0.7500, 0.6825, 0.6553, 0.6399, 0.6302, 0.6234, 0.6184};
	for (uint32_t n = 2; n <= 8; n++) {
		double share =
			share_of_capacity(n, ",queues=fifo,input_speedup=1,buffer=16KB");
		print_message("%u ports: %.4f, Karol %.4f\n", n, share, known[n - 2]);
		assert_true(fabs(share / known[n - 2] - 1) < 0.01);
	}
}

static void sixteen_inputs_come_near_the_limit(void **state)
{
	(void)state;
	double share = share_of_capacity(16, ",queues=fifo,input_speedup=1,buffer=16KB");
	print_message("16 ports: %.4f\n", share);
	assert_true(fabs(share / 0.6018 - 1) < 0.01); // as a short simulation had
}

static void virtual_output_queues_carry_nearly_all(void **state)
{
	(void)state;
	for (uint32_t n = 2; n <= 8; n += 3) {
		double share = share_of_capacity(
			n, ",queues=voq,input_speedup=none,buffer=512KB");
		print_message("%u ports: %.4f\n", n, share);
		assert_true(share > 0.97 && share < 1.0005);
	}
}

enum { SOURCES = 15, ARRIVALS = 200000 };

static int by_time(const void *left, const void *right)
{
	const struct line *a = left, *b = right;
	return (a->at > b->at) - (a->at < b->at);
}

// arrive_at_random has SOURCES nodes send to node SOURCES, together at `load`.
static void arrive_at_random(struct line *lines, double load)
{
	struct tb_random random;
	double at = 0;
	tb_random_init(&random, 7, (uint64_t)(load * 100));
	for (uint32_t i = 0; i < ARRIVALS; i++) {
		at += tb_random_exponential(&random) * (double)T_PS / load;
		lines[i] = (struct line){.at = (tb_time_ps)at,
			.source = (uint32_t)tb_random_below(&random, SOURCES),
			.destination = SOURCES,
			.bytes = 4096};
	}
	qsort(lines, ARRIVALS, sizeof *lines, by_time);
}

// Wherever packets of one size wait on their way into one server, the server does the
// same (Rubin 1974): all waits together are those of one queue, by Lindley's recursion,
// and its mean that of M/D/1.
static void random_arrivals_wait_as_one_queue_does(void **state)
{
	(void)state;
	static const double loads[] = {0.3, 0.5, 0.8};
	struct tb_network *net = network_of(BARE ",levels=1,arity=16,buffer=1G");
	struct line *lines = malloc(ARRIVALS * sizeof *lines);
	for (size_t i = 0; i < sizeof loads / sizeof *loads; i++) {
		double waited = 0, queued = 0;
		tb_time_ps free_at = 0, idle = 2 * 145000 + T_PS;
		arrive_at_random(lines, loads[i]);
		struct outcome outcome = replay(net, lines, ARRIVALS, 1, 0);
		for (uint32_t j = 0; j < ARRIVALS; j++) {
			tb_time_ps begins = lines[j].at > free_at ? lines[j].at : free_at;
			free_at = begins + T_PS;
			queued += (double)(begins - lines[j].at);
			waited += (double)(lines[j].delivered - lines[j].at - idle);
		}
		double mean = waited / ARRIVALS / (double)T_PS;
		double known = loads[i] / 2 / (1 - loads[i]);
		print_message("load %.1f: %.4f, M/D/1 %.4f\n", loads[i], mean, known);
		assert_true(waited == queued);
		assert_true(fabs(mean / known - 1) < 0.03);
		drop(&outcome);
	}
	free(lines);
	tb_network_free(net);
}

// A buffer of k packets, known to be free a loop after each was taken: k packets a loop,
// or what the link carries.
static void a_stream_gets_buffer_by_loop_or_the_rate(void **state)
{
	(void)state;
	enum { N = 300 };
	for (uint32_t k = 1; k <= 20; k++) {
		char preset[320];
		snprintf(preset, sizeof preset,
			BARE ",levels=1,arity=2,hop_latency=1us,buffer=%u", 4096 * k);
		struct tb_network *net = network_of(preset);
		struct line line = {.destination = 1, .bytes = N * 4096};
		struct outcome outcome = replay(net, &line, 1, 1, 0);
		tb_time_ps latency = 1000000, loop = 2 * latency + T_PS;
		if (loop < (tb_time_ps)k * T_PS)
			loop = (tb_time_ps)k * T_PS;
		assert_int_equal(line.delivered,
			(N - 1) / k * loop + (N - 1) % k * T_PS + 2 * latency + T_PS);
		drop(&outcome);
		tb_network_free(net);
	}
}

// Node 0 sends to a hot node, for which three others send too, and as much to an idle
// one. The buffer holds all that has to wait. Returns when the idle one has all of its.
static tb_time_ps idle_output_has_all(const char *changes)
{
	enum { N = 1000 };
	char preset[320];
	snprintf(preset, sizeof preset, BARE ",levels=1,arity=8,buffer=1G%s", changes);
	struct tb_network *net = network_of(preset);
	struct line lines[5];
	for (uint32_t i = 0; i < 5; i++)
		lines[i] = (struct line){.source = i < 4 ? i : 0,
			.destination = i < 4 ? 6 : 7,
			.bytes = N * 4096};
	struct outcome outcome = replay(net, lines, 5, 1, 0);
	assert_int_equal(outcome.tally.blame_ps, outcome.stats.wait_ps);
	drop(&outcome);
	tb_network_free(net);
	return lines[4].delivered / N;
}

static void a_hot_output_holds_up_an_idle_one_in_one_queue_only(void **state)
{
	(void)state;
	// One in two packets of the input is for the idle output, and one in four of the
	// hot output's from this input.
	assert_true(llabs(idle_output_has_all(",queues=voq,input_speedup=none") -
			    2 * T_PS) < T_PS / 100);
	assert_true(llabs(idle_output_has_all(",queues=fifo,input_speedup=1") -
			    4 * T_PS) < T_PS / 100);
}

static void put(int status, const struct tb_error *error)
{
	if (status != TB_OK)
		fail_msg("%s", error->text);
}

// parking_lot builds a chain of three switches: two nodes at the first, one at the
// second, one and the sink, node 4, at the last.
static struct tb_network *parking_lot(const char *preset)
{
	static const uint32_t n_nodes[] = {2, 1, 2};
	struct tb_network_builder *builder = NULL;
	struct tb_network *net = NULL;
	struct tb_network_params params;
	struct tb_switch chain[3];
	struct tb_error error = {0};
	put(tb_network_preset(&params, preset, &error), &error);
	put(tb_network_builder_new(&builder, &params, &error), &error);
	for (uint32_t i = 0; i < 3; i++) {
		put(tb_network_add_switch(builder, i, 3, 1, &chain[i], &error), &error);
		for (uint32_t j = 0; j < n_nodes[i]; j++)
			put(tb_network_add_node(builder, chain[i], j, NULL, &error),
				&error);
		if (i > 0)
			put(tb_network_add_cable(
				    builder, chain[i - 1], 3, chain[i], 2, NULL, &error),
				&error);
	}
	put(tb_network_finish(builder, &net, &error), &error);
	tb_network_builder_free(builder);
	return net;
}

static void merging_streams_share_in_halves(void **state)
{
	(void)state;
	static const double shares[] = {0.125, 0.125, 0.25, 0.5};
	uint32_t nodes[] = {0, 1, 2, 3}, sink = 4;
	struct tb_network *net = parking_lot(BARE ",buffer=16KB");
	struct tb_traffic_job jobs[4];
	uint64_t bytes[4] = {0}, all = 0;
	struct tb_traffic *traffic = NULL;
	struct tb_engine *engine = NULL;
	struct tb_error error = {0};
	for (uint32_t i = 0; i < 4; i++)
		jobs[i] = (struct tb_traffic_job){.senders = &nodes[i],
			.n_senders = 1,
			.rule = TB_TRAFFIC_FIXED,
			.targets = &sink,
			.n_targets = 1,
			.message_bytes = 4096,
			.depth = 64};
	put(tb_traffic_new(&traffic, jobs, 4, 1, &error), &error);
	const struct tb_source source = tb_traffic_source(traffic);
	const struct tb_engine_options options = {.seed = 1, .job_bytes = bytes};
	put(tb_engine_new(&engine, net, &source, NULL, &options, &error), &error);
	assert_int_equal(tb_engine_run(engine, 20000, &error), 1);
	memset(bytes, 0, sizeof bytes);
	assert_int_equal(tb_engine_run(engine, 400000, &error), 1);
	for (uint32_t i = 0; i < 4; i++)
		all += bytes[i];
	for (uint32_t i = 0; i < 4; i++)
		assert_true(fabs((double)bytes[i] / (double)all / shares[i] - 1) < 0.01);
	tb_engine_free(engine);
	tb_traffic_free(traffic);
	tb_network_free(net);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(input_queues_carry_what_karol_found),
		cmocka_unit_test(sixteen_inputs_come_near_the_limit),
		cmocka_unit_test(virtual_output_queues_carry_nearly_all),
		cmocka_unit_test(random_arrivals_wait_as_one_queue_does),
		cmocka_unit_test(a_stream_gets_buffer_by_loop_or_the_rate),
		cmocka_unit_test(a_hot_output_holds_up_an_idle_one_in_one_queue_only),
		cmocka_unit_test(merging_streams_share_in_halves),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
