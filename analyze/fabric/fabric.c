#include "fabric.h"
#include "array.h"
#include "fabric_hosts.h"
#include "fabric_impl.h"
#include "order.h"

#include <stdlib.h>
#include <string.h>

void tb_fabric_hosts_fini(struct tb_fabric_hosts *hosts)
{
	free(hosts->of);
	free(hosts->is_in);
	free(hosts->rail_is_in);
	*hosts = (struct tb_fabric_hosts){0};
}

static void put_host(struct tb_fabric_hosts *hosts, uint32_t host)
{
	if (!hosts->is_in[host])
		hosts->of[hosts->n++] = host;
	hosts->is_in[host] = true;
}

// put_hosts takes the hosts and rails of nodes. TB_EUSAGE when these are not all that the
// hosts have on these rails.
static int put_hosts(struct tb_fabric_hosts *hosts, const struct tb_network *network,
	const uint32_t *nodes, uint32_t n, struct tb_error *error)
{
	uint32_t n_hosts = tb_network_n_hosts(network), n_given = 0;
	bool *is_in = calloc(tb_network_n_nodes(network), sizeof *is_in);
	if (!is_in)
		return tb_fail_memory(error, "the hosts");
	for (uint32_t i = 0; i < n; i++) {
		bool *rail = &hosts->rail_is_in[nodes[i] / n_hosts];
		put_host(hosts, nodes[i] % n_hosts);
		hosts->n_rails += !*rail;
		*rail = true;
		n_given += !is_in[nodes[i]];
		is_in[nodes[i]] = true;
	}
	free(is_in);
	return n_given == hosts->n * hosts->n_rails
		       ? TB_OK
		       : tb_fail(error, TB_EUSAGE,
				 "expected the same rails of each host");
}

int tb_fabric_hosts_init(struct tb_fabric_hosts *hosts, const struct tb_network *network,
	const uint32_t *nodes, uint32_t n, struct tb_error *error)
{
	uint32_t n_hosts = tb_network_n_hosts(network);
	uint32_t n_rails = tb_network_n_rails(network);
	struct tb_fabric_hosts made = {.of = malloc((n_hosts + 1u) * sizeof *made.of),
		.is_in = calloc(n_hosts + 1u, sizeof *made.is_in),
		.rail_is_in = calloc(n_rails + 1u, sizeof *made.rail_is_in)};
	if (!made.of || !made.is_in || !made.rail_is_in) {
		tb_fabric_hosts_fini(&made);
		return tb_fail_memory(error, "the hosts");
	}
	int status = n ? put_hosts(&made, network, nodes, n, error) : TB_OK;
	for (uint32_t host = 0; n == 0 && host < n_hosts; host++)
		if (!tb_network_node_identity(network, (struct tb_node){host}).is_router)
			put_host(&made, host);
	bool are_all_rails = n == 0 || made.n_rails == n_rails;
	if (are_all_rails) {
		free(made.rail_is_in);
		made.rail_is_in = NULL;
	}
	bool is_few = n > 0 && made.n < 2;
	bool is_all = are_all_rails && (made.n < 2 || made.n == n_hosts);
	if (status != TB_OK || is_few || is_all)
		tb_fabric_hosts_fini(&made); // all
	if (status == TB_OK && is_few)
		return tb_fail(error, TB_EUSAGE, "expected two hosts or more");
	if (status == TB_OK)
		*hosts = made;
	return status;
}

static void fabric_ports_fini(struct tb_fabric_ports *ports)
{
	free(ports->first);
	free(ports->links);
	*ports = (struct tb_fabric_ports){0};
}

static int fabric_ports_init(
	struct tb_fabric_ports *ports, const struct tb_network *network)
{
	uint32_t n = tb_network_n_switches(network);
	*ports = (struct tb_fabric_ports){0};
	ports->first = malloc(((size_t)n + 1) * sizeof *ports->first);
	if (!ports->first)
		return TB_ENOMEM;
	ports->first[0] = 0;
	for (uint32_t sw = 0; sw < n; sw++) {
		struct tb_switch_info at =
			tb_network_switch(network, (struct tb_switch){sw});
		ports->first[sw + 1] = ports->first[sw] + at.n_down_ports + at.n_up_ports;
	}
	ports->links = malloc(((size_t)ports->first[n] + 1) * sizeof *ports->links);
	if (!ports->links) {
		fabric_ports_fini(ports);
		return TB_ENOMEM;
	}
	for (uint32_t port = 0; port < ports->first[n]; port++)
		ports->links[port] = TB_ID_NONE;
	for (uint32_t link = 0; link < tb_network_n_links(network); link++) {
		struct tb_link_info at = tb_network_link(network, (struct tb_link){link});
		if (at.kind != TB_LINK_INJECTION)
			ports->links[ports->first[at.from] + at.from_port] = link;
	}
	return TB_OK;
}

