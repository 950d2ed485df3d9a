// A plan in the middle of a rank's work: what enters before it, what leaves after it, and
// which operations a transfer becomes.
#include "library.h"
#include "plan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#define N_RANKS 4
#define NEVER	UINT32_MAX

// plan_pair is a plan of two ranks that exchange two blocks of 1000 bytes.
static struct tb_plan plan_pair(void)
{
	struct tb_plan plan = {.n_ranks = 2,
		.n_ports = 1,
		.order = TB_ORDER_DATA,
		.n_blocks = 2,
		.unit_bytes = 1000,
		.blocks_per_unit = 1};
	tb_plan_next_round(&plan);
	tb_plan_put(&plan,
		(struct tb_transfer){
			.to = 1, .blocks = TB_BLOCKS_RANGE, .first = 0, .count = 1});
	tb_plan_put(&plan,
		(struct tb_transfer){
			.from = 1, .blocks = TB_BLOCKS_RANGE, .first = 1, .count = 1});
	return plan;
}

static struct tb_job *append(const struct tb_plan *plan, struct tb_plan_place *place)
{
	struct tb_job_builder *builder = NULL;
	struct tb_job *job = NULL;
	struct tb_error error;
	assert_int_equal(tb_job_builder_new(&builder, N_RANKS, NULL), TB_OK);
	for (uint32_t i = 0; i < plan->n_ranks; i++) {
		const struct tb_op work = {.kind = TB_OP_CALC, .amount = 7};
		if (place->at[i] != NEVER)
			place->at[i] = tb_job_add(builder, place->ranks[i], &work);
	}
	assert_int_equal(tb_plan_append(builder, plan, place, NULL), TB_OK);
	if (tb_job_finish(builder, "", &job, &error) != TB_OK)
		fail_msg("%s", error.text);
	tb_job_builder_free(builder);
	return job;
}

static const struct tb_op *op_of(const struct tb_job *job, uint32_t rank, uint32_t i)
{
	return &job->ops[job->first_op[rank] + i];
}

static bool waits(const struct tb_job *job, uint32_t rank, uint32_t on, uint32_t op)
{
	uint32_t first = job->first_op[rank];
	for (uint32_t i = job->first_successor[first + on];
		i < job->first_successor[first + on + 1]; i++)
		if (job->successors[i] ==
			((op & TB_DEP_START) | (first + (op & ~TB_DEP_START))))
			return true;
	return false;
}

static void a_call_waits_for_its_entry_and_is_left_by_one_operation(void **state)
{
	(void)state;
	const uint32_t ranks[2] = {3, 1};
	uint32_t at[2] = {0, 0};
	struct tb_plan plan = plan_pair();
	struct tb_plan_place place = {.ranks = ranks, .at = at, .tag = 40};
	struct tb_job *job = append(&plan, &place);
	for (uint32_t i = 0; i < 2; i++) {
		uint32_t rank = ranks[i];
		// Work, send, receive, and a calc where both have ended.
		assert_int_equal(job->first_op[rank + 1] - job->first_op[rank], 4);
		assert_int_equal(op_of(job, rank, 1)->kind, TB_OP_SEND);
		assert_int_equal(op_of(job, rank, 1)->peer, ranks[1 - i]);
		assert_int_equal(op_of(job, rank, 1)->amount, 1000);
		assert_int_equal(op_of(job, rank, 1)->tag, 40);
		assert_int_equal(op_of(job, rank, 2)->kind, TB_OP_RECV);
		assert_true(waits(job, rank, 0, 1));
		assert_true(waits(job, rank, 0, 2));
		assert_true(waits(job, rank, 1, 3));
		assert_true(waits(job, rank, 2, 3));
		assert_int_equal(at[i], 3);
	}
	assert_int_equal(tb_plan_append_tags(&plan, &place), 1);
	tb_job_free(job);
	tb_plan_fini(&plan);
}

static void a_call_at_the_beginning_waits_for_nothing(void **state)
{
	(void)state;
	const uint32_t ranks[2] = {0, 1};
	uint32_t at[2] = {NEVER, NEVER};
	struct tb_plan plan = plan_pair();
	struct tb_plan_place place = {.ranks = ranks, .at = at};
	struct tb_job *job = append(&plan, &place);
	assert_int_equal(job->n_ops, 6);
	assert_int_equal(at[0], 2);
	tb_job_free(job);
	tb_plan_fini(&plan);
}

