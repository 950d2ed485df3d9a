// The nodes: messages cut into packets, the bus, acknowledgements and tokens. Numbers of
// rules are those of docs/model.md.
#include "flits_impl.h"

#include <stdlib.h>

static void no_memory(struct tb_flits *flits)
{
	tb_flits_fail(flits, TB_ENOMEM, "no memory for what is under way");
}

// bus_serve asks a node's bus, first come first served, and says when it has served
// (rule 3).
static tb_time_ps bus_serve(struct tb_flits *flits, struct node *node, uint64_t bytes)
{
	if (flits->bus_q20 == 0)
		return flits->now;
	if (node->bus_free_at < flits->now)
		node->bus_free_at = flits->now;
	node->bus_free_at += rate_time(flits->bus_q20, bytes);
	return node->bus_free_at;
}

// end_of is the node that a message's packets are followed to.
static uint32_t end_of(struct tb_flits *flits, const struct tb_message *what)
{
	if (!tb_is_broadcast(what))
		return what->destination.id;
	const char *refusal =
		tb_broadcast_refusal(flits->net, what, flits->choice.dead_at != NULL);
	if (refusal) {
		tb_flits_fail(flits, TB_EUSAGE, refusal);
		return what->source.id;
	}
	return tb_broadcast_end(flits->net, what);
}

void tb_flits_post(struct tb_flits *flits, const struct tb_message *what)
{
	const struct tb_network_params *params = &flits->net->params;
	uint64_t full = params->packet_payload_bytes;
	uint64_t n = what->bytes / full + (what->bytes % full != 0);
	if (n > UINT32_MAX) {
		tb_flits_fail(flits, TB_ECAPACITY, "a message of more than 2^32 packets");
		return;
	}
	struct message *message = calloc(1, sizeof *message);
	if (!message) {
		no_memory(flits);
		return;
	}
	message->what = *what;
	message->serial = flits->stats.n_posted++;
	message->posted_at = flits->now;
	message->n_packets = n ? (uint32_t)n : 1;
	message->n_uncut = message->n_outside = message->n_undrained =
		message->n_unacknowledged = message->n_packets;
	message->end = end_of(flits, what);
	message->flow =
		tb_books_flow(&flits->books, what->job, what->source.id, message->end);
	message->older = flits->messages;
	if (message->older)
		message->older->newer = message;
	flits->messages = message;
	tb_flits_foresee(
		flits, (struct happening){.at = flits->now + params->send_overhead_ps,
			       .what = STARTED,
			       .message = message});
}

// Rule 8: a message to the node itself crosses its bus twice and no link.
static void start_local(struct tb_flits *flits, struct message *message)
{
	struct node *node = &flits->nodes[message->what.source.id];
	tb_time_ps done = bus_serve(flits, node, 2 * message->what.bytes);
	message->n_packets = 0;
	flits->stats.payload_bytes += message->what.bytes;
	tb_flits_foresee(
		flits, (struct happening){.at = done, .what = SENT, .message = message});
	tb_flits_foresee(flits,
		(struct happening){.at = done + flits->net->params.receive_overhead_ps,
			.what = DELIVERED,
			.message = message});
}

void tb_flits_leave_queue(struct node *node, struct message *message)
{
	struct message **at = &node->queue;
	while (*at != message)
		at = &(*at)->next;
	*at = message->next;
	if (!message->next)
		node->queue_end = at;
	message->next = NULL;
}

static void join_queue(struct node *node, struct message *message)
{
	*node->queue_end = message;
	node->queue_end = &message->next;
}

