// What two links of a cable owe each other, instant by instant; the share is a half.
#include "circuits.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { LINK, REVERSE };

static struct trains *cable(void)
{
	struct trains *trains = tb_link_tokens_new(2, 0.5);
	assert_non_null(trains);
	tb_link_tokens_pair(trains, LINK, REVERSE);
	tb_link_tokens_pair(trains, REVERSE, LINK);
	return trains;
}

// train lets a train of one burst cross a link.
static void train(struct trains *trains, uint32_t slot, tb_time_ps start, tb_time_ps end)
{
	tb_link_tokens_begin(tb_link_tokens_of(trains, slot), start);
	tb_link_tokens_cross(tb_link_tokens_of(trains, slot), end, end - start);
}

static void an_idle_link_sends_from_when_they_are_due(void **state)
{
	(void)state;
	struct trains *trains = cable();
	train(trains, REVERSE, 0, 100);
	// Whether the train goes on is not known before the instant is over.
	assert_int_equal(tb_link_tokens_sent(tb_link_tokens_of(trains, LINK), 100), 0);
	assert_int_equal(tb_link_tokens_sent(tb_link_tokens_of(trains, LINK), 101), 150);
	assert_int_equal(tb_link_tokens_sent(tb_link_tokens_of(trains, LINK), 1000), 150);
	tb_link_tokens_free(trains);
}

static void a_train_that_goes_on_owes_at_its_end(void **state)
{
	(void)state;
	struct trains *trains = cable();
	train(trains, REVERSE, 0, 100);
	tb_link_tokens_cross(tb_link_tokens_of(trains, REVERSE), 300, 200);
	assert_int_equal(tb_link_tokens_sent(tb_link_tokens_of(trains, LINK), 300), 0);
	assert_int_equal(tb_link_tokens_sent(tb_link_tokens_of(trains, LINK), 301), 450);
	tb_link_tokens_free(trains);
}

static void what_comes_due_while_a_train_crosses_waits_for_its_end(void **state)
{
	(void)state;
	struct trains *trains = cable();
	train(trains, REVERSE, 0, 100);
	train(trains, LINK, 50, 200);
	train(trains, REVERSE, 101, 200);
	assert_int_equal(tb_link_tokens_sent(tb_link_tokens_of(trains, LINK), 200), 250);
	// The second train's 49 follow these 50.
	assert_int_equal(tb_link_tokens_sent(tb_link_tokens_of(trains, LINK), 201), 299);
	tb_link_tokens_free(trains);
}

static void the_next_train_is_foreseen_while_the_reverse_is_busy(void **state)
{
	(void)state;
	struct trains *trains = cable();
	train(trains, REVERSE, 0, 100);
	train(trains, LINK, 50, 200);
	train(trains, REVERSE, 100, 249);
	assert_true(tb_link_tokens_foreseen(tb_link_tokens_of(trains, LINK)) ==
		    TB_TIME_NEVER);
	tb_link_tokens_cross(tb_link_tokens_of(trains, REVERSE), 300, 51);
	assert_int_equal(tb_link_tokens_foreseen(tb_link_tokens_of(trains, LINK)), 250);
	tb_link_tokens_free(trains);
}

static void what_comes_due_before_the_next_train_is_foreseen_too(void **state)
{
	(void)state;
	struct trains *trains = cable();
	train(trains, REVERSE, 0, 100);
	train(trains, LINK, 50, 200);
	train(trains, REVERSE, 100, 220);
	train(trains, REVERSE, 220, 400);
	// 50 from 200 on, then the 60 that came due at 220.
	assert_int_equal(tb_link_tokens_foreseen(tb_link_tokens_of(trains, LINK)), 310);
	tb_link_tokens_begin(tb_link_tokens_of(trains, LINK), 310);
	tb_link_tokens_cross(tb_link_tokens_of(trains, LINK), 350, 40);
	assert_int_equal(tb_link_tokens_sent(tb_link_tokens_of(trains, LINK), 401), 490);
	tb_link_tokens_free(trains);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_idle_link_sends_from_when_they_are_due),
		cmocka_unit_test(a_train_that_goes_on_owes_at_its_end),
		cmocka_unit_test(what_comes_due_while_a_train_crosses_waits_for_its_end),
		cmocka_unit_test(the_next_train_is_foreseen_while_the_reverse_is_busy),
		cmocka_unit_test(what_comes_due_before_the_next_train_is_foreseen_too)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
