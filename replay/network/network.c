#include "network.h"

#include "array.h"
#include "circuit_params.h"
#include "network_builder.h"
#include "network_impl.h"
#include "switchings.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct tb_network_builder {
	struct tb_network *net;
	size_t links_room, switches_room, first_out_room, out_room;
	size_t injection_room, ejection_room;
	uint32_t *n_at_level; // next index of each level
	size_t levels_room;
	const volatile sig_atomic_t *stop;
	bool leaves_out_routes;
};

void tb_network_free(struct tb_network *net)
{
	if (!net)
		return;
	tb_network_forget_identities(net);
	free(net->links);
	free(net->switches);
	free(net->first_out);
	free(net->out_links);
	free(net->injection);
	free(net->ejection);
	free(net->drains);
	free(net->groups);
	free(net->group_links);
	free(net->digits);
	free(net->strides);
	free(net->routes);
	free(net->distance);
	free(net);
}

static int out_of_memory(struct tb_error *error)
{
	return tb_fail_memory(error, "a network of this size");
}

int tb_network_builder_new(struct tb_network_builder **builder,
	const struct tb_network_params *params, struct tb_error *error)
{
	struct tb_network_builder *made = calloc(1, sizeof *made);
	if (made)
		made->net = calloc(1, sizeof *made->net);
	if (!made || !made->net) {
		free(made);
		return out_of_memory(error);
	}
	made->net->params = *params;
	made->net->n_rails = 1;
	*builder = made;
	return TB_OK;
}

void tb_network_builder_stop(
	struct tb_network_builder *builder, const volatile sig_atomic_t *stop)
{
	builder->stop = stop;
}

void tb_network_builder_leave_out_routes(struct tb_network_builder *builder)
{
	builder->leaves_out_routes = true;
}

void tb_network_leave_cables_unknown(struct tb_network_builder *builder)
{
	builder->net->are_cables_unknown = true;
}

void tb_network_builder_free(struct tb_network_builder *builder)
{
	if (!builder)
		return;
	tb_network_free(builder->net);
	free(builder->n_at_level);
	free(builder);
}

int tb_network_next_rail(struct tb_network_builder *builder, struct tb_error *error)
{
	struct tb_network *net = builder->net;
	if (net->n_nodes == 0)
		return tb_fail(error, TB_EUSAGE, "a rail needs nodes");
	if (net->n_rails == 1)
		net->n_hosts = net->n_nodes;
	net->n_rails++;
	for (size_t i = 0; i < builder->levels_room; i++)
		builder->n_at_level[i] = 0;
	return TB_OK;
}

// next_index returns the next free index of a level.
static int next_index(struct tb_network_builder *builder, uint32_t level, uint32_t *index)
{
	if (TB_ARRAY_RESERVE_ZEROED(&builder->n_at_level, &builder->levels_room,
		    (size_t)level + 1) != TB_OK)
		return TB_ENOMEM;
	*index = builder->n_at_level[level]++;
	return TB_OK;
}

int tb_network_add_switch(struct tb_network_builder *builder, uint32_t level,
	uint32_t n_down, uint32_t n_up, struct tb_switch *sw, struct tb_error *error)
{
	struct tb_network *net = builder->net;
	if (level >= 64)
		return tb_fail(
			error, TB_EUSAGE, "level %u: at most 64 levels are built", level);
	uint32_t n_ports = net->n_switches ? net->first_out[net->n_switches] : 0;
	uint32_t index = 0;
	if (tb_network_stopped(builder->stop, error) != TB_OK)
		return TB_ESTOPPED;
	size_t n = net->n_switches, n_after = (size_t)n_ports + n_down + n_up;
	if (n_after > UINT32_MAX ||
		TB_ARRAY_RESERVE(&net->switches, &builder->switches_room, n + 1) !=
			TB_OK ||
		TB_ARRAY_RESERVE(&net->first_out, &builder->first_out_room, n + 2) !=
			TB_OK ||
		TB_ARRAY_RESERVE(&net->out_links, &builder->out_room, n_after) != TB_OK ||
		next_index(builder, level, &index) != TB_OK)
		return out_of_memory(error);
	for (uint32_t port = 0; port < n_down + n_up; port++)
		net->out_links[n_ports + port] = TB_ID_NONE;
	net->first_out[net->n_switches] = n_ports;
	net->first_out[net->n_switches + 1] = n_ports + n_down + n_up;
	net->switches[net->n_switches] = (struct tb_switch_info){.level = level,
		.index = index,
		.rail = builder->net->n_rails - 1,
		.n_down_ports = n_down,
		.n_up_ports = n_up};
	if (level + 1 > net->n_levels)
		net->n_levels = level + 1;
	sw->id = net->n_switches++;
	return TB_OK;
}

