// How calls become a job: the rules of docs/inputs.md, one by one, as GOAL.
#include "calls_job.h"
#include "goal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct tb_error error;
static struct tb_calls *calls;
static struct tb_reading reading;

static void begin(uint32_t n)
{
	reading = (struct tb_reading){0};
	assert_int_equal(tb_calls_new(&calls, n, &error), TB_OK);
}

static uint32_t put(uint32_t rank, struct tb_call call)
{
	return tb_calls_add(calls, rank, &call);
}

static void after(uint32_t rank, uint32_t on)
{
	tb_calls_after(calls, rank, on);
}

static uint32_t group(const uint32_t *members, uint32_t n)
{
	uint32_t number = 0;
	assert_int_equal(tb_calls_group(calls, members, n, n, &number, &error), TB_OK);
	return number;
}

static uint32_t message(
	uint32_t rank, bool sends, uint32_t peer, uint64_t bytes, bool starts)
{
	return put(rank, (struct tb_call){.kind = sends ? TB_CALL_SEND : TB_CALL_RECV,
				 .peer = peer,
				 .bytes = bytes,
				 .starts = starts});
}

static uint32_t collective(
	uint32_t rank, enum tb_collective_op op, uint32_t of, bool starts)
{
	return put(rank, (struct tb_call){.kind = TB_CALL_COLLECTIVE,
				 .op = (uint8_t)op,
				 .group = of,
				 .bytes = 8,
				 .starts = starts});
}

static uint32_t compute(uint32_t rank, uint64_t ns)
{
	return put(rank, (struct tb_call){.kind = TB_CALL_JOINT, .calc_ns = ns});
}

// make makes the job of the calls, which are used up.
static int make(struct tb_job **job)
{
	*job = NULL;
	int status = tb_calls_job(calls, "t", "openmpi", &reading, job, &error);
	tb_calls_free(calls);
	return status;
}

// goal returns the job as GOAL, each rank's on a line: "l1: calc 5; l2 requires l1;".
static char *goal(const struct tb_job *job)
{
	static char *text;
	static size_t size;
	FILE *stream = open_memstream(&text, &size);
	assert_int_equal(tb_goal_text_write(job, stream, &error), TB_OK);
	assert_int_equal(fclose(stream), 0);
	return text;
}

static void assert_makes(const char *expected)
{
	struct tb_job *job;
	if (make(&job) != TB_OK)
		fail_msg("%s", error.text);
	char *text = goal(job);
	assert_string_equal(strchr(text, '\n') + 1, expected);
	free(text);
	tb_job_free(job);
}

static void assert_fails(enum tb_status code, const char *text)
{
	struct tb_job *job;
	assert_int_equal(make(&job), code);
	assert_string_equal(error.text, text);
	assert_null(job);
}

static void computation_stands_before_the_call(void **state)
{
	(void)state;
	begin(2);
	put(0, (struct tb_call){.kind = TB_CALL_SEND,
		       .peer = 1,
		       .bytes = 8,
		       .tag = 77,
		       .calc_ns = 5});
	put(1, (struct tb_call){.kind = TB_CALL_RECV,
		       .peer = 0,
		       .bytes = 8,
		       .tag = 77,
		       .calc_ns = 7});
	compute(1, 9);
	assert_makes("\nrank 0 {\n"
		     "l1: calc 5\n"
		     "l2: send 8b to 1 tag 0\nl2 requires l1\n"
		     "}\n\nrank 1 {\n"
		     "l1: calc 7\n"
		     "l2: recv 8b from 0 tag 0\nl2 requires l1\n"
		     "l3: calc 9\nl3 requires l2\n"
		     "}\n");
}

static void pauses_join_the_computation_that_follows(void **state)
{
	(void)state;
	begin(1);
	compute(0, 1);
	compute(0, 2);
	compute(0, 0);
	compute(0, 4);
	assert_makes("\nrank 0 {\nl1: calc 7\n}\n");
}

