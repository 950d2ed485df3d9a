// Random programs of calls become jobs that take as long, on a network that takes no
// time, as a naive model of the calls does; and that send as many bytes from each rank to
// each other as the messages and the plans of the collective calls say.
#include "calls_job.h"
#include "library.h"
#include "random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define RANKS_MOST  6
#define LANES	    2
#define CALLS_MOST  400 // of a rank
#define AFTERS_MOST 8

// A call as the naive model sees it.
struct known {
	struct tb_call call;
	uint32_t after[AFTERS_MOST], n_after;
	uint32_t partner; // of a send or receive: the other rank's call
	uint32_t barrier; // which one, of all
	uint64_t start, done, returned;
};

static struct tb_error error;
static struct tb_random randomness;
static struct tb_calls *calls;
static struct known known[RANKS_MOST][CALLS_MOST];
static uint32_t n_known[RANKS_MOST];
static uint32_t n_ranks, n_barriers;
static uint64_t sent[RANKS_MOST][RANKS_MOST]; // bytes that the job should send
static uint32_t open_calls[RANKS_MOST][LANES][AFTERS_MOST];
static uint32_t n_open[RANKS_MOST][LANES];

static uint32_t below(uint32_t n)
{
	return (uint32_t)tb_random_below(&randomness, n);
}

static uint32_t put(uint32_t rank, struct tb_call call)
{
	call.calc_ns = below(3) ? below(1000) : 0;
	known[rank][n_known[rank]++] = (struct known){.call = call};
	return tb_calls_add(calls, rank, &call);
}

static void put_after(uint32_t rank, uint32_t on)
{
	struct known *last = &known[rank][n_known[rank] - 1];
	tb_calls_after(calls, rank, on);
	last->after[last->n_after++] = on;
}

// leave_open remembers a call that started something, for a wait of its lane.
static void leave_open(uint32_t rank, uint32_t lane, uint32_t call)
{
	if (n_open[rank][lane] < AFTERS_MOST)
		open_calls[rank][lane][n_open[rank][lane]++] = call;
}

static void put_wait(uint32_t rank, uint32_t lane)
{
	put(rank, (struct tb_call){.kind = TB_CALL_JOINT, .lane = lane});
	for (uint32_t i = 0; i < n_open[rank][lane]; i++)
		put_after(rank, open_calls[rank][lane][i]);
	n_open[rank][lane] = 0;
}

// put_message: the receive starts, so that the order of programs cannot be a deadlock.
static void put_message(bool rendezvous)
{
	uint32_t from = below(n_ranks), to = below(n_ranks), lane = below(LANES);
	uint64_t bytes = rendezvous && below(4) == 0 ? 100000 : below(65480);
	struct tb_call recv = {.kind = TB_CALL_RECV,
		.peer = from,
		.bytes = bytes,
		.tag = lane,
		.lane = lane,
		.starts = true};
	struct tb_call send = recv;
	uint32_t received = put(to, recv);
	send.kind = TB_CALL_SEND;
	send.peer = to;
	send.starts = below(2);
	uint32_t sends = put(from, send);
	known[to][received].partner = sends;
	known[from][sends].partner = received;
	leave_open(to, lane, received);
	if (send.starts)
		leave_open(from, lane, sends);
	sent[from][to] += bytes;
}

// put_collective adds a call of all ranks, each in the same lane.
static void put_collective(enum tb_collective_op op, uint64_t bytes, bool starts)
{
	uint32_t lane = below(LANES), root = below(n_ranks);
	for (uint32_t r = 0; r < n_ranks; r++) {
		uint32_t index = put(r, (struct tb_call){.kind = TB_CALL_COLLECTIVE,
						.op = (uint8_t)op,
						.bytes = bytes,
						.peer = root,
						.lane = lane,
						.starts = starts});
		known[r][index].barrier = n_barriers;
		if (starts)
			leave_open(r, lane, index);
	}
	n_barriers++;
}

static void begin(uint64_t seed)
{
	tb_random_init(&randomness, seed, 0);
	memset(n_known, 0, sizeof n_known);
	memset(sent, 0, sizeof sent);
	memset(n_open, 0, sizeof n_open);
	n_barriers = 0;
	n_ranks = 1 + below(RANKS_MOST);
	assert_int_equal(tb_calls_new(&calls, n_ranks, &error), TB_OK);
}

