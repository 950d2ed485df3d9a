#include "chance_impl.h"
#include "compare_impl.h"

#include "array.h"
#include "select.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void tb_chance_fini(struct tb_chance *chance)
{
	free(chance->rows);
	*chance = (struct tb_chance){0};
}

struct waited_on {
	double wait_ps;
	uint32_t at;
};

static int order_chance_by_wait(const void *left, const void *right)
{
	const struct waited_on *a = left, *b = right;
	if (a->wait_ps < b->wait_ps || a->wait_ps > b->wait_ps)
		return a->wait_ps > b->wait_ps ? -1 : 1;
	return (a->at > b->at) - (a->at < b->at);
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
	struct waited_on *levels = calloc(n + 1, sizeof *levels);
	double all_ps = 0, so_far_ps = 0;
	if (!levels)
		return tb_fail_memory(error, "a comparison");
	for (uint32_t i = 0; i < n; i++) {
		levels[i].at = i;
		for (size_t k = 0; k < 2 * figures->n_pairs; k++)
			levels[i].wait_ps +=
				figures->of[kind][k % 2][i * figures->n_pairs + k / 2];
		all_ps += levels[i].wait_ps;
	}
	qsort(levels, n, sizeof *levels, order_chance_by_wait);
	while (n_kept < n && so_far_ps < TB_CHANCE_LINKS * all_ps) {
		so_far_ps += levels[n_kept].wait_ps;
		figures->at[kind][n_kept] = levels[n_kept].at;
		n_kept++;
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
	if (more < 0 || more > 0)
		return more > 0 ? -1 : 1;
	return (a->at > b->at) - (a->at < b->at);
}

// add_rows lists the totals, the jobs that the comparison lists, and what differs.
static int add_rows(struct tb_chance *chance, const struct tb_compare *compare,
	enum tb_chance_kind kind, const struct tb_chance_figures *figures,
	const struct tb_paired *tests)
{
	chance->n_tested[kind] = figures->n[kind];
	for (size_t i = 0; i < figures->n[kind]; i++) {
		bool differs = tb_paired_differs(&tests[i]);
		chance->n_differing[kind] += differs;
		bool listed = kind == TB_CHANCE_RUN   ? true
			      : kind == TB_CHANCE_JOB ? i < compare->n_jobs
						      : differs;
		if (!listed)
			continue;
		if (TB_ARRAY_RESERVE(&chance->rows, &chance->room, chance->n + 1) !=
			TB_OK)
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
	int status = tb_paired_tests(tests, figures->of[kind][0], figures->of[kind][1], n,
		figures->n_pairs, error);
	if (status == TB_OK && add_rows(chance, compare, kind, figures, tests) != TB_OK)
		status = tb_fail_memory(error, "a comparison");
	free(tests);
	if (status != TB_OK)
		return status;
	size_t n_rows = chance->n - first;
	if (kind >= TB_CHANCE_LINK && n_rows) {
		size_t listed = top && top < n_rows ? top : n_rows;
		qsort(chance->rows + first, n_rows, sizeof *chance->rows,
			order_chance_changes);
		chance->n = first + listed;
	}
	for (size_t i = first; i < chance->n; i++)
		name_row(&chance->rows[i], compare, figures);
	return TB_OK;
}

int tb_chance_gather(struct tb_chance *chance, const struct tb_compare *compare,
	const struct tb_seeds seeds[2], uint32_t top, struct tb_error *error)
{
	struct tb_chance_figures figures = {.n_pairs = 0};
	struct tb_chance made = {.n_pairs = seeds[0].n};
	int status = tb_chance_read(&figures, compare, seeds, error);
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
