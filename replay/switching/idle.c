// The latency of a message on an idle network, by the formula of docs/model.md.
#include "idle.h"

#include "circuit_params.h"
#include "credit_params.h"
#include "ethernet_params.h"
#include "replay.h"
#include "slow_nodes.h"
#include "switchings.h"

// In two parts, as the product of a long message would overflow.
tb_time_ps tb_idle_time(uint64_t bytes, uint64_t byte_q20)
{
	uint64_t rest = bytes & ((1u << 20) - 1);
	return (tb_time_ps)((bytes >> 20) * byte_q20 +
			    ((rest * byte_q20 + (UINT64_C(1) << 19)) >> 20));
}

static void idle_add_link(
	struct tb_idle_path *path, const struct tb_link_info *link, uint32_t flit)
{
	uint64_t q20 = tb_per_byte_q20(link->bytes_per_s);
	path->before = path->back;
	path->back += link->latency_ps + tb_idle_time(flit, q20);
	path->behind = link->latency_ps;
	path->last_q20 = q20;
	if (q20 > path->slowest_q20)
		path->slowest_q20 = q20;
	if (link->kind == TB_LINK_INJECTION ||
		(link->kind == TB_LINK_EJECTION && link->n_vcs < path->n_vcs))
		path->n_vcs = link->n_vcs;
}

uint32_t tb_idle_link_on(const struct tb_network *network, uint32_t sw, uint32_t source,
	uint32_t destination)
{
	uint32_t route = tb_network_route(network, sw, destination, 0, 0);
	if (!(route & TB_ROUTE_GROUP))
		return route;
	struct tb_route_group group = network->groups[route & ~TB_ROUTE_GROUP];
	if (network->params.ascent == TB_ASCENT_SOURCE)
		return network->group_links[group.first + source % group.n];
	// Take the link of the group with the highest rate, among equals the one with
	// the least latency, among these the first.
	uint32_t best = network->group_links[group.first];
	for (uint32_t i = 1; i < group.n; i++) {
		uint32_t id = network->group_links[group.first + i];
		const struct tb_link_info *a = &network->links[id];
		const struct tb_link_info *b = &network->links[best];
		if (a->bytes_per_s > b->bytes_per_s ||
			(a->bytes_per_s == b->bytes_per_s &&
				a->latency_ps < b->latency_ps))
			best = id;
	}
	return best;
}

struct tb_idle_path tb_idle_path_between(
	const struct tb_network *network, uint32_t source, uint32_t destination)
{
	if (!network->regular) {
		// Follow the links that a lone message takes.
		uint32_t flit = tb_circuit_params(&network->params)->flit_bytes;
		uint32_t id = network->injection[source];
		struct tb_idle_path path = {0};
		idle_add_link(&path, &network->links[id], flit);
		while (network->links[id].kind != TB_LINK_EJECTION) {
			id = tb_idle_link_on(
				network, network->links[id].to, source, destination);
			idle_add_link(&path, &network->links[id], flit);
		}
		return path;
	}
	// Do the same where all links are alike.
	uint32_t n_links = tb_network_hops(
		network, (struct tb_node){source}, (struct tb_node){destination});
	struct tb_idle_path path = {0};
	idle_add_link(&path, &network->links[network->injection[0]],
		tb_circuit_params(&network->params)->flit_bytes);
	path.before = (tb_time_ps)(n_links - 1) * path.back;
	path.back *= n_links;
	return path;
}

tb_time_ps tb_idle_crossing(const struct tb_network *network,
	const struct tb_idle_path *path, uint64_t wire_bytes)
{
	uint64_t flit = tb_circuit_params(&network->params)->flit_bytes;
	uint64_t last = wire_bytes - (wire_bytes - 1) / flit * flit;
	return tb_idle_time(wire_bytes, path->slowest_q20) -
	       tb_idle_time(last, path->slowest_q20) + tb_idle_time(last, path->last_q20);
}

