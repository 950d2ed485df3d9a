// Routes: which links lead on ("The network" of docs/model.md, rules 16, 22, 23 and 28),
// and which of them a header takes (rule 18).
#include "balance.h"
#include "oracle_impl.h"

#include <assert.h>
#include <stdlib.h>

#define FAR	   UINT32_MAX
#define BEFORE_ALL INT64_MIN // nothing has died

// How many links lie between each switch and a home, over links that were alive at an
// instant: downwards only, and upwards first where the home is not below.
struct distances {
	tb_time_ps at;
	uint32_t home;
	uint32_t *down, *any; // by switch; FAR: no path
	struct distances *next;
};

// relax shortens distances over the links of a kind until none gets shorter. Switches
// that have a distance in `fixed`, since the home is below them, keep it.
static void relax(const struct oracle *oracle, const struct distances *distances,
	enum tb_link_kind kind, uint32_t *far, const uint32_t *fixed)
{
	bool changed = true;
	while (changed) {
		changed = false;
		for (uint32_t i = 0; i < oracle->net->n_links; i++) {
			const struct tb_link_info *link = &oracle->net->links[i];
			if (link->kind != kind || is_dead(oracle, i, distances->at) ||
				far[link->to] == FAR ||
				(fixed && fixed[link->from] != FAR) ||
				far[link->to] + 1 >= far[link->from])
				continue;
			far[link->from] = far[link->to] + 1;
			changed = true;
		}
	}
}

static struct distances *measure(struct oracle *oracle, uint32_t home, tb_time_ps at)
{
	uint32_t n = oracle->net->n_switches;
	struct distances *made = oracle_zeroed(1, sizeof *made);
	*made = (struct distances){.at = at,
		.home = home,
		.down = oracle_zeroed(n, sizeof *made->down),
		.any = oracle_zeroed(n, sizeof *made->any),
		.next = oracle->distances};
	for (uint32_t sw = 0; sw < n; sw++)
		made->down[sw] = sw == home ? 0 : FAR;
	relax(oracle, made, TB_LINK_DOWN, made->down, NULL);
	for (uint32_t sw = 0; sw < n; sw++)
		made->any[sw] = made->down[sw];
	relax(oracle, made, TB_LINK_UP, made->any, made->down);
	oracle->distances = made;
	return made;
}

// Balanced routes over what was alive at an instant, by switch and node.
struct balanced {
	tb_time_ps at;
	uint32_t *routes;
	struct balanced *next;
};

static const struct distances *distances_to(
	struct oracle *oracle, uint32_t home, tb_time_ps at)
{
	struct distances *known = oracle->distances;
	while (known && (known->home != home || known->at != at))
		known = known->next;
	return known ? known : measure(oracle, home, at);
}

void oracle_free_distances(struct oracle *oracle)
{
	while (oracle->distances) {
		struct distances *next = oracle->distances->next;
		free(oracle->distances->down);
		free(oracle->distances->any);
		free(oracle->distances);
		oracle->distances = next;
	}
	while (oracle->balanced) {
		struct balanced *next = oracle->balanced->next;
		free(oracle->balanced->routes);
		free(oracle->balanced);
		oracle->balanced = next;
	}
}

static uint32_t home_of(const struct tb_network *net, uint32_t node)
{
	return net->links[net->ejection[node]].from;
}

// group_to is the links of a switch that lead on to a node by the tables of an instant,
// in the order of ports. A switch that has the destination below it sends down, by a
// shortest way down; any other sends up, by a shortest way up and then down.
static struct group group_to(
	struct oracle *oracle, uint32_t sw, uint32_t node, tb_time_ps tables)
{
	const struct tb_network *net = oracle->net;
	struct group group = {.n = 0};
	if (sw == home_of(net, node)) {
		group.links[group.n++] = net->ejection[node];
		return group;
	}
	const struct distances *to = distances_to(oracle, home_of(net, node), tables);
	bool below = to->down[sw] != FAR;
	const uint32_t *far = below ? to->down : to->any;
	for (uint32_t at = net->first_out[sw]; at < net->first_out[sw + 1]; at++) {
		uint32_t id = net->out_links[at];
		if (id == TB_ID_NONE || is_dead(oracle, id, tables))
			continue;
		const struct tb_link_info *link = &net->links[id];
		if (link->kind != (below ? TB_LINK_DOWN : TB_LINK_UP) ||
			far[link->to] == FAR || far[link->to] + 1 != far[sw])
			continue;
		assert(group.n < GROUP_MOST);
		group.links[group.n++] = id;
	}
	return group;
}

