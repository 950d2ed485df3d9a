// Workloads: several inputs replayed as one.
#include "workload.h"

#include "engine.h"
#include "network_open.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

// run replays all and returns how many packets arrived; the share that is done follows
// them, of which there are `n_expected`.
static uint64_t run(struct tb_workload *workload, const struct tb_network *network,
	uint64_t n_expected)
{
	const struct tb_engine_options options = {.seed = 1};
	struct tb_source source = tb_workload_source(workload);
	struct tb_engine *engine = NULL;
	struct tb_error error = {0};
	int status = tb_engine_new(&engine, network, &source, NULL, &options, &error);
	uint64_t n_arrived = 0;
	while (status >= 0 && (status = tb_engine_run(engine, 1000, &error)) >= 0) {
		n_arrived = tb_engine_stats_of(engine).n_packets;
		double share = tb_workload_fraction(workload, n_arrived);
		assert_true(fabs(share - (double)n_arrived / (double)n_expected) < 1e-9);
		if (status == TB_OK)
			break;
	}
	if (status != TB_OK)
		fail_msg("%s", error.text);
	tb_engine_free(engine);
	return n_arrived;
}

// share_of_traces replays `n` times a trace of tests/data.
static void share_of_traces(const char *trace, uint32_t n, uint64_t n_expected)
{
	char path[4096];
	const char *const traces[] = {path, path};
	const struct tb_workload_options options = {.traces = traces, .n_traces = n};
	const struct tb_network_description description = {.name = "qsnet"};
	struct tb_workload *workload = NULL;
	struct tb_network *network = NULL;
	struct tb_error error = {0};
	snprintf(path, sizeof path, "%s/tests/data/%s", getenv("TB_SOURCE"), trace);
	assert_int_equal(tb_network_open(&network, &description, NULL), TB_OK);
	if (tb_workload_new(&workload, &options, &error) != TB_OK ||
		tb_workload_place(workload, network, &error) != TB_OK)
		fail_msg("%s", error.text);
	assert_int_equal(tb_workload_n_jobs(workload), n);
	assert_true(tb_workload_fraction(workload, 0) == 0);
	assert_int_equal(run(workload, network, n_expected), n_expected);
	assert_true(tb_workload_fraction(workload, n_expected) == 1);
	tb_workload_free(workload);
	tb_network_free(network);
}

static void the_fraction_done_is_the_share_of_packets(void **state)
{
	(void)state;
	// 31 messages of one byte each; 448 of 64 KiB in packets of 320 bytes.
	share_of_traces("binary_tree_32.goal", 2, 62);
	share_of_traces("bit_reversal_64.goal", 1, 448 * 205);
}

int main(void)
{
	if (!getenv("TB_SOURCE")) {
		puts("skip: TB_SOURCE does not say where the traces are");
		return 77;
	}
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_fraction_done_is_the_share_of_packets),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
