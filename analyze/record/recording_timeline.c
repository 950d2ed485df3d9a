// Keeps what ranks did when, and the critical path.
#include "recording_impl.h"

#include "store_added.h"
#include "timeline.h"

static int list_spans(void *from,
	int (*take)(void *context, const struct tb_rank_span *span), void *context)
{
	const struct tb_recording *recording = from;
	return tb_timeline_ranks(recording->workload, recording->options->from_ps,
		recording->options->to_ps ? recording->options->to_ps : TB_TIME_NEVER,
		take, context);
}

static int timeline_keep_calls(struct tb_recording *recording, struct tb_error *error)
{
	const struct tb_recording_options *options = recording->options;
	struct tb_call_list list = {0};
	int status = tb_timeline_calls(&list, recording->workload, options->from_ps,
		options->to_ps ? options->to_ps : TB_TIME_NEVER);
	if (status != TB_OK)
		status = tb_fail_memory(error, "the calls of ranks");
	else if (list.n)
		status = tb_store_put_calls(
			recording->store, list.calls, list.n, list.n_all, error);
	tb_call_list_fini(&list);
	return status;
}

int tb_recording_keep_timeline(struct tb_recording *recording, struct tb_error *error)
{
	struct tb_path path = {0};
	if (tb_store_error(recording->store)->code != TB_OK)
		return TB_OK; // there is nothing to add to
	int status = tb_path_find(
		&path, recording->workload, tb_recording_summary(recording).stats.now_ps);
	if (status != TB_OK)
		status = tb_fail_memory(error, "the critical path");
	else if (path.n_steps)
		status = tb_store_put_path(recording->store, path.steps, path.n_steps,
			path.totals, path.n_totals, error);
	tb_path_fini(&path);
	if (status != TB_OK)
		return status;
	status = tb_store_put_spans(recording->store, list_spans, recording, error);
	if (status == TB_ENOMEM)
		return tb_fail_memory(error, "the timelines of ranks");
	return status == TB_OK ? timeline_keep_calls(recording, error) : status;
}
