// Ethernet: random captures against a naive model of queues and shapers, and random
// messages against what TCP promises.
#include "../support/replay_outcome.h"
#include "random.h"

#include <stdio.h>

enum { PROGRAMS = 60, MOST = 400, NODES = 8 };
#define BYTE_PS ((tb_time_ps)80000) // 100 Mbit/s

static uint32_t below(struct tb_random *random, uint64_t n)
{
	return (uint32_t)tb_random_below(random, n);
}

static int by_time(const void *left, const void *right)
{
	const struct line *a = left, *b = right;
	return (a->at > b->at) - (a->at < b->at);
}

// random_lines posts bunches of messages, at different instants.
static size_t random_lines(
	struct tb_random *random, struct line *lines, uint64_t most_bytes)
{
	size_t n = 1 + below(random, MOST);
	tb_time_ps span = (tb_time_ps)(1 + below(random, 200)) * TB_PS_PER_MS;
	for (size_t i = 0; i < n; i++) {
		lines[i] = (struct line){
			.at = (tb_time_ps)tb_random_below(random, (uint64_t)span),
			.source = below(random, NODES),
			.bytes = below(random, most_bytes)};
		lines[i].destination =
			(lines[i].source + 1 + below(random, NODES - 1)) % NODES;
	}
	qsort(lines, n, sizeof *lines, by_time);
	return n;
}

struct shaper {
	tb_time_ps tokens_at, passed_at;
};

static tb_time_ps later(tb_time_ps a, tb_time_ps b)
{
	return a > b ? a : b;
}

// pass has a frame pass a port after those before it, and returns when it has.
static tb_time_ps pass(struct shaper *shaper, tb_time_ps ready, uint64_t bytes,
	tb_time_ps burst, uint64_t *wait)
{
	tb_time_ps begins = later(ready, shaper->passed_at);
	*wait += (uint64_t)(begins - ready);
	shaper->tokens_at =
		later(begins, shaper->tokens_at) + (tb_time_ps)bytes * BYTE_PS;
	shaper->passed_at = later(begins, shaper->tokens_at - burst);
	return shaper->passed_at;
}

struct naive_frame {
	tb_time_ps at_switch;
	size_t line;
};

static int by_arrival(const void *left, const void *right)
{
	const struct naive_frame *a = left, *b = right;
	return (a->at_switch > b->at_switch) - (a->at_switch < b->at_switch);
}

static uint64_t naive(struct line *lines, size_t n, tb_time_ps latency, tb_time_ps burst)
{
	struct shaper out[NODES] = {{0}}, in[NODES] = {{0}};
	static struct naive_frame frames[MOST];
	uint64_t own = 0, wait = 0;
	for (size_t i = 0; i < n; i++)
		frames[i] = (struct naive_frame){pass(&out[lines[i].source], lines[i].at,
							 lines[i].bytes, burst, &own) +
							 latency,
			i};
	qsort(frames, n, sizeof *frames, by_arrival);
	for (size_t i = 0; i < n; i++) {
		struct line *line = &lines[frames[i].line];
		line->delivered = pass(&in[line->destination], frames[i].at_switch,
					  line->bytes, burst, &wait) +
				  latency;
	}
	return wait;
}

static int take_captured(
	void *context, tb_time_ps now, struct tb_message *message, struct tb_error *error)
{
	int status = script_take(context, now, message, error);
	message->captured = true;
	return status;
}

static uint64_t replay_captured(
	const struct tb_network *net, struct line *lines, size_t n)
{
	struct script script = {lines, n, 0};
	struct tb_source source = script_source(&script);
	source.take = take_captured;
	source.sent = NULL;
	struct replay replay = {.network = net,
		.source = &source,
		.options = {.seed = 1},
		.n_instants = UINT64_MAX};
	if (replay_by_engine(&replay) != TB_OK)
		fail_msg("%s", replay.error.text);
	assert_int_equal(replay.stats.n_delivered, n);
	return replay.stats.wait_ps;
}