void tb_flits_started(struct tb_flits *flits, struct message *message)
{
	uint32_t id = message->what.source.id;
	struct node *node = &flits->nodes[id];
	if (id == message->end) {
		start_local(flits, message);
		return;
	}
	join_queue(node, message);
	touch(&flits->nodes_now, id, &node->touched);
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static void fill_packet(struct tb_flits *flits, struct packet *packet,
	struct message *message, uint32_t number)
{
	const struct tb_network_params *params = &flits->net->params;
	uint64_t before = (uint64_t)number * params->packet_payload_bytes;
	packet->message = message;
	packet->what = message->what;
	packet->order = message->serial << 24 ^ number;
	packet->destination = message->end;
	packet->payload_bytes = (uint32_t)least(
		message->what.bytes - before, params->packet_payload_bytes);
	packet->wire_bytes = packet->payload_bytes + params->packet_overhead_bytes;
	if (packet->wire_bytes == 0)
		packet->wire_bytes = 1;
	packet->n_flits =
		(packet->wire_bytes + params->flit_bytes - 1) / params->flit_bytes;
	if (flits->net->regular)
		packet->ascending = tb_network_ascending(
			flits->net, message->what.source.id, packet->destination);
}

// tb_flits_packet makes packet `number` of a message (rule 2).
struct packet *tb_flits_packet(
	struct tb_flits *flits, struct message *message, uint32_t number)
{
	// Around what died a path is no longer than up and down all levels.
	size_t n_hops = flits->net->longest_path + 2 * flits->net->n_levels + 1;
	struct packet *packet = calloc(1, sizeof *packet + n_hops * sizeof *packet->hops);
	if (!packet) {
		no_memory(flits);
		return NULL;
	}
	fill_packet(flits, packet, message, number);
	packet->dead = TB_ID_NONE;
	packet->older = flits->packets;
	if (packet->older)
		packet->older->newer = packet;
	flits->packets = packet;
	flits->stats.n_in_flight++;
	return packet;
}

struct packet *tb_flits_cut_next(struct tb_flits *flits, struct node *node)
{
	struct message *message = node->queue;
	if (!message)
		return NULL;
	uint32_t number = message->n_packets - message->n_uncut;
	uint32_t slice = tb_slice_packets(&flits->net->params);
	struct packet *packet = tb_flits_packet(flits, message, number);
	if (number == 0 && tb_broadcast_begin(&flits->partners, &message->what) != TB_OK)
		no_memory(flits);
	if (--message->n_uncut == 0) {
		tb_flits_leave_queue(node, message);
	} else if (slice && (number + 1) % slice == 0) {
		tb_flits_leave_queue(node, message);
		join_queue(node, message);
	}
	return packet;
}

void tb_flits_fetched(struct tb_flits *flits, uint32_t id)
{
	struct node *node = &flits->nodes[id];
	node->fetched = node->fetching;
	node->fetching = NULL;
	touch(&flits->nodes_now, id, &node->touched);
}

// inject gives the fetched packet the lowest free VC of the injection link, if any.
static void inject(struct tb_flits *flits, uint32_t id)
{
	struct node *node = &flits->nodes[id];
	const struct link *link = &flits->links[flits->net->injection[id]];
	for (uint32_t v = 0; v < link->info->n_vcs; v++)
		if (!link->channels[v].holder) {
			if (!tb_flits_inject_fails(flits, node->fetched))
				tb_flits_inject(flits, node->fetched, v);
			node->fetched = NULL;
			return;
		}
}

// Rule 4: one packet ahead.
void tb_flits_fetch(struct tb_flits *flits, uint32_t id)
{
	struct node *node = &flits->nodes[id];
	node->touched = false;
	if (node->fetched)
		inject(flits, id);
	if (node->fetched || node->fetching)
		return;
	node->fetching = flits->choice.dead_at ? tb_flits_cut(flits, id)
					       : tb_flits_cut_next(flits, node);
	if (node->fetching)
		tb_flits_foresee(
			flits, (struct happening){.at = bus_serve(flits, node,
							  node->fetching->payload_bytes),
				       .what = FETCHED,
				       .id = id});
}

// tb_flits_drop_done forgets a packet that is drained and whose circuit is closed.
void tb_flits_drop_done(struct tb_flits *flits, struct packet *packet)
{
	if (!packet->drained || !packet->closed)
		return;
	if (packet->older)
		packet->older->newer = packet->newer;
	if (packet->newer)
		packet->newer->older = packet->older;
	else
		flits->packets = packet->older;
	free(packet);
	flits->stats.n_in_flight--;
}

static void add_delays(struct tb_flits *flits, const struct packet *packet)
{
	for (uint32_t hop = 1; hop < packet->n_granted; hop++)
		flits->delays[packet->hops[hop - 1].link] +=
			packet->hops[hop].begun_at - packet->hops[0].begun_at;
}

static void end_partners(struct tb_flits *flits, const struct message *message)
{
	tb_broadcast_over(&flits->partners, &message->what);
}

// receive has a node drain a packet that is in, and says when it acknowledges that.
static tb_time_ps receive(struct tb_flits *flits, uint32_t id, uint32_t bytes)
{
	struct node *node = &flits->nodes[id];
	tb_time_ps leaves = node->drained_at > flits->now ? node->drained_at : flits->now;
	node->drained_at = bus_serve(flits, node, bytes);
	leaves += flits->net->params.ack_delay_ps;
	if (tb_partners_too_many(&flits->partners, id))
		leaves += flits->net->params.partner_delay_ps;
	return leaves;
}

// receive_all has all receivers do so: the last one counts (rule 31).
static void receive_all(struct tb_flits *flits, const struct packet *packet,
	tb_time_ps *leaves, tb_time_ps *drained)
{
	const struct tb_message *what = &packet->message->what;
	uint32_t n = tb_is_broadcast(what) ? what->n_receivers : 1;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t id = what->destination.id + i;
		tb_time_ps at = receive(flits, id, packet->payload_bytes);
		*leaves = at > *leaves ? at : *leaves;
		if (flits->nodes[id].drained_at > *drained)
			*drained = flits->nodes[id].drained_at;
	}
}

