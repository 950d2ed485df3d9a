// The nodes: messages cut into packets, the bus, acknowledgements and tokens. Numbers of
// rules are those of docs/model.md.
#include "circuit_params.h"
#include "credit_params.h"
#include "credits/credits.h"

#include <stdlib.h>

// bus_serve asks a node's bus, first come first served, and says when it has served
// (rule 3). What it may not serve before is kept by direction.
static tb_time_ps bus_serve(
	struct oracle *oracle, struct node *node, enum way way, uint64_t bytes)
{
	if (oracle->credits)
		return credits_serve_pcie(
			oracle, (uint32_t)(node - oracle->nodes), way, bytes);
	enum way other = way == OUT ? IN : OUT;
	const struct tb_network_params *params = &oracle->net->params;
	uint64_t q20 = byte_time(tb_circuit_bus_rate(params, way == IN));
	bool shared = tb_circuit_params(params)->buffers == TB_BUFFERS_NIC ||
		      tb_circuit_params(params)->buffers == TB_BUFFERS_MAIN;
	tb_time_ps begins = node->bus_free_at[way];
	if (shared && bytes == 0 && begins > node->bus_free_at[other])
		begins = node->bus_free_at[other];
	if (begins < oracle->now)
		begins = oracle->now;
	if (q20 == 0 || bytes == 0)
		return begins;
	node->bus_free_at[way] = begins + rate_time(q20, bytes);
	if (shared)
		node->bus_free_at[other] =
			node->bus_free_at[way] + tb_circuit_bus_turn(params);
	return node->bus_free_at[way];
}

// bus_copy: out, a turn, and in again; with PCIe both at once.
static tb_time_ps bus_copy(struct oracle *oracle, struct node *node, uint64_t bytes)
{
	if (!oracle->credits && !tb_circuit_buses_shared(&oracle->net->params)) {
		tb_time_ps out = bus_serve(oracle, node, OUT, bytes);
		node->drained_at = bus_serve(oracle, node, IN, bytes);
		return oracle_later(out, node->drained_at);
	}
	if (oracle->credits)
		return oracle_later(bus_serve(oracle, node, OUT, bytes),
			bus_serve(oracle, node, IN, bytes));
	tb_time_ps served = bus_serve(oracle, node, OUT, 2 * bytes);
	if (oracle->bus_q20 == 0 || bytes == 0)
		return served;
	node->bus_free_at[IN] = served + tb_circuit_bus_turn(&oracle->net->params);
	node->bus_free_at[OUT] =
		node->bus_free_at[IN] + tb_circuit_bus_turn(&oracle->net->params);
	return node->bus_free_at[IN];
}

// refusal_of is why a message cannot be replayed, or NULL.
static const char *refusal_of(const struct oracle *oracle, const struct tb_message *what)
{
	const struct tb_network *net = oracle->net;
	if (!is_broadcast(what))
		return NULL;
	if (oracle->credits)
		return "the oracle broadcasts over circuits only";
	if (oracle->dead_at)
		return "the oracle broadcasts only where nothing dies";
	if (!net->regular || net->n_rails > 1)
		return "the oracle broadcasts only on a k-ary n-tree of one rail";
	return NULL;
}

// serial_of counts the messages of each job, or all of them.
static uint64_t serial_of(struct oracle *oracle, uint32_t job)
{
	uint64_t n_jobs = oracle->options->n_jobs;
	uint64_t n_posted = oracle->stats.n_posted++;
	return n_jobs ? oracle->n_posted_of_job[job]++ * n_jobs + job : n_posted;
}