static void an_eager_send_is_complete_when_it_is_handed_over(void **state)
{
	(void)state;
	begin(2);
	message(0, true, 1, 65480, false);
	compute(0, 3);
	message(1, false, 0, 65480, false);
	assert_makes("\nrank 0 {\n"
		     "l1: send 65480b to 1 tag 0\n"
		     "l2: calc 3\nl2 irequires l1\n"
		     "}\n\nrank 1 {\n"
		     "l1: recv 65480b from 0 tag 0\n"
		     "}\n");
}

// What the bounds of inferred jobs are about are calls of more than half of what is sent
// without asking; ranks come to them at different times.
static void long_messages_have_a_bound(void **state)
{
	(void)state;
	struct tb_job *job;
	for (int i = 0; i < 8; i++) {
		uint64_t bytes = i & 1 ? 100000 : 8;
		begin(2);
		reading.bounded = i & 2;
		reading.sends_wait = i & 4;
		message(0, true, 1, bytes, false);
		message(1, false, 0, bytes, false);
		message(1, true, 0, bytes, false);
		message(0, false, 1, bytes, false);
		assert_int_equal(make(&job), TB_OK);
		assert_int_equal(job->bounds != NULL, i == 7);
		if (job->bounds) {
			uint32_t n_sends = 0;
			for (uint32_t op = 0; op < job->n_ops; op++)
				n_sends += job->ops[op].kind == TB_OP_SEND;
			assert_int_equal(job->bounds->n, 1);
			assert_int_equal(job->bounds->own, 1);
			assert_int_equal(job->bounds->n_calls, n_sends);
			assert_true(job->bounds->jobs[0]->n_ops > job->n_ops);
		}
		tb_job_free(job);
	}
}

static void a_send_into_a_socket_waits_for_room(void **state)
{
	(void)state;
	begin(2);
	reading.sends_wait = true;
	message(0, true, 1, 8, false);
	compute(0, 3);
	message(1, false, 0, 8, false);
	assert_makes("\nrank 0 {\n"
		     "l1: send 8b to 1 tag 0\n"
		     "l2: calc 3\nl2 requires l1\n"
		     "}\n\nrank 1 {\n"
		     "l1: recv 8b from 0 tag 0\n"
		     "}\n");
	begin(3); // not within a host
	reading.sends_wait = true;
	for (uint32_t rank = 0; rank < 3; rank++)
		tb_calls_host(calls, rank, rank < 2 ? "h" : "g");
	message(0, true, 1, 8, false);
	compute(0, 3);
	message(1, false, 0, 8, false);
	struct tb_job *job;
	assert_int_equal(make(&job), TB_OK);
	char *text = goal(job);
	assert_non_null(strstr(text, "irequires"));
	free(text);
	tb_job_free(job);
}

static void a_long_message_is_asked_for(void **state)
{
	(void)state;
	begin(2);
	message(0, true, 1, 65481, false);
	compute(0, 3);
	// The receive's own size does not count.
	put(1, (struct tb_call){
		       .kind = TB_CALL_RECV, .peer = 0, .bytes = 100000, .calc_ns = 5});
	assert_makes("\nrank 0 {\n"
		     "l1: send 0b to 1 tag 1\n"
		     "l2: recv 0b from 1 tag 2\n"
		     "l3: send 65481b to 1 tag 3\nl3 requires l2\n"
		     "l4: calc 3\nl4 requires l3\n"
		     "}\n\nrank 1 {\n"
		     "l1: calc 5\n"
		     "l2: recv 0b from 0 tag 1\nl2 requires l1\n"
		     "l3: send 0b to 0 tag 2\nl3 requires l2\n"
		     "l4: recv 65481b from 0 tag 3\nl4 requires l1\n"
		     "}\n");
}

static void what_did_not_wait_for_ever_is_sent_at_once(void **state)
{
	(void)state;
	begin(2);
	for (uint32_t r = 0; r < 2; r++) {
		message(r, true, 1 - r, 100000, false);
		message(r, false, 1 - r, 100000, false);
	}
	struct tb_job *job;
	assert_int_equal(make(&job), TB_OK);
	assert_int_equal(job->n_ops, 4);
	assert_non_null(strstr(job->notes, "every message is sent at once, for"));
	tb_job_free(job);
}

