// Messages of processes: cut into pieces, issued, and given to the engine.
#include "host.h"

#include "array.h"
#include "host_impl.h"

#include <stdlib.h>
#include <string.h>

static int host_sent(
	void *context, tb_time_ps now, uint64_t cookie, struct tb_error *error);
static int host_delivered(
	void *context, tb_time_ps now, uint64_t cookie, struct tb_error *error);
static int host_undelivered(
	void *context, tb_time_ps now, uint64_t cookie, struct tb_error *error);

// Pieces of a process that wait for their acknowledgements, beyond which a send is not
// over when it is copied (UCX's IB_TX_QUEUE_LEN, src/uct/ib/base/ib_iface.c).
enum { BUFFERED_MOST = 256 };

bool tb_host_is_needed(const struct tb_network *network)
{
	return network->n_rails > 1 || !tb_host_does_nothing(&network->params.host);
}

uint32_t tb_host_add(struct tb_host *host, struct pool *pool)
{
	if (pool->n == pool->room && tb_array_grow(&pool->records, &pool->room,
					     (size_t)pool->n + 1, pool->size) != TB_OK) {
		host->no_memory = true;
		return NOTHING;
	}
	memset(pool->records + pool->n * pool->size, 0, pool->size);
	return pool->n++;
}

tb_time_ps tb_host_copy_time(uint64_t bytes, uint64_t bytes_per_s)
{
	if (bytes_per_s == 0)
		return 0;
	// Picoseconds a byte with 20 binary places; in two parts, so that long messages
	// have room.
	uint64_t q20 = (((uint64_t)TB_PS_PER_S << 20) + bytes_per_s / 2) / bytes_per_s;
	uint64_t whole = bytes >> 20, rest = bytes & ((1u << 20) - 1);
	return (tb_time_ps)(whole * q20 + ((rest * q20 + (UINT64_C(1) << 19)) >> 20));
}

// host_process_find returns the process of a rank, which it makes if new.
static uint32_t host_process_find(
	struct tb_host *host, uint32_t job, uint32_t node, uint32_t rank)
{
	uint64_t key = (uint64_t)job << 48 | (uint64_t)node << 24 | rank;
	uint32_t id = 0;
	if (tb_map_find(&host->process_of, key, &id))
		return id;
	id = tb_host_add(host, &host->processes);
	if (id == NOTHING || tb_map_put(&host->process_of, key, id) != TB_OK) {
		host->no_memory = true;
		return NOTHING;
	}
	*process_at(host, id) = (struct host_process){
		.queue = NOTHING, .queue_end = NOTHING, .copies = NOTHING, .node = node};
	return id;
}

static uint32_t host_pair_find(struct tb_host *host, uint32_t sender, uint32_t receiver)
{
	uint64_t key = (uint64_t)sender << 32 | receiver;
	uint32_t id = 0;
	if (tb_map_find(&host->pair_of, key, &id))
		return id;
	id = tb_host_add(host, &host->pairs);
	if (id == NOTHING || tb_map_put(&host->pair_of, key, id) != TB_OK) {
		host->no_memory = true;
		return NOTHING;
	}
	pair_at(host, id)->early = NOTHING;
	return id;
}

void tb_host_set_timer(
	struct tb_host *host, tb_time_ps at, enum tb_host_timer kind, uint32_t id)
{
	uint64_t what = (uint64_t)id * TB_HOST_N_TIMERS + kind;
	if (tb_timers_put(&host->timers, (struct tb_timer){at, what}) != TB_OK)
		host->no_memory = true;
}

static uint32_t new_transfer(struct tb_host *host)
{
	uint32_t id = host->free_transfer;
	if (id == NOTHING)
		return tb_host_add(host, &host->transfers);
	host->free_transfer = transfer_at(host, id)->next;
	return id;
}

static uint32_t new_piece(struct tb_host *host)
{
	uint32_t id = host->free_piece;
	if (id == NOTHING)
		return tb_host_add(host, &host->pieces);
	host->free_piece = piece_at(host, id)->next;
	return id;
}

