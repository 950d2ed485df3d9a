// Sweep files: lists, ranges, combinations, and what is wrong with a file; and what is
// measured of a point.
#include "sweep.h"
#include "experiment_plan.h"
#include "preset.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define FILE_NAME "unit_replay_sweep.ini"

static int read_text(struct tb_sweep *sweep, const char *text, struct tb_error *error)
{
	FILE *file = fopen(FILE_NAME, "w");
	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
	int status = tb_sweep_read(sweep, FILE_NAME, NULL, 0, error);
	unlink(FILE_NAME);
	return status;
}

static void reads(struct tb_sweep *sweep, const char *text)
{
	struct tb_error error = {0};
	if (read_text(sweep, text, &error) != TB_OK)
		fail_msg("%s", error.text);
}

static void fails(
	const char *text, enum tb_status status, uint64_t line, const char *says)
{
	struct tb_sweep sweep = {0};
	struct tb_error error = {0};
	assert_int_equal(read_text(&sweep, text, &error), status);
	assert_int_equal(error.at, line);
	assert_string_equal(error.text, says);
	assert_int_equal(sweep.n_points, 0);
}

static const char *value(const struct tb_sweep_point *point, const char *axis)
{
	for (size_t i = 0; i < point->n_values; i++)
		if (strcmp(point->values[i].axis, axis) == 0)
			return point->values[i].text;
	return NULL;
}

static void the_axis_named_first_changes_slowest(void **state)
{
	(void)state;
	struct tb_sweep sweep;
	reads(&sweep, "[sweep]\nload = 0.1, 0.5\nexperiment = uniform\nseed = 1..3\n");
	assert_int_equal(sweep.n_points, 6);
	assert_string_equal(value(&sweep.points[2], "load"), "0.1");
	assert_string_equal(value(&sweep.points[2], "seed"), "3");
	assert_string_equal(value(&sweep.points[3], "load"), "0.5");
	assert_true(sweep.points[3].seed == 1);
	tb_sweep_fini(&sweep);
}

static void ranges_have_steps_and_factors(void **state)
{
	(void)state;
	struct tb_sweep sweep;
	reads(&sweep, "[sweep]\nexperiment = uniform\nload = 0.1 .. 1 step 0.1\n"
		      "message = 1K..16K x4, 1M\n");
	assert_int_equal(sweep.n_points, 40);
	assert_string_equal(value(&sweep.points[39], "load"), "1");
	assert_string_equal(value(&sweep.points[0], "message"), "1024");
	assert_string_equal(value(&sweep.points[2], "message"), "16384");
	assert_string_equal(value(&sweep.points[3], "message"), "1048576");
	tb_sweep_fini(&sweep);
}

static void sizes_double_and_fractions_need_a_step(void **state)
{
	(void)state;
	struct tb_sweep sweep;
	reads(&sweep, "[sweep]\nexperiment = uniform\nmessage = 1K..5K\n");
	assert_int_equal(sweep.n_points, 3);
	assert_string_equal(value(&sweep.points[2], "message"), "4096");
	tb_sweep_fini(&sweep);
	fails("[sweep]\nexperiment = uniform\nload = 0.05..1\n", TB_EUSAGE, 3,
		"'0.05..1' has no step; expected as 1..5, 0.1..1 step 0.1 or 1K..1M x2");
	fails("[sweep]\nexperiment = uniform\nmessage = 0..5K\n", TB_EUSAGE, 3,
		"'0..5K' is no range: its step, '', is none; expected as 1..5, 0.1..1 "
		"step 0.1 or 1K..1M x2");
}

static void the_last_value_of_a_range_is_not_lost_to_rounding(void **state)
{
	(void)state;
	struct tb_sweep sweep;
	reads(&sweep, "[sweep]\nexperiment = uniform\nload = 0.1..0.3 step 0.1\n");
	assert_int_equal(sweep.n_points, 3);
	assert_string_equal(value(&sweep.points[2], "load"), "0.3");
	tb_sweep_fini(&sweep);
}

static void a_value_goes_on_in_an_indented_line(void **state)
{
	(void)state;
	struct tb_sweep sweep;
	reads(&sweep, "[sweep]\nexperiment = shuffle,\n  transpose,\n  complement\n");
	assert_int_equal(sweep.n_points, 3);
	assert_string_equal(sweep.points[2].experiment.name, "complement");
	tb_sweep_fini(&sweep);
}

