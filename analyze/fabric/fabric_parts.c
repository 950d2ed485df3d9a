// The parts of a level: switches that lead up to the same switches, as those of a pod or
// of a plane do. A cable that was put into the wrong pod makes two pods hang together; so
// switches are alike when they share more than half of those above them. Where that
// leaves more than a few cables between parts, as in fabrics that are wired in turn, a
// part is all that hangs together.
#include "fabric_impl.h"

#include <stdlib.h>
#include <string.h>

#define UNKNOWN	       UINT32_MAX
#define CABLES_PER_ODD 16 // between parts, of all those up from the level

struct part_search {
	const struct tb_network *net;
	const struct tb_fabric_ports *ports;
	uint32_t level;
	uint32_t *part;	   // by switch: the first of its part, UNKNOWN: not yet known
	uint32_t *n_above; // by switch: those it is cabled to
	uint32_t *count;   // by switch; zero between uses
	uint32_t *seen;	   // by switch: the last walk that came by
	uint32_t walk;
};

static struct tb_link_info link_at(const struct part_search *search, uint32_t port)
{
	uint32_t link = search->ports->links[port];
	return link == TB_ID_NONE ? (struct tb_link_info){.kind = TB_LINK_EJECTION}
				  : tb_network_link(search->net, (struct tb_link){link});
}

// next_beside returns the next switch that cables of a kind lead to from `sw`, each once
// in a walk; *port begins as its first. UNKNOWN: that was all.
static uint32_t next_beside(struct part_search *search, uint32_t walk, uint32_t sw,
	enum tb_link_kind kind, uint32_t *port)
{
	while (*port < search->ports->first[sw + 1]) {
		struct tb_link_info at = link_at(search, (*port)++);
		if (at.kind != kind || search->seen[at.to] == walk)
			continue;
		search->seen[at.to] = walk;
		return at.to;
	}
	return UNKNOWN;
}

static bool in_level(const struct part_search *search, uint32_t sw)
{
	return tb_network_switch(search->net, (struct tb_switch){sw}).level ==
	       search->level;
}

// walk_by goes by all switches that lead up to a switch above `sw`, once for each: first
// it counts them, then those alike become a part.
static void walk_by(struct part_search *search, uint32_t sw, bool joins)
{
	uint32_t up = search->ports->first[sw], upper, own_walk = ++search->walk;
	while ((upper = next_beside(search, own_walk, sw, TB_LINK_UP, &up)) != UNKNOWN) {
		uint32_t down = search->ports->first[upper], other;
		uint32_t walk = ++search->walk;
		while ((other = next_beside(search, walk, upper, TB_LINK_DOWN, &down)) !=
			UNKNOWN) {
			if (!joins) {
				search->count[other]++;
				continue;
			}
			uint32_t n = search->n_above[sw] < search->n_above[other]
					     ? search->n_above[sw]
					     : search->n_above[other];
			if (2 * search->count[other] > n &&
				search->part[other] == UNKNOWN && in_level(search, other))
				search->part[other] = sw;
			search->count[other] = 0;
		}
	}
}

// has_few_between tells whether few cables up lead to switches that most others of
// another part lead to.
static bool has_few_between(struct part_search *search)
{
	uint64_t n_cables = 0, n_between = 0;
	for (uint32_t sw = 0; sw < tb_network_n_switches(search->net); sw++) {
		uint32_t n = 0, most = 0;
		for (int counts = 1; counts >= 0; counts--)
			for (uint32_t port = search->ports->first[sw];
				port < search->ports->first[sw + 1]; port++) {
				struct tb_link_info at = link_at(search, port);
				if (at.kind != TB_LINK_DOWN || !in_level(search, at.to))
					continue;
				uint32_t *of_part = &search->count[search->part[at.to]];
				*of_part = counts ? *of_part + 1 : 0;
				n += (uint32_t)counts;
				if (*of_part > most)
					most = *of_part;
			}
		n_cables += n;
		n_between += n - most;
	}
	return n_between * CABLES_PER_ODD <= n_cables;
}

static void find_parts(struct part_search *search)
{
	uint32_t n = tb_network_n_switches(search->net);
	for (uint32_t sw = 0; sw < n; sw++) {
		uint32_t port = search->ports->first[sw], walk = ++search->walk;
		while (next_beside(search, walk, sw, TB_LINK_UP, &port) != UNKNOWN)
			search->n_above[sw]++;
	}
	memset(search->part, 0xff, n * sizeof *search->part);
	for (uint32_t sw = 0; sw < n; sw++) {
		if (!in_level(search, sw) || search->part[sw] != UNKNOWN)
			continue;
		walk_by(search, sw, false);
		walk_by(search, sw, true);
		search->part[sw] = sw;
	}
	if (has_few_between(search))
		return;
	for (uint32_t sw = 0; sw < n; sw++)
		search->part[sw] = sw;
	for (uint32_t port = 0; port < search->ports->first[n]; port++) {
		struct tb_link_info at = link_at(search, port);
		if (at.kind == TB_LINK_UP && in_level(search, at.from))
			tb_fabric_join(search->part, at.from, at.to);
	}
	for (uint32_t sw = 0; sw < n; sw++)
		search->part[sw] = tb_fabric_root(search->part, sw);
}

int tb_fabric_find_parts(const struct tb_network *net,
	const struct tb_fabric_ports *ports, uint32_t level, uint32_t *parts)
{
	size_t n = tb_network_n_switches(net);
	struct part_search search = {.net = net,
		.ports = ports,
		.level = level,
		.part = parts,
		.n_above = calloc(3 * n, sizeof *search.n_above)};
	if (!search.n_above)
		return TB_ENOMEM;
	search.count = search.n_above + n;
	search.seen = search.count + n;
	find_parts(&search);
	free(search.n_above);
	return TB_OK;
}