void oracle_post(struct oracle *oracle, const struct tb_message *what)
{
	const struct tb_network_params *params = &oracle->net->params;
	uint64_t full = params->packet_payload_bytes;
	uint64_t n = what->bytes / full + (what->bytes % full != 0);
	const char *refusal = refusal_of(oracle, what);
	if (refusal) {
		oracle_fail(oracle, TB_EUSAGE, refusal);
		return;
	}
	struct message *message = oracle_zeroed(1, sizeof *message);
	message->what = *what;
	message->serial = serial_of(oracle, what->job);
	message->posted_at = oracle->now;
	message->n_packets = n ? (uint32_t)n : 1;
	message->n_uncut = message->n_outside = message->n_undrained =
		message->n_unacknowledged = message->n_packets;
	message->end = is_broadcast(what) ? oracle_broadcast_end(oracle, what)
					  : what->destination.id;
	message->flow = (struct oracle_flow){what->job, what->source.id, message->end};
	if (oracle->credits)
		message->vl = credits_vl(oracle, what);
	message->older = oracle->messages;
	if (message->older)
		message->older->newer = message;
	oracle->messages = message;
	oracle_note(&oracle->facts,
		(struct oracle_fact){.kind = ORACLE_POSTED, .flow = message->flow});
	oracle_foresee(
		oracle, (struct happening){.at = oracle->now + params->send_overhead_ps +
						 credits_fetch_delay(oracle, message),
				.what = STARTED,
				.message = message});
}

static tb_time_ps overheads(const struct oracle *oracle)
{
	const struct tb_network_params *params = &oracle->net->params;
	return params->send_overhead_ps + params->receive_overhead_ps;
}

// Rule 8: a message to the node itself crosses its bus twice and no link.
static void start_local(struct oracle *oracle, struct message *message)
{
	struct node *node = &oracle->nodes[message->what.source.id];
	tb_time_ps done = bus_copy(oracle, node, message->what.bytes);
	message->drained = done;
	message->entered = done - (oracle_ideal_ps(oracle, message) - overheads(oracle));
	message->queued = message->entered - oracle->now;
	message->n_packets = 0;
	oracle->stats.payload_bytes += message->what.bytes;
	oracle_foresee(
		oracle, (struct happening){.at = done, .what = SENT, .message = message});
	oracle_foresee(oracle,
		(struct happening){.at = done + oracle->net->params.receive_overhead_ps,
			.what = DELIVERED,
			.message = message});
}

void oracle_leave_queue(struct oracle *oracle, struct node *node, struct message *message)
{
	struct message **at = &node->queue;
	while (*at != message)
		at = &(*at)->next;
	*at = message->next;
	if (!message->next)
		node->queue_end = at;
	message->next = NULL;
	for (uint32_t vl = 0; vl < TB_VLS_MOST; vl++)
		if (node->ahead[vl].turn_over == message)
			node->ahead[vl].turn_over = NULL;
	if (oracle->credits)
		credits_leave(oracle, message);
}

static void join_queue(struct oracle *oracle, struct node *node, struct message *message)
{
	*node->queue_end = message;
	node->queue_end = &message->next;
	if (oracle->credits)
		credits_join(oracle, message);
}

