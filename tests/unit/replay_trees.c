// The book of congestion trees: slices of time, and bounded memory.
#include "tree_book.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

struct listed {
	struct tb_tree_sample *samples;
	size_t n;
};

static struct listed list(struct tb_tree_book *book)
{
	struct listed listed = {NULL, 0};
	assert_int_equal(tb_tree_book_list(book, &listed.samples, &listed.n), TB_OK);
	return listed;
}

static uint64_t sum(const struct listed *listed)
{
	uint64_t wait_ps = 0;
	for (size_t i = 0; i < listed->n; i++)
		wait_ps += listed->samples[i].wait_ps;
	return wait_ps;
}

static void a_wait_counts_in_every_slice_that_it_lasts_through(void **state)
{
	(void)state;
	struct tb_tree_book book;
	assert_int_equal(tb_tree_book_init(&book, 1000), TB_OK);
	assert_int_equal(tb_tree_book_add(&book, 7, 3, 500, 2300), TB_OK);
	assert_int_equal(tb_tree_book_add(&book, 7, 3, 2000, 2100), TB_OK);
	struct listed listed = list(&book);
	assert_int_equal(listed.n, 3);
	assert_int_equal(listed.samples[0].wait_ps, 500);
	assert_int_equal(listed.samples[1].wait_ps, 1000);
	assert_int_equal(listed.samples[2].wait_ps, 400);
	assert_int_equal(listed.samples[2].bin, 2);
	assert_int_equal(listed.samples[2].root.id, 7);
	assert_int_equal(listed.samples[2].link.id, 3);
	free(listed.samples);
	tb_tree_book_fini(&book);
}

static void slices_double_when_the_run_outgrows_them(void **state)
{
	(void)state;
	struct tb_tree_book book;
	assert_int_equal(tb_tree_book_init(&book, 1000), TB_OK);
	assert_int_equal(tb_tree_book_add(&book, 1, 2, 100, 900), TB_OK);
	assert_int_equal(tb_tree_book_add(&book, 1, 2, 1100, 1200), TB_OK);
	assert_int_equal(tb_tree_book_add(&book, 1, 2, 7100, 7300), TB_OK);
	assert_int_equal(tb_tree_book_add(&book, 1, 2, 63900, 64000), TB_OK);
	assert_int_equal(book.bin_ps, 1000);
	assert_int_equal(tb_tree_book_add(&book, 1, 2, 199500, 200000), TB_OK);
	assert_int_equal(book.bin_ps, 4000);
	struct listed listed = list(&book);
	assert_int_equal(listed.n, 4);
	assert_int_equal(listed.samples[0].wait_ps, 900);
	assert_int_equal(listed.samples[1].bin, 1);
	assert_int_equal(listed.samples[1].wait_ps, 200);
	assert_int_equal(listed.samples[2].bin, 15);
	assert_int_equal(listed.samples[3].bin, 49);
	free(listed.samples);
	tb_tree_book_fini(&book);
}

// Ten times as many pairs as there is room for, one of them heavy.
static void too_many_pairs_lose_their_names_but_no_wait(void **state)
{
	(void)state;
	struct tb_tree_book book;
	uint64_t wait_ps = 0;
	assert_int_equal(tb_tree_book_init(&book, 1000000), TB_OK);
	for (uint32_t i = 0; i < 300000; i++) {
		tb_time_ps from = (tb_time_ps)i * 100;
		assert_int_equal(
			tb_tree_book_add(&book, i % 977, i, from, from + 10), TB_OK);
		assert_int_equal(
			tb_tree_book_add(&book, 5000, 1, from, from + 90), TB_OK);
		wait_ps += 100;
	}
	struct listed listed = list(&book);
	uint64_t heavy_ps = 0;
	assert_int_equal(sum(&listed), wait_ps);
	assert_true(listed.n < 9000);
	for (size_t i = 0; i < listed.n; i++)
		if (listed.samples[i].root.id == 5000)
			heavy_ps += listed.samples[i].wait_ps;
	assert_int_equal(heavy_ps, 300000 * 90);
	free(listed.samples);
	tb_tree_book_fini(&book);
}

static void what_keeps_nothing_takes_everything(void **state)
{
	(void)state;
	struct tb_tree_book book = {0};
	assert_int_equal(tb_tree_book_add(&book, 1, 2, 0, 10), TB_OK);
	struct listed listed = list(&book);
	assert_int_equal(listed.n, 0);
	free(listed.samples);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_wait_counts_in_every_slice_that_it_lasts_through),
		cmocka_unit_test(slices_double_when_the_run_outgrows_them),
		cmocka_unit_test(too_many_pairs_lose_their_names_but_no_wait),
		cmocka_unit_test(what_keeps_nothing_takes_everything),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