// mix is splitmix64's finalizer (rule 18).
static uint64_t mix(uint64_t word)
{
	word = (word ^ word >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	word = (word ^ word >> 27) * UINT64_C(0x94d049bb133111eb);
	return word ^ word >> 31;
}

uint64_t oracle_draw(const struct oracle *oracle, uint64_t what, uint32_t sw)
{
	return mix(oracle->options->seed ^ mix(what) ^ (uint64_t)sw << 32);
}

static uint64_t draw(
	const struct oracle *oracle, const struct packet *packet, uint32_t sw)
{
	return oracle_draw(oracle, packet->order, sw);
}

// digit_or_node is the number by which `deterministic` and `source` choose at a switch:
// digit l of the node's number in a k-ary n-tree, the number divided by the switches
// above what is below in one with a shape, else the number itself.
static uint32_t digit_or_node(const struct oracle *oracle, uint32_t sw, uint32_t node)
{
	const struct tb_network *net = oracle->net;
	if (oracle->shaped)
		return node / oracle->widths[net->switches[sw].level];
	if (!net->regular)
		return node;
	for (uint32_t level = 0; level < net->switches[sw].level; level++)
		node /= net->params.arity;
	return node % net->params.arity;
}

static bool is_adaptive(const struct oracle *oracle)
{
	enum tb_ascent ascent = oracle->net->params.ascent;
	return ascent == TB_ASCENT_ADAPTIVE || ascent == TB_ASCENT_ADAPTIVE_LOWEST ||
	       ascent == TB_ASCENT_ADAPTIVE_ROUND_ROBIN;
}

// fixed_of is the number of the link of a group that a header takes whatever the load.
static uint64_t fixed_of(
	const struct oracle *oracle, const struct packet *packet, uint32_t sw)
{
	switch ((int)oracle->net->params.ascent) {
	case TB_ASCENT_DETERMINISTIC:
		return digit_or_node(oracle, sw, packet->destination);
	case TB_ASCENT_SOURCE:
		return digit_or_node(oracle, sw, packet->what.source.id);
	case TB_ASCENT_ECMP:
		return oracle_draw(oracle,
			(uint64_t)packet->what.source.id << 32 | packet->destination, sw);
	default:
		return draw(oracle, packet, sw);
	}
}

static uint32_t table_link(const struct oracle *oracle, uint32_t sw, uint32_t node)
{
	return oracle->net->routes[(size_t)sw * oracle->net->n_nodes + node];
}

// balanced_at is the table of balanced routes over what is alive at an instant.
static const uint32_t *balanced_at(struct oracle *oracle, tb_time_ps at)
{
	struct tb_distances ways;
	for (struct balanced *known = oracle->balanced; known; known = known->next)
		if (known->at == at)
			return known->routes;
	struct balanced *made = oracle_zeroed(1, sizeof *made);
	*made = (struct balanced){.at = at,
		.routes = oracle_zeroed((size_t)oracle->net->n_switches,
			oracle->net->n_nodes * sizeof *made->routes),
		.next = oracle->balanced};
	int status = tb_distances_init(&ways, oracle->net, oracle->dead_at, at);
	assert(status == TB_OK);
	status = tb_balance_all(&ways, made->routes, NULL, NULL);
	assert(status == TB_OK);
	tb_distances_fini(&ways);
	oracle->balanced = made;
	return made->routes;
}

// number_in is the number of the link of a group that a header takes whatever the load:
// with `deterministic` that of a table, of the network's own while nothing has failed.
static uint64_t number_in(struct oracle *oracle, const struct packet *packet, uint32_t sw,
	const struct group *group)
{
	const struct tb_network *net = oracle->net;
	tb_time_ps last = BEFORE_ALL;
	for (uint32_t i = 0; oracle->dead_at && i < net->n_links; i++)
		if (oracle->dead_at[i] <= packet->tables && oracle->dead_at[i] > last)
			last = oracle->dead_at[i];
	bool by_digits = net->regular || oracle->shaped;
	if (net->params.ascent != TB_ASCENT_DETERMINISTIC ||
		(last == BEFORE_ALL && by_digits) ||
		group->links[0] == net->ejection[packet->destination])
		return fixed_of(oracle, packet, sw) % group->n;
	const uint32_t *routes = net->routes;
	if (last != BEFORE_ALL)
		routes = balanced_at(oracle, last);
	uint32_t i = 0, at = sw * net->n_nodes + packet->destination;
	while (i < group->n && group->links[i] != routes[at])
		i++;
	assert(i < group->n);
	return i;
}

struct group oracle_group_on(
	struct oracle *oracle, struct packet *packet, uint32_t sw, tb_time_ps at)
{
	struct group group = {.n = 1}, alive = {.n = 0};
	if (oracle->net->params.ascent == TB_ASCENT_TABLE) {
		group.links[0] = table_link(oracle, sw, packet->destination);
	} else {
		group = group_to(oracle, sw, packet->destination, packet->tables);
		if (group.n && !is_adaptive(oracle)) {
			uint64_t i = number_in(oracle, packet, sw, &group);
			group.links[0] = group.links[i];
			group.n = 1;
		}
	}
	for (uint32_t i = 0; i < group.n; i++)
		if (!is_dead(oracle, group.links[i], at))
			alive.links[alive.n++] = group.links[i];
	if (alive.n == 0)
		packet->dead = group.n ? group.links[0] : TB_ID_NONE;
	return alive;
}

static bool is_quicker(const struct tb_link_info *a, const struct tb_link_info *b)
{
	if (a->bytes_per_s != b->bytes_per_s)
		return a->bytes_per_s > b->bytes_per_s;
	return a->latency_ps < b->latency_ps;
}

uint32_t oracle_ideal_link(
	struct oracle *oracle, uint32_t sw, uint32_t source, uint32_t destination)
{
	const struct tb_network *net = oracle->net;
	bool fixed = net->params.ascent == TB_ASCENT_DETERMINISTIC;
	if (net->params.ascent == TB_ASCENT_TABLE ||
		(fixed && !net->regular && !oracle->shaped))
		return table_link(oracle, sw, destination);
	struct group group = group_to(oracle, sw, destination, BEFORE_ALL);
	if (fixed)
		return group.links[digit_or_node(oracle, sw, destination) % group.n];
	if (net->params.ascent == TB_ASCENT_SOURCE)
		return group.links[digit_or_node(oracle, sw, source) % group.n];
	uint32_t best = group.links[0];
	for (uint32_t i = 1; i < group.n; i++)
		if (is_quicker(&net->links[group.links[i]], &net->links[best]))
			best = group.links[i];
	return best;
}

static uint32_t n_free(const struct oracle *oracle, uint32_t link)
{
	return oracle->links[link].info->n_vcs - oracle->links[link].n_held;
}

// next_in_turn is the number of the first of these links behind the port that was taken
// last, or the first of all.
static uint32_t next_in_turn(
	const struct oracle *oracle, uint32_t sw, const struct group *best)
{
	for (uint32_t i = 0; i < best->n; i++)
		if (oracle->net->links[best->links[i]].from_port >=
			oracle->switches[sw].turn)
			return i;
	return 0;
}

uint32_t oracle_one_of(struct oracle *oracle, const struct packet *packet, uint32_t sw,
	const struct group *best)
{
	if (oracle->net->params.ascent == TB_ASCENT_ADAPTIVE)
		return best->links[draw(oracle, packet, sw) % best->n];
	if (oracle->net->params.ascent != TB_ASCENT_ADAPTIVE_ROUND_ROBIN)
		return best->links[0];
	uint32_t link = best->links[next_in_turn(oracle, sw, best)];
	oracle->switches[sw].turn = oracle->net->links[link].from_port + 1;
	return link;
}

uint32_t oracle_link_on(struct oracle *oracle, struct packet *packet, uint32_t sw)
{
	struct group group = oracle_group_on(oracle, packet, sw, oracle->now);
	struct group best = {.n = 0};
	uint32_t most = 1;
	for (uint32_t i = 0; i < group.n; i++) {
		uint32_t n = n_free(oracle, group.links[i]);
		if (n > most)
			best.n = 0;
		if (n < most)
			continue;
		most = n;
		best.links[best.n++] = group.links[i];
	}
	if (best.n == 0)
		return TB_ID_NONE;
	return group.n > 1 ? oracle_one_of(oracle, packet, sw, &best) : best.links[0];
}

bool oracle_leads(
	struct oracle *oracle, tb_time_ps tables, uint32_t source, uint32_t destination)
{
	const struct tb_network *net = oracle->net;
	uint32_t in = net->injection[source];
	if (net->params.ascent == TB_ASCENT_TABLE)
		return true;
	if (is_dead(oracle, in, tables) ||
		is_dead(oracle, net->ejection[destination], tables))
		return false;
	return group_to(oracle, net->links[in].to, destination, tables).n > 0;
}

uint32_t oracle_hops_up(const struct oracle *oracle, uint32_t source, uint32_t node)
{
	uint32_t k = oracle->net->params.arity, n = 0;
	while ((source /= k) != (node /= k))
		n++;
	return n;
}

uint32_t oracle_broadcast_end(
	const struct oracle *oracle, const struct tb_message *message)
{
	uint32_t source = message->source.id, first = message->destination.id;
	uint32_t last = first + message->n_receivers - 1;
	if (last == source || oracle_hops_up(oracle, source, first) >
				      oracle_hops_up(oracle, source, last))
		return first;
	return last;
}

uint32_t oracle_links_at(struct oracle *oracle, const struct packet *packet, uint32_t at)
{
	uint32_t n = 0, first = packet->what.destination.id;
	if (!descends(packet, at)) {
		oracle->branches[0] = packet->hops[at].link;
		return 1;
	}
	for (uint32_t node = first; node < first + packet->what.n_receivers; node++) {
		uint32_t link = packet->hops[packet->apex].link, i = 0;
		for (uint32_t hop = packet->apex; hop < at; hop++)
			link = group_to(oracle, oracle->net->links[link].to, node, 0)
				       .links[0];
		while (i < n && oracle->branches[i] != link)
			i++;
		oracle->branches[i] = link;
		n += i == n;
	}
	return n;
}
