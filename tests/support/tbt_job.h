// Writes a job.tbt of 3 ranks from the records of a test, reads it, and shows each rank's
// calls as a line of text.
#ifndef TB_TBT_JOB_TEST_H
#define TB_TBT_JOB_TEST_H

#include "tbt_lane.h"
#include "tbt_read.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#define N_RANKS 3
#define NONE	UINT32_MAX

static char path[] = "tbt_job_XXXXXX";
static struct tbt_lane lanes[N_RANKS], file;
static struct tbt_lane thread; // rank 1's second lane, if it has records
static struct tb_calls *calls;
static struct tb_error error;
static uint32_t traced_by = TB_TBT_MPICH;

// Each record begins 10 ns after the one before it and takes 100 ns.
static inline void record(
	uint32_t rank, enum tb_tbt_kind kind, size_t n, const uint64_t *fields)
{
	uint64_t at = lanes[rank].now_ns + 10;
	tbt_put(&lanes[rank], kind, at, at + 100, n, fields);
}

static inline void text(const char *string)
{
	size_t n = strlen(string);
	file.bytes[file.n++] = (uint8_t)n;
	file.bytes[file.n++] = (uint8_t)(n >> 8);
	memcpy(file.bytes + file.n, string, n);
	file.n += n;
}

static inline void write_rank(uint32_t rank)
{
	tbt_u32(&file, rank);
	tbt_u32(&file, TB_TBT_FINISHED);
	text("");
	tbt_u32(&file, 3); // communicators: MPI_COMM_WORLD, 0 | 1 2, another world's
	tbt_u32(&file, 0);
	tbt_u32(&file, 1);
	tbt_u32(&file, TB_TBT_NO_GROUP);
	tbt_u32(&file, 1); // points of its clock
	tbt_u64(&file, 0);
	tbt_u64(&file, 0);
	const struct tbt_lane *own[] = {&lanes[rank], &thread};
	uint32_t n_own = rank == 1 && thread.n ? 2 : 1;
	tbt_u32(&file, n_own);
	for (uint32_t i = 0; i < n_own; i++)
		tbt_u64(&file, own[i]->n);
	for (uint32_t i = 0; i < n_own; i++) {
		memcpy(file.bytes + file.n, own[i]->bytes, own[i]->n);
		file.n += own[i]->n;
	}
}

static inline int read_it(void)
{
	const char *made, *const paths[] = {path};
	const struct tb_reading reading = {0};
	file.n = 0;
	memcpy(file.bytes, TB_TBT_MAGIC_1, TB_TBT_MAGIC_BYTES);
	file.n = TB_TBT_MAGIC_BYTES;
	tbt_u32(&file, N_RANKS);
	tbt_u32(&file, traced_by);
	tbt_u64(&file, 1000);
	text("4.0");
	// Two groups: all ranks, and 0 on one side with 1 and 2 on the other.
	const uint32_t groups[] = {
		2, N_RANKS, N_RANKS, 1, 0, N_RANKS, N_RANKS, 1, 1, 0, N_RANKS};
	for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
		tbt_u32(&file, groups[i]);
	for (uint32_t rank = 0; rank < N_RANKS; rank++)
		write_rank(rank);
	FILE *stream = fopen(path, "wb");
	assert_non_null(stream);
	assert_int_equal(fwrite(file.bytes, 1, file.n, stream), file.n);
	fclose(stream);
	error = (struct tb_error){0};
	return tb_tbt_read(&calls, &reading, paths, 1, &made, &error);
}

static inline size_t show_sizes(const struct tb_call *call, char *to)
{
	uint32_t n = 0;
	size_t at = 0;
	const uint64_t *sizes = tb_calls_sizes_of(calls, call, &n);
	for (uint32_t i = 0; i < n; i++)
		at += (size_t)sprintf(to + at, "%s%" PRIu64, i ? "," : "", sizes[i]);
	return at;
}

// show_collective writes "op.root=bytes[sizes]".
static inline size_t show_collective(const struct tb_call *call, char *to)
{
	size_t at = (size_t)sprintf(to, "%s.%" PRIu32 "=%" PRIu64,
		tb_collective_op_name(call->op), call->peer, call->bytes);
	if (call->sizes) {
		to[at++] = '[';
		at += show_sizes(call, to + at);
		to[at++] = ']';
	}
	return at;
}

// show_call writes "[lane:]what[*][ @calc][ <calls before]"; * only starts.
static inline size_t show_call(
	uint32_t rank, uint32_t i, const struct tb_call *call, char *to)
{
	static const char *const kinds[] = {"joint", "to", "from", "barrier"};
	uint32_t n;
	size_t at = 0;
	if (call->lane)
		at += (size_t)sprintf(to, "%" PRIu32 ":", call->lane);
	if (call->kind == TB_CALL_SEND || call->kind == TB_CALL_RECV)
		at += (size_t)sprintf(to + at, "%s%" PRIu32 ".%" PRIu32 "=%" PRIu64,
			kinds[call->kind], call->peer, call->tag, call->bytes);
	else if (call->kind == TB_CALL_COLLECTIVE && call->op == TB_COLL_EXCHANGE)
		at += show_sizes(call, to + at);
	else if (call->kind == TB_CALL_COLLECTIVE && call->op != TB_COLL_BARRIER)
		at += show_collective(call, to + at);
	else
		at += (size_t)sprintf(to + at, "%s", kinds[call->kind]);
	if (call->starts)
		to[at++] = '*';
	if (call->calc_ns)
		at += (size_t)sprintf(to + at, "@%" PRIu64, call->calc_ns);
	const uint32_t *before = tb_calls_befores(calls, rank, i, &n);
	for (uint32_t k = 0; k < n; k++)
		at += (size_t)sprintf(to + at, "%s%" PRIu32, k ? "," : "<", before[k]);
	return at;
}

static inline void assert_calls(uint32_t rank, const char *expected)
{
	static char got[4096];
	uint32_t n;
	size_t at = 0;
	const struct tb_call *of = tb_calls_of(calls, rank, &n);
	got[0] = '\0';
	for (uint32_t i = 0; i < n; i++) {
		at += (size_t)sprintf(got + at, "%s", i ? " " : "");
		at += show_call(rank, i, &of[i], got + at);
		got[at] = '\0';
	}
	assert_string_equal(got, expected);
}

static inline void assert_all(const char *of_0, const char *of_1, const char *of_2)
{
	calls = NULL;
	int status = read_it();
	if (status != TB_OK)
		print_error("%s\n", error.text);
	assert_int_equal(status, TB_OK);
	assert_calls(0, of_0);
	assert_calls(1, of_1);
	assert_calls(2, of_2);
	tb_calls_free(calls);
}

static inline void assert_refused(const char *sentence)
{
	assert_int_equal(read_it(), TB_EFORMAT);
	if (!strstr(error.text, sentence))
		fail_msg("'%s' is not in '%s'", sentence, error.text);
}

#endif