static void keys_of_the_network_are_axes(void **state)
{
	(void)state;
	struct tb_sweep sweep;
	reads(&sweep, "[sweep]\nexperiment = uniform\n[network]\nvcs = 1..2\n"
		      "ack_delay = 0, 200ns\n");
	assert_int_equal(sweep.n_points, 4);
	assert_string_equal(sweep.points[3].network, "qsnet,ack_delay=200ns,vcs=2");
	assert_int_equal(sweep.points[0].params.n_vcs, 1);
	tb_sweep_fini(&sweep);
}

static void networks_bring_changes_of_their_own(void **state)
{
	(void)state;
	struct tb_sweep sweep;
	reads(&sweep, "[sweep]\nexperiment = uniform\n[network]\nvcs = 1\n"
		      "preset = qsnet,ack_delay=0, qsnet2, qsnet,arity=8,fifo=512\n");
	assert_int_equal(sweep.n_points, 3);
	assert_string_equal(sweep.points[0].network, "qsnet,ack_delay=0,vcs=1");
	assert_string_equal(sweep.points[1].network, "qsnet2,vcs=1");
	assert_string_equal(sweep.points[2].network, "qsnet,arity=8,fifo=512,vcs=1");
	tb_sweep_fini(&sweep);
}

#define FABRIC_NAME "unit_replay_sweep.edges"

// Two leaves of two hosts each, below a spine.
static void a_fabric_is_a_network_of_a_sweep(void **state)
{
	(void)state;
	struct tb_sweep sweep;
	FILE *file = fopen(FABRIC_NAME, "w");
	assert_non_null(file);
	fputs("h1 0 a 1\nh2 0 a 2\nh3 0 b 1\nh4 0 b 2\na 3 s 1\nb 3 s 2\n", file);
	assert_int_equal(fclose(file), 0);
	reads(&sweep, "[sweep]\nexperiment = uniform\nnodes = 3, 4\n[network]\n"
		      "preset = " FABRIC_NAME ",preset=ib-hdr\n");
	assert_int_equal(sweep.n_points, 2);
	struct tb_network *network = NULL;
	assert_int_equal(tb_experiment_network(&network, &sweep.points[0].experiment,
				 &sweep.points[0].params, sweep.points[0].network, NULL),
		TB_OK);
	assert_int_equal(tb_network_n_nodes(network), 4);
	assert_int_equal(tb_network_n_switches(network), 3);
	tb_network_free(network);
	tb_sweep_fini(&sweep);
	fails("[sweep]\nexperiment = uniform\nnodes = 4, 8\n[network]\n"
	      "preset = " FABRIC_NAME ",preset=ib-hdr\n",
		TB_EUSAGE, 0,
		"uniform (seed 1): 8 nodes are needed: unit_replay_sweep has 4, "
		"and cannot grow");
	fails("[sweep]\nexperiment = uniform\nnodes = 4\n[network]\n"
	      "preset = " FABRIC_NAME ",preset=ib-hdr\narity = 4\n",
		TB_EUSAGE, 6, "arity=4: the file gives the fabric's shape");
	unlink(FABRIC_NAME);
}

static void nodes_bring_their_tree(void **state)
{
	(void)state;
	struct tb_sweep sweep;
	reads(&sweep, "[sweep]\nexperiment = uniform\nnodes = 16, 256\n");
	static const uint32_t n_nodes[] = {16, 256};
	for (size_t i = 0; i < 2; i++) {
		struct tb_network *network = NULL;
		assert_int_equal(
			tb_experiment_network(&network, &sweep.points[i].experiment,
				&sweep.points[i].params, NULL, NULL),
			TB_OK);
		assert_int_equal(tb_network_n_nodes(network), n_nodes[i]);
		tb_network_free(network);
	}
	tb_sweep_fini(&sweep);
}

static void the_window_grows_with_the_message_and_with_light_load(void **state)
{
	(void)state;
	struct tb_sweep sweep;
	reads(&sweep, "[sweep]\nexperiment = uniform\nmessage = 256K, 1M\nload = full, "
		      "0.25\n");
	assert_int_equal(sweep.points[0].experiment.window_us, 40000);
	assert_int_equal(sweep.points[1].experiment.window_us, 160000);
	assert_int_equal(sweep.points[1].experiment.warm_us, 20000);
	assert_int_equal(sweep.points[2].experiment.warm_us, 80000);
	assert_int_equal(sweep.points[3].experiment.window_us, 640000);
	tb_sweep_fini(&sweep);
	// As many messages as on qsnet, of 0.34 GB/s; what is given stays.
	reads(&sweep, "[sweep]\nexperiment = uniform\n[network]\npreset = ib-ndr\n");
	assert_int_equal(sweep.points[0].experiment.warm_us, 136);
	assert_int_equal(sweep.points[0].experiment.window_us, 272);
	assert_string_equal(value(&sweep.points[0], "window"), "272");
	tb_sweep_fini(&sweep);
	reads(&sweep, "[sweep]\nexperiment = uniform\nwarm = 30us\nwindow = 7ms\n"
		      "[network]\npreset = ib-ndr\n");
	assert_int_equal(sweep.points[0].experiment.warm_us, 30);
	assert_int_equal(sweep.points[0].experiment.window_us, 7000);
	tb_sweep_fini(&sweep);
}

