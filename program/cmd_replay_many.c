// tailback replay of several seeds or inputs: all cores, one store.
//
// Each run is simulated by a worker, which keeps what it was told, and then written as a
// whole under the number of its place, one at a time: so the rows do not depend on the
// number of workers.
#include "cmd_replay.h"

#include "cli.h"
#include "progress.h"
#include "tape.h"
#include "units.h"
#include "workers.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct task {
	struct run run;
	struct tb_engine_stats stats;
	bool kept, stopped;
};

struct crew {
	struct task *tasks;
	size_t n;
	struct tb_store *store;
	pthread_mutex_t writing; // one run at a time; guards the progress too
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

static int keep(struct crew *crew, struct task *task, const struct tb_tape *tape)
{
	struct run *run = &task->run;
	run->store = crew->store;
	int status = replay_begin_store(run);
	if (status != TB_OK)
		return status;
	const struct tb_observer observer = replay_observer(run);
	status = tb_tape_play(tape, &observer);
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

// keep_and_tell is for one at a time: the store has one writer, and the terminal.
static int keep_and_tell(struct crew *crew, struct task *task, const struct tb_tape *tape)
{
	int status = keep(crew, task, tape);
	if (status != TB_OK)
		return status;
	tb_progress_done(&crew->progress);
	if (!task->run.options->quiet)
		print_task(task);
	replay_warn(&task->run);
	return TB_OK;
}

static int run_task(void *context, size_t index)
{
	struct crew *crew = context;
	struct task *task = &crew->tasks[index];
	struct run *run = &task->run;
	if (*run->options->stop) {
		task->stopped = true;
		return TB_OK;
	}
	struct tb_tape *tape = NULL;
	int status = tb_tape_new(&tape, &run->error);
	if (status == TB_OK)
		status = replay_open(run);
	if (status == TB_OK) {
		run->observer = tb_tape_observer(tape);
		status = replay_make_engine(run);
	}
	if (status == TB_OK)
		status = simulate(task);
	if (status == TB_OK) {
		pthread_mutex_lock(&crew->writing);
		status = keep_and_tell(crew, task, tape);
		pthread_mutex_unlock(&crew->writing);
	}
	tb_tape_free(tape);
	replay_close(run);
	return status;
}

static void watch(void *context, size_t n_done)
{
	struct crew *crew = context;
	char text[64];
	if (pthread_mutex_trylock(&crew->writing) != 0)
		return;
	if (tb_progress_due(&crew->progress)) {
		snprintf(text, sizeof text, "%zu of %zu replays", n_done, crew->n);
		tb_progress_show(&crew->progress, (double)n_done / (double)crew->n, text);
	}
	pthread_mutex_unlock(&crew->writing);
}

// tell_end gives the exit code, and the sentence of the first run that failed.
static int tell_end(const struct crew *crew, int status)
{
	size_t n_stopped = 0, n_kept = 0;
	for (size_t i = 0; i < crew->n; i++) {
		const struct task *task = &crew->tasks[i];
		n_stopped += task->stopped;
		n_kept += task->kept;
		if (status < 0 && task->run.error.code == (enum tb_status)status)
			return tb_cli_fail(&task->run.error);
	}
	if (status < 0) {
		struct tb_error error = {.code = (enum tb_status)status,
			.text = "the replays could not be run"};
		return tb_cli_fail(&error);
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
	const struct tb_work work = {crew, crew->n, run_task, watch};
	tb_progress_init(&crew->progress, options->quiet ? NULL : stderr);
	int status = tb_workers_run(&work, options->n_workers);
	tb_progress_done(&crew->progress);
	return tell_end(crew, status);
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
	pthread_mutex_init(&crew.writing, NULL);
	int code = status == TB_OK ? run_crew(&crew, options) : tb_cli_fail(&error);
	pthread_mutex_destroy(&crew.writing);
	tb_store_free(crew.store);
	free(crew.tasks);
	return code;
}
