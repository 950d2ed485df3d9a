// What each rank did over time.
#include "timeline.h"

#include "array.h"
#include "bisect.h"
#include "map.h"
#include "op_log.h"
#include "order.h"
#include "workload_impl.h"

#include <stdlib.h>

// merge_short merges neighbours as long as they come to no more than `most_ps`.
static size_t merge_short(struct tb_rank_span *spans, size_t n, tb_time_ps most_ps)
{
	size_t kept = 0;
	for (size_t i = 0; i < n; i++) {
		struct tb_rank_span *last = kept ? &spans[kept - 1] : NULL;
		if (last &&
			last->to_ps - last->from_ps + spans[i].to_ps - spans[i].from_ps <=
				most_ps) {
			struct tb_rank_span *into = last;
			const struct tb_rank_span *next = &spans[i];
			struct tb_rank_span both =
				into->longest_ps >= next->longest_ps ? *into : *next;
			if (into->peer != next->peer)
				both.peer = TB_ID_NONE;
			both.from_ps = into->from_ps < next->from_ps ? into->from_ps
								     : next->from_ps;
			both.to_ps =
				into->to_ps > next->to_ps ? into->to_ps : next->to_ps;
			both.n = into->n + next->n;
			both.computed_ps = into->computed_ps + next->computed_ps;
			both.waited_ps = into->waited_ps + next->waited_ps;
			*into = both;
		} else
			spans[kept++] = spans[i];
	}
	return kept;
}

// spans_merge merges neighbours among `n` spans, each of which begins or ends where the
// next one does, until there are at most `most`. A merged span is at most twice as long
// as necessary. Returns how many are left.
static size_t spans_merge(struct tb_rank_span *spans, size_t n, size_t most)
{
	tb_time_ps all_ps = 0;
	for (size_t i = 0; i < n; i++)
		all_ps += spans[i].to_ps - spans[i].from_ps;
	// Of merged neighbours two together are longer than this, so at twice the mean
	// there are few enough.
	for (tb_time_ps most_ps = all_ps / (tb_time_ps)most / 64 + 1; n > most;
		most_ps *= 2)
		n = merge_short(spans, n, most_ps);
	return n;
}

// timeline_most returns how many spans, or calls, a rank may have.
static size_t timeline_most(const struct tb_workload *workload)
{
	size_t n_ranks = 0;
	for (uint32_t i = 0; i < workload->n_inputs; i++)
		if (workload->inputs[i].closed)
			n_ranks += workload->inputs[i].job->n_ranks;
	size_t most = TB_TIMELINE_SPANS_MOST / (n_ranks ? n_ranks : 1);
	return most > TB_TIMELINE_RANK_LEAST ? most : TB_TIMELINE_RANK_LEAST;
}

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
	// Receives that nothing waited for, by when their messages were sent, as
	// started_ps; those before others_at ended before the span in question.
	struct ending *others;
	size_t n_others, others_room, others_at;
	struct tb_rank_span *spans;
	size_t n_spans, spans_room;
};

TB_ORDER_BY(rank_span_order, struct ending, TB_UP(at_ps) TB_UP(op))
TB_ORDER_BY(other_order, struct ending, TB_UP(started_ps) TB_UP(op))

// list_endings lists the endings of the walk's rank, by time.
static int list_endings(struct rank_walk *walk)
{
	const struct tb_op_log *log = walk->log;
	const struct tb_job *job = log->job;
	uint32_t end = job->first_op[walk->rank + 1], last = TB_ID_NONE;
	size_t n = (size_t)end - job->first_op[walk->rank] + 1;
	walk->n_endings = walk->n_others = walk->others_at = 0;
	if (TB_ARRAY_RESERVE(&walk->endings, &walk->endings_room, n) != TB_OK ||
		TB_ARRAY_RESERVE(&walk->others, &walk->others_room, n) != TB_OK)
		return TB_ENOMEM;
	// A run that was ended with a window does not know which operation is the last.
	for (uint32_t op = job->first_op[walk->rank];
		op < end && walk->to_ps == TB_TIME_NEVER; op++)
		if (log->ended[op] >= 0 &&
			(last == TB_ID_NONE || log->ended[op] > log->ended[last]))
			last = op;
	for (uint32_t op = job->first_op[walk->rank]; op < end; op++)
		if (log->ended[op] >= 0 &&
			((job->first_successor[op] < job->first_successor[op + 1] ||
				 job->ops[op].kind == TB_OP_CALC) ||
				op == last))
			walk->endings[walk->n_endings++] = (struct ending){
				log->ended[op], tb_op_log_start(log, op), op};
		else if (log->ended[op] >= 0 && job->ops[op].kind == TB_OP_RECV &&
			 log->related[op] != TB_ID_NONE)
			walk->others[walk->n_others++] = (struct ending){log->ended[op],
				tb_op_log_start(log, log->related[op]), op};
	if (walk->n_others)
		qsort(walk->others, walk->n_others, sizeof *walk->others, other_order);
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
		last->computed_ps += span.computed_ps;
		return TB_OK;
	}
	span.longest_ps = span.to_ps - span.from_ps;
	span.waited_ps = span.what == TB_SPAN_WAIT ? span.longest_ps : 0;
	walk->spans[walk->n_spans++] = span;
	return TB_OK;
}

