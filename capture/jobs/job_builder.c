// Builds a job from operations in any order, without an allocation per operation.
#include "array.h"
#include "job.h"
#include "job_check.h"
#include "order.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define OPS_MAX	 ((size_t)INT32_MAX)
#define DEPS_MAX ((size_t)UINT32_MAX - 1)
#define COOLED	 ((size_t)1 << 18)

struct builder_dep {
	uint32_t rank;
	uint32_t index; // the one that waits
	uint32_t on;	// the one it waits for; with TB_DEP_START: for its start
};

struct tb_job_builder {
	uint32_t n_ranks;
	uint32_t *n_ops_of; // by rank
	struct tb_op *ops;  // in the order in which they were added
	uint32_t *ranks;    // by operation
	uint32_t *lines;    // by operation; NULL until a line was set
	size_t n_ops, ops_room, ranks_room, lines_room;
	struct builder_dep *deps;
	size_t n_deps, deps_room;
	struct tb_disk_array of_ops, of_deps;
	uint32_t last_rank;
	uint32_t line;
	uint8_t max_cpu, max_nic;
	bool in_order; // ranks ascended, so `ops` need not be sorted
	bool forward; // every dependency is on an earlier operation, so there is no cycle
	int status;   // of what was added so far: the first failure
	struct tb_error why;
};

int tb_job_builder_new(
	struct tb_job_builder **builder, uint32_t n_ranks, struct tb_error *error)
{
	if (n_ranks < 1 || n_ranks > TB_RANKS_MAX)
		return tb_fail(error, TB_EUSAGE,
			"a job has 1 to %" PRIu32 " ranks, not %" PRIu32, TB_RANKS_MAX,
			n_ranks);
	struct tb_job_builder *made = calloc(1, sizeof *made);
	if (made)
		made->n_ops_of = calloc(n_ranks, sizeof *made->n_ops_of);
	if (!made || !made->n_ops_of) {
		free(made);
		return tb_fail_memory(error, "%" PRIu32 " ranks", n_ranks);
	}
	made->n_ranks = n_ranks;
	made->in_order = made->forward = true;
	*builder = made;
	return TB_OK;
}

void tb_job_builder_free(struct tb_job_builder *builder)
{
	if (!builder)
		return;
	free(builder->n_ops_of);
	tb_disk_array_fini(&builder->of_ops);
	free(builder->ranks);
	free(builder->lines);
	tb_disk_array_fini(&builder->of_deps);
	free(builder);
}

void tb_job_builder_keep(struct tb_job_builder *builder, const char *beside)
{
	builder->of_ops.beside = builder->of_deps.beside = beside;
}

// builder_cool is called before the `i`th operation or dependency.
static void builder_cool(const struct tb_disk_array *array, size_t i)
{
	if (i % COOLED == 0)
		tb_disk_array_cool(array);
}

void tb_job_builder_set_line(struct tb_job_builder *builder, uint64_t line)
{
	builder->line = line > UINT32_MAX ? UINT32_MAX : (uint32_t)line;
}

// note_line stores the line of the next operation. The array exists only from the first
// operation with a line on: most jobs are made in memory and have none.
static int note_line(struct tb_job_builder *b)
{
	if (!b->lines) {
		if (TB_ARRAY_RESERVE_ZEROED(&b->lines, &b->lines_room, b->ops_room) !=
			TB_OK)
			return tb_fail_memory(&b->why, "line numbers");
	}
	b->lines[b->n_ops] = b->line;
	return TB_OK;
}

static int check_op(struct tb_job_builder *b, uint32_t rank, const struct tb_op *op)
{
	if (rank >= b->n_ranks)
		return tb_fail(&b->why, TB_EUSAGE,
			"rank %" PRIu32
			" is out of range: the job has ranks 0 to %" PRIu32,
			rank, b->n_ranks - 1);
	if (b->n_ops >= OPS_MAX)
		return tb_fail(&b->why, TB_ECAPACITY, "a job has at most %zu operations",
			OPS_MAX);
	if (op->kind == TB_OP_CALC)
		return TB_OK;
	if (op->kind != TB_OP_SEND && op->kind != TB_OP_RECV)
		return tb_fail(
			&b->why, TB_EUSAGE, "no operation is of kind %d", op->kind);
	if (op->kind == TB_OP_SEND && (op->peer == TB_ANY || op->tag == TB_ANY))
		return tb_fail(&b->why, TB_EUSAGE,
			"only a receive can have any %s: a send must say which",
			op->peer == TB_ANY ? "peer" : "tag");
	if (op->peer >= b->n_ranks && op->peer != TB_ANY)
		return tb_fail(&b->why, TB_EUSAGE,
			"peer %" PRIu32
			" is out of range: the job has ranks 0 to %" PRIu32,
			op->peer, b->n_ranks - 1);
	return TB_OK;
}

