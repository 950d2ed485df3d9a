#include "advice_impl.h"

#include "units.h"

#include <inttypes.h>
#include <string.h>

void tb_advice_free(struct tb_advice *advice)
{
	if (!advice)
		return;
	for (size_t i = 0; i < advice->n; i++)
		tb_change_fini(&advice->changes[i]);
	free(advice->changes);
	tb_evidence_fini(&advice->evidence);
	free(advice);
}

static enum tb_advice_by deciding_of(const struct tb_run_info *info)
{
	if (strcmp(info->input_kind, "packets") == 0)
		return TB_ADVICE_BY_LATENCY;
	return info->n_jobs > 1 ? TB_ADVICE_BY_JOBS : TB_ADVICE_BY_RUN;
}

// find_job stores the number of the job that decides, by its name or number.
static int find_job(struct tb_advice *made, const char *named, struct tb_run *run,
	struct tb_error *error)
{
	uint32_t n = made->info->n_jobs;
	uint64_t number = n;
	if (made->by == TB_ADVICE_BY_LATENCY)
		return tb_fail(error, TB_EUSAGE,
			"run %" PRId64 " is of captures, of which no job's run time "
			"decides, but the latency of messages",
			made->info->id);
	for (uint32_t i = n; i-- > 0;)
		if (strcmp(tb_run_job_name(run, i), named) == 0)
			number = i;
	if (number == n && (!n || tb_parse_count(named, 0, n - 1, &number) != TB_OK))
		return tb_fail(error, TB_EUSAGE,
			"run %" PRId64 " has no job '%s': name one as reports do, or "
			"by its number, from 0 on",
			made->info->id, named);
	made->job = (uint32_t)number;
	made->by = TB_ADVICE_BY_JOBS;
	return TB_OK;
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
	tb_advice_sort(made);
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
	made->by = deciding_of(info);
	made->n_seeds = options->n_seeds;
	made->folder = options->folder;
	made->job = TB_ID_NONE;
	int status = options->job ? find_job(made, options->job, run, error) : TB_OK;
	if (status == TB_OK)
		status = try_all(made, options, error);
	if (status == TB_OK)
		*advice = made;
	else
		tb_advice_free(made);
	return status;
}
