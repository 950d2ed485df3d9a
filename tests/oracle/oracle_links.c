// Flits, credits and headers: what crosses a link, who gets a VC. Numbers of rules are
// those of docs/model.md.
#include "oracle_impl.h"

#include <assert.h>

static struct link *link_of(const struct oracle *oracle, const struct hop *hop)
{
	return &oracle->links[hop->link];
}

void oracle_touch_link(struct oracle *oracle, uint32_t id)
{
	touch(&oracle->links_now, id, &oracle->links[id].touched);
}

static void touch_switch(struct oracle *oracle, uint32_t id)
{
	touch(&oracle->switches_now, id, &oracle->switches[id].touched);
}

// block_bytes is the length of the block that flit `number` belongs to.
static uint32_t block_bytes(
	const struct oracle *oracle, const struct packet *packet, uint32_t number)
{
	uint32_t full = oracle->block_flits * oracle->net->params.flit_bytes;
	uint32_t rest = packet->wire_bytes - number / oracle->block_flits * full;
	return rest < full ? rest : full;
}

// flit_time is what a flit takes of the link (rule 12): those of a block add up to T(its
// bytes).
static tb_time_ps flit_time(const struct oracle *oracle, const struct packet *packet,
	const struct link *link, uint32_t number)
{
	uint32_t size = oracle->net->params.flit_bytes;
	uint32_t from = number % oracle->block_flits * size;
	uint32_t bytes = block_bytes(oracle, packet, number);
	uint32_t to = from + size < bytes ? from + size : bytes;
	return rate_time(link->byte_q20, to) - rate_time(link->byte_q20, from);
}

static bool ends_block(
	const struct oracle *oracle, const struct packet *packet, uint32_t number)
{
	return number + 1 == packet->n_flits || (number + 1) % oracle->block_flits == 0;
}

// descends says whether hop `at` of a packet is one of a broadcast below its apex.
static bool descends(const struct packet *packet, uint32_t at)
{
	return tb_is_broadcast(&packet->what) && at > packet->ascending;
}

// find_branches finds the links of a broadcast's hop.
static uint32_t find_branches(
	struct oracle *oracle, const struct packet *packet, uint32_t at)
{
	uint32_t apex = link_of(oracle, &packet->hops[packet->ascending])->info->to;
	return tb_broadcast_links(oracle->net, &packet->what, apex, packet->ascending,
		at - packet->ascending - 1, oracle->branches);
}

// links_at finds all links of a packet's hop.
static uint32_t links_at(struct oracle *oracle, const struct packet *packet, uint32_t at)
{
	if (descends(packet, at))
		return find_branches(oracle, packet, at);
	oracle->branches[0] = packet->hops[at].link;
	return 1;
}

// foresee_in puts down when a flit that begins to cross now is in at the far end, and
// when its place in the FIFO that it leaves is known to be free (rules 13 and 14).
static void foresee_in(
	struct oracle *oracle, struct packet *packet, uint32_t at, tb_time_ps crossed)
{
	const struct link *link = link_of(oracle, &packet->hops[at]);
	tb_time_ps in = oracle->now + link->hop_ps;
	if (link->info->kind == TB_LINK_EJECTION)
		in = crossed + link->info->latency_ps;
	oracle_foresee(
		oracle, (struct happening){
				.at = in, .what = FLIT_IN, .id = at, .packet = packet});
	if (at == 0)
		return;
	const struct link *before = link_of(oracle, &packet->hops[at - 1]);
	oracle_foresee(oracle, (struct happening){.at = oracle->now + before->hop_ps,
				       .what = CREDIT_IN,
				       .id = at - 1,
				       .packet = packet});
}

