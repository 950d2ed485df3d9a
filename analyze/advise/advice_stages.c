// The stages of advice: what cannot help is left out, the rest replayed, the best again.
#include "advice_impl.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// Of the best so many are confirmed: more nobody reads first.
#define BEST 3
// Before the list of the best is what it was; each round doubles seeds.
#define ROUNDS_MOST 8

// The shares of the work, for who watches.
#define AFTER_SCREEN 0.15
#define AFTER_ONES   0.65
#define AFTER_ALL    0.75

struct try_list {
	struct tb_try *of;
	size_t n;
};

static bool is_live(const struct tb_change *change)
{
	return change->verdict < TB_VERDICT_FAILED;
}

// add_missing_tries adds a try of those seeds of a change below `end` that are not known.
static void add_missing_tries(const struct tb_advice *advice, struct try_list *list,
	size_t change, uint32_t end, bool by_seed)
{
	const struct tb_tried_run *outcomes = advice->changes[change].outcomes;
	for (uint32_t first = 0; first < end; first++) {
		uint32_t n = 0;
		while (first + n < end && !outcomes[first + n].known && (!by_seed || !n))
			n++;
		if (!n)
			continue;
		list->of[list->n++] =
			(struct tb_try){.change = change, .first = first, .n = n};
		first += n - 1;
	}
}

static int make_list(
	const struct tb_advice *advice, struct try_list *list, struct tb_error *error)
{
	list->n = 0;
	list->of = calloc(advice->n * TB_ADVICE_SEEDS_MOST + 1, sizeof *list->of);
	return list->of ? TB_OK : tb_fail_memory(error, "the replays");
}

static size_t n_live(const struct tb_advice *advice)
{
	size_t n = 0;
	for (size_t i = 0; i < advice->n; i++)
		n += is_live(&advice->changes[i]);
	return n;
}

// try_first replays the run as it was and all that is live with the first seeds, but not
// what is known already. Where there are fewer changes than cores, each seed is a replay
// of its own.
static int try_first(
	struct tb_tries *tries, double from, double to, struct tb_error *error)
{
	struct tb_advice *advice = tries->advice;
	struct try_list list;
	int status = make_list(advice, &list, error);
	for (size_t i = 0; i < advice->n && status == TB_OK; i++)
		if (is_live(&advice->changes[i]))
			add_missing_tries(advice, &list, i, advice->n_seeds,
				n_live(advice) < tries->options->n_at_once);
	if (status == TB_OK)
		status = tb_tries_run(tries, list.of, list.n, from, to, error);
	free(list.of);
	return status;
}

// What is asked of a change in a round of confirming.
struct asked {
	size_t change;
	uint32_t first;	       // of the fresh seeds
	struct tb_estimate by; // before
};

// next_best returns the change that helps most of those that are not among `best`, 0
// without any.
static size_t next_best(const struct tb_advice *advice, const size_t *best, size_t n)
{
	size_t at = 0;
	double most = 0;
	for (size_t i = 1; i < advice->n; i++) {
		double mean = tb_advice_deciding(advice, &advice->changes[i])->mean;
		bool is_new = advice->changes[i].verdict == TB_VERDICT_HELPS;
		for (size_t k = 0; k < n; k++)
			is_new = is_new && best[k] != i;
		if (is_new && (!at || mean > most)) {
			at = i;
			most = mean;
		}
	}
	return at;
}

// choose_best lists those of the best that help and whose interval is not confirmed.
static size_t choose_best(const struct tb_advice *advice, struct asked asked[BEST])
{
	size_t best[BEST], n = 0;
	for (size_t k = 0; k < BEST; k++) {
		best[k] = next_best(advice, best, k);
		if (!best[k])
			break;
		const struct tb_change *change = &advice->changes[best[k]];
		const struct tb_estimate *by = tb_advice_deciding(advice, change);
		if (!change->settled && by->half_ci > 0 &&
			change->n_seeds < TB_ADVICE_SEEDS_MOST)
			asked[n++] = (struct asked){best[k], change->n_seeds, *by};
	}
	return n;
}

static uint32_t end_of_asked(const struct asked *asked)
{
	uint32_t end = 2 * asked->first;
	return end < TB_ADVICE_SEEDS_MOST ? end : TB_ADVICE_SEEDS_MOST;
}

