// The latency of a message on an idle network, by the formula of docs/model.md.
#include "idle.h"

#include "circuit_params.h"
#include "replay.h"

// In two parts, as a message may be so long that the product has no room.
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

// quickest returns the link of a group with the highest rate, among equals the one with
// the least latency, among these the first.
static uint32_t quickest(const struct tb_network *network, struct tb_route_group group)
{
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

uint32_t tb_idle_link_on(const struct tb_network *network, uint32_t sw, uint32_t source,
	uint32_t destination)
{
	uint32_t route = tb_network_route(network, sw, destination, 0, 0);
	if (!(route & TB_ROUTE_GROUP))
		return route;
	struct tb_route_group group = network->groups[route & ~TB_ROUTE_GROUP];
	if (network->params.ascent == TB_ASCENT_SOURCE)
		return network->group_links[group.first + source % group.n];
	return quickest(network, group);
}

// idle_find_path follows the links that a lone message takes.
static struct tb_idle_path idle_find_path(
	const struct tb_network *network, uint32_t source, uint32_t destination)
{
	uint32_t flit = tb_circuit_params(&network->params)->flit_bytes;
	uint32_t id = network->injection[source];
	struct tb_idle_path path = {0};
	idle_add_link(&path, &network->links[id], flit);
	while (network->links[id].kind != TB_LINK_EJECTION) {
		id = tb_idle_link_on(network, network->links[id].to, source, destination);
		idle_add_link(&path, &network->links[id], flit);
	}
	return path;
}

// path_of_equals does the same where all links are alike.
static struct tb_idle_path path_of_equals(
	const struct tb_network *network, uint32_t n_links)
{
	struct tb_idle_path path = {0};
	idle_add_link(&path, &network->links[network->injection[0]],
		tb_circuit_params(&network->params)->flit_bytes);
	path.before = (tb_time_ps)(n_links - 1) * path.back;
	path.back *= n_links;
	return path;
}

struct tb_idle_path tb_idle_path(
	const struct tb_network *network, uint32_t source, uint32_t destination)
{
	if (!network->regular)
		return idle_find_path(network, source, destination);
	return path_of_equals(network, tb_network_hops(network, (struct tb_node){source},
					       (struct tb_node){destination}));
}

tb_time_ps tb_idle_crossing(const struct tb_network *network,
	const struct tb_idle_path *path, uint64_t wire_bytes)
{
	uint64_t flit = tb_circuit_params(&network->params)->flit_bytes;
	uint64_t last = wire_bytes - (wire_bytes - 1) / flit * flit;
	return tb_idle_time(wire_bytes, path->slowest_q20) -
	       tb_idle_time(last, path->slowest_q20) + tb_idle_time(last, path->last_q20);
}

struct tb_idle_trip tb_idle_trip(const struct tb_network *network, uint32_t source,
	uint32_t destination, uint64_t wire_bytes)
{
	const struct tb_idle_path path = tb_idle_path(network, source, destination);
	return (struct tb_idle_trip){.pace = tb_idle_time(wire_bytes, path.slowest_q20),
		.before = path.before,
		.last = tb_idle_time(wire_bytes, path.last_q20),
		.crossed = tb_idle_crossing(network, &path, wire_bytes),
		.behind = path.behind,
		.back = path.back};
}

// idle_crossing is that of a packet with so much payload.
static tb_time_ps idle_crossing(const struct tb_network *network,
	const struct tb_idle_path *path, uint64_t payload)
{
	uint64_t wire = payload + network->params.packet_overhead_bytes;
	return tb_idle_crossing(network, path, wire ? wire : 1);
}

// idle_entry is when full packet `number` (from 0) enters the network, after the first:
// at the pace of link and bus, or of the VCs, each of which takes a packet a circuit.
static tb_time_ps idle_entry(
	uint64_t number, uint64_t n_vcs, tb_time_ps pace, tb_time_ps circuit)
{
	return tb_time_later(
		(tb_time_ps)number * pace, (tb_time_ps)(number / n_vcs) * circuit +
						   (tb_time_ps)(number % n_vcs) * pace);
}

tb_time_ps tb_idle_latency_ps(const struct tb_network *network, struct tb_node source,
	struct tb_node destination, uint64_t bytes)
{
	const struct tb_network_params *params = &network->params;
	uint64_t bus_q20 = tb_per_byte_q20(tb_circuit_params(params)->bus_bytes_per_s);
	tb_time_ps overhead = params->send_overhead_ps + params->receive_overhead_ps;
	if (source.id == destination.id)
		return overhead + tb_idle_time(2 * bytes, bus_q20) +
		       (bytes && bus_q20 ? tb_circuit_params(params)->bus_turn_ps : 0);
	const struct tb_idle_path path = tb_idle_path(network, source.id, destination.id);
	uint64_t full = params->packet_payload_bytes;
	uint64_t n = bytes ? (bytes + full - 1) / full : 1;
	uint64_t last = bytes - (n - 1) * full;
	tb_time_ps full_crossing = idle_crossing(network, &path, full);
	tb_time_ps pace = tb_time_later(
		tb_idle_time(full + params->packet_overhead_bytes, path.slowest_q20),
		tb_idle_time(full, bus_q20));
	// A VC serves its next packet when the acknowledgement of the previous one is
	// back.
	tb_time_ps circuit = path.before + full_crossing + path.behind +
			     tb_circuit_params(params)->ack_delay_ps + path.back;
	tb_time_ps way = tb_idle_time(n > 1 ? full : bytes, bus_q20) + path.before;
	tb_time_ps in = way + idle_entry(n - 1, path.n_vcs, pace, circuit) +
			idle_crossing(network, &path, last) + path.behind;
	// A short last packet may still have to wait for the drain of the one before it.
	if (n > 1)
		in = tb_time_later(
			in, way + idle_entry(n - 2, path.n_vcs, pace, circuit) +
				    full_crossing + path.behind +
				    tb_idle_time(full, bus_q20));
	return overhead + in + tb_idle_time(last, bus_q20);
}
