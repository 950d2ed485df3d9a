// Experiments: the two jobs of combined traffic, their sizes and roles.
#include "experiment.h"
#include "experiment_plan.h"
#include "preset.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define COMPUTE_BYTES 65536
#define IO_BYTES      1048576

static int on_start(void *context, tb_time_ps bin_ps)
{
	(void)context;
	(void)bin_ps;
	return TB_OK;
}

static int on_bin(
	void *context, uint64_t bin, const struct tb_link_sample *samples, size_t n)
{
	(void)context;
	(void)bin;
	(void)samples;
	(void)n;
	return TB_OK;
}

static int on_blame(void *context, const struct tb_blame_record *record)
{
	(void)context;
	(void)record;
	return TB_OK;
}

// Flows of each job whose messages are all of the mean size, and the others.
struct sizes {
	uint32_t n_mean[2], n_other[2];
};

static int on_flows(void *context, const struct tb_flow_sample *samples, size_t n)
{
	static const uint64_t mean[] = {COMPUTE_BYTES, IO_BYTES};
	struct sizes *sizes = context;
	for (size_t i = 0; i < n; i++) {
		uint32_t job = samples[i].job;
		if (samples[i].n_messages == 0)
			continue;
		if (samples[i].bytes == samples[i].n_messages * mean[job])
			sizes->n_mean[job]++;
		else
			sizes->n_other[job]++;
	}
	return TB_OK;
}

static void sizes_are_those_of_the_measured_job_alone(void **state)
{
	(void)state;
	struct tb_experiment experiment = *tb_experiment_find("mix.1c.shared.5");
	struct tb_network_params params;
	struct tb_network *network = NULL;
	struct tb_outcome *outcome = NULL;
	struct sizes sizes = {{0}, {0}};
	const struct tb_observer observer = {.context = &sizes,
		.start = on_start,
		.bin = on_bin,
		.flows = on_flows,
		.blame = on_blame};
	const struct tb_experiment_options options = {.seed = 1, .observer = &observer};
	experiment.sizes = TB_SIZES_FIXED;
	experiment.message_bytes = COMPUTE_BYTES;
	experiment.n_nodes = experiment.n_active = 16;
	experiment.n_io = 2;
	experiment.warm_us = 10000;
	experiment.window_us = 40000;
	assert_int_equal(tb_network_preset(&params, "qsnet", NULL), TB_OK);
	assert_int_equal(
		tb_experiment_network(&network, &experiment, &params, NULL, NULL), TB_OK);
	assert_int_equal(
		tb_experiment_run(&outcome, &experiment, network, &options, NULL), TB_OK);
	assert_true(sizes.n_mean[0] > 0);
	assert_int_equal(sizes.n_other[0], 0);
	assert_int_equal(sizes.n_mean[1], 0);
	assert_true(sizes.n_other[1] > 0);
	for (uint32_t i = 0; i < outcome->n_nodes; i++) {
		assert_int_equal(
			outcome->nodes[i].role, i < 8 ? TB_ROLE_SENDER : TB_ROLE_OTHER);
		assert_int_equal(outcome->nodes[i].serves, i >= 14);
	}
	tb_outcome_free(outcome);
	tb_network_free(network);
}

static void the_io_job_beside_sends_megabytes_at_random_times(void **state)
{
	(void)state;
	struct tb_experiment_plan plan;
	struct tb_network_params params;
	assert_int_equal(tb_network_preset(&params, "qsnet", NULL), TB_OK);
	assert_int_equal(tb_experiment_plan_init(&plan,
				 tb_experiment_find("mix.1c.shared.3"), &params, NULL),
		TB_OK);
	assert_int_equal(plan.jobs[TB_PLAN_MEASURED].rate_bytes_per_s, 0);
	assert_int_equal(plan.jobs[1].rate_bytes_per_s, TB_SYNTH_RATE_BYTES_PER_S);
	assert_int_equal(plan.n_jobs, 2);
	assert_true(plan.jobs[TB_PLAN_MEASURED].load == 0);
	assert_true(plan.jobs[1].load == 0.3);
	assert_true(plan.jobs[TB_PLAN_MEASURED].reads == 0);
	assert_true(plan.jobs[1].reads == 0.5);
	assert_int_equal(plan.jobs[1].time_dist, TB_SYNTH_EXPONENTIAL);
	assert_int_equal(plan.jobs[1].message_bytes, IO_BYTES);
	assert_int_equal(plan.jobs[1].n_senders, 32);
	assert_int_equal(plan.jobs[1].senders[0], 32);
	assert_int_equal(plan.jobs[1].n_targets, 8);
	assert_int_equal(plan.jobs[1].targets[0], 56);
	tb_experiment_plan_fini(&plan);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes_are_those_of_the_measured_job_alone),
		cmocka_unit_test(the_io_job_beside_sends_megabytes_at_random_times),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
