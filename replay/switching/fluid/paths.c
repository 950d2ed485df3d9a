// Routes of messages, and over how many ways they are split.
//
// Where each packet chooses its links, those of a message spread over all ways that there
// are. As a flow it is split into equal parts, one per way, as many as it has packets, up
// to TB_SHARE_WHOLE. Adaptive ways are chosen one after another, each by the load that is
// left by those before it; random ones by what its first packet draws, and from there on
// in turn, which is the mean of many packets. A message of one packet takes the route of
// that packet.
//
// With buffers chance counts: packets of different nodes that choose by load do so in
// turn, so those of a leaf take all its links up, but where they meet on their way down
// is drawn. A message goes in turns (tb_fluid_turn), each over as many ways as it draws.
#include "fluid.h"

#include "circuit_params.h"
#include "credit_params.h"
#include "idle.h"
#include "slow_nodes.h"
#include "switchings.h"

// 2^64 over the golden ratio: multiples of it lie evenly in 64 bits (Knuth, The Art of
// Computer Programming, 6.4).
#define GOLDEN_RATIO UINT64_C(0x9e3779b97f4a7c15)

// A message whose ways are chosen.
struct way_search {
	struct fluid *fluid;
	struct tb_heading heading; // of the first packet
	uint32_t origin, end, ascending;
	uint32_t n_ways, way;
	uint32_t n_drawn;    // times that its packets choose anew; 0: each does
	uint64_t n_distinct; // ways that there are, where the first one goes
	uint32_t turn;	     // of the way, at the switches to come
	uint32_t n;	     // steps
};

uint32_t tb_fluid_ways_most(const struct tb_network *net)
{
	bool splits = tb_switching_spreads(&net->params);
	bool fits = net->longest_path < UINT16_MAX / TB_SHARE_WHOLE - 1;
	return splits && fits ? TB_SHARE_WHOLE : 1;
}

