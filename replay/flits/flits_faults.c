// What dies and what comes of it: headers that meet dead links, errors that go back,
// tries, messages given up. Numbers of rules are those of docs/model.md.
#include "flits_impl.h"

static uint32_t source_of(const struct packet *packet)
{
	return packet->message->what.source.id;
}

static uint32_t way_at(
	struct tb_flits *flits, struct packet *packet, uint32_t sw, tb_time_ps now)
{
	struct tb_heading heading = {
		packet->order, source_of(packet), packet->destination, packet->tables};
	return tb_route_choice_route(&flits->choice, sw, &heading, now, &packet->dead);
}

uint32_t tb_flits_way(struct tb_flits *flits, struct packet *packet, uint32_t sw)
{
	return way_at(flits, packet, sw, flits->now);
}

// first_before is the first link of the way that a header had until now.
static uint32_t first_before(struct tb_flits *flits, struct packet *packet, uint32_t sw)
{
	const struct tb_route_groups *pool = &flits->choice.pool;
	uint32_t route = way_at(flits, packet, sw, flits->now - 1);
	if (!(route & TB_ROUTE_GROUP))
		return route;
	return pool->links[pool->rows[route & ~TB_ROUTE_GROUP].first];
}

// Rule 23: headers that wait at a switch one of whose links dies.
static void strike_switch(struct tb_flits *flits, uint32_t sw)
{
	struct packet **at = &flits->switches[sw].waiting;
	while (*at) {
		struct packet *packet = *at;
		if (tb_flits_way(flits, packet, sw) != TB_ROUTE_NONE) {
			at = &packet->next_waiting;
			continue;
		}
		uint32_t dead = packet->dead;
		*at = packet->next_waiting;
		tb_flits_count_refused(flits, packet, first_before(flits, packet, sw));
		packet->dead = dead;
		tb_flits_refuse(flits, packet);
	}
}

void tb_flits_strike(struct tb_flits *flits)
{
	const struct tb_route_choice *choice = &flits->choice;
	while (flits->n_dead < choice->n_deaths &&
		choice->deaths[flits->n_dead].at <= flits->now) {
		const struct tb_link_info *link =
			&flits->net->links[choice->deaths[flits->n_dead++].link];
		if (link->kind != TB_LINK_INJECTION)
			strike_switch(flits, link->from);
	}
	flits->fault_at = TB_TIME_NEVER;
	if (flits->n_dead < choice->n_deaths)
		flits->fault_at = choice->deaths[flits->n_dead].at;
}

// Rule 23: the switch takes what comes, and discards it.
void tb_flits_refuse(struct tb_flits *flits, struct packet *packet)
{
	const struct hop *last = &packet->hops[packet->n_granted - 1];
	packet->refused = true;
	if (last->n_in == packet->n_flits)
		tb_flits_send_error(flits, packet);
	else
		tb_flits_touch_link(flits, last->link);
}

// Rule 24.
bool tb_flits_is_spoilt(struct tb_flits *flits, struct packet *packet)
{
	if (!flits->choice.dead_at)
		return false;
	for (uint32_t i = 0; i < packet->n_granted; i++)
		if (tb_route_choice_is_dead(
			    &flits->choice, packet->hops[i].link, flits->now))
			return true;
	return false;
}

// Rule 25: the error goes back as an acknowledgement does.
void tb_flits_send_error(struct tb_flits *flits, struct packet *packet)
{
	uint32_t last = packet->n_granted - 1;
	packet->failed = true;
	for (uint32_t i = packet->n_granted; i-- > 0;)
		if (tb_route_choice_is_dead(
			    &flits->choice, packet->hops[i].link, flits->now))
			packet->dead = packet->hops[i].link;
	tb_flits_foresee(flits,
		(struct happening){
			.at = flits->now + flits->links[packet->hops[last].link].hop_ps,
			.what = ACK_IN,
			.id = last,
			.packet = packet});
}

void tb_flits_error_in(struct tb_flits *flits, struct packet *packet)
{
	tb_flits_foresee(flits,
		(struct happening){.at = flits->now + flits->net->params.retry_delay_ps,
			.what = FAILED,
			.packet = packet});
}

bool tb_flits_inject_fails(struct tb_flits *flits, struct packet *packet)
{
	uint32_t link = flits->net->injection[source_of(packet)];
	if (!flits->choice.dead_at ||
		!tb_route_choice_is_dead(&flits->choice, link, flits->now))
		return false;
	packet->dead = link;
	packet->closed = true;
	tb_flits_error_in(flits, packet);
	return true;
}

