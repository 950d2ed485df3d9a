// The window of a TCP connection.
#include "ethernet_impl.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static struct tb_cubic_ack ack_at(tb_time_ps now, uint32_t n)
{
	return (struct tb_cubic_ack){
		.now = now, .round_trip = 10 * TB_PS_PER_MS, .n = n, .is_limited = true};
}

static void slow_start_grows_by_what_is_acknowledged(void **state)
{
	(void)state;
	struct tb_cubic cubic;
	tb_cubic_init(&cubic, 10);
	for (uint32_t i = 0; i < 5; i++) {
		struct tb_cubic_ack ack = ack_at(i * TB_PS_PER_MS, 2);
		ack.is_limited = i != 2;
		tb_cubic_acked(&cubic, &ack);
	}
	assert_int_equal(cubic.window, 18);
}

static void slow_start_ends_when_the_round_trip_grows(void **state)
{
	(void)state;
	struct tb_cubic cubic;
	tb_cubic_init(&cubic, 10);
	tb_time_ps now = 0;
	for (uint64_t acked = 2; acked < 60; acked += 2) {
		now += 5 * TB_PS_PER_MS;
		struct tb_cubic_ack ack = ack_at(now, 2);
		ack.acked = acked;
		ack.next = acked + cubic.window;
		ack.round_trip = (10 + (tb_time_ps)acked) * TB_PS_PER_MS;
		tb_cubic_acked(&cubic, &ack);
	}
	assert_true(cubic.threshold >= 16 && cubic.threshold < 40);
}

// train acknowledges ten times two segments, 20 us apart, of a round trip of 100 us, from
// segment `acked` on, which batches spread over `spread`.
static void spread_train(struct tb_cubic *cubic, uint64_t acked, tb_time_ps spread)
{
	for (uint64_t i = 1; i <= 10; i++) {
		struct tb_cubic_ack ack = ack_at((tb_time_ps)i * 20 * TB_PS_PER_US, 2);
		ack.acked = acked + 2 * i;
		ack.next = acked + 20 + cubic->window;
		ack.round_trip = 100 * TB_PS_PER_US;
		ack.spread = spread;
		tb_cubic_acked(cubic, &ack);
	}
}

static void train(struct tb_cubic *cubic, uint64_t acked)
{
	spread_train(cubic, acked, 0);
}

// The round began with its first acknowledgement, when the window was still too small to
// be watched.
static void slow_start_ends_in_a_train(void **state)
{
	(void)state;
	struct tb_cubic cubic;
	tb_cubic_init(&cubic, 10);
	train(&cubic, 0);
	assert_int_equal(cubic.threshold, 16);
}

// Half of round trip and spread is 200 us, or 130: the tenth acknowledgement is 180 us
// behind the first, which begins the round, and the eighth 140.
static void batches_spread_a_train(void **state)
{
	(void)state;
	struct tb_cubic cubic;
	tb_cubic_init(&cubic, 10);
	spread_train(&cubic, 0, 300 * TB_PS_PER_US);
	assert_int_equal(cubic.threshold, TB_CUBIC_NO_THRESHOLD);
	tb_cubic_init(&cubic, 10);
	spread_train(&cubic, 0, 160 * TB_PS_PER_US);
	assert_int_equal(cubic.threshold, 24);
}

static void slow_start_is_not_ended_again_before_a_timeout(void **state)
{
	(void)state;
	struct tb_cubic cubic;
	tb_cubic_init(&cubic, 10);
	train(&cubic, 0);
	cubic.window = 80;
	tb_cubic_idle(&cubic, 100 * TB_PS_PER_S, TB_PS_PER_S);
	assert_int_equal(cubic.threshold, 60);
	train(&cubic, 100);
	assert_int_equal(cubic.threshold, 60);
	assert_int_equal(cubic.window, 30);
	cubic.window = 80;
	tb_cubic_timed_out(&cubic);
	assert_int_equal(cubic.threshold, 56);
	cubic.window = 10;
	train(&cubic, 200);
	assert_int_equal(cubic.threshold, 16);
}

