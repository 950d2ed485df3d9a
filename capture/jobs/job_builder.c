// Builds a job from operations in any order, without an allocation per operation.
#include "array.h"
#include "job.h"
#include "order.h"

#include <inttypes.h>
#include <stdio.h>
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

// Finds, before a replay, what makes a job impossible to finish.

// The sends and receives with one source, destination and tag are a channel.
struct tb_job_channels {
	uint32_t *of;	   // by operation: the channel of a send or receive
	uint32_t n;	   // number of channels
	bool any_wildcard; // a receive somewhere has a wildcard; `of` is then undefined
};

#define N_NAMED_MAX 4 // operations of a cycle that a message names

static int job_check_fail(const struct tb_job *job, const uint32_t *lines, uint32_t op,
	enum tb_status code, const char *text, struct tb_error *error)
{
	if (lines && lines[op] != 0)
		return tb_fail_at(
			error, code, job->name, TB_PLACE_LINE, lines[op], "%s", text);
	return tb_fail_in(error, code, job->name, "%s", text);
}

// release_successors runs every operation that can run (Kahn's algorithm) and returns how
// many cannot. In `waits` it leaves the number of dependencies of each that are never
// met.
static uint32_t release_successors(
	const struct tb_job *job, uint32_t *waits, uint32_t *ready)
{
	uint32_t n_left = job->n_ops;
	memcpy(waits, job->n_predecessors, job->n_ops * sizeof *waits);
	for (uint32_t i = 0; i < job->n_ops; i++) {
		uint32_t n_ready = 0;
		if (waits[i] == 0)
			ready[n_ready++] = i;
		while (n_ready > 0) {
			uint32_t op = ready[--n_ready];
			n_left--;
			for (uint32_t k = job->first_successor[op];
				k < job->first_successor[op + 1]; k++) {
				uint32_t next = job->successors[k] & ~TB_DEP_START;
				// Later ones get their turn in the outer loop.
				if (--waits[next] == 0 && next <= i)
					ready[n_ready++] = next;
			}
		}
	}
	return n_left;
}

// first_of_cycle follows `on` from `at` into a cycle and returns the lowest operation of
// it, so that the message does not depend on where the search began.
static uint32_t first_of_cycle(const struct tb_job *job, const uint32_t *on, uint32_t at)
{
	// After n_ops steps the walk must be on a cycle.
	for (uint32_t i = 0; i < job->n_ops; i++)
		at = on[at];
	uint32_t first = at;
	for (uint32_t i = on[at]; i != at; i = on[i])
		first = i < first ? i : first;
	return first;
}

// A message under construction; what does not fit is cut off.
struct sentence {
	char text[sizeof((struct tb_error *)0)->text];
	size_t length;
};

static void sentence_add(struct sentence *sentence, const char *format, ...)
	TB_PRINTF(2, 3);

static void sentence_add(struct sentence *sentence, const char *format, ...)
{
	size_t room = sizeof sentence->text - sentence->length;
	va_list args;
	va_start(args, format);
	int n = vsnprintf(sentence->text + sentence->length, room, format, args);
	va_end(args);
	if (n > 0)
		sentence->length += (size_t)n < room ? (size_t)n : room - 1;
}

// job_fail_cycle fills `error` with the cycle that is found by following `on` from
// operation `stuck`, where on[i] is the operation that i waits for. Returns TB_EDEADLOCK.
static int job_fail_cycle(const struct tb_job *job, const uint32_t *lines,
	const uint32_t *on, uint32_t stuck, struct tb_error *error)
{
	static const char *const joints[] = {"", " waits for ", ", which waits for "};
	struct sentence sentence = {.length = 0};
	uint32_t first = first_of_cycle(job, on, stuck), op = first, n_named = 0;
	do {
		char name[96];
		sentence_add(&sentence, "%s%s", joints[n_named < 2 ? n_named : 2],
			tb_job_describe(job, op, name, sizeof name));
		if (n_named > 0 && lines && lines[op] != 0)
			sentence_add(&sentence, " of line %" PRIu32, lines[op]);
		op = on[op];
		n_named++;
	} while (op != first && n_named < N_NAMED_MAX);
	if (op != first)
		sentence_add(&sentence, ", and so on round to the first: none can start");
	else if (n_named == 1)
		sentence_add(&sentence, " waits for itself: it cannot start");
	else
		sentence_add(&sentence, ", which waits for the first: none can start");
	return job_check_fail(job, lines, first, TB_EDEADLOCK, sentence.text, error);
}

