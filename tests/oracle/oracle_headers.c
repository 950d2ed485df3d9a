// Headers: who gets a VC, whose wait that ends, and what limited it. Numbers of rules are
// those of docs/model.md.
#include "oracle_impl.h"

#include <assert.h>

static void touch_switch(struct oracle *oracle, uint32_t id)
{
	touch(&oracle->switches_now, id, &oracle->switches[id].touched);
}

// older returns whether a header goes before another at the same switch (rule 17).
static bool older(
	const struct oracle *oracle, const struct packet *a, const struct packet *b)
{
	tb_time_ps key_a = a->arrived - ((a->waited * oracle->age_q10) >> 10);
	tb_time_ps key_b = b->arrived - ((b->waited * oracle->age_q10) >> 10);
	return key_a != key_b ? key_a < key_b : a->order < b->order;
}

void oracle_header_in(struct oracle *oracle, struct packet *packet, uint32_t sw)
{
	bool branches = descends(packet, packet->n_granted);
	struct packet **at =
		branches ? &oracle->broadcasts : &oracle->switches[sw].waiting;
	packet->arrived = oracle->now;
	oracle->header_came = true;
	while (*at && older(oracle, *at, packet))
		at = &(*at)->next_waiting;
	packet->next_waiting = *at;
	*at = packet;
	touch_switch(oracle, sw);
}

static uint32_t lowest_free(const struct link *link)
{
	uint32_t vc = 0;
	while (link->channels[vc].holder)
		vc++;
	return vc;
}

// grant gives a packet a VC of its next link.
void oracle_grant(struct oracle *oracle, struct packet *packet, uint32_t id, uint32_t vc)
{
	struct link *link = &oracle->links[id];
	struct hop *hop = &packet->hops[packet->n_granted];
	if (link->n_held++ == 0)
		link->held_from = oracle->now;
	link->channels[vc] = (struct channel){.holder = packet,
		.hop = packet->n_granted++,
		.granted_at = oracle->now,
		.flow = packet->message->flow};
	hop->link = id;
	hop->vc = vc;
	hop->room = link->fifo;
	oracle_touch_link(oracle, id);
}

// root_of ("What is counted") is what limited a packet on its path after hop `at`: the
// link that its header waited for longest, or the root of its longest wait for a VC, the
// last of equals. If it waited for nothing, that of the last VC that fell free just as
// it came; else the hop's own link.
static uint32_t root_of(
	const struct oracle *oracle, const struct packet *packet, uint32_t at)
{
	uint32_t root = packet->hops[at].link;
	bool known = false;
	tb_time_ps longest = 0;
	for (uint32_t i = packet->n_granted - 1; i > at; i--) {
		const struct hop *hop = &packet->hops[i], *before = hop - 1;
		if (hop->n_begun == 0)
			continue;
		tb_time_ps for_link = hop->begun_at - hop->wait - before->begun_at -
				      link_of(oracle, before)->hop_ps;
		if (hop->followed && !known) {
			root = hop->root;
			known = true;
		}
		if (for_link > longest) {
			longest = for_link;
			root = hop->link;
			known = true;
		}
		if (hop->wait > longest) {
			longest = hop->wait;
			root = hop->root;
			known = true;
		}
	}
	return root;
}

// note_held: all VCs of a link are free again, or the replay ends.
static void note_held(struct oracle *oracle, uint32_t link)
{
	tb_time_ps from = oracle->links[link].held_from;
	if (from < oracle->now)
		oracle_note(&oracle->facts, (struct oracle_fact){.kind = ORACLE_HELD,
						    .link = link,
						    .from = from,
						    .to = oracle->now});
}

// free_branches frees the VCs of a broadcast's branches but the one that it is followed
// on.
static void free_branches(struct oracle *oracle, const struct packet *packet, uint32_t at)
{
	uint32_t n = oracle_links_at(oracle, packet, at);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t id = oracle->branches[i];
		struct link *link = &oracle->links[id];
		for (uint32_t v = 0; v < link->info->n_vcs; v++) {
			link->channels[v].freed_at = oracle->now;
			link->channels[v].root = id;
		}
		link->n_held = id == packet->hops[at].link;
		if (link->n_held == 0)
			note_held(oracle, id);
		touch_switch(oracle, link->info->from);
	}
}

void oracle_free_vc(struct oracle *oracle, struct packet *packet, uint32_t at)
{
	const struct hop *hop = &packet->hops[at];
	struct link *link = link_of(oracle, hop);
	assert(hop->n_begun == packet->n_flits);
	assert(link->info->kind == TB_LINK_EJECTION || packet->refused ||
		hop->room == link->fifo);
	if (descends(packet, at))
		free_branches(oracle, packet, at);
	link->channels[hop->vc].holder = NULL;
	link->channels[hop->vc].freed_at = oracle->now;
	link->channels[hop->vc].root = root_of(oracle, packet, at);
	if (--link->n_held == 0)
		note_held(oracle, hop->link);
	if (link->info->kind == TB_LINK_INJECTION)
		touch(&oracle->nodes_now, link->info->from,
			&oracle->nodes[link->info->from].touched);
	else
		touch_switch(oracle, link->info->from);
}

static uint32_t came_by(const struct packet *packet)
{
	return packet->hops[packet->n_granted - 1].link;
}