// grow_outgoing doubles the ring.
static bool grow_outgoing(struct tb_host *host)
{
	uint32_t room = host->outgoing_room ? host->outgoing_room * 2 : 64;
	struct tb_message *ring = malloc(room * sizeof *ring);
	if (!ring) {
		host->no_memory = true;
		return false;
	}
	for (uint32_t i = 0; i < host->n_outgoing; i++)
		ring[i] =
			host->outgoing[(host->outgoing_first + i) % host->outgoing_room];
	free(host->outgoing);
	host->outgoing = ring;
	host->outgoing_first = 0;
	host->outgoing_room = room;
	return true;
}

void tb_host_post(struct tb_host *host, enum tb_host_part part, uint32_t id,
	const struct tb_message *message, uint32_t rail)
{
	if (host->n_outgoing == host->outgoing_room && !grow_outgoing(host))
		return;
	uint32_t at = (host->outgoing_first + host->n_outgoing) % host->outgoing_room;
	host->outgoing[at] = *message;
	host->outgoing[at].cookie = (uint64_t)id * TB_PARTS + part;
	tb_rails_nics(host, &host->outgoing[at], rail);
	host->n_outgoing++;
}

void tb_host_dispatch(struct tb_host *host, uint32_t id)
{
	if (piece_at(host, id)->n_controls) {
		// Make the next message of the handshake. The last one always comes from
		// the receiver.
		struct piece *piece = piece_at(host, id);
		const struct transfer *transfer = transfer_at(host, piece->transfer);
		bool from_receiver = --piece->n_controls == 0;
		struct tb_message message = transfer->what;
		message.bytes = 0;
		if (from_receiver) {
			message.source = transfer->what.destination;
			message.destination = transfer->what.source;
			message.source_place = transfer->what.destination_place;
			message.destination_place = transfer->what.source_place;
		}
		uint32_t process = from_receiver ? transfer->receiver : transfer->sender;
		tb_host_post(host, TB_PART_HANDSHAKE, id, &message,
			tb_rails_choose(host, process, &message));
	} else
		tb_rails_send(host, id);
}

uint32_t tb_host_n_controls(const struct tb_host_params *params, uint64_t bytes)
{
	static const uint32_t n_controls[] = {[TB_HANDSHAKE_NONE] = 0,
		[TB_HANDSHAKE_READ] = 1,
		[TB_HANDSHAKE_RENDEZVOUS] = 2};
	return bytes > params->handshake_above_bytes ? n_controls[params->handshake] : 0;
}

tb_time_ps tb_host_eager_time(const struct tb_host_params *params, uint64_t bytes)
{
	return tb_host_n_controls(params, bytes)
		       ? 0
		       : tb_host_copy_time(bytes, params->eager_copy_bytes_per_s);
}

tb_time_ps tb_host_issue_time(const struct tb_host_params *params, uint64_t bytes)
{
	return params->issue_ps + tb_host_copy_time(bytes, params->copy_bytes_per_s) +
	       tb_host_eager_time(params, bytes);
}

// host_cut makes the next piece of the transfer at the head of a process's queue.
static uint32_t host_cut(struct tb_host *host, struct host_process *process)
{
	uint32_t id = new_piece(host);
	if (id == NOTHING)
		return NOTHING;
	struct transfer *transfer = transfer_at(host, process->queue);
	const struct tb_host_params *params = host_params_for(host, &transfer->what);
	uint64_t bytes = transfer->uncut;
	bool is_first = bytes == transfer->what.bytes;
	uint64_t largest = tb_channels_piece_bytes(host, &transfer->what);
	if (largest && bytes > largest)
		bytes = largest;
	*piece_at(host, id) = (struct piece){.bytes = bytes,
		.transfer = process->queue,
		.n_controls = tb_host_n_controls(params, bytes),
		.uses = 2,
		.is_first = is_first};
	transfer->uncut -= bytes;
	if (--transfer->n_uncut == 0)
		process->queue = transfer->next;
	return id;
}

