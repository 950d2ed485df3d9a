// Parallel I/O: which extents the benchmarks read and write, and the messages of each
// protocol.
#include "io.h"

#include "random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct tb_io_options options_of(const char *benchmark)
{
	struct tb_io_options options = TB_IO_DEFAULTS;
	assert_int_equal(
		tb_io_benchmark_find(&options.benchmark, benchmark, NULL), TB_OK);
	options.n_repeats = 1;
	return options;
}

static struct tb_job *make(const struct tb_io_options *options)
{
	struct tb_job *job = NULL;
	struct tb_error error;
	if (tb_io_job(&job, options, &error) != TB_OK)
		fail_msg("%s", error.text);
	return job;
}

static int by_offset(const void *left, const void *right)
{
	const struct tb_io_extent *a = left, *b = right;
	return (a->offset > b->offset) - (a->offset < b->offset);
}

// assert_tiled: the clients' extents cover each byte of the file exactly once.
static void assert_tiled(const char *benchmark, uint32_t n_clients, uint64_t file_bytes)
{
	struct tb_io_options options = options_of(benchmark);
	options.n_clients = n_clients;
	struct tb_io_extent *extents = malloc(65536 * sizeof *extents);
	size_t n = 0;
	for (uint32_t client = 0; client < n_clients; client++) {
		uint64_t end = 0;
		for (uint64_t i = 0; n < 65536 && options.benchmark->extent(&options,
							  client, i, &extents[n]);
			i++) {
			assert_true(extents[n].offset >= end);
			end = extents[n].offset + extents[n].bytes;
			n++;
		}
	}
	qsort(extents, n, sizeof *extents, by_offset);
	uint64_t at = 0;
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(extents[i].offset, at);
		at += extents[i].bytes;
	}
	assert_int_equal(at, file_bytes);
	free(extents);
}

static void clients_share_the_file_without_gaps(void **state)
{
	(void)state;
	assert_tiled("write", 3, 3 * (4 << 20));
	assert_tiled("read", 1, 4 << 20);
	assert_tiled("tile-read", 4, 96 << 20); // paper 004, 7.4
	assert_tiled("tile-write", 6, 144 << 20);
	assert_tiled("tile-write", 7, 168 << 20);
	for (uint32_t side = 1; side <= 8; side++)
		assert_tiled("bt", side * side, 64 * 64 * 64 * 40);
}

// NPB 2.4, make_set: from a client's cell to its next, x grows, y falls and z grows by
// one.
static void cells_of_bt_lie_on_a_diagonal(void **state)
{
	(void)state;
	struct tb_io_options options = options_of("bt");
	options.n_clients = 16;
	const uint64_t row_bytes = 64 * 40;
	for (uint32_t client = 0; client < 16; client++)
		for (uint32_t z = 0; z < 4; z++) {
			uint32_t x = (client + z) % 4, y = (client / 4 + 4 - z) % 4;
			struct tb_io_extent extent;
			assert_true(options.benchmark->extent(
				&options, client, z * 16 * 16, &extent));
			assert_int_equal(extent.bytes, row_bytes / 4);
			assert_int_equal(extent.offset,
				(z * 16 * 64 + y * 16) * row_bytes + x * row_bytes / 4);
		}
}

// assert_messages compares a job's messages, in the order of tags: sender, receiver,
// bytes.
static void assert_messages(
	const struct tb_io_options *options, const char *expected, const char *why)
{
	struct tb_job *job = make(options);
	char got[512] = "";
	for (uint32_t tag = 0, n = job->n_ops; tag < n; tag++)
		for (uint32_t op = 0; op < n; op++) {
			const struct tb_op *o = &job->ops[op];
			if (o->kind != TB_OP_SEND || o->tag != tag)
				continue;
			size_t used = strlen(got);
			snprintf(got + used, sizeof got - used, "%s%c%d", used ? " " : "",
				"cs"[tb_job_rank_of(job, op)], (int)o -> amount);
		}
	if (strcmp(got, expected) != 0)
		fail_msg("%s: %s, not %s", why, got, expected);
	tb_job_free(job);
}

static struct tb_io_options one_and_one(const char *benchmark, uint64_t bytes)
{
	struct tb_io_options options = options_of(benchmark);
	options.n_clients = options.n_servers = 1;
	options.block_bytes = bytes;
	options.rendezvous = TB_IO_RDMA_WRITE;
	return options;
}