// add_idle adds a span in which a rank waits until its peer sends, but for what it
// receives meanwhile.
static int add_idle(struct rank_walk *walk, const struct tb_rank_span *idle)
{
	const struct tb_op_log *log = walk->log;
	struct tb_rank_span wait = *idle;
	int status = TB_OK;
	while (walk->others_at < walk->n_others &&
		walk->start_ps + walk->others[walk->others_at].at_ps <= idle->from_ps)
		walk->others_at++;
	for (size_t i = walk->others_at; i < walk->n_others && status == TB_OK; i++) {
		const struct ending *other = &walk->others[i];
		tb_time_ps sent_ps = walk->start_ps + other->started_ps;
		struct tb_rank_span receive = wait;
		if (sent_ps >= idle->to_ps)
			break;
		receive.what = TB_SPAN_RECEIVE;
		receive.peer = log->rank_of[log->related[other->op]];
		receive.from_ps = wait.to_ps = tb_max_i64(wait.from_ps, sent_ps);
		receive.to_ps = tb_min_i64(idle->to_ps, walk->start_ps + other->at_ps);
		if (receive.from_ps >= receive.to_ps)
			continue;
		status = rank_span_add(walk, wait);
		if (status == TB_OK)
			status = rank_span_add(walk, receive);
		wait.from_ps = receive.to_ps;
	}
	wait.to_ps = idle->to_ps;
	return status == TB_OK ? rank_span_add(walk, wait) : status;
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
	int status = add_idle(walk, &before);
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

// The earliest start of a calc, and of one that is not a library's in a collective call,
// that ends with an ending or later; TB_TIME_NEVER: there is none.
struct calc_starts {
	tb_time_ps any, own;
};

static void find_calc_starts(const struct rank_walk *walk, struct calc_starts *calcs)
{
	struct calc_starts earliest = {TB_TIME_NEVER, TB_TIME_NEVER};
	for (size_t i = walk->n_endings; i-- > 0;) {
		const struct ending *ending = &walk->endings[i];
		const struct tb_op *op = &walk->log->job->ops[ending->op];
		if (op->kind == TB_OP_CALC) {
			earliest.any = tb_min_i64(earliest.any, ending->started_ps);
			if (!op->of_call && !op->planned)
				earliest.own =
					tb_min_i64(earliest.own, ending->started_ps);
		}
		calcs[i] = earliest;
	}
}

static int pass_ranks(struct rank_walk *walk, size_t most,
	int (*take)(void *context, const struct tb_rank_span *span), void *context)
{
	int status = TB_OK;
	for (walk->rank = 0; walk->rank < walk->log->job->n_ranks && status == TB_OK;
		walk->rank++) {
		status = list_endings(walk);
		if (status == TB_OK) {
			// Make the spans between the endings.
			struct calc_starts *calcs =
				malloc((walk->n_endings + 1) * sizeof *calcs);
			tb_time_ps before = 0;
			status = calcs ? TB_OK : TB_ENOMEM;
			walk->n_spans = 0;
			if (calcs)
				find_calc_starts(walk, calcs);
			for (size_t i = 0, end; i < walk->n_endings && status == TB_OK;
				i = end) {
				tb_time_ps at = walk->endings[i].at_ps;
				for (end = i + 1; end < walk->n_endings &&
						  walk->endings[end].at_ps == at;)
					end++;
				struct tb_rank_span span = {
					.from_ps = walk->start_ps + before,
					.to_ps = walk->start_ps + at,
					.job = walk->job,
					.rank = walk->rank,
					.peer = TB_ID_NONE,
					.n = 1};
				uint32_t op = waited_for(walk, i, end, before);
				bool computes = calcs[i].any <= before;
				if (!computes && op != TB_ID_NONE) {
					status = add_waiting(walk, span, op);
				} else {
					if (!computes || calcs[i].own <= before)
						span.computed_ps = at - before;
					status = rank_span_add(walk, span);
				}
				before = at;
			}
			free(calcs);
		}
		if (status == TB_OK)
			walk->n_spans = spans_merge(walk->spans, walk->n_spans, most);
		for (size_t i = 0; i < walk->n_spans && status == TB_OK; i++)
			status = take(context, &walk->spans[i]);
	}
	return status;
}

int tb_timeline_ranks(const struct tb_workload *workload, tb_time_ps from_ps,
	tb_time_ps to_ps, int (*take)(void *context, const struct tb_rank_span *span),
	void *context)
{
	struct rank_walk walk = {.from_ps = from_ps, .to_ps = to_ps};
	size_t most = timeline_most(workload);
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
	free(walk.others);
	free(walk.spans);
	return status;
}

// What calls the ranks made, and when.

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

// The job whose calls are listed.
struct call_walk {
	const struct tb_op_log *log;
	tb_time_ps start_ps, from_ps, to_ps;
	uint32_t job;
	size_t most;	   // calls of a rank
	tb_time_ps *since; // by meeting: when the last of those came who are waited for
};

static enum tb_collective_op collective_of(const struct tb_placed_call *call)
{
	return (enum tb_collective_op)((call->kind - TB_TIMED_COLLECTIVE) % TB_COLL_N);
}

// gives_to_all returns whether an operation has a root that all others wait for.
static bool gives_to_all(enum tb_collective_op op)
{
	return op == TB_COLL_BROADCAST || op == TB_COLL_SCATTER;
}

// find_meetings finds since when those are there who are waited for.
static int find_meetings(struct call_walk *walk)
{
	const struct tb_placed_calls *placed = walk->log->job->placed;
	free(walk->since);
	walk->since = calloc(placed->n_meetings + UINT64_C(1), sizeof *walk->since);
	if (!walk->since)
		return TB_ENOMEM;
	for (size_t i = 0; i < placed->first[placed->n_ranks]; i++) {
		const struct tb_placed_call *call = &placed->calls[i];
		if (call->kind < TB_TIMED_COLLECTIVE ||
			(gives_to_all(collective_of(call)) && !call->is_root))
			continue;
		tb_time_ps enter = instant_ps(walk->log, call->enter);
		if (enter > walk->since[call->meeting])
			walk->since[call->meeting] = enter;
	}
	return TB_OK;
}

// waited_until returns until when a call waits for others, its `enter` if it does not.
static tb_time_ps waited_until(
	const struct call_walk *walk, const struct tb_placed_call *call, tb_time_ps enter)
{
	const struct tb_op_log *log = walk->log;
	const struct tb_op *ops = log->job->ops;
	if (call->kind >= TB_TIMED_COLLECTIVE) {
		enum tb_collective_op op = collective_of(call);
		bool gives_to_one = op == TB_COLL_GATHER || op == TB_COLL_REDUCE;
		bool gives =
			gives_to_one ? !call->is_root : gives_to_all(op) && call->is_root;
		if (!gives)
			return walk->since[call->meeting];
	}
	// What joins several operations takes no time after the last of them.
	uint32_t op = call->leave & ~TB_DEP_START;
	if (call->leave & TB_DEP_START)
		op = log->by[op];
	while (op != TB_ID_NONE && ops[op].kind == TB_OP_CALC &&
		log->by[op] != TB_ID_NONE && log->ended[op] == log->ended[log->by[op]])
		op = log->by[op];
	if (op == TB_ID_NONE)
		return enter;
	if (ops[op].kind == TB_OP_RECV)
		return log->related[op] == TB_ID_NONE
			       ? enter
			       : tb_op_log_start(log, log->related[op]);
	// A send that has asked starts with the answer. Where the receiver was there when
	// the question came, nobody was waited for.
	uint32_t answer = ops[op].kind == TB_OP_SEND ? log->by[op] : TB_ID_NONE;
	if (answer == TB_ID_NONE || ops[answer].kind != TB_OP_RECV ||
		log->related[answer] == TB_ID_NONE)
		return enter;
	answer = log->related[answer];
	uint32_t ask = log->by[answer];
	bool was_there = ask != TB_ID_NONE && ops[ask].kind == TB_OP_RECV &&
			 tb_op_log_start(log, ask) < log->ended[ask];
	return was_there ? enter : tb_op_log_start(log, answer);
}

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
		tb_time_ps until = waited_until(walk, call, enter);
		until = until < enter ? enter : until > leave ? leave : until;
		list->n_all++;
		list->calls[list->n++] =
			(struct tb_call_span){.from_ps = walk->start_ps + enter,
				.to_ps = walk->start_ps + leave,
				.bytes = call->bytes,
				.algorithm = placed->algorithms[call->algorithm],
				.job = walk->job,
				.rank = rank,
				.number = (uint32_t)(i - begin),
				.kind = call->kind,
				.n_members = call->n_members,
				.waited_ps = until - enter};
	}
	// Keep of the calls from `first` on the `most` longest, by their begin.
	size_t most = walk->most;
	struct tb_call_span *calls = list->calls + first;
	size_t n = list->n - first;
	if (n > most) {
		qsort(calls, n, sizeof *calls, call_length_order);
		n = most;
	}
	if (n)
		qsort(calls, n, sizeof *calls, call_begin_order);
	list->n = first + n;
	return TB_OK;
}

