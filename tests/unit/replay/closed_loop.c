// The release of operations: dependencies, matching, cpus, and what is said of a
// deadlock.
#include "workload_impl.h"

#include "calls_job.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

// A network without contention: what is posted is sent after 10 ps and delivered after
// `delay` ps, kept sorted by hand.
struct stage {
	struct tb_closed_loop *loop;
	struct tb_source source;
	struct {
		tb_time_ps at;
		uint64_t cookie;
		bool delivery;
	} due[64];
	size_t n_due;
	tb_time_ps delay;
	tb_time_ps posted[64]; // by operation
	uint32_t via[64];      // the same
	uint64_t order[64];    // operations as they were posted
	size_t n_posted;
	tb_time_ps end;
	struct tb_error error;
};

static struct tb_job *job_of(struct tb_job_builder *builder)
{
	struct tb_job *job = NULL;
	struct tb_error error = {0};
	if (tb_job_finish(builder, "test", &job, &error) != TB_OK)
		fail_msg("%s", error.text);
	tb_job_builder_free(builder);
	return job;
}

static struct tb_job_builder *builder_of(uint32_t n_ranks)
{
	struct tb_job_builder *builder = NULL;
	assert_int_equal(tb_job_builder_new(&builder, n_ranks, NULL), TB_OK);
	return builder;
}

static uint32_t add(struct tb_job_builder *builder, uint32_t rank, enum tb_op_kind kind,
	uint64_t amount, uint32_t peer, uint32_t tag)
{
	struct tb_op op = {
		.amount = amount, .peer = peer, .tag = tag, .kind = (uint8_t)kind};
	return tb_job_add(builder, rank, &op);
}

static void needs(struct tb_job_builder *builder, uint32_t rank, uint32_t op, uint32_t on)
{
	tb_job_depend(builder, rank, op, on, false);
}

static void schedule(struct stage *stage, tb_time_ps at, uint64_t cookie, bool delivery)
{
	size_t i = stage->n_due++;
	for (; i > 0 && stage->due[i - 1].at > at; i--)
		stage->due[i] = stage->due[i - 1];
	stage->due[i].at = at;
	stage->due[i].cookie = cookie;
	stage->due[i].delivery = delivery;
}

static int play(struct stage *stage)
{
	for (;;) {
		tb_time_ps at = stage->source.when(stage->source.context);
		tb_time_ps event = stage->n_due ? stage->due[0].at : TB_TIME_NEVER;
		if (at == TB_TIME_NEVER && event == TB_TIME_NEVER)
			return stage->source.finish(stage->source.context, &stage->error);
		struct tb_message message;
		int status = TB_OK;
		if (at <= event) {
			while ((status = stage->source.take(stage->source.context, at,
					&message, &stage->error)) > 0) {
				stage->posted[message.cookie] = at;
				stage->via[message.cookie] = message.via;
				stage->order[stage->n_posted++] = message.cookie;
				schedule(stage, at + 10, message.cookie, false);
				schedule(stage, at + stage->delay, message.cookie, true);
			}
			stage->end = at;
		} else {
			uint64_t cookie = stage->due[0].cookie;
			bool delivery = stage->due[0].delivery;
			memmove(stage->due, stage->due + 1,
				--stage->n_due * sizeof *stage->due);
			status = delivery ? stage->source.delivered(stage->source.context,
						    event, cookie, &stage->error)
					  : stage->source.sent(stage->source.context,
						    event, cookie, &stage->error);
			stage->end = event;
		}
		if (status < 0)
			return status;
	}
}

static struct stage stage_of(const struct tb_job *job, tb_time_ps delay)
{
	struct stage stage = {.delay = delay};
	uint32_t nodes[16];
	for (uint32_t i = 0; i < 16; i++)
		nodes[i] = i;
	assert_int_equal(
		tb_closed_loop_new(&stage.loop, job, nodes, 0, false, NULL), TB_OK);
	stage.source = tb_closed_loop_source(stage.loop);
	return stage;
}

