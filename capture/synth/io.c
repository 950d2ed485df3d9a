#include "io.h"

#include "array.h"
#include "nearest.h"
#include "order.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

// Adds messages and their dependencies to a job of parallel I/O.

// The processors of a rank: the second one only waits for storage.
enum { TB_IO_CPU_SERVICE, TB_IO_CPU_STORAGE };

struct tb_io_ops {
	uint32_t *ops; // of one rank
	size_t n, room;
};

// The part of a request that one server holds.
struct tb_io_share {
	uint64_t *pieces; // bytes of each
	size_t n, room;
	uint64_t bytes;
};

struct tb_io_writer {
	const struct tb_io_options *options;
	struct tb_job_builder *builder;
	struct tb_error *error;
	int status; // first failure; nothing is added after it
	uint32_t next_tag;
	uint32_t *fence; // by client: the operation that its next one waits for
	struct tb_io_share *shares; // by server: share of the current request
	uint64_t n_extents;	    // of the current request
	uint32_t *n_open; // by server: transfers of all requests of the current number
	uint32_t *slots;  // n_outstanding per server: last operation of the transfer that
			  // used the slot before
	uint32_t *next_slot; // by server
	struct tb_io_ops sends, receives, answers;
	// For two phases.
	uint64_t low, high;	     // the part of the file that a call touches
	uint64_t domain_bytes;	     // each client's share of it
	uint64_t *towards;	     // by client: bytes that one client sends to it
	struct tb_io_ops *exchanged; // by client: what its next operation waits for
};

// The operations of a message at both ends. TB_ID_NONE is no operation: waiting for it
// does nothing.
struct tb_io_message {
	uint32_t sent;	   // the sender's: done when its buffer is free
	uint32_t received; // the receiver's: done when it has all data
};

struct io_transfer {
	uint32_t from, to; // ranks
	uint32_t server;   // number of the server among the two
	uint32_t client_load, server_load;
	uint32_t on; // operation of `from` that must be done before
};

// The messages of parallel I/O: sockets, eager messages and rendezvous.

#define NONE TB_ID_NONE

static uint32_t io_add_op(struct tb_io_writer *w, uint32_t rank, const struct tb_op *op)
{
	uint32_t index = tb_job_add(w->builder, rank, op);
	if (w->status == TB_OK)
		w->status = tb_job_builder_check(w->builder, w->error);
	return index;
}

static void io_wait_for(struct tb_io_writer *w, uint32_t rank, uint32_t op, uint32_t on)
{
	if (on != NONE)
		tb_job_depend(w->builder, rank, op, on, false);
}

// io_ns returns how long bytes take at a rate; 0 for no rate.
static uint64_t io_ns(uint64_t bytes, uint64_t bytes_per_s)
{
	// In doubles, since bytes * 1e9 may exceed 64 bits. All IEEE machines agree.
	return bytes_per_s ? (uint64_t)((double)bytes * 1e9 / (double)bytes_per_s + 0.5)
			   : 0;
}

// io_calc adds a calc after `on` and returns it; for 0 ns it just returns `on`.
static uint32_t io_calc(
	struct tb_io_writer *w, uint32_t rank, uint8_t cpu, uint64_t ns, uint32_t on)
{
	if (ns == 0)
		return on;
	uint32_t op = io_add_op(
		w, rank, &(struct tb_op){.kind = TB_OP_CALC, .amount = ns, .cpu = cpu});
	io_wait_for(w, rank, op, on);
	return op;
}

// io_list appends an operation to a list.
static void io_list(struct tb_io_writer *w, struct tb_io_ops *list, uint32_t op)
{
	if (w->status == TB_OK && TB_ARRAY_NEXT(list, ops) != TB_OK)
		w->status = tb_fail_memory(w->error, "a job");
	if (w->status == TB_OK)
		list->ops[list->n++] = op;
}

