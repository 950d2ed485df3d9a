// Routes for random traffic on random fabrics: no link between switches is busy for
// longer than with the routes that there were, every pair of nodes has a path, and the
// figures of the gain are those of the loads.
#include "../support/leaves_and_spines.h"
#include "network_impl.h"
#include "network_open.h"
#include "random.h"
#include "route_loads.h"
#include "route_traffic.h"

#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

enum { ROUNDS = 300, FLOWS_MOST = 400 };

struct flow {
	uint32_t from, to;
	uint64_t bytes;
};

struct flows {
	struct flow of[FLOWS_MOST];
	uint32_t n;
};

// Each leaf keeps its cables to the first spine, so that all reach each other.
static struct tb_network *draw_fabric(struct tb_random *random)
{
	struct leaves_and_spines shape = {.preset = tb_random_below(random, 3)
							    ? "ib-hdr"
							    : "ib-hdr,ascent=adaptive",
		.leaves = 2 + (uint32_t)tb_random_below(random, 7),
		.hosts = 1 + (uint32_t)tb_random_below(random, 8),
		.spines = 1 + (uint32_t)tb_random_below(random, 6),
		.cables = 1 + (uint32_t)tb_random_below(random, 2),
		.spine_hosts = (uint32_t)tb_random_below(random, 2),
		.holes = tb_random_next(random) & tb_random_next(random),
		.slow_hosts = tb_random_next(random) & tb_random_next(random),
		.slow = tb_random_next(random) & tb_random_next(random)};
	for (uint32_t leaf = 0; leaf < shape.leaves; leaf++) {
		uint32_t first = leaf * shape.spines * shape.cables;
		if (first < 64)
			shape.holes &= ~(UINT64_C(1) << first);
	}
	return leaves_new(shape);
}

static struct tb_network *draw_tree(struct tb_random *random)
{
	static const char *const names[] = {"ib-hdr,arity=3,levels=3",
		"ib-hdr,arity=2,levels=4", "ib-hdr,shape=xgft(3; 4,3,4; 1,2,3)",
		"ib-hdr,shape=pgft(2; 4,6; 1,2; 1,2),ascent=random"};
	struct tb_network *net = NULL;
	const char *name = names[tb_random_below(random, 4)];
	assert_int_equal(tb_network_open(&net,
				 &(struct tb_network_description){.name = name}, NULL),
		TB_OK);
	return net;
}

// draw_flows: some nodes get more than others, and few flows are as large as many.
static void draw_flows(struct flows *flows, uint32_t n_nodes, struct tb_random *random)
{
	uint32_t n_to = 1 + (uint32_t)tb_random_below(random, n_nodes);
	flows->n = (uint32_t)tb_random_below(random, FLOWS_MOST);
	for (uint32_t i = 0; i < flows->n; i++)
		flows->of[i] =
			(struct flow){.from = (uint32_t)tb_random_below(random, n_nodes),
				.to = (uint32_t)tb_random_below(random, n_to),
				.bytes = tb_random_next(random) >>
					 (24 + tb_random_below(random, 30))};
}

// busiest is for how long a link between switches carries the flows at most, in seconds.
static double busiest(const struct tb_network *net, const struct flows *flows)
{
	struct tb_route_loads loads;
	double most = 0;
	assert_int_equal(tb_route_loads_init(&loads, net, NULL), TB_OK);
	for (uint32_t i = 0; i < flows->n; i++)
		tb_route_loads_add(&loads, (struct tb_node){flows->of[i].from},
			(struct tb_node){flows->of[i].to}, (double)flows->of[i].bytes);
	assert_int_equal(loads.n_unrouted, 0);
	for (uint32_t i = 0; i < net->n_links; i++) {
		double time = loads.of[i] / (double)net->links[i].bytes_per_s;
		if (net->links[i].kind != TB_LINK_INJECTION &&
			net->links[i].kind != TB_LINK_EJECTION && time > most)
			most = time;
	}
	tb_route_loads_fini(&loads);
	return most;
}

static void check_all_pairs(const struct tb_network *net)
{
	struct tb_route_loads loads;
	assert_int_equal(tb_route_loads_init(&loads, net, NULL), TB_OK);
	assert_int_equal(tb_route_loads_add_all(&loads, NULL, NULL), TB_OK);
	assert_int_equal(loads.n_unrouted, 0);
	tb_route_loads_fini(&loads);
}

static bool are_equal(double one, double other)
{
	return fabs(one - other) <= 1e-9 * (one + other);
}

// try_traffic returns by which factor the busiest time falls.
static double try_traffic(
	struct tb_network *net, const struct flows *flows, uint64_t seed)
{
	struct tb_route_traffic traffic;
	struct tb_route_gain gain = {0};
	struct tb_error error = {0};
	bool is_fixed = net->params.ascent == TB_ASCENT_DETERMINISTIC;
	double before = is_fixed ? busiest(net, flows) : 0;
	assert_int_equal(tb_route_traffic_init(&traffic, net, NULL), TB_OK);
	for (uint32_t i = 0; i < flows->n; i++)
		tb_route_traffic_add(&traffic, (struct tb_node){flows->of[i].from},
			(struct tb_node){flows->of[i].to}, flows->of[i].bytes);
	if (tb_route_traffic_apply(net, &traffic, "test", &gain, &error) != TB_OK)
		fail_msg("seed %" PRIu64 ": %s", seed, error.text);
	tb_route_traffic_fini(&traffic);
	double after = busiest(net, flows);
	if ((is_fixed && !are_equal(before, gain.before)) ||
		!are_equal(after, gain.after) || after > gain.before * (1 + 1e-9))
		fail_msg("seed %" PRIu64 ": %g s before (%g), %g after (%g)", seed,
			gain.before, before, gain.after, after);
	check_all_pairs(net);
	return after > 0 ? gain.before / after : 1;
}

static void no_link_is_busier_than_before(void **state)
{
	(void)state;
	double gain = 0;
	for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
		struct tb_random random;
		static struct flows flows;
		tb_random_init(&random, seed, 0);
		struct tb_network *net = tb_random_below(&random, 4)
						 ? draw_fabric(&random)
						 : draw_tree(&random);
		draw_flows(&flows, net->n_nodes, &random);
		gain += try_traffic(net, &flows, seed) / ROUNDS;
		tb_network_free(net);
	}
	print_message(
		"the busiest link is %.2f times as busy before, on average\n", gain);
	assert_true(gain > 1.1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_link_is_busier_than_before),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
