// What libraries make of calls that are not plain: unequal blocks, inter-communicators,
// exchanges, the user's choices; and the limits of Open MPI's, MPICH's and NCCL's
// choices.
#include "library.h"
#include "../../viz_golden.h"
#include "composition.h"
#include "random.h"
#include "reading.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define N_MAX 2048

static struct tb_plan expand(const char *name, const struct tb_collective_call *call,
	struct tb_expansion_rule *rule)
{
	const struct tb_library *library;
	struct tb_plan plan;
	struct tb_error error;
	assert_int_equal(tb_library_find(&library, name, NULL), TB_OK);
	if (tb_library_expand(library, NULL, call, &plan, rule, &error) != TB_OK)
		fail_msg("%s", error.text);
	return plan;
}

static uint64_t bytes_between(const struct tb_plan *plan, uint32_t from, uint32_t to)
{
	uint64_t bytes = 0;
	for (size_t i = 0; i < plan->n_transfers; i++)
		if (plan->transfers[i].from == from && plan->transfers[i].to == to)
			bytes += tb_plan_bytes(plan, &plan->transfers[i]);
	return bytes;
}

struct limit {
	const char *library;
	enum tb_collective_op op;
	uint32_t n;
	uint64_t bytes;
	const char *algorithm;
};

// On both sides of limits in coll_tuned_decision_fixed.c (4.1.4, and 4.0.5), generic.json
// (4.0.2), and Intel's manual.
static void choices_change_where_the_libraries_change_theirs(void **state)
{
	(void)state;
	static const struct limit limits[] = {
		{"openmpi", TB_COLL_ALLREDUCE, 8, 8191, "doubling"},
		{"openmpi", TB_COLL_ALLREDUCE, 8, 8192, "rabenseifner"},
		{"openmpi", TB_COLL_ALLREDUCE, 16, 8192, "rabenseifner"},
		{"openmpi", TB_COLL_ALLREDUCE, 64, 262136, "doubling"},
		{"openmpi", TB_COLL_ALLREDUCE, 64, 262144, "rabenseifner"},
		{"openmpi", TB_COLL_ALLREDUCE, 128, 8, "reduce-broadcast"},
		{"openmpi", TB_COLL_BROADCAST, 16, 4095, "knomial"},
		{"openmpi", TB_COLL_BROADCAST, 16, 4096, "mirrored-binomial"},
		{"openmpi", TB_COLL_BROADCAST, 16, 1048576, "scatter-doubling"},
		{"openmpi", TB_COLL_ALLTOALL, 16, 511, "bruck"},
		{"openmpi", TB_COLL_ALLTOALL, 16, 512, "linear-sync"},
		{"openmpi", TB_COLL_ALLTOALL, 64, 262143, "linear"},
		{"openmpi", TB_COLL_ALLTOALL, 64, 262144, "shift"},
		{"openmpi", TB_COLL_ALLGATHER, 31, 8, "bruck"},
		{"openmpi", TB_COLL_ALLGATHER, 32, 1023, "doubling"},
		{"openmpi", TB_COLL_ALLGATHER, 32, 1024, "neighbor"},
		{"openmpi", TB_COLL_ALLGATHER, 33, 1024, "ring"},
		{"openmpi", TB_COLL_ALLGATHER, 32, 65536, "ring"},
		{"openmpi", TB_COLL_BARRIER, 7, 0, "linear"},
		{"openmpi", TB_COLL_BARRIER, 8, 0, "doubling"},
		{"openmpi", TB_COLL_BARRIER, 64, 0, "dissemination"},
		{"openmpi", TB_COLL_BARRIER, 256, 0, "binomial"},
		{"openmpi", TB_COLL_BARRIER, 512, 0, "dissemination"},
		{"openmpi", TB_COLL_BARRIER, 1024, 0, "binomial"},
		{"openmpi", TB_COLL_REDUCE_SCATTER, 31, 262136, "halving"},
		{"openmpi", TB_COLL_REDUCE_SCATTER, 31, 262144, "ring"},
		{"mpich", TB_COLL_ALLREDUCE, 16, 8, "doubling"},
		{"mpich", TB_COLL_ALLREDUCE, 16, 120, "doubling"},
		{"mpich", TB_COLL_ALLREDUCE, 16, 128, "halving-doubling"},
		{"mpich", TB_COLL_BROADCAST, 7, 1000000, "binomial"},
		{"mpich", TB_COLL_BROADCAST, 8, 12288, "binomial"},
		{"mpich", TB_COLL_BROADCAST, 8, 12289, "scatter-doubling"},
		{"mpich", TB_COLL_BROADCAST, 8, 524289, "scatter-ring"},
		{"mpich", TB_COLL_BROADCAST, 9, 12289, "scatter-ring"},
		{"mpich", TB_COLL_ALLGATHER, 16, 32767, "doubling"},
		{"mpich", TB_COLL_ALLGATHER, 16, 32768, "ring"},
		{"mpich", TB_COLL_ALLGATHER, 10, 8191, "bruck"},
		{"mpich", TB_COLL_ALLGATHER, 10, 8192, "ring"},
		{"mpich", TB_COLL_ALLTOALL, 8, 8, "linear"},
		{"mpich", TB_COLL_ALLTOALL, 9, 256, "bruck"},
		{"mpich", TB_COLL_ALLTOALL, 9, 257, "linear"},
		{"mpich", TB_COLL_ALLTOALL, 9, 32769, "shift"},
		{"mpich", TB_COLL_ALLTOALL, 16, 32769, "pairwise"},
		{"openmpi4.0", TB_COLL_ALLREDUCE, 8, 9992, "doubling"},
		{"openmpi4.0", TB_COLL_ALLREDUCE, 8, 10000, "ring"},
		{"openmpi4.0", TB_COLL_ALLREDUCE, 1249, 10000, "ring"},
		{"openmpi4.0", TB_COLL_ALLREDUCE, 1250, 10000, "reduce-broadcast"},
		{"openmpi4.0", TB_COLL_BROADCAST, 16, 2047, "mirrored-binomial"},
		{"openmpi4.0", TB_COLL_BROADCAST, 16, 2048, "split-binary"},
		{"openmpi4.0", TB_COLL_BROADCAST, 16, 370727, "split-binary"},
		{"openmpi4.0", TB_COLL_BROADCAST, 16, 370728, "pipeline"},
		{"openmpi4.0", TB_COLL_BROADCAST, 2, 370728, "pipeline"},
		{"openmpi4.0", TB_COLL_BROADCAST, 3, 370728, "split-binary"},
		{"openmpi4.0", TB_COLL_BROADCAST, 12, 1048576, "split-binary"},
		{"openmpi4.0", TB_COLL_BROADCAST, 13, 1048576, "pipeline"},
		{"openmpi4.0", TB_COLL_REDUCE, 7, 511, "linear"},
		{"openmpi4.0", TB_COLL_REDUCE, 7, 512, "binomial"},
		{"openmpi4.0", TB_COLL_REDUCE, 8, 511, "binomial"},
		{"openmpi4.0", TB_COLL_REDUCE, 7, 20479, "binomial"},
		{"openmpi4.0", TB_COLL_REDUCE, 7, 20480, "binary"},
		{"openmpi4.0", TB_COLL_REDUCE, 8, 2047, "binomial"},
		{"openmpi4.0", TB_COLL_REDUCE, 2, 20480, "pipeline"},
		{"openmpi4.0", TB_COLL_REDUCE, 8, 8192, "binomial"},
		{"openmpi4.0", TB_COLL_REDUCE, 16, 32768, "pipeline"},
		{"openmpi4.0", TB_COLL_REDUCE, 8, 65536, "binary"},
		{"openmpi4.0", TB_COLL_REDUCE, 16, 1048576, "pipeline"},
		{"openmpi4.0", TB_COLL_ALLGATHER, 2, 8, "pair"},
		{"openmpi4.0", TB_COLL_ALLGATHER, 8, 6249, "doubling"},
		{"openmpi4.0", TB_COLL_ALLGATHER, 8, 6250, "neighbor"},
		{"openmpi4.0", TB_COLL_ALLGATHER, 10, 4999, "bruck"},
		{"openmpi4.0", TB_COLL_ALLGATHER, 10, 5000, "neighbor"},
		{"openmpi4.0", TB_COLL_ALLGATHER, 5, 10000, "ring"},
		{"openmpi4.0", TB_COLL_ALLTOALL, 2, 8, "pair"},
		{"openmpi4.0", TB_COLL_ALLTOALL, 12, 199, "linear"},
		{"openmpi4.0", TB_COLL_ALLTOALL, 13, 199, "bruck"},
		{"openmpi4.0", TB_COLL_ALLTOALL, 13, 200, "linear"},
		{"openmpi4.0", TB_COLL_ALLTOALL, 13, 2999, "linear"},
		{"openmpi4.0", TB_COLL_ALLTOALL, 13, 3000, "shift"},
		{"openmpi4.0", TB_COLL_BARRIER, 8, 0, "doubling"},
		{"openmpi4.0", TB_COLL_BARRIER, 6, 0, "dissemination"},
		{"openmpi4.0", TB_COLL_GATHER, 11, 1023, "binomial"},
		{"openmpi4.0", TB_COLL_GATHER, 11, 1024, "linear"},
		{"openmpi4.0", TB_COLL_GATHER, 10, 1023, "linear"},
		{"openmpi4.0", TB_COLL_GATHER, 61, 6000, "binomial"},
		{"openmpi4.0", TB_COLL_GATHER, 61, 6001, "linear-sync"},
		{"openmpi4.0", TB_COLL_GATHER, 60, 6000, "linear"},
		{"openmpi4.0", TB_COLL_SCATTER, 11, 299, "binomial"},
		{"openmpi4.0", TB_COLL_SCATTER, 11, 300, "linear"},
		{"openmpi4.0", TB_COLL_SCATTER, 10, 299, "linear"},
		{"openmpi4.0", TB_COLL_REDUCE_SCATTER, 6, 12288, "halving"},
		{"openmpi4.0", TB_COLL_REDUCE_SCATTER, 6, 12296, "ring"},
		{"openmpi4.0", TB_COLL_REDUCE_SCATTER, 8, 262144, "halving"},
		{"openmpi4.0", TB_COLL_REDUCE_SCATTER, 8, 262152, "ring"},
		{"openmpi4.0", TB_COLL_REDUCE_SCATTER, 23, 12500, "halving"},
		{"openmpi4.0", TB_COLL_REDUCE_SCATTER, 22, 12500, "ring"},
		{"intelmpi", TB_COLL_ALLREDUCE, 16, 2048, "doubling"},
		{"intelmpi", TB_COLL_ALLREDUCE, 16, 2056, "halving-doubling"},
		{"intelmpi", TB_COLL_ALLREDUCE, 16, 64, "doubling"},
		{"intelmpi", TB_COLL_BROADCAST, 7, 1000000, "binomial"},
		{"intelmpi", TB_COLL_BROADCAST, 8, 12287, "binomial"},
		{"intelmpi", TB_COLL_BROADCAST, 8, 12288, "scatter-doubling"},
		{"intelmpi", TB_COLL_BROADCAST, 8, 524287, "scatter-doubling"},
		{"intelmpi", TB_COLL_BROADCAST, 8, 524288, "scatter-ring"},
		{"intelmpi", TB_COLL_BROADCAST, 9, 12288, "scatter-ring"},
		{"intelmpi", TB_COLL_ALLGATHER, 16, 32767, "doubling"},
		{"intelmpi", TB_COLL_ALLGATHER, 16, 32768, "ring"},
		{"intelmpi", TB_COLL_ALLGATHER, 10, 8191, "bruck"},
		{"intelmpi", TB_COLL_ALLGATHER, 10, 8192, "ring"},
		{"nccl", TB_COLL_ALLREDUCE, 64, 8192, "nccl-tree"},
		{"nccl", TB_COLL_ALLREDUCE, 16, UINT64_C(1) << 30, "nccl-ring"},
		{"nccl", TB_COLL_ALLGATHER, 16, 4096, "nccl-pat"},
		{"nccl", TB_COLL_ALLGATHER, 16, UINT64_C(16) << 20, "nccl-ring"},
	};
	static uint64_t bytes[N_MAX];
	for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
		const struct limit *l = &limits[i];
		const struct tb_collective_call call = {
			.op = l->op, .n = l->n, .n_local = l->n, .bytes = bytes};
		struct tb_expansion_rule rule;
		for (uint32_t k = 0; k < l->n; k++)
			bytes[k] = l->bytes;
		struct tb_plan plan = expand(l->library, &call, &rule);
		if (strcmp(rule.algorithm, l->algorithm) != 0)
			fail_msg("%s %s of %u, %lu B: %s instead of %s", l->library,
				tb_collective_op_name(l->op), l->n, l->bytes,
				rule.algorithm, l->algorithm);
		assert_true(strlen(rule.reason) > 5);
		tb_plan_fini(&plan);
	}
}