static void a_loss_leaves_seven_tenths(void **state)
{
	(void)state;
	struct tb_cubic cubic;
	tb_cubic_init(&cubic, 100);
	tb_cubic_lost(&cubic);
	assert_int_equal(cubic.window, 70);
	tb_cubic_lost(&cubic);
	assert_int_equal(cubic.window, 49);
	assert_int_equal(cubic.most, 70 * 17 / 20); // it leaves room to others
	tb_cubic_timed_out(&cubic);
	assert_int_equal(cubic.window, 1);
	assert_int_equal(cubic.threshold, 34);
}

// K = cube root of (300 / 0.4) s = 9.09 s: the window is back where the loss was.
static void the_curve_is_back_after_k(void **state)
{
	(void)state;
	struct tb_cubic cubic;
	tb_cubic_init(&cubic, 1000);
	cubic.least = 100 * TB_PS_PER_MS; // Reno is slower than the curve
	tb_cubic_lost(&cubic);
	assert_int_equal(cubic.window, 700);
	for (tb_time_ps now = 0; now < 9090 * TB_PS_PER_MS; now += 100 * TB_PS_PER_MS) {
		const struct tb_cubic_ack ack = ack_at(now, cubic.window);
		tb_cubic_acked(&cubic, &ack);
	}
	assert_in_range(cubic.window, 990, 1010);
}

static void idle_times_halve_the_window(void **state)
{
	(void)state;
	struct tb_cubic cubic;
	tb_cubic_init(&cubic, 10);
	cubic.window = 80;
	tb_cubic_idle(&cubic, TB_PS_PER_S, TB_PS_PER_S);
	assert_int_equal(cubic.window, 80);
	tb_cubic_idle(&cubic, 5 * TB_PS_PER_S / 2, TB_PS_PER_S);
	assert_int_equal(cubic.window, 20);
	tb_cubic_idle(&cubic, 100 * TB_PS_PER_S, TB_PS_PER_S);
	assert_int_equal(cubic.window, 10);
	cubic.window = 40;
	tb_cubic_unused(&cubic, 12);
	assert_int_equal(cubic.window, 26);
}

static void cube_roots_are_rounded_down(void **state)
{
	(void)state;
	assert_int_equal(tb_cubic_root3(0), 0);
	assert_int_equal(tb_cubic_root3(26), 2);
	assert_int_equal(tb_cubic_root3(27), 3);
	assert_int_equal(tb_cubic_root3(UINT64_C(1) << 60), 1 << 20);
}

// RFC 5681: by one in a round trip, and half of it after a loss; HyStart ends nothing.
static void reno_grows_by_one_and_halves(void **state)
{
	(void)state;
	struct tb_cubic cubic;
	tb_cubic_init(&cubic, 10);
	cubic.is_reno = true;
	for (uint64_t i = 0; i < 20; i++)
		train(&cubic, 20 * i);
	assert_int_equal(cubic.window, 10 + 20 * 20);
	tb_cubic_lost(&cubic);
	assert_int_equal(cubic.window, 205);
	struct tb_cubic_ack ack = ack_at(0, 205);
	for (uint32_t round = 0; round < 8; round++)
		tb_cubic_acked(&cubic, &ack);
	assert_in_range(cubic.window, 211, 213);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slow_start_grows_by_what_is_acknowledged),
		cmocka_unit_test(slow_start_ends_when_the_round_trip_grows),
		cmocka_unit_test(slow_start_ends_in_a_train),
		cmocka_unit_test(batches_spread_a_train),
		cmocka_unit_test(slow_start_is_not_ended_again_before_a_timeout),
		cmocka_unit_test(a_loss_leaves_seven_tenths),
		cmocka_unit_test(the_curve_is_back_after_k),
		cmocka_unit_test(idle_times_halve_the_window),
		cmocka_unit_test(cube_roots_are_rounded_down),
		cmocka_unit_test(reno_grows_by_one_and_halves),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