// report_buffered reports a transfer as sent when its sender has copied all of it, which
// needs no acknowledgement then: rule H5.
static int report_buffered(struct tb_host *host, uint32_t id, struct tb_error *error)
{
	struct transfer *transfer = transfer_at(host, id);
	const struct tb_host_params *params = host_params_for(host, &transfer->what);
	const struct tb_source *source = host->source;
	if (params->eager_copy_bytes_per_s == 0 || transfer->n_uncut ||
		transfer->is_given_up || transfer->is_reported_sent ||
		tb_host_n_controls(params, transfer->what.bytes) ||
		process_at(host, transfer->sender)->n_under_way > BUFFERED_MOST)
		return TB_OK;
	transfer->is_reported_sent = true;
	return source->sent ? source->sent(source->context, host->now,
				      transfer->what.cookie, error)
			    : TB_OK;
}

// tb_host_advance issues what a process has to send, as far as limits allow.
void tb_host_advance(struct tb_host *host, uint32_t id)
{
	for (;;) {
		struct host_process *process = process_at(host, id);
		if (process->issuing || process->queue == NOTHING)
			return;
		const struct tb_host_params *params =
			host_params_for(host, &transfer_at(host, process->queue)->what);
		if (params->n_outstanding &&
			process->n_under_way >= params->n_outstanding)
			return;
		uint32_t piece = host_cut(host, process);
		if (piece == NOTHING)
			return;
		process->n_under_way++;
		tb_time_ps takes =
			tb_host_issue_time(params, piece_at(host, piece)->bytes);
		tb_host_begun(host, piece, takes);
		if (takes == 0) {
			tb_host_dispatch(host, piece);
			continue;
		}
		process->issuing = true;
		tb_host_set_timer(host, host->now + takes, TB_HOST_ISSUED, piece);
	}
}

static int on_timer(struct tb_host *host, struct tb_timer timer, struct tb_error *error)
{
	uint32_t id = (uint32_t)(timer.what / TB_HOST_N_TIMERS);
	switch ((enum tb_host_timer)(timer.what % TB_HOST_N_TIMERS)) {
	case TB_HOST_ISSUED: {
		uint32_t transfer = piece_at(host, id)->transfer;
		uint32_t process = transfer_at(host, transfer)->sender;
		process_at(host, process)->issuing = false;
		tb_host_dispatch(host, id);
		tb_host_advance(host, process);
		return report_buffered(host, transfer, error);
	}
	case TB_HOST_NOTICED:
		return tb_host_noticed(host, id, error);
	case TB_HOST_ANSWERED:
		tb_host_dispatch(host, id);
		return TB_OK;
	case TB_HOST_COPIED:
		return tb_host_report_sent(host, id, error);
	case TB_HOST_SEEN:
		return tb_host_complete(host, id, error);
	case TB_HOST_LINKED:
		if (host->params.local == TB_LOCAL_LINKS) {
			// A message has crossed its sender's link. Its receiver's link
			// carries one message after another; those that arrive at the
			// same time wait before it, without blocking others.
			struct transfer *transfer = transfer_at(host, id);
			tb_time_ps *in =
				&process_at(host, transfer->receiver)->input_free_at;
			tb_time_ps begins = *in > host->now ? *in : host->now;
			transfer->queue_ps = begins - transfer->posted_at;
			transfer->started_at = transfer->drained_at = begins;
			*in = begins + tb_host_copy_time(transfer->what.bytes,
					       host->params.local_bytes_per_s);
			tb_time_ps ends =
				begins + tb_channels_local_time(host, &transfer->what);
			if (ends < *in)
				ends = *in;
			tb_host_set_timer(host, ends, TB_HOST_COPIED, id);
			tb_host_set_timer(host, ends + host->params.local_latency_ps,
				TB_HOST_SEEN, id);
			return TB_OK;
		}
		tb_memory_copy(host, id);
		return report_buffered(host, id, error);
	case TB_HOST_PACED:
	case TB_HOST_RELAYED:
		tb_rails_send(host, id);
		return TB_OK;
	case TB_HOST_MEMORY:
		tb_memory_due(host, id);
		return TB_OK;
	case TB_HOST_N_TIMERS:
		break;
	}
	return TB_OK;
}

