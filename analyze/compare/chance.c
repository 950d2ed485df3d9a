#include "chance.h"
#include "array.h"
#include "compare_impl.h"
#include "flow_table.h"
#include "order.h"
#include "rank_correlation.h"
#include "seed_moves.h"
#include "seeds.h"
#include "select.h"
#include "settings.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// The figures of the pairs of runs.

// Those of figure i and pair k are at [i * n_pairs + k], [0] of A and [1] of B.
struct tb_chance_figures {
	size_t n_pairs;
	size_t n[TB_CHANCE_KINDS];
	double *of[TB_CHANCE_KINDS][2];
	struct tb_flow_table flows;	     // of the first run
	uint32_t *n_seen;		     // by flow: runs in which it has messages
	uint32_t *at[TB_CHANCE_KINDS];	     // which are tested; NULL: all
	bool *is_predicted;		     // by pair of links
	size_t n_predicted[TB_CHANCE_KINDS]; // these are tested first
};

void tb_chance_figures_fini(struct tb_chance_figures *figures);

static int chance_read(struct tb_chance_figures *figures,
	const struct tb_compare *compare, const struct tb_seeds seeds[2],
	struct tb_error *error) TB_MUST_USE;

double tb_seed_moves(const struct tb_run_info *info, enum tb_seed_figure figure)
{
	static const double adaptive[TB_SEED_FIGURES] = {0.089, 0.028, 0.16};
	static const double random[TB_SEED_FIGURES] = {0.063, 0.035, 0.094};
	static const double ecmp[TB_SEED_FIGURES] = {0.42, 0.11, 0.50};
	switch ((int)info->network.ascent) {
	case TB_ASCENT_ADAPTIVE:
		return adaptive[figure];
	case TB_ASCENT_RANDOM:
		return random[figure];
	case TB_ASCENT_ECMP:
		return ecmp[figure];
	default:
		return 0;
	}
}

bool tb_differ_by_seed(const struct tb_run_info *a, const struct tb_run_info *b)
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

TB_ORDER_BY(by_seed, struct tb_seeded, TB_UP(seed) TB_UP(run))

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
		if (tb_differ_by_seed(of, tb_runs_at(runs, i)))
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
		if (!tb_differ_by_seed(of, tb_runs_at(runs, i)))
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
		else if (!tb_differ_by_seed(find_seed_run(runs, first), of))
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

void tb_chance_fini(struct tb_chance *chance)
{
	free(chance->rows);
	*chance = (struct tb_chance){0};
}

// keep_chance_figures moves the figures `at` of a kind to the front, in that order; an
// earlier one may already have moved, so they go through a copy.
static int keep_chance_figures(struct tb_chance_figures *figures,
	enum tb_chance_kind kind, const uint32_t *at, size_t n, struct tb_error *error)
{
	size_t size = figures->n_pairs * sizeof(double);
	for (int which = 0; which < 2; which++) {
		double *kept = malloc(n * size + 1), *all = figures->of[kind][which];
		if (!kept)
			return tb_fail_memory(error, "a comparison");
		for (size_t i = 0; i < n; i++)
			memcpy(kept + i * figures->n_pairs,
				all + at[i] * figures->n_pairs, size);
		free(all);
		figures->of[kind][which] = kept;
	}
	figures->n[kind] = n;
	return TB_OK;
}

// keep_hot keeps the links or roots that together have TB_CHANCE_LINKS of the wait.
static int keep_hot(struct tb_chance_figures *figures, enum tb_chance_kind kind,
	struct tb_error *error)
{
	size_t n = figures->n[kind], n_kept = 0;
	struct tb_value_at *levels = calloc(n + 1, sizeof *levels);
	double all_ps = 0, so_far_ps = 0;
	if (!levels)
		return tb_fail_memory(error, "a comparison");
	for (uint32_t i = 0; i < n; i++) {
		levels[i].at = i;
		for (size_t k = 0; k < 2 * figures->n_pairs; k++)
			levels[i].value +=
				figures->of[kind][k % 2][i * figures->n_pairs + k / 2];
		all_ps += levels[i].value;
	}
	qsort(levels, n, sizeof *levels, tb_order_values);
	while (n_kept < n && so_far_ps < TB_CHANCE_LINKS * all_ps) {
		so_far_ps += levels[n_kept].value;
		figures->n_predicted[kind] += figures->is_predicted[levels[n_kept].at];
		n_kept++;
	}
	size_t put[2] = {figures->n_predicted[kind], 0};
	for (size_t i = 0; i < n_kept; i++) {
		uint32_t at = (uint32_t)levels[i].at;
		figures->at[kind][put[figures->is_predicted[at]]++] = at;
	}
	free(levels);
	return keep_chance_figures(figures, kind, figures->at[kind], n_kept, error);
}

