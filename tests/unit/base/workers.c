// Several workers run each task once, deliver results in order, and keep few of them
// waiting.
#include "workers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

enum { N_TASKS = 200, NONE = N_TASKS };

struct desk {
	uint64_t results[N_TASKS];
	size_t failing_from;  // tasks from here on fail
	size_t failing_alone; // this task fails
	size_t failing_after; // but not before this many others have ended
	size_t refused;	      // take fails for this one
	size_t taken[N_TASKS], n_taken;
	atomic_size_t n_waiting, most_waiting, n_ended;
	size_t watched;
};

static struct desk desk_of(void)
{
	return (struct desk){
		.failing_from = NONE, .failing_alone = NONE, .refused = NONE};
}

static int task(void *context, size_t index, struct tb_error *error)
{
	struct desk *desk = context;
	desk->results[index] = index * index + 1;
	while (index == desk->failing_alone && desk->n_ended < desk->failing_after)
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	desk->n_ended++;
	if (index >= desk->failing_from || index == desk->failing_alone)
		return tb_fail(error, TB_EIO, "task %zu", index);
	return TB_OK;
}

// uneven_task makes some tasks so slow that many others overtake them.
static int uneven_task(void *context, size_t index, struct tb_error *error)
{
	struct desk *desk = context;
	size_t n = ++desk->n_waiting;
	if (n > desk->most_waiting)
		desk->most_waiting = n;
	if (index % 16 == 0)
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	return task(context, index, error);
}

static int take(void *context, size_t index, struct tb_error *error)
{
	struct desk *desk = context;
	assert_int_equal(desk->results[index], index * index + 1);
	if (index == desk->refused)
		return tb_fail(error, TB_ECAPACITY, "result %zu", index);
	desk->taken[desk->n_taken++] = index;
	desk->n_waiting--;
	return TB_OK;
}

static void watch(void *context, size_t n_done)
{
	struct desk *desk = context;
	assert_true(n_done >= desk->watched);
	desk->watched = n_done;
}

static void every_task_is_done_once_by_any_crew(void **state)
{
	(void)state;
	for (unsigned n_workers = 0; n_workers <= 5; n_workers++) {
		struct desk desk = desk_of();
		const struct tb_work work = {
			&desk, .n_tasks = N_TASKS, .task = task, .watch = watch};
		assert_int_equal(tb_workers_run(&work, n_workers, NULL), TB_OK);
		for (size_t i = 0; i < N_TASKS; i++)
			assert_int_equal(desk.results[i], i * i + 1);
		assert_int_equal(desk.watched, N_TASKS);
	}
}

static void results_are_taken_in_order_by_any_crew(void **state)
{
	(void)state;
	for (unsigned n_workers = 1; n_workers <= 5; n_workers++) {
		struct desk desk = desk_of();
		const struct tb_work work = {&desk, .n_tasks = N_TASKS,
			.task = uneven_task, .take = take, .watch = watch};
		assert_int_equal(tb_workers_run(&work, n_workers, NULL), TB_OK);
		assert_int_equal(desk.n_taken, N_TASKS);
		for (size_t i = 0; i < N_TASKS; i++)
			assert_int_equal(desk.taken[i], i);
		assert_int_equal(desk.watched, N_TASKS);
	}
}

static void workers_ahead_of_the_taker_wait(void **state)
{
	(void)state;
	for (size_t n_ahead = 1; n_ahead <= 8; n_ahead++) {
		struct desk desk = desk_of();
		const struct tb_work work = {&desk, .n_tasks = N_TASKS,
			.task = uneven_task, .take = take, .n_ahead = n_ahead};
		assert_int_equal(tb_workers_run(&work, 4, NULL), TB_OK);
		assert_int_equal(desk.n_taken, N_TASKS);
		assert_in_range(desk.most_waiting, 1, n_ahead);
	}
}

// A task that ends only after most of the later ones.
static int late_first_task(void *context, size_t index, struct tb_error *error)
{
	struct desk *desk = context;
	while (index == 0 && desk->n_ended < N_TASKS / 2)
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	return task(context, index, error);
}

static void results_taken_at_once_do_not_wait_for_a_slow_task(void **state)
{
	(void)state;
	for (unsigned n_workers = 2; n_workers <= 5; n_workers++) {
		struct desk desk = desk_of();
		// So few may be ahead that all would wait for task 0 if it were first.
		const struct tb_work work = {&desk, .n_tasks = N_TASKS,
			.task = late_first_task, .take = take, .take_at_once = true,
			.n_ahead = 8, .watch = watch};
		assert_int_equal(tb_workers_run(&work, n_workers, NULL), TB_OK);
		assert_int_equal(desk.n_taken, N_TASKS);
		bool seen[N_TASKS] = {false};
		for (size_t i = 0; i < N_TASKS; i++) {
			assert_false(seen[desk.taken[i]]);
			seen[desk.taken[i]] = true;
			assert_true(desk.taken[i] > 0 || i >= N_TASKS / 2 - 8);
		}
		assert_int_equal(desk.watched, N_TASKS);
	}
}

