// A team of threads for many short sections of work: each section is a handful of tasks,
// all of which are done when it ends.
//
// Model: the caller is one of the threads. Task i belongs to thread i mod n, so that what
// it touches stays in that core's cache; a thread that has none of its own left takes one
// of another's. So which thread runs a task varies, and tasks of a section must not
// depend on each other. What one section wrote the next one sees.
//
// Cost: about a microsecond a section while threads are awake. They spin for some tens of
// microseconds before they sleep, so that the short serial work between sections does not
// cost a wake-up.
#ifndef TB_TEAM_H
#define TB_TEAM_H

#include "status.h"

#include <stdbool.h>
#include <stdint.h>

struct tb_team; // opaque

// tb_team_new starts n_threads - 1 threads beside the caller's; fewer when the system
// refuses more. n_threads is from 1 to TB_TEAM_MOST. TB_ENOMEM.
enum { TB_TEAM_MOST = 256 };
int tb_team_new(struct tb_team **team, unsigned n_threads) TB_MUST_USE;
void tb_team_free(struct tb_team *team); // NULL is fine

// tb_team_threads is how many threads there are, the caller's included.
unsigned tb_team_threads(const struct tb_team *team);

// tb_team_run runs task(context, 0) to task(context, n_tasks - 1) and returns when all
// have ended. Always from the same thread.
void tb_team_run(struct tb_team *team, uint32_t n_tasks,
	void (*task)(void *context, uint32_t index), void *context);

// tb_team_run_filled does so, and threads that find no task left call `fill` while others
// still have one, one thread at a time, as long as it returns true. It should return in
// some microseconds, since the section ends only then.
void tb_team_run_filled(struct tb_team *team, uint32_t n_tasks,
	void (*task)(void *context, uint32_t index), bool (*fill)(void *context),
	void *context);

#endif
