// Which flows cross a link: against what a replay counted on every link, and against all
// shortest paths.
#include "crossing.h"
#include "random.h"
#include "recording.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#define STORE	"analyze_crossing.db"
#define JOB	"analyze_crossing.goal"
#define N_NODES 64
#define SENDS	5 // of a node

static int leave(void **state)
{
	(void)state;
	unlink(STORE);
	return unlink(JOB);
}

// enter writes a job in which each node sends a few messages to nodes by lot.
static int enter(void **state)
{
	static uint32_t to[N_NODES][SENDS];
	struct tb_random random;
	(void)state;
	unlink(STORE);
	FILE *file = fopen(JOB, "w");
	if (!file)
		return -1;
	tb_random_init(&random, 7, 0);
	for (uint32_t i = 0; i < N_NODES; i++)
		for (int j = 0; j < SENDS; j++)
			to[i][j] = (uint32_t)((i + 1 + tb_random_below(&random, 63)) %
					      N_NODES);
	fprintf(file, "num_ranks %d\n", N_NODES);
	for (uint32_t rank = 0; rank < N_NODES; rank++) {
		fprintf(file, "rank %u {\n", rank);
		for (int j = 0; j < SENDS; j++)
			fprintf(file, "send %ub to %u\n", 300 * (rank + 1), to[rank][j]);
		for (uint32_t i = 0; i < N_NODES; i++)
			for (int j = 0; j < SENDS; j++)
				if (to[i][j] == rank)
					fprintf(file, "recv %ub from %u\n", 300 * (i + 1),
						i);
		fputs("}\n", file);
	}
	return fclose(file);
}

struct stage {
	struct tb_run *run;
	struct tb_paths *paths;
	struct tb_flow_table table;
	const struct tb_link_sample *samples;
};

static void check(int status, const struct tb_error *error)
{
	if (status < 0)
		fail_msg("%s", error->text);
}

static void record(struct stage *stage, const char *network, const char *fault)
{
	static const char *const traces[] = {JOB};
	static volatile sig_atomic_t stop;
	struct tb_recording_options options = {
		.workload = {.traces = traces, .n_traces = 1},
		.network = network,
		.output = STORE,
		.seed = 1,
		.faults = &fault,
		.n_faults = fault != NULL,
		.stop = &stop};
	struct tb_recording *recording = NULL;
	struct tb_error error;
	int status;
	check(tb_recording_new(&recording, &options, &error), &error);
	while ((status = tb_recording_advance(recording, &error)) > 0)
		;
	check(status, &error);
	check(tb_recording_finish(recording, &error), &error);
	tb_recording_free(recording);
	check(tb_run_open(&stage->run, STORE, 0, &error), &error);
	check(tb_paths_new(&stage->paths, stage->run, &error), &error);
	check(tb_flow_table_init(&stage->table, stage->run, &error), &error);
	check(tb_run_look(stage->run, (struct tb_window){0, 0}, &stage->samples, &error),
		&error);
}

static void forget(struct stage *stage)
{
	tb_flow_table_fini(&stage->table);
	tb_paths_free(stage->paths);
	tb_run_free(stage->run);
}

static struct tb_crossing of_link(const struct stage *stage, uint32_t link)
{
	struct tb_crossing crossing;
	struct tb_error error;
	const struct tb_crossing_query query = {
		.id = link, .to_ps = INT64_MAX, .job = TB_ID_NONE};
	check(tb_crossing_init(&crossing, stage->paths, &stage->table, &query, &error),
		&error);
	return crossing;
}

static uint64_t packets_of(const struct stage *stage, const struct tb_crossing *crossing)
{
	uint64_t sum = 0;
	for (uint32_t i = 0; i < crossing->n; i++)
		sum += stage->table.rows[crossing->flows[i]].n_packets;
	return sum;
}

static void fixed_ways_account_for_every_packet_of_a_link(const char *network)
{
	struct stage stage;
	record(&stage, network, NULL);
	for (uint32_t i = 0; i < tb_run_info(stage.run)->n_links; i++) {
		struct tb_crossing crossing = of_link(&stage, i);
		assert_true(crossing.exact);
		assert_int_equal(
			packets_of(&stage, &crossing), stage.samples[i].n_packets);
		tb_crossing_fini(&crossing);
	}
	forget(&stage);
}

static void by_destination_every_packet_is_accounted_for(void **state)
{
	(void)state;
	fixed_ways_account_for_every_packet_of_a_link(
		"qsnet,levels=3,ascent=deterministic");
}

static void by_source_every_packet_is_accounted_for(void **state)
{
	(void)state;
	fixed_ways_account_for_every_packet_of_a_link("qsnet,levels=3,ascent=source");
}

static void elsewhere_flows_are_those_whose_paths_lead_there(void **state)
{
	struct stage stage;
	uint32_t n;
	(void)state;
	record(&stage, "qsnet,levels=3", NULL);
	for (uint32_t i = 0; i < tb_run_info(stage.run)->n_links; i++) {
		struct tb_crossing crossing = of_link(&stage, i);
		enum tb_link_kind kind = tb_run_links(stage.run)[i].at.kind;
		assert_true(crossing.exact ==
			    (kind == TB_LINK_INJECTION || kind == TB_LINK_EJECTION));
		assert_true(packets_of(&stage, &crossing) >= stage.samples[i].n_packets);
		uint32_t wanted = 0;
		for (uint32_t f = 0; f < stage.table.n; f++) {
			const struct tb_flow_sample *flow = &stage.table.rows[f];
			const struct tb_link *links = tb_paths_find(
				stage.paths, flow->source, flow->destination, &n);
			for (uint32_t j = 0; j < n; j++)
				wanted += links[j].id == i;
		}
		assert_int_equal(crossing.n, wanted);
		tb_crossing_fini(&crossing);
	}
	forget(&stage);
}