static void times_are_kept_in_microseconds(void **state)
{
	(void)state;
	struct tb_sweep sweep;
	reads(&sweep, "[sweep]\nexperiment = uniform\nwarm = 3ms\nwindow = 7000us\n");
	assert_int_equal(sweep.points[0].experiment.warm_us, 3000);
	assert_int_equal(sweep.points[0].experiment.window_us, 7000);
	tb_sweep_fini(&sweep);
}

static void a_hot_spot_can_be_read_from(void **state)
{
	(void)state;
	struct tb_sweep sweep;
	reads(&sweep, "[sweep]\nexperiment = hot\nreads = 0.5\n");
	assert_true(sweep.points[0].experiment.reads == 0.5);
	tb_sweep_fini(&sweep);
	fails("[sweep]\nexperiment = uniform\nreads = 0.5\n", TB_EUSAGE, 3,
		"reads is for hot, io and mix experiments, not for uniform");
}

// Nodes 0 and 1 send, 2 is of another job, 3 serves.
static void results_are_those_of_senders_servers_and_links(void **state)
{
	(void)state;
	struct tb_node_outcome nodes[4] = {
		{TB_ROLE_SENDER, false, 10e6, 12e6, 1e6},
		{TB_ROLE_SENDER, false, 30e6, 33e6, 2e6},
		{TB_ROLE_OTHER, false, 500e6, 550e6, 3e6},
		{TB_ROLE_SILENT, true, 7e6, 8e6, 80e6},
	};
	struct tb_link_outcome links[2] = {
		{TB_LINK_UP, 1, 0.5, 9}, {TB_LINK_DOWN, 0, 0.25, 9}};
	const struct tb_outcome outcome = {.n_nodes = 4,
		.n_links = 2,
		.nodes = nodes,
		.links = links,
		.job_bps = 50e6,
		.posted_bps = 338.624e6,
		.latency_s = 3e-6};
	static const struct {
		enum tb_sweep_result result;
		double shown;
		const char *unit;
	} rows[] = {
		{TB_RESULT_OFFERED, 169.312, "MB/s"},
		{TB_RESULT_ACCEPTED, 20, "MB/s"},
		{TB_RESULT_TAKEN, 80, "MB/s"},
		{TB_RESULT_GIVEN, 7, "MB/s"},
		{TB_RESULT_LATENCY, 3, "us"},
		{TB_RESULT_WAITING, 0.75, ""},
	};
	struct tb_sweep_point point = {
		.experiment = *tb_experiment_find("mix.1c.shared")};
	point.experiment.load = 0.5;
	assert_int_equal(tb_network_preset(&point.params, "qsnet", NULL), TB_OK);
	assert_true(tb_sweep_result_of(&point, &outcome, TB_RESULT_ACCEPTED) == 25e6);
	point.experiment.reads = 0;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct tb_sweep_result_info *info =
			tb_sweep_result_info(rows[i].result);
		double shown = tb_sweep_result_of(&point, &outcome, rows[i].result) /
			       info->per_unit;
		assert_string_equal(info->unit, rows[i].unit);
		if (!(fabs(shown - rows[i].shown) < 0.01))
			fail_msg("%s: %g is not %g", info->name, shown, rows[i].shown);
	}
}

static void a_load_is_a_share_of_what_a_node_of_the_network_can_send(void **state)
{
	(void)state;
	static const struct {
		const char *network;
		uint64_t rate; // of load 1
	} rows[] = {
		{"qsnet", TB_SYNTH_RATE_BYTES_PER_S},
		{"qsnet,arity=8,levels=2,vcs=4", TB_SYNTH_RATE_BYTES_PER_S},
		{"qsnet,bus=200MB/s", 200000000},
		{"ib-hdr", UINT64_C(24842309558)}, // 25 GB/s 4096 / 4122
		{"ib-hdr,pcie=none,rate=50GB/s", UINT64_C(49684619116)},
		{"ib-hdr,pcie=12GB/s", UINT64_C(12000000000)},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct tb_sweep_point point = {
			.experiment = *tb_experiment_find("mix.1c.shared")};
		struct tb_experiment_plan plan;
		point.experiment.load = 0.5;
		point.experiment.io_load = 0.3;
		assert_int_equal(
			tb_network_preset(&point.params, rows[i].network, NULL), TB_OK);
		assert_int_equal(tb_experiment_plan_init(
					 &plan, &point.experiment, &point.params, NULL),
			TB_OK);
		assert_int_equal(plan.jobs[0].rate_bytes_per_s, rows[i].rate);
		assert_int_equal(plan.jobs[1].rate_bytes_per_s, rows[i].rate);
		tb_experiment_plan_fini(&plan);
	}
}

