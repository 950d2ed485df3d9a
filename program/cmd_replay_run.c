// tailback replay: records one run or several, and shows progress.
#include "cmd_replay.h"

#include "child.h"
#include "cli.h"
#include "progress.h"
#include "recorded.h"
#include "recording_beside.h"
#include "recording_many.h"
#include "stop.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void show_progress(
	const struct tb_recording_summary *run, struct tb_progress *progress)
{
	char text[160], simulated[24], delivered[48];
	double wall = tb_clock_s() - progress->started_s;
	snprintf(text, sizeof text, "%s simulated, %s, %.2f M packets/s",
		tb_format_time(run->stats.now_ps, simulated, sizeof simulated),
		tb_format_counted(
			run->stats.n_delivered, "message", delivered, sizeof delivered),
		(double)run->stats.n_packets / wall / 1e6);
	tb_progress_show(progress,
		tb_workload_fraction(run->workload, run->stats.n_packets), text);
}

static bool has_display(void)
{
	static const char *const names[] = {
		"DISPLAY", "WAYLAND_DISPLAY", "SDL_VIDEODRIVER"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		const char *value = getenv(names[i]);
		if (value && value[0])
			return true;
	}
	return false;
}

static bool shows_in_terminal(const struct replay_options *options)
{
	return options->watch && !has_display();
}

// watch starts a process that shows the store. On failure it prints a warning, and the
// replay goes on unwatched.
static void watch(const struct replay_options *options, struct tb_child *watcher)
{
	struct tb_error error;
	char text[1024];
	const char *const arguments[] = {
		has_display() ? "view" : "top", "--", options->record.output, NULL};
	// Ctrl-C ends the replay, not the window, which still shows its results. In the
	// terminal `top` gets Ctrl-C too.
	const struct tb_child_options child = {
		.arguments = arguments, .input = -1, .apart = has_display()};
	if (tb_child_start(watcher, &child, &error) != TB_OK)
		fprintf(stderr, "tailback: warning: %s\n",
			tb_error_format(&error, text, sizeof text));
}

// simulate advances to the end, to Ctrl-C or to an error.
static int simulate(const struct replay_options *options, struct tb_recording *recording,
	struct tb_error *error)
{
	struct tb_progress progress;
	bool silent = options->quiet || shows_in_terminal(options);
	int status;
	if (options->numbers)
		tb_progress_init_numbers(&progress, STDERR_FILENO);
	else
		tb_progress_init(&progress, silent ? -1 : STDERR_FILENO);
	while ((status = tb_recording_advance(recording, error)) > 0)
		if (tb_progress_due(&progress)) {
			const struct tb_recording_summary run =
				tb_recording_summary(recording);
			show_progress(&run, &progress);
		}
	tb_progress_done(&progress);
	return status;
}

static void show_range(void *context, size_t n_done, size_t n)
{
	struct tb_progress *progress = context;
	char text[64];
	if (!tb_progress_due(progress))
		return;
	snprintf(text, sizeof text, "%zu of %zu replays for the range", n_done, n);
	tb_progress_show(progress, (double)n_done / (double)n, text);
}

// describe_check describes in `text` how far a replay at the captured rate is from the
// capture.
static void describe_check(const struct tb_capture_check *check, char *text, size_t size)
{
	const struct tb_recorded_row row = {.job = check->job,
		.recorded_ps = (int64_t)check->recorded_ps,
		.simulated_ps = (int64_t)check->simulated_ps,
		.bytes_per_s = check->bytes_per_s,
		.node_percent = check->node_percent,
		.recorded_at_ps = (int64_t)check->recorded_message_ps,
		.simulated_at_ps = (int64_t)check->simulated_message_ps};
	tb_recorded_check_sentence(&row, text, size);
}

static void print_checks(
	const struct tb_recording_summary *run, const struct tb_capture_checks *checks)
{
	char text[512];
	for (size_t i = 0; i < checks->n; i++) {
		const struct tb_capture_check *check = &checks->list[i];
		describe_check(check, text, sizeof text);
		if (checks->n > 1)
			fprintf(stderr, "check of %s: %s\n",
				tb_workload_job(run->workload, check->job).name, text);
		else
			fprintf(stderr, "check: %s\n", text);
	}
}

