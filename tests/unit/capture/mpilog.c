// The logs of the MPI programs behind the real captures become jobs, with the figures
// that their programs (shared/data/whatif/src) and shared/data/README.md give. Skipped
// where the logs are absent.
#include "mpilog.h"
#include "calls_job.h"
#include "real_input.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char data[4096];
static struct tb_error error;

// The point-to-point messages of a trace, and the job that comes of it.
struct figures {
	uint64_t n_sends, send_bytes, n_collectives;
	struct tb_job_summary job;
	uint32_t n_ranks;
};

static bool is_there(const char *name)
{
	char with_ending[128];
	snprintf(with_ending, sizeof with_ending, "%s.tar.zst", name);
	return real_input_is_there(with_ending);
}

static struct figures read_log(const char *name, bool lenient)
{
	char path[4200];
	struct figures figures = {0};
	struct tb_calls *calls = NULL;
	struct tb_job *job = NULL;
	const struct tb_mpilog_options options = {0};
	const struct tb_reading reading = {.lenient = lenient};
	snprintf(path, sizeof path, "%s%s.tar.zst", data, name);
	if (tb_mpilog_read(&calls, path, &options, &error) != TB_OK ||
		tb_calls_job(calls, path, "openmpi", &reading, &job, &error) != TB_OK)
		fail_msg("%s: %s", name, error.text);
	figures.n_ranks = tb_calls_n_ranks(calls);
	for (uint32_t r = 0; r < figures.n_ranks; r++) {
		uint32_t n;
		const struct tb_call *all = tb_calls_of(calls, r, &n);
		for (uint32_t i = 0; i < n; i++) {
			bool sends = all[i].kind == TB_CALL_SEND;
			figures.n_sends += sends;
			figures.send_bytes += sends ? all[i].bytes : 0;
			figures.n_collectives += all[i].kind == TB_CALL_COLLECTIVE;
		}
	}
	tb_job_summarize(job, &figures.job);
	assert_int_equal(figures.job.n_sends, figures.job.n_recvs);
	assert_true(figures.job.send_bytes >= figures.send_bytes);
	tb_job_free(job);
	tb_calls_free(calls);
	return figures;
}

static void programs_of_whatif_send_what_their_sources_say(void **state)
{
	(void)state;
	static const char *const rates[] = {"10", "50", "100", "200"};
	for (int i = 0; i < 4; i++) {
		char name[64];
		// 120 steps of 4 faces of 16 KiB, and an all-reduce.
		snprintf(name, sizeof name, "whatif/mpilog/halo8_%sm", rates[i]);
		if (is_there(name)) {
			struct figures halo = read_log(name, false);
			assert_int_equal(halo.n_sends, 8 * 120 * 4);
			assert_int_equal(halo.send_bytes, 8 * 120 * 4 * 16384);
			// Barriers: two around the steps, and MPI_Finalize.
			assert_int_equal(halo.n_collectives, 8 * (120 + 3));
		}
		// 200 waves of 32 KiB around the ring.
		snprintf(name, sizeof name, "whatif/mpilog/ring8_%sm", rates[i]);
		struct figures ring = read_log(name, false);
		assert_int_equal(ring.n_sends, 8 * 200);
		assert_int_equal(ring.send_bytes, 8 * 200 * 32768);
		// 20 all-to-alls of 64 KiB a pair.
		snprintf(name, sizeof name, "whatif/mpilog/a2a8_%sm", rates[i]);
		struct figures all = read_log(name, false);
		assert_int_equal(all.n_sends, 0);
		assert_int_equal(all.job.send_bytes, 20 * 8 * 7 * 65536);
	}
}

static void molecular_dynamics_sends_what_was_captured(void **state)
{
	(void)state;
	if (!is_there("jobs/lmp16_melt_mtu"))
		skip();
	// 278.7 MB by the README, which counts the collective calls that it could.
	struct figures run = read_log("jobs/lmp16_melt_mtu", false);
	assert_int_equal(run.n_ranks, 16);
	assert_in_range(run.send_bytes, 278000000, 279000000);
	assert_int_equal(read_log("jobs/lmp64_melt_mtu", false).n_ranks, 64);
	assert_int_equal(read_log("jobs/mix64_mtu_lammps", false).n_ranks, 24);
}

static void a_log_that_ends_early_lacks_a_receive(void **state)
{
	(void)state;
	char path[4200];
	struct tb_calls *calls = NULL;
	struct tb_job *job = NULL;
	const struct tb_mpilog_options options = {0};
	if (!is_there("jobs/hpcc16_mtu_kernels"))
		skip();
	snprintf(path, sizeof path, "%sjobs/hpcc16_mtu_kernels.tar.zst", data);
	assert_int_equal(tb_mpilog_read(&calls, path, &options, &error), TB_OK);
	assert_int_equal(
		tb_calls_job(calls, path, "openmpi", NULL, &job, &error), TB_EFORMAT);
	assert_non_null(strstr(error.text, "rank 3 at 2.5649"));
	assert_non_null(strstr(error.text, "its send to rank 0 (8 bytes, tag 0, group 0) "
					   "finds no receive: rank 3 sends 47"));
	tb_calls_free(calls);
	read_log("jobs/hpcc16_mtu_kernels", true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(programs_of_whatif_send_what_their_sources_say),
		cmocka_unit_test(molecular_dynamics_sends_what_was_captured),
		cmocka_unit_test(a_log_that_ends_early_lacks_a_receive),
	};
	const char *shared = getenv("TB_SHARED");
	snprintf(data, sizeof data, "%s/data/", shared ? shared : "");
	if (!shared || access(data, R_OK) != 0) {
		printf("skipped: no logs in %s\n", data);
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
