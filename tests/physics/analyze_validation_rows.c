// What each row of `tailback validate` reads, pinned: every experiment with a short
// window and one seed, and every row's figure of these runs, beside the window of the
// real one, what the paper says, the row's role, and how it is judged. A row's definition
// (who sends to whom, how much, for how long, what is read from it, what it must be, what
// it set) cannot change without this file's golden changing.
//
// tests/golden/validate_rows.txt is written anew with TB_UPDATE=1.
#include "claim.h"
#include "measure.h"
#include "network_open.h"
#include "sweep.h"
#include "timed.h"

#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define WARM_US	  500
#define WINDOW_US 1000

struct ran {
	const char *text; // of the experiment
	struct tb_outcome *outcome;
};

struct rows {
	struct ran runs[256];
	size_t n;
	FILE *stream;
};

// run_short runs an experiment as it is but for its times, which it stores.
static struct tb_outcome *run_short(
	const char *text, uint32_t *warm_us, uint32_t *window_us)
{
	const struct tb_experiment_options options = {.seed = 1};
	struct tb_network_params params;
	struct tb_experiment experiment;
	struct tb_network *network = NULL;
	struct tb_outcome *outcome = NULL;
	struct tb_error error = {0};
	char changes[256], name[512];
	if (tb_sweep_set_up(&experiment, changes, sizeof changes, text, &error) != TB_OK)
		fail_msg("%s", error.text);
	snprintf(name, sizeof name, "%s%s",
		experiment.timed ? experiment.timed->network : "qsnet", changes);
	*warm_us = experiment.warm_us;
	*window_us = experiment.window_us;
	experiment.fixed_window = true;
	if (experiment.window_us > WINDOW_US) {
		experiment.warm_us = WARM_US;
		experiment.window_us = WINDOW_US;
	}
	int status = tb_network_open_params(&params, NULL, name, &error);
	if (status == TB_OK)
		status = tb_experiment_network(
			&network, &experiment, &params, name, &error);
	if (status == TB_OK)
		status = tb_experiment_run(
			&outcome, &experiment, network, &options, &error);
	tb_network_free(network);
	if (status != TB_OK)
		fail_msg("%s: %s", text, error.text);
	return outcome;
}

static double sum_sent(const struct tb_outcome *outcome)
{
	double sum = 0;
	for (uint32_t i = 0; i < outcome->n_nodes; i++)
		sum += outcome->nodes[i].sent_bps * (i + 1);
	return sum;
}

// outcome_of runs an experiment when it is first asked for, and writes what came of it:
// what was sent, weighted by the node's number plus one, tells who sent.
static const struct tb_outcome *outcome_of(struct rows *rows, const char *text)
{
	uint32_t warm_us = 0, window_us = 0;
	for (size_t i = 0; i < rows->n; i++)
		if (strcmp(rows->runs[i].text, text) == 0)
			return rows->runs[i].outcome;
	assert_true(rows->n < sizeof rows->runs / sizeof *rows->runs);
	struct tb_outcome *outcome = run_short(text, &warm_us, &window_us);
	rows->runs[rows->n++] = (struct ran){text, outcome};
	fprintf(rows->stream,
		"%s (%" PRIu32 " us, %" PRIu32 " us): %" PRIu64 " messages, %" PRIu64
		" packets, %" PRIu64 " B, waited %" PRIu64
		" ps, latency %.9g s, sent %.9g, rate %.9g\n",
		text, warm_us, window_us, outcome->stats.n_delivered,
		outcome->stats.n_packets, outcome->stats.payload_bytes,
		outcome->stats.wait_ps, outcome->latency_s, sum_sent(outcome),
		outcome->job_bps);
	return outcome;
}

static const char *verdict_of(const struct tb_claim *claim, double value)
{
	return tb_verdict_name(
		tb_claim_judge(claim, &(struct tb_estimate){value, INFINITY}));
}

static void write_row(struct rows *rows, const struct tb_claim *claim)
{
	const struct tb_outcome *outcomes[TB_MEASURE_EXPERIMENTS + 1] = {NULL};
	const struct tb_measure *measure = tb_measure_find(claim->id);
	if (claim->outside) {
		fprintf(rows->stream, "%s = outside\n", claim->id);
		return;
	}
	assert_non_null(measure);
	for (size_t i = 0; measure->experiments[i]; i++)
		outcomes[i] = outcome_of(rows, measure->experiments[i]);
	double value = measure->value(outcomes);
	fprintf(rows->stream, "%s = %.9g (published %s %g..%g rounded by %g, bound %g)",
		claim->id, value, claim->relation_text, claim->low, claim->high,
		claim->rounding, claim->bound);
	fprintf(rows->stream, " %s: %s; %s, half as much %s, twice %s\n",
		tb_claim_role_name(claim->role), claim->reason, verdict_of(claim, value),
		verdict_of(claim, value / 2), verdict_of(claim, value * 2));
}

static char *read_golden(const char *path)
{
	static char text[1 << 17];
	FILE *file = fopen(path, "r");
	size_t n = file ? fread(text, 1, sizeof text - 1, file) : 0;
	text[n] = '\0';
	if (file)
		fclose(file);
	return text;
}

// first_difference writes the first line of each text in which they differ.
static void first_difference(const char *now, const char *then)
{
	while (*now && strcspn(now, "\n") == strcspn(then, "\n") &&
		strncmp(now, then, strcspn(now, "\n") + 1) == 0) {
		now += strcspn(now, "\n") + 1;
		then += strcspn(then, "\n") + 1;
	}
	fail_msg("now: %.*s\nthen: %.*s", (int)strcspn(now, "\n"), now,
		(int)strcspn(then, "\n"), then);
}

static void every_row_reads_what_it_read(void **state)
{
	(void)state;
	char path[4096], *text = NULL;
	size_t size = 0;
	struct rows rows = {0};
	struct tb_claims claims = {0};
	struct tb_error error = {0};
	snprintf(path, sizeof path, "%s/tests/golden/validate_rows.txt",
		getenv("TB_SOURCE"));
	assert_int_equal(tb_claims_published(&claims, &error), TB_OK);
	rows.stream = open_memstream(&text, &size);
	for (size_t i = 0; i < claims.n; i++)
		if (strcmp(claims.claims[i].model, "qsnet") == 0) // others are replayed
			write_row(&rows, &claims.claims[i]);
	fclose(rows.stream);
	if (getenv("TB_UPDATE")) {
		FILE *file = fopen(path, "w");
		assert_non_null(file);
		fputs(text, file);
		fclose(file);
	}
	const char *golden = read_golden(path);
	if (strcmp(text, golden) != 0)
		first_difference(text, golden);
	for (size_t i = 0; i < rows.n; i++)
		tb_outcome_free(rows.runs[i].outcome);
	tb_claims_fini(&claims);
	free(text);
}

int main(void)
{
	if (!getenv("TB_SOURCE")) {
		puts("skip: TB_SOURCE does not say where the golden file is");
		return 77;
	}
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_row_reads_what_it_read)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