static void taken_at_once_too_what_ended_well_survives_a_failure(void **state)
{
	(void)state;
	struct desk desk = desk_of();
	struct tb_error error;
	desk.failing_alone = 2;
	desk.failing_after = 20;
	const struct tb_work work = {&desk, .n_tasks = N_TASKS, .task = task,
		.take = take, .take_at_once = true, .n_ahead = 4};
	assert_int_equal(tb_workers_run(&work, 2, &error), TB_EIO);
	assert_string_equal(error.text, "task 2");
	assert_true(desk.n_taken >= 20);
	for (size_t i = 0; i < desk.n_taken; i++)
		assert_int_not_equal(desk.taken[i], 2);
}

static void a_failure_ends_the_work(void **state)
{
	(void)state;
	struct desk desk = desk_of();
	struct tb_error error;
	desk.failing_from = 3;
	const struct tb_work work = {&desk, .n_tasks = N_TASKS, .task = task};
	assert_int_equal(tb_workers_run(&work, 1, &error), TB_EIO);
	assert_string_equal(error.text, "task 3");
	assert_int_equal(desk.results[3], 10);
	assert_int_equal(desk.results[4], 0);
}

static void the_lowest_failure_is_reported(void **state)
{
	(void)state;
	for (unsigned n_workers = 1; n_workers <= 5; n_workers++) {
		struct desk desk = desk_of();
		struct tb_error error;
		desk.failing_from = 16; // a slow one: later ones fail before it does
		const struct tb_work work = {&desk, .n_tasks = N_TASKS,
			.task = uneven_task, .take = take, .n_ahead = 8};
		assert_int_equal(tb_workers_run(&work, n_workers, &error), TB_EIO);
		assert_int_equal(error.code, TB_EIO);
		assert_string_equal(error.text, "task 16");
		assert_int_equal(desk.n_taken, 16);
	}
}

static void what_ended_well_is_taken_after_a_failure(void **state)
{
	(void)state;
	struct desk desk = desk_of();
	struct tb_error error;
	desk.failing_alone = 32;
	desk.failing_after = 35; // tasks 0 to 31 and 33 to 35
	const struct tb_work work = {
		&desk, .n_tasks = N_TASKS, .task = task, .take = take, .n_ahead = 4};
	assert_int_equal(tb_workers_run(&work, 2, &error), TB_EIO);
	assert_string_equal(error.text, "task 32");
	assert_int_equal(desk.n_taken, 35);
	assert_int_equal(desk.taken[32], 33);
	assert_int_equal(desk.taken[34], 35);
}

static void a_result_refused_is_the_last(void **state)
{
	(void)state;
	for (unsigned n_workers = 1; n_workers <= 5; n_workers++) {
		struct desk desk = desk_of();
		struct tb_error error;
		desk.refused = 20;
		const struct tb_work work = {&desk, .n_tasks = N_TASKS,
			.task = uneven_task, .take = take, .n_ahead = 10};
		assert_int_equal(tb_workers_run(&work, n_workers, &error), TB_ECAPACITY);
		assert_string_equal(error.text, "result 20");
		assert_int_equal(desk.n_taken, 20);
		assert_int_equal(desk.results[31], 0); // never begun
	}
}

static void no_tasks_are_done_at_once(void **state)
{
	(void)state;
	const struct tb_work work = {.task = task, .take = take};
	assert_int_equal(tb_workers_run(&work, 4, NULL), TB_OK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_task_is_done_once_by_any_crew),
		cmocka_unit_test(results_are_taken_in_order_by_any_crew),
		cmocka_unit_test(workers_ahead_of_the_taker_wait),
		cmocka_unit_test(results_taken_at_once_do_not_wait_for_a_slow_task),
		cmocka_unit_test(taken_at_once_too_what_ended_well_survives_a_failure),
		cmocka_unit_test(a_failure_ends_the_work),
		cmocka_unit_test(the_lowest_failure_is_reported),
		cmocka_unit_test(what_ended_well_is_taken_after_a_failure),
		cmocka_unit_test(a_result_refused_is_the_last),
		cmocka_unit_test(no_tasks_are_done_at_once),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
