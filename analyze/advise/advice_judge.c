// What the changes gain against the run as it was.
#include "advice_impl.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

static double gain(double before, double after)
{
	return before > 0 ? 100 * (before - after) / before : 0;
}

const struct tb_estimate *tb_advice_deciding(
	const struct tb_advice *advice, const struct tb_change *change)
{
	const struct tb_estimate *of[] = {[TB_ADVICE_BY_RUN] = &change->run_gain,
		[TB_ADVICE_BY_JOBS] = &change->job_gain,
		[TB_ADVICE_BY_LATENCY] = &change->latency_gain};
	return of[advice->by];
}

const char *tb_advice_decides(const struct tb_advice *advice)
{
	static const char *const words[] = {[TB_ADVICE_BY_RUN] = "run time",
		[TB_ADVICE_BY_JOBS] = "run time of jobs",
		[TB_ADVICE_BY_LATENCY] = "latency"};
	return advice->job == TB_ID_NONE ? words[advice->by] : "run time of a job";
}

// job_gain returns what the job that decides gains, or the jobs, mean over those that
// sent anything. One that starts later is missed from when it would have started.
static double job_gain(const struct tb_advice *advice, const struct tb_change *change,
	const struct tb_tried_run *old, const struct tb_tried_run *new)
{
	double sum = 0;
	uint32_t n = 0;
	for (uint32_t job = 0; job < advice->info->n_jobs; job++) {
		bool delayed = change->delay_ps > 0 && job == change->delayed_job;
		double taken = new->job_ps[job] + (delayed ? change->delay_ps : 0);
		bool counts = advice->job == TB_ID_NONE || advice->job == job;
		if (counts && old->job_ps[job] > 0) {
			sum += gain(old->job_ps[job], taken);
			n++;
		}
	}
	return n ? sum / n : 0;
}

enum { OF_RUN, OF_JOBS, OF_LATENCY, OF_WAIT, GAINS };

// gather_gains stores the gains of the seeds from `first` on, and returns how many;
// `seeds` gets which.
static uint32_t gather_gains(const struct tb_advice *advice,
	const struct tb_change *change, uint32_t first,
	double gains[GAINS][TB_ADVICE_SEEDS_MOST])
{
	uint32_t n = 0;
	for (uint32_t i = first; i < TB_ADVICE_SEEDS_MOST; i++) {
		const struct tb_tried_run *old = &advice->changes[0].outcomes[i];
		const struct tb_tried_run *new = &change->outcomes[i];
		if (!old->known || !new->known)
			continue;
		gains[OF_RUN][n] = gain(old->run_ps, new->run_ps);
		gains[OF_JOBS][n] = job_gain(advice, change, old, new);
		gains[OF_LATENCY][n] = gain(old->latency_ps, new->latency_ps);
		gains[OF_WAIT][n++] = gain(old->wait_ps, new->wait_ps);
	}
	return n;
}

struct tb_estimate tb_advice_fresh(
	const struct tb_advice *advice, const struct tb_change *change, uint32_t first)
{
	static const int of[] = {[TB_ADVICE_BY_RUN] = OF_RUN,
		[TB_ADVICE_BY_JOBS] = OF_JOBS,
		[TB_ADVICE_BY_LATENCY] = OF_LATENCY};
	double gains[GAINS][TB_ADVICE_SEEDS_MOST] = {{0}};
	uint32_t n = gather_gains(advice, change, first, gains);
	return tb_estimate_of(gains[of[advice->by]], n);
}

// gives_up has a change fail that does not deliver what the run as it was did.
static bool gives_up(const struct tb_advice *advice, struct tb_change *change)
{
	for (uint32_t i = 0; i < TB_ADVICE_SEEDS_MOST; i++) {
		const struct tb_tried_run *old = &advice->changes[0].outcomes[i];
		const struct tb_tried_run *new = &change->outcomes[i];
		if (!old->known || !new->known ||
			new->n_undelivered == old->n_undelivered)
			continue;
		change->verdict = TB_VERDICT_FAILED;
		snprintf(change->why, sizeof change->why,
			"it gives up %" PRIu64 " messages, the run as it was %" PRIu64,
			new->n_undelivered, old->n_undelivered);
		return true;
	}
	return false;
}

static void estimate(const struct tb_advice *advice, struct tb_change *change)
{
	double gains[GAINS][TB_ADVICE_SEEDS_MOST] = {{0}};
	change->n_seeds = gather_gains(advice, change, 0, gains);
	change->run_gain = tb_estimate_of(gains[OF_RUN], change->n_seeds);
	change->job_gain = tb_estimate_of(gains[OF_JOBS], change->n_seeds);
	change->latency_gain = tb_estimate_of(gains[OF_LATENCY], change->n_seeds);
	change->wait_gain = tb_estimate_of(gains[OF_WAIT], change->n_seeds);
}