static void exchanges_are_those_of_the_paper(void **state)
{
	(void)state;
	struct tb_io_options o = one_and_one("write", 2048);
	assert_messages(&o, "c128 s64 c2048 s64", "eager");
	o.block_bytes = 100000;
	assert_messages(&o, "c128 s64 c64 s64 c65536 c34464 s64", "RTS, ack, two strips");
	o.events = false;
	assert_messages(&o, "c128 s64 c64 s64 c65536 c34464 c64 s64", "and FIN");
	o.rendezvous = TB_IO_RDMA_READ;
	assert_messages(
		&o, "c128 s64 c64 s64 c65536 s64 c34464 s64 s64", "pulls and FIN_ACK");
	o = one_and_one("read", 4096);
	assert_messages(&o, "c128 s64 s64 c64 s4096", "the server writes");
	o.rendezvous = TB_IO_RDMA_READ;
	o.events = false;
	assert_messages(&o, "c128 s64 s64 c64 s4096 c64", "the client reads");
	o = one_and_one("resize", 0);
	assert_messages(&o, "c128 s64", "resize");
	o = one_and_one("create", 0);
	assert_messages(&o, "c128 s64 c128 s64 c128 s64 c128 s64 c128 s64", "create");
}

static void the_client_does_the_rdma_when_the_server_is_loaded(void **state)
{
	(void)state;
	struct tb_io_options o = one_and_one("read", 4096);
	o.rendezvous = TB_IO_ADAPTIVE;
	assert_messages(&o, "c128 s64 s64 c64 s4096", "equal loads: the sender writes");
	o.events = false;
	o.n_heavy = 1;
	assert_messages(&o, "c128 s64 s64 c64 s4096 c64", "the client reads");
	o.benchmark = options_of("write").benchmark;
	assert_messages(&o, "c128 s64 c64 s64 c4096 c64 s64", "the client writes");
}

static void a_list_is_one_request_up_to_its_limit(void **state)
{
	(void)state;
	struct tb_io_options o = one_and_one("tile-read", 0);
	for (o.list_pieces = 1; o.list_pieces <= 768; o.list_pieces *= 3) {
		struct tb_job *job = make(&o);
		uint32_t n_requests = 0;
		for (uint32_t op = 0; op < job->first_op[1]; op++)
			n_requests += job->ops[op].kind == TB_OP_SEND &&
				      job->ops[op].amount != TB_IO_CONTROL_BYTES;
		assert_int_equal(n_requests, (768 + o.list_pieces - 1) / o.list_pieces);
		tb_job_free(job);
	}
}

// waits returns whether `later` waits for `op` of the same rank.
static bool waits(const struct tb_job *job, uint32_t op, uint32_t later)
{
	if (op >= later)
		return op == later;
	for (uint32_t i = job->first_successor[op]; i < job->first_successor[op + 1]; i++)
		if (waits(job, job->successors[i], later))
			return true;
	return false;
}

// A server sends a pull only when the transfer that used the slot before has ended.
static void a_server_has_as_many_transfers_open_as_it_may(void **state)
{
	(void)state;
	struct tb_io_options o = options_of("write");
	o.n_servers = 1;
	o.block_bytes = 8192;
	o.rendezvous = TB_IO_RDMA_READ;
	for (o.n_outstanding = 1; o.n_outstanding <= 3; o.n_outstanding++) {
		struct tb_job *job = make(&o);
		uint32_t data[4], pulls[4], n_data = 0, n_pulls = 0;
		uint32_t first = job->first_op[o.n_clients];
		for (uint32_t op = first; op < job->n_ops; op++) {
			const struct tb_op *what = &job->ops[op];
			if (what->kind == TB_OP_RECV && what->amount == 8192) {
				data[n_data++] = op;
				pulls[n_pulls++] = op - 1;
			}
		}
		assert_int_equal(n_data, 4);
		for (uint32_t i = 0; i < 4; i++) {
			assert_int_equal(job->ops[pulls[i]].kind, TB_OP_SEND);
			for (uint32_t k = 0; k < i; k++)
				assert_int_equal(waits(job, data[k], pulls[i]),
					i - k == o.n_outstanding);
		}
		tb_job_free(job);
	}
}

static uint64_t sent_bytes(const struct tb_job *job, uint32_t from, uint32_t to)
{
	uint64_t bytes = 0;
	for (uint32_t op = job->first_op[from]; op < job->first_op[from + 1]; op++)
		if (job->ops[op].kind == TB_OP_SEND && job->ops[op].peer == to &&
			job->ops[op].amount > 2048)
			bytes += job->ops[op].amount;
	return bytes;
}

