// Every algorithm of collective calls, and every choice of every library, for 1 to 33
// members and sizes around the limits: blocks are moved as planned, and each member must
// end with what the operation promises. Nothing is added twice.
#include "library.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define N_MAX 33

static const uint64_t sizes[] = {0, 1, 63, 256, 8192, 65536, 600001, 5000000};

// For each member and block the set of members whose data are in it; 0: not there.
struct state {
	const struct tb_plan *plan;
	enum tb_collective_op op;
	uint64_t n_blocks, *now, *next;
	const struct tb_transfer *moving;
	const char *fault;
};

static bool reduces(enum tb_collective_op op)
{
	return op == TB_COLL_REDUCE || op == TB_COLL_ALLREDUCE ||
	       op == TB_COLL_REDUCE_SCATTER || op == TB_COLL_SCAN ||
	       op == TB_COLL_EXSCAN || op == TB_COLL_BARRIER;
}

static uint64_t *at(
	const struct state *state, uint64_t *of, uint64_t member, uint64_t block)
{
	return &of[member * state->n_blocks + block];
}

static uint64_t owner_of(const struct state *state, uint64_t block)
{
	uint64_t n = state->plan->n_ranks;
	return state->op == TB_COLL_ALLTOALL ? block / n : block / (state->n_blocks / n);
}

static uint64_t has_at_first(const struct state *state, uint32_t member, uint64_t block)
{
	if (reduces(state->op))
		return UINT64_C(1) << member;
	if (state->op == TB_COLL_SCATTER || state->op == TB_COLL_BROADCAST)
		return member == state->plan->root;
	return owner_of(state, block) == member;
}

static uint64_t up_to(uint32_t member)
{
	return (UINT64_C(1) << member) * 2 - 1;
}

// must_have returns what the block must have in it in the end; 0: anything.
static uint64_t must_have(const struct state *state, uint32_t member, uint64_t block)
{
	uint32_t n = state->plan->n_ranks;
	uint64_t all = up_to(n - 1);
	switch (state->op) {
	case TB_COLL_BARRIER:
		return block == 0 ? all : 0;
	case TB_COLL_ALLREDUCE:
		return all;
	case TB_COLL_REDUCE:
		return member == state->plan->root ? all : 0;
	case TB_COLL_REDUCE_SCATTER:
		return owner_of(state, block) == member ? all : 0;
	case TB_COLL_SCATTER:
		return owner_of(state, block) == member;
	case TB_COLL_GATHER:
		return member == state->plan->root;
	case TB_COLL_ALLTOALL:
		return block % n == member;
	case TB_COLL_SCAN:
	case TB_COLL_EXSCAN:
		return up_to(member);
	case TB_COLL_BROADCAST:
	case TB_COLL_ALLGATHER:
	case TB_COLL_EXCHANGE:
	case TB_COLL_N:
		break;
	}
	return 1;
}

// is_empty is true of blocks without bytes, which need not be sent.
static bool is_empty(const struct state *state, uint64_t block)
{
	const uint64_t *ends = state->plan->block_ends;
	return ends && ends[block] == (block ? ends[block - 1] : 0);
}

static void move(void *context, uint64_t block)
{
	struct state *state = context;
	const struct tb_transfer *t = state->moving;
	uint64_t has = *at(state, state->now, t->from, block);
	uint64_t *gets = at(state, state->next, t->to, block);
	if (has == 0)
		state->fault = "a member sends what it has not got";
	if (t->combines && (*gets & has))
		state->fault = "data are added twice";
	*gets = t->combines ? *gets | has : has;
}

static void move_all(struct state *state)
{
	const struct tb_plan *plan = state->plan;
	size_t size = state->n_blocks * plan->n_ranks * sizeof(uint64_t);
	memcpy(state->next, state->now, size);
	uint32_t round = 0;
	for (size_t i = 0; i < plan->n_transfers; i++) {
		const struct tb_transfer *t = &plan->transfers[i];
		if (t->round != round && t->round != round + 1)
			state->fault = "a round is empty or out of order";
		if (t->round != round && plan->order == TB_ORDER_DATA)
			memcpy(state->now, state->next, size);
		round = t->round;
		state->moving = t;
		if (t->from == t->to || t->from >= plan->n_ranks ||
			t->to >= plan->n_ranks)
			state->fault = "a member is not there";
		else if (t->blocks != TB_BLOCKS_NONE)
			tb_plan_visit(plan, t, move, state);
		else if (state->op == TB_COLL_BARRIER)
			*at(state, state->next, t->to, 0) |=
				*at(state, state->now, t->from, 0);
	}
	memcpy(state->now, state->next, size);
}

// In a scan by doubling the sums of higher members come, too, and are not used.
static const char *fault_of(
	const struct tb_plan *plan, enum tb_collective_op op, bool passes_on)
{
	struct state state = {.plan = plan, .op = op, .n_blocks = plan->n_blocks};
	if (op == TB_COLL_ALLTOALL)
		state.n_blocks = (uint64_t)plan->n_ranks * plan->n_ranks;
	size_t n = state.n_blocks * plan->n_ranks;
	state.now = malloc((n + 1) * sizeof *state.now);
	state.next = malloc((n + 1) * sizeof *state.next);
	for (uint32_t m = 0; m < plan->n_ranks; m++)
		for (uint64_t b = 0; b < state.n_blocks; b++)
			*at(&state, state.now, m, b) = has_at_first(&state, m, b);
	move_all(&state);
	for (uint32_t m = 0; m < plan->n_ranks; m++)
		for (uint64_t b = 0; b < state.n_blocks && !state.fault; b++) {
			uint64_t must = must_have(&state, m, b);
			uint64_t has = *at(&state, state.now, m, b);
			if (must && !is_empty(&state, b) &&
				(passes_on ? has & must : has) != must)
				state.fault = "a member does not end with what it should";
		}
	free(state.now);
	free(state.next);
	return state.fault;
}

