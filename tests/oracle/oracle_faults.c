// Failures and what comes of them: headers that meet dead links, errors that go back,
// tries, messages given up. Numbers of rules are those of docs/model.md.
#include "credits/credits.h"

static uint32_t source_of(const struct packet *packet)
{
	return packet->message->what.source.id;
}

// Rule 23: headers that wait at a switch whose links die.
static void fail_switch(struct oracle *oracle, uint32_t sw)
{
	struct packet **at = &oracle->switches[sw].waiting;
	while (*at) {
		struct packet *packet = *at;
		if (oracle_group_on(oracle, packet, sw, oracle->now).n > 0) {
			at = &packet->next_waiting;
			continue;
		}
		*at = packet->next_waiting;
		oracle_note_refused(oracle, packet,
			oracle_group_on(oracle, packet, sw, oracle->now - 1).links[0]);
		oracle_refuse(oracle, packet);
	}
}

// next_failure returns when the next link fails.
static tb_time_ps next_failure(const struct oracle *oracle)
{
	tb_time_ps next = TB_TIME_NEVER;
	for (uint32_t i = 0; i < oracle->net->n_links; i++)
		if (oracle->dead_at[i] > oracle->now && oracle->dead_at[i] < next)
			next = oracle->dead_at[i];
	return next;
}

void oracle_fail_links(struct oracle *oracle)
{
	if (oracle->credits)
		credits_fail_links(oracle);
	else
		for (uint32_t sw = 0; sw < oracle->net->n_switches; sw++)
			fail_switch(oracle, sw);
	oracle->fault_at = next_failure(oracle);
}

// Rule 23: the switch takes what comes, and discards it.
void oracle_refuse(struct oracle *oracle, struct packet *packet)
{
	const struct hop *last = &packet->hops[packet->n_granted - 1];
	packet->refused = true;
	if (last->n_in == packet->n_flits)
		oracle_send_error(oracle, packet);
	else
		oracle_touch_link(oracle, last->link);
}

// Rule 24.
bool oracle_is_corrupted(struct oracle *oracle, struct packet *packet)
{
	for (uint32_t i = 0; i < packet->n_granted; i++)
		if (is_dead(oracle, packet->hops[i].link, oracle->now))
			return true;
	return false;
}

// Rule 25: the error goes back as an acknowledgement does.
void oracle_send_error(struct oracle *oracle, struct packet *packet)
{
	uint32_t last = packet->n_granted - 1;
	packet->failed = true;
	for (uint32_t i = packet->n_granted; i-- > 0;)
		if (is_dead(oracle, packet->hops[i].link, oracle->now))
			packet->dead = packet->hops[i].link;
	oracle_foresee(oracle,
		(struct happening){
			.at = oracle->now + oracle->links[packet->hops[last].link].hop_ps,
			.what = ACK_IN,
			.id = last,
			.packet = packet});
}

void oracle_error_in(struct oracle *oracle, struct packet *packet)
{
	oracle_foresee(oracle,
		(struct happening){.at = oracle->now + oracle->net->params.retry_delay_ps,
			.what = FAILED,
			.packet = packet});
}

bool oracle_inject_fails(struct oracle *oracle, struct packet *packet)
{
	uint32_t link = oracle->net->injection[source_of(packet)];
	if (!is_dead(oracle, link, oracle->now))
		return false;
	packet->dead = link;
	packet->closed = true;
	oracle_error_in(oracle, packet);
	return true;
}

void oracle_failed(struct oracle *oracle, struct packet *packet)
{
	struct packet **at = &oracle->errors;
	while (*at && (*at)->order < packet->order)
		at = &(*at)->next_again;
	packet->next_again = *at;
	*at = packet;
}

static void forget(struct oracle *oracle, struct packet *packet)
{
	packet->drained = true;
	oracle_drop_done(oracle, packet);
}

static void end(struct oracle *oracle, struct message *message)
{
	if (message->n_unacknowledged == message->n_uncut + message->n_lost)
		oracle_foresee(oracle, (struct happening){.at = oracle->now,
					       .what = UNDELIVERED,
					       .message = message});
}