static int network_check_port(const struct tb_network *net, uint32_t sw, uint32_t port,
	bool up, struct tb_error *error)
{
	if (sw >= net->n_switches)
		return tb_fail(error, TB_EUSAGE, "there is no switch %u", sw);
	const struct tb_switch_info *at = &net->switches[sw];
	uint32_t first = up ? at->n_down_ports : 0;
	uint32_t n = up ? at->n_up_ports : at->n_down_ports;
	if (port < first || port >= first + n)
		return tb_fail(error, TB_EUSAGE, "switch %u.%u has no %s port %u",
			at->level, at->index, up ? "up" : "down", port);
	if (net->out_links[net->first_out[sw] + port] != TB_ID_NONE)
		return tb_fail(error, TB_EUSAGE, "port %u of switch %u.%u is taken", port,
			at->level, at->index);
	return TB_OK;
}

// network_plug_cable adds the two directed links of a cable: `forth` as given, then its
// reverse.
static int network_plug_cable(struct tb_network_builder *builder,
	struct tb_link_info forth, enum tb_link_kind back_kind,
	const struct tb_cable *given, struct tb_error *error)
{
	struct tb_network *net = builder->net;
	if (tb_network_stopped(builder->stop, error) != TB_OK)
		return TB_ESTOPPED;
	if (net->n_links > UINT32_MAX - 2 ||
		TB_ARRAY_RESERVE(&net->links, &builder->links_room,
			(size_t)net->n_links + 2) != TB_OK)
		return out_of_memory(error);
	const struct tb_network_params *params = &net->params;
	struct tb_cable cable = given ? *given : (struct tb_cable){0};
	if (!cable.bytes_per_s)
		cable.bytes_per_s = params->link_bytes_per_s;
	if (!cable.latency_ps)
		cable.latency_ps = params->hop_latency_ps;
	if (!cable.n_vcs)
		cable.n_vcs = params->n_vcs;
	if (!cable.fifo_bytes)
		cable.fifo_bytes = params->fifo_bytes;
	const struct tb_switching_kind *kind = tb_switching_of(&net->params);
	bool has_fifos = !kind || !kind->stands_for_other;
	if ((has_fifos &&
		    cable.fifo_bytes < tb_circuit_params(&net->params)->flit_bytes) ||
		cable.n_vcs > 16)
		return tb_fail(error, TB_EUSAGE,
			"a cable needs a FIFO of one flit (%u bytes) or more and 1 to 16 "
			"VCs",
			tb_circuit_params(&net->params)->flit_bytes);
	forth.bytes_per_s = cable.bytes_per_s;
	forth.latency_ps = cable.latency_ps;
	forth.n_vcs = cable.n_vcs;
	forth.fifo_bytes = cable.fifo_bytes;
	struct tb_link_info back = forth;
	back.kind = back_kind;
	back.from = forth.to;
	back.to = forth.from;
	back.from_port = forth.to_port;
	back.to_port = forth.from_port;
	forth.reverse.id = net->n_links + 1;
	back.reverse.id = net->n_links;
	net->links[net->n_links++] = forth;
	net->links[net->n_links++] = back;
	return TB_OK;
}

int tb_network_add_node(struct tb_network_builder *builder, struct tb_switch sw,
	uint32_t port, const struct tb_cable *cable, struct tb_error *error)
{
	struct tb_network *net = builder->net;
	int status = network_check_port(net, sw.id, port, false, error);
	if (status != TB_OK)
		return status;
	size_t n = (size_t)net->n_nodes + 1;
	if (TB_ARRAY_RESERVE(&net->injection, &builder->injection_room, n) != TB_OK ||
		TB_ARRAY_RESERVE(&net->ejection, &builder->ejection_room, n) != TB_OK)
		return out_of_memory(error);
	struct tb_link_info in = {.kind = TB_LINK_INJECTION,
		.from = net->n_nodes,
		.to = sw.id,
		.to_port = port};
	status = network_plug_cable(builder, in, TB_LINK_EJECTION, cable, error);
	if (status != TB_OK)
		return status;
	net->injection[net->n_nodes] = net->n_links - 2;
	net->ejection[net->n_nodes] = net->n_links - 1;
	net->out_links[net->first_out[sw.id] + port] = net->n_links - 1;
	net->n_nodes++;
	return TB_OK;
}