// find_causes stores in `on`, for each stuck operation, one stuck operation that it waits
// for, and returns one of them.
static uint32_t find_causes(const struct tb_job *job, const uint32_t *waits, uint32_t *on)
{
	uint32_t stuck = 0;
	for (uint32_t i = 0; i < job->n_ops; i++) {
		if (waits[i] == 0)
			continue;
		for (uint32_t k = job->first_successor[i];
			k < job->first_successor[i + 1]; k++)
			on[job->successors[k] & ~TB_DEP_START] = i;
		stuck = i;
	}
	return stuck;
}

// job_check_cycles returns TB_EDEADLOCK, naming the operations, if operations of a
// rank wait for each other. `lines` holds the line of each operation in its file, or is
// NULL. Linear in operations and dependencies.
static int job_check_cycles(
	const struct tb_job *job, const uint32_t *lines, struct tb_error *error)
{
	uint32_t *waits = malloc(((size_t)job->n_ops + 1) * sizeof *waits);
	uint32_t *ready = malloc(((size_t)job->n_ops + 1) * sizeof *ready);
	int status = TB_OK;
	if (!waits || !ready)
		status = tb_fail_memory_in(error, job->name, "finding cycles");
	else if (release_successors(job, waits, ready) > 0)
		status = job_fail_cycle(
			job, lines, ready, find_causes(job, waits, ready), error);
	free(waits);
	free(ready);
	return status;
}

// One send or receive, as seen by its destination.
struct match_end {
	uint64_t channel; // source in the upper half, tag in the lower
	uint64_t bytes;
	uint32_t op;
};

// The sends to one rank, and its receives.
struct match_meeting {
	const struct tb_job *job;
	const uint32_t *lines;
	struct tb_job_channels *channels; // may be NULL
	uint32_t rank;
	size_t n_sends;
	size_t n_recvs; // receives without a wildcard
	size_t n_wild;	// receives with one
	struct match_end *sends, *recvs, *spare;
};

// sort_ends is a stable radix sort by channel. It skips the digits in which all channels
// agree, which are most.
static void sort_ends(struct match_end *ends, struct match_end *spare, size_t n)
{
	uint64_t differ = 0;
	bool sorted = true;
	for (size_t i = 1; i < n; i++) {
		differ |= ends[i].channel ^ ends[0].channel;
		sorted = sorted && ends[i - 1].channel <= ends[i].channel;
	}
	for (unsigned shift = 0; shift < 64 && !sorted; shift += 8) {
		if (((differ >> shift) & 0xff) == 0)
			continue;
		size_t starts[257] = {0};
		for (size_t i = 0; i < n; i++)
			starts[((ends[i].channel >> shift) & 0xff) + 1]++;
		for (int digit = 0; digit < 256; digit++)
			starts[digit + 1] += starts[digit];
		for (size_t i = 0; i < n; i++)
			spare[starts[(ends[i].channel >> shift) & 0xff]++] = ends[i];
		memcpy(ends, spare, n * sizeof *ends);
	}
}

static size_t match_channel_end(const struct match_end *ends, size_t from, size_t n)
{
	size_t to = from;
	while (to < n && ends[to].channel == ends[from].channel)
		to++;
	return to;
}

TB_ORDER_BY(order_ends_by_bytes, struct match_end, TB_UP(bytes))

static int fail_match_count(const struct match_meeting *m, const struct match_end *odd,
	size_t n_sends, size_t n_recvs, struct tb_error *error)
{
	char text[sizeof error->text], op[96];
	tb_job_describe(m->job, odd->op, op, sizeof op);
	snprintf(text, sizeof text,
		"%s finds no partner: rank %" PRIu64 " sends %zu of tag %" PRIu64
		" to rank %" PRIu32 ", which receives %zu",
		op, odd->channel >> 32, n_sends, odd->channel & UINT32_MAX, m->rank,
		n_recvs);
	return job_check_fail(m->job, m->lines, odd->op, TB_EFORMAT, text, error);
}

