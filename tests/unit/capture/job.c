// Jobs: what the builder builds from operations, and what it refuses.
#include "job.h"

#include "../../job_equal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

static const struct tb_op calc = {.kind = TB_OP_CALC, .amount = 5};

static struct tb_op send_to(uint32_t peer, uint64_t bytes, uint32_t tag)
{
	return (struct tb_op){
		.kind = TB_OP_SEND, .peer = peer, .amount = bytes, .tag = tag};
}

static struct tb_op recv_from(uint32_t peer, uint64_t bytes, uint32_t tag)
{
	return (struct tb_op){
		.kind = TB_OP_RECV, .peer = peer, .amount = bytes, .tag = tag};
}

static struct tb_job_builder *begin(uint32_t n_ranks)
{
	struct tb_job_builder *builder;
	assert_int_equal(tb_job_builder_new(&builder, n_ranks, NULL), TB_OK);
	return builder;
}

static void add(struct tb_job_builder *builder, uint32_t rank, struct tb_op op)
{
	tb_job_add(builder, rank, &op);
	assert_int_equal(tb_job_builder_check(builder, NULL), TB_OK);
}

static void depend(
	struct tb_job_builder *builder, uint32_t rank, uint32_t index, uint32_t on)
{
	tb_job_depend(builder, rank, index, on, false);
	assert_int_equal(tb_job_builder_check(builder, NULL), TB_OK);
}

static int finish(
	struct tb_job_builder *builder, struct tb_job **job, struct tb_error *error)
{
	*job = NULL;
	*error = (struct tb_error){0};
	int status = tb_job_finish(builder, "test", job, error);
	tb_job_builder_free(builder);
	assert_int_equal(status, error->code);
	assert_true((status == TB_OK) == (*job != NULL));
	return status;
}

static void assert_fails(
	struct tb_job_builder *builder, enum tb_status code, const char *text)
{
	struct tb_job *job;
	struct tb_error error;
	assert_int_equal(finish(builder, &job, &error), code);
	assert_string_equal(error.text, text);
	assert_string_equal(error.file, "test");
}

static struct tb_job *assert_finishes(struct tb_job_builder *builder)
{
	struct tb_job *job;
	struct tb_error error;
	assert_int_equal(finish(builder, &job, &error), TB_OK);
	return job;
}

static void ranks_may_be_built_in_any_order(void **state)
{
	(void)state;
	struct tb_job *jobs[2];
	for (int turn = 0; turn < 2; turn++) {
		struct tb_job_builder *builder = begin(3);
		for (uint32_t k = 0; k < 6; k++) {
			// Turn 0 adds rank after rank, turn 1 goes round them backwards.
			uint32_t rank = turn == 0 ? k / 2 : 2 - k % 3;
			uint32_t round = turn == 0 ? k % 2 : k / 3;
			add(builder, rank,
				round == 0 ? send_to((rank + 1) % 3, 8, 1)
					   : recv_from((rank + 2) % 3, 8, 1));
		}
		for (uint32_t k = 0; k < 3; k++)
			depend(builder, turn == 0 ? k : 2 - k, 1, 0);
		jobs[turn] = assert_finishes(builder);
	}
	assert_true(job_equal(jobs[0], jobs[1]));
	assert_int_equal(jobs[0]->n_pairs, 3);
	assert_int_equal(tb_job_rank_of(jobs[0], 3), 1);
	tb_job_free(jobs[0]);
	tb_job_free(jobs[1]);
}

static void successors_ascend_with_those_of_the_end_first(void **state)
{
	(void)state;
	struct tb_job_builder *builder = begin(1);
	for (int i = 0; i < 5; i++)
		add(builder, 0, calc);
	depend(builder, 0, 4, 0);
	tb_job_depend(builder, 0, 1, 0, true);
	depend(builder, 0, 2, 0);
	depend(builder, 0, 4, 3);
	struct tb_job *job = assert_finishes(builder);
	assert_int_equal(job->first_successor[1], 3);
	assert_int_equal(job->successors[0], 2);
	assert_int_equal(job->successors[1], 4);
	assert_int_equal(job->successors[2], 1 | TB_DEP_START);
	assert_int_equal(job->n_predecessors[4], 2);
	assert_int_equal(job->n_predecessors[0], 0);
	tb_job_free(job);
}