static void a_job_is_swept_over_designs(void **state)
{
	(void)state;
	static const struct tb_sweep_job job = {"j.goal", "--per-node,8", "d", "ib-ndr"};
	static const char *const changes[] = {"per-node=4,8", "seed=3",
		"shape=xgft(2;4,4;1,4),xgft(2;4,4;1,3)", "fault=none,link=0.0:4"};
	static const char *const networks[] = {"network=ib-hdr,rails=2,ib-ndr"};
	struct tb_sweep sweep;
	assert_int_equal(tb_sweep_of_job(&sweep, &job, changes, 4, NULL), TB_OK);
	assert_int_equal(sweep.n_points, 8);
	assert_string_equal(sweep.points[7].settings,
		"experiment=j.goal input=d options=--per-node,8 seed=3 per-node=8 "
		"fault=link=0.0:4 network=ib-ndr shape=xgft(2;4,4;1,3)");
	assert_string_equal(sweep.points[0].network, "ib-ndr,shape=xgft(2;4,4;1,4)");
	assert_int_equal(sweep.points[0].seed, 3);
	assert_string_equal(tb_sweep_value_of(&sweep.points[0], TB_AXIS_FAULT), "none");
	tb_sweep_fini(&sweep);
	assert_int_equal(tb_sweep_of_job(&sweep, &job, networks, 1, NULL), TB_OK);
	assert_string_equal(sweep.points[0].network, "ib-hdr,rails=2");
	assert_string_equal(sweep.points[1].network, "ib-ndr");
	tb_sweep_fini(&sweep);
}

static void an_experiment_is_a_sweep_of_one_point(void **state)
{
	(void)state;
	struct tb_sweep sweep;
	const char *const changes[] = {"load=0.5", "vcs=4", "seed=7"};
	assert_int_equal(tb_sweep_read(&sweep, "hot", changes, 3, NULL), TB_OK);
	assert_int_equal(sweep.n_points, 1);
	assert_int_equal(sweep.points[0].params.n_vcs, 4);
	assert_true(sweep.points[0].seed == 7);
	tb_sweep_fini(&sweep);
}

static void every_experiment_is_a_sweep(void **state)
{
	(void)state;
	for (const struct tb_experiment *e = tb_experiments; e->name; e++) {
		struct tb_sweep sweep;
		struct tb_error error = {0};
		if (tb_sweep_read(&sweep, e->name, NULL, 0, &error) != TB_OK)
			fail_msg("%s: %s", e->name, error.text);
		tb_sweep_fini(&sweep);
	}
}

static void mistakes_name_the_line_and_the_nearest_name(void **state)
{
	(void)state;
	fails("[sweep]\nexperiment = uniform\nlaod = 1\n", TB_EUSAGE, 3,
		"no key of a sweep is called 'laod'; the nearest is 'load'");
	fails("[sweep]\nexperiment = uniform\nlink_token = 1\n", TB_EUSAGE, 3,
		"no key of a sweep is called 'link_token'; the nearest of a network is "
		"'link_tokens'");
	fails("[sweep]\nexperiment = uniform\nvcs = 1\n", TB_EUSAGE, 3,
		"vcs is a key of [network], not of [sweep]");
	fails("[sweep]\nexperiment = uniforn\n", TB_EUSAGE, 2,
		"no experiment is called 'uniforn'; the nearest is 'uniform'");
	fails("[swep]\nexperiment = uniform\n", TB_EUSAGE, 2,
		"no section of a sweep is called 'swep'; the nearest is 'sweep'");
	fails("[sweep]\nexperiment = uniform\n\n[network]\nvc = 1\n", TB_EUSAGE, 5,
		"vc is no key of a network preset; the nearest is 'vcs'");
	fails("[sweep]\nexperiment = uniform\n[network]\nvcs = 1, 0\n", TB_EUSAGE, 4,
		"vcs = 0: expected a whole number from 1 to 16");
	fails("[sweep]\nexperiment = uniform\n[plot]\nax = load\n", TB_EUSAGE, 4,
		"no key of a plot is called 'ax'; the nearest is 'x'");
	fails("[sweep]\nexperiment = uniform\nseed = 3..1\n", TB_EUSAGE, 3,
		"'3..1' is no range: its last value, 1, is below the first; expected as "
		"1..5, 0.1..1 step 0.1 or 1K..1M x2");
	fails("[sweep]\nexperiment = uniform\nseed = 1..b\n", TB_EUSAGE, 3,
		"'1..b' is no range: its last value, 'b', is no whole number; expected "
		"as "
		"1..5, 0.1..1 step 0.1 or 1K..1M x2");
	fails("[sweep]\nexperiment = uniform\nseed = 1..3 by 2\n", TB_EUSAGE, 3,
		"'1..3 by 2' is no range: its step, 'by 2', is none; expected as 1..5, "
		"0.1..1 step 0.1 or 1K..1M x2");
	fails("[sweep]\nexperiment = uniform\nseed = 1\nseed = 2\n", TB_EUSAGE, 4,
		"seed is there twice: its other values are in line 3");
	fails("[sweep]\nexperiment = uniform\nload = 0.1,,0.2\n", TB_EUSAGE, 3,
		"a value is missing");
	fails("[sweep]\nexperiment\n", TB_EFORMAT, 2,
		"expected [section] or key = value");
}