static int reserve_op(struct tb_job_builder *b)
{
	size_t n = b->n_ops + 1;
	builder_cool(&b->of_ops, n);
	if (TB_DISK_ARRAY_RESERVE(&b->of_ops, &b->ops, &b->ops_room, n) != TB_OK ||
		TB_ARRAY_RESERVE(&b->ranks, &b->ranks_room, n) != TB_OK ||
		(b->lines && TB_ARRAY_RESERVE(&b->lines, &b->lines_room, n) != TB_OK))
		return tb_fail_memory(&b->why, "more than %zu operations", b->n_ops);
	return TB_OK;
}

uint32_t tb_job_add(struct tb_job_builder *b, uint32_t rank, const struct tb_op *op)
{
	if (b->status == TB_OK)
		b->status = check_op(b, rank, op);
	if (b->status == TB_OK)
		b->status = reserve_op(b);
	if (b->status == TB_OK && (b->line != 0 || b->lines))
		b->status = note_line(b);
	if (b->status != TB_OK)
		return 0;
	struct tb_op *added = &b->ops[b->n_ops];
	*added = *op;
	// Equal jobs must be equal byte for byte, so clear what has no meaning.
	memset(added->reserved, 0, sizeof added->reserved);
	if (op->kind == TB_OP_CALC)
		added->peer = added->tag = 0;
	b->ranks[b->n_ops++] = rank;
	b->in_order = b->in_order && rank >= b->last_rank;
	b->last_rank = rank;
	b->max_cpu = op->cpu > b->max_cpu ? op->cpu : b->max_cpu;
	b->max_nic = op->nic > b->max_nic ? op->nic : b->max_nic;
	return b->n_ops_of[rank]++;
}

void tb_job_depend(struct tb_job_builder *b, uint32_t rank, uint32_t index, uint32_t on,
	bool on_start)
{
	if (b->status != TB_OK)
		return;
	if (rank >= b->n_ranks || index >= b->n_ops_of[rank] || on >= b->n_ops_of[rank])
		b->status = tb_fail(&b->why, TB_EUSAGE,
			"rank %" PRIu32 " has no operation %" PRIu32, rank,
			index > on ? index : on);
	else if (b->n_deps >= DEPS_MAX)
		b->status = tb_fail(&b->why, TB_ECAPACITY,
			"a job has at most %zu dependencies", DEPS_MAX);
	else if (TB_DISK_ARRAY_RESERVE(
			 &b->of_deps, &b->deps, &b->deps_room, b->n_deps + 1) != TB_OK)
		b->status =
			tb_fail_memory(&b->why, "more than %zu dependencies", b->n_deps);
	if (b->status != TB_OK)
		return;
	builder_cool(&b->of_deps, b->n_deps);
	b->deps[b->n_deps++] =
		(struct builder_dep){rank, index, on | (on_start ? TB_DEP_START : 0)};
	b->forward = b->forward && on < index;
}

int tb_job_builder_check(const struct tb_job_builder *b, struct tb_error *error)
{
	if (b->status != TB_OK && error)
		*error = b->why;
	return b->status;
}

// place_ops sorts the operations by rank, if necessary, and hands them to the job.
static bool place_ops(struct tb_job_builder *b, struct tb_job *job)
{
	for (uint32_t r = 0; r < b->n_ranks; r++)
		job->first_op[r + 1] = job->first_op[r] + b->n_ops_of[r];
	if (b->in_order) {
		// Give back the unused room. If that fails, keep it.
		(void)!tb_disk_array_resize(&b->of_ops, b->n_ops * sizeof *b->ops);
		job->arrays.ops = b->of_ops;
		job->ops = (void *)b->of_ops.memory;
		b->of_ops = (struct tb_disk_array){0};
		return true;
	}
	uint32_t *next = malloc(b->n_ranks * sizeof *next);
	uint32_t *lines = b->lines ? malloc(b->n_ops * sizeof *lines) : NULL;
	job->arrays.ops.beside = b->of_ops.beside;
	bool placed = next && (lines || !b->lines) &&
		      tb_disk_array_resize(
			      &job->arrays.ops, b->n_ops * sizeof *job->ops) == TB_OK;
	job->ops = (void *)job->arrays.ops.memory;
	if (placed)
		memcpy(next, job->first_op, b->n_ranks * sizeof *next);
	for (size_t i = 0; placed && i < b->n_ops; i++) {
		builder_cool(&b->of_ops, i);
		builder_cool(&job->arrays.ops, i);
		uint32_t to = next[b->ranks[i]]++;
		job->ops[to] = b->ops[i];
		if (lines)
			lines[to] = b->lines[i];
	}
	free(next);
	if (!placed) {
		free(lines);
		return false;
	}
	tb_disk_array_fini(&b->of_ops);
	free(b->lines);
	b->lines = lines;
	return true;
}

