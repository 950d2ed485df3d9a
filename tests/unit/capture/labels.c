// Labels: names of any kind, in any order, are each found once, with their operation.
#include "labels.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static int put(struct tb_labels *labels, const char *name, uint32_t index)
{
	return tb_labels_put(labels, name, strlen(name), index);
}

static void assert_finds(const struct tb_labels *labels, const char *name, uint32_t index)
{
	uint32_t found = UINT32_MAX;
	assert_true(tb_labels_find(labels, name, strlen(name), &found));
	assert_int_equal(found, index);
}

static void assert_lacks(const struct tb_labels *labels, const char *name)
{
	uint32_t found = 7;
	assert_false(tb_labels_find(labels, name, strlen(name), &found));
	assert_int_equal(found, 7);
}

static void numbered_labels_mix_with_others(void **state)
{
	(void)state;
	struct tb_labels labels = {0};
	assert_lacks(&labels, "l1");
	assert_int_equal(put(&labels, "l1", 0), 1);
	assert_int_equal(put(&labels, "l2", 1), 1);
	assert_int_equal(put(&labels, "l4", 2), 1); // out of sequence
	assert_int_equal(put(&labels, "l3", 3), 1);
	assert_int_equal(put(&labels, "l5", 4), 1); // in sequence, but others are stored
	assert_int_equal(put(&labels, "l05", 5), 1);
	assert_int_equal(put(&labels, "l", 6), 1);
	assert_int_equal(put(&labels, "l99999999999", 7), 1);
	static const char *const names[] = {
		"l1", "l2", "l4", "l3", "l5", "l05", "l", "l99999999999"};
	for (uint32_t i = 0; i < sizeof names / sizeof *names; i++) {
		assert_finds(&labels, names[i], i);
		assert_int_equal(put(&labels, names[i], 77), 0);
		assert_finds(&labels, names[i], i);
	}
	assert_lacks(&labels, "l6");
	assert_lacks(&labels, "l0");
	assert_lacks(&labels, "l4294967297"); // 1 beyond 32 bits
	tb_labels_fini(&labels);
}

static void a_gap_ends_the_counting(void **state)
{
	(void)state;
	struct tb_labels labels = {0};
	assert_int_equal(put(&labels, "l1", 0), 1);
	assert_int_equal(put(&labels, "l2", 2), 1); // the second operation has no label
	assert_int_equal(put(&labels, "l3", 3), 1);
	assert_finds(&labels, "l1", 0);
	assert_finds(&labels, "l2", 2);
	assert_finds(&labels, "l3", 3);
	tb_labels_fini(&labels);
}

static void clearing_forgets_all(void **state)
{
	(void)state;
	struct tb_labels labels = {0};
	char name[16];
	for (uint32_t round = 0; round < 3; round++) {
		for (uint32_t i = 0; i < 1000; i++) {
			snprintf(name, sizeof name, "%c%u", i % 2 ? 'l' : 'x', i);
			assert_lacks(&labels, name);
			assert_int_equal(put(&labels, name, i + round), 1);
		}
		for (uint32_t i = 0; i < 1000; i++) {
			snprintf(name, sizeof name, "%c%u", i % 2 ? 'l' : 'x', i);
			assert_finds(&labels, name, i + round);
		}
		tb_labels_clear(&labels);
	}
	tb_labels_fini(&labels);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbered_labels_mix_with_others),
		cmocka_unit_test(a_gap_ends_the_counting),
		cmocka_unit_test(clearing_forgets_all),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
