// Flits, credits and headers: what crosses a link, who gets a VC. Numbers of rules are
// those of docs/model.md.
#include "flits_impl.h"

#include <assert.h>

static struct link *link_of(const struct tb_flits *flits, const struct hop *hop)
{
	return &flits->links[hop->link];
}

void tb_flits_touch_link(struct tb_flits *flits, uint32_t id)
{
	touch(&flits->links_now, id, &flits->links[id].touched);
}

static void touch_switch(struct tb_flits *flits, uint32_t id)
{
	touch(&flits->switches_now, id, &flits->switches[id].touched);
}

// block_bytes is the length of the block that flit `number` belongs to.
static uint32_t block_bytes(
	const struct tb_flits *flits, const struct packet *packet, uint32_t number)
{
	uint32_t full = flits->block_flits * flits->net->params.flit_bytes;
	uint32_t rest = packet->wire_bytes - number / flits->block_flits * full;
	return rest < full ? rest : full;
}

// flit_time is what a flit takes of the link (rule 12): those of a block add up to T(its
// bytes).
static tb_time_ps flit_time(const struct tb_flits *flits, const struct packet *packet,
	const struct link *link, uint32_t number)
{
	uint32_t size = flits->net->params.flit_bytes;
	uint32_t from = number % flits->block_flits * size;
	uint32_t bytes = block_bytes(flits, packet, number);
	uint32_t to = from + size < bytes ? from + size : bytes;
	return rate_time(link->byte_q20, to) - rate_time(link->byte_q20, from);
}

static bool ends_block(
	const struct tb_flits *flits, const struct packet *packet, uint32_t number)
{
	return number + 1 == packet->n_flits || (number + 1) % flits->block_flits == 0;
}

// descends says whether hop `at` of a packet is one of a broadcast below its apex.
static bool descends(const struct packet *packet, uint32_t at)
{
	return tb_is_broadcast(&packet->what) && at > packet->ascending;
}

// find_branches finds the links of a broadcast's hop.
static uint32_t find_branches(
	struct tb_flits *flits, const struct packet *packet, uint32_t at)
{
	uint32_t apex = link_of(flits, &packet->hops[packet->ascending])->info->to;
	return tb_broadcast_links(flits->net, &packet->what, apex, packet->ascending,
		at - packet->ascending - 1, flits->branches);
}

// links_at finds all links of a packet's hop.
static uint32_t links_at(struct tb_flits *flits, const struct packet *packet, uint32_t at)
{
	if (descends(packet, at))
		return find_branches(flits, packet, at);
	flits->branches[0] = packet->hops[at].link;
	return 1;
}

// foresee_in puts down when a flit that begins to cross now is in at the far end, and
// when its place in the FIFO that it leaves is known to be free (rules 13 and 14).
static void foresee_in(
	struct tb_flits *flits, struct packet *packet, uint32_t at, tb_time_ps crossed)
{
	const struct link *link = link_of(flits, &packet->hops[at]);
	tb_time_ps in = flits->now + link->hop_ps;
	if (link->info->kind == TB_LINK_EJECTION)
		in = crossed + link->info->latency_ps;
	tb_flits_foresee(
		flits, (struct happening){
			       .at = in, .what = FLIT_IN, .id = at, .packet = packet});
	if (at == 0)
		return;
	const struct link *before = link_of(flits, &packet->hops[at - 1]);
	tb_flits_foresee(flits, (struct happening){.at = flits->now + before->hop_ps,
					.what = CREDIT_IN,
					.id = at - 1,
					.packet = packet});
}

// cross lets the next flit of a VC begin.
static void cross(struct tb_flits *flits, uint32_t id, uint32_t vc)
{
	struct link *link = &flits->links[id];
	struct packet *packet = link->channels[vc].holder;
	struct hop *hop = &packet->hops[link->channels[vc].hop];
	uint32_t number = hop->n_begun++;
	tb_time_ps crossed = flits->now + flit_time(flits, packet, link, number);
	hop->n_here--;
	bool discarded = packet->refused && packet->n_granted == hop - packet->hops + 1;
	if (link->info->kind != TB_LINK_EJECTION && !discarded)
		hop->room--;
	link->serving = vc;
	link->crossing = true;
	tb_flits_foresee(
		flits, (struct happening){.at = crossed, .what = FLIT_CROSSED, .id = id});
	foresee_in(flits, packet, link->channels[vc].hop, crossed);
	uint32_t n = links_at(flits, packet, link->channels[vc].hop);
	if (number == 0) {
		for (uint32_t i = 0; i < n; i++)
			tb_flits_books_header(
				&flits->link_books, flits->branches[i], flits->now);
		flits->stats.n_hops += n;
		hop->begun_at = flits->now;
	}
	if (number % flits->block_flits == 0)
		link->block_from = flits->now;
	for (uint32_t i = 0; i < n && ends_block(flits, packet, number); i++)
		tb_flits_books_busy(&flits->link_books, flits->branches[i],
			link->block_from, crossed, block_bytes(flits, packet, number));
}