static void who_takes_no_part_keeps_his_operation(void **state)
{
	(void)state;
	const uint32_t ranks[3] = {0, 1, 2};
	uint32_t at[3] = {0, 0, 0};
	struct tb_plan plan = plan_pair();
	plan.n_ranks = 3;
	struct tb_plan_place place = {.ranks = ranks, .at = at};
	struct tb_job *job = append(&plan, &place);
	assert_int_equal(at[2], 0);
	assert_int_equal(job->first_op[3] - job->first_op[2], 1);
	tb_job_free(job);
	tb_plan_fini(&plan);
}

static void one_receive_is_left_without_a_calc(void **state)
{
	(void)state;
	const uint32_t ranks[2] = {0, 1};
	uint32_t at[2] = {0, 0};
	struct tb_plan plan = plan_pair();
	plan.n_transfers = 1;
	struct tb_plan_place place = {.ranks = ranks, .at = at};
	struct tb_job *job = append(&plan, &place);
	assert_int_equal(job->n_ops, 4);
	assert_int_equal(at[0], 1);
	assert_int_equal(at[1], 1);
	assert_true(waits(job, 1, 0, 1));
	tb_job_free(job);
	tb_plan_fini(&plan);
}

// Of each transfer above the limit: question, answer and data, in each direction.
static void large_transfers_are_asked_for_between_hosts(void **state)
{
	(void)state;
	const uint32_t ranks[2] = {0, 1}, together[2] = {5, 5};
	uint32_t at[2] = {0, 0};
	struct tb_plan plan = plan_pair();
	struct tb_plan_place place = {
		.ranks = ranks, .at = at, .tag = 9, .eager_bytes = 999};
	struct tb_job *job = append(&plan, &place);
	assert_int_equal(tb_plan_append_tags(&plan, &place), 3);
	// Work; the partner's question, the answer to it; own question, its answer, data;
	// the partner's data; leaving.
	assert_int_equal(job->first_op[1], 8);
	assert_int_equal(op_of(job, 0, 1)->kind, TB_OP_RECV);
	assert_int_equal(op_of(job, 0, 2)->kind, TB_OP_SEND);
	assert_int_equal(op_of(job, 0, 2)->amount, 0);
	assert_true(waits(job, 0, 1, 2) && waits(job, 0, 0, 2));
	assert_true(waits(job, 0, 0, 3) && waits(job, 0, 3, 4) && waits(job, 0, 4, 5));
	assert_int_equal(op_of(job, 0, 5)->amount, 1000);
	assert_true(waits(job, 0, 2, 6));
	tb_job_free(job);
	at[0] = at[1] = 0;
	place.hosts = together;
	job = append(&plan, &place);
	assert_int_equal(job->first_op[1], 4);
	tb_job_free(job);
	tb_plan_fini(&plan);
}

// A ring of two channels, which NCCL's slots let go on before what they sent is over.
static void with_slots_a_send_waits_for_the_one_so_many_before_it(void **state)
{
	(void)state;
	const uint32_t ranks[2] = {0, 1};
	uint32_t at[2] = {0, 0};
	struct tb_plan plan = {.n_ranks = 2,
		.n_ports = 1,
		.n_blocks = 2,
		.unit_bytes = 1000,
		.blocks_per_unit = 1,
		.pace = {.slots = 2, .call_ns = 5, .step_ns = {3, 4}, .wire = {2, 1}}};
	for (uint32_t round = 0; round < 3; round++) {
		tb_plan_next_round(&plan);
		for (uint32_t from = 0; from < 2; from++)
			tb_plan_put(&plan, (struct tb_transfer){.from = from,
						   .to = 1 - from,
						   .blocks = TB_BLOCKS_RANGE,
						   .count = 1});
	}
	struct tb_plan_place place = {.ranks = ranks, .at = at};
	struct tb_job *job = append(&plan, &place);
	// Work, the call; then three times a send, a receive and the calc of its step.
	assert_int_equal(op_of(job, 0, 1)->amount, 5);
	assert_int_equal(op_of(job, 0, 2)->amount, 2000);
	assert_int_equal(op_of(job, 0, 4)->amount, 4);
	assert_true(waits(job, 0, 0, 1) && waits(job, 0, 1, 2) && waits(job, 0, 1, 3));
	for (uint32_t send = 5; send <= 8; send += 3) {
		assert_int_equal(op_of(job, 0, send)->kind, TB_OP_SEND);
		assert_true(waits(job, 0, send - 1, send));
		assert_false(waits(job, 0, send - 3, send));
		assert_true(waits(job, 0, send - 3, TB_DEP_START | send));
	}
	assert_true(waits(job, 0, 2, 8));
	// Steps under way in different slots do not hold up each other.
	assert_int_not_equal(op_of(job, 0, 4)->cpu, op_of(job, 0, 7)->cpu);
	assert_int_equal(op_of(job, 0, 4)->cpu, op_of(job, 0, 10)->cpu);
	// It leaves when the last sends are over, and what came last is ready.
	assert_true(
		waits(job, 0, 5, 11) && waits(job, 0, 8, 11) && waits(job, 0, 10, 11));
	assert_int_equal(at[0], 11);
	tb_job_free(job);
	tb_plan_fini(&plan);
}

