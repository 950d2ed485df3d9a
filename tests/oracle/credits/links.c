// Blocks that cross a link, the buffers behind it, and what its sender knows of them.
// Numbers of rules are those of docs/credits.md.
#include "credits.h"

#include <assert.h>
#include <stdlib.h>

static uint64_t byte_q20(const struct oracle *oracle, uint32_t link)
{
	return oracle->links[link].byte_q20;
}

// crossed_after is what the first n blocks of a packet take of a link.
static tb_time_ps crossed_after(const struct oracle *oracle, const struct packet *packet,
	uint32_t link, uint32_t n)
{
	uint64_t bytes = (uint64_t)n * BLOCK_BYTES;
	if (bytes > packet->wire_bytes)
		bytes = packet->wire_bytes;
	return rate_time(byte_q20(oracle, link), bytes);
}

static void foresee(struct oracle *oracle, struct packet *packet, tb_time_ps at,
	enum what what, uint32_t hop)
{
	packet->n_events++;
	oracle_foresee(oracle,
		(struct happening){.at = at, .what = what, .id = hop, .packet = packet});
}

// begin_block lets the next block of a packet begin to cross.
static void begin_block(struct oracle *oracle, struct packet *packet, uint32_t at)
{
	struct hop *hop = &packet->hops[at];
	uint32_t n = ++hop->n_begun;
	tb_time_ps crossed = hop->begun_at + crossed_after(oracle, packet, hop->link, n);
	foresee(oracle, packet, crossed, BLOCK_CROSSED, at);
	foresee(oracle, packet, crossed + oracle->links[hop->link].info->latency_ps,
		BLOCK_IN, at);
}

// take_room gives a packet blocks of the buffer behind a link (C8). With pause nobody
// asks whether there are any.
static void take_room(struct oracle *oracle, struct packet *packet, uint32_t link)
{
	struct lane *lane = lane_of(oracle, link, packet);
	uint32_t n = blocks_of(packet);
	if (pauses(oracle->credits))
		return;
	assert(lane->n_free >= n);
	lane->n_free -= n;
	for (uint32_t i = 0; n > 0; i++) {
		assert(i < lane->n_blocks);
		if (lane->blocks[i])
			continue;
		lane->blocks[i] = packet;
		n--;
	}
}

bool credits_may_begin(
	const struct oracle *oracle, uint32_t link, const struct packet *packet)
{
	const struct lane *lane = lane_of(oracle, link, packet);
	return pauses(oracle->credits) ? !lane->paused
				       : lane->n_free >= blocks_of(packet);
}

void credits_begin(struct oracle *oracle, struct packet *packet, uint32_t link)
{
	struct line *line = line_of(oracle, link);
	uint32_t at = packet->n_granted++;
	struct hop *hop = &packet->hops[at];
	assert(!line->crossing);
	hop->link = link;
	hop->begun_at = oracle->now;
	take_room(oracle, packet, link);
	line->crossing = packet;
	line->hop = at;
	line->ends_at =
		oracle->now + crossed_after(oracle, packet, link, blocks_of(packet));
	oracle_note(&oracle->facts, (struct oracle_fact){.kind = ORACLE_ENTERED,
					    .link = link,
					    .from = oracle->now,
					    .to = oracle->now});
	oracle_note(&oracle->facts, (struct oracle_fact){.kind = ORACLE_CROSSED,
					    .link = link,
					    .from = oracle->now,
					    .to = line->ends_at,
					    .bytes = packet->wire_bytes});
	oracle->stats.n_hops++;
	begin_block(oracle, packet, at);
	foresee(oracle, packet, oracle->now + oracle->links[link].info->latency_ps,
		HEADER_IN, at);
}

// touch_sender has who sends over a link look at it.
static void touch_sender(struct oracle *oracle, uint32_t link)
{
	const struct tb_link_info *info = oracle->links[link].info;
	if (info->kind == TB_LINK_INJECTION)
		touch(&oracle->nodes_now, info->from, &oracle->nodes[info->from].touched);
	else
		credits_touch(oracle, info->from);
}

// has_crossed: the link is free, and what the packet held before it, too.
static void has_crossed(struct oracle *oracle, struct packet *packet, uint32_t at)
{
	const struct hop *hop = &packet->hops[at];
	struct line *line = line_of(oracle, hop->link);
	assert(line->crossing == packet && line->ends_at == oracle->now);
	line->crossing = NULL;
	line->has_crossed = true;
	lane_of(oracle, hop->link, packet)->crossed_at = oracle->now;
	line->last = (struct crossed){.at = oracle->now,
		.came_by = at ? packet->hops[at - 1].link : TB_ID_NONE,
		.flow = flow_of(packet),
		.blamed = credits_blamed(packet, hop, hop->link)};
	if (at > 0) {
		const struct hop *before = hop - 1;
		assert(before->n_in == blocks_of(packet));
		credits_free(oracle, packet, before->link,
			credits_blamed(packet, hop, before->link));
	}
	touch_sender(oracle, hop->link);
	// Another link of this switch may have waited for the input (C7).
	if (at > 0)
		credits_touch(oracle, oracle->links[hop->link].info->from);
}

void credits_block_crossed(struct oracle *oracle, struct packet *packet, uint32_t at)
{
	if (packet->hops[at].n_begun < blocks_of(packet))
		begin_block(oracle, packet, at);
	else
		has_crossed(oracle, packet, at);
	credits_event_over(oracle, packet);
}