int tb_timeline_calls(struct tb_call_list *list, const struct tb_workload *workload,
	tb_time_ps from_ps, tb_time_ps to_ps)
{
	struct call_walk walk = {.from_ps = from_ps, .to_ps = to_ps};
	int status = TB_OK;
	walk.most = timeline_most(workload);
	for (uint32_t i = 0; i < workload->n_inputs; i++) {
		const struct workload_input *input = &workload->inputs[i];
		walk.log = input->closed ? tb_closed_loop_log(input->closed) : NULL;
		if (!walk.log || !input->job->placed)
			continue;
		walk.start_ps = input->spec.start_ps;
		walk.job = input->first_job;
		if (status == TB_OK)
			status = find_meetings(&walk);
		for (uint32_t r = 0; r < input->job->n_ranks && status == TB_OK; r++)
			status = list_rank(list, &walk, r);
	}
	free(walk.since);
	return status;
}

void tb_call_list_fini(struct tb_call_list *list)
{
	free(list->calls);
	*list = (struct tb_call_list){0};
}

// The critical path: from the last operation back to the beginning of the run.

// Merging so many at once keeps its cost low.
#define STEPS_ROOM (4 * TB_TIMELINE_STEPS_MOST)

struct path_walk {
	struct tb_path *path; // steps from the last one back
	const struct tb_op_log *log;
	struct tb_map total_of[TB_PATH_CAUSES];
	const struct tb_timeout_sample *timeouts;
	size_t n_timeouts;
	tb_time_ps start_ps; // of the job
	tb_time_ps at_ps;    // of the run: the path from here on is known
	uint32_t job;
	int status;
};

