// BBR's model of a path, and what it makes of it.
#include "bbr.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define ROUND_PS (10 * TB_PS_PER_MS)

struct path { // delivers what a window holds once in a round, at most `most` segments
	struct tb_bbr bbr;
	tb_time_ps now;
	uint64_t total;
	uint64_t most;
};

static struct path path_of(uint64_t most)
{
	struct path path = {.now = TB_PS_PER_S, .most = most};
	tb_bbr_init(&path.bbr, 10, 1, path.now, ROUND_PS);
	return path;
}

static struct tb_bbr_ack ack_of(const struct path *path, uint64_t n)
{
	return (struct tb_bbr_ack){.now = path->now,
		.round_trip = ROUND_PS,
		.interval = ROUND_PS,
		.delivered = n,
		.before = path->total - n,
		.total = path->total,
		.n = (uint32_t)n,
		.under_way = path->bbr.window,
		.was_under_way = path->bbr.window,
		.batch = 2};
}

static void go_round(struct path *path)
{
	uint64_t n = path->bbr.window < path->most ? path->bbr.window : path->most;
	path->now += ROUND_PS + TB_PS_PER_US;
	path->total += n;
	struct tb_bbr_ack ack = ack_of(path, n);
	ack.is_limited = path->bbr.mode == TB_BBR_PROBE_RTT; // as its caller has it
	if (path->bbr.mode != TB_BBR_STARTUP)		     // no queue
		ack.under_way = ack.was_under_way = (uint32_t)n;
	tb_bbr_acked(&path->bbr, &ack);
}

static void startup_doubles_in_each_round(void **state)
{
	(void)state;
	struct path path = path_of(UINT64_MAX);
	for (unsigned i = 0; i < 8; i++) {
		assert_int_equal(path.bbr.window, 10u << i);
		go_round(&path);
		// 2 / ln 2 of what came in the round, less one percent.
		double pacing = (double)path.bbr.pacing /
				(double)tb_segment_rate_of(10u << i, ROUND_PS);
		assert_true(pacing > 2.8 && pacing < 2.89);
	}
	assert_int_equal(path.bbr.mode, TB_BBR_STARTUP);
}

// 160 segments are delivered in a round: three rounds do not bring more, and what stands
// in queues is drained at the inverse of the gain; then the rate is probed.
static void startup_ends_when_the_path_is_full(void **state)
{
	(void)state;
	struct path path = path_of(160);
	for (unsigned i = 0; i < 5; i++) // 10, 20, 40, 80, 160
		go_round(&path);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(path.bbr.mode, TB_BBR_STARTUP);
		go_round(&path);
	}
	assert_int_equal(path.bbr.mode, TB_BBR_DRAIN);
	double pacing =
		(double)path.bbr.pacing / (double)tb_segment_rate_of(160, ROUND_PS);
	assert_true(pacing > 0.33 && pacing < 0.35);
	go_round(&path);
	assert_int_equal(path.bbr.mode, TB_BBR_PROBE_BW);
	// Twice what fills the path, and three batches.
	go_round(&path);
	assert_in_range(path.bbr.window, 2 * 160, 2 * 160 + 3 * 2 + 2);
}

// The rate is probed for a round trip of eight, and what that put into queues is drained
// in the next one.
static void the_gain_goes_in_cycles(void **state)
{
	(void)state;
	struct path path = path_of(160);
	while (path.bbr.mode != TB_BBR_PROBE_BW)
		go_round(&path);
	assert_int_not_equal(path.bbr.phase, 1); // it does not begin with draining
	while (path.bbr.phase != 0)
		go_round(&path);
	assert_int_equal(path.bbr.gain, 320);
	path.now += ROUND_PS + 1;
	path.total += 160;
	struct tb_bbr_ack ack = ack_of(&path, 160);
	ack.was_under_way = 190; // not a quarter more yet
	tb_bbr_acked(&path.bbr, &ack);
	assert_int_equal(path.bbr.gain, 320);
	ack.was_under_way = 210;
	tb_bbr_acked(&path.bbr, &ack);
	assert_int_equal(path.bbr.gain, 192);
	ack.was_under_way = 160;
	tb_bbr_acked(&path.bbr, &ack);
	for (int i = 0; i < 6; i++) {
		assert_int_equal(path.bbr.gain, 256);
		go_round(&path);
	}
	assert_int_equal(path.bbr.gain, 320);
}