// io_join empties a list and returns an operation of `rank` that waits for all in it;
// TB_ID_NONE if the list was empty.
static uint32_t io_join(struct tb_io_writer *w, uint32_t rank, struct tb_io_ops *list)
{
	uint32_t op = list->n ? list->ops[0] : NONE;
	// A calc of no time stands for several operations; a single one needs none.
	if (list->n > 1)
		op = io_add_op(w, rank, &(struct tb_op){.kind = TB_OP_CALC});
	for (size_t i = 0; i < list->n && list->n > 1; i++)
		io_wait_for(w, rank, op, list->ops[i]);
	list->n = 0;
	return op;
}

// io_send adds a message, which the sender sends after `on` and `also` are done.
static struct tb_io_message io_send(struct tb_io_writer *w, uint32_t from, uint32_t to,
	uint64_t bytes, uint32_t on, uint32_t also)
{
	struct tb_op op = {
		.kind = TB_OP_SEND, .amount = bytes, .peer = to, .tag = w->next_tag++};
	struct tb_io_message message = {.sent = io_add_op(w, from, &op)};
	io_wait_for(w, from, message.sent, on);
	io_wait_for(w, from, message.sent, also);
	op.kind = TB_OP_RECV;
	op.peer = from;
	message.received = io_add_op(w, to, &op);
	return message;
}

static struct tb_io_message control(
	struct tb_io_writer *w, uint32_t from, uint32_t to, uint32_t on, uint32_t also)
{
	return io_send(w, from, to, TB_IO_CONTROL_BYTES, on, also);
}

// io_stored has a server's storage read or write bytes after `on`, and returns the
// operation.
static uint32_t io_stored(
	struct tb_io_writer *w, uint32_t rank, uint64_t bytes, uint32_t on)
{
	return io_calc(w, rank, TB_IO_CPU_STORAGE,
		io_ns(bytes, w->options->storage_bytes_per_s), on);
}

// at_hand returns the operation after which the sender has `bytes` of a transfer: it may
// be a server, which has them in its storage.
static uint32_t at_hand(
	struct tb_io_writer *w, const struct io_transfer *t, uint64_t bytes)
{
	bool from_storage = t->from >= w->options->n_clients;
	return from_storage ? io_stored(w, t->from, bytes, t->on) : t->on;
}

// gate returns the operation for which `rank` must wait before it lets a transfer begin:
// if it is the server, the end of the transfer that used the slot before.
static uint32_t gate(
	const struct tb_io_writer *w, const struct io_transfer *t, uint32_t rank)
{
	uint32_t n = w->options->n_outstanding;
	if (n == 0 || rank != w->options->n_clients + t->server)
		return NONE;
	return w->slots[(size_t)t->server * n + w->next_slot[t->server] % n];
}

// move_piece adds the message of a piece, which leaves when the sender has it and may
// send it, and lists its operations in `sends` and `receives`.
static void move_piece(
	struct tb_io_writer *w, const struct io_transfer *t, uint64_t bytes, uint32_t on)
{
	uint32_t has = at_hand(w, t, bytes);
	struct tb_io_message data =
		io_send(w, t->from, t->to, bytes, on, has == t->on ? NONE : has);
	io_list(w, &w->sends, data.sent);
	io_list(w, &w->receives, data.received);
}

static struct tb_io_message by_write(struct tb_io_writer *w, const struct io_transfer *t)
{
	const struct tb_io_share *share = &w->shares[t->server];
	struct tb_io_message rts = control(w, t->from, t->to, t->on, gate(w, t, t->from));
	struct tb_io_message ack =
		control(w, t->to, t->from, rts.received, gate(w, t, t->to));
	for (size_t i = 0; i < share->n; i++)
		move_piece(w, t, share->pieces[i], ack.received);
	uint32_t sent = io_join(w, t->from, &w->sends);
	if (!w->options->events) {
		struct tb_io_message fin = control(w, t->from, t->to, sent, NONE);
		io_list(w, &w->receives, fin.received);
		sent = fin.sent;
	}
	return (struct tb_io_message){sent, io_join(w, t->to, &w->receives)};
}