static void name_row(struct tb_chance_row *row, const struct tb_compare *compare,
	const struct tb_chance_figures *figures)
{
	static const char *const totals[TB_CHANCE_TOTALS] = {
		"wait", "run time", "latency"};
	const struct tb_flow_sample *flow;
	bool captured = strcmp(compare->info[0]->input_kind, "packets") == 0;
	switch ((int)row->kind) {
	case TB_CHANCE_RUN:
		row->figure = totals[row->at];
		snprintf(row->name, sizeof row->name, "all");
		break;
	case TB_CHANCE_JOB:
		row->figure = captured ? "latency" : "run time";
		snprintf(row->name, sizeof row->name, "%s", compare->jobs[row->at].name);
		break;
	case TB_CHANCE_LINK:
	case TB_CHANCE_ROOT:
		row->figure = row->kind == TB_CHANCE_LINK ? "wait" : "wait for it";
		snprintf(row->name, sizeof row->name, "%s",
			tb_compare_link_name(compare, &compare->pairs.pairs[row->at]));
		break;
	default:
		row->figure = "latency";
		flow = &figures->flows.rows[row->at];
		tb_report_flow_name(compare->runs[0].run, flow->job, flow->source,
			flow->destination, row->name, sizeof row->name);
	}
	tb_text_end_whole(row->name, sizeof row->name);
}

static int order_chance_changes(const void *left, const void *right)
{
	const struct tb_chance_row *a = left, *b = right;
	double more = fabs(a->test.change.mean) - fabs(b->test.change.mean);
	if (a->differs != b->differs)
		return a->differs ? -1 : 1;
	if (more < 0 || more > 0)
		return more > 0 ? -1 : 1;
	return (a->at > b->at) - (a->at < b->at);
}

// add_rows lists the totals, the jobs that the comparison lists, what differs, and links
// and roots that changed.
static int add_rows(struct tb_chance *chance, const struct tb_compare *compare,
	enum tb_chance_kind kind, const struct tb_chance_figures *figures,
	const struct tb_paired *tests)
{
	chance->n_tested[kind] = figures->n[kind];
	for (size_t i = 0; i < figures->n[kind]; i++) {
		bool differs = tb_paired_differs(&tests[i]);
		chance->n_differing[kind] += differs;
		bool listed = kind == TB_CHANCE_RUN    ? true
			      : kind == TB_CHANCE_JOB  ? i < compare->n_jobs
			      : kind == TB_CHANCE_FLOW ? differs
						       : tests[i].change.mean != 0;
		if (!listed)
			continue;
		if (TB_ARRAY_NEXT(chance, rows) != TB_OK)
			return TB_ENOMEM;
		chance->rows[chance->n++] = (struct tb_chance_row){.kind = kind,
			.at = figures->at[kind] ? figures->at[kind][i] : (uint32_t)i,
			.test = tests[i],
			.differs = differs};
	}
	return TB_OK;
}

// test tests the figures of a kind and lists them.
static int test(struct tb_chance *chance, const struct tb_compare *compare,
	const struct tb_chance_figures *figures, enum tb_chance_kind kind, uint32_t top,
	struct tb_error *error)
{
	size_t n = figures->n[kind], first = chance->n;
	struct tb_paired *tests = calloc(n + 1, sizeof *tests);
	if (!tests)
		return tb_fail_memory(error, "a comparison");
	int status = TB_OK;
	const size_t ends[] = {0, figures->n_predicted[kind], n};
	const bool is_split = ends[1] > 0 && ends[1] < n;
	for (int i = 0; i < 2 && !status; i++)
		status = tb_paired_tests(tests + ends[i],
			figures->of[kind][0] + ends[i] * figures->n_pairs,
			figures->of[kind][1] + ends[i] * figures->n_pairs,
			ends[i + 1] - ends[i], figures->n_pairs, error);
	for (size_t i = 0; i < n && is_split; i++)
		tests[i].q = fmin(1, 2 * tests[i].q);
	chance->is_split |= is_split;
	if (status == TB_OK && add_rows(chance, compare, kind, figures, tests) != TB_OK)
		status = tb_fail_memory(error, "a comparison");
	free(tests);
	if (status != TB_OK)
		return status;
	size_t n_rows = chance->n - first;
	if (kind >= TB_CHANCE_LINK && n_rows) {
		size_t sure = chance->n_differing[kind], listed = n_rows;
		if (kind != TB_CHANCE_FLOW && sure + TB_CHANCE_UNSURE < n_rows)
			listed = sure + TB_CHANCE_UNSURE;
		if (top && top < listed)
			listed = top;
		qsort(chance->rows + first, n_rows, sizeof *chance->rows,
			order_chance_changes);
		chance->n = first + listed;
	}
	for (size_t i = first; i < chance->n; i++)
		name_row(&chance->rows[i], compare, figures);
	return TB_OK;
}

