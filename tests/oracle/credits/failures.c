// Failures in a network with credits: packets that wait for it are discarded, those that
// cross it corrupted (C20 and C21 of docs/credits.md).
#include "credits.h"

static void discard(struct oracle *oracle, struct packet *packet)
{
	uint32_t link = came_by(packet);
	struct hop *next = &packet->hops[packet->n_granted];
	packet->dead = packet->route;
	credits_unqueue(oracle, packet);
	credits_note_open(oracle, packet);
	*credits_left_of(oracle, packet) =
		(struct left){oracle->now, credits_blamed(packet, next, packet->route)};
	credits_free(oracle, packet, link, credits_blamed(packet, next, link));
	credits_touch(oracle, switch_of(oracle, packet));
	credits_fail(oracle, packet);
}

// discard_from discards what came by a link and waits for one that dies.
static void discard_from(struct oracle *oracle, uint32_t in, uint32_t dead)
{
	for (uint32_t v = 0; v < oracle->credits->n_vls; v++) {
		struct lane *lane = &line_of(oracle, in)->lanes[v];
		for (size_t i = 0; i < lane->n_queue;)
			if (lane->queue[i]->route == dead)
				discard(oracle, lane->queue[i]);
			else
				i++;
	}
}

// corrupt (C21) spoils what crosses a link that dies now.
static void corrupt(const struct oracle *oracle, uint32_t link)
{
	const struct line *line = line_of(oracle, link);
	if (line->crossing && line->ends_at > oracle->now &&
		line->crossing->corrupted_by == TB_ID_NONE)
		line->crossing->corrupted_by = link;
}

void credits_fail_links(struct oracle *oracle)
{
	for (uint32_t link = 0; link < oracle->net->n_links; link++) {
		if (oracle->dead_at[link] != oracle->now)
			continue;
		corrupt(oracle, link);
		for (uint32_t in = 0; in < oracle->net->n_links; in++)
			discard_from(oracle, in, link);
	}
	for (uint32_t i = 0; i < oracle->net->n_nodes; i++)
		touch(&oracle->nodes_now, i, &oracle->nodes[i].touched);
}