static enum tb_library_id id_of(const char *library)
{
	return strncmp(library, "openmpi", 7) == 0 ? TB_LIBRARY_OPENMPI
	       : strcmp(library, "nccl") == 0	   ? TB_LIBRARY_NCCL
						   : TB_LIBRARY_MPICH;
}

// count_chosen counts the calls of an operation that get each algorithm.
static void count_chosen(const char *library, enum tb_collective_op op, unsigned *counts)
{
	static const uint32_t members[] = {
		2, 3, 4, 5, 7, 8, 16, 17, 32, 64, 128, 200, 256, 512, 1023, 1024};
	static uint64_t bytes[1024];
	for (size_t i = 0; i < 15 * sizeof members / sizeof *members; i++) {
		uint32_t n = members[i / 15], power = (uint32_t)(i % 15);
		const struct tb_collective_call call = {
			.op = op, .n = n, .n_local = n, .bytes = bytes};
		for (uint32_t r = 0; r < n; r++)
			bytes[r] = op == TB_COLL_BARRIER ? 0 : UINT64_C(1) << power;
		for (int uneven = 0; uneven < 2; uneven++) {
			struct tb_expansion_rule rule;
			const struct tb_algorithm *algorithm;
			bytes[n - 1] *= uneven ? 3 : 1;
			struct tb_plan plan = expand(library, &call, &rule);
			tb_plan_fini(&plan);
			assert_int_equal(
				tb_algorithm_find(&algorithm, op, rule.algorithm, NULL),
				TB_OK);
			counts[algorithm - tb_algorithms]++;
		}
	}
}

