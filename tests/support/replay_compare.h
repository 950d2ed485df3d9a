// The engine against the oracle: replays a random program by both, compares all that
// they report, and shrinks a program that fails.
#ifndef TB_TESTS_REPLAY_COMPARE_H
#define TB_TESTS_REPLAY_COMPARE_H

#include "replay_account.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

static inline bool messages_differ(const struct account *engine,
	const struct account *oracle, struct difference *difference)
{
	for (uint32_t i = 0; i < engine->program->n_posts; i++)
		if (differ(difference, "delivery of message", i,
			    (uint64_t)engine->delivered[i],
			    (uint64_t)oracle->delivered[i]) ||
			differ(difference, "acknowledgement of message", i,
				(uint64_t)engine->sent[i], (uint64_t)oracle->sent[i]) ||
			differ(difference, "giving up of message", i,
				(uint64_t)engine->given_up[i],
				(uint64_t)oracle->given_up[i]))
			return true;
	return false;
}

static inline bool stats_differ(const struct account *engine,
	const struct account *oracle, struct difference *difference)
{
	const struct tb_engine_stats *a = &engine->stats, *b = &oracle->stats;
	return DIFFER(0, n_posted) || DIFFER(0, n_delivered) ||
	       DIFFER(0, n_undelivered) || DIFFER(0, n_packets) ||
	       DIFFER(0, payload_bytes) || DIFFER(0, n_hops) || DIFFER(0, wait_ps) ||
	       DIFFER(0, n_retries) || DIFFER(0, n_lost) || DIFFER(0, n_resent) ||
	       DIFFER(0, n_in_flight) || DIFFER(0, now_ps);
}

// fails replays a program by the engine and `other`, which may have a fault, by the
// oracle. Its stats are the engine's.
static inline bool fails(const struct program *program, const struct program *other,
	struct difference *difference, struct tb_engine_stats *stats)
{
	struct account *engine = account_of(BY_ENGINE, program, UINT64_MAX);
	struct account *oracle = account_of(BY_ORACLE, other, UINT64_MAX);
	bool failed = true;
	if (stats)
		*stats = engine->stats;
	if (engine->status != TB_OK || oracle->status != TB_OK)
		snprintf(difference->text, sizeof difference->text,
			"engine: %d %s, oracle: %d %s", engine->status,
			engine->error.text, oracle->status, oracle->error.text);
	else
		failed =
			messages_differ(engine, oracle, difference) ||
			stats_differ(engine, oracle, difference) ||
			observed_differ(&engine->observed, &oracle->observed, difference);
	account_drop(engine);
	account_drop(oracle);
	return failed;
}

// without drops post `out`; what came after it comes after what that came after.
static inline struct program without(const struct program *program, uint32_t out)
{
	struct program less = *program;
	less.n_posts = 0;
	for (uint32_t i = 0; i < program->n_posts; i++) {
		struct post post = program->posts[i];
		if (i == out)
			continue;
		if (post.when != POST_AT && post.after == out) {
			post.when = program->posts[out].when;
			post.after = program->posts[out].after;
			post.at = program->posts[out].at;
		}
		if (post.when != POST_AT && post.after > out)
			post.after--;
		less.posts[less.n_posts++] = post;
	}
	return less;
}

// shrink drops posts for as long as the program still fails.
static inline struct program shrink(
	struct program program, void (*fault)(struct program *))
{
	struct difference difference;
	for (uint32_t i = 0; i < program.n_faults;) {
		struct program less = program;
		less.faults[i] = less.faults[--less.n_faults];
		struct program other = less;
		if (fault)
			fault(&other);
		if (fails(&less, &other, &difference, NULL))
			program = less;
		else
			i++;
	}
	for (uint32_t i = 0; i < program.n_posts;) {
		struct program less = without(&program, i);
		struct program other = less;
		if (fault)
			fault(&other);
		if (fails(&less, &other, &difference, NULL)) {
			program = less;
			i = 0;
		} else {
			i++;
		}
	}
	return program;
}

// check_programs checks the programs of the seeds 1 to `last`, or of those that
// REPLAY_SEEDS=FIRST-LAST names, by `check`, which fails the test or returns what came of
// one, and prints in how many anything happened.
static inline void check_programs(
	struct tb_engine_stats (*check)(uint64_t seed, enum shape shape, int extra),
	enum shape shape, int extra, unsigned long long last)
{
	unsigned long long first = 1;
	const char *given = getenv("REPLAY_SEEDS");
	if (given)
		(void)sscanf(given, "%llu-%llu", &first, &last);
	uint32_t n_waiting = 0, n_retrying = 0, n_giving_up = 0;
	for (uint64_t seed = first; seed <= last; seed++) {
		struct tb_engine_stats stats = check(seed, shape, extra);
		n_waiting += stats.wait_ps > 0;
		n_retrying += stats.n_retries > 0;
		n_giving_up += stats.n_undelivered > 0;
	}
	print_message("in %" PRIu32 " of %llu programs packets waited, in %" PRIu32
		      " some were tried again, in %" PRIu32 " messages given up\n",
		n_waiting, last - first + 1, n_retrying, n_giving_up);
}

// print_posts prints what a program posts, and what dies.
static inline void print_posts(const struct program *program)
{
	for (uint32_t i = 0; i < program->n_faults; i++)
		print_message("  %s %u dies at %" PRId64 " ps\n",
			program->faults[i].is_switch ? "switch" : "link",
			program->faults[i].id, program->faults[i].at_ps);
	for (uint32_t i = 0; i < program->n_posts; i++) {
		static const char *const when[] = {"at", "after sent", "after delivered"};
		const struct post *post = &program->posts[i];
		print_message("  message %u %s %u: +%" PRId64 " ps, %u -> %u, %" PRIu64
			      " bytes, job %u, %u receivers\n",
			i, when[post->when], post->after, post->at, post->source,
			post->destination, post->bytes, post->job, post->n_receivers);
	}
}

#endif
