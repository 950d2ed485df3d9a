// A network with credits in parts side by side (rules C27 to C31): what a part has of its
// own, and what passes from part to part: packets, and what has fallen free.
#include "credits.h"
#include "lanes.h"

#include "array.h"

#include <stdlib.h>
#include <string.h>

enum { PART_MESSAGE_PACKET, PART_MESSAGE_UPDATE };

// No update returns more blocks (4 GiB of 64 bytes) than a packet can have.
enum { VL_BITS = 4, VL_MASK = (1 << VL_BITS) - 1, BLOCKS_MOST = 1 << 26 };

void tb_parts_hand_packet(struct credits *credits, uint32_t link,
	const struct credit_packet *packet, tb_time_ps header_at)
{
	const struct tb_part_message message = {.at = header_at,
		.link = link,
		.kind = PART_MESSAGE_PACKET,
		.n_bytes = credits->replay.packet_bytes};
	tb_handover_to_receiver(&credits->replay, &message, packet);
	tb_nodes_drop(&credits->replay, packet->of.id);
}

static void hand_update(
	struct credits *credits, uint32_t slot, uint32_t vl, const struct update *update)
{
	const struct tb_part_message message = {.at = update->known_at,
		.link = receiver_at(credits, slot)->link,
		.kind = PART_MESSAGE_UPDATE,
		.words = {update->order,
			(uint64_t)update->blamed.flow << 32 | update->blamed.root,
			(uint64_t)update->blamed.ahead << 32 | update->blocks << VL_BITS |
				vl,
			(uint64_t)update->freed_at}};
	tb_handover_to_sender(&credits->replay, &message);
}

int tb_parts_make_pending(struct credits *credits)
{
	const struct tb_parts *parts = tb_parts_of(&credits->replay);
	uint32_t n = parts ? parts->n_crossing : 0;
	credits->pending_first = malloc((n + 1u) * sizeof *credits->pending_first);
	for (uint32_t i = 0; credits->pending_first && i < n; i++)
		credits->pending_first[i] = NOTHING;
	return credits->pending_first ? TB_OK : TB_ENOMEM;
}

// crossing_at returns the number, among crossing links, of the link that comes in through
// a slot.
static uint32_t crossing_at(const struct credits *credits, uint32_t slot)
{
	return tb_parts_of(&credits->replay)
		->crossing_of[receiver_at(credits, slot)->link];
}

// chain_pending adds an update to the list of its slot.
static void chain_pending(struct credits *credits, uint32_t i)
{
	struct pending_update *pending = &credits->pending[i];
	uint32_t *first = &credits->pending_first[pending->crossing];
	pending->next = *first;
	*first = i;
}

void tb_parts_return(
	struct credits *credits, uint32_t slot, uint32_t vl, const struct update *update)
{
	struct tb_replay *replay = &credits->replay;
	if (update->freed_at <= replay->now) {
		hand_update(credits, slot, vl, update);
		return;
	}
	if (TB_ARRAY_RESERVE(&credits->pending, &credits->pending_room,
		    (size_t)credits->n_pending + 1) != TB_OK) {
		tb_replay_no_memory(replay, "what leaves a part");
		return;
	}
	credits->pending[credits->n_pending] = (struct pending_update){.update = *update,
		.slot = slot,
		.vl = vl,
		.crossing = crossing_at(credits, slot)};
	chain_pending(credits, credits->n_pending++);
	if (update->freed_at < replay->handover_at)
		replay->handover_at = update->freed_at;
	sender_at(credits, slot)->has_pending = true;
}

bool tb_parts_put_off(struct credits *credits, uint32_t slot, tb_time_ps known_at)
{
	bool any = false;
	for (uint32_t i = credits->pending_first[crossing_at(credits, slot)];
		i != NOTHING; i = credits->pending[i].next) {
		struct update *update = &credits->pending[i].update;
		if (update->freed_at <= credits->replay.now)
			continue;
		any = true;
		if (update->known_at < known_at)
			update->known_at = known_at;
	}
	return any;
}

void tb_parts_hand_pending(struct credits *credits, tb_time_ps until)
{
	uint32_t n = credits->n_pending;
	if (credits->replay.handover_at >= until)
		return;
	credits->n_pending = 0;
	credits->replay.handover_at = TB_TIME_NEVER;
	for (uint32_t i = 0; i < n; i++)
		credits->pending_first[credits->pending[i].crossing] = NOTHING;
	for (uint32_t i = 0; i < n; i++) {
		const struct pending_update pending = credits->pending[i];
		tb_time_ps freed_at = pending.update.freed_at;
		if (freed_at < until) {
			hand_update(credits, pending.slot, pending.vl, &pending.update);
			continue;
		}
		credits->pending[credits->n_pending] = pending;
		chain_pending(credits, credits->n_pending++);
		if (freed_at < credits->replay.handover_at)
			credits->replay.handover_at = freed_at;
	}
}