// can_cross says whether the next flit of a VC has come and has room (rule 14).
static bool can_cross(const struct link *link, uint32_t vc)
{
	const struct channel *channel = &link->channels[vc];
	if (!channel->holder)
		return false;
	const struct packet *packet = channel->holder;
	const struct hop *hop = &packet->hops[channel->hop];
	bool discarded = packet->refused && channel->hop + 1 == packet->n_granted;
	return hop->n_here > 0 &&
	       (link->info->kind == TB_LINK_EJECTION || discarded || hop->room > 0);
}

// n_crossed is how many flits of the packet on the VC served last have begun; 0 when that
// VC is free or has a new holder.
static uint32_t n_crossed(const struct link *link)
{
	const struct channel *channel = &link->channels[link->serving];
	return channel->holder ? channel->holder->hops[channel->hop].n_begun : 0;
}

// in_block says whether the packet served last is in the middle of a block.
static bool in_block(const struct tb_flits *flits, const struct link *link)
{
	uint32_t n = n_crossed(link);
	return n > 0 && !ends_block(flits, link->channels[link->serving].holder, n - 1);
}

// Rule 15: the link stays with a packet in the middle of a block, whatever comes, and
// beyond while that has a flit and room; else the VC granted longest ago, the lowest of
// equals.
void tb_flits_serve(struct tb_flits *flits, uint32_t id)
{
	struct link *link = &flits->links[id];
	link->touched = false;
	if (link->crossing)
		return;
	if (n_crossed(link) > 0 && can_cross(link, link->serving)) {
		cross(flits, id, link->serving);
		return;
	}
	if (in_block(flits, link))
		return;
	uint32_t chosen = TB_ID_NONE;
	for (uint32_t v = 0; v < link->info->n_vcs; v++)
		if (can_cross(link, v) &&
			(chosen == TB_ID_NONE ||
				link->channels[v].granted_at <
					link->channels[chosen].granted_at))
			chosen = v;
	if (chosen != TB_ID_NONE)
		cross(flits, id, chosen);
}

void tb_flits_crossed(struct tb_flits *flits, uint32_t id)
{
	flits->links[id].crossing = false;
	tb_flits_touch_link(flits, id);
}

void tb_flits_credit(struct tb_flits *flits, struct packet *packet, uint32_t hop)
{
	packet->hops[hop].room++;
	assert(packet->hops[hop].room <= link_of(flits, &packet->hops[hop])->fifo);
	tb_flits_touch_link(flits, packet->hops[hop].link);
}

// older says whether a header goes before another at the same switch (rule 17).
static bool older(
	const struct tb_flits *flits, const struct packet *a, const struct packet *b)
{
	tb_time_ps key_a = a->arrived - ((a->waited * flits->age_q10) >> 10);
	tb_time_ps key_b = b->arrived - ((b->waited * flits->age_q10) >> 10);
	return key_a != key_b ? key_a < key_b : a->order < b->order;
}

static void header_in(struct tb_flits *flits, struct packet *packet, uint32_t sw)
{
	bool branches = descends(packet, packet->n_granted);
	struct packet **at =
		branches ? &flits->broadcasts.waiting : &flits->switches[sw].waiting;
	packet->arrived = flits->now;
	while (*at && older(flits, *at, packet))
		at = &(*at)->next_waiting;
	packet->next_waiting = *at;
	*at = packet;
	if (branches)
		flits->broadcasts.touched = true;
	else
		touch_switch(flits, sw);
}

// header_meets lets a header choose from what leads on, or refuses it.
static void header_meets(struct tb_flits *flits, struct packet *packet, uint32_t sw)
{
	if (flits->choice.dead_at && tb_flits_way(flits, packet, sw) == TB_ROUTE_NONE)
		tb_flits_refuse(flits, packet);
	else
		header_in(flits, packet, sw);
}