// Whoever chooses an algorithm has a name for it in the table.
static void the_table_names_what_libraries_choose(void **state)
{
	(void)state;
	static const char *const libraries[] = {
		"openmpi", "openmpi4.0", "mpich", "intelmpi", "nccl"};
	for (size_t l = 0; l < sizeof libraries / sizeof *libraries; l++) {
		unsigned counts[256] = {0};
		for (int op = 0; op < TB_COLL_EXCHANGE; op++)
			if (op != TB_COLL_ALLTOALL && op != TB_COLL_ALLGATHER)
				count_chosen(
					libraries[l], (enum tb_collective_op)op, counts);
		for (const struct tb_algorithm *a = tb_algorithms; a->name; a++)
			if (counts[a - tb_algorithms] && !a->names[id_of(libraries[l])])
				fail_msg("%s chooses %s=%s, which it has no name for",
					libraries[l], tb_collective_op_name(a->op),
					a->name);
	}
}

// An algorithm of libraries makes the same messages in a synthetic job as in a trace.
static void synthetic_jobs_and_traces_share_algorithms(void **state)
{
	(void)state;
	unsigned n_algorithms = 0;
	const uint64_t bytes[8] = {800, 800, 800, 800, 800, 800, 800, 800};
	for (const struct tb_algorithm *a = tb_algorithms; a->op < TB_COLL_EXCHANGE;
		a++) {
		uint32_t n = a->traits & TB_NEEDS_TWO ? 2 : 8;
		const struct tb_collective_options options = {.algorithm = a,
			.n_ranks = n,
			.n_ports = 1,
			.bytes = a->op == TB_COLL_BARRIER ? 0 : 800};
		const struct tb_collective_call call = {
			.op = a->op, .n = n, .n_local = n, .bytes = bytes};
		struct tb_collective_choices choices = {0};
		struct tb_expansion_rule rule;
		const struct tb_library *library;
		struct tb_plan made, expanded;
		if (a->traits & TB_TAKES_PORTS)
			continue;
		strcpy(choices.algorithms[a->op], a->name);
		assert_int_equal(tb_library_find(&library, NULL, NULL), TB_OK);
		assert_int_equal(tb_collective_plan(&made, &options, NULL), TB_OK);
		assert_int_equal(tb_library_expand(library, &choices, &call, &expanded,
					 &rule, NULL),
			TB_OK);
		assert_int_equal(made.n_transfers, expanded.n_transfers);
		for (size_t i = 0; i < made.n_transfers; i++)
			assert_memory_equal(&made.transfers[i], &expanded.transfers[i],
				sizeof *made.transfers);
		tb_plan_fini(&made);
		tb_plan_fini(&expanded);
		n_algorithms++;
	}
	assert_true(n_algorithms > 40);
}

