// Measures: what each claim makes of its experiments' outcomes, which are made up here.
#include "measure.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { N_NODES = 64, N_SERVING = 8, LINKS_MOST = 32 };

// What an experiment is made to come to: all senders send `sent`, all nodes that serve
// take `taken`, all of the job takes `job`, in MB/s; a message, or a timed job, takes
// `seconds`.
struct figure {
	const char *experiment;
	double sent, taken, seconds, job;
};

struct made {
	struct tb_outcome outcome;
	struct tb_node_outcome nodes[N_NODES];
	struct tb_link_outcome links[LINKS_MOST];
};

static void make(struct made *made, const struct figure *figure)
{
	*made = (struct made){.outcome = {.n_nodes = N_NODES,
				      .nodes = made->nodes,
				      .links = made->links,
				      .job_bps = figure->job * 1e6,
				      .by_sizes_bps = {90e6, 100e6},
				      .latency_s = figure->seconds}};
	for (uint32_t i = 0; i < N_NODES; i++)
		made->nodes[i] = (struct tb_node_outcome){
			.role = i % 4 == 3 ? TB_ROLE_OTHER : TB_ROLE_SENDER,
			.sent_bps = figure->sent * (i % 4 == 3 ? 1e8 : 1e6),
			.serves = i >= N_NODES - N_SERVING,
			.taken_bps =
				figure->taken * (i >= N_NODES - N_SERVING ? 1e6 : 1e5)};
}

static double read_outcomes(const struct tb_measure *measure, struct made *made, size_t n)
{
	const struct tb_outcome *outcomes[TB_MEASURE_EXPERIMENTS + 1] = {NULL};
	for (size_t i = 0; i < n; i++)
		outcomes[i] = &made[i].outcome;
	return measure->value(outcomes);
}

// value_of is the figure of a claim whose experiments come to these figures, each found
// by its experiment's name.
static double value_of(const char *id, const struct figure *figures)
{
	static struct made made[TB_MEASURE_EXPERIMENTS];
	const struct tb_measure *measure = tb_measure_find(id);
	size_t n = 0;
	assert_non_null(measure);
	for (; measure->experiments[n]; n++) {
		const struct figure *figure = figures;
		while (figure->experiment &&
			strcmp(figure->experiment, measure->experiments[n]) != 0)
			figure++;
		if (!figure->experiment)
			fail_msg("%s reads %s", id, measure->experiments[n]);
		make(&made[n], figure);
	}
	return read_outcomes(measure, made, n);
}

static void is(double value, double expected)
{
	if (!(fabs(value - expected) <= 1e-9 * (1 + fabs(expected))))
		fail_msg("%.12g is not %.12g", value, expected);
}

static void what_is_sent_is_the_mean_of_the_measured_job(void **state)
{
	(void)state;
	const struct figure figures[] = {
		{"uniform", 120, 0, 0, 0},
		{"ping.both", 300, 0, 0, 0},
		{"uniform message=16K warm=15ms window=20ms", 150, 0, 0, 0},
		{0},
	};
	is(value_of("uniform.64.bw", figures), 120);
	is(value_of("uniform.64.frac", figures), 0.4);
	is(value_of("uniform.size.256k", figures), -20);
	is(value_of("uniform.64.sizes", figures), 10);
}

static void what_is_taken_is_the_mean_of_those_that_serve(void **state)
{
	(void)state;
	const struct figure figures[] = {
		{"hot nodes=32", 1, 400, 0, 0},
		{"hot nodes=64", 1, 300, 0, 0},
		{"io.random.clustered.shared", 1, 240, 0, 0},
		{"io.random.clustered.dedicated", 1, 200, 0, 0},
		{"io.fixed.clustered.shared", 1, 280, 0, 0},
		{"io.fixed.clustered.dedicated", 1, 260, 0, 0},
		{0},
	};
	is(value_of("hot.32", figures), 400);
	is(value_of("hot.64.drop", figures), 25);
	is(value_of("io.rand.clustered.shared", figures), 240);
	is(value_of("io.rand.clustered.dedicated", figures), 200);
	is(value_of("io.det.clustered.shared", figures), 280);
	is(value_of("io.rand.gain", figures), 40);
	is(value_of("io.det.gain", figures), 20);
}

