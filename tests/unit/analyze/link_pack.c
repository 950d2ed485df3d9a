// Packs of links give back what was put in, and find what is damaged.
#include "link_pack.h"
#include "random.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { N_LINKS = 3 * TB_PACK_LINKS + 17 };

static uint64_t figure(struct tb_random *random)
{
	return tb_random_next(random) >> (1 + tb_random_below(random, 63));
}

static size_t make_samples(uint64_t seed, struct tb_link_sample *samples)
{
	struct tb_random random;
	tb_random_init(&random, seed, 0);
	uint64_t of_8 = tb_random_below(&random, 9);
	size_t n = 0;
	for (uint32_t link = 0; link < N_LINKS; link++) {
		if (tb_random_below(&random, 8) >= of_8)
			continue;
		samples[n] = (struct tb_link_sample){.link = {link}};
		bool empty = tb_random_below(&random, 5) == 0;
#define ROW(ID, field, ...)                                                              \
	if (!empty)                                                                      \
		samples[n].field = tb_random_below(&random, 3) ? figure(&random) : 0;
		TB_LINK_FIGURES(ROW)
#undef ROW
		n++;
	}
	return n;
}

static void equal(const struct tb_link_sample *is, const struct tb_link_sample *expected)
{
	assert_int_equal(is->link.id, expected->link.id);
#define ROW(ID, field, ...) assert_true(is->field == expected->field);
	TB_LINK_FIGURES(ROW)
#undef ROW
}

static void what_is_packed_comes_back(void **state)
{
	(void)state;
	static struct tb_link_sample samples[N_LINKS];
	static char text[TB_PACK_MOST];
	for (uint64_t seed = 1; seed <= 40; seed++) {
		size_t n = make_samples(seed, samples), n_bytes = 0;
		for (size_t i = 0; i < n;) {
			struct tb_link_sample read;
			uint32_t number = samples[i].link.id / TB_PACK_LINKS;
			size_t end = i + tb_link_pack_write(
						 samples + i, n - i, text, &n_bytes);
			assert_true(end == n ||
				    samples[end].link.id / TB_PACK_LINKS != number);
			struct tb_link_pack pack =
				tb_link_pack_open(number, text, n_bytes);
			for (; i < end; i++) {
				if (tb_link_sample_empty(&samples[i]))
					continue;
				assert_int_equal(tb_link_pack_next(&pack, &read), 1);
				equal(&read, &samples[i]);
			}
			if (n_bytes)
				assert_int_equal(tb_link_pack_next(&pack, &read), 0);
		}
	}
}

static void the_longest_pack_has_room(void **state)
{
	(void)state;
	static struct tb_link_sample samples[TB_PACK_LINKS];
	static char text[TB_PACK_MOST];
	size_t n_bytes = 0;
	uint32_t first = (TB_ID_NONE / TB_PACK_LINKS) * TB_PACK_LINKS;
	for (uint32_t i = 0; i < TB_PACK_LINKS; i++) {
		samples[i].link.id = first + i;
#define ROW(ID, field, ...) samples[i].field = UINT64_MAX;
		TB_LINK_FIGURES(ROW)
#undef ROW
	}
	assert_int_equal(tb_link_pack_write(samples, TB_PACK_LINKS, text, &n_bytes),
		TB_PACK_LINKS);
	assert_true(n_bytes <= sizeof text);
	struct tb_link_sample read; // no column of a table can hold that
	struct tb_link_pack pack =
		tb_link_pack_open(TB_ID_NONE / TB_PACK_LINKS, text, n_bytes);
	assert_int_equal(tb_link_pack_next(&pack, &read), TB_EFORMAT);
}