// idle_crossing is the crossing of a packet with so much payload.
static tb_time_ps idle_crossing(const struct tb_network *network,
	const struct tb_idle_path *path, uint64_t payload)
{
	uint64_t wire = payload + network->params.packet_overhead_bytes;
	return tb_idle_crossing(network, path, wire ? wire : 1);
}

// idle_entry is when full packet `number` (from 0) enters the network, after the first:
// at the pace of link and bus, or of the VCs, each of which carries one packet per
// circuit.
static tb_time_ps idle_entry(
	uint64_t number, uint64_t n_vcs, tb_time_ps pace, tb_time_ps circuit)
{
	return tb_time_later(
		(tb_time_ps)number * pace, (tb_time_ps)(number / n_vcs) * circuit +
						   (tb_time_ps)(number % n_vcs) * pace);
}

// idle_last_entry is that of packet `number`, which is not fetched at the pace of the
// others, but after `own`. With one bus it then waits for the one before it to be
// drained.
static tb_time_ps idle_last_entry(uint64_t number, uint64_t n_vcs, tb_time_ps pace,
	tb_time_ps own, tb_time_ps circuit)
{
	if (number == 0)
		return 0;
	tb_time_ps after_it = idle_entry(number - 1, n_vcs, pace, circuit) + own;
	return number < n_vcs ? after_it
			      : tb_time_later(after_it,
					idle_entry(number - n_vcs, n_vcs, pace, circuit) +
						circuit);
}

tb_time_ps tb_idle_latency_ps(const struct tb_network *network, struct tb_node source,
	struct tb_node destination, uint64_t bytes)
{
	const struct tb_network_params *params = &network->params;
	uint64_t bus_q20 = tb_per_byte_q20(tb_circuit_bus_rate(params, false));
	uint64_t in_q20 = tb_per_byte_q20(tb_circuit_bus_rate(params, true));
	tb_time_ps overhead = params->send_overhead_ps + params->receive_overhead_ps;
	if (source.id == destination.id && !tb_circuit_buses_shared(params))
		return overhead + tb_time_later(tb_idle_time(bytes, bus_q20),
					  tb_idle_time(bytes, in_q20));
	if (source.id == destination.id)
		return overhead + tb_idle_time(2 * bytes, bus_q20) +
		       (bytes && bus_q20 ? tb_circuit_bus_turn(params) : 0);
	bytes += tb_circuit_padding(params, bytes % params->packet_payload_bytes);
	const struct tb_idle_path path =
		tb_idle_path_between(network, source.id, destination.id);
	uint64_t full = params->packet_payload_bytes;
	uint64_t n = bytes ? (bytes + full - 1) / full : 1;
	uint64_t last = bytes - (n - 1) * full;
	tb_time_ps full_crossing = idle_crossing(network, &path, full);
	tb_time_ps pace = tb_time_later(
		tb_idle_time(full + params->packet_overhead_bytes, path.slowest_q20),
		tb_idle_time(full, bus_q20 > in_q20 ? bus_q20 : in_q20));
	// A VC serves its next packet when the acknowledgement of the previous one is
	// back.
	tb_time_ps circuit = path.before + full_crossing + path.behind +
			     tb_circuit_params(params)->ack_delay_ps + path.back;
	tb_time_ps way = tb_idle_time(n > 1 ? full : bytes, bus_q20) + path.before;
	tb_time_ps own = tb_time_later(
		tb_idle_time(full + params->packet_overhead_bytes, path.slowest_q20),
		tb_idle_time(last, bus_q20));
	tb_time_ps enters =
		tb_circuit_buses_shared(params)
			? idle_entry(n - 1, path.n_vcs, pace, circuit)
			: idle_last_entry(n - 1, path.n_vcs, pace, own, circuit);
	tb_time_ps in = way + enters + idle_crossing(network, &path, last) + path.behind;
	// A short last packet may still have to wait for the drain of the one before it.
	if (n > 1)
		in = tb_time_later(in,
			way + idle_entry(n - 2, path.n_vcs, pace, circuit) +
				full_crossing + path.behind + tb_idle_time(full, in_q20));
	return overhead + in + tb_idle_time(last, in_q20);
}