static struct tb_io_message by_read(struct tb_io_writer *w, const struct io_transfer *t)
{
	const struct tb_io_share *share = &w->shares[t->server];
	struct tb_io_message rts = control(w, t->from, t->to, t->on, gate(w, t, t->from));
	for (size_t i = 0; i < share->n; i++) {
		struct tb_io_message pull =
			control(w, t->to, t->from, rts.received, gate(w, t, t->to));
		move_piece(w, t, share->pieces[i], pull.received);
	}
	uint32_t sent = io_join(w, t->from, &w->sends);
	uint32_t received = io_join(w, t->to, &w->receives);
	if (!w->options->events)
		sent = control(w, t->to, t->from, received, NONE).received;
	return (struct tb_io_message){sent, received};
}

// receiver_reads makes the choice of paper 004, figure 6.
static bool receiver_reads(
	const struct tb_io_options *options, const struct io_transfer *t)
{
	bool server_receives = t->to >= options->n_clients;
	if (options->rendezvous != TB_IO_ADAPTIVE)
		return options->rendezvous == TB_IO_RDMA_READ;
	if (t->server_load >= options->n_heavy)
		return !server_receives;
	return server_receives ? t->server_load < t->client_load
			       : t->client_load < t->server_load;
}

// io_transfer moves a server's share of the current request between it and a client. A
// server that sends reads its storage first, piece by piece where pieces are sent one by
// one.
static struct tb_io_message io_transfer(
	struct tb_io_writer *w, const struct io_transfer *t)
{
	const struct tb_io_options *options = w->options;
	uint64_t bytes = w->shares[t->server].bytes;
	if (options->transport == TB_IO_TCP) {
		// Send one message. If the data are several pieces, both sides spend time
		// to pack and unpack them.
		uint64_t ns =
			w->n_extents > 1 ? io_ns(bytes, w->options->pack_bytes_per_s) : 0;
		uint32_t on =
			io_calc(w, t->from, TB_IO_CPU_SERVICE, ns, at_hand(w, t, bytes));
		struct tb_io_message data = io_send(w, t->from, t->to, bytes, on, NONE);
		data.received = io_calc(w, t->to, TB_IO_CPU_SERVICE, ns, data.received);
		return data;
	}
	if (bytes <= options->eager_bytes)
		return io_send(w, t->from, t->to, bytes, at_hand(w, t, bytes), NONE);
	struct tb_io_message whole =
		receiver_reads(options, t) ? by_read(w, t) : by_write(w, t);
	if (options->n_outstanding) {
		uint32_t slot = w->next_slot[t->server]++ % options->n_outstanding;
		w->slots[(size_t)t->server * options->n_outstanding + slot] =
			t->to >= options->n_clients ? whole.received : whole.sent;
	}
	return whole;
}

// The two phases of collective I/O: clients exchange data so that each has a contiguous
// part of the file, and each then talks to the servers only about its own part.
//
// As in MPI-IO (Thakur, Gropp, Lusk 1999), the part of the file that a call touches is
// cut into equal domains, one per client, here of whole strips. A round moves one buffer
// of every domain.

// io_piece stores the i-th piece of the file in a client's request `number`; false
// after the last. With two phases the pieces come from the client's domain.
static bool io_piece(const struct tb_io_writer *w, uint32_t client, uint64_t number,
	uint64_t i, struct tb_io_extent *extent)
{
	const struct tb_io_options *options = w->options;
	if (options->buffer_bytes == 0)
		return i < options->list_pieces &&
		       options->benchmark->extent(options, client,
			       number * options->list_pieces + i, extent);
	uint64_t in_domain = number * options->buffer_bytes;
	if (i > 0 || in_domain >= w->domain_bytes)
		return false;
	uint64_t offset = w->low + client * w->domain_bytes + in_domain;
	uint64_t end = tb_min_u64(w->low + (client + 1) * w->domain_bytes, w->high);
	if (offset >= end)
		return false;
	*extent = (struct tb_io_extent){
		offset, tb_min_u64(end - offset, options->buffer_bytes)};
	return true;
}

