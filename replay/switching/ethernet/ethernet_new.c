#include "ethernet_impl.h"
#include "ethernet_params.h"
#include "idle.h"

#include <stdlib.h>

enum {
	NODES_MOST = 1 << 24, // that the key of a connection has room for
	PACKETS_A_NODE = 2,   // that is cut or arrives; the model keeps no records
	EVENTS_A_PACKET = 8,
};

static int make_ports(struct ethernet *made)
{
	const struct tb_network *net = made->replay.net;
	made->n_made = calloc(net->n_nodes, sizeof *made->n_made);
	made->tcp = calloc(1, sizeof *made->tcp);
	made->ports = calloc(net->n_links, sizeof *made->ports);
	made->cell = calloc(net->n_links, sizeof *made->cell);
	made->cells = malloc(net->n_links * sizeof *made->cells);
	if (!made->n_made || !made->tcp || !made->ports || !made->cell || !made->cells)
		return TB_ENOMEM;
	for (uint32_t i = 0; i < net->n_links; i++) {
		const struct tb_link_info *info = &net->links[i];
		tb_cell_clear(&made->cell[i], i);
		made->cells[i] = &made->cell[i];
		made->ports[i] = (struct ethernet_port){
			.byte_q20 = tb_per_byte_q20(info->bytes_per_s),
			.latency_ps = info->latency_ps,
			.burst_ps = tb_idle_time(
				tb_ethernet_params(&net->params)->burst_bytes,
				tb_per_byte_q20(info->bytes_per_s)),
			.link = i,
			.first = NOTHING,
			.last = NOTHING,
			.waits = NOTHING,
			.most = net->params.fifo_bytes};
	}
	return TB_OK;
}

// ethernet_find_links lists the links that begin in a part.
static int ethernet_find_links(struct ethernet *made)
{
	const struct tb_replay *replay = &made->replay;
	bool is_part = tb_replay_is_part(replay);
	made->own_links = malloc(replay->net->n_links * sizeof *made->own_links);
	for (uint32_t i = 0; made->own_links && i < replay->net->n_links; i++)
		if (!is_part ||
			tb_parts_from(replay->parts, replay->net, i) == replay->part)
			made->own_links[made->n_own++] = i;
	return made->own_links ? TB_OK : TB_ENOMEM;
}

int tb_ethernet_make_own(struct ethernet *made)
{
	const struct tb_network *net = made->replay.net;
	const struct tb_network_params *params = &net->params;
	made->free_frame = NOTHING;
	if (net->n_nodes > NODES_MOST)
		return TB_ECAPACITY;
	if (ethernet_find_links(made) != TB_OK)
		return TB_ENOMEM;
	tb_time_ps packet_ps =
		tb_idle_time(params->packet_payload_bytes + params->packet_overhead_bytes,
			made->ports[net->injection[0]].byte_q20);
	int status = tb_replay_make(&made->replay, net->n_nodes * PACKETS_A_NODE,
		(sizeof(struct tb_packet) + 63) / 64 * 64, packet_ps, EVENTS_A_PACKET);
	made->replay.prefetches = false;
	return status;
}

int tb_ethernet_make(struct tb_replay *replay, const struct tb_engine_options *options,
	struct tb_cell ***cells)
{
	struct ethernet *ethernet = (void *)replay;
	if (options->faults)
		tb_replay_fail(replay, TB_EUSAGE,
			"switching = ethernet has no faults: expected a network of "
			"switching = circuits or credits");
	int status = make_ports(ethernet);
	*cells = ethernet->cells;
	return status == TB_OK ? tb_ethernet_make_own(ethernet) : status;
}

// ethernet_free_shared frees what parts have in common.
static void ethernet_free_shared(struct ethernet *ethernet)
{
	if (ethernet->tcp)
		tb_streams_free(ethernet->tcp);
	free(ethernet->tcp);
	free(ethernet->n_made);
	free(ethernet->ports);
	free(ethernet->cell);
	free(ethernet->cells);
}

void tb_ethernet_free(struct tb_replay *replay)
{
	struct ethernet *ethernet = (void *)replay;
	if (!ethernet)
		return;
	if (!tb_replay_is_part(replay))
		ethernet_free_shared(ethernet);
	tb_replay_fini(replay);
	free(ethernet->own_links);
	free(ethernet->frames);
	free(ethernet->arrivals);
	free(ethernet);
}
