#include "faulty.h"

#include <assert.h>
#include <stdlib.h>

struct trial { // of a packet
	uint32_t tables;
	uint32_t n_failed; // tries with these tables
	uint32_t dead;	   // link that its header met, TB_ID_NONE
};

struct sender { // of a node
	uint32_t tables;
	uint32_t first, last; // retries that wait to be cut
};

struct retry { // a packet that has failed
	uint64_t order;
	uint32_t message;
	struct trial trial;
	uint32_t next; // of its sender's, or in the free list
};

struct tb_faulty {
	struct trial *trials; // by packet
	struct sender *senders;
	struct retry *retries;
	uint32_t n_retries, retries_room, free_retry;
	uint32_t *errors; // retries of this round, by order
	uint32_t n_errors, errors_room;
	uint32_t **slots; // of each group that has its own
	uint32_t n_groups, groups_room;
	size_t n_dead;	 // deaths that have come
	uint32_t tables; // the newest
};

static void no_memory(struct tb_engine *engine)
{
	tb_engine_fail(engine, TB_ENOMEM, "no memory for what fails");
}

// set_next looks when something dies next.
static void set_next(struct tb_engine *engine)
{
	const struct tb_route_choice *choice = &engine->choice;
	size_t n = engine->faulty->n_dead;
	engine->fault_at = n < choice->n_deaths ? choice->deaths[n].at : TB_TIME_NEVER;
}

int tb_faulty_new(struct tb_engine *engine)
{
	uint32_t n_nodes = engine->net->n_nodes;
	struct tb_faulty *made = calloc(1, sizeof *made);
	if (!made)
		return TB_ENOMEM;
	engine->faulty = made;
	made->free_retry = NOTHING;
	made->trials = malloc(engine->n_packets_most * sizeof *made->trials);
	made->senders = malloc(n_nodes * sizeof *made->senders);
	if (!made->trials || !made->senders)
		return TB_ENOMEM;
	for (uint32_t i = 0; i < n_nodes; i++)
		made->senders[i] = (struct sender){0, NOTHING, NOTHING};
	set_next(engine);
	return TB_OK;
}

void tb_faulty_free(struct tb_engine *engine)
{
	struct tb_faulty *faulty = engine->faulty;
	if (!faulty)
		return;
	for (uint32_t g = 0; g < faulty->n_groups; g++)
		free(faulty->slots[g]);
	free(faulty->slots);
	free(faulty->trials);
	free(faulty->senders);
	free(faulty->retries);
	free(faulty->errors);
	free(faulty);
}

void tb_faulty_strike(struct tb_engine *engine)
{
	struct tb_faulty *faulty = engine->faulty;
	const struct tb_route_choice *choice = &engine->choice;
	faulty->tables = tb_route_choice_tables_at(choice, engine->now);
	for (; faulty->n_dead < choice->n_deaths &&
		choice->deaths[faulty->n_dead].at <= engine->now;
		faulty->n_dead++) {
		uint32_t link = choice->deaths[faulty->n_dead].link;
		if (engine->net->links[link].kind != TB_LINK_INJECTION)
			tb_circuit_strike(engine, engine->net->links[link].from);
	}
	set_next(engine);
}

// add_group gives the engine the slots of the choice's next group.
static int add_group(struct tb_engine *engine)
{
	struct tb_faulty *faulty = engine->faulty;
	const struct tb_route_groups *pool = &engine->choice.pool;
	uint32_t g = faulty->n_groups;
	if (g == faulty->groups_room) {
		uint32_t room = pool->rows_room;
		void *groups = realloc(engine->groups, room * sizeof *engine->groups);
		if (groups)
			engine->groups = groups;
		void *slots = realloc(faulty->slots, room * sizeof *faulty->slots);
		if (slots)
			faulty->slots = slots;
		if (!groups || !slots)
			return TB_ENOMEM;
		faulty->groups_room = room;
	}
	uint32_t n = pool->rows[g].n;
	uint32_t *slots = malloc(n * sizeof *slots);
	if (!slots)
		return TB_ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		slots[i] = engine->slot_of_link[pool->links[pool->rows[g].first + i]];
	engine->groups[g] = (struct group){.n = n, .first = slots[0], .slots = slots};
	faulty->slots[g] = slots;
	faulty->n_groups++;
	return TB_OK;
}