static void io_exchange(struct tb_io_writer *w, uint64_t round)
{
	uint32_t n = w->options->n_clients;
	bool writes = w->options->benchmark->writes;
	for (uint32_t client = 0; client < n; client++)
		if (w->fence[client] != TB_ID_NONE)
			io_list(w, &w->exchanged[client], w->fence[client]);
	for (uint32_t client = 0; client < n && w->status == TB_OK; client++) {
		// Add up how many bytes of each domain's buffer of this round a client
		// has.
		const struct tb_io_options *options = w->options;
		struct tb_io_extent extent;
		for (uint32_t other = 0; other < options->n_clients; other++)
			w->towards[other] = 0;
		for (uint64_t i = 0;
			options->benchmark->extent(options, client, i, &extent); i++) {
			while (extent.bytes > 0) {
				uint64_t at = extent.offset - w->low;
				uint64_t in_domain = at % w->domain_bytes;
				uint64_t left = tb_min_u64(w->domain_bytes - in_domain,
					options->buffer_bytes -
						in_domain % options->buffer_bytes);
				uint64_t bytes = tb_min_u64(extent.bytes, left);
				if (in_domain / options->buffer_bytes == round)
					w->towards[at / w->domain_bytes] += bytes;
				extent.offset += bytes;
				extent.bytes -= bytes;
			}
		}
		for (uint32_t i = 1; i < n; i++) {
			uint32_t other = (client + i) % n;
			uint32_t from = writes ? client : other;
			uint32_t to = writes ? other : client;
			if (w->towards[other] == 0)
				continue;
			struct tb_io_message message = io_send(w, from, to,
				w->towards[other], w->fence[from], TB_ID_NONE);
			io_list(w, &w->exchanged[from], message.sent);
			io_list(w, &w->exchanged[to], message.received);
		}
	}
	for (uint32_t client = 0; client < n; client++)
		w->fence[client] = io_join(w, client, &w->exchanged[client]);
}

// Makes a job of a parallel I/O benchmark: what each client requests of each server, call
// after call.

static uint32_t server_rank(const struct tb_io_writer *w, uint32_t server)
{
	return w->options->n_clients + server;
}

// write_barrier lets each client go on when all have arrived, by dissemination.
static void write_barrier(struct tb_io_writer *w)
{
	uint32_t n = w->options->n_clients;
	for (uint32_t distance = 1; distance < n && w->status == TB_OK; distance *= 2) {
		uint32_t *came = w->n_open; // not in use here, and large enough
		for (uint32_t client = 0; client < n; client++) {
			uint32_t to = (client + distance) % n;
			struct tb_io_message token =
				io_send(w, client, to, 0, w->fence[client], NONE);
			came[to] = token.received;
			w->fence[client] = token.sent;
		}
		for (uint32_t client = 0; client < n; client++) {
			io_list(w, &w->answers, w->fence[client]);
			io_list(w, &w->answers, came[client]);
			w->fence[client] = io_join(w, client, &w->answers);
		}
	}
}

// tell has client 0 tell the others something, by a binomial tree.
static void tell(struct tb_io_writer *w)
{
	const struct tb_io_options *options = w->options;
	uint32_t n = options->n_clients, distance = 1;
	while (distance < n)
		distance *= 2;
	for (distance /= 2; distance > 0 && w->status == TB_OK; distance /= 2)
		for (uint32_t from = 0; from + distance < n; from += 2 * distance) {
			uint32_t to = from + distance;
			uint32_t ready = io_calc(w, from, TB_IO_CPU_SERVICE,
				options->client_ns, w->fence[from]);
			struct tb_io_message message =
				io_send(w, from, to, TB_IO_CONTROL_BYTES, ready, NONE);
			w->fence[from] = message.sent;
			io_list(w, &w->answers, w->fence[to]);
			io_list(w, &w->answers,
				io_calc(w, to, TB_IO_CPU_SERVICE, options->client_ns,
					message.received));
			w->fence[to] = io_join(w, to, &w->answers);
		}
}