static void ranks_without_operations_are_passed_over(void **state)
{
	(void)state;
	struct tb_job_builder *builder = begin(5);
	add(builder, 1, calc);
	add(builder, 3, calc);
	struct tb_job *job = assert_finishes(builder);
	assert_int_equal(tb_job_rank_of(job, 0), 1);
	assert_int_equal(tb_job_rank_of(job, 1), 3);
	char text[96];
	assert_string_equal(tb_job_describe(job, 1, text, sizeof text),
		"rank 3 operation 1 (calc 5)");
	tb_job_free(job);
}

static void a_cycle_is_a_deadlock_that_names_its_operations(void **state)
{
	(void)state;
	struct tb_job_builder *builder = begin(2);
	for (int i = 0; i < 4; i++)
		add(builder, 1, calc);
	depend(builder, 1, 1, 0);
	depend(builder, 1, 1, 2);
	depend(builder, 1, 2, 1);
	depend(builder, 1, 3, 2);
	assert_fails(builder, TB_EDEADLOCK,
		"rank 1 operation 2 (calc 5) waits for rank 1 operation 3 (calc 5), "
		"which waits for the "
		"first: none can start");
	builder = begin(1);
	add(builder, 0, calc);
	depend(builder, 0, 0, 0);
	assert_fails(builder, TB_EDEADLOCK,
		"rank 0 operation 1 (calc 5) waits for itself: it cannot start");
	builder = begin(1);
	for (uint32_t i = 0; i < 1000; i++)
		add(builder, 0, calc);
	for (uint32_t i = 0; i < 1000; i++)
		depend(builder, 0, i, (i + 1) % 1000);
	struct tb_job *job;
	struct tb_error error;
	assert_int_equal(finish(builder, &job, &error), TB_EDEADLOCK);
	assert_non_null(strstr(error.text, ", and so on round to the first: none"));
}

static void waiting_for_later_operations_is_no_cycle(void **state)
{
	(void)state;
	struct tb_job_builder *builder = begin(1);
	for (uint32_t i = 0; i < 100; i++)
		add(builder, 0, calc);
	for (uint32_t i = 0; i < 99; i++)
		depend(builder, 0, i, i + 1);
	tb_job_free(assert_finishes(builder));
}

static void what_never_matches_is_refused(void **state)
{
	(void)state;
	struct tb_job_builder *builder = begin(2);
	add(builder, 0, send_to(1, 8, 3));
	add(builder, 0, send_to(1, 8, 3));
	add(builder, 1, recv_from(0, 8, 3));
	assert_fails(builder, TB_EFORMAT,
		"rank 0 operation 2 (send 8b to 1 tag 3) finds no partner: rank 0 sends "
		"2 of tag "
		"3 "
		"to rank 1, which receives 1");
	builder = begin(2);
	add(builder, 1, recv_from(0, 8, 3));
	assert_fails(builder, TB_EFORMAT,
		"rank 1 operation 1 (recv 8b from 0 tag 3) finds no partner: rank 0 "
		"sends 0 of "
		"tag "
		"3 to rank 1, which receives 1");
	builder = begin(2);
	add(builder, 0, send_to(1, 8, 3));
	add(builder, 1, recv_from(0, 8, 4));
	assert_fails(builder, TB_EFORMAT,
		"rank 0 operation 1 (send 8b to 1 tag 3) finds no partner: rank 0 sends "
		"1 of tag "
		"3 "
		"to rank 1, which receives 0");
	builder = begin(2);
	add(builder, 0, send_to(1, 8, 3));
	add(builder, 1, recv_from(0, 9, 3));
	assert_fails(builder, TB_EFORMAT,
		"rank 0 operation 1 (send 8b to 1 tag 3) meets rank 1 operation 1 (recv "
		"9b from 0 tag 3): "
		"their sizes differ");
}

static void sizes_of_one_tag_may_come_in_another_order(void **state)
{
	(void)state;
	struct tb_job_builder *builder = begin(2);
	add(builder, 0, send_to(1, 8, 3));
	add(builder, 0, send_to(1, 9, 3));
	add(builder, 1, recv_from(0, 9, 3));
	add(builder, 1, recv_from(0, 8, 3));
	tb_job_free(assert_finishes(builder));
}

