// What the changes gain against the run as it was.
#include "advice_impl.h"
#include "order.h"
#include "store_added.h"
#include "units.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

const struct tb_estimate *tb_advice_deciding(
	const struct tb_advice *advice, const struct tb_change *change)
{
	return &change->gains[advice->by];
}

const char *tb_advice_decides(const struct tb_advice *advice)
{
	static const char *const words[] = {[TB_ADVICE_BY_RUN] = "run time",
		[TB_ADVICE_BY_JOBS] = "run time of jobs",
		[TB_ADVICE_BY_LATENCY] = "latency"};
	return advice->job == TB_ID_NONE ? words[advice->by] : "run time of a job";
}

// put_savings stores what a change saves of what the run, a job, messages or waits take,
// by seed from `first` on, and returns of how many seeds both are known.
static uint32_t put_savings(const struct tb_advice *advice,
	const struct tb_change *change, enum tb_advice_by of, uint32_t job,
	uint32_t first, double saved[TB_ADVICE_SEEDS_MOST])
{
	double takes[2][TB_ADVICE_SEEDS_MOST];
	uint32_t n = 0;
	for (uint32_t i = first; i < TB_ADVICE_SEEDS_MOST; i++) {
		const struct tb_tried_run *runs[] = {
			&advice->changes[0].outcomes[i], &change->outcomes[i]};
		if (!runs[0]->known || !runs[1]->known)
			continue;
		for (int k = 0; k < 2; k++) {
			const double all[TB_ADVICE_GAINS] = {runs[k]->run_ps,
				runs[k]->job_ps[job], runs[k]->latency_ps,
				runs[k]->wait_ps};
			takes[k][n] = all[of];
		}
		n++;
	}
	tb_savings(saved, takes[0], takes[1], n);
	return n;
}

// Of jobs the mean over those that decide and sent anything.
struct tb_estimate tb_advice_gain(const struct tb_advice *advice,
	const struct tb_change *change, enum tb_advice_by of, uint32_t first)
{
	double sums[TB_ADVICE_SEEDS_MOST] = {0}, saved[TB_ADVICE_SEEDS_MOST];
	uint32_t n_jobs = of == TB_ADVICE_BY_JOBS ? advice->info->n_jobs : 1;
	uint32_t n = 0, n_counted = 0;
	for (uint32_t job = 0; job < n_jobs; job++) {
		bool counts = of != TB_ADVICE_BY_JOBS ||
			      ((!advice->chosen || advice->chosen[job]) &&
				      advice->changes[0].outcomes[0].job_ps[job] > 0);
		n = put_savings(advice, change, of, job, first, saved);
		for (uint32_t i = 0; i < n && counts; i++)
			sums[i] += saved[i];
		n_counted += counts;
	}
	for (uint32_t i = 0; i < n && n_counted > 1; i++)
		sums[i] /= n_counted;
	return tb_estimate_of(sums, n);
}

// gain_of_job estimates what one job gains.
static struct tb_estimate gain_of_job(
	const struct tb_advice *advice, const struct tb_change *change, uint32_t job)
{
	double saved[TB_ADVICE_SEEDS_MOST];
	return tb_estimate_of(
		saved, put_savings(advice, change, TB_ADVICE_BY_JOBS, job, 0, saved));
}