// lay_out_request divides a client's request `number` into the shares of the servers;
// false if the client has no such request.
static bool lay_out_request(struct tb_io_writer *w, uint32_t client, uint64_t number)
{
	const struct tb_io_options *options = w->options;
	struct tb_io_extent extent;
	uint64_t i = 0;
	for (uint32_t server = 0; server < options->n_servers; server++)
		w->shares[server].n = w->shares[server].bytes = 0;
	for (; w->status == TB_OK && io_piece(w, client, number, i, &extent); i++) {
		while (extent.bytes > 0 && w->status == TB_OK) {
			uint64_t strip = extent.offset / options->strip_bytes;
			uint64_t left =
				(strip + 1) * options->strip_bytes - extent.offset;
			uint64_t bytes = extent.bytes < left ? extent.bytes : left;
			uint32_t server = (uint32_t)(strip % options->n_servers);
			struct tb_io_share *share = &w->shares[server];
			if (w->status == TB_OK && TB_ARRAY_NEXT(share, pieces) != TB_OK)
				w->status = tb_fail_memory(w->error, "a request");
			if (w->status == TB_OK) {
				share->pieces[share->n++] = bytes;
				share->bytes += bytes;
			}
			extent.offset += bytes;
			extent.bytes -= bytes;
		}
	}
	w->n_extents = i;
	return i > 0;
}

// count_open counts the transfers that the clients' requests `number` cause at each
// server.
static bool count_open(struct tb_io_writer *w, uint64_t number)
{
	bool any = false;
	for (uint32_t server = 0; server < w->options->n_servers; server++)
		w->n_open[server] = 0;
	for (uint32_t client = 0; client < w->options->n_clients; client++) {
		any = lay_out_request(w, client, number) || any;
		for (uint32_t server = 0; server < w->options->n_servers; server++)
			w->n_open[server] += w->shares[server].n > 0;
	}
	return any;
}

// question_op sends a client's request, with the whole list, to a server and returns the
// server's operation that handles it.
static uint32_t question_op(struct tb_io_writer *w, uint32_t client, uint32_t server)
{
	uint64_t bytes = TB_IO_REQUEST_BYTES;
	if (w->n_extents > 1)
		bytes += (w->n_extents - 1) * TB_IO_PIECE_BYTES;
	struct tb_io_message request =
		io_send(w, client, server_rank(w, server), bytes, w->fence[client], NONE);
	return io_calc(w, server_rank(w, server), TB_IO_CPU_SERVICE,
		w->options->service_ns, request.received);
}

// write_answer returns the client's operation that receives it.
static uint32_t write_answer(
	struct tb_io_writer *w, uint32_t client, uint32_t server, uint32_t on)
{
	return control(w, server_rank(w, server), client, on, NONE).received;
}

// write_share adds all messages between a client and a server for the server's share of a
// request, and lists the operations for which the client waits in `answers`.
static void write_share(
	struct tb_io_writer *w, uint32_t client, uint32_t server, uint32_t load)
{
	bool writes = w->options->benchmark->writes;
	uint32_t rank = server_rank(w, server), on = question_op(w, client, server);
	uint32_t answered = write_answer(w, client, server, on);
	const struct io_transfer transfer = {.from = writes ? client : rank,
		.to = writes ? rank : client,
		.server = server,
		.client_load = load,
		.server_load = w->n_open[server],
		.on = writes ? answered : on};
	io_list(w, &w->answers, answered);
	uint32_t received = io_transfer(w, &transfer).received;
	if (writes)
		received = write_answer(w, client, server,
			io_stored(w, rank, w->shares[server].bytes, received));
	io_list(w, &w->answers, received);
}