// is_drawn returns whether the seed decided anything in the runs of a side.
static bool is_drawn(const struct tb_chance_figures *figures)
{
	for (int which = 0; which < 2; which++)
		for (size_t total = 0; total < figures->n[TB_CHANCE_RUN]; total++) {
			const double *of = figures->of[TB_CHANCE_RUN][which] +
					   total * figures->n_pairs;
			for (size_t i = 1; i < figures->n_pairs; i++)
				if (of[i] < of[0] || of[i] > of[0])
					return true;
		}
	return false;
}

int tb_chance_gather(struct tb_chance *chance, const struct tb_compare *compare,
	const struct tb_seeds seeds[2], uint32_t top, struct tb_error *error)
{
	struct tb_chance_figures figures = {.n_pairs = 0};
	struct tb_chance made = {.n_pairs = seeds[0].n};
	int status = chance_read(&figures, compare, seeds, error);
	if (status == TB_OK && !is_drawn(&figures)) {
		tb_chance_figures_fini(&figures);
		return TB_OK;
	}
	if (status == TB_OK)
		status = keep_hot(&figures, TB_CHANCE_LINK, error);
	if (status == TB_OK)
		status = keep_hot(&figures, TB_CHANCE_ROOT, error);
	if (status == TB_OK) {
		// Keep the flows that have messages in all runs.
		size_t n_kept = 0;
		for (uint32_t i = 0; i < figures.n[TB_CHANCE_FLOW]; i++)
			if (figures.n_seen[i] == 2 * figures.n_pairs)
				figures.at[TB_CHANCE_FLOW][n_kept++] = i;
		status = keep_chance_figures(&figures, TB_CHANCE_FLOW,
			figures.at[TB_CHANCE_FLOW], n_kept, error);
	}
	for (int kind = 0; status == TB_OK && kind < TB_CHANCE_KINDS; kind++)
		status = test(
			&made, compare, &figures, (enum tb_chance_kind)kind, top, error);
	tb_chance_figures_fini(&figures);
	if (status == TB_OK)
		*chance = made;
	else
		tb_chance_fini(&made);
	return status;
}

// Reads the figures of pairs of runs that differ by their seed.

// A run being read, and where its figures go.
struct figures_reading {
	struct tb_chance_figures *figures;
	const struct tb_compare *compare;
	struct tb_run *run;
	const struct tb_run_info *info;
	const char *store;
	int which;
	size_t pair;
};

static void put_chance_value(
	const struct figures_reading *r, enum tb_chance_kind kind, size_t i, double value)
{
	r->figures->of[kind][r->which][i * r->figures->n_pairs + r->pair] = value;
}

static void put_chance_links(const struct figures_reading *r, enum tb_chance_kind kind,
	const struct tb_link_sample *samples)
{
	const struct tb_link_pairs *pairs = &r->compare->pairs;
	for (uint32_t i = 0; i < pairs->n; i++) {
		struct tb_link link = r->which ? pairs->pairs[i].b : pairs->pairs[i].a;
		if (link.id != TB_ID_NONE)
			put_chance_value(r, kind, i, (double)samples[link.id].wait_ps);
	}
}

static int read_links(const struct figures_reading *r, struct tb_error *error)
{
	const struct tb_link_sample *samples = NULL;
	double wait_ps = 0;
	if (r->info->n_links != r->compare->info[r->which]->n_links)
		return tb_fail_in(error, TB_EUSAGE, r->store,
			"its run %" PRId64 " has other links than its run %" PRId64,
			r->info->id, r->compare->info[r->which]->id);
	int status = tb_run_look(r->run, (struct tb_window){0, 0}, &samples, error);
	if (status != TB_OK)
		return status;
	put_chance_links(r, TB_CHANCE_LINK, samples);
	for (uint32_t i = 0; i < r->info->n_links; i++)
		wait_ps += (double)samples[i].wait_ps;
	put_chance_value(r, TB_CHANCE_RUN, TB_CHANCE_WAIT, wait_ps);
	put_chance_value(r, TB_CHANCE_RUN, TB_CHANCE_TIME, (double)r->info->simulated_ps);
	return TB_OK;
}

