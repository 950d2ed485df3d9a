// Random jobs survive both forms of GOAL unchanged and become jobs in other formats, and
// faults planted in them are found.
#include "../support/job_read.h"
#include "goal.h"
#include "job_write.h"
#include "random.h"
#include "trace.h"

#include "../job_equal.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define N_JOBS	    300
#define N_RANKS_MAX 12
#define N_OPS_MAX   60 // a rank
#define KEPT	    "property_capture_goal.failed.goal"
#define FILES	    "property_capture_goal"

struct program {
	uint32_t n_ranks;
	uint32_t n_ops[N_RANKS_MAX];
	uint32_t when[N_RANKS_MAX][N_OPS_MAX]; // an order in which it can run
	uint32_t now;
	bool wildcards;
	struct tb_op ops[N_RANKS_MAX][N_OPS_MAX];
	size_t n_deps;
	struct {
		uint32_t rank, index, on;
		bool on_start;
	} deps[4000];
};

static uint32_t below(struct tb_random *random, uint32_t bound)
{
	return (uint32_t)tb_random_below(random, bound);
}

static bool one_in(struct tb_random *random, uint32_t n)
{
	return below(random, n) == 0;
}

static void put(
	struct program *p, uint32_t rank, struct tb_op op, struct tb_random *random)
{
	op.cpu = one_in(random, 4) ? (uint8_t)below(random, 256) : 0;
	op.nic = one_in(random, 4) ? (uint8_t)below(random, 256) : 0;
	// Insert it anywhere, so that operations are not in the order in which they run.
	uint32_t n = p->n_ops[rank]++, at = below(random, n + 1);
	p->ops[rank][n] = p->ops[rank][at];
	p->when[rank][n] = p->when[rank][at];
	p->ops[rank][at] = op;
	p->when[rank][at] = p->now++;
}

static void put_message(struct program *p, struct tb_random *random)
{
	uint32_t from = below(random, p->n_ranks), to = below(random, p->n_ranks);
	if (p->n_ops[from] > N_OPS_MAX - 2 || p->n_ops[to] > N_OPS_MAX - 2)
		return;
	struct tb_op op = {.kind = TB_OP_SEND,
		.peer = to,
		.tag = below(random, one_in(random, 3) ? UINT32_MAX : 3),
		.amount = one_in(random, 5) ? tb_random_next(random) >> 1
					    : below(random, 3),
		.planned = one_in(random, 3)};
	put(p, from, op, random);
	op.kind = TB_OP_RECV;
	op.peer = p->wildcards && one_in(random, 20) ? TB_ANY : from;
	op.tag = p->wildcards && one_in(random, 20) ? TB_ANY : op.tag;
	put(p, to, op, random);
}

// put_deps makes operations wait for earlier ones; with `wild`, for any that leave the
// rank without a cycle, although ranks may then deadlock with each other.
static void put_deps(
	struct program *p, uint32_t rank, bool wild, struct tb_random *random)
{
	uint32_t order[N_OPS_MAX], n = p->n_ops[rank];
	for (uint32_t i = 0; i < n; i++) {
		uint32_t k = i;
		if (wild)
			k = below(random, i + 1);
		while (!wild && k > 0 && p->when[rank][order[k - 1]] > p->when[rank][i])
			k--;
		memmove(order + k + 1, order + k, (i - k) * sizeof *order);
		order[k] = i;
	}
	for (uint32_t i = 1; i < n; i++)
		for (uint32_t k = below(random, 4); k > 0; k--) {
			p->deps[p->n_deps].rank = rank;
			p->deps[p->n_deps].index = order[i];
			p->deps[p->n_deps].on = order[below(random, i)];
			p->deps[p->n_deps++].on_start = one_in(random, 3);
		}
}