uint32_t tb_faulty_route(
	struct tb_engine *engine, uint32_t sw, const struct packet *packet)
{
	struct trial *trial = &engine->faulty->trials[packet->id];
	struct tb_heading heading = {packet->order,
		engine->messages[packet->message].what.source.id, packet->destination,
		trial->tables};
	uint32_t route = tb_route_choice_route(
		&engine->choice, sw, &heading, engine->now, &trial->dead);
	if (engine->choice.failed)
		no_memory(engine);
	if (route == TB_ROUTE_NONE)
		return route;
	if (!(route & TB_ROUTE_GROUP))
		return engine->slot_of_link[route];
	while (engine->faulty->n_groups < engine->choice.pool.n_groups)
		if (add_group(engine) != TB_OK) {
			no_memory(engine);
			return TB_ROUTE_NONE;
		}
	return route;
}

static uint32_t new_retry(struct tb_faulty *faulty)
{
	uint32_t id = faulty->free_retry;
	if (id != NOTHING) {
		faulty->free_retry = faulty->retries[id].next;
		return id;
	}
	if (faulty->n_retries == faulty->retries_room) {
		uint32_t room = faulty->retries_room ? faulty->retries_room * 2 : 64;
		void *moved = realloc(faulty->retries, room * sizeof *faulty->retries);
		if (!moved)
			return NOTHING;
		faulty->retries = moved;
		faulty->retries_room = room;
	}
	return faulty->n_retries++;
}

static void drop_retry(struct tb_faulty *faulty, uint32_t id)
{
	faulty->retries[id].next = faulty->free_retry;
	faulty->free_retry = id;
}

// fail lets a packet's error be known at its source at `at`; the packet is no more.
static void fail(
	struct tb_engine *engine, struct packet *packet, uint32_t dead, tb_time_ps at)
{
	struct tb_faulty *faulty = engine->faulty;
	uint32_t id = new_retry(faulty);
	if (id == NOTHING) {
		no_memory(engine);
		return;
	}
	faulty->retries[id] = (struct retry){.order = packet->order,
		.message = packet->message,
		.trial = faulty->trials[packet->id]};
	faulty->retries[id].trial.dead = dead;
	at += engine->net->params.retry_delay_ps;
	tb_wheel_put(&engine->wheel, at, EV_ERROR, id);
	engine->free_packets[engine->n_free_packets++] = packet->id;
}

bool tb_faulty_inject(struct tb_engine *engine, uint32_t id)
{
	struct packet *packet = packet_at(engine, id);
	uint32_t node = engine->messages[packet->message].what.source.id;
	uint32_t link = engine->net->injection[node];
	if (!tb_route_choice_is_dead(&engine->choice, link, engine->now))
		return false;
	fail(engine, packet, link, engine->now);
	return true;
}

// dead_of is the first link of a packet's circuit that has died, or that its header met.
static uint32_t dead_of(struct tb_engine *engine, struct packet *packet)
{
	for (uint32_t i = 0; i < packet->n_granted; i++) {
		uint32_t id = engine->links[hop_at(engine, packet, i)->link].id;
		if (tb_route_choice_is_dead(&engine->choice, id, engine->now))
			return id;
	}
	return engine->faulty->trials[packet->id].dead;
}

