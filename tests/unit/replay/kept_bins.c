// Kept bins give back what they were given, and merging them adds up.
#include "random.h"
#include "replay_records.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { N_LINKS = 300, N_BINS = 16 };

// Figures of every length, none included.
static uint64_t figure(struct tb_random *random, unsigned most_bits)
{
	return tb_random_next(random) >>
	       (64 - most_bits + (unsigned)tb_random_below(random, most_bits));
}

static uint32_t make_bin(struct tb_random *random, struct tb_link_sample *samples)
{
	uint32_t n = 0;
	uint64_t of_8 = tb_random_below(random, 9);
	for (uint32_t link = 0; link < N_LINKS; link++)
		if (tb_random_below(random, 8) < of_8)
			samples[n++] = (struct tb_link_sample){.link = {link},
				.n_packets = (uint32_t)figure(random, 26),
				.n_blocked = (uint32_t)figure(random, 26),
				.came_by_ps = figure(random, 58),
				.stall_ps = figure(random, 58),
				.busy_ps = figure(random, 58),
				.bytes = figure(random, 58),
				.longest_wait_ps = figure(random, 63),
				.largest_queue_bytes = (uint32_t)figure(random, 32)};
	return n;
}

// keep keeps samples as the cells of their links.
static int keep(
	struct tb_kept_bins *kept, const struct tb_link_sample *samples, uint32_t n)
{
	static struct tb_cell cells[N_LINKS];
	for (uint32_t i = 0; i < n; i++) {
		cells[i].link = samples[i].link.id & INT32_MAX;
#define ROW(ID, field, column, type, ...) cells[i].field = (type)samples[i].field;
		TB_LINK_FIGURES(ROW)
#undef ROW
	}
	return tb_kept_bins_add(kept, cells, n);
}

static void add_to(struct tb_link_sample *sums, const struct tb_link_sample *more)
{
	struct tb_link_sample *sum = &sums[more->link.id];
	sum->link = more->link;
	sum->n_packets += more->n_packets;
	sum->n_blocked += more->n_blocked;
	sum->came_by_ps += more->came_by_ps;
	sum->stall_ps += more->stall_ps;
	sum->busy_ps += more->busy_ps;
	sum->bytes += more->bytes;
	if (more->longest_wait_ps > sum->longest_wait_ps)
		sum->longest_wait_ps = more->longest_wait_ps;
	if (more->largest_queue_bytes > sum->largest_queue_bytes)
		sum->largest_queue_bytes = more->largest_queue_bytes;
}

// expect_sums checks that the kept bins are those of `sums`, 2^widened of them each.
static void expect_sums(struct tb_kept_bins *kept,
	struct tb_link_sample sums[N_BINS][N_LINKS], const bool *seen[N_BINS])
{
	static struct tb_link_sample given[N_LINKS]; // by link, padding zeroed
	struct tb_link_sample samples[N_LINKS];
	size_t from = 0;
	uint32_t bin = 0, n = 0;
	for (uint32_t b = 0; b < N_BINS; b++) {
		uint32_t n_seen = 0;
		for (uint32_t link = 0; link < N_LINKS; link++)
			n_seen += seen[b][link];
		if (n_seen == 0)
			continue;
		assert_true(from < kept->n_bytes);
		from = tb_kept_bins_read(kept, from, &bin, samples, &n);
		assert_int_equal(bin, b);
		assert_int_equal(n, n_seen);
		for (uint32_t i = 0; i < n; i++) {
			assert_true(
				i == 0 || samples[i].link.id > samples[i - 1].link.id);
			uint32_t link = samples[i].link.id;
			memset(&given[link], 0, sizeof *given);
			add_to(given, &samples[i]);
			assert_memory_equal(&given[link], &sums[b][link], sizeof *given);
		}
	}
	assert_int_equal(from, kept->n_bytes);
}

