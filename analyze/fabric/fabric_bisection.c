// The bisection of a fabric: its subtrees in two halves, and what lies between them.
#include "fabric_impl.h"

#include <stdlib.h>

#define NO_HALF 2 // of a subtree without hosts

struct subtree {
	uint32_t root; // of its set of switches
	uint32_t n_hosts;
	uint64_t up_bytes_per_s, injected_bytes_per_s;
	uint32_t leaf; // the first of its leaf switches
	uint32_t half;
};

struct bisection {
	const struct tb_network *net;
	const struct tb_fabric_hosts *hosts;
	const uint64_t *node_bytes_per_s;
	uint32_t level, first_rail; // of those that are looked at
	uint32_t *parent;	    // sets: below the level, and from it up
	uint32_t *of_host;	    // a switch of its nodes
	uint32_t *position; // by switch: in `subtrees`, of the roots of those below
	struct subtree *subtrees;
	uint32_t n;
};

static uint32_t bisection_level(const struct bisection *cut, uint32_t sw)
{
	return tb_network_switch(cut->net, (struct tb_switch){sw}).level;
}

static struct tb_link_info bisection_link(const struct bisection *cut, uint32_t link)
{
	return tb_network_link(cut->net, (struct tb_link){link});
}

// list_subtrees lists the sets below the level, in the network's order, and returns how
// many of them have hosts.
static uint32_t list_subtrees(struct bisection *cut)
{
	uint32_t n_switches = tb_network_n_switches(cut->net), n_with = 0;
	cut->n = 0;
	for (uint32_t sw = 0; sw < n_switches; sw++)
		if (tb_fabric_root(cut->parent, sw) == sw &&
			bisection_level(cut, sw) < cut->level) {
			cut->position[sw] = cut->n;
			cut->subtrees[cut->n++] =
				(struct subtree){.root = sw, .leaf = TB_ID_NONE};
		}
	for (uint32_t link = 0; link < tb_network_n_links(cut->net); link++) {
		struct tb_link_info at = bisection_link(cut, link);
		bool enters = at.kind == TB_LINK_INJECTION;
		uint32_t below = enters ? at.to : at.from;
		if ((!enters && at.kind != TB_LINK_UP) ||
			bisection_level(cut, below) >= cut->level)
			continue;
		struct subtree *subtree =
			&cut->subtrees[cut->position[tb_fabric_root(cut->parent, below)]];
		uint32_t n_hosts = tb_network_n_hosts(cut->net);
		if (enters && !tb_fabric_hosts_has(cut->hosts, at.from % n_hosts))
			continue;
		if (enters && !tb_fabric_hosts_uses(cut->hosts, at.from / n_hosts))
			continue;
		if (enters) {
			bool is_host = at.from / n_hosts == cut->first_rail;
			n_with += is_host && subtree->n_hosts == 0;
			subtree->n_hosts += is_host;
			subtree->injected_bytes_per_s += cut->node_bytes_per_s[at.from];
			if (below < subtree->leaf)
				subtree->leaf = below;
		} else if (bisection_level(cut, at.to) >= cut->level) {
			subtree->up_bytes_per_s += at.bytes_per_s;
		}
	}
	return n_with;
}

// Those without hosts last, else the one with the least capacity up per host first.
static int order_subtrees(const void *left, const void *right)
{
	const struct subtree *a = left, *b = right;
	if ((a->n_hosts == 0) != (b->n_hosts == 0))
		return a->n_hosts == 0 ? 1 : -1;
	double mine = (double)a->up_bytes_per_s * b->n_hosts;
	double theirs = (double)b->up_bytes_per_s * a->n_hosts;
	if (mine < theirs || mine > theirs)
		return mine < theirs ? -1 : 1;
	return a->root < b->root ? -1 : a->root > b->root;
}

// halve deals the subtrees out.
static void halve(struct bisection *cut, struct tb_fabric_bisection *bisection)
{
	uint64_t injected[2] = {0, 0};
	uint32_t n_hosts = 0;
	qsort(cut->subtrees, cut->n, sizeof *cut->subtrees, order_subtrees);
	for (uint32_t i = 0; i < cut->n; i++) {
		cut->position[cut->subtrees[i].root] = i;
		n_hosts += cut->subtrees[i].n_hosts;
	}
	for (uint32_t i = 0; i < cut->n; i++) {
		struct subtree *at = &cut->subtrees[i];
		bool fits = bisection->hosts_first + at->n_hosts <= n_hosts / 2;
		// The first may be greater than all others together.
		at->half = at->n_hosts == 0 ? NO_HALF : fits || i == 0 ? 0 : 1;
		if (at->half == NO_HALF)
			continue;
		bisection->n_subtrees++;
		injected[at->half] += at->injected_bytes_per_s;
		if (at->half == 1) {
			bisection->hosts_second += at->n_hosts;
			continue;
		}
		bisection->hosts_first += at->n_hosts;
		bisection->of_first[bisection->n_first++] = (struct tb_switch){at->leaf};
	}
	bisection->full_bytes_per_s =
		injected[0] < injected[1] ? injected[0] : injected[1];
}

