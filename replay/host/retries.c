// Errors of packets, handled in rounds: rules 22 and 26 to 27 of docs/model.md.
#include "nodes_impl.h"

#include "array.h"
#include "paces.h"

#include <assert.h>
#include <stdlib.h>

struct retry_sender { // of a node
	uint32_t tables;
	uint32_t first, last; // retries that wait to be cut
};

struct retry { // a packet that has failed
	uint64_t order;
	uint32_t message;
	struct tb_attempt attempt;
	uint32_t next; // of its sender's, or in the free list
};

struct tb_retries {
	struct tb_attempt *attempts; // by packet
	struct retry_sender *senders;
	struct retry *retries;
	uint32_t n_retries, free_retry;
	size_t retries_room;
	uint32_t *errors; // retries of this round, by order
	uint32_t n_errors;
	size_t errors_room;
	size_t n_dead;	 // links that have failed
	uint32_t tables; // the newest
};

static void retry_no_memory(struct tb_replay *replay)
{
	tb_replay_no_memory(replay, "what fails");
}

// set_next finds when a link fails next.
static void set_next(struct tb_replay *replay)
{
	const struct tb_route_choice *choice = &replay->choice;
	size_t n = replay->retries->n_dead;
	replay->fault_at = n < choice->n_deaths ? choice->deaths[n].at : TB_TIME_NEVER;
}

int tb_retries_new(struct tb_replay *replay)
{
	uint32_t n_nodes = replay->net->n_nodes;
	struct tb_retries *made = calloc(1, sizeof *made);
	if (!made)
		return TB_ENOMEM;
	replay->retries = made;
	made->free_retry = TB_NOTHING;
	made->attempts = malloc(replay->n_packets_most * sizeof *made->attempts);
	made->senders = malloc(n_nodes * sizeof *made->senders);
	if (!made->attempts || !made->senders)
		return TB_ENOMEM;
	for (uint32_t i = 0; i < n_nodes; i++)
		made->senders[i] = (struct retry_sender){0, TB_NOTHING, TB_NOTHING};
	set_next(replay);
	return TB_OK;
}

void tb_retries_free(struct tb_replay *replay)
{
	struct tb_retries *all = replay->retries;
	if (!all)
		return;
	free(all->attempts);
	free(all->senders);
	free(all->retries);
	free(all->errors);
	free(all);
}

int tb_retries_grow(struct tb_replay *replay, uint32_t n_packets)
{
	struct tb_retries *all = replay->retries;
	if (!all)
		return TB_OK;
	struct tb_attempt *attempts =
		realloc(all->attempts, n_packets * sizeof *attempts);
	if (!attempts)
		return TB_ENOMEM;
	all->attempts = attempts;
	return TB_OK;
}

void tb_retries_fail_links(struct tb_replay *replay,
	void (*fail_link)(struct tb_replay *replay, uint32_t link))
{
	struct tb_retries *all = replay->retries;
	const struct tb_route_choice *choice = &replay->choice;
	all->tables = tb_route_choice_tables_at(choice, replay->now);
	for (; all->n_dead < choice->n_deaths &&
		choice->deaths[all->n_dead].at <= replay->now;
		all->n_dead++)
		fail_link(replay, choice->deaths[all->n_dead].link);
	set_next(replay);
}

static uint32_t new_retry(struct tb_retries *all)
{
	uint32_t id = all->free_retry;
	if (id != TB_NOTHING) {
		all->free_retry = all->retries[id].next;
		return id;
	}
	if (TB_ARRAY_RESERVE(&all->retries, &all->retries_room,
		    (size_t)all->n_retries + 1) != TB_OK)
		return TB_NOTHING;
	return all->n_retries++;
}

static void drop_retry(struct tb_retries *all, uint32_t id)
{
	all->retries[id].next = all->free_retry;
	all->free_retry = id;
}

struct tb_attempt *tb_retries_attempt(const struct tb_replay *replay, uint32_t packet)
{
	return &replay->retries->attempts[packet];
}

void tb_retries_put(
	struct tb_replay *replay, uint32_t packet_id, uint32_t dead, tb_time_ps at)
{
	struct tb_retries *all = replay->retries;
	const struct tb_packet *packet = tb_packet_at(replay, packet_id);
	uint32_t id = new_retry(all);
	if (id == TB_NOTHING) {
		retry_no_memory(replay);
		return;
	}
	all->retries[id] = (struct retry){.order = packet->order,
		.message = packet->message,
		.attempt = all->attempts[packet_id]};
	all->retries[id].attempt.dead = dead;
	at += replay->net->params.retry_delay_ps;
	tb_wheel_put(&replay->wheel, at, TB_EVENT_ERROR, id);
}