// The least lead of each order stands in another pair.
static void an_order_is_that_of_the_closest_pair(void **state)
{
	(void)state;
	const struct figure figures[] = {
		{"io.random.clustered.shared", 1, 200, 0, 0},
		{"io.random.clustered.dedicated", 1, 100, 0, 0},
		{"io.random.distributed.shared", 1, 220, 0, 0},
		{"io.random.distributed.dedicated", 1, 200, 0, 0},
		{"io.fixed.clustered.shared", 1, 280, 0, 0},
		{"io.fixed.clustered.dedicated", 1, 300, 0, 0},
		{"io.fixed.distributed.shared", 1, 560, 0, 0},
		{"io.fixed.distributed.dedicated", 1, 270, 0, 0},
		{0},
	};
	is(value_of("io.order.det", figures), 35);
	is(value_of("io.distributed.dedicated", figures), 100);
	is(value_of("io.mapping.rand", figures), 10);
	is(value_of("io.order.distributed", figures), -10);
}

static void reads_and_writes_both_load_an_io_node(void **state)
{
	(void)state;
	const struct figure figures[] = {
		{"io.random.clustered.dedicated", 1, 1, 0, 8 * 200},
		{"io.random.clustered.dedicated reads=0.5", 1, 1, 0, 8 * 400},
		{"io.random.clustered.dedicated reads=1", 1, 1, 0, 8 * 300},
		{0},
	};
	is(value_of("io.reads", figures), 200 / 300.0 * 100);
}

// Node 0 is the hot one, 1 to 3 share its switch, 4 to 15 are below the same of level 1.
static void groups_of_a_hot_spot_are_those_below_a_switch_of_each_level(void **state)
{
	(void)state;
	struct made made;
	make(&made, &(struct figure){0});
	for (uint32_t i = 0; i < N_NODES; i++) {
		made.nodes[i].role = TB_ROLE_SENDER;
		made.nodes[i].sent_bps = (i ? i : 1000) * 1e6;
	}
	is(read_outcomes(tb_measure_find("hot.64.near"), &made, 1), (1 + 3) / 2.0);
	is(read_outcomes(tb_measure_find("hot.64.mid"), &made, 1), (4 + 15) / 2.0);
	is(read_outcomes(tb_measure_find("hot.64.far"), &made, 1), (16 + 63) / 2.0);
	is(read_outcomes(tb_measure_find("hot.16.read"), &made, 1), 1000);
}

// What links carried from its nodes does not count: some of it is of the I/O job.
#define LOADS(mix, light, middle, heavy)                                                 \
	{mix, 1, 0, 0, 200}, {mix " io_load=0.1", 2, 0, 0, light},                       \
		{mix " io_load=0.3", 3, 0, 0, middle},                                   \
	{                                                                                \
		mix " io_load=0.5", 4, 0, 0, heavy                                       \
	}

static void io_costs_a_compute_job_a_share_of_what_it_had_alone(void **state)
{
	(void)state;
	const struct figure figures[] = {
		LOADS("mix.1c.shared", 190, 130, 160),
		LOADS("mix.1i.shared", 190, 130, 160),
		LOADS("mix.distributed.shared", 190, 170, 160),
		LOADS("mix.1c.dedicated", 200, 200, 194),
		LOADS("mix.1i.dedicated", 200, 200, 182),
		LOADS("mix.distributed.dedicated", 200, 200, 188),
		{0},
	};
	is(value_of("mix.1c.shared.1", figures), 5);
	is(value_of("mix.1i.shared", figures), 35);
	is(value_of("mix.1i.shared.3", figures), 35);
	is(value_of("mix.distributed.shared", figures), 5);
	is(value_of("mix.1c.dedicated.5", figures), 3);
	is(value_of("mix.1i.dedicated.5", figures), 9);
	is(value_of("mix.distributed.dedicated.3", figures), 0);
}

static void add_links(struct made *made, enum tb_link_kind kind, uint32_t level,
	double least, double most)
{
	struct tb_link_outcome *at = &made->links[made->outcome.n_links];
	at[0] = (struct tb_link_outcome){kind, level, least, least};
	at[1] = (struct tb_link_outcome){kind, level, most, most};
	made->outcome.n_links += 2;
}