// stores returns whether a packet has come when its tail is there (C2).
static bool stores(const struct oracle *oracle, uint32_t link)
{
	return oracle->links[link].info->kind == TB_LINK_EJECTION ||
	       oracle->credits->params->forwarding == TB_FORWARDING_STORE;
}

static void come(struct oracle *oracle, struct packet *packet, uint32_t link)
{
	struct lane *lane = lane_of(oracle, link, packet);
	lane->n_bytes += packet->wire_bytes;
	packet->came_at = oracle->now;
	if (oracle->links[link].info->kind == TB_LINK_EJECTION)
		credits_in(oracle, packet);
	else
		credits_come(oracle, packet);
}

void credits_header_in(struct oracle *oracle, struct packet *packet, uint32_t at)
{
	uint32_t link = packet->hops[at].link;
	if (!stores(oracle, link))
		come(oracle, packet, link);
	credits_event_over(oracle, packet);
}

void credits_block_in(struct oracle *oracle, struct packet *packet, uint32_t at)
{
	struct hop *hop = &packet->hops[at];
	hop->n_in++;
	if (hop->n_in == blocks_of(packet) && stores(oracle, hop->link))
		come(oracle, packet, hop->link);
	credits_event_over(oracle, packet);
}

// known_at is when the sender of a link knows of what happens behind it now (C9).
static tb_time_ps known_at(const struct oracle *oracle, uint32_t link)
{
	const struct tb_link_info *info = oracle->links[link].info;
	const struct tb_link_info *back = oracle->links[info->reverse.id].info;
	const struct line *line = line_of(oracle, info->reverse.id);
	tb_time_ps leaves = oracle->now;
	if (info->kind != TB_LINK_EJECTION && line->crossing &&
		line->crossing->hops[line->hop].begun_at < oracle->now)
		leaves = line->ends_at;
	return leaves + back->latency_ps;
}

static void send_update(struct oracle *oracle, const struct update *update)
{
	struct updates *all = &oracle->credits->updates;
	all->list = oracle_one_more(all->list, all->n, sizeof *update);
	all->list[all->n] = *update;
	oracle_foresee(oracle, (struct happening){.at = known_at(oracle, update->link),
				       .what = UPDATE_IN,
				       .id = (uint32_t)all->n++});
}

static void empty_blocks(struct lane *lane, const struct packet *packet)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < lane->n_blocks; i++)
		if (lane->blocks[i] == packet) {
			lane->blocks[i] = NULL;
			n++;
		}
	assert(n == blocks_of(packet));
}

void credits_free(
	struct oracle *oracle, struct packet *packet, uint32_t link, struct blamed blamed)
{
	struct lane *lane = lane_of(oracle, link, packet);
	lane->n_bytes -= packet->wire_bytes;
	if (packet->came_at < oracle->now &&
		(lane->leaver.at < oracle->now || lane->leaver_order < packet->order)) {
		lane->leaver = (struct left){oracle->now, blamed};
		lane->leaver_order = packet->order;
	}
	if (pauses(oracle->credits))
		return;
	empty_blocks(lane, packet);
	send_update(oracle, &(struct update){.link = link,
				    .vl = packet->vl,
				    .n_blocks = blocks_of(packet),
				    .freed_at = oracle->now,
				    .order = packet->order,
				    .blamed = blamed});
}

void credits_update_in(struct oracle *oracle, uint32_t id)
{
	const struct update *update = &oracle->credits->updates.list[id];
	struct lane *lane = &line_of(oracle, update->link)->lanes[update->vl];
	struct updates *known = &lane->known;
	if (lane->known_at < oracle->now) {
		lane->known_at = oracle->now;
		lane->n_free_before = lane->n_free;
		lane->paused_before = lane->paused;
		known->n = 0;
	}
	known->list = oracle_one_more(known->list, known->n, sizeof *update);
	known->list[known->n++] = *update;
	lane->n_free += update->n_blocks;
	assert(lane->n_free <= lane->n_blocks);
	lane->paused = update->pauses;
	touch_sender(oracle, update->link);
}

static void send_pause(struct oracle *oracle, uint32_t link, uint32_t vl)
{
	const struct tb_credit_params *params = oracle->credits->params;
	struct lane *lane = &line_of(oracle, link)->lanes[vl];
	struct update update = {.link = link,
		.vl = vl,
		.pauses = !lane->is_pausing_sender,
		.freed_at = oracle->now,
		.order = lane->leaver_order,
		.blamed = lane->leaver.blamed};
	assert(lane->n_bytes <= oracle->links[link].info->fifo_bytes);
	if (lane->is_pausing_sender ? lane->n_bytes > params->xon_bytes
				    : lane->n_bytes <= params->xoff_bytes)
		return;
	assert(update.pauses || lane->leaver.at == oracle->now);
	lane->is_pausing_sender = update.pauses;
	send_update(oracle, &update);
}

void credits_send_pauses(struct oracle *oracle)
{
	if (!pauses(oracle->credits))
		return;
	for (uint32_t link = 0; link < oracle->net->n_links; link++)
		for (uint32_t vl = 0; vl < oracle->credits->n_vls; vl++)
			send_pause(oracle, link, vl);
}