static void within_a_host_nothing_is_asked_for(void **state)
{
	(void)state;
	for (int same = 0; same < 2; same++) {
		struct tb_job *job;
		begin(3);
		message(0, true, 1, 65481, false);
		message(1, false, 0, 65481, false);
		tb_calls_host(calls, 0, "a");
		tb_calls_host(calls, 1, same ? "a" : "b");
		tb_calls_host(calls, 2, "c");
		assert_int_equal(make(&job), TB_OK);
		assert_int_equal(job->n_ops, same ? 2 : 6);
		assert_string_equal(job->hosts[1], same ? "a" : "b");
		tb_job_free(job);
	}
}

static void ranks_of_one_host_send_as_if_each_had_its_own(void **state)
{
	(void)state;
	struct tb_job *job;
	begin(2);
	message(0, true, 1, 65481, false);
	message(1, false, 0, 65481, false);
	for (uint32_t r = 0; r < 2; r++)
		tb_calls_host(calls, r, "laptop");
	assert_int_equal(make(&job), TB_OK);
	assert_int_equal(job->n_ops, 6);
	assert_string_equal(job->hosts[1], "laptop");
	tb_job_free(job);
}

static void ranks_that_will_share_a_node_send_at_once(void **state)
{
	(void)state;
	for (uint32_t per_node = 1; per_node <= 2; per_node++) {
		struct tb_job *job;
		begin(3);
		message(0, true, 1, 65481, false);
		message(1, false, 0, 65481, false);
		for (uint32_t r = 0; r < 3; r++)
			tb_calls_host(calls, r, per_node == 1 && r < 2 ? "a" : &"bcd"[r]);
		reading.per_node = per_node;
		assert_int_equal(make(&job), TB_OK);
		assert_int_equal(job->n_ops, per_node == 2 ? 2 : 6);
		tb_job_free(job);
	}
}

static void waits_pass_on_what_they_wait_for(void **state)
{
	(void)state;
	begin(2);
	for (uint32_t r = 0; r < 2; r++) {
		compute(r, 5);
		uint32_t on[] = {message(r, false, 1 - r, 8, true),
			message(r, true, 1 - r, 8, true)};
		put(r, (struct tb_call){.kind = TB_CALL_JOINT});
		after(r, on[0]);
		after(r, on[1]);
		compute(r, 6);
		message(r, true, 1 - r, 16, false);
		message(r, false, 1 - r, 16, false);
	}
	struct tb_job *job;
	assert_int_equal(make(&job), TB_OK);
	char *text = goal(job);
	static const char expected[] = "num_ranks 2\n\nrank 0 {\n"
				       "l1: calc 5\n"
				       "l2: recv 8b from 1 tag 0\nl2 requires l1\n"
				       "l3: send 8b to 1 tag 0\nl3 requires l1\n"
				       "l4: calc 6\nl4 requires l2\nl4 irequires l3\n"
				       "l5: send 16b to 1 tag 0\nl5 requires l4\n"
				       "l6: recv 16b from 1 tag 0\nl6 irequires l5\n"
				       "}\n";
	assert_memory_equal(text, expected, sizeof expected - 1);
	free(text);
	tb_job_free(job);
}

static void several_dependencies_are_joined_once(void **state)
{
	(void)state;
	begin(2);
	// Behind a wait for two receives, two operations start: a calc joins them.
	uint32_t first = message(0, false, 1, 1, true);
	uint32_t second = message(0, false, 1, 1, true);
	put(0, (struct tb_call){.kind = TB_CALL_JOINT});
	after(0, first);
	after(0, second);
	message(0, true, 1, 2, true);
	message(0, true, 1, 2, true);
	for (int i = 0; i < 2; i++)
		message(1, true, 0, 1, false);
	for (int i = 0; i < 2; i++)
		message(1, false, 0, 2, false);
	struct tb_job *job;
	assert_int_equal(make(&job), TB_OK);
	assert_int_equal(job->first_op[1], 5);
	assert_int_equal(job->ops[2].kind, TB_OP_CALC);
	assert_int_equal(job->n_predecessors[2], 2);
	assert_int_equal(job->n_predecessors[3], 1);
	tb_job_free(job);
}

