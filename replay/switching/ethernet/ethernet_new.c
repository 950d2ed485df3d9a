#include "ethernet_impl.h"
#include "idle.h"

#include <stdlib.h>

enum {
	NODES_MOST = 1 << 24, // that the key of a connection has room for
	PACKETS_A_NODE = 64,  // for a start; more are made when there are more
	EVENTS_A_PACKET = 8,
};

static int make_ports(struct ethernet *made)
{
	const struct tb_network *net = made->replay.net;
	made->ports = calloc(net->n_links, sizeof *made->ports);
	made->cell = calloc(net->n_links, sizeof *made->cell);
	made->cells = malloc(net->n_links * sizeof *made->cells);
	if (!made->ports || !made->cell || !made->cells)
		return TB_ENOMEM;
	for (uint32_t i = 0; i < net->n_links; i++) {
		const struct tb_link_info *info = &net->links[i];
		made->cell[i].link = i;
		made->cells[i] = &made->cell[i];
		made->ports[i] = (struct ethernet_port){
			.byte_q20 = tb_per_byte_q20(info->bytes_per_s),
			.latency_ps = info->latency_ps,
			.burst_ps = tb_idle_time(net->params.ethernet.burst_bytes,
				tb_per_byte_q20(info->bytes_per_s)),
			.link = i,
			.first = NOTHING,
			.last = NOTHING,
			.waits = NOTHING,
			.most = net->params.fifo_bytes};
	}
	return TB_OK;
}

static int make_packets(struct ethernet *made)
{
	const struct tb_network *net = made->replay.net;
	const struct tb_network_params *params = &net->params;
	if (net->n_nodes > NODES_MOST)
		return TB_ECAPACITY;
	tb_time_ps packet_ps =
		tb_idle_time(params->packet_payload_bytes + params->packet_overhead_bytes,
			made->ports[net->injection[0]].byte_q20);
	int status = tb_replay_make(&made->replay, net->n_nodes * PACKETS_A_NODE,
		(sizeof(struct segment_packet) + 63) / 64 * 64, packet_ps,
		EVENTS_A_PACKET);
	made->replay.prefetches = false;
	return status;
}

int tb_ethernet_make(struct tb_replay *replay, const struct tb_engine_options *options,
	struct tb_cell ***cells)
{
	struct ethernet *ethernet = (void *)replay;
	ethernet->free_frame = NOTHING;
	if (options->faults)
		tb_replay_fail(replay, TB_EUSAGE,
			"switching = ethernet has no faults: expected a network of "
			"switching = circuits or credits");
	int status = make_ports(ethernet);
	*cells = ethernet->cells;
	return status == TB_OK ? make_packets(ethernet) : status;
}

void tb_ethernet_free(struct tb_replay *replay)
{
	struct ethernet *ethernet = (void *)replay;
	if (!ethernet)
		return;
	tb_replay_fini(replay);
	tb_streams_free(ethernet);
	free(ethernet->ports);
	free(ethernet->cell);
	free(ethernet->cells);
	free(ethernet->frames);
	free(ethernet->arrivals);
	free(ethernet);
}