int tb_network_add_cable(struct tb_network_builder *builder, struct tb_switch lower,
	uint32_t up_port, struct tb_switch upper, uint32_t down_port,
	const struct tb_cable *cable, struct tb_error *error)
{
	struct tb_network *net = builder->net;
	int status = network_check_port(net, lower.id, up_port, true, error);
	if (status == TB_OK)
		status = network_check_port(net, upper.id, down_port, false, error);
	if (status != TB_OK)
		return status;
	uint32_t above = net->switches[upper.id].level,
		 below = net->switches[lower.id].level;
	if (above < below || (above == below && upper.id <= lower.id))
		return tb_fail(error, TB_EUSAGE,
			"a cable leads up from switch %u.%u to %u.%u, which is neither "
			"of a higher level nor a later one of the same",
			net->switches[lower.id].level, net->switches[lower.id].index,
			net->switches[upper.id].level, net->switches[upper.id].index);
	struct tb_link_info up = {.kind = TB_LINK_UP,
		.from = lower.id,
		.to = upper.id,
		.from_port = up_port,
		.to_port = down_port};
	status = network_plug_cable(builder, up, TB_LINK_DOWN, cable, error);
	if (status != TB_OK)
		return status;
	net->out_links[net->first_out[lower.id] + up_port] = net->n_links - 2;
	net->out_links[net->first_out[upper.id] + down_port] = net->n_links - 1;
	return TB_OK;
}

int tb_network_finish(struct tb_network_builder *builder, struct tb_network **network,
	struct tb_error *error)
{
	struct tb_network *net = builder->net;
	if (net->n_nodes < 2)
		return tb_fail(error, TB_EUSAGE, "a network needs two nodes or more");
	if (net->n_rails == 1)
		net->n_hosts = net->n_nodes;
	if (net->n_hosts * UINT64_C(1) * net->n_rails != net->n_nodes)
		return tb_fail(error, TB_EUSAGE,
			"%u rails of %u nodes need %" PRIu64 " nodes in all, not %u",
			net->n_rails, net->n_hosts,
			net->n_hosts * UINT64_C(1) * net->n_rails, net->n_nodes);
	int status = builder->leaves_out_routes
			     ? TB_OK
			     : tb_network_make_routes(net, builder->stop, error);
	if (status != TB_OK)
		return status;
	builder->net = NULL;
	*network = net;
	return TB_OK;
}

const struct tb_network_params *tb_network_params(const struct tb_network *net)
{
	return &net->params;
}

uint32_t tb_network_n_nodes(const struct tb_network *net)
{
	return net->n_nodes;
}

uint32_t tb_network_n_switches(const struct tb_network *net)
{
	return net->n_switches;
}

uint32_t tb_network_n_links(const struct tb_network *net)
{
	return net->n_links;
}

uint32_t tb_network_n_levels(const struct tb_network *net)
{
	return net->n_levels;
}

uint32_t tb_network_n_rails(const struct tb_network *net)
{
	return net->n_rails;
}

uint32_t tb_network_n_hosts(const struct tb_network *net)
{
	return net->n_hosts;
}

bool tb_network_knows_cables(const struct tb_network *net)
{
	return !net->are_cables_unknown;
}

bool tb_network_grows(const struct tb_network *net)
{
	return net->regular || (net->strides && !net->params.shape[0] &&
				       net->params.ascent != TB_ASCENT_TABLE);
}

struct tb_link_info tb_network_link(const struct tb_network *net, struct tb_link link)
{
	return net->links[link.id];
}

void tb_network_set_rate(
	struct tb_network *net, struct tb_link link, uint64_t bytes_per_s)
{
	struct tb_link_info *at = &net->links[link.id];
	at->bytes_per_s = net->links[at->reverse.id].bytes_per_s = bytes_per_s;
}

struct tb_switch_info tb_network_switch(const struct tb_network *net, struct tb_switch sw)
{
	return net->switches[sw.id];
}

uint32_t tb_network_hops(
	const struct tb_network *net, struct tb_node source, struct tb_node destination)
{
	if (net->regular)
		return 2 * tb_network_ascending(net, source.id, destination.id) + 2;
	uint32_t sw = net->links[net->injection[source.id]].to;
	return 1 + net->distance[(size_t)sw * net->n_nodes + destination.id];
}

struct tb_network *tb_network_builder_inside(struct tb_network_builder *builder)
{
	return builder->net;
}
