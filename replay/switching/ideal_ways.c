#include "ideal_ways.h"

#include "circuit_params.h"
#include "credit_params.h"
#include "idle.h"
#include "replay.h"
#include "switchings.h"

#include <stdlib.h>

// What a search from one switch goes through.
struct way_queue {
	uint32_t *switches; // a ring of n_switches
	bool *is_in;
	tb_time_ps *latency_ps; // by switch, to there
	tb_time_ps *n_links;
};

// search_ways finds the least of what links add up to from a switch to all others: their
// latency, or how many they are.
static void search_ways(const struct tb_network *net, struct way_queue *queue,
	uint32_t from, bool by_latency)
{
	tb_time_ps *least = by_latency ? queue->latency_ps : queue->n_links;
	for (uint32_t sw = 0; sw < net->n_switches; sw++)
		least[sw] = TB_TIME_NEVER;
	least[from] = 0;
	queue->switches[0] = from;
	for (uint32_t n = 1, first = 0; n > 0; n--) {
		uint32_t sw = queue->switches[first];
		first = first + 1 == net->n_switches ? 0 : first + 1;
		queue->is_in[sw] = false;
		for (uint32_t port = net->first_out[sw]; port < net->first_out[sw + 1];
			port++) {
			uint32_t id = net->out_links[port];
			if (id == TB_ID_NONE || net->links[id].kind == TB_LINK_EJECTION)
				continue;
			const struct tb_link_info *link = &net->links[id];
			tb_time_ps ps = least[sw] + (by_latency ? link->latency_ps : 1);
			if (ps >= least[link->to])
				continue;
			least[link->to] = ps;
			if (!queue->is_in[link->to])
				queue->switches[(first + n++ - 1) % net->n_switches] =
					link->to;
			queue->is_in[link->to] = true;
		}
	}
}

// number_switches numbers those with nodes.
static int number_switches(struct tb_ideal_ways *ways)
{
	const struct tb_network *net = ways->net;
	ways->number = malloc(net->n_switches * sizeof *ways->number);
	if (!ways->number)
		return TB_ENOMEM;
	for (uint32_t sw = 0; sw < net->n_switches; sw++)
		ways->number[sw] = TB_ID_NONE;
	for (uint32_t node = 0; node < net->n_nodes; node++) {
		uint32_t *number = &ways->number[net->links[net->injection[node]].to];
		if (*number == TB_ID_NONE)
			*number = ways->n_numbered++;
	}
	return TB_OK;
}

static int find_ways(struct tb_ideal_ways *ways)
{
	const struct tb_network *net = ways->net;
	int status = number_switches(ways);
	struct way_queue queue = {malloc(net->n_switches * sizeof *queue.switches),
		calloc(net->n_switches, sizeof *queue.is_in),
		malloc(net->n_switches * sizeof *queue.latency_ps),
		malloc(net->n_switches * sizeof *queue.n_links)};
	ways->of =
		calloc((size_t)ways->n_numbered * ways->n_numbered + 1, sizeof *ways->of);
	if (!queue.switches || !queue.is_in || !queue.latency_ps || !queue.n_links ||
		!ways->of)
		status = TB_ENOMEM;
	for (uint32_t from = 0; status == TB_OK && from < net->n_switches; from++) {
		if (ways->number[from] == TB_ID_NONE)
			continue;
		struct tb_ideal_way *of =
			&ways->of[(size_t)ways->number[from] * ways->n_numbered];
		search_ways(net, &queue, from, true);
		search_ways(net, &queue, from, false);
		for (uint32_t to = 0; to < net->n_switches; to++)
			if (ways->number[to] != TB_ID_NONE &&
				queue.n_links[to] != TB_TIME_NEVER)
				of[ways->number[to]] =
					(struct tb_ideal_way){queue.latency_ps[to],
						(uint32_t)queue.n_links[to]};
	}
	free(queue.switches);
	free(queue.is_in);
	free(queue.latency_ps);
	free(queue.n_links);
	return status;
}

int tb_ideal_ways_init(struct tb_ideal_ways *ways, const struct tb_network *net)
{
	*ways = (struct tb_ideal_ways){.net = net};
	uint64_t fastest = net->links[0].bytes_per_s;
	for (uint32_t i = 1; i < net->n_links; i++)
		if (net->links[i].bytes_per_s > fastest)
			fastest = net->links[i].bytes_per_s;
	ways->fastest_q20 = tb_per_byte_q20(fastest);
	return net->regular ? TB_OK : find_ways(ways);
}

void tb_ideal_ways_fini(struct tb_ideal_ways *ways)
{
	free(ways->number);
	free(ways->of);
	*ways = (struct tb_ideal_ways){0};
}