// add_path adds the stages of a complement's path, each of two links.
static void add_path(struct made *made, double first, double uneven)
{
	make(made, &(struct figure){0});
	add_links(made, TB_LINK_INJECTION, 0, first - uneven, first + uneven);
	add_links(made, TB_LINK_UP, 1, 6, 6);
	add_links(made, TB_LINK_UP, 2, 7, 9);
	add_links(made, TB_LINK_DOWN, 1, 11, 11);
	add_links(made, TB_LINK_DOWN, 0, 12, 20);
}

static void stages_of_a_path_are_shares_of_the_most_loaded_link(void **state)
{
	(void)state;
	struct made made[3];
	add_path(&made[0], 2, 1);
	add_path(&made[1], 2, 1);
	add_path(&made[2], 2, 1);
	is(read_outcomes(tb_measure_find("matrix.complement.l1.light"), made, 1), 10);
	is(read_outcomes(tb_measure_find("matrix.complement.l2.full"), made, 1), 30);
	is(read_outcomes(tb_measure_find("matrix.complement.grow"), made, 3), 10);
	is(read_outcomes(tb_measure_find("matrix.complement.even"), made, 3), 50);
}

static void of_several_loads_the_worst_counts(void **state)
{
	(void)state;
	struct made made[3];
	for (int worst = 0; worst < 3; worst++) {
		for (int i = 0; i < 3; i++)
			add_path(&made[i], i == worst ? 5 : 2, i == worst ? 4 : 1);
		is(read_outcomes(tb_measure_find("matrix.complement.grow"), made, 3), 5);
		is(read_outcomes(tb_measure_find("matrix.complement.even"), made, 3), 80);
	}
}

static void an_idle_network_has_no_most_loaded_link(void **state)
{
	(void)state;
	struct made made[3];
	for (int idle = 0; idle < 3; idle++) {
		for (int i = 0; i < 3; i++)
			add_path(&made[i], 2, 1);
		make(&made[idle], &(struct figure){0});
		add_links(&made[idle], TB_LINK_INJECTION, 0, 0, 0);
		assert_true(isnan(read_outcomes(
			tb_measure_find("matrix.complement.even"), made, 3)));
		assert_true(isnan(read_outcomes(
			tb_measure_find("matrix.complement.grow"), made, 3)));
	}
	make(&made[0], &(struct figure){0});
	add_links(&made[0], TB_LINK_INJECTION, 0, 0, 0);
	assert_true(isnan(
		read_outcomes(tb_measure_find("matrix.complement.l1.light"), made, 1)));
	assert_true(isnan(read_outcomes(tb_measure_find("matrix.bitrev.hot"), made, 1)));
}

static void the_first_level_is_entered_from_nodes_and_from_above(void **state)
{
	(void)state;
	struct made made;
	make(&made, &(struct figure){0});
	add_links(&made, TB_LINK_INJECTION, 0, 0, 0);
	add_links(&made, TB_LINK_DOWN, 0, 0, 0);
	add_links(&made, TB_LINK_UP, 1, 4, 4);
	add_links(&made, TB_LINK_EJECTION, 0, 50, 70);
	add_links(&made, TB_LINK_UP, 2, 50, 70);
	add_links(&made, TB_LINK_DOWN, 1, 50, 70);
	// Of 0, 0, 0, 0, 4, 4 the deviation is the mean times the root of two.
	is(read_outcomes(tb_measure_find("matrix.bitrev.hot"), &made, 1), 100 * sqrt(2));
}

