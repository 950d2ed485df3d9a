// A thread for one errand at a time.
#include "errand.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

// An errand that waits until the caller has looked, or until it is stopped.
struct wait {
	struct tb_errands *errands;
	int gate[2];
	int n_done;
};

static void pass(void *context)
{
	struct wait *wait = context;
	char byte;
	if (read(wait->gate[0], &byte, 1) == 1)
		wait->n_done++;
}

static void until_stopped(void *context)
{
	struct wait *wait = context;
	while (!tb_errands_stops(wait->errands))
		usleep(1000);
	wait->n_done++;
}

static int set_up(void **state)
{
	static struct wait wait;
	wait = (struct wait){.n_done = 0};
	*state = &wait;
	return pipe(wait.gate) || tb_errands_new(&wait.errands, NULL);
}

static int tear_down(void **state)
{
	struct wait *wait = *state;
	tb_errands_free(wait->errands);
	close(wait->gate[0]);
	close(wait->gate[1]);
	return 0;
}

static void the_caller_goes_on_while_an_errand_is_under_way(void **state)
{
	struct wait *wait = *state;
	tb_errands_begin(wait->errands, pass, wait);
	assert_false(tb_errands_fetch(wait->errands, 0));
	assert_false(tb_errands_fetch(wait->errands, 0.01));
	assert_int_equal(wait->n_done, 0);
	assert_int_equal(write(wait->gate[1], "x", 1), 1);
	assert_true(tb_errands_fetch(wait->errands, -1));
	assert_int_equal(wait->n_done, 1);
}

static void errands_follow_each_other(void **state)
{
	struct wait *wait = *state;
	for (int i = 0; i < 100; i++) {
		assert_int_equal(write(wait->gate[1], "x", 1), 1);
		tb_errands_begin(wait->errands, pass, wait);
		assert_true(tb_errands_fetch(wait->errands, -1));
	}
	assert_int_equal(wait->n_done, 100);
}

static void a_stop_ends_only_the_errand_under_way(void **state)
{
	struct wait *wait = *state;
	tb_errands_begin(wait->errands, until_stopped, wait);
	tb_errands_stop(wait->errands);
	assert_true(tb_errands_fetch(wait->errands, -1));
	tb_errands_begin(wait->errands, until_stopped, wait);
	assert_false(tb_errands_fetch(wait->errands, 0.02));
	tb_errands_stop(wait->errands);
	assert_true(tb_errands_fetch(wait->errands, -1));
	assert_int_equal(wait->n_done, 2);
}

static void freeing_stops_what_is_under_way(void **state)
{
	struct wait *wait = *state;
	tb_errands_begin(wait->errands, until_stopped, wait);
	tb_errands_free(wait->errands);
	wait->errands = NULL;
	assert_int_equal(wait->n_done, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			the_caller_goes_on_while_an_errand_is_under_way, set_up,
			tear_down),
		cmocka_unit_test_setup_teardown(
			errands_follow_each_other, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			a_stop_ends_only_the_errand_under_way, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			freeing_stops_what_is_under_way, set_up, tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