struct trip {		 // of a packet that meets no other
	tb_time_ps in;	 // from when it enters the network
	tb_time_ps pace; // the longest that a link carries it
};

struct idle_credit_way {
	const struct tb_network *net;
	uint32_t source, destination, n_hops; // n_hops: of a regular tree, else 0
	uint64_t fetch_q20, drain_q20;
	bool stores, has_credits;
};

// first_link and idle_credit_next_link are the links that a lone message takes; of a
// regular tree, where all are alike, any.
static const struct tb_link_info *first_link(const struct idle_credit_way *way)
{
	return &way->net->links[way->net->injection[way->source]];
}

static const struct tb_link_info *idle_credit_next_link(const struct idle_credit_way *way,
	const struct tb_link_info *link, uint32_t n_crossed)
{
	if (way->n_hops)
		return n_crossed < way->n_hops ? link : NULL;
	if (link->kind == TB_LINK_EJECTION)
		return NULL;
	return &way->net->links[tb_idle_link_on(
		way->net, link->to, way->source, way->destination)];
}

static tb_time_ps idle_credit_crossing(const struct tb_link_info *link, uint64_t wire)
{
	return tb_idle_time(wire, tb_per_byte_q20(link->bytes_per_s));
}

// idle_credit_step is the time from when a packet begins to cross a link until it begins
// to cross the next one, or has arrived.
static tb_time_ps idle_credit_step(const struct idle_credit_way *way,
	const struct tb_link_info *link, const struct tb_link_info *next, uint64_t wire)
{
	tb_time_ps all = idle_credit_crossing(link, wire);
	if (!next || way->stores)
		return link->latency_ps + all;
	return link->latency_ps +
	       tb_time_later(0, all - idle_credit_crossing(next, wire));
}

static struct trip idle_credit_trip(const struct idle_credit_way *way, uint64_t wire)
{
	if (way->n_hops) { // links are alike
		tb_time_ps all = idle_credit_crossing(first_link(way), wire);
		tb_time_ps latency_ps = way->n_hops * first_link(way)->latency_ps;
		return (struct trip){
			latency_ps + (way->stores ? way->n_hops * all : all), all};
	}
	struct trip trip = {0, 0};
	const struct tb_link_info *link = first_link(way);
	for (uint32_t n = 1; link; n++) {
		const struct tb_link_info *next = idle_credit_next_link(way, link, n);
		trip.in += idle_credit_step(way, link, next, wire);
		trip.pace = tb_time_later(trip.pace, idle_credit_crossing(link, wire));
		link = next;
	}
	return trip;
}

// by_credits is when full packet `number` enters at the earliest, after the first, given
// the room in the buffers on its path.
static tb_time_ps by_credits(const struct idle_credit_way *way, uint64_t number,
	uint64_t payload, tb_time_ps pace)
{
	const struct tb_network_params *params = &way->net->params;
	uint64_t wire = payload + params->packet_overhead_bytes;
	uint64_t blocks = (wire + TB_CREDIT_BLOCK_BYTES - 1) / TB_CREDIT_BLOCK_BYTES;
	const struct tb_link_info *link = first_link(way);
	tb_time_ps latest = 0;
	if (!way->has_credits)
		return 0;
	for (uint32_t n = 1; link; n++) {
		const struct tb_link_info *next = idle_credit_next_link(way, link, n);
		uint64_t held = link->fifo_bytes / TB_CREDIT_BLOCK_BYTES / blocks;
		tb_time_ps loop = idle_credit_step(way, link, next, wire) +
				  way->net->links[link->reverse.id].latency_ps +
				  (next ? idle_credit_crossing(next, wire)
					: tb_idle_time(payload, way->drain_q20));
		latest =
			tb_time_later(latest, (tb_time_ps)(number / held) * loop +
						      (tb_time_ps)(number % held) * pace);
		link = next;
		if (n == 1 && way->n_hops > 2) // those between are like the first
			n = way->n_hops - 1;
	}
	return latest;
}

struct idle_cut {		// a message in packets
	uint64_t n, full, last; // payload of packets
};