// make_links makes an array of `n` zeros of the job's; NULL without memory.
static uint32_t *make_links(
	const struct tb_job_builder *b, struct tb_disk_array *array, size_t n)
{
	array->beside = b->of_deps.beside;
	if (tb_disk_array_resize(array, n * sizeof(uint32_t)) != TB_OK)
		return NULL;
	if (!array->file) // a file has zeros
		memset(array->memory, 0, n * sizeof(uint32_t));
	return (void *)array->memory;
}

static bool assemble(struct tb_job_builder *b, const char *name, struct tb_job *job)
{
	job->n_ranks = b->n_ranks;
	job->n_ops = (uint32_t)b->n_ops;
	job->n_cpus = (uint16_t)(b->max_cpu + 1);
	job->n_nics = (uint16_t)(b->max_nic + 1);
	job->name = strdup(name);
	job->beside = b->of_ops.beside ? strdup(b->of_ops.beside) : NULL;
	job->first_op = calloc((size_t)b->n_ranks + 1, sizeof *job->first_op);
	if (!job->name || !job->first_op || !place_ops(b, job))
		return false;
	free(b->ranks); // early: place_deps needs the memory
	b->ranks = NULL;
	// Turn the dependencies into successor lists by a counting sort.
	struct tb_job_arrays *arrays = &job->arrays;
	size_t n_links = (size_t)job->n_ops + 1;
	job->first_successor = make_links(b, &arrays->first_successor, n_links);
	job->n_predecessors = make_links(b, &arrays->n_predecessors, n_links);
	job->successors = make_links(b, &arrays->successors, b->n_deps + 1);
	if (!job->first_successor || !job->n_predecessors || !job->successors)
		return false;
	uint32_t *first = job->first_successor;
	for (size_t i = 0; i < b->n_deps; i++) {
		const struct builder_dep *dep = &b->deps[i];
		uint32_t base = job->first_op[dep->rank];
		if (i % COOLED == 0) {
			tb_disk_array_cool(&b->of_deps);
			tb_job_cool(job);
		}
		first[base + (dep->on & ~TB_DEP_START)]++;
		job->n_predecessors[base + dep->index]++;
	}
	// Each entry first holds the end of its list; filling the list from the back
	// turns it into the beginning.
	uint32_t end = 0;
	for (uint32_t i = 0; i <= job->n_ops; i++)
		first[i] = end += i < job->n_ops ? first[i] : 0;
	for (size_t i = b->n_deps; i-- > 0;) {
		const struct builder_dep *dep = &b->deps[i];
		uint32_t base = job->first_op[dep->rank];
		if (i % COOLED == 0) {
			tb_disk_array_cool(&b->of_deps);
			tb_job_cool(job);
		}
		uint32_t slot = --first[base + (dep->on & ~TB_DEP_START)];
		job->successors[slot] = (base + dep->index) | (dep->on & TB_DEP_START);
	}
	tb_disk_array_fini(&b->of_deps);
	// Sort every list, so that the job does not depend on the order in which
	// dependencies were added. Nearly all lists have one or two entries.
	for (uint32_t i = 0; i < job->n_ops; i++) {
		uint32_t *list = job->successors + job->first_successor[i];
		size_t n = job->first_successor[i + 1] - job->first_successor[i];
		for (size_t k = 1; k < n; k++) {
			if (list[k - 1] > list[k]) {
				qsort(list, n, sizeof *list, tb_order_u32);
				break;
			}
		}
	}
	return true;
}

// check_across checks sends and receives between ranks.
static int check_across(struct tb_job *job, const uint32_t *lines, struct tb_error *error)
{
	struct tb_job_channels channels = {0};
	if (!tb_job_waits_across(job))
		return tb_job_check_matches(job, lines, NULL, error);
	channels.of = malloc(job->n_ops * sizeof *channels.of);
	if (!channels.of)
		return tb_fail_memory_in(error, job->name, "finding deadlocks");
	int status = tb_job_check_matches(job, lines, &channels, error);
	if (status == TB_OK)
		status = tb_job_check_deadlock(job, lines, &channels, error);
	free(channels.of);
	return status;
}

int tb_job_finish(struct tb_job_builder *b, const char *name, struct tb_job **job,
	struct tb_error *error)
{
	int status = tb_job_builder_check(b, error);
	if (status != TB_OK)
		return status;
	struct tb_job *made = calloc(1, sizeof *made);
	if (!made || !assemble(b, name, made)) {
		tb_job_free(made);
		return tb_fail_memory_in(error, name, "%zu operations", b->n_ops);
	}
	// Generators and most traces only look back, which saves the search for cycles.
	status = b->forward ? TB_OK : tb_job_check_cycles(made, b->lines, error);
	if (status == TB_OK)
		status = check_across(made, b->lines, error);
	if (status != TB_OK) {
		tb_job_free(made);
		return status;
	}
	*job = made;
	return TB_OK;
}