static int host_begin(
	struct tb_host *host, const struct tb_message *message, struct tb_error *error)
{
	uint64_t largest = tb_host_is_local(host, message)
				   ? host_params_for(host, message)->largest_bytes
				   : tb_channels_piece_bytes(host, message);
	uint64_t n =
		largest ? message->bytes / largest + (message->bytes % largest != 0) : 1;
	if (n > UINT32_MAX)
		return tb_fail(error, TB_ECAPACITY, "a message of more than 2^32 pieces");
	uint32_t sender = host_process_find(
		host, message->job, message->source.id, message->source_rank);
	uint32_t receiver = host_process_find(
		host, message->job, message->destination.id, message->destination_rank);
	bool is_paired = host->n_rails > 1 || tb_channels_have(host, message);
	uint32_t pair = is_paired ? host_pair_find(host, sender, receiver) : NOTHING;
	uint32_t id = new_transfer(host);
	if (host->no_memory)
		return TB_ENOMEM;
	uint32_t n_pieces = n ? (uint32_t)n : 1;
	*transfer_at(host, id) = (struct transfer){.what = *message,
		.number = host->n_posted,
		.posted_at = host->now,
		.started_at = TB_TIME_NEVER,
		.uncut = message->bytes,
		.serial = pair == NOTHING ? 0 : pair_at(host, pair)->n_posted++,
		.n_uncut = n_pieces,
		.n_unsent = n_pieces,
		.n_undelivered = n_pieces,
		.sender = sender,
		.receiver = receiver,
		.pair = pair,
		.next = NOTHING,
		.uses = 2};
	host->n_posted++;
	if (!tb_host_is_local(host, message)) {
		struct transfer *transfer = transfer_at(host, id);
		struct host_process *process = process_at(host, transfer->sender);
		if (process->queue == NOTHING)
			process->queue = id;
		else
			transfer_at(host, process->queue_end)->next = id;
		process->queue_end = id;
		tb_host_advance(host, transfer->sender);
	} else if (host->params.local == TB_LOCAL_LINKS) {
		// The link of a process sends one message after another.
		struct transfer *transfer = transfer_at(host, id);
		tb_time_ps *out = &process_at(host, transfer->sender)->link_free_at;
		tb_time_ps begins = *out > host->now ? *out : host->now;
		*out = begins + tb_host_copy_time(transfer->what.bytes,
					host->params.local_bytes_per_s);
		tb_host_set_timer(host, begins, TB_HOST_LINKED, id);
	} else
		tb_memory_post(host, id);
	return TB_OK;
}

static tb_time_ps host_next_at(void *context)
{
	const struct tb_host *host = context;
	if (host->n_outgoing)
		return host->now;
	tb_time_ps source = host->source->when(host->source->context);
	tb_time_ps timer = tb_timers_at(&host->timers);
	return timer < source ? timer : source;
}

int tb_host_out_of_memory(struct tb_error *error)
{
	return tb_fail_memory(error, "the messages of the hosts");
}

// next_step handles an expired timer or takes a message and returns 1, or returns 0 when
// nothing is due.
static int next_step(struct tb_host *host, struct tb_error *error)
{
	if (tb_timers_at(&host->timers) <= host->now) {
		int status = on_timer(host, tb_timers_take(&host->timers), error);
		return status < 0 ? status : 1;
	}
	const struct tb_source *source = host->source;
	if (source->when(source->context) > host->now)
		return 0;
	struct tb_message message;
	int status = source->take(source->context, host->now, &message, error);
	if (status <= 0)
		return status;
	status = host_begin(host, &message, error);
	return status < 0 ? status : 1;
}

static int host_take(
	void *context, tb_time_ps now, struct tb_message *message, struct tb_error *error)
{
	struct tb_host *host = context;
	host->now = now;
	int status = 1;
	while (status > 0 && host->n_outgoing == 0)
		status = next_step(host, error);
	if (host->no_memory)
		return tb_host_out_of_memory(error);
	if (status <= 0)
		return status;
	*message = host->outgoing[host->outgoing_first];
	host->outgoing_first = (host->outgoing_first + 1) % host->outgoing_room;
	host->n_outgoing--;
	return 1;
}

