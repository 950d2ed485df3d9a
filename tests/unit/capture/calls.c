// What readers put into tb_calls comes out again, and what cannot be is refused.
#include "calls.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct tb_error error;

static struct tb_calls *begin(uint32_t n)
{
	struct tb_calls *calls = NULL;
	assert_int_equal(tb_calls_new(&calls, n, &error), TB_OK);
	return calls;
}

static void calls_keep_their_order_and_what_they_wait_for(void **state)
{
	(void)state;
	struct tb_calls *calls = begin(2);
	for (uint32_t i = 0; i < 100; i++) {
		const struct tb_call call = {.kind = TB_CALL_SEND, .peer = 0, .bytes = i};
		assert_int_equal(tb_calls_add(calls, 1, &call), i);
		for (uint32_t k = i % 3; k > 0; k--)
			if (i >= k)
				tb_calls_after(calls, 1, i - k);
	}
	assert_int_equal(tb_calls_check(calls, &error), TB_OK);
	uint32_t n;
	const struct tb_call *all = tb_calls_of(calls, 1, &n);
	assert_int_equal(n, 100);
	for (uint32_t i = 3; i < n; i++) {
		uint32_t n_on;
		const uint32_t *on = tb_calls_befores(calls, 1, i, &n_on);
		assert_int_equal(all[i].bytes, i);
		assert_int_equal(n_on, i % 3);
		for (uint32_t k = 0; k < n_on; k++)
			assert_int_equal(on[k], i - (n_on - k));
	}
	assert_ptr_equal(tb_calls_of(calls, 0, &n), NULL);
	assert_int_equal(n, 0);
	tb_calls_free(calls);
}

static void groups_are_ordered_and_checked(void **state)
{
	(void)state;
	struct tb_calls *calls = begin(4);
	const uint32_t three[] = {3, 0, 2}, twice[] = {1, 1}, beyond[] = {4};
	uint32_t group = 9;
	assert_int_equal(tb_calls_n_groups(calls), 1);
	assert_int_equal(tb_calls_members(calls, 0).n, 4);
	assert_int_equal(tb_calls_group(calls, three, 3, 3, &group, &error), TB_OK);
	assert_int_equal(group, 1);
	assert_memory_equal(tb_calls_members(calls, 1).members, three, sizeof three);
	assert_int_equal(tb_calls_group(calls, twice, 2, 2, &group, &error), TB_EUSAGE);
	assert_string_equal(error.text, "rank 1 is twice in a group");
	struct tb_group of = tb_calls_members(calls, 1);
	assert_int_equal(tb_group_place(&of, three[0]), 0);
	assert_int_equal(tb_group_place(&of, three[2]), 2);
	assert_int_equal(tb_group_place(&of, 99), 3);
	assert_int_equal(tb_calls_group(calls, beyond, 1, 1, &group, &error), TB_EUSAGE);
	assert_int_equal(tb_calls_group(calls, three, 0, 0, &group, &error), TB_EUSAGE);
	assert_int_equal(tb_calls_group(calls, three, 3, 4, &group, &error), TB_EUSAGE);
	assert_int_equal(group, 1);
	tb_calls_free(calls);
}

// are_refused says that something was refused, and that nothing is added after it.
static void are_refused(struct tb_calls *calls, const char *why)
{
	const struct tb_call joint = {.kind = TB_CALL_JOINT};
	uint32_t n_before, n;
	assert_int_equal(tb_calls_check(calls, &error), TB_EUSAGE);
	assert_string_equal(error.text, why);
	tb_calls_of(calls, 0, &n_before);
	assert_int_equal(tb_calls_add(calls, 0, &joint), 0);
	tb_calls_host(calls, 0, "n1");
	tb_calls_of(calls, 0, &n);
	assert_int_equal(n, n_before);
	assert_null(tb_calls_host_of(calls, 0));
	tb_calls_free(calls);
}

