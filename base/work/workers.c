#include "workers.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define WATCH_NS 100000000

enum crew_state { STATE_PENDING, STATE_READY, STATE_FAILED };

struct worker_crew {
	const struct tb_work *work;
	pthread_mutex_t mutex;
	pthread_cond_t ended;  // a task or worker ended; the caller's thread waits for it
	pthread_cond_t taken;  // a result was taken; workers that are ahead wait for it
	unsigned char *states; // enum state by task
	size_t *ended_at;      // with take_at_once: the tasks in the order of their end
	size_t n_ended;	       // of them
	size_t next;	       // first task that has not begun
	size_t to_take;	       // so many tasks have been taken or have failed
	size_t n_ahead;
	size_t n_done;
	unsigned n_working;
	size_t failed; // the lowest task that failed
	int status;
	struct tb_error error;
};

static void note_failure(
	struct worker_crew *crew, size_t index, int status, const struct tb_error *error)
{
	crew->states[index] = STATE_FAILED;
	// Report the lowest failed task, whichever failed first.
	if (crew->status != TB_OK && index > crew->failed)
		return;
	crew->status = status;
	crew->failed = index;
	crew->error = *error;
	pthread_cond_broadcast(&crew->taken);
}

// may_begin waits until the next task may begin without getting too far ahead of those
// taken; it returns false when no more task shall begin.
static bool may_begin(struct worker_crew *crew)
{
	while (crew->next < crew->work->n_tasks && crew->status == TB_OK) {
		if (!crew->work->take || crew->next - crew->to_take < crew->n_ahead)
			return true;
		pthread_cond_wait(&crew->taken, &crew->mutex);
	}
	return false;
}

static void *work_on(void *context)
{
	struct worker_crew *crew = context;
	pthread_mutex_lock(&crew->mutex);
	while (may_begin(crew)) {
		size_t index = crew->next++;
		pthread_mutex_unlock(&crew->mutex);
		struct tb_error error = {0};
		int status = crew->work->task(crew->work->context, index, &error);
		pthread_mutex_lock(&crew->mutex);
		if (status < 0)
			note_failure(crew, index, status, &error);
		else
			crew->states[index] = STATE_READY;
		if (crew->ended_at)
			crew->ended_at[crew->n_ended++] = index;
		if (crew->work->take)
			pthread_cond_signal(&crew->ended);
		else
			crew->n_done++;
	}
	crew->n_working--;
	pthread_cond_signal(&crew->ended);
	pthread_mutex_unlock(&crew->mutex);
	return NULL;
}

// find_ended finds the task to take next: the lowest, or the first one that ended.
static bool find_ended(const struct worker_crew *crew, size_t *index)
{
	if (crew->ended_at) {
		if (crew->to_take == crew->n_ended)
			return false;
		*index = crew->ended_at[crew->to_take];
		return true;
	}
	*index = crew->to_take;
	return *index < crew->next && crew->states[*index] != STATE_PENDING;
}

// take_next takes the result of the next task, if one has ended.
static bool take_next(struct worker_crew *crew, bool *refused)
{
	size_t index = 0;
	if (!crew->work->take || *refused || !find_ended(crew, &index))
		return false;
	if (crew->states[index] == STATE_READY) {
		pthread_mutex_unlock(&crew->mutex);
		struct tb_error error = {0};
		int status = crew->work->take(crew->work->context, index, &error);
		pthread_mutex_lock(&crew->mutex);
		*refused = status < 0;
		if (status < 0)
			note_failure(crew, index, status, &error);
		else
			crew->n_done++;
	}
	crew->to_take++;
	pthread_cond_broadcast(&crew->taken); // all: after the last task each must leave
	return true;
}

static void show_crew_progress(const struct worker_crew *crew, size_t n_done)
{
	if (crew->work->watch)
		crew->work->watch(crew->work->context, n_done);
}

// run_threads returns how many threads could be created. Fewer than `n` do the work too.
static unsigned run_threads(struct worker_crew *crew, pthread_t *threads, unsigned n)
{
	unsigned n_made = 0;
	// A worker may leave before the next one is created, so count all of them first.
	crew->n_working = n;
	while (n_made < n && pthread_create(&threads[n_made], NULL, work_on, crew) == 0)
		n_made++;
	pthread_mutex_lock(&crew->mutex);
	crew->n_working -= n - n_made;
	pthread_mutex_unlock(&crew->mutex);
	// Take results until the last worker has left. That can happen before the
	// first look, so it shows the final count once more.
	bool refused = false;
	pthread_mutex_lock(&crew->mutex);
	for (;;) {
		if (!take_next(crew, &refused)) {
			if (crew->n_working == 0)
				break;
			struct timespec until;
			clock_gettime(CLOCK_MONOTONIC, &until);
			until.tv_nsec += WATCH_NS;
			until.tv_sec += until.tv_nsec / 1000000000;
			until.tv_nsec %= 1000000000;
			pthread_cond_timedwait(&crew->ended, &crew->mutex, &until);
		}
		// watch may be slow, so do not hold up the workers.
		size_t n_done = crew->n_done;
		pthread_mutex_unlock(&crew->mutex);
		show_crew_progress(crew, n_done);
		pthread_mutex_lock(&crew->mutex);
	}
	pthread_mutex_unlock(&crew->mutex);
	show_crew_progress(crew, crew->n_done);
	for (unsigned i = 0; i < n_made; i++)
		pthread_join(threads[i], NULL);
	return n_made;
}

int tb_workers_run(const struct tb_work *work, unsigned n_workers, struct tb_error *error)
{
	size_t n_tasks = work->n_tasks;
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	unsigned n_threads = n_workers ? n_workers : cores > 0 ? (unsigned)cores : 1;
	unsigned n = n_threads < n_tasks ? n_threads : (unsigned)n_tasks;
	if (n == 0)
		return TB_OK;
	struct worker_crew crew = {.work = work,
		.states = calloc(work->n_tasks, 1),
		.n_ahead = work->n_ahead ? work->n_ahead : (size_t)n * 2};
	pthread_t *threads = malloc(n * sizeof *threads);
	unsigned n_made = 0;
	bool at_once = work->take && work->take_at_once;
	if (at_once)
		crew.ended_at = calloc(work->n_tasks, sizeof *crew.ended_at);
	if (crew.states && threads && (crew.ended_at || !at_once)) {
		pthread_condattr_t attributes;
		pthread_condattr_init(&attributes);
		// The timed wait must not stretch when somebody sets the clock.
		pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
		pthread_mutex_init(&crew.mutex, NULL);
		pthread_cond_init(&crew.ended, &attributes);
		pthread_cond_init(&crew.taken, NULL);
		pthread_condattr_destroy(&attributes);
		n_made = run_threads(&crew, threads, n);
		pthread_cond_destroy(&crew.taken);
		pthread_cond_destroy(&crew.ended);
		pthread_mutex_destroy(&crew.mutex);
	}
	free(threads);
	free(crew.states);
	free(crew.ended_at);
	if (n_made == 0)
		return tb_fail_memory(error, "a worker thread");
	if (crew.status < 0 && error)
		*error = crew.error;
	return crew.status;
}
