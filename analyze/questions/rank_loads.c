#include "rank_loads.h"

#include "order.h"
#include "run_impl.h"

#include <math.h>
#include <stdlib.h>

#define RECORD struct tb_rank_load
static const struct tb_stored_table rank_loads =
	TB_STORED_TABLE("rank_span", RECORD, TB_COLUMN_AS(TB_STORED_JOB, "job", job),
		TB_COLUMN("rank", rank), TB_COLUMN_WITH("node", node, TB_STORED_OR_NULL),
		TB_COLUMN("computed_ps", computed_ps), TB_COLUMN("waited_ps", waited_ps));
#undef RECORD

static int load_time_order(const void *one, const void *other)
{
	const tb_time_ps *a = one, *b = other;
	return TB_ORDER(*a, *b);
}

// job_end returns where the loads of the job that begins at `first` end.
static size_t job_end(const struct tb_rank_loads *loads, size_t first)
{
	size_t end = first;
	while (end < loads->n && loads->loads[end].job == loads->loads[first].job)
		end++;
	return end;
}

// median_of returns the lower median of what ranks computed, or waited, of those that
// computed at most `most_ps`; `times` has room for all.
static tb_time_ps median_of(const struct tb_rank_load *loads, size_t n, bool waited,
	tb_time_ps most_ps, tb_time_ps *times)
{
	size_t n_times = 0;
	for (size_t i = 0; i < n; i++)
		if (loads[i].computed_ps <= most_ps)
			times[n_times++] =
				waited ? loads[i].waited_ps : loads[i].computed_ps;
	qsort(times, n_times, sizeof *times, load_time_order);
	return n_times ? times[(n_times - 1) / 2] : 0;
}

int tb_rank_loads_init(
	struct tb_rank_loads *loads, struct tb_run *run, struct tb_error *error)
{
	struct tb_rank_loads made = {0};
	struct tb_row_reader rows = tb_run_read(run, &rank_loads,
		"(SELECT run, job, rank, sum(computed_ps) AS computed_ps, sum(waited_ps) "
		"AS waited_ps FROM rank_span WHERE run = ?1 GROUP BY job, rank) LEFT "
		"JOIN job_node USING (run, job, rank) ORDER BY job, rank",
		error);
	int status = tb_row_read_all(
		&rows, &made.loads, &made.n, &made.room, "what ranks computed");
	tb_time_ps *times = calloc(made.n + 1, sizeof *times);
	if (!status && !times)
		status = tb_fail_memory(error, "what ranks computed");
	for (size_t i = 0, end; i < made.n && !status; i = end) {
		end = job_end(&made, i);
		tb_time_ps median =
			median_of(&made.loads[i], end - i, false, TB_TIME_NEVER, times);
		for (size_t k = i; k < end; k++)
			made.loads[k].more_percent =
				median > 0 ? 100 * ((double)made.loads[k].computed_ps /
								   (double)median -
							   1)
					   : (double)NAN;
	}
	free(times);
	if (status)
		tb_rank_loads_fini(&made);
	else
		*loads = made;
	return status;
}

void tb_rank_loads_fini(struct tb_rank_loads *loads)
{
	free(loads->loads);
	*loads = (struct tb_rank_loads){0};
}

// is_straggler: beside ranks that compute nothing, any that does.
static bool is_straggler(const struct tb_rank_load *load)
{
	return isnan(load->more_percent) ? load->computed_ps > 0
					 : load->more_percent > TB_STRAGGLER_MORE;
}

// on_path returns what of the path stragglers at a node compute beyond the others.
static double on_path(const struct tb_critical_path *path,
	const struct tb_rank_load *loads, size_t n, tb_time_ps others_ps)
{
	double beyond_ps = 0;
	for (size_t i = 0; i < path->n_totals; i++) {
		const struct tb_path_total *total = &path->totals[i];
		double share = 0;
		if (total->cause != TB_PATH_COMPUTE || total->job != loads[0].job)
			continue;
		// Of several at a node it is not known which is on the path.
		for (size_t k = 0; k < n; k++)
			if (loads[k].node.id == total->source.id &&
				is_straggler(&loads[k]))
				share = fmax(share,
					1 - (double)others_ps /
							(double)loads[k].computed_ps);
		beyond_ps += share * (double)total->sum_ps;
	}
	return beyond_ps;
}

// of_job finds the stragglers of the job that has the `n` loads.
static struct tb_stragglers of_job(const struct tb_rank_load *loads, size_t n,
	const struct tb_critical_path *path, tb_time_ps run_ps, tb_time_ps *times)
{
	struct tb_stragglers found = {.job = loads[0].job};
	tb_time_ps others_most_ps = 0;
	size_t n_beside = 0; // other ranks of the node
	for (size_t i = 0; i < n; i++) {
		if (is_straggler(&loads[i])) {
			found.n++;
			if (loads[i].computed_ps > found.most.computed_ps)
				found.most = loads[i];
		} else if (loads[i].computed_ps > others_most_ps)
			others_most_ps = loads[i].computed_ps;
	}
	if (found.n == 0 || found.n > (n < 4 ? 1 : n / 4))
		return (struct tb_stragglers){0};
	found.n_others = (uint32_t)n - found.n;
	for (size_t i = 0; i < n; i++)
		n_beside += loads[i].node.id == found.most.node.id;
	found.is_host = found.n > 1 && n_beside == found.n;
	for (size_t i = 0; i < n; i++)
		if (loads[i].node.id == found.most.node.id)
			found.is_host &= is_straggler(&loads[i]);
	found.others_ps = median_of(loads, n, false, others_most_ps, times);
	found.others_wait_ps = median_of(loads, n, true, others_most_ps, times);
	double shorter = fmin(on_path(path, loads, n, found.others_ps),
		(double)(run_ps - others_most_ps));
	found.shorter_ps = shorter > 0 ? (tb_time_ps)shorter : 0;
	return found;
}

int tb_stragglers_find(struct tb_stragglers *stragglers,
	const struct tb_rank_loads *loads, const struct tb_critical_path *path,
	tb_time_ps run_ps)
{
	tb_time_ps *times = calloc(loads->n + 1, sizeof *times);
	*stragglers = (struct tb_stragglers){0};
	if (!times)
		return TB_ENOMEM;
	for (size_t i = 0, end; i < loads->n; i = end) {
		end = job_end(loads, i);
		struct tb_stragglers found =
			end - i < 2
				? (struct tb_stragglers){0}
				: of_job(&loads->loads[i], end - i, path, run_ps, times);
		if (found.shorter_ps > stragglers->shorter_ps)
			*stragglers = found;
	}
	free(times);
	return TB_OK;
}
