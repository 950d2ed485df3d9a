// Every collective algorithm that takes ports, for many numbers of ranks and ports:
// blocks are moved as planned, and each rank must end with what the operation promises,
// after as many rounds as theory predicts. In the job, a send must wait until its rank
// has the data.
#include "collective.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

// Powers of 2, 3, 4 and 5, their neighbours, and others. At most 64: the content of a
// block is a word with a bit per rank.
static const uint32_t sizes[] = {
	2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 16, 17, 23, 25, 27, 32};

// What each rank has: for each block, the set of ranks whose data are in it; 0: not
// there.
struct state {
	const struct tb_plan *plan;
	uint64_t n_blocks;
	uint64_t *now, *next; // by rank and block
	const struct tb_transfer *moving;
	uint64_t bytes; // of the blocks being moved
	const char *fault;
};

static bool is(const struct tb_collective_options *o, const char *name)
{
	return strcmp(tb_collective_op_name(o->algorithm->op), name) == 0;
}

static bool reduces(const struct tb_collective_options *o)
{
	return is(o, "reduce") || is(o, "allreduce") || is(o, "reduce-scatter");
}

static uint64_t all_ranks(const struct tb_plan *plan)
{
	return (UINT64_C(1) << plan->n_ranks) - 1;
}

static uint64_t owner_of(const struct state *state, uint64_t block)
{
	return block / (state->n_blocks / state->plan->n_ranks);
}

static uint64_t *at(
	const struct state *state, uint64_t *of, uint64_t rank, uint64_t block)
{
	return &of[rank * state->n_blocks + block];
}

static uint64_t has_at_first(const struct tb_collective_options *o,
	const struct state *state, uint32_t rank, uint64_t block)
{
	bool own = owner_of(state, block) == rank;
	if (is(o, "barrier") || reduces(o))
		return UINT64_C(1) << rank;
	if (is(o, "scatter") || is(o, "broadcast"))
		return rank == o->root;
	return own ? 1 : 0; // allgather, gather; alltoall: blocks are in order of source
}

// must_have returns the content that the block must have in the end; 0: any.
static uint64_t must_have(const struct tb_collective_options *o,
	const struct state *state, uint32_t rank, uint64_t block)
{
	uint64_t owner = owner_of(state, block);
	if (is(o, "barrier"))
		return block == 0 ? all_ranks(state->plan) : 0;
	if (is(o, "allreduce"))
		return all_ranks(state->plan);
	if (is(o, "reduce"))
		return rank == o->root ? all_ranks(state->plan) : 0;
	if (is(o, "reduce-scatter"))
		return rank == owner ? all_ranks(state->plan) : 0;
	if (is(o, "scatter"))
		return rank == owner;
	if (is(o, "gather"))
		return rank == o->root;
	if (is(o, "alltoall"))
		return rank == block % state->plan->n_ranks;
	return 1;
}

static uint64_t block_bytes(const struct tb_plan *plan, uint64_t block)
{
	uint64_t parts = plan->blocks_per_unit, i = block % parts;
	return (i + 1) * plan->unit_bytes / parts - i * plan->unit_bytes / parts;
}

static void move(void *context, uint64_t block)
{
	struct state *state = context;
	const struct tb_transfer *t = state->moving;
	uint64_t has = *at(state, state->now, t->from, block);
	uint64_t *gets = at(state, state->next, t->to, block);
	if (has == 0)
		state->fault = "a rank sends what it has not got";
	if (t->combines && (*gets & has))
		state->fault = "data are added twice";
	*gets = t->combines ? *gets | has : has;
	state->bytes += block_bytes(state->plan, block);
}

static void move_all(struct state *state, const struct tb_transfer *t)
{
	state->moving = t;
	state->bytes = 0;
	if (t->blocks == TB_BLOCKS_NONE)
		*at(state, state->next, t->to, 0) |= *at(state, state->now, t->from, 0);
	else
		tb_plan_visit(state->plan, t, move, state);
	if (state->bytes != tb_plan_bytes(state->plan, t))
		state->fault = "a size is not that of the blocks";
}