// member_calc_ns returns what a rank computes in a call of four members.
static uint64_t member_calc_ns(const char *name, enum tb_collective_op op,
	const char *algorithm, uint64_t bytes, uint32_t rank, struct tb_call_work work)
{
	const uint32_t ranks[4] = {0, 1, 2, 3};
	const uint64_t each[4] = {bytes, bytes, bytes, bytes};
	uint32_t at[4] = {NEVER, NEVER, NEVER, NEVER};
	const struct tb_collective_call call = {
		.op = op, .n = 4, .n_local = 4, .bytes = each, .algorithm = algorithm};
	const struct tb_library *library;
	struct tb_expansion_rule rule;
	struct tb_plan plan;
	assert_int_equal(tb_library_find(&library, name, NULL), TB_OK);
	assert_int_equal(
		tb_library_expand(library, NULL, &call, &plan, &rule, NULL), TB_OK);
	struct tb_plan_place place = {.ranks = ranks, .at = at, .work = work};
	struct tb_job *job = append(&plan, &place);
	uint64_t sum = 0;
	for (uint32_t i = job->first_op[rank]; i < job->first_op[rank + 1]; i++)
		if (job->ops[i].kind == TB_OP_CALC)
			sum += job->ops[i].amount;
	tb_job_free(job);
	tb_plan_fini(&plan);
	return sum;
}

static uint64_t library_calc_ns(const char *name, enum tb_collective_op op,
	const char *algorithm, uint64_t bytes, uint64_t combine, uint64_t pack)
{
	return member_calc_ns(name, op, algorithm, bytes, 0,
		(struct tb_call_work){.combine = combine, .pack = pack});
}

static uint64_t calc_ns(enum tb_collective_op op, const char *algorithm, uint64_t bytes,
	uint64_t combine, uint64_t pack)
{
	return library_calc_ns(NULL, op, algorithm, bytes, combine, pack);
}

static uint64_t copied_ns(const char *library, uint64_t pack)
{
	return library_calc_ns(library, TB_COLL_ALLTOALL, "linear", 1000, 0, pack);
}

static void what_is_added_up_takes_time_by_the_byte(void **state)
{
	(void)state;
	const uint64_t rate = 1000000000;
	// Two rounds, each of the whole vector; the root of a linear reduce adds three.
	assert_int_equal(calc_ns(TB_COLL_ALLREDUCE, "doubling", 8000, rate, 0), 16000);
	assert_int_equal(calc_ns(TB_COLL_ALLREDUCE, "doubling", 8000, rate * 2, 0), 8000);
	assert_int_equal(calc_ns(TB_COLL_REDUCE, "linear", 8000, rate, 0), 24000);
	assert_int_equal(calc_ns(TB_COLL_ALLREDUCE, "doubling", 8000, 0, rate), 0);
	assert_int_equal(calc_ns(TB_COLL_BROADCAST, "linear", 8000, rate, rate), 0);
}

static uint64_t worked_ns(bool adds, uint64_t bytes, uint64_t whole)
{
	const struct tb_call_work work = {.combine = 2000000000,
		.pack = 4000000000,
		.cached = 6000000000,
		.cache_bytes = 4000};
	return tb_call_work_ns(&work, adds, bytes, whole);
}

