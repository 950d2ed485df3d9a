#include "cuts.h"

#include "ethernet_params.h"

#include <stdlib.h>

void tb_cuts_fini(struct tb_cuts *cuts)
{
	for (uint32_t i = 0; i < TB_CUT_LEVELS_MOST; i++) {
		free(cuts->levels[i].part);
		free(cuts->levels[i].cuts);
		free(cuts->levels[i].first_switch);
	}
	free(cuts->bytes);
	*cuts = (struct tb_cuts){0};
}

tb_time_ps tb_bytes_ps(double bytes, double bytes_per_s)
{
	double ps = bytes_per_s > 0 ? bytes / bytes_per_s * (double)TB_PS_PER_S : 0;
	// A double has 53 bits: what it rounds up must not raise a bound.
	ps -= ps * 1e-15;
	return ps < 9e18 ? (tb_time_ps)ps : TB_TIME_NEVER - 1;
}

tb_time_ps tb_links_ps(
	const struct tb_run *run, double bytes, double bytes_per_s, uint32_t n_links)
{
	bytes -= (double)n_links *
		 tb_ethernet_params(&tb_run_info(run)->network)->burst_bytes;
	return bytes > 0 ? tb_bytes_ps(bytes, bytes_per_s) : 0;
}

static uint32_t vertex_from(const struct tb_run *run, const struct tb_link_info *link)
{
	return link->kind == TB_LINK_INJECTION ? link->from
					       : tb_run_info(run)->n_nodes + link->from;
}

static uint32_t vertex_to(const struct tb_run *run, const struct tb_link_info *link)
{
	return link->kind == TB_LINK_EJECTION ? link->to
					      : tb_run_info(run)->n_nodes + link->to;
}

static uint32_t root_of_vertex(uint32_t *parent, uint32_t vertex)
{
	while (parent[vertex] != vertex) {
		parent[vertex] = parent[parent[vertex]];
		vertex = parent[vertex];
	}
	return vertex;
}

// is_below_level returns whether a vertex is in a part of this level of cuts.
static bool is_below_level(const struct tb_run *run, uint32_t vertex, uint32_t level)
{
	uint32_t n_nodes = tb_run_info(run)->n_nodes;
	return vertex < n_nodes ||
	       tb_run_switches(run)[vertex - n_nodes].at.level < level;
}

// number_parts replaces roots, which are the lowest vertices of their parts, by numbers.
static void number_parts(
	struct tb_cut_level *at, const struct tb_run *run, uint32_t level)
{
	const struct tb_run_info *info = tb_run_info(run);
	uint32_t n = info->n_nodes + info->n_switches;
	for (uint32_t v = 0; v < n; v++)
		at->part[v] = root_of_vertex(at->part, v);
	for (uint32_t v = 0; v < n; v++) {
		bool is_root = at->part[v] == v;
		at->part[v] = !is_below_level(run, v, level) ? TB_ID_NONE
			      : is_root			     ? at->n_parts
							     : at->part[at->part[v]];
		if (at->part[v] == TB_ID_NONE)
			continue;
		if (is_root)
			at->first_switch[at->n_parts++] = TB_ID_NONE;
		if (v >= info->n_nodes && at->first_switch[at->part[v]] == TB_ID_NONE)
			at->first_switch[at->part[v]] = v - info->n_nodes;
	}
}

double tb_cuts_rate(const struct tb_cuts *cuts, uint32_t link)
{
	uint64_t rate = cuts->rates ? cuts->rates[link] : 0;
	return (double)(rate ? rate : tb_run_links(cuts->run)[link].at.bytes_per_s);
}

static void add_cut_link(struct tb_cut *cut, const struct tb_cuts *cuts, uint32_t link)
{
	double rate = tb_cuts_rate(cuts, link);
	if (tb_run_links(cuts->run)[link].dead_at_ps == 0)
		return;
	cut->bytes_per_s += rate;
	cut->n_links++;
	if (rate > cut->fastest_bytes_per_s)
		cut->fastest_bytes_per_s = rate;
}

