// What ranks computed in both runs, by job and rank.
#include "compare_impl.h"
#include "order.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

static double load_change(const struct tb_load_mover *mover)
{
	return (double)mover->computed_ps[1] - (double)mover->computed_ps[0];
}

static int most_changed_load_first(const void *one, const void *other)
{
	const struct tb_load_mover *a = one, *b = other;
	double of_a = fabs(load_change(a)), of_b = fabs(load_change(b));
	int order = TB_ORDER(of_b, of_a);
	if (order == 0)
		order = TB_ORDER(a->job, b->job);
	return order ? order : TB_ORDER(a->rank, b->rank);
}

static int by_more(const void *one, const void *other)
{
	const struct tb_load_mover *a = one, *b = other;
	return TB_ORDER(a->more_percent, b->more_percent);
}

static bool stands_before(const struct tb_rank_load *a, const struct tb_rank_load *b)
{
	return a->job < b->job || (a->job == b->job && a->rank < b->rank);
}

int tb_compare_gather_loads(
	struct tb_compare *compare, uint32_t top, struct tb_error *error)
{
	struct tb_rank_loads *a = &compare->loads[0], *b = &compare->loads[1];
	int status = tb_rank_loads_init(a, compare->runs[0].run, error);
	if (!status)
		status = tb_rank_loads_init(b, compare->runs[1].run, error);
	if (status)
		return status;
	struct tb_load_mover *movers = calloc(a->n + 1, sizeof *movers);
	uint32_t n = 0;
	compare->load_movers = movers;
	if (!movers)
		return tb_fail_memory(error, "a comparison");
	for (size_t i = 0, k = 0; i < a->n && k < b->n;) {
		const struct tb_rank_load *before = &a->loads[i], *after = &b->loads[k];
		if (stands_before(before, after)) {
			i++;
			continue;
		}
		k++;
		if (stands_before(after, before))
			continue;
		i++;
		movers[n++] = (struct tb_load_mover){.job = before->job,
			.rank = before->rank,
			.nodes = {before->node, after->node},
			.computed_ps = {before->computed_ps, after->computed_ps},
			.waited_ps = {before->waited_ps, after->waited_ps},
			.more_percent =
				before->computed_ps > 0
					? 100 * ((double)after->computed_ps /
								(double)before
									->computed_ps -
							1)
					: (double)NAN};
	}
	qsort(movers, n, sizeof *movers, by_more);
	compare->more_percent = n ? movers[(n - 1) / 2].more_percent : 0;
	qsort(movers, n, sizeof *movers, most_changed_load_first);
	while (compare->n_loads_moved < n &&
		movers[compare->n_loads_moved].computed_ps[0] !=
			movers[compare->n_loads_moved].computed_ps[1])
		compare->n_loads_moved++;
	n = compare->n_loads_moved;
	compare->n_load_movers = top && top < n ? top : n;
	return TB_OK;
}

void tb_words_append_load(struct tb_words *words, const struct tb_compare *compare)
{
	char a[32], b[32], job[120] = "";
	const struct tb_load_mover *most = compare->load_movers;
	double run_ps = (double)compare->info[0]->simulated_ps;
	double middle_percent = compare->more_percent;
	// Where all changed, none stands out.
	if (compare->n_load_movers == 0 || compare->info[0]->is_captured ||
		compare->info[1]->is_captured || isnan(most->more_percent) ||
		fabs(load_change(most)) * 100 < run_ps * TB_FINDING_PAYS ||
		!(fabs(most->more_percent - middle_percent) > TB_STRAGGLER_MORE &&
			fabs(most->more_percent) > 2 * fabs(middle_percent)))
		return;
	if (compare->info[0]->n_jobs > 1)
		snprintf(job, sizeof job, " of %s",
			tb_run_job_name(compare->runs[0].run, most->job));
	char middle[32] = "as long";
	if (fabs(middle_percent) >= 0.05)
		snprintf(middle, sizeof middle, "%.2g %% %s", fabs(middle_percent),
			middle_percent > 0 ? "longer" : "less");
	tb_words_append(words,
		" Rank %" PRIu32 "%s computes %.3g %% %s in B (%s against %s), the rank "
		"in the middle %s.",
		most->rank, job, fabs(most->more_percent),
		most->more_percent > 0 ? "longer" : "less",
		tb_format_time(most->computed_ps[1], b, sizeof b),
		tb_format_time(most->computed_ps[0], a, sizeof a), middle);
}

static void put_compared_load(struct tb_datum *at)
{
	const struct tb_load_mover *mover = at->item;
	at->whole = (at->column->which / 2 ? mover->waited_ps
					   : mover->computed_ps)[at->column->which % 2];
}

static void put_load_change(struct tb_datum *at)
{
	at->real = ((const struct tb_load_mover *)at->item)->more_percent;
	at->unknown = isnan(at->real);
}

static void put_load_job(struct tb_datum *at)
{
	const struct tb_compare *compare = at->of;
	tb_report_job_name(
		compare->runs[0].run, (uint32_t)at->whole, at->text, sizeof at->text);
}

// adapt_load_job takes the column away from runs of one job.
static void adapt_load_job(struct tb_column *column, const void *of)
{
	if (((const struct tb_compare *)of)->info[0]->n_jobs < 2)
		column->title = NULL;
}

#define LOAD(member) TB_MEMBER(struct tb_load_mover, member)

static const struct tb_column load_columns[] = {
	{"job", "Job", "Its number", TB_DATUM_ID, LOAD(job), .put = put_load_job,
		.adapt = adapt_load_job, .flags = TB_COLUMN_LEFT},
	{"rank", "Rank", "Its number", TB_DATUM_ID, LOAD(rank)},
	{"computed_a_ps", "Computing in A", "How long it computed", TB_DATUM_TIME,
		.put = put_compared_load},
	{"computed_b_ps", "In B", "The same in the second run", TB_DATUM_TIME,
		.put = put_compared_load, .which = 1},
	{"more_percent", "Change", "Of computing, against A", TB_DATUM_PERCENT,
		.put = put_load_change, .flags = TB_COLUMN_NULL | TB_COLUMN_SIGNED},
	{"waited_a_ps", "Waiting in A", "Until others sent", TB_DATUM_TIME,
		.put = put_compared_load, .which = 2},
	{"waited_b_ps", "In B", "The same in the second run", TB_DATUM_TIME,
		.put = put_compared_load, .which = 3},
};

const struct tb_table_type tb_compare_list_loads = {"ranks",
	"Ranks whose computing changed most",
	"How long ranks computed and waited for others in both runs, most changed "
	"computing first.",
	TB_COLUMNS(load_columns), TB_ROWS(struct tb_compare, load_movers),
	.n = TB_COUNT(struct tb_compare, n_load_movers),
	.n_all = TB_COUNT(struct tb_compare, n_loads_moved),
	.what = "ranks whose computing changed"};