bool tb_faulty_tail(struct tb_engine *engine, uint32_t id)
{
	struct packet *packet = packet_at(engine, id);
	const struct hop *last = hop_at(engine, packet, packet->n_granted - 1u);
	uint32_t dead = dead_of(engine, packet);
	if (engine->links[last->link].ejection && dead == TB_ID_NONE)
		return false;
	tb_time_ps back = tb_circuit_release(engine, packet, engine->now);
	uint32_t source = engine->messages[packet->message].what.source.id;
	if (engine->nodes[source].fetched != NOTHING)
		tb_endpoint_look_again(engine, source);
	fail(engine, packet, dead, back);
	return true;
}

void tb_faulty_error(struct tb_engine *engine, uint32_t id)
{
	struct tb_faulty *faulty = engine->faulty;
	if (faulty->n_errors == faulty->errors_room) {
		uint32_t room = faulty->errors_room ? faulty->errors_room * 2 : 64;
		void *moved = realloc(faulty->errors, room * sizeof *faulty->errors);
		if (!moved) {
			no_memory(engine);
			return;
		}
		faulty->errors = moved;
		faulty->errors_room = room;
	}
	uint64_t order = faulty->retries[id].order;
	uint32_t i = faulty->n_errors++;
	for (; i > 0 && faulty->retries[faulty->errors[i - 1]].order > order; i--)
		faulty->errors[i] = faulty->errors[i - 1];
	faulty->errors[i] = id;
}

void tb_faulty_end(struct tb_engine *engine, uint32_t id)
{
	const struct message *message = &engine->messages[id];
	if (message->n_undrained != message->n_unfetched + message->n_lost)
		return;
	tb_time_ps at = message->sent_at > engine->now ? message->sent_at : engine->now;
	tb_wheel_put(&engine->wheel, at, EV_UNDELIVERED, id);
}

// drop_waiting drops what of a message waits to be cut again.
static void drop_waiting(struct tb_engine *engine, struct sender *sender, uint32_t id)
{
	struct tb_faulty *faulty = engine->faulty;
	uint32_t next = sender->first, kept = NOTHING;
	sender->first = NOTHING;
	while (next != NOTHING) {
		uint32_t at = next;
		next = faulty->retries[at].next;
		if (faulty->retries[at].message == id) {
			engine->messages[id].n_lost++;
			drop_retry(faulty, at);
			continue;
		}
		if (kept == NOTHING)
			sender->first = at;
		else
			faulty->retries[kept].next = at;
		faulty->retries[at].next = NOTHING;
		kept = at;
	}
	sender->last = kept;
}

// leave_queue takes a message out of its node's queue.
static void leave_queue(struct tb_engine *engine, struct node *node, uint32_t id)
{
	uint32_t after = engine->messages[id].next, before = node->queue;
	if (before == id) {
		node->queue = after;
		return;
	}
	while (engine->messages[before].next != id)
		before = engine->messages[before].next;
	engine->messages[before].next = after;
	if (after == NOTHING)
		node->queue_end = before;
}

// give_up gives a message up: of it nothing is cut any more, and it is nobody's partner
// (rule 6). `dead` is the link that it met last.
static void give_up(struct tb_engine *engine, uint32_t id, uint32_t dead)
{
	struct message *message = &engine->messages[id];
	uint32_t source = message->what.source.id;
	message->given_up = true;
	if (message->n_unfetched < message->n_packets)
		tb_partners_end(&engine->partners, source, message->what.destination.id);
	if (message->n_unfetched)
		leave_queue(engine, &engine->nodes[source], id);
	drop_waiting(engine, &engine->faulty->senders[source], id);
	tb_books_undelivered(
		&engine->books, message->flow, dead, message->what.bytes, engine->now);
	tb_faulty_end(engine, id);
}

