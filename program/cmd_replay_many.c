// tailback replay of several seeds or inputs: all cores, one store.
//
// A worker simulates each run onto a tape. The caller's thread writes them as a whole, in
// their order, so the store does not depend on the number of workers.
#include "cmd_replay.h"

#include "cli.h"
#include "progress.h"
#include "tape.h"
#include "units.h"
#include "workers.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct task {
	struct run run;
	struct tb_tape *tape; // what was simulated, until it is written
	struct tb_engine_stats stats;
	bool kept, stopped;
};

struct crew {
	struct task *tasks;
	size_t n;
	struct tb_store *store;
	struct tb_progress progress;
};

static int simulate(struct task *task)
{
	struct run *run = &task->run;
	double started = tb_clock_s();
	int status;
	while ((status = tb_engine_run(run->engine, REPLAY_SLICE, &run->error)) > 0)
		if (*run->options->stop) {
			task->stopped = run->stopped = true;
			break;
		}
	run->wall_s = tb_clock_s() - started;
	task->stats = replay_stats(run);
	return status < 0 ? status : replay_finish(run);
}

static int simulate_task(void *context, size_t index, struct tb_error *error)
{
	struct crew *crew = context;
	struct task *task = &crew->tasks[index];
	struct run *run = &task->run;
	if (*run->options->stop) {
		task->stopped = true;
		return TB_OK;
	}
	int status = tb_tape_new(&task->tape, &run->error);
	if (status == TB_OK)
		status = replay_open(run);
	if (status == TB_OK) {
		run->observer = tb_tape_observer(task->tape);
		status = replay_make_engine(run);
	}
	if (status == TB_OK)
		status = simulate(task);
	if (status != TB_OK)
		*error = run->error;
	return status;
}

static int keep(struct crew *crew, struct task *task)
{
	struct run *run = &task->run;
	run->store = crew->store;
	int status = replay_begin_store(run);
	if (status != TB_OK)
		return status;
	const struct tb_observer observer = replay_observer(run);
	status = tb_tape_play(task->tape, &observer);
	if (status == TB_OK)
		status = replay_end_store(run, !task->stopped);
	else
		run->error = *tb_store_error(crew->store);
	task->kept = status == TB_OK;
	return status;
}

static void print_task(const struct task *task)
{
	const struct tb_engine_stats *stats = &task->stats;
	char time[24], packets[48], wait[24];
	double per_packet =
		stats->n_packets ? (double)stats->wait_ps / (double)stats->n_packets : 0;
	fprintf(stderr,
		"run %" PRId64 ": %s, seed %" PRIu64
		": simulated %s, %s; headers waited %s a packet\n",
		task->run.id, task->run.input_name, task->run.options->seed,
		tb_format_time(stats->now_ps, time, sizeof time),
		tb_format_counted(stats->n_packets, "packet", packets, sizeof packets),
		tb_format_time((tb_time_ps)per_packet, wait, sizeof wait));
}

static void drop(struct task *task)
{
	if (task->tape)
		replay_close(&task->run);
	tb_tape_free(task->tape);
	task->tape = NULL;
}

static int keep_task(void *context, size_t index, struct tb_error *error)
{
	struct crew *crew = context;
	struct task *task = &crew->tasks[index];
	if (!task->tape) // not begun when the replay was stopped
		return TB_OK;
	int status = keep(crew, task);
	if (status == TB_OK) {
		tb_progress_done(&crew->progress);
		if (!task->run.options->quiet)
			print_task(task);
		replay_warn(&task->run);
	} else {
		*error = task->run.error;
	}
	drop(task);
	return status;
}

static void watch(void *context, size_t n_done)
{
	struct crew *crew = context;
	char text[64];
	if (!tb_progress_due(&crew->progress))
		return;
	snprintf(text, sizeof text, "%zu of %zu replays", n_done, crew->n);
	tb_progress_show(&crew->progress, (double)n_done / (double)crew->n, text);
}

// print_stop says what is in the store, if the replays were stopped, and returns the exit
// code.
static int print_stop(const struct crew *crew)
{
	size_t n_stopped = 0, n_kept = 0;
	for (size_t i = 0; i < crew->n; i++) {
		n_stopped += crew->tasks[i].stopped;
		n_kept += crew->tasks[i].kept;
	}
	if (n_stopped == 0)
		return TB_EXIT_OK;
	fprintf(stderr,
		"tailback: stopped early: %zu of %zu runs, the last not to their end, "
		"are in %s\n",
		n_kept, crew->n, crew->tasks[0].run.options->output);
	return TB_EXIT_FAILURE;
}

static int run_crew(struct crew *crew, const struct replay_options *options)
{
	const struct tb_work work = {crew, .n_tasks = crew->n, .task = simulate_task,
		.take = keep_task, .watch = watch};
	struct tb_error error = {0};
	tb_progress_init(&crew->progress, options->quiet ? NULL : stderr);
	int status = tb_workers_run(&work, options->n_workers, &error);
	tb_progress_done(&crew->progress);
	for (size_t i = 0; i < crew->n; i++)
		drop(&crew->tasks[i]);
	return status < 0 ? tb_cli_fail(&error) : print_stop(crew);
}

int replay_many(const struct replay_options *options, size_t n)
{
	struct tb_error error = {.code = TB_ENOMEM, .text = "no memory"};
	struct crew crew = {.tasks = calloc(n, sizeof *crew.tasks), .n = n};
	int64_t first = 0;
	if (!crew.tasks)
		return tb_cli_fail(&error);
	int status = tb_store_create(&crew.store, options->output, &error);
	if (status == TB_OK)
		status = tb_store_next_run(crew.store, &first, &error);
	for (size_t i = 0; i < n; i++) {
		crew.tasks[i].run.options = &options[i];
		crew.tasks[i].run.id = first + (int64_t)i;
	}
	int code = status == TB_OK ? run_crew(&crew, options) : tb_cli_fail(&error);
	tb_store_free(crew.store);
	free(crew.tasks);
	return code;
}