// Data come in multiples of 4 KB here, so messages below 2 KB are not data.
static void every_server_gets_its_strips(void **state)
{
	(void)state;
	struct tb_random random;
	tb_random_init(&random, 4, 0);
	for (int round = 0; round < 50; round++) {
		struct tb_io_options o = options_of(round % 2 ? "write" : "tile-write");
		o.n_clients = 1 + (uint32_t)tb_random_below(&random, 6);
		o.n_servers = 1 + (uint32_t)tb_random_below(&random, 6);
		o.strip_bytes = 4096 * (1 + tb_random_below(&random, 20));
		o.block_bytes = 4096 * (1 + tb_random_below(&random, 100));
		o.list_pieces = 1 + (uint32_t)tb_random_below(&random, 99);
		o.n_outstanding = (uint32_t)tb_random_below(&random, 4);
		o.rendezvous = (enum tb_io_rendezvous)tb_random_below(&random, 3);
		o.transport = tb_random_below(&random, 4) ? TB_IO_ELAN : TB_IO_TCP;
		struct tb_job *job = make(&o);
		for (uint32_t client = 0; client < o.n_clients; client++) {
			uint64_t expected[8] = {0};
			struct tb_io_extent extent;
			for (uint64_t i = 0; o.benchmark->extent(&o, client, i, &extent);
				i++)
				for (uint64_t at = 0; at < extent.bytes; at += 4096)
					expected[(extent.offset + at) / o.strip_bytes %
						 o.n_servers] += 4096;
			for (uint32_t server = 0; server < o.n_servers; server++)
				assert_int_equal(
					sent_bytes(job, client, o.n_clients + server),
					expected[server]);
		}
		tb_job_free(job);
	}
}

// With two phases the servers get the same bytes, in contiguous requests, and clients
// exchange what does not belong to their own part of the file.
static void two_phases_move_the_same_file(void **state)
{
	(void)state;
	static const char *const names[] = {"tile-write", "tile-read", "bt", "write"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		for (uint32_t n = 1; n <= 9; n += i == 2 ? 8 : 4) {
			struct tb_io_options o = options_of(names[i]);
			o.n_clients = n;
			o.buffer_bytes = 5 * o.strip_bytes * n;
			o.rendezvous = TB_IO_RDMA_WRITE;
			struct tb_job *job = make(&o);
			uint64_t file = 0, to_servers = 0, exchanged = 0;
			struct tb_io_extent extent;
			for (uint32_t c = 0; c < n; c++)
				for (uint64_t k = 0;
					o.benchmark->extent(&o, c, k, &extent); k++)
					file += extent.bytes;
			for (uint32_t a = 0; a < n; a++) {
				for (uint32_t s = 0; s < o.n_servers; s++)
					to_servers += sent_bytes(job, a, n + s) +
						      sent_bytes(job, n + s, a);
				for (uint32_t b = 0; b < n; b++)
					exchanged += sent_bytes(job, a, b);
			}
			assert_int_equal(to_servers, file);
			assert_true(exchanged < file);
			assert_int_equal(exchanged > 0, n > 1 && i < 3);
			tb_job_free(job);
		}
}

static void assert_refused(const struct tb_io_options *options, const char *what)
{
	struct tb_job *job = NULL;
	struct tb_error error;
	assert_int_equal(tb_io_job(&job, options, &error), TB_EUSAGE);
	assert_null(job);
	if (!strstr(error.text, what))
		fail_msg("'%s' does not tell of '%s'", error.text, what);
}

static void what_makes_no_sense_is_refused(void **state)
{
	(void)state;
	struct tb_io_options o = options_of("bt");
	o.n_clients = 6;
	assert_refused(&o, "must be a square up to 4096, not 6");
	o = options_of("write");
	o.n_clients = 0;
	assert_refused(&o, "not 0 and 4");
	o = options_of("write");
	o.block_bytes = 0;
	assert_refused(&o, "a block of 0 bytes");
	struct tb_error error;
	const struct tb_io_benchmark *benchmark;
	assert_int_equal(
		tb_io_benchmark_find(&benchmark, "tile-reed", &error), TB_EUSAGE);
	assert_non_null(strstr(error.text, "the nearest is 'tile-read'"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(clients_share_the_file_without_gaps),
		cmocka_unit_test(cells_of_bt_lie_on_a_diagonal),
		cmocka_unit_test(exchanges_are_those_of_the_paper),
		cmocka_unit_test(the_client_does_the_rdma_when_the_server_is_loaded),
		cmocka_unit_test(a_list_is_one_request_up_to_its_limit),
		cmocka_unit_test(a_server_has_as_many_transfers_open_as_it_may),
		cmocka_unit_test(every_server_gets_its_strips),
		cmocka_unit_test(two_phases_move_the_same_file),
		cmocka_unit_test(what_makes_no_sense_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
