// What replays came to, from their stores.
#include "advice_impl.h"
#include "flow_table.h"
#include "job_times.h"
#include "seed_moves.h"

#include <inttypes.h>
#include <string.h>

static int read_job_times(
	struct tb_tried_run *outcome, struct tb_run *run, struct tb_error *error)
{
	struct tb_jobs jobs = {0};
	struct tb_job_times *times = NULL;
	int status = tb_jobs_init(&jobs, run, error);
	if (status == TB_OK)
		status = tb_job_times_init(&times, &jobs, run, error);
	if (status == TB_OK) {
		outcome->job_ps = calloc(jobs.n + 1u, sizeof *outcome->job_ps);
		if (!outcome->job_ps)
			status = tb_fail_memory(error, "the jobs");
	}
	for (uint32_t i = 0; i < jobs.n && status == TB_OK; i++)
		outcome->job_ps[i] = times[i].run.known ? (double)times[i].run.run_ps : 0;
	free(times);
	tb_jobs_fini(&jobs);
	return status;
}

static int read_latency(
	struct tb_tried_run *outcome, struct tb_run *run, struct tb_error *error)
{
	struct tb_flow_table flows = {0};
	double latency_ps = 0, n_messages = 0;
	int status = tb_flow_table_init(&flows, run, error);
	for (uint32_t i = 0; status == TB_OK && i < flows.n; i++) {
		latency_ps += (double)flows.rows[i].latency_ps;
		n_messages += (double)flows.rows[i].n_messages;
	}
	outcome->latency_ps = n_messages > 0 ? latency_ps / n_messages : 0;
	tb_flow_table_fini(&flows);
	return status;
}

// note_moves keeps what the seed usually moves, of the run as it was or of the change,
// whichever is more.
static void note_moves(struct tb_change *change, const struct tb_run_info *own,
	const struct tb_run_info *info)
{
	static const enum tb_seed_figure figures[] = {TB_SEED_RUN_TIME, TB_SEED_LATENCY};
	for (int i = 0; i < 2; i++) {
		double of_own = tb_seed_moves(own, figures[i]);
		double of_change = tb_seed_moves(info, figures[i]);
		change->moves[i] = of_own > of_change ? of_own : of_change;
	}
}

static int read_outcome(struct tb_advice *advice, struct tb_change *change,
	struct tb_tried_run *outcome, const char *store, int64_t id,
	struct tb_error *error)
{
	struct tb_run *run = NULL;
	const struct tb_link_sample *samples = NULL;
	int status = tb_run_open(&run, store, id, error);
	if (status == TB_OK)
		status = tb_run_look(run, (struct tb_window){0, 0}, &samples, error);
	if (status == TB_OK)
		status = read_latency(outcome, run, error);
	if (status == TB_OK)
		status = read_job_times(outcome, run, error);
	if (status == TB_OK && tb_run_info(run)->n_jobs != advice->info->n_jobs)
		status = tb_fail(error, TB_EUSAGE, "it has other jobs");
	if (status == TB_OK) {
		outcome->run_ps = (double)tb_run_info(run)->simulated_ps;
		outcome->n_undelivered = tb_run_info(run)->n_undelivered;
		outcome->wait_ps = 0;
		for (uint32_t i = 0; i < tb_run_info(run)->n_links; i++)
			outcome->wait_ps += (double)samples[i].wait_ps;
		outcome->known = true;
		note_moves(change, advice->info, tb_run_info(run));
	}
	tb_run_free(run);
	return status;
}

// outcome_place returns where the outcome of a run goes; NULL: it is none of the try's.
static struct tb_tried_run *outcome_place(const struct tb_advice *advice,
	struct tb_change *change, const struct tb_try *of, uint64_t seed)
{
	uint64_t at = seed - advice->info->seed;
	bool is_ours = at >= of->first && at < (uint64_t)of->first + of->n;
	return is_ours && !change->outcomes[at].known ? &change->outcomes[at] : NULL;
}

// foresee keeps the run time of a replay by the fluid model.
static void foresee(struct tb_change *change, const struct tb_runs *runs)
{
	if (tb_runs_n(runs))
		change->foreseen = (double)tb_runs_at(runs, 0)->simulated_ps;
}

int tb_try_read(struct tb_advice *advice, const struct tb_try *of, const char *store,
	struct tb_error *error)
{
	struct tb_change *change = &advice->changes[of->change];
	struct tb_runs *runs = NULL;
	uint32_t n = 0;
	int status = tb_runs_open(&runs, store, error);
	if (status == TB_OK && of->change == 0 && tb_runs_n(runs) &&
		strcmp(tb_runs_at(runs, 0)->input_digest, advice->info->input_digest) !=
			0)
		status = tb_fail(error, TB_EUSAGE,
			"%s is not the file that run %" PRId64 " replayed",
			advice->info->input_name, advice->info->id);
	if (status == TB_OK && of->fluid)
		foresee(change, runs);
	for (size_t k = 0; status == TB_OK && !of->fluid && k < tb_runs_n(runs); k++) {
		const struct tb_run_info *info = tb_runs_at(runs, k);
		struct tb_tried_run *outcome =
			outcome_place(advice, change, of, info->seed);
		if (!outcome)
			continue;
		status = read_outcome(advice, change, outcome, store, info->id, error);
		n++;
	}
	tb_runs_free(runs);
	if (status == TB_OK && !of->fluid && n < of->n)
		status = tb_fail(error, TB_ESTOPPED, "it did not come to its end");
	return status;
}
