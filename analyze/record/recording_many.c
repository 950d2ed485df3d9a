#include "recording_many.h"

#include "recording_impl.h"
#include "tape.h"
#include "workers.h"

#include <stdlib.h>

struct task {
	struct tb_recording recording;
	struct tb_tape *tape; // what was simulated, until it is written
	bool begun;
};

struct crew {
	const struct tb_recording_many *many;
	struct tb_recording_many_outcome *outcome;
	struct tb_store *store;
	struct task *tasks;
};

static bool is_stopped(const struct task *task)
{
	const volatile sig_atomic_t *stop = task->recording.options->stop;
	return stop && *stop;
}

static int simulate(struct task *task, struct tb_error *error)
{
	struct tb_recording *recording = &task->recording;
	int status = tb_recording_open(recording, error);
	if (status == TB_OK)
		status = tb_recording_make_engine(
			recording, tb_tape_observer(task->tape), error);
	if (status != TB_OK)
		return status;
	while ((status = tb_recording_simulate(recording, error)) > 0)
		;
	return status < 0 ? status : tb_engine_finish(recording->engine, error);
}

// simulate_task makes no tape for a task that was stopped before anything was simulated.
static int simulate_task(void *context, size_t index, struct tb_error *error)
{
	struct task *task = &((struct crew *)context)->tasks[index];
	if (is_stopped(task))
		return TB_OK;
	int status = tb_tape_new(&task->tape, error);
	if (status != TB_OK)
		return status;
	task->begun = true;
	status = simulate(task, error);
	if (status != TB_ESTOPPED || !is_stopped(task))
		return status;
	tb_tape_free(task->tape);
	task->tape = NULL;
	return TB_OK;
}

static int keep(struct crew *crew, struct task *task, struct tb_error *error)
{
	struct tb_recording *recording = &task->recording;
	recording->store = crew->store;
	int status = tb_recording_begin(recording, error);
	if (status != TB_OK)
		return status;
	const struct tb_observer observer = tb_recording_observer(recording);
	status = tb_tape_play(task->tape, &observer);
	if (status == TB_OK)
		return tb_recording_end(recording, error);
	*error = *tb_store_error(crew->store);
	return status;
}

static void drop(struct task *task)
{
	if (task->begun)
		tb_recording_fini(&task->recording);
	tb_tape_free(task->tape);
	task->tape = NULL;
	task->begun = false;
}

static int keep_task(void *context, size_t index, struct tb_error *error)
{
	struct crew *crew = context;
	struct task *task = &crew->tasks[index];
	crew->outcome->stopped |= !task->tape || task->recording.stopped;
	int status = task->tape ? keep(crew, task, error) : TB_OK;
	if (task->tape && status == TB_OK) {
		const struct tb_recording_summary run =
			tb_recording_summary(&task->recording);
		crew->outcome->n_kept++;
		crew->many->kept(crew->many->context, index, &run);
	}
	drop(task);
	return status;
}

static void watch(void *context, size_t n_done)
{
	const struct tb_recording_many *many = ((struct crew *)context)->many;
	many->watch(many->context, n_done);
}

// number_runs assigns the runs consecutive numbers in the store.
static int number_runs(struct crew *crew, struct tb_error *error)
{
	int64_t first = 0;
	int status = tb_store_next_run(crew->store, &first, error);
	for (size_t i = 0; i < crew->many->n && status == TB_OK; i++) {
		crew->tasks[i].recording.options = &crew->many->runs[i];
		crew->tasks[i].recording.id = first + (int64_t)i;
	}
	return status;
}

static int run_crew(struct crew *crew, struct tb_error *error)
{
	const struct tb_work work = {crew, .n_tasks = crew->many->n,
		.task = simulate_task, .take = keep_task, .watch = watch};
	int status = number_runs(crew, error);
	if (status == TB_OK)
		status = tb_workers_run(&work, crew->many->n_workers, error);
	for (size_t i = 0; i < crew->many->n; i++)
		drop(&crew->tasks[i]);
	return status;
}

int tb_recording_many(struct tb_recording_many_outcome *outcome,
	const struct tb_recording_many *many, struct tb_error *error)
{
	struct crew crew = {.many = many,
		.outcome = outcome,
		.tasks = calloc(many->n, sizeof *crew.tasks)};
	*outcome = (struct tb_recording_many_outcome){0};
	if (!crew.tasks)
		return tb_fail(error, TB_ENOMEM, "no memory");
	int status = tb_store_create(&crew.store, many->runs[0].output, error);
	if (status == TB_OK)
		status = run_crew(&crew, error);
	tb_store_free(crew.store);
	free(crew.tasks);
	return status;
}