static void one_member_moves_nothing(void **state)
{
	(void)state;
	const uint64_t bytes = 100;
	for (int op = 0; op < TB_COLL_N; op++) {
		const struct tb_collective_call call = {.op = (enum tb_collective_op)op,
			.n = 1,
			.n_local = 1,
			.bytes = &bytes};
		struct tb_expansion_rule rule;
		struct tb_plan plan = expand(NULL, &call, &rule);
		assert_int_equal(plan.n_transfers, 0);
		tb_plan_fini(&plan);
	}
}

static void an_exchange_sends_what_sizes_say(void **state)
{
	(void)state;
	const uint64_t bytes[3] = {0}, first[3] = {0, 70, 0}, last[3] = {5, 6, 7};
	const uint64_t *const of[3] = {first, NULL, last};
	const struct tb_collective_call call = {.op = TB_COLL_EXCHANGE,
		.n = 3,
		.n_local = 3,
		.bytes = bytes,
		.sizes = of};
	struct tb_expansion_rule rule;
	struct tb_plan plan = expand(NULL, &call, &rule);
	assert_int_equal(plan.n_transfers, 3);
	assert_int_equal(bytes_between(&plan, 0, 1), 70);
	assert_int_equal(bytes_between(&plan, 2, 0), 5);
	assert_int_equal(bytes_between(&plan, 2, 1), 6);
	tb_plan_fini(&plan);
}