static uint64_t idle_credit_payload(const struct idle_cut *cut, uint64_t number)
{
	return number + 1 < cut->n ? cut->full : cut->last;
}

static uint64_t idle_credit_wire(
	const struct idle_credit_way *way, const struct idle_cut *cut, uint64_t number)
{
	const struct tb_network_params *params = &way->net->params;
	uint64_t wire =
		idle_credit_payload(cut, number) + params->packet_overhead_bytes +
		(number == 0 ? tb_credit_params(params)->first_overhead_bytes : 0);
	return wire ? wire : 1;
}

// pace_before is the least time between the entries of a packet and of the one before it.
static tb_time_ps pace_before(
	const struct idle_credit_way *way, const struct idle_cut *cut, uint64_t number)
{
	return tb_time_later(
		idle_credit_trip(way, idle_credit_wire(way, cut, number - 1)).pace,
		tb_idle_time(idle_credit_payload(cut, number), way->fetch_q20));
}

// idle_credit_entry is when a packet enters the network after the first. Those between
// the second and the last are alike.
static tb_time_ps idle_credit_entry(
	const struct idle_credit_way *way, const struct idle_cut *cut, uint64_t number)
{
	tb_time_ps enters = 0;
	if (number == 0)
		return 0;
	if (number > 1)
		enters = pace_before(way, cut, number);
	if (number > 2)
		enters += (tb_time_ps)(number - 2) * pace_before(way, cut, 2);
	enters += pace_before(way, cut, 1);
	tb_time_ps pace = tb_time_later(
		idle_credit_trip(way, cut->full + way->net->params.packet_overhead_bytes)
			.pace,
		tb_idle_time(cut->full, way->fetch_q20));
	return tb_time_later(enters, by_credits(way, number, cut->full, pace));
}

static tb_time_ps drained_at(
	const struct idle_credit_way *way, const struct idle_cut *cut)
{
	uint64_t last = cut->n - 1;
	tb_time_ps at = idle_credit_entry(way, cut, last) +
			idle_credit_trip(way, idle_credit_wire(way, cut, last)).in;
	tb_time_ps drain = tb_idle_time(cut->full, way->drain_q20);
	if (last > 0)
		at = tb_time_later(
			at, idle_credit_entry(way, cut, last - 1) +
				    idle_credit_trip(
					    way, idle_credit_wire(way, cut, last - 1))
					    .in +
				    drain);
	if (last > 0)
		at = tb_time_later(
			at, idle_credit_trip(way, idle_credit_wire(way, cut, 0)).in +
				    (tb_time_ps)last * drain);
	return at + tb_idle_time(cut->last, way->drain_q20);
}

static struct idle_credit_way idle_credit_way_between(const struct tb_network *network,
	struct tb_node source, struct tb_node destination)
{
	const struct tb_credit_params *credits = tb_credit_params(&network->params);
	const struct tb_switching_kind *kind = tb_switching_of(&network->params);
	return (struct idle_credit_way){.net = network,
		.source = source.id,
		.destination = destination.id,
		.n_hops = network->regular ? tb_network_hops(network, source, destination)
					   : 0,
		.stores = credits->forwarding == TB_FORWARDING_STORE,
		.has_credits =
			kind->has_credits && credits->flow_control == TB_FLOW_CREDITS};
}

tb_time_ps tb_idle_credits_ps(const struct tb_network *network, struct tb_node source,
	struct tb_node destination, uint64_t bytes)
{
	const struct tb_network_params *params = &network->params;
	uint64_t pcie_q20 = tb_per_byte_q20(tb_credit_params(params)->pcie_bytes_per_s);
	uint64_t drain_q20 =
		tb_per_byte_q20(tb_network_drain_bytes_per_s(network, destination));
	tb_time_ps overhead = params->send_overhead_ps + params->receive_overhead_ps;
	if (source.id == destination.id)
		return overhead + tb_time_later(tb_idle_time(bytes, pcie_q20),
					  tb_idle_time(bytes, drain_q20));
	struct idle_credit_way way =
		idle_credit_way_between(network, source, destination);
	way.fetch_q20 = pcie_q20;
	way.drain_q20 = drain_q20;
	uint64_t full = params->packet_payload_bytes;
	struct idle_cut cut = {bytes ? (bytes + full - 1) / full : 1, full, 0};
	cut.last = bytes - (cut.n - 1) * full;
	return overhead + tb_fetch_delay_ps(tb_credit_params(params), bytes) +
	       tb_idle_time(idle_credit_payload(&cut, 0), pcie_q20) +
	       drained_at(&way, &cut);
}

