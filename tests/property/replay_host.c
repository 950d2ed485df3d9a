// The hosts between processes and network interfaces: a host that does nothing changes
// nothing; whatever it does, the oracle agrees, bytes are conserved and messages of a
// pair of processes are told in order.
//
// REPLAY_SEEDS=FIRST-LAST tries others than the usual seeds.
#include "host.h"
#include "random.h"

#include "../support/replay_either.h"
#include "../support/replay_script.h"
#include "network_open.h"
#include "preset.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

enum { MESSAGES = 60, RANKS_A_NODE = 3 };

// A script whose messages belong to ranks of their nodes.
struct ranked {
	struct script script;
	struct line lines[MESSAGES];
	bool out_of_order, copies;
	uint64_t told[MESSAGES]; // by message: 1 + its place in the order of telling
	uint64_t n_reported, n_given_up;
};

static uint32_t rank_of(uint64_t cookie, uint32_t side)
{
	return (uint32_t)(tb_random_mix(cookie * 2 + side) % RANKS_A_NODE);
}

static tb_time_ps ranked_when(void *context)
{
	return script_when(&((struct ranked *)context)->script);
}

static int ranked_take(
	void *context, tb_time_ps now, struct tb_message *message, struct tb_error *error)
{
	int status =
		script_take(&((struct ranked *)context)->script, now, message, error);
	if (status > 0) {
		message->source_rank = rank_of(message->cookie, 0);
		message->destination_rank = rank_of(message->cookie, 1);
	}
	return status;
}

static int ranked_sent(
	void *context, tb_time_ps now, uint64_t cookie, struct tb_error *error)
{
	return script_sent(&((struct ranked *)context)->script, now, cookie, error);
}

static bool same_pair(const struct ranked *ranked, uint64_t a, uint64_t b)
{
	return ranked->lines[a].source == ranked->lines[b].source &&
	       ranked->lines[a].destination == ranked->lines[b].destination &&
	       rank_of(a, 0) == rank_of(b, 0) && rank_of(a, 1) == rank_of(b, 1);
}

static int ranked_delivered(
	void *context, tb_time_ps now, uint64_t cookie, struct tb_error *error)
{
	struct ranked *ranked = context;
	for (uint64_t later = cookie + 1; later < MESSAGES; later++)
		if (ranked->told[later] && same_pair(ranked, cookie, later))
			ranked->out_of_order = true;
	ranked->told[cookie] = ++ranked->n_reported;
	return script_delivered(&ranked->script, now, cookie, error);
}

static int ranked_undelivered(
	void *context, tb_time_ps now, uint64_t cookie, struct tb_error *error)
{
	struct ranked *ranked = context;
	// What was copied is sent before it is known to be lost.
	assert_true(ranked->copies || ranked->lines[cookie].sent == 0);
	ranked->n_given_up++;
	return ranked_delivered(context, now, cookie, error);
}

static struct tb_source ranked_source(struct ranked *ranked)
{
	return (struct tb_source){.context = ranked,
		.when = ranked_when,
		.take = ranked_take,
		.sent = ranked_sent,
		.delivered = ranked_delivered,
		.undelivered = ranked_undelivered};
}

struct outcome {
	struct ranked ranked;
	struct tally tally;
	struct tb_engine_stats stats;
};

static void run(enum replayer by, const struct tb_network *net,
	const struct tb_faults *faults, bool with_host, struct outcome *outcome)
{
	struct tb_error error = {0};
	struct tb_source source = ranked_source(&outcome->ranked);
	outcome->ranked.copies = tb_network_params(net)->host.eager_copy_bytes_per_s > 0;
	struct tb_observer observer =
		tally_observer(&outcome->tally, tb_network_n_links(net));
	struct tb_host *host = NULL;
	assert_int_equal(
		tb_host_new(&host, net, &source, &observer, tb_engine_ideal_ps, &error),
		0);
	struct tb_source nics = with_host ? tb_host_source(host) : source;
	struct tb_observer told = with_host ? tb_host_observer(host) : observer;
	struct replay replay = {.network = net,
		.source = &nics,
		.observer = &told,
		.options = {.seed = 1, .faults = faults},
		.n_instants = UINT64_MAX};
	if (replay_by(by, &replay) != TB_OK)
		fail_msg("%s", replay.error.text);
	outcome->stats = replay.stats;
	if (with_host)
		tb_host_stats(host, &outcome->stats);
	tb_host_free(host);
	assert_int_equal(outcome->ranked.n_reported, MESSAGES);
}