void tb_flits_in(struct tb_flits *flits, struct packet *packet, uint32_t at)
{
	struct hop *hop = &packet->hops[at];
	const struct link *link = link_of(flits, hop);
	hop->n_in++;
	if (link->info->kind == TB_LINK_EJECTION) {
		if (hop->n_in == packet->n_flits)
			tb_flits_packet_in(flits, packet);
		return;
	}
	if (packet->refused && at + 1 == packet->n_granted) {
		if (hop->n_in == packet->n_flits)
			tb_flits_send_error(flits, packet);
		return;
	}
	struct hop *next = hop + 1;
	next->n_here++;
	assert(next->n_here <= link->fifo);
	if (hop->n_in == 1)
		header_meets(flits, packet, link->info->to);
	else if (at + 1 < packet->n_granted)
		tb_flits_touch_link(flits, next->link);
}

static uint32_t n_free(const struct link *link)
{
	return link->info->n_vcs - link->n_held;
}

static uint32_t lowest_free(const struct link *link)
{
	uint32_t vc = 0;
	while (link->channels[vc].holder)
		vc++;
	return vc;
}

// grant gives a packet a VC of its next link.
static void grant(struct tb_flits *flits, struct packet *packet, uint32_t id, uint32_t vc)
{
	struct link *link = &flits->links[id];
	struct hop *hop = &packet->hops[packet->n_granted];
	if (link->n_held++ == 0)
		link->held_from = flits->now;
	link->channels[vc] = (struct channel){.holder = packet,
		.hop = packet->n_granted++,
		.granted_at = flits->now,
		.flow = packet->message->flow};
	hop->link = id;
	hop->vc = vc;
	hop->room = link->fifo;
	tb_flits_touch_link(flits, id);
}

void tb_flits_inject(struct tb_flits *flits, struct packet *packet, uint32_t vc)
{
	packet->hops[0].n_here = packet->n_flits;
	grant(flits, packet, flits->net->injection[packet->message->what.source.id], vc);
}

// root_of (what is counted: root) is what limited a packet on its way after hop `at`: the
// link that its header waited for longest, or the root of its longest wait for a VC, the
// last of equals; the hop's own link if it waited for nothing.
static uint32_t root_of(
	const struct tb_flits *flits, const struct packet *packet, uint32_t at)
{
	uint32_t root = packet->hops[at].link;
	tb_time_ps longest = 0;
	for (uint32_t i = packet->n_granted - 1; i > at; i--) {
		const struct hop *hop = &packet->hops[i], *before = hop - 1;
		if (hop->n_begun == 0)
			continue;
		tb_time_ps for_link = hop->begun_at - hop->wait - before->begun_at -
				      link_of(flits, before)->hop_ps;
		if (for_link > longest) {
			longest = for_link;
			root = hop->link;
		}
		if (hop->wait > longest) {
			longest = hop->wait;
			root = hop->root;
		}
	}
	return root;
}

// free_branches frees the VCs of a broadcast's branches but the one that it is followed
// on.
static void free_branches(
	struct tb_flits *flits, const struct packet *packet, uint32_t at)
{
	uint32_t n = find_branches(flits, packet, at);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t id = flits->branches[i];
		struct link *link = &flits->links[id];
		for (uint32_t v = 0; v < link->info->n_vcs; v++) {
			link->channels[v].freed_at = flits->now;
			link->channels[v].root = id;
		}
		link->n_held = id == packet->hops[at].link;
		if (link->n_held == 0)
			tb_flits_books_held(
				&flits->link_books, id, link->held_from, flits->now);
		touch_switch(flits, link->info->from);
	}
}

void tb_flits_free_vc(struct tb_flits *flits, struct packet *packet, uint32_t at)
{
	const struct hop *hop = &packet->hops[at];
	struct link *link = link_of(flits, hop);
	assert(hop->n_begun == packet->n_flits);
	assert(link->info->kind == TB_LINK_EJECTION || packet->refused ||
		hop->room == link->fifo);
	flits->broadcasts.touched |= flits->broadcasts.waiting != NULL;
	if (descends(packet, at))
		free_branches(flits, packet, at);
	link->channels[hop->vc].holder = NULL;
	link->channels[hop->vc].freed_at = flits->now;
	link->channels[hop->vc].root = root_of(flits, packet, at);
	if (--link->n_held == 0)
		tb_flits_books_held(
			&flits->link_books, hop->link, link->held_from, flits->now);
	if (link->info->kind == TB_LINK_INJECTION)
		touch(&flits->nodes_now, link->info->from,
			&flits->nodes[link->info->from].touched);
	else
		touch_switch(flits, link->info->from);
}

// Any of the links of a route leads on.
struct choice {
	const uint32_t *ids;
	uint32_t n;
};

