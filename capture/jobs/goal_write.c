// Writes both forms of GOAL. It formats numbers itself: a job has tens of millions of
// them, and printf would take longer than all the rest.
#include "goal.h"

#include "array.h"
#include "goal_names.h"
#include "outfile.h"

#include <stdlib.h>
#include <string.h>

#define ROOM (size_t)160 // for the longest statement

// Output gathered in a buffer before it goes to the stream.
struct goal_writer {
	FILE *stream;
	size_t n;
	char buffer[64 << 10];
};

static void flush(struct goal_writer *w)
{
	fwrite(w->buffer, 1, w->n, w->stream);
	w->n = 0;
}

// goal_reserve makes room for one statement.
static void goal_reserve(struct goal_writer *w)
{
	if (w->n > sizeof w->buffer - ROOM)
		flush(w);
}

static void goal_put_text(struct goal_writer *w, const char *text)
{
	size_t n = strlen(text);
	memcpy(w->buffer + w->n, text, n);
	w->n += n;
}

static void goal_put_number(struct goal_writer *w, uint64_t value)
{
	char digits[20];
	size_t n = 0;
	do {
		digits[n++] = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	while (n > 0)
		w->buffer[w->n++] = digits[--n];
}

static void put_or_any(struct goal_writer *w, uint32_t value)
{
	if (value == TB_ANY)
		goal_put_text(w, "-1");
	else
		goal_put_number(w, value);
}

static void put_op(struct goal_writer *w, const struct tb_op *op, uint32_t label)
{
	static const char *const verbs[] = {": calc ", ": send ", ": recv "};
	goal_reserve(w);
	goal_put_text(w, "l");
	goal_put_number(w, label);
	goal_put_text(w, verbs[op->kind]);
	goal_put_number(w, op->amount);
	if (op->kind != TB_OP_CALC) {
		goal_put_text(w, op->kind == TB_OP_SEND ? "b to " : "b from ");
		put_or_any(w, op->peer);
		goal_put_text(w, " tag ");
		put_or_any(w, op->tag);
	}
	if (op->cpu != 0) {
		goal_put_text(w, " cpu ");
		goal_put_number(w, op->cpu);
	}
	if (op->nic != 0) {
		goal_put_text(w, " nic ");
		goal_put_number(w, op->nic);
	}
	goal_put_text(w, "\n");
}

// One dependency of a rank; both operations by index within the rank.
struct written_dep {
	uint32_t index; // the one that waits
	uint32_t on;	// the one it waits for, with TB_DEP_START
};

// The dependencies of one rank, ordered by the later of their two operations: a label
// must be defined above the line that uses it.
struct deps {
	uint32_t *first; // n_ops + 1: operation i has list[first[i]] to list[first[i + 1]
			 // - 1]
	struct written_dep *list;
	size_t first_room, list_room;
};

static uint32_t later_op(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

// deps_fill takes the dependencies of a rank, by a counting sort. TB_ENOMEM.
static int deps_fill(struct deps *deps, const struct tb_job *job, uint32_t rank)
{
	uint32_t base = job->first_op[rank], end = job->first_op[rank + 1], sum = 0;
	const uint32_t *starts = job->first_successor;
	if (TB_ARRAY_RESERVE(&deps->first, &deps->first_room, (size_t)end - base + 1) !=
			TB_OK ||
		TB_ARRAY_RESERVE(&deps->list, &deps->list_room,
			(size_t)starts[end] - starts[base]) != TB_OK)
		return TB_ENOMEM;
	uint32_t *first = deps->first;
	memset(first, 0, (end - base + 1) * sizeof *first);
	for (uint32_t i = base; i < end; i++)
		for (uint32_t k = starts[i]; k < starts[i + 1]; k++)
			first[later_op(i, job->successors[k] & ~TB_DEP_START) - base]++;
	for (uint32_t i = 0; i <= end - base; i++)
		first[i] = sum += first[i];
	for (uint32_t i = end; i-- > base;)
		for (uint32_t k = starts[i + 1]; k-- > starts[i];) {
			uint32_t next = job->successors[k] & ~TB_DEP_START;
			uint32_t start = job->successors[k] & TB_DEP_START;
			deps->list[--first[later_op(i, next) - base]] =
				(struct written_dep){next - base, (i - base) | start};
		}
	return TB_OK;
}

// put_mark writes, before a message, whether a library planned it and those below it.
static void put_mark(struct goal_writer *w, const struct tb_op *op, bool *planned)
{
	if (op->kind == TB_OP_CALC || op->planned == *planned)
		return;
	*planned = op->planned;
	goal_reserve(w);
	goal_put_text(w, *planned ? TB_GOAL_PLANNED "\n" : TB_GOAL_NOT_PLANNED "\n");
}

// put_long writes text that need not fit the buffer.
static void put_long(struct goal_writer *w, const char *text, size_t n)
{
	flush(w);
	fwrite(text, 1, n, w->stream);
}

static void goal_put_rank(struct goal_writer *w, const struct tb_job *job, uint32_t rank,
	const struct deps *deps, const bool *has_names)
{
	uint32_t base = job->first_op[rank], n = job->first_op[rank + 1] - base;
	goal_reserve(w);
	goal_put_text(w, "\nrank ");
	goal_put_number(w, rank);
	goal_put_text(w, " {\n");
	for (int k = 0; k < TB_GOAL_N_NAMES; k++) {
		if (!has_names[k])
			continue;
		const char *name = tb_goal_name(job, (enum tb_goal_name_kind)k, rank);
		goal_reserve(w);
		goal_put_text(w, tb_goal_name_marks[k]);
		put_long(w, name, strlen(name));
		goal_put_text(w, "\n");
	}
	bool planned = false;
	for (uint32_t i = 0; i < n; i++) {
		put_mark(w, &job->ops[base + i], &planned);
		put_op(w, &job->ops[base + i], i + 1);
		for (uint32_t k = deps->first[i]; k < deps->first[i + 1]; k++) {
			const struct written_dep *dep = &deps->list[k];
			goal_reserve(w);
			goal_put_text(w, "l");
			goal_put_number(w, (uint64_t)dep->index + 1);
			goal_put_text(w,
				dep->on & TB_DEP_START ? " irequires l" : " requires l");
			goal_put_number(w, (uint64_t)(dep->on & ~TB_DEP_START) + 1);
			goal_put_text(w, "\n");
		}
	}
	goal_reserve(w);
	goal_put_text(w, "}\n");
}

int tb_goal_text_write(const struct tb_job *job, FILE *stream, struct tb_error *error)
{
	struct deps deps = {0};
	bool has_names[TB_GOAL_N_NAMES];
	struct goal_writer *w = malloc(sizeof *w);
	int status = w ? TB_OK : TB_ENOMEM;
	for (int k = 0; k < TB_GOAL_N_NAMES; k++)
		has_names[k] = tb_goal_has_names(job, (enum tb_goal_name_kind)k);
	if (w) {
		w->stream = stream;
		w->n = 0;
		goal_put_text(w, "num_ranks ");
		goal_put_number(w, job->n_ranks);
		goal_put_text(w, "\n");
	}
	for (uint32_t rank = 0; rank < job->n_ranks && status == TB_OK; rank++) {
		status = deps_fill(&deps, job, rank);
		if (status == TB_OK)
			goal_put_rank(w, job, rank, &deps, has_names);
	}
	if (status == TB_OK)
		flush(w);
	free(deps.first);
	free(deps.list);
	free(w);
	return status == TB_OK ? TB_OK
			       : tb_fail_memory_in(error, job->name, "writing it");
}

static void goal_put_bytes(struct goal_writer *w, uint64_t value, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		w->buffer[w->n++] = (char)(unsigned char)(value >> 8 * i);
}

static uint32_t n_dependencies(const struct tb_job *job, uint32_t begin, uint32_t end)
{
	return job->first_successor[end] - job->first_successor[begin];
}

static uint32_t n_roots(const struct tb_job *job, uint32_t begin, uint32_t end)
{
	uint32_t n = 0;
	for (uint32_t i = begin; i < end; i++)
		n += job->n_predecessors[i] == 0;
	return n;
}

// goal_put_node writes one operation; `first` is the index of its first dependant in the
// rank's list. Dependants on its end come before those on its start: in job->successors,
// because TB_DEP_START is the top bit, and so here.
static void goal_put_node(
	struct goal_writer *w, const struct tb_job *job, uint32_t i, uint32_t first)
{
	static const unsigned char kinds[] = {3, 1, 2};
	const struct tb_op *op = &job->ops[i];
	uint32_t n = n_dependencies(job, i, i + 1), n_ends = 0;
	const uint32_t *successors = job->successors + job->first_successor[i];
	while (n_ends < n && !(successors[n_ends] & TB_DEP_START))
		n_ends++;
	goal_reserve(w);
	goal_put_bytes(w, job->n_predecessors[i], 4);
	goal_put_bytes(w, kinds[op->kind], 1);
	goal_put_bytes(w, op->peer, 4);
	goal_put_bytes(w, op->amount, 8);
	goal_put_bytes(w, op->tag, 4);
	goal_put_bytes(w, op->cpu, 1);
	goal_put_bytes(w, op->nic, 1);
	goal_put_bytes(w, n_ends, 4);
	goal_put_bytes(w, first, 4);
	goal_put_bytes(w, n - n_ends, 4);
	goal_put_bytes(w, first + n_ends, 4);
}

static bool is_planned_message(const struct tb_op *op)
{
	return op->planned && op->kind != TB_OP_CALC;
}

static void put_section(
	struct goal_writer *w, const struct tb_job *job, enum tb_goal_name_kind kind)
{
	uint64_t sum = 0;
	if (!tb_goal_has_names(job, kind))
		return;
	for (uint32_t rank = 0; rank < job->n_ranks; rank++) {
		const char *name = tb_goal_name(job, kind, rank);
		put_long(w, name, strlen(name) + 1);
		sum += strlen(name) + 1;
	}
	goal_reserve(w);
	goal_put_bytes(w, sum, 8);
	goal_put_text(w, tb_goal_name_ends[kind]);
}

int tb_goal_binary_write(const struct tb_job *job, FILE *stream, struct tb_error *error)
{
	struct goal_writer *w = malloc(sizeof *w);
	if (!w)
		return tb_fail_memory_in(error, job->name, "writing it");
	w->stream = stream;
	w->n = 0;
	goal_put_bytes(w, 4223, 8);
	goal_put_bytes(w, job->n_ranks, 4);
	goal_put_bytes(w, (uint64_t)job->n_cpus - 1, 1);
	goal_put_bytes(w, (uint64_t)job->n_nics - 1, 1);
	uint64_t at = 6 + (uint64_t)job->n_ranks * 16;
	for (uint32_t rank = 0; rank < job->n_ranks; rank++) {
		uint32_t begin = job->first_op[rank], end = job->first_op[rank + 1];
		goal_reserve(w);
		goal_put_bytes(w, at, 8);
		at += 8 + 4 * (uint64_t)n_roots(job, begin, end) +
		      39 * (uint64_t)(end - begin) +
		      4 * (uint64_t)n_dependencies(job, begin, end);
		goal_put_bytes(w, at, 8);
	}
	for (uint32_t rank = 0; rank < job->n_ranks; rank++) {
		uint32_t begin = job->first_op[rank], end = job->first_op[rank + 1];
		uint32_t first = job->first_successor[begin];
		goal_reserve(w);
		goal_put_bytes(w, end - begin, 4);
		goal_put_bytes(w, n_roots(job, begin, end), 4);
		for (uint32_t i = begin; i < end; i++) {
			goal_reserve(w);
			if (job->n_predecessors[i] == 0)
				goal_put_bytes(w, i - begin, 4);
		}
		for (uint32_t i = begin; i < end; i++)
			goal_put_node(w, job, i, job->first_successor[i] - first);
		for (uint32_t k = first; k < job->first_successor[end]; k++) {
			goal_reserve(w);
			goal_put_bytes(
				w, (job->successors[k] & ~TB_DEP_START) - begin, 4);
		}
	}
	// Write which operations a library planned, where there are any.
	uint32_t n = 0, i = 0;
	for (;;) {
		while (i < job->n_ops && !is_planned_message(&job->ops[i]))
			i++;
		if (i == job->n_ops)
			break;
		goal_reserve(w);
		goal_put_bytes(w, i, 4);
		while (i < job->n_ops &&
			(job->ops[i].planned || job->ops[i].kind == TB_OP_CALC))
			i++;
		goal_put_bytes(w, i, 4);
		n++;
	}
	if (n != 0) {
		goal_reserve(w);
		goal_put_bytes(w, n, 4);
		goal_put_bytes(w, TB_GOAL_PLANNED_END, 8);
	}
	for (int k = 0; k < TB_GOAL_N_NAMES; k++)
		put_section(w, job, (enum tb_goal_name_kind)k);
	flush(w);
	free(w);
	return TB_OK;
}

static int write_goal_file(const struct tb_job *job, const char *path,
	int (*write)(const struct tb_job *job, FILE *stream, struct tb_error *error),
	struct tb_error *error)
{
	struct tb_outfile out;
	int status = tb_outfile_open(&out, path, error);
	if (status != TB_OK)
		return status;
	status = write(job, out.stream, error);
	if (status == TB_OK)
		return tb_outfile_commit(&out, error);
	tb_outfile_abandon(&out);
	return status;
}

int tb_job_write_text(const struct tb_job *job, const char *path, struct tb_error *error)
{
	return write_goal_file(job, path, tb_goal_text_write, error);
}

int tb_job_write_binary(
	const struct tb_job *job, const char *path, struct tb_error *error)
{
	return write_goal_file(job, path, tb_goal_binary_write, error);
}
