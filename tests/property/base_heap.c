// The heap against an unsorted list: random programs of puts, replacements and removals.
#include "array.h"
#include "heap.h"
#include "random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { N_PROGRAMS = 400, N_STEPS = 1000 };

struct item {
	uint32_t key;
	uint32_t number;     // in the order in which they were put
	unsigned char other; // sizes need not be powers of two
};

struct both {
	struct item *heap;
	size_t n, room;
	struct item naive[N_STEPS];
	uint32_t n_put;
};

static bool before(const struct item *a, const struct item *b)
{
	return a->key != b->key ? a->key < b->key : a->number < b->number;
}

TB_HEAP(heap, struct item, before)

// The planted fault: an order that forgets the order of puts.
static bool loosely_before(const struct item *a, const struct item *b)
{
	return a->key < b->key;
}

TB_HEAP(loose, struct item, loosely_before)

struct heap {
	void (*put)(struct item *, size_t, struct item);
	void (*replace)(struct item *, size_t, struct item);
	struct item (*take)(struct item *, size_t);
};

static const struct heap sound = {heap_put, heap_replace, heap_take};
static const struct heap faulty = {loose_put, loose_replace, loose_take};

static struct item *naive_first(struct both *both)
{
	struct item *first = both->naive;
	for (size_t i = 1; i < both->n; i++)
		if (before(&both->naive[i], first))
			first = &both->naive[i];
	return first;
}

static void put(struct both *both, uint32_t key, const struct heap *heap)
{
	struct item item = {.key = key, .number = both->n_put++};
	assert_int_equal(TB_ARRAY_RESERVE(&both->heap, &both->room, both->n + 1), TB_OK);
	both->naive[both->n] = item;
	heap->put(both->heap, both->n++, item);
}

static void replace(struct both *both, uint32_t key, const struct heap *heap)
{
	struct item item = {.key = key, .number = both->n_put++};
	*naive_first(both) = item;
	heap->replace(both->heap, both->n, item);
}

static void drop(struct both *both, const struct heap *heap)
{
	struct item *first = naive_first(both);
	assert_int_equal(heap->take(both->heap, both->n).number, first->number);
	*first = both->naive[both->n - 1];
	both->n--;
}

// run plays one program and returns the step after which the two differ, N_STEPS if none
// does.
static uint32_t run(uint64_t seed, const struct heap *heap)
{
	struct both both = {0};
	struct tb_random random;
	tb_random_init(&random, seed, 0);
	// Few keys for many ties, or many; growing, shrinking or hovering about empty.
	uint64_t n_keys = tb_random_below(&random, 2) ? 3 : 100000;
	uint64_t puts = 30 + tb_random_below(&random, 40);
	uint32_t step = 0;
	for (; step < N_STEPS; step++) {
		uint32_t key = (uint32_t)tb_random_below(&random, n_keys);
		uint64_t kind = tb_random_below(&random, 100);
		if (both.n == 0 || kind < puts)
			put(&both, key, heap);
		else if (kind < puts + 10)
			replace(&both, key, heap);
		else
			drop(&both, heap);
		if (both.n > 0 && naive_first(&both)->number != both.heap[0].number)
			break;
	}
	free(both.heap);
	return step;
}

static void the_first_item_is_the_naive_models(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= N_PROGRAMS; seed++) {
		uint32_t step = run(seed, &sound);
		if (step != N_STEPS)
			fail_msg("seed %d: another first item after step %u", (int)seed,
				step);
	}
}

static void a_heap_that_forgets_the_order_of_puts_is_found(void **state)
{
	(void)state;
	uint32_t n_found = 0;
	for (uint64_t seed = 1; seed <= 20; seed++)
		n_found += run(seed, &faulty) != N_STEPS;
	assert_true(n_found > 5);
}

static void ties_leave_in_put_order(void **state)
{
	(void)state;
	struct both both = {0};
	for (uint32_t i = 0; i < 100; i++)
		put(&both, 7, &sound);
	for (uint32_t i = 0; i < 100; i++) {
		assert_int_equal(both.heap[0].number, i);
		drop(&both, &sound);
	}
	assert_int_equal(both.n, 0);
	free(both.heap);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_item_is_the_naive_models),
		cmocka_unit_test(a_heap_that_forgets_the_order_of_puts_is_found),
		cmocka_unit_test(ties_leave_in_put_order),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