static struct outcome *outcome_new(uint64_t seed, uint32_t n_hosts)
{
	struct outcome *outcome = calloc(1, sizeof *outcome);
	assert_non_null(outcome);
	struct tb_random random;
	tb_random_init(&random, seed, 0);
	tb_time_ps at = 0;
	for (size_t i = 0; i < MESSAGES; i++) {
		at += (tb_time_ps)tb_random_below(&random, 2 * TB_PS_PER_US);
		outcome->ranked.lines[i] = (struct line){.at = at,
			.source = (uint32_t)tb_random_below(&random, n_hosts),
			.destination = (uint32_t)tb_random_below(&random, n_hosts),
			.bytes = tb_random_below(&random, 8) == 0
					 ? 0
					 : tb_random_below(&random, 6000)};
	}
	outcome->ranked.script = (struct script){outcome->ranked.lines, MESSAGES, 0};
	return outcome;
}

static void outcome_free(struct outcome *outcome)
{
	free(outcome->tally.links);
	free(outcome);
}

static uint32_t draw(struct tb_random *random, uint32_t n)
{
	return (uint32_t)tb_random_below(random, n);
}

static struct tb_host_params random_host(struct tb_random *random)
{
	static const uint32_t sizes[] = {0, 64, 1024, 2048};
	return (struct tb_host_params){.name = "random",
		.issue_ps = draw(random, 2) * draw(random, 3000000),
		.notice_ps = draw(random, 2) * draw(random, 3000000),
		.wake_ps = draw(random, 2) * draw(random, 1000000),
		.copy_bytes_per_s = draw(random, 2) * UINT64_C(500000000),
		.largest_bytes = sizes[draw(random, 4)],
		.n_outstanding = draw(random, 3),
		.rails_policy = (enum tb_rails_policy)draw(random, 6),
		.stripe_above_bytes = sizes[draw(random, 4)],
		.handshake = (enum tb_handshake)draw(random, 3),
		.handshake_above_bytes = sizes[draw(random, 4)],
		.handshake_delay_ps = draw(random, 2) * draw(random, 2000000),
		.eager_copy_bytes_per_s = draw(random, 2) * UINT64_C(700000000),
		.local = (enum tb_local)draw(random, 2),
		.local_latency_ps = draw(random, 2) * 1000000,
		.local_bytes_per_s = draw(random, 2) * UINT64_C(800000000)};
}

static struct tb_network *random_network(uint64_t seed, bool with_host)
{
	struct tb_random random;
	tb_random_init(&random, seed, 1);
	struct tb_network_params params;
	struct tb_network *net = NULL;
	struct tb_error error = {0};
	const char *preset = draw(&random, 2) ? "qsnet,host=none" : "qsnet2,host=none";
	assert_int_equal(tb_network_preset(&params, preset, &error), TB_OK);
	params.arity = 2 + draw(&random, 2);
	params.levels = 1 + draw(&random, 2);
	if (with_host) {
		params.n_rails = 1 + draw(&random, 3);
		params.host = random_host(&random);
	}
	if (tb_network_open(&net, &(struct tb_network_description){.params = &params},
		    &error) != TB_OK)
		fail_msg("%s", error.text);
	return net;
}

static void seeds(unsigned long long *first, unsigned long long *last)
{
	const char *given = getenv("REPLAY_SEEDS");
	if (given)
		(void)sscanf(given, "%llu-%llu", first, last);
}

// check_split: two replays split latencies alike, into parts that are part of them.
static void check_split(const struct tally *a, const struct tally *b)
{
	assert_int_equal(a->flow_queue_ps, b->flow_queue_ps);
	assert_int_equal(a->flow_network_ps, b->flow_network_ps);
	assert_int_equal(a->flow_ideal_ps, b->flow_ideal_ps);
	assert_true(a->flow_queue_ps <= a->flow_latency_ps);
	assert_true(a->flow_network_ps <= a->flow_latency_ps - a->flow_queue_ps);
}

static void a_host_that_does_nothing_changes_nothing(void **state)
{
	(void)state;
	unsigned long long first = 1, last = 30;
	seeds(&first, &last);
	for (uint64_t seed = first; seed <= last; seed++) {
		struct tb_network *net = random_network(seed, false);
		assert_false(tb_host_is_needed(net));
		struct outcome *direct = outcome_new(seed, tb_network_n_hosts(net));
		struct outcome *hosted = outcome_new(seed, tb_network_n_hosts(net));
		run(BY_ENGINE, net, NULL, false, direct);
		run(BY_ENGINE, net, NULL, true, hosted);
		assert_true(direct->tally.hash == hosted->tally.hash);
		check_split(&direct->tally, &hosted->tally);
		assert_memory_equal(&direct->stats, &hosted->stats, sizeof direct->stats);
		assert_memory_equal(direct->ranked.lines, hosted->ranked.lines,
			sizeof direct->ranked.lines);
		outcome_free(direct);
		outcome_free(hosted);
		tb_network_free(net);
	}
}

