#include "network_parts.h"

#include <stdlib.h>
#include <string.h>

enum { FEWEST = 8, MOST = 16 }; // of parts by the network itself
enum { UNKNOWN = UINT8_MAX };

struct cutting {
	struct tb_parts *parts;
	const struct tb_network *net;
	uint32_t *n_nodes;     // by switch
	uint64_t *n_links;     // by part: into its switches
	uint32_t *n_from;      // by part, scratch of one switch
	uint32_t *by_level;    // switches, lowest level first
	uint32_t n_with_nodes; // switches
};

static void count_nodes(struct cutting *cutting)
{
	const struct tb_network *net = cutting->net;
	for (uint32_t node = 0; node < net->n_nodes; node++) {
		uint32_t sw = net->links[net->injection[node]].to;
		cutting->n_with_nodes += cutting->n_nodes[sw]++ == 0;
	}
}

// order_by_level sorts by counting: levels are few.
static void order_by_level(struct cutting *cutting)
{
	const struct tb_network *net = cutting->net;
	uint32_t n = 0;
	for (uint32_t level = 0; n < net->n_switches; level++)
		for (uint32_t sw = 0; sw < net->n_switches; sw++)
			if (net->switches[sw].level == level)
				cutting->by_level[n++] = sw;
}

static void put_in(struct cutting *cutting, uint32_t sw, uint32_t part)
{
	const struct tb_switch_info *info = &cutting->net->switches[sw];
	cutting->parts->of_switch[sw] = (uint8_t)part;
	cutting->n_links[part] += info->n_down_ports + info->n_up_ports;
}

// cut_stretches places the switches that join nodes: a stretch begins with the first
// switch whose middle lies beyond what the stretches before are to have.
static void cut_stretches(struct cutting *cutting)
{
	const struct tb_network *net = cutting->net;
	uint64_t before = 0, n = cutting->parts->n;
	for (uint32_t node = 0; node < net->n_nodes; node++) {
		uint32_t sw = net->links[net->injection[node]].to;
		if (cutting->parts->of_switch[sw] != UNKNOWN)
			continue;
		uint64_t middle = before + cutting->n_nodes[sw] / 2;
		put_in(cutting, sw, (uint32_t)(middle * n / net->n_nodes));
		before += cutting->n_nodes[sw];
	}
}

// place_above places a switch without nodes by those of its neighbours that have a place.
static void place_above(struct cutting *cutting, uint32_t sw)
{
	const struct tb_network *net = cutting->net;
	const struct tb_parts *parts = cutting->parts;
	memset(cutting->n_from, 0, parts->n * sizeof *cutting->n_from);
	for (uint32_t i = net->first_out[sw]; i < net->first_out[sw + 1]; i++) {
		uint32_t link = net->out_links[i];
		if (link == TB_ID_NONE || net->links[link].kind == TB_LINK_EJECTION)
			continue;
		uint32_t part = parts->of_switch[net->links[link].to];
		if (part != UNKNOWN)
			cutting->n_from[part]++;
	}
	uint32_t best = 0;
	for (uint32_t part = 1; part < parts->n; part++) {
		uint32_t more = cutting->n_from[part], most = cutting->n_from[best];
		if (more > most ||
			(more == most && cutting->n_links[part] < cutting->n_links[best]))
			best = part;
	}
	put_in(cutting, sw, best);
}

// part_cut makes `n` parts.
static void part_cut(struct cutting *cutting, uint32_t n)
{
	struct tb_parts *parts = cutting->parts;
	const struct tb_network *net = cutting->net;
	parts->n = parts->own_end = n;
	memset(parts->of_switch, UNKNOWN, net->n_switches);
	memset(cutting->n_links, 0, TB_PARTS_MOST * sizeof *cutting->n_links);
	cut_stretches(cutting);
	for (uint32_t i = 0; i < net->n_switches; i++)
		if (parts->of_switch[cutting->by_level[i]] == UNKNOWN)
			place_above(cutting, cutting->by_level[i]);
	for (uint32_t node = 0; node < net->n_nodes; node++)
		parts->of_node[node] =
			parts->of_switch[net->links[net->injection[node]].to];
	parts->n_crossing = 0;
	parts->latency_ps = TB_TIME_NEVER;
	for (uint32_t link = 0; link < net->n_links; link++) {
		parts->crossing_of[link] = TB_ID_NONE;
		if (tb_parts_to(parts, net, link) == tb_parts_from(parts, net, link))
			continue;
		parts->crossing_of[link] = parts->n_crossing++;
		if (net->links[link].latency_ps < parts->latency_ps)
			parts->latency_ps = net->links[link].latency_ps;
	}
	parts->most_links = 0;
	for (uint32_t part = 0; part < n; part++)
		if (cutting->n_links[part] > parts->most_links)
			parts->most_links = cutting->n_links[part];
}

// part_cost_of is what a cut costs, in parts of 1000 of a network that is cut for
// nothing: by how much the largest part exceeds the mean, and what crosses.
static uint64_t part_cost_of(const struct cutting *cutting)
{
	const struct tb_parts *parts = cutting->parts;
	uint64_t n_links = cutting->net->n_links;
	return 1000 * (parts->most_links * parts->n + parts->n_crossing) / n_links;
}