static void wildcards_match_by_number(void **state)
{
	(void)state;
	for (int missing = 0; missing < 2; missing++) {
		struct tb_job_builder *builder = begin(3);
		add(builder, 0, send_to(2, 8, 3));
		add(builder, 1, send_to(2, 8, 4));
		add(builder, 2, recv_from(TB_ANY, 8, 4));
		if (!missing)
			add(builder, 2, recv_from(0, 8, TB_ANY));
		if (missing)
			assert_fails(builder, TB_EFORMAT,
				"rank 2 has 1 receives (1 with any source or tag) for 2 "
				"messages");
		else
			tb_job_free(assert_finishes(builder));
	}
	struct tb_job_builder *builder = begin(3);
	add(builder, 0, send_to(2, 8, 3));
	add(builder, 2, recv_from(1, 8, 3));
	add(builder, 2, recv_from(TB_ANY, 8, 3));
	assert_fails(builder, TB_EFORMAT,
		"rank 2 operation 1 (recv 8b from 1 tag 3) finds no partner: rank 1 "
		"sends 0 of "
		"tag "
		"3 to rank 2, which receives 1");
	builder = begin(3);
	add(builder, 0, send_to(2, 8, 3));
	for (int i = 0; i < 2; i++)
		add(builder, 2, recv_from(TB_ANY, 8, 3));
	assert_fails(builder, TB_EFORMAT,
		"rank 2 has 2 receives (2 with any source or tag) for 1 messages");
}

static void channels_are_kept_apart_by_every_digit(void **state)
{
	(void)state;
	// Sources and tags that differ in high and low digits, in an order that needs
	// sorting; receives in the opposite order.
	static const uint32_t tags[] = {0, 70000, 1, 16777216, 255, 256, 4294967294u};
	const uint32_t n_tags = sizeof tags / sizeof *tags, n_ranks = 700;
	struct tb_job_builder *builder = begin(n_ranks);
	for (uint32_t rank = n_ranks; rank-- > 1;)
		for (uint32_t t = 0; t < n_tags; t++) {
			add(builder, rank, send_to(0, rank * 10 + t, tags[t]));
			add(builder, 0, recv_from(rank, rank * 10 + t, tags[t]));
		}
	struct tb_job *job = assert_finishes(builder);
	assert_int_equal(job->n_pairs, n_ranks - 1);
	tb_job_free(job);
}

// exchange builds two ranks that exchange a message in each of `n` rounds; in round `bad`
// both receive before they send.
static struct tb_job_builder *exchange(uint32_t n, uint32_t bad, bool same_tag)
{
	struct tb_job_builder *builder = begin(2);
	for (uint32_t rank = 0; rank < 2; rank++)
		for (uint32_t i = 0; i < 2 * n; i++) {
			uint32_t round = i / 2, tag = same_tag ? 0 : round;
			bool send_first = round != bad && rank == 0;
			bool send = (i % 2 == 0) == send_first;
			add(builder, rank,
				send ? send_to(1 - rank, 8, tag)
				     : recv_from(1 - rank, 8, tag));
			if (i > 0)
				depend(builder, rank, i, i - 1);
		}
	return builder;
}

static void ranks_that_wait_for_each_other_are_a_deadlock(void **state)
{
	(void)state;
	for (int same_tag = 0; same_tag < 2; same_tag++) {
		tb_job_free(assert_finishes(exchange(5, UINT32_MAX, same_tag)));
		assert_fails(exchange(1, 0, same_tag), TB_EDEADLOCK,
			"rank 0 operation 1 (recv 8b from 1 tag 0) waits for rank 1 "
			"operation 2 (send 8b "
			"to 0 "
			"tag 0), which waits for rank 1 operation 1 (recv 8b from 0 tag "
			"0), which "
			"waits for rank 0 operation 2 (send 8b to 1 tag 0), which waits "
			"for the "
			"first: none can start");
	}
	assert_fails(exchange(5, 3, true), TB_EDEADLOCK,
		"rank 0 operation 7 (recv 8b from 1 tag 0) waits for rank 1 operation 8 "
		"(send 8b to 0 tag "
		"0), which waits for rank 1 operation 7 (recv 8b from 0 tag 0), which "
		"waits for "
		"rank 0 operation 8 (send 8b to 1 tag 0), which waits for the first: "
		"none can "
		"start");
}

