// Sums of blame by any choice of keys are those that a naive search finds.
#include "blame_sums.h"
#include "random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define N_ROWS 60

static uint32_t few(struct tb_random *random, uint32_t n)
{
	return (uint32_t)tb_random_below(random, n);
}

static void make_rows(struct tb_blame_sample *rows, struct tb_random *random)
{
	for (uint32_t i = 0; i < N_ROWS; i++) {
		rows[i] = (struct tb_blame_sample){.link = {few(random, 4)},
			.root = {few(random, 3)},
			.victim_job = few(random, 3),
			.victim_source = {few(random, 2)},
			.victim_destination = {few(random, 2)},
			.culprit_job = few(random, 3),
			.culprit_source = {few(random, 2)},
			.culprit_destination = {few(random, 2)},
			.n_waits = 1 + few(random, 5),
			.wait_ps = 1 + few(random, 1000)};
		if (few(random, 4) == 0)
			rows[i].victim_source.id = rows[i].victim_destination.id =
				TB_ID_NONE;
	}
}

static bool chosen(unsigned keys, unsigned key)
{
	return (keys & key) == key;
}

// matches says whether a row belongs to a sum, key by key.
static bool matches(const struct tb_blame_sample *row, const struct tb_blame_sample *sum,
	unsigned keys)
{
	if (chosen(keys, TB_BLAME_LINK) && row->link.id != sum->link.id)
		return false;
	if (chosen(keys, TB_BLAME_ROOT) && row->root.id != sum->root.id)
		return false;
	if (chosen(keys, TB_BLAME_VICTIM_JOB) && row->victim_job != sum->victim_job)
		return false;
	if (chosen(keys, TB_BLAME_VICTIM) &&
		(row->victim_source.id != sum->victim_source.id ||
			row->victim_destination.id != sum->victim_destination.id))
		return false;
	if (chosen(keys, TB_BLAME_CULPRIT_JOB) && row->culprit_job != sum->culprit_job)
		return false;
	return !chosen(keys, TB_BLAME_CULPRIT) ||
	       (row->culprit_source.id == sum->culprit_source.id &&
		       row->culprit_destination.id == sum->culprit_destination.id);
}

static void check_sum(
	const struct tb_blame_sample *rows, const struct tb_blame_sum *sum, unsigned keys)
{
	uint64_t n_waits = 0, wait_ps = 0, heaviest_ps = 0;
	bool links[4] = {false};
	for (uint32_t i = 0; i < N_ROWS; i++) {
		if (!matches(&rows[i], &sum->at, keys))
			continue;
		n_waits += rows[i].n_waits;
		wait_ps += rows[i].wait_ps;
		links[rows[i].link.id] = true;
		if (rows[i].wait_ps > heaviest_ps)
			heaviest_ps = rows[i].wait_ps;
	}
	assert_int_equal(sum->at.n_waits, n_waits);
	assert_int_equal(sum->at.wait_ps, wait_ps);
	assert_int_equal(sum->heaviest.wait_ps, heaviest_ps);
	assert_int_equal(sum->n_links, links[0] + links[1] + links[2] + links[3]);
}

static void check_keys(const struct tb_blame_sample *rows, unsigned keys)
{
	struct tb_blame_sum *sums = NULL;
	uint32_t n = 0;
	uint64_t all_ps = 0, told_ps = 0;
	assert_int_equal(tb_blame_sums(rows, N_ROWS, keys, &sums, &n), TB_OK);
	for (uint32_t i = 0; i < n; i++) {
		check_sum(rows, &sums[i], keys);
		told_ps += sums[i].at.wait_ps;
		if (i > 0)
			assert_true(sums[i - 1].at.wait_ps >= sums[i].at.wait_ps);
	}
	for (uint32_t i = 0; i < N_ROWS; i++)
		all_ps += rows[i].wait_ps;
	assert_int_equal(told_ps, all_ps);
	free(sums);
}

static void sums_are_those_of_a_search(void **state)
{
	(void)state;
	static const unsigned keys[] = {0, TB_BLAME_LINK, TB_BLAME_ROOT,
		TB_BLAME_VICTIM_JOB, TB_BLAME_VICTIM, TB_BLAME_CULPRIT_JOB,
		TB_BLAME_CULPRIT};
	const size_t n = sizeof keys / sizeof *keys;
	for (uint64_t seed = 1; seed <= 40; seed++) {
		struct tb_blame_sample rows[N_ROWS];
		struct tb_random random;
		print_message("seed %llu\n", (unsigned long long)seed);
		tb_random_init(&random, seed, 0);
		make_rows(rows, &random);
		for (size_t a = 0; a < n; a++)
			for (size_t b = a; b < n; b++)
				for (size_t c = b; c < n; c++)
					check_keys(rows, keys[a] | keys[b] | keys[c]);
	}
}

static void no_rows_have_no_sums(void **state)
{
	(void)state;
	struct tb_blame_sum *sums = NULL;
	uint32_t n = 7;
	assert_int_equal(tb_blame_sums(NULL, 0, TB_BLAME_LINK, &sums, &n), TB_OK);
	assert_int_equal(n, 0);
	free(sums);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sums_are_those_of_a_search),
		cmocka_unit_test(no_rows_have_no_sums),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