// measure_bisection sums the lesser of what both halves have to each set from the level
// up. A set below it is of one half, so links within count nothing. `capacity` has two
// zeroed places for each switch.
static void measure_bisection(
	struct bisection *cut, uint64_t *capacity, struct tb_fabric_bisection *bisection)
{
	for (uint32_t link = 0; link < tb_network_n_links(cut->net); link++) {
		struct tb_link_info at = bisection_link(cut, link);
		if (at.kind != TB_LINK_UP || bisection_level(cut, at.from) >= cut->level)
			continue;
		uint32_t subtree = tb_fabric_root(cut->parent, at.from);
		uint32_t half = cut->subtrees[cut->position[subtree]].half;
		uint32_t above = tb_fabric_root(cut->parent, at.to);
		if (half != NO_HALF)
			capacity[2 * (size_t)above + half] += at.bytes_per_s;
	}
	for (uint32_t sw = 0; sw < tb_network_n_switches(cut->net); sw++) {
		uint64_t one = capacity[2 * (size_t)sw],
			 other = capacity[2 * (size_t)sw + 1];
		bisection->bytes_per_s += one < other ? one : other;
	}
}

int tb_fabric_bisect(struct tb_fabric *fabric)
{
	struct tb_fabric_bisection *bisection = &fabric->bisection;
	uint32_t n = tb_network_n_switches(fabric->network);
	struct bisection cut = {.net = fabric->network,
		.hosts = &fabric->hosts,
		.node_bytes_per_s = fabric->node_bytes_per_s,
		.parent = malloc(n * sizeof *cut.parent),
		.position = calloc(n, sizeof *cut.position),
		.subtrees = malloc(n * sizeof *cut.subtrees)};
	cut.of_host = malloc(tb_network_n_hosts(cut.net) * sizeof *cut.of_host);
	while (!tb_fabric_hosts_uses(cut.hosts, cut.first_rail))
		cut.first_rail++;
	uint64_t *capacity = calloc(2 * (size_t)n, sizeof *capacity);
	bisection->of_first = malloc(n * sizeof *bisection->of_first);
	bool ready = cut.parent && cut.of_host && cut.position && cut.subtrees &&
		     capacity && bisection->of_first;
	for (uint32_t level = fabric->n_levels - 1; ready && level > 0; level--) {
		// Make a set of what hangs together below the level, and of what does
		// from it up.
		for (uint32_t host = 0; host < tb_network_n_hosts(cut.net); host++)
			cut.of_host[host] = TB_ID_NONE;
		cut.level = level;
		for (uint32_t sw = 0; sw < tb_network_n_switches(cut.net); sw++)
			cut.parent[sw] = sw;
		for (uint32_t link = 0; link < tb_network_n_links(cut.net); link++) {
			struct tb_link_info at = bisection_link(&cut, link);
			if (at.kind == TB_LINK_UP &&
				(bisection_level(&cut, at.to) < level ||
					bisection_level(&cut, at.from) >= level))
				tb_fabric_join(cut.parent, at.from, at.to);
		}
		// Join the switches of a host's nodes: a host is in one half with all of
		// them.
		uint32_t n_hosts = tb_network_n_hosts(cut.net);
		for (uint32_t link = 0; link < tb_network_n_links(cut.net); link++) {
			struct tb_link_info at = bisection_link(&cut, link);
			if (at.kind != TB_LINK_INJECTION ||
				bisection_level(&cut, at.to) >= cut.level)
				continue;
			uint32_t *first = &cut.of_host[at.from % n_hosts];
			if (!tb_fabric_hosts_uses(cut.hosts, at.from / n_hosts))
				continue;
			if (*first == TB_ID_NONE)
				*first = at.to;
			else
				tb_fabric_join(cut.parent, *first, at.to);
		}
		if (list_subtrees(&cut) < 2)
			continue;
		bisection->level = level;
		halve(&cut, bisection);
		measure_bisection(&cut, capacity, bisection);
		break;
	}
	free(cut.parent);
	free(cut.of_host);
	free(cut.position);
	free(cut.subtrees);
	free(capacity);
	return ready ? TB_OK : TB_ENOMEM;
}