static void times_become_latencies_and_rates(void **state)
{
	(void)state;
	const struct figure figures[] = {
		{"latency", 0, 0, 2e-6, 0},
		{"there-and-back rails=1", 0, 0, 4e-6, 0},
		{"there-and-back host=get rails=1", 0, 0, 5e-6, 0},
		{"one-way bus=911MB/s", 0, 0, 0, 900},
		{"one-way rails=2", 0, 0, 0, 1200},
		{"one-way host=tports rails=2", 0, 0, 0, 1000},
		{"one-way host=mpi rails=2", 0, 0, 0, 1500},
		{"one-way host=mpi rails=1", 0, 0, 0, 1000},
		{"pvfs.resize.tcp nodes=3", 0, 0, 0.002, 0},
		{0},
	};
	is(value_of("ping.uni.lat0", figures), 2);
	is(value_of("q2.put.lat", figures), 2);
	is(value_of("q2.get.slower", figures), 25);
	is(value_of("q2.rdma.write.bw", figures), 900);
	is(value_of("q2.tports.two", figures), 20);
	is(value_of("q2.mpi.doubled", figures), 1.5);
	is(value_of("pvfs.resize.tcp.3", figures), 2);
}

static void jobs_are_compared_with_the_slower_way(void **state)
{
	(void)state;
	const struct figure figures[] = {
		{"allgather.direct message=4K", 0, 0, 2, 0},
		{"elan.allgather.ring message=4K", 0, 0, 2, 0},
		{"allgather.direct message=16K", 0, 0, 2, 0},
		{"elan.allgather.ring message=16K", 0, 0, 4, 0},
		{"allgather.direct message=32K", 0, 0, 2, 0},
		{"elan.allgather.ring message=32K", 0, 0, 3, 0},
		{"allgather.direct message=256K", 0, 0, 2, 0},
		{"elan.allgather.ring message=256K", 0, 0, 1, 0},
		{"pvfs.read.elan4", 0, 0, 4, 0},
		{"pvfs.read.tcp", 0, 0, 5, 0},
		{"pvfs.resize.elan4 nodes=6", 0, 0, 1, 0},
		{"pvfs.resize.tcp nodes=6", 0, 0, 4, 0},
		{0},
	};
	is(value_of("coll.allgather.32k", figures), 1.5);
	is(value_of("coll.allgather.most", figures), 2);
	is(value_of("pvfs.read.gain", figures), 25);
	is(value_of("pvfs.resize", figures), 75);
}

static void a_lead_is_that_over_the_closest(void **state)
{
	(void)state;
	const struct figure figures[] = {
		{"allgather.direct message=4K", 0, 0, 2, 0},
		{"allgather.bruck message=4K", 0, 0, 4, 0},
		{"allgather.exchange message=4K", 0, 0, 5, 0},
		{"elan.allgather.ring message=4K", 0, 0, 3, 0},
		{"allgather.bruck message=4", 0, 0, 4, 0},
		{"allgather.direct message=4", 0, 0, 6, 0},
		{"allgather.exchange message=4", 0, 0, 5, 0},
		{"scatter.binomial message=256", 0, 0, 2, 0},
		{"scatter.sequential message=256", 0, 0, 1, 0},
		{0},
	};
	is(value_of("coll.allgather.long.4k", figures), 50);
	is(value_of("coll.allgather.short.4", figures), 25);
	is(value_of("coll.scatter.short.256", figures), -50);
}

static void measures_are_found_by_name(void **state)
{
	(void)state;
	assert_null(tb_measure_find("no.such.row"));
	assert_string_equal(tb_measure_find("hot.32")->id, "hot.32");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_sent_is_the_mean_of_the_measured_job),
		cmocka_unit_test(what_is_taken_is_the_mean_of_those_that_serve),
		cmocka_unit_test(an_order_is_that_of_the_closest_pair),
		cmocka_unit_test(reads_and_writes_both_load_an_io_node),
		cmocka_unit_test(
			groups_of_a_hot_spot_are_those_below_a_switch_of_each_level),
		cmocka_unit_test(io_costs_a_compute_job_a_share_of_what_it_had_alone),
		cmocka_unit_test(stages_of_a_path_are_shares_of_the_most_loaded_link),
		cmocka_unit_test(of_several_loads_the_worst_counts),
		cmocka_unit_test(an_idle_network_has_no_most_loaded_link),
		cmocka_unit_test(the_first_level_is_entered_from_nodes_and_from_above),
		cmocka_unit_test(times_become_latencies_and_rates),
		cmocka_unit_test(jobs_are_compared_with_the_slower_way),
		cmocka_unit_test(a_lead_is_that_over_the_closest),
		cmocka_unit_test(measures_are_found_by_name),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