static void points_that_cannot_be_run_are_refused(void **state)
{
	(void)state;
	fails("[sweep]\nexperiment = uniform\nio_load = 0.1\n", TB_EUSAGE, 3,
		"io_load is for mix experiments, not for uniform");
	fails("[sweep]\nexperiment = uniform\ntimes = fixed\n", TB_EUSAGE, 3,
		"times is for points with a load, not for uniform at full load");
	fails("[sweep]\nexperiment = shuffle\nnodes = 48\n", TB_EUSAGE, 0,
		"shuffle (seed 1): shuffle moves binary digits: the number of nodes must "
		"be a power of two, not 48");
	fails("[sweep]\nexperiment = uniform\nwindow = 1ms\n", TB_EUSAGE, 0,
		"uniform (seed 1): a window of 1000 us after a warm-up of 20000 us: "
		"expected a warm-up, and a window that is as long or longer");
	fails("[sweep]\nexperiment = uniform\nload = 0.5, 0.50\nwarm=1us\nwindow=1us\n",
		TB_EUSAGE, 0,
		"an axis has a value twice: two points are experiment=uniform nodes=64 "
		"message=262144 load=0.5 sizes=exponential times=exponential reads=0 "
		"io_nodes=0 io_load=0 warm=1 window=1 seed=1 network=qsnet");
	fails("[sweep]\nexperiment = uniform\nseed = 1..1000\nload = 0.001..1 step "
	      "0.001\n",
		TB_ECAPACITY, 0, "more than 100000 points: fewer values, please");
}

static void long_lines_are_not_cut(void **state)
{
	(void)state;
	char text[400] = "[sweep]\nexperiment = uniform\nseed = 1";
	for (size_t i = strlen(text); i < sizeof text - 1; i++)
		text[i] = '1';
	fails(text, TB_EFORMAT, 3,
		"the line is longer than 198 bytes: go on in an indented line");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_axis_named_first_changes_slowest),
		cmocka_unit_test(ranges_have_steps_and_factors),
		cmocka_unit_test(sizes_double_and_fractions_need_a_step),
		cmocka_unit_test(the_last_value_of_a_range_is_not_lost_to_rounding),
		cmocka_unit_test(a_value_goes_on_in_an_indented_line),
		cmocka_unit_test(keys_of_the_network_are_axes),
		cmocka_unit_test(networks_bring_changes_of_their_own),
		cmocka_unit_test(a_fabric_is_a_network_of_a_sweep),
		cmocka_unit_test(nodes_bring_their_tree),
		cmocka_unit_test(the_window_grows_with_the_message_and_with_light_load),
		cmocka_unit_test(times_are_kept_in_microseconds),
		cmocka_unit_test(a_hot_spot_can_be_read_from),
		cmocka_unit_test(results_are_those_of_senders_servers_and_links),
		cmocka_unit_test(
			a_load_is_a_share_of_what_a_node_of_the_network_can_send),
		cmocka_unit_test(a_job_is_swept_over_designs),
		cmocka_unit_test(an_experiment_is_a_sweep_of_one_point),
		cmocka_unit_test(every_experiment_is_a_sweep),
		cmocka_unit_test(mistakes_name_the_line_and_the_nearest_name),
		cmocka_unit_test(points_that_cannot_be_run_are_refused),
		cmocka_unit_test(long_lines_are_not_cut),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