void tb_flits_failed(struct tb_flits *flits, struct packet *packet)
{
	struct packet **at = &flits->errors;
	while (*at && (*at)->order < packet->order)
		at = &(*at)->next_again;
	packet->next_again = *at;
	*at = packet;
}

static void forget(struct tb_flits *flits, struct packet *packet)
{
	packet->drained = true;
	tb_flits_drop_done(flits, packet);
}

void tb_flits_end(struct tb_flits *flits, struct message *message)
{
	if (message->n_unacknowledged == message->n_uncut + message->n_lost)
		tb_flits_foresee(flits, (struct happening){.at = flits->now,
						.what = UNDELIVERED,
						.message = message});
}

// give_up (rule 27): nothing more of the message is cut, or cut again.
static void give_up(struct tb_flits *flits, struct message *message, uint32_t dead)
{
	struct node *node = &flits->nodes[message->what.source.id];
	message->given_up = true;
	if (message->n_uncut)
		tb_flits_leave_queue(node, message);
	for (struct packet **at = &node->again; *at;) {
		struct packet *packet = *at;
		if (packet->message != message) {
			at = &packet->next_again;
			continue;
		}
		*at = packet->next_again;
		message->n_lost++;
		forget(flits, packet);
	}
	tb_books_undelivered(
		&flits->books, message->flow, dead, message->what.bytes, flits->now);
	tb_flits_end(flits, message);
}

// may_try (rule 26) says whether a packet is to be tried again.
static bool may_try(struct tb_flits *flits, struct packet *packet, struct node *node)
{
	uint32_t newest = tb_route_choice_tables_at(&flits->choice, flits->now);
	if (packet->tables < node->tables) {
		packet->n_failed = 0;
		return true;
	}
	if (++packet->n_failed <= flits->net->params.retries)
		return true;
	if (node->tables == newest)
		return false;
	node->tables = newest;
	packet->n_failed = 0;
	return true;
}

static void deal_with(struct tb_flits *flits, struct packet *packet)
{
	struct message *message = packet->message;
	uint32_t id = source_of(packet);
	struct node *node = &flits->nodes[id];
	uint32_t dead = packet->dead;
	if (!message->given_up && may_try(flits, packet, node)) {
		struct packet **at = &node->again;
		while (*at)
			at = &(*at)->next_again;
		packet->next_again = NULL;
		*at = packet;
		flits->stats.n_retries++;
		touch(&flits->nodes_now, id, &node->touched);
		return;
	}
	forget(flits, packet);
	message->n_lost++;
	if (message->given_up)
		tb_flits_end(flits, message);
	else
		give_up(flits, message, dead);
}

void tb_flits_settle(struct tb_flits *flits)
{
	while (flits->errors) {
		struct packet *packet = flits->errors;
		flits->errors = packet->next_again;
		deal_with(flits, packet);
	}
}

static bool leads(struct tb_flits *flits, uint32_t node, const struct message *message)
{
	return tb_route_choice_leads(&flits->choice, flits->nodes[node].tables, node,
		message->what.destination.id);
}

// cut_again makes a packet anew; its order tells its tries apart (rule 26).
static struct packet *cut_again(struct tb_flits *flits, struct node *node)
{
	struct packet *old = node->again;
	struct message *message = old->message;
	struct packet *packet = tb_flits_packet(
		flits, message, (uint32_t)(old->order ^ message->serial << 24));
	node->again = old->next_again;
	if (packet) {
		packet->order = old->order + (UINT64_C(1) << 56);
		packet->tables = node->tables;
		packet->n_failed = old->n_failed;
	}
	forget(flits, old);
	return packet;
}

struct packet *tb_flits_cut(struct tb_flits *flits, uint32_t id)
{
	struct node *node = &flits->nodes[id];
	while (node->again) {
		if (leads(flits, id, node->again->message))
			return cut_again(flits, node);
		give_up(flits, node->again->message, node->again->dead);
	}
	while (node->queue && !leads(flits, id, node->queue))
		give_up(flits, node->queue, TB_ID_NONE);
	struct packet *packet = tb_flits_cut_next(flits, node);
	if (packet)
		packet->tables = node->tables;
	return packet;
}