static void lanes_run_beside_each_other(void **state)
{
	(void)state;
	begin(1);
	uint32_t first = put(0, (struct tb_call){.calc_ns = 5, .lane = 1});
	put(0, (struct tb_call){.calc_ns = 6});
	// A lane that begins after a call computes behind it.
	put(0, (struct tb_call){.calc_ns = 7, .lane = 2});
	after(0, first);
	// One that has begun computes first, and then waits.
	put(0, (struct tb_call){.calc_ns = 8, .lane = 0});
	after(0, first);
	put(0, (struct tb_call){.calc_ns = 9, .lane = 0});
	assert_makes("\nrank 0 {\n"
		     "l1: calc 5 cpu 1\n"
		     "l2: calc 14\n"
		     "l3: calc 9\nl3 requires l1\nl3 requires l2\n"
		     "l4: calc 7 cpu 2\nl4 requires l1\n"
		     "}\n");
}

static void a_send_without_receive_is_named(void **state)
{
	(void)state;
	for (int lenient = 0; lenient < 2; lenient++) {
		begin(3);
		message(2, true, 1, 8, false);
		message(1, false, 2, 8, false);
		put(2, (struct tb_call){.kind = TB_CALL_SEND,
			       .peer = 1,
			       .bytes = 8,
			       .calc_ns = 4,
			       .enter_ns = 1500000000});
		reading.lenient = lenient;
		if (!lenient) {
			assert_fails(TB_EFORMAT,
				"rank 2 at 1.500000 s: its send to rank 1 (8 bytes, tag "
				"0, group 0) finds no receive: rank 2 sends 2 of these "
				"and rank 1 receives 1 (--lenient leaves out what is too "
				"many)");
			continue;
		}
		struct tb_job *job;
		assert_int_equal(make(&job), TB_OK);
		assert_int_equal(job->n_ops, 3); // the computation stays
		assert_non_null(strstr(job->notes,
			"1 send and 0 receives without a counterpart are left out"));
		tb_job_free(job);
	}
}

static void a_receive_without_send_is_named(void **state)
{
	(void)state;
	begin(2);
	put(0, (struct tb_call){.kind = TB_CALL_RECV, .peer = 1, .tag = 3, .bytes = 9});
	assert_fails(TB_EFORMAT,
		"rank 0 at 0.000000 s: its receive from rank 1 (9 bytes, tag 3, group 0) "
		"finds no send: rank 1 sends 0 of these and rank 0 receives 1 (--lenient "
		"leaves out what is too many)");
}

static void a_rank_that_ended_early_is_blamed(void **state)
{
	static const char *const blamed[] = {"rank 1 ended early: rank 0 at 0.000000 s: ",
		"rank 1 and 1 more ended early: rank 0 at 0.000000 s: "};
	(void)state;
	for (uint32_t n = 1; n <= 2; n++) {
		char text[256];
		begin(3);
		put(0, (struct tb_call){.kind = TB_CALL_SEND, .peer = 1, .bytes = 9});
		for (uint32_t rank = 1; rank <= n; rank++)
			tb_calls_early(calls, rank);
		snprintf(text, sizeof text,
			"%sits send to rank 1 (9 bytes, tag 0, group 0) finds no "
			"receive: rank 0 sends 1 of these and rank 1 receives 0 "
			"(--lenient leaves out what is too many)",
			blamed[n - 1]);
		assert_fails(TB_EFORMAT, text);
	}
}