double tb_fabric_taper(const struct tb_fabric_level *level)
{
	if (level->up_bytes_per_s == 0)
		return 0;
	return (double)level->down_bytes_per_s / (double)level->up_bytes_per_s;
}

TB_ORDER_BY(order_cables, struct tb_fabric_cables,
	TB_DOWN(to_nodes) TB_UP(lower) TB_UP(upper) TB_DOWN(bytes_per_s))

struct tb_fabric_cables tb_fabric_cables_of(
	const struct tb_network *net, const struct tb_link_info *at)
{
	bool to_nodes = at->kind == TB_LINK_INJECTION;
	return (struct tb_fabric_cables){.to_nodes = to_nodes,
		.lower = to_nodes ? 0
				  : tb_network_switch(net, (struct tb_switch){at->from})
					    .level,
		.upper = tb_network_switch(net, (struct tb_switch){at->to}).level,
		.bytes_per_s = at->bytes_per_s,
		.n = 1};
}

// count_cable counts the cable of a link upwards. There are few kinds: a search will do,
// from the newest, which cables come one after the other.
static int count_cable(struct tb_fabric *fabric, const struct tb_link_info *at)
{
	struct tb_fabric_cables kind = tb_fabric_cables_of(fabric->network, at);
	for (uint32_t i = fabric->n_cables; i-- > 0;)
		if (order_cables(&fabric->cables[i], &kind) == 0) {
			fabric->cables[i].n++;
			return TB_OK;
		}
	if (TB_ARRAY_MORE(fabric, cables) != TB_OK)
		return TB_ENOMEM;
	fabric->cables[fabric->n_cables++] = kind;
	return TB_OK;
}

static int count_fabric_cables(struct tb_fabric *fabric)
{
	for (uint32_t link = 0; link < tb_network_n_links(fabric->network); link++) {
		struct tb_link_info at =
			tb_network_link(fabric->network, (struct tb_link){link});
		bool counts = at.kind == TB_LINK_UP
				      ? tb_network_knows_cables(fabric->network)
				      : at.kind == TB_LINK_INJECTION;
		if (counts && count_cable(fabric, &at) != TB_OK)
			return TB_ENOMEM;
	}
	qsort(fabric->cables, fabric->n_cables, sizeof *fabric->cables, order_cables);
	return TB_OK;
}

// find_node_rates follows the oddities, where they are known.
static int find_node_rates(struct tb_fabric *fabric)
{
	const struct tb_network *net = fabric->network;
	uint64_t *rates = calloc(tb_network_n_nodes(net), sizeof *rates);
	fabric->node_bytes_per_s = rates;
	if (!rates)
		return TB_ENOMEM;
	for (uint32_t link = 0; link < tb_network_n_links(net); link++) {
		struct tb_link_info at = tb_network_link(net, (struct tb_link){link});
		if (at.kind == TB_LINK_INJECTION)
			rates[at.from] = at.bytes_per_s;
	}
	for (uint32_t i = 0; i < fabric->n_oddities; i++) {
		const struct tb_oddity *odd = &fabric->oddities[i];
		if (odd->kind == TB_ODDITY_SLOWER &&
			tb_network_link(net, odd->link).kind == TB_LINK_INJECTION)
			rates[tb_network_link(net, odd->link).from] = odd->usual;
	}
	return TB_OK;
}

