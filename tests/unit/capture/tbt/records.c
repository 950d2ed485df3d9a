// The records of a lane are read as they were written, and nothing else is.
#include "tbt_records.h"

#include "../../../support/tbt_lane.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static struct tbt_lane lane;
static struct tb_error error;

// count reads the first `n` bytes, and returns how many records there were, or the error.
static int count(size_t n, struct tb_tbt_record *last)
{
	struct tb_tbt_cursor cursor = {.bytes = {lane.bytes, n}};
	int n_records = 0, status;
	while ((status = tb_tbt_next(&cursor, last, &error)) > 0)
		n_records++;
	tb_tbt_cursor_fini(&cursor);
	return status < 0 ? status : n_records;
}

static void records_follow_the_clock_of_their_lane(void **state)
{
	(void)state;
	struct tb_tbt_record record;
	tbt_begin(&lane, 1000);
	tbt_put(&lane, TB_TBT_SEND, 1500, 1700, 4,
		(const uint64_t[]){0, 1, 300, 1 << 20});
	tbt_put(&lane, TB_TBT_POLL, 1700, 2000, 0, NULL);
	lane.bytes[lane.n++] = TB_TBT_TIME; // the next block
	tbt_u64(&lane, lane.now_ns = 5000);
	tbt_put(&lane, TB_TBT_RECV, 5001, 5003, 4, (const uint64_t[]){2, 3, 4, 5});
	assert_int_equal(count(lane.n, &record), 3);
	assert_int_equal(record.kind, TB_TBT_RECV);
	assert_int_equal(record.enter_ns, 5001);
	assert_int_equal(record.leave_ns, 5003);
	assert_int_equal(record.fields[0], 2);
	assert_int_equal(record.fields[3], 5);
	assert_null(record.list);
}

static void lists_go_on_in_more_records(void **state)
{
	(void)state;
	static uint64_t values[2 * TB_TBT_LIST_PART + 5];
	static const size_t sizes[] = {
		0, 1, TB_TBT_LIST_PART, TB_TBT_LIST_PART + 1, 2 * TB_TBT_LIST_PART + 5};
	for (size_t i = 0; i < sizeof values / sizeof *values; i++)
		values[i] = 3 * i;
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		struct tb_tbt_record record;
		struct tb_tbt_cursor cursor = {.bytes = {lane.bytes, 0}};
		tbt_begin(&lane, 0);
		tbt_put(&lane, TB_TBT_COMPLETE, 1, 2, 0, NULL);
		tbt_list(&lane, sizes[i], values);
		cursor.bytes.n = lane.n;
		assert_int_equal(tb_tbt_next(&cursor, &record, &error), 1);
		assert_int_equal(record.n_list, sizes[i]);
		assert_memory_equal(record.list, values, sizes[i] * sizeof *values);
		tb_tbt_cursor_fini(&cursor);
	}
}

// A list of TB_TBT_LIST_PART + 5 values, whose second part says that it has `n_rest`.
static int count_parts(uint64_t n_rest)
{
	struct tb_tbt_record record;
	tbt_begin(&lane, 0);
	tbt_put(&lane, TB_TBT_COMPLETE, 1, 2, 0, NULL);
	tbt_varint(&lane, TB_TBT_LIST_PART + 5);
	for (size_t i = 0; i < TB_TBT_LIST_PART; i++)
		tbt_varint(&lane, i);
	tbt_put(&lane, TB_TBT_MORE, 2, 2, 0, NULL);
	tbt_varint(&lane, n_rest);
	for (size_t i = 0; i < n_rest; i++)
		tbt_varint(&lane, i);
	return count(lane.n, &record);
}

static void parts_of_a_list_agree(void **state)
{
	(void)state;
	assert_int_equal(count_parts(5), 1);
	for (uint64_t n_rest = 4; n_rest <= 6; n_rest += 2) {
		assert_int_equal(count_parts(n_rest), TB_EFORMAT);
		assert_string_equal(error.text,
			"the records of a lane are broken: the parts of a list disagree");
	}
}

static void what_is_cut_is_no_record(void **state)
{
	(void)state;
	struct tb_tbt_record record;
	tbt_begin(&lane, 7);
	size_t begun = lane.n;
	tbt_put(&lane, TB_TBT_COLL, 8, 9, 5, (const uint64_t[]){0, 300, 0, 8, 0});
	tbt_list(&lane, 2, (const uint64_t[]){300, 400});
	for (size_t n = begun + 1; n < lane.n; n++) {
		assert_int_equal(count(n, &record), TB_EFORMAT);
		assert_int_equal(error.place, TB_PLACE_OFFSET);
		assert_true(error.at <= n);
	}
	assert_int_equal(count(begun, &record), 0);
	assert_int_equal(count(lane.n, &record), 1);
	lane.bytes[lane.n++] = 0; // the lane ends
	lane.bytes[lane.n++] = 77;
	assert_int_equal(count(lane.n, &record), 1);
	lane.bytes[lane.n - 2] = 77;
	assert_int_equal(count(lane.n, &record), TB_EFORMAT);
}

static void absurd_times_are_refused(void **state)
{
	(void)state;
	struct tb_tbt_record record;
	tbt_begin(&lane, UINT64_MAX);
	lane.bytes[lane.n++] = TB_TBT_POLL;
	assert_int_equal(count(lane.n, &record), TB_EFORMAT);
	tbt_begin(&lane, 5);
	lane.bytes[lane.n++] = TB_TBT_POLL;
	tbt_varint(&lane, INT64_MAX);
	tbt_varint(&lane, 0);
	assert_int_equal(count(lane.n, &record), TB_EFORMAT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_follow_the_clock_of_their_lane),
		cmocka_unit_test(lists_go_on_in_more_records),
		cmocka_unit_test(parts_of_a_list_agree),
		cmocka_unit_test(what_is_cut_is_no_record),
		cmocka_unit_test(absurd_times_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