static void an_operation_starts_when_those_it_requires_are_done(void **state)
{
	(void)state;
	struct tb_job_builder *builder = builder_of(2);
	uint32_t calc = add(builder, 0, TB_OP_CALC, 5, 0, 0); // 5 ns
	uint32_t ping = add(builder, 0, TB_OP_SEND, 8, 1, 1);
	needs(builder, 0, ping, calc);
	uint32_t got = add(builder, 1, TB_OP_RECV, 8, 0, 1);
	uint32_t pong = add(builder, 1, TB_OP_SEND, 8, 0, 2);
	needs(builder, 1, pong, got);
	add(builder, 0, TB_OP_RECV, 8, 1, 2);
	struct tb_job *job = job_of(builder);
	struct stage stage = stage_of(job, 100);
	assert_int_equal(play(&stage), TB_OK);
	assert_int_equal(stage.posted[ping], 5000);
	assert_int_equal(stage.posted[job->first_op[1] + pong], 5100);
	assert_int_equal(stage.end, 5200);
	assert_int_equal(tb_closed_loop_n_done(stage.loop), 5);
	tb_closed_loop_free(stage.loop);
	tb_job_free(job);
}

static void irequires_waits_for_the_start_only(void **state)
{
	(void)state;
	struct tb_job_builder *builder = builder_of(2);
	uint32_t calc = add(builder, 0, TB_OP_CALC, 5, 0, 0);
	struct tb_op op = {.amount = 1, .peer = 1, .kind = TB_OP_SEND, .cpu = 1};
	uint32_t send = tb_job_add(builder, 0, &op);
	tb_job_depend(builder, 0, send, calc, true);
	add(builder, 1, TB_OP_RECV, 1, 0, 0);
	struct tb_job *job = job_of(builder);
	struct stage stage = stage_of(job, 100);
	assert_int_equal(play(&stage), TB_OK);
	assert_int_equal(stage.posted[send], 0);
	tb_closed_loop_free(stage.loop);
	tb_job_free(job);
}

static void calcs_of_one_cpu_run_one_after_another(void **state)
{
	(void)state;
	struct tb_job_builder *builder = builder_of(1);
	add(builder, 0, TB_OP_CALC, 5, 0, 0);
	add(builder, 0, TB_OP_CALC, 7, 0, 0);
	struct tb_op other = {.amount = 11, .kind = TB_OP_CALC, .cpu = 1};
	tb_job_add(builder, 0, &other);
	struct tb_job *job = job_of(builder);
	struct stage stage = stage_of(job, 100);
	assert_int_equal(play(&stage), TB_OK);
	assert_int_equal(stage.end, 12000);
	tb_closed_loop_free(stage.loop);
	tb_job_free(job);
}

// Rank 1 posts three receives one after the other, in the order any, from 0, any; ranks 0
// and 2 send. What arrives first belongs to the receive that was posted first and accepts
// it.
static void calcs_that_end_together_go_on_in_the_order_of_ranks(void **state)
{
	(void)state;
	struct tb_job_builder *builder = builder_of(4);
	for (uint32_t rank = 0; rank < 4; rank++) {
		uint32_t calc = add(builder, rank, TB_OP_CALC, 5, 0, 0);
		needs(builder, rank, add(builder, rank, TB_OP_SEND, 8, (rank + 1) % 4, 1),
			calc);
		add(builder, rank, TB_OP_RECV, 8, (rank + 3) % 4, 1);
	}
	struct tb_job *job = job_of(builder);
	struct stage stage = stage_of(job, 100);
	assert_int_equal(play(&stage), TB_OK);
	assert_int_equal(stage.n_posted, 4);
	for (uint32_t rank = 0; rank < 4; rank++)
		assert_int_equal(stage.order[rank], job->first_op[rank] + 1);
	tb_closed_loop_free(stage.loop);
	tb_job_free(job);
}

// Sends 0 and 1 of rank 0, by the NICs that they name, in a job of one NIC or two.
static void a_send_goes_by_its_nic_where_there_are_several(void **state)
{
	(void)state;
	for (uint8_t nic = 0; nic < 2; nic++) {
		struct tb_job_builder *builder = builder_of(2);
		const struct tb_op second = {
			.amount = 8, .peer = 1, .tag = 1, .kind = TB_OP_SEND, .nic = nic};
		add(builder, 0, TB_OP_SEND, 8, 1, 1);
		tb_job_add(builder, 0, &second);
		add(builder, 1, TB_OP_RECV, 8, 0, 1);
		add(builder, 1, TB_OP_RECV, 8, 0, 1);
		struct tb_job *job = job_of(builder);
		struct stage stage = stage_of(job, 100);
		assert_int_equal(play(&stage), TB_OK);
		assert_int_equal(stage.via[0], nic ? 1 : 0);
		assert_int_equal(stage.via[1], nic ? 2 : 0);
		tb_closed_loop_free(stage.loop);
		tb_job_free(job);
	}
}