static int by_size(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;
	return (a > b) - (a < b);
}

static struct tb_estimate *gain_at(struct tb_change *change, int which)
{
	struct tb_estimate *of[GAINS] = {[OF_RUN] = &change->run_gain,
		[OF_JOBS] = &change->job_gain,
		[OF_LATENCY] = &change->latency_gain,
		[OF_WAIT] = &change->wait_gain};
	return of[which];
}

static bool varies(const struct tb_estimate *of, uint32_t n_seeds)
{
	return n_seeds > 1 && of->half_ci > 0;
}

// doubt widens the intervals that vary, of few seeds, to what half of those that vary
// fall short of: the spread of three values may be small by luck (as base/ground/paired
// does among many figures).
static void doubt(struct tb_advice *advice, int which, double *halves)
{
	size_t n = 0;
	for (size_t i = 1; i < advice->n; i++) {
		struct tb_change *change = &advice->changes[i];
		if (change->verdict < TB_VERDICT_FAILED &&
			varies(gain_at(change, which), change->n_seeds))
			halves[n++] = gain_at(change, which)->half_ci;
	}
	qsort(halves, n, sizeof *halves, by_size);
	double least = n ? halves[(n - 1) / 2] : 0;
	for (size_t i = 1; i < advice->n; i++) {
		struct tb_change *change = &advice->changes[i];
		struct tb_estimate *of = gain_at(change, which);
		if (change->verdict < TB_VERDICT_FAILED &&
			change->n_seeds < TB_ADVICE_SEEDS_FEW &&
			varies(of, change->n_seeds))
			of->half_ci = fmax(of->half_ci, least);
	}
}

static enum tb_verdict verdict_of(
	const struct tb_advice *advice, const struct tb_change *change)
{
	const struct tb_estimate *by = tb_advice_deciding(advice, change);
	double moves = change->moves[advice->by == TB_ADVICE_BY_LATENCY];
	double beyond = change->n_seeds > 1 ? by->half_ci : 100 * moves;
	if (by->mean == 0 && change->n_seeds == 1)
		return TB_VERDICT_SAME;
	if (fabs(by->mean) <= beyond && beyond >= TB_ADVICE_MATTERS)
		return TB_VERDICT_UNCLEAR;
	if (fabs(by->mean) < TB_ADVICE_MATTERS)
		return TB_VERDICT_SAME;
	return by->mean > 0 ? TB_VERDICT_HELPS : TB_VERDICT_HARMS;
}

void tb_advice_judge(struct tb_advice *advice)
{
	double *halves = calloc(advice->n, sizeof *halves);
	advice->no_memory = advice->no_memory || !halves;
	for (size_t i = 1; i < advice->n; i++) {
		struct tb_change *change = &advice->changes[i];
		if (change->verdict >= TB_VERDICT_FAILED || gives_up(advice, change))
			continue;
		estimate(advice, change);
		if (change->n_seeds == 0)
			change->verdict = TB_VERDICT_CUT;
	}
	for (int which = 0; halves && which < GAINS; which++)
		doubt(advice, which, halves);
	for (size_t i = 1; i < advice->n; i++)
		if (advice->changes[i].verdict < TB_VERDICT_FAILED)
			advice->changes[i].verdict =
				verdict_of(advice, &advice->changes[i]);
	free(halves);
}

// is_before: what helps and costs nothing, best first; what helps and needs hardware; the
// rest; what failed or was not tried, by verdict.
static bool is_before(const struct tb_advice *advice, const struct tb_change *one,
	const struct tb_change *other)
{
	const struct tb_change *of[] = {one, other};
	int class[2];
	for (int i = 0; i < 2; i++)
		class[i] = of[i]->verdict > TB_VERDICT_HARMS	? 2 + (int)of[i]->verdict
			   : of[i]->verdict != TB_VERDICT_HELPS ? 2
								: of[i]->needs_hardware;
	if (class[0] != class[1] || one->verdict > TB_VERDICT_HARMS)
		return class[0] < class[1];
	return tb_advice_deciding(advice, one)->mean >
	       tb_advice_deciding(advice, other)->mean;
}

void tb_advice_sort(struct tb_advice *advice)
{
	for (size_t i = 2; i < advice->n; i++) {
		struct tb_change moved = advice->changes[i];
		size_t k = i;
		for (; k > 1 && is_before(advice, &moved, &advice->changes[k - 1]); k--)
			advice->changes[k] = advice->changes[k - 1];
		advice->changes[k] = moved;
	}
}
