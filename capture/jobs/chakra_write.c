#include "chakra_write.h"

#include "array.h"
#include "job_order.h"
#include "outfile.h"
#include "units.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SUFFIX ".et"

// Protocol buffers: a field's number and kind, before its value.
#define NUMBER(field) ((field) << 3)
#define BYTES(field)  ((field) << 3 | 2)

// Types of nodes.
enum { COMPUTES = 4, SENDS = 5, RECEIVES = 6 };

struct chakra_bytes {
	uint8_t *data;
	size_t n, room;
	bool failed; // out of memory on the way
};

struct chakra_writing {
	const struct tb_job *job;
	struct tb_job_order order;
	struct chakra_bytes node, part;
	uint32_t *stamps, *stack; // by operation, of what a node waits for
	size_t n_stack, stack_room;
	uint64_t inexact_ns; // what whole microseconds are off
	bool has_shared;     // two computations of a rank on one processor
};

static void put_byte(struct chakra_bytes *bytes, uint8_t byte)
{
	if (TB_ARRAY_RESERVE(&bytes->data, &bytes->room, bytes->n + 1) == TB_OK)
		bytes->data[bytes->n++] = byte;
	else
		bytes->failed = true;
}

static void chakra_put_varint(struct chakra_bytes *bytes, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		put_byte(bytes, (uint8_t)(value | 0x80));
	put_byte(bytes, (uint8_t)value);
}

static void chakra_put_number(struct chakra_bytes *bytes, unsigned field, uint64_t value)
{
	chakra_put_varint(bytes, NUMBER(field));
	chakra_put_varint(bytes, value);
}

static void chakra_put_bytes(
	struct chakra_bytes *bytes, unsigned field, const void *data, size_t n)
{
	chakra_put_varint(bytes, BYTES(field));
	chakra_put_varint(bytes, n);
	for (size_t i = 0; i < n; i++)
		put_byte(bytes, ((const uint8_t *)data)[i]);
}

static void chakra_put_text(struct chakra_bytes *bytes, unsigned field, const char *text)
{
	chakra_put_bytes(bytes, field, text, strlen(text));
}

// put_attribute writes one with a whole number (as_int64, or as_bool).
static void put_attribute(
	struct chakra_writing *w, const char *name, unsigned field, uint64_t value)
{
	w->part.n = 0;
	chakra_put_text(&w->part, 1, name);
	chakra_put_number(&w->part, field, value);
	chakra_put_bytes(&w->node, 10, w->part.data, w->part.n);
}

enum { AS_INT64 = 9, AS_BOOL = 27 };

static int chakra_push(struct chakra_writing *w, uint32_t op, uint32_t stamp)
{
	if (w->stamps[op] == stamp)
		return TB_OK;
	w->stamps[op] = stamp;
	if (TB_ARRAY_RESERVE(&w->stack, &w->stack_room, w->n_stack + 1) != TB_OK)
		return TB_ENOMEM;
	w->stack[w->n_stack++] = op;
	return TB_OK;
}

// put_deps writes what an operation waits for, each once. Those for whose start it waits
// are walked through: the first half of the stamps is theirs, the second of ends.
static int put_deps(struct chakra_writing *w, uint32_t op, uint32_t base)
{
	const struct tb_job_order *order = &w->order;
	uint32_t n_ops = w->job->n_ops;
	int status = chakra_push(w, op, op + 1);
	w->part.n = 0;
	while (status == TB_OK && w->n_stack > 0) {
		uint32_t at = w->stack[--w->n_stack];
		for (uint32_t k = order->first_pred[at];
			status == TB_OK && k < order->first_pred[at + 1]; k++) {
			uint32_t on = order->preds[k] & ~TB_DEP_START;
			if (order->preds[k] & TB_DEP_START) {
				status = chakra_push(w, on, op + 1);
			} else if (w->stamps[n_ops + on] != op + 1) {
				w->stamps[n_ops + on] = op + 1;
				chakra_put_varint(&w->part, on - base);
			}
		}
	}
	if (status == TB_OK && w->part.n > 0)
		chakra_put_bytes(&w->node, 5, w->part.data, w->part.n);
	return status;
}

static void put_message_of(const struct chakra_bytes *bytes, FILE *stream)
{
	uint64_t n = bytes->n;
	for (; n >= 0x80; n >>= 7)
		putc((int)(n & 0x7f) | 0x80, stream);
	putc((int)n, stream);
	fwrite(bytes->data, 1, bytes->n, stream);
}