// check_capture replays inferred jobs at the captured rate too. Where it cannot be done
// the run stands all the same.
static void check_capture(const struct replay_options *options,
	struct tb_recording *recording, struct tb_capture_checks *checks)
{
	struct tb_error error;
	char why[512];
	if (options->record.no_check)
		return;
	if (tb_recording_check(checks, recording, &error) != TB_OK)
		fprintf(stderr,
			"tailback: warning: not checked at the captured rate: %s\n",
			tb_error_format(&error, why, sizeof why));
}

// find_range replays the bounds of inferred jobs.
static int find_range(const struct replay_options *options,
	struct tb_recording *recording, const struct tb_capture_checks *checks,
	struct tb_recording_range_outcome *range, struct tb_error *error)
{
	struct tb_progress progress;
	const struct tb_recording_range asked = {.recording = recording,
		.n_workers = options->n_workers,
		.parts = tb_capture_checks_parts(checks),
		.context = &progress,
		.watch = show_range};
	bool silent = options->quiet || shows_in_terminal(options);
	tb_progress_init(&progress, silent ? -1 : STDERR_FILENO);
	int status = tb_recording_range(range, &asked, error);
	tb_progress_done(&progress);
	return status;
}

static int print_run(const struct replay_options *options,
	const struct tb_recording_summary *run,
	const struct tb_recording_range_outcome *range,
	const struct tb_capture_checks *checks, struct tb_error *error)
{
	if (!options->quiet)
		replay_print_range(run, range);
	if (!options->quiet)
		print_checks(run, checks);
	if (!options->quiet &&
		replay_print_summary(run, options->record.workload.split) != TB_OK)
		return tb_fail(error, TB_EIO, "the summary cannot be written");
	replay_note_network(run->network);
	replay_warn(run);
	return TB_OK;
}

// answer checks what was inferred, finds the range of its run time, and prints the run.
static int answer(const struct replay_options *options, struct tb_recording *recording,
	struct tb_recording_summary *run, struct tb_error *error)
{
	struct tb_recording_range_outcome range = {0};
	struct tb_recording_bound_outcome bound = {0};
	struct tb_capture_checks checks = {0};
	int status = TB_OK;
	if (!run->stopped) {
		check_capture(options, recording, &checks);
		status = find_range(options, recording, &checks, &range, error);
	}
	if (status == TB_OK && !run->stopped)
		status = tb_recording_bound(&bound, recording, error);
	run->stopped |= range.stopped || bound.stopped;
	if (status == TB_OK)
		status = print_run(options, run, &range, &checks, error);
	free(checks.list);
	return status;
}

// finish ends the run in the store, which keeps none if source or engine failed, and
// returns the exit code.
static int finish(const struct replay_options *options, struct tb_recording *recording,
	struct tb_child *watcher, const struct tb_error *cause)
{
	struct tb_error error;
	if (tb_recording_finish(recording, &error) != TB_OK)
		return tb_cli_fail(&error);
	if (shows_in_terminal(options))
		tb_child_wait(watcher); // it owns the screen until it ends
	struct tb_recording_summary run = tb_recording_summary(recording);
	if (cause) {
		replay_note_network(run.network);
		return tb_cli_fail(cause);
	}
	if (answer(options, recording, &run, &error) != TB_OK)
		return tb_cli_fail(&error);
	// A window that was asked for is whole where nobody interrupted it.
	if (!run.stopped ||
		(options->record.to_ps && !tb_stop_asked(options->record.stop)))
		return TB_EXIT_OK;
	fprintf(stderr, "tailback: stopped early: %swhat was simulated so far is in %s\n",
		run.cut ? "the beginning of " : "", options->record.output);
	return TB_EXIT_FAILURE;
}

static void show_alone(void *context, size_t n_done, size_t n)
{
	struct tb_progress *progress = context;
	char text[64];
	if (!tb_progress_due(progress))
		return;
	snprintf(text, sizeof text, "%zu of %zu replays of jobs alone", n_done, n);
	tb_progress_show(progress, (double)n_done / (double)n, text);
}

