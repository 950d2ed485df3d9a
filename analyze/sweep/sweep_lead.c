// Rank 0 of a sweep on many machines.
#include "sweep_peers.h"

#include "array.h"
#include "progress.h"
#include "run_copy.h"
#include "stop.h"
#include "sweep_work.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

// A point at which so many workers were lost is given up: it may be what kills them.
enum { LOSSES_MOST = 3 };

// A result larger than this is damage, not a result.
#define RESULT_MOST (UINT64_C(1) << 36)

// So many messages are taken between two looks at what else is due: while many workers
// send results, there is always one more.
enum { HEARD_AT_ONCE = 1000 };

#define NONE	SIZE_MAX
#define WATCH_S 0.1

enum worker_state { WORKER_STARTING, WORKER_FREE, WORKER_BUSY };

struct worker {
	enum worker_state state;
	bool lost;	      // nothing was heard for too long
	double heard_s;	      // when
	size_t task;	      // busy with this one
	unsigned char *bytes; // of its result, so far
	uint64_t n_bytes, total;
	size_t room;
};

enum task_state { TASK_WAITS, TASK_RUNS, TASK_DONE };

struct led_task {
	enum task_state state;
	uint32_t rank;	// of the worker that runs it, to which it was given last
	double began_s; // when it was given to it
	int n_losses;
};

struct sweep_leader {
	struct tb_sweep_work work;
	const struct tb_sweep_lead_options *options;
	const struct tb_peers *peers;
	struct worker *workers; // by rank; 0 is not used
	struct led_task *tasks; // as work.tasks
	size_t next;		// no task before it waits
	size_t n_left;		// that are not done
	char identity[TB_DIGEST_SIZE];
	double beaten_s, watched_s;
	struct tb_sweep_message message; // the last one heard
	struct tb_error *error;
};

static int lead_no_memory(const struct sweep_leader *lead)
{
	return tb_fail_memory(lead->error, "the results of workers");
}

// drop_bytes forgets what has come of a result.
static void drop_bytes(struct worker *worker)
{
	free(worker->bytes);
	worker->bytes = NULL;
	worker->n_bytes = worker->total = 0;
	worker->room = 0;
}

static int lead_begin(const struct sweep_leader *lead)
{
	struct tb_sweep_message message = {.word = TB_SWEEP_BEGIN};
	memcpy(message.bytes, lead->identity, sizeof lead->identity);
	for (uint32_t rank = 1; rank < lead->peers->n; rank++)
		if (tb_sweep_say(lead->peers, rank, &message, sizeof lead->identity) !=
			TB_OK)
			return lead_no_memory(lead);
	return TB_OK;
}

// keep_result writes a result that has come, unless another worker was faster: results of
// the same point are equal.
static int keep_result(struct sweep_leader *lead, struct worker *worker)
{
	size_t task = worker->task;
	size_t point = lead->work.tasks[task].point;
	int status = TB_OK;
	if (lead->tasks[task].state != TASK_DONE) {
		status = tb_store_take_bytes(lead->work.store, worker->bytes,
			(size_t)worker->n_bytes, lead->work.points[point].run,
			lead->error);
		lead->tasks[task].state = TASK_DONE;
		lead->n_left--;
		if (status == TB_OK)
			tb_sweep_work_done(&lead->work, task,
				tb_clock_s() - lead->tasks[task].began_s);
	}
	drop_bytes(worker);
	worker->state = WORKER_FREE;
	return status;
}

// take_piece adds a piece to a result. Messages from one worker arrive in order, so one
// that does not fit is of a point that is not the worker's.
static int take_piece(struct sweep_leader *lead, struct worker *worker, size_t n)
{
	const struct tb_sweep_message *piece = &lead->message;
	if (worker->state != WORKER_BUSY || piece->total == 0 ||
		piece->point != lead->work.tasks[worker->task].point)
		return TB_OK;
	if (piece->at == 0) {
		worker->n_bytes = 0;
		worker->total = piece->total;
	}
	if (piece->at != worker->n_bytes || n > worker->total - worker->n_bytes)
		return TB_OK;
	// As bytes come, whatever total they are announced with.
	if (worker->total > RESULT_MOST || TB_ARRAY_RESERVE(&worker->bytes, &worker->room,
						   worker->n_bytes + n) != TB_OK)
		return lead_no_memory(lead);
	memcpy(worker->bytes + worker->n_bytes, piece->bytes, n);
	worker->n_bytes += n;
	return worker->n_bytes == worker->total ? keep_result(lead, worker) : TB_OK;
}

