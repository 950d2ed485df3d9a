// Replays a script of messages to its end and keeps the outcome.
#ifndef TB_TESTS_REPLAY_OUTCOME_H
#define TB_TESTS_REPLAY_OUTCOME_H

#include "network_open.h"
#include "preset.h"
#include "replay_either.h"
#include "replay_script.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

struct outcome {
	struct tb_engine_stats stats;
	struct tally tally;
	uint32_t n_links;
};

static inline struct tb_network *network_of(const char *preset)
{
	struct tb_network_params params;
	struct tb_network *net = NULL;
	struct tb_error error = {0};
	if (tb_network_preset(&params, preset, &error) != TB_OK ||
		tb_network_open(&net, &(struct tb_network_description){.params = &params},
			&error) != TB_OK)
		fail_msg("%s", error.text);
	return net;
}

static inline struct outcome outcome_by(enum replayer by, const struct tb_network *net,
	struct line *lines, size_t n, const struct tb_engine_options *options)
{
	struct outcome outcome = {.n_links = tb_network_n_links(net)};
	struct script script = {lines, n, 0};
	struct tb_source source = script_source(&script);
	struct tb_observer observer = tally_observer(&outcome.tally, outcome.n_links);
	struct replay replay = {.network = net,
		.source = &source,
		.observer = &observer,
		.options = *options,
		.n_instants = UINT64_MAX};
	if (replay_by(by, &replay) != TB_OK)
		fail_msg("%s", replay.error.text);
	outcome.stats = replay.stats;
	assert_int_equal(outcome.stats.n_delivered + outcome.stats.n_undelivered, n);
	assert_true(options->faults || outcome.stats.n_undelivered == 0);
	assert_int_equal(outcome.stats.n_in_flight, 0);
	assert_false(outcome.tally.out_of_order);
	assert_int_equal(outcome.tally.wait_for_ps, outcome.tally.wait_ps);
	return outcome;
}

static inline struct outcome replay(const struct tb_network *net, struct line *lines,
	size_t n, uint64_t seed, tb_time_ps bin)
{
	return outcome_by(BY_ENGINE, net, lines, n,
		&(struct tb_engine_options){.seed = seed, .bin_ps = bin});
}

// replay_blamed replays on a network of this preset: whatever waits is blamed, to the
// picosecond.
static inline struct outcome replay_blamed(
	const char *preset, struct line *lines, size_t n, uint64_t seed)
{
	struct tb_network *net = network_of(preset);
	struct outcome outcome = replay(net, lines, n, seed, 0);
	assert_int_equal(outcome.tally.blame_ps, outcome.stats.wait_ps);
	assert_int_equal(outcome.tally.flow_wait_ps, outcome.stats.wait_ps);
	tb_network_free(net);
	return outcome;
}

static inline void drop(struct outcome *outcome)
{
	free(outcome->tally.links);
}

#endif