static void write_requests(struct tb_io_writer *w, uint64_t number)
{
	const struct tb_io_options *options = w->options;
	bool writes = options->benchmark->writes;
	if (options->buffer_bytes && writes)
		io_exchange(w, number);
	for (uint32_t client = 0; client < options->n_clients; client++) {
		// Add a client's request `number`, if it has one. Clients begin with
		// different servers, so that they do not all wait for the first.
		uint32_t n = w->options->n_servers;
		if (!lay_out_request(w, client, number))
			continue;
		uint32_t load = 0;
		for (uint32_t server = 0; server < w->options->n_servers; server++)
			load += w->shares[server].n > 0;
		for (uint32_t i = 0; i < n; i++)
			if (w->shares[(client + i) % n].n)
				write_share(w, client, (client + i) % n, load);
		w->fence[client] = io_join(w, client, &w->answers);
	}
	if (options->buffer_bytes && !writes)
		io_exchange(w, number);
}

// The requests of a creation, and which of them goes to all servers.
enum { CREATE_STEPS = 5, CREATE_DATA = 2 };

// ask has client 0 ask the first `n` servers for something, and wait for all of them.
static void ask(struct tb_io_writer *w, uint32_t n)
{
	w->n_extents = 1;
	for (uint32_t server = 0; server < n; server++)
		io_list(w, &w->answers,
			write_answer(w, 0, server, question_op(w, 0, server)));
	w->fence[0] = io_join(w, 0, &w->answers);
}

static void call(struct tb_io_writer *w)
{
	const struct tb_io_options *options = w->options;
	for (uint32_t client = 0; client < options->n_clients; client++)
		w->fence[client] = io_calc(w, client, TB_IO_CPU_SERVICE,
			options->compute_ns, w->fence[client]);
	if (!options->benchmark->extent) {
		tell(w);
		for (int i = 0; i < CREATE_STEPS && options->benchmark->creates; i++)
			ask(w, i == CREATE_DATA ? options->n_servers : 1);
		if (!options->benchmark->creates)
			ask(w, options->n_servers);
		tell(w);
		return;
	}
	write_barrier(w);
	for (uint64_t number = 0; w->status == TB_OK && count_open(w, number); number++)
		write_requests(w, number);
	write_barrier(w);
}

// side_of returns the side of the smallest square of at least `n`.
static uint32_t side_of(uint32_t n)
{
	uint32_t side = 1;
	while (side * side < n)
		side++;
	return side;
}

static int check_io_options(const struct tb_io_options *o, struct tb_error *error)
{
	if (o->n_clients < 1 || o->n_servers < 1 || o->n_clients > TB_RANKS_MAX / 2 ||
		o->n_servers > TB_RANKS_MAX / 2)
		return tb_fail(error, TB_EUSAGE,
			"parallel I/O needs 1 to %" PRIu32
			" clients and as many servers, not %" PRIu32 " and %" PRIu32,
			TB_RANKS_MAX / 2, o->n_clients, o->n_servers);
	uint32_t side = o->benchmark->square ? side_of(o->n_clients) : 0;
	if (o->benchmark->square && (side * side != o->n_clients || side > 64))
		return tb_fail(error, TB_EUSAGE,
			"%s cuts the cells into squares: the number of clients must be a "
			"square up to 4096, not %" PRIu32,
			o->benchmark->name, o->n_clients);
	if (o->strip_bytes < 1 || o->list_pieces < 1 || o->n_repeats < 1)
		return tb_fail(error, TB_EUSAGE,
			"a strip needs at least 1 byte, a list 1 piece, and the job 1 "
			"call");
	if (o->benchmark->blocks &&
		(o->block_bytes < 1 ||
			o->block_bytes > (UINT64_C(1) << 62) / o->n_clients))
		return tb_fail(error, TB_EUSAGE,
			"a block of %" PRIu64 " bytes for each of %" PRIu32
			" clients: expected 1 byte to 2^62 bytes for all",
			o->block_bytes, o->n_clients);
	return TB_OK;
}

