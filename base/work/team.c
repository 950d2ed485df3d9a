#include "team.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

// How often a thread polls before it yields, and before it sleeps.
enum { SPINS = 400, YIELDS = 20 };

// The tasks of a thread that nobody has taken: the section in the upper half, so that who
// comes late from an earlier one takes nothing, how many are left in the lower.
struct team_share {
	_Alignas(128) _Atomic uint64_t left;
};

struct team_member {
	struct tb_team *team;
	unsigned index;
	pthread_t thread;
};

struct tb_team {
	unsigned n; // threads
	struct team_share *shares;
	struct team_member *members; // of the caller only the index
	// Written before `section` is, read by who has taken a task of it.
	void (*task)(void *context, uint32_t index);
	bool (*fill)(void *context); // NULL: nothing; read by who has set `filling`
	void *context;
	_Alignas(128) _Atomic uint32_t section;
	_Alignas(128) _Atomic uint32_t n_undone;
	_Alignas(128) _Atomic bool filling; // a thread calls `fill`
	_Alignas(128) _Atomic bool ends;
	_Atomic unsigned n_asleep;
	_Atomic bool caller_asleep;
	pthread_mutex_t mutex;
	pthread_cond_t begun, done;
};

static inline void relax(unsigned i)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#endif
	if (i >= SPINS)
		sched_yield();
}

// take_shared_task takes a task of a share: its place in the share, from 1; 0 when none
// is left.
static uint32_t take_shared_task(struct team_share *share, uint32_t section)
{
	uint64_t left = atomic_load_explicit(&share->left, memory_order_acquire);
	while (left >> 32 == section && (uint32_t)left > 0)
		if (atomic_compare_exchange_weak_explicit(&share->left, &left, left - 1,
			    memory_order_acq_rel, memory_order_acquire))
			return (uint32_t)left;
	return 0;
}

// work_on_section does a thread's own tasks, then those of the others.
static void work_on_section(struct tb_team *team, unsigned self, uint32_t section)
{
	for (unsigned i = 0; i < team->n; i++) {
		unsigned owner = (self + i) % team->n;
		uint32_t place;
		while ((place = take_shared_task(&team->shares[owner], section)) != 0) {
			team->task(team->context, owner + team->n * (place - 1));
			if (atomic_fetch_sub(&team->n_undone, 1) != 1 ||
				!atomic_load(&team->caller_asleep))
				continue;
			pthread_mutex_lock(&team->mutex);
			pthread_cond_signal(&team->done);
			pthread_mutex_unlock(&team->mutex);
		}
	}
}

// fill_section calls `fill` until all tasks are done.
static void fill_section(struct tb_team *team)
{
	for (bool more = true; more && atomic_load(&team->n_undone);) {
		if (atomic_exchange(&team->filling, true))
			return; // another thread does
		// Who begins the next section waits for this thread once all are done.
		more = atomic_load(&team->n_undone) && team->fill &&
		       team->fill(team->context);
		atomic_store(&team->filling, false);
	}
}

// wait_for_section returns the number of the section after `last`.
static uint32_t wait_for_section(struct tb_team *team, uint32_t last)
{
	for (unsigned i = 0; i < SPINS + YIELDS; i++) {
		uint32_t section = atomic_load(&team->section);
		if (section != last || atomic_load(&team->ends))
			return section;
		relax(i);
	}
	pthread_mutex_lock(&team->mutex);
	atomic_fetch_add(&team->n_asleep, 1);
	while (atomic_load(&team->section) == last && !atomic_load(&team->ends))
		pthread_cond_wait(&team->begun, &team->mutex);
	atomic_fetch_sub(&team->n_asleep, 1);
	pthread_mutex_unlock(&team->mutex);
	return atomic_load(&team->section);
}

static void *live(void *context)
{
	struct team_member *member = context;
	uint32_t section = 0;
	for (;;) {
		section = wait_for_section(member->team, section);
		if (atomic_load(&member->team->ends))
			return NULL;
		work_on_section(member->team, member->index, section);
		fill_section(member->team);
	}
}

