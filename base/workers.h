// Independent tasks on several cores, their results taken in order.
//
// Model: workers run the tasks by number, lowest first. Tasks share nothing but what the
// caller gives them, and each writes its own result. The caller's thread runs no task: it
// takes the results, lowest first, so what it writes depends neither on the number of
// workers nor on which task ended first. It also shows progress.
//
// Memory: a worker that would get too far ahead of the results taken waits.
#ifndef TB_WORKERS_H
#define TB_WORKERS_H

#include "status.h"

#include <stddef.h>

struct tb_work {
	void *context;
	size_t n_tasks;
	// task runs task `index` on any thread. A negative status keeps further tasks
	// from being begun; `error` is never NULL.
	int (*task)(void *context, size_t index, struct tb_error *error);
	// take receives each task that returned TB_OK, on the caller's thread, lowest
	// first. It goes on after a task has failed: those that ended well are not lost.
	// After a failure of its own it is not called again. May be NULL.
	int (*take)(void *context, size_t index, struct tb_error *error);
	// With take: tasks begun and not taken yet, at most; 0: twice the number of
	// workers. More of them keep workers busy where times vary.
	size_t n_ahead;
	// watch receives at least ten times a second, and at the end, how many tasks are
	// done, and taken if there is take. May be NULL.
	void (*watch)(void *context, size_t n_done);
};

// tb_workers_run runs all tasks on `n_workers` threads (0: as many as there are cores)
// and returns when they are done and taken: TB_OK, the status and error of the lowest
// task that failed or could not be taken, or TB_ENOMEM when not one thread could be made.
int tb_workers_run(const struct tb_work *work, unsigned n_workers,
	struct tb_error *error) TB_MUST_USE;

#endif
