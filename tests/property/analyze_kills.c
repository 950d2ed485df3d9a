// A writer killed at any moment, in the middle of a commit too, leaves a store that
// opens, whose sums are those of its bins, and into which more can be written.
#include "../analyze_fixture.h"

#include "run.h"

#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <time.h>

#include <cmocka.h>

// write_for_ever begins anew now and then, so that rows are deleted as well.
static _Noreturn void write_for_ever(struct fixture *fixture)
{
	struct tb_error error;
	struct tb_store *store = NULL;
	struct tb_run_config config = fixture_config();
	if (tb_store_create(&store, fixture->path, &error) ||
		tb_store_begin_run(store, fixture->network, &config, &error))
		_exit(1);
	struct tb_observer observer = tb_store_observer(store);
	for (tb_time_ps width = FIXTURE_BIN_PS;; width *= 2) {
		if (observer.start(store, width))
			_exit(1);
		for (uint32_t bin = 0; bin < 9000; bin++)
			if (observer.bin(store, bin,
				    fixture_bin(fixture, bin % fixture->n_bins),
				    fixture->n_links))
				_exit(1);
	}
}

static void kill_after(pid_t child, uint64_t delay_us)
{
	struct timespec delay = {
		(time_t)(delay_us / 1000000), (long)(delay_us % 1000000) * 1000};
	int ended;
	nanosleep(&delay, NULL);
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, &ended, 0), child);
	assert_true(WIFSIGNALED(ended));
}

static void check_sums(struct tb_run *run)
{
	const struct tb_run_info *info = tb_run_info(run);
	struct tb_error error;
	uint64_t *by_bin = calloc(info->n_bins + 1, sizeof *by_bin), wait = 0, sum = 0;
	struct tb_link_sample *samples = calloc(info->n_links, sizeof *samples);
	assert_int_equal(tb_run_wait_by_bin(run, by_bin, &error), TB_OK);
	assert_int_equal(
		tb_run_samples(run, (struct tb_window){0, 0}, samples, &error), TB_OK);
	for (uint64_t bin = 0; bin < info->n_bins; bin++)
		wait += by_bin[bin];
	for (uint32_t i = 0; i < info->n_links; i++)
		sum += samples[i].wait_ps;
	assert_int_equal(wait, sum);
	assert_int_equal(info->simulated_ps, (int64_t)info->n_bins * info->bin_ps);
	free(by_bin);
	free(samples);
}

static void a_kill_at_any_moment_leaves_a_whole_store(void **state)
{
	(void)state;
	struct fixture fixture;
	struct tb_random random;
	tb_random_init(&random, 11, 0);
	fixture_init(&fixture);
	fixture_fill(&fixture, 50, 3);
	int64_t n_runs = 0;
	// Kills before the first commit check nothing: go on until enough came after it.
	int n_checked = 0;
	for (int turn = 0; n_checked < 8; turn++) {
		assert_true(turn < 100);
		pid_t child = fork();
		assert_true(child >= 0);
		if (child == 0)
			write_for_ever(&fixture);
		// On a slow machine the first commit comes late.
		uint64_t slow = 1 + (uint64_t)turn / 8;
		kill_after(child, 1000 + tb_random_below(&random, 400000 * slow));
		struct tb_error error;
		struct tb_run *run = NULL;
		int status = tb_run_open(&run, fixture.path, 0, &error);
		// Before the first commit there is nothing yet.
		if (status == TB_EFOREIGN && n_runs == 0)
			continue;
		if (status)
			fixture_fail("open", &error);
		assert_false(tb_run_info(run)->complete);
		assert_true(tb_run_info(run)->id >= n_runs);
		n_runs = tb_run_info(run)->id;
		check_sums(run);
		tb_run_free(run);
		n_checked++;
	}
	fixture_store(&fixture, 3, 1);
	fixture_fini(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_kill_at_any_moment_leaves_a_whole_store),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
