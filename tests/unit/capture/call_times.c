// How long calls took, by kind and rank, and what a job keeps of it.
#include "call_times.h"

#include "calls_job.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void median_is_the_middle_one_and_of_an_even_number_the_lower(void **state)
{
	(void)state;
	static const uint64_t lists[][8] = {{70, 10, 30, 30, 90, 20, 50, 10},
		{10, 90, 80, 70, 60, 50, 40, 30}, {1, 2, 3, 4, 5, 6, 7, 8},
		{8, 7, 6, 5, 4, 3, 2, 1}, {5, 5, 5, 5, 5, 5}};
	for (size_t k = 0; k < 8 * sizeof lists / sizeof *lists; k++) {
		const uint64_t *lasted = lists[k / 8];
		size_t n = k % 8 + 1;
		struct tb_call_times times;
		uint64_t sum = 0;
		assert_int_equal(tb_call_times_begin(&times, 1), TB_OK);
		for (size_t i = 0; i < n; i++) {
			assert_int_equal(tb_call_times_add(&times, 0, TB_TIMED_SEND, 2,
						 100 * i, 100 * i + lasted[i]),
				TB_OK);
			sum += lasted[i];
		}
		tb_call_times_end(&times);
		const struct tb_kind_times *kind = &times.kinds[TB_TIMED_SEND];
		size_t below = 0, above = 0;
		for (size_t i = 0; i < n; i++) {
			below += lasted[i] < kind->median_ps;
			above += lasted[i] > kind->median_ps;
		}
		assert_true(below <= (n - 1) / 2 && above <= n / 2);
		assert_int_equal(kind->n, n);
		assert_int_equal(kind->bytes, 2 * n);
		assert_int_equal(kind->sum_ps, sum);
		assert_int_equal(times.ranks[0].sum_ps, sum);
		tb_call_times_fini(&times);
	}
}

static void kinds_have_the_names_of_calls(void **state)
{
	(void)state;
	char name[TB_TIMED_NAME_BYTES];
	struct tb_call call = {.kind = TB_CALL_SEND};
	assert_string_equal(tb_timed_name(tb_timed_kind(&call), name), "send");
	call.starts = true;
	assert_string_equal(tb_timed_name(tb_timed_kind(&call), name), "isend");
	call = (struct tb_call){.kind = TB_CALL_COLLECTIVE, .op = TB_COLL_SCAN};
	assert_string_equal(tb_timed_name(tb_timed_kind(&call), name), "scan");
	call.starts = true;
	assert_string_equal(tb_timed_name(tb_timed_kind(&call), name), "iscan");
	call = (struct tb_call){.kind = TB_CALL_JOINT};
	assert_string_equal(tb_timed_name(tb_timed_kind(&call), name), "wait");
}

static struct tb_job *job_of(struct tb_calls *calls)
{
	struct tb_job *job = NULL;
	struct tb_error error;
	assert_int_equal(tb_calls_job(calls, "", NULL, NULL, &job, &error), TB_OK);
	tb_calls_free(calls);
	return job;
}

static void add(struct tb_calls *calls, uint32_t rank, struct tb_call call)
{
	tb_calls_add(calls, rank, &call);
}

// exchange has rank 0 send, and rank 1 receive, with these times of the latter.
static struct tb_job *exchange(uint64_t enter_ns, uint64_t leave_ns)
{
	struct tb_calls *calls = NULL;
	assert_int_equal(tb_calls_new(&calls, 2, NULL), TB_OK);
	add(calls, 0,
		(struct tb_call){.kind = TB_CALL_SEND,
			.peer = 1,
			.bytes = 8,
			.calc_ns = 100,
			.enter_ns = 1100,
			.leave_ns = 1300});
	add(calls, 1,
		(struct tb_call){.kind = TB_CALL_RECV,
			.peer = 0,
			.bytes = 8,
			.calc_ns = 50,
			.enter_ns = enter_ns,
			.leave_ns = leave_ns});
	return job_of(calls);
}

static void times_count_from_the_first_rank_that_begins(void **state)
{
	(void)state;
	struct tb_job *job = exchange(1500, 1900);
	const struct tb_call_times *times = &job->recorded->times;
	assert_int_equal(times->n, 2);
	assert_int_equal(times->run_ps, 900 * 1000);
	assert_int_equal(times->ranks[0].sum_ps, 200 * 1000);
	assert_int_equal(times->ranks[0].end_ps, 300 * 1000);
	assert_int_equal(times->kinds[TB_TIMED_RECV].median_ps, 400 * 1000);
	tb_job_free(job);
}

static void a_call_that_ends_before_it_begins_is_left_out_and_told(void **state)
{
	(void)state;
	struct tb_job *job = exchange(1500, 1499);
	assert_int_equal(job->recorded->times.n, 1);
	assert_int_equal(job->recorded->n_uncompared[TB_UNCOMPARED_BACKWARDS], 1);
	assert_non_null(strstr(
		job->notes, "1 call that no replay is compared with: left before"));
	tb_job_free(job);
}

static void a_call_that_overlaps_the_one_before_is_left_out(void **state)
{
	(void)state;
	struct tb_calls *calls = NULL;
	assert_int_equal(tb_calls_new(&calls, 1, NULL), TB_OK);
	const struct tb_call first = {.kind = TB_CALL_COLLECTIVE,
		.op = TB_COLL_BARRIER,
		.enter_ns = 10,
		.leave_ns = 30};
	struct tb_call second = first;
	second.enter_ns = 29;
	second.leave_ns = 40;
	add(calls, 0, first);
	add(calls, 0, second);
	struct tb_job *job = job_of(calls);
	assert_int_equal(job->recorded->times.n, 1);
	assert_int_equal(job->recorded->n_uncompared[TB_UNCOMPARED_OVERLAPS], 1);
	tb_job_free(job);
}

static void ranks_that_end_far_apart_are_told(void **state)
{
	(void)state;
	struct tb_job *job = exchange(1500, 1900);
	assert_non_null(strstr(job->notes,
		"the ranks end at different times: rank 0 after 300 ns, rank 1 after "
		"900 ns"));
	tb_job_free(job);
	job = exchange(1200, 1310);
	assert_null(strstr(job->notes, "the ranks end at different times"));
	tb_job_free(job);
}

static void without_recorded_ends_a_job_has_no_times(void **state)
{
	(void)state;
	struct tb_calls *calls = NULL;
	assert_int_equal(tb_calls_new(&calls, 1, NULL), TB_OK);
	add(calls, 0,
		(struct tb_call){.kind = TB_CALL_COLLECTIVE,
			.op = TB_COLL_BARRIER,
			.enter_ns = 10});
	struct tb_job *job = job_of(calls);
	assert_null(job->recorded);
	tb_job_free(job);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			median_is_the_middle_one_and_of_an_even_number_the_lower),
		cmocka_unit_test(kinds_have_the_names_of_calls),
		cmocka_unit_test(times_count_from_the_first_rank_that_begins),
		cmocka_unit_test(a_call_that_ends_before_it_begins_is_left_out_and_told),
		cmocka_unit_test(a_call_that_overlaps_the_one_before_is_left_out),
		cmocka_unit_test(ranks_that_end_far_apart_are_told),
		cmocka_unit_test(without_recorded_ends_a_job_has_no_times),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