static void make(struct program *p, bool wild, struct tb_random *random)
{
	memset(p, 0, sizeof *p);
	p->wildcards = one_in(random, 3);
	p->n_ranks = 1 + below(random, N_RANKS_MAX);
	for (uint32_t i = below(random, p->n_ranks * (wild ? 8 : N_OPS_MAX / 3)); i > 0;
		i--)
		put_message(p, random);
	for (uint32_t rank = 0; rank < p->n_ranks; rank++) {
		struct tb_op op = {.kind = TB_OP_CALC, .amount = below(random, 1000)};
		if (one_in(random, 2) && p->n_ops[rank] < N_OPS_MAX)
			put(p, rank, op, random);
		put_deps(p, rank, wild, random);
	}
}

// build builds the job, rank after rank or with ranks mixed.
static int build(
	struct tb_job **job, const struct program *p, bool mixed, struct tb_error *error)
{
	struct tb_job_builder *builder;
	assert_int_equal(tb_job_builder_new(&builder, p->n_ranks, NULL), TB_OK);
	for (uint32_t i = 0; i < p->n_ranks * N_OPS_MAX; i++) {
		uint32_t rank = mixed ? i % p->n_ranks : i / N_OPS_MAX;
		uint32_t index = mixed ? i / p->n_ranks : i % N_OPS_MAX;
		if (index < p->n_ops[rank])
			tb_job_add(builder, rank, &p->ops[rank][index]);
	}
	for (size_t i = 0; i < p->n_deps; i++) {
		size_t k = mixed ? p->n_deps - 1 - i : i;
		tb_job_depend(builder, p->deps[k].rank, p->deps[k].index, p->deps[k].on,
			p->deps[k].on_start);
	}
	*job = NULL;
	int status = tb_job_finish(builder, "random", job, error);
	tb_job_builder_free(builder);
	return status;
}

static struct tb_job *through(const struct tb_job *job,
	int (*write)(const struct tb_job *, FILE *, struct tb_error *),
	int (*read)(struct tb_job **, FILE *, const char *, struct tb_error *))
{
	char *bytes = NULL;
	size_t n;
	struct tb_error error = {0};
	struct tb_job *back = NULL;
	FILE *stream = open_memstream(&bytes, &n);
	assert_int_equal(write(job, stream, NULL), TB_OK);
	fclose(stream);
	stream = fmemopen(bytes, n, "rb");
	if (read(&back, stream, "back", &error) != TB_OK)
		print_error("line or offset %" PRIu64 ": %s\n", error.at, error.text);
	fclose(stream);
	free(bytes);
	return back;
}

static void keep(const struct tb_job *job, uint64_t seed, const char *what)
{
	if (tb_job_write_text(job, KEPT, NULL) == TB_OK)
		print_error("kept in %s\n", KEPT);
	fail_msg("seed %" PRIu64 ": %s", seed, what);
}

// name_ranks gives some jobs hosts, of which some are unknown, and some endpoints.
static void name_ranks(struct tb_job *job, struct tb_random *random)
{
	char text[64];
	if (one_in(random, 2))
		job->hosts = calloc(job->n_ranks, sizeof(char *));
	if (one_in(random, 2))
		job->endpoints = calloc(job->n_ranks, sizeof(char *));
	for (uint32_t i = 0; i < job->n_ranks; i++) {
		snprintf(text, sizeof text, "n%u.\xc3\xa4 // x", below(random, 4));
		if (job->hosts && (i == 0 || !one_in(random, 4)))
			job->hosts[i] = strdup(text);
		if (job->endpoints)
			job->endpoints[i] = strdup("10.77.0.1");
	}
}

static bool same_names(char *const *a, char *const *b, uint32_t n)
{
	if (!a || !b)
		return a == b;
	for (uint32_t i = 0; i < n; i++)
		if (!a[i] != !b[i] || (a[i] && strcmp(a[i], b[i]) != 0))
			return false;
	return true;
}

static bool equal(const struct tb_job *a, const struct tb_job *b)
{
	return b && job_equal(a, b) && same_names(a->hosts, b->hosts, a->n_ranks) &&
	       same_names(a->endpoints, b->endpoints, a->n_ranks);
}

