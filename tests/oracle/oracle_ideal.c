// The ideal latency of a message, by the formula of docs/model.md, "What is counted".
#include "oracle_impl.h"

static tb_time_ps larger(tb_time_ps a, tb_time_ps b)
{
	return a > b ? a : b;
}

static tb_time_ps bus_time(const struct tb_network *net, uint64_t bytes)
{
	return rate_time(byte_time(net->params.bus_bytes_per_s), bytes);
}

static tb_time_ps wire_time(const struct tb_network *net, uint64_t payload_bytes)
{
	uint64_t bytes = payload_bytes + net->params.packet_overhead_bytes;
	return rate_time(byte_time(net->params.link_bytes_per_s), bytes ? bytes : 1);
}

// entry is when packet i (from 0) enters the network, after the first.
static tb_time_ps entry(
	const struct tb_network *net, uint64_t i, tb_time_ps pace, tb_time_ps circuit)
{
	uint64_t n_vcs = net->params.n_vcs;
	tb_time_ps by_pace = (tb_time_ps)i * pace;
	tb_time_ps by_vcs =
		(tb_time_ps)(i / n_vcs) * circuit + (tb_time_ps)(i % n_vcs) * pace;
	return larger(by_pace, by_vcs);
}

tb_time_ps oracle_ideal_ps(const struct tb_network *net, struct tb_node source,
	struct tb_node destination, uint64_t bytes)
{
	const struct tb_network_params *params = &net->params;
	tb_time_ps overheads = params->send_overhead_ps + params->receive_overhead_ps;
	if (source.id == destination.id)
		return overheads + bus_time(net, 2 * bytes);
	tb_time_ps n_links = tb_network_hops(net, source, destination);
	tb_time_ps hop =
		params->hop_latency_ps +
		rate_time(byte_time(params->link_bytes_per_s), params->flit_bytes);
	uint64_t full = params->packet_payload_bytes;
	uint64_t n = bytes ? (bytes + full - 1) / full : 1, last = bytes - (n - 1) * full;
	tb_time_ps before = (n_links - 1) * hop, behind = params->hop_latency_ps;
	tb_time_ps pace = larger(wire_time(net, full), bus_time(net, full));
	tb_time_ps circuit = before + wire_time(net, full) + behind +
			     params->ack_delay_ps + n_links * hop;
	tb_time_ps first = bus_time(net, n > 1 ? full : bytes);
	tb_time_ps in = first + entry(net, n - 1, pace, circuit) + before +
			wire_time(net, last) + behind;
	if (n > 1)
		in = larger(in, first + entry(net, n - 2, pace, circuit) + before +
					wire_time(net, full) + behind +
					bus_time(net, full));
	return overheads + in + bus_time(net, last);
}