static void unequal_blocks_keep_their_sizes(void **state)
{
	(void)state;
	const uint64_t bytes[4] = {10, 20, 0, 40}, sizes[4] = {1, 2, 3, 4};
	const uint64_t *const of[4] = {NULL, sizes, NULL, NULL};
	struct tb_collective_call call = {
		.op = TB_COLL_GATHER, .n = 4, .n_local = 4, .root = 1, .bytes = bytes};
	struct tb_expansion_rule rule;
	struct tb_plan plan = expand("openmpi", &call, &rule);
	assert_string_equal(rule.algorithm, "linear");
	assert_int_equal(bytes_between(&plan, 3, 1), 40);
	tb_plan_fini(&plan);
	call.op = TB_COLL_SCATTER;
	call.sizes = of;
	plan = expand("mpich", &call, &rule);
	assert_int_equal(bytes_between(&plan, 1, 0), 1);
	assert_int_equal(bytes_between(&plan, 1, 3), 4);
	tb_plan_fini(&plan);
}

// Two members on one side, three on the other.
static void the_groups_of_an_inter_communicator_give_each_other(void **state)
{
	(void)state;
	const uint64_t bytes[5] = {100, 200, 10, 20, 30};
	const uint64_t low[3] = {1, 2, 3}, high[2] = {4, 5};
	const uint64_t *const of[5] = {low, low, high, high, high};
	struct tb_collective_call call = {
		.op = TB_COLL_ALLGATHER, .n = 5, .n_local = 2, .bytes = bytes};
	struct tb_expansion_rule rule;
	struct tb_plan plan = expand(NULL, &call, &rule);
	assert_int_equal(plan.n_transfers, 12);
	assert_int_equal(bytes_between(&plan, 1, 4), 200);
	assert_int_equal(bytes_between(&plan, 4, 1), 30);
	assert_int_equal(bytes_between(&plan, 0, 1), 0);
	tb_plan_fini(&plan);
	call.op = TB_COLL_ALLTOALL;
	call.sizes = of;
	plan = expand(NULL, &call, &rule);
	assert_int_equal(bytes_between(&plan, 0, 4), 3);
	assert_int_equal(bytes_between(&plan, 3, 1), 5);
	tb_plan_fini(&plan);
	call.op = TB_COLL_BROADCAST;
	call.root = 3;
	plan = expand(NULL, &call, &rule);
	assert_int_equal(plan.n_transfers, 2);
	assert_int_equal(bytes_between(&plan, 3, 0), 20);
	tb_plan_fini(&plan);
}

// In a ring over three hosts of two members each, a message crosses hosts three times.
static void nccl_puts_members_of_a_host_side_by_side(void **state)
{
	(void)state;
	const uint32_t hosts[6] = {7, 8, 9, 7, 8, 9};
	const uint64_t bytes[6] = {600, 600, 600, 600, 600, 600};
	const struct tb_collective_call call = {.op = TB_COLL_ALLGATHER,
		.n = 6,
		.n_local = 6,
		.bytes = bytes,
		.hosts = hosts};
	struct tb_expansion_rule rule;
	struct tb_plan plan = expand("nccl", &call, &rule);
	unsigned crossing = 0;
	for (size_t i = 0; i < plan.n_transfers; i++)
		crossing += plan.transfers[i].round == 0 &&
			    hosts[plan.transfers[i].from] != hosts[plan.transfers[i].to];
	assert_int_equal(crossing, 3);
	assert_int_equal(bytes_between(&plan, 0, 3), 5 * 600);
	tb_plan_fini(&plan);
}

