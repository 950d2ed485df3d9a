// Links whose metric changed, of samples that are made up here.
#include "movers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#define N_LINKS 5

static struct tb_link_sample before[N_LINKS] = {{.wait_ps = 10}, {.wait_ps = 20},
	{.wait_ps = 7, .busy_ps = 1}, {.wait_ps = 9}, {.wait_ps = 3}};
static struct tb_link_sample after[N_LINKS] = {{.wait_ps = 14}, {.wait_ps = 11},
	{.wait_ps = 7, .busy_ps = 3}, {.wait_ps = 18}, {.wait_ps = 5}};

// Links 0 to 3 are in both runs, 4 is another one in each.
static struct tb_link_pair made[] = {{{0}, {0}}, {{1}, {1}}, {{2}, {2}}, {{3}, {3}},
	{{4}, {TB_ID_NONE}}, {{TB_ID_NONE}, {4}}};
static const struct tb_link_pairs pairs = {.pairs = made, .n = 6};

static void check(enum tb_metric metric, uint32_t top, const size_t *expected, uint32_t n,
	uint32_t n_moved)
{
	struct tb_mover *movers;
	uint32_t n_found = 0, n_found_moved = 0;
	assert_int_equal(tb_movers(&pairs, before, after, metric, top, &movers, &n_found,
				 &n_found_moved, NULL),
		TB_OK);
	assert_int_equal(n_found, n);
	assert_int_equal(n_found_moved, n_moved);
	for (uint32_t i = 0; i < n; i++)
		assert_memory_equal(&movers[i].pair, &made[expected[i]], sizeof *made);
	if (n > 2 && metric == TB_WAIT) {
		assert_true(tb_mover_change(&movers[0]) == -9);
		assert_true(tb_mover_change(&movers[1]) == 9);
	}
	free(movers);
}

static void the_largest_change_comes_first_whether_more_or_less(void **state)
{
	(void)state;
	check(TB_WAIT, 0, (const size_t[]){1, 3, 5, 0, 4}, 5, 5);
	check(TB_WAIT, 3, (const size_t[]){1, 3, 5}, 3, 5);
}

static void what_did_not_change_is_left_out(void **state)
{
	(void)state;
	check(TB_BUSY, 0, (const size_t[]){2}, 1, 1);
	check(TB_BYTES, 0, NULL, 0, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_largest_change_comes_first_whether_more_or_less),
		cmocka_unit_test(what_did_not_change_is_left_out),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
