// Counters from one dump to the next: wrapped, full, reset.
#include "port_change.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define WAIT   (1u << TB_COUNTER_WAIT_TICKS)
#define BYTES  (1u << TB_COUNTER_SENT_BYTES)
#define FULL   UINT64_C(0xffffffff) // what 32 bits hold
#define ERRORS (1u << TB_COUNTER_SYMBOL_ERRORS)

static struct port_change change_of(uint64_t wait, uint64_t bytes, uint64_t errors,
	uint64_t wait_after, uint64_t bytes_after, uint64_t errors_after)
{
	const struct tb_counter_port before = {.known = WAIT | BYTES | ERRORS,
		.values = {[TB_COUNTER_WAIT_TICKS] = wait,
			[TB_COUNTER_SENT_BYTES] = bytes,
			[TB_COUNTER_SYMBOL_ERRORS] = errors},
		.ends = {[TB_COUNTER_WAIT_TICKS] = FULL,
			[TB_COUNTER_SENT_BYTES] = 4 * FULL,
			[TB_COUNTER_SYMBOL_ERRORS] = 65535}};
	const struct tb_counter_port after = {.known = WAIT | BYTES | ERRORS,
		.values = {[TB_COUNTER_WAIT_TICKS] = wait_after,
			[TB_COUNTER_SENT_BYTES] = bytes_after,
			[TB_COUNTER_SYMBOL_ERRORS] = errors_after},
		.ends = {[TB_COUNTER_WAIT_TICKS] = FULL,
			[TB_COUNTER_SENT_BYTES] = 4 * FULL,
			[TB_COUNTER_SYMBOL_ERRORS] = 65535}};
	struct port_change change;
	port_change_find(&change, &before, &after);
	return change;
}

static void differences_are_taken(void **state)
{
	(void)state;
	struct port_change change = change_of(5, 100, 1, 12, 500, 1);
	assert_int_equal(change.deltas[TB_COUNTER_WAIT_TICKS], 7);
	assert_int_equal(change.deltas[TB_COUNTER_SENT_BYTES], 400);
	assert_int_equal(change.deltas[TB_COUNTER_SYMBOL_ERRORS], 0);
	assert_int_equal(change.known, WAIT | BYTES | ERRORS);
	assert_false(change.is_reset || change.wrapped || change.full || change.unknown);
}

static void a_counter_of_32_bits_wraps(void **state)
{
	(void)state;
	struct port_change change = change_of(FULL - 5, 4 * FULL - 40, 1, 94, 60, 2);
	assert_false(change.is_reset);
	assert_int_equal(change.wrapped, WAIT | BYTES);
	assert_int_equal(change.deltas[TB_COUNTER_WAIT_TICKS], 100);
	assert_int_equal(change.deltas[TB_COUNTER_SENT_BYTES], 104);
}

static void a_reset_is_of_all_counters_of_a_port(void **state)
{
	(void)state;
	// The wait alone could have wrapped; errors never go down.
	struct port_change change = change_of(FULL - 5, 100, 9, 94, 500, 1);
	assert_true(change.is_reset);
	assert_int_equal(change.known, ERRORS); // traffic of a part of the time is none
	assert_int_equal(change.at_least, ERRORS);
	assert_int_equal(change.wrapped, 0);
	assert_int_equal(change.deltas[TB_COUNTER_SYMBOL_ERRORS], 1);
	// Errors may not have been reset: what they grew by is sure.
	change = change_of(1000, 5, 90, 999, 6, 100);
	assert_int_equal(change.deltas[TB_COUNTER_SYMBOL_ERRORS], 10);
	assert_int_equal(change.at_least, ERRORS);
	// 64 bits do not wrap, and from the lower half nothing does.
	assert_true(change_of(1, UINT64_C(1) << 40, 0, 2, 3, 0).is_reset);
	assert_true(change_of(1000, 5, 0, 999, 6, 0).is_reset);
}

static void full_counters_are_known_as_such(void **state)
{
	(void)state;
	struct port_change change = change_of(FULL - 5, 100, 0, FULL, 500, 0);
	assert_int_equal(change.full, WAIT);
	assert_int_equal(change.unknown, 0);
	assert_int_equal(change.deltas[TB_COUNTER_WAIT_TICKS], 5);
	assert_int_equal(change.at_least, WAIT);
	change = change_of(FULL, 100, 0, FULL, 500, 0);
	assert_int_equal(change.unknown, WAIT);
	assert_int_equal(change.known, BYTES | ERRORS);
	change = change_of(5, 100, 65530, 6, 500, 65535); // errors have 16 bits
	assert_int_equal(change.at_least, ERRORS);
	assert_int_equal(change.deltas[TB_COUNTER_SYMBOL_ERRORS], 5);
	assert_int_equal(change_of(5, 100, 255, 6, 500, 300).at_least, 0);
}

static void one_dump_counts_since_the_reset(void **state)
{
	const struct tb_counter_port after = {
		.known = WAIT, .values = {[TB_COUNTER_WAIT_TICKS] = 7}};
	struct port_change change;
	(void)state;
	port_change_find(&change, NULL, &after);
	assert_int_equal(change.deltas[TB_COUNTER_WAIT_TICKS], 7);
	assert_int_equal(change.known, WAIT);
	assert_false(change.is_reset);
}

// Two priorities paused for 6 s and 5 s: the port was held for 6 s at least, of which the
// figures before the interval say nothing.
static void priorities_that_pause_together_are_not_added(void **state)
{
	(void)state;
	const uint32_t paused = 1u << TB_COUNTER_PAUSING_US;
	const struct tb_counter_port before = {.known = paused,
		.values = {[TB_COUNTER_PAUSING_US] = 100},
		.ends = {[TB_COUNTER_PAUSING_US] = UINT64_MAX},
		.class_us = {{0}, {[3] = 10, [4] = 90}}};
	struct tb_counter_port after = before;
	struct port_change change;
	after.values[TB_COUNTER_PAUSING_US] = 111;
	after.class_us[1][3] = 16;
	after.class_us[1][4] = 95;
	port_change_find(&change, &before, &after);
	assert_int_equal(change.deltas[TB_COUNTER_PAUSING_US], 6);
	assert_int_equal(change.at_least, paused);
	assert_int_equal(change.overlap, paused);
	after.class_us[1][3] = 10; // one alone is exact
	after.values[TB_COUNTER_PAUSING_US] = 105;
	port_change_find(&change, &before, &after);
	assert_int_equal(change.deltas[TB_COUNTER_PAUSING_US], 5);
	assert_int_equal(change.at_least, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(differences_are_taken),
		cmocka_unit_test(a_counter_of_32_bits_wraps),
		cmocka_unit_test(a_reset_is_of_all_counters_of_a_port),
		cmocka_unit_test(full_counters_are_known_as_such),
		cmocka_unit_test(one_dump_counts_since_the_reset),
		cmocka_unit_test(priorities_that_pause_together_are_not_added),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
