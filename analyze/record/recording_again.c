#include "recording_impl.h"
#include "stop.h"

// A width of time bins that a replay does not reach the end of: nobody looks at them.
#define ONE_BIN_PS (INT64_MAX / 4)

// run_to_end returns 1 when it was stopped before.
static int run_to_end(
	const struct tb_again *again, struct tb_engine *engine, struct tb_error *error)
{
	struct tb_pace pace = {0};
	int status = 1;
	while (status > 0 && !tb_stop_asked(again->recording->options->stop))
		status = tb_engine_run(engine, tb_pace_next(&pace), error);
	return status;
}

int tb_recording_again(
	const struct tb_again *again, tb_time_ps *took_ps, struct tb_error *error)
{
	const struct tb_recording *recording = again->recording;
	uint32_t n_jobs = tb_workload_n_jobs(recording->workload);
	const struct tb_engine_options options = {.seed = recording->options->seed,
		.n_jobs = n_jobs,
		.bin_ps = ONE_BIN_PS,
		.without_blame = true,
		.ideal = again->ideal,
		.window_may_miss = true,
		.service_levels = recording->service_levels,
		.n_service_levels = n_jobs,
		.faults =
			again->network == recording->network ? recording->faults : NULL};
	struct tb_hosted hosted = {0};
	int status = tb_hosted_init(
		&hosted, again->network, again->source, again->observer, &options, error);
	if (status == TB_OK)
		status = run_to_end(again, hosted.engine, error);
	if (status == TB_OK) {
		*took_ps = tb_engine_stats_of(hosted.engine).now_ps;
		status = tb_engine_finish(hosted.engine, error);
	}
	tb_hosted_fini(&hosted);
	return status;
}