// changes_job has a placement fail that sends other messages than the run as it was.
static bool changes_job(const struct tb_advice *advice, struct tb_change *change)
{
	const struct tb_tried_run *old = &advice->changes[0].outcomes[0];
	const struct tb_tried_run *new = &change->outcomes[0];
	if (tb_rules[change->id].of != TB_CHANGE_PLACES || !old->known || !new->known ||
		new->n_messages == old->n_messages)
		return false;
	change->verdict = TB_VERDICT_FAILED;
	snprintf(change->why, sizeof change->why,
		"it is another job: it sends %" PRIu64
		" messages, the run as it was %" PRIu64,
		new->n_messages, old->n_messages);
	return true;
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

static bool varies(const struct tb_estimate *of, uint32_t n_seeds)
{
	return n_seeds > 1 && of->half_ci > 0;
}

static enum tb_verdict verdict_of(const struct tb_advice *advice,
	const struct tb_change *change, const struct tb_estimate *by)
{
	double moves = change->moves[advice->by == TB_ADVICE_BY_LATENCY];
	double beyond = change->n_seeds > 1 ? by->half_ci : 100 * moves;
	// A random placement of one seed is one draw: another may be as good or bad.
	if (change->n_seeds == 1 && strstr(change->command, "placement=random") &&
		!tb_advice_has_option(advice, "placement=random"))
		beyond = INFINITY;
	if (by->mean == 0 && change->n_seeds == 1)
		return TB_VERDICT_SAME;
	if (fabs(by->mean) <= beyond && beyond >= TB_ADVICE_MATTERS)
		return TB_VERDICT_UNCLEAR;
	if (fabs(by->mean) < TB_ADVICE_MATTERS)
		return TB_VERDICT_SAME;
	return by->mean > 0 ? TB_VERDICT_HELPS : TB_VERDICT_HARMS;
}

// find_harmed keeps which job a change that helps the others harms most.
static void find_harmed(const struct tb_advice *advice, struct tb_change *change)
{
	double most = 0;
	change->harmed_job = TB_ID_NONE;
	if (advice->by != TB_ADVICE_BY_JOBS || change->verdict != TB_VERDICT_HELPS)
		return;
	for (uint32_t job = 0; job < advice->info->n_jobs; job++) {
		struct tb_estimate gain = gain_of_job(advice, change, job);
		if (varies(&gain, change->n_seeds) &&
			change->n_seeds < TB_ADVICE_SEEDS_FEW)
			gain.half_ci = fmax(gain.half_ci,
				tb_advice_deciding(advice, change)->half_ci);
		if (gain.mean < most &&
			verdict_of(advice, change, &gain) == TB_VERDICT_HARMS) {
			change->harmed_job = job;
			most = gain.mean;
		}
	}
}

void tb_advice_judge(struct tb_advice *advice)
{
	double *halves = calloc(advice->n, sizeof *halves);
	advice->no_memory = advice->no_memory || !halves;
	for (size_t i = 1; i < advice->n; i++) {
		struct tb_change *change = &advice->changes[i];
		if (change->verdict >= TB_VERDICT_FAILED || change->waits ||
			gives_up(advice, change) || changes_job(advice, change))
			continue;
		change->n_seeds = 0;
		for (uint32_t k = 0; k < TB_ADVICE_SEEDS_MOST; k++)
			change->n_seeds += advice->changes[0].outcomes[k].known &&
					   change->outcomes[k].known;
		for (int of = 0; of < TB_ADVICE_GAINS; of++)
			change->gains[of] =
				tb_advice_gain(advice, change, (enum tb_advice_by)of, 0);
	}
	for (int of = 0; halves && of < TB_ADVICE_GAINS; of++) {
		// Widen the intervals that vary, of few seeds, to what half of those that
		// vary fall short of: the spread of three values may be small by luck (as
		// base/ground/paired does among many figures).
		size_t n = 0;
		for (size_t i = 1; i < advice->n; i++) {
			struct tb_change *change = &advice->changes[i];
			if (change->verdict < TB_VERDICT_FAILED &&
				varies(&change->gains[of], change->n_seeds))
				halves[n++] = change->gains[of].half_ci;
		}
		qsort(halves, n, sizeof *halves, tb_order_double);
		double least = n ? halves[(n - 1) / 2] : 0;
		for (size_t i = 1; i < advice->n; i++) {
			struct tb_change *change = &advice->changes[i];
			struct tb_estimate *gain = &change->gains[of];
			if (change->verdict < TB_VERDICT_FAILED &&
				change->n_seeds < TB_ADVICE_SEEDS_FEW &&
				varies(gain, change->n_seeds))
				gain->half_ci = fmax(gain->half_ci, least);
		}
	}
	for (size_t i = 1; i < advice->n; i++)
		if (advice->changes[i].verdict < TB_VERDICT_FAILED &&
			!advice->changes[i].waits) {
			struct tb_change *change = &advice->changes[i];
			change->verdict = verdict_of(
				advice, change, tb_advice_deciding(advice, change));
			find_harmed(advice, change);
		}
	free(halves);
}

uint32_t tb_advice_more_nodes(
	const struct tb_advice *advice, const struct tb_change *change)
{
	uint32_t n = change->outcomes[0].n_nodes;
	return n > advice->changes[0].outcomes[0].n_nodes ? n : 0;
}

double tb_advice_ends_later(
	const struct tb_advice *advice, const struct tb_change *change)
{
	double sum_ps = 0;
	uint32_t n = 0;
	for (uint32_t i = 0; i < TB_ADVICE_SEEDS_MOST && change->delay_ps > 0; i++) {
		const struct tb_tried_run *old = &advice->changes[0].outcomes[i];
		const struct tb_tried_run *new = &change->outcomes[i];
		if (!old->known || !new->known)
			continue;
		sum_ps += new->job_ps[change->delayed_job] -
			  old->job_ps[change->delayed_job];
		n++;
	}
	return change->delay_ps + (n ? sum_ps / n : 0);
}

void tb_advice_by_job(const struct tb_advice *advice, const struct tb_change *change,
	char *text, size_t size)
{
	enum { NAMED_MOST = 3 };
	const double *own_ps = advice->changes[0].outcomes[0].job_ps;
	const uint32_t n_jobs = advice->info->n_jobs;
	uint32_t most = TB_ID_NONE, least = TB_ID_NONE, n = 0;
	double gains[2] = {0};
	size_t used = 0;
	for (uint32_t job = 0; job < n_jobs; job++) {
		double gain = gain_of_job(advice, change, job).mean;
		if (own_ps[job] <= 0)
			continue;
		if (!n || gain > gains[0]) {
			most = job;
			gains[0] = gain;
		}
		if (!n++ || gain < gains[1]) {
			least = job;
			gains[1] = gain;
		}
	}
	text[0] = '\0';
	for (uint32_t job = 0; job < n_jobs && used < size; job++) {
		double gain = gain_of_job(advice, change, job).mean;
		if (own_ps[job] > 0 && (n <= NAMED_MOST || job == most || job == least))
			used += (size_t)snprintf(text + used, size - used,
				fabs(gain) < 0.05 ? "%s%.40s =" : "%s%.40s %+.1f %%",
				used ? ", " : "", tb_run_job_name(advice->run, job),
				-gain);
	}
}

enum tb_price tb_advice_price(
	const struct tb_advice *advice, const struct tb_change *change)
{
	return change->needs_hardware			  ? TB_PRICE_HARDWARE
	       : change->harmed_job != TB_ID_NONE	  ? TB_PRICE_HARM
	       : tb_advice_more_nodes(advice, change) > 0 ? TB_PRICE_NODES
	       : tb_advice_ends_later(advice, change) > 0 ? TB_PRICE_DELAY
							  : TB_PRICE_NOTHING;
}

// rank_of_change: what helps first, by what it costs; the rest; what failed or was not
// tried, by verdict.
static int rank_of_change(const struct tb_advice *advice, const struct tb_change *change)
{
	if (change->verdict > TB_VERDICT_HARMS)
		return TB_PRICES + (int)change->verdict;
	return change->verdict == TB_VERDICT_HELPS ? (int)tb_advice_price(advice, change)
						   : TB_PRICES;
}

// tried_row is the change as findings know it.
static struct tb_run_tried tried_row(
	const struct tb_advice *advice, const struct tb_change *change)
{
	return (struct tb_run_tried){
		.command = change->proposal ? change->proposal : change->command,
		.price = tb_advice_price(advice, change),
		.gain_percent = tb_advice_deciding(advice, change)->mean};
}

static bool ranks_before(const struct tb_advice *advice, const struct tb_change *one,
	const struct tb_change *other)
{
	int ranks[] = {rank_of_change(advice, one), rank_of_change(advice, other)};
	if (ranks[0] != ranks[1] || one->verdict > TB_VERDICT_HARMS)
		return ranks[0] < ranks[1];
	struct tb_run_tried rows[] = {tried_row(advice, one), tried_row(advice, other)};
	return one->verdict == TB_VERDICT_HELPS
		       ? tb_tried_before(&rows[0], &rows[1])
		       : rows[0].gain_percent > rows[1].gain_percent;
}

// What was tried, in the run's store, so that findings and viewer tell it.

#define PPM_PERCENT 1e4

static int64_t ppm_of(double percent)
{
	return isfinite(percent) ? llround(percent * PPM_PERCENT) : -1;
}

int tb_advice_keep(
	const struct tb_advice *advice, const char *store, struct tb_error *error)
{
	struct tb_tried_row *rows = calloc(advice->n, sizeof *rows);
	size_t n = 0;
	if (!rows)
		return tb_fail_memory(error, "what was tried");
	for (size_t i = 1; i < advice->n; i++) {
		const struct tb_change *change = &advice->changes[i];
		const struct tb_estimate *gain = tb_advice_deciding(advice, change);
		if (change->verdict < TB_VERDICT_FAILED)
			rows[n++] = (struct tb_tried_row){
				.command = change->proposal ? change->proposal
							    : change->command,
				.title = change->title,
				.verdict = tb_verdict_words[change->verdict],
				.of = tb_advice_decides(advice),
				.job = advice->job,
				.n_seeds = change->n_seeds,
				.needs_hardware = change->needs_hardware,
				.gain_ppm = ppm_of(gain->mean),
				.half_ppm = ppm_of(gain->half_ci)};
	}
	int status =
		n ? tb_store_put_tried(store, advice->info->id, rows, n, error) : TB_OK;
	free(rows);
	return status;
}

void tb_advice_free(struct tb_advice *advice)
{
	if (!advice)
		return;
	for (size_t i = 0; i < advice->n; i++)
		tb_change_fini(&advice->changes[i]);
	free(advice->changes);
	tb_evidence_fini(&advice->evidence);
	free(advice->chosen);
	free(advice->is_server);
	free(advice);
}

// find_job stores the number of a job, by its name or number.
static int find_job(
	struct tb_advice *made, const char *named, uint32_t *job, struct tb_error *error)
{
	uint32_t n = made->info->n_jobs;
	uint64_t number = n;
	for (uint32_t i = n; i-- > 0;)
		if (strcmp(tb_run_job_name(made->run, i), named) == 0)
			number = i;
	if (number == n && (!n || tb_parse_count(named, 0, n - 1, &number) != TB_OK))
		return tb_fail(error, TB_EUSAGE,
			"run %" PRId64 " has no job '%s': name one as reports do, or "
			"by its number, from 0 on",
			made->info->id, named);
	*job = (uint32_t)number;
	return TB_OK;
}

// choose_jobs keeps which jobs decide.
static int choose_jobs(
	struct tb_advice *made, const char *const *jobs, size_t n, struct tb_error *error)
{
	if (made->by == TB_ADVICE_BY_LATENCY)
		return tb_fail(error, TB_EUSAGE,
			"run %" PRId64 " is of captures, of which no job's run time "
			"decides, but the latency of messages",
			made->info->id);
	made->by = TB_ADVICE_BY_JOBS;
	made->chosen = calloc(made->info->n_jobs + UINT64_C(1), sizeof *made->chosen);
	if (!made->chosen)
		return tb_fail_memory(error, "the jobs");
	size_t n_chosen = 0, used = 0;
	int status = TB_OK;
	for (size_t i = 0; i < n && status == TB_OK; i++) {
		uint32_t job = 0;
		status = find_job(made, jobs[i], &job, error);
		if (status != TB_OK || made->chosen[job])
			continue;
		made->chosen[job] = true;
		made->job = n_chosen++ ? TB_ID_NONE : job;
		if (used < sizeof made->chosen_names)
			used += (size_t)snprintf(made->chosen_names + used,
				sizeof made->chosen_names - used, "%s%.40s",
				used ? ", " : "", tb_run_job_name(made->run, job));
	}
	return status;
}

// drop_needless_pairs takes pairs off the list of which one change gains as much. They
// stand behind their changes.
static void drop_needless_pairs(struct tb_advice *made)
{
	size_t n = 0;
	for (size_t i = 0; i < made->n; i++) {
		struct tb_change *change = &made->changes[i];
		bool is_needless = false;
		for (int k = 0; k < 2 && change->id == TB_RULE_PAIR; k++)
			is_needless |=
				change->verdict < TB_VERDICT_FAILED &&
				tb_advice_deciding(made, change)->mean <
					TB_ADVICE_MATTERS +
						tb_advice_deciding(made,
							&made->changes[change->parts[k]])
							->mean;
		if (is_needless)
			tb_change_fini(change);
		else
			made->changes[n++] = *change;
	}
	made->n = n;
}

// name_price adds to a change's title what is paid for it.
static void name_price(const struct tb_advice *advice, struct tb_change *change)
{
	double later_ps = tb_advice_ends_later(advice, change);
	uint32_t job = change->harmed_job, n_nodes = tb_advice_more_nodes(advice, change);
	char later[48], at[80] = "", nodes[80] = "", harms[80] = "";
	size_t used = strlen(change->title);
	if (change->verdict >= TB_VERDICT_FAILED)
		return;
	if (change->delay_ps > 0)
		snprintf(at, sizeof at, TB_TRIED_LATER "%s %s",
			tb_format_time((tb_time_ps)fabs(later_ps), later, sizeof later),
			later_ps > 0 ? "later" : "sooner");
	if (n_nodes && change->verdict == TB_VERDICT_HELPS)
		snprintf(nodes, sizeof nodes, TB_TRIED_NODES "%u, not %u)", n_nodes,
			advice->changes[0].outcomes[0].n_nodes);
	if (job != TB_ID_NONE)
		snprintf(harms, sizeof harms, TB_TRIED_HARMS "%.24s by %.1f %%",
			tb_run_job_name(advice->run, job),
			-gain_of_job(advice, change, job).mean);
	snprintf(change->title + used, sizeof change->title - used, "%s%s%s", at, nodes,
		harms);
}

// try_all lists, replays and judges the changes.
static int try_all(struct tb_advice *made, const struct tb_advice_options *options,
	struct tb_error *error)
{
	int status = tb_advice_list(made, options->only_findings, error);
	while (status == TB_OK && options->most && made->n > (size_t)options->most + 1)
		tb_change_fini(&made->changes[--made->n]);
	if (status == TB_OK && made->folder)
		status = tb_advice_files_folder(made->folder, error);
	if (status == TB_OK)
		status = tb_advice_try(made, options, error);
	if (status == TB_OK && made->no_memory)
		status = tb_fail_memory(error, "the advice");
	if (status != TB_OK)
		return status;
	for (size_t i = 1; i < made->n; i++)
		name_price(made, &made->changes[i]);
	drop_needless_pairs(made);
	for (size_t i = 2; i < made->n; i++) {
		struct tb_change moved = made->changes[i];
		size_t k = i;
		for (; k > 1 && ranks_before(made, &moved, &made->changes[k - 1]); k--)
			made->changes[k] = made->changes[k - 1];
		made->changes[k] = moved;
	}
	return TB_OK;
}

int tb_advice_new(struct tb_advice **advice, struct tb_run *run,
	const struct tb_advice_options *options, struct tb_error *error)
{
	const struct tb_run_info *info = tb_run_info(run);
	if (tb_run_is_measured(info))
		return tb_fail(error, TB_EUSAGE,
			"run %lld was measured by counters: there is nothing to replay",
			(long long)info->id);
	struct tb_advice *made = calloc(1, sizeof *made);
	if (!made)
		return tb_fail_memory(error, "the advice");
	made->run = run;
	made->info = info;
	made->by = strcmp(info->input_kind, "packets") == 0 ? TB_ADVICE_BY_LATENCY
		   : info->n_jobs > 1			    ? TB_ADVICE_BY_JOBS
							    : TB_ADVICE_BY_RUN;
	made->n_seeds = options->n_seeds;
	made->folder = options->folder;
	made->job = TB_ID_NONE;
	int status = options->n_jobs
			     ? choose_jobs(made, options->jobs, options->n_jobs, error)
			     : TB_OK;
	if (status == TB_OK)
		status = try_all(made, options, error);
	if (status == TB_OK)
		*advice = made;
	else
		tb_advice_free(made);
	return status;
}