// give_up (rule 27): nothing more of the message is cut, or cut again.
static void give_up(struct oracle *oracle, struct message *message, uint32_t dead)
{
	struct node *node = &oracle->nodes[message->what.source.id];
	message->given_up = true;
	if (message->n_uncut)
		oracle_leave_queue(oracle, node, message);
	for (struct packet **at = &node->again; *at;) {
		struct packet *packet = *at;
		if (packet->message != message) {
			at = &packet->next_again;
			continue;
		}
		*at = packet->next_again;
		message->n_lost++;
		forget(oracle, packet);
	}
	oracle_note(&oracle->facts, (struct oracle_fact){.kind = ORACLE_GIVEN_UP,
					    .flow = message->flow,
					    .link = dead,
					    .from = oracle->now,
					    .bytes = message->what.bytes});
	end(oracle, message);
}

// has_failed_since returns whether something has failed after the instant of some tables.
static bool has_failed_since(const struct oracle *oracle, tb_time_ps tables)
{
	for (uint32_t i = 0; i < oracle->net->n_links; i++)
		if (oracle->dead_at[i] > tables && oracle->dead_at[i] <= oracle->now)
			return true;
	return false;
}

// may_try (rule 26) returns whether a packet is to be tried again.
static bool may_try(struct oracle *oracle, struct packet *packet, struct node *node)
{
	if (packet->tables < node->tables) {
		packet->n_failed = 0;
		return true;
	}
	if (++packet->n_failed <= oracle->net->params.retries)
		return true;
	if (oracle->net->params.ascent == TB_ASCENT_TABLE ||
		!has_failed_since(oracle, node->tables))
		return false;
	node->tables = oracle->now;
	packet->n_failed = 0;
	return true;
}

static void deal_with(struct oracle *oracle, struct packet *packet)
{
	struct message *message = packet->message;
	uint32_t id = source_of(packet);
	struct node *node = &oracle->nodes[id];
	uint32_t dead = packet->dead;
	if (!message->given_up && may_try(oracle, packet, node)) {
		struct packet **at = &node->again;
		while (*at)
			at = &(*at)->next_again;
		packet->next_again = NULL;
		*at = packet;
		oracle->stats.n_retries++;
		touch(&oracle->nodes_now, id, &node->touched);
		return;
	}
	forget(oracle, packet);
	message->n_lost++;
	if (message->given_up)
		end(oracle, message);
	else
		give_up(oracle, message, dead);
}

void oracle_settle(struct oracle *oracle)
{
	while (oracle->errors) {
		struct packet *packet = oracle->errors;
		oracle->errors = packet->next_again;
		deal_with(oracle, packet);
	}
}

static bool leads(struct oracle *oracle, uint32_t node, const struct message *message)
{
	return oracle_leads(
		oracle, oracle->nodes[node].tables, node, message->what.destination.id);
}

// first_again is where a node's first packet of a VL stands that is to be cut again.
static struct packet **first_again(struct node *node, uint32_t vl)
{
	struct packet **at = &node->again;
	while (*at && (*at)->vl != vl)
		at = &(*at)->next_again;
	return at;
}

// cut_again makes a packet anew; its order tells its tries apart (rule 26).
static struct packet *cut_again(
	struct oracle *oracle, struct node *node, struct packet **at)
{
	struct packet *old = *at;
	struct message *message = old->message;
	struct packet *packet = oracle_packet(
		oracle, message, (uint32_t)(old->order ^ message->serial << 24));
	*at = old->next_again;
	packet->order = old->order + (UINT64_C(1) << 56);
	packet->tables = node->tables;
	packet->n_failed = old->n_failed;
	forget(oracle, old);
	return packet;
}

struct packet *oracle_cut(struct oracle *oracle, uint32_t id, uint32_t vl)
{
	struct node *node = &oracle->nodes[id];
	struct packet **again;
	while (*(again = first_again(node, vl))) {
		if (leads(oracle, id, (*again)->message))
			return cut_again(oracle, node, again);
		give_up(oracle, (*again)->message, (*again)->dead);
	}
	struct message *next;
	while ((next = oracle_next(oracle, id, vl)) && !leads(oracle, id, next))
		give_up(oracle, next, TB_ID_NONE);
	struct packet *packet = oracle_cut_next(oracle, id, vl);
	if (packet)
		packet->tables = node->tables;
	return packet;
}
