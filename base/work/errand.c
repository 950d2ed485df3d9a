#include "errand.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

enum errand_state { STATE_IDLE, STATE_BEGUN, STATE_DONE, STATE_ENDS };

struct tb_errands {
	pthread_t thread;
	pthread_mutex_t mutex;
	pthread_cond_t changed; // the state has
	enum errand_state state;
	bool busy; // the caller's alone
	atomic_bool stops;
	void (*work)(void *context);
	void *context;
};

static void *run_errands(void *context)
{
	struct tb_errands *errands = context;
	pthread_mutex_lock(&errands->mutex);
	while (errands->state != STATE_ENDS) {
		if (errands->state != STATE_BEGUN) {
			pthread_cond_wait(&errands->changed, &errands->mutex);
			continue;
		}
		pthread_mutex_unlock(&errands->mutex);
		errands->work(errands->context);
		pthread_mutex_lock(&errands->mutex);
		errands->state = STATE_DONE;
		pthread_cond_broadcast(&errands->changed);
	}
	pthread_mutex_unlock(&errands->mutex);
	return NULL;
}

// start_errand_thread starts the thread with all signals blocked: they are for the
// caller.
static bool start_errand_thread(struct tb_errands *errands)
{
	sigset_t all, before;
	pthread_condattr_t attributes;
	sigfillset(&all);
	pthread_mutex_init(&errands->mutex, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&errands->changed, &attributes);
	pthread_condattr_destroy(&attributes);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	bool started = pthread_create(&errands->thread, NULL, run_errands, errands) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!started) {
		pthread_cond_destroy(&errands->changed);
		pthread_mutex_destroy(&errands->mutex);
	}
	return started;
}

int tb_errands_new(struct tb_errands **errands, struct tb_error *error)
{
	struct tb_errands *made = calloc(1, sizeof *made);
	if (made && start_errand_thread(made)) {
		*errands = made;
		return TB_OK;
	}
	free(made);
	return tb_fail_memory(error, "another thread");
}

void tb_errands_free(struct tb_errands *errands)
{
	if (!errands)
		return;
	if (errands->busy) {
		tb_errands_stop(errands);
		(void)tb_errands_fetch(errands, -1);
	}
	pthread_mutex_lock(&errands->mutex);
	errands->state = STATE_ENDS;
	pthread_cond_broadcast(&errands->changed);
	pthread_mutex_unlock(&errands->mutex);
	pthread_join(errands->thread, NULL);
	pthread_cond_destroy(&errands->changed);
	pthread_mutex_destroy(&errands->mutex);
	free(errands);
}

void tb_errands_begin(
	struct tb_errands *errands, void (*work)(void *context), void *context)
{
	assert(!errands->busy);
	atomic_store(&errands->stops, false);
	pthread_mutex_lock(&errands->mutex);
	errands->busy = true;
	errands->work = work;
	errands->context = context;
	errands->state = STATE_BEGUN;
	pthread_cond_broadcast(&errands->changed);
	pthread_mutex_unlock(&errands->mutex);
}

bool tb_errands_fetch(struct tb_errands *errands, double seconds)
{
	struct timespec end;
	clock_gettime(CLOCK_MONOTONIC, &end);
	long long ns = end.tv_nsec + (long long)((seconds > 0 ? seconds : 0) * 1e9);
	end.tv_sec += (time_t)(ns / 1000000000);
	end.tv_nsec = (long)(ns % 1000000000);
	int late = seconds == 0 ? ETIMEDOUT : 0;
	assert(errands->busy);
	pthread_mutex_lock(&errands->mutex);
	while (errands->state != STATE_DONE && late != ETIMEDOUT)
		late = seconds < 0 ? pthread_cond_wait(&errands->changed, &errands->mutex)
				   : pthread_cond_timedwait(
					     &errands->changed, &errands->mutex, &end);
	bool done = errands->state == STATE_DONE;
	if (done) {
		errands->state = STATE_IDLE;
		errands->busy = false;
	}
	pthread_mutex_unlock(&errands->mutex);
	return done;
}

void tb_errands_stop(struct tb_errands *errands)
{
	atomic_store(&errands->stops, true);
}

bool tb_errands_stops(const struct tb_errands *errands)
{
	return atomic_load(&errands->stops);
}