// note_wait notes a header's wait up to now.
static void note_wait(struct oracle *oracle, const struct packet *packet, uint32_t wanted,
	uint32_t root, struct oracle_flow culprit)
{
	if (packet->arrived == oracle->now)
		return;
	oracle->stats.wait_ps += (uint64_t)(oracle->now - packet->arrived);
	oracle_note(&oracle->facts, (struct oracle_fact){.kind = ORACLE_WAITED,
					    .link = came_by(packet),
					    .wanted = wanted,
					    .root = root,
					    .from = packet->arrived,
					    .to = oracle->now,
					    .bytes = packet->wire_bytes,
					    .flow = packet->message->flow,
					    .culprit = culprit});
}

// end_wait ends a header's wait before it takes a VC: the flow that held the VC last is
// to blame, and what limited that in the end.
static void end_wait(struct oracle *oracle, struct packet *packet, uint32_t link,
	const struct channel *channel)
{
	struct hop *hop = &packet->hops[packet->n_granted];
	hop->wait = oracle->now - packet->arrived;
	hop->root = channel->root;
	packet->waited += hop->wait;
	note_wait(oracle, packet, link, channel->root, channel->flow);
}

// The oldest header first; one that finds no VC does not hold up the others (rule 17).
void oracle_choose_vcs(struct oracle *oracle, uint32_t sw)
{
	struct packet **at = &oracle->switches[sw].waiting;
	oracle->switches[sw].touched = false;
	while (*at) {
		struct packet *packet = *at;
		uint32_t id = oracle_link_on(oracle, packet, sw);
		if (id == TB_ID_NONE) {
			at = &packet->next_waiting;
			continue;
		}
		uint32_t vc = lowest_free(&oracle->links[id]);
		*at = packet->next_waiting;
		const struct channel *channel = &oracle->links[id].channels[vc];
		packet->hops[packet->n_granted].followed =
			channel->freed_at == oracle->now;
		end_wait(oracle, packet, id, channel);
		oracle_grant(oracle, packet, id, vc);
	}
}

// take_branches gives a broadcast all VCs of the links found last, of which it uses the
// first, and follows it on one.
static void take_branches(
	struct oracle *oracle, struct packet *packet, uint32_t followed, uint32_t n)
{
	oracle_grant(oracle, packet, followed, 0);
	for (uint32_t i = 0; i < n; i++) {
		struct link *link = &oracle->links[oracle->branches[i]];
		link->n_held = link->info->n_vcs;
		link->held_from = oracle->now;
		for (uint32_t v = 0; v < link->info->n_vcs; v++)
			link->channels[v].flow = packet->message->flow;
	}
}

// last_freed is the VC that fell free last of the links found last, the first of equals;
// NULL when one of them is not free.
static const struct channel *last_freed(const struct oracle *oracle, uint32_t n)
{
	const struct channel *last = NULL;
	for (uint32_t i = 0; i < n; i++) {
		const struct link *link = &oracle->links[oracle->branches[i]];
		if (link->n_held)
			return NULL;
		for (uint32_t v = 0; v < link->info->n_vcs; v++)
			if (!last || link->channels[v].freed_at > last->freed_at)
				last = &link->channels[v];
	}
	return last;
}

// Rule 29: the oldest broadcast first; each takes all its branches or none.
void oracle_choose_branches(struct oracle *oracle)
{
	struct packet **at = &oracle->broadcasts;
	while (*at) {
		struct packet *packet = *at;
		uint32_t sw = oracle->net->links[came_by(packet)].to;
		uint32_t n = oracle_links_at(oracle, packet, packet->n_granted);
		const struct channel *last = last_freed(oracle, n);
		if (last) {
			*at = packet->next_waiting;
			uint32_t followed = oracle_link_on(oracle, packet, sw);
			end_wait(oracle, packet, followed, last);
			take_branches(oracle, packet, followed, n);
			continue;
		}
		at = &packet->next_waiting;
	}
}

// The holder of the first VC that the header could have taken is to blame.
void oracle_note_refused(
	struct oracle *oracle, const struct packet *packet, uint32_t first)
{
	note_wait(oracle, packet, first, first, oracle->links[first].channels[0].flow);
}

static void note_blocked_of(struct oracle *oracle, const struct packet *waiting)
{
	for (; waiting; waiting = waiting->next_waiting)
		if (waiting->arrived == oracle->now)
			oracle_note(&oracle->facts,
				(struct oracle_fact){.kind = ORACLE_BLOCKED,
					.link = came_by(waiting),
					.from = oracle->now,
					.to = oracle->now});
}

void oracle_note_blocked(struct oracle *oracle)
{
	for (uint32_t sw = 0; oracle->header_came && sw < oracle->net->n_switches; sw++)
		note_blocked_of(oracle, oracle->switches[sw].waiting);
	if (oracle->header_came)
		note_blocked_of(oracle, oracle->broadcasts);
	oracle->header_came = false;
}

static void note_lasting_waits(struct oracle *oracle, struct packet *waiting)
{
	for (; waiting; waiting = waiting->next_waiting) {
		uint32_t sw = oracle->net->links[came_by(waiting)].to;
		oracle_note_refused(oracle, waiting,
			oracle_group_on(oracle, waiting, sw, oracle->now).links[0]);
	}
}

void oracle_note_lasting(struct oracle *oracle)
{
	for (uint32_t id = 0; id < oracle->net->n_links; id++)
		if (oracle->links[id].n_held)
			note_held(oracle, id);
	for (uint32_t sw = 0; sw < oracle->net->n_switches; sw++)
		note_lasting_waits(oracle, oracle->switches[sw].waiting);
	note_lasting_waits(oracle, oracle->broadcasts);
}
