// Runs independent tasks on several cores and takes their results one by one.
//
// Model: workers run the tasks by number, lowest first. Each task writes its own result
// and shares nothing with others but what the caller gives them. The caller's thread runs
// no task: it takes the results, lowest first, so its output depends neither on the
// number of workers nor on which task ended first; or, with take_at_once, as they come.
// It also shows progress.
//
// Memory: a worker waits before it gets too far ahead of the results taken.
#ifndef TB_WORKERS_H
#define TB_WORKERS_H

#include "status.h"

#include <stdbool.h>
#include <stddef.h>

struct tb_work {
	void *context;
	size_t n_tasks;
	// task runs task `index`, on any thread. After a negative status no further task
	// begins; `error` is never NULL.
	int (*task)(void *context, size_t index, struct tb_error *error);
	// take is called for each task that returned TB_OK, on the caller's thread,
	// lowest first, even after another task has failed, so that finished work is not
	// lost. After it fails itself it is not called again. May be NULL.
	int (*take)(void *context, size_t index, struct tb_error *error);
	// Take each result as soon as its task has ended, in whatever order: a result
	// that would be lost with the program does not wait for a slower task.
	bool take_at_once;
	// With take: how many tasks may have begun and not been taken; 0: twice the
	// number of workers. A higher limit keeps workers busy when tasks take unequal
	// times.
	size_t n_ahead;
	// watch is called at least ten times a second, and at the end, with the number of
	// tasks done (with take: taken). May be NULL.
	void (*watch)(void *context, size_t n_done);
};

// tb_workers_run runs all tasks on `n_workers` threads (0: one per core) and returns when
// they are done and taken: TB_OK; or the status and error of the lowest task that failed,
// in task or take; or TB_ENOMEM when no thread could be created.
int tb_workers_run(const struct tb_work *work, unsigned n_workers,
	struct tb_error *error) TB_MUST_USE;

#endif
