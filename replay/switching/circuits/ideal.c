// What a message takes on an idle network, in closed form.
#include "headers.h"

static tb_time_ps time_of(uint64_t bytes, uint64_t bytes_per_s)
{
	if (bytes_per_s == 0)
		return 0;
	return (tb_time_ps)((double)bytes * (double)TB_PS_PER_S / (double)bytes_per_s +
			    0.5);
}

static tb_time_ps larger(tb_time_ps a, tb_time_ps b)
{
	return a > b ? a : b;
}

// entry_of is when full packet `number` (from 0) enters the network, after the first: at
// the pace of link and bus, or of the VCs, each of which takes a packet a circuit.
static tb_time_ps entry_of(
	uint64_t number, uint64_t n_vcs, tb_time_ps pace, tb_time_ps circuit)
{
	return larger(
		(tb_time_ps)number * pace, (tb_time_ps)(number / n_vcs) * circuit +
						   (tb_time_ps)(number % n_vcs) * pace);
}

tb_time_ps tb_circuits_ideal_ps(const struct tb_network *network, struct tb_node source,
	struct tb_node destination, uint64_t bytes)
{
	const struct tb_network_params *params = &network->params;
	tb_time_ps overhead = params->send_overhead_ps + params->receive_overhead_ps;
	if (source.id == destination.id)
		return overhead + time_of(2 * bytes, params->bus_bytes_per_s);
	uint64_t full = params->packet_payload_bytes;
	uint64_t n = bytes ? (bytes + full - 1) / full : 1;
	uint64_t last = bytes - (n - 1) * full;
	uint64_t first = n > 1 ? full : bytes;
	uint64_t rate = params->link_bytes_per_s;
	tb_time_ps hops = tb_network_hops(network, source, destination);
	tb_time_ps hop = params->hop_latency_ps + time_of(params->flit_bytes, rate);
	tb_time_ps wire = time_of(full + params->packet_overhead_bytes, rate);
	tb_time_ps pace = larger(wire, time_of(full, params->bus_bytes_per_s));
	// A VC serves its next packet when the last one's acknowledgement is back.
	tb_time_ps circuit = (hops - 1) * hop + wire + params->hop_latency_ps +
			     params->ack_delay_ps + hops * hop;
	tb_time_ps begin = entry_of(n - 1, params->n_vcs, pace, circuit);
	tb_time_ps way = time_of(first, params->bus_bytes_per_s) + (hops - 1) * hop +
			 params->hop_latency_ps;
	uint64_t wire_last = last + params->packet_overhead_bytes;
	tb_time_ps in = way + begin + time_of(wire_last ? wire_last : 1, rate);
	// A short last packet may still have to wait for the drain of the one before it.
	if (n > 1)
		in = larger(in, way + entry_of(n - 2, params->n_vcs, pace, circuit) +
					wire + time_of(full, params->bus_bytes_per_s));
	return overhead + in + time_of(last, params->bus_bytes_per_s);
}