static void a_receive_that_has_started_holds_nobody_up(void **state)
{
	(void)state;
	for (int on_start = 0; on_start < 2; on_start++) {
		struct tb_job_builder *builder = begin(2);
		for (uint32_t rank = 0; rank < 2; rank++) {
			add(builder, rank, recv_from(1 - rank, 8, 0));
			add(builder, rank, send_to(1 - rank, 8, 0));
			tb_job_depend(builder, rank, 1, 0, on_start);
		}
		struct tb_job *job;
		struct tb_error error;
		assert_int_equal(
			finish(builder, &job, &error), on_start ? TB_OK : TB_EDEADLOCK);
		tb_job_free(job);
	}
}

static void what_only_time_can_tell_is_left_to_the_replay(void **state)
{
	(void)state;
	// The first message may go to either receive; only one of them lets rank 0 go on.
	struct tb_job_builder *builder = begin(2);
	add(builder, 0, recv_from(1, 8, 0));
	add(builder, 0, recv_from(1, 8, 0));
	add(builder, 0, send_to(1, 8, 0));
	depend(builder, 0, 2, 1);
	add(builder, 1, send_to(0, 8, 0));
	add(builder, 1, recv_from(0, 8, 0));
	add(builder, 1, send_to(0, 8, 0));
	depend(builder, 1, 2, 1);
	tb_job_free(assert_finishes(builder));
}

static void assert_refuses(uint32_t rank, struct tb_op op, const char *text)
{
	struct tb_error error;
	struct tb_job_builder *builder = begin(2);
	tb_job_add(builder, rank, &op);
	assert_int_equal(tb_job_builder_check(builder, &error), TB_EUSAGE);
	assert_string_equal(error.text, text);
	tb_job_builder_free(builder);
}

static void operations_out_of_range_are_refused(void **state)
{
	(void)state;
	struct tb_error error;
	struct tb_job_builder *builder = NULL;
	assert_int_equal(tb_job_builder_new(&builder, 0, &error), TB_EUSAGE);
	assert_int_equal(tb_job_builder_new(&builder, TB_RANKS_MAX + 1, NULL), TB_EUSAGE);
	assert_null(builder);
	assert_refuses(
		0, send_to(2, 8, 0), "peer 2 is out of range: the job has ranks 0 to 1");
	assert_refuses(2, calc, "rank 2 is out of range: the job has ranks 0 to 1");
	assert_refuses(0, send_to(TB_ANY, 8, 0),
		"only a receive can have any peer: a send must say which");
	assert_refuses(0, send_to(1, 8, TB_ANY),
		"only a receive can have any tag: a send must say which");
}

static void the_first_failure_is_kept(void **state)
{
	(void)state;
	struct tb_job *job = NULL;
	struct tb_error error;
	struct tb_job_builder *builder = begin(2);
	assert_int_equal(tb_job_add(builder, 1, &calc), 0);
	assert_int_equal(tb_job_add(builder, 1, &calc), 1);
	tb_job_depend(builder, 1, 1, 2, false);
	tb_job_add(builder, 7, &calc);
	assert_int_equal(tb_job_add(builder, 1, &calc), 0);
	tb_job_depend(builder, 1, 1, 0, false);
	assert_int_equal(tb_job_finish(builder, "test", &job, &error), TB_EUSAGE);
	assert_string_equal(error.text, "rank 1 has no operation 2");
	assert_null(job);
	tb_job_builder_free(builder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranks_may_be_built_in_any_order),
		cmocka_unit_test(successors_ascend_with_those_of_the_end_first),
		cmocka_unit_test(ranks_without_operations_are_passed_over),
		cmocka_unit_test(a_cycle_is_a_deadlock_that_names_its_operations),
		cmocka_unit_test(waiting_for_later_operations_is_no_cycle),
		cmocka_unit_test(what_never_matches_is_refused),
		cmocka_unit_test(sizes_of_one_tag_may_come_in_another_order),
		cmocka_unit_test(wildcards_match_by_number),
		cmocka_unit_test(channels_are_kept_apart_by_every_digit),
		cmocka_unit_test(ranks_that_wait_for_each_other_are_a_deadlock),
		cmocka_unit_test(a_receive_that_has_started_holds_nobody_up),
		cmocka_unit_test(what_only_time_can_tell_is_left_to_the_replay),
		cmocka_unit_test(operations_out_of_range_are_refused),
		cmocka_unit_test(the_first_failure_is_kept),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
