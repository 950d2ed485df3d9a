// Receives and messages in any order meet as in a model that searches lists.
#include "random.h"
#include "workload_impl.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

enum { N_OPS = 120, N_RANKS = 3, N_TAGS = 2, N_PROGRAMS = 2000 };

// What waits, in the order in which it came; TB_ID_NONE where it was taken.
struct list {
	uint32_t ops[N_OPS];
	size_t n;
};

struct program {
	struct tb_job job;
	struct tb_op ops[N_OPS];
	uint32_t rank_of[N_OPS];
	struct list posted, arrived;
};

static void draw(struct program *program, struct tb_random *random)
{
	*program = (struct program){
		.job = {.n_ranks = N_RANKS, .n_ops = N_OPS, .ops = program->ops}};
	// Each program has as many wildcards as it likes, none at all included.
	uint64_t wild = tb_random_below(random, 4);
	for (uint32_t i = 0; i < N_OPS; i++) {
		struct tb_op *op = &program->ops[i];
		program->rank_of[i] = (uint32_t)tb_random_below(random, N_RANKS);
		op->kind = tb_random_below(random, 2) ? TB_OP_SEND : TB_OP_RECV;
		op->peer = (uint32_t)tb_random_below(random, N_RANKS);
		op->tag = (uint32_t)tb_random_below(random, N_TAGS);
		if (op->kind == TB_OP_SEND)
			continue;
		if (tb_random_below(random, 8) < wild)
			op->peer = TB_ANY;
		if (tb_random_below(random, 8) < wild)
			op->tag = TB_ANY;
	}
}

static bool fits(const struct program *program, uint32_t recv, uint32_t send)
{
	const struct tb_op *want = &program->ops[recv], *message = &program->ops[send];
	return program->rank_of[recv] == message->peer &&
	       (want->peer == TB_ANY || want->peer == program->rank_of[send]) &&
	       (want->tag == TB_ANY || want->tag == message->tag);
}

// meet takes the first that fits out of those that wait, or lets `op` wait.
static uint32_t meet(struct program *program, uint32_t op)
{
	bool is_send = program->ops[op].kind == TB_OP_SEND;
	struct list *others = is_send ? &program->posted : &program->arrived;
	struct list *own = is_send ? &program->arrived : &program->posted;
	for (size_t i = 0; i < others->n; i++) {
		uint32_t other = others->ops[i];
		if (other == TB_ID_NONE ||
			!fits(program, is_send ? other : op, is_send ? op : other))
			continue;
		others->ops[i] = TB_ID_NONE;
		return other;
	}
	own->ops[own->n++] = op;
	return TB_ID_NONE;
}

static uint32_t links[3 * (N_OPS + 1)];

static void everybody_meets_whom_the_model_says(void **state)
{
	(void)state;
	static struct program program;
	for (uint64_t seed = 0; seed < N_PROGRAMS; seed++) {
		struct tb_random random;
		struct tb_matching matching;
		tb_random_init(&random, seed, 0);
		draw(&program, &random);
		assert_int_equal(
			tb_matching_init(&matching, &program.job, program.rank_of, links),
			TB_OK);
		for (uint32_t op = 0; op < N_OPS; op++) {
			uint32_t met = program.ops[op].kind == TB_OP_SEND
					       ? tb_matching_arrive(&matching, op)
					       : tb_matching_post(&matching, op);
			uint32_t expected = meet(&program, op);
			if (met != expected)
				fail_msg("seed %llu: operation %u meets %u, not %u",
					(unsigned long long)seed, op, met, expected);
		}
		tb_matching_fini(&matching);
	}
}

static bool same_channel(const struct program *program, uint32_t one, uint32_t other)
{
	const struct tb_op *a = &program->ops[one], *b = &program->ops[other];
	return program->rank_of[one] == program->rank_of[other] && a->peer == b->peer &&
	       a->tag == b->tag;
}

// land has a message land, and checks that those that arrive are the next ones of its
// channel. `arrived` has them all, in order.
static void land(struct program *program, struct tb_matching *matching, uint32_t send,
	bool lost, bool *left)
{
	uint32_t first;
	tb_matching_land(matching, send, lost);
	while ((first = tb_matching_in_turn(matching, send)) != TB_ID_NONE) {
		assert_true(same_channel(program, first, send));
		assert_true(left[first]);
		for (uint32_t op = 0; op < first; op++)
			if (left[op] && same_channel(program, op, first))
				fail_msg("message %u overtakes %u", first, op);
		left[first] = false;
		program->arrived.ops[program->arrived.n++] = first;
	}
}

// Messages leave in the order of their numbers and land in any.
static void messages_of_one_channel_do_not_overtake(void **state)
{
	(void)state;
	static struct program program;
	for (uint64_t seed = 0; seed < N_PROGRAMS; seed++) {
		struct tb_random random;
		struct tb_matching matching;
		bool left[N_OPS] = {false};
		uint32_t flying[N_OPS];
		size_t n = 0, n_lost = 0, n_sent;
		tb_random_init(&random, seed, 1);
		draw(&program, &random);
		assert_int_equal(
			tb_matching_init(&matching, &program.job, program.rank_of, links),
			TB_OK);
		for (uint32_t op = 0; op < N_OPS; op++) {
			if (program.ops[op].kind != TB_OP_SEND)
				continue;
			tb_matching_send(&matching, op);
			flying[n++] = op;
			left[op] = true;
		}
		for (n_sent = n; n > 0; n--) {
			size_t at = (size_t)tb_random_below(&random, n);
			bool lost = tb_random_below(&random, 8) == 0;
			uint32_t send = flying[at];
			flying[at] = flying[n - 1];
			n_lost += lost;
			left[send] = left[send] && !lost;
			land(&program, &matching, send, lost, left);
		}
		assert_int_equal(program.arrived.n + n_lost, n_sent);
		tb_matching_fini(&matching);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everybody_meets_whom_the_model_says),
		cmocka_unit_test(messages_of_one_channel_do_not_overtake),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
