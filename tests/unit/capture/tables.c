// The packet reader's tables stay within their bounds and keep entries that are in use.
#include "clean.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static struct tb_direction *direction(
	struct tb_connections *connections, uint32_t source, uint32_t channel)
{
	struct tb_direction *there;
	struct tb_direction *back;
	const struct tb_connection_key key = {.source = source,
		.destination = 1000000,
		.channel = channel,
		.kind = 1,
		.two_way = true};
	assert_int_equal(tb_connections_get(connections, &key, &there, &back), TB_OK);
	return there;
}

static void both_directions_are_one_connection(void **state)
{
	(void)state;
	struct tb_connections *connections;
	struct tb_direction *there;
	struct tb_direction *back;
	assert_int_equal(tb_connections_new(&connections), TB_OK);
	struct tb_connection_key key = {1, 2, 700u << 16 | 800, 1, true};
	assert_int_equal(tb_connections_get(connections, &key, &there, &back), TB_OK);
	there->mss = 111;
	back->mss = 222;
	struct tb_connection_key turned = {2, 1, 800u << 16 | 700, 1, true};
	assert_int_equal(tb_connections_get(connections, &turned, &there, &back), TB_OK);
	assert_int_equal(there->mss, 222);
	assert_int_equal(back->mss, 111);
	turned.two_way = false;
	turned.kind = 2;
	assert_int_equal(tb_connections_get(connections, &turned, &there, &back), TB_OK);
	assert_int_equal(there->mss, 0);
	turned.two_way = true;
	turned.kind = 1;
	assert_int_equal(tb_connections_get(connections, &turned, &there, &back), TB_OK);
	assert_int_equal(there->mss, 222);
	tb_connections_free(connections);
}

static void idle_connections_make_room_and_busy_ones_stay(void **state)
{
	(void)state;
	struct tb_connections *connections;
	assert_int_equal(tb_connections_new(&connections), TB_OK);
	direction(connections, 7, 7)->mss = 777;
	direction(connections, 8, 0)->mss = 888;
	for (uint32_t i = 0; i < 4 * TB_CONNECTIONS_MAX; i++) {
		direction(connections, 8, i);
		if (i % 1000 == 0)
			assert_int_equal(direction(connections, 7, 7)->mss, 777);
	}
	assert_int_equal(direction(connections, 8, 0)->mss, 0);
	assert_int_equal(direction(connections, 7, 7)->mss, 777);
	tb_connections_free(connections);
}

static void a_copy_is_known_within_the_window_only(void **state)
{
	(void)state;
	struct tb_dedup *dedup;
	assert_int_equal(tb_dedup_new(&dedup), TB_OK);
	assert_false(tb_dedup_is_copy(dedup, 5, 1, 0));
	assert_true(tb_dedup_is_copy(dedup, 5, 2, 1000));
	assert_true(tb_dedup_is_copy(dedup, 5, 3, 2000));
	assert_false(tb_dedup_is_copy(dedup, 5, 1, 3000)); // a second frame, alike
	assert_true(tb_dedup_is_copy(dedup, 5, 2, 4000));  // and its copy
	assert_false(tb_dedup_is_copy(dedup, 5, 2, 4001 + TB_DEDUP_WINDOW_NS));
	tb_dedup_free(dedup);
}

static void millions_of_frames_in_a_window_forget_the_oldest(void **state)
{
	(void)state;
	struct tb_dedup *dedup;
	assert_int_equal(tb_dedup_new(&dedup), TB_OK);
	for (uint64_t i = 0; i < 10 * TB_DEDUP_FRAMES_MAX; i++)
		assert_false(tb_dedup_is_copy(dedup, i, 1, 0));
	assert_true(tb_dedup_is_copy(dedup, 10 * TB_DEDUP_FRAMES_MAX - 1, 2, 0));
	assert_false(tb_dedup_is_copy(dedup, 0, 2, 0));
	tb_dedup_free(dedup);
}

static void put(struct tb_reorder *reorder, int64_t at_ns, uint32_t mark)
{
	int64_t stamp = tb_reorder_stamp(reorder, at_ns);
	struct tb_held *held = tb_reorder_place(reorder);
	assert_non_null(held);
	held->source = mark;
	assert_int_equal(tb_reorder_put(reorder, stamp), TB_OK);
}

static void equal_stamps_leave_in_the_order_of_arrival(void **state)
{
	(void)state;
	struct tb_reorder reorder = {0};
	put(&reorder, 100, 1);
	put(&reorder, 200, 4);
	put(&reorder, 100, 2);
	put(&reorder, 100, 3);
	put(&reorder, 200, 5);
	for (uint32_t mark = 1; mark <= 5; mark++)
		assert_int_equal(tb_reorder_take(&reorder, true)->source, mark);
	assert_null(tb_reorder_take(&reorder, true));
	assert_int_equal(reorder.n_reordered, 2);
	tb_reorder_fini(&reorder);
}

static void records_without_time_do_not_pile_up(void **state)
{
	(void)state;
	struct tb_reorder reorder = {0};
	uint32_t n_out = 0;
	for (uint32_t i = 0; i < 3 * TB_REORDER_RECORDS_MAX; i++) {
		put(&reorder, 0, i);
		while (tb_reorder_take(&reorder, false))
			n_out++;
		assert_true(reorder.ring_n + reorder.heap_n < TB_REORDER_RECORDS_MAX);
	}
	assert_int_equal(n_out, 2 * TB_REORDER_RECORDS_MAX + 1);
	tb_reorder_fini(&reorder);
}

