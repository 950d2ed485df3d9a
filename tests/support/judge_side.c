// A job, looked at from its receives and sends.
#include "array.h"
#include "judge_impl.h"

#include <stdlib.h>
#include <string.h>

#define HEADER_LEAST 14
#define HEADER_MOST  64
#define ASK_BYTES    40
#define ANSWER_BYTES 64

// One end of a message: the first send to a rank with a tag goes with the first receive.
struct end {
	uint32_t from, to, tag, op;
};

static int compare_ends(const void *a, const void *b)
{
	const struct end *x = a, *y = b;
	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	if (x->to != y->to)
		return x->to < y->to ? -1 : 1;
	if (x->tag != y->tag)
		return x->tag < y->tag ? -1 : 1;
	return x->op < y->op ? -1 : x->op > y->op;
}

static int compare_messages(const void *a, const void *b)
{
	const struct judge_message *x = a, *y = b;
	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	if (x->to != y->to)
		return x->to < y->to ? -1 : 1;
	return x->send < y->send ? -1 : x->send > y->send;
}

// list_ends fills both lists, which have room for all operations.
static void list_ends(
	const struct tb_job *job, struct end *sends, struct end *recvs, size_t n[2])
{
	for (uint32_t r = 0; r < job->n_ranks; r++) {
		for (uint32_t i = job->first_op[r]; i < job->first_op[r + 1]; i++) {
			const struct tb_op *op = &job->ops[i];
			if (op->kind == TB_OP_SEND)
				sends[n[0]++] = (struct end){r, op->peer, op->tag, i};
			else if (op->kind == TB_OP_RECV)
				recvs[n[1]++] = (struct end){op->peer, r, op->tag, i};
		}
	}
	qsort(sends, n[0], sizeof *sends, compare_ends);
	qsort(recvs, n[1], sizeof *recvs, compare_ends);
}

// program_rank returns the rank of the truth at a rank of the job, or JUDGE_NONE.
static uint32_t program_rank(
	const struct judge_places *places, uint32_t n_ranks, uint32_t rank)
{
	if (!places)
		return rank;
	if (rank < places->first || (rank - places->first) % places->stride != 0)
		return JUDGE_NONE;
	uint32_t found = (rank - places->first) / places->stride;
	return found < n_ranks ? found : JUDGE_NONE;
}

static int list_messages(
	struct judge_side *side, const struct judge_places *places, uint32_t n_ranks)
{
	const struct tb_job *job = side->job;
	struct end *sends = calloc(job->n_ops + 1, sizeof *sends);
	struct end *recvs = calloc(job->n_ops + 1, sizeof *recvs);
	size_t n[2] = {0, 0};
	int status = sends && recvs ? TB_OK : TB_ENOMEM;
	if (status == TB_OK)
		list_ends(job, sends, recvs, n);
	// A finished job has as many sends as receives of each kind.
	for (size_t i = 0; i < n[0] && i < n[1] && status == TB_OK; i++) {
		uint32_t from = program_rank(places, n_ranks, sends[i].from);
		uint32_t to = program_rank(places, n_ranks, sends[i].to);
		if (from == JUDGE_NONE || to == JUDGE_NONE || from == to)
			continue;
		status = TB_ARRAY_RESERVE(&side->messages, &side->room, side->n + 1);
		if (status != TB_OK)
			break;
		uint64_t bytes = job->ops[sends[i].op].amount;
		side->messages[side->n++] = (struct judge_message){.from = from,
			.to = to,
			.send = sends[i].op,
			.recv = recvs[i].op,
			.least = bytes + (places ? 0 : HEADER_LEAST),
			.most = bytes + (places ? 0 : HEADER_MOST),
			.other = JUDGE_NONE};
	}
	free(sends);
	free(recvs);
	if (side->n > 0)
		qsort(side->messages, side->n, sizeof *side->messages, compare_messages);
	return status;
}

// number_messages stores for each operation the message that it sends or receives.
static void number_messages(struct judge_side *side)
{
	memset(side->message_of, 0xff, side->job->n_ops * sizeof *side->message_of);
	for (size_t i = 0; i < side->n; i++) {
		side->message_of[side->messages[i].send] = (uint32_t)i;
		side->message_of[side->messages[i].recv] = (uint32_t)i;
	}
}

static void set_bytes(struct judge_side *side, uint32_t op, uint64_t bytes)
{
	uint32_t message = side->message_of[op];
	if (message == JUDGE_NONE)
		return;
	side->messages[message].least = bytes;
	side->messages[message].most = bytes;
}