static void check_refusal(const char *choice, const char *part)
{
	struct tb_collective_choices choices = {0};
	struct tb_error error;
	assert_int_equal(tb_collective_choices_add(&choices, choice, &error), TB_EUSAGE);
	if (!strstr(error.text, part))
		fail_msg("'%s' has no '%s'", error.text, part);
}

static void wrong_choices_are_refused_by_name(void **state)
{
	(void)state;
	const struct tb_library *library;
	struct tb_error error;
	check_refusal("allreduce", "expected OPERATION=ALGORITHM");
	check_refusal("=ring", "expected OPERATION=ALGORITHM");
	check_refusal("allredcue=ring", "the nearest is 'allreduce'");
	check_refusal("allreduce=rnig", "the nearest is 'ring'");
	check_refusal("alltoall=zzz", "expected");
	assert_int_equal(tb_library_find(&library, "mvapich", &error), TB_EUSAGE);
	assert_non_null(strstr(error.text, "mpich"));
}

static void a_choice_that_does_not_fit_says_what_it_needs(void **state)
{
	(void)state;
	const uint64_t bytes[3] = {8, 8, 8};
	const struct tb_collective_call call = {
		.op = TB_COLL_ALLGATHER, .n = 3, .n_local = 3, .bytes = bytes};
	struct tb_collective_choices choices = {0};
	const struct tb_library *library;
	struct tb_expansion_rule rule;
	struct tb_error error;
	struct tb_plan plan;
	assert_int_equal(
		tb_collective_choices_add(&choices, "allgather=doubling", NULL), TB_OK);
	assert_int_equal(tb_library_find(&library, NULL, NULL), TB_OK);
	assert_int_equal(
		tb_library_expand(library, &choices, &call, &plan, &rule, &error),
		TB_EUSAGE);
	assert_non_null(strstr(error.text, "needs a power of two of members"));
}

static void eager_limits_are_those_of_the_page(void **state)
{
	(void)state;
	const struct tb_library *library;
	assert_int_equal(tb_library_find(&library, "openmpi", NULL), TB_OK);
	assert_int_equal(tb_library_eager_bytes(library), 65480);
	assert_int_equal(tb_library_find(&library, "mpich", NULL), TB_OK);
	assert_int_equal(tb_library_eager_bytes(library), 16384);
	assert_int_equal(tb_library_find(&library, "nccl", NULL), TB_OK);
	assert_true(tb_library_eager_bytes(library) == UINT64_MAX);
}

static void what_no_job_can_hold_is_refused_at_once(void **state)
{
	(void)state;
	const char *const algorithms[] = {"allreduce=nccl-tree", "allreduce=nccl-ring"};
	uint64_t bytes[4] = {UINT64_C(1) << 62, UINT64_C(1) << 62, UINT64_C(1) << 62,
		UINT64_C(1) << 62};
	const struct tb_collective_call call = {
		.op = TB_COLL_ALLREDUCE, .n = 4, .n_local = 4, .bytes = bytes};
	const struct tb_library *library;
	assert_int_equal(tb_library_find(&library, "nccl", NULL), TB_OK);
	for (size_t i = 0; i < 2; i++) {
		struct tb_collective_choices choices = {0};
		struct tb_plan plan;
		struct tb_expansion_rule rule;
		struct tb_error error;
		assert_int_equal(
			tb_collective_choices_add(&choices, algorithms[i], &error),
			TB_OK);
		assert_int_equal(
			tb_library_expand(library, &choices, &call, &plan, &rule, &error),
			TB_ECAPACITY);
	}
}

