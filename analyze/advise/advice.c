#include "advice_impl.h"

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
	int status = try_all(made, options, error);
	if (status == TB_OK)
		*advice = made;
	else
		tb_advice_free(made);
	return status;
}
