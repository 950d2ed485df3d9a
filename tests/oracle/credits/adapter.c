// The host channel adapter: queue pairs, PCIe, injection, acknowledgements. Numbers of
// rules are those of docs/credits.md.
#include "credit_params.h"
#include "credits.h"

#include <assert.h>

uint8_t credits_vl(const struct oracle *oracle, const struct tb_message *message)
{
	const struct oracle_options *options = oracle->options;
	uint8_t level = 0;
	if (message->job < options->n_service_levels)
		level = options->service_levels[message->job];
	return oracle->credits->vl_of[level];
}

tb_time_ps credits_serve_pcie(
	struct oracle *oracle, uint32_t node, enum way way, uint64_t bytes)
{
	struct adapter *adapter = &oracle->credits->adapters[node];
	tb_time_ps begins = oracle_later(adapter->free_at[way], oracle->now);
	adapter->free_at[way] = begins + rate_time(adapter->byte_q20[way], bytes);
	return adapter->free_at[way];
}

// Queue pairs (C15).
//
static bool is_of(const struct pair *pair, const struct message *message)
{
	return pair->message
		       ? pair->message == message
		       : pair->destination == message->end && pair->vl == message->vl;
}

void credits_join(struct oracle *oracle, struct message *message)
{
	struct adapter *adapter = &oracle->credits->adapters[message->what.source.id];
	for (size_t i = 0; i < adapter->n_pairs; i++)
		if (is_of(&adapter->pairs[i], message))
			return;
	bool alone = oracle->credits->params->queue_pairs == TB_QUEUE_PAIRS_MESSAGE;
	adapter->pairs =
		oracle_one_more(adapter->pairs, adapter->n_pairs, sizeof *adapter->pairs);
	adapter->pairs[adapter->n_pairs++] =
		(struct pair){message->end, message->vl, alone ? message : NULL};
}

// next_of is the next message of a queue pair; NULL: none.
static struct message *next_of(const struct node *node, const struct pair *pair)
{
	struct message *message = node->queue;
	while (message && !is_of(pair, message))
		message = message->next;
	return message;
}

static void drop_pair(struct adapter *adapter, size_t i)
{
	for (adapter->n_pairs--; i < adapter->n_pairs; i++)
		adapter->pairs[i] = adapter->pairs[i + 1];
}

void credits_leave(struct oracle *oracle, const struct message *message)
{
	uint32_t id = message->what.source.id;
	struct adapter *adapter = &oracle->credits->adapters[id];
	for (size_t i = 0; i < adapter->n_pairs; i++)
		if (is_of(&adapter->pairs[i], message) &&
			!next_of(&oracle->nodes[id], &adapter->pairs[i])) {
			drop_pair(adapter, i);
			return;
		}
}

tb_time_ps credits_fetch_delay(const struct oracle *oracle, const struct message *message)
{
	const struct tb_credit_params *params = tb_credit_params(&oracle->net->params);
	bool fetched = message->end != message->what.source.id &&
		       message->what.bytes > params->inline_bytes;
	return oracle->credits && fetched ? params->fetch_delay_ps : 0;
}

// Messages per second (C38).
//
static bool is_gapped(const struct message *message)
{
	return message->n_uncut == message->n_packets && !message->what.captured;
}

static struct begun *begun_of(struct adapter *adapter, const struct message *message)
{
	const struct tb_message *what = &message->what;
	for (size_t i = 0; i < adapter->n_begun; i++) {
		struct begun *begun = &adapter->begun[i];
		if (begun->destination == message->end && begun->job == what->job &&
			begun->source_rank == what->source_rank &&
			begun->destination_rank == what->destination_rank)
			return begun;
	}
	return NULL;
}

static void note_beginning(struct oracle *oracle, struct message *message)
{
	const struct tb_message *what = &message->what;
	struct adapter *adapter = &oracle->credits->adapters[what->source.id];
	struct begun *begun = begun_of(adapter, message);
	if (!begun) {
		adapter->begun = oracle_one_more(
			adapter->begun, adapter->n_begun, sizeof *adapter->begun);
		begun = &adapter->begun[adapter->n_begun++];
		*begun = (struct begun){message->end, what->job, what->source_rank,
			what->destination_rank, 0};
	}
	begun->at = adapter->last_began = oracle->now;
}