// Planned, each of these would take memory for a thousand million messages first.
static void a_million_members_are_refused_before_they_are_planned(void **state)
{
	(void)state;
	static const struct {
		enum tb_collective_op op;
		const char *choice;
		bool is_refused;
	} cases[] = {{TB_COLL_ALLTOALL, "alltoall=linear", true},
		{TB_COLL_ALLTOALL, "alltoall=linear-sync", true},
		{TB_COLL_ALLTOALL, "alltoall=shift", true},
		{TB_COLL_ALLTOALL, "alltoall=pairwise", true},
		{TB_COLL_ALLGATHER, "allgather=ring", true},
		{TB_COLL_ALLREDUCE, "allreduce=ring", true},
		{TB_COLL_ALLREDUCE, "allreduce=nccl-ring", true},
		{TB_COLL_REDUCE_SCATTER, "reduce-scatter=pairwise", true},
		{TB_COLL_BROADCAST, "broadcast=scatter-ring", true},
		{TB_COLL_BROADCAST, "broadcast=binomial", false},
		{TB_COLL_ALLREDUCE, "allreduce=doubling", false}};
	const uint32_t n = 1000000;
	uint64_t *bytes = malloc(n * sizeof *bytes);
	assert_non_null(bytes);
	for (uint32_t i = 0; i < n; i++)
		bytes[i] = 8;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct tb_collective_call call = {
			.op = cases[i].op, .n = n, .n_local = n, .bytes = bytes};
		struct tb_collective_choices choices = {0};
		struct tb_plan plan = {0};
		struct tb_expansion_rule rule;
		struct tb_error error;
		const struct tb_library *library;
		assert_int_equal(tb_library_find(&library, NULL, NULL), TB_OK);
		assert_int_equal(
			tb_collective_choices_add(&choices, cases[i].choice, &error),
			TB_OK);
		int status =
			tb_library_expand(library, &choices, &call, &plan, &rule, &error);
		assert_int_equal(status, cases[i].is_refused ? TB_ECAPACITY : TB_OK);
		if (cases[i].is_refused)
			assert_non_null(strstr(error.text, "at least 999,999,000,000 "));
		else
			tb_plan_fini(&plan);
	}
	free(bytes);
}

// Random calls of each library and operation, composed and expanded.
struct drawn {
	struct tb_collective_call call;
	struct tb_gpu_node node;
	uint64_t bytes[32];
	uint32_t hosts[32];
};

static void draw_call(
	struct drawn *drawn, struct tb_random *random, enum tb_collective_op op)
{
	static const uint64_t links[] = {0, 150, 300, 450, 900}, nics[] = {3, 12, 25, 50};
	uint32_t n = 1 + (uint32_t)tb_random_below(random, 31);
	uint32_t form = (uint32_t)tb_random_below(random, 5);
	uint32_t per_host = 1 + (uint32_t)tb_random_below(random, 8);
	uint64_t each = UINT64_C(1) << tb_random_below(random, 27);
	bool unequal = tb_random_below(random, 5) == 0;
	each += tb_random_below(random, each);
	each = tb_random_below(random, 20) ? each : 0;
	for (uint32_t i = 0; i < n; i++) {
		drawn->bytes[i] =
			each + (unequal ? tb_random_below(random, each + 9) : 0);
		drawn->hosts[i] = form < 3   ? i / per_host
				  : form < 4 ? i % per_host
					     : (uint32_t)tb_random_below(random, 4);
	}
	drawn->node = (struct tb_gpu_node){
		.link_bytes_per_s = links[tb_random_below(random, 5)] * 1000000000,
		.nic_bytes_per_s = nics[tb_random_below(random, 4)] * 1000000000,
		.n_nics = (uint32_t)tb_random_below(random, 9),
		.n_gpus = (uint32_t)tb_random_below(random, 2) * 8};
	drawn->call = (struct tb_collective_call){.op = op,
		.n = n,
		.n_local = n,
		.root = (uint32_t)tb_random_below(random, n),
		.bytes = drawn->bytes,
		.hosts = tb_random_below(random, 4) ? drawn->hosts : NULL,
		.node = tb_random_below(random, 3) ? &drawn->node : NULL};
}

static void describe_parts(FILE *to, const struct tb_composition *made)
{
	for (size_t i = 0; i < made->n; i++) {
		const struct tb_call_part *part = &made->parts[i];
		fprintf(to, "part %d %" PRIu64 " %s %u %" PRIu64 " %d root %u:", part->op,
			part->bytes, part->algorithm ? part->algorithm : "-", part->radix,
			part->segment_bytes, part->beside, part->root);
		for (uint32_t k = 0; k < part->n; k++)
			fprintf(to, " %u", part->members[k]);
	}
}