bool tb_retries_inject(struct tb_replay *replay, uint32_t id)
{
	uint32_t node = tb_packet_source(replay, tb_packet_at(replay, id));
	uint32_t link = replay->net->injection[node];
	if (!tb_route_choice_is_dead(&replay->choice, link, replay->now))
		return false;
	tb_nodes_fail(replay, id, link, replay->now);
	return true;
}

void tb_retries_error(struct tb_replay *replay, uint32_t id)
{
	struct tb_retries *all = replay->retries;
	if (TB_ARRAY_RESERVE(&all->errors, &all->errors_room,
		    (size_t)all->n_errors + 1) != TB_OK) {
		retry_no_memory(replay);
		return;
	}
	uint64_t order = all->retries[id].order;
	uint32_t i = all->n_errors++;
	for (; i > 0 && all->retries[all->errors[i - 1]].order > order; i--)
		all->errors[i] = all->errors[i - 1];
	all->errors[i] = id;
}

void tb_retries_end(struct tb_replay *replay, uint32_t id)
{
	const struct tb_posted *message = &replay->messages[id];
	if (message->n_undrained != message->n_unfetched + message->n_lost)
		return;
	tb_time_ps at = message->sent_at > replay->now ? message->sent_at : replay->now;
	tb_wheel_put(&replay->wheel, at, TB_EVENT_UNDELIVERED, id);
}

// retry_give_up gives a message up: no more of it is cut, and it no longer counts for
// partners (rule 6). `dead` is the last dead link that it met.
static void retry_give_up(struct tb_replay *replay, uint32_t id, uint32_t dead)
{
	struct tb_posted *message = &replay->messages[id];
	uint32_t source = message->what.source.id;
	message->given_up = true;
	if (message->n_unfetched < message->n_packets)
		tb_partners_end(&replay->partners, &message->what);
	if (message->n_unfetched) {
		// Take a message out of its node's queue.
		struct tb_nic *nic = tb_nic_at(replay, source, message->vl);
		if (nic->turned == id)
			nic->turned = TB_NOTHING;
		if (replay->pairs.by_connection)
			tb_queue_pairs_drop(replay, nic, id);
		else
			tb_nic_replace(replay, nic, id, TB_NOTHING);
	}
	// Drop the retries of a message that wait to be cut again.
	struct retry_sender *sender = &replay->retries->senders[source];
	struct tb_retries *all = replay->retries;
	uint32_t next = sender->first, kept = TB_NOTHING;
	sender->first = TB_NOTHING;
	while (next != TB_NOTHING) {
		uint32_t at = next;
		next = all->retries[at].next;
		if (all->retries[at].message == id) {
			replay->messages[id].n_lost++;
			drop_retry(all, at);
			continue;
		}
		if (kept == TB_NOTHING)
			sender->first = at;
		else
			all->retries[kept].next = at;
		all->retries[at].next = TB_NOTHING;
		kept = at;
	}
	sender->last = kept;
	tb_records_undelivered(
		&replay->records, message->flow, dead, message->what.bytes, replay->now);
	tb_retries_end(replay, id);
}

static void retry_packet(struct tb_replay *replay, uint32_t id)
{
	struct tb_retries *all = replay->retries;
	struct retry *retry = &all->retries[id];
	const struct tb_posted *message = &replay->messages[retry->message];
	uint32_t node = message->what.source.id;
	tb_records_retried(&replay->records, message->flow, retry->attempt.dead,
		replay->now - replay->net->params.retry_delay_ps, replay->now);
	struct retry_sender *sender = &all->senders[node];
	retry->order += UINT64_C(1) << 56;
	retry->next = TB_NOTHING;
	if (sender->first == TB_NOTHING)
		sender->first = id;
	else
		all->retries[sender->last].next = id;
	sender->last = id;
	replay->stats.n_retries++;
	tb_list_add(&replay->nodes_now, node, &replay->nics[node].listed);
}

// may_try returns whether a packet is to be sent again, with newer tables if those of its
// node do not help.
static bool may_try(
	struct tb_replay *replay, struct retry *retry, struct retry_sender *sender)
{
	const struct tb_network_params *params = &replay->net->params;
	bool newer = sender->tables > retry->attempt.tables;
	if (!newer && ++retry->attempt.n_failed <= params->retries)
		return true;
	if (!newer && sender->tables == replay->retries->tables)
		return false;
	if (!newer)
		sender->tables = replay->retries->tables;
	retry->attempt.n_failed = 0;
	return true;
}