// port_is_free marks a port as busy in a round and returns whether it was free.
static bool port_is_free(
	const struct tb_plan *plan, uint8_t *busy, const struct tb_transfer *t, bool out)
{
	size_t rank = out ? t->from : t->to;
	uint8_t *is_busy = &busy[(rank * 2 + out) * plan->n_ports + t->port];
	bool was_free = !*is_busy;
	*is_busy = 1;
	return was_free;
}

// shape_fault returns what is wrong with the transfers, or NULL. With `to_all` (hardware
// broadcast) a port may send several messages in a round.
static const char *shape_fault(const struct tb_plan *plan, bool to_all)
{
	size_t n_ports = (size_t)plan->n_ranks * 2 * plan->n_ports;
	uint8_t *busy = calloc(n_ports, 1);
	uint32_t round = 0;
	const char *fault = NULL;
	for (size_t i = 0; i < plan->n_transfers; i++) {
		const struct tb_transfer *t = &plan->transfers[i];
		if (i == 0 ? t->round != 0 : t->round != round && t->round != round + 1)
			fault = "a round is empty or out of order";
		if (t->round != round)
			memset(busy, 0, n_ports);
		round = t->round;
		if (t->port >= plan->n_ports || t->from >= plan->n_ranks ||
			t->to >= plan->n_ranks || t->from == t->to) {
			fault = "a rank or port is not there";
			break;
		}
		bool is_free = port_is_free(plan, busy, t, true);
		if (!port_is_free(plan, busy, t, false) || !(is_free || to_all))
			fault = "a port is used twice in a round";
	}
	if (round + 1 != plan->n_rounds)
		fault = "the last round is empty";
	free(busy);
	return fault;
}

static const char *end_fault(
	const struct tb_collective_options *o, const struct state *state)
{
	for (uint32_t rank = 0; rank < o->n_ranks; rank++)
		for (uint64_t block = 0; block < state->n_blocks; block++) {
			uint64_t must = must_have(o, state, rank, block);
			if (must && *at(state, state->now, rank, block) != must)
				return "a rank does not end with what it should have";
		}
	return NULL;
}

// move_blocks moves the blocks as planned. A round moves what was there before it; if
// sends do not wait for data, what was there at the beginning.
static void move_blocks(struct state *state, size_t size)
{
	const struct tb_plan *plan = state->plan;
	memcpy(state->next, state->now, size);
	uint32_t round = 0;
	for (size_t i = 0; i < plan->n_transfers; i++) {
		const struct tb_transfer *t = &plan->transfers[i];
		if (t->round != round && plan->order == TB_ORDER_DATA)
			memcpy(state->now, state->next, size);
		round = t->round;
		move_all(state, t);
	}
	memcpy(state->now, state->next, size);
}

static const char *data_fault(
	const struct tb_collective_options *o, const struct tb_plan *plan)
{
	struct state state = {.plan = plan, .n_blocks = plan->n_blocks};
	if (is(o, "alltoall"))
		state.n_blocks *= plan->n_ranks;
	size_t size = state.n_blocks * plan->n_ranks * sizeof(uint64_t);
	state.now = malloc(size);
	state.next = malloc(size);
	for (uint32_t rank = 0; rank < plan->n_ranks; rank++)
		for (uint64_t block = 0; block < state.n_blocks; block++)
			*at(&state, state.now, rank, block) =
				has_at_first(o, &state, rank, block);
	move_blocks(&state, size);
	const char *fault = state.fault ? state.fault : end_fault(o, &state);
	free(state.now);
	free(state.next);
	return fault;
}

static bool called(const struct tb_collective_options *o, const char *name)
{
	return strcmp(o->algorithm->name, name) == 0;
}