static uint32_t path_node(const struct path_walk *walk, uint32_t rank)
{
	return rank == TB_ID_NONE ? TB_ID_NONE : walk->log->node_of_rank[rank];
}

// total_of returns the total to which a step counts; NULL without memory.
static struct tb_path_total *total_of(
	struct path_walk *walk, const struct tb_rank_span *step)
{
	struct tb_path *path = walk->path;
	struct tb_path_total new = {.cause = step->what,
		.job = step->job,
		.source = {path_node(walk, step->rank)},
		.destination = {path_node(walk, step->peer)}};
	uint64_t low = (UINT64_C(1) << 24) - 1;
	uint64_t key = (uint64_t)(new.job & 0xffff) << 48 | (new.source.id &low) << 24 |
		       (new.destination.id &low);
	uint32_t i = 0;
	if (tb_map_find(&walk->total_of[step->what], key, &i))
		return &path->totals[i];
	if (TB_ARRAY_RESERVE(&path->totals, &path->totals_room, path->n_totals + 1) !=
			TB_OK ||
		tb_map_put(&walk->total_of[step->what], key, (uint32_t)path->n_totals) !=
			TB_OK)
		return NULL;
	path->totals[path->n_totals] = new;
	return &path->totals[path->n_totals++];
}

// path_add_step adds a step from `from_ps` to the beginning of the path so far.
static void path_add_step(struct path_walk *walk, tb_time_ps from_ps, uint32_t cause,
	uint32_t rank, uint32_t peer)
{
	struct tb_path *path = walk->path;
	if (from_ps >= walk->at_ps)
		return;
	struct tb_rank_span step = {.from_ps = from_ps,
		.to_ps = walk->at_ps,
		.job = walk->job,
		.rank = rank,
		.peer = peer,
		.what = cause,
		.n = 1,
		.longest_ps = walk->at_ps - from_ps};
	if (path->n_steps == STEPS_ROOM)
		path->n_steps =
			spans_merge(path->steps, path->n_steps, TB_TIMELINE_STEPS_MOST);
	struct tb_path_total *total = total_of(walk, &step);
	if (!total || TB_ARRAY_RESERVE(&path->steps, &path->steps_room,
			      path->n_steps + 1) != TB_OK) {
		walk->status = TB_ENOMEM;
		return;
	}
	total->n_steps++;
	total->sum_ps += step.longest_ps;
	path->steps[path->n_steps++] = step;
	walk->at_ps = from_ps;
}

