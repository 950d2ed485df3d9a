#include "validation.h"

#include "array.h"
#include "measure.h"
#include "network_open.h"
#include "recipe.h"
#include "stop.h"
#include "sweep.h"
#include "timed.h"
#include "workers.h"

#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_SEED 1

// An experiment on the network that is validated, with a measure's changes.
struct planned {
	const char *text; // as in the measure
	struct tb_experiment experiment;
	char *network; // as tb_network_open reads it; owned
	struct tb_network_params params;
};

// The simulations that the claims need: experiment by experiment, seed by seed.
struct validation_plan {
	struct planned *experiments;
	size_t n_experiments, room;
	unsigned n_seeds;
	struct tb_outcome **outcomes;	    // experiment * n_seeds + seed
	struct tb_validated_row **replayed; // those with a recipe, run behind the others
	size_t n_replayed, replayed_room;
	const struct tb_validation_options *options;
};

static bool wanted(
	const struct tb_claim *claim, const struct tb_validation_options *options)
{
	return (!options->only || fnmatch(options->only, claim->id, 0) == 0) &&
	       (!options->model || strcmp(options->model, claim->model) == 0);
}

// has_recipe: rows of papers on QsNet have measures.
static bool has_recipe(const struct tb_claim *claim)
{
	return strcmp(claim->model, tb_claim_model(0)) != 0;
}

static size_t place_of_row(const struct validation_plan *plan, const char *text)
{
	size_t i = 0;
	while (i < plan->n_experiments && strcmp(plan->experiments[i].text, text) != 0)
		i++;
	return i;
}

// read_set_up reads an experiment of a measure. A timed one has its own network; others
// run on the one that is validated, with the measure's changes as the last ones.
static int read_set_up(
	struct planned *planned, const char *network, struct tb_error *error)
{
	uint32_t n_hosts = 0;
	char changes[256];
	int status = tb_sweep_set_up(
		&planned->experiment, changes, sizeof changes, planned->text, error);
	if (status != TB_OK)
		return status;
	if (planned->experiment.timed)
		network = planned->experiment.timed->network;
	if (asprintf(&planned->network, "%s%s", network, changes) < 0) {
		planned->network = NULL;
		return tb_fail_memory(error, "a network");
	}
	status = tb_network_open_params(
		&planned->params, &n_hosts, planned->network, error);
	return status == TB_OK ? tb_experiment_fits(&planned->experiment,
					 planned->params.name, n_hosts, error)
			       : status;
}

// add_claim adds the experiments of a claim that are not planned yet.
static int add_claim(struct validation_plan *plan, const struct tb_claim *claim,
	struct tb_error *error)
{
	const struct tb_measure *measure = tb_measure_find(claim->id);
	if (!measure)
		return tb_fail(error, TB_EFORMAT, "no measure is called '%s'", claim->id);
	for (const char *const *text = measure->experiments; *text; text++) {
		int status = TB_OK;
		if (place_of_row(plan, *text) == plan->n_experiments) {
			// TB_EUSAGE when the changes, or the experiment, do not go with
			// the network.
			struct planned planned = {.text = *text};
			status = read_set_up(&planned, plan->options->network, error);
			if (status == TB_OK &&
				TB_ARRAY_RESERVE(&plan->experiments, &plan->room,
					plan->n_experiments + 1) != TB_OK)
				status = tb_fail_memory(error, "the claims");
			if (status == TB_OK)
				plan->experiments[plan->n_experiments++] = planned;
			else
				free(planned.network);
		}
		if (status != TB_OK)
			return status;
	}
	return TB_OK;
}

// replay_row replays a row by its recipe. A replay that fails is no figure: the row
// fails.
static int replay_row(struct tb_validated_row *finding,
	const struct tb_validation_options *options, struct tb_error *error)
{
	finding->figure = NAN;
	int status = tb_recipe_run(
		&finding->figure, finding->claim->measured, options->folder, error);
	if (status == TB_EUSAGE && tb_stop_asked(options->stop))
		return tb_fail(error, TB_ESTOPPED, "stopped"); // and the replay with it
	if (status == TB_EUSAGE)
		snprintf(
			finding->failure, sizeof finding->failure, "%.300s", error->text);
	finding->replayed = status == TB_OK || status == TB_EUSAGE;
	return finding->replayed ? TB_OK : status;
}