// is_permitted finds the token by which the rank that sent to `to` in the data round
// before let `t` go on.
static bool is_permitted(const struct tb_plan *plan, const struct tb_transfer *t)
{
	for (size_t i = 0; i < plan->n_transfers; i++) {
		const struct tb_transfer *before = &plan->transfers[i];
		if (before->round + 2 != t->round || before->to != t->to ||
			before->port != t->port)
			continue;
		for (size_t k = 0; k < plan->n_transfers; k++) {
			const struct tb_transfer *token = &plan->transfers[k];
			if (token->round + 1 == t->round && token->to == t->from &&
				token->from == before->from)
				return true;
		}
	}
	return false;
}

static const char *permission_fault(
	const struct tb_collective_options *o, const struct tb_plan *plan)
{
	for (size_t i = 0; called(o, "permission") && i < plan->n_transfers; i++) {
		const struct tb_transfer *t = &plan->transfers[i];
		if (t->blocks == TB_BLOCKS_PAIR && t->round > 0 && !is_permitted(plan, t))
			return "two ranks may send to one at the same time";
	}
	return NULL;
}

static uint32_t ceil_div(uint32_t a, uint32_t b)
{
	return (a + b - 1) / b;
}

// log_of returns the logarithm of n to base b, rounded down or up.
static uint32_t log_of(uint32_t n, uint32_t b, bool up)
{
	uint32_t log = 0;
	uint64_t power = 1;
	for (; up ? power < n : power * b <= n; power *= b)
		log++;
	return log;
}

static uint32_t tree_rounds(uint32_t n, uint32_t k, uint32_t branch)
{
	uint32_t rounds = 0;
	for (uint64_t first = 1; first < n; first = first * branch + 1)
		rounds +=
			ceil_div(n - first < branch ? (uint32_t)(n - first) : branch, k);
	return rounds;
}

static uint32_t rounds_in_theory(const struct tb_collective_options *o)
{
	uint32_t n = o->n_ranks, k = o->n_ports < n - 1 ? o->n_ports : n - 1, b = k + 1;
	uint32_t down = log_of(n, b, false), up = log_of(n, b, true);
	uint32_t correction = down != up;
	bool twice = is(o, "allreduce");
	if (called(o, "direct") || called(o, "sequential"))
		return ceil_div(n - 1, k);
	if (called(o, "bruck") || called(o, "binomial") || called(o, "dissemination"))
		return up;
	if (called(o, "ring"))
		return (n - 1) * (twice ? 2 : 1);
	if (called(o, "hardware"))
		return 1 + (is(o, "barrier") ? tree_rounds(n, k, o->branch) : 0);
	if (called(o, "tree") || called(o, "gather-broadcast"))
		return tree_rounds(n, k, o->branch) *
		       (twice || is(o, "barrier") || is(o, "allgather") ? 2 : 1);
	if (called(o, "pairwise"))
		return ceil_div(n % 2 ? n : n - 1, k);
	if (called(o, "permission"))
		return 2 * ceil_div(n - 1, k) - 1;
	if (called(o, "scatter-allgather"))
		return up + n - 1;
	if (called(o, "rabenseifner"))
		return 2 * down + correction * (twice ? 2 : 1);
	return down + 2 * correction; // exchange, doubling, halving
}

// The blocks of a transfer as a set, to test whether two transfers have one in common.
struct set {
	uint8_t *member;
	bool meets;
	bool add;
};

static void visit_set(void *context, uint64_t block)
{
	struct set *set = context;
	if (set->add)
		set->member[block] = 1;
	set->meets = set->meets || set->member[block];
}

