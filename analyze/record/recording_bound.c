#include "recording_bound.h"

#include "endless.h"
#include "recording_impl.h"
#include "store_impl.h"
#include "workload_alone.h"

static tb_time_ps earlier_ps(tb_time_ps a, tb_time_ps b)
{
	return a < b ? a : b;
}

// bound_replay replays all jobs once more, on the ideal network. Returns 1 when it was
// stopped.
static int bound_replay(
	const struct tb_recording *recording, tb_time_ps *took_ps, struct tb_error *error)
{
	struct tb_workload_alone *jobs = NULL;
	int status = tb_workload_jobs_new(&jobs, recording->workload, error);
	if (status != TB_OK)
		return status;
	const struct tb_again again = {.recording = recording,
		.network = recording->network,
		.source = tb_workload_alone_source(jobs),
		.ideal = true};
	status = tb_recording_again(&again, took_ps, error);
	tb_workload_alone_free(jobs);
	return status;
}

// compute_bound finds what the jobs take on no network; `open`: with all windows open,
// for which there is nothing to do where none was closed.
static int compute_bound(const struct tb_recording *recording, bool open,
	tb_time_ps *took_ps, struct tb_error *error)
{
	struct tb_workload_alone *jobs = NULL;
	int status = tb_workload_jobs_new(&jobs, recording->workload, error);
	if (status == TB_OK && (!open || tb_workload_alone_open_windows(jobs))) {
		const struct tb_source source = tb_workload_alone_source(jobs);
		status =
			tb_endless_run(&source, recording->options->stop, took_ps, error);
	}
	tb_workload_alone_free(jobs);
	return status;
}

int tb_recording_replay_bound(struct tb_recording_bound_outcome *outcome,
	const struct tb_recording *recording, struct tb_error *error)
{
	const struct tb_engine_stats stats = tb_recording_summary(recording).stats;
	tb_time_ps all_ps = 0, compute_ps, ideal_ps = 0;
	*outcome = (struct tb_recording_bound_outcome){0};
	if (recording->options->no_bounds || recording->stopped ||
		stats.n_undelivered > 0 ||
		!tb_workload_has_jobs_only(recording->workload))
		return TB_OK;
	int status = compute_bound(recording, false, &all_ps, error);
	compute_ps = all_ps;
	if (status == TB_OK)
		status = compute_bound(recording, true, &compute_ps, error);
	if (status == TB_OK)
		status = bound_replay(recording, &ideal_ps, error);
	outcome->stopped = status > 0;
	outcome->known = status == TB_OK;
	outcome->ideal_ps = earlier_ps(ideal_ps, stats.now_ps);
	outcome->compute_ps = earlier_ps(compute_ps, outcome->ideal_ps);
	outcome->closed_ps = earlier_ps(all_ps, outcome->ideal_ps) - outcome->compute_ps;
	if (outcome->closed_ps < 0)
		outcome->closed_ps = 0;
	// A job that the ideal network refuses has no bounds, and stands all the same.
	return status == TB_ENOMEM ? status : TB_OK;
}

int tb_recording_keep_bound(struct tb_recording *recording,
	const struct tb_recording_bound_outcome *outcome, struct tb_error *error)
{
	const struct tb_bound_sample sample = {
		outcome->compute_ps, outcome->closed_ps, outcome->ideal_ps};
	if (!outcome->known)
		return TB_OK;
	int status = tb_store_begin(recording->store, error);
	return status == TB_OK ? tb_store_put_bound(recording->store, &sample, error)
			       : status;
}

int tb_recording_bound(struct tb_recording_bound_outcome *outcome,
	struct tb_recording *recording, struct tb_error *error)
{
	int status = tb_recording_replay_bound(outcome, recording, error);
	if (status != TB_OK || !outcome->known)
		return status;
	status = tb_recording_keep_bound(recording, outcome, error);
	return status == TB_OK ? tb_store_commit(recording->store, error) : status;
}
