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
	assert_int_equal(tb_connections_n(connections), 1);
	turned.two_way = false;
	turned.kind = 2;
	assert_int_equal(tb_connections_get(connections, &turned, &there, &back), TB_OK);
	assert_int_equal(there->mss, 0);
	assert_int_equal(tb_connections_n(connections), 2);
	tb_connections_free(connections);
}

static void idle_connections_make_room_and_busy_ones_stay(void **state)
{
	(void)state;
	struct tb_connections *connections;
	assert_int_equal(tb_connections_new(&connections), TB_OK);
	direction(connections, 7, 7)->mss = 777;
	for (uint32_t i = 0; i < 4 * TB_CONNECTIONS_MAX; i++) {
		direction(connections, 8, i);
		if (i % 1000 == 0)
			assert_int_equal(direction(connections, 7, 7)->mss, 777);
	}
	assert_int_equal(tb_connections_n(connections), TB_CONNECTIONS_MAX);
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
// leave at its edge.
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
	assert_int_equal(reorder.n_late, 1000 - TB_REORDER_WINDOW_NS / 10000 - 1);
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
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