// The links that a lone message takes; of a regular tree, where all are alike, any.
struct stored_way {
	const struct tb_network *net;
	uint32_t source, destination;
	uint32_t n_hops; // of a regular tree, else 0
};

static struct stored_way idle_stored_way(
	const struct tb_network *network, uint32_t source, uint32_t destination)
{
	return (struct stored_way){.net = network,
		.source = source,
		.destination = destination,
		.n_hops = network->regular
				  ? tb_network_hops(network, (struct tb_node){source},
					    (struct tb_node){destination})
				  : 0};
}

// idle_stored_next_link returns the link behind the `n_crossed` ones that end with
// `link`; TB_ID_NONE: there is none.
static uint32_t idle_stored_next_link(
	const struct stored_way *way, uint32_t link, uint32_t n_crossed)
{
	const struct tb_link_info *info = &way->net->links[link];
	if (way->n_hops)
		return n_crossed < way->n_hops ? link : TB_ID_NONE;
	if (info->kind == TB_LINK_EJECTION)
		return TB_ID_NONE;
	return tb_idle_link_on(way->net, info->to, way->source, way->destination);
}

static uint64_t burst_of(const struct tb_network *network)
{
	return tb_ethernet_params(&network->params)->burst_bytes;
}

tb_time_ps tb_idle_burst(const struct tb_network *network, uint32_t link)
{
	return tb_idle_time(
		burst_of(network), tb_per_byte_q20(network->links[link].bytes_per_s));
}

tb_time_ps tb_idle_passes(
	const struct tb_network *network, uint64_t byte_q20, uint64_t wire_bytes)
{
	return tb_time_later(0, tb_idle_time(wire_bytes, byte_q20) -
					tb_idle_time(burst_of(network), byte_q20));
}

// idle_stored_crossed is when the last frame of a message has arrived: the largest, over
// all links, of the time in which the first frame reaches the link, the whole message
// crosses it, and the last frame crosses the links behind it.
static tb_time_ps idle_stored_crossed(
	const struct stored_way *way, uint64_t first, uint64_t last, uint64_t all)
{
	const struct tb_network *net = way->net;
	tb_time_ps latency = 0, before = 0, most = 0;
	uint32_t n = 1;
	for (uint32_t link = net->injection[way->source]; link != TB_ID_NONE; n++) {
		uint64_t q20 = tb_per_byte_q20(net->links[link].bytes_per_s);
		latency += net->links[link].latency_ps;
		most = tb_time_later(most + tb_idle_passes(net, q20, last),
			before + tb_idle_passes(net, q20, all));
		before += tb_idle_passes(net, q20, first);
		link = idle_stored_next_link(way, link, n);
	}
	return latency + most;
}

tb_time_ps tb_idle_stored_ps(const struct tb_network *network, struct tb_node source,
	struct tb_node destination, uint64_t bytes)
{
	const struct tb_network_params *params = &network->params;
	tb_time_ps overheads = params->send_overhead_ps + params->receive_overhead_ps;
	if (source.id == destination.id)
		return overheads;
	const struct stored_way way = idle_stored_way(network, source.id, destination.id);
	uint64_t full = params->packet_payload_bytes;
	uint64_t n = bytes ? (bytes + full - 1) / full : 1;
	uint64_t header = params->packet_overhead_bytes;
	uint64_t last = bytes - (n - 1) * full + header;
	uint64_t first = n > 1 ? full + header : last;
	uint64_t all = bytes + n * header;
	return overheads + idle_stored_crossed(&way, first ? first : 1, last ? last : 1,
				   all ? all : 1);
}
