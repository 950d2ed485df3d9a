// Who a packet waited for (C23 and C24 of docs/credits.md).
#include "credits.h"

#include <assert.h>
#include <stdlib.h>

static int by_freed(const void *left, const void *right)
{
	const struct update *a = left, *b = right;
	int order = oracle_compare((uint64_t)a->freed_at, (uint64_t)b->freed_at);
	return order ? order : oracle_compare(a->order, b->order);
}

struct blamed credits_blamed(
	const struct packet *packet, const struct hop *hop, uint32_t link)
{
	const struct oracle_flow flow = flow_of(packet);
	if (!hop->wait)
		return (struct blamed){flow, link, false, flow};
	return (struct blamed){flow, hop->root, hop->by_credit, hop->culprit};
}

// giver returns the update that made the credits for a packet enough; NULL: it had
// enough before, or too few.
static const struct update *giver(const struct lane *lane, const struct packet *packet)
{
	uint32_t n = lane->n_free_before, need = blocks_of(packet);
	if (n >= need)
		return NULL;
	qsort(lane->known.list, lane->known.n, sizeof *lane->known.list, by_freed);
	for (size_t i = 0; i < lane->known.n; i++) {
		n += lane->known.list[i].n_blocks;
		if (n >= need)
			return &lane->known.list[i];
	}
	return NULL;
}

// resumer returns the update that ended a pause; NULL: there was none.
static const struct update *resumer(const struct lane *lane)
{
	const struct update *last = &lane->known.list[lane->known.n - 1];
	return lane->paused_before && !last->pauses ? last : NULL;
}

static bool by_credit(
	struct oracle *oracle, const struct packet *packet, struct blamed *blamed)
{
	struct lane *lane = lane_of(oracle, packet->route, packet);
	if (lane->known_at < oracle->now)
		return false;
	const struct update *update =
		pauses(oracle->credits) ? resumer(lane) : giver(lane, packet);
	if (!update)
		return false;
	*blamed = update->blamed;
	blamed->by_credit = true;
	lane->resumed_at = oracle->now;
	lane->idle = oracle->now - lane->crossed_at;
	lane->resumed = update->blamed;
	return true;
}

// was_paused returns whether a packet waited, before its lane was last resumed, with
// nothing of the lane crossing, at least as long as since.
static bool was_paused(
	const struct oracle *oracle, const struct packet *packet, const struct lane *lane)
{
	tb_time_ps waited = lane->resumed_at - packet->ready_at;
	if (lane->idle < waited)
		waited = lane->idle;
	return pauses(oracle->credits) && waited > 0 &&
	       waited >= oracle->now - lane->resumed_at;
}

// culprit_of is whom a flow blames: instead of itself what it waited for ahead.
static struct oracle_flow culprit_of(
	const struct blamed *blamed, const struct oracle_flow *flow)
{
	return oracle_compare_flows(&blamed->flow, flow) ? blamed->flow : blamed->ahead;
}

// by_link blames what crosses a link now or did last; without any, the packet itself.
static struct blamed by_link(
	const struct oracle *oracle, const struct packet *packet, uint32_t link)
{
	const struct line *line = line_of(oracle, link);
	const struct lane *lane = lane_of(oracle, link, packet);
	struct blamed blamed = {flow_of(packet), link, false, flow_of(packet)};
	if (line->crossing) {
		const struct hop *hop = &line->crossing->hops[line->hop];
		blamed = credits_blamed(line->crossing, hop, link);
	} else if (line->has_crossed) {
		blamed = line->last.blamed;
	}
	const struct oracle_flow flow = blamed.flow;
	if (blamed.by_credit)
		return (struct blamed){flow, blamed.root, false, blamed.ahead};
	if (line->has_crossed && was_paused(oracle, packet, lane))
		return (struct blamed){flow, lane->resumed.root, false,
			culprit_of(&lane->resumed, &flow)};
	blamed.root = link;
	blamed.ahead = flow;
	return blamed;
}

// stopped finds what came by the same link as a packet and stopped crossing another now,
// on the link with the lowest port.
static bool stopped(
	const struct oracle *oracle, const struct packet *packet, struct blamed *blamed)
{
	const struct tb_network *net = oracle->net;
	uint32_t in = came_by(packet), sw = net->links[in].to;
	for (uint32_t at = net->first_out[sw]; at < net->first_out[sw + 1]; at++) {
		uint32_t out = net->out_links[at];
		if (out == TB_ID_NONE || !line_of(oracle, out)->has_crossed)
			continue;
		const struct crossed *last = &line_of(oracle, out)->last;
		if (last->at < oracle->now || last->came_by != in)
			continue;
		*blamed = last->blamed;
		blamed->by_credit = false;
		return true;
	}
	return false;
}

static bool by_queue(
	struct oracle *oracle, const struct packet *packet, struct blamed *blamed)
{
	const struct left *left = credits_left_of(oracle, packet);
	if (left->at == oracle->now) {
		*blamed = left->blamed;
		blamed->by_credit = false;
		return true;
	}
	return oracle->credits->params->input_speedup > 0 &&
	       stopped(oracle, packet, blamed);
}

static struct blamed blame(
	struct oracle *oracle, const struct packet *packet, uint32_t link)
{
	const struct line *line = line_of(oracle, link);
	struct blamed blamed;
	if (by_credit(oracle, packet, &blamed))
		return blamed;
	if (line->has_crossed && line->last.at == oracle->now)
		return by_link(oracle, packet, link);
	if (by_queue(oracle, packet, &blamed))
		return blamed;
	return by_link(oracle, packet, link);
}

// queue_number tells the queues of a link's buffer apart: by VL, and by output where each
// has its own.
static uint64_t queue_number(const struct oracle *oracle, const struct packet *packet)
{
	uint64_t output = oracle->credits->params->queues == TB_QUEUES_FIFO
				  ? 0
				  : (uint64_t)packet->route + 1;
	return output << 8 | packet->vl;
}

// note notes a wait up to now, and keeps it with the packet's next hop.
static void note(
	struct oracle *oracle, struct packet *packet, const struct blamed *blamed)
{
	const struct oracle_flow flow = flow_of(packet);
	const struct oracle_flow culprit = culprit_of(blamed, &flow);
	struct hop *next = &packet->hops[packet->n_granted];
	next->wait = oracle->now - packet->ready_at;
	next->root = blamed->root;
	next->by_credit = blamed->by_credit;
	next->culprit = culprit;
	oracle->stats.wait_ps += (uint64_t)next->wait;
	oracle_note(&oracle->facts, (struct oracle_fact){.kind = ORACLE_WAITED,
					    .link = came_by(packet),
					    .wanted = packet->route,
					    .root = blamed->root,
					    .from = packet->ready_at,
					    .to = oracle->now,
					    .bytes = packet->wire_bytes,
					    .serial = queue_number(oracle, packet),
					    .flow = flow,
					    .culprit = culprit});
}

void credits_end_wait(struct oracle *oracle, struct packet *packet, uint32_t link)
{
	struct hop *next = &packet->hops[packet->n_granted];
	struct left *left = credits_left_of(oracle, packet);
	assert(packet->ready_at <= oracle->now && packet->route == link);
	if (packet->ready_at < oracle->now) {
		struct blamed blamed = blame(oracle, packet, link);
		note(oracle, packet, &blamed);
	}
	*left = (struct left){oracle->now, credits_blamed(packet, next, link)};
}

void credits_note_open(struct oracle *oracle, struct packet *packet)
{
	if (packet->ready_at >= oracle->now)
		return;
	struct blamed blamed = by_link(oracle, packet, packet->route);
	note(oracle, packet, &blamed);
}
