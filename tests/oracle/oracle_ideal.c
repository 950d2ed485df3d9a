// The ideal latency of a message, by the formula of docs/model.md, "What is counted".
#include "circuit_params.h"
#include "credits/credits.h"

#include <assert.h>

static tb_time_ps larger(tb_time_ps a, tb_time_ps b)
{
	return a > b ? a : b;
}

struct path oracle_ideal_path(
	struct oracle *oracle, uint32_t source, uint32_t destination)
{
	const struct link *link = &oracle->links[oracle->net->injection[source]];
	struct path path = {.n = 0};
	path.links[path.n++] = link;
	while (link->info->kind != TB_LINK_EJECTION) {
		uint32_t id =
			oracle_ideal_link(oracle, link->info->to, source, destination);
		link = &oracle->links[id];
		assert(path.n < PATH_MOST);
		path.links[path.n++] = link;
	}
	return path;
}

// hops is the sum of the hops of the first n links.
static tb_time_ps hops(const struct path *path, uint32_t n)
{
	tb_time_ps sum = 0;
	for (uint32_t i = 0; i < n; i++)
		sum += path->links[i]->hop_ps;
	return sum;
}

static uint64_t slowest_q20(const struct path *path)
{
	uint64_t slowest = 0;
	for (uint32_t i = 0; i < path->n; i++)
		if (path->links[i]->byte_q20 > slowest)
			slowest = path->links[i]->byte_q20;
	return slowest;
}

// in_after is when a packet is in at its destination after it entered the network.
static tb_time_ps in_after(
	const struct oracle *oracle, const struct path *path, uint64_t payload)
{
	const struct tb_network_params *params = &oracle->net->params;
	const struct link *last = path->links[path->n - 1];
	uint64_t wire = payload + params->packet_overhead_bytes;
	if (wire == 0)
		wire = 1;
	uint64_t n_flits = (wire + tb_circuit_params(params)->flit_bytes - 1) /
			   tb_circuit_params(params)->flit_bytes;
	uint64_t last_flit = wire - (n_flits - 1) * tb_circuit_params(params)->flit_bytes;
	uint64_t q20 = slowest_q20(path);
	return hops(path, path->n - 1) + rate_time(q20, wire) -
	       rate_time(q20, last_flit) + rate_time(last->byte_q20, last_flit) +
	       last->info->latency_ps;
}

// in_q20 is of the bus that what comes in crosses.
static uint64_t in_q20(const struct oracle *oracle)
{
	return byte_time(tb_circuit_bus_rate(&oracle->net->params, true));
}

// entry is when packet i (from 0) of a message enters the network, after the first.
static tb_time_ps entry(const struct oracle *oracle, const struct path *path, uint64_t i)
{
	const struct tb_network_params *params = &oracle->net->params;
	uint64_t full = params->packet_payload_bytes;
	tb_time_ps wire =
		rate_time(slowest_q20(path), full + params->packet_overhead_bytes);
	tb_time_ps pace = larger(wire, larger(rate_time(oracle->bus_q20, full),
					       rate_time(in_q20(oracle), full)));
	tb_time_ps circuit = in_after(oracle, path, full) +
			     tb_circuit_params(params)->ack_delay_ps +
			     hops(path, path->n);
	uint64_t vcs_in = path->links[0]->info->n_vcs;
	uint64_t vcs_out = path->links[path->n - 1]->info->n_vcs;
	uint64_t n_vcs = vcs_in < vcs_out ? vcs_in : vcs_out;
	return larger((tb_time_ps)i * pace,
		(tb_time_ps)(i / n_vcs) * circuit + (tb_time_ps)(i % n_vcs) * pace);
}

tb_time_ps oracle_ideal_ps(struct oracle *oracle, const struct message *message)
{
	const struct tb_network_params *params = &oracle->net->params;
	if (oracle->credits)
		return credits_ideal_ps(oracle, message);
	uint32_t source = message->what.source.id;
	uint64_t bytes = message->what.bytes, full = params->packet_payload_bytes;
	tb_time_ps overheads = params->send_overhead_ps + params->receive_overhead_ps;
	if (source == message->end && !tb_circuit_buses_shared(params))
		return overheads + larger(rate_time(oracle->bus_q20, bytes),
					   rate_time(in_q20(oracle), bytes));
	if (source == message->end)
		return overheads + rate_time(oracle->bus_q20, 2 * bytes) +
		       (oracle->bus_q20 && bytes ? tb_circuit_bus_turn(params) : 0);
	while (tb_circuit_params(params)->write_block_bytes && bytes % full &&
		bytes % full % tb_circuit_params(params)->write_block_bytes)
		bytes++;
	struct path path = oracle_ideal_path(oracle, source, message->end);
	uint64_t n = message->n_packets, last = bytes - (n - 1) * full;
	tb_time_ps fetch = rate_time(oracle->bus_q20, n > 1 ? full : bytes);
	tb_time_ps enters = entry(oracle, &path, n - 1);
	if (!tb_circuit_buses_shared(params) && n > 1) {
		// The last packet is fetched after its own bytes, unless its VC is not
		// free.
		uint64_t vcs_in = path.links[0]->info->n_vcs;
		uint64_t vcs_out = path.links[path.n - 1]->info->n_vcs;
		uint64_t n_vcs = vcs_in < vcs_out ? vcs_in : vcs_out;
		tb_time_ps crosses = rate_time(
			slowest_q20(&path), full + params->packet_overhead_bytes);
		tb_time_ps fetched = rate_time(oracle->bus_q20, last);
		tb_time_ps circuit = in_after(oracle, &path, full) +
				     tb_circuit_params(params)->ack_delay_ps +
				     hops(&path, path.n);
		enters = entry(oracle, &path, n - 2) + larger(crosses, fetched);
		if (n > n_vcs)
			enters = larger(
				enters, entry(oracle, &path, n - 1 - n_vcs) + circuit);
	}
	tb_time_ps drainable = enters + in_after(oracle, &path, last);
	if (n > 1) // the one before is in, and drained
		drainable = larger(drainable, entry(oracle, &path, n - 2) +
						      in_after(oracle, &path, full) +
						      rate_time(in_q20(oracle), full));
	return overheads + fetch + drainable + rate_time(in_q20(oracle), last);
}