static int run_task(void *context, size_t index, struct tb_error *error)
{
	struct validation_plan *plan = context;
	size_t n_simulated = plan->n_experiments * plan->n_seeds;
	if (tb_stop_asked(plan->options->stop))
		return tb_fail(error, TB_ESTOPPED, "stopped");
	if (index >= n_simulated)
		return replay_row(
			plan->replayed[index - n_simulated], plan->options, error);
	const struct planned *planned = &plan->experiments[index / plan->n_seeds];
	const struct tb_experiment *experiment = &planned->experiment;
	const struct tb_experiment_options options = {
		.seed = FIRST_SEED + index % plan->n_seeds, .stop = plan->options->stop};
	struct tb_network *network = NULL;
	int status = tb_experiment_network(
		&network, experiment, &planned->params, planned->network, error);
	if (status == TB_OK)
		status = tb_experiment_run(
			&plan->outcomes[index], experiment, network, &options, error);
	tb_network_free(network);
	return status;
}

static void watch_points(void *context, size_t n_done)
{
	const struct validation_plan *plan = context;
	if (plan->options->progress)
		plan->options->progress(plan->options->context, n_done,
			plan->n_experiments * plan->n_seeds + plan->n_replayed);
}

static int run_plan(struct validation_plan *plan, struct tb_error *error)
{
	size_t n = plan->n_experiments * plan->n_seeds;
	plan->outcomes = calloc(n + 1, sizeof(struct tb_outcome *));
	if (!plan->outcomes)
		return tb_fail_memory(error, "%zu runs", n);
	const struct tb_work work = {plan, .n_tasks = n + plan->n_replayed,
		.task = run_task, .watch = watch_points};
	return tb_workers_run(&work, plan->options->n_workers, error);
}

// figure computes the measure's value for one seed.
static double figure(const struct validation_plan *plan, const struct tb_measure *measure,
	unsigned seed)
{
	const struct tb_outcome *outcomes[TB_MEASURE_EXPERIMENTS + 1] = {NULL};
	for (size_t i = 0; measure->experiments[i]; i++) {
		size_t at = place_of_row(plan, measure->experiments[i]);
		outcomes[i] = plan->outcomes[at * plan->n_seeds + seed];
	}
	return measure->value(outcomes);
}

static void count_finding(
	struct tb_validation *validation, const struct tb_validated_row *finding)
{
	if (finding->verdict == TB_VERDICT_OUTSIDE) {
		validation->n_outside++;
		return;
	}
	validation->n_in_doubt += finding->doubt != finding->verdict;
}

// was_measured returns whether all runs of a row that is judged have ended.
static bool was_measured(
	const struct validation_plan *plan, const struct tb_validated_row *finding)
{
	if (has_recipe(finding->claim))
		return finding->replayed;
	const struct tb_measure *measure = tb_measure_find(finding->claim->id);
	for (size_t i = 0; measure->experiments[i]; i++) {
		size_t at = place_of_row(plan, measure->experiments[i]);
		for (unsigned seed = 0; seed < plan->n_seeds; seed++)
			if (!plan->outcomes[at * plan->n_seeds + seed])
				return false;
	}
	return true;
}

// leave_unmeasured leaves out the rows that a stopped validation has not measured.
static void leave_unmeasured(
	struct tb_validation *validation, const struct validation_plan *plan)
{
	size_t n = 0;
	for (size_t i = 0; i < validation->n_findings; i++) {
		const struct tb_validated_row *finding = &validation->findings[i];
		if (*finding->outside || was_measured(plan, finding))
			validation->findings[n++] = *finding;
	}
	validation->n_unmeasured = validation->n_findings - n;
	validation->n_findings = n;
}

static int judge_all(struct tb_validation *validation, const struct validation_plan *plan,
	struct tb_error *error)
{
	double *values = calloc(plan->n_seeds, sizeof *values);
	if (!values)
		return tb_fail_memory(error, "the findings");
	leave_unmeasured(validation, plan);
	for (size_t i = 0; i < validation->n_findings; i++) {
		struct tb_validated_row *finding = &validation->findings[i];
		const struct tb_claim *claim = finding->claim;
		finding->simulated = (struct tb_estimate){NAN, NAN};
		finding->error_percent = NAN;
		finding->verdict = finding->doubt = TB_VERDICT_OUTSIDE;
		if (!(*finding->outside)) {
			const struct tb_measure *measure =
				has_recipe(claim) ? NULL : tb_measure_find(claim->id);
			for (unsigned seed = 0; measure && seed < plan->n_seeds; seed++)
				values[seed] = figure(plan, measure, seed);
			finding->simulated =
				measure ? tb_estimate_of(values, plan->n_seeds)
					: (struct tb_estimate){finding->figure, NAN};
			finding->error_percent =
				tb_claim_error(claim, finding->simulated.mean);
			finding->verdict = tb_claim_judge(claim, &finding->simulated);
			finding->doubt = tb_claim_doubt(claim, &finding->simulated);
		}
		count_finding(validation, &validation->findings[i]);
	}
	free(values);
	return TB_OK;
}