// Rules 5 and 6. The last flit is in: the packet asks for the bus. Its acknowledgement
// leaves a delay later, or after the packet before it has been drained: there is room for
// one.
void tb_flits_packet_in(struct tb_flits *flits, struct packet *packet)
{
	uint32_t last = packet->n_granted - 1;
	if (tb_flits_is_spoilt(flits, packet)) {
		tb_flits_send_error(flits, packet);
		return;
	}
	tb_time_ps drained = 0, leaves = 0;
	receive_all(flits, packet, &leaves, &drained);
	tb_flits_foresee(flits,
		(struct happening){.at = drained, .what = DRAINED, .packet = packet});
	if (flits->delays)
		add_delays(flits, packet);
	if (--packet->message->n_outside == 0)
		end_partners(flits, packet->message);
	tb_flits_foresee(flits,
		(struct happening){
			.at = leaves + flits->links[packet->hops[last].link].hop_ps,
			.what = ACK_IN,
			.id = last,
			.packet = packet});
	flits->stats.n_packets++;
	flits->stats.payload_bytes += packet->payload_bytes;
}

void tb_flits_drained(struct tb_flits *flits, struct packet *packet)
{
	struct message *message = packet->message;
	if (--message->n_undrained == 0)
		tb_flits_foresee(flits,
			(struct happening){
				.at = flits->now + flits->net->params.receive_overhead_ps,
				.what = DELIVERED,
				.message = message});
	packet->drained = true;
	tb_flits_drop_done(flits, packet);
}

void tb_flits_ack(struct tb_flits *flits, struct packet *packet, uint32_t hop)
{
	if (hop > 0) {
		const struct link *before = &flits->links[packet->hops[hop - 1].link];
		tb_flits_foresee(
			flits, (struct happening){.at = flits->now + before->hop_ps,
				       .what = ACK_IN,
				       .id = hop - 1,
				       .packet = packet});
		return;
	}
	struct message *message = packet->message;
	if (packet->failed)
		tb_flits_error_in(flits, packet);
	else if (--message->n_unacknowledged == 0)
		tb_flits_ended(flits, message, SENT);
	else if (message->given_up &&
		 message->n_unacknowledged == message->n_uncut + message->n_lost)
		tb_flits_ended(flits, message, UNDELIVERED);
	tb_flits_token(flits, packet, 0);
}