// Around each power of ten, and at random.
static void numbers_are_written_as_printf_writes_them(void **state)
{
	(void)state;
	struct tb_random random;
	tb_random_init(&random, 11, 0);
	for (uint64_t power = 1; power < UINT64_MAX / 10; power *= 10)
		for (uint64_t i = 0; i < 200; i++) {
			uint64_t number = i < 100 ? power + i - 50
						  : tb_random_below(&random, 10 * power);
			const uint64_t numbers[2] = {number, number / 3};
			char text[TB_ROW_PACK_MOST(1, 2)], expected[64];
			char *end = tb_row_pack_put(text, text, numbers, 2, 2);
			int n = snprintf(expected, sizeof expected,
				"[[%" PRIu64 ",%" PRIu64 "]", numbers[0], numbers[1]);
			assert_int_equal(end - text, n);
			assert_memory_equal(text, expected, (size_t)n);
		}
}

static void zeros_at_the_end_are_left_out(void **state)
{
	(void)state;
	static char text[TB_PACK_MOST];
	size_t n_bytes = 0;
	const struct tb_link_sample samples[] = {
		{.link = {5}, .came_by_ps = 7}, {.link = {6}, .busy_ps = 80, .bytes = 9}};
	assert_int_equal(tb_link_pack_write(samples, 2, text, &n_bytes), 2);
	assert_int_equal(n_bytes, strlen("[[5,7],[6,0,0,0,80,9]]"));
	assert_memory_equal(text, "[[5,7],[6,0,0,0,80,9]]", n_bytes);
	struct tb_link_pack pack = tb_link_pack_open(0, text, n_bytes);
	struct tb_link_sample read;
	memset(&read, 0xff, sizeof read);
	assert_int_equal(tb_link_pack_next(&pack, &read), 1);
	equal(&read, &samples[0]);
	assert_int_equal(tb_link_pack_next(&pack, &read), 1);
	equal(&read, &samples[1]);
	assert_int_equal(tb_link_pack_next(&pack, &read), 0);
}

static void every_cut_is_found(void **state)
{
	(void)state;
	static const char text[] = "[[5,1,2,3,4,5,6,7,8],[6,0,0,0,0,0,0,0,9]]";
	for (size_t n = 0; n <= sizeof text - 1; n++) {
		struct tb_link_sample read;
		struct tb_link_pack pack = tb_link_pack_open(0, text, n);
		int status = 1;
		while (status > 0)
			status = tb_link_pack_next(&pack, &read);
		assert_int_equal(status, n == sizeof text - 1 ? 0 : TB_EFORMAT);
	}
}

// A link alone is found as it is read in turn, and those that are not there are not.
static void one_link_is_found(void **state)
{
	(void)state;
	static struct tb_link_sample samples[N_LINKS];
	static char text[TB_PACK_MOST];
	size_t n = make_samples(3, samples), n_bytes = 0;
	size_t end = tb_link_pack_write(samples, n, text, &n_bytes);
	uint32_t number = samples[0].link.id / TB_PACK_LINKS;
	for (uint32_t link = 0; link < 2 * TB_PACK_LINKS; link++) {
		struct tb_link_pack pack = tb_link_pack_open(number, text, n_bytes);
		struct tb_link_sample read;
		size_t i = 0;
		while (i < end &&
			(samples[i].link.id != link || tb_link_sample_empty(&samples[i])))
			i++;
		assert_int_equal(
			tb_link_pack_find(&pack, (struct tb_link){link}, &read), i < end);
		if (i < end)
			equal(&read, &samples[i]);
	}
	static const char cut[] = "[[5,1,2],[6,0";
	struct tb_link_sample read;
	struct tb_link_pack pack = tb_link_pack_open(0, cut, sizeof cut - 1);
	assert_int_equal(
		tb_link_pack_find(&pack, (struct tb_link){6}, &read), TB_EFORMAT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_packed_comes_back),
		cmocka_unit_test(the_longest_pack_has_room),
		cmocka_unit_test(numbers_are_written_as_printf_writes_them),
		cmocka_unit_test(zeros_at_the_end_are_left_out),
		cmocka_unit_test(every_cut_is_found),
		cmocka_unit_test(one_link_is_found),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
