#include "advice_impl.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

void tb_advice_free(struct tb_advice *advice)
{
	for (size_t i = 0; advice && i < advice->n; i++)
		tb_change_fini(&advice->changes[i]);
	if (advice)
		free(advice->changes);
	free(advice);
}

static double gain(double before, double after)
{
	return before > 0 ? 100 * (before - after) / before : 0;
}

static const struct tb_estimate *deciding(
	const struct tb_advice *advice, const struct tb_change *change)
{
	return advice->by_latency ? &change->latency_gain : &change->run_gain;
}

// judge compares a change with the run as it was, seed by seed.
static void judge(const struct tb_advice *advice, struct tb_change *change)
{
	double gains[3][TB_ADVICE_SEEDS_MOST] = {{0}};
	uint32_t n = change->n_outcomes;
	for (uint32_t i = 0; i < n; i++) {
		const struct tb_tried_run *old = &advice->changes[0].outcomes[i];
		const struct tb_tried_run *new = &change->outcomes[i];
		if (new->n_undelivered != old->n_undelivered) {
			change->verdict = TB_VERDICT_FAILED;
			snprintf(change->why, sizeof change->why,
				"it gives up %" PRIu64
				" messages, the run as it was %" PRIu64,
				new->n_undelivered, old->n_undelivered);
			return;
		}
		gains[0][i] = gain(old->run_ps, new->run_ps);
		gains[1][i] = gain(old->latency_ps, new->latency_ps);
		gains[2][i] = gain(old->wait_ps, new->wait_ps);
	}
	change->run_gain = tb_estimate_of(gains[0], n);
	change->latency_gain = tb_estimate_of(gains[1], n);
	change->wait_gain = tb_estimate_of(gains[2], n);
	const struct tb_estimate *by = deciding(advice, change);
	double beyond = n > 1 ? by->half_ci : 0;
	if (fabs(by->mean) <= beyond && beyond >= TB_ADVICE_MATTERS)
		change->verdict = TB_VERDICT_UNCLEAR;
	else if (fabs(by->mean) < TB_ADVICE_MATTERS)
		change->verdict = TB_VERDICT_SAME;
	else
		change->verdict = by->mean > 0 ? TB_VERDICT_HELPS : TB_VERDICT_HARMS;
}

// sort puts the best first; what failed or was not tried keeps its order at the end.
static void sort(struct tb_advice *advice)
{
	for (size_t i = 2; i < advice->n; i++) {
		struct tb_change moved = advice->changes[i];
		size_t k = i;
		for (; k > 1; k--) {
			const struct tb_change *before = &advice->changes[k - 1];
			bool later = before->verdict > TB_VERDICT_HARMS &&
				     moved.verdict < before->verdict;
			bool both = before->verdict <= TB_VERDICT_HARMS &&
				    moved.verdict <= TB_VERDICT_HARMS;
			if (!later && !(both && deciding(advice, &moved)->mean >
							deciding(advice, before)->mean))
				break;
			advice->changes[k] = *before;
		}
		advice->changes[k] = moved;
	}
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
	made->by_latency = strcmp(made->info->input_kind, "packets") == 0;
	made->n_seeds = options->n_seeds;
	made->folder = options->folder;
	int status = tb_advice_list(made, error);
	while (status == TB_OK && options->most && made->n > (size_t)options->most + 1)
		tb_change_fini(&made->changes[--made->n]);
	if (status == TB_OK && made->folder)
		status = tb_advice_files_folder(made->folder, error);
	if (status == TB_OK)
		status = tb_advice_try(made, options, error);
	if (status != TB_OK) {
		tb_advice_free(made);
		return status;
	}
	for (size_t i = 1; i < made->n; i++)
		if (made->changes[i].verdict < TB_VERDICT_FAILED)
			judge(made, &made->changes[i]);
	sort(made);
	status = made->folder ? tb_advice_files_keep(made, error) : TB_OK;
	if (status == TB_OK)
		*advice = made;
	else
		tb_advice_free(made);
	return status;
}

bool tb_advice_is_whole(const struct tb_advice *advice)
{
	for (size_t i = 0; i < advice->n; i++)
		if (advice->changes[i].verdict == TB_VERDICT_CUT)
			return false;
	return true;
}
