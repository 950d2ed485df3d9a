// The windows of time that hold most of the wait.
#include "wait_windows.h"

#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

// Windows: 20 bins of 1 us, the last of 0.7 us.
static struct tb_wait_windows windows_of(const uint64_t *waits, uint64_t n)
{
	struct tb_wait_windows windows;
	assert_int_equal(tb_wait_windows_find(&windows, waits, n), TB_OK);
	return windows;
}

static void few_windows_hold_most_of_the_wait(void **state)
{
	(void)state;
	uint64_t waits[100] = {0};
	assert_int_equal(windows_of(waits, 100).n, 0);
	waits[10] = 40;
	waits[11] = 39;
	waits[50] = 1;
	waits[90] = 20;
	struct tb_wait_windows windows = windows_of(waits, 100);
	assert_int_equal(windows.n, 2); // 79 is not enough, 99 is
	assert_int_equal(windows.at[0].first_bin, 10);
	assert_int_equal(windows.at[0].end_bin, 12);
	assert_int_equal(windows.at[1].first_bin, 90);
	assert_int_equal(windows.at[1].end_bin, 91);
	assert_int_equal(windows.n_bins, 3);
	assert_true(windows.percent > 98.9 && windows.percent < 99.1);
	waits[10] = 41; // with 80 of 101 it is not yet enough, with 81 of 101 it is
	waits[11] = 40;
	waits[90] = 19;
	assert_int_equal(windows_of(waits, 100).n, 1);
}

static void the_widest_gaps_stay_open(void **state)
{
	(void)state;
	uint64_t waits[100] = {0};
	waits[5] = waits[8] = waits[30] = waits[60] = waits[64] = waits[99] = 10;
	struct tb_wait_windows windows = windows_of(waits, 100);
	// Five bins are enough (the first ones of equals): 5, 8, 30, 60, 64.
	assert_int_equal(windows.n, 3);
	assert_int_equal(windows.at[0].first_bin, 5);
	assert_int_equal(windows.at[0].end_bin, 9);
	assert_int_equal(windows.at[1].first_bin, 30);
	assert_int_equal(windows.at[2].first_bin, 60);
	assert_int_equal(windows.at[2].end_bin, 65);
	memset(waits, 0, sizeof waits);
	waits[20] = waits[22] = 10; // a gap of one bin in a hundred is no pause
	assert_int_equal(windows_of(waits, 100).n, 1);
	memset(waits, 0, sizeof waits);
	waits[20] = waits[23] = 10; // one of two is
	assert_int_equal(windows_of(waits, 100).n, 2);
}

static void quiet_slices_part_the_windows(void **state)
{
	(void)state;
	struct tb_wait_windows windows;
	uint64_t waits[100] = {0};
	waits[9] = 4; // less than a twentieth of the worst
	waits[10] = 5;
	waits[11] = 100;
	waits[40] = 50;
	assert_int_equal(tb_wait_windows_above(&windows, waits, 100, 5), TB_OK);
	assert_int_equal(windows.n, 2);
	assert_int_equal(windows.at[0].first_bin, 10);
	assert_int_equal(windows.at[0].end_bin, 12);
	assert_int_equal(windows.at[1].first_bin, 40);
	memset(waits, 0, sizeof waits);
	assert_int_equal(tb_wait_windows_above(&windows, waits, 100, 5), TB_OK);
	assert_int_equal(windows.n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(few_windows_hold_most_of_the_wait),
		cmocka_unit_test(the_widest_gaps_stay_open),
		cmocka_unit_test(quiet_slices_part_the_windows),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
