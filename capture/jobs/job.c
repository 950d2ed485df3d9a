#include "job.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const tb_hypothesis_names[] = {"closest", "likely", "least", "regular", NULL};

void tb_job_free(struct tb_job *job)
{
	if (!job)
		return;
	free(job->notes);
	tb_job_drop_bounds(job);
	if (job->is_lent) {
		free(job);
		return;
	}
	free(job->first_op);
	tb_disk_array_fini(&job->arrays.ops);
	tb_disk_array_fini(&job->arrays.first_successor);
	tb_disk_array_fini(&job->arrays.successors);
	tb_disk_array_fini(&job->arrays.n_predecessors);
	free(job->name);
	free(job->beside);
	for (uint32_t i = 0; job->hosts && i < job->n_ranks; i++)
		free(job->hosts[i]);
	free(job->hosts);
	for (uint32_t i = 0; job->endpoints && i < job->n_ranks; i++)
		free(job->endpoints[i]);
	free(job->endpoints);
	tb_recorded_calls_free(job->recorded);
	tb_congestion_free(job->congestion);
	tb_placed_calls_free(job->placed);
	free(job);
}

void tb_job_drop_bounds(struct tb_job *job)
{
	for (size_t i = 0; job->bounds && i < job->bounds->n; i++)
		tb_job_free(job->bounds->jobs[i]);
	free(job->bounds);
	job->bounds = NULL;
}

void tb_job_cool(const struct tb_job *job)
{
	tb_disk_array_cool(&job->arrays.ops);
	tb_disk_array_cool(&job->arrays.first_successor);
	tb_disk_array_cool(&job->arrays.successors);
	tb_disk_array_cool(&job->arrays.n_predecessors);
	if (job->recorded)
		tb_disk_array_cool(&job->recorded->array);
}

void tb_job_choose(struct tb_job *job, size_t i)
{
	struct tb_job *other = job->bounds->jobs[i];
	const struct tb_job was = *job;
#define EXCHANGE(member) job->member = other->member, other->member = was.member
	EXCHANGE(n_ops);
	EXCHANGE(n_cpus);
	EXCHANGE(n_nics);
	EXCHANGE(first_op);
	EXCHANGE(ops);
	EXCHANGE(first_successor);
	EXCHANGE(successors);
	EXCHANGE(n_predecessors);
	EXCHANGE(recorded);
	EXCHANGE(arrays);
#undef EXCHANGE
	job->bounds->own = i;
}

// lend_bounds lends each of the bounds of a job.
static struct tb_job_bounds *lend_bounds(const struct tb_job_bounds *bounds)
{
	struct tb_job_bounds *lent =
		malloc(sizeof *lent + bounds->n * sizeof(struct tb_job *));
	if (!lent)
		return NULL;
	*lent = *bounds;
	for (lent->n = 0; lent->n < bounds->n; lent->n++)
		if (!(lent->jobs[lent->n] = tb_job_lend(bounds->jobs[lent->n])))
			break;
	return lent;
}

struct tb_job *tb_job_lend(const struct tb_job *job)
{
	struct tb_job *lent = malloc(sizeof *lent);
	if (!lent)
		return NULL;
	*lent = *job;
	lent->is_lent = true;
	lent->notes = job->notes ? strdup(job->notes) : NULL;
	lent->bounds = job->bounds ? lend_bounds(job->bounds) : NULL;
	if (!lent->notes == !job->notes && !lent->bounds == !job->bounds &&
		(!lent->bounds || lent->bounds->n == job->bounds->n))
		return lent;
	tb_job_free(lent);
	return NULL;
}

uint32_t tb_job_rank_of(const struct tb_job *job, uint32_t op)
{
	// Find the last rank with first_op at or below `op`. Of several with the same
	// first_op all but the last are empty, so this skips them.
	uint32_t low = 0, high = job->n_ranks;
	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;
		if (job->first_op[middle] <= op)
			low = middle;
		else
			high = middle;
	}
	return low;
}

static int print_tag(char *buffer, size_t size, uint32_t tag)
{
	return tag == TB_ANY ? snprintf(buffer, size, "-1")
			     : snprintf(buffer, size, "%" PRIu32, tag);
}

char *tb_job_describe(const struct tb_job *job, uint32_t op, char *buffer, size_t size)
{
	const struct tb_op *o = &job->ops[op];
	uint32_t rank = tb_job_rank_of(job, op);
	uint32_t number = op - job->first_op[rank] + 1;
	if (o->kind == TB_OP_CALC) {
		snprintf(buffer, size,
			"rank %" PRIu32 " operation %" PRIu32 " (calc %" PRIu64 ")", rank,
			number, o->amount);
		return buffer;
	}
	char peer[16], tag[16];
	print_tag(peer, sizeof peer, o->peer);
	print_tag(tag, sizeof tag, o->tag);
	snprintf(buffer, size,
		"rank %" PRIu32 " operation %" PRIu32 " (%s %" PRIu64 "b %s %s tag %s)",
		rank, number, o->kind == TB_OP_SEND ? "send" : "recv", o->amount,
		o->kind == TB_OP_SEND ? "to" : "from", peer, tag);
	return buffer;
}

void tb_job_summarize(const struct tb_job *job, struct tb_job_summary *summary)
{
	struct tb_job_summary sum = {.n_dependencies = job->first_successor[job->n_ops],
		.n_pairs = job->n_pairs};
	for (uint32_t i = 0; i < job->n_ops; i++) {
		const struct tb_op *op = &job->ops[i];
		switch ((enum tb_op_kind)op->kind) {
		case TB_OP_CALC:
			sum.n_calcs++;
			sum.calc_ns += op->amount;
			sum.call_ns += op->planned || op->of_call ? op->amount : 0;
			break;
		case TB_OP_SEND:
			sum.n_sends++;
			sum.send_bytes += op->amount;
			break;
		case TB_OP_RECV:
			sum.n_recvs++;
			break;
		}
	}
	*summary = sum;
	tb_job_cool(job);
}
