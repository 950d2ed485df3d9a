// Synthetic jobs: every pattern follows its definition (paper 000, section 4), and jobs
// have the right operations.
#include "synth.h"

#include "../../job_equal.h"
#include "units.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

static struct tb_synth_options options_of(const char *pattern, uint32_t n_nodes)
{
	struct tb_synth_options options = {
		.n_nodes = n_nodes, .message_bytes = 1000, .n_messages = 3, .seed = 1};
	assert_int_equal(tb_synth_pattern_find(&options.pattern, pattern, NULL), TB_OK);
	return options;
}

static struct tb_job *make(const struct tb_synth_options *options)
{
	struct tb_job *job;
	struct tb_error error;
	int status = tb_synth_job(&job, options, &error);
	if (status != TB_OK)
		fail_msg("%s", error.text);
	return job;
}

// destination_of returns the destination of all messages of a node; the node itself if it
// sends none.
static uint32_t destination_of(const struct tb_job *job, uint32_t node)
{
	uint32_t to = node;
	for (uint32_t i = job->first_op[node]; i < job->first_op[node + 1]; i++) {
		if (job->ops[i].kind != TB_OP_SEND)
			continue;
		assert_true(to == node || to == job->ops[i].peer);
		to = job->ops[i].peer;
	}
	return to;
}

// assert_moves_digits checks a permutation of the binary coordinates of nodes, written as
// in the paper, most significant first.
static void assert_moves_digits(const char *pattern, unsigned n_digits, const char *from)
{
	struct tb_synth_options options = options_of(pattern, 1u << n_digits);
	struct tb_job *job = make(&options);
	for (uint32_t node = 0; node < options.n_nodes; node++) {
		uint32_t expected = 0;
		for (unsigned i = 0; i < n_digits; i++) {
			unsigned digit = (unsigned)(from[i] - '0');
			expected = expected << 1 | (node >> digit & 1);
		}
		assert_int_equal(destination_of(job, node), expected);
	}
	tb_job_free(job);
}

static void permutations_move_the_digits_as_defined(void **state)
{
	(void)state;
	// "012345": the destination's most significant digit is the source's digit 0, ...
	assert_moves_digits("bit-reversal", 6, "012345");
	assert_moves_digits("butterfly", 6, "043215");
	assert_moves_digits("transpose", 6, "210543");
	assert_moves_digits("transpose", 5, "10432");
	assert_moves_digits("shuffle", 6, "432105");
	assert_moves_digits("shuffle", 1, "0");
	assert_moves_digits("bit-reversal", 1, "0");
}

static void complement_and_neighbour_are_as_defined(void **state)
{
	(void)state;
	struct tb_synth_options options = options_of("complement", 64);
	struct tb_job *job = make(&options);
	for (uint32_t node = 0; node < 64; node++)
		assert_int_equal(destination_of(job, node), ~node & 63);
	tb_job_free(job);
	options = options_of("neighbour", 10);
	job = make(&options);
	for (uint32_t node = 0; node < 10; node++)
		assert_int_equal(
			destination_of(job, node), node % 2 ? node - 1 : node + 1);
	tb_job_free(job);
}

static void a_hot_spot_gets_all_and_sends_nothing(void **state)
{
	(void)state;
	struct tb_synth_options options = options_of("hot-spot", 9);
	options.hot = 5;
	struct tb_job *job = make(&options);
	for (uint32_t node = 0; node < 9; node++)
		assert_int_equal(destination_of(job, node), 5);
	assert_int_equal(job->first_op[6] - job->first_op[5], 8 * 3);
	tb_job_free(job);
}

static void pings_go_between_the_first_and_the_last(void **state)
{
	(void)state;
	struct tb_synth_options options = options_of("ping", 9);
	struct tb_job *job = make(&options);
	assert_int_equal(destination_of(job, 0), 8);
	assert_int_equal(job->first_op[8] - job->first_op[1], 0);
	tb_job_free(job);
	options = options_of("ping-both", 9);
	job = make(&options);
	assert_int_equal(destination_of(job, 0), 8);
	assert_int_equal(destination_of(job, 8), 0);
	tb_job_free(job);
}

// assert_served makes an I/O job on 64 nodes and checks that `serves` is true for every
// destination and that `n_silent` nodes send nothing.
static void assert_served(struct tb_synth_options *options, bool (*serves)(uint32_t node),
	uint32_t n_silent)
{
	struct tb_job *job = make(options);
	uint32_t silent = 0;
	for (uint32_t node = 0; node < 64; node++) {
		uint32_t n_sends = 0;
		for (uint32_t op = job->first_op[node]; op < job->first_op[node + 1];
			op++) {
			if (job->ops[op].kind != TB_OP_SEND)
				continue;
			n_sends++;
			assert_true(serves(job->ops[op].peer));
			assert_int_not_equal(job->ops[op].peer, node);
		}
		silent += n_sends == 0;
	}
	assert_int_equal(silent, n_silent);
	tb_job_free(job);
}

