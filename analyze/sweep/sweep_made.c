#include "sweep_made.h"

#include "progress.h"
#include "store_points.h"

void tb_sweep_made_fini(struct tb_sweep_made *made)
{
	tb_network_free(made->network);
	tb_tape_free(made->tape);
	*made = (struct tb_sweep_made){0};
}

int tb_sweep_made_simulate(struct tb_sweep_made *made, const struct tb_sweep_point *point,
	bool with_blame, const volatile sig_atomic_t *stop, struct tb_error *error)
{
	struct tb_outcome *outcome = NULL;
	double started = tb_clock_s();
	int status = tb_experiment_network(&made->network, &point->experiment,
		&point->params, point->network, error);
	if (status == TB_OK)
		status = tb_tape_new(&made->tape, error);
	if (status != TB_OK)
		return status;
	const struct tb_observer observer = tb_tape_observer(made->tape);
	const struct tb_experiment_options options = {.seed = point->seed,
		.observer = &observer,
		.with_blame = with_blame,
		.stop = stop};
	status = tb_experiment_run(
		&outcome, &point->experiment, made->network, &options, error);
	if (status != TB_OK)
		return status;
	for (enum tb_sweep_result i = 0; i < TB_N_RESULTS; i++)
		made->results[i] = tb_sweep_result_of(point, outcome, i);
	made->stats = outcome->stats;
	made->wall_s = tb_clock_s() - started;
	tb_outcome_free(outcome);
	return TB_OK;
}

// Jobs, numbered as in the traffic.
static const struct tb_run_job jobs[] = {
	{.name = "compute", .placement = ""}, {.name = "io", .placement = ""}};

int tb_sweep_made_write(const struct tb_sweep_made *made,
	const struct tb_sweep_point *point, struct tb_store *store, int64_t run,
	struct tb_error *error)
{
	const struct tb_experiment *experiment = &point->experiment;
	const struct tb_run_job only = {.name = experiment->name};
	bool mixed = experiment->kind == TB_EXPERIMENT_MIX && experiment->io_load > 0;
	const struct tb_run_config config = {.run = run,
		.whole = true,
		.input_name = experiment->name,
		.input_kind = "experiment",
		.seed = point->seed,
		.time_scale = 1,
		.options = point->settings,
		.jobs = mixed ? jobs : &only,
		.n_jobs = mixed ? 2 : 1};
	const struct tb_run_result result = {.complete = true,
		.simulated_ps = made->stats.now_ps,
		.n_messages = made->stats.n_delivered,
		.n_packets = made->stats.n_packets,
		.delivered_bytes = made->stats.payload_bytes,
		.wall_s = made->wall_s};
	int status = tb_store_begin_run(store, made->network, &config, error);
	if (status != TB_OK)
		return status;
	const struct tb_observer observer = tb_store_observer(store);
	status = tb_tape_play(made->tape, &observer);
	if (status != TB_OK) {
		if (error)
			*error = *tb_store_error(store);
		return status;
	}
	status = tb_store_results(store, made->results, error);
	return status == TB_OK ? tb_store_end_run(store, &result, error) : status;
}