static void random_jobs_survive_both_forms(void **state)
{
	(void)state;
	static struct program program;
	for (uint64_t seed = 0; seed < N_JOBS; seed++) {
		struct tb_random random;
		struct tb_job *job, *mixed;
		struct tb_error error = {0};
		tb_random_init(&random, seed, 0);
		make(&program, false, &random);
		if (build(&job, &program, false, &error) != TB_OK)
			fail_msg("seed %" PRIu64 ": %s", seed, error.text);
		assert_int_equal(build(&mixed, &program, true, NULL), TB_OK);
		name_ranks(job, &random);
		struct tb_job *text = through(job, tb_goal_text_write, tb_goal_text_read);
		struct tb_job *binary =
			through(job, tb_goal_binary_write, tb_goal_binary_read);
		if (!job_equal(job, mixed))
			keep(job, seed, "the order of building shows");
		if (!equal(job, text))
			keep(job, seed, "text reads back as another job");
		if (!equal(job, binary))
			keep(job, seed, "binary reads back as another job");
		tb_job_free(job);
		tb_job_free(mixed);
		tb_job_free(text);
		tb_job_free(binary);
	}
}

// plant spoils a good program in one of four ways and returns the status that must report
// it; 0 when this program has no room for the fault.
static enum tb_status plant(struct program *p, uint32_t fault, struct tb_random *random)
{
	uint32_t rank = below(random, p->n_ranks), n = p->n_ops[rank];
	if (n == 0)
		return TB_OK;
	struct tb_op *op = &p->ops[rank][below(random, n)];
	switch (fault) {
	case 0: // a dependency reversed
		if (p->n_deps == 0)
			return TB_OK;
		p->deps[p->n_deps] = p->deps[below(random, (uint32_t)p->n_deps)];
		uint32_t on = p->deps[p->n_deps].on;
		p->deps[p->n_deps].on = p->deps[p->n_deps].index;
		p->deps[p->n_deps++].index = on;
		return TB_EDEADLOCK;
	case 1: // a message that nobody sends or nobody receives
		if (op->kind == TB_OP_CALC)
			return TB_OK;
		*op = (struct tb_op){.kind = TB_OP_CALC};
		return TB_EFORMAT;
	case 2: // one receive too many
		if (n == N_OPS_MAX)
			return TB_OK;
		p->ops[rank][p->n_ops[rank]++] =
			(struct tb_op){.kind = TB_OP_RECV, .peer = 0, .tag = 77};
		return TB_EFORMAT;
	default: // a size that no message has, where no wildcard hides it
		for (uint32_t i = 0; i < n; i++)
			if (p->ops[rank][i].kind == TB_OP_RECV &&
				(p->ops[rank][i].peer == TB_ANY ||
					p->ops[rank][i].tag == TB_ANY))
				return TB_OK;
		if (op->kind != TB_OP_RECV)
			return TB_OK;
		op->amount ^= UINT64_C(1) << 63;
		return TB_EFORMAT;
	}
}

static void a_planted_fault_is_found(void **state)
{
	(void)state;
	static struct program program;
	unsigned n_found[4] = {0};
	for (uint64_t seed = 0; seed < N_JOBS * 4; seed++) {
		struct tb_random random;
		struct tb_job *job;
		struct tb_error error = {0};
		tb_random_init(&random, seed / 4, 0);
		make(&program, false, &random);
		enum tb_status expected = plant(&program, seed % 4, &random);
		int status = build(&job, &program, false, &error);
		if (status != (int)expected)
			fail_msg("seed %" PRIu64 ": fault %u gives status %d: %s", seed,
				(unsigned)(seed % 4), status, error.text);
		n_found[seed % 4] += expected != TB_OK;
		tb_job_free(job);
	}
	for (int fault = 0; fault < 4; fault++)
		assert_in_range(n_found[fault], 30, N_JOBS);
}

// The naive model goes over the operations again and again, each time from a random one,
// and does those that can be done, until a whole round has done none. It does not keep
// messages in order.
struct model {
	uint32_t n_waits[N_RANKS_MAX][N_OPS_MAX];
	bool started[N_RANKS_MAX][N_OPS_MAX], done[N_RANKS_MAX][N_OPS_MAX];
	bool taken[N_RANKS_MAX][N_OPS_MAX]; // by send: received
};

