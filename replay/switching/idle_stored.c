#include "idle_stored.h"

#include "ethernet_params.h"
#include "replay.h"

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

static tb_time_ps carried(const struct tb_network *network, uint32_t link, uint64_t wire)
{
	return tb_idle_time(wire, tb_per_byte_q20(network->links[link].bytes_per_s));
}

tb_time_ps tb_idle_burst(const struct tb_network *network, uint32_t link)
{
	return carried(network, link, tb_ethernet_params(&network->params)->burst_bytes);
}

// idle_stored_passes is how long a link with a full bucket holds so many bytes back.
static tb_time_ps idle_stored_passes(
	const struct tb_network *network, uint32_t link, uint64_t wire)
{
	return tb_time_later(
		0, carried(network, link, wire) - tb_idle_burst(network, link));
}

struct tb_idle_frame tb_idle_frame(const struct tb_network *network, uint32_t source,
	uint32_t destination, uint64_t wire_bytes)
{
	const struct stored_way way = idle_stored_way(network, source, destination);
	uint32_t link = network->injection[source], n = 1;
	struct tb_idle_frame frame = {.injection = carried(network, link, wire_bytes),
		.between = network->links[link].latency_ps};
	for (uint32_t next; (next = idle_stored_next_link(&way, link, n)) != TB_ID_NONE;
		n++) {
		link = next;
		frame.behind = network->links[link].latency_ps;
		frame.ejection = carried(network, link, wire_bytes);
		frame.between +=
			frame.behind + idle_stored_passes(network, link, wire_bytes);
	}
	frame.between -= frame.behind + idle_stored_passes(network, link, wire_bytes);
	return frame;
}

// idle_stored_crossed is when the last of a message's frames has come: each link carries
// all of the message, behind the links that its first frame passes before, in front of
// those that its last one passes then.
static tb_time_ps idle_stored_crossed(
	const struct stored_way *way, uint64_t first, uint64_t last, uint64_t all)
{
	const struct tb_network *net = way->net;
	tb_time_ps latency = 0, before = 0, most = 0;
	uint32_t n = 1;
	for (uint32_t link = net->injection[way->source]; link != TB_ID_NONE; n++) {
		latency += net->links[link].latency_ps;
		most = tb_time_later(most + idle_stored_passes(net, link, last),
			before + idle_stored_passes(net, link, all));
		before += idle_stored_passes(net, link, first);
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