TB_ORDER_BY(timeout_flow_order, struct tb_timeout_sample,
	TB_UP(job) TB_UP(source.id) TB_UP(destination.id) TB_UP(to_ps))

// path_add_timeouts adds the time-outs that ran out since a message was posted, the last
// ones first: those that what it was held up, since `crossed`, has room for. What two of
// them have in common counts once.
static void path_add_timeouts(struct path_walk *walk, uint32_t rank, uint32_t peer,
	tb_time_ps posted, tb_time_ps crossed)
{
	const struct tb_timeout_sample key = {.job = walk->job,
		.source = {path_node(walk, rank)},
		.destination = {path_node(walk, peer)},
		.to_ps = walk->at_ps};
	size_t at;
	tb_time_ps until = walk->at_ps;
	TB_BISECT(
		at, walk->n_timeouts, timeout_flow_order(&walk->timeouts[at], &key) <= 0);
	for (; at > 0 && walk->at_ps > crossed; at--) {
		const struct tb_timeout_sample *timeout = &walk->timeouts[at - 1];
		if (timeout->job != key.job || timeout->source.id != key.source.id ||
			timeout->destination.id != key.destination.id ||
			timeout->to_ps <= posted)
			return;
		tb_time_ps from_ps = tb_time_later(timeout->from_ps, posted);
		tb_time_ps took = tb_time_earlier(timeout->to_ps, until) - from_ps;
		if (took <= 0)
			continue;
		until = from_ps;
		path_add_step(walk, tb_time_later(walk->at_ps - took, crossed),
			TB_PATH_TIMEOUT, rank, peer);
	}
}

// path_add_paced adds what congestion control kept a message for, as far as there is room
// after `from_ps`, and returns the rest.
static tb_time_ps path_add_paced(struct path_walk *walk, uint32_t rank, uint32_t peer,
	tb_time_ps from_ps, tb_time_ps paced_ps)
{
	tb_time_ps room_ps = walk->at_ps > from_ps ? walk->at_ps - from_ps : 0;
	tb_time_ps took = tb_time_earlier(room_ps, paced_ps);
	path_add_step(walk, walk->at_ps - took, TB_PATH_PACED, rank, peer);
	return paced_ps - took;
}

// path_add_message adds the parts of a send's latency since its post. The time after its
// arrival is its acknowledgement. Parts beyond the beginning of the path so far do not
// count.
static void path_add_message(struct path_walk *walk, uint32_t send)
{
	const struct tb_op_log *log = walk->log;
	uint32_t rank = log->rank_of[send], peer = log->job->ops[send].peer;
	tb_time_ps posted = walk->start_ps + tb_op_log_start(log, send);
	if (log->related[send] == TB_ID_NONE) {
		path_add_step(walk, posted, TB_PATH_LOST, rank, peer);
		return;
	}
	const struct tb_message_parts *parts = &log->parts[log->related[send]];
	tb_time_ps served = posted + parts->queue_ps;
	tb_time_ps entered = served + parts->software_ps;
	tb_time_ps crossed = entered + parts->ideal_ps;
	path_add_step(walk, crossed + parts->held_ps, TB_PATH_ACKNOWLEDGE, rank, peer);
	path_add_timeouts(walk, rank, peer, posted, crossed);
	tb_time_ps paced = path_add_paced(walk, rank, peer, crossed, parts->paced_ps);
	path_add_step(walk, crossed, TB_PATH_HELD_UP, rank, peer);
	path_add_step(walk, entered, TB_PATH_TRANSFER, rank, peer);
	path_add_step(walk, served, TB_PATH_SOFTWARE, rank, peer);
	(void)path_add_paced(walk, rank, peer, posted, paced);
	path_add_step(walk, posted, TB_PATH_QUEUE, rank, peer);
}

