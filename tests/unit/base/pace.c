// Stretches of work between two looks at the clock.
#include "pace.h"

#include "progress.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void pass(double seconds)
{
	double until_s = tb_clock_s() + seconds;
	while (tb_clock_s() < until_s)
		;
}

static void short_stretches_become_longer(void **state)
{
	(void)state;
	struct tb_pace pace = {0};
	uint64_t n = 0, longest = 0;
	// On a busy machine a stretch may take long for once.
	for (int i = 0; i < 1000; i++) {
		n = tb_pace_next(&pace);
		assert_in_range(n, 1, 20000);
		longest = n > longest ? n : longest;
	}
	assert_int_equal(longest, 20000);
}

static void long_stretches_become_shorter_down_to_one_step(void **state)
{
	(void)state;
	struct tb_pace pace = {0};
	uint64_t before = tb_pace_next(&pace);
	for (int i = 0; i < 8; i++) {
		pass(0.021);
		uint64_t n = tb_pace_next(&pace);
		assert_int_equal(n, before > 1 ? before / 2 : 1);
		before = n;
	}
	assert_int_equal(before, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(short_stretches_become_longer),
		cmocka_unit_test(long_stretches_become_shorter_down_to_one_step),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
