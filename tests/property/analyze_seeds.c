// Where nothing is drawn (tb_switching_draws) all seeds come to the same: random jobs and
// captures on random variants of every preset and on fabrics, with packets and as a
// fluid, whole and with a cable that fails.
#define RANDOM_RUN "analyze_seeds"
#include "../random_run.h"

#include "../support/timeline_made.h"
#include "flow_table.h"
#include "network_open.h"

enum { RUNS = 400, N_ASCENTS = 3 };

// What a run came to: figures of the run and sums over its flows.
struct figures {
	tb_time_ps run_ps;
	uint64_t n_packets, n_undelivered, latency_ps, ends;
};

static bool run_with(struct figures *figures, const char *network, const char *trace,
	bool fails, int seed)
{
	static const char *const faults[] = {"link=0.1:5@3us"};
	const struct tb_recording_options options = {
		.workload = {.traces = &trace, .n_traces = 1},
		.network = network,
		.faults = faults,
		.n_faults = fails,
		.output = STORE,
		.seed = (uint64_t)seed};
	struct made made;
	struct tb_flow_table flows = {0};
	struct tb_error error;
	if (!made_record(&made, &options))
		return false;
	const struct tb_run_info *info = tb_run_info(made.run);
	*figures = (struct figures){.run_ps = info->simulated_ps,
		.n_packets = info->n_packets,
		.n_undelivered = info->n_undelivered};
	assert_int_equal(tb_flow_table_init(&flows, made.run, &error), TB_OK);
	for (uint32_t i = 0; i < flows.n; i++) {
		figures->latency_ps += (uint64_t)flows.rows[i].latency_ps;
		figures->ends = figures->ends * 31 + (uint64_t)flows.rows[i].latency_ps;
	}
	tb_flow_table_fini(&flows);
	made_drop(&made);
	return true;
}

static void without_draws_all_seeds_come_to_the_same(void **state)
{
	(void)state;
	static const char *const ascents[N_ASCENTS] = {
		"deterministic", "source", "adaptive"};
	struct tb_random random;
	struct tb_network_params params;
	uint32_t n_same = 0, n_failed = 0, n_differ = 0, n_fluid = 0;
	size_t n_presets = 0;
	while (tb_network_preset_name(n_presets))
		n_presets++;
	for (uint32_t i = 0; i < RUNS; i++) {
		char network[TEXT];
		struct figures a, b;
		tb_random_init(&random, 1, i);
		bool captured = below(&random, 8) == 0;
		if (below(&random, 8) == 0)
			draw_fabric(&random, i % n_presets, network);
		else
			draw_network(&random, i % n_presets, network);
		change(network, "ascent", ascents[below(&random, N_ASCENTS)]);
		// Marks are drawn while a queue is between the two.
		static const char *const marks[][2] = {{"congestion_control", "dcqcn"},
			{"ecn_min", "64"}, {"ecn_max", "16KB"}, {"ecn_probability", "1"}};
		for (uint32_t k = below(&random, 4) ? 4 : 0; k < 4; k++)
			change(network, marks[k][0], marks[k][1]);
		bool fluid = below(&random, 4) == 0, fails = below(&random, 3) == 0;
		if (fluid)
			change(network, "switching", "fluid");
		assert_int_equal(
			tb_network_open_params(&params, NULL, network, NULL), TB_OK);
		if (captured)
			draw_capture(&random);
		else
			draw_job(&random, below(&random, 2));
		const char *trace = captured ? CAPTURE : JOB;
		if (!run_with(&a, network, trace, fails, 1))
			continue;
		assert_true(run_with(&b, network, trace, fails, 2));
		bool same = memcmp(&a, &b, sizeof a) == 0;
		if (!same && !tb_switching_draws(&params))
			fail_msg("run %u: seeds differ on %s%s", i, network,
				fails ? ", with a fault" : "");
		n_differ += !same;
		n_same += !tb_switching_draws(&params);
		n_failed += !tb_switching_draws(&params) && fails;
		n_fluid += !tb_switching_draws(&params) && fluid;
	}
	unlink(STORE);
	unlink(JOB);
	unlink(CAPTURE);
	unlink(FABRIC);
	// All kinds were there to be seen.
	print_message("%u without draws (%u with a fault, %u fluid), %u seeds differed\n",
		n_same, n_failed, n_fluid, n_differ);
	assert_true(n_same > 100 && n_failed > 10 && n_fluid > 20 && n_differ > 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_draws_all_seeds_come_to_the_same),
	};
	return cmocka_run_group_tests(tests, own_folder, leave_folder);
}
