// Replays the changes, several at once, each with all seeds into a store of its own.
#include "advice_impl.h"
#include "beside.h"
#include "child.h"
#include "flow_table.h"
#include "progress.h"
#include "temporary.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct trying {
	struct tb_advice *advice;
	const struct tb_advice_options *options;
	char folder[256];
	struct tb_child *children; // by change
	size_t n_begun, n_ended, n;
	double began_s;
};

static void path_of(const struct trying *t, size_t i, const char *what, char path[320])
{
	snprintf(path, 320, "%s/%zu.%s", t->folder, i, what);
}

// Words that do not bear on what is compared, and take time.
static void lighten(struct tb_replay_command *words)
{
	tb_replay_command_drop(words, "--alone");
	tb_replay_command_add(words, "--no-bounds");
	if (strstr(words->n ? words->words[words->n - 1] : "", "closed-loop"))
		return;
	for (size_t i = 0; i < words->n; i++)
		if (strcmp(words->words[i], "--closed-loop") == 0) {
			tb_replay_command_add(words, "--no-check");
			tb_replay_command_add(words, "--no-range");
			return;
		}
}

static int begin(struct trying *t, size_t i, struct tb_error *error)
{
	struct tb_replay_command *words = &t->advice->changes[i].words;
	char store[320], said[320], seeds[64];
	uint64_t first = t->advice->info->seed;
	path_of(t, i, "db", store);
	path_of(t, i, "said", said);
	snprintf(seeds, sizeof seeds, "%" PRIu64 "..%" PRIu64, first,
		first + t->options->n_seeds - 1);
	if (t->options->n_seeds == 1)
		snprintf(seeds, sizeof seeds, "%" PRIu64, first);
	int status = tb_advice_files_write(&t->advice->changes[i], t->folder, error);
	if (status)
		return status;
	tb_advice_name_files(words, t->advice->changes[i].files,
		t->advice->changes[i].n_files, t->folder);
	lighten(words);
	tb_replay_command_set(words, "--seed", seeds);
	const char **arguments = calloc(words->n + 8, sizeof *arguments);
	if (!arguments || words->failed) {
		free(arguments);
		return tb_fail_memory(error, "a replay");
	}
	size_t n = 0;
	arguments[n++] = "replay";
	for (size_t k = 0; k < words->n; k++)
		arguments[n++] = words->words[k];
	arguments[n++] = "-q";
	arguments[n++] = "--jobs=1";
	arguments[n++] = "-o";
	arguments[n++] = store;
	const struct tb_child_options child = {
		.arguments = arguments, .input = -1, .apart = true, .log = said};
	status = tb_child_start(&t->children[i], &child, error);
	free(arguments);
	return status;
}

static int read_outcome(struct tb_tried_run *outcome, const char *store, int64_t id,
	struct tb_error *error)
{
	struct tb_run *run = NULL;
	struct tb_flow_table flows = {0};
	const struct tb_link_sample *samples = NULL;
	double latency_ps = 0, n_messages = 0;
	int status = tb_run_open(&run, store, id, error);
	if (status == TB_OK)
		status = tb_run_look(run, (struct tb_window){0, 0}, &samples, error);
	if (status == TB_OK)
		status = tb_flow_table_init(&flows, run, error);
	if (status == TB_OK) {
		*outcome = (struct tb_tried_run){
			.run_ps = (double)tb_run_info(run)->simulated_ps,
			.n_undelivered = tb_run_info(run)->n_undelivered};
		for (uint32_t i = 0; i < tb_run_info(run)->n_links; i++)
			outcome->wait_ps += (double)samples[i].wait_ps;
		for (uint32_t i = 0; i < flows.n; i++) {
			latency_ps += (double)flows.rows[i].latency_ps;
			n_messages += (double)flows.rows[i].n_messages;
		}
		outcome->latency_ps = n_messages > 0 ? latency_ps / n_messages : 0;
	}
	tb_flow_table_fini(&flows);
	tb_run_free(run);
	return status;
}