void tb_credits_receive(struct tb_replay *replay, const struct tb_part_message *message,
	const void *packet)
{
	struct credits *credits = (void *)replay;
	if (message->kind == PART_MESSAGE_UPDATE) {
		const struct update update = {.freed_at = (tb_time_ps)message->words[3],
			.known_at = message->at,
			.order = message->words[0],
			.blamed = {(uint32_t)(message->words[1] >> 32),
				(uint32_t)message->words[1],
				(uint32_t)(message->words[2] >> 32)},
			.blocks = (uint32_t)message->words[2] >> VL_BITS};
		uint32_t slot = credits->slot_of_link[message->link];
		uint32_t vl = message->words[2] & VL_MASK;
		lanes_push(credits, lane_at(credits, slot, vl), slot, vl, update);
		return;
	}
	uint32_t slot = credits->slot_of_link[message->link];
	uint32_t id = tb_nodes_adopt(replay, packet);
	tb_serve_reach(credits, sender_at(credits, slot), credit_packet_at(credits, id),
		message->at);
}

bool tb_credits_can_receive(const struct tb_replay *replay,
	const struct tb_part_message *message, const void *packet)
{
	const struct credits *credits = (const void *)replay;
	const uint64_t *words = message->words;
	if (message->kind == PART_MESSAGE_PACKET && packet) {
		struct credit_packet of;
		memcpy(&of, packet, sizeof of);
		return of.vl < credits->n_vls && of.wait_ps >= 0 &&
		       of.wait_ps <= message->at;
	}
	uint32_t flow = (uint32_t)(words[1] >> 32), root = (uint32_t)words[1];
	uint32_t ahead = (uint32_t)(words[2] >> 32);
	return message->kind == PART_MESSAGE_UPDATE && !packet &&
	       (flow < replay->side->whole->records.n_flows || flow == NOTHING) &&
	       (root < replay->net->n_links || root == NOTHING) &&
	       (words[2] & VL_MASK) < credits->n_vls &&
	       (uint32_t)words[2] >> VL_BITS <= BLOCKS_MOST &&
	       (ahead < replay->side->whole->records.n_flows || ahead == NOTHING) &&
	       words[3] <= (uint64_t)message->at;
}

// credits_share shares the state of the whole: everything by slot, switch or node, and
// what never changes.
static void credits_share(struct credits *credits, const struct credits *whole)
{
	struct tb_replay replay = credits->replay;
	*credits = *whole;
	credits->replay = replay;
	credits->meters_now = (struct tb_list){0};
	credits->drains = NULL;
	credits->pending = NULL;
	credits->n_pending = 0;
	credits->pending_room = 0;
	credits->own = NULL;
	credits->n_own = 0;
	credits->agenda = NULL;
	credits->choices = NULL;
}

// credits_add_own adds slots to those of the part: consecutive ones are one range.
static void credits_add_own(struct credits *credits, uint32_t first, uint32_t end)
{
	if (credits->n_own && credits->own[credits->n_own - 1].end == first)
		credits->own[credits->n_own - 1].end = end;
	else
		credits->own[credits->n_own++] = (struct slot_range){first, end};
}

// credits_find_slots lists the slots of the part.
static int credits_find_slots(struct credits *credits)
{
	const struct tb_replay *replay = &credits->replay;
	const struct tb_network *net = replay->net;
	credits->own =
		malloc(((size_t)net->n_switches + net->n_nodes) * sizeof *credits->own);
	if (!credits->own)
		return TB_ENOMEM;
	for (uint32_t sw = 0; sw < net->n_switches; sw++)
		if (replay->side->parts->of_switch[sw] == replay->side->part)
			credits_add_own(
				credits, net->first_out[sw], net->first_out[sw + 1]);
	for (uint32_t node = 0; node < net->n_nodes; node++)
		if (replay->side->parts->of_node[node] == replay->side->part)
			credits_add_own(credits, credits->first_node + node,
				credits->first_node + node + 1);
	return TB_OK;
}

int tb_credits_join(struct tb_replay **replay, struct tb_replay *whole, uint32_t part)
{
	struct credits *made = calloc(1, sizeof *made);
	if (!made)
		return TB_ENOMEM;
	tb_replay_join(&made->replay, whole, part);
	credits_share(made, (const void *)whole);
	int status = credits_find_slots(made);
	if (status == TB_OK)
		status = tb_credits_make_lists(made);
	if (status == TB_OK && made->setup.pauses)
		status = tb_pause_join(made, (const void *)whole);
	if (status == TB_OK)
		status = tb_credits_make_replay(made);
	if (status == TB_OK)
		status = tb_replay_open_part(&made->replay);
	if (status == TB_OK)
		*replay = &made->replay;
	else
		tb_credits_free(&made->replay);
	return status;
}
