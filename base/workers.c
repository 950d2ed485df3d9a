#include "workers.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define WATCH_NS 100000000

struct crew {
	const struct tb_work *work;
	pthread_mutex_t mutex;
	pthread_cond_t ended; // a task or a worker
	size_t next, n_done;
	unsigned n_working;
	size_t failed; // the lowest task that failed
	int status;
};

static void note(struct crew *crew, size_t index, int status)
{
	crew->n_done++;
	if (status < 0 && (crew->status == TB_OK || index < crew->failed)) {
		crew->status = status;
		crew->failed = index;
	}
}

static void *work_on(void *context)
{
	struct crew *crew = context;
	pthread_mutex_lock(&crew->mutex);
	while (crew->next < crew->work->n_tasks && crew->status == TB_OK) {
		size_t index = crew->next++;
		pthread_mutex_unlock(&crew->mutex);
		int status = crew->work->task(crew->work->context, index);
		pthread_mutex_lock(&crew->mutex);
		note(crew, index, status);
	}
	crew->n_working--;
	pthread_cond_signal(&crew->ended);
	pthread_mutex_unlock(&crew->mutex);
	return NULL;
}

static void tell(const struct crew *crew, size_t n_done)
{
	if (crew->work->watch)
		crew->work->watch(crew->work->context, n_done);
}

// watch returns when the last worker has gone, and has told the final count: they may all
// have gone before it first looks.
static void watch(struct crew *crew)
{
	pthread_mutex_lock(&crew->mutex);
	while (crew->n_working > 0) {
		struct timespec until;
		clock_gettime(CLOCK_MONOTONIC, &until);
		until.tv_nsec += WATCH_NS;
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
		pthread_cond_timedwait(&crew->ended, &crew->mutex, &until);
		size_t n_done = crew->n_done;
		pthread_mutex_unlock(&crew->mutex);
		tell(crew, n_done);
		pthread_mutex_lock(&crew->mutex);
	}
	pthread_mutex_unlock(&crew->mutex);
	tell(crew, crew->n_done);
}

static unsigned n_threads(unsigned wanted, size_t n_tasks)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	unsigned n = wanted ? wanted : cores > 0 ? (unsigned)cores : 1;
	return n < n_tasks ? n : (unsigned)n_tasks;
}

static void crew_init(struct crew *crew, const struct tb_work *work)
{
	*crew = (struct crew){.work = work, .status = TB_OK};
	pthread_condattr_t attributes;
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_mutex_init(&crew->mutex, NULL);
	pthread_cond_init(&crew->ended, &attributes);
	pthread_condattr_destroy(&attributes);
}

int tb_workers_run(const struct tb_work *work, unsigned n_workers)
{
	unsigned n = n_threads(n_workers, work->n_tasks);
	if (n == 0)
		return TB_OK;
	pthread_t *threads = malloc(n * sizeof *threads);
	if (!threads)
		return TB_ENOMEM;
	struct crew crew;
	crew_init(&crew, work);
	crew.n_working = n;
	unsigned n_made = 0;
	while (n_made < n && pthread_create(&threads[n_made], NULL, work_on, &crew) == 0)
		n_made++;
	pthread_mutex_lock(&crew.mutex);
	crew.n_working -= n - n_made;
	pthread_mutex_unlock(&crew.mutex);
	watch(&crew);
	for (unsigned i = 0; i < n_made; i++)
		pthread_join(threads[i], NULL);
	pthread_cond_destroy(&crew.ended);
	pthread_mutex_destroy(&crew.mutex);
	free(threads);
	return n_made ? crew.status : TB_ENOMEM;
}