static int describe_fabric(struct tb_fabric *fabric, struct tb_fabric_ports *ports)
{
	bool knows = tb_network_knows_cables(fabric->network);
	for (uint32_t sw = 0; sw < tb_network_n_switches(fabric->network); sw++) {
		struct tb_switch_info at =
			tb_network_switch(fabric->network, (struct tb_switch){sw});
		bool is_new = sw == 0 || at.rail != tb_network_switch(fabric->network,
							    (struct tb_switch){sw - 1})
							    .rail;
		fabric->n_planes += is_new;
	}
	fabric->n_levels = tb_network_n_levels(fabric->network);
	fabric->levels = calloc(fabric->n_levels, sizeof *fabric->levels);
	if (!fabric->levels || fabric_ports_init(ports, fabric->network) != TB_OK ||
		count_fabric_cables(fabric) != TB_OK ||
		(knows && tb_fabric_find_oddities(fabric, ports) != TB_OK) ||
		find_node_rates(fabric) != TB_OK)
		return TB_ENOMEM;
	for (uint32_t sw = 0; sw < tb_network_n_switches(fabric->network); sw++) {
		uint32_t of_level =
			tb_network_switch(fabric->network, (struct tb_switch){sw}).level;
		struct tb_fabric_level *level = &fabric->levels[of_level];
		uint32_t n_nodes = 0;
		uint64_t down = 0, up = 0;
		for (uint32_t port = ports->first[sw]; port < ports->first[sw + 1];
			port++) {
			if (ports->links[port] == TB_ID_NONE) {
				level->n_free++;
				continue;
			}
			struct tb_link_info at = tb_network_link(
				fabric->network, (struct tb_link){ports->links[port]});
			bool is_up = at.kind == TB_LINK_UP;
			if (!knows && at.kind != TB_LINK_EJECTION)
				continue;
			*(is_up ? &level->n_up : &level->n_down) += 1;
			bool is_node = at.kind == TB_LINK_EJECTION;
			*(is_up ? &up : &down) +=
				is_node ? fabric->node_bytes_per_s[at.to]
					: at.bytes_per_s;
			n_nodes += is_node;
		}
		level->n_switches++;
		// Count the nodes of one switch in its level.
		if (n_nodes != 0) {
			if (level->n_with_nodes == 0 || n_nodes < level->fewest_nodes)
				level->fewest_nodes = n_nodes;
			if (n_nodes > level->most_nodes)
				level->most_nodes = n_nodes;
			level->n_with_nodes++;
			level->n_nodes += n_nodes;
		}
		if (down == 0)
			continue;
		level->down_bytes_per_s += down;
		level->up_bytes_per_s += up;
		if (up == 0)
			continue;
		double taper = (double)down / (double)up;
		if (level->least_taper == 0 || taper < level->least_taper)
			level->least_taper = taper;
		if (taper > level->most_taper)
			level->most_taper = taper;
	}
	const struct tb_network_params *params = tb_network_params(fabric->network);
	bool is_preset = strcmp(params->shape, TB_SHAPE_FABRIC) != 0;
	fabric->n_ports = is_preset ? params->n_ports : 0;
	for (uint32_t i = 0; i < fabric->n_levels && is_preset; i++) {
		struct tb_fabric_level *level = &fabric->levels[i];
		uint64_t has = (uint64_t)fabric->n_ports * level->n_switches;
		uint64_t used = (uint64_t)level->n_down + level->n_up;
		level->n_free =
			has < used ? TB_FABRIC_PORTS_UNKNOWN : (uint32_t)(has - used);
	}
	return knows ? tb_fabric_bisect(fabric) : TB_OK;
}

int tb_fabric_init(struct tb_fabric *fabric, const struct tb_network *network,
	const struct tb_fabric_hosts *hosts, struct tb_error *error)
{
	struct tb_fabric made = {.network = network};
	if (hosts)
		made.hosts = *hosts;
	struct tb_fabric_ports ports = {0};
	int status = describe_fabric(&made, &ports);
	fabric_ports_fini(&ports);
	if (status != TB_OK) {
		tb_fabric_fini(&made);
		return tb_fail_memory(error, "the fabric");
	}
	*fabric = made;
	return TB_OK;
}

void tb_fabric_fini(struct tb_fabric *fabric)
{
	free(fabric->levels);
	free(fabric->cables);
	free(fabric->oddities);
	free(fabric->slow);
	free(fabric->node_bytes_per_s);
	free(fabric->bisection.of_first);
	*fabric = (struct tb_fabric){0};
}