static void deal_with(struct tb_replay *replay, uint32_t id)
{
	struct tb_retries *all = replay->retries;
	struct retry *retry = &all->retries[id];
	uint32_t message_id = retry->message, dead = retry->attempt.dead;
	struct tb_posted *message = &replay->messages[message_id];
	if (!message->given_up &&
		may_try(replay, retry, &all->senders[message->what.source.id])) {
		retry_packet(replay, id);
		return;
	}
	drop_retry(all, id);
	message->n_lost++;
	if (message->given_up)
		tb_retries_end(replay, message_id);
	else
		retry_give_up(replay, message_id, dead);
}

void tb_retries_settle(struct tb_replay *replay)
{
	struct tb_retries *all = replay->retries;
	for (uint32_t i = 0; i < all->n_errors; i++)
		deal_with(replay, all->errors[i]);
	all->n_errors = 0;
}

uint32_t tb_retries_error_alone(struct tb_replay *replay, uint32_t id)
{
	uint32_t message = replay->retries->retries[id].message;
	deal_with(replay, id);
	replay->nodes_now.n = 0;
	return replay->messages[message].what.source.id;
}

static bool retry_leads(struct tb_replay *replay, uint32_t node, uint32_t message)
{
	return tb_route_choice_leads(&replay->choice,
		replay->retries->senders[node].tables, node,
		replay->messages[message].what.destination.id);
}

// retry_first is where the first retry of a node's VL is noted.
static uint32_t *retry_first(
	const struct tb_replay *replay, uint32_t node, const struct tb_nic *nic)
{
	struct retry *retries = replay->retries->retries;
	uint32_t *at = &replay->retries->senders[node].first;
	while (*at != TB_NOTHING &&
		tb_nic_at(replay, node, replay->messages[retries[*at].message].vl) != nic)
		at = &retries[*at].next;
	return at;
}

// cut_again makes the packet of a sender's retry, noted at `first`, again.
static uint32_t cut_again(
	struct tb_replay *replay, struct retry_sender *sender, uint32_t *first)
{
	struct tb_retries *all = replay->retries;
	uint32_t id = *first;
	struct retry retry = all->retries[id];
	*first = retry.next;
	for (uint32_t at = sender->first; sender->last == id && at != TB_NOTHING;
		at = all->retries[at].next)
		if (all->retries[at].next == TB_NOTHING)
			sender->last = at;
	drop_retry(all, id);
	uint64_t serial = replay->messages[retry.message].serial;
	uint32_t packet = tb_nodes_packet(
		replay, retry.message, (uint32_t)(retry.order ^ serial << 24));
	tb_packet_at(replay, packet)->order = retry.order;
	all->attempts[packet] =
		(struct tb_attempt){sender->tables, retry.attempt.n_failed, TB_ID_NONE};
	return packet;
}

// retry_next returns the message of a node that may send a packet now, or TB_NOTHING.
static uint32_t retry_next(
	struct tb_replay *replay, uint32_t id, const struct tb_nic *nic, tb_time_ps *at)
{
	return replay->paces ? tb_paces_next(replay, id, nic, at) : nic->queue;
}

uint32_t tb_retries_cut(
	struct tb_replay *replay, uint32_t id, struct tb_nic *nic, tb_time_ps *at)
{
	struct retry_sender *sender = &replay->retries->senders[id];
	for (uint32_t *first; *(first = retry_first(replay, id, nic)) != TB_NOTHING;) {
		const struct retry *retry = &replay->retries->retries[*first];
		if (retry_leads(replay, id, retry->message))
			return cut_again(replay, sender, first);
		retry_give_up(replay, retry->message, retry->attempt.dead);
	}
	uint32_t next = retry_next(replay, id, nic, at);
	for (; next != TB_NOTHING && !retry_leads(replay, id, next);
		next = retry_next(replay, id, nic, at))
		retry_give_up(replay, next, TB_ID_NONE);
	if (next == TB_NOTHING)
		return TB_NOTHING;
	uint32_t packet = replay->paces ? tb_paces_cut(replay, id, nic, next)
					: tb_nodes_cut(replay, nic);
	replay->retries->attempts[packet] =
		(struct tb_attempt){sender->tables, 0, TB_ID_NONE};
	return packet;
}