// The best rate of ten rounds counts.
static void the_rate_is_forgotten_after_ten_rounds(void **state)
{
	(void)state;
	struct path path = path_of(160);
	while (path.bbr.mode != TB_BBR_PROBE_BW)
		go_round(&path);
	path.most = 40;
	tb_segment_rate before = tb_bbr_rate(&path.bbr);
	for (int i = 0; i < 10; i++) {
		go_round(&path);
		assert_int_equal(tb_bbr_rate(&path.bbr), before);
	}
	go_round(&path);
	assert_int_equal(tb_bbr_rate(&path.bbr), tb_segment_rate_of(40, ROUND_PS));
}

static void a_limited_sample_counts_only_if_it_is_the_best(void **state)
{
	(void)state;
	struct path path = path_of(UINT64_MAX);
	go_round(&path);
	struct tb_bbr_ack ack = ack_of(&path, 5);
	ack.is_limited = true;
	for (int i = 0; i < 20; i++) {
		ack.total += 5;
		ack.before = ack.total - 5;
		tb_bbr_acked(&path.bbr, &ack);
	}
	assert_int_equal(tb_bbr_rate(&path.bbr), tb_segment_rate_of(10, ROUND_PS));
	ack.delivered = 20;
	tb_bbr_acked(&path.bbr, &ack);
	assert_int_equal(tb_bbr_rate(&path.bbr), tb_segment_rate_of(20, ROUND_PS));
}

// When no round trip was as short for ten seconds, four segments are under way for 200
// ms.
static void the_round_trip_is_probed(void **state)
{
	(void)state;
	struct path path = path_of(160);
	while (path.bbr.mode != TB_BBR_PROBE_BW)
		go_round(&path);
	go_round(&path);
	uint32_t window = path.bbr.window;
	while (path.bbr.mode != TB_BBR_PROBE_RTT)
		go_round(&path);
	assert_in_range(path.now, 11 * TB_PS_PER_S, 11 * TB_PS_PER_S + 2 * ROUND_PS);
	assert_int_equal(path.bbr.window, 4);
	tb_time_ps since = path.now;
	while (path.bbr.mode == TB_BBR_PROBE_RTT)
		go_round(&path);
	assert_in_range(path.now - since, 200 * TB_PS_PER_MS, 230 * TB_PS_PER_MS);
	assert_in_range(path.bbr.window, window - 2, window + 6);
}

// For a round of a recovery what comes is what goes; behind it the window is what it was.
static void a_recovery_conserves_packets(void **state)
{
	(void)state;
	struct path path = path_of(160);
	while (path.bbr.mode != TB_BBR_PROBE_BW)
		go_round(&path);
	go_round(&path);
	uint32_t window = path.bbr.window;
	tb_bbr_lost(&path.bbr);
	path.now += TB_PS_PER_MS;
	path.total += 2;
	struct tb_bbr_ack ack = ack_of(&path, 2);
	ack.recovers = true;
	ack.n_lost = 10;
	ack.under_way = 150;
	ack.before = 0; // of this round
	tb_bbr_acked(&path.bbr, &ack);
	assert_int_equal(path.bbr.window, 152);
	ack.recovers = false;
	ack.n_lost = 0;
	tb_bbr_acked(&path.bbr, &ack);
	assert_in_range(path.bbr.window, window - 2, window + 2);
}

static void a_timeout_leaves_one_segment(void **state)
{
	(void)state;
	struct path path = path_of(160);
	while (path.bbr.mode != TB_BBR_PROBE_BW)
		go_round(&path);
	uint32_t window = path.bbr.window;
	tb_bbr_timed_out(&path.bbr);
	assert_int_equal(path.bbr.window, 1);
	tb_bbr_undone(&path.bbr);
	assert_int_equal(path.bbr.window, window);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(startup_doubles_in_each_round),
		cmocka_unit_test(startup_ends_when_the_path_is_full),
		cmocka_unit_test(the_gain_goes_in_cycles),
		cmocka_unit_test(the_rate_is_forgotten_after_ten_rounds),
		cmocka_unit_test(a_limited_sample_counts_only_if_it_is_the_best),
		cmocka_unit_test(the_round_trip_is_probed),
		cmocka_unit_test(a_recovery_conserves_packets),
		cmocka_unit_test(a_timeout_leaves_one_segment),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