// lead_act_on_message does what the last message asks for.
static int lead_act_on_message(struct sweep_leader *lead, uint32_t rank, size_t n)
{
	struct worker *worker = &lead->workers[rank];
	worker->heard_s = tb_clock_s();
	worker->lost = false;
	switch (lead->message.word) {
	case TB_SWEEP_READY:
		// Once: a second time its point would be nobody's.
		if (worker->state == WORKER_STARTING)
			worker->state = WORKER_FREE;
		return TB_OK;
	case TB_SWEEP_PIECE:
		return take_piece(lead, worker, n);
	case TB_SWEEP_FAILED: {
		// Pass on what a worker failed at.
		struct tb_error cause = {0};
		if (n == sizeof cause)
			memcpy(&cause, lead->message.bytes, n);
		if (cause.code >= TB_OK)
			return tb_fail(lead->error, TB_EIO, "rank %u failed", rank);
		cause.file[sizeof cause.file - 1] = cause.text[sizeof cause.text - 1] =
			'\0';
		if (lead->error) {
			*lead->error = cause;
			snprintf(lead->error->text, sizeof lead->error->text,
				"%.480s (rank %u)", cause.text, rank);
		}
		return cause.code;
	}
	default:
		return TB_OK;
	}
}

// hear takes messages that have arrived: 1 when there were any.
static int hear(struct sweep_leader *lead)
{
	uint32_t rank = 0;
	size_t n = 0;
	for (int i = 0; i < HEARD_AT_ONCE; i++) {
		int status = tb_sweep_hear(lead->peers, &rank, &lead->message, &n);
		if (status < 0)
			return tb_fail(lead->error, TB_EIO, "a message cannot be read");
		if (status == 0)
			return i > 0;
		if (rank > 0 && rank < lead->peers->n)
			status = lead_act_on_message(lead, rank, n);
		if (status < 0)
			return status;
	}
	return 1;
}

// lose_worker has the task of a lost worker done by others.
static int lose_worker(struct sweep_leader *lead, uint32_t rank)
{
	struct worker *worker = &lead->workers[rank];
	struct led_task *task = &lead->tasks[worker->task];
	worker->lost = true;
	if (worker->state != WORKER_BUSY || task->state != TASK_RUNS ||
		task->rank != rank)
		return TB_OK;
	task->state = TASK_WAITS;
	if (lead->next > worker->task)
		lead->next = worker->task;
	if (++task->n_losses < LOSSES_MOST)
		return TB_OK;
	return tb_fail(lead->error, TB_EIO, "%d workers were lost while they ran %s",
		LOSSES_MOST,
		lead->work.sweep->points[lead->work.tasks[worker->task].point].settings);
}

static int look_for_lost(struct sweep_leader *lead)
{
	double now_s = tb_clock_s();
	uint32_t n_there = 0;
	int status = TB_OK;
	for (uint32_t rank = 1; rank < lead->peers->n && status == TB_OK; rank++) {
		struct worker *worker = &lead->workers[rank];
		if (!worker->lost && now_s - worker->heard_s > lead->options->silence_s)
			status = lose_worker(lead, rank);
		n_there += !worker->lost;
	}
	if (status == TB_OK && n_there == 0)
		status = tb_fail(lead->error, TB_EIO,
			"all workers are lost; the same command resumes");
	return status;
}

// lead_attend does what is due at times. Lost workers are spoken to, too: they may
// listen.
static int lead_attend(struct sweep_leader *lead)
{
	double now_s = tb_clock_s();
	if (now_s - lead->watched_s >= WATCH_S) {
		lead->watched_s = now_s;
		tb_sweep_work_watch(&lead->work);
	}
	if (now_s - lead->beaten_s >= lead->options->silence_s / TB_SWEEP_BEATS) {
		lead->beaten_s = now_s;
		for (uint32_t rank = 1; rank < lead->peers->n; rank++)
			if (tb_sweep_say_word(lead->peers, rank, TB_SWEEP_BEAT) != TB_OK)
				return lead_no_memory(lead);
	}
	return look_for_lost(lead);
}

