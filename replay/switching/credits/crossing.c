// Marks of congestion control, and the end of a packet at its node.
#include "credit_params.h"
#include "lanes.h"
#include "paces.h"

void tb_crossing_note_path(struct credits *credits, const struct link_sender *sender,
	const struct credit_packet *packet)
{
	if (!credits->setup.equal_links) {
		const struct link_kind_row *kind = credits_link_kind(credits, sender);
		struct packet_path *path = credits_path(credits, packet->of.id);
		if (packet->of.n_hops == 0)
			*path = (struct packet_path){0};
		path->latency_ps += kind->latency_ps;
		if (kind->byte_q20 > path->slowest_q20)
			path->slowest_q20 = kind->byte_q20;
	}
	if (credits->delays)
		tb_credits_note_stop(credits, packet, sender->link);
}

// is_marked_by_ecn decides by how many bytes still wait for a packet's link (C33).
static bool is_marked_by_ecn(const struct credits *credits, uint32_t slot,
	const struct credit_packet *packet, uint64_t bytes)
{
	const struct tb_credit_params *params =
		tb_credit_params(&credits->replay.net->params);
	uint64_t least = params->ecn_min_bytes, most = params->ecn_max_bytes;
	if (bytes <= least)
		return false;
	uint64_t draw = tb_route_choice_draw(&credits->replay.choice, packet->of.order,
				credits->replay.net->n_switches +
					sender_at(credits, slot)->link) %
			(1 << 20);
	return bytes > most ||
	       draw < credits->mark_q20 * (bytes - least) / (most - least);
}

// is_marked_by_fecn does so by the rules of InfiniBand (C40).
static bool is_marked_by_fecn(const struct credits *credits, uint32_t slot,
	const struct credit_packet *packet, struct marker *marker)
{
	const struct tb_network_params *params = &credits->replay.net->params;
	const struct tb_credit_params *of = tb_credit_params(params);
	const struct link_sender *sender = sender_at(credits, slot);
	uint64_t steps = TB_FECN_THRESHOLD_MOST + 1 - of->fecn_threshold;
	bool masked = of->fecn_victims == TB_FECN_VICTIMS_ALL ||
		      (of->fecn_victims == TB_FECN_VICTIMS_NODES &&
			      is_node(credits, sender->peer));
	if (of->fecn_threshold == 0 ||
		marker->bytes <=
			steps * params->fifo_bytes / (TB_FECN_THRESHOLD_MOST + 1) ||
		blocks_of(packet->of.wire_bytes) < of->fecn_packet_size ||
		(sender->by_credit && !masked))
		return false;
	if (marker->n_unmarked++ < of->marking_rate)
		return false;
	marker->n_unmarked = 0;
	return true;
}

void tb_crossing_uncount(
	struct credits *credits, uint32_t slot, struct credit_packet *packet)
{
	if (credits->setup.adaptive)
		credits->loads[slot]--;
	if (!credits->markers)
		return;
	struct marker *marker = marker_of(credits, packet);
	bool by_fecn =
		tb_credit_params(&credits->replay.net->params)->congestion_control ==
		TB_CONGESTION_FECN;
	marker->bytes -= packet->of.wire_bytes;
	marker->busy_ps +=
		credits_wire_time(credits_link_kind(credits, sender_at(credits, slot)),
			packet->of.wire_bytes);
	if (by_fecn ? is_marked_by_fecn(credits, slot, packet, marker)
		    : is_marked_by_ecn(credits, slot, packet, marker->bytes)) {
		packet->marked = true;
		tb_paces_queued(
			&credits->replay, &packet->of, sender_at(credits, slot)->link);
	}
}

void tb_crossing_free(struct credits *credits, const struct credit_packet *packet,
	tb_time_ps drained_at)
{
	const struct link_sender *reverse = sender_at(credits, packet->at);
	const struct update update = {.freed_at = drained_at,
		.known_at = drained_at + credits_link_kind(credits, reverse)->latency_ps,
		.order = packet->of.order,
		.blamed = {packet->of.flow, receiver_at(credits, packet->at)->link,
			packet->of.flow},
		.blocks = blocks_of(packet->of.wire_bytes)};
	uint32_t slot = reverse->peer, vl = packet->vl;
	if (credits->setup.pauses)
		tb_pause_drain(credits, packet, drained_at, update);
	else
		lanes_push(credits, lane_at(credits, slot, vl), slot, vl, update);
}
