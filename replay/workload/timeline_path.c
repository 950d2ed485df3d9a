// The critical path: from the last operation back to the beginning of the run.
#include "timeline_impl.h"

#include "array.h"
#include "map.h"

#include <stdlib.h>

// Merging so many at once keeps its cost low.
#define STEPS_ROOM (4 * TB_TIMELINE_STEPS_MOST)

struct path_walk {
	struct tb_path *path; // steps from the last one back
	const struct tb_op_log *log;
	struct tb_map total_of[TB_PATH_CAUSES];
	tb_time_ps start_ps; // of the job
	tb_time_ps at_ps;    // of the run: the path from here on is known
	uint32_t job;
	int status;
};

static uint32_t path_node(const struct path_walk *walk, uint32_t rank)
{
	return rank == TB_ID_NONE ? TB_ID_NONE : walk->log->node_of_rank[rank];
}

// total_of returns the total that a step belongs to; NULL without memory.
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

// path_add_step adds a step: what passed between `from_ps` and what is known so far.
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
		path->n_steps = tb_spans_merge(
			path->steps, path->n_steps, TB_TIMELINE_STEPS_MOST);
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

// path_add_message adds the parts of a send's latency since its post. What comes after
// its arrival is its acknowledgement; what was to come later than what is known did not
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
	path_add_step(walk, crossed, TB_PATH_HELD_UP, rank, peer);
	path_add_step(walk, entered, TB_PATH_TRANSFER, rank, peer);
	path_add_step(walk, served, TB_PATH_SOFTWARE, rank, peer);
	path_add_step(walk, posted, TB_PATH_QUEUE, rank, peer);
}

// step_back adds what happened until an operation ended, and returns the one that it had
// started after; TB_ID_NONE at the beginning of the job.
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

// last_op returns the operation that ended last, until `end_ps`; TB_ID_NONE: none did.
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

static int path_length_order(const void *left, const void *right)
{
	const struct tb_path_total *a = left, *b = right;
	if (a->sum_ps != b->sum_ps)
		return a->sum_ps < b->sum_ps ? 1 : -1;
	if (a->cause != b->cause)
		return a->cause < b->cause ? -1 : 1;
	if (a->source.id != b->source.id)
		return a->source.id < b->source.id ? -1 : 1;
	return (a->destination.id > b->destination.id) -
	       (a->destination.id < b->destination.id);
}

// path_turn_round puts the steps in the order of time.
static void path_turn_round(struct tb_path *path)
{
	path->n_steps =
		tb_spans_merge(path->steps, path->n_steps, TB_TIMELINE_STEPS_MOST);
	for (size_t i = 0, k = path->n_steps; i + 1 < k--; i++) {
		struct tb_rank_span step = path->steps[i];
		path->steps[i] = path->steps[k];
		path->steps[k] = step;
	}
	if (path->n_totals)
		qsort(path->totals, path->n_totals, sizeof *path->totals,
			path_length_order);
}

int tb_path_find(
	struct tb_path *path, const struct tb_workload *workload, tb_time_ps end_ps)
{
	struct path_walk walk = {.path = path, .at_ps = end_ps};
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
	path_turn_round(path);
	return walk.status;
}

void tb_path_fini(struct tb_path *path)
{
	free(path->steps);
	free(path->totals);
	*path = (struct tb_path){0};
}