// replay_alone replays the jobs of a finished run by themselves, and returns the exit
// code.
static int replay_alone(
	const struct replay_options *options, struct tb_recording *recording)
{
	struct tb_progress progress;
	struct tb_recording_alone_outcome outcome;
	struct tb_error error;
	const struct tb_recording_alone asked = {.recording = recording,
		.n_workers = options->n_workers,
		.context = &progress,
		.watch = show_alone};
	bool silent = options->quiet || shows_in_terminal(options);
	tb_progress_init(&progress, silent ? -1 : STDERR_FILENO);
	int status = tb_recording_alone(&outcome, &asked, &error);
	tb_progress_done(&progress);
	if (status != TB_OK)
		return tb_cli_fail(&error);
	if (outcome.stopped) {
		fprintf(stderr,
			"tailback: stopped early: %zu of %zu replays of jobs alone are "
			"in %s\n",
			outcome.n_done, outcome.n, options->record.output);
		return TB_EXIT_FAILURE;
	}
	if (!options->quiet)
		fprintf(stderr,
			"%zu replay%s of jobs alone and on an ideal network in %.2f s\n",
			outcome.n, outcome.n == 1 ? "" : "s",
			tb_clock_s() - progress.started_s);
	return TB_EXIT_OK;
}

int replay_run(const struct replay_options *options)
{
	struct tb_recording *recording = NULL;
	struct tb_child watcher = {0};
	struct tb_error error;
	int status = tb_recording_new(&recording, &options->record, &error);
	if (status == TB_ESTOPPED) {
		fputs("tailback: stopped before anything was simulated\n", stderr);
		return TB_EXIT_FAILURE;
	}
	if (status != TB_OK)
		return tb_cli_fail(&error);
	if (options->watch)
		watch(options, &watcher);
	status = simulate(options, recording, &error);
	int code = finish(options, recording, &watcher, status < 0 ? &error : NULL);
	if (code == TB_EXIT_OK && options->record.alone)
		code = replay_alone(options, recording);
	tb_recording_free(recording);
	tb_child_wait(&watcher);
	return code;
}

struct many {
	const struct replay_options *options;
	const struct tb_recording_options *runs;
	size_t n; // of the shard
	struct tb_progress progress;
};

static void on_kept(void *context, size_t index, const struct tb_recording_summary *run)
{
	struct many *many = context;
	tb_progress_done(&many->progress);
	if (!many->options->quiet)
		replay_print_line(run, many->runs[index].seed);
	if (index == 0)
		replay_note_network(run->network);
	replay_warn(run);
}

static void on_watch(void *context, size_t n_done)
{
	struct many *many = context;
	char text[64];
	if (!tb_progress_due(&many->progress))
		return;
	snprintf(text, sizeof text, "%zu of %zu replays", n_done, many->n);
	tb_progress_show(&many->progress, (double)n_done / (double)many->n, text);
}

static void print_shard(const struct replay_options *options,
	const struct tb_recording_many_outcome *outcome)
{
	fprintf(stderr, "%zu run%s in %s (shard %" PRIu32 "/%" PRIu32 ")", outcome->n,
		outcome->n == 1 ? "" : "s", options->record.output, options->shard.number,
		options->shard.n);
	if (outcome->n_before > 0)
		fprintf(stderr, ": %zu were recorded before", outcome->n_before);
	fputc('\n', stderr);
}

int replay_many(const struct replay_options *options,
	const struct tb_recording_options *runs, size_t n)
{
	struct many many = {.options = options, .runs = runs};
	for (size_t i = 0; i < n; i++)
		many.n += tb_shard_has(options->shard, i);
	const struct tb_recording_many recorded = {.runs = runs,
		.n = n,
		.n_workers = options->n_workers,
		.shard = options->shard,
		.context = &many,
		.kept = on_kept,
		.watch = on_watch};
	struct tb_recording_many_outcome outcome;
	struct tb_error error;
	tb_progress_init(&many.progress, options->quiet ? -1 : STDERR_FILENO);
	int status = tb_recording_many(&outcome, &recorded, &error);
	tb_progress_done(&many.progress);
	if (status < 0)
		return tb_cli_fail(&error);
	if (!outcome.stopped && options->shard.n > 0 && !options->quiet)
		print_shard(options, &outcome);
	if (!outcome.stopped)
		return TB_EXIT_OK;
	fprintf(stderr, "tailback: stopped early: %zu of %zu runs are in %s, %s\n",
		outcome.n_before + outcome.n_kept, outcome.n, options->record.output,
		options->shard.n > 0 ? "the same command resumes there"
				     : "the last ones incomplete");
	return TB_EXIT_FAILURE;
}
