#include "seeds.h"

#include "settings.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

// differ_by_seed returns whether nothing else differs. The width of bins follows from how
// long a run took.
static bool differ_by_seed(const struct tb_run_info *a, const struct tb_run_info *b)
{
	static const char *const seed[] = {"--seed", NULL};
	struct tb_difference differences[TB_DIFFERENCES_MOST];
	int n = tb_run_differences(a, b, differences);
	for (int i = 0; i < n; i++) {
		const char *name = differences[i].name;
		bool other = strcmp(name, "seed") != 0 && strcmp(name, "bin") != 0;
		if (strcmp(name, "options") == 0)
			other = !tb_options_alike(a->options, b->options, seed);
		if (other)
			return false;
	}
	return true;
}

static int by_seed(const void *left, const void *right)
{
	const struct tb_seeded *a = left, *b = right;
	if (a->seed != b->seed)
		return a->seed < b->seed ? -1 : 1;
	return (a->run > b->run) - (a->run < b->run);
}

// add_seed_run puts a run in the place of an earlier one with its seed, or behind the
// others.
static void add_seed_run(struct tb_seeds *seeds, const struct tb_run_info *info)
{
	for (size_t i = 0; i < seeds->n; i++)
		if (seeds->of[i].seed == info->seed) {
			seeds->of[i].run = info->id;
			return;
		}
	if (seeds->n < TB_SEEDS_MOST)
		seeds->of[seeds->n++] = (struct tb_seeded){info->id, info->seed};
}

static void gather_seed_runs(
	struct tb_seeds *seeds, const struct tb_runs *runs, const struct tb_run_info *of)
{
	for (size_t i = 0; i < tb_runs_n(runs); i++)
		if (differ_by_seed(of, tb_runs_at(runs, i)))
			add_seed_run(seeds, tb_runs_at(runs, i));
	qsort(seeds->of, seeds->n, sizeof *seeds->of, by_seed);
}

static int no_run(
	struct tb_error *error, const char *store, const struct tb_runs *runs, int64_t id)
{
	size_t n = tb_runs_n(runs);
	if (n == 0)
		return tb_fail_in(error, TB_EFORMAT, store, "holds no run");
	return tb_fail_in(error, TB_EUSAGE, store,
		"holds no run %" PRId64 " (its newest is run %" PRId64 ")", id,
		tb_runs_at(runs, n - 1)->id);
}

static const struct tb_run_info *find_seed_run(const struct tb_runs *runs, int64_t id)
{
	size_t n = tb_runs_n(runs);
	if (id == 0 && n)
		return tb_runs_at(runs, n - 1);
	for (size_t i = 0; i < n; i++)
		if (tb_runs_at(runs, i)->id == id)
			return tb_runs_at(runs, i);
	return NULL;
}

int tb_seeds_like(
	struct tb_seeds *seeds, const char *store, int64_t id, struct tb_error *error)
{
	struct tb_runs *runs;
	int status = tb_runs_open(&runs, store, error);
	if (status != TB_OK)
		return status;
	*seeds = (struct tb_seeds){.store = store};
	const struct tb_run_info *of = find_seed_run(runs, id);
	if (of)
		gather_seed_runs(seeds, runs, of);
	else
		status = no_run(error, store, runs, id);
	tb_runs_free(runs);
	return status;
}

int tb_seeds_before(
	struct tb_seeds *before, const struct tb_seeds *seeds, struct tb_error *error)
{
	struct tb_runs *runs;
	int status = tb_runs_open(&runs, seeds->store, error);
	if (status != TB_OK)
		return status;
	*before = (struct tb_seeds){.store = seeds->store};
	const struct tb_run_info *of = find_seed_run(runs, seeds->of[0].run);
	for (size_t i = tb_runs_n(runs); of && i-- > 0 && before->n == 0;)
		if (!differ_by_seed(of, tb_runs_at(runs, i)))
			gather_seed_runs(before, runs, tb_runs_at(runs, i));
	tb_runs_free(runs);
	return TB_OK;
}

// take_seed_run adds a run of a range: none may stand for another, or be left out unsaid.
static int take_seed_run(
	struct tb_seeds *seeds, const struct tb_run_info *info, struct tb_error *error)
{
	for (size_t i = 0; i < seeds->n; i++)
		if (seeds->of[i].seed == info->seed)
			return tb_fail_in(error, TB_EUSAGE, seeds->store,
				"its runs %" PRId64 " and %" PRId64 " have the same seed",
				seeds->of[i].run, info->id);
	if (seeds->n == TB_SEEDS_MOST)
		return tb_fail_in(error, TB_EUSAGE, seeds->store,
			"more than %d runs of a side are not compared", TB_SEEDS_MOST);
	add_seed_run(seeds, info);
	return TB_OK;
}

int tb_seeds_range(struct tb_seeds *seeds, const char *store, int64_t first, int64_t last,
	struct tb_error *error)
{
	struct tb_runs *runs;
	int status = tb_runs_open(&runs, store, error);
	if (status != TB_OK)
		return status;
	*seeds = (struct tb_seeds){.store = store};
	for (int64_t id = first; id <= last && status == TB_OK; id++) {
		const struct tb_run_info *of = find_seed_run(runs, id);
		if (!of)
			status = no_run(error, store, runs, id);
		else if (!differ_by_seed(find_seed_run(runs, first), of))
			status = tb_fail_in(error, TB_EUSAGE, store,
				"its runs %" PRId64 " and %" PRId64
				" differ in more than the seed",
				first, id);
		else
			status = take_seed_run(seeds, of, error);
	}
	qsort(seeds->of, seeds->n, sizeof *seeds->of, by_seed);
	tb_runs_free(runs);
	return status;
}

void tb_seeds_pair(struct tb_seeds *a, struct tb_seeds *b)
{
	size_t n = 0, i = 0, j = 0;
	struct tb_seeds in_common[2] = {{.n = 0}, {.n = 0}};
	while (i < a->n && j < b->n) {
		if (a->of[i].seed == b->of[j].seed) {
			in_common[0].of[n] = a->of[i];
			in_common[1].of[n++] = b->of[j];
		}
		bool earlier = a->of[i].seed <= b->of[j].seed;
		bool later = a->of[i].seed >= b->of[j].seed;
		i += earlier;
		j += later;
	}
	size_t least = a->n < b->n ? a->n : b->n;
	for (size_t k = 0; k < least; k++) {
		a->of[k] = n ? in_common[0].of[k] : a->of[a->n - least + k];
		b->of[k] = n ? in_common[1].of[k] : b->of[b->n - least + k];
	}
	a->n = b->n = n ? n : least;
}