static void what_is_out_of_range_is_refused(void **state)
{
	(void)state;
	static const struct {
		uint32_t rank;
		struct tb_call call;
		const char *why;
	} wrong[] = {
		{0, {.kind = TB_CALL_SEND, .peer = 2}, "rank 0 names rank 2 of 2"},
		{2, {.kind = TB_CALL_SEND, .peer = 1},
			"rank 2 is out of range: the job has 2 ranks"},
		{0, {.kind = TB_CALL_SEND, .peer = 1, .group = 1},
			"rank 0 calls in group 1, of which nothing is known"},
		{0, {.kind = TB_CALL_COLLECTIVE, .peer = 2},
			"rank 0 names member 2 of 2"},
		{0, {.kind = TB_CALL_COLLECTIVE, .op = TB_COLL_N},
			"no collective operation has number 12"},
	};
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		struct tb_calls *calls = begin(2);
		assert_int_equal(tb_calls_add(calls, wrong[i].rank, &wrong[i].call), 0);
		are_refused(calls, wrong[i].why);
	}
	const struct tb_call joint = {.kind = TB_CALL_JOINT};
	for (uint32_t n = 0; n < 2; n++) {
		struct tb_calls *calls = begin(2);
		for (uint32_t i = 0; i < n; i++)
			tb_calls_add(calls, 0, &joint);
		tb_calls_after(calls, 0, 0);
		are_refused(
			calls, "a call of rank 0 comes after one that is not earlier");
	}
	struct tb_calls *calls = begin(2);
	tb_calls_host(calls, 2, "n1");
	are_refused(calls, "rank 2 is out of range");
	assert_int_equal(tb_calls_new(&calls, 0, &error), TB_EUSAGE);
}

static void sizes_belong_to_the_last_call(void **state)
{
	(void)state;
	struct tb_calls *calls = begin(2);
	const struct tb_call exchange = {
		.kind = TB_CALL_COLLECTIVE, .op = TB_COLL_EXCHANGE};
	const struct tb_call joint = {.kind = TB_CALL_JOINT};
	const uint64_t first[] = {1, 2}, second[] = {3, 4};
	tb_calls_add(calls, 0, &exchange);
	tb_calls_sizes(calls, 0, first, 2);
	tb_calls_add(calls, 0, &exchange);
	tb_calls_sizes(calls, 0, second, 2);
	tb_calls_add(calls, 0, &joint);
	assert_int_equal(tb_calls_check(calls, &error), TB_OK);
	tb_calls_sizes(calls, 0, second, 2);
	assert_int_equal(tb_calls_check(calls, &error), TB_EUSAGE);
	uint32_t n, n_sizes;
	const struct tb_call *all = tb_calls_of(calls, 0, &n);
	assert_memory_equal(
		tb_calls_sizes_of(calls, &all[0], &n_sizes), first, sizeof first);
	assert_memory_equal(
		tb_calls_sizes_of(calls, &all[1], &n_sizes), second, sizeof second);
	assert_int_equal(n_sizes, 2);
	assert_null(tb_calls_sizes_of(calls, &all[2], &n_sizes));
	assert_int_equal(n_sizes, 0);
	tb_calls_free(calls);
}

static void notes_and_hosts_are_kept(void **state)
{
	(void)state;
	struct tb_calls *calls = begin(2);
	tb_calls_note(calls, "%d puts are left out", 12);
	tb_calls_note(calls, "a second one");
	tb_calls_note(calls, "%s puts are left out", "12");
	assert_string_equal(tb_calls_note_at(calls, 0), "12 puts are left out");
	assert_string_equal(tb_calls_note_at(calls, 1), "a second one");
	assert_null(tb_calls_note_at(calls, 2));
	tb_calls_host(calls, 1, "n1");
	tb_calls_host(calls, 1, "n2");
	assert_int_equal(tb_calls_check(calls, &error), TB_OK);
	assert_string_equal(tb_calls_host_of(calls, 1), "n2");
	assert_null(tb_calls_host_of(calls, 0));
	tb_calls_free(calls);
}

static void operations_are_found_by_the_names_they_give(void **state)
{
	(void)state;
	for (int i = 0; i < TB_COLL_N; i++) {
		enum tb_collective_op op = TB_COLL_N;
		const char *name = tb_collective_op_name((enum tb_collective_op)i);
		assert_true(tb_collective_op_find(&op, name));
		assert_int_equal(op, i);
	}
	enum tb_collective_op op = TB_COLL_N;
	assert_false(tb_collective_op_find(&op, "all"));
	assert_int_equal(op, TB_COLL_N);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_keep_their_order_and_what_they_wait_for),
		cmocka_unit_test(groups_are_ordered_and_checked),
		cmocka_unit_test(what_is_out_of_range_is_refused),
		cmocka_unit_test(sizes_belong_to_the_last_call),
		cmocka_unit_test(notes_and_hosts_are_kept),
		cmocka_unit_test(operations_are_found_by_the_names_they_give),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