// step_back adds the steps of an operation, backwards from its end, and returns the
// operation whose end let it start; TB_ID_NONE at the beginning of the job.
static uint32_t step_back(struct path_walk *walk, uint32_t op)
{
	const struct tb_op_log *log = walk->log;
	tb_time_ps started = tb_op_log_start(log, op);
	switch (log->job->ops[op].kind) {
	case TB_OP_CALC:
		path_add_step(walk, walk->start_ps + started,
			log->job->ops[op].closed ? TB_PATH_CLOSED : TB_PATH_COMPUTE,
			log->rank_of[op], TB_ID_NONE);
		break;
	case TB_OP_SEND:
		path_add_message(walk, op);
		break;
	default:
		// A receive that is posted after its message has come waits for nothing.
		if (started < log->ended[op]) {
			op = log->related[op];
			path_add_message(walk, op);
		}
	}
	return log->by[op];
}

// last_op returns the operation that ended last up to `end_ps`, or TB_ID_NONE.
static uint32_t last_op(const struct tb_op_log *log, tb_time_ps end_ps)
{
	uint32_t last = TB_ID_NONE;
	for (uint32_t op = 0; op < log->job->n_ops; op++)
		if (log->ended[op] >= 0 && log->ended[op] <= end_ps &&
			(last == TB_ID_NONE || log->ended[op] > log->ended[last]))
			last = op;
	return last;
}

// find_last finds the job that ends last; returns its last operation, or TB_ID_NONE.
static uint32_t find_last(struct path_walk *walk, const struct tb_workload *workload)
{
	uint32_t last = TB_ID_NONE;
	tb_time_ps last_ps = -1;
	for (uint32_t i = 0; i < workload->n_inputs; i++) {
		const struct workload_input *input = &workload->inputs[i];
		const struct tb_op_log *log =
			input->closed ? tb_closed_loop_log(input->closed) : NULL;
		uint32_t op = log ? last_op(log, walk->at_ps - input->spec.start_ps)
				  : TB_ID_NONE;
		if (log && log->failed)
			walk->status = TB_ENOMEM;
		if (op == TB_ID_NONE || input->spec.start_ps + log->ended[op] <= last_ps)
			continue;
		last = op;
		last_ps = input->spec.start_ps + log->ended[op];
		walk->log = log;
		walk->start_ps = input->spec.start_ps;
		walk->job = input->first_job;
	}
	return last;
}

TB_ORDER_BY(path_length_order, struct tb_path_total,
	TB_DOWN(sum_ps) TB_UP(cause) TB_UP(source.id) TB_UP(destination.id))

int tb_path_find(struct tb_path *path, const struct tb_workload *workload,
	const struct tb_timeout_sample *timeouts, size_t n_timeouts, tb_time_ps end_ps)
{
	struct path_walk walk = {.path = path,
		.timeouts = timeouts,
		.n_timeouts = n_timeouts,
		.at_ps = end_ps};
	uint32_t op = find_last(&walk, workload);
	if (op != TB_ID_NONE)
		path_add_step(&walk, walk.start_ps + walk.log->ended[op], TB_PATH_END,
			TB_ID_NONE, TB_ID_NONE);
	bool found = op != TB_ID_NONE;
	while (walk.status == TB_OK && op != TB_ID_NONE)
		op = step_back(&walk, op);
	if (found && walk.status == TB_OK)
		path_add_step(&walk, 0, TB_PATH_START, TB_ID_NONE, TB_ID_NONE);
	for (uint32_t i = 0; i < TB_PATH_CAUSES; i++)
		tb_map_fini(&walk.total_of[i]);
	// Put the steps in the order of time.
	path->n_steps = spans_merge(path->steps, path->n_steps, TB_TIMELINE_STEPS_MOST);
	for (size_t i = 0, k = path->n_steps; i + 1 < k--; i++) {
		struct tb_rank_span step = path->steps[i];
		path->steps[i] = path->steps[k];
		path->steps[k] = step;
	}
	if (path->n_totals)
		qsort(path->totals, path->n_totals, sizeof *path->totals,
			path_length_order);
	return walk.status;
}

void tb_path_fini(struct tb_path *path)
{
	free(path->steps);
	free(path->totals);
	*path = (struct tb_path){0};
}