void oracle_started(struct oracle *oracle, struct message *message)
{
	uint32_t id = message->what.source.id;
	struct node *node = &oracle->nodes[id];
	if (id == message->end) {
		start_local(oracle, message);
		return;
	}
	join_queue(oracle, node, message);
	message->stands_behind = true;
	message->behind_since = oracle->now;
	touch(&oracle->nodes_now, id, &node->touched);
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static void fill_packet(struct oracle *oracle, struct packet *packet,
	struct message *message, uint32_t number)
{
	const struct tb_network_params *params = &oracle->net->params;
	uint64_t before = (uint64_t)number * params->packet_payload_bytes;
	packet->message = message;
	packet->what = message->what;
	packet->order = message->serial << 24 ^ number;
	packet->destination = message->end;
	packet->payload_bytes = (uint32_t)least(
		message->what.bytes - before, params->packet_payload_bytes);
	uint32_t block = tb_circuit_params(params)->write_block_bytes;
	packet->padding = 0;
	while (block && packet->payload_bytes % block &&
		packet->payload_bytes < params->packet_payload_bytes) {
		packet->payload_bytes++;
		packet->padding++;
	}
	packet->wire_bytes = packet->payload_bytes + params->packet_overhead_bytes;
	if (oracle->credits && number == 0)
		packet->wire_bytes += tb_credit_params(params)->first_overhead_bytes;
	if (packet->wire_bytes == 0)
		packet->wire_bytes = 1;
	packet->vl = message->vl;
	if (!oracle->credits)
		packet->n_flits =
			(packet->wire_bytes + tb_circuit_params(params)->flit_bytes - 1) /
			tb_circuit_params(params)->flit_bytes;
	if (is_broadcast(&message->what))
		packet->apex = oracle_hops_up(
			oracle, message->what.source.id, packet->destination);
}

// oracle_packet makes packet `number` of a message (rule 2).
struct packet *oracle_packet(
	struct oracle *oracle, struct message *message, uint32_t number)
{
	// A path goes up at most all levels, and then down.
	size_t n_hops = 2 * (size_t)oracle->net->n_levels + 2;
	if (oracle->net->params.ascent == TB_ASCENT_TABLE)
		n_hops = (size_t)oracle->net->n_links + 1;
	struct packet *packet = oracle_zeroed(1, sizeof *packet);
	packet->hops = oracle_zeroed(n_hops, sizeof *packet->hops);
	fill_packet(oracle, packet, message, number);
	packet->dead = packet->corrupted_by = TB_ID_NONE;
	packet->older = oracle->packets;
	if (packet->older)
		packet->older->newer = packet;
	oracle->packets = packet;
	oracle->stats.n_in_flight++;
	return packet;
}

// slice_packets is how many packets of a message are cut in one turn; 0: all (rule 2).
static uint32_t slice_packets(const struct tb_network_params *params)
{
	uint32_t n =
		tb_circuit_params(params)->slice_bytes / params->packet_payload_bytes;
	return n +
	       (tb_circuit_params(params)->slice_bytes % params->packet_payload_bytes !=
		       0);
}

// oracle_note_turn: a packet is cut of a message ("Latency"). The message whose turn is
// over has stood behind since now.
void oracle_note_turn(struct oracle *oracle, struct node *node, struct packet *packet)
{
	struct message *message = packet->message;
	struct ahead *ahead = &node->ahead[packet->vl];
	if (ahead->turn_over)
		ahead->turn_over->behind_since = oracle->now;
	ahead->turn_over = NULL;
	if (!message->stands_behind)
		return;
	message->stands_behind = false;
	message->queued += oracle->now - message->behind_since;
	ahead->first_of_turn = packet;
}

// oracle_note_entry: a packet is fetched and a VC is free for it. Before its turn had
// begun its message had waited in the queue, and then for the VC. Any other packet waits
// so for those of other VLs alone, unless it is tried again.
void oracle_note_entry(struct oracle *oracle, uint32_t id, uint32_t vl)
{
	struct ahead *ahead = &oracle->nodes[id].ahead[vl];
	struct message *message = ahead->fetched->message;
	if (ahead->first_of_turn != ahead->fetched) {
		if (oracle->credits && ahead->fetched->order >> 56 == 0)
			message->queued +=
				credits_others_sent(oracle, id, vl, ahead->fetched_at);
		return;
	}
	ahead->first_of_turn = NULL;
	message->queued += oracle->now - ahead->fetched_at;
	if (!message->has_entered)
		message->entered = oracle->now;
	message->has_entered = true;
}

struct message *oracle_next(struct oracle *oracle, uint32_t id, uint32_t vl)
{
	return oracle->credits ? credits_next(oracle, id, vl) : oracle->nodes[id].queue;
}

struct packet *oracle_cut_next(struct oracle *oracle, uint32_t id, uint32_t vl)
{
	if (oracle->credits)
		return credits_cut_next(oracle, id, vl);
	struct node *node = &oracle->nodes[id];
	struct message *message = node->queue;
	if (!message)
		return NULL;
	uint32_t number = message->n_packets - message->n_uncut;
	uint32_t slice = slice_packets(&oracle->net->params);
	struct packet *packet = oracle_packet(oracle, message, number);
	oracle_note_turn(oracle, node, packet);
	if (--message->n_uncut == 0) {
		oracle_leave_queue(oracle, node, message);
	} else if (slice && (number + 1) % slice == 0) {
		oracle_leave_queue(oracle, node, message);
		message->stands_behind = node->queue != NULL;
		node->ahead[0].turn_over = node->queue ? message : NULL;
		join_queue(oracle, node, message);
	}
	return packet;
}

void oracle_fetched(struct oracle *oracle, uint32_t id, uint32_t vl)
{
	struct node *node = &oracle->nodes[id];
	struct ahead *ahead = &node->ahead[vl];
	ahead->fetched = ahead->fetching;
	ahead->fetching = NULL;
	ahead->fetched_at = oracle->now;
	touch(&oracle->nodes_now, id, &node->touched);
}

// inject gives the fetched packet the lowest free VC of the injection link, if any.
static void inject(struct oracle *oracle, uint32_t id)
{
	struct ahead *ahead = &oracle->nodes[id].ahead[0];
	const struct link *link = &oracle->links[oracle->net->injection[id]];
	for (uint32_t v = 0; v < link->info->n_vcs; v++)
		if (!link->channels[v].holder) {
			oracle_note_entry(oracle, id, 0);
			if (!oracle_inject_fails(oracle, ahead->fetched)) {
				ahead->fetched->hops[0].n_here = ahead->fetched->n_flits;
				oracle_grant(oracle, ahead->fetched,
					oracle->net->injection[id], v);
			}
			ahead->fetched = NULL;
			return;
		}
}

// fetch_of_vl: one packet ahead (rule 4), with credits of each VL (C16).
static void fetch_of_vl(struct oracle *oracle, uint32_t id, uint32_t vl)
{
	struct node *node = &oracle->nodes[id];
	struct ahead *ahead = &node->ahead[vl];
	if (ahead->fetched || ahead->fetching)
		return;
	ahead->fetching = oracle->dead_at ? oracle_cut(oracle, id, vl)
					  : oracle_cut_next(oracle, id, vl);
	if (!ahead->fetching)
		return;
	node->vl_turn = vl + 1;
	oracle_foresee(oracle, (struct happening){.at = bus_serve(oracle, node, OUT,
							  ahead->fetching->payload_bytes),
				       .what = FETCHED,
				       .id = id,
				       .packet = ahead->fetching});
}

void oracle_fetch(struct oracle *oracle, uint32_t id)
{
	struct node *node = &oracle->nodes[id];
	node->touched = false;
	if (oracle->credits)
		credits_inject(oracle, id);
	else if (node->ahead[0].fetched)
		inject(oracle, id);
	uint32_t n = oracle->credits ? oracle->credits->n_vls : 1;
	uint32_t turn = node->vl_turn;
	for (uint32_t i = 0; i < n; i++)
		fetch_of_vl(oracle, id, (turn + i) % n);
}

void oracle_drop_packet(struct oracle *oracle, struct packet *packet)
{
	if (packet->older)
		packet->older->newer = packet->newer;
	if (packet->newer)
		packet->newer->older = packet->older;
	else
		oracle->packets = packet->older;
	free(packet->hops);
	free(packet);
	oracle->stats.n_in_flight--;
}

// oracle_drop_done forgets a packet that is drained and whose circuit is closed.
void oracle_drop_done(struct oracle *oracle, struct packet *packet)
{
	if (packet->drained && packet->closed)
		oracle_drop_packet(oracle, packet);
}

static void add_delays(struct oracle *oracle, const struct packet *packet)
{
	for (uint32_t hop = 1; hop < packet->n_granted; hop++)
		oracle->options->delays[packet->hops[hop - 1].link] +=
			packet->hops[hop].begun_at - packet->hops[0].begun_at;
}

// is_receiver returns whether a node is one of those that a message goes to.
static bool is_receiver(const struct tb_message *what, uint32_t node)
{
	uint32_t n = is_broadcast(what) ? what->n_receivers : 1;
	return node - what->destination.id < n; // not below: that is a large number
}

// partners_of counts the other nodes of whose messages to a node one is under way
// (rule 6).
static uint32_t partners_of(struct oracle *oracle, uint32_t node)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < oracle->net->n_nodes; i++)
		oracle->seen[i] = false;
	for (const struct message *at = oracle->messages; at; at = at->older) {
		uint32_t source = at->what.source.id;
		bool under_way =
			at->n_uncut < at->n_packets && at->n_outside > 0 && !at->given_up;
		if (!under_way || source == node || !is_receiver(&at->what, node))
			continue;
		n += !oracle->seen[source];
		oracle->seen[source] = true;
	}
	return n;
}

