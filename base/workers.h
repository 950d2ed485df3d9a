// Independent tasks on several cores.
//
// Tasks are handed out by number, lowest first, and share nothing but what the caller
// gives them; each writes its own result, so results do not depend on the number of
// workers. The caller's thread runs no task: it watches.
#ifndef TB_WORKERS_H
#define TB_WORKERS_H

#include "status.h"

#include <stddef.h>

struct tb_work {
	void *context;
	size_t n_tasks;
	// task runs task `index`, on any thread: TB_OK or negative, which keeps further
	// tasks from being begun.
	int (*task)(void *context, size_t index);
	// watch is told about ten times a second, and at the end, how many tasks are
	// done. May be NULL.
	void (*watch)(void *context, size_t n_done);
};

// tb_workers_run runs all tasks on `n_workers` threads (0: as many as there are cores)
// and returns when they are done: TB_OK, the status of the lowest task that failed, or
// TB_ENOMEM when not one thread could be made.
int tb_workers_run(const struct tb_work *work, unsigned n_workers) TB_MUST_USE;

#endif
