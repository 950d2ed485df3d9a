// Sorting by insertion and by merging, against the order of qsort with numbers.
#include "sort.h"
#include "random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

enum { MOST = 40 * TB_SORT_FEW };

struct item {
	uint32_t key, number;
};

static bool is_before(const struct item *a, const struct item *b)
{
	return a->key < b->key;
}

TB_SORT(sort_items, struct item, is_before)

static int by_key_and_number(const void *left, const void *right)
{
	const struct item *a = left, *b = right;
	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	return (a->number > b->number) - (a->number < b->number);
}

static void equal_items_keep_their_order(void **state)
{
	(void)state;
	static struct item items[MOST], spare[MOST], expected[MOST];
	struct tb_random random;
	tb_random_init(&random, 3, 0);
	for (uint32_t n = 0; n <= MOST; n += n < 3 * TB_SORT_FEW ? 1 : 97)
		for (uint32_t keys = 1; keys <= 4096; keys *= 8) {
			for (uint32_t i = 0; i < n; i++)
				expected[i] = items[i] = (struct item){
					(uint32_t)tb_random_below(&random, keys), i};
			if (n)
				qsort(expected, n, sizeof *expected, by_key_and_number);
			sort_items(items, spare, n);
			for (uint32_t i = 0; i < n; i++) {
				assert_int_equal(items[i].key, expected[i].key);
				assert_int_equal(items[i].number, expected[i].number);
			}
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_items_keep_their_order),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
