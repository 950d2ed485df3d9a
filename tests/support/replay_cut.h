// The engine in parts, side by side on several threads, against itself in one.
//
// REPLAY_SEEDS=FIRST-LAST tries others than the usual seeds.
#ifndef TB_TESTS_REPLAY_CUT_H
#define TB_TESTS_REPLAY_CUT_H

#include "network_parts.h"
#include "replay_compare.h"

// is_cut returns whether the engine does cut the network of a program at cables.
static inline bool is_cut(const struct program *program)
{
	struct tb_error error;
	struct tb_network *net = network_of(program, &error);
	struct tb_parts *parts = NULL;
	assert_non_null(net);
	assert_int_equal(tb_parts_new(&parts, net, program->n_parts), TB_OK);
	bool cut = parts->n > 1 && parts->latency_ps > 0 &&
		   parts->latency_ps != TB_TIME_NEVER;
	tb_parts_free(parts);
	tb_network_free(net);
	return cut;
}

// differs replays a program in parts and whole.
static inline bool differs(const struct program *program, struct difference *difference)
{
	struct program whole = *program;
	whole.n_parts = 1;
	struct account *cut = account_of(BY_ENGINE, program, UINT64_MAX);
	struct account *one = account_of(BY_ENGINE, &whole, UINT64_MAX);
	bool failed = true;
	if (cut->status != TB_OK || one->status != TB_OK)
		snprintf(difference->text, sizeof difference->text, "%s, %s",
			cut->error.text, one->error.text);
	else
		failed = messages_differ(cut, one, difference) ||
			 stats_differ(cut, one, difference) ||
			 heaviest_differ(&cut->observed.blame, &one->observed.blame,
				 difference) ||
			 observed_differ(&cut->observed, &one->observed, difference);
	account_drop(cut);
	account_drop(one);
	return failed;
}

// check_seeds replays the programs of one shape that `program_of` makes for seeds;
// `cuts` tells which of them the engine cuts, at least half.
static inline void check_seeds(
	struct program (*program_of)(uint64_t seed, enum shape shape),
	bool (*cuts)(const struct program *program), enum shape shape,
	unsigned long long last)
{
	unsigned long long first = 1;
	const char *given = getenv("REPLAY_SEEDS");
	if (given)
		(void)sscanf(given, "%llu-%llu", &first, &last);
	uint32_t n_cut = 0;
	for (uint64_t seed = first; seed <= last; seed++) {
		struct difference difference;
		struct program program = program_of(seed, shape);
		n_cut += cuts(&program);
		if (differs(&program, &difference))
			fail_msg("seed %" PRIu64 " of shape %d, %u parts: %s", seed,
				(int)shape, program.n_parts, difference.text);
	}
	print_message("%" PRIu32 " of %llu programs were cut\n", n_cut, last - first + 1);
	assert_true(2 * n_cut > last - first);
}

#endif
