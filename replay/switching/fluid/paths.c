// Routes of messages, and what they take alone.
#include "fluid.h"

#include "idle.h"
#include "idle_credits.h"
#include "slow_nodes.h"
#include "switchings.h"

static uint64_t lesser(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

// on_wire turns a rate of payload into that of full packets; 0 without a limit.
static uint64_t on_wire(const struct tb_network_params *params, uint64_t bytes_per_s)
{
	uint64_t full = params->packet_payload_bytes;
	return (uint64_t)(((fluid_amount)bytes_per_s << RATE_SHIFT) *
			  (full + params->packet_overhead_bytes) / full);
}

static uint64_t drain_of(const struct tb_network *net, uint32_t node)
{
	return tb_network_drain_bytes_per_s(net, (struct tb_node){node});
}

uint64_t tb_fluid_capacity(const struct tb_network *net, uint32_t id)
{
	const struct tb_network_params *params = &net->params;
	const struct tb_link_info *link = &net->links[id];
	uint64_t capacity = link->bytes_per_s << RATE_SHIFT, host = 0;
	if (!tb_switching_nodes(params)->has_pcie)
		host = on_wire(params, params->bus_bytes_per_s);
	else if (link->kind == TB_LINK_INJECTION)
		host = on_wire(params, params->credits.pcie_bytes_per_s);
	else if (link->kind == TB_LINK_EJECTION)
		host = on_wire(params, drain_of(net, link->to));
	bool is_of_node =
		link->kind == TB_LINK_INJECTION || link->kind == TB_LINK_EJECTION;
	return is_of_node && host ? lesser(capacity, host) : capacity;
}

uint64_t tb_fluid_bus_capacity(const struct tb_network *net, uint32_t node)
{
	if (tb_switching_nodes(&net->params)->has_pcie)
		return 0;
	uint64_t bus = on_wire(&net->params, net->params.bus_bytes_per_s);
	uint64_t both = tb_fluid_capacity(net, net->injection[node]) +
			tb_fluid_capacity(net, net->ejection[node]);
	return bus < both ? bus : 0;
}

bool tb_fluid_stores(const struct tb_network *net)
{
	return tb_switching_nodes(&net->params)->stores ||
	       net->params.credits.forwarding == TB_FORWARDING_STORE;
}

tb_time_ps tb_fluid_duration(fluid_amount amount, uint64_t rate)
{
	fluid_amount time = (amount + rate - 1 - (rate >> SLACK_SHIFT)) / rate;
	return time < TB_TIME_NEVER / 4 ? (tb_time_ps)time : TB_TIME_NEVER / 4;
}

// least_loaded takes the link with the fewest flows; equals as the packets of other
// switchings.
static uint32_t least_loaded(
	struct fluid *fluid, struct tb_route_group group, uint32_t sw, uint64_t order)
{
	const struct tb_network *net = fluid->replay.net;
	struct tb_route_choice *choice = &fluid->replay.choice;
	const uint32_t *links = &net->group_links[group.first];
	uint32_t least = UINT32_MAX, n = 0, in_turn = NOTHING;
	for (uint32_t i = 0; i < group.n; i++) {
		uint32_t load = fluid->shares.links[links[i]].n_running;
		if (load > least)
			continue;
		if (load < least) {
			least = load;
			n = 0;
			in_turn = NOTHING;
		}
		if (choice->turns && in_turn == NOTHING &&
			net->links[links[i]].from_port >= choice->turns[sw])
			in_turn = n;
		n++;
	}
	uint32_t skip = 0;
	if (choice->turns)
		skip = in_turn == NOTHING ? 0 : in_turn;
	else if (!choice->lowest)
		skip = (uint32_t)(tb_route_choice_draw(choice, order, sw) % n);
	uint32_t i = 0;
	while (fluid->shares.links[links[i]].n_running != least || skip-- > 0)
		i++;
	if (choice->turns)
		choice->turns[sw] = net->links[links[i]].from_port + 1;
	return links[i];
}

uint32_t tb_fluid_route(struct fluid *fluid, uint32_t id, uint32_t *route)
{
	const struct tb_network *net = fluid->replay.net;
	const struct tb_posted *message = &fluid->replay.messages[id];
	const struct tb_heading heading = {.order = message->serial << 24,
		.source = message->what.source.id,
		.destination = message->end};
	uint32_t link = net->injection[heading.source], n = 0;
	route[n++] = link;
	while (net->links[link].kind != TB_LINK_EJECTION) {
		uint32_t sw = net->links[link].to;
		link = tb_network_route(net, sw, message->end, n - 1, message->ascending);
		if (link & TB_ROUTE_GROUP && fluid->replay.choice.fixed)
			link = tb_route_choice_fix(
				&fluid->replay.choice, link, sw, &heading);
		else if (link & TB_ROUTE_GROUP)
			link = least_loaded(fluid, net->groups[link & ~TB_ROUTE_GROUP],
				sw, heading.order);
		route[n++] = link;
	}
	if (fluid->first_bus == 0)
		return n;
	route[n] = fluid->first_bus + heading.source;
	route[n + 1] = fluid->first_bus + heading.destination;
	return n + 2;
}

// What a packet passes on its way, one after another: only where it takes longest do
// those of a message follow without a pause.
struct stages {
	const struct tb_network *net;
	uint64_t wire; // bytes of the packet
	bool stores;
	uint64_t rate, slowest_q20;
	tb_time_ps latency_ps, ack_ps, sum_ps, longest_ps;
};

static void add_stage(struct stages *stages, tb_time_ps takes)
{
	stages->sum_ps += takes;
	if (takes > stages->longest_ps)
		stages->longest_ps = takes;
}

static void add_link(struct stages *stages, uint32_t id)
{
	const struct tb_network_params *params = &stages->net->params;
	const struct tb_link_info *link = &stages->net->links[id];
	uint64_t q20 = tb_per_byte_q20(link->bytes_per_s);
	tb_time_ps ack_ps = tb_idle_time(params->credits.ack_bytes, q20);
	stages->rate = lesser(stages->rate, tb_fluid_capacity(stages->net, id));
	stages->latency_ps += link->latency_ps;
	if (link->kind != TB_LINK_EJECTION)
		stages->latency_ps += tb_idle_time(params->flit_bytes, q20);
	if (stages->stores)
		add_stage(stages, tb_idle_time(stages->wire, q20));
	if (q20 > stages->slowest_q20)
		stages->slowest_q20 = q20;
	if (ack_ps > stages->ack_ps)
		stages->ack_ps = ack_ps;
}

static struct stages stages_of(const struct tb_network *net, uint64_t bytes)
{
	uint64_t payload = lesser(bytes, net->params.packet_payload_bytes);
	return (struct stages){.net = net,
		.wire = payload + net->params.packet_overhead_bytes,
		.stores = tb_fluid_stores(net),
		.rate = UINT64_MAX};
}

// trip_of adds the two hosts.
static struct fluid_trip trip_of(
	struct stages *stages, uint32_t destination, uint64_t bytes)
{
	const struct tb_network_params *params = &stages->net->params;
	uint64_t payload = lesser(bytes, params->packet_payload_bytes);
	uint64_t fetch = params->bus_bytes_per_s, drain = params->bus_bytes_per_s;
	if (tb_switching_nodes(params)->has_pcie) {
		fetch = params->credits.pcie_bytes_per_s;
		drain = drain_of(stages->net, destination);
	}
	if (!stages->stores)
		add_stage(stages, tb_idle_time(stages->wire, stages->slowest_q20));
	add_stage(stages, tb_idle_time(payload, tb_per_byte_q20(fetch)));
	add_stage(stages, tb_idle_time(payload, tb_per_byte_q20(drain)));
	return (struct fluid_trip){.rate = stages->rate,
		.in_ps = stages->latency_ps + stages->sum_ps - stages->longest_ps,
		.back_ps = stages->latency_ps + stages->ack_ps + params->ack_delay_ps};
}

struct fluid_trip tb_fluid_trip(
	const struct tb_network *net, const uint32_t *links, uint32_t n, uint64_t bytes)
{
	struct stages stages = stages_of(net, bytes);
	for (uint32_t i = 0; i < n; i++)
		add_link(&stages, links[i]);
	return trip_of(&stages, net->links[links[n - 1]].to, bytes);
}

// lone_trip is that over the links that a lone message takes.
static struct fluid_trip lone_trip(
	const struct tb_network *net, uint32_t source, uint32_t to, uint64_t bytes)
{
	struct stages stages = stages_of(net, bytes);
	uint32_t link = net->injection[source];
	add_link(&stages, link);
	uint32_t n_alike = 0;
	if (net->regular)
		n_alike = tb_network_hops(
			net, (struct tb_node){source}, (struct tb_node){to});
	for (uint32_t i = 2; i < n_alike; i++)
		add_link(&stages, net->injection[0]);
	if (net->regular)
		add_link(&stages, net->ejection[to]);
	while (!net->regular && net->links[link].kind != TB_LINK_EJECTION) {
		link = tb_idle_link_on(net, net->links[link].to, source, to);
		add_link(&stages, link);
	}
	return trip_of(&stages, to, bytes);
}

tb_time_ps tb_fluid_ideal_ps(const struct tb_network *network, struct tb_node source,
	struct tb_node destination, uint64_t bytes)
{
	const struct tb_network_params *params = &network->params;
	if (source.id == destination.id)
		return (tb_switching_nodes(params)->has_pcie ? tb_idle_credits_ps
							     : tb_idle_latency_ps)(
			network, source, destination, bytes);
	uint64_t full = params->packet_payload_bytes;
	uint64_t n = bytes ? (bytes + full - 1) / full : 1;
	uint64_t wire = bytes + n * params->packet_overhead_bytes +
			params->credits.first_overhead_bytes;
	struct fluid_trip trip = lone_trip(network, source.id, destination.id, bytes);
	return params->send_overhead_ps + params->receive_overhead_ps +
	       tb_fetch_delay_ps(&params->credits, bytes) + trip.in_ps +
	       tb_fluid_duration(
		       (fluid_amount)(wire ? wire : 1) * BYTE_AMOUNT, trip.rate);
}