static void let_go(const struct program *p, struct model *m, uint32_t rank,
	uint32_t index, bool on_start)
{
	for (size_t k = 0; k < p->n_deps; k++)
		if (p->deps[k].rank == rank && p->deps[k].on == index &&
			p->deps[k].on_start == on_start)
			m->n_waits[rank][p->deps[k].index]--;
}

static bool find_message(
	const struct program *p, struct model *m, uint32_t rank, const struct tb_op *recv)
{
	for (uint32_t i = 0; i < p->n_ops[recv->peer]; i++) {
		const struct tb_op *send = &p->ops[recv->peer][i];
		if (send->kind != TB_OP_SEND || send->peer != rank ||
			send->tag != recv->tag || !m->done[recv->peer][i] ||
			m->taken[recv->peer][i])
			continue;
		m->taken[recv->peer][i] = true;
		return true;
	}
	return false;
}

static bool step(const struct program *p, struct model *m, uint32_t rank, uint32_t index)
{
	const struct tb_op *op = &p->ops[rank][index];
	if (m->done[rank][index] || m->n_waits[rank][index] > 0)
		return false;
	bool starts = !m->started[rank][index];
	if (starts)
		let_go(p, m, rank, index, true);
	m->started[rank][index] = true;
	if (op->kind == TB_OP_RECV && !find_message(p, m, rank, op))
		return starts;
	m->done[rank][index] = true;
	let_go(p, m, rank, index, false);
	return true;
}

static bool model_completes(const struct program *p, struct tb_random *random)
{
	static struct model m;
	memset(&m, 0, sizeof m);
	for (size_t k = 0; k < p->n_deps; k++)
		m.n_waits[p->deps[k].rank][p->deps[k].index]++;
	for (bool moved = true; moved;) {
		moved = false;
		uint32_t first = below(random, N_RANKS_MAX * N_OPS_MAX);
		for (uint32_t i = 0; i < N_RANKS_MAX * N_OPS_MAX; i++) {
			uint32_t at = (first + i) % (N_RANKS_MAX * N_OPS_MAX);
			uint32_t rank = at / N_OPS_MAX, index = at % N_OPS_MAX;
			if (rank < p->n_ranks && index < p->n_ops[rank])
				moved |= step(p, &m, rank, index);
		}
	}
	for (uint32_t rank = 0; rank < p->n_ranks; rank++)
		for (uint32_t i = 0; i < p->n_ops[rank]; i++)
			if (!m.done[rank][i])
				return false;
	return true;
}

// one_tag_each gives every message a tag of its own. Then deadlocks do not depend on
// time, and the check must find them all.
static void one_tag_each(struct program *p)
{
	for (uint32_t rank = 0; rank < p->n_ranks; rank++)
		for (uint32_t i = 0; i < p->n_ops[rank]; i++) {
			struct tb_op *op = &p->ops[rank][i];
			// A send and its receive were added one after the other.
			if (op->kind != TB_OP_CALC)
				op->tag = p->when[rank][i] / 2;
		}
}

static void deadlocks_are_those_of_the_naive_model(void **state)
{
	(void)state;
	static struct program program;
	unsigned n_deadlocks = 0, n_complete = 0;
	for (uint64_t seed = 0; seed < N_JOBS * 10; seed++) {
		struct tb_random random;
		struct tb_job *job;
		struct tb_error error = {0};
		tb_random_init(&random, seed, 1);
		make(&program, true, &random);
		if (program.wildcards)
			continue;
		bool exact = seed % 2 == 0;
		if (exact)
			one_tag_each(&program);
		int status = build(&job, &program, false, &error);
		tb_job_free(job);
		bool completes = false;
		for (int turn = 0; turn < (exact ? 1 : 5); turn++)
			completes |= model_completes(&program, &random);
		if (status == TB_EDEADLOCK ? completes : exact && !completes)
			fail_msg("seed %" PRIu64 ": status %d, and the model %s", seed,
				status, completes ? "completes" : "is stuck");
		n_deadlocks += status == TB_EDEADLOCK;
		n_complete += status == TB_OK;
	}
	assert_in_range(n_deadlocks, 300, N_JOBS * 10);
	assert_in_range(n_complete, 300, N_JOBS * 10);
}

