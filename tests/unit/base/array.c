// Growing arrays: what is kept, how far they grow, what is refused.
#include "array.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct odd {
	char bytes[7];
};

static void an_empty_array_gets_room(void **state)
{
	(void)state;
	uint64_t *items = NULL;
	size_t room = 0, none = 0;
	assert_int_equal(TB_ARRAY_RESERVE(&items, &room, none), TB_OK);
	assert_null(items);
	assert_int_equal(TB_ARRAY_RESERVE(&items, &room, 1), TB_OK);
	assert_int_equal(room, 8);
	free(items);
}

static void items_stay_while_the_room_doubles(void **state)
{
	(void)state;
	struct odd *items = NULL;
	size_t room = 0;
	unsigned n_grown = 0;
	for (size_t n = 0; n < 1000; n++) {
		size_t before = room;
		assert_int_equal(TB_ARRAY_RESERVE(&items, &room, n + 1), TB_OK);
		n_grown += room != before;
		items[n].bytes[6] = (char)(n % 100);
	}
	for (size_t n = 0; n < 1000; n++)
		assert_int_equal(items[n].bytes[6], n % 100);
	assert_int_equal(room, 1024);
	assert_int_equal(n_grown, 8);
	free(items);
}

static void room_for_many_is_made_at_once(void **state)
{
	(void)state;
	uint32_t *items = NULL;
	size_t room = 0;
	assert_int_equal(TB_ARRAY_RESERVE(&items, &room, 1000), TB_OK);
	assert_int_equal(room, 1000);
	assert_int_equal(TB_ARRAY_RESERVE(&items, &room, 1001), TB_OK);
	assert_int_equal(room, 2000);
	free(items);
}

static void new_room_is_zeroed_where_asked(void **state)
{
	(void)state;
	struct odd *items = NULL;
	size_t room = 0;
	assert_int_equal(TB_ARRAY_RESERVE_ZEROED(&items, &room, 3), TB_OK);
	for (size_t n = 4; n < 1000; n++) {
		memset(items, 1, (n - 1) * sizeof *items);
		assert_int_equal(TB_ARRAY_RESERVE_ZEROED(&items, &room, n), TB_OK);
		assert_int_equal(items[n - 2].bytes[6], 1);
		for (size_t i = n - 1; i < room; i++)
			assert_int_equal(items[i].bytes[0] + items[i].bytes[6], 0);
	}
	assert_int_equal(TB_ARRAY_RESERVE_ZEROED(&items, &room, SIZE_MAX / 8), TB_ENOMEM);
	free(items);
}

static void what_no_memory_holds_is_refused_and_nothing_lost(void **state)
{
	(void)state;
	uint64_t *items = NULL;
	size_t room = 0;
	assert_int_equal(TB_ARRAY_RESERVE(&items, &room, 1), TB_OK);
	items[0] = 42;
	const uint64_t *kept = items;
	// Times eight, these wrap round to sizes that malloc would grant.
	assert_int_equal(TB_ARRAY_RESERVE(&items, &room, SIZE_MAX / 8 + 10), TB_ENOMEM);
	assert_int_equal(TB_ARRAY_RESERVE(&items, &room, SIZE_MAX), TB_ENOMEM);
	assert_ptr_equal(items, kept);
	assert_int_equal(room, 8);
	assert_int_equal(items[0], 42);
	free(items);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_array_gets_room),
		cmocka_unit_test(items_stay_while_the_room_doubles),
		cmocka_unit_test(room_for_many_is_made_at_once),
		cmocka_unit_test(new_room_is_zeroed_where_asked),
		cmocka_unit_test(what_no_memory_holds_is_refused_and_nothing_lost),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