// Rule 11: the token frees the VC as it enters the link and goes on to the next.
void tb_flits_token(struct tb_flits *flits, struct packet *packet, uint32_t hop)
{
	tb_flits_free_vc(flits, packet, hop);
	if (hop + 1 == packet->n_granted) {
		packet->closed = true;
		tb_flits_drop_done(flits, packet);
		return;
	}
	tb_flits_foresee(flits,
		(struct happening){
			.at = flits->now + flits->links[packet->hops[hop].link].hop_ps,
			.what = TOKEN_IN,
			.id = hop + 1,
			.packet = packet});
}

// Rule 19, 1. ended notes that a message is sent or delivered; the source is told once
// all of this round's arrivals are in, so that their order cannot matter.
void tb_flits_ended(struct tb_flits *flits, struct message *message, enum what what)
{
	if (flits->n_endings == flits->endings_room) {
		uint32_t room = flits->endings_room ? flits->endings_room * 2 : 64;
		void *moved = realloc(flits->endings, room * sizeof(struct ending));
		if (!moved) {
			no_memory(flits);
			return;
		}
		flits->endings = moved;
		flits->endings_room = room;
	}
	flits->endings[flits->n_endings++] = (struct ending){message, what};
}

static int by_serial(const void *left, const void *right)
{
	const struct ending *a = left, *b = right;
	if (a->message->serial != b->message->serial)
		return a->message->serial < b->message->serial ? -1 : 1;
	return (a->what > b->what) - (a->what < b->what);
}

static void count_delivered(struct tb_flits *flits, const struct message *message)
{
	struct tb_flow_sample *flow = &flits->books.flows[message->flow];
	uint64_t latency = (uint64_t)(flits->now - message->posted_at);
	tb_books_span(flow, message->posted_at, flits->now);
	flow->n_messages++;
	flow->n_packets += message->n_packets;
	flow->bytes += message->what.bytes;
	flow->latency_ps += latency;
	if (latency > flow->worst_latency_ps)
		flow->worst_latency_ps = latency;
	flow->ideal_ps += (uint64_t)tb_engine_ideal_ps(flits->net, message->what.source,
		(struct tb_node){message->end}, message->what.bytes);
	flits->stats.n_delivered++;
}

static void drop_message(struct tb_flits *flits, struct message *message)
{
	if (message->older)
		message->older->newer = message->newer;
	if (message->newer)
		message->newer->older = message->older;
	else
		flits->messages = message->older;
	free(message);
}

static void tell_ending(struct tb_flits *flits, const struct ending *ending)
{
	const struct tb_source *source = flits->source;
	struct message *message = ending->message;
	int (*tell)(void *, tb_time_ps, uint64_t, struct tb_error *) =
		ending->what == SENT	    ? source->sent
		: ending->what == DELIVERED ? source->delivered
					    : source->undelivered;
	if (ending->what == SENT) {
		message->sent = true;
	} else if (ending->what == UNDELIVERED) {
		flits->stats.n_undelivered++;
		if (message->n_uncut < message->n_packets)
			end_partners(flits, message);
	} else {
		message->delivered = true;
		count_delivered(flits, message);
	}
	int status = TB_OK;
	if (tell || ending->what != SENT)
		flits->last_told = flits->now;
	if (tell)
		status = tell(source->context, flits->now, message->what.cookie,
			&flits->failure);
	if (status < 0)
		flits->failure.code = (enum tb_status)status;
	if (message->sent && message->delivered)
		drop_message(flits, message);
}

void tb_flits_tell_source(struct tb_flits *flits)
{
	if (flits->n_endings == 0)
		return;
	qsort(flits->endings, flits->n_endings, sizeof *flits->endings, by_serial);
	for (uint32_t i = 0; i < flits->n_endings; i++)
		tell_ending(flits, &flits->endings[i]);
	flits->n_endings = 0;
}