static void try_again(struct tb_engine *engine, uint32_t id)
{
	struct tb_faulty *faulty = engine->faulty;
	struct retry *retry = &faulty->retries[id];
	uint32_t node = engine->messages[retry->message].what.source.id;
	struct sender *sender = &faulty->senders[node];
	retry->order += UINT64_C(1) << 56;
	retry->next = NOTHING;
	if (sender->first == NOTHING)
		sender->first = id;
	else
		faulty->retries[sender->last].next = id;
	sender->last = id;
	engine->stats.n_retries++;
	list_add(&engine->nodes_now, node, &engine->nodes[node].listed);
}

// may_try says whether a packet is to be tried again, with newer tables if those that its
// node has do not help.
static bool may_try(struct tb_engine *engine, struct retry *retry, struct sender *sender)
{
	const struct tb_network_params *params = &engine->net->params;
	bool newer = sender->tables > retry->trial.tables;
	if (!newer && ++retry->trial.n_failed <= params->retries)
		return true;
	if (!newer && sender->tables == engine->faulty->tables)
		return false;
	if (!newer)
		sender->tables = engine->faulty->tables;
	retry->trial.n_failed = 0;
	return true;
}

static void deal_with(struct tb_engine *engine, uint32_t id)
{
	struct tb_faulty *faulty = engine->faulty;
	struct retry *retry = &faulty->retries[id];
	uint32_t message_id = retry->message, dead = retry->trial.dead;
	struct message *message = &engine->messages[message_id];
	if (!message->given_up &&
		may_try(engine, retry, &faulty->senders[message->what.source.id])) {
		try_again(engine, id);
		return;
	}
	drop_retry(faulty, id);
	message->n_lost++;
	if (message->given_up)
		tb_faulty_end(engine, message_id);
	else
		give_up(engine, message_id, dead);
}

void tb_faulty_settle(struct tb_engine *engine)
{
	struct tb_faulty *faulty = engine->faulty;
	for (uint32_t i = 0; i < faulty->n_errors; i++)
		deal_with(engine, faulty->errors[i]);
	faulty->n_errors = 0;
}

void tb_faulty_error_alone(struct tb_engine *engine, uint32_t id)
{
	uint32_t node =
		engine->messages[engine->faulty->retries[id].message].what.source.id;
	deal_with(engine, id);
	engine->nodes_now.n = 0;
	tb_endpoint_node(engine, node);
}

static bool leads(struct tb_engine *engine, uint32_t node, uint32_t message)
{
	return tb_route_choice_leads(&engine->choice,
		engine->faulty->senders[node].tables, node,
		engine->messages[message].what.destination.id);
}

// cut_again makes the packet of the first retry of a sender anew.
static uint32_t cut_again(struct tb_engine *engine, struct sender *sender)
{
	struct tb_faulty *faulty = engine->faulty;
	uint32_t id = sender->first;
	struct retry retry = faulty->retries[id];
	sender->first = retry.next;
	drop_retry(faulty, id);
	uint64_t serial = engine->messages[retry.message].serial;
	uint32_t packet = tb_endpoint_packet(
		engine, retry.message, (uint32_t)(retry.order ^ serial << 24));
	packet_at(engine, packet)->order = retry.order;
	faulty->trials[packet] =
		(struct trial){sender->tables, retry.trial.n_failed, TB_ID_NONE};
	return packet;
}

uint32_t tb_faulty_cut(struct tb_engine *engine, uint32_t id)
{
	struct node *node = &engine->nodes[id];
	struct sender *sender = &engine->faulty->senders[id];
	while (sender->first != NOTHING) {
		const struct retry *retry = &engine->faulty->retries[sender->first];
		if (leads(engine, id, retry->message))
			return cut_again(engine, sender);
		give_up(engine, retry->message, retry->trial.dead);
	}
	while (node->queue != NOTHING && !leads(engine, id, node->queue))
		give_up(engine, node->queue, TB_ID_NONE);
	if (node->queue == NOTHING)
		return NOTHING;
	uint32_t packet = tb_endpoint_cut(engine, node);
	engine->faulty->trials[packet] = (struct trial){sender->tables, 0, TB_ID_NONE};
	return packet;
}
