// The timing wheel, with rows or without, agrees with a sorted list in random programs of
// puts and takes.
#include "random.h"
#include "wheel.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

struct naive {
	tb_time_ps at[4096];
	uint32_t subject[4096];
	size_t n;
};

static size_t earliest(const struct naive *naive)
{
	size_t best = 0;
	for (size_t i = 1; i < naive->n; i++)
		if (naive->at[i] < naive->at[best])
			best = i;
	return best;
}

// n_rows_of: a program puts events into so many rows.
static uint32_t n_rows_of(uint64_t seed)
{
	return (uint32_t)(seed % (TB_WHEEL_ROWS + 1));
}

// take_one checks one event: the wheel may return any of those with the earliest time.
static void take_one(struct tb_wheel *wheel, struct naive *naive, uint64_t seed)
{
	uint32_t n_rows = n_rows_of(seed);
	size_t n_at_once = 0;
	tb_time_ps expected = naive->at[earliest(naive)];
	tb_time_ps next = tb_wheel_next(wheel, n_rows, TB_TIME_NEVER);
	struct tb_event event = tb_wheel_take(wheel, n_rows, next);
	for (size_t i = 0; i < naive->n; i++)
		n_at_once += naive->at[i] == expected;
	assert_int_equal(tb_wheel_has(wheel, n_rows, next), n_at_once > 1);
	for (size_t i = 0; i < naive->n; i++) {
		if (naive->subject[i] != event.subject)
			continue;
		if (next != expected || event.at != expected || naive->at[i] != expected)
			break;
		naive->n--;
		naive->at[i] = naive->at[naive->n];
		naive->subject[i] = naive->subject[naive->n];
		return;
	}
	fail_msg("seed %d: event %u at %lld, expected one at %lld", (int)seed,
		event.subject, (long long)event.at, (long long)expected);
}

// check_ahead opens buckets: what they add is in order, behind all others.
static void check_ahead(struct tb_wheel *wheel, tb_time_ps until)
{
	uint32_t more = tb_wheel_open_ahead(wheel, until);
	assert_true(more <= wheel->end - wheel->first);
	for (uint32_t i = wheel->first + 1; i < wheel->end; i++)
		assert_true(wheel->due[i - 1].at <= wheel->due[i].at);
}

// put puts an event, at `at` or as long after `now` as its row mostly asks for.
static tb_time_ps put(struct tb_wheel *wheel, struct tb_random *random, uint32_t n_rows,
	tb_time_ps now, tb_time_ps at, uint32_t subject)
{
	uint32_t row = (uint32_t)tb_random_below(random, TB_WHEEL_ROWS + 1);
	if (row >= n_rows) {
		tb_wheel_put(wheel, at, 0, subject);
		return at;
	}
	if (tb_random_below(random, 50) != 0)
		at = now + 1000 * (row + 1);
	tb_wheel_put_steady(wheel, row, at, 0, subject);
	return at;
}

static void run_program(uint64_t seed)
{
	struct tb_random random;
	struct tb_wheel *wheel = malloc(sizeof *wheel);
	struct naive *naive = calloc(1, sizeof *naive);
	tb_time_ps now = 0;
	tb_random_init(&random, seed, 0);
	// Delays of every scale: none, within a bucket, within the wheel, far beyond, and
	// within a few buckets of the wheel's end.
	static const uint64_t spans[] = {1, 100, 5000, 3000000, 400000000, 1};
	unsigned shift = 4 + (unsigned)tb_random_below(&random, 10);
	unsigned buckets = 12 + (unsigned)tb_random_below(&random, 3);
	// Few events at a time, or many to a bucket.
	uint64_t puts_of_5 = 2 + seed % 3;
	assert_int_equal(tb_wheel_init(wheel, shift, buckets), TB_OK);
	for (uint32_t step = 0; step < 4000; step++) {
		if (naive->n < 4000 &&
			(naive->n == 0 || tb_random_below(&random, 5) < puts_of_5)) {
			uint64_t span = spans[tb_random_below(&random, 6)];
			tb_time_ps at = now + (tb_time_ps)tb_random_below(&random, span);
			if (tb_random_below(&random, 8) == 0)
				at = now + (INT64_C(1) << (shift + buckets)) +
				     (INT64_C(1) << shift) *
					     ((tb_time_ps)tb_random_below(&random, 7) -
						     3);
			at = put(wheel, &random, n_rows_of(seed), now, at, step);
			naive->at[naive->n] = at;
			naive->subject[naive->n++] = step;
			continue;
		}
		now = naive->at[earliest(naive)];
		// tb_wheel_next with a limit must not lose events beyond it.
		if (tb_random_below(&random, 4) == 0)
			(void)tb_wheel_next(wheel, TB_WHEEL_ROWS, now / 2);
		// Nor must looking ahead; what is put later may come before.
		if (tb_random_below(&random, 4) == 0)
			check_ahead(wheel, now + (INT64_C(32) << shift));
		take_one(wheel, naive, seed);
	}
	while (naive->n)
		take_one(wheel, naive, seed);
	assert_true(tb_wheel_is_empty(wheel));
	assert_int_equal(
		tb_wheel_next(wheel, TB_WHEEL_ROWS, TB_TIME_NEVER), TB_TIME_NEVER);
	assert_false(wheel->failed);
	tb_wheel_fini(wheel);
	free(wheel);
	free(naive);
}

static void events_come_in_the_order_of_time(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 60; seed++)
		run_program(seed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(events_come_in_the_order_of_time)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