int tb_team_new(struct tb_team **team, unsigned n_threads)
{
	struct tb_team *made = aligned_alloc(128, sizeof *made);
	if (!made)
		return TB_ENOMEM;
	*made = (struct tb_team){.n = n_threads};
	made->shares = aligned_alloc(128, n_threads * sizeof *made->shares);
	made->members = calloc(n_threads, sizeof *made->members);
	if (!made->shares || !made->members) {
		free(made->shares);
		free(made->members);
		free(made);
		return TB_ENOMEM;
	}
	for (unsigned i = 0; i < n_threads; i++)
		atomic_init(&made->shares[i].left, 0);
	pthread_mutex_init(&made->mutex, NULL);
	pthread_cond_init(&made->begun, NULL);
	pthread_cond_init(&made->done, NULL);
	unsigned n = 1;
	for (; n < made->n; n++) {
		made->members[n] = (struct team_member){.team = made, .index = n};
		if (pthread_create(
			    &made->members[n].thread, NULL, live, &made->members[n]) != 0)
			break;
	}
	made->n = n;
	*team = made;
	return TB_OK;
}

void tb_team_free(struct tb_team *team)
{
	if (!team)
		return;
	pthread_mutex_lock(&team->mutex);
	atomic_store(&team->ends, true);
	pthread_cond_broadcast(&team->begun);
	pthread_mutex_unlock(&team->mutex);
	for (unsigned i = 1; i < team->n; i++)
		pthread_join(team->members[i].thread, NULL);
	pthread_mutex_destroy(&team->mutex);
	pthread_cond_destroy(&team->begun);
	pthread_cond_destroy(&team->done);
	free(team->shares);
	free(team->members);
	free(team);
}

unsigned tb_team_threads(const struct tb_team *team)
{
	return team->n;
}

// begin_team_section makes the tasks known and wakes who sleeps.
static uint32_t begin_team_section(struct tb_team *team, uint32_t n_tasks)
{
	uint32_t section = atomic_load(&team->section) + 1;
	atomic_store(&team->n_undone, n_tasks);
	for (unsigned i = 0; i < team->n; i++) {
		uint32_t n = n_tasks > i ? (n_tasks - i + team->n - 1) / team->n : 0;
		atomic_store_explicit(&team->shares[i].left, (uint64_t)section << 32 | n,
			memory_order_release);
	}
	atomic_store(&team->section, section);
	if (atomic_load(&team->n_asleep)) {
		pthread_mutex_lock(&team->mutex);
		pthread_cond_broadcast(&team->begun);
		pthread_mutex_unlock(&team->mutex);
	}
	return section;
}

// await_tasks returns when all tasks are done.
static void await_tasks(struct tb_team *team)
{
	for (unsigned i = 0; i < SPINS + YIELDS; i++) {
		if (atomic_load(&team->n_undone) == 0)
			return;
		relax(i);
	}
	pthread_mutex_lock(&team->mutex);
	atomic_store(&team->caller_asleep, true);
	while (atomic_load(&team->n_undone))
		pthread_cond_wait(&team->done, &team->mutex);
	atomic_store(&team->caller_asleep, false);
	pthread_mutex_unlock(&team->mutex);
}

void tb_team_run_filled(struct tb_team *team, uint32_t n_tasks,
	void (*task)(void *context, uint32_t index), bool (*fill)(void *context),
	void *context)
{
	if (team->n == 1 || n_tasks < 2) {
		for (uint32_t i = 0; i < n_tasks; i++)
			task(context, i);
		return;
	}
	team->task = task;
	team->fill = fill;
	team->context = context;
	work_on_section(team, 0, begin_team_section(team, n_tasks));
	fill_section(team);
	await_tasks(team);
	for (unsigned i = 0; atomic_load(&team->filling); i++)
		relax(i);
}

void tb_team_run(struct tb_team *team, uint32_t n_tasks,
	void (*task)(void *context, uint32_t index), void *context)
{
	tb_team_run_filled(team, n_tasks, task, NULL, context);
}