static void tags_and_groups_are_matched_apart(void **state)
{
	(void)state;
	begin(2);
	const uint32_t both[] = {0, 1};
	uint32_t other = group(both, 2);
	const struct tb_call sent[] = {{.kind = TB_CALL_SEND, .peer = 1, .bytes = 1},
		{.kind = TB_CALL_SEND, .peer = 1, .bytes = 2, .tag = 1},
		{.kind = TB_CALL_SEND, .peer = 1, .bytes = 3, .group = other}};
	for (int i = 0; i < 3; i++)
		put(0, sent[i]);
	for (int i = 3; i-- > 0;) {
		struct tb_call call = sent[i];
		call.kind = TB_CALL_RECV;
		call.peer = 0;
		put(1, call);
	}
	struct tb_job *job;
	assert_int_equal(make(&job), TB_OK);
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(job->ops[i].amount, i + 1);
		assert_int_equal(job->ops[5 - i].amount, i + 1);
		assert_int_equal(job->ops[i].tag, job->ops[5 - i].tag);
	}
	tb_job_free(job);
}

static void members_must_agree(void **state)
{
	(void)state;
	begin(2);
	collective(0, TB_COLL_BARRIER, 0, false);
	collective(1, TB_COLL_BARRIER, 0, false);
	collective(0, TB_COLL_BROADCAST, 0, false);
	collective(1, TB_COLL_ALLREDUCE, 0, false);
	assert_fails(TB_EFORMAT,
		"rank 1 at 0.000000 s: its collective call 2 of group 0 is allreduce "
		"with "
		"root 0, but that of others is broadcast with root 0 (--lenient leaves "
		"such calls out)");
	begin(3);
	collective(2, TB_COLL_BARRIER, 0, false);
	collective(0, TB_COLL_BARRIER, 0, false);
	assert_fails(TB_EFORMAT,
		"rank 0 at 0.000000 s: its barrier (collective call 1 of group 0) lacks "
		"rank 1, which makes 0 of the group (--lenient leaves such calls out)");
}

static void lenient_leaves_out_what_not_all_did(void **state)
{
	(void)state;
	struct tb_job *job;
	begin(2);
	reading.lenient = true;
	collective(0, TB_COLL_BROADCAST, 0, false);
	collective(1, TB_COLL_ALLREDUCE, 0, false);
	collective(0, TB_COLL_BARRIER, 0, false);
	collective(1, TB_COLL_BARRIER, 0, false);
	collective(0, TB_COLL_BARRIER, 0, false);
	assert_int_equal(make(&job), TB_OK);
	assert_non_null(strstr(job->notes,
		"2 collective calls are left out, because not every member of the group "
		"made the same"));
	assert_non_null(strstr(job->notes, "barrier in 2 ranks, 1 call: "));
	tb_job_free(job);
}

static void a_collective_call_holds_its_lane(void **state)
{
	(void)state;
	struct tb_job *job;
	begin(2);
	for (uint32_t r = 0; r < 2; r++) {
		compute(r, 5 + r);
		collective(r, TB_COLL_BARRIER, 0, false);
		compute(r, 7);
	}
	assert_int_equal(make(&job), TB_OK);
	// Each: calc, token out, token in, and the last calc behind both.
	for (uint32_t r = 0; r < 2; r++) {
		uint32_t last = job->first_op[r + 1] - 1;
		assert_int_equal(job->ops[last].amount, 7);
		assert_true(job->n_predecessors[last] >= 1);
		assert_int_equal(job->n_predecessors[job->first_op[r] + 1], 1);
	}
	tb_job_free(job);
}

static void what_starts_may_come_in_any_order(void **state)
{
	(void)state;
	struct tb_job *job;
	begin(2);
	const uint32_t both[] = {0, 1};
	uint32_t other = group(both, 2);
	for (uint32_t r = 0; r < 2; r++) {
		uint32_t first = collective(r, TB_COLL_BARRIER, r ? other : 0, true);
		uint32_t second = collective(r, TB_COLL_BARRIER, r ? 0 : other, true);
		compute(r, 1);
		after(r, first);
		after(r, second);
	}
	assert_int_equal(make(&job), TB_OK);
	tb_job_free(job);
}