static void wildcards_match_in_the_order_of_posting(void **state)
{
	(void)state;
	struct tb_job_builder *builder = builder_of(3);
	add(builder, 0, TB_OP_SEND, 10, 1, 4);
	uint32_t calc = add(builder, 2, TB_OP_CALC, 1, 0, 0);
	uint32_t late = add(builder, 2, TB_OP_SEND, 20, 1, 9);
	needs(builder, 2, late, calc);
	uint32_t any = add(builder, 1, TB_OP_RECV, 10, TB_ANY, 4);
	uint32_t rest = add(builder, 1, TB_OP_RECV, 20, TB_ANY, TB_ANY);
	needs(builder, 1, rest, any);
	struct tb_job *job = job_of(builder);
	struct stage stage = stage_of(job, 100);
	assert_int_equal(play(&stage), TB_OK);
	tb_closed_loop_free(stage.loop);
	tb_job_free(job);
}

static void a_message_waits_for_its_receive(void **state)
{
	(void)state;
	struct tb_job_builder *builder = builder_of(2);
	add(builder, 0, TB_OP_SEND, 10, 1, 1);
	add(builder, 0, TB_OP_SEND, 20, 1, 2);
	uint32_t calc = add(builder, 1, TB_OP_CALC, 1000, 0, 0);
	uint32_t second = add(builder, 1, TB_OP_RECV, 20, 0, 2);
	uint32_t first = add(builder, 1, TB_OP_RECV, 10, TB_ANY, 1);
	needs(builder, 1, second, calc);
	needs(builder, 1, first, second);
	struct tb_job *job = job_of(builder);
	struct stage stage = stage_of(job, 100);
	assert_int_equal(play(&stage), TB_OK);
	assert_int_equal(stage.end, 1000000);
	tb_closed_loop_free(stage.loop);
	tb_job_free(job);
}

static void a_deadlock_names_who_waits_for_whom(void **state)
{
	(void)state;
	struct tb_job_builder *builder = builder_of(3);
	for (uint32_t rank = 0; rank < 2; rank++) {
		uint32_t recv = add(builder, rank, TB_OP_RECV, 64, 1 - rank, 7);
		uint32_t send = add(builder, rank, TB_OP_SEND, 64, 1 - rank, 7);
		needs(builder, rank, send, recv);
	}
	// With a wildcard about, the job itself does not look for deadlocks.
	add(builder, 0, TB_OP_SEND, 64, 2, 7);
	add(builder, 2, TB_OP_RECV, 64, TB_ANY, 7);
	struct tb_job *job = job_of(builder);
	struct stage stage = stage_of(job, 100);
	assert_int_equal(play(&stage), TB_EDEADLOCK);
	assert_non_null(
		strstr(stage.error.text, "rank 0 (operation 1) waits for 64 bytes from "
					 "rank 1 with tag 7"));
	assert_non_null(
		strstr(stage.error.text, "rank 1 (operation 1) waits for 64 bytes from "
					 "rank 0 with tag 7"));
	tb_closed_loop_free(stage.loop);
	tb_job_free(job);
}

static void a_message_too_long_for_its_receive_is_refused(void **state)
{
	(void)state;
	struct tb_job_builder *builder = builder_of(2);
	add(builder, 0, TB_OP_SEND, 65, 1, 7);
	add(builder, 1, TB_OP_RECV, 64, TB_ANY, 7);
	struct tb_job *job = job_of(builder);
	struct stage stage = stage_of(job, 100);
	assert_int_equal(play(&stage), TB_EFORMAT);
	assert_non_null(strstr(
		stage.error.text, "rank 1 receives 64 bytes where rank 0 sent 65"));
	tb_closed_loop_free(stage.loop);
	tb_job_free(job);
}

// what_calls_took replays the job of `calls` and adds up its calls.
static struct tb_call_times what_calls_took(
	struct tb_calls *calls, tb_time_ps delay, uint64_t *n_unreached)
{
	static const uint32_t nodes[] = {0, 1};
	struct tb_call_times times = {.n_ranks = 0};
	struct tb_job *job = NULL;
	struct stage stage = {.delay = delay};
	assert_int_equal(tb_calls_job(calls, "", NULL, NULL, &job, &stage.error), TB_OK);
	tb_calls_free(calls);
	assert_int_equal(
		tb_closed_loop_new(&stage.loop, job, nodes, 0, false, NULL), TB_OK);
	stage.source = tb_closed_loop_source(stage.loop);
	assert_int_equal(play(&stage), TB_OK);
	assert_int_equal(tb_closed_loop_times(stage.loop, &times, n_unreached), TB_OK);
	tb_closed_loop_free(stage.loop);
	tb_job_free(job);
	return times;
}