// brings returns whether `in` brings part of what `out` needs; a token always does.
static bool brings(const struct tb_plan *plan, const struct tb_transfer *in,
	const struct tb_transfer *out)
{
	if (in->blocks == TB_BLOCKS_NONE)
		return true;
	struct set set = {
		.member = calloc(plan->n_blocks * plan->n_ranks, 1), .add = true};
	tb_plan_visit(plan, in, visit_set, &set);
	set.add = set.meets = false;
	tb_plan_visit(plan, out, visit_set, &set);
	free(set.member);
	return set.meets;
}

static const struct tb_transfer *transfer_of(
	const struct tb_plan *plan, const struct tb_job *job, uint32_t rank, uint32_t op)
{
	const struct tb_op *o = &job->ops[op];
	bool out = o->kind == TB_OP_SEND;
	for (size_t i = 0; i < plan->n_transfers; i++) {
		const struct tb_transfer *t = &plan->transfers[i];
		if ((out ? t->from : t->to) == rank &&
			(out ? t->to : t->from) == o->peer &&
			t->round == o->tag / plan->n_ports && t->port == o->nic &&
			tb_plan_bytes(plan, t) == o->amount)
			return t;
	}
	return NULL;
}

// waits returns whether `later` waits for `op`, directly or through others.
static bool waits(const struct tb_job *job, uint32_t op, uint32_t later)
{
	if (op >= later)
		return op == later;
	for (uint32_t i = job->first_successor[op]; i < job->first_successor[op + 1]; i++)
		if (waits(job, job->successors[i], later))
			return true;
	return false;
}

static const char *rank_fault(
	const struct tb_plan *plan, const struct tb_job *job, uint32_t rank)
{
	for (uint32_t send = job->first_op[rank]; send < job->first_op[rank + 1];
		send++) {
		const struct tb_transfer *out = transfer_of(plan, job, rank, send);
		if (!out)
			return "an operation is not of the plan";
		if (job->ops[send].kind != TB_OP_SEND)
			continue;
		for (uint32_t on = job->first_op[rank]; on < job->first_op[rank + 1];
			on++) {
			const struct tb_transfer *before =
				transfer_of(plan, job, rank, on);
			if (before->round >= out->round)
				continue;
			bool must = job->ops[on].kind == TB_OP_SEND ||
				    brings(plan, before, out);
			if (must && !waits(job, on, send))
				return "a send waits for too little";
		}
	}
	return NULL;
}

static const char *job_fault(const struct tb_plan *plan)
{
	struct tb_job *job = NULL;
	struct tb_error error;
	const struct tb_plan_job how = {.n_repeats = 1, .pin = true};
	if (tb_plan_to_job(&job, plan, &how, &error) != TB_OK)
		fail_msg("%s", error.text);
	const char *fault =
		job->n_ops == 2 * plan->n_transfers ? NULL : "operations are missing";
	for (uint32_t rank = 0; rank < plan->n_ranks && !fault; rank++)
		fault = rank_fault(plan, job, rank);
	tb_job_free(job);
	return fault;
}

static struct tb_plan plan_of(const struct tb_collective_options *o)
{
	struct tb_plan plan;
	struct tb_error error;
	if (tb_collective_plan(&plan, o, &error) != TB_OK)
		fail_msg("%s", error.text);
	return plan;
}

static void check(const struct tb_collective_options *o, bool with_job)
{
	struct tb_plan plan = plan_of(o);
	const char *fault = shape_fault(&plan, called(o, "hardware"));
	if (!fault)
		fault = data_fault(o, &plan);
	if (!fault)
		fault = permission_fault(o, &plan);
	if (!fault && plan.n_rounds != rounds_in_theory(o))
		fault = "these are not the rounds of theory";
	if (!fault && with_job)
		fault = job_fault(&plan);
	if (fault)
		fail_msg("%s %s, %u ranks, %u ports, root %u, branch %u: %s (%u rounds, "
			 "%u in theory)",
			tb_collective_op_name(o->algorithm->op), o->algorithm->name,
			o->n_ranks, o->n_ports, o->root, o->branch, fault, plan.n_rounds,
			rounds_in_theory(o));
	tb_plan_fini(&plan);
}

