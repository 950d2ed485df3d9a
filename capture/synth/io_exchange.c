// The messages of parallel I/O: sockets, eager messages and rendezvous.
#include "io_impl.h"

#include "array.h"

#include <stdlib.h>

#define NONE TB_ID_NONE

static uint32_t io_add_op(struct tb_io_writer *w, uint32_t rank, const struct tb_op *op)
{
	uint32_t index = NONE;
	if (w->status == TB_OK)
		w->status = tb_job_add(w->builder, rank, op, &index, w->error);
	return index;
}

static void io_wait_for(struct tb_io_writer *w, uint32_t rank, uint32_t op, uint32_t on)
{
	if (w->status == TB_OK && on != NONE)
		w->status = tb_job_depend(w->builder, rank, op, on, false, w->error);
}

uint64_t tb_io_ns(uint64_t bytes, uint64_t bytes_per_s)
{
	// In doubles, since bytes * 1e9 may exceed 64 bits. All IEEE machines agree.
	return bytes_per_s ? (uint64_t)((double)bytes * 1e9 / (double)bytes_per_s + 0.5)
			   : 0;
}

uint32_t tb_io_calc(
	struct tb_io_writer *w, uint32_t rank, uint8_t cpu, uint64_t ns, uint32_t on)
{
	if (ns == 0)
		return on;
	uint32_t op = io_add_op(
		w, rank, &(struct tb_op){.kind = TB_OP_CALC, .amount = ns, .cpu = cpu});
	io_wait_for(w, rank, op, on);
	return op;
}

void tb_io_list(struct tb_io_writer *w, struct tb_io_ops *list, uint32_t op)
{
	if (w->status == TB_OK &&
		TB_ARRAY_RESERVE(&list->ops, &list->room, list->n + 1) != TB_OK)
		w->status = tb_fail_memory(w->error, "a job");
	if (w->status == TB_OK)
		list->ops[list->n++] = op;
}

uint32_t tb_io_join(struct tb_io_writer *w, uint32_t rank, struct tb_io_ops *list)
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

struct tb_io_message tb_io_send(struct tb_io_writer *w, uint32_t from, uint32_t to,
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
	return tb_io_send(w, from, to, TB_IO_CONTROL_BYTES, on, also);
}

uint32_t tb_io_stored(struct tb_io_writer *w, uint32_t rank, uint64_t bytes, uint32_t on)
{
	return tb_io_calc(w, rank, TB_IO_CPU_STORAGE,
		tb_io_ns(bytes, w->options->storage_bytes_per_s), on);
}

// at_hand returns the operation after which the sender has `bytes` of a transfer: it may
// be a server, which has them in its storage.
static uint32_t at_hand(
	struct tb_io_writer *w, const struct tb_io_transfer *t, uint64_t bytes)
{
	bool from_storage = t->from >= w->options->n_clients;
	return from_storage ? tb_io_stored(w, t->from, bytes, t->on) : t->on;
}

// gate returns the operation for which `rank` must wait before it lets a transfer begin:
// if it is the server, the end of the transfer that used the slot before.
static uint32_t gate(
	const struct tb_io_writer *w, const struct tb_io_transfer *t, uint32_t rank)
{
	uint32_t n = w->options->n_outstanding;
	if (n == 0 || rank != w->options->n_clients + t->server)
		return NONE;
	return w->slots[(size_t)t->server * n + w->next_slot[t->server] % n];
}

// move_piece adds the message of a piece, which leaves when the sender has it and may
// send it, and lists its operations in `sends` and `receives`.
static void move_piece(struct tb_io_writer *w, const struct tb_io_transfer *t,
	uint64_t bytes, uint32_t on)
{
	uint32_t has = at_hand(w, t, bytes);
	struct tb_io_message data =
		tb_io_send(w, t->from, t->to, bytes, on, has == t->on ? NONE : has);
	tb_io_list(w, &w->sends, data.sent);
	tb_io_list(w, &w->receives, data.received);
}