// cross lets the next flit of a VC begin.
static void cross(struct oracle *oracle, uint32_t id, uint32_t vc)
{
	struct link *link = &oracle->links[id];
	struct packet *packet = link->channels[vc].holder;
	struct hop *hop = &packet->hops[link->channels[vc].hop];
	uint32_t number = hop->n_begun++;
	tb_time_ps crossed = oracle->now + flit_time(oracle, packet, link, number);
	hop->n_here--;
	bool discarded = packet->refused && packet->n_granted == hop - packet->hops + 1;
	if (link->info->kind != TB_LINK_EJECTION && !discarded)
		hop->room--;
	link->serving = vc;
	link->crossing = true;
	oracle_foresee(oracle,
		(struct happening){.at = crossed, .what = FLIT_CROSSED, .id = id});
	foresee_in(oracle, packet, link->channels[vc].hop, crossed);
	uint32_t n = links_at(oracle, packet, link->channels[vc].hop);
	if (number == 0) {
		for (uint32_t i = 0; i < n; i++)
			oracle_books_header(
				&oracle->link_books, oracle->branches[i], oracle->now);
		oracle->stats.n_hops += n;
		hop->begun_at = oracle->now;
	}
	if (number % oracle->block_flits == 0)
		link->block_from = oracle->now;
	for (uint32_t i = 0; i < n && ends_block(oracle, packet, number); i++)
		oracle_books_busy(&oracle->link_books, oracle->branches[i],
			link->block_from, crossed, block_bytes(oracle, packet, number));
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
static bool in_block(const struct oracle *oracle, const struct link *link)
{
	uint32_t n = n_crossed(link);
	return n > 0 && !ends_block(oracle, link->channels[link->serving].holder, n - 1);
}

// Rule 15: the link stays with a packet in the middle of a block, whatever comes, and
// beyond while that has a flit and room; else the VC granted longest ago, the lowest of
// equals.
void oracle_serve(struct oracle *oracle, uint32_t id)
{
	struct link *link = &oracle->links[id];
	link->touched = false;
	if (link->crossing)
		return;
	if (n_crossed(link) > 0 && can_cross(link, link->serving)) {
		cross(oracle, id, link->serving);
		return;
	}
	if (in_block(oracle, link))
		return;
	uint32_t chosen = TB_ID_NONE;
	for (uint32_t v = 0; v < link->info->n_vcs; v++)
		if (can_cross(link, v) &&
			(chosen == TB_ID_NONE ||
				link->channels[v].granted_at <
					link->channels[chosen].granted_at))
			chosen = v;
	if (chosen != TB_ID_NONE)
		cross(oracle, id, chosen);
}

void oracle_crossed(struct oracle *oracle, uint32_t id)
{
	oracle->links[id].crossing = false;
	oracle_touch_link(oracle, id);
}

void oracle_credit(struct oracle *oracle, struct packet *packet, uint32_t hop)
{
	packet->hops[hop].room++;
	assert(packet->hops[hop].room <= link_of(oracle, &packet->hops[hop])->fifo);
	oracle_touch_link(oracle, packet->hops[hop].link);
}

// older says whether a header goes before another at the same switch (rule 17).
static bool older(
	const struct oracle *oracle, const struct packet *a, const struct packet *b)
{
	tb_time_ps key_a = a->arrived - ((a->waited * oracle->age_q10) >> 10);
	tb_time_ps key_b = b->arrived - ((b->waited * oracle->age_q10) >> 10);
	return key_a != key_b ? key_a < key_b : a->order < b->order;
}

static void header_in(struct oracle *oracle, struct packet *packet, uint32_t sw)
{
	bool branches = descends(packet, packet->n_granted);
	struct packet **at =
		branches ? &oracle->broadcasts.waiting : &oracle->switches[sw].waiting;
	packet->arrived = oracle->now;
	while (*at && older(oracle, *at, packet))
		at = &(*at)->next_waiting;
	packet->next_waiting = *at;
	*at = packet;
	if (branches)
		oracle->broadcasts.touched = true;
	else
		touch_switch(oracle, sw);
}

// header_meets lets a header choose from what leads on, or refuses it.
static void header_meets(struct oracle *oracle, struct packet *packet, uint32_t sw)
{
	if (oracle->choice.dead_at && oracle_way(oracle, packet, sw) == TB_ROUTE_NONE)
		oracle_refuse(oracle, packet);
	else
		header_in(oracle, packet, sw);
}

void oracle_in(struct oracle *oracle, struct packet *packet, uint32_t at)
{
	struct hop *hop = &packet->hops[at];
	const struct link *link = link_of(oracle, hop);
	hop->n_in++;
	if (link->info->kind == TB_LINK_EJECTION) {
		if (hop->n_in == packet->n_flits)
			oracle_packet_in(oracle, packet);
		return;
	}
	if (packet->refused && at + 1 == packet->n_granted) {
		if (hop->n_in == packet->n_flits)
			oracle_send_error(oracle, packet);
		return;
	}
	struct hop *next = hop + 1;
	next->n_here++;
	assert(next->n_here <= link->fifo);
	if (hop->n_in == 1)
		header_meets(oracle, packet, link->info->to);
	else if (at + 1 < packet->n_granted)
		oracle_touch_link(oracle, next->link);
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
static void grant(struct oracle *oracle, struct packet *packet, uint32_t id, uint32_t vc)
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

void oracle_inject(struct oracle *oracle, struct packet *packet, uint32_t vc)
{
	packet->hops[0].n_here = packet->n_flits;
	grant(oracle, packet, oracle->net->injection[packet->message->what.source.id],
		vc);
}

// root_of (what is counted: root) is what limited a packet on its way after hop `at`: the
// link that its header waited for longest, or the root of its longest wait for a VC, the
// last of equals; the hop's own link if it waited for nothing.
static uint32_t root_of(
	const struct oracle *oracle, const struct packet *packet, uint32_t at)
{
	uint32_t root = packet->hops[at].link;
	tb_time_ps longest = 0;
	for (uint32_t i = packet->n_granted - 1; i > at; i--) {
		const struct hop *hop = &packet->hops[i], *before = hop - 1;
		if (hop->n_begun == 0)
			continue;
		tb_time_ps for_link = hop->begun_at - hop->wait - before->begun_at -
				      link_of(oracle, before)->hop_ps;
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
static void free_branches(struct oracle *oracle, const struct packet *packet, uint32_t at)
{
	uint32_t n = find_branches(oracle, packet, at);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t id = oracle->branches[i];
		struct link *link = &oracle->links[id];
		for (uint32_t v = 0; v < link->info->n_vcs; v++) {
			link->channels[v].freed_at = oracle->now;
			link->channels[v].root = id;
		}
		link->n_held = id == packet->hops[at].link;
		if (link->n_held == 0)
			oracle_books_held(
				&oracle->link_books, id, link->held_from, oracle->now);
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
	oracle->broadcasts.touched |= oracle->broadcasts.waiting != NULL;
	if (descends(packet, at))
		free_branches(oracle, packet, at);
	link->channels[hop->vc].holder = NULL;
	link->channels[hop->vc].freed_at = oracle->now;
	link->channels[hop->vc].root = root_of(oracle, packet, at);
	if (--link->n_held == 0)
		oracle_books_held(
			&oracle->link_books, hop->link, link->held_from, oracle->now);
	if (link->info->kind == TB_LINK_INJECTION)
		touch(&oracle->nodes_now, link->info->from,
			&oracle->nodes[link->info->from].touched);
	else
		touch_switch(oracle, link->info->from);
}

// Any of the links of a route leads on.
struct choice {
	const uint32_t *ids;
	uint32_t n;
};

static struct choice choice_of(const struct oracle *oracle, const uint32_t *route)
{
	const struct tb_route_groups *pool = &oracle->choice.pool;
	if (!(*route & TB_ROUTE_GROUP))
		return (struct choice){route, 1};
	uint32_t g = *route & ~TB_ROUTE_GROUP;
	if (oracle->choice.dead_at)
		return (struct choice){
			pool->links + pool->rows[g].first, pool->rows[g].n};
	return (struct choice){oracle->net->group_links + oracle->net->groups[g].first,
		oracle->net->groups[g].n};
}

// next_in_turn is the next link with `most` free VCs after the one of a group that the
// switch took last, in the order of ports and around.
static uint32_t next_in_turn(
	struct oracle *oracle, uint32_t sw, struct choice choice, uint32_t most)
{
	uint32_t *turn = &oracle->choice.turns[sw];
	uint32_t chosen = TB_ID_NONE;
	for (uint32_t i = 0; i < 2 * choice.n && chosen == TB_ID_NONE; i++) {
		uint32_t id = choice.ids[i % choice.n];
		bool behind = oracle->net->links[id].from_port >= *turn;
		if (n_free(&oracle->links[id]) == most && (behind || i >= choice.n))
			chosen = id;
	}
	*turn = oracle->net->links[chosen].from_port + 1;
	return chosen;
}

// least_loaded chooses among the links of a group (rule 18): those with the most free
// VCs, and of n of these, in the order of ports, number (draw mod n), the first, or the
// one whose turn it is.
static uint32_t least_loaded(struct oracle *oracle, const struct packet *packet,
	uint32_t sw, struct choice choice)
{
	uint32_t most = 0, n_equal = 0;
	for (uint32_t i = 0; i < choice.n; i++)
		if (n_free(&oracle->links[choice.ids[i]]) > most)
			most = n_free(&oracle->links[choice.ids[i]]);
	if (most == 0)
		return TB_ID_NONE;
	for (uint32_t i = 0; i < choice.n; i++)
		n_equal += n_free(&oracle->links[choice.ids[i]]) == most;
	if (oracle->choice.turns)
		return next_in_turn(oracle, sw, choice, most);
	uint64_t skip = 0;
	if (!oracle->choice.lowest)
		skip = tb_route_choice_draw(&oracle->choice, packet->order, sw) % n_equal;
	uint32_t i = 0;
	while (n_free(&oracle->links[choice.ids[i]]) < most || skip-- > 0)
		i++;
	return choice.ids[i];
}

static uint32_t route_of(struct oracle *oracle, struct packet *packet, uint32_t sw)
{
	if (oracle->choice.dead_at)
		return oracle_way(oracle, packet, sw);
	uint32_t route = tb_network_route(oracle->net, sw, packet->destination,
		packet->n_granted - 1, packet->ascending);
	if (!oracle->choice.fixed || !(route & TB_ROUTE_GROUP))
		return route;
	return tb_route_choice_fix(&oracle->choice, route, sw,
		&(struct tb_heading){.order = packet->order,
			.source = packet->message->what.source.id});
}

// way_on is the link that a header takes now, or none.
static uint32_t way_on(struct oracle *oracle, struct packet *packet, uint32_t sw)
{
	uint32_t route = route_of(oracle, packet, sw);
	if (route & TB_ROUTE_GROUP)
		return least_loaded(oracle, packet, sw, choice_of(oracle, &route));
	return n_free(&oracle->links[route]) ? route : TB_ID_NONE;
}

// end_wait counts a header's wait before it takes a VC: the flow that held the VC last is
// to blame, and what limited that in the end.
static void end_wait(
	struct oracle *oracle, struct packet *packet, const struct channel *channel)
{
	tb_time_ps wait = oracle->now - packet->arrived;
	uint32_t came_by = packet->hops[packet->n_granted - 1].link;
	uint32_t flow = packet->message->flow;
	packet->hops[packet->n_granted].wait = wait;
	packet->hops[packet->n_granted].root = channel->root;
	if (wait == 0)
		return;
	oracle_books_wait(&oracle->link_books, came_by, packet->arrived, oracle->now);
	packet->waited += wait;
	oracle->books.flows[flow].wait_ps += (uint64_t)wait;
	tb_books_blame(&oracle->books, came_by, channel->root, flow, channel->flow, wait,
		oracle->now);
}

// The oldest header first; one that finds no VC does not hold up the others (rule 17).
void oracle_choose_vcs(struct oracle *oracle, uint32_t sw)
{
	struct packet **at = &oracle->switches[sw].waiting;
	oracle->switches[sw].touched = false;
	while (*at) {
		struct packet *packet = *at;
		uint32_t id = way_on(oracle, packet, sw);
		if (id == TB_ID_NONE) {
			if (packet->arrived == oracle->now)
				oracle_books_blocked(&oracle->link_books,
					packet->hops[packet->n_granted - 1].link,
					oracle->now);
			at = &packet->next_waiting;
			continue;
		}
		uint32_t vc = lowest_free(&oracle->links[id]);
		*at = packet->next_waiting;
		end_wait(oracle, packet, &oracle->links[id].channels[vc]);
		grant(oracle, packet, id, vc);
	}
}

// take_branches gives a broadcast all VCs of the links found last, of which it uses the
// first, and follows it on one.
static void take_branches(
	struct oracle *oracle, struct packet *packet, uint32_t followed, uint32_t n)
{
	grant(oracle, packet, followed, 0);
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
	struct packet **at = &oracle->broadcasts.waiting;
	oracle->broadcasts.touched = false;
	while (*at) {
		struct packet *packet = *at;
		uint32_t came_by = packet->hops[packet->n_granted - 1].link;
		uint32_t n = find_branches(oracle, packet, packet->n_granted);
		const struct channel *last = last_freed(oracle, n);
		if (last) {
			*at = packet->next_waiting;
			end_wait(oracle, packet, last);
			take_branches(oracle, packet,
				route_of(oracle, packet, oracle->links[came_by].info->to),
				n);
			continue;
		}
		if (packet->arrived == oracle->now)
			oracle_books_blocked(&oracle->link_books, came_by, oracle->now);
		at = &packet->next_waiting;
	}
}

// The holder of the first VC that the header could have taken is to blame.
void oracle_count_refused(
	struct oracle *oracle, const struct packet *packet, uint32_t first)
{
	tb_time_ps wait = oracle->now - packet->arrived;
	uint32_t came_by = packet->hops[packet->n_granted - 1].link;
	uint32_t flow = packet->message->flow;
	if (wait == 0)
		return;
	oracle_books_wait(&oracle->link_books, came_by, packet->arrived, oracle->now);
	oracle->books.flows[flow].wait_ps += (uint64_t)wait;
	tb_books_blame(&oracle->books, came_by, first, flow,
		oracle->links[first].channels[0].flow, wait, oracle->now);
}

// count_waiting counts a wait that lasts up to now.
static void count_waiting(struct oracle *oracle, struct packet *packet, uint32_t sw)
{
	uint32_t route = route_of(oracle, packet, sw);
	oracle_count_refused(oracle, packet, choice_of(oracle, &route).ids[0]);
}

void oracle_count_held(struct oracle *oracle)
{
	for (uint32_t id = 0; id < oracle->net->n_links; id++) {
		struct link *link = &oracle->links[id];
		if (link->n_held == 0)
			continue;
		oracle_books_held(&oracle->link_books, id, link->held_from, oracle->now);
		link->held_from = oracle->now;
	}
}

void oracle_count_lasting(struct oracle *oracle)
{
	oracle_count_held(oracle);
	for (uint32_t id = 0; id < oracle->net->n_links; id++) {
		const struct link *link = &oracle->links[id];
		if (in_block(oracle, link))
			oracle_books_busy(&oracle->link_books, id, link->block_from,
				oracle->now,
				n_crossed(link) % oracle->block_flits *
					oracle->net->params.flit_bytes);
	}
	for (uint32_t sw = 0; sw < oracle->net->n_switches; sw++)
		for (struct packet *packet = oracle->switches[sw].waiting; packet;
			packet = packet->next_waiting)
			count_waiting(oracle, packet, sw);
	for (struct packet *packet = oracle->broadcasts.waiting; packet;
		packet = packet->next_waiting)
		count_waiting(oracle, packet,
			oracle->links[packet->hops[packet->n_granted - 1].link].info->to);
}