static bool writer_init(struct tb_io_writer *w)
{
	uint32_t n_clients = w->options->n_clients, n_servers = w->options->n_servers;
	size_t n_slots = (size_t)n_servers * w->options->n_outstanding;
	uint32_t most = n_clients > n_servers ? n_clients : n_servers;
	w->fence = malloc(n_clients * sizeof *w->fence);
	w->shares = calloc(n_servers, sizeof *w->shares);
	w->n_open = calloc(most, sizeof *w->n_open);
	w->slots = malloc((n_slots + 1) * sizeof *w->slots);
	w->next_slot = calloc(n_servers, sizeof *w->next_slot);
	w->towards = calloc(n_clients, sizeof *w->towards);
	w->exchanged = calloc(n_clients, sizeof *w->exchanged);
	if (!w->fence || !w->shares || !w->n_open || !w->slots || !w->next_slot ||
		!w->towards || !w->exchanged)
		return false;
	for (uint32_t i = 0; i < n_clients; i++)
		w->fence[i] = NONE;
	for (size_t i = 0; i < n_slots; i++)
		w->slots[i] = NONE;
	return true;
}

int tb_io_job(
	struct tb_job **job, const struct tb_io_options *options, struct tb_error *error)
{
	struct tb_io_writer w = {.options = options, .error = error};
	int status = check_io_options(options, error);
	TB_THEN(status, tb_job_builder_new(&w.builder,
				options->n_clients + options->n_servers, error));
	if (status == TB_OK && !writer_init(&w))
		status = tb_fail_memory(error, "a job");
	if (status == TB_OK && options->buffer_bytes) {
		// Divide the file among the clients, once per job.
		uint64_t strip = options->strip_bytes;
		struct tb_io_extent extent;
		w.low = UINT64_MAX;
		w.high = 0;
		for (uint32_t client = 0; client < options->n_clients; client++)
			for (uint64_t i = 0;
				options->benchmark->extent(options, client, i, &extent);
				i++) {
				uint64_t end = extent.offset + extent.bytes;
				w.low = tb_min_u64(w.low, extent.offset);
				w.high = end > w.high ? end : w.high;
			}
		uint64_t each =
			(w.high - w.low + options->n_clients - 1) / options->n_clients;
		w.domain_bytes = (each + strip - 1) / strip * strip;
	}
	if (status == TB_OK) {
		for (uint32_t i = 0; i < options->n_repeats && w.status == TB_OK; i++)
			call(&w);
		status = w.status;
	}
	TB_THEN(status, tb_job_finish(w.builder, "", job, error));
	for (uint32_t i = 0; w.shares && i < w.options->n_servers; i++)
		free(w.shares[i].pieces);
	for (uint32_t i = 0; w.exchanged && i < w.options->n_clients; i++)
		free(w.exchanged[i].ops);
	free(w.towards);
	free(w.exchanged);
	free(w.fence);
	free(w.shares);
	free(w.n_open);
	free(w.slots);
	free(w.next_slot);
	free(w.sends.ops);
	free(w.receives.ops);
	free(w.answers.ops);
	tb_job_builder_free(w.builder);
	return status;
}

// What the benchmarks of paper 004, section 7, read and write.

// A tile of MPI-Tile-IO: 1024 x 768 elements of 32 bytes; four tiles are the 96 MB of
// 7.4.
#define TILE_ROW_BYTES UINT64_C(32768)
#define TILE_ROWS      UINT64_C(768)

// BT's class A: 64^3 cells of five doubles (NAS Parallel Benchmarks 2.4).
#define BT_GRID	      64
#define BT_CELL_BYTES 40

// Paper 004, 7.2: one block per client.
static bool block_extent(const struct tb_io_options *options, uint32_t client, uint64_t i,
	struct tb_io_extent *extent)
{
	*extent = (struct tb_io_extent){
		client * options->block_bytes, options->block_bytes};
	return i == 0;
}