static void what_stays_in_the_cache_goes_faster(void **state)
{
	(void)state;
	assert_int_equal(worked_ns(false, 1200, 2000), 200);
	assert_int_equal(worked_ns(true, 1200, 2000), 300);
	assert_int_equal(worked_ns(false, 1200, 2001), 300);
	assert_int_equal(worked_ns(true, 1200, 2001), 600);
	// A rate that is faster anyway holds, and what takes no time takes none.
	struct tb_call_work work = {
		.pack = 4000000000, .cached = 1000000000, .cache_bytes = 4000};
	assert_int_equal(tb_call_work_ns(&work, false, 1200, 2000), 300);
	assert_int_equal(tb_call_work_ns(&work, true, 1200, 2000), 0);
	// Adding up streams: it uses the core's part of the shared cache, at a rate of
	// its own.
	work = (struct tb_call_work){.combine = 2000000000,
		.combine_cached = 8000000000,
		.cache_bytes = 4000,
		.shared_cache_bytes = 6000};
	assert_int_equal(tb_call_work_ns(&work, true, 1200, 3000), 150);
	assert_int_equal(tb_call_work_ns(&work, true, 1200, 3001), 600);
}

static uint64_t reducing_ns(enum tb_collective_op op, const char *algorithm,
	uint64_t bytes, uint32_t rank, struct tb_call_work work)
{
	return member_calc_ns(NULL, op, algorithm, bytes, rank, work);
}

static void reductions_copy_their_vector_first(void **state)
{
	(void)state;
	const struct tb_call_work work = {.copy = 1000000000};
	assert_int_equal(reducing_ns(TB_COLL_ALLREDUCE, "doubling", 8000, 0, work), 8000);
	assert_int_equal(reducing_ns(TB_COLL_REDUCE, "binomial", 8000, 0, work), 0);
	assert_int_equal(reducing_ns(TB_COLL_BROADCAST, "linear", 8000, 0, work), 0);
}

// Two vectors of more than 128 KiB are given back to the system, or one of more than 32
// MiB: of ranks that add up, and with them the registrations of what they receive.
static void vectors_that_are_given_back_are_fresh_again(void **state)
{
	(void)state;
	const struct tb_call_work fresh = {.fresh = 1000000000};
	const struct tb_call_work pinned = {.fresh = 0,
		.combine = 1000000000000,
		.pin_ns = 1000000,
		.pin_above_bytes = 1 << 20};
	const uint64_t small = 128 << 10, large = 32 << 20;
	assert_int_equal(reducing_ns(TB_COLL_REDUCE, "binomial", small, 0, fresh), 0);
	assert_int_equal(reducing_ns(TB_COLL_REDUCE, "binomial", small + 8, 0, fresh),
		2 * (small + 8));
	assert_int_equal(reducing_ns(TB_COLL_REDUCE, "binomial", small + 8, 3, fresh), 0);
	assert_int_equal(reducing_ns(TB_COLL_REDUCE, "linear", large, 0, fresh), 0);
	assert_int_equal(
		reducing_ns(TB_COLL_REDUCE, "linear", large + 8, 0, fresh), large + 8);
	assert_int_equal(
		reducing_ns(TB_COLL_REDUCE, "binomial", 1 << 20, 0, pinned) / 1000000, 0);
	// Rank 0 receives from two others; both ends register.
	assert_int_equal(
		reducing_ns(TB_COLL_REDUCE, "binomial", (1 << 20) + 8, 0, pinned) /
			1000000,
		4);
}

// The data of a call, of which the cache has to hold twice as much, by kind of blocks.
static void the_data_of_a_call_are_a_vector_or_all_blocks_of_a_member(void **state)
{
	(void)state;
	struct tb_transfer transfer = {.to = 1, .blocks = TB_BLOCKS_RANGE};
	struct tb_plan plan = {.n_ranks = 4,
		.n_blocks = 8,
		.blocks_per_unit = 8,
		.unit_bytes = 800,
		.transfers = &transfer,
		.n_transfers = 1};
	assert_int_equal(tb_plan_whole_bytes(&plan), 800);
	plan.blocks_per_unit = 1;
	assert_int_equal(tb_plan_whole_bytes(&plan), 6400);
	transfer.blocks = TB_BLOCKS_PAIR;
	assert_int_equal(tb_plan_whole_bytes(&plan), 3200);
	uint64_t ends[8] = {1, 2, 3, 4, 5, 6, 7, 80};
	plan.block_ends = ends;
	assert_int_equal(tb_plan_whole_bytes(&plan), 20);
}

static void what_bruck_packs_takes_time_by_the_byte(void **state)
{
	(void)state;
	const uint64_t rate = 1000000000;
	// Four blocks are put in order twice; two rounds pack two blocks and unpack two.
	assert_int_equal(
		calc_ns(TB_COLL_ALLTOALL, "bruck", 1000, 0, rate), 2 * 4000 + 2 * 4000);
	assert_int_equal(calc_ns(TB_COLL_ALLTOALL, "bruck", 1000, rate, 0), 0);
}

