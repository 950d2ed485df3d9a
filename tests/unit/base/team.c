// A team of threads for short sections.
#include "team.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#include <cmocka.h>

enum { TASKS = 23, SECTIONS = 20000 };

struct work {
	uint32_t n_runs[TASKS]; // of each task; written by whoever runs it
	uint32_t sums[TASKS];	// read by the neighbour in the next section
	bool slow;
};

static struct tb_team *team_of(unsigned n)
{
	struct tb_team *team = NULL;
	assert_int_equal(tb_team_new(&team, n), TB_OK);
	assert_true(tb_team_threads(team) >= 1 && tb_team_threads(team) <= n);
	return team;
}

static void count(void *context, uint32_t index)
{
	struct work *work = context;
	work->n_runs[index]++;
	if (work->slow && index % 5 == 0)
		nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
}

static void each_task_runs_once_a_section(void **state)
{
	(void)state;
	for (unsigned n = 1; n <= 4; n++) {
		struct tb_team *team = team_of(n);
		struct work work = {0};
		for (uint32_t i = 0; i < SECTIONS; i++)
			tb_team_run(team, i % (TASKS + 1), count, &work);
		for (uint32_t task = 0; task < TASKS; task++) {
			uint32_t expected = 0;
			for (uint32_t i = 0; i < SECTIONS; i++)
				expected += i % (TASKS + 1) > task;
			assert_int_equal(work.n_runs[task], expected);
		}
		tb_team_free(team);
	}
}

// Each task copies what its neighbour has, every second section, and adds one.
static void copy(void *context, uint32_t index)
{
	struct work *work = context;
	work->sums[index] = work->n_runs[(index + 1) % TASKS] + 1;
}

static void hold(void *context, uint32_t index)
{
	struct work *work = context;
	work->n_runs[index] = work->sums[index];
}

static void a_section_sees_what_the_one_before_wrote(void **state)
{
	(void)state;
	struct tb_team *team = team_of(3);
	struct work work = {0};
	for (uint32_t i = 0; i < SECTIONS; i++) {
		tb_team_run(team, TASKS, copy, &work);
		tb_team_run(team, TASKS, hold, &work);
	}
	for (uint32_t task = 0; task < TASKS; task++)
		assert_int_equal(work.n_runs[task], SECTIONS);
	tb_team_free(team);
}

static void threads_sleep_and_wake(void **state)
{
	(void)state;
	struct tb_team *team = team_of(4);
	struct work work = {.slow = true};
	for (uint32_t i = 0; i < 20; i++) {
		tb_team_run(team, TASKS, count, &work);
		nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
	}
	for (uint32_t task = 0; task < TASKS; task++)
		assert_int_equal(work.n_runs[task], 20);
	tb_team_free(team);
}

struct filled {
	uint32_t n_tasks, n_fills; // of tasks those that are done, atomically
	bool filling;
};

static void wait_a_little(void *context, uint32_t index)
{
	struct filled *filled = context;
	nanosleep(&(struct timespec){.tv_nsec = index ? 0 : 2000000}, NULL);
	__atomic_fetch_add(&filled->n_tasks, 1, __ATOMIC_SEQ_CST);
}

static bool fill(void *context)
{
	struct filled *filled = context;
	assert_false(filled->filling);
	filled->filling = true;
	filled->n_fills++;
	nanosleep(&(struct timespec){.tv_nsec = 1000}, NULL);
	filled->filling = false;
	return filled->n_fills % 7;
}

// What fills is never under way twice, nor when the section has ended.
static void who_waits_for_others_fills(void **state)
{
	(void)state;
	struct tb_team *team = team_of(3);
	struct filled filled = {0};
	for (uint32_t i = 0; i < 50; i++) {
		tb_team_run_filled(team, 3, wait_a_little, fill, &filled);
		assert_int_equal(filled.n_tasks, 3 * (i + 1));
		assert_false(filled.filling);
		filled.n_fills++;
	}
	assert_true(tb_team_threads(team) == 1 || filled.n_fills > 50);
	tb_team_free(team);
}

static void a_team_can_end_at_once(void **state)
{
	(void)state;
	for (unsigned n = 1; n <= 4; n++)
		tb_team_free(team_of(n));
	tb_team_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_task_runs_once_a_section),
		cmocka_unit_test(a_section_sees_what_the_one_before_wrote),
		cmocka_unit_test(threads_sleep_and_wake),
		cmocka_unit_test(who_waits_for_others_fills),
		cmocka_unit_test(a_team_can_end_at_once),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
