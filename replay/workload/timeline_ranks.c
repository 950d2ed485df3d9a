// What each rank did over time.
#include "timeline_impl.h"

#include "array.h"

#include <stdlib.h>

// An operation that ended, and that something waited for, or that was a rank's last.
struct ending {
	tb_time_ps at_ps, started_ps;
	uint32_t op;
};

struct rank_walk {
	const struct tb_op_log *log;
	tb_time_ps start_ps;	   // of the job
	tb_time_ps from_ps, to_ps; // wanted
	uint32_t job, rank;
	struct ending *endings;
	size_t n_endings, endings_room;
	struct tb_rank_span *spans;
	size_t n_spans, spans_room;
};

static int rank_span_order(const void *left, const void *right)
{
	const struct ending *a = left, *b = right;
	if (a->at_ps != b->at_ps)
		return a->at_ps < b->at_ps ? -1 : 1;
	return (a->op > b->op) - (a->op < b->op);
}

static bool releases(const struct tb_job *job, uint32_t op)
{
	return job->first_successor[op] < job->first_successor[op + 1] ||
	       job->ops[op].kind == TB_OP_CALC;
}

// list_endings lists the endings of the walk's rank, by time.
static int list_endings(struct rank_walk *walk)
{
	const struct tb_op_log *log = walk->log;
	const struct tb_job *job = log->job;
	uint32_t end = job->first_op[walk->rank + 1], last = TB_ID_NONE;
	walk->n_endings = 0;
	if (TB_ARRAY_RESERVE(&walk->endings, &walk->endings_room,
		    (size_t)end - job->first_op[walk->rank] + 1) != TB_OK)
		return TB_ENOMEM;
	// A run that was ended with a window does not know which operation is the last.
	for (uint32_t op = job->first_op[walk->rank];
		op < end && walk->to_ps == TB_TIME_NEVER; op++)
		if (log->ended[op] >= 0 &&
			(last == TB_ID_NONE || log->ended[op] > log->ended[last]))
			last = op;
	for (uint32_t op = job->first_op[walk->rank]; op < end; op++)
		if (log->ended[op] >= 0 && (releases(job, op) || op == last))
			walk->endings[walk->n_endings++] = (struct ending){
				log->ended[op], tb_op_log_start(log, op), op};
	if (walk->n_endings)
		qsort(walk->endings, walk->n_endings, sizeof *walk->endings,
			rank_span_order);
	return TB_OK;
}

static int rank_span_add(struct rank_walk *walk, struct tb_rank_span span)
{
	if (span.from_ps >= span.to_ps || span.to_ps <= walk->from_ps ||
		span.from_ps >= walk->to_ps)
		return TB_OK;
	if (TB_ARRAY_RESERVE(&walk->spans, &walk->spans_room, walk->n_spans + 1) != TB_OK)
		return TB_ENOMEM;
	struct tb_rank_span *last =
		walk->n_spans ? &walk->spans[walk->n_spans - 1] : NULL;
	if (last && last->what == TB_SPAN_COMPUTE && span.what == TB_SPAN_COMPUTE) {
		// Processors that take turns.
		last->to_ps = span.to_ps;
		last->longest_ps = last->to_ps - last->from_ps;
		return TB_OK;
	}
	span.longest_ps = span.to_ps - span.from_ps;
	walk->spans[walk->n_spans++] = span;
	return TB_OK;
}

// add_waiting adds the time from `from_ps` until the receive or send `op` ends.
static int add_waiting(struct rank_walk *walk, struct tb_rank_span span, uint32_t op)
{
	const struct tb_op_log *log = walk->log;
	if (log->job->ops[op].kind == TB_OP_SEND) {
		span.what = TB_SPAN_SEND;
		span.peer = log->job->ops[op].peer;
		return rank_span_add(walk, span);
	}
	uint32_t send = log->related[op];
	tb_time_ps sent = walk->start_ps + tb_op_log_start(log, send);
	struct tb_rank_span before = span;
	span.peer = before.peer = log->rank_of[send];
	span.what = TB_SPAN_RECEIVE;
	before.what = TB_SPAN_WAIT;
	before.to_ps = sent < span.to_ps ? sent : span.to_ps;
	if (span.from_ps < sent)
		span.from_ps = sent;
	int status = rank_span_add(walk, before);
	return status == TB_OK ? rank_span_add(walk, span) : status;
}

