#include "split_impl.h"

#include <math.h>
#include <stdlib.h>

// crowd returns for how many bytes pairs that share a link stand at least, when n pairs,
// most bytes first, cross m links: sums[i] are the bytes of those before i.
static double crowd(const double *sums, size_t n, size_t m)
{
	double most = 0;
	for (size_t k = 0; k * m < n; k++)
		most = fmax(most, sums[k * m + 1] - sums[k * m - k]);
	return most;
}

struct crossings {     // of the cuts of a level, one way
	size_t *first; // by part, and one
	double *sums;  // room for one a pair and one a part
};

// gather_crossings lists what leaves each part, or enters it: sums[first[part] + part +
// i] are the bytes of the first i.
static void gather_crossings(struct crossings *of, const struct tb_cut_level *at,
	const struct tb_leaf_traffic *traffic, bool into)
{
	for (uint32_t i = 0; i <= at->n_parts; i++)
		of->first[i] = 0;
	for (size_t i = 0; i < traffic->n_pairs; i++) {
		const struct tb_node_pair *pair = &traffic->pairs[i];
		uint32_t from = at->part[pair->source], to = at->part[pair->destination];
		if (from != to)
			of->first[(into ? to : from) + 1]++;
	}
	for (uint32_t i = 0; i < at->n_parts; i++)
		of->first[i + 1] += of->first[i];
	for (uint32_t i = 0; i < at->n_parts; i++)
		of->sums[of->first[i] + i] = 0;
	for (size_t i = 0; i < traffic->n_pairs; i++) {
		const struct tb_node_pair *pair = &traffic->pairs[i];
		uint32_t from = at->part[pair->source], to = at->part[pair->destination];
		uint32_t part = into ? to : from;
		if (from == to)
			continue;
		size_t last = of->first[part]++ + part; // first[part] ends as the next's
		of->sums[last + 1] = of->sums[last] + pair->bytes;
	}
	for (uint32_t i = at->n_parts; i > 0; i--)
		of->first[i] = of->first[i - 1];
	of->first[0] = 0;
}

// of_level returns the time that the cuts of a level take for whole pairs, in seconds.
static double of_level(struct crossings *of, const struct tb_cut_level *at,
	const struct tb_leaf_traffic *traffic)
{
	double most_s = 0;
	for (uint32_t way = 0; way < 2; way++) {
		gather_crossings(of, at, traffic, way == 1);
		for (uint32_t i = 0; i < at->n_parts; i++) {
			const struct tb_cut *cut = &at->cuts[2 * (size_t)i + way];
			size_t n = of->first[i + 1] - of->first[i];
			if (n == 0 || cut->n_links == 0)
				continue;
			double bytes =
				crowd(&of->sums[of->first[i] + i], n, cut->n_links);
			most_s = fmax(most_s, bytes / cut->fastest_bytes_per_s);
		}
	}
	return most_s;
}

// whole returns what a whole number of pairs takes on one of links that are all alike,
// when pairs that may be split take split_s; 0 where they are not. A link with less than
// n pairs of the largest size would have routes that split beat split_s.
static double whole(const struct tb_switch_graph *graph,
	const struct tb_leaf_traffic *traffic, double split_s)
{
	double rate = graph->n_edges ? graph->bytes_per_s[0] : 0;
	for (uint32_t e = 0; e < graph->n_edges; e++)
		if (graph->bytes_per_s[e] < rate || graph->bytes_per_s[e] > rate)
			return 0;
	if (rate <= 0 || traffic->n_pairs == 0)
		return 0;
	double most = traffic->pairs[0].bytes;
	double least = traffic->pairs[traffic->n_pairs - 1].bytes;
	return ceil(split_s * rate / most * (1 - 1e-9)) * least / rate;
}

int tb_static_least(double *least_s, const struct tb_switch_graph *graph,
	const struct tb_leaf_traffic *traffic, const struct tb_cuts *cuts, double split_s,
	struct tb_error *error)
{
	uint32_t n_parts = 0;
	struct crossings of = {0};
	*least_s = fmax(split_s, whole(graph, traffic, split_s));
	for (uint32_t i = 1; i < cuts->n_levels; i++)
		n_parts = n_parts > cuts->levels[i].n_parts ? n_parts
							    : cuts->levels[i].n_parts;
	of.first = calloc(n_parts + UINT64_C(2), sizeof *of.first);
	of.sums = calloc(traffic->n_pairs + n_parts + UINT64_C(1), sizeof *of.sums);
	int status = of.first && of.sums ? TB_OK : tb_fail_memory(error, "static routes");
	for (uint32_t i = 1; !status && i < cuts->n_levels; i++)
		*least_s = fmax(*least_s, of_level(&of, &cuts->levels[i], traffic));
	free(of.first);
	free(of.sums);
	return status;
}