// may_go_at is when a message may go by its queue pair.
static tb_time_ps may_go_at(struct oracle *oracle, const struct message *message)
{
	const struct tb_credit_params *params = oracle->credits->params;
	struct adapter *adapter = &oracle->credits->adapters[message->what.source.id];
	tb_time_ps at = credits_may_cut_at(oracle, message);
	const struct begun *begun = begun_of(adapter, message);
	if (begun && is_gapped(message) &&
		params->queue_pairs == TB_QUEUE_PAIRS_CONNECTION)
		at = oracle_later(at, begun->at + params->queue_pair_gap_ps);
	return at;
}

// first_that_may is the place of the first pair of a VL that may go now, and whose
// beginning the adapter may make; without one, how many pairs there are, and the node
// looks again when there may be one.
static size_t first_that_may(struct oracle *oracle, uint32_t id, uint32_t vl)
{
	const struct adapter *adapter = &oracle->credits->adapters[id];
	tb_time_ps gap = oracle->credits->params->message_gap_ps;
	tb_time_ps soonest = TB_TIME_NEVER;
	for (size_t i = 0; i < adapter->n_pairs; i++) {
		if (adapter->pairs[i].vl != vl)
			continue;
		const struct message *message =
			next_of(&oracle->nodes[id], &adapter->pairs[i]);
		tb_time_ps at = may_go_at(oracle, message);
		bool in_turn = at <= oracle->now;
		if (in_turn && is_gapped(message) && adapter->n_begun)
			at = adapter->last_began + gap;
		if (at <= oracle->now)
			return i;
		if (at < soonest)
			soonest = at;
		if (in_turn)
			break;
	}
	if (soonest != TB_TIME_NEVER)
		oracle_foresee(oracle,
			(struct happening){.at = soonest, .what = PACED, .id = id});
	return adapter->n_pairs;
}

struct message *credits_next(struct oracle *oracle, uint32_t id, uint32_t vl)
{
	const struct adapter *adapter = &oracle->credits->adapters[id];
	size_t turn = first_that_may(oracle, id, vl);
	return turn < adapter->n_pairs
		       ? next_of(&oracle->nodes[id], &adapter->pairs[turn])
		       : NULL;
}

static bool has_pairs(const struct adapter *adapter, uint32_t vl)
{
	for (size_t i = 0; i < adapter->n_pairs; i++)
		if (adapter->pairs[i].vl == vl)
			return true;
	return false;
}

struct packet *credits_cut_next(struct oracle *oracle, uint32_t id, uint32_t vl)
{
	struct node *node = &oracle->nodes[id];
	struct adapter *adapter = &oracle->credits->adapters[id];
	size_t turn = first_that_may(oracle, id, vl);
	if (turn == adapter->n_pairs)
		return NULL;
	struct pair pair = adapter->pairs[turn];
	struct message *message = next_of(node, &pair);
	struct packet *packet =
		oracle_packet(oracle, message, message->n_packets - message->n_uncut);
	oracle_note_turn(oracle, node, packet);
	credits_was_cut(oracle, packet);
	if (is_gapped(message))
		note_beginning(oracle, message);
	drop_pair(adapter, turn);
	if (--message->n_uncut == 0)
		oracle_leave_queue(oracle, node, message);
	message->stands_behind = message->n_uncut > 0 && has_pairs(adapter, vl);
	if (message->stands_behind)
		node->ahead[vl].turn_over = message;
	if (next_of(node, &pair)) // there is room: one has just left
		adapter->pairs[adapter->n_pairs++] = pair;
	return packet;
}

tb_time_ps credits_others_sent(
	const struct oracle *oracle, uint32_t id, uint32_t vl, tb_time_ps since)
{
	const struct adapter *adapter = &oracle->credits->adapters[id];
	tb_time_ps sum = 0;
	for (size_t i = 0; i < adapter->n_sent; i++) {
		const struct sent *sent = &adapter->sent[i];
		if (sent->vl != vl && sent->to > since)
			sum += sent->to - oracle_later(sent->from, since);
	}
	return sum;
}

