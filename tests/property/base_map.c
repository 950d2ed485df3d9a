// The map agrees with an array that is searched from end to end.
#include "map.h"
#include "random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define N_PROGRAMS 40
#define N_STEPS	   800

struct naive {
	uint64_t keys[N_STEPS];
	uint32_t values[N_STEPS];
	size_t n;
};

static size_t place_of(const struct naive *naive, uint64_t key)
{
	size_t i = 0;
	while (i < naive->n && naive->keys[i] != key)
		i++;
	return i;
}

static void naive_put(struct naive *naive, uint64_t key, uint32_t value)
{
	size_t i = place_of(naive, key);
	naive->keys[i] = key;
	naive->values[i] = value;
	naive->n += i == naive->n;
}

static void compare(const struct tb_map *map, const struct naive *naive, uint64_t key)
{
	uint32_t value = 12345;
	size_t i = place_of(naive, key);
	assert_int_equal(tb_map_find(map, key, &value), i < naive->n);
	assert_int_equal(value, i < naive->n ? naive->values[i] : 12345);
}

// key_of draws from few keys, from many, or from pairs of nodes; also 0 and the largest.
static uint64_t key_of(struct tb_random *random, uint64_t program)
{
	static const uint64_t bounds[] = {50, 100000, UINT64_MAX};
	uint64_t drawn = tb_random_below(random, bounds[program % 3]);
	if (tb_random_below(random, 50) == 0)
		return UINT64_MAX;
	return program % 2 ? drawn << 32 | drawn % 7 : drawn;
}

static void a_map_finds_what_was_put_last(void **state)
{
	static struct naive naive;
	(void)state;
	for (uint64_t program = 0; program < N_PROGRAMS; program++) {
		struct tb_random random;
		struct tb_map map = {0};
		tb_random_init(&random, program, 0);
		naive.n = 0;
		compare(&map, &naive, 0);
		for (int step = 0; step < N_STEPS; step++) {
			uint64_t key = key_of(&random, program);
			uint32_t value = (uint32_t)tb_random_below(&random, 4);
			assert_int_equal(tb_map_put(&map, key, value), TB_OK);
			naive_put(&naive, key, value);
			compare(&map, &naive, key_of(&random, program));
		}
		for (size_t i = 0; i < naive.n; i++)
			compare(&map, &naive, naive.keys[i]);
		assert_int_equal(map.n_used, naive.n);
		assert_true(map.n_used * 4 <= map.capacity * 3);
		tb_map_fini(&map);
		assert_false(tb_map_find(&map, naive.keys[0], &(uint32_t){0}));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_map_finds_what_was_put_last),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
