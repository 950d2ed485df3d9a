// The best static routes, of random traffic on small trees, some with dead cables: what
// brute force finds lies between the two times, and is mostly both; of permutations on
// full trees each link carries one flow.
#include "bounds.h"
#include "flows.h"
#include "random.h"
#include "recording.h"

#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#define STORE "analyze_static_routes.db"
#define JOB   "analyze_static_routes.goal"

enum { RUNS = 80, PAIRS_MOST = 9, EDGES_MOST = 8, PATHS_MOST = 64, LINKS_MOST = 256 };

static uint32_t below(struct tb_random *random, uint32_t bound)
{
	return (uint32_t)tb_random_below(random, bound);
}

static void replay(
	const char *network, const char *const *faults, size_t n_faults, uint64_t seed)
{
	struct tb_recording *recording = NULL;
	struct tb_error error = {0};
	static const char *const traces[] = {JOB};
	const struct tb_recording_options options = {
		.workload = {.traces = traces, .n_traces = 1, .seed = seed},
		.network = network,
		.output = STORE,
		.seed = seed,
		.faults = faults,
		.n_faults = n_faults,
		.no_bounds = true};
	unlink(STORE);
	if (tb_recording_new(&recording, &options, &error) != TB_OK)
		fail_msg("%s", error.text);
	while (tb_recording_advance(recording, &error) > 0)
		;
	assert_int_equal(tb_recording_finish(recording, &error), TB_OK);
	tb_recording_free(recording);
}

// A way that a pair can take, and all pairs of a run with theirs.
struct way {
	uint32_t n, links[EDGES_MOST];
};

struct pair {
	double bytes;
	uint32_t n_ways;
	struct way ways[PATHS_MOST];
};

struct choices {
	const struct tb_run *run;
	struct pair pairs[PAIRS_MOST];
	uint32_t n;
	double load[LINKS_MOST]; // bytes, by link
	double best_s;
};

// walk lists all ways up and then down from a switch to another.
static void walk(const struct choices *all, struct pair *pair, struct way way,
	uint32_t sw, uint32_t home, bool descends)
{
	const struct tb_run_link *links = tb_run_links(all->run);
	if (sw == home) {
		assert_true(pair->n_ways < PATHS_MOST);
		pair->ways[pair->n_ways++] = way;
		return;
	}
	for (uint32_t i = 0; i < tb_run_info(all->run)->n_links; i++) {
		const struct tb_link_info *at = &links[i].at;
		bool down = at->kind == TB_LINK_DOWN;
		if ((at->kind != TB_LINK_UP && !down) || at->from != sw ||
			links[i].dead_at_ps == 0 || (descends && !down))
			continue;
		struct way longer = way;
		assert_true(way.n < EDGES_MOST);
		longer.links[longer.n++] = i;
		walk(all, pair, longer, at->to, home, down);
	}
}

static uint32_t leaf_of(const struct tb_run *run, struct tb_node node)
{
	const struct tb_run_link *links = tb_run_links(run);
	uint32_t i = 0;
	while (links[i].at.kind != TB_LINK_INJECTION || links[i].at.from != node.id)
		i++;
	return links[i].at.to;
}

static void list_pairs(struct choices *all, struct tb_run *run)
{
	struct tb_flow *flows = NULL;
	struct tb_error error = {0};
	uint32_t n = 0;
	*all = (struct choices){.run = run, .best_s = INFINITY};
	assert_true(tb_run_info(run)->n_links <= LINKS_MOST);
	assert_int_equal(tb_flows_slowest(run, 0, &flows, &n, &error), TB_OK);
	for (uint32_t i = 0; i < n; i++) {
		const struct tb_flow_sample *flow = &flows[i].sample;
		uint32_t from = leaf_of(run, flow->source);
		uint32_t to = leaf_of(run, flow->destination);
		if (from == to)
			continue;
		assert_true(all->n < PAIRS_MOST);
		struct pair *pair = &all->pairs[all->n++];
		pair->bytes = (double)flow->bytes +
			      (double)flow->n_packets *
				      tb_run_info(run)->network.packet_overhead_bytes;
		walk(all, pair, (struct way){0}, from, to, false);
	}
	free(flows);
}

// try_ways finds the least time over all choices for the pairs from `first` on.
static void try_ways(struct choices *all, uint32_t first, double so_far_s)
{
	const struct tb_run_link *links = tb_run_links(all->run);
	if (so_far_s >= all->best_s)
		return;
	if (first == all->n) {
		all->best_s = so_far_s;
		return;
	}
	const struct pair *pair = &all->pairs[first];
	for (uint32_t i = 0; i < pair->n_ways; i++) {
		const struct way *way = &pair->ways[i];
		double most_s = so_far_s;
		for (uint32_t k = 0; k < way->n; k++) {
			double *load = &all->load[way->links[k]];
			*load += pair->bytes;
			most_s = fmax(most_s,
				*load / (double)links[way->links[k]].at.bytes_per_s);
		}
		try_ways(all, first + 1, most_s);
		for (uint32_t k = 0; k < way->n; k++)
			all->load[way->links[k]] -= pair->bytes;
	}
}

static void find_bounds(struct tb_run **run, struct tb_bounds *bounds, const char *what)
{
	struct tb_error error = {0};
	if (tb_run_open(run, STORE, 0, &error) != TB_OK ||
		tb_bounds_init(bounds, *run, &error) != TB_OK ||
		tb_bounds_routes(bounds, *run, &error) != TB_OK)
		fail_msg("%s: %s", what, error.text);
}