static void check_all_sizes(const struct tb_algorithm *algorithm)
{
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
		for (uint32_t k = 1; k <= 4; k++) {
			uint32_t n = sizes[i];
			struct tb_collective_options o = {.algorithm = algorithm,
				.n_ranks = n,
				.n_ports = k,
				.bytes = 1000 + n,
				.root = tb_collectives[algorithm->op].rooted
						? n * 7 % (n - 1)
						: 0,
				.branch = 1 + (n + k) % 5 % n};
			check(&o, n <= 10 || n == 16);
		}
}

static void everybody_ends_with_the_right_data(void **state)
{
	(void)state;
	for (const struct tb_algorithm *a = tb_algorithms; a->name; a++)
		if (a->traits & TB_TAKES_PORTS)
			check_all_sizes(a);
}

// An algorithm without one of its transfers must fail, except that the rings of
// scatter-allgather also bring blocks that a rank already has.
static void a_missing_transfer_is_noticed(void **state)
{
	(void)state;
	for (const struct tb_algorithm *a = tb_algorithms; a->name; a++) {
		if (!(a->traits & TB_TAKES_PORTS))
			continue;
		struct tb_collective_options o = {.algorithm = a,
			.n_ranks = 9,
			.n_ports = 2,
			.bytes = 90,
			.branch = 3};
		struct tb_plan plan = plan_of(&o);
		struct tb_transfer left_out = plan.transfers[--plan.n_transfers];
		for (size_t i = plan.n_transfers;; i--) {
			bool matters = left_out.blocks != TB_BLOCKS_NONE
					       ? !called(&o, "scatter-allgather")
					       : is(&o, "barrier");
			if (matters && !data_fault(&o, &plan))
				fail_msg("%s %s without transfer %zu",
					tb_collective_op_name(a->op), a->name, i);
			if (i == 0)
				break;
			struct tb_transfer next = plan.transfers[i - 1];
			plan.transfers[i - 1] = left_out;
			left_out = next;
		}
		tb_plan_fini(&plan);
	}
}

// second_calc returns the calc with which a rank's second repeat begins.
static uint32_t second_calc(const struct tb_job *job, uint32_t rank)
{
	uint32_t op = job->first_op[rank] + 1;
	while (job->ops[op].kind != TB_OP_CALC)
		op++;
	return op;
}

static void check_repeats(const struct tb_job *job)
{
	for (uint32_t rank = 0; rank < job->n_ranks; rank++) {
		uint32_t first = job->first_op[rank], end = job->first_op[rank + 1];
		uint32_t calc = second_calc(job, rank);
		assert_int_equal(calc - first, end - calc);
		for (uint32_t op = first; op < end; op++) {
			if (op < calc)
				assert_true(waits(job, op, calc));
			else if (job->ops[op].kind == TB_OP_SEND)
				assert_true(waits(job, calc, op));
		}
	}
}

static void a_rank_begins_again_when_its_part_is_done(void **state)
{
	(void)state;
	for (const struct tb_algorithm *a = tb_algorithms; a->name; a++) {
		if (!(a->traits & TB_TAKES_PORTS))
			continue;
		const struct tb_collective_options o = {.algorithm = a,
			.n_ranks = 7,
			.n_ports = 2,
			.bytes = 90,
			.branch = 2};
		const struct tb_plan_job how = {.n_repeats = 2, .compute_ns = 5};
		struct tb_plan plan = plan_of(&o);
		struct tb_job *job = NULL;
		assert_int_equal(tb_plan_to_job(&job, &plan, &how, NULL), TB_OK);
		check_repeats(job);
		tb_job_free(job);
		tb_plan_fini(&plan);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everybody_ends_with_the_right_data),
		cmocka_unit_test(a_missing_transfer_is_noticed),
		cmocka_unit_test(a_rank_begins_again_when_its_part_is_done),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
