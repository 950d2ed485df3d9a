// The messages of parallel I/O: sockets, eager messages and rendezvous.
#include "io_impl.h"

#include <stdlib.h>

#define NONE TB_ID_NONE

enum { CPU_COMMUNICATION };

static uint32_t add(struct tb_io_writer *w, uint32_t rank, const struct tb_op *op)
{
	uint32_t index = NONE;
	if (w->status == TB_OK)
		w->status = tb_job_add(w->builder, rank, op, &index, w->error);
	return index;
}

static void wait_for(
	struct tb_io_writer *w, uint32_t rank, uint32_t op, uint32_t on, bool on_start)
{
	if (w->status == TB_OK && on != NONE)
		w->status = tb_job_depend(w->builder, rank, op, on, on_start, w->error);
}

uint32_t tb_io_calc(
	struct tb_io_writer *w, uint32_t rank, uint8_t cpu, uint64_t ns, uint32_t on)
{
	if (ns == 0)
		return on;
	uint32_t op = add(
		w, rank, &(struct tb_op){.kind = TB_OP_CALC, .amount = ns, .cpu = cpu});
	wait_for(w, rank, op, on, false);
	return op;
}

void tb_io_list(struct tb_io_writer *w, struct tb_io_ops *list, uint32_t op)
{
	if (w->status == TB_OK && list->n == list->room) {
		size_t room = list->room ? list->room * 2 : 64;
		void *moved = realloc(list->ops, room * sizeof *list->ops);
		if (!moved) {
			w->status = tb_fail(w->error, TB_ENOMEM, "no memory for a job");
			return;
		}
		list->ops = moved;
		list->room = room;
	}
	if (w->status == TB_OK)
		list->ops[list->n++] = op;
}

uint32_t tb_io_join(struct tb_io_writer *w, uint32_t rank, struct tb_io_ops *list)
{
	uint32_t op = list->n ? list->ops[0] : NONE;
	if (list->n > 1)
		op = add(w, rank, &(struct tb_op){.kind = TB_OP_CALC});
	for (size_t i = 0; i < list->n && list->n > 1; i++)
		wait_for(w, rank, op, list->ops[i], false);
	list->n = 0;
	return op;
}

static struct tb_io_message send_one(struct tb_io_writer *w, uint32_t from, uint32_t to,
	uint64_t bytes, uint32_t on, uint32_t also)
{
	struct tb_op op = {
		.kind = TB_OP_SEND, .amount = bytes, .peer = to, .tag = w->next_tag++};
	struct tb_io_message message = {.sent = add(w, from, &op)};
	wait_for(w, from, message.sent, on, false);
	wait_for(w, from, message.sent, also, false);
	op.kind = TB_OP_RECV;
	op.peer = from;
	message.received = add(w, to, &op);
	return message;
}

static uint64_t tcp_ns(uint64_t bytes)
{
	return TB_IO_TCP_SIDE_NS + bytes * UINT64_C(1000000000) / TB_IO_TCP_BYTES_PER_S;
}

// send_tcp costs either side's processor for each segment. A segment is worked on when
// the one before has been handed to the network, so that they follow each other.
static struct tb_io_message send_tcp(struct tb_io_writer *w, uint32_t from, uint32_t to,
	uint64_t bytes, uint32_t on, uint32_t also)
{
	struct tb_io_ops parts = {0};
	struct tb_io_message part = {NONE, NONE};
	do {
		uint64_t some =
			bytes < TB_IO_TCP_SEGMENT_BYTES ? bytes : TB_IO_TCP_SEGMENT_BYTES;
		uint32_t work = tb_io_calc(w, from, CPU_COMMUNICATION, tcp_ns(some), on);
		wait_for(w, from, work, also, false);
		wait_for(w, from, work, part.sent, true);
		part = send_one(w, from, to, some, work, NONE);
		tb_io_list(w, &parts,
			tb_io_calc(
				w, to, CPU_COMMUNICATION, tcp_ns(some), part.received));
		bytes -= some;
	} while (bytes > 0 && w->status == TB_OK);
	part.received = tb_io_join(w, to, &parts);
	free(parts.ops);
	return part;
}

struct tb_io_message tb_io_send(struct tb_io_writer *w, uint32_t from, uint32_t to,
	uint64_t bytes, uint32_t on, uint32_t also)
{
	return w->options->transport == TB_IO_TCP
		       ? send_tcp(w, from, to, bytes, on, also)
		       : send_one(w, from, to, bytes, on, also);
}

static struct tb_io_message control(
	struct tb_io_writer *w, uint32_t from, uint32_t to, uint32_t on, uint32_t also)
{
	return tb_io_send(w, from, to, TB_IO_CONTROL_BYTES, on, also);
}

// gate is what `rank` waits for before it lets a transfer begin: where it is the server,
// until one of its slots is free.
static uint32_t gate(
	const struct tb_io_writer *w, const struct tb_io_transfer *t, uint32_t rank)
{
	uint32_t n = w->options->n_outstanding;
	if (n == 0 || rank != w->options->n_clients + t->server)
		return NONE;
	return w->slots[(size_t)t->server * n + w->next_slot[t->server] % n];
}

// move_piece sends a piece and lists what its two sides wait for.
static void move_piece(struct tb_io_writer *w, const struct tb_io_transfer *t,
	uint64_t bytes, uint32_t on)
{
	struct tb_io_message data = tb_io_send(w, t->from, t->to, bytes, on, NONE);
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

// receiver_reads is the choice of paper 004, figure 6.
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

struct tb_io_message tb_io_transfer(
	struct tb_io_writer *w, const struct tb_io_transfer *t)
{
	const struct tb_io_options *options = w->options;
	uint64_t bytes = w->shares[t->server].bytes;
	if (options->transport == TB_IO_TCP || bytes <= options->eager_bytes)
		return tb_io_send(w, t->from, t->to, bytes, t->on, NONE);
	struct tb_io_message whole =
		receiver_reads(options, t) ? by_read(w, t) : by_write(w, t);
	if (options->n_outstanding) {
		uint32_t slot = w->next_slot[t->server]++ % options->n_outstanding;
		w->slots[(size_t)t->server * options->n_outstanding + slot] =
			t->to >= options->n_clients ? whole.received : whole.sent;
	}
	return whole;
}
