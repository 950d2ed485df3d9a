// Windows against a naive sum: random stores, random walks of the window.
#include "../analyze_fixture.h"

#include "run.h"

#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static struct tb_link_sample naive_sum(
	struct fixture *fixture, uint32_t link, struct tb_window window)
{
	struct tb_link_sample sum = {.link = {link}};
	for (uint64_t bin = window.first_bin; bin < window.end_bin; bin++) {
		const struct tb_link_sample *sample =
			&fixture_bin(fixture, (uint32_t)bin)[link];
		sum.n_packets += sample->n_packets;
		sum.n_blocked += sample->n_blocked;
		sum.wait_ps += sample->wait_ps;
		sum.stall_ps += sample->stall_ps;
		sum.busy_ps += sample->busy_ps;
		sum.bytes += sample->bytes;
		if (sum.longest_wait_ps < sample->longest_wait_ps)
			sum.longest_wait_ps = sample->longest_wait_ps;
		if (sum.largest_queue_bytes < sample->largest_queue_bytes)
			sum.largest_queue_bytes = sample->largest_queue_bytes;
	}
	return sum;
}

static void check_sample(
	const struct tb_link_sample *found, const struct tb_link_sample *expected)
{
	assert_int_equal(found->link.id, expected->link.id);
	assert_int_equal(found->n_packets, expected->n_packets);
	assert_int_equal(found->n_blocked, expected->n_blocked);
	assert_int_equal(found->wait_ps, expected->wait_ps);
	assert_int_equal(found->stall_ps, expected->stall_ps);
	assert_int_equal(found->busy_ps, expected->busy_ps);
	assert_int_equal(found->bytes, expected->bytes);
	assert_int_equal(found->longest_wait_ps, expected->longest_wait_ps);
	assert_int_equal(found->largest_queue_bytes, expected->largest_queue_bytes);
}

static void check_window(struct fixture *fixture, struct tb_run *run,
	struct tb_window window, struct tb_link_sample *samples)
{
	struct tb_error error = {0};
	if (tb_run_samples(run, window, samples, &error))
		fixture_fail("samples", &error);
	const struct tb_link_sample *looked_at;
	if (tb_run_look(run, window, &looked_at, &error))
		fixture_fail("look", &error);
	if (window.end_bin == 0)
		window.end_bin = fixture->n_bins;
	for (uint32_t link = 0; link < fixture->n_links; link++) {
		struct tb_link_sample expected = naive_sum(fixture, link, window);
		check_sample(&samples[link], &expected);
		check_sample(&looked_at[link], &expected);
	}
}

// next_window mostly slides by a bin or two, sometimes grows, shrinks or jumps.
static struct tb_window next_window(
	struct tb_random *random, struct tb_window window, uint64_t n_bins)
{
	struct tb_window next = window;
	switch (tb_random_below(random, 8)) {
	case 0:
		next.first_bin = tb_random_below(random, n_bins);
		next.end_bin = next.first_bin + 1 +
			       tb_random_below(random, n_bins - next.first_bin);
		return next;
	case 1:
		next.end_bin++;
		break;
	case 2:
		next.end_bin--;
		break;
	case 3:
		next.first_bin++;
		break;
	case 4:
	case 5:
		next.first_bin--, next.end_bin--;
		break;
	default:
		next.first_bin++, next.end_bin++;
		break;
	}
	bool possible = next.first_bin < next.end_bin && next.end_bin <= n_bins;
	return possible ? next : window;
}

static void every_window_is_the_sum_of_its_bins(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 12; seed++) {
		struct fixture fixture;
		struct tb_error error = {0};
		struct tb_run *run = NULL;
		struct tb_random random;
		tb_random_init(&random, seed, 2);
		fixture_init(&fixture);
		print_message("seed %llu\n", (unsigned long long)seed);
		fixture_store(&fixture, 1 + (uint32_t)tb_random_below(&random, 60), seed);
		if (tb_run_open(&run, fixture.path, 0, &error))
			fixture_fail("open", &error);
		struct tb_link_sample *samples = calloc(fixture.n_links, sizeof *samples);
		struct tb_window window = {0, 0};
		check_window(&fixture, run, window, samples);
		window.end_bin = 1 + fixture.n_bins / 3;
		for (int step = 0; step < 300; step++) {
			check_window(&fixture, run, window, samples);
			window = next_window(&random, window, fixture.n_bins);
		}
		free(samples);
		tb_run_free(run);
		fixture_fini(&fixture);
	}
}

// A window that is moved while somebody appends a run must not be mistaken for the new
// state's.
static void windows_survive_a_run_appended_meanwhile(void **state)
{
	(void)state;
	struct fixture fixture;
	struct tb_error error = {0};
	struct tb_run *run = NULL;
	fixture_init(&fixture);
	fixture_store(&fixture, 20, 5);
	if (tb_run_open(&run, fixture.path, 0, &error))
		fixture_fail("open", &error);
	struct tb_link_sample *samples = calloc(fixture.n_links, sizeof *samples);
	check_window(&fixture, run, (struct tb_window){3, 9}, samples);
	fixture_store(&fixture, 20, 5);
	check_window(&fixture, run, (struct tb_window){4, 10}, samples);
	free(samples);
	tb_run_free(run);
	fixture_fini(&fixture);
}

static void windows_outside_the_run_are_refused(void **state)
{
	(void)state;
	struct fixture fixture;
	struct tb_error error = {0};
	struct tb_run *run = NULL;
	fixture_init(&fixture);
	fixture_store(&fixture, 5, 5);
	if (tb_run_open(&run, fixture.path, 0, &error))
		fixture_fail("open", &error);
	struct tb_link_sample samples[1];
	assert_int_equal(tb_run_samples(run, (struct tb_window){2, 2}, samples, &error),
		TB_EUSAGE);
	assert_int_equal(tb_run_samples(run, (struct tb_window){2, 6}, samples, &error),
		TB_EUSAGE);
	tb_run_free(run);
	fixture_fini(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_window_is_the_sum_of_its_bins),
		cmocka_unit_test(windows_survive_a_run_appended_meanwhile),
		cmocka_unit_test(windows_outside_the_run_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