static void compare(
	uint64_t seed, const struct outcome *engine, const struct outcome *oracle)
{
	for (size_t i = 0; i < MESSAGES; i++) {
		const struct line *a = &engine->ranked.lines[i];
		const struct line *b = &oracle->ranked.lines[i];
		if (a->sent != b->sent || a->delivered != b->delivered)
			fail_msg("seed %llu, message %zu: sent %lld, delivered %lld by "
				 "events, %lld, %lld by the oracle",
				(unsigned long long)seed, i, (long long)a->sent,
				(long long)a->delivered, (long long)b->sent,
				(long long)b->delivered);
	}
	assert_int_equal(engine->stats.wait_ps, oracle->stats.wait_ps);
	assert_int_equal(engine->stats.now_ps, oracle->stats.now_ps);
	assert_int_equal(engine->tally.flow_wait_ps, oracle->tally.flow_wait_ps);
	assert_int_equal(engine->tally.blame_ps, oracle->tally.blame_ps);
	assert_true(engine->tally.hash == oracle->tally.hash);
	check_split(&engine->tally, &oracle->tally);
}

// check_bytes: all that was posted was told, flow by flow; and what went into the
// network came out of it.
static void check_bytes(const struct tb_network *net, const struct outcome *outcome)
{
	uint64_t posted = 0, in = 0, out = 0;
	for (size_t i = 0; i < MESSAGES; i++)
		posted += outcome->ranked.lines[i].bytes;
	for (uint32_t id = 0; id < tb_network_n_links(net); id++) {
		struct tb_link_info link = tb_network_link(net, (struct tb_link){id});
		if (link.kind == TB_LINK_INJECTION)
			in += outcome->tally.links[id].bytes;
		else if (link.kind == TB_LINK_EJECTION)
			out += outcome->tally.links[id].bytes;
	}
	assert_int_equal(outcome->tally.flow_bytes, posted);
	assert_int_equal(outcome->tally.flow_messages, MESSAGES);
	assert_int_equal(outcome->stats.payload_bytes, posted);
	assert_int_equal(outcome->stats.n_delivered, MESSAGES);
	assert_int_equal(in, out);
}

// random_faults lets a few cables and switches die on the way, so that messages are tried
// again and some are given up.
static struct tb_faults *random_faults(const struct tb_network *net, uint64_t seed)
{
	struct tb_random random;
	tb_random_init(&random, seed, 2);
	struct tb_faults *faults = NULL;
	assert_int_equal(tb_faults_new(&faults, net, NULL), TB_OK);
	for (uint32_t n = 1 + draw(&random, 3); n > 0; n--) {
		bool is_switch = draw(&random, 4) == 0;
		struct tb_fault fault = {.is_switch = is_switch,
			.id = draw(&random, is_switch ? tb_network_n_switches(net)
						      : tb_network_n_links(net)),
			.at_ps = (tb_time_ps)draw(&random, 100) * TB_PS_PER_US};
		assert_int_equal(tb_faults_put(faults, fault, NULL), TB_OK);
	}
	return faults;
}

// check_seed returns how many messages were given up.
static uint64_t check_seed(uint64_t seed, bool with_faults)
{
	struct tb_network *net = random_network(seed, true);
	struct tb_faults *faults = with_faults ? random_faults(net, seed) : NULL;
	struct outcome *engine = outcome_new(seed, tb_network_n_hosts(net));
	struct outcome *oracle = outcome_new(seed, tb_network_n_hosts(net));
	run(BY_ENGINE, net, faults, true, engine);
	run(BY_ORACLE, net, faults, true, oracle);
	compare(seed, engine, oracle);
	uint64_t n_given_up = engine->ranked.n_given_up;
	assert_int_equal(n_given_up, engine->stats.n_undelivered);
	assert_int_equal(n_given_up, oracle->ranked.n_given_up);
	assert_int_equal(engine->stats.n_delivered + n_given_up, MESSAGES);
	if (!with_faults)
		check_bytes(net, engine);
	if (tb_network_n_rails(net) > 1)
		assert_false(engine->ranked.out_of_order);
	outcome_free(engine);
	outcome_free(oracle);
	tb_faults_free(faults);
	tb_network_free(net);
	return n_given_up;
}

static void whatever_hosts_do_the_oracle_agrees(void **state)
{
	(void)state;
	unsigned long long first = 1, last = 25;
	seeds(&first, &last);
	for (uint64_t seed = first; seed <= last; seed++)
		assert_int_equal(check_seed(seed, false), 0);
}

static void whatever_fails_every_message_is_reported_once(void **state)
{
	(void)state;
	unsigned long long first = 1, last = 25;
	uint64_t n_given_up = 0;
	seeds(&first, &last);
	for (uint64_t seed = first; seed <= last; seed++)
		n_given_up += check_seed(seed, true);
	print_message("%llu messages were given up\n", (unsigned long long)n_given_up);
	assert_true(n_given_up > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_host_that_does_nothing_changes_nothing),
		cmocka_unit_test(whatever_hosts_do_the_oracle_agrees),
		cmocka_unit_test(whatever_fails_every_message_is_reported_once),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