// read_store reads what a change came to with each seed.
static int read_store(struct trying *t, size_t i, struct tb_error *error)
{
	struct tb_change *change = &t->advice->changes[i];
	struct tb_runs *runs = NULL;
	char store[320];
	path_of(t, i, "db", store);
	int status = tb_runs_open(&runs, store, error);
	for (size_t k = 0; status == TB_OK && k < tb_runs_n(runs) &&
			   change->n_outcomes < t->options->n_seeds;
		k++)
		status = read_outcome(&change->outcomes[change->n_outcomes++], store,
			tb_runs_at(runs, k)->id, error);
	if (status == TB_OK && i == 0 && tb_runs_n(runs) &&
		strcmp(tb_runs_at(runs, 0)->input_digest,
			t->advice->info->input_digest) != 0)
		status = tb_fail(error, TB_EUSAGE,
			"%s is not the file that run %" PRId64 " replayed",
			t->advice->info->input_name, t->advice->info->id);
	tb_runs_free(runs);
	return status;
}

static void remove_files(const struct trying *t, size_t i)
{
	static const char *const endings[] = {"db", "db-journal", "said"};
	for (size_t k = 0; k < sizeof endings / sizeof *endings; k++) {
		char path[320];
		path_of(t, i, endings[k], path);
		unlink(path);
	}
	tb_advice_files_remove(&t->advice->changes[i], t->folder);
}

static int end(struct trying *t, size_t i, int code, struct tb_error *error)
{
	struct tb_change *change = &t->advice->changes[i];
	struct tb_error of_store;
	char said[320];
	path_of(t, i, "said", said);
	t->n_ended++;
	if (code == 0) {
		int status = read_store(t, i, &of_store);
		remove_files(t, i);
		if (status == TB_OK && change->n_outcomes == t->options->n_seeds)
			return TB_OK;
		snprintf(change->why, sizeof change->why, "%.200s",
			status == TB_OK ? "it did not come to its end" : of_store.text);
		if (i == 0 && status != TB_OK) {
			*error = of_store;
			return status;
		}
	} else {
		tb_beside_sentence(said, change->why, sizeof change->why);
		remove_files(t, i);
	}
	change->verdict = TB_VERDICT_FAILED;
	return i == 0 ? tb_fail(error, TB_EIO, "the run as it was cannot be replayed: %s",
				change->why)
		      : TB_OK;
}

static bool time_is_up(const struct trying *t)
{
	return tb_stop_asked(t->options->stop) ||
	       (t->options->seconds > 0 &&
		       tb_clock_s() - t->began_s > t->options->seconds);
}

static void cut_off(struct trying *t)
{
	for (size_t i = 0; i < t->n; i++) {
		if (i < t->n_begun && t->children[i].pid) {
			// Twice: after the first signal it would store what it has.
			kill(t->children[i].pid, SIGTERM);
			kill(t->children[i].pid, SIGKILL);
			tb_child_wait(&t->children[i]);
		} else if (i < t->n_begun) {
			continue;
		}
		t->advice->changes[i].verdict = TB_VERDICT_CUT;
		remove_files(t, i);
	}
}

// step begins what there is room for and takes what has ended; 0 when all have.
static int step(struct trying *t, struct tb_error *error)
{
	int status = TB_OK, code;
	while (status == TB_OK && t->n_begun < t->n &&
		t->n_begun - t->n_ended < t->options->n_at_once)
		status = begin(t, t->n_begun++, error);
	for (size_t i = 0; i < t->n_begun && status == TB_OK; i++)
		if (t->children[i].pid && tb_child_ended(&t->children[i], &code))
			status = end(t, i, code, error);
	if (t->options->watch)
		t->options->watch(t->options->context, (double)t->n_ended / (double)t->n);
	return status;
}

int tb_advice_try(struct tb_advice *advice, const struct tb_advice_options *options,
	struct tb_error *error)
{
	static const struct timespec pause = {.tv_nsec = 20 * 1000 * 1000};
	struct trying t = {.advice = advice,
		.options = options,
		.n = advice->n,
		.children = calloc(advice->n, sizeof *t.children),
		.began_s = tb_clock_s()};
	if (!t.children)
		return tb_fail_memory(error, "the replays");
	int status = tb_temporary_folder(
		t.folder, sizeof t.folder, "the stores of the changes", error);
	while (status == TB_OK && t.n_ended < t.n && !time_is_up(&t)) {
		status = step(&t, error);
		nanosleep(&pause, NULL);
	}
	if (t.folder[0]) {
		cut_off(&t);
		rmdir(t.folder);
	}
	free(t.children);
	if (status == TB_OK && advice->changes[0].verdict == TB_VERDICT_CUT)
		status = tb_fail(error, TB_ESTOPPED,
			"stopped before the run as it was had been replayed");
	return status;
}