// give_task gives a worker the next task, if there is one.
static int give_task(struct sweep_leader *lead, uint32_t rank)
{
	const struct tb_sweep_work *work = &lead->work;
	while (lead->next < work->n_tasks && lead->tasks[lead->next].state != TASK_WAITS)
		lead->next++;
	if (lead->next == work->n_tasks)
		return TB_OK;
	size_t task = lead->next++, point = work->tasks[task].point;
	const struct tb_sweep_message message = {.word = TB_SWEEP_POINT,
		.point = (uint32_t)point,
		.run = work->points[point].run};
	lead->tasks[task].state = TASK_RUNS;
	lead->tasks[task].rank = rank;
	lead->tasks[task].began_s = tb_clock_s();
	lead->workers[rank].state = WORKER_BUSY;
	lead->workers[rank].task = task;
	return tb_sweep_say(lead->peers, rank, &message, 0) == TB_OK
		       ? TB_OK
		       : lead_no_memory(lead);
}

static int lead_run(struct sweep_leader *lead)
{
	int status = lead_begin(lead);
	while (status >= 0 && lead->n_left > 0) {
		if (tb_stop_asked(lead->options->run.stop))
			return tb_fail(lead->error, TB_ESTOPPED, "stopped");
		status = hear(lead);
		bool quiet = status == 0;
		for (uint32_t rank = 1; rank < lead->peers->n && status >= 0; rank++)
			if (lead->workers[rank].state == WORKER_FREE &&
				!lead->workers[rank].lost)
				status = give_task(lead, rank);
		if (status >= 0)
			status = lead_attend(lead);
		if (quiet)
			nanosleep(&(struct timespec){.tv_nsec = TB_SWEEP_REST_NS}, NULL);
	}
	tb_sweep_work_watch(&lead->work);
	return status;
}

static int lead_prepare(struct sweep_leader *lead, bool with_blame)
{
	double now_s = tb_clock_s();
	lead->n_left = lead->work.n_tasks;
	lead->tasks = calloc(lead->work.n_tasks + 1, sizeof *lead->tasks);
	lead->workers = calloc(lead->peers->n, sizeof *lead->workers);
	if (!lead->tasks || !lead->workers)
		return lead_no_memory(lead);
	for (uint32_t rank = 1; rank < lead->peers->n; rank++)
		lead->workers[rank] = (struct worker){.heard_s = now_s, .task = NONE};
	return tb_sweep_identity(
		lead->work.sweep, with_blame, lead->identity, lead->error);
}

void tb_sweep_dismiss(const struct tb_peers *peers, bool all_there)
{
	const struct tb_sweep_message message = {.word = TB_SWEEP_END, .at = all_there};
	// Without memory for a word, the others notice that it stays silent.
	for (uint32_t rank = 1; rank < peers->n; rank++)
		if (tb_sweep_say(peers, rank, &message, 0) != TB_OK)
			return;
}

int tb_sweep_lead(struct tb_sweep_progress *progress, const struct tb_sweep *sweep,
	const struct tb_sweep_lead_options *options, const struct tb_peers *peers,
	bool *all_there, struct tb_error *error)
{
	struct sweep_leader lead = {.options = options, .peers = peers, .error = error};
	int status =
		tb_sweep_work_open(&lead.work, sweep, &options->run, progress, error);
	lead.work.n_workers = peers->n - 1;
	if (status == TB_OK)
		status = lead_prepare(&lead, options->run.with_blame);
	if (status == TB_OK)
		status = lead_run(&lead);
	*all_there = true;
	for (uint32_t rank = 1; lead.workers && rank < peers->n; rank++) {
		*all_there &= !lead.workers[rank].lost;
		drop_bytes(&lead.workers[rank]);
	}
	tb_sweep_dismiss(peers, *all_there);
	free(lead.workers);
	free(lead.tasks);
	tb_sweep_work_close(&lead.work);
	return status;
}