// fetched_of takes what a node has fetched of a VL, to enter its link.
static struct packet *fetched_of(struct oracle *oracle, uint32_t id, uint32_t vl)
{
	struct ahead *ahead = &oracle->nodes[id].ahead[vl];
	struct packet *packet = ahead->fetched;
	if (packet)
		oracle_note_entry(oracle, id, vl);
	ahead->fetched = NULL;
	return packet;
}

static void fail_fetched(struct oracle *oracle, uint32_t id, uint32_t link)
{
	for (uint32_t vl = 0; vl < oracle->credits->n_vls; vl++) {
		struct packet *packet = fetched_of(oracle, id, vl);
		if (packet) {
			packet->dead = link;
			credits_fail(oracle, packet);
		}
	}
}

// Of the fetched packets one enters when the link is free and it may (C16).
void credits_inject(struct oracle *oracle, uint32_t id)
{
	struct adapter *adapter = &oracle->credits->adapters[id];
	struct packet *packets[TB_VLS_MOST];
	uint32_t link = oracle->net->injection[id];
	if (is_dead(oracle, link, oracle->now)) {
		fail_fetched(oracle, id, link);
		return;
	}
	if (line_of(oracle, link)->crossing)
		return;
	for (uint32_t vl = 0; vl < TB_VLS_MOST; vl++)
		packets[vl] = oracle->nodes[id].ahead[vl].fetched;
	uint32_t vl = credits_arbitrate(oracle, link, packets);
	if (vl == TB_ID_NONE)
		return;
	credits_begin(oracle, fetched_of(oracle, id, vl), link);
	adapter->sent =
		oracle_one_more(adapter->sent, adapter->n_sent, sizeof *adapter->sent);
	adapter->sent[adapter->n_sent++] =
		(struct sent){vl, oracle->now, line_of(oracle, link)->ends_at};
}

// ack_time (C18) is what passes until a packet's source knows that it has come.
static tb_time_ps ack_time(const struct oracle *oracle, const struct packet *packet)
{
	tb_time_ps latencies = 0, slowest = 0;
	for (uint32_t i = 0; i < packet->n_granted; i++) {
		const struct link *link = link_of(oracle, &packet->hops[i]);
		latencies += link->info->latency_ps;
		slowest = oracle_later(slowest,
			rate_time(link->byte_q20, oracle->credits->params->ack_bytes));
	}
	return latencies + slowest;
}

void credits_in(struct oracle *oracle, struct packet *packet)
{
	uint32_t id = packet->destination, link = came_by(packet);
	if (packet->corrupted_by != TB_ID_NONE) {
		credits_free(oracle, packet, link,
			(struct blamed){flow_of(packet), link, false, flow_of(packet)});
		credits_fail(oracle, packet);
		return;
	}
	if (packet->marked)
		credits_tell(oracle, packet, ack_time(oracle, packet));
	packet->n_events += 2;
	oracle_foresee(oracle, (struct happening){.at = credits_serve_pcie(oracle, id, IN,
							  packet->payload_bytes),
				       .what = DRAINED,
				       .packet = packet});
	oracle_foresee(
		oracle, (struct happening){.at = oracle->now + ack_time(oracle, packet),
				.what = ACKNOWLEDGED,
				.packet = packet});
	oracle_count_in(oracle, packet);
}

void credits_acknowledged(struct oracle *oracle, struct packet *packet)
{
	oracle_acknowledged(oracle, packet);
	packet->over = true;
	credits_event_over(oracle, packet);
}

void credits_drained(struct oracle *oracle, struct packet *packet)
{
	credits_free(oracle, packet, came_by(packet),
		(struct blamed){
			flow_of(packet), came_by(packet), false, flow_of(packet)});
	credits_event_over(oracle, packet);
}

void credits_fail(struct oracle *oracle, struct packet *packet)
{
	if (packet->corrupted_by != TB_ID_NONE)
		packet->dead = packet->corrupted_by;
	packet->failed = packet->over = true;
	packet->closed = packet->n_events == 0;
	oracle_error_in(oracle, packet);
}

// A packet that is over is closed when nothing refers to it any more.
void credits_event_over(struct oracle *oracle, struct packet *packet)
{
	packet->n_events--;
	if (!packet->over || packet->n_events > 0)
		return;
	packet->closed = true;
	oracle_drop_done(oracle, packet);
}