static int host_finish(void *context, struct tb_error *error)
{
	const struct tb_host *host = context;
	return host->source->finish ? host->source->finish(host->source->context, error)
				    : TB_OK;
}

struct tb_source tb_host_source(struct tb_host *host)
{
	return (struct tb_source){.context = host,
		.when = host_next_at,
		.take = host_take,
		.sent = host_sent,
		.delivered = host_delivered,
		.crossed = tb_host_crossed,
		.undelivered = host_undelivered,
		.finish = host_finish};
}

int tb_host_new(struct tb_host **host, const struct tb_network *network,
	const struct tb_source *source, const struct tb_observer *observer,
	tb_ideal_time *ideal_ps, struct tb_error *error)
{
	struct tb_host *made = calloc(1, sizeof *made);
	if (!made)
		return tb_host_out_of_memory(error);
	*made = (struct tb_host){.net = network,
		.source = source,
		.observer = observer,
		.ideal_ps = ideal_ps,
		.params = network->params.host,
		.bare.stripe_above_bytes = network->params.host.stripe_above_bytes,
		.n_rails = network->n_rails,
		.n_hosts = network->n_hosts,
		.transfers.size = sizeof(struct transfer),
		.pieces.size = sizeof(struct piece),
		.processes.size = sizeof(struct host_process),
		.pairs.size = sizeof(struct host_pair),
		.flows.size = sizeof(struct tb_flow_sample),
		.free_transfer = NOTHING,
		.free_piece = NOTHING};
	if (tb_memory_init(made) != TB_OK || tb_rails_init(made) != TB_OK) {
		tb_host_free(made);
		return tb_host_out_of_memory(error);
	}
	*host = made;
	return TB_OK;
}

void tb_host_free(struct tb_host *host)
{
	if (!host)
		return;
	free(host->transfers.records);
	free(host->pieces.records);
	free(host->processes.records);
	free(host->pairs.records);
	free(host->flows.records);
	tb_slowest_messages_fini(&host->messages);
	tb_map_fini(&host->process_of);
	tb_map_fini(&host->pair_of);
	tb_map_fini(&host->flow_of);
	tb_timers_fini(&host->timers);
	tb_rails_fini(host);
	tb_memory_fini(host);
	free(host->outgoing);
	free(host);
}

// How messages end: parts are sent, delivered or given up, and processes are notified of
// whole messages, in order.

static void drop_transfer(struct tb_host *host, uint32_t id)
{
	struct transfer *transfer = transfer_at(host, id);
	if (--transfer->uses)
		return;
	transfer->next = host->free_transfer;
	host->free_transfer = id;
}

static void drop_piece(struct tb_host *host, uint32_t id)
{
	struct piece *piece = piece_at(host, id);
	if (--piece->uses)
		return;
	piece->next = host->free_piece;
	host->free_piece = id;
}

// ending_give_up cancels the uncut rest of a transfer of which a part was given up.
static void ending_give_up(struct tb_host *host, uint32_t id)
{
	struct transfer *transfer = transfer_at(host, id);
	transfer->is_given_up = true;
	if (transfer->n_uncut == 0)
		return;
	// Of a process's transfers only the first can have been cut.
	process_at(host, transfer->sender)->queue = transfer->next;
	transfer->n_unsent -= transfer->n_uncut;
	transfer->n_undelivered -= transfer->n_uncut;
	transfer->n_uncut = 0;
}

int tb_host_report_sent(struct tb_host *host, uint32_t id, struct tb_error *error)
{
	uint64_t cookie = transfer_at(host, id)->what.cookie;
	const struct transfer *transfer = transfer_at(host, id);
	bool is_over = transfer->is_given_up || transfer->is_reported_sent;
	drop_transfer(host, id);
	const struct tb_source *source = host->source;
	if (is_over || !source->sent)
		return TB_OK;
	host->last_reported = host->now;
	return source->sent(source->context, host->now, cookie, error);
}

