#include "tbt_clock.h"

#include "array.h"
#include "heap.h"
#include "map.h"

#include <stdbool.h>
#include <stdlib.h>

enum { HALVES = 2 };

// The quickest message of an ordered pair of clocks, by half, by the time of day of each.
struct clock_pair {
	uint32_t from, to;
	int64_t least_ns[HALVES];
	bool known[HALVES];
};

struct tb_tbt_clocks {
	struct tb_tbt_point *starts;
	uint32_t n;
	uint64_t begin_ns, end_ns;
	unsigned n_halves;
	struct tb_map by_pair;
	struct clock_pair *pairs;
	size_t n_pairs, pairs_room;
	int64_t *ahead_ns[HALVES]; // by clock: of clock 0, beyond the time of day
};

static int clock_no_memory(struct tb_error *error)
{
	return tb_fail_memory(error, "the clocks of a trace");
}

int tb_tbt_clocks_new(struct tb_tbt_clocks **clocks, const struct tb_tbt_point *starts,
	uint32_t n, uint64_t begin_ns, uint64_t end_ns, struct tb_error *error)
{
	struct tb_tbt_clocks *made = calloc(1, sizeof *made);
	if (!made)
		return clock_no_memory(error);
	made->n = n;
	made->begin_ns = begin_ns;
	made->end_ns = end_ns > begin_ns ? end_ns : begin_ns;
	made->n_halves = made->end_ns - begin_ns > TB_TBT_DRIFT_NS ? HALVES : 1;
	made->starts = malloc(n * sizeof *made->starts);
	for (int i = 0; i < HALVES; i++)
		made->ahead_ns[i] = calloc(n, sizeof *made->ahead_ns[i]);
	if (!made->starts || !made->ahead_ns[0] || !made->ahead_ns[1]) {
		tb_tbt_clocks_free(made);
		return clock_no_memory(error);
	}
	for (uint32_t i = 0; i < n; i++)
		made->starts[i] = starts[i];
	*clocks = made;
	return TB_OK;
}

void tb_tbt_clocks_free(struct tb_tbt_clocks *clocks)
{
	if (!clocks)
		return;
	free(clocks->starts);
	free(clocks->pairs);
	tb_map_fini(&clocks->by_pair);
	for (int i = 0; i < HALVES; i++)
		free(clocks->ahead_ns[i]);
	free(clocks);
}

// Sums wrap around: absurd times give absurd offsets, not undefined behaviour.
static int64_t day_ns(const struct tb_tbt_clocks *clocks, uint32_t clock, uint64_t at_ns)
{
	return (int64_t)(at_ns + (uint64_t)clocks->starts[clock].add_ns);
}

int tb_tbt_clocks_message(struct tb_tbt_clocks *clocks, uint32_t from, uint64_t sent_ns,
	uint32_t to, uint64_t received_ns, struct tb_error *error)
{
	uint32_t at = 0;
	uint64_t key = (uint64_t)from << 32 | to;
	int64_t sent = day_ns(clocks, from, sent_ns);
	int64_t took =
		(int64_t)((uint64_t)day_ns(clocks, to, received_ns) - (uint64_t)sent);
	uint64_t middle = clocks->begin_ns + (clocks->end_ns - clocks->begin_ns) / 2;
	unsigned half = clocks->n_halves > 1 && sent >= (int64_t)middle ? 1 : 0;
	if (from == to)
		return TB_OK;
	if (!tb_map_find(&clocks->by_pair, key, &at)) {
		at = (uint32_t)clocks->n_pairs;
		if (TB_ARRAY_RESERVE(&clocks->pairs, &clocks->pairs_room,
			    clocks->n_pairs + 1) != TB_OK ||
			tb_map_put(&clocks->by_pair, key, at) != TB_OK)
			return clock_no_memory(error);
		clocks->pairs[clocks->n_pairs++] =
			(struct clock_pair){.from = from, .to = to};
	}
	struct clock_pair *pair = &clocks->pairs[at];
	if (!pair->known[half] || took < pair->least_ns[half])
		pair->least_ns[half] = took;
	pair->known[half] = true;
	return TB_OK;
}

// What a pair says of its second clock: how far it is ahead of the first.
struct guess {
	double ahead_ns, uncertain_ns;
};

static bool guess(
	const struct tb_tbt_clocks *clocks, size_t i, unsigned half, struct guess *guess)
{
	uint32_t at;
	const struct clock_pair *there = &clocks->pairs[i], *back = NULL;
	uint64_t key = (uint64_t)there->to << 32 | there->from;
	if (tb_map_find(&clocks->by_pair, key, &at) && clocks->pairs[at].known[half])
		back = &clocks->pairs[at];
	if (!there->known[half])
		return false;
	double m = (double)there->least_ns[half];
	double n = back ? (double)back->least_ns[half] : 0;
	// One way only: the messages arrive at once, at the least.
	guess->ahead_ns = back ? (m - n) / 2 : m;
	guess->uncertain_ns = back ? (m + n) / 2 : 1e18;
	return true;
}

// A pair that may join the clock `to` to the tree, of which `from` is.
struct clock_edge {
	struct guess guess;
	uint32_t from, to;
	uint32_t pair; // of equally uncertain ones the first
};

static bool surer(const struct clock_edge *a, const struct clock_edge *b)
{
	if (a->guess.uncertain_ns != b->guess.uncertain_ns)
		return a->guess.uncertain_ns < b->guess.uncertain_ns;
	return a->pair < b->pair;
}

TB_HEAP(surest, struct clock_edge, surer)