static void a_switch_sees_what_comes_over_its_links(void **state)
{
	struct stage stage;
	struct tb_error error;
	(void)state;
	record(&stage, "qsnet,levels=3,ascent=deterministic", NULL);
	const struct tb_run_info *info = tb_run_info(stage.run);
	for (uint32_t sw = 0; sw < info->n_switches; sw++) {
		uint64_t wanted = 0, bytes = 0, jobs = 0;
		struct tb_crossing crossing;
		for (uint32_t i = 0; i < info->n_links; i++) {
			const struct tb_link_info *at = &tb_run_links(stage.run)[i].at;
			if (at->kind != TB_LINK_EJECTION && at->to == sw)
				wanted += stage.samples[i].n_packets;
		}
		const struct tb_crossing_query query = {.of_switch = true,
			.id = sw,
			.to_ps = INT64_MAX,
			.job = TB_ID_NONE};
		check(tb_crossing_init(
			      &crossing, stage.paths, &stage.table, &query, &error),
			&error);
		assert_int_equal(packets_of(&stage, &crossing), wanted);
		for (uint32_t i = 0; i < crossing.n; i++) {
			const struct tb_flow_sample *flow =
				&stage.table.rows[crossing.flows[i]];
			assert_true(i == 0 || flow->bytes <= bytes);
			bytes = flow->bytes;
			jobs += bytes;
		}
		if (crossing.n)
			assert_true(crossing.jobs[0].bytes == jobs);
		tb_crossing_fini(&crossing);
	}
	forget(&stage);
}

static void time_and_job_select_flows(void **state)
{
	struct stage stage;
	struct tb_error error;
	(void)state;
	record(&stage, "qsnet,levels=3,ascent=deterministic", NULL);
	const struct tb_flow_sample *flow = &stage.table.rows[0];
	struct tb_crossing_query query = {.of_switch = true,
		.id = flow->source.id / 4,
		.from_ps = flow->last_ps,
		.to_ps = INT64_MAX,
		.job = TB_ID_NONE};
	struct tb_crossing crossing;
	check(tb_crossing_init(&crossing, stage.paths, &stage.table, &query, &error),
		&error);
	assert_true(crossing.n > 0);
	for (uint32_t i = 0; i < crossing.n; i++)
		assert_true(stage.table.rows[crossing.flows[i]].last_ps > query.from_ps);
	tb_crossing_fini(&crossing);
	query.job = 1; // there is only job 0
	query.from_ps = 0;
	check(tb_crossing_init(&crossing, stage.paths, &stage.table, &query, &error),
		&error);
	assert_int_equal(crossing.n, 0);
	tb_crossing_fini(&crossing);
	forget(&stage);
}

static void with_faults_no_way_is_known(void **state)
{
	struct stage stage;
	(void)state;
	record(&stage, "qsnet,levels=3,ascent=deterministic", "link=0.1:4");
	for (uint32_t i = 0; i < tb_run_info(stage.run)->n_links; i++) {
		struct tb_crossing crossing = of_link(&stage, i);
		enum tb_link_kind kind = tb_run_links(stage.run)[i].at.kind;
		if (kind == TB_LINK_UP || kind == TB_LINK_DOWN)
			assert_false(crossing.exact);
		tb_crossing_fini(&crossing);
	}
	forget(&stage);
}

static void paths_end_at_switches_too(void **state)
{
	struct stage stage;
	uint32_t n;
	(void)state;
	record(&stage, "qsnet,levels=3", NULL);
	const struct tb_run_link *links = tb_run_links(stage.run);
	const struct tb_link *own = tb_paths_between(stage.paths,
		(struct tb_path_end){false, 0}, (struct tb_path_end){true, 0}, &n);
	assert_int_equal(n, 1); // node 0 hangs on switch 0
	assert_int_equal(links[own[0].id].at.kind, TB_LINK_INJECTION);
	own = tb_paths_between(stage.paths, (struct tb_path_end){true, 0},
		(struct tb_path_end){true, 1}, &n);
	assert_int_equal(n, 8); // up to any of four, down from it
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(
			links[own[i].id].at.kind, i < 4 ? TB_LINK_UP : TB_LINK_DOWN);
	tb_paths_between(stage.paths, (struct tb_path_end){true, 3},
		(struct tb_path_end){true, 3}, &n);
	assert_int_equal(n, 0);
	forget(&stage);
}

#define STAGED(test) cmocka_unit_test_setup_teardown(test, enter, leave)

int main(void)
{
	const struct CMUnitTest tests[] = {
		STAGED(by_destination_every_packet_is_accounted_for),
		STAGED(by_source_every_packet_is_accounted_for),
		STAGED(elsewhere_flows_are_those_whose_paths_lead_there),
		STAGED(a_switch_sees_what_comes_over_its_links),
		STAGED(time_and_job_select_flows),
		STAGED(with_faults_no_way_is_known),
		STAGED(paths_end_at_switches_too),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