static int ending_report_delivered(
	struct tb_host *host, uint32_t id, struct tb_error *error)
{
	const struct transfer *transfer = transfer_at(host, id);
	uint64_t cookie = transfer->what.cookie;
	bool is_given_up = transfer->is_given_up;
	if (is_given_up) {
		host->n_undelivered++;
	} else {
		host->n_delivered++;
		host->payload_bytes += transfer->what.bytes;
		tb_host_count(host, transfer);
	}
	host->last_reported = host->now;
	drop_transfer(host, id);
	const struct tb_source *source = host->source;
	int (*report)(void *, tb_time_ps, uint64_t, struct tb_error *) =
		is_given_up ? source->undelivered : source->delivered;
	return report ? report(source->context, host->now, cookie, error) : TB_OK;
}

// take_early removes the next transfer in order from the completed ones of its pair.
static uint32_t take_early(struct tb_host *host, struct host_pair *pair)
{
	uint32_t *link = &pair->early;
	while (*link != NOTHING && transfer_at(host, *link)->serial != pair->n_reported)
		link = &transfer_at(host, *link)->next;
	uint32_t id = *link;
	if (id != NOTHING)
		*link = transfer_at(host, id)->next;
	return id;
}

// tb_host_complete reports a transfer once all earlier ones from the same process to the
// same process have been reported.
int tb_host_complete(struct tb_host *host, uint32_t id, struct tb_error *error)
{
	uint32_t pair_id = transfer_at(host, id)->pair;
	if (pair_id == NOTHING)
		return ending_report_delivered(host, id, error);
	transfer_at(host, id)->next = pair_at(host, pair_id)->early;
	pair_at(host, pair_id)->early = id;
	int status = TB_OK;
	while (status == TB_OK &&
		(id = take_early(host, pair_at(host, pair_id))) != NOTHING) {
		pair_at(host, pair_id)->n_reported++;
		status = ending_report_delivered(host, id, error);
	}
	return status;
}

int tb_host_noticed(struct tb_host *host, uint32_t id, struct tb_error *error)
{
	uint32_t transfer_id = piece_at(host, id)->transfer;
	struct transfer *transfer = transfer_at(host, transfer_id);
	drop_piece(host, id);
	if (--transfer->n_undelivered)
		return TB_OK;
	// A message that was given up is reported once none of its parts is under way.
	if (transfer->is_given_up && transfer->n_unsent)
		return TB_OK;
	return tb_host_complete(host, transfer_id, error);
}

static int transfer_sent(struct tb_host *host, uint32_t id, struct tb_error *error)
{
	const struct transfer *transfer = transfer_at(host, id);
	bool over = transfer->is_given_up && transfer->n_undelivered == 0;
	int status = tb_host_report_sent(host, id, error);
	return status == TB_OK && over ? tb_host_complete(host, id, error) : status;
}

// piece_sent: all parts of a piece are acknowledged or given up.
static int piece_sent(struct tb_host *host, uint32_t id, struct tb_error *error)
{
	uint32_t transfer_id = piece_at(host, id)->transfer;
	struct transfer *transfer = transfer_at(host, transfer_id);
	uint32_t sender = transfer->sender;
	bool all = --transfer->n_unsent == 0;
	drop_piece(host, id);
	process_at(host, sender)->n_under_way--;
	int status = all ? transfer_sent(host, transfer_id, error) : TB_OK;
	tb_host_advance(host, sender);
	return status;
}

// piece_delivered: all parts of a piece have arrived or are given up.
static int piece_delivered(struct tb_host *host, uint32_t id, struct tb_error *error)
{
	const struct transfer *transfer = transfer_at(host, piece_at(host, id)->transfer);
	struct host_process *receiver = process_at(host, transfer->receiver);
	const struct tb_host_params *params = host_params_for(host, &transfer->what);
	tb_time_ps notice =
		params->notice_ps + tb_host_eager_time(params, piece_at(host, id)->bytes);
	if (notice + params->wake_ps == 0 || transfer->is_given_up)
		return tb_host_noticed(host, id, error);
	if (receiver->noticed_until < host->now)
		receiver->noticed_until = host->now;
	receiver->noticed_until += notice;
	tb_host_set_timer(
		host, receiver->noticed_until + params->wake_ps, TB_HOST_NOTICED, id);
	return TB_OK;
}