static void describe_plan(FILE *to, const struct tb_plan *plan)
{
	const struct tb_plan_pace *pace = &plan->pace;
	fprintf(to, "plan %u %u %u %d %" PRIu64 ":", plan->n_rounds, plan->n_ports,
		plan->n_vectors, plan->order, tb_plan_whole_bytes(plan));
	fprintf(to, " pace %u %u %u %u %" PRIu64 " %u %u %u %u, own %d %d:", pace->slots,
		pace->call_ns, pace->step_ns[0], pace->step_ns[1],
		pace->channel_bytes_per_s, pace->turn_bytes, pace->gap_ns, pace->wire[0],
		pace->wire[1], plan->own.last, plan->own.whole);
	for (uint32_t i = 0; i < plan->n_ranks; i++)
		fprintf(to, " %" PRIu64, tb_plan_own_bytes(plan, i));
	for (size_t i = 0; i < plan->n_transfers; i++) {
		const struct tb_transfer *t = &plan->transfers[i];
		fprintf(to, ",%u>%u %u %u %u %d %" PRIu64, t->from, t->to, t->round,
			t->port, t->after, t->combines, tb_plan_bytes(plan, t));
	}
}

static void choices_and_plans_are_as_they_were(void **state)
{
	static const char *const libraries[] = {"openmpi", "openmpi4.0", "openmpi5",
		"mpich", "intelmpi", "nccl", "rccl", "nccl@2.8", "nccl@2.14",
		"nccl@2.19 NCCL_PROTO=^LL128", "nccl@2.23 NCCL_ALGO=^NVLS"};
	enum { CALLS = 40 };
	char *all;
	size_t all_size;
	FILE *to = open_memstream(&all, &all_size);
	assert_non_null(to);
	(void)state;
	for (size_t l = 0; l < sizeof libraries / sizeof *libraries; l++)
		for (int op = 0; op < TB_COLL_EXCHANGE; op++) {
			const struct tb_library *library = NULL;
			struct tb_collective_choices choices = {0};
			struct tb_random random;
			char *text;
			size_t size;
			uint32_t hash = 2166136261U;
			FILE *stream = open_memstream(&text, &size);
			assert_non_null(stream);
			tb_random_init(&random, (uint64_t)op, l);
			assert_int_equal(
				tb_library_read(&library, &choices, libraries[l], NULL),
				TB_OK);
			for (int i = 0; i < CALLS; i++) {
				struct drawn drawn;
				struct tb_composition made = {0};
				struct tb_expansion_rule rule = {0};
				struct tb_plan plan;
				struct tb_error error = {0};
				draw_call(&drawn, &random, (enum tb_collective_op)op);
				assert_int_equal(tb_library_compose(library, &choices,
							 &drawn.call, &made, NULL),
					TB_OK);
				describe_parts(stream, &made);
				tb_composition_fini(&made);
				int status = tb_library_expand(library, &choices,
					&drawn.call, &plan, &rule, &error);
				if (status == TB_OK) {
					fprintf(stream, "%s, %s:", rule.algorithm,
						rule.reason);
					describe_plan(stream, &plan);
					tb_plan_fini(&plan);
				} else {
					fprintf(stream, "%s", error.text);
				}
			}
			fclose(stream);
			for (size_t i = 0; i < size; i++)
				hash = (hash ^ (unsigned char)text[i]) * 16777619U;
			fprintf(to, "%s, operation %d: %08x\n", libraries[l], op, hash);
			free(text);
		}
	fclose(to);
	assert_golden(all, "../library_choices");
	free(all);
}

int main(void)
{
	if (!getenv("TB_SOURCE")) {
		puts("set TB_SOURCE to the source folder");
		return 77;
	}

	const struct CMUnitTest tests[] = {
		cmocka_unit_test(choices_change_where_the_libraries_change_theirs),
		cmocka_unit_test(the_table_names_what_libraries_choose),
		cmocka_unit_test(synthetic_jobs_and_traces_share_algorithms),
		cmocka_unit_test(one_member_moves_nothing),
		cmocka_unit_test(an_exchange_sends_what_sizes_say),
		cmocka_unit_test(unequal_blocks_keep_their_sizes),
		cmocka_unit_test(the_groups_of_an_inter_communicator_give_each_other),
		cmocka_unit_test(nccl_puts_members_of_a_host_side_by_side),
		cmocka_unit_test(wrong_choices_are_refused_by_name),
		cmocka_unit_test(a_choice_that_does_not_fit_says_what_it_needs),
		cmocka_unit_test(eager_limits_are_those_of_the_page),
		cmocka_unit_test(what_no_job_can_hold_is_refused_at_once),
		cmocka_unit_test(a_million_members_are_refused_before_they_are_planned),
		cmocka_unit_test(choices_and_plans_are_as_they_were),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