static struct choice choice_of(const struct tb_flits *flits, const uint32_t *route)
{
	const struct tb_route_groups *pool = &flits->choice.pool;
	if (!(*route & TB_ROUTE_GROUP))
		return (struct choice){route, 1};
	uint32_t g = *route & ~TB_ROUTE_GROUP;
	if (flits->choice.dead_at)
		return (struct choice){
			pool->links + pool->rows[g].first, pool->rows[g].n};
	return (struct choice){flits->net->group_links + flits->net->groups[g].first,
		flits->net->groups[g].n};
}

// next_in_turn is the next link with `most` free VCs after the one of a group that the
// switch took last, in the order of ports and around.
static uint32_t next_in_turn(
	struct tb_flits *flits, uint32_t sw, struct choice choice, uint32_t most)
{
	uint32_t *turn = &flits->choice.turns[sw];
	uint32_t chosen = TB_ID_NONE;
	for (uint32_t i = 0; i < 2 * choice.n && chosen == TB_ID_NONE; i++) {
		uint32_t id = choice.ids[i % choice.n];
		bool behind = flits->net->links[id].from_port >= *turn;
		if (n_free(&flits->links[id]) == most && (behind || i >= choice.n))
			chosen = id;
	}
	*turn = flits->net->links[chosen].from_port + 1;
	return chosen;
}

// least_loaded chooses among the links of a group (rule 18): those with the most free
// VCs, and of n of these, in the order of ports, number (draw mod n), the first, or the
// one whose turn it is.
static uint32_t least_loaded(struct tb_flits *flits, const struct packet *packet,
	uint32_t sw, struct choice choice)
{
	uint32_t most = 0, n_equal = 0;
	for (uint32_t i = 0; i < choice.n; i++)
		if (n_free(&flits->links[choice.ids[i]]) > most)
			most = n_free(&flits->links[choice.ids[i]]);
	if (most == 0)
		return TB_ID_NONE;
	for (uint32_t i = 0; i < choice.n; i++)
		n_equal += n_free(&flits->links[choice.ids[i]]) == most;
	if (flits->choice.turns)
		return next_in_turn(flits, sw, choice, most);
	uint64_t skip = 0;
	if (!flits->choice.lowest)
		skip = tb_route_choice_draw(&flits->choice, packet->order, sw) % n_equal;
	uint32_t i = 0;
	while (n_free(&flits->links[choice.ids[i]]) < most || skip-- > 0)
		i++;
	return choice.ids[i];
}

static uint32_t route_of(struct tb_flits *flits, struct packet *packet, uint32_t sw)
{
	if (flits->choice.dead_at)
		return tb_flits_way(flits, packet, sw);
	uint32_t route = tb_network_route(flits->net, sw, packet->destination,
		packet->n_granted - 1, packet->ascending);
	if (!flits->choice.fixed || !(route & TB_ROUTE_GROUP))
		return route;
	return tb_route_choice_fix(&flits->choice, route, sw,
		&(struct tb_heading){.order = packet->order,
			.source = packet->message->what.source.id});
}

// way_on is the link that a header takes now, or none.
static uint32_t way_on(struct tb_flits *flits, struct packet *packet, uint32_t sw)
{
	uint32_t route = route_of(flits, packet, sw);
	if (route & TB_ROUTE_GROUP)
		return least_loaded(flits, packet, sw, choice_of(flits, &route));
	return n_free(&flits->links[route]) ? route : TB_ID_NONE;
}

// end_wait counts a header's wait before it takes a VC: the flow that held the VC last is
// to blame, and what limited that in the end.
static void end_wait(
	struct tb_flits *flits, struct packet *packet, const struct channel *channel)
{
	tb_time_ps wait = flits->now - packet->arrived;
	uint32_t came_by = packet->hops[packet->n_granted - 1].link;
	uint32_t flow = packet->message->flow;
	packet->hops[packet->n_granted].wait = wait;
	packet->hops[packet->n_granted].root = channel->root;
	if (wait == 0)
		return;
	tb_flits_books_wait(&flits->link_books, came_by, packet->arrived, flits->now);
	packet->waited += wait;
	flits->books.flows[flow].wait_ps += (uint64_t)wait;
	tb_books_blame(&flits->books, came_by, channel->root, flow, channel->flow, wait,
		flits->now);
}

// The oldest header first; one that finds no VC does not hold up the others (rule 17).
void tb_flits_choose_vcs(struct tb_flits *flits, uint32_t sw)
{
	struct packet **at = &flits->switches[sw].waiting;
	flits->switches[sw].touched = false;
	while (*at) {
		struct packet *packet = *at;
		uint32_t id = way_on(flits, packet, sw);
		if (id == TB_ID_NONE) {
			if (packet->arrived == flits->now)
				tb_flits_books_blocked(&flits->link_books,
					packet->hops[packet->n_granted - 1].link,
					flits->now);
			at = &packet->next_waiting;
			continue;
		}
		uint32_t vc = lowest_free(&flits->links[id]);
		*at = packet->next_waiting;
		end_wait(flits, packet, &flits->links[id].channels[vc]);
		grant(flits, packet, id, vc);
	}
}