static void streams_may_interleave_differently(void **state)
{
	(void)state;
	struct tb_job *job;
	begin(2);
	const uint32_t both[] = {0, 1};
	uint32_t other = group(both, 2);
	for (uint32_t r = 0; r < 2; r++)
		for (uint32_t i = 0; i < 2; i++)
			put(r, (struct tb_call){.kind = TB_CALL_COLLECTIVE,
				       .op = TB_COLL_BARRIER,
				       .group = r == i ? 0 : other,
				       .lane = r == i ? 0 : 1});
	assert_int_equal(make(&job), TB_OK);
	tb_job_free(job);
}

static void blocking_calls_in_circles_are_a_deadlock(void **state)
{
	(void)state;
	begin(2);
	const uint32_t both[] = {0, 1};
	uint32_t other = group(both, 2);
	for (uint32_t r = 0; r < 2; r++) {
		collective(r, TB_COLL_BARRIER, r ? other : 0, false);
		collective(r, TB_COLL_BARRIER, r ? 0 : other, false);
	}
	assert_fails(TB_EDEADLOCK,
		"rank 0 at 0.000000 s: its barrier of group 0 never ends, because ranks "
		"come to their collective calls in orders that wait for each other");
}

static void groups_number_their_own_members(void **state)
{
	(void)state;
	struct tb_job *job;
	begin(4);
	const uint32_t members[] = {3, 1};
	uint32_t pair = group(members, 2);
	for (uint32_t i = 0; i < 2; i++)
		put(members[i], (struct tb_call){.kind = TB_CALL_COLLECTIVE,
					.op = TB_COLL_BROADCAST,
					.peer = 1, // rank 1
					.bytes = 100,
					.group = pair});
	assert_int_equal(make(&job), TB_OK);
	assert_int_equal(job->first_op[1], 0);
	assert_int_equal(job->ops[0].kind, TB_OP_SEND);
	assert_int_equal(job->ops[0].peer, 3);
	tb_job_free(job);
}

static void each_member_joins_in_its_own_lane(void **state)
{
	(void)state;
	struct tb_job *job;
	uint32_t n_joints = 0;
	begin(4);
	for (uint32_t r = 0; r < 4; r++) {
		compute(r, 1000);
		put(r, (struct tb_call){.kind = TB_CALL_COLLECTIVE,
			       .op = TB_COLL_ALLTOALL,
			       .bytes = 8,
			       .lane = r > 0});
	}
	assert_int_equal(make(&job), TB_OK);
	for (uint32_t r = 0; r < 4; r++)
		for (uint32_t op = job->first_op[r]; op < job->first_op[r + 1]; op++) {
			if (job->ops[op].kind != TB_OP_CALC || job->ops[op].amount > 0)
				continue;
			assert_int_equal(job->ops[op].cpu, r > 0);
			n_joints++;
		}
	assert_int_equal(n_joints, 4);
	tb_job_free(job);
}

static void libraries_are_named(void **state)
{
	(void)state;
	struct tb_job *job = NULL;
	begin(1);
	reading.library = "none";
	assert_int_equal(make(&job), TB_EUSAGE);
	begin(1);
	assert_int_equal(
		tb_calls_job(calls, "t", "Some MPI", &reading, &job, &error), TB_OK);
	assert_non_null(strstr(job->notes, "Some MPI"));
	tb_calls_free(calls);
	tb_job_free(job);
	begin(1);
	const char *const choices[] = {"allreduce=none"};
	reading.collectives = choices;
	reading.n_collectives = 1;
	assert_int_equal(make(&job), TB_EUSAGE);
}

static void choices_take_the_place_of_the_library(void **state)
{
	(void)state;
	struct tb_job *job;
	const char *const choices[] = {"allreduce=ring"};
	begin(4);
	reading.collectives = choices;
	reading.n_collectives = 1;
	for (uint32_t r = 0; r < 4; r++)
		for (int i = 0; i < 3; i++)
			collective(r, TB_COLL_ALLREDUCE, 0, false);
	assert_int_equal(make(&job), TB_OK);
	assert_non_null(strstr(job->notes, "allreduce of 8 B in 4 ranks, 3 calls: ring"));
	tb_job_free(job);
}

