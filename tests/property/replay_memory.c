// Copies within a node (rule H8) against a naive model: random messages between the
// processes of a node end when a simulation of continuous rates ends them.
//
// REPLAY_SEEDS=FIRST-LAST tries others than the usual seeds.
#include "engine.h"
#include "host.h"
#include "random.h"

#include "../support/replay_script.h"
#include "network_open.h"
#include "preset.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

enum { MESSAGES = 40, RANKS = 6, LATENCY_NS = 70 };

struct rates {
	uint64_t core, memory; // bytes per second; 0: no limit
};

static void replay(struct rates rates, struct line *lines)
{
	struct tb_network_params params;
	struct tb_network *net = NULL;
	struct tb_error error = {0};
	char preset[160];
	snprintf(preset, sizeof preset,
		"ib-ndr,host=mpi,eager_copy=none,local_latency=%dns,local_rate=%lluB/s,"
		"memory_rate=%lluB/s",
		LATENCY_NS, (unsigned long long)rates.core,
		(unsigned long long)rates.memory);
	if (tb_network_preset(&params, preset, &error) != TB_OK ||
		tb_network_open(&net, &(struct tb_network_description){.params = &params},
			&error) != TB_OK)
		fail_msg("%s", error.text);
	struct script script = {lines, MESSAGES, 0};
	struct tally tally = {0};
	struct tb_source source = script_source(&script);
	struct tb_observer observer = tally_observer(&tally, tb_network_n_links(net));
	struct tb_host *host = NULL;
	struct tb_engine *engine = NULL;
	assert_int_equal(
		tb_host_new(&host, net, &source, &observer, tb_engine_ideal_ps, &error),
		0);
	struct tb_source nics = tb_host_source(host);
	struct tb_observer told = tb_host_observer(host);
	struct tb_engine_options options = {.seed = 1};
	int status = tb_engine_new(&engine, net, &nics, &told, &options, &error);
	while (status >= 0 && (status = tb_engine_run(engine, 1000, &error)) > 0)
		;
	assert_int_equal(status, TB_OK);
	assert_int_equal(tb_engine_finish(engine, &error), TB_OK);
	free(tally.links);
	tb_engine_free(engine);
	tb_host_free(host);
	tb_network_free(net);
}

struct copy {
	double left; // bytes
	double end;  // ps
	bool is_over;
};

// is_copied tells whether the receiver of message i has come to it by `now`.
static bool is_copied(
	const struct line *lines, const struct copy *copies, size_t i, double now)
{
	if (copies[i].is_over || (double)lines[i].at > now)
		return false;
	for (size_t k = 0; k < i; k++)
		if (!copies[k].is_over &&
			lines[k].destination_rank == lines[i].destination_rank)
			return false;
	return true;
}

// step goes on to the next arrival or end of a copy.
static double step(
	const struct line *lines, struct copy *copies, struct rates rates, double now)
{
	bool is_active[MESSAGES];
	double n = 0, next = 1e18;
	for (size_t i = 0; i < MESSAGES; i++)
		n += is_active[i] = is_copied(lines, copies, i, now);
	double rate = (double)rates.core, share = (double)rates.memory / (n > 0 ? n : 1);
	rate = (share < rate ? share : rate) / 1e12; // bytes per ps
	for (size_t i = 0; i < MESSAGES; i++) {
		double at =
			is_active[i] ? now + copies[i].left / rate : (double)lines[i].at;
		if (at < next && (is_active[i] || at > now))
			next = at;
	}
	for (size_t i = 0; i < MESSAGES; i++) {
		if (!is_active[i])
			continue;
		copies[i].left -= (next - now) * rate;
		copies[i].is_over = copies[i].left < 1e-6;
		copies[i].end = next;
	}
	return next;
}

static void draw(struct line *lines, struct tb_random *random)
{
	tb_time_ps at = 0;
	for (size_t i = 0; i < MESSAGES; i++) {
		at += (tb_time_ps)tb_random_below(random, 3) *
		      (tb_time_ps)tb_random_below(random, TB_PS_PER_US);
		lines[i] = (struct line){.at = at,
			.source = 3,
			.destination = 3,
			.source_rank = (uint32_t)tb_random_below(random, RANKS),
			.destination_rank = (uint32_t)tb_random_below(random, RANKS),
			.bytes = tb_random_below(random, 30000)};
	}
}

static void copies_end_when_continuous_rates_end_them(void **state)
{
	(void)state;
	unsigned long long first = 1, last = 60;
	const char *given = getenv("REPLAY_SEEDS");
	if (given)
		(void)sscanf(given, "%llu-%llu", &first, &last);
	for (unsigned long long seed = first; seed <= last; seed++) {
		struct tb_random random;
		struct line lines[MESSAGES];
		struct copy copies[MESSAGES];
		tb_random_init(&random, seed, 0);
		draw(lines, &random);
		struct rates rates = {
			UINT64_C(1000000) * (1000 + tb_random_below(&random, 9000)),
			UINT64_C(1000000) * (1000 + tb_random_below(&random, 30000))};
		for (size_t i = 0; i < MESSAGES; i++)
			copies[i] = (struct copy){.left = (double)lines[i].bytes};
		replay(rates, lines);
		for (double now = (double)lines[0].at; now < 1e18;)
			now = step(lines, copies, rates, now);
		for (size_t i = 0; i < MESSAGES; i++) {
			double off = (double)lines[i].sent - copies[i].end;
			if (off < -1000 || off > 1000)
				fail_msg("seed %llu, message %zu: copied at %lld ps, by "
					 "the model at %.0f",
					seed, i, (long long)lines[i].sent, copies[i].end);
			assert_int_equal(lines[i].delivered - lines[i].sent,
				LATENCY_NS * TB_PS_PER_NS);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(copies_end_when_continuous_rates_end_them),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