static uint64_t fluid_path_lesser(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

// way_rate is that of a link, by which queues drain; where these hold up those before
// them, of the slowest link from there on to where packets choose again, but for that to
// the node. Circuits take what is free, at any rate.
static uint64_t way_rate(const struct fluid *fluid, uint32_t link, uint32_t end)
{
	const struct tb_network *net = fluid->replay.net;
	uint64_t rate = fluid->nodes->has_circuits ? 1 : net->links[link].bytes_per_s;
	while (!net->regular && !fluid->nodes->has_circuits && !fluid->nodes->stores) {
		link = net->routes[(size_t)net->links[link].to * net->n_nodes + end];
		if (link & TB_ROUTE_GROUP || net->links[link].kind == TB_LINK_EJECTION)
			break;
		rate = fluid_path_lesser(rate, net->links[link].bytes_per_s);
	}
	return rate;
}

// load_apart is below 0 where a link is less loaded for the rate of its way than another
// one, as queues of as many packets drain at these; 0: both alike.
static int load_apart(
	const struct fluid *fluid, uint32_t link, uint32_t other, uint32_t end)
{
	fluid_amount a = fluid->links[link].load, b = fluid->links[other].load;
	a *= way_rate(fluid, other, end);
	b *= way_rate(fluid, link, end);
	return (a > b) - (a < b);
}

// way_least_loaded returns the link with the least load; it breaks ties as the other
// switchings do.
static uint32_t way_least_loaded(
	struct way_search *split, struct tb_route_group group, uint32_t sw)
{
	struct fluid *fluid = split->fluid;
	uint64_t order = split->heading.order + split->way;
	uint32_t end = split->end;
	const struct tb_network *net = fluid->replay.net;
	struct tb_route_choice *choice = &fluid->replay.choice;
	const uint32_t *links = &net->group_links[group.first];
	uint32_t least = links[0], n = 0, in_turn = NOTHING;
	for (uint32_t i = 0; i < group.n; i++) {
		int apart = load_apart(fluid, links[i], least, end);
		if (apart > 0)
			continue;
		if (apart < 0) {
			least = links[i];
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
	while (load_apart(fluid, links[i], least, end) != 0 || skip-- > 0)
		i++;
	if (choice->turns)
		choice->turns[sw] = net->links[links[i]].from_port + 1;
	return links[i];
}

// way_by_rate returns the link of a group at a place, of which each link has as many as
// the rate of its way is to those of others. Numbers one behind another are spread over
// all.
static uint32_t way_by_rate(
	const struct way_search *split, struct tb_route_group group, uint64_t at)
{
	const struct fluid *fluid = split->fluid;
	uint32_t end = split->end;
	const struct tb_network *net = fluid->replay.net;
	const uint32_t *links = &net->group_links[group.first];
	uint64_t sum = 0, first = way_rate(fluid, links[0], end);
	bool alike = true;
	for (uint32_t i = 0; i < group.n && !net->regular; i++) {
		uint64_t rate = way_rate(fluid, links[i], end);
		sum += rate;
		alike &= rate == first;
	}
	if (alike)
		return links[at % group.n];
	at += split->heading.order >> 24 << 4;
	uint64_t place = (uint64_t)((fluid_amount)(at * GOLDEN_RATIO) * sum >> 64), rate;
	while (place >= (rate = way_rate(fluid, *links, end))) {
		place -= rate;
		links++;
	}
	return *links;
}

static uint32_t way_search_choose(struct way_search *split, uint32_t route, uint32_t sw)
{
	struct fluid *fluid = split->fluid;
	const struct tb_network *net = fluid->replay.net;
	struct tb_route_group group = net->groups[route & ~TB_ROUTE_GROUP];
	uint32_t way = split->way, source = split->heading.source;
	if (split->n_distinct < TB_SHARE_WHOLE)
		split->n_distinct *= group.n;
	if (split->n_drawn > 1) {
		// So many ways are drawn that all have the spread of all draws.
		bool random = net->params.ascent == TB_ASCENT_RANDOM;
		uint64_t slot = split->heading.order % (1u << 24) + way, at = way;
		if (random)
			slot = split->heading.order + way;
		if (way * split->n_drawn < TB_SHARE_WHOLE * TB_SHARE_WHOLE)
			at = tb_route_choice_draw(&fluid->replay.choice, slot, sw);
		return random ? net->group_links[group.first + (at + source) % group.n]
			      : way_by_rate(split, group, at + source);
	}
	if (net->params.ascent == TB_ASCENT_RANDOM) {
		const struct tb_replay *replay = &split->fluid->replay;
		uint64_t drawn =
			tb_route_choice_draw(&replay->choice, split->heading.order, sw) %
			group.n;
		uint32_t at = (uint32_t)((drawn + split->turn) % group.n);
		split->turn /= group.n;
		return replay->net->group_links[group.first + at];
	}
	if (fluid->replay.choice.fixed)
		return tb_route_choice_fix(
			&fluid->replay.choice, route, sw, &split->heading);
	return way_least_loaded(split, group, sw);
}

// way_search_take adds the way to the step over a link, which the first way makes anew.
static void way_search_take(struct way_search *split, uint32_t link, bool is_chosen)
{
	struct tb_share_step *steps = split->fluid->steps;
	// Where rates are coupled each way has its steps by itself.
	uint32_t i = split->way && !split->fluid->shares.coupled ? 0 : split->n;
	while (i < split->n && steps[i].link != link)
		i++;
	if (i == split->n)
		steps[split->n++] = (struct tb_share_step){.link = link,
			.begins_way = link == split->origin,
			.is_chosen = is_chosen};
	steps[i].ways |= (uint16_t)(1u << split->way);
	if (split->way == 0)
		return;
	uint16_t weight = (uint16_t)(TB_SHARE_WHOLE / split->n_ways);
	steps[i].weight = (uint16_t)(steps[i].weight + weight);
	split->fluid->links[link].load += weight;
}

static void add_way(struct way_search *split)
{
	const struct tb_network *net = split->fluid->replay.net;
	uint32_t link = net->injection[split->heading.source], hop = 0;
	split->turn = split->way;
	way_search_take(split, link, false);
	while (net->links[link].kind != TB_LINK_EJECTION) {
		uint32_t sw = net->links[link].to;
		link = tb_network_route(net, sw, split->end, hop++, split->ascending);
		bool is_chosen = link & TB_ROUTE_GROUP;
		if (is_chosen)
			link = way_search_choose(split, link, sw);
		way_search_take(split, link, is_chosen && split->fluid->ways_most > 1);
	}
}

// share_first has as many ways as a message of so many packets needs, and gives the first
// one its weight.
static void share_first(struct way_search *split, uint32_t n_packets)
{
	struct fluid *fluid = split->fluid;
	uint64_t most = split->n_drawn && split->n_distinct > 1 ? fluid->ways_most
								: split->n_distinct;
	split->n_ways = 1;
	while (2 * split->n_ways <= fluid->ways_most && 2 * split->n_ways <= n_packets &&
		split->n_ways != most)
		split->n_ways *= 2;
	uint16_t weight = (uint16_t)(TB_SHARE_WHOLE / split->n_ways);
	for (uint32_t i = 0; i < split->n; i++) {
		fluid->steps[i].weight = weight;
		fluid->links[fluid->steps[i].link].load += weight;
	}
}

// merge_way adds the last way to one before it that is the same, if there is one.
static void merge_way(struct way_search *split, uint32_t n_hops)
{
	struct tb_share_step *steps = split->fluid->steps,
			     *last = &steps[split->n - n_hops];
	for (struct tb_share_step *way = steps; way < last; way += n_hops) {
		uint32_t n = 0;
		while (n < n_hops && way[n].link == last[n].link)
			n++;
		if (n < n_hops)
			continue;
		for (uint32_t i = 0; i < n_hops; i++) {
			way[i].ways |= last[i].ways;
			way[i].weight = (uint16_t)(way[i].weight + last[i].weight);
		}
		split->n -= n_hops;
		return;
	}
}

uint32_t tb_fluid_route(struct fluid *fluid, uint32_t id, uint32_t *n_hops)
{
	const struct tb_posted *message = &fluid->replay.messages[id];
	struct way_search split = {.fluid = fluid,
		.heading = {.order = message->serial << 24 ^
				     (message->n_packets - message->n_unfetched),
			.source = message->what.source.id,
			.destination = message->end},
		.origin = fluid->replay.net->injection[message->what.source.id],
		.end = message->end,
		.ascending = message->ascending,
		.n_distinct = 1};
	uint32_t n_choices = message->n_unfetched;
	if (fluid->stays_packets)
		split.n_drawn = n_choices =
			tb_fluid_turn(fluid, message) / fluid->stays_packets;
	if (fluid->is_ideal) {
		// Take the links of the two nodes, on the ideal network.
		const struct tb_network *net = split.fluid->replay.net;
		way_search_take(&split, net->injection[split.heading.source], false);
		way_search_take(&split, net->ejection[split.heading.destination], false);
	} else
		add_way(&split);
	share_first(&split, n_choices);
	*n_hops = split.n;
	for (split.way = 1; split.way < split.n_ways; split.way++) {
		add_way(&split);
		if (fluid->stays_packets)
			merge_way(&split, *n_hops);
	}
	if (fluid->first_bus == 0)
		return split.n;
	const uint32_t ends[] = {split.heading.source, split.heading.destination};
	for (int i = 0; i < 2; i++)
		fluid->steps[split.n++] =
			(struct tb_share_step){.link = fluid->first_bus + ends[i],
				.weight = TB_SHARE_WHOLE,
				.ways = (uint16_t)((1u << split.n_ways) - 1)};
	return split.n;
}

void tb_fluid_unload(struct fluid *fluid, uint32_t flow)
{
	const struct tb_share_step *steps = tb_shares_steps(&fluid->shares, flow);
	for (uint32_t s = 0; s < fluid->shares.flows[flow].n_steps; s++)
		if (steps[s].link < fluid->replay.net->n_links)
			fluid->links[steps[s].link].load -= steps[s].weight;
}

// How long messages take alone.

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

// add_wire adds links that are alike, `n` of them, without latency and rate.
static void add_wire(struct stages *stages, uint64_t byte_q20, uint32_t n, bool is_last)
{
	const struct tb_network_params *params = &stages->net->params;
	if (!is_last)
		stages->latency_ps +=
			n * tb_idle_time(tb_circuit_params(params)->flit_bytes, byte_q20);
	for (uint32_t i = 0; stages->stores && i < n; i++)
		add_stage(stages, tb_idle_time(stages->wire, byte_q20));
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
	add_wire(stages, q20, 1, link->kind == TB_LINK_EJECTION);
	if (q20 > stages->slowest_q20)
		stages->slowest_q20 = q20;
	if (ack_ps > stages->ack_ps)
		stages->ack_ps = ack_ps;
}

static struct stages stages_of(const struct tb_network *net, uint64_t bytes)
{
	uint64_t payload = fluid_path_lesser(bytes, net->params.packet_payload_bytes);
	// Some switches have a packet whole before they send it on.
	return (struct stages){.net = net,
		.wire = payload + net->params.packet_overhead_bytes,
		.stores = (tb_switching_nodes(&net->params)->stores ||
			   tb_credit_params(&net->params)->forwarding ==
				   TB_FORWARDING_STORE),
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

// lone_trip is the trip over the links that a lone message takes.
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

struct fluid_trip tb_fluid_ideal_trip(
	const struct fluid *fluid, const struct tb_posted *message)
{
	const struct tb_network *net = fluid->replay.net;
	uint32_t source = message->what.source.id;
	struct tb_ideal_way way =
		tb_ideal_way_between(&fluid->ways, source, message->end);
	struct stages stages = stages_of(net, message->what.bytes);
	fluid_path_add_link(&stages, net->injection[source]);
	stages.latency_ps += way.latency_ps;
	add_wire(&stages, fluid->ways.fastest_q20, way.n_links, false);
	fluid_path_add_link(&stages, net->ejection[message->end]);
	return fluid_path_trip(&stages, message->end, message->what.bytes);
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