// An uneven call: some members have no data at all.
static void fill(uint64_t *bytes, uint32_t n, uint64_t size, bool uneven)
{
	for (uint32_t i = 0; i < n; i++)
		bytes[i] = uneven ? size * (i % 3) : size;
}

// Two layouts of members on hosts: each its own, and three hosts in turn.
static void check(const char *library_name, const char *chosen,
	const struct tb_collective_call *call)
{
	const struct tb_library *library;
	struct tb_collective_choices choices = {0};
	struct tb_plan plan;
	struct tb_expansion_rule rule;
	struct tb_error error;
	char choice[64];
	assert_int_equal(tb_library_find(&library, library_name, NULL), TB_OK);
	if (chosen) {
		snprintf(choice, sizeof choice, "%s=%s", tb_collective_op_name(call->op),
			chosen);
		assert_int_equal(
			tb_collective_choices_add(&choices, choice, NULL), TB_OK);
	}
	if (tb_library_expand(library, &choices, call, &plan, &rule, &error) != TB_OK) {
		if (!chosen || error.code != TB_EUSAGE)
			fail_msg("%s %s: %s", library_name,
				tb_collective_op_name(call->op), error.text);
		return; // this algorithm is not for this call
	}
	const char *fault =
		fault_of(&plan, call->op, strcmp(rule.algorithm, "doubling") == 0);
	if (fault)
		fail_msg("%s %s, %u members, root %u, %lu B: %s (%s: %s)", library_name,
			tb_collective_op_name(call->op), call->n, call->root,
			call->bytes[0], fault, rule.algorithm, rule.reason);
	tb_plan_fini(&plan);
}

static void check_sizes(
	const char *library, const char *chosen, enum tb_collective_op op, uint32_t n)
{
	static uint32_t hosts[N_MAX];
	uint64_t bytes[N_MAX];
	for (uint32_t i = 0; i < n; i++)
		hosts[i] = i % 3;
	for (size_t i = 0; i < 2 * sizeof sizes / sizeof *sizes; i++) {
		struct tb_collective_call call = {.op = op,
			.n = n,
			.n_local = n,
			.root = (n * 7 + (uint32_t)i) % n,
			.bytes = bytes,
			.hosts = i % 4 < 2 ? NULL : hosts};
		fill(bytes, n, sizes[i / 2], i % 2);
		check(library, chosen, &call);
	}
}

static void every_choice_of_every_library_does_the_operation(void **state)
{
	(void)state;
	static const char *const names[] = {"openmpi", "mpich", "nccl"};
	for (size_t l = 0; l < 3; l++)
		for (int op = 0; op < TB_COLL_EXCHANGE; op++)
			for (uint32_t n = 1; n <= N_MAX; n += n == 17 ? 14 : 1)
				check_sizes(names[l], NULL, (enum tb_collective_op)op, n);
}

static void every_algorithm_does_the_operation(void **state)
{
	(void)state;
	for (const struct tb_algorithm *a = tb_algorithms; a->name; a++)
		for (uint32_t n = 2; a->op != TB_COLL_EXCHANGE && n <= N_MAX;
			n += 1 + n / 4)
			check_sizes("openmpi", a->name, a->op, n);
}

// An algorithm without one of its transfers must fail, unless that brings what is there
// already or is not needed.
static void a_missing_transfer_is_noticed(void **state)
{
	(void)state;
	uint64_t bytes[N_MAX];
	unsigned unnoticed = 0, n_algorithms = 0;
	for (const struct tb_algorithm *a = tb_algorithms; a->name; a++) {
		struct tb_collective_shape shape = {
			.op = a->op, .n = 8, .n_local = 8, .bytes = 800};
		struct tb_collective_call call = {
			.op = a->op, .n = 8, .n_local = 8, .bytes = bytes};
		struct tb_collective_choices choices = {0};
		struct tb_plan plan;
		struct tb_expansion_rule rule;
		const struct tb_library *library;
		if (a->op == TB_COLL_EXCHANGE || tb_algorithm_lacks(a, &shape))
			continue;
		fill(bytes, 8, 800, false);
		snprintf(choices.algorithms[a->op], sizeof choices.algorithms[0], "%s",
			a->name);
		assert_int_equal(tb_library_find(&library, NULL, NULL), TB_OK);
		assert_int_equal(
			tb_library_expand(library, &choices, &call, &plan, &rule, NULL),
			TB_OK);
		// The last transfer that carries data.
		size_t last = plan.n_transfers - 1;
		while (last > 0 && plan.transfers[last].blocks == TB_BLOCKS_NONE &&
			a->op != TB_COLL_BARRIER)
			last--;
		plan.n_transfers = last;
		n_algorithms++;
		if (!fault_of(&plan, a->op, strcmp(a->name, "doubling") == 0)) {
			print_message("%s %s\n", tb_collective_op_name(a->op), a->name);
			unnoticed++;
		}
		tb_plan_fini(&plan);
	}
	print_message("%u algorithms, %u unnoticed\n", n_algorithms, unnoticed);
	assert_true(n_algorithms > 50);
	// Scattered parts that go round, whose last steps bring what is there, tokens
	// that go round twice, and scans by doubling.
	assert_true(unnoticed <= 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_choice_of_every_library_does_the_operation),
		cmocka_unit_test(every_algorithm_does_the_operation),
		cmocka_unit_test(a_missing_transfer_is_noticed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