// receive has a node drain a packet that is in, and says when it acknowledges that.
static tb_time_ps receive(struct oracle *oracle, uint32_t id, uint32_t bytes)
{
	const struct tb_network_params *params = &oracle->net->params;
	struct node *node = &oracle->nodes[id];
	tb_time_ps leaves =
		node->drained_at > oracle->now ? node->drained_at : oracle->now;
	node->drained_at = bus_serve(oracle, node, IN, bytes);
	leaves += tb_circuit_params(params)->ack_delay_ps;
	if (tb_circuit_params(params)->partners &&
		partners_of(oracle, id) > tb_circuit_params(params)->partners)
		leaves += tb_circuit_params(params)->partner_delay_ps;
	return leaves;
}

// receive_all has all receivers do so: the last one counts (rule 31).
static void receive_all(struct oracle *oracle, const struct packet *packet,
	tb_time_ps *leaves, tb_time_ps *drained)
{
	const struct tb_message *what = &packet->message->what;
	uint32_t n = is_broadcast(what) ? what->n_receivers : 1;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t id = what->destination.id + i;
		tb_time_ps at = receive(oracle, id, packet->payload_bytes);
		*leaves = at > *leaves ? at : *leaves;
		if (oracle->nodes[id].drained_at > *drained)
			*drained = oracle->nodes[id].drained_at;
	}
}