static int chakra_put_node(
	struct chakra_writing *w, uint32_t rank, uint32_t i, uint32_t base, FILE *stream)
{
	static const char *const names[] = {"calc", "send", "recv"};
	static const uint8_t types[] = {COMPUTES, SENDS, RECEIVES};
	const struct tb_op *op = &w->job->ops[i];
	w->node.n = 0;
	chakra_put_number(&w->node, 1, i - base);
	chakra_put_text(&w->node, 2, names[op->kind]);
	chakra_put_number(&w->node, 3, types[op->kind]);
	if (put_deps(w, i, base) != TB_OK)
		return TB_ENOMEM;
	if (op->kind == TB_OP_CALC) {
		uint64_t us = op->amount / 1000 + (op->amount % 1000 >= 500);
		uint64_t off = us * 1000 > op->amount ? us * 1000 - op->amount
						      : op->amount - us * 1000;
		chakra_put_number(&w->node, 7, us);
		put_attribute(w, "is_cpu_op", AS_BOOL, 0);
		if (off)
			put_attribute(w, "duration_ns", AS_INT64, op->amount);
		w->inexact_ns += off;
	} else {
		bool sends = op->kind == TB_OP_SEND;
		put_attribute(w, "is_cpu_op", AS_BOOL, 0);
		put_attribute(w, "comm_src", AS_INT64, sends ? rank : op->peer);
		put_attribute(w, "comm_dst", AS_INT64, sends ? op->peer : rank);
		put_attribute(w, "comm_tag", AS_INT64, op->tag);
		put_attribute(w, "comm_size", AS_INT64, op->amount);
	}
	put_message_of(&w->node, stream);
	return w->node.failed || w->part.failed ? TB_ENOMEM : TB_OK;
}

static int chakra_put_rank(struct chakra_writing *w, uint32_t rank, FILE *stream)
{
	const struct tb_job *job = w->job;
	uint32_t base = job->first_op[rank], n_calcs[256] = {0};
	int status = TB_OK;
	w->node.n = 0;
	chakra_put_text(&w->node, 1, "0.0.4"); // of the schema
	put_message_of(&w->node, stream);
	for (uint32_t i = base; status == TB_OK && i < job->first_op[rank + 1]; i++) {
		const struct tb_op *op = &job->ops[i];
		if (op->kind == TB_OP_CALC && op->amount)
			w->has_shared |= n_calcs[op->cpu]++ > 0;
		status = chakra_put_node(w, rank, i, base, stream);
	}
	return status;
}

// name_file returns "NAME.3.et", malloc'ed.
static char *name_file(const char *path, uint32_t rank)
{
	char *name = NULL;
	int n = asprintf(&name, "%.*s.%" PRIu32 SUFFIX,
		(int)(strlen(path) - strlen(SUFFIX)), path, rank);
	return n < 0 ? NULL : name;
}

static int check_path(const struct tb_job *job, const char *path, struct tb_error *error)
{
	size_t n = strlen(path), suffix = strlen(SUFFIX);
	if (n <= suffix || strcmp(path + n - suffix, SUFFIX) != 0)
		return tb_fail(error, TB_EUSAGE,
			"a Chakra trace is a file for each rank: -o NAME.et writes "
			"NAME.0.et and so on");
	if (job->n_ranks > TB_CHAKRA_RANKS_MAX)
		return tb_fail_in(error, TB_EUSAGE, job->name,
			"has %" PRIu32 " ranks: a Chakra trace is written of %d at most",
			job->n_ranks, TB_CHAKRA_RANKS_MAX);
	return TB_OK;
}

static char *chakra_note(const struct chakra_writing *w)
{
	char time[32], *note = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&note, &size);
	if (!stream)
		return NULL;
	if (w->inexact_ns)
		fprintf(stream,
			"Chakra's durations are whole microseconds, which are off by %s "
			"in "
			"all; duration_ns has the rest\n",
			tb_format_time((tb_time_ps)(w->inexact_ns * TB_PS_PER_NS), time,
				sizeof time));
	if (w->has_shared)
		fputs("Chakra has no processors: computations of a rank that do not wait "
		      "for each other may overlap\n",
			stream);
	if (fclose(stream) == 0)
		return note;
	free(note);
	return NULL;
}

int tb_chakra_write(
	const struct tb_job *job, const char *path, char **note, struct tb_error *error)
{
	struct chakra_writing w = {.job = job};
	int status = check_path(job, path, error);
	if (status == TB_OK)
		status = tb_job_order_init(&w.order, job, "a Chakra trace", error);
	w.stamps = calloc(2 * (size_t)job->n_ops + 1, sizeof *w.stamps);
	if (status == TB_OK && !w.stamps)
		status = tb_fail_memory(error, "the nodes");
	if (status == TB_OK) {
		uint32_t rank = 0;
		status = TB_OK;
		while (status == TB_OK && rank < w.job->n_ranks) {
			struct tb_outfile out;
			char *name = name_file(path, rank);
			status = name ? tb_outfile_open(&out, name, error)
				      : tb_fail_memory(error, "the files");
			if (status == TB_OK &&
				chakra_put_rank(&w, rank, out.stream) != TB_OK) {
				tb_outfile_abandon(&out);
				status = tb_fail_memory(error, "the nodes");
			} else if (status == TB_OK) {
				status = tb_outfile_commit(&out, error);
			}
			free(name);
			rank += status == TB_OK;
		}
		while (status != TB_OK && rank-- > 0) {
			char *name = name_file(path, rank);
			if (name)
				(void)!unlink(name);
			free(name);
		}
	}
	if (status == TB_OK && !(*note = chakra_note(&w)))
		status = tb_fail_memory(error, "the notes");
	tb_job_order_fini(&w.order);
	free(w.node.data);
	free(w.part.data);
	free(w.stamps);
	free(w.stack);
	return status;
}