// waited_for returns of the endings of one instant, up to `end`, the one that was under
// way since `from_ps`: a receive before a send.
static uint32_t waited_for(
	const struct rank_walk *walk, size_t first, size_t end, tb_time_ps from_ps)
{
	const struct tb_op_log *log = walk->log;
	uint32_t found = TB_ID_NONE;
	for (size_t i = first; i < end; i++) {
		uint32_t op = walk->endings[i].op;
		bool receives = log->job->ops[op].kind == TB_OP_RECV;
		if (walk->endings[i].started_ps > from_ps ||
			(receives && log->related[op] == TB_ID_NONE))
			continue;
		if (receives)
			return op;
		if (found == TB_ID_NONE)
			found = op;
	}
	return found;
}

// mark_calcs replaces the start of each ending by the earliest start of a calc that ends
// then or later, TB_TIME_NEVER for none, into `calcs`.
static void earliest_calcs(const struct rank_walk *walk, tb_time_ps *calcs)
{
	tb_time_ps earliest = TB_TIME_NEVER;
	for (size_t i = walk->n_endings; i-- > 0;) {
		const struct ending *ending = &walk->endings[i];
		bool is_calc = walk->log->job->ops[ending->op].kind == TB_OP_CALC;
		if (is_calc && ending->started_ps < earliest)
			earliest = ending->started_ps;
		calcs[i] = earliest;
	}
}

// span_rank makes the spans between the endings.
static int span_rank(struct rank_walk *walk)
{
	tb_time_ps *calcs = malloc((walk->n_endings + 1) * sizeof *calcs);
	tb_time_ps before = 0;
	int status = calcs ? TB_OK : TB_ENOMEM;
	walk->n_spans = 0;
	if (calcs)
		earliest_calcs(walk, calcs);
	for (size_t i = 0, end; i < walk->n_endings && status == TB_OK; i = end) {
		tb_time_ps at = walk->endings[i].at_ps;
		for (end = i + 1;
			end < walk->n_endings && walk->endings[end].at_ps == at;)
			end++;
		struct tb_rank_span span = {.from_ps = walk->start_ps + before,
			.to_ps = walk->start_ps + at,
			.job = walk->job,
			.rank = walk->rank,
			.peer = TB_ID_NONE,
			.n = 1};
		uint32_t op = waited_for(walk, i, end, before);
		if (calcs[i] <= before || op == TB_ID_NONE)
			status = rank_span_add(walk, span);
		else
			status = add_waiting(walk, span, op);
		before = at;
	}
	free(calcs);
	return status;
}

static int pass_ranks(struct rank_walk *walk, size_t most,
	int (*take)(void *context, const struct tb_rank_span *span), void *context)
{
	int status = TB_OK;
	for (walk->rank = 0; walk->rank < walk->log->job->n_ranks && status == TB_OK;
		walk->rank++) {
		status = list_endings(walk);
		if (status == TB_OK)
			status = span_rank(walk);
		if (status == TB_OK)
			walk->n_spans = tb_spans_merge(walk->spans, walk->n_spans, most);
		for (size_t i = 0; i < walk->n_spans && status == TB_OK; i++)
			status = take(context, &walk->spans[i]);
	}
	return status;
}

size_t tb_timeline_most(const struct tb_workload *workload)
{
	size_t n_ranks = 0;
	for (uint32_t i = 0; i < workload->n_inputs; i++)
		if (workload->inputs[i].closed)
			n_ranks += workload->inputs[i].job->n_ranks;
	size_t most = TB_TIMELINE_SPANS_MOST / (n_ranks ? n_ranks : 1);
	return most > TB_TIMELINE_RANK_LEAST ? most : TB_TIMELINE_RANK_LEAST;
}

int tb_timeline_ranks(const struct tb_workload *workload, tb_time_ps from_ps,
	tb_time_ps to_ps, int (*take)(void *context, const struct tb_rank_span *span),
	void *context)
{
	struct rank_walk walk = {.from_ps = from_ps, .to_ps = to_ps};
	size_t most = tb_timeline_most(workload);
	int status = TB_OK;
	for (uint32_t i = 0; i < workload->n_inputs && status >= TB_OK; i++) {
		const struct workload_input *input = &workload->inputs[i];
		walk.log = input->closed ? tb_closed_loop_log(input->closed) : NULL;
		if (!walk.log)
			continue;
		walk.start_ps = input->spec.start_ps;
		walk.job = input->first_job;
		status = walk.log->failed ? TB_ENOMEM
					  : pass_ranks(&walk, most, take, context);
	}
	free(walk.endings);
	free(walk.spans);
	return status;
}