static void captured_frames_queue_as_in_a_naive_model(void **state)
{
	(void)state;
	static struct line lines[MOST], model[MOST];
	for (uint64_t seed = 0; seed < PROGRAMS; seed++) {
		struct tb_random random;
		tb_random_init(&random, seed, 0);
		uint32_t burst = seed % 3 ? below(&random, 6000) : 0;
		char name[160];
		snprintf(name, sizeof name,
			"ethernet-shaped,rate=100Mbit/s,burst=%u,hop_latency=30us,"
			"send_overhead=0,receive_overhead=0",
			burst);
		struct tb_network *net = network_of(name);
		size_t n = random_lines(&random, lines, 1500);
		for (size_t i = 0; i < n; i++) // a frame is never empty
			lines[i].bytes++;
		memcpy(model, lines, n * sizeof *lines);
		uint64_t wait = replay_captured(net, lines, n);
		uint64_t expected =
			naive(model, n, 30 * TB_PS_PER_US, (tb_time_ps)burst * BYTE_PS);
		for (size_t i = 0; i < n; i++)
			if (lines[i].delivered != model[i].delivered)
				fail_msg("seed %d: frame %zu", (int)seed, i);
		if (wait != expected)
			fail_msg("seed %d: wait", (int)seed);
		tb_network_free(net);
	}
}

// promises checks what holds whatever the queues do: messages from one node to another
// come in order, whole, and no sooner than over an idle network.
static void promises(const struct tb_network *net, const struct line *lines, size_t n,
	const struct outcome *outcome)
{
	static tb_time_ps last[NODES][NODES];
	uint64_t bytes = 0;
	memset(last, 0, sizeof last);
	for (size_t i = 0; i < n; i++) {
		const struct line *line = &lines[i];
		tb_time_ps *before = &last[line->source][line->destination];
		assert_true(line->delivered >= *before);
		*before = line->delivered;
		assert_true(line->delivered - line->at >=
			    tb_engine_ideal_ps(net, (struct tb_node){line->source},
				    (struct tb_node){line->destination}, line->bytes));
		bytes += line->bytes;
	}
	assert_int_equal(outcome->tally.flow_bytes, bytes);
	assert_int_equal(outcome->tally.flow_wait_ps, outcome->stats.wait_ps);
	assert_int_equal(outcome->tally.blame_ps, outcome->stats.wait_ps);
}

// stalls_nothing: a link that has frames before it sends.
static void stalls_nothing(const struct outcome *outcome)
{
	for (uint32_t i = 0; i < outcome->n_links; i++)
		assert_int_equal(outcome->tally.links[i].stall_ps, 0);
}

static void messages_come_whole_and_in_order(void **state)
{
	(void)state;
	static struct line lines[MOST], again[MOST];
	static const char *const tcps[] = {"cubic", "bbr", "reno", "bbr"};
	for (uint64_t seed = 0; seed < PROGRAMS; seed++) {
		struct tb_random random;
		tb_random_init(&random, seed, 1);
		char name[200];
		snprintf(name, sizeof name,
			"ethernet-shaped,rate=100Mbit/s,burst=0,%s,queue=%u,"
			"initial_window=%u,receive_window=%uKB,ascent=%s,"
			"tcp=%s",
			seed % 2 ? "arity=8" : "arity=2,levels=3",
			2000 + below(&random, seed % 3 ? 20000 : 1000000),
			1 + below(&random, 20), 2 + below(&random, 200),
			seed % 5 ? "ecmp" : "deterministic", tcps[seed / 2 % 4]);
		struct tb_network *net = network_of(name);
		size_t n = random_lines(&random, lines, 100000);
		memcpy(again, lines, n * sizeof *lines);
		print_message("seed %d: %zu messages on %s\n", (int)seed, n, name);
		struct outcome outcome = replay(net, lines, n, 1, 0);
		promises(net, lines, n, &outcome);
		stalls_nothing(&outcome);
		struct outcome other = replay(net, again, n, 1, 77 * TB_PS_PER_MS);
		for (size_t i = 0; i < n; i++)
			assert_int_equal(lines[i].delivered, again[i].delivered);
		assert_int_equal(outcome.stats.wait_ps, other.stats.wait_ps);
		drop(&outcome);
		drop(&other);
		tb_network_free(net);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(captured_frames_queue_as_in_a_naive_model),
		cmocka_unit_test(messages_come_whole_and_in_order),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