// take_branches gives a broadcast all VCs of the links found last, of which it uses the
// first, and follows it on one.
static void take_branches(
	struct tb_flits *flits, struct packet *packet, uint32_t followed, uint32_t n)
{
	grant(flits, packet, followed, 0);
	for (uint32_t i = 0; i < n; i++) {
		struct link *link = &flits->links[flits->branches[i]];
		link->n_held = link->info->n_vcs;
		link->held_from = flits->now;
		for (uint32_t v = 0; v < link->info->n_vcs; v++)
			link->channels[v].flow = packet->message->flow;
	}
}

// last_freed is the VC that fell free last of the links found last, the first of equals;
// NULL when one of them is not free.
static const struct channel *last_freed(const struct tb_flits *flits, uint32_t n)
{
	const struct channel *last = NULL;
	for (uint32_t i = 0; i < n; i++) {
		const struct link *link = &flits->links[flits->branches[i]];
		if (link->n_held)
			return NULL;
		for (uint32_t v = 0; v < link->info->n_vcs; v++)
			if (!last || link->channels[v].freed_at > last->freed_at)
				last = &link->channels[v];
	}
	return last;
}

// Rule 29: the oldest broadcast first; each takes all its branches or none.
void tb_flits_choose_branches(struct tb_flits *flits)
{
	struct packet **at = &flits->broadcasts.waiting;
	flits->broadcasts.touched = false;
	while (*at) {
		struct packet *packet = *at;
		uint32_t came_by = packet->hops[packet->n_granted - 1].link;
		uint32_t n = find_branches(flits, packet, packet->n_granted);
		const struct channel *last = last_freed(flits, n);
		if (last) {
			*at = packet->next_waiting;
			end_wait(flits, packet, last);
			take_branches(flits, packet,
				route_of(flits, packet, flits->links[came_by].info->to),
				n);
			continue;
		}
		if (packet->arrived == flits->now)
			tb_flits_books_blocked(&flits->link_books, came_by, flits->now);
		at = &packet->next_waiting;
	}
}

// The holder of the first VC that the header could have taken is to blame.
void tb_flits_count_refused(
	struct tb_flits *flits, const struct packet *packet, uint32_t first)
{
	tb_time_ps wait = flits->now - packet->arrived;
	uint32_t came_by = packet->hops[packet->n_granted - 1].link;
	uint32_t flow = packet->message->flow;
	if (wait == 0)
		return;
	tb_flits_books_wait(&flits->link_books, came_by, packet->arrived, flits->now);
	flits->books.flows[flow].wait_ps += (uint64_t)wait;
	tb_books_blame(&flits->books, came_by, first, flow,
		flits->links[first].channels[0].flow, wait, flits->now);
}

// count_waiting counts a wait that lasts up to now.
static void count_waiting(struct tb_flits *flits, struct packet *packet, uint32_t sw)
{
	uint32_t route = route_of(flits, packet, sw);
	tb_flits_count_refused(flits, packet, choice_of(flits, &route).ids[0]);
}

void tb_flits_count_held(struct tb_flits *flits)
{
	for (uint32_t id = 0; id < flits->net->n_links; id++) {
		struct link *link = &flits->links[id];
		if (link->n_held == 0)
			continue;
		tb_flits_books_held(&flits->link_books, id, link->held_from, flits->now);
		link->held_from = flits->now;
	}
}

void tb_flits_count_lasting(struct tb_flits *flits)
{
	tb_flits_count_held(flits);
	for (uint32_t id = 0; id < flits->net->n_links; id++) {
		const struct link *link = &flits->links[id];
		if (in_block(flits, link))
			tb_flits_books_busy(&flits->link_books, id, link->block_from,
				flits->now,
				n_crossed(link) % flits->block_flits *
					flits->net->params.flit_bytes);
	}
	for (uint32_t sw = 0; sw < flits->net->n_switches; sw++)
		for (struct packet *packet = flits->switches[sw].waiting; packet;
			packet = packet->next_waiting)
			count_waiting(flits, packet, sw);
	for (struct packet *packet = flits->broadcasts.waiting; packet;
		packet = packet->next_waiting)
		count_waiting(flits, packet,
			flits->links[packet->hops[packet->n_granted - 1].link].info->to);
}
