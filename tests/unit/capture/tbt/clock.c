// Clocks of machines are corrected by the order of their messages (tbt_clock.h).
#include "tbt_clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define SECOND INT64_C(1000000000)

// Machine i has been up since `boot[i]` by the true time and its time of day is wrong by
// `wrong[i]`; both in ns.
struct machines {
	int64_t boot[3], wrong[3];
	struct tb_tbt_clocks *clocks;
};

static uint64_t own_ns(const struct machines *machines, unsigned i, int64_t at_ns)
{
	return (uint64_t)(at_ns - machines->boot[i]);
}

static void begin(struct machines *machines, int64_t begin_ns, int64_t end_ns)
{
	struct tb_tbt_point starts[3];
	for (unsigned i = 0; i < 3; i++) {
		starts[i].at_ns = own_ns(machines, i, begin_ns);
		starts[i].add_ns = machines->boot[i] + machines->wrong[i];
	}
	assert_int_equal(tb_tbt_clocks_new(&machines->clocks, starts, 3,
				 (uint64_t)begin_ns, (uint64_t)end_ns, NULL),
		0);
}

static void message(const struct machines *machines, unsigned from, int64_t sent_ns,
	unsigned to, int64_t took_ns)
{
	assert_int_equal(tb_tbt_clocks_message(machines->clocks, from,
				 own_ns(machines, from, sent_ns), to,
				 own_ns(machines, to, sent_ns + took_ns)),
		0);
}

// common_ns is what the common clock reads at a machine at a true time.
static int64_t common_ns(const struct machines *machines, unsigned i, int64_t at_ns)
{
	struct tb_tbt_point points[TB_TBT_POINTS_MAX];
	uint32_t n = tb_tbt_clocks_points(machines->clocks, i, points);
	return (int64_t)tb_tbt_common_ns(points, n, own_ns(machines, i, at_ns));
}

static void quickest_messages_each_way_give_the_offset(void **state)
{
	(void)state;
	struct machines m = {.boot = {50 * SECOND, 7 * SECOND, -9 * SECOND},
		.wrong = {0, 3000000, -40000000}};
	begin(&m, 100 * SECOND, 101 * SECOND);
	for (int i = 0; i < 10; i++) {
		message(&m, 0, 100 * SECOND + i, 1, 2000 + 500 * i);
		message(&m, 1, 100 * SECOND + i, 0, 2000 + 900 * i);
		message(&m, 1, 100 * SECOND + i, 2, 3000 + 100 * i);
		message(&m, 2, 100 * SECOND + i, 1, 3000 + 100 * i);
	}
	assert_int_equal(tb_tbt_clocks_solve(m.clocks), 0);
	for (unsigned i = 0; i < 3; i++)
		assert_true(common_ns(&m, i, 100 * SECOND) == 100 * SECOND);
	tb_tbt_clocks_free(m.clocks);
}

static void one_way_messages_arrive_no_earlier_than_sent(void **state)
{
	(void)state;
	struct machines m = {.wrong = {0, -5000000, 0}};
	begin(&m, 100 * SECOND, 101 * SECOND);
	message(&m, 0, 100 * SECOND, 1, 2000);
	message(&m, 0, 100 * SECOND + 5, 1, 9000);
	assert_int_equal(tb_tbt_clocks_solve(m.clocks), 1); // machine 2
	assert_true(common_ns(&m, 1, 100 * SECOND + 2000) == 100 * SECOND);
	tb_tbt_clocks_free(m.clocks);
}

static void drift_of_long_traces_is_corrected(void **state)
{
	(void)state;
	// Machine 1 gains 1 us a second: its time of day grows wrong.
	struct machines m = {.wrong = {0, 0, 0}};
	begin(&m, 100 * SECOND, 140 * SECOND);
	for (int64_t at = 100; at < 140; at++) {
		int64_t sent = at * SECOND, gained = (at - 100) * 1000;
		assert_int_equal(tb_tbt_clocks_message(m.clocks, 0, (uint64_t)sent, 1,
					 (uint64_t)(sent + 2000 + gained)),
			0);
		assert_int_equal(
			tb_tbt_clocks_message(m.clocks, 1, (uint64_t)(sent + gained), 0,
				(uint64_t)(sent + 2000)),
			0);
	}
	tb_tbt_clocks_solve(m.clocks);
	int64_t early = common_ns(&m, 1, 105 * SECOND),
		late = common_ns(&m, 1, 135 * SECOND);
	int64_t lost = (135 - 105) * SECOND - (late - early);
	// 30 s hold 30 us of drift; the quickest of a half need not lie in its middle.
	assert_in_range(lost, 20000, 40000);
	tb_tbt_clocks_free(m.clocks);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quickest_messages_each_way_give_the_offset),
		cmocka_unit_test(one_way_messages_arrive_no_earlier_than_sent),
		cmocka_unit_test(drift_of_long_traces_is_corrected),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