static void a_call_of_an_mpi_takes_time_to_begin(void **state)
{
	(void)state;
	const uint32_t ranks[2] = {0, 1};
	uint32_t at[2] = {NEVER, NEVER};
	struct tb_plan plan = tb_plan_of_call(TB_COLL_BROADCAST, 2, 100, false);
	tb_plan_next_round(&plan);
	tb_plan_put(&plan,
		(struct tb_transfer){.to = 1, .blocks = TB_BLOCKS_RANGE, .count = 1});
	struct tb_plan_place place = {.ranks = ranks, .at = at, .work = {.call_ns = 750}};
	struct tb_job *job = append(&plan, &place);
	assert_int_equal(job->ops[job->first_op[0]].kind, TB_OP_CALC);
	assert_int_equal(job->ops[job->first_op[0]].amount, 750);
	tb_job_free(job);
	// A library that paces its calls knows better.
	at[0] = at[1] = NEVER;
	plan.pace.call_ns = 9;
	job = append(&plan, &place);
	assert_int_equal(job->ops[job->first_op[0]].amount, 9);
	tb_job_free(job);
	tb_plan_fini(&plan);
}

static void a_member_copies_its_own_block_once(void **state)
{
	(void)state;
	const uint64_t rate = 1000000000;
	const char *const names[] = {"linear", "linear-sync", "shift", "pairwise"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		assert_int_equal(
			calc_ns(TB_COLL_ALLTOALL, names[i], 1000, rate, rate), 1000);
	assert_int_equal(calc_ns(TB_COLL_ALLTOALL, "linear", 1000, rate, 0), 0);
	assert_int_equal(calc_ns(TB_COLL_ALLTOALL, "direct", 1000, rate, rate), 0);
	assert_int_equal(calc_ns(TB_COLL_ALLGATHER, "ring", 1000, rate, rate), 1000);
	assert_int_equal(calc_ns(TB_COLL_GATHER, "linear", 1000, rate, rate), 1000);
}

static void what_is_copied_is_the_ranks_own_block(void **state)
{
	(void)state;
	uint64_t ends[9] = {1, 3, 6, 10, 15, 21, 28, 36, 45};
	struct tb_plan plan = {.n_ranks = 3, .n_blocks = 9, .own = {.every = 4}};
	plan.block_ends = ends;
	assert_int_equal(tb_plan_own_bytes(&plan, 0), 1);
	assert_int_equal(tb_plan_own_bytes(&plan, 1), 5);
	assert_int_equal(tb_plan_own_bytes(&plan, 2), 9);
	plan.root = 2;
	plan.own.only_root = true;
	assert_int_equal(tb_plan_own_bytes(&plan, 1), 0);
	assert_int_equal(tb_plan_own_bytes(&plan, 2), 9);
}

static void gpus_copy_their_own_blocks_in_no_time(void **state)
{
	(void)state;
	const uint64_t rate = 1000000000;
	assert_int_equal(copied_ns("mpich", rate), 1000);
	assert_int_equal(copied_ns("nccl", rate), copied_ns("nccl", 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_added_up_takes_time_by_the_byte),
		cmocka_unit_test(what_stays_in_the_cache_goes_faster),
		cmocka_unit_test(reductions_copy_their_vector_first),
		cmocka_unit_test(vectors_that_are_given_back_are_fresh_again),
		cmocka_unit_test(
			the_data_of_a_call_are_a_vector_or_all_blocks_of_a_member),
		cmocka_unit_test(a_call_of_an_mpi_takes_time_to_begin),
		cmocka_unit_test(what_bruck_packs_takes_time_by_the_byte),
		cmocka_unit_test(a_member_copies_its_own_block_once),
		cmocka_unit_test(what_is_copied_is_the_ranks_own_block),
		cmocka_unit_test(gpus_copy_their_own_blocks_in_no_time),
		cmocka_unit_test(a_call_waits_for_its_entry_and_is_left_by_one_operation),
		cmocka_unit_test(a_call_at_the_beginning_waits_for_nothing),
		cmocka_unit_test(who_takes_no_part_keeps_his_operation),
		cmocka_unit_test(one_receive_is_left_without_a_calc),
		cmocka_unit_test(large_transfers_are_asked_for_between_hosts),
		cmocka_unit_test(with_slots_a_send_waits_for_the_one_so_many_before_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