// compare_channel checks the sends [s, s_end) and receives [r, r_end) of one channel. If
// the rank has receives with a wildcard, these may take sends of any channel; then only
// too many receives are an error.
static int compare_channel(const struct match_meeting *m, size_t s, size_t s_end,
	size_t r, size_t r_end, struct tb_error *error)
{
	size_t n_sends = s_end - s, n_recvs = r_end - r;
	if (n_recvs > n_sends)
		return fail_match_count(
			m, &m->recvs[r + n_sends], n_sends, n_recvs, error);
	if (m->n_wild > 0)
		return TB_OK;
	if (n_sends > n_recvs)
		return fail_match_count(
			m, &m->sends[s + n_recvs], n_sends, n_recvs, error);
	// Fail unless `n` sends and `n` receives of one channel can be paired by
	// size. It accepts them in any order: which send meets which receive may depend
	// on time, so only the replay can decide.
	size_t odd = 0;
	while (odd < n_sends && m->sends[s + odd].bytes == m->recvs[r + odd].bytes)
		odd++;
	if (odd == n_sends)
		return TB_OK;
	const struct match_end send = m->sends[s + odd], recv = m->recvs[r + odd];
	qsort(m->sends + s, n_sends, sizeof *m->sends, order_ends_by_bytes);
	qsort(m->recvs + r, n_sends, sizeof *m->recvs, order_ends_by_bytes);
	size_t same = 0;
	while (same < n_sends && m->sends[s + same].bytes == m->recvs[r + same].bytes)
		same++;
	if (same == n_sends)
		return TB_OK;
	char text[sizeof error->text], from[96], to[96];
	tb_job_describe(m->job, send.op, from, sizeof from);
	tb_job_describe(m->job, recv.op, to, sizeof to);
	snprintf(text, sizeof text, "%s meets %s: their sizes differ", from, to);
	return job_check_fail(m->job, m->lines, send.op, TB_EFORMAT, text, error);
}

// number_channel stores the channel's number for each of its sends and receives.
static void number_channel(
	const struct match_meeting *m, size_t s, size_t s_end, size_t r, size_t r_end)
{
	for (; s < s_end; s++)
		m->channels->of[m->sends[s].op] = m->channels->n;
	for (; r < r_end; r++)
		m->channels->of[m->recvs[r].op] = m->channels->n;
	m->channels->n++;
}

static int check_meeting(const struct match_meeting *m, struct tb_error *error)
{
	sort_ends(m->sends, m->spare, m->n_sends);
	sort_ends(m->recvs, m->spare, m->n_recvs);
	// Walk the sorted sends and receives together, channel by channel.
	size_t s = 0, r = 0;
	int status = TB_OK;
	while (status == TB_OK && (s < m->n_sends || r < m->n_recvs)) {
		// No channel is UINT64_MAX: that would need source TB_ANY.
		uint64_t sent = s < m->n_sends ? m->sends[s].channel : UINT64_MAX;
		uint64_t received = r < m->n_recvs ? m->recvs[r].channel : UINT64_MAX;
		size_t s_end =
			sent <= received ? match_channel_end(m->sends, s, m->n_sends) : s;
		size_t r_end =
			received <= sent ? match_channel_end(m->recvs, r, m->n_recvs) : r;
		if (m->channels)
			number_channel(m, s, s_end, r, r_end);
		status = compare_channel(m, s, s_end, r, r_end, error);
		s = s_end;
		r = r_end;
	}
	if (status == TB_OK && m->n_sends != m->n_recvs + m->n_wild)
		return tb_fail_in(error, TB_EFORMAT, m->job->name,
			"rank %" PRIu32
			" has %zu receives (%zu with any source or tag) for %zu messages",
			m->rank, m->n_recvs + m->n_wild, m->n_wild, m->n_sends);
	return status;
}

// The sends of the whole job, grouped by destination.
struct match_inbound {
	uint32_t *first; // n_ranks + 1: sends to rank r are [r] to [r + 1] - 1
	uint32_t *sends; // operations, ascending
	size_t n_most;	 // bound on the sends to a rank and on a rank's operations
};