static int replay_fresh(struct tb_tries *tries, const struct asked *asked, size_t n,
	double from, struct tb_error *error)
{
	struct try_list list;
	uint32_t most = 0;
	int status = make_list(tries->advice, &list, error);
	if (status)
		return status;
	for (size_t i = 0; i < n; i++)
		most = end_of_asked(&asked[i]) > most ? end_of_asked(&asked[i]) : most;
	bool by_seed = n + 1 < tries->options->n_at_once;
	add_missing_tries(tries->advice, &list, 0, most, by_seed);
	for (size_t i = 0; i < n; i++)
		add_missing_tries(tries->advice, &list, asked[i].change,
			end_of_asked(&asked[i]), by_seed);
	status = tb_tries_run(tries, list.of, list.n, from, from + (1 - from) / 2, error);
	free(list.of);
	return status;
}

// is_replayed returns whether all that was asked of a change is known: the time may have
// been up before.
static bool is_replayed(const struct tb_advice *advice, const struct asked *asked)
{
	const struct tb_change *change = &advice->changes[asked->change];
	for (uint32_t i = asked->first; i < end_of_asked(asked); i++)
		if (!change->outcomes[i].known || !advice->changes[0].outcomes[i].known)
			return false;
	return true;
}

// settle_asked compares what the fresh seeds gained with what those before had promised.
static void settle_asked(struct tb_advice *advice, const struct asked *asked)
{
	struct tb_change *change = &advice->changes[asked->change];
	if (!is_replayed(advice, asked))
		return;
	struct tb_estimate fresh = tb_advice_fresh(advice, change, asked->first);
	bool confirmed = fabs(fresh.mean - asked->by.mean) <= asked->by.half_ci;
	change->settled = confirmed;
	change->unsteady = !confirmed && end_of_asked(asked) == TB_ADVICE_SEEDS_MOST;
}

static int confirm(struct tb_tries *tries, struct tb_error *error)
{
	struct asked asked[BEST];
	struct tb_advice *advice = tries->advice;
	double from = AFTER_ALL;
	int status = TB_OK;
	for (int round = 0; round < ROUNDS_MOST && status == TB_OK; round++) {
		tb_advice_judge(advice);
		size_t n = choose_best(advice, asked);
		if (!n || tb_tries_time_is_up(tries))
			break;
		status = replay_fresh(tries, asked, n, from, error);
		from += (1 - from) / 2;
		for (size_t i = 0; i < n && status == TB_OK; i++)
			settle_asked(advice, &asked[i]);
	}
	tb_advice_judge(advice);
	return status;
}

// try_live replays what is live, two changes that help together, and the best again.
static int try_live(struct tb_tries *tries, double from, struct tb_error *error)
{
	struct tb_advice *advice = tries->advice;
	int status = try_first(tries, from, AFTER_ONES, error);
	if (status == TB_OK && !advice->changes[0].outcomes[0].known)
		return tb_fail(error, TB_ESTOPPED,
			"stopped before the run as it was had been replayed%s",
			tb_stop_asked(tries->options->stop)
				? ""
				: ", which takes longer than --time");
	if (status == TB_OK)
		tb_advice_judge(advice);
	if (status == TB_OK && tb_advice_add_pairs(advice, tries->options->most))
		status = try_first(tries, AFTER_ONES, AFTER_ALL, error);
	if (status == TB_OK && advice->n_seeds > 1)
		return confirm(tries, error);
	if (status == TB_OK)
		tb_advice_judge(advice);
	return status;
}

int tb_advice_try(struct tb_advice *advice, const struct tb_advice_options *options,
	struct tb_error *error)
{
	struct tb_tries tries;
	int status = tb_tries_init(&tries, advice, options, error);
	if (status == TB_OK)
		status = tb_advice_limit(advice, error);
	if (status == TB_OK)
		status = tb_advice_screen(&tries, AFTER_SCREEN, error);
	if (status == TB_OK && n_live(advice) > 1)
		status = try_live(&tries, advice->screens ? AFTER_SCREEN : 0, error);
	tb_tries_fini(&tries);
	return status;
}