static void measure_cut_level(struct tb_cut_level *at, const struct tb_cuts *cuts)
{
	const struct tb_run *run = cuts->run;
	const struct tb_run_link *links = tb_run_links(run);
	for (uint32_t i = 0; i < tb_run_info(run)->n_links; i++) {
		uint32_t from = at->part[vertex_from(run, &links[i].at)];
		uint32_t to = at->part[vertex_to(run, &links[i].at)];
		if (from == to)
			continue;
		if (from != TB_ID_NONE)
			add_cut_link(&at->cuts[2 * (size_t)from], cuts, i);
		if (to != TB_ID_NONE)
			add_cut_link(&at->cuts[2 * (size_t)to + 1], cuts, i);
	}
}

int tb_cuts_init(struct tb_cuts *cuts, const struct tb_run *run, const uint64_t *rates,
	struct tb_error *error)
{
	const struct tb_run_info *info = tb_run_info(run);
	uint32_t n = info->n_nodes + info->n_switches;
	uint32_t n_levels =
		info->n_levels < TB_CUT_LEVELS_MOST ? info->n_levels : TB_CUT_LEVELS_MOST;
	if (n < info->n_nodes || n > INT32_MAX)
		return tb_fail(
			error, TB_ECAPACITY, "the network is too large for bounds");
	*cuts = (struct tb_cuts){.run = run, .rates = rates, .n_levels = n_levels};
	cuts->bytes = malloc(2 * (n + UINT64_C(1)) * sizeof *cuts->bytes);
	bool fine = cuts->bytes != NULL;
	for (uint32_t i = 0; fine && i < n_levels; i++) {
		struct tb_cut_level *at = &cuts->levels[i];
		fine = false;
		at->part = malloc((n + UINT64_C(1)) * sizeof *at->part);
		at->first_switch = malloc((n + UINT64_C(1)) * sizeof *at->first_switch);
		at->cuts = calloc(2 * (n + UINT64_C(1)), sizeof *at->cuts);
		if (at->part && at->first_switch && at->cuts) {
			for (uint32_t v = 0; v < n; v++)
				at->part[v] = v;
			// Make one part of all that links below the level join.
			uint32_t *parent = at->part;
			const struct tb_run_link *links = tb_run_links(run);
			for (uint32_t j = 0; j < tb_run_info(run)->n_links; j++) {
				uint32_t from = vertex_from(run, &links[j].at);
				uint32_t to = vertex_to(run, &links[j].at);
				if (!is_below_level(run, from, i) ||
					!is_below_level(run, to, i))
					continue;
				from = root_of_vertex(parent, from);
				to = root_of_vertex(parent, to);
				parent[from > to ? from : to] = from > to ? to : from;
			}
			number_parts(at, run, i);
			measure_cut_level(at, cuts);
			fine = true;
		}
	}
	if (fine)
		return TB_OK;
	tb_cuts_fini(cuts);
	return tb_fail_memory(error, "the cuts of the network");
}

struct tb_cut_load tb_cuts_worst(
	struct tb_cuts *cuts, uint32_t level, const struct tb_link_sample *samples)
{
	const struct tb_cut_level *at = &cuts->levels[level];
	struct tb_cut_load worst = {.level = level};
	// Add up what crossed the cuts of a level.
	const struct tb_run_link *links = tb_run_links(cuts->run);
	for (uint32_t i = 0; i < 2 * at->n_parts; i++)
		cuts->bytes[i] = 0;
	for (uint32_t i = 0; i < tb_run_info(cuts->run)->n_links; i++) {
		double bytes = (double)samples[i].bytes;
		if (bytes <= 0)
			continue;
		uint32_t from = at->part[vertex_from(cuts->run, &links[i].at)];
		uint32_t to = at->part[vertex_to(cuts->run, &links[i].at)];
		if (from != to && from != TB_ID_NONE)
			cuts->bytes[2 * from] += bytes;
		if (from != to && to != TB_ID_NONE)
			cuts->bytes[2 * to + 1] += bytes;
	}
	for (uint32_t i = 0; i < 2 * at->n_parts; i++) {
		tb_time_ps ps = tb_links_ps(cuts->run, cuts->bytes[i],
			at->cuts[i].bytes_per_s, at->cuts[i].n_links);
		if (ps > worst.ps)
			worst = (struct tb_cut_load){ps, level, i / 2, i % 2 == 1};
	}
	return worst;
}