// take_sends lists the sends to the meeting's rank, ordered by source, and returns the
// number of sources.
static uint64_t take_sends(struct match_meeting *m, const struct match_inbound *inbound)
{
	const struct tb_job *job = m->job;
	uint64_t n_sources = 0;
	uint32_t source = 0;
	m->n_sends = 0;
	for (uint32_t i = inbound->first[m->rank]; i < inbound->first[m->rank + 1]; i++) {
		uint32_t op = inbound->sends[i];
		// Operations ascend, so the source changes rarely; search only then.
		bool another = m->n_sends == 0 || op >= job->first_op[source + 1];
		if (another)
			source = tb_job_rank_of(job, op);
		n_sources += another;
		m->sends[m->n_sends++] =
			(struct match_end){(uint64_t)source << 32 | job->ops[op].tag,
				job->ops[op].amount, op};
	}
	return n_sources;
}

// job_check_matches returns TB_EFORMAT if sends and receives can never match: those of
// a channel must agree in number and in sizes. Where a rank receives with a wildcard,
// time decides which of them match, so it checks only the numbers. It also counts
// job->n_pairs, and numbers the channels unless `channels` is NULL. Linear in sends and
// receives.
static int job_check_matches(struct tb_job *job, const uint32_t *lines,
	struct tb_job_channels *channels, struct tb_error *error)
{
	struct match_inbound inbound = {0};
	struct match_meeting m = {.job = job, .lines = lines, .channels = channels};
	int status = TB_ENOMEM;
	inbound.first = calloc((size_t)job->n_ranks + 1, sizeof *inbound.first);
	inbound.sends = malloc(((size_t)job->n_ops + 1) * sizeof *inbound.sends);
	if (!inbound.first || !inbound.sends)
		goto done;
	uint32_t *first = inbound.first;
	for (uint32_t i = 0; i < job->n_ops; i++)
		if (job->ops[i].kind == TB_OP_SEND)
			first[job->ops[i].peer]++;
	uint32_t end = 0;
	for (uint32_t r = 0; r < job->n_ranks; r++) {
		uint32_t n_own = job->first_op[r + 1] - job->first_op[r];
		uint32_t n_most = n_own > first[r] ? n_own : first[r];
		inbound.n_most = tb_max_u64(inbound.n_most, n_most);
		first[r] = end += first[r];
	}
	first[job->n_ranks] = end;
	for (uint32_t i = job->n_ops; i-- > 0;)
		if (job->ops[i].kind == TB_OP_SEND)
			inbound.sends[--first[job->ops[i].peer]] = i;
	m.sends = malloc((inbound.n_most + 1) * sizeof *m.sends);
	m.recvs = malloc((inbound.n_most + 1) * sizeof *m.recvs);
	m.spare = malloc((inbound.n_most + 1) * sizeof *m.spare);
	if (!m.sends || !m.recvs || !m.spare)
		goto done;
	status = TB_OK;
	job->n_pairs = 0;
	for (m.rank = 0; m.rank < job->n_ranks && status == TB_OK; m.rank++) {
		m.n_recvs = m.n_wild = 0;
		for (uint32_t i = job->first_op[m.rank]; i < job->first_op[m.rank + 1];
			i++) {
			const struct tb_op *op = &job->ops[i];
			if (op->kind != TB_OP_RECV)
				continue;
			if (op->peer == TB_ANY || op->tag == TB_ANY)
				m.n_wild++;
			else
				m.recvs[m.n_recvs++] = (struct match_end){
					(uint64_t)op->peer << 32 | op->tag, op->amount,
					i};
		}
		job->n_pairs += take_sends(&m, &inbound);
		tb_job_cool(job);
		status = check_meeting(&m, error);
		if (channels && m.n_wild > 0)
			channels->any_wildcard = true;
	}
done:
	if (status == TB_ENOMEM)
		tb_fail_memory_in(error, job->name, "pairing sends and receives");
	free(m.sends);
	free(m.recvs);
	free(m.spare);
	free(inbound.first);
	free(inbound.sends);
	return status;
}

#define DONE UINT32_MAX // instead of the number of operations waited for
#define NONE UINT32_MAX