static int read_run(struct figures_reading *r, int64_t id, struct tb_error *error)
{
	int status = tb_run_open(&r->run, r->store, id, error);
	if (status != TB_OK)
		return status;
	r->info = tb_run_info(r->run);
	status = read_links(r, error);
	if (status == TB_OK) {
		struct tb_link_sample *samples = NULL;
		status = tb_compare_read_roots(r->run, &samples, error);
		if (status == TB_OK)
			put_chance_links(r, TB_CHANCE_ROOT, samples);
		free(samples);
	}
	if (status == TB_OK) {
		const struct tb_flow_table *known = &r->figures->flows;
		struct tb_flow_table flows = {0};
		double latency_ps = 0, n_messages = 0;
		status = tb_flow_table_init(&flows, r->run, error);
		if (status == TB_OK && flows.group != known->group)
			status = tb_fail_in(error, TB_EUSAGE, r->store,
				"its run %" PRId64
				" has other groups of flows than the first",
				r->info->id);
		for (uint32_t i = 0, at = 0; status == TB_OK && i < flows.n; i++) {
			const struct tb_flow_sample *flow = &flows.rows[i];
			if (flow->n_messages == 0)
				continue;
			double mean_ps =
				(double)flow->latency_ps / (double)flow->n_messages;
			latency_ps += (double)flow->latency_ps;
			n_messages += (double)flow->n_messages;
			while (at < known->n &&
				tb_compare_flow_order(&known->rows[at], flow) < 0)
				at++;
			if (at == known->n ||
				tb_compare_flow_order(&known->rows[at], flow) != 0)
				continue;
			put_chance_value(r, TB_CHANCE_FLOW, at, mean_ps);
			r->figures->n_seen[at]++;
		}
		put_chance_value(r, TB_CHANCE_RUN, TB_CHANCE_LATENCY,
			n_messages > 0 ? latency_ps / n_messages : 0);
		tb_flow_table_fini(&flows);
	}
	if (status == TB_OK) {
		// Read what jobs took, and of captures, whose messages are posted when
		// they were captured, their messages' latency.
		struct tb_jobs jobs = {0};
		bool captured = strcmp(r->info->input_kind, "packets") == 0;
		status = tb_jobs_init(&jobs, r->run, error);
		for (uint32_t i = 0; status == TB_OK && i < r->compare->n_jobs_matched;
			i++) {
			uint32_t at = r->compare->jobs[i].at[r->which];
			if (at >= jobs.n)
				continue;
			const struct tb_job_figures *job = &jobs.jobs[at];
			put_chance_value(r, TB_CHANCE_JOB, i,
				captured ? job->mean_latency_ps
					 : (double)(job->last_ps - job->first_ps));
		}
		tb_jobs_fini(&jobs);
	}
	tb_run_free(r->run);
	return status;
}

void tb_chance_figures_fini(struct tb_chance_figures *figures)
{
	for (int kind = 0; kind < TB_CHANCE_KINDS; kind++)
		for (int which = 0; which < 2; which++)
			free(figures->of[kind][which]);
	for (int kind = 0; kind < TB_CHANCE_KINDS; kind++)
		free(figures->at[kind]);
	free(figures->n_seen);
	free(figures->is_predicted);
	tb_flow_table_fini(&figures->flows);
}

// chance_read reads them. Errors as of tb_chance_gather.
static int chance_read(struct tb_chance_figures *figures,
	const struct tb_compare *compare, const struct tb_seeds seeds[2],
	struct tb_error *error)
{
	int status = tb_flow_table_init(&figures->flows, compare->runs[0].run, error);
	figures->n_pairs = seeds[0].n;
	figures->n[TB_CHANCE_RUN] = TB_CHANCE_TOTALS;
	figures->n[TB_CHANCE_JOB] = compare->n_jobs_matched;
	figures->n[TB_CHANCE_LINK] = figures->n[TB_CHANCE_ROOT] = compare->pairs.n;
	figures->n[TB_CHANCE_FLOW] = figures->flows.n;
	if (status == TB_OK) {
		bool made = true;
		for (int kind = 0; kind < TB_CHANCE_KINDS; kind++)
			for (int which = 0; which < 2; which++) {
				double **of = &figures->of[kind][which];
				*of = calloc(figures->n[kind] * figures->n_pairs + 1,
					sizeof **of);
				made &= *of != NULL;
			}
		figures->n_seen =
			calloc(figures->n[TB_CHANCE_FLOW] + 1, sizeof(uint32_t));
		figures->is_predicted = calloc(compare->pairs.n + 1, sizeof(bool));
		made &= figures->n_seen && figures->is_predicted;
		for (int kind = TB_CHANCE_LINK; kind < TB_CHANCE_KINDS; kind++) {
			figures->at[kind] =
				calloc(figures->n[kind] + 1, sizeof(uint32_t));
			made &= figures->at[kind] != NULL;
		}
		if (!made || tb_compare_predict(compare, figures->is_predicted) != TB_OK)
			status = tb_fail_memory(error, "a comparison");
	}
	for (size_t i = 0; status == TB_OK && i < 2 * figures->n_pairs; i++) {
		struct figures_reading reading = {.figures = figures,
			.compare = compare,
			.store = seeds[i % 2].store,
			.which = (int)(i % 2),
			.pair = i / 2};
		status = read_run(&reading, seeds[i % 2].of[i / 2].run, error);
	}
	return status;
}
