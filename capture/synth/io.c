// Makes a job of a parallel I/O benchmark: what each client requests of each server, call
// after call.
#include "io_impl.h"

#include "array.h"

#include <inttypes.h>
#include <stdlib.h>

#define NONE TB_ID_NONE

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
				tb_io_send(w, client, to, 0, w->fence[client], NONE);
			came[to] = token.received;
			w->fence[client] = token.sent;
		}
		for (uint32_t client = 0; client < n; client++) {
			tb_io_list(w, &w->answers, w->fence[client]);
			tb_io_list(w, &w->answers, came[client]);
			w->fence[client] = tb_io_join(w, client, &w->answers);
		}
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
	for (; w->status == TB_OK && tb_io_piece(w, client, number, i, &extent); i++) {
		while (extent.bytes > 0 && w->status == TB_OK) {
			uint64_t strip = extent.offset / options->strip_bytes;
			uint64_t left =
				(strip + 1) * options->strip_bytes - extent.offset;
			uint64_t bytes = extent.bytes < left ? extent.bytes : left;
			uint32_t server = (uint32_t)(strip % options->n_servers);
			struct tb_io_share *share = &w->shares[server];
			if (w->status == TB_OK &&
				TB_ARRAY_RESERVE(&share->pieces, &share->room,
					share->n + 1) != TB_OK)
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

static uint32_t n_shares(const struct tb_io_writer *w)
{
	uint32_t n = 0;
	for (uint32_t server = 0; server < w->options->n_servers; server++)
		n += w->shares[server].n > 0;
	return n;
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
	struct tb_io_message request = tb_io_send(
		w, client, server_rank(w, server), bytes, w->fence[client], NONE);
	return tb_io_calc(w, server_rank(w, server), TB_IO_CPU_SERVICE,
		w->options->service_ns, request.received);
}

static struct tb_io_message write_answer(
	struct tb_io_writer *w, uint32_t client, uint32_t server, uint32_t on)
{
	return tb_io_send(
		w, server_rank(w, server), client, TB_IO_CONTROL_BYTES, on, NONE);
}

static void write_requests(struct tb_io_writer *w, uint64_t number)
{
	const struct tb_io_options *options = w->options;
	bool writes = options->benchmark->writes;
	if (options->buffer_bytes && writes)
		tb_io_exchange(w, number);
	for (uint32_t client = 0; client < options->n_clients; client++) {
		// Add a client's request `number`, if it has one. Clients begin with
		// different servers, so that they do not all wait for the first.
		uint32_t n = w->options->n_servers;
		if (!lay_out_request(w, client, number))
			continue;
		uint32_t load = n_shares(w);
		for (uint32_t i = 0; i < n; i++) {
			uint32_t server = (client + i) % n;
			if (w->shares[server].n) {
				// Add all messages between a client and a server for the
				// server's share of a request. It lists the operations
				// for which the client waits in `answers`.
				const struct tb_io_share *share = &w->shares[server];
				uint32_t rank = server_rank(w, server);
				uint32_t on = question_op(w, client, server);
				struct tb_io_transfer transfer = {.server = server,
					.client_load = load,
					.server_load = w->n_open[server]};
				struct tb_io_message answered =
					write_answer(w, client, server, on);
				tb_io_list(w, &w->answers, answered.received);
				if (w->options->benchmark->writes) {
					transfer.from = client;
					transfer.to = rank;
					transfer.on = answered.received;
					struct tb_io_message data =
						tb_io_transfer(w, &transfer);
					on = tb_io_stored(
						w, rank, share->bytes, data.received);
					tb_io_list(w, &w->answers,
						write_answer(w, client, server, on)
							.received);
				} else {
					transfer.from = rank;
					transfer.to = client;
					transfer.on = on;
					tb_io_list(w, &w->answers,
						tb_io_transfer(w, &transfer).received);
				}
			}
		}
		w->fence[client] = tb_io_join(w, client, &w->answers);
	}
	if (options->buffer_bytes && !writes)
		tb_io_exchange(w, number);
}

static void call(struct tb_io_writer *w)
{
	const struct tb_io_options *options = w->options;
	for (uint32_t client = 0; client < options->n_clients; client++)
		w->fence[client] = tb_io_calc(w, client, TB_IO_CPU_SERVICE,
			options->compute_ns, w->fence[client]);
	write_barrier(w);
	if (options->benchmark->resizes) {
		for (uint32_t server = 0; server < w->options->n_servers; server++)
			tb_io_list(w, &w->answers,
				write_answer(w, 0, server, question_op(w, 0, server))
					.received);
		w->fence[0] = tb_io_join(w, 0, &w->answers);
	}
	for (uint64_t number = 0; !options->benchmark->resizes && w->status == TB_OK &&
				  count_open(w, number);
		number++)
		write_requests(w, number);
	write_barrier(w);
}

static bool is_square(uint32_t n)
{
	uint32_t side = 1;
	while (side * side < n)
		side++;
	return side * side == n;
}

static int check_io_options(const struct tb_io_options *o, struct tb_error *error)
{
	if (o->n_clients < 1 || o->n_servers < 1 || o->n_clients > TB_RANKS_MAX / 2 ||
		o->n_servers > TB_RANKS_MAX / 2)
		return tb_fail(error, TB_EUSAGE,
			"parallel I/O needs 1 to %" PRIu32
			" clients and as many servers, not %" PRIu32 " and %" PRIu32,
			TB_RANKS_MAX / 2, o->n_clients, o->n_servers);
	if (o->benchmark->square && (!is_square(o->n_clients) || o->n_clients > 64 * 64))
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
	if (status == TB_OK)
		status = tb_job_builder_new(
			&w.builder, options->n_clients + options->n_servers, error);
	if (status == TB_OK && !writer_init(&w))
		status = tb_fail_memory(error, "a job");
	if (status == TB_OK && options->buffer_bytes)
		tb_io_domains(&w);
	if (status == TB_OK) {
		for (uint32_t i = 0; i < options->n_repeats && w.status == TB_OK; i++)
			call(&w);
		status = w.status;
	}
	if (status == TB_OK)
		status = tb_job_finish(w.builder, "", job, error);
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