static bool is_clustered(uint32_t node)
{
	return node >= 56;
}

static bool is_distributed(uint32_t node)
{
	return node % 8 == 7;
}

static void io_goes_to_the_nodes_that_serve(void **state)
{
	(void)state;
	const char *const names[] = {"io-random", "io-fixed"};
	for (int i = 0; i < 8; i++) {
		struct tb_synth_options options = options_of(names[i & 1], 64);
		options.n_io = 8;
		options.io_distributed = i & 2;
		options.dedicated = i & 4;
		assert_served(
			&options, i & 2 ? is_distributed : is_clustered, i & 4 ? 8 : 0);
	}
	struct tb_synth_options options = options_of("io-fixed", 12);
	options.n_io = 7;
	struct tb_job *job = NULL;
	assert_int_equal(tb_synth_job(&job, &options, NULL), TB_EUSAGE);
}

// Of 56 nodes that send, 7 take each of the 8 that serve, wherever these are.
static void fixed_io_is_shared_out_evenly(void **state)
{
	(void)state;
	for (int distributed = 0; distributed < 2; distributed++) {
		struct tb_synth_options options = options_of("io-fixed", 64);
		options.n_io = 8;
		options.io_distributed = distributed;
		options.dedicated = true;
		struct tb_job *job = make(&options);
		uint32_t n_senders[64] = {0};
		for (uint32_t node = 0; node < 64; node++)
			n_senders[destination_of(job, node)] +=
				destination_of(job, node) != node;
		for (uint32_t node = 0; node < 64; node++)
			assert_int_equal(n_senders[node],
				(distributed ? is_distributed(node) : is_clustered(node))
					? 7
					: 0);
		tb_job_free(job);
	}
}

static void uniform_traffic_reaches_all_others_equally(void **state)
{
	(void)state;
	struct tb_synth_options options = options_of("uniform", 8);
	options.n_messages = 7000;
	struct tb_job *job = make(&options);
	uint32_t counts[8][8] = {0};
	for (uint32_t node = 0; node < 8; node++)
		for (uint32_t i = job->first_op[node]; i < job->first_op[node + 1]; i++)
			if (job->ops[i].kind == TB_OP_SEND)
				counts[node][job->ops[i].peer]++;
	// 1000 expected with a standard deviation of 29.
	for (uint32_t a = 0; a < 8; a++)
		for (uint32_t b = 0; b < 8; b++)
			assert_in_range(
				counts[a][b], a == b ? 0 : 850, a == b ? 0 : 1150);
	tb_job_free(job);
}

static void without_load_sends_follow_each_other(void **state)
{
	(void)state;
	struct tb_synth_options options = options_of("complement", 4);
	struct tb_job *job = make(&options);
	assert_int_equal(job->n_ops, 4 * 6);
	for (uint32_t i = 0; i < job->n_ops; i++) {
		bool send = job->ops[i].kind == TB_OP_SEND;
		uint32_t index = i % 6; // three receives, then three sends
		assert_int_equal(send, index >= 3);
		assert_int_equal(job->n_predecessors[i], index > 3);
		uint32_t first = job->first_successor[i];
		assert_int_equal(
			job->first_successor[i + 1] - first, index >= 3 && index < 5);
		if (index >= 3 && index < 5)
			assert_int_equal(job->successors[first], i + 1);
	}
	tb_job_free(job);
}

// issue_times adds up the calcs before each send of a node: the time at which it is
// issued.
static size_t issue_times(const struct tb_job *job, uint32_t node, uint64_t *times)
{
	uint64_t now = 0;
	size_t n = 0;
	for (uint32_t i = job->first_op[node]; i < job->first_op[node + 1]; i++) {
		const struct tb_op *op = &job->ops[i];
		if (op->kind == TB_OP_CALC) {
			assert_int_equal(op->cpu, 1);
			assert_int_equal(job->n_predecessors[i], n > 0);
			now += op->amount;
		} else if (op->kind == TB_OP_SEND) {
			assert_int_equal(job->n_predecessors[i], 1);
			times[n++] = now;
		}
	}
	return n;
}