static void run_program(uint64_t seed, size_t most_bytes)
{
	static struct tb_link_sample sums[N_BINS][N_LINKS];
	static bool seen[N_BINS][N_LINKS];
	const bool *rows[N_BINS];
	static struct tb_link_sample scratch[N_LINKS];
	struct tb_kept_bins kept = {.most_bytes = most_bytes};
	struct tb_random random;
	tb_random_init(&random, seed, 0);
	memset(sums, 0, sizeof sums);
	memset(seen, 0, sizeof seen);
	for (uint32_t b = 0; b < N_BINS; b++) {
		struct tb_link_sample samples[N_LINKS];
		uint32_t n = make_bin(&random, samples);
		rows[b] = seen[b];
		for (uint32_t i = 0; i < n; i++) {
			add_to(sums[b], &samples[i]);
			seen[b][samples[i].link.id] = true;
		}
		uint32_t half = n ? (uint32_t)tb_random_below(&random, n) : 0;
		assert_int_equal(tb_kept_bins_begin(&kept, b), TB_OK);
		assert_int_equal(keep(&kept, samples, half), TB_OK);
		assert_int_equal(keep(&kept, samples + half, n - half), TB_OK);
	}
	expect_sums(&kept, sums, rows);
	for (uint32_t n_bins = N_BINS; n_bins > 1; n_bins /= 2) {
		for (uint32_t b = 0; b < n_bins; b++)
			for (uint32_t link = 0; link < N_LINKS; link++) {
				struct tb_link_sample more = sums[b][link];
				bool was_seen = seen[b][link];
				memset(&sums[b][link], 0, sizeof more);
				seen[b][link] = false;
				if (!was_seen)
					continue;
				add_to(sums[b / 2], &more);
				seen[b / 2][link] = true;
			}
		tb_kept_bins_widen(&kept, scratch);
		expect_sums(&kept, sums, rows);
	}
	tb_kept_bins_fini(&kept);
}

static void kept_bins_add_up(void **state)
{
	(void)state;
	// Merged at once, now and then, and never.
	for (uint64_t seed = 1; seed <= 20; seed++)
		for (size_t most_bytes = 0; most_bytes <= 400000; most_bytes += 25000)
			run_program(seed, most_bytes);
}

static int join(
	const struct tb_kept_bins *own, const struct tb_kept_bins *told, uint32_t n_links)
{
	const struct tb_kept_bins *const several[] = {own, told};
	struct tb_kept_bins joined = {0};
	int status = tb_kept_bins_join(&joined, several, 2, n_links);
	tb_kept_bins_fini(&joined);
	return status;
}

// Bins that another process told may be cut off, or garbled.
static void bins_that_are_none_are_not_joined(void **state)
{
	(void)state;
	static struct tb_link_sample samples[N_LINKS];
	struct tb_random random;
	struct tb_kept_bins own = {0}, told = {0};
	tb_random_init(&random, 1, 0);
	for (uint32_t i = 0; i < N_LINKS; i++)
		samples[i] = (struct tb_link_sample){
			.link = {i}, .bytes = 1 + figure(&random, 58)};
	for (uint32_t bin = 0; bin < 2; bin++) {
		assert_int_equal(tb_kept_bins_begin(&told, bin), TB_OK);
		assert_int_equal(keep(&told, samples, N_LINKS), TB_OK);
	}
	assert_int_equal(join(&own, &told, N_LINKS), TB_OK);
	assert_int_equal(join(&own, &told, N_LINKS - 1), TB_EFORMAT);
	size_t n_bytes = told.n_bytes, n_joined = 0;
	for (told.n_bytes = 1; told.n_bytes < n_bytes; told.n_bytes++)
		n_joined += join(&own, &told, N_LINKS) == TB_OK;
	assert_int_equal(n_joined, 1); // the first bin alone is whole
	told.bytes[n_bytes - 1] ^= 1;  // a figure: nothing tells
	assert_int_equal(join(&own, &told, N_LINKS), TB_OK);
	told.bytes[4] = 1; // the level of the first
	assert_int_equal(join(&own, &told, N_LINKS), TB_EFORMAT);
	tb_kept_bins_fini(&told);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(kept_bins_add_up),
		cmocka_unit_test(bins_that_are_none_are_not_joined)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
