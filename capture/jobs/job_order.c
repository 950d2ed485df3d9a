#include "job_order.h"
#include "order.h"

#include <stdlib.h>

// A send or receive of a channel.
struct order_channel_end {
	uint32_t from, to, tag, op;
};

void tb_job_order_fini(struct tb_job_order *order)
{
	free(order->match);
	free(order->first_pred);
	free(order->preds);
	free(order->order);
	*order = (struct tb_job_order){0};
}

static int order_channel_ends(const void *one, const void *other)
{
	const struct order_channel_end *a = one, *b = other;
	int by = TB_ORDER(a->from, b->from);
	by = by ? by : TB_ORDER(a->to, b->to);
	by = by ? by : TB_ORDER(a->tag, b->tag);
	return by ? by : TB_ORDER(a->op, b->op);
}

// list_ends lists the sends and the receives; TB_EUSAGE for a wildcard.
static int list_ends(const struct tb_job *job, const char *form,
	struct order_channel_end *ends[2], uint32_t n[2], struct tb_error *error)
{
	char text[96];
	for (uint32_t rank = 0; rank < job->n_ranks; rank++)
		for (uint32_t i = job->first_op[rank]; i < job->first_op[rank + 1]; i++) {
			const struct tb_op *op = &job->ops[i];
			bool is_send = op->kind == TB_OP_SEND;
			if (op->kind == TB_OP_CALC)
				continue;
			if (op->peer == TB_ANY || op->tag == TB_ANY)
				return tb_fail_in(error, TB_EUSAGE, job->name,
					"%s takes whatever comes, which %s cannot hold",
					tb_job_describe(job, i, text, sizeof text), form);
			ends[!is_send][n[!is_send]++] =
				(struct order_channel_end){is_send ? rank : op->peer,
					is_send ? op->peer : rank, op->tag, i};
		}
	return TB_OK;
}

// pair_job_order fills in `match`; a finished job has as many sends as receives in each
// channel.
static int pair_job_order(struct tb_job_order *order, const struct tb_job *job,
	const char *form, struct tb_error *error)
{
	struct order_channel_end *ends[2] = {
		malloc((job->n_ops + UINT64_C(1)) * sizeof *ends[0]),
		malloc((job->n_ops + UINT64_C(1)) * sizeof *ends[1])};
	uint32_t n[2] = {0, 0};
	int status = ends[0] && ends[1] ? list_ends(job, form, ends, n, error)
					: tb_fail_memory(error, "the messages");
	for (int k = 0; status == TB_OK && k < 2; k++)
		qsort(ends[k], n[k], sizeof *ends[k], order_channel_ends);
	for (uint32_t i = 0; status == TB_OK && i < n[0]; i++) {
		order->match[ends[0][i].op] = ends[1][i].op;
		order->match[ends[1][i].op] = ends[0][i].op;
	}
	free(ends[0]);
	free(ends[1]);
	return status;
}

static void reverse_job_order(struct tb_job_order *order, const struct tb_job *job)
{
	uint32_t n = job->n_ops, *first = order->first_pred;
	for (uint32_t i = 0; i < n; i++)
		first[i + 1] = first[i] + job->n_predecessors[i];
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = job->first_successor[i];
			k < job->first_successor[i + 1]; k++) {
			uint32_t next = job->successors[k];
			order->preds[first[next & ~TB_DEP_START]++] =
				i | (next & TB_DEP_START);
		}
	for (uint32_t i = n; i > 0; i--)
		first[i] = first[i - 1];
	first[0] = 0;
}

// sort_job_order orders the operations: a receive comes after its send.
static int sort_job_order(struct tb_job_order *order, const struct tb_job *job,
	const char *form, struct tb_error *error)
{
	uint32_t *left = malloc((job->n_ops + UINT64_C(1)) * sizeof *left);
	uint32_t n = 0;
	if (!left)
		return tb_fail_memory(error, "the operations");
	for (uint32_t i = 0; i < job->n_ops; i++) {
		left[i] = job->n_predecessors[i] + (job->ops[i].kind == TB_OP_RECV);
		if (left[i] == 0)
			order->order[n++] = i;
	}
	for (uint32_t at = 0; at < n; at++) {
		uint32_t op = order->order[at];
		for (uint32_t k = job->first_successor[op];
			k < job->first_successor[op + 1]; k++) {
			uint32_t next = job->successors[k] & ~TB_DEP_START;
			if (--left[next] == 0)
				order->order[n++] = next;
		}
		if (job->ops[op].kind == TB_OP_SEND && --left[order->match[op]] == 0)
			order->order[n++] = order->match[op];
	}
	free(left);
	return n == job->n_ops ? TB_OK
			       : tb_fail_in(error, TB_EUSAGE, job->name,
					 "has messages of one tag that may arrive in any "
					 "order, which %s cannot hold",
					 form);
}

int tb_job_order_init(struct tb_job_order *order, const struct tb_job *job,
	const char *form, struct tb_error *error)
{
	size_t n = job->n_ops + (size_t)1;
	struct tb_job_order made = {.match = calloc(n, sizeof *made.match),
		.first_pred = calloc(n, sizeof *made.first_pred),
		.preds = malloc((job->first_successor[job->n_ops] + UINT64_C(1)) *
				sizeof *made.preds),
		.order = malloc(n * sizeof *made.order)};
	bool ready = made.match && made.first_pred && made.preds && made.order;
	int status = ready ? pair_job_order(&made, job, form, error)
			   : tb_fail_memory(error, "the operations");
	if (status == TB_OK) {
		reverse_job_order(&made, job);
		status = sort_job_order(&made, job, form, error);
	}
	if (status == TB_OK)
		*order = made;
	else
		tb_job_order_fini(&made);
	return status;
}