static uint32_t part_number_of(struct cutting *cutting, uint32_t wanted)
{
	uint32_t most = cutting->n_with_nodes;
	if (most > TB_PARTS_MOST)
		most = TB_PARTS_MOST;
	if (wanted)
		return wanted < most ? wanted : most;
	if (cutting->net->n_nodes < TB_PARTS_NODES || most < 2 * MOST)
		return 1;
	// The largest number of parts that costs at most a tenth more than the
	// cheapest: more parts keep more threads busy evenly.
	uint64_t costs[MOST + 1], least = UINT64_MAX;
	uint32_t best = MOST;
	for (uint32_t n = FEWEST; n <= MOST; n++) {
		part_cut(cutting, n);
		costs[n] = part_cost_of(cutting);
		if (costs[n] < least)
			least = costs[n];
	}
	while (10 * costs[best] > 11 * least)
		best--;
	return best;
}

static int allocate(struct cutting *cutting)
{
	const struct tb_network *net = cutting->net;
	struct tb_parts *parts = cutting->parts;
	parts->of_switch = malloc(net->n_switches + 1u);
	parts->of_node = malloc(net->n_nodes + 1u);
	parts->crossing_of = malloc((net->n_links + 1u) * sizeof *parts->crossing_of);
	cutting->n_nodes = calloc(net->n_switches + 1u, sizeof *cutting->n_nodes);
	cutting->n_links = calloc(TB_PARTS_MOST, sizeof *cutting->n_links);
	cutting->n_from = calloc(TB_PARTS_MOST, sizeof *cutting->n_from);
	cutting->by_level = malloc((net->n_switches + 1u) * sizeof *cutting->by_level);
	return parts->of_switch && parts->of_node && parts->crossing_of &&
			       cutting->n_nodes && cutting->n_links && cutting->n_from &&
			       cutting->by_level
		       ? TB_OK
		       : TB_ENOMEM;
}

int tb_parts_new(struct tb_parts **parts, const struct tb_network *net, uint32_t n)
{
	struct cutting cutting = {.net = net, .parts = calloc(1, sizeof *cutting.parts)};
	if (!cutting.parts)
		return TB_ENOMEM;
	int status = allocate(&cutting);
	if (status == TB_OK) {
		count_nodes(&cutting);
		order_by_level(&cutting);
		part_cut(&cutting, part_number_of(&cutting, n));
		*parts = cutting.parts;
	} else {
		tb_parts_free(cutting.parts);
	}
	free(cutting.n_nodes);
	free(cutting.n_links);
	free(cutting.n_from);
	free(cutting.by_level);
	return status;
}

// lower_end is the switch of a cable's lower end, of either of its links.
static uint32_t lower_end(const struct tb_network *net, const struct tb_link_info *link)
{
	uint32_t a = link->from, b = link->to;
	if (link->kind == TB_LINK_INJECTION)
		return b;
	if (link->kind == TB_LINK_EJECTION)
		return a;
	uint32_t level_a = net->switches[a].level, level_b = net->switches[b].level;
	if (level_a != level_b)
		return level_a < level_b ? a : b;
	return a < b ? a : b;
}

// leads_to_others returns whether other parts have links out of the switch to which a
// link leads.
static bool leads_to_others(
	const struct tb_parts *parts, const struct tb_network *net, uint32_t link)
{
	uint32_t sw = net->links[link].to;
	if (net->links[link].kind == TB_LINK_EJECTION)
		return false;
	for (uint32_t i = net->first_out[sw]; i < net->first_out[sw + 1]; i++)
		if (net->out_links[i] != TB_ID_NONE &&
			parts->of_link[net->out_links[i]] != parts->of_link[link])
			return true;
	return false;
}

int tb_parts_own_cables(struct tb_parts *parts, const struct tb_network *net)
{
	parts->of_link = malloc(net->n_links + 1u);
	if (!parts->of_link)
		return TB_ENOMEM;
	for (uint32_t link = 0; link < net->n_links; link++)
		parts->of_link[link] =
			parts->of_switch[lower_end(net, &net->links[link])];
	parts->n_crossing = 0;
	for (uint32_t link = 0; link < net->n_links; link++)
		parts->crossing_of[link] = leads_to_others(parts, net, link)
						   ? parts->n_crossing++
						   : TB_ID_NONE;
	return TB_OK;
}

bool tb_parts_split_group(const struct tb_parts *parts, const struct tb_network *net)
{
	for (uint32_t g = 0; g < net->n_groups; g++) {
		const uint32_t *links = &net->group_links[net->groups[g].first];
		for (uint32_t i = 1; i < net->groups[g].n; i++)
			if (parts->of_link[links[i]] != parts->of_link[links[0]])
				return true;
	}
	return false;
}

void tb_parts_free(struct tb_parts *parts)
{
	if (!parts)
		return;
	free(parts->of_switch);
	free(parts->of_node);
	free(parts->of_link);
	free(parts->crossing_of);
	free(parts);
}