// Paper 004, 7.4: one tile per client, one extent per row of the tile.
static bool tile_extent(const struct tb_io_options *options, uint32_t client, uint64_t i,
	struct tb_io_extent *extent)
{
	// Lay the tiles out as close to a square as possible.
	uint32_t n_tiles = options->n_clients;
	uint32_t down = 1;
	for (uint32_t n = 1; n * n <= n_tiles; n++)
		if (n_tiles % n == 0)
			down = n;
	uint32_t across = n_tiles / down;
	uint64_t row = client / across * TILE_ROWS + i;
	*extent = (struct tb_io_extent){
		(row * across + client % across) * TILE_ROW_BYTES, TILE_ROW_BYTES};
	return i < TILE_ROWS;
}

// bt_start returns the cell at which the n-th of `side` parts of the grid begins.
static uint32_t bt_start(uint32_t n, uint32_t side)
{
	uint32_t each = BT_GRID / side, larger = BT_GRID % side;
	return n * each + (n < larger ? n : larger);
}

// Paper 004, 7.5: a client has a cube in each layer of cubes, on a diagonal (BT's
// multi-partition). In the file x varies fastest, so a row of its cells in x is
// contiguous. Going layer by layer, rows ascend in the file.
static bool bt_extent(const struct tb_io_options *options, uint32_t client, uint64_t i,
	struct tb_io_extent *extent)
{
	uint32_t side = side_of(options->n_clients); // the grid's, in cubes
	for (uint32_t c = 0; c < side; c++) {
		uint32_t x = (client % side + c) % side;
		uint32_t y = (client / side + side - c) % side;
		uint64_t rows = bt_start(y + 1, side) - bt_start(y, side);
		uint64_t planes = bt_start(c + 1, side) - bt_start(c, side);
		if (i >= rows * planes) {
			i -= rows * planes;
			continue;
		}
		uint64_t plane = bt_start(c, side) + i / rows;
		uint64_t row = bt_start(y, side) + i % rows;
		uint64_t cell = (plane * BT_GRID + row) * BT_GRID + bt_start(x, side);
		uint64_t n = bt_start(x + 1, side) - bt_start(x, side);
		*extent = (struct tb_io_extent){cell * BT_CELL_BYTES, n * BT_CELL_BYTES};
		return true;
	}
	return false;
}

const struct tb_io_benchmark tb_io_benchmarks[] = {
	{"write", "each client writes a block of its own", .writes = true, .blocks = true,
		.n_repeats = 1, .extent = block_extent},
	{"read", "each client reads its block", .blocks = true, .n_repeats = 1,
		.extent = block_extent},
	{"tile-write", "MPI-Tile-IO: each client writes a tile of 1024 x 768 x 32 B",
		.writes = true, .n_repeats = 1, .extent = tile_extent},
	{"tile-read", "each client reads its tile", .n_repeats = 1,
		.extent = tile_extent},
	{"bt", "BT-IO class A: the clients write 64^3 cells of 40 B, 40 times",
		.writes = true, .square = true, .n_repeats = 40, .extent = bt_extent},
	{"resize", "client 0 has the servers resize the file", .n_repeats = 1},
	{"create", "client 0 has the servers create a file", .creates = true,
		.n_repeats = 1},
	{0},
};

int tb_io_benchmark_find(const struct tb_io_benchmark **benchmark, const char *name,
	struct tb_error *error)
{
	size_t n = 0;
	for (const struct tb_io_benchmark *b = tb_io_benchmarks; b->name; b++, n++) {
		if (strcmp(b->name, name) == 0) {
			*benchmark = b;
			return TB_OK;
		}
	}
	struct tb_hint hint;
	return tb_fail(error, TB_EUSAGE, "no I/O benchmark is called '%s'%s", name,
		tb_hint_choice(&hint, name, &tb_io_benchmarks->name, n,
			sizeof *tb_io_benchmarks));
}