static int ending_finish(const struct tb_host *host, int status, struct tb_error *error)
{
	return host->no_memory ? tb_host_out_of_memory(error) : status;
}

// host_sent: the engine reports a part of a message as sent.
static int host_sent(
	void *context, tb_time_ps now, uint64_t cookie, struct tb_error *error)
{
	struct tb_host *host = context;
	host->now = now;
	uint32_t id = (uint32_t)(cookie / TB_PARTS);
	if (cookie % TB_PARTS != TB_PART_DATA || --piece_at(host, id)->n_unsent)
		return TB_OK;
	tb_rails_sent(host, id);
	return ending_finish(host, piece_sent(host, id, error), error);
}

static int host_delivered(
	void *context, tb_time_ps now, uint64_t cookie, struct tb_error *error)
{
	struct tb_host *host = context;
	host->now = now;
	uint32_t id = (uint32_t)(cookie / TB_PARTS);
	enum tb_host_part part = (enum tb_host_part)(cookie % TB_PARTS);
	int status = TB_OK;
	if (part == TB_PART_HANDSHAKE) {
		// A message of a handshake is in; what follows comes `handshake_delay`
		// later.
		const struct transfer *transfer =
			transfer_at(host, piece_at(host, id)->transfer);
		tb_time_ps delay =
			host_params_for(host, &transfer->what)->handshake_delay_ps;
		if (delay == 0)
			tb_host_dispatch(host, id);
		else
			tb_host_set_timer(host, host->now + delay, TB_HOST_ANSWERED, id);
	} else if (part != TB_PART_DATA) {
		tb_reserve_arrived(host, part, id);
	} else if (--piece_at(host, id)->n_undelivered == 0) {
		tb_rails_delivered(host, id);
		status = piece_delivered(host, id, error);
	}
	return ending_finish(host, status, error);
}

// data_lost: a part of a piece's data was given up.
static int data_lost(struct tb_host *host, uint32_t id, struct tb_error *error)
{
	struct piece *piece = piece_at(host, id);
	bool all_sent = --piece->n_unsent == 0;
	bool all_delivered = --piece->n_undelivered == 0;
	if (all_sent)
		tb_rails_sent(host, id);
	if (all_delivered)
		tb_rails_delivered(host, id);
	int status = all_delivered ? piece_delivered(host, id, error) : TB_OK;
	return status == TB_OK && all_sent ? piece_sent(host, id, error) : status;
}

static int host_undelivered(
	void *context, tb_time_ps now, uint64_t cookie, struct tb_error *error)
{
	struct tb_host *host = context;
	host->now = now;
	uint32_t id = (uint32_t)(cookie / TB_PARTS);
	enum tb_host_part part = (enum tb_host_part)(cookie % TB_PARTS);
	if (part != TB_PART_DATA && part != TB_PART_HANDSHAKE &&
		!tb_reserve_lost(host, part, id))
		return ending_finish(host, TB_OK, error);
	ending_give_up(host, piece_at(host, id)->transfer);
	if (part == TB_PART_DATA)
		return ending_finish(host, data_lost(host, id, error), error);
	// A failure before the data ends the piece.
	int status = piece_delivered(host, id, error);
	if (status == TB_OK)
		status = piece_sent(host, id, error);
	return ending_finish(host, status, error);
}

// The rates of channels between two processes: rule H10 of docs/model.md, after
// ncclTopoComputeP2pChannels (src/graph/paths.cc), ncclTopoDupChannels (search.cc) and
// calcP2pChannelCount (src/enqueue.cc). The number of channels, n:
//
// n is 2 or as many as fill an adapter, a power of two, and is halved while n times a
// batch for each 8 ranks of the job are more than all channels: two for each of R
// adapters; four if one carries more than 25 GB/s and R is at most 4, or more than 50
// GB/s. If all ranks are on one node, a message takes at least its bytes over n
// channels of 20.6 GB/s: n is 32 divided by the ranks, a power of two, doubled up to
// 32 while one has more than 16 MiB.