// Each call lasts from what its rank did before it until its own part is done, the one
// that only starts too; what no trace timed besides has no place.
static void collective_calls_know_their_place(void **state)
{
	(void)state;
	struct tb_job *job;
	const char *const choices[] = {"allreduce=ring"};
	begin(2);
	reading.collectives = choices;
	reading.n_collectives = 1;
	for (uint32_t r = 0; r < 2; r++) {
		compute(r, 5);
		collective(r, TB_COLL_ALLREDUCE, 0, false);
		message(r, r == 0, 1 - r, 1, false);
		collective(r, TB_COLL_ALLREDUCE, 0, true);
		compute(r, 9);
	}
	assert_int_equal(make(&job), TB_OK);
	const struct tb_placed_calls *placed = job->placed;
	assert_non_null(placed);
	for (uint32_t r = 0; r < 2; r++) {
		const struct tb_placed_call *call = &placed->calls[placed->first[r]];
		uint32_t first = job->first_op[r];
		assert_int_equal(placed->first[r + 1] - placed->first[r], 2);
		assert_int_equal(call[0].kind, TB_TIMED_COLLECTIVE + TB_COLL_ALLREDUCE);
		assert_int_equal(call[1].kind, TB_TIMED_STARTED + TB_COLL_ALLREDUCE);
		assert_string_equal(placed->algorithms[call[0].algorithm], "ring");
		assert_int_equal(call[0].bytes, 8);
		assert_int_equal(call[0].enter, first); // the calc
		assert_true(call[0].leave > first);
		// The next operation is that of the message between the two calls.
		const struct tb_op *next = &job->ops[call[0].leave + 1];
		assert_int_equal(next->kind, r == 0 ? TB_OP_SEND : TB_OP_RECV);
		assert_int_equal(next->amount, 1);
		// An eager send is joined, because the call waits for its start alone.
		assert_int_equal(call[1].enter, call[0].leave + (r == 0 ? 2 : 1));
		assert_true(call[1].leave > call[1].enter);
	}
	tb_job_free(job);
	begin(2);
	message(0, true, 1, 1, false);
	message(1, false, 0, 1, false);
	assert_int_equal(make(&job), TB_OK);
	assert_null(job->placed);
	tb_job_free(job);
}

// serve puts a receive at rank 0 that takes what comes first, and its answer.
static void serve(uint32_t peer, bool any)
{
	put(0, (struct tb_call){.kind = TB_CALL_RECV,
		       .peer = peer,
		       .bytes = 8,
		       .any_source = any});
	put(0, (struct tb_call){
		       .kind = TB_CALL_SEND, .peer = peer, .bytes = 16, .calc_ns = 5});
}

static void ask(uint32_t rank)
{
	message(rank, true, 0, 8, false);
	message(rank, false, 0, 16, false);
}

// The receive of 2 waits for nothing of 1's turn, the second of 1 for its first turn, and
// the message to 2 at the end for all turns.
static void what_comes_first_is_served_first(void **state)
{
	(void)state;
	begin(3);
	ask(1), ask(1), ask(2);
	serve(1, true), serve(2, true), serve(1, true);
	message(0, true, 2, 1, false);
	message(2, false, 0, 1, false);
	struct tb_job *job;
	assert_int_equal(make(&job), TB_OK);
	char *text = goal(job);
	char *rank_1 = strstr(text, "rank 1");
	assert_non_null(rank_1);
	*rank_1 = '\0';
	assert_string_equal(strchr(text, '\n') + 1,
		"\nrank 0 {\n"
		"l1: recv 8b from 1 tag 0\n"
		"l2: calc 5\nl2 requires l1\n"
		"l3: send 16b to 1 tag 0\nl3 requires l2\n"
		"l4: recv 8b from 2 tag 0\n"
		"l5: calc 5\nl5 requires l4\n"
		"l6: send 16b to 2 tag 0\nl6 requires l5\n"
		"l7: recv 8b from 1 tag 0\nl7 irequires l3\n"
		"l8: calc 5\nl8 requires l7\n"
		"l9: send 16b to 1 tag 0\nl9 requires l8\n"
		"l10: send 1b to 2 tag 0\nl10 irequires l6\nl10 irequires l9\n"
		"}\n\n");
	free(text);
	tb_job_free(job);
}