// settle computes the times of a call from those of others, and returns whether they
// changed.
static bool settle(uint32_t r, uint32_t i, uint32_t before, uint64_t *barriers)
{
	struct known *k = &known[r][i];
	uint64_t ready = 0, from = before == UINT32_MAX ? 0 : known[r][before].returned;
	for (uint32_t a = 0; a < k->n_after; a++) {
		uint64_t done = known[r][k->after[a]].done;
		ready = done > ready ? done : ready;
	}
	if (before == UINT32_MAX && ready > from)
		from = ready;
	uint64_t start = from + k->call.calc_ns;
	start = ready > start ? ready : start;
	uint64_t done = start;
	if (k->call.kind == TB_CALL_COLLECTIVE) {
		if (start > barriers[k->barrier])
			barriers[k->barrier] = start;
		done = barriers[k->barrier];
	}
	const struct known *other = &known[k->call.peer][k->partner];
	bool asks = k->call.bytes > 65480 && k->call.peer != r;
	bool waits =
		k->call.kind == TB_CALL_RECV || (k->call.kind == TB_CALL_SEND && asks);
	if (waits && other->start > done)
		done = other->start;
	uint64_t returned = k->call.starts ? start : done;
	bool changed = start != k->start || done != k->done || returned != k->returned;
	k->start = start;
	k->done = done;
	k->returned = returned;
	return changed;
}

// naive_end returns when the last call of all is complete.
static uint64_t naive_end(void)
{
	uint64_t end = 0;
	uint64_t *barriers = calloc(n_barriers + 1, sizeof *barriers);
	for (bool changed = true; changed;) {
		changed = false;
		for (uint32_t r = 0; r < n_ranks; r++) {
			uint32_t last[LANES] = {UINT32_MAX, UINT32_MAX};
			for (uint32_t i = 0; i < n_known[r]; i++) {
				uint32_t lane = known[r][i].call.lane;
				changed |= settle(r, i, last[lane], barriers);
				last[lane] = i;
			}
		}
	}
	for (uint32_t r = 0; r < n_ranks; r++)
		for (uint32_t i = 0; i < n_known[r]; i++)
			end = known[r][i].done > end ? known[r][i].done : end;
	free(barriers);
	return end;
}

// pair_ops stores for each receive the send that it meets: by sender, receiver and tag,
// in their order.
static uint32_t *pair_ops(const struct tb_job *job)
{
	uint32_t *met = calloc(job->n_ops + 1, sizeof *met);
	bool *used = calloc(job->n_ops + 1, sizeof *used);
	for (uint32_t r = 0; r < job->n_ranks; r++)
		for (uint32_t i = job->first_op[r]; i < job->first_op[r + 1]; i++) {
			const struct tb_op *recv = &job->ops[i];
			if (recv->kind != TB_OP_RECV)
				continue;
			uint32_t k = job->first_op[recv->peer];
			while (used[k] || job->ops[k].kind != TB_OP_SEND ||
				job->ops[k].peer != r || job->ops[k].tag != recv->tag)
				k++;
			assert_true(k < job->first_op[recv->peer + 1]);
			assert_int_equal(job->ops[k].amount, recv->amount);
			used[k] = true;
			met[i] = k;
		}
	free(used);
	return met;
}

// job_end returns when a job ends on a network that takes no time.
static uint64_t job_end(const struct tb_job *job)
{
	uint64_t *start = calloc(job->n_ops + 1, sizeof *start);
	uint64_t *done = calloc(job->n_ops + 1, sizeof *done);
	uint32_t *met = pair_ops(job);
	uint64_t end = 0;
	for (bool changed = true; changed;) {
		changed = false;
		for (uint32_t i = 0; i < job->n_ops; i++) {
			const struct tb_op *op = &job->ops[i];
			uint64_t at =
				start[i] + (op->kind == TB_OP_CALC ? op->amount : 0);
			if (op->kind == TB_OP_RECV && start[met[i]] > at)
				at = start[met[i]];
			changed |= at != done[i];
			done[i] = at;
			end = at > end ? at : end;
			uint32_t k = job->first_successor[i];
			for (; k < job->first_successor[i + 1]; k++) {
				uint32_t to = job->successors[k];
				uint64_t *next = &start[to & ~TB_DEP_START];
				uint64_t from = to & TB_DEP_START ? start[i] : at;
				changed |= from > *next;
				*next = from > *next ? from : *next;
			}
		}
	}
	free(start);
	free(done);
	free(met);
	return end;
}

