// Random streams: the numbers of the published generators, and the distributions drawn
// from them.
#include "random.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

// The first outputs of the authors' C code for xoshiro256** with state 1, 2, 3, 4.
static void the_generator_is_xoshiro256_starstar(void **state)
{
	(void)state;
	static const uint64_t first[] = {11520, 0, 1509978240, 1215971899390074240u,
		1216172134540287360u, 607988272756665600u, 16172922978634559625u,
		8476171486693032832u, 10595114339597558777u, 2904607092377533576u};
	struct tb_random random = {{1, 2, 3, 4}};
	for (size_t i = 0; i < sizeof first / sizeof *first; i++)
		assert_true(tb_random_next(&random) == first[i]);
}

// The first outputs of splitmix64 with seed 1234567.
static void words_are_mixed_as_splitmix64_does(void **state)
{
	(void)state;
	static const uint64_t first[] = {6457827717110365317u, 3203168211198807973u,
		9817491932198370423u, 4593380528125082431u, 16408922859458223821u};
	uint64_t x = 1234567;
	for (size_t i = 0; i < sizeof first / sizeof *first; i++) {
		x += UINT64_C(0x9e3779b97f4a7c15);
		assert_true(tb_random_mix(x) == first[i]);
	}
}

static void a_seed_and_a_stream_name_one_sequence(void **state)
{
	(void)state;
	struct tb_random one, again, other_stream, other_seed;
	tb_random_init(&one, 1, 0);
	tb_random_init(&again, 1, 0);
	tb_random_init(&other_stream, 1, 1);
	tb_random_init(&other_seed, 2, 0);
	for (int i = 0; i < 100; i++) {
		uint64_t value = tb_random_next(&one);
		assert_true(value == tb_random_next(&again));
		assert_true(value != tb_random_next(&other_stream));
		assert_true(value != tb_random_next(&other_seed));
	}
}

// Of 100,000 draws, the share with probability p must lie within 5 standard deviations of
// p.
static void assert_share(int n, double p)
{
	const int draws = 100000;
	double deviation = sqrt(draws * p * (1 - p));
	assert_true(fabs(n - draws * p) < 5 * deviation);
}

static void bounded_draws_are_without_bias(void **state)
{
	(void)state;
	static const uint64_t bounds[] = {3, 10, UINT64_C(3) << 62};
	for (int b = 0; b < 3; b++) {
		struct tb_random random;
		int thirds[3] = {0};
		tb_random_init(&random, 5, (uint64_t)b);
		for (int i = 0; i < 100000; i++) {
			uint64_t drawn = tb_random_below(&random, bounds[b]);
			assert_true(drawn < bounds[b]);
			thirds[(double)drawn / (double)bounds[b] * 3 >= 2
					? 2
					: (double)drawn / (double)bounds[b] * 3 >= 1]++;
		}
		assert_share(thirds[0], b == 1 ? 0.4 : 1.0 / 3);
		assert_share(thirds[2], b == 1 ? 0.3 : 1.0 / 3);
	}
	struct tb_random random;
	tb_random_init(&random, 1, 1);
	assert_int_equal(tb_random_below(&random, 1), 0);
}

static void units_are_uniform_and_exponentials_have_their_moments(void **state)
{
	(void)state;
	struct tb_random random;
	int below_quarter = 0, beyond_one = 0, beyond_three = 0;
	double sum = 0, squares = 0;
	tb_random_init(&random, 9, 0);
	for (int i = 0; i < 100000; i++) {
		double unit = tb_random_unit(&random);
		double variate = tb_random_exponential(&random);
		assert_true(unit >= 0 && unit < 1 && variate >= 0);
		below_quarter += unit < 0.25;
		beyond_one += variate > 1;
		beyond_three += variate > 3;
		sum += variate;
		squares += variate * variate;
	}
	assert_share(below_quarter, 0.25);
	assert_share(beyond_one, exp(-1));
	assert_share(beyond_three, exp(-3));
	assert_true(fabs(sum / 100000 - 1) < 0.02);
	assert_true(fabs(squares / 100000 - 2) < 0.1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_generator_is_xoshiro256_starstar),
		cmocka_unit_test(words_are_mixed_as_splitmix64_does),
		cmocka_unit_test(a_seed_and_a_stream_name_one_sequence),
		cmocka_unit_test(bounded_draws_are_without_bias),
		cmocka_unit_test(units_are_uniform_and_exponentials_have_their_moments),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