// All records come in reverse order: each is a straggler, and those beyond the window
// leave at its edge, until it is clear that the clock runs backwards.
static void time_running_backwards_never_leaves_backwards(void **state)
{
	(void)state;
	struct tb_reorder reorder = {0};
	int64_t last_ns = INT64_MIN;
	for (uint32_t i = 0; i < 1000; i++)
		put(&reorder, 10000000 - (int64_t)i * 10000, i);
	for (struct tb_held *held; (held = tb_reorder_take(&reorder, true));) {
		assert_true(held->at_ns >= last_ns);
		last_ns = held->at_ns;
	}
	assert_int_equal(reorder.n_late, TB_REORDER_LATE_MAX * reorder.n_stepped);
	assert_true(reorder.n_stepped > 0);
	tb_reorder_fini(&reorder);
}

#define MS	INT64_C(1000000)
#define S	(1000 * MS)
#define DAY	(86400 * S)
#define REST_MS (TB_REORDER_REST_NS / MS)

// stamps_are runs stamps, in milliseconds, through a clock and compares.
static void stamps_are(
	const int64_t *stamps_ms, const int64_t *at_ms, size_t n, uint64_t n_stepped)
{
	struct tb_reorder reorder = {0};
	for (size_t i = 0; i < n; i++)
		assert_int_equal(
			tb_reorder_stamp(&reorder, stamps_ms[i] * MS), at_ms[i] * MS);
	assert_int_equal(reorder.n_stepped, n_stepped);
	assert_int_equal(reorder.n_late, 0);
	tb_reorder_fini(&reorder);
}

static void a_clock_that_steps_back_begins_a_new_stretch(void **state)
{
	(void)state;
	static const int64_t once[] = {7200000, 7200500, 3600000, 3600500, 3700000};
	static const int64_t once_at[] = {7200000, 7200500, 7200500 + REST_MS,
		7200500 + REST_MS + 500, 7200500 + REST_MS + 100000};
	stamps_are(once, once_at, 5, 1);
	static const int64_t thrice[] = {900000, 600000, 600001, 300000, 1000, 1001};
	static const int64_t thrice_at[] = {
		900000, 901000, 901001, 902001, 903001, 903002};
	stamps_are(thrice, thrice_at, 6, 3);
	static const int64_t little[] = {1000, 1100, 1050, 1060, 1200};
	static const int64_t little_at[] = {1000, 1100, 1101, 1111, 1251};
	stamps_are(little, little_at, 5, 1);
}

// A record that alone is out of time by far does not move those after it, and two
// interfaces whose clocks are 37 s apart go on together.
static void clocks_that_alternate_are_followed(void **state)
{
	(void)state;
	static const int64_t alone[] = {1000, 1100, 500, 1101, 1102};
	static const int64_t alone_at[] = {1000, 1100, 1101, 1101, 1102};
	stamps_are(alone, alone_at, 5, 1);
	static const int64_t two[] = {
		50000, 50001, 13001, 50002, 13003, 13004, 50005, 50006, 13007};
	static const int64_t two_at[] = {
		50000, 50001, 51001, 51001, 51003, 51004, 51004, 51005, 51007};
	stamps_are(two, two_at, 9, 1);
}

static void clocks_may_be_broken_by_centuries(void **state)
{
	(void)state;
	struct tb_reorder reorder = {0};
	static const int64_t days[] = {0, 20000, 0, 104000, 1, 0, 104166, 50000, 3};
	int64_t last_ns = 0;
	for (uint32_t i = 0; i < 200000; i++) {
		int64_t at_ns =
			tb_reorder_stamp(&reorder, days[i % 9] * DAY + i % 7 * DAY * 3);
		assert_true(at_ns >= last_ns - TB_REORDER_WINDOW_NS);
		last_ns = at_ns;
	}
	// A step forward of years counts as a little more than a day.
	reorder = (struct tb_reorder){0};
	assert_int_equal(tb_reorder_stamp(&reorder, 5 * DAY), 5 * DAY);
	assert_int_equal(tb_reorder_stamp(&reorder, 9000 * DAY), 6 * DAY + 1);
	assert_int_equal(tb_reorder_stamp(&reorder, 9000 * DAY + 5), 6 * DAY + 6);
	assert_int_equal(reorder.n_stepped, 0);
	tb_reorder_fini(&reorder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_directions_are_one_connection),
		cmocka_unit_test(idle_connections_make_room_and_busy_ones_stay),
		cmocka_unit_test(a_copy_is_known_within_the_window_only),
		cmocka_unit_test(millions_of_frames_in_a_window_forget_the_oldest),
		cmocka_unit_test(equal_stamps_leave_in_the_order_of_arrival),
		cmocka_unit_test(records_without_time_do_not_pile_up),
		cmocka_unit_test(time_running_backwards_never_leaves_backwards),
		cmocka_unit_test(a_clock_that_steps_back_begins_a_new_stretch),
		cmocka_unit_test(clocks_that_alternate_are_followed),
		cmocka_unit_test(clocks_may_be_broken_by_centuries),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