// Rules 5 and 6. The last flit is in: the packet asks for the bus. Its acknowledgement
// leaves a delay later, or after the packet before it has been drained: there is room for
// one.
void oracle_packet_in(struct oracle *oracle, struct packet *packet)
{
	uint32_t last = packet->n_granted - 1;
	if (oracle_is_corrupted(oracle, packet)) {
		oracle_send_error(oracle, packet);
		return;
	}
	tb_time_ps drained = 0, leaves = 0;
	receive_all(oracle, packet, &leaves, &drained);
	oracle_foresee(oracle,
		(struct happening){.at = drained, .what = DRAINED, .packet = packet});
	oracle_foresee(oracle,
		(struct happening){
			.at = leaves + oracle->links[packet->hops[last].link].hop_ps,
			.what = ACK_IN,
			.id = last,
			.packet = packet});
	oracle_count_in(oracle, packet);
}

void oracle_count_in(struct oracle *oracle, struct packet *packet)
{
	if (oracle->options->delays)
		add_delays(oracle, packet);
	uint32_t payload = packet->payload_bytes - packet->padding;
	packet->message->n_outside--;
	if (oracle->options->job_bytes)
		oracle->options->job_bytes[packet->message->what.job] += payload;
	oracle->stats.n_packets++;
	oracle->stats.payload_bytes += payload;
}

void oracle_drained(struct oracle *oracle, struct packet *packet)
{
	struct message *message = packet->message;
	message->drained = oracle->now;
	if (--message->n_undrained == 0)
		oracle_foresee(oracle,
			(struct happening){.at = oracle->now +
						 oracle->net->params.receive_overhead_ps,
				.what = DELIVERED,
				.message = message});
	packet->drained = true;
	oracle_drop_done(oracle, packet);
}

void oracle_ack(struct oracle *oracle, struct packet *packet, uint32_t hop)
{
	if (hop > 0) {
		const struct link *before = &oracle->links[packet->hops[hop - 1].link];
		oracle_foresee(
			oracle, (struct happening){.at = oracle->now + before->hop_ps,
					.what = ACK_IN,
					.id = hop - 1,
					.packet = packet});
		return;
	}
	if (packet->failed)
		oracle_error_in(oracle, packet);
	else
		oracle_acknowledged(oracle, packet);
	oracle_token(oracle, packet, 0);
}

void oracle_acknowledged(struct oracle *oracle, struct packet *packet)
{
	struct message *message = packet->message;
	if (--message->n_unacknowledged == 0)
		oracle_ended(oracle, message, SENT);
	else if (message->given_up &&
		 message->n_unacknowledged == message->n_uncut + message->n_lost)
		oracle_ended(oracle, message, UNDELIVERED);
}