// Peers per batch of a channel (NCCL_MAX_DEV_WORK_P2P_PER_BATCH).
#define PEERS_A_BATCH 8

// What a channel sends at once between nodes (NCCL_P2P_NET_CHUNKSIZE, src/init.cc).
#define CHUNK_BYTES (UINT64_C(128) << 10)

// Between GPUs of one node: the number of channels, their rate, that of an NVLink of
// Ampere or Hopper (SM90_NVLINK_BW of src/graph/topo.h), and the bytes per channel beyond
// which more channels are used.
#define LOCAL_CHANNELS	  32
#define LOCAL_BYTES_PER_S UINT64_C(20600000000)
#define LOCAL_BYTES_EACH  (UINT64_C(16) << 20)

bool tb_channels_have(const struct tb_host *host, const struct tb_message *message)
{
	const struct tb_host_params *params = host_params_for(host, message);
	return (params->channel_bytes_per_s || params->launch_ps) && !message->planned &&
	       !tb_host_is_local(host, message);
}

static uint64_t power_above(uint64_t n)
{
	uint64_t power = 1;
	while (power < n)
		power *= 2;
	return power;
}

// channels_of_process returns how many a process has: two for each of its node's
// adapters, or four where these are fast and few.
static uint64_t channels_of_process(const struct tb_host *host)
{
	uint64_t rate = host->net->params.link_bytes_per_s, rails = host->n_rails;
	bool twice = rate > UINT64_C(25000000000) &&
		     (rails <= 4 || rate > UINT64_C(50000000000));
	return power_above(rails * (twice ? 4 : 2));
}

uint64_t tb_channels_rate(const struct tb_host *host, const struct tb_message *message)
{
	uint64_t each = host_params_for(host, message)->channel_bytes_per_s;
	if (!each || !tb_channels_have(host, message))
		return 0;
	uint64_t rate = host->net->params.link_bytes_per_s * tb_rails_each(host);
	uint64_t n = power_above(rate / each + (rate % each != 0));
	uint64_t batches = message->n_ranks / PEERS_A_BATCH +
			   (message->n_ranks % PEERS_A_BATCH != 0);
	n = n < 2 ? 2 : n;
	while (n > 1 && n * batches > channels_of_process(host))
		n /= 2;
	return n * each;
}

uint64_t tb_channels_piece_bytes(
	const struct tb_host *host, const struct tb_message *message)
{
	uint64_t largest = host_params_for(host, message)->largest_bytes;
	if (!tb_channels_rate(host, message) || (largest && largest < CHUNK_BYTES))
		return largest;
	return CHUNK_BYTES;
}

bool tb_channels_hold(struct tb_host *host, uint32_t id)
{
	struct piece *piece = piece_at(host, id);
	struct transfer *transfer = transfer_at(host, piece->transfer);
	if (piece->is_paced || !tb_channels_have(host, &transfer->what))
		return false;
	struct host_pair *pair = pair_at(host, transfer->pair);
	tb_time_ps ready = host->now;
	if (piece->is_first)
		ready += host->params.launch_ps;
	tb_time_ps begins =
		pair->channels_free_at > ready ? pair->channels_free_at : ready;
	pair->channels_free_at =
		begins +
		tb_host_copy_time(piece->bytes, tb_channels_rate(host, &transfer->what));
	piece->is_paced = true;
	if (piece->is_first) {
		transfer->software_ps += host->params.launch_ps;
		transfer->queue_ps += begins - ready;
	}
	tb_host_set_timer(host, begins, TB_HOST_PACED, id);
	return true;
}

tb_time_ps tb_channels_local_time(
	const struct tb_host *host, const struct tb_message *message)
{
	uint64_t n = LOCAL_CHANNELS;
	if (!host->params.channel_bytes_per_s || message->planned || !message->one_node)
		return 0;
	while (n > 1 && n * message->n_ranks > LOCAL_CHANNELS)
		n /= 2;
	while (n < LOCAL_CHANNELS && message->bytes > n * LOCAL_BYTES_EACH)
		n *= 2;
	return tb_host_copy_time(message->bytes, n * LOCAL_BYTES_PER_S);
}