static void a_load_issues_messages_at_its_rate(void **state)
{
	(void)state;
	struct tb_synth_options options = options_of("neighbour", 2);
	static uint64_t times[4000];
	options.n_messages = 4000;
	options.message_bytes = 64;
	options.load = 0.9;
	options.rate_bytes_per_s = 338 * 1000 * 1000;
	for (int dist = TB_SYNTH_FIXED; dist <= TB_SYNTH_EXPONENTIAL; dist++) {
		options.time_dist = (enum tb_synth_dist)dist;
		struct tb_job *job = make(&options);
		assert_int_equal(issue_times(job, 1, times), 4000);
		double mean_ns = 64e9 / 338e6 / 0.9;
		double seen_ns = (double)times[3999] / 4000;
		// Standard deviation of a mean of 4000: 0.9 % and 1.6 %.
		double tolerance = dist == TB_SYNTH_FIXED     ? 0.0001
				   : dist == TB_SYNTH_UNIFORM ? 0.03
							      : 0.05;
		assert_true(fabs(seen_ns / mean_ns - 1) < tolerance);
		tb_job_free(job);
	}
}

static void sizes_have_the_mean_and_the_range_asked_for(void **state)
{
	(void)state;
	struct tb_synth_options options = options_of("neighbour", 2);
	options.n_messages = 20000;
	for (int dist = TB_SYNTH_FIXED; dist <= TB_SYNTH_EXPONENTIAL; dist++) {
		options.size_dist = (enum tb_synth_dist)dist;
		struct tb_job *job = make(&options);
		struct tb_job_summary summary;
		tb_job_summarize(job, &summary);
		uint64_t least = UINT64_MAX, most = 0;
		for (uint32_t i = 0; i < job->n_ops; i++) {
			uint64_t bytes = job->ops[i].amount;
			least = bytes < least ? bytes : least;
			most = bytes > most ? bytes : most;
		}
		double mean = (double)summary.send_bytes / (double)summary.n_sends;
		assert_true(
			fabs(mean / 1000 - 1) < (dist == TB_SYNTH_FIXED ? 1e-9 : 0.03));
		assert_in_range(least, 1, 1000);
		if (dist == TB_SYNTH_UNIFORM)
			assert_in_range(most, 1990, 2000);
		if (dist == TB_SYNTH_EXPONENTIAL)
			assert_true(most > 6000);
		tb_job_free(job);
	}
}

static void tiny_sizes_are_at_least_a_byte(void **state)
{
	(void)state;
	struct tb_synth_options options = options_of("neighbour", 2);
	options.message_bytes = 1;
	options.n_messages = 1000;
	options.size_dist = TB_SYNTH_EXPONENTIAL;
	struct tb_job *job = make(&options);
	for (uint32_t i = 0; i < job->n_ops; i++)
		assert_true(job->ops[i].amount >= 1);
	tb_job_free(job);
}

static void a_seed_gives_one_job_and_another_seed_another(void **state)
{
	(void)state;
	struct tb_synth_options options = options_of("uniform", 16);
	options.size_dist = TB_SYNTH_EXPONENTIAL;
	struct tb_job *a = make(&options), *b = make(&options);
	options.seed = 2;
	struct tb_job *c = make(&options);
	assert_true(job_equal(a, b));
	assert_false(job_equal(a, c));
	tb_job_free(a);
	tb_job_free(b);
	tb_job_free(c);
}

static void sizes_do_not_move_destinations(void **state)
{
	(void)state;
	struct tb_synth_options options = options_of("uniform", 16);
	struct tb_job *a = make(&options);
	options.size_dist = TB_SYNTH_UNIFORM;
	struct tb_job *b = make(&options);
	assert_int_equal(a->n_ops, b->n_ops);
	for (uint32_t i = 0; i < a->n_ops; i++)
		assert_int_equal(a->ops[i].peer, b->ops[i].peer);
	tb_job_free(a);
	tb_job_free(b);
}

static void what_makes_no_sense_is_refused(void **state)
{
	(void)state;
	struct tb_job *job = NULL;
	struct tb_error error;
	struct tb_synth_options options = options_of("shuffle", 12);
	assert_int_equal(tb_synth_job(&job, &options, &error), TB_EUSAGE);
	assert_string_equal(error.text, "shuffle moves binary digits: the number of "
					"nodes must be a power of two, "
					"not 12");
	options = options_of("neighbour", 7);
	assert_int_equal(tb_synth_job(&job, &options, &error), TB_EUSAGE);
	options = options_of("hot-spot", 4);
	options.hot = 4;
	assert_int_equal(tb_synth_job(&job, &options, &error), TB_EUSAGE);
	options = options_of("uniform", 4);
	options.message_bytes = 0;
	options.load = 1;
	assert_int_equal(tb_synth_job(&job, &options, &error), TB_EUSAGE);
	options = options_of("uniform", 1u << 20);
	options.n_messages = 1u << 12;
	assert_int_equal(tb_synth_job(&job, &options, &error), TB_ECAPACITY);
	options = options_of("uniform", 4);
	options.message_bytes = UINT64_C(1) << 50;
	options.load = 1e-9;
	assert_int_equal(tb_synth_job(&job, &options, &error), TB_EUSAGE);
	assert_null(job);
	assert_int_equal(
		tb_synth_pattern_find(&options.pattern, "neighbor", &error), TB_EUSAGE);
	assert_string_equal(error.text,
		"no pattern is called 'neighbor'; the nearest is 'neighbour'");
}