struct tb_ideal_way tb_ideal_way_between(
	const struct tb_ideal_ways *ways, uint32_t source, uint32_t destination)
{
	const struct tb_network *net = ways->net;
	if (net->regular) {
		uint32_t n = tb_network_hops(net, (struct tb_node){source},
				     (struct tb_node){destination}) -
			     2;
		return (struct tb_ideal_way){n * net->links[0].latency_ps, n};
	}
	uint32_t from = ways->number[net->links[net->injection[source]].to];
	uint32_t to = ways->number[net->links[net->ejection[destination]].from];
	return ways->of[(size_t)from * ways->n_numbered + to];
}

// A trip, as far as it is known without its switching.
struct ideal_ends {
	const struct tb_link_info *out, *in;
	uint64_t out_q20, in_q20, slower_q20;
	struct tb_ideal_way way;
};

// A link between switches holds up the header alone. A packet comes to a slow node at
// that one's pace, but leaves room for others on the injection link.
static struct tb_idle_trip circuit_trip(const struct tb_ideal_ways *ways,
	const struct ideal_ends *ends, uint64_t wire_bytes)
{
	const struct tb_network *net = ways->net;
	uint64_t flit = tb_circuit_params(&net->params)->flit_bytes;
	tb_time_ps before = ends->out->latency_ps + tb_idle_time(flit, ends->out_q20) +
			    ends->way.latency_ps +
			    ends->way.n_links * tb_idle_time(flit, ways->fastest_q20);
	const struct tb_idle_path path = {
		.slowest_q20 = ends->slower_q20, .last_q20 = ends->in_q20};
	return (struct tb_idle_trip){.pace = tb_idle_time(wire_bytes, ends->out_q20),
		.before = before,
		.last = tb_idle_time(wire_bytes, ends->in_q20),
		.crossed = tb_idle_crossing(net, &path, wire_bytes),
		.behind = ends->in->latency_ps,
		.back = before + ends->in->latency_ps + tb_idle_time(flit, ends->in_q20)};
}

// Each switch has a packet whole before it sends it on, or as much of it as the next link
// could send before the rest has come.
static struct tb_idle_trip credit_trip(const struct tb_ideal_ways *ways,
	const struct ideal_ends *ends, uint64_t wire_bytes)
{
	const struct tb_credit_params *params = tb_credit_params(&ways->net->params);
	tb_time_ps out = tb_idle_time(wire_bytes, ends->out_q20),
		   in = tb_idle_time(wire_bytes, ends->in_q20);
	tb_time_ps latency_ps = ends->out->latency_ps + ends->way.latency_ps;
	tb_time_ps stored = tb_time_later(0, out - in);
	if (params->forwarding == TB_FORWARDING_STORE)
		stored = out +
			 ends->way.n_links * tb_idle_time(wire_bytes, ways->fastest_q20);
	return (struct tb_idle_trip){.pace = out,
		.before = latency_ps + stored,
		.last = in,
		.crossed = in,
		.behind = ends->in->latency_ps,
		.back = latency_ps + ends->in->latency_ps +
			tb_idle_time(params->ack_bytes, ends->slower_q20)};
}

// A frame passes the buckets of shapers, full ones between switches.
static struct tb_idle_trip frame_trip(const struct tb_ideal_ways *ways,
	const struct ideal_ends *ends, uint64_t wire_bytes)
{
	return (struct tb_idle_trip){.pace = tb_idle_time(wire_bytes, ends->out_q20),
		.before = ends->out->latency_ps + ends->way.latency_ps +
			  ends->way.n_links * tb_idle_passes(ways->net, ways->fastest_q20,
						      wire_bytes),
		.last = tb_idle_time(wire_bytes, ends->in_q20),
		.behind = ends->in->latency_ps};
}

struct tb_idle_trip tb_ideal_trip(const struct tb_ideal_ways *ways, uint32_t source,
	uint32_t destination, uint64_t wire_bytes)
{
	const struct tb_network *net = ways->net;
	const struct tb_switching_kind *kind = tb_switching_of(&net->params);
	struct ideal_ends ends = {.out = &net->links[net->injection[source]],
		.in = &net->links[net->ejection[destination]],
		.way = tb_ideal_way_between(ways, source, destination)};
	ends.out_q20 = tb_per_byte_q20(ends.out->bytes_per_s);
	ends.in_q20 = tb_per_byte_q20(ends.in->bytes_per_s);
	ends.slower_q20 = ends.out_q20 > ends.in_q20 ? ends.out_q20 : ends.in_q20;
	return (kind->has_circuits ? circuit_trip
		: kind->stores	   ? frame_trip
				   : credit_trip)(ways, &ends, wire_bytes);
}