static struct tb_job *make(uint64_t seed)
{
	struct tb_job *job = NULL;
	if (tb_calls_job(calls, "random", "openmpi", NULL, &job, &error) != TB_OK)
		fail_msg("seed %llu: %s", (unsigned long long)seed, error.text);
	return job;
}

static void jobs_take_as_long_as_their_calls(void **state)
{
	(void)state;
	uint32_t n_compared = 0;
	for (uint64_t seed = 1; seed <= 2000; seed++) {
		begin(seed);
		uint32_t n_steps = below(40);
		bool rendezvous = below(2);
		for (uint32_t i = 0; i < n_steps; i++) {
			uint32_t what = below(8);
			if (what == 0)
				put_collective(TB_COLL_BARRIER, 0, below(2));
			else if (what < 3)
				put_wait(below(n_ranks), below(LANES));
			else
				put_message(rendezvous);
		}
		// A blocking rendezvous may be behind a wait for another one: such a
		// program has no end, and its job sends everything at once instead.
		struct tb_job *job = NULL;
		int status = tb_calls_job(calls, "random", "openmpi", NULL, &job, &error);
		if (status == TB_OK && !strstr(job->notes, "for ever")) {
			uint64_t expected = naive_end(), end = job_end(job);
			n_compared++;
			if (end != expected)
				fail_msg("seed %llu: the job takes %llu ns, its calls "
					 "take %llu",
					(unsigned long long)seed, (unsigned long long)end,
					(unsigned long long)expected);
		} else if (status != TB_OK && status != TB_EDEADLOCK) {
			fail_msg("seed %llu: %s", (unsigned long long)seed, error.text);
		}
		tb_job_free(job);
		tb_calls_free(calls);
	}
	assert_in_range(n_compared, 1500, 2000);
}

// count_plan adds the bytes of a collective call's plan.
static void count_plan(enum tb_collective_op op, uint64_t bytes, uint32_t root)
{
	uint64_t each[RANKS_MOST];
	const struct tb_library *library;
	const struct tb_collective_choices choices = {0};
	struct tb_plan plan = {0};
	struct tb_expansion_rule rule;
	for (uint32_t i = 0; i < n_ranks; i++)
		each[i] = bytes;
	const struct tb_collective_call call = {
		.op = op, .n = n_ranks, .n_local = n_ranks, .root = root, .bytes = each};
	assert_int_equal(tb_library_find(&library, "openmpi", &error), TB_OK);
	assert_int_equal(
		tb_library_expand(library, &choices, &call, &plan, &rule, &error), TB_OK);
	for (size_t i = 0; i < plan.n_transfers; i++)
		sent[plan.transfers[i].from][plan.transfers[i].to] +=
			tb_plan_bytes(&plan, &plan.transfers[i]);
	tb_plan_fini(&plan);
}

static void bytes_of_each_pair_are_those_of_messages_and_plans(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 300; seed++) {
		begin(seed);
		for (uint32_t i = below(30); i > 0; i--) {
			if (below(3) == 0) {
				put_message(false);
				continue;
			}
			// The same few calls come again, so that kept plans are used.
			enum tb_collective_op op =
				(enum tb_collective_op)below(TB_COLL_SCAN);
			uint64_t bytes = UINT64_C(1) << 6 * below(4);
			put_collective(op, bytes, below(2));
			count_plan(op, bytes, known[0][n_known[0] - 1].call.peer);
		}
		struct tb_job *job = make(seed);
		for (uint32_t r = 0; r < n_ranks; r++)
			for (uint32_t i = job->first_op[r]; i < job->first_op[r + 1]; i++)
				if (job->ops[i].kind == TB_OP_SEND)
					sent[r][job->ops[i].peer] -= job->ops[i].amount;
		for (uint32_t a = 0; a < n_ranks; a++)
			for (uint32_t b = 0; b < n_ranks; b++)
				if (sent[a][b] != 0)
					fail_msg(
						"seed %llu: %lld bytes from %u to %u are "
						"missing",
						(unsigned long long)seed,
						(long long)sent[a][b], a, b);
		tb_job_free(job);
		tb_calls_free(calls);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(jobs_take_as_long_as_their_calls),
		cmocka_unit_test(bytes_of_each_pair_are_those_of_messages_and_plans),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