// sent adds up what ranks send to others, a message of no bytes as one.
static uint64_t sent(const struct tb_job *job, uint64_t *n)
{
	uint64_t bytes = 0;
	*n = 0;
	for (uint32_t i = 0; i < job->n_ops; i++)
		if (job->ops[i].kind == TB_OP_SEND &&
			job->ops[i].peer != tb_job_rank_of(job, i)) {
			bytes += job->ops[i].amount ? job->ops[i].amount : 1;
			++*n;
		}
	return bytes;
}

// written writes a job to `path` and reads it from `first`; NULL when the format cannot
// hold it.
static struct tb_job *written(
	const struct tb_job *job, const char *path, const char *first, uint64_t seed)
{
	struct tb_error error = {0};
	struct tb_job *back = NULL;
	char *note = NULL;
	int status = tb_job_write(job, tb_job_form_of(path), path, &note, &error);
	free(note);
	if (status == TB_EUSAGE)
		return NULL;
	assert_int_equal(status, TB_OK);
	if (job_read(&back, first, &error) != TB_OK)
		fail_msg("seed %" PRIu64 ": %s at %" PRIu64 ": %s", seed, error.file,
			error.at, error.text);
	return back;
}

static void remove_files(uint32_t n_ranks)
{
	char name[64];
	remove(FILES ".cm");
	for (uint32_t i = 0; i < n_ranks; i++) {
		snprintf(name, sizeof name, FILES ".%u.et", i);
		remove(name);
	}
}

// a_job_of makes a job with messages that other formats have the sizes of.
static struct tb_job *a_job_of(uint64_t seed)
{
	static struct program program;
	struct tb_random random;
	struct tb_job *job;
	tb_random_init(&random, seed, 1);
	make(&program, false, &random);
	for (uint32_t r = 0; r < program.n_ranks; r++)
		for (uint32_t i = 0; i < program.n_ops[r]; i++)
			if (program.ops[r][i].kind != TB_OP_CALC)
				program.ops[r][i].amount %= 1000000;
	assert_int_equal(build(&job, &program, false, NULL), TB_OK);
	return job;
}

static uint64_t computed(const struct tb_job *job)
{
	struct tb_job_summary summary;
	tb_job_summarize(job, &summary);
	return summary.calc_ns;
}

static void random_jobs_become_others_that_can_run(void **state)
{
	(void)state;
	uint32_t n_flows = 0, n_graphs = 0;
	for (uint64_t seed = 0; seed < N_JOBS; seed++) {
		struct tb_job *job = a_job_of(seed);
		struct tb_job *flows = written(job, FILES ".cm", FILES ".cm", seed);
		struct tb_job *graph = written(job, FILES ".et", FILES ".0.et", seed);
		uint64_t n = 0, n_sent = 0, bytes = sent(job, &n);
		if (flows) {
			assert_int_equal(sent(flows, &n_sent), bytes);
			assert_int_equal(n_sent, n);
			n_flows++;
		}
		if (graph) {
			assert_int_equal(sent(graph, &n_sent), bytes);
			assert_int_equal(n_sent, n);
			assert_int_equal(computed(graph), computed(job));
			n_graphs++;
		}
		remove_files(job->n_ranks);
		tb_job_free(job);
		tb_job_free(flows);
		tb_job_free(graph);
	}
	assert_in_range(n_flows, N_JOBS / 4, N_JOBS);
	assert_in_range(n_graphs, N_JOBS / 4, N_JOBS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_jobs_become_others_that_can_run),
		cmocka_unit_test(random_jobs_survive_both_forms),
		cmocka_unit_test(a_planted_fault_is_found),
		cmocka_unit_test(deadlocks_are_those_of_the_naive_model),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
