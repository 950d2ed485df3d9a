// Workloads: several inputs replayed as one.
#include "workload.h"

#include "engine.h"
#include "network_open.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static void run(struct tb_workload *workload, const struct tb_network *network)
{
	const struct tb_engine_options options = {.seed = 1};
	struct tb_source source = tb_workload_source(workload);
	struct tb_engine *engine = NULL;
	struct tb_error error = {0};
	int status = tb_engine_new(&engine, network, &source, NULL, &options, &error);
	while (status >= 0 && (status = tb_engine_run(engine, 1000, &error)) > 0)
		;
	if (status != TB_OK)
		fail_msg("%s", error.text);
	tb_engine_free(engine);
}

static void the_fraction_done_is_the_mean_of_the_inputs(void **state)
{
	(void)state;
	char path[4096];
	const char *const traces[] = {path, path};
	const struct tb_workload_options options = {.traces = traces, .n_traces = 2};
	const struct tb_network_description description = {.name = "qsnet"};
	struct tb_workload *workload = NULL;
	struct tb_network *network = NULL;
	struct tb_error error = {0};
	snprintf(path, sizeof path, "%s/tests/data/binary_tree_32.goal",
		getenv("TB_SOURCE"));
	assert_int_equal(tb_network_open(&network, &description, NULL), TB_OK);
	if (tb_workload_new(&workload, &options, &error) != TB_OK ||
		tb_workload_place(workload, network, &error) != TB_OK)
		fail_msg("%s", error.text);
	assert_int_equal(tb_workload_n_jobs(workload), 2);
	assert_true(tb_workload_fraction(workload) == 0);
	run(workload, network);
	assert_true(tb_workload_fraction(workload) == 1);
	tb_workload_free(workload);
	tb_network_free(network);
}

int main(void)
{
	if (!getenv("TB_SOURCE")) {
		puts("skip: TB_SOURCE does not say where the traces are");
		return 77;
	}
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_fraction_done_is_the_mean_of_the_inputs),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