// n_chained returns how many receives of rank 0 wait for something.
static uint32_t n_chained(const uint32_t *peers, uint32_t n, bool lacks)
{
	struct tb_job *job;
	begin(5);
	if (lacks)
		tb_calls_lacks_sources(calls);
	for (uint32_t i = 0; i < n; i++) {
		ask(peers[i]);
		serve(peers[i], false);
	}
	assert_int_equal(make(&job), TB_OK);
	uint32_t chained = 0;
	for (uint32_t i = job->first_op[0]; i < job->first_op[1]; i++)
		chained += job->ops[i].kind == TB_OP_RECV && job->n_predecessors[i] > 0;
	tb_job_free(job);
	return chained;
}

// Where a trace does not tell, an order of senders that varies does.
static void a_varying_order_of_senders_is_any_source(void **state)
{
	(void)state;
	uint32_t regular[40], varied[40], state_of = 1;
	for (uint32_t i = 0; i < 40; i++) {
		regular[i] = 1 + i % 4;
		state_of = state_of * 1103515245u + 12345u;
		varied[i] = 1 + (state_of >> 16) % 4;
	}
	assert_int_equal(n_chained(regular, 40, true), 39);
	assert_int_equal(n_chained(varied, 40, false), 39);
	// The first of each sender waits for nobody.
	assert_int_equal(n_chained(varied, 40, true), 36);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(computation_stands_before_the_call),
		cmocka_unit_test(pauses_join_the_computation_that_follows),
		cmocka_unit_test(an_eager_send_is_complete_when_it_is_handed_over),
		cmocka_unit_test(long_messages_have_a_bound),
		cmocka_unit_test(a_send_into_a_socket_waits_for_room),
		cmocka_unit_test(a_long_message_is_asked_for),
		cmocka_unit_test(what_did_not_wait_for_ever_is_sent_at_once),
		cmocka_unit_test(within_a_host_nothing_is_asked_for),
		cmocka_unit_test(ranks_of_one_host_send_as_if_each_had_its_own),
		cmocka_unit_test(ranks_that_will_share_a_node_send_at_once),
		cmocka_unit_test(waits_pass_on_what_they_wait_for),
		cmocka_unit_test(several_dependencies_are_joined_once),
		cmocka_unit_test(lanes_run_beside_each_other),
		cmocka_unit_test(a_send_without_receive_is_named),
		cmocka_unit_test(a_receive_without_send_is_named),
		cmocka_unit_test(a_rank_that_ended_early_is_blamed),
		cmocka_unit_test(tags_and_groups_are_matched_apart),
		cmocka_unit_test(members_must_agree),
		cmocka_unit_test(lenient_leaves_out_what_not_all_did),
		cmocka_unit_test(a_collective_call_holds_its_lane),
		cmocka_unit_test(what_starts_may_come_in_any_order),
		cmocka_unit_test(streams_may_interleave_differently),
		cmocka_unit_test(blocking_calls_in_circles_are_a_deadlock),
		cmocka_unit_test(groups_number_their_own_members),
		cmocka_unit_test(each_member_joins_in_its_own_lane),
		cmocka_unit_test(libraries_are_named),
		cmocka_unit_test(choices_take_the_place_of_the_library),
		cmocka_unit_test(collective_calls_know_their_place),
		cmocka_unit_test(what_comes_first_is_served_first),
		cmocka_unit_test(a_varying_order_of_senders_is_any_source),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