// Rule 11: the token frees the VC as it enters the link and goes on to the next.
void oracle_token(struct oracle *oracle, struct packet *packet, uint32_t hop)
{
	oracle_free_vc(oracle, packet, hop);
	if (hop + 1 == packet->n_granted) {
		packet->closed = true;
		oracle_drop_done(oracle, packet);
		return;
	}
	oracle_foresee(oracle,
		(struct happening){
			.at = oracle->now + oracle->links[packet->hops[hop].link].hop_ps,
			.what = TOKEN_IN,
			.id = hop + 1,
			.packet = packet});
}

// Rule 19, 1. ended notes that a message is sent or delivered; the source is told once
// all of this round's arrivals are in, so that their order cannot matter.
void oracle_ended(struct oracle *oracle, struct message *message, enum what what)
{
	oracle->endings = oracle_one_more(
		oracle->endings, oracle->n_endings, sizeof *oracle->endings);
	oracle->endings[oracle->n_endings++] = (struct ending){message, what};
}

static int by_serial(const void *left, const void *right)
{
	const struct ending *a = left, *b = right;
	if (a->message->serial != b->message->serial)
		return a->message->serial < b->message->serial ? -1 : 1;
	return (a->what > b->what) - (a->what < b->what);
}

static void note_delivered(struct oracle *oracle, const struct message *message)
{
	oracle->stats.n_delivered++;
	// What is neither queue nor software is the network's: from when the message
	// joined the queue until it was drained.
	tb_time_ps joined = message->posted_at + oracle->net->params.send_overhead_ps;
	tb_time_ps crossed = message->drained - joined - message->queued;
	tb_time_ps ideal = oracle_ideal_ps(oracle, message) - overheads(oracle);
	oracle_note(
		&oracle->facts, (struct oracle_fact){.kind = ORACLE_DELIVERED,
					.flow = message->flow,
					.from = message->posted_at,
					.to = oracle->now,
					.bytes = message->what.bytes,
					.n_packets = message->n_packets,
					.serial = message->serial,
					.entered = message->entered,
					.queued = message->queued,
					.crossed = crossed,
					.ideal_ps = crossed < ideal ? crossed : ideal});
}

void oracle_drop_message(struct oracle *oracle, struct message *message)
{
	if (message->older)
		message->older->newer = message->newer;
	if (message->newer)
		message->newer->older = message->older;
	else
		oracle->messages = message->older;
	free(message);
}

static void report_ending(struct oracle *oracle, const struct ending *ending)
{
	const struct tb_source *source = oracle->source;
	struct message *message = ending->message;
	int (*report)(void *, tb_time_ps, uint64_t, struct tb_error *) =
		ending->what == SENT	    ? source->sent
		: ending->what == DELIVERED ? source->delivered
					    : source->undelivered;
	if (ending->what == SENT) {
		message->sent = true;
	} else if (ending->what == UNDELIVERED) {
		oracle->stats.n_undelivered++;
	} else {
		message->delivered = true;
		note_delivered(oracle, message);
	}
	const struct tb_latency_parts crossing = {.queue_ps = message->queued,
		.started_at = message->entered,
		.drained_at = message->drained};
	if (ending->what == DELIVERED && source->crossed)
		source->crossed(source->context, message->what.cookie, &crossing);
	int status = TB_OK;
	if (report || ending->what != SENT)
		oracle->last_reported = oracle->now;
	if (report)
		status = report(source->context, oracle->now, message->what.cookie,
			&oracle->failure);
	if (status < 0)
		oracle->failure.code = (enum tb_status)status;
	if (message->sent && message->delivered)
		oracle_drop_message(oracle, message);
}

void oracle_report_to_source(struct oracle *oracle)
{
	if (oracle->n_endings == 0)
		return;
	qsort(oracle->endings, oracle->n_endings, sizeof *oracle->endings, by_serial);
	for (size_t i = 0; i < oracle->n_endings; i++)
		report_ending(oracle, &oracle->endings[i]);
	oracle->n_endings = 0;
}
