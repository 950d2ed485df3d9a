// Shards are read as people write them, and deal out every task once.
#include "shard.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

static void a_shard_is_read_as_a_fraction(void **state)
{
	(void)state;
	struct tb_shard shard = {0};
	assert_int_equal(tb_shard_parse("3/16", &shard), TB_OK);
	assert_int_equal(shard.number, 3);
	assert_int_equal(shard.n, 16);
	assert_int_equal(tb_shard_parse("1/1", &shard), TB_OK);
	assert_int_equal(tb_shard_parse("100000/100000", &shard), TB_OK);
}

static void what_is_no_shard_is_refused(void **state)
{
	(void)state;
	static const char *const texts[] = {"", "3", "/", "3/", "/16", "0/16", "17/16",
		"3/0", "-1/4", "1/100001", "3/16/2", "3 /16", "a/b", "1.5/2",
		"99999999999999999999/3"};
	struct tb_shard shard = {7, 9};
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		assert_int_equal(tb_shard_parse(texts[i], &shard), TB_EUSAGE);
		assert_int_equal(shard.number, 7);
	}
}

static void every_task_is_of_one_shard_and_shares_are_equal(void **state)
{
	(void)state;
	enum { N_TASKS = 100 };
	for (uint32_t n = 1; n <= 13; n++) {
		size_t n_owners[N_TASKS] = {0};
		for (uint32_t number = 1; number <= n; number++) {
			size_t n_own = 0;
			for (size_t i = 0; i < N_TASKS; i++)
				if (tb_shard_has((struct tb_shard){number, n}, i)) {
					n_owners[i]++;
					n_own++;
				}
			assert_in_range(n_own, N_TASKS / n, N_TASKS / n + 1);
		}
		for (size_t i = 0; i < N_TASKS; i++)
			assert_int_equal(n_owners[i], 1);
	}
}

static void without_shards_all_is_there(void **state)
{
	(void)state;
	for (size_t i = 0; i < 10; i++)
		assert_true(tb_shard_has((struct tb_shard){0}, i));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_shard_is_read_as_a_fraction),
		cmocka_unit_test(what_is_no_shard_is_refused),
		cmocka_unit_test(every_task_is_of_one_shard_and_shares_are_equal),
		cmocka_unit_test(without_shards_all_is_there),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