// choose_claim plans a claim's simulations, or notes why there are none.
static int choose_claim(struct tb_validated_row *finding, struct validation_plan *plan,
	struct tb_error *error)
{
	struct tb_error wrong = {0};
	char reason[sizeof finding->outside];
	if (finding->claim->outside) {
		snprintf(finding->outside, sizeof finding->outside, "%s",
			finding->claim->outside);
		return TB_OK;
	}
	if (has_recipe(finding->claim)) {
		// Plan a replay, unless its file is not there.
		char name[128];
		const char *folder = plan->options->folder ? plan->options->folder : "";
		int checked = tb_recipe_check(
			finding->claim->measured, folder, name, sizeof name, error);
		if (checked != TB_OK)
			return checked;
		if (*name) {
			snprintf(finding->outside, sizeof finding->outside,
				"its recording is not here: %.100s; --data names its "
				"folder",
				name);
			return TB_OK;
		}
		if (TB_ARRAY_RESERVE(&plan->replayed, &plan->replayed_room,
			    plan->n_replayed + 1) != TB_OK)
			return tb_fail_memory(error, "the claims");
		plan->replayed[plan->n_replayed++] = finding;
		return TB_OK;
	}
	int status = add_claim(plan, finding->claim, &wrong);
	if (status == TB_EUSAGE) {
		snprintf(finding->outside, sizeof finding->outside, "%s",
			tb_error_format(&wrong, reason, sizeof reason));
		return TB_OK;
	}
	if (status != TB_OK && error)
		*error = wrong;
	return status;
}

// choose_rows selects the claims and plans their simulations.
static int choose_rows(struct tb_validation *validation, struct validation_plan *plan,
	struct tb_error *error)
{
	const struct tb_claims *claims = &validation->claims;
	validation->findings = calloc(claims->n + 1, sizeof *validation->findings);
	if (!validation->findings)
		return tb_fail_memory(error, "the claims");
	for (size_t i = 0; i < claims->n; i++) {
		const struct tb_claim *claim = &claims->claims[i];
		if (!wanted(claim, plan->options))
			continue;
		if (!plan->options->with_long && tb_recipe_is_long(claim->measured)) {
			validation->n_long++;
			continue;
		}
		struct tb_validated_row *finding =
			&validation->findings[validation->n_findings++];
		finding->claim = claim;
		int status = choose_claim(finding, plan, error);
		if (status != TB_OK)
			return status;
	}
	if (validation->n_findings == 0)
		return tb_fail(error, TB_EUSAGE, "no row's id matches '%s'%s",
			plan->options->only ? plan->options->only : "*",
			validation->n_long ? " but those for --long" : "");
	return TB_OK;
}

int tb_validation_run(struct tb_validation *validation,
	const struct tb_validation_options *options, struct tb_error *error)
{
	struct tb_validation made = {
		.network = options->network, .n_seeds = options->n_seeds};
	struct validation_plan plan = {.n_seeds = options->n_seeds, .options = options};
	struct tb_network_params params;
	int status = tb_network_open_params(&params, NULL, options->network, error);
	if (status == TB_OK)
		status = tb_claims_published(&made.claims, error);
	if (status == TB_OK)
		status = choose_rows(&made, &plan, error);
	if (status == TB_OK)
		status = run_plan(&plan, error);
	made.stopped = status == TB_ESTOPPED;
	if (status == TB_OK || made.stopped)
		status = judge_all(&made, &plan, error);
	size_t n = plan.n_experiments * plan.n_seeds;
	for (size_t i = 0; i < n && plan.outcomes; i++)
		tb_outcome_free(plan.outcomes[i]);
	free(plan.outcomes);
	for (size_t i = 0; i < plan.n_experiments; i++)
		free(plan.experiments[i].network);
	free(plan.experiments);
	free(plan.replayed);
	if (status == TB_OK)
		*validation = made;
	else
		tb_validation_fini(&made);
	return status;
}

void tb_validation_fini(struct tb_validation *validation)
{
	tb_claims_fini(&validation->claims);
	free(validation->findings);
	validation->findings = NULL;
}

size_t tb_validation_sum(const struct tb_validation *validation, const char *model,
	enum tb_claim_role role, enum tb_claim_verdict verdict)
{
	size_t n = 0;
	for (size_t i = 0; i < validation->n_findings; i++) {
		const struct tb_validated_row *at = &validation->findings[i];
		n += at->verdict == verdict &&
		     (!model || strcmp(model, at->claim->model) == 0) &&
		     (role == TB_CLAIM_ROLES || role == at->claim->role);
	}
	return n;
}

size_t tb_validation_count(
	const struct tb_validation *validation, enum tb_claim_verdict verdict)
{
	return tb_validation_sum(validation, NULL, TB_CLAIM_ROLES, verdict);
}