// The state of one channel during the trial.
struct deadlock_channel {
	uint32_t n_sent;  // messages; where `ordered`, only those not received
	uint32_t waiting; // first of a list of receives that wait for a message, or NONE
	uint32_t last;	  // last receive seen; in the end, first send that is stuck
	bool ordered;	  // each receive starts after the one before it is done
};

// The job executed in no time, without a network: a send is done when it starts, a
// receive when there is a message for it. Whatever a replay can do is done here too, so
// what is stuck here is stuck there. If the receives of a channel are ordered, it is
// clear which of them gets a message. Otherwise the order of arrival decides, which is
// unknown, so one message satisfies all of them.
struct trial {
	const struct tb_job *job;
	const uint32_t *channel_of;
	struct deadlock_channel *channels;
	uint32_t *waits; // by operation: how many it still waits for, or DONE
	uint32_t *ready; // stack of operations that can start
	uint32_t *next;	 // by receive: the next one in the channel's list
	uint32_t n_ready, n_done;
};

// trial_pass counts down the dependencies of those successors that waited for the end
// (`kind` 0) or the start (TB_DEP_START) of `op`.
static void trial_pass(struct trial *trial, uint32_t op, uint32_t kind)
{
	const struct tb_job *job = trial->job;
	for (uint32_t k = job->first_successor[op]; k < job->first_successor[op + 1];
		k++) {
		uint32_t next = job->successors[k] & ~TB_DEP_START;
		if ((job->successors[k] & TB_DEP_START) == kind &&
			--trial->waits[next] == 0)
			trial->ready[trial->n_ready++] = next;
	}
}

static void trial_end(struct trial *trial, uint32_t op)
{
	trial->waits[op] = DONE;
	trial->n_done++;
	trial_pass(trial, op, 0);
}

static void trial_start(struct trial *trial, uint32_t op)
{
	trial_pass(trial, op, TB_DEP_START);
	switch ((enum tb_op_kind)trial->job->ops[op].kind) {
	case TB_OP_CALC:
		trial_end(trial, op);
		break;
	case TB_OP_SEND: {
		struct deadlock_channel *channel =
			&trial->channels[trial->channel_of[op]];
		uint32_t receive = channel->waiting;
		trial_end(trial, op);
		channel->n_sent++;
		channel->waiting = NONE;
		if (channel->ordered && receive != NONE)
			channel->n_sent--;
		while (receive != NONE) {
			uint32_t next = trial->next[receive];
			trial_end(trial, receive);
			receive = next;
		}
	} break;
	case TB_OP_RECV: {
		struct deadlock_channel *channel =
			&trial->channels[trial->channel_of[op]];
		if (channel->n_sent > 0) {
			channel->n_sent -= channel->ordered;
			trial_end(trial, op);
		} else {
			trial->next[op] = channel->waiting;
			channel->waiting = op;
		}
	} break;
	}
}

// is_next_in_order returns whether `op` requires the operation before it.
static bool is_next_in_order(const struct tb_job *job, uint32_t op)
{
	for (uint32_t k = job->first_successor[op - 1]; k < job->first_successor[op]; k++)
		if (job->successors[k] == op)
			return true;
	return false;
}

// order_channels finds the channels whose receives all lie in one chain of operations
// that each require the one before, as in a program without nonblocking calls. Finding
// other orders would take more than linear time.
static void order_channels(struct trial *trial, uint32_t n_channels)
{
	const struct tb_job *job = trial->job;
	uint32_t chain = 0; // first operation of the chain that i is in
	for (uint32_t i = 0; i < n_channels; i++)
		trial->channels[i] = (struct deadlock_channel){
			.waiting = NONE, .last = NONE, .ordered = true};
	for (uint32_t i = 0; i < job->n_ops; i++) {
		if (i % COOLED == 0)
			tb_job_cool(job);
		if (i > 0 && !is_next_in_order(job, i))
			chain = i;
		if (job->ops[i].kind != TB_OP_RECV)
			continue;
		struct deadlock_channel *channel = &trial->channels[trial->channel_of[i]];
		if (channel->last != NONE && channel->last < chain)
			channel->ordered = false;
		channel->last = i;
	}
}

