// What messages take alone.
#include "fluid.h"

#include "circuit_params.h"
#include "credit_params.h"
#include "idle.h"
#include "idle_credits.h"
#include "slow_nodes.h"
#include "switchings.h"

static uint64_t fluid_path_lesser(uint64_t a, uint64_t b)
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
		host = on_wire(params, tb_circuit_params(params)->bus_bytes_per_s);
	else if (link->kind == TB_LINK_INJECTION)
		host = on_wire(params, tb_credit_params(params)->pcie_bytes_per_s);
	else if (link->kind == TB_LINK_EJECTION)
		host = on_wire(params, drain_of(net, link->to));
	bool is_of_node =
		link->kind == TB_LINK_INJECTION || link->kind == TB_LINK_EJECTION;
	return is_of_node && host ? fluid_path_lesser(capacity, host) : capacity;
}

uint64_t tb_fluid_bus_capacity(const struct tb_network *net, uint32_t node)
{
	if (tb_switching_nodes(&net->params)->has_pcie)
		return 0;
	uint64_t bus =
		on_wire(&net->params, tb_circuit_params(&net->params)->bus_bytes_per_s);
	uint64_t both = tb_fluid_capacity(net, net->injection[node]) +
			tb_fluid_capacity(net, net->ejection[node]);
	return bus < both ? bus : 0;
}

bool tb_fluid_stores(const struct tb_network *net)
{
	return tb_switching_nodes(&net->params)->stores ||
	       tb_credit_params(&net->params)->forwarding == TB_FORWARDING_STORE;
}

tb_time_ps tb_fluid_duration(fluid_amount amount, uint64_t rate)
{
	fluid_amount time = (amount + rate - 1 - (rate >> SLACK_SHIFT)) / rate;
	return time < TB_TIME_NEVER / 4 ? (tb_time_ps)time : TB_TIME_NEVER / 4;
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

static void fluid_path_add_link(struct stages *stages, uint32_t id)
{
	const struct tb_network_params *params = &stages->net->params;
	const struct tb_link_info *link = &stages->net->links[id];
	uint64_t q20 = tb_per_byte_q20(link->bytes_per_s);
	tb_time_ps ack_ps = tb_idle_time(tb_credit_params(params)->ack_bytes, q20);
	stages->rate =
		fluid_path_lesser(stages->rate, tb_fluid_capacity(stages->net, id));
	stages->latency_ps += link->latency_ps;
	if (link->kind != TB_LINK_EJECTION)
		stages->latency_ps +=
			tb_idle_time(tb_circuit_params(params)->flit_bytes, q20);
	if (stages->stores)
		add_stage(stages, tb_idle_time(stages->wire, q20));
	if (q20 > stages->slowest_q20)
		stages->slowest_q20 = q20;
	if (ack_ps > stages->ack_ps)
		stages->ack_ps = ack_ps;
}

static struct stages stages_of(const struct tb_network *net, uint64_t bytes)
{
	uint64_t payload = fluid_path_lesser(bytes, net->params.packet_payload_bytes);
	return (struct stages){.net = net,
		.wire = payload + net->params.packet_overhead_bytes,
		.stores = tb_fluid_stores(net),
		.rate = UINT64_MAX};
}

// fluid_path_trip adds the two hosts.
static struct fluid_trip fluid_path_trip(
	struct stages *stages, uint32_t destination, uint64_t bytes)
{
	const struct tb_network_params *params = &stages->net->params;
	uint64_t payload = fluid_path_lesser(bytes, params->packet_payload_bytes);
	uint64_t fetch = tb_circuit_params(params)->bus_bytes_per_s,
		 drain = tb_circuit_params(params)->bus_bytes_per_s;
	if (tb_switching_nodes(params)->has_pcie) {
		fetch = tb_credit_params(params)->pcie_bytes_per_s;
		drain = drain_of(stages->net, destination);
	}
	if (!stages->stores)
		add_stage(stages, tb_idle_time(stages->wire, stages->slowest_q20));
	add_stage(stages, tb_idle_time(payload, tb_per_byte_q20(fetch)));
	add_stage(stages, tb_idle_time(payload, tb_per_byte_q20(drain)));
	return (struct fluid_trip){.rate = stages->rate,
		.in_ps = stages->latency_ps + stages->sum_ps - stages->longest_ps,
		.back_ps = stages->latency_ps + stages->ack_ps +
			   tb_circuit_params(params)->ack_delay_ps};
}

struct fluid_trip tb_fluid_trip(const struct tb_network *net,
	const struct tb_share_step *steps, uint32_t n, uint64_t bytes)
{
	struct stages stages = stages_of(net, bytes);
	for (uint32_t i = 0; i < n; i++)
		fluid_path_add_link(&stages, steps[i].link);
	return fluid_path_trip(&stages, net->links[steps[n - 1].link].to, bytes);
}

// lone_trip is that over the links that a lone message takes.
static struct fluid_trip lone_trip(
	const struct tb_network *net, uint32_t source, uint32_t to, uint64_t bytes)
{
	struct stages stages = stages_of(net, bytes);
	uint32_t link = net->injection[source];
	fluid_path_add_link(&stages, link);
	uint32_t n_alike = 0;
	if (net->regular)
		n_alike = tb_network_hops(
			net, (struct tb_node){source}, (struct tb_node){to});
	for (uint32_t i = 2; i < n_alike; i++)
		fluid_path_add_link(&stages, net->injection[0]);
	if (net->regular)
		fluid_path_add_link(&stages, net->ejection[to]);
	while (!net->regular && net->links[link].kind != TB_LINK_EJECTION) {
		link = tb_idle_link_on(net, net->links[link].to, source, to);
		fluid_path_add_link(&stages, link);
	}
	return fluid_path_trip(&stages, to, bytes);
}

struct fluid_trip tb_fluid_lone_trip(
	const struct fluid *fluid, const struct tb_posted *message, uint64_t wire)
{
	const struct tb_network *net = fluid->replay.net;
	uint32_t source = message->what.source.id;
	fluid_amount amount = (fluid_amount)wire * BYTE_AMOUNT;
	uint64_t paced = fluid_path_lesser(tb_fluid_capacity(net, net->injection[source]),
		tb_fluid_capacity(net, net->ejection[message->end]));
	struct fluid_trip trip =
		lone_trip(net, source, message->end, message->what.bytes);
	if (trip.rate < paced)
		trip.in_ps += tb_fluid_duration(amount, trip.rate) -
			      tb_fluid_duration(amount, paced);
	return trip;
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
			tb_credit_params(params)->first_overhead_bytes;
	struct fluid_trip trip = lone_trip(network, source.id, destination.id, bytes);
	return params->send_overhead_ps + params->receive_overhead_ps +
	       tb_fetch_delay_ps(tb_credit_params(params), bytes) + trip.in_ps +
	       tb_fluid_duration(
		       (fluid_amount)(wire ? wire : 1) * BYTE_AMOUNT, trip.rate);
}