// The tree of a half as it grows.
struct clock_tree {
	struct tb_tbt_clocks *clocks;
	unsigned half;
	bool *joined;
	size_t *first;	 // by clock: where its pairs begin in `pairs`
	uint32_t *pairs; // numbers, each at both its clocks
	struct clock_edge *edges;
	size_t n_edges;
};

// clock_tree_init lists the pairs by their clocks.
static bool clock_tree_init(struct clock_tree *tree)
{
	const struct tb_tbt_clocks *clocks = tree->clocks;
	size_t n = clocks->n_pairs;
	tree->first = calloc((size_t)clocks->n + 2, sizeof *tree->first);
	tree->pairs = malloc((2 * n + 1) * sizeof *tree->pairs);
	tree->edges = malloc((2 * n + 1) * sizeof *tree->edges);
	if (!tree->first || !tree->pairs || !tree->edges)
		return false;
	// first[c + 1] counts up to where the pairs of clock c end.
	for (size_t i = 0; i < n; i++) {
		tree->first[clocks->pairs[i].from + 2]++;
		tree->first[clocks->pairs[i].to + 2]++;
	}
	for (uint32_t c = 0; c < clocks->n; c++)
		tree->first[c + 2] += tree->first[c + 1];
	for (size_t i = 0; i < n; i++) {
		tree->pairs[tree->first[clocks->pairs[i].from + 1]++] = (uint32_t)i;
		tree->pairs[tree->first[clocks->pairs[i].to + 1]++] = (uint32_t)i;
	}
	return true;
}

// clock_tree_join adds a clock to the tree, and what may join others to it.
static void clock_tree_join(struct clock_tree *tree, uint32_t clock)
{
	tree->joined[clock] = true;
	for (size_t i = tree->first[clock]; i < tree->first[clock + 1]; i++) {
		uint32_t number = tree->pairs[i];
		const struct clock_pair *pair = &tree->clocks->pairs[number];
		bool outward = pair->from == clock;
		struct clock_edge edge = {.from = clock,
			.to = outward ? pair->to : pair->from,
			.pair = number};
		if (tree->joined[edge.to] ||
			!guess(tree->clocks, number, tree->half, &edge.guess))
			continue;
		// A pair towards the tree says the same with the other sign.
		if (!outward)
			edge.guess.ahead_ns = -edge.guess.ahead_ns;
		surest_put(tree->edges, tree->n_edges++, edge);
	}
}

// clock_tree_grow joins clocks to clock 0, each by the least uncertain pair, and returns
// how many nothing joins.
static uint32_t clock_tree_grow(struct clock_tree *tree)
{
	struct tb_tbt_clocks *clocks = tree->clocks;
	int64_t *ahead_ns = clocks->ahead_ns[tree->half];
	uint32_t n_left = clocks->n - 1;
	clock_tree_join(tree, 0);
	while (tree->n_edges > 0) {
		struct clock_edge edge = surest_take(tree->edges, tree->n_edges--);
		if (tree->joined[edge.to])
			continue;
		ahead_ns[edge.to] = ahead_ns[edge.from] + (int64_t)edge.guess.ahead_ns;
		clock_tree_join(tree, edge.to);
		n_left--;
	}
	return n_left;
}

uint32_t tb_tbt_clocks_solve(struct tb_tbt_clocks *clocks)
{
	uint32_t n_unlinked = clocks->n - 1;
	bool *joined = calloc(2 * (size_t)clocks->n, sizeof *joined);
	for (unsigned half = 0; joined && half < clocks->n_halves; half++) {
		struct clock_tree tree = {.clocks = clocks,
			.half = half,
			.joined = joined + half * clocks->n};
		uint32_t n_left =
			clock_tree_init(&tree) ? clock_tree_grow(&tree) : clocks->n - 1;
		n_unlinked = n_left < n_unlinked ? n_left : n_unlinked;
		free(tree.first);
		free(tree.pairs);
		free(tree.edges);
	}
	// What only one half knows holds for both.
	for (uint32_t i = 0; joined && clocks->n_halves > 1 && i < clocks->n; i++)
		for (unsigned half = 0; half < HALVES; half++)
			if (!joined[half * clocks->n + i])
				clocks->ahead_ns[half][i] = clocks->ahead_ns[!half][i];
	free(joined);
	return n_unlinked;
}

uint32_t tb_tbt_clocks_points(const struct tb_tbt_clocks *clocks, uint32_t clock,
	struct tb_tbt_point points[TB_TBT_POINTS_MAX])
{
	uint64_t day = (uint64_t)clocks->starts[clock].add_ns;
	uint64_t quarter = (clocks->end_ns - clocks->begin_ns) / 4;
	for (unsigned half = 0; half < clocks->n_halves; half++) {
		uint64_t ahead = (uint64_t)clocks->ahead_ns[half][clock];
		points[half].add_ns = (int64_t)(day - ahead);
		points[half].at_ns = clocks->begin_ns + (2 * half + 1) * quarter - day;
	}
	return clocks->n_halves;
}

uint64_t tb_tbt_common_ns(const struct tb_tbt_point *points, uint32_t n, uint64_t at_ns)
{
	if (n == 0)
		return at_ns;
	uint64_t first = (uint64_t)points[0].add_ns, more = 0;
	if (n > 1 && points[1].at_ns != points[0].at_ns) {
		double width = (double)(int64_t)(points[1].at_ns - points[0].at_ns);
		double rise = (double)(int64_t)((uint64_t)points[1].add_ns - first);
		double run = (double)(int64_t)(at_ns - points[0].at_ns);
		double sum = run / width * rise;
		// What a broken file says may be beyond any clock.
		if (sum > -9e18 && sum < 9e18)
			more = (uint64_t)(int64_t)sum;
	}
	return at_ns + first + more;
}