// mark_rendezvous gives requests and answers the sizes that they have on the wire, and
// marks the data as seen. The job has the first as empty messages: a request out, its
// answer in, and then the data.
static void mark_rendezvous(struct judge_side *side)
{
	const struct tb_job *job = side->job;
	for (uint32_t answer = 0; answer < job->n_ops; answer++) {
		const struct tb_op *in = &job->ops[answer];
		uint32_t first = side->first_before[answer];
		if (in->kind != TB_OP_RECV || in->amount != 0 ||
			side->first_before[answer + 1] != first + 1)
			continue;
		uint32_t ask = side->before[first];
		const struct tb_op *out = &job->ops[ask];
		if (out->kind != TB_OP_SEND || out->amount != 0 || out->peer != in->peer)
			continue;
		for (uint32_t s = job->first_successor[answer];
			s < job->first_successor[answer + 1]; s++) {
			const struct tb_op *data =
				&job->ops[job->successors[s] & ~TB_DEP_START];
			if (data->kind != TB_OP_SEND || data->peer != in->peer ||
				data->amount == 0)
				continue;
			set_bytes(side, ask, ASK_BYTES);
			set_bytes(side, answer, ANSWER_BYTES);
			side->seen[job->successors[s] & ~TB_DEP_START] = 1;
		}
	}
}

// find_posted finds the sends of the program before its receives. A rank issues its
// operations in order, but the data of a rendezvous, which leave when they may.
static void find_posted(struct judge_side *side)
{
	const struct tb_job *job = side->job;
	memset(side->seen, 0, job->n_ops * sizeof *side->seen);
	mark_rendezvous(side);
	for (uint32_t r = 0; r < job->n_ranks; r++) {
		uint32_t send = JUDGE_NONE;
		for (uint32_t i = job->first_op[r]; i < job->first_op[r + 1]; i++) {
			if (job->ops[i].kind == TB_OP_SEND && !side->seen[i])
				send = i;
			else if (job->ops[i].kind == TB_OP_RECV)
				side->posted[i] = send;
		}
	}
}

static void turn_around(struct judge_side *side)
{
	const struct tb_job *job = side->job;
	uint32_t *first = side->first_before;
	for (uint32_t i = 0; i < job->first_successor[job->n_ops]; i++)
		first[(job->successors[i] & ~TB_DEP_START) + 1]++;
	for (uint32_t i = 0; i < job->n_ops; i++)
		first[i + 1] += first[i];
	// `seen` is free for a moment: how many of each are in place.
	for (uint32_t i = 0; i < job->n_ops; i++) {
		for (uint32_t s = job->first_successor[i];
			s < job->first_successor[i + 1]; s++) {
			uint32_t next = job->successors[s] & ~TB_DEP_START;
			side->before[first[next] + side->seen[next]++] = i;
		}
	}
}

// unplaced_before returns an operation that `op` waits for and that has no place, or
// JUDGE_NONE.
static uint32_t unplaced_before(const struct judge_side *side, uint32_t op)
{
	for (uint32_t i = side->first_before[op]; i < side->first_before[op + 1]; i++)
		if (side->place[side->before[i]] == JUDGE_NONE)
			return side->before[i];
	uint32_t posted = side->posted[op];
	return posted != JUDGE_NONE && side->place[posted] == JUDGE_NONE ? posted
									 : JUDGE_NONE;
}

// put_in_order numbers the operations so that each is behind what it waits for, and else
// in their order: walks to a receive shortly before a send are short.
static void put_in_order(struct judge_side *side)
{
	const struct tb_job *job = side->job;
	uint32_t n = 0, n_placed = 0;
	memset(side->place, 0xff, job->n_ops * sizeof *side->place);
	memset(side->seen, 0, job->n_ops * sizeof *side->seen);
	for (uint32_t i = 0; i < job->n_ops; i++) {
		if (side->place[i] == JUDGE_NONE)
			side->stack[n++] = i;
		while (n > 0) {
			uint32_t before = unplaced_before(side, side->stack[n - 1]);
			if (before == JUDGE_NONE)
				side->place[side->stack[--n]] = n_placed++;
			else
				side->stack[n++] = before;
		}
	}
}

int judge_side_init(struct judge_side *side, const struct tb_job *job,
	const struct judge_places *places, uint32_t n_ranks)
{
	size_t n = (size_t)job->n_ops + 1;
	*side = (struct judge_side){
		.job = job,
		.message_of = calloc(n, sizeof(uint32_t)),
		.first_before = calloc(n, sizeof(uint32_t)),
		.before = calloc(
			(size_t)job->first_successor[job->n_ops] + 1, sizeof(uint32_t)),
		.posted = malloc(n * sizeof(uint32_t)),
		.place = calloc(n, sizeof(uint32_t)),
		.seen = calloc(n, sizeof(uint32_t)),
		.stack = calloc(n, sizeof(uint32_t)),
		.last = calloc(n, sizeof(struct judge_last)),
	};
	if (!side->message_of || !side->first_before || !side->before || !side->posted ||
		!side->place || !side->seen || !side->stack || !side->last)
		return TB_ENOMEM;
	memset(side->posted, 0xff, n * sizeof *side->posted); // JUDGE_NONE
	int status = list_messages(side, places, n_ranks);
	if (status != TB_OK)
		return status;
	number_messages(side);
	turn_around(side);
	if (!places)
		find_posted(side);
	put_in_order(side);
	return TB_OK;
}

void judge_side_fini(struct judge_side *side)
{
	free(side->messages);
	free(side->message_of);
	free(side->first_before);
	free(side->before);
	free(side->posted);
	free(side->place);
	free(side->seen);
	free(side->stack);
	free(side->waits);
	free(side->sends);
	free(side->last);
	free(side->lasts);
}