static void call(struct tb_calls *calls, uint32_t rank, struct tb_call what)
{
	what.leave_ns = what.enter_ns + 1; // so that the trace has its times
	tb_calls_add(calls, rank, &what);
}

static struct tb_call message(
	enum tb_call_kind kind, uint32_t peer, uint64_t calc_ns, uint64_t enter_ns)
{
	return (struct tb_call){.kind = (uint8_t)kind,
		.peer = peer,
		.bytes = 8,
		.calc_ns = calc_ns,
		.enter_ns = enter_ns};
}

static void a_receive_lasts_until_its_message_is_there(void **state)
{
	(void)state;
	uint64_t n_unreached;
	struct tb_calls *calls = NULL;
	assert_int_equal(tb_calls_new(&calls, 2, NULL), TB_OK);
	call(calls, 0, message(TB_CALL_SEND, 1, 100, 100));
	call(calls, 1, message(TB_CALL_RECV, 0, 30, 30));
	struct tb_call_times times = what_calls_took(calls, 900, &n_unreached);
	assert_int_equal(n_unreached, 0);
	// Computed until 30 ns; posted at 100 ns and delivered 900 ps later.
	assert_int_equal(times.kinds[TB_TIMED_RECV].median_ps, 100900 - 30000);
	assert_int_equal(times.kinds[TB_TIMED_SEND].sum_ps, 0); // it is buffered
	assert_int_equal(times.ranks[0].end_ps, 100000);
	assert_int_equal(times.run_ps, 100900);
	tb_call_times_fini(&times);
}

static void a_wait_lasts_until_all_that_it_is_for_and_not_into_computation(void **state)
{
	(void)state;
	uint64_t n_unreached;
	struct tb_calls *calls = NULL;
	assert_int_equal(tb_calls_new(&calls, 2, NULL), TB_OK);
	call(calls, 0, message(TB_CALL_SEND, 1, 100, 100));
	call(calls, 0, message(TB_CALL_SEND, 1, 300, 401));
	for (uint32_t i = 0; i < 2; i++) {
		struct tb_call begun = message(TB_CALL_RECV, 0, i ? 0 : 20, 20 + i);
		begun.starts = true;
		call(calls, 1, begun);
	}
	call(calls, 1,
		(struct tb_call){.kind = TB_CALL_JOINT, .calc_ns = 5, .enter_ns = 27});
	for (uint32_t i = 0; i < 2; i++)
		tb_calls_after(calls, 1, i);
	call(calls, 1, message(TB_CALL_SEND, 0, 70, 2000));
	call(calls, 0, message(TB_CALL_RECV, 1, 0, 3000));
	struct tb_call_times times = what_calls_took(calls, 900, &n_unreached);
	assert_int_equal(n_unreached, 0);
	// The second message is posted at 400 ns.
	assert_int_equal(times.kinds[TB_TIMED_WAIT].sum_ps, 400900 - 25000);
	assert_int_equal(times.kinds[TB_TIMED_IRECV].n, 2);
	assert_int_equal(times.kinds[TB_TIMED_IRECV].sum_ps, 0);
	assert_int_equal(times.ranks[1].end_ps, 470900);
	assert_int_equal(times.ranks[0].end_ps, 471800);
	tb_call_times_fini(&times);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_operation_starts_when_those_it_requires_are_done),
		cmocka_unit_test(irequires_waits_for_the_start_only),
		cmocka_unit_test(calcs_of_one_cpu_run_one_after_another),
		cmocka_unit_test(calcs_that_end_together_go_on_in_the_order_of_ranks),
		cmocka_unit_test(a_send_goes_by_its_nic_where_there_are_several),
		cmocka_unit_test(wildcards_match_in_the_order_of_posting),
		cmocka_unit_test(a_message_waits_for_its_receive),
		cmocka_unit_test(a_deadlock_names_who_waits_for_whom),
		cmocka_unit_test(a_message_too_long_for_its_receive_is_refused),
		cmocka_unit_test(a_receive_lasts_until_its_message_is_there),
		cmocka_unit_test(
			a_wait_lasts_until_all_that_it_is_for_and_not_into_computation),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