static void run_trial(struct trial *trial)
{
	const struct tb_job *job = trial->job;
	memcpy(trial->waits, job->n_predecessors, job->n_ops * sizeof *trial->waits);
	for (uint32_t i = 0; i < job->n_ops; i++) {
		if (i % COOLED == 0)
			tb_job_cool(job);
		if (job->n_predecessors[i] != 0)
			continue;
		trial_start(trial, i);
		while (trial->n_ready > 0)
			trial_start(trial, trial->ready[--trial->n_ready]);
	}
}

// fail_trial reports the cycle: an operation waits for a predecessor that is not done
// (for the first of several), a started receive waits for the first send that has not
// started.
static int fail_trial(struct trial *trial, const uint32_t *lines, struct tb_error *error)
{
	const struct tb_job *job = trial->job;
	uint32_t *on = trial->ready, stuck = 0;
	for (uint32_t i = job->n_ops; i-- > 0;) {
		if (trial->waits[i] == DONE)
			continue;
		stuck = i;
		if (job->ops[i].kind == TB_OP_SEND)
			trial->channels[trial->channel_of[i]].last = i;
		for (uint32_t k = job->first_successor[i];
			k < job->first_successor[i + 1]; k++)
			if (trial->waits[i] > 0 || !(job->successors[k] & TB_DEP_START))
				on[job->successors[k] & ~TB_DEP_START] = i;
	}
	for (uint32_t i = 0; i < job->n_ops; i++)
		if (trial->waits[i] == 0)
			on[i] = trial->channels[trial->channel_of[i]].last;
	return job_fail_cycle(job, lines, on, stuck, error);
}

// job_waits_across returns whether any operation waits for a receive. If none does,
// ranks cannot wait for each other.
static bool job_waits_across(const struct tb_job *job)
{
	for (uint32_t i = 0; i < job->n_ops; i++)
		if (job->ops[i].kind == TB_OP_RECV &&
			job->first_successor[i] != job->first_successor[i + 1])
			return true;
	return false;
}

// job_check_deadlock returns TB_EDEADLOCK, naming the operations, if ranks wait for
// each other's messages whatever the network does, even if every send is done at once.
// Call it after job_check_matches has passed. Where the order of arrival decides which
// of several receives gets a message, it reports only what is stuck in every order, and
// with wildcards nothing: such deadlocks show in the replay. Linear in operations and
// dependencies.
static int job_check_deadlock(const struct tb_job *job, const uint32_t *lines,
	const struct tb_job_channels *channels, struct tb_error *error)
{
	if (channels->any_wildcard)
		return TB_OK;
	struct trial trial = {.job = job, .channel_of = channels->of};
	trial.channels = malloc(((size_t)channels->n + 1) * sizeof *trial.channels);
	trial.waits = malloc(((size_t)job->n_ops + 1) * sizeof *trial.waits);
	trial.ready = malloc(((size_t)job->n_ops + 1) * sizeof *trial.ready);
	trial.next = malloc(((size_t)job->n_ops + 1) * sizeof *trial.next);
	int status = TB_OK;
	if (trial.channels && trial.waits && trial.ready && trial.next) {
		order_channels(&trial, channels->n);
		run_trial(&trial);
		if (trial.n_done < job->n_ops)
			status = fail_trial(&trial, lines, error);
	} else {
		status = tb_fail_memory_in(error, job->name, "finding deadlocks");
	}
	free(trial.channels);
	free(trial.waits);
	free(trial.ready);
	free(trial.next);
	return status;
}

// check_across checks sends and receives between ranks.
static int check_across(struct tb_job *job, const uint32_t *lines, struct tb_error *error)
{
	struct tb_job_channels channels = {0};
	if (!job_waits_across(job))
		return job_check_matches(job, lines, NULL, error);
	channels.of = malloc(job->n_ops * sizeof *channels.of);
	if (!channels.of)
		return tb_fail_memory_in(error, job->name, "finding deadlocks");
	int status = job_check_matches(job, lines, &channels, error);
	TB_THEN(status, job_check_deadlock(job, lines, &channels, error));
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
	status = b->forward ? TB_OK : job_check_cycles(made, b->lines, error);
	TB_THEN(status, check_across(made, b->lines, error));
	if (status == TB_OK)
		*job = made;
	else
		tb_job_free(made);
	return status;
}
