// What calls the ranks made, and when.
#include "timeline_impl.h"

#include "array.h"

#include <stdlib.h>

// instant_ps returns when an instant of a job was, since the job's start; negative where
// it did not come, or that is unknown.
static tb_time_ps instant_ps(const struct tb_op_log *log, uint32_t instant)
{
	uint32_t op = instant & ~TB_DEP_START;
	if (instant == TB_AT_BEGINNING)
		return 0;
	// What an operation waited for is known of those that ended (op_log.h).
	if (log->ended[op] < 0 || !(instant & TB_DEP_START))
		return log->ended[op];
	return tb_op_log_start(log, op);
}

static int call_begin_order(const void *left, const void *right)
{
	const struct tb_call_span *a = left, *b = right;
	if (a->from_ps != b->from_ps)
		return a->from_ps < b->from_ps ? -1 : 1;
	if (a->to_ps != b->to_ps) // the outer one first
		return a->to_ps > b->to_ps ? -1 : 1;
	return (a->number > b->number) - (a->number < b->number);
}

static int call_length_order(const void *left, const void *right)
{
	const struct tb_call_span *a = left, *b = right;
	tb_time_ps first = a->to_ps - a->from_ps, second = b->to_ps - b->from_ps;
	if (first != second)
		return first > second ? -1 : 1;
	return (a->number > b->number) - (a->number < b->number);
}

// keep_longest keeps of the calls from `first` on the `most` longest, by their begin.
static void keep_longest(struct tb_call_list *list, size_t first, size_t most)
{
	struct tb_call_span *calls = list->calls + first;
	size_t n = list->n - first;
	if (n > most) {
		qsort(calls, n, sizeof *calls, call_length_order);
		n = most;
	}
	if (n)
		qsort(calls, n, sizeof *calls, call_begin_order);
	list->n = first + n;
}

// The job whose calls are listed.
struct call_walk {
	const struct tb_op_log *log;
	tb_time_ps start_ps, from_ps, to_ps;
	uint32_t job;
	size_t most; // calls of a rank
};

static int list_rank(
	struct tb_call_list *list, const struct call_walk *walk, uint32_t rank)
{
	const struct tb_placed_calls *placed = walk->log->job->placed;
	size_t first = list->n, begin = placed->first[rank];
	for (size_t i = begin; i < placed->first[rank + 1]; i++) {
		const struct tb_placed_call *call = &placed->calls[i];
		tb_time_ps enter = instant_ps(walk->log, call->enter);
		tb_time_ps leave = instant_ps(walk->log, call->leave);
		if (enter < 0 || leave <= enter ||
			walk->start_ps + leave <= walk->from_ps ||
			walk->start_ps + enter >= walk->to_ps)
			continue;
		if (TB_ARRAY_RESERVE(&list->calls, &list->room, list->n + 1) != TB_OK)
			return TB_ENOMEM;
		list->n_all++;
		list->calls[list->n++] =
			(struct tb_call_span){.from_ps = walk->start_ps + enter,
				.to_ps = walk->start_ps + leave,
				.bytes = call->bytes,
				.algorithm = placed->algorithms[call->algorithm],
				.job = walk->job,
				.rank = rank,
				.number = (uint32_t)(i - begin),
				.kind = call->kind};
	}
	keep_longest(list, first, walk->most);
	return TB_OK;
}

int tb_timeline_calls(struct tb_call_list *list, const struct tb_workload *workload,
	tb_time_ps from_ps, tb_time_ps to_ps)
{
	struct call_walk walk = {.from_ps = from_ps, .to_ps = to_ps};
	int status = TB_OK;
	walk.most = tb_timeline_most(workload);
	for (uint32_t i = 0; i < workload->n_inputs; i++) {
		const struct workload_input *input = &workload->inputs[i];
		walk.log = input->closed ? tb_closed_loop_log(input->closed) : NULL;
		if (!walk.log || !input->job->placed)
			continue;
		walk.start_ps = input->spec.start_ps;
		walk.job = input->first_job;
		for (uint32_t r = 0; r < input->job->n_ranks && status == TB_OK; r++)
			status = list_rank(list, &walk, r);
	}
	return status;
}

void tb_call_list_fini(struct tb_call_list *list)
{
	free(list->calls);
	*list = (struct tb_call_list){0};
}
