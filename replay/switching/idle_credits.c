#include "idle_credits.h"

#include "credit_params.h"
#include "replay.h"
#include "slow_nodes.h"
#include "switchings.h"

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
// to cross the next one, or is in.
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

// by_credits is when full packet `number` enters after the first for want of room in any
// of the buffers on the way, at least.
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

// pace_before is what a packet enters after the one before it at least.
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

struct tb_idle_trip tb_idle_credits_trip(const struct tb_network *network,
	uint32_t source, uint32_t destination, uint64_t wire_bytes)
{
	const struct idle_credit_way way = idle_credit_way_between(
		network, (struct tb_node){source}, (struct tb_node){destination});
	struct tb_idle_trip trip = {.pace = 0};
	tb_time_ps back = 0;
	const struct tb_link_info *link = first_link(&way);
	for (uint32_t n = 1; link; n++) {
		const struct tb_link_info *next = idle_credit_next_link(&way, link, n);
		trip.pace =
			tb_time_later(trip.pace, idle_credit_crossing(link, wire_bytes));
		back = tb_time_later(
			back, idle_credit_crossing(link,
				      tb_credit_params(&network->params)->ack_bytes));
		trip.back += link->latency_ps;
		trip.last = trip.crossed = idle_credit_crossing(link, wire_bytes);
		trip.behind = link->latency_ps;
		if (next)
			trip.before += idle_credit_step(&way, link, next, wire_bytes);
		link = next;
	}
	trip.back += back;
	return trip;
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