// write_job has node from[i] send to node to[i].
static void write_job(uint32_t n_nodes, const uint32_t *from, const uint32_t *to,
	const uint32_t *bytes, uint32_t n)
{
	FILE *file = fopen(JOB, "w");
	assert_non_null(file);
	fprintf(file, "num_ranks %u\n", n_nodes);
	for (uint32_t rank = 0; rank < n_nodes; rank++) {
		fprintf(file, "rank %u {\n", rank);
		for (uint32_t i = 0; i < n; i++) {
			if (from[i] == rank && to[i] != rank)
				fprintf(file, "send %ub to %u tag %u\n", bytes[i], to[i],
					i);
			if (to[i] == rank && from[i] != rank)
				fprintf(file, "recv %ub from %u tag %u\n", bytes[i],
					from[i], i);
		}
		fprintf(file, "}\n");
	}
	assert_int_equal(fclose(file), 0);
}

// draw_job has few nodes send, as much each or not.
static void draw_job(struct tb_random *random, uint32_t n_nodes)
{
	uint32_t n = 2 + below(random, PAIRS_MOST - 1), equal = below(random, 2);
	uint32_t from[PAIRS_MOST], to[PAIRS_MOST], bytes[PAIRS_MOST];
	for (uint32_t i = 0; i < n; i++) {
		from[i] = below(random, n_nodes);
		to[i] = below(random, n_nodes);
		bytes[i] = equal ? 4096 : 1024 * (1 + below(random, 16));
	}
	write_job(n_nodes, from, to, bytes, n);
}

struct seen {
	uint32_t n, n_exact, n_least, n_found;
	double widest; // gap, percent
};

static void try_one(struct seen *seen, uint64_t seed)
{
	static const char *const networks[] = {"ib-ndr,arity=2,levels=3",
		"ib-ndr,shape=xgft(2; 6,3; 1,2)", "ib-ndr,shape=xgft(2; 6,3; 1,3)",
		"ib-ndr,shape=pgft(2; 6,3; 1,1; 1,2)"};
	static const uint32_t n_nodes[] = {8, 18, 18, 18};
	static struct choices all;
	const char *faults[] = {"link=0.0:up1", "link=0.1:up1"};
	char what[80];
	struct tb_random random;
	struct tb_run *run = NULL;
	struct tb_bounds bounds = {0};
	tb_random_init(&random, seed, 23);
	uint32_t which = below(&random, 4), n_faults = below(&random, 3);
	draw_job(&random, n_nodes[which]);
	snprintf(what, sizeof what, "seed %" PRIu64 ", %s, %u faults", seed,
		networks[which], n_faults);
	replay(networks[which], faults, n_faults, seed);
	find_bounds(&run, &bounds, what);
	list_pairs(&all, run);
	if (all.n > 0) {
		try_ways(&all, 0, 0);
		double best = all.best_s * 1e12, cut = (double)bounds.whole.cut_ps;
		best = fmax(best, cut); // which also has the links of nodes
		double least = (double)bounds.fixed.least_ps;
		double found = (double)bounds.fixed.found_ps;
		if (!bounds.fixed.known || least > best + 2 || found < best - 2)
			fail_msg("%s: best %f, not within %f and %f", what, best, least,
				found);
		seen->n++;
		seen->n_least += least > best - 2;
		seen->n_found += found < best + 2;
		seen->n_exact += least > best - 2 && found < best + 2;
		seen->widest = fmax(seen->widest, tb_static_gap_percent(&bounds.fixed));
	}
	tb_bounds_fini(&bounds);
	tb_run_free(run);
}

static void brute_force_lies_between(void **state)
{
	struct seen seen = {0};
	(void)state;
	for (uint64_t seed = 1; seed <= RUNS; seed++)
		try_one(&seen, seed);
	print_message("%u runs: least is best in %u, found in %u, both in %u; widest "
		      "gap %.1f %%\n",
		seen.n, seen.n_least, seen.n_found, seen.n_exact, seen.widest);
	assert_true(4 * seen.n > 3 * RUNS);
	assert_true(100 * seen.n_found >= 98 * seen.n);
	assert_true(100 * seen.n_least >= 98 * seen.n);
}

// permute has each node send as much to another, by a random permutation.
static void permute(struct tb_random *random)
{
	uint32_t from[64], to[64], bytes[64];
	for (uint32_t i = 0; i < 64; i++) {
		uint32_t at = below(random, i + 1);
		from[i] = i;
		bytes[i] = 4096;
		to[i] = to[at];
		to[at] = i;
	}
	write_job(64, from, to, bytes, 64);
}

static void full_trees_carry_any_permutation_by_one_flow_a_link(void **state)
{
	static const char *const networks[] = {"ib-ndr,arity=8,levels=2",
		"ib-ndr,arity=4,levels=3", "ib-ndr,arity=2,levels=6"};
	(void)state;
	for (uint64_t seed = 1; seed <= 6; seed++) {
		struct tb_random random;
		struct tb_run *run = NULL;
		struct tb_bounds bounds = {0};
		const char *network = networks[seed % 3];
		tb_random_init(&random, seed, 24);
		permute(&random);
		replay(network, NULL, 0, seed);
		find_bounds(&run, &bounds, network);
		assert_true(bounds.fixed.known);
		// A flow on a link takes what it takes on the link of its node.
		assert_int_equal(bounds.fixed.least_ps, bounds.fixed.found_ps);
		assert_true(bounds.fixed.found_ps <= bounds.whole.host_ps + 1);
		tb_bounds_fini(&bounds);
		tb_run_free(run);
	}
}

static int forget(void **state)
{
	(void)state;
	unlink(STORE);
	unlink(JOB);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(brute_force_lies_between, forget),
		cmocka_unit_test_teardown(
			full_trees_carry_any_permutation_by_one_flow_a_link, forget),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