static struct tb_io_message by_write(
	struct tb_io_writer *w, const struct tb_io_transfer *t)
{
	const struct tb_io_share *share = &w->shares[t->server];
	struct tb_io_message rts = control(w, t->from, t->to, t->on, gate(w, t, t->from));
	struct tb_io_message ack =
		control(w, t->to, t->from, rts.received, gate(w, t, t->to));
	for (size_t i = 0; i < share->n; i++)
		move_piece(w, t, share->pieces[i], ack.received);
	uint32_t sent = tb_io_join(w, t->from, &w->sends);
	if (!w->options->events) {
		struct tb_io_message fin = control(w, t->from, t->to, sent, NONE);
		tb_io_list(w, &w->receives, fin.received);
		sent = fin.sent;
	}
	return (struct tb_io_message){sent, tb_io_join(w, t->to, &w->receives)};
}

static struct tb_io_message by_read(
	struct tb_io_writer *w, const struct tb_io_transfer *t)
{
	const struct tb_io_share *share = &w->shares[t->server];
	struct tb_io_message rts = control(w, t->from, t->to, t->on, gate(w, t, t->from));
	for (size_t i = 0; i < share->n; i++) {
		struct tb_io_message pull =
			control(w, t->to, t->from, rts.received, gate(w, t, t->to));
		move_piece(w, t, share->pieces[i], pull.received);
	}
	uint32_t sent = tb_io_join(w, t->from, &w->sends);
	uint32_t received = tb_io_join(w, t->to, &w->receives);
	if (!w->options->events)
		sent = control(w, t->to, t->from, received, NONE).received;
	return (struct tb_io_message){sent, received};
}

// receiver_reads makes the choice of paper 004, figure 6.
static bool receiver_reads(
	const struct tb_io_options *options, const struct tb_io_transfer *t)
{
	bool server_receives = t->to >= options->n_clients;
	if (options->rendezvous != TB_IO_ADAPTIVE)
		return options->rendezvous == TB_IO_RDMA_READ;
	if (t->server_load >= options->n_heavy)
		return !server_receives;
	return server_receives ? t->server_load < t->client_load
			       : t->client_load < t->server_load;
}

// by_socket sends one message. If the data are several pieces, both sides spend time to
// pack and unpack them.
static struct tb_io_message by_socket(
	struct tb_io_writer *w, const struct tb_io_transfer *t)
{
	uint64_t bytes = w->shares[t->server].bytes;
	uint64_t ns =
		w->n_extents > 1 ? tb_io_ns(bytes, w->options->pack_bytes_per_s) : 0;
	uint32_t on = tb_io_calc(w, t->from, TB_IO_CPU_SERVICE, ns, at_hand(w, t, bytes));
	struct tb_io_message data = tb_io_send(w, t->from, t->to, bytes, on, NONE);
	data.received = tb_io_calc(w, t->to, TB_IO_CPU_SERVICE, ns, data.received);
	return data;
}

struct tb_io_message tb_io_transfer(
	struct tb_io_writer *w, const struct tb_io_transfer *t)
{
	const struct tb_io_options *options = w->options;
	uint64_t bytes = w->shares[t->server].bytes;
	if (options->transport == TB_IO_TCP)
		return by_socket(w, t);
	if (bytes <= options->eager_bytes)
		return tb_io_send(w, t->from, t->to, bytes, at_hand(w, t, bytes), NONE);
	struct tb_io_message whole =
		receiver_reads(options, t) ? by_read(w, t) : by_write(w, t);
	if (options->n_outstanding) {
		uint32_t slot = w->next_slot[t->server]++ % options->n_outstanding;
		w->slots[(size_t)t->server * options->n_outstanding + slot] =
			t->to >= options->n_clients ? whole.received : whole.sent;
	}
	return whole;
}