static void a_stencil_exchanges_with_six_neighbours_each_way(void **state)
{
	(void)state;
	uint32_t n = 4 * 3 * 3, sends[36][36] = {{0}};
	struct tb_synth_options options = options_of("stencil", n);
	struct tb_job *job = make(&options);
	for (uint32_t node = 0; node < n; node++)
		for (uint32_t i = job->first_op[node]; i < job->first_op[node + 1]; i++)
			if (job->ops[i].kind == TB_OP_SEND)
				sends[node][job->ops[i].peer]++;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t n_neighbours = 0;
		for (uint32_t k = 0; k < n; k++) {
			// Along one of the sides, of 4, 3 and 3, by one, around the ends.
			uint32_t off[] = {(k % 4 + 4 - i % 4) % 4,
				(k / 4 % 3 + 3 - i / 4 % 3) % 3,
				(k / 12 + 3 - i / 12) % 3};
			uint32_t sides[] = {4, 3, 3}, n_off = 0, n_near = 0;
			for (int d = 0; d < 3; d++) {
				n_off += off[d] != 0;
				n_near += off[d] == 1 || off[d] == sides[d] - 1;
			}
			bool near = n_off == 1 && n_near == 1;
			assert_int_equal(sends[i][k], near ? options.n_messages : 0);
			n_neighbours += near;
		}
		assert_int_equal(n_neighbours, 6);
	}
	tb_job_free(job);
}

static void a_side_of_two_has_one_neighbour_and_a_prime_is_a_ring(void **state)
{
	(void)state;
	uint32_t neighbours[6];
	assert_int_equal(tb_stencil_neighbours(8, 5, neighbours), 3); // 2 x 2 x 2
	assert_int_equal(neighbours[0], 4);
	assert_int_equal(neighbours[1], 7);
	assert_int_equal(neighbours[2], 1);
	assert_int_equal(tb_stencil_neighbours(7, 0, neighbours), 2);
	assert_int_equal(neighbours[0], 1);
	assert_int_equal(neighbours[1], 6);
	assert_int_equal(tb_stencil_neighbours(2, 1, neighbours), 1);
}

static void a_stencil_has_neither_load_nor_distribution(void **state)
{
	(void)state;
	struct tb_job *job;
	struct tb_error error;
	struct tb_synth_options options = options_of("stencil", 8);
	options.load = 0.5;
	assert_int_equal(tb_synth_job(&job, &options, &error), TB_EUSAGE);
	options.load = 0;
	options.size_dist = TB_SYNTH_UNIFORM;
	assert_int_equal(tb_synth_job(&job, &options, &error), TB_EUSAGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(permutations_move_the_digits_as_defined),
		cmocka_unit_test(complement_and_neighbour_are_as_defined),
		cmocka_unit_test(a_hot_spot_gets_all_and_sends_nothing),
		cmocka_unit_test(pings_go_between_the_first_and_the_last),
		cmocka_unit_test(io_goes_to_the_nodes_that_serve),
		cmocka_unit_test(fixed_io_is_shared_out_evenly),
		cmocka_unit_test(uniform_traffic_reaches_all_others_equally),
		cmocka_unit_test(without_load_sends_follow_each_other),
		cmocka_unit_test(a_load_issues_messages_at_its_rate),
		cmocka_unit_test(sizes_have_the_mean_and_the_range_asked_for),
		cmocka_unit_test(tiny_sizes_are_at_least_a_byte),
		cmocka_unit_test(a_seed_gives_one_job_and_another_seed_another),
		cmocka_unit_test(sizes_do_not_move_destinations),
		cmocka_unit_test(what_makes_no_sense_is_refused),
		cmocka_unit_test(a_stencil_exchanges_with_six_neighbours_each_way),
		cmocka_unit_test(a_side_of_two_has_one_neighbour_and_a_prime_is_a_ring),
		cmocka_unit_test(a_stencil_has_neither_load_nor_distribution),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
