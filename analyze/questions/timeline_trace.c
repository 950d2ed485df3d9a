// The timeline as a trace for Perfetto.
#include "run_timeline.h"

#include "json.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#define COLUMNS_MOST 1024 // of a link's counter
#define DIGITS	     15	  // microseconds of a run of 15 minutes, to the picosecond
#define NAME_BYTES   200
#define LANES_MOST   32 // threads for the calls of a rank

// Processes: the jobs, from 1 on, and behind them these.
enum process { LINKS, PATH };

struct perfetto_trace {
	const struct tb_timeline *timeline;
	struct tb_json_rows rows;
	uint32_t n_arrows;
	uint64_t n_threads; // so many the ranks have; those of calls come behind
};

static uint64_t process_of(const struct perfetto_trace *trace, enum process process)
{
	return tb_run_info(trace->timeline->run)->n_jobs + 1u + (uint64_t)process;
}

static double microseconds(tb_time_ps time)
{
	return (double)time / 1e6;
}

// event begins an event of a phase ('X': slice, 'C': counter, 's' and 'f': ends of an
// arrow, 'M': a name).
static struct tb_json_object event(
	const char *phase, const char *name, uint64_t process, uint64_t thread)
{
	struct tb_json_object made = tb_json_object_new();
	tb_json_add_text(&made, "ph", phase);
	tb_json_add_text(&made, "name", name);
	tb_json_add_count(&made, "pid", process);
	tb_json_add_count(&made, "tid", thread);
	return made;
}

static void put_perfetto_event(struct perfetto_trace *trace, struct tb_json_object *event)
{
	tb_json_rows_put(&trace->rows, tb_json_object_take(event));
}

// put_label names a process or a thread.
static void put_label(struct perfetto_trace *trace, const char *what, uint64_t process,
	uint64_t thread, const char *label)
{
	struct tb_json_object made = event("M", what, process, thread);
	struct tb_json_object args = tb_json_object_new();
	tb_json_add_text(&args, "name", label);
	tb_json_add(&made, "args", tb_json_object_take(&args));
	put_perfetto_event(trace, &made);
}

static void put_slice(struct perfetto_trace *trace, struct tb_json_object *made,
	const struct tb_rank_span *span, struct tb_json_object *args)
{
	tb_json_add_real(made, "ts", microseconds(span->from_ps));
	tb_json_add_real(made, "dur", microseconds(span->to_ps - span->from_ps));
	if (span->n > 1)
		tb_json_add_count(args, "merged", span->n);
	tb_json_add(made, "args", tb_json_object_take(args));
	put_perfetto_event(trace, made);
}

static void put_perfetto_rank(
	struct perfetto_trace *trace, const struct tb_timeline_rank *rank)
{
	static const char *const behind[TB_SPAN_KINDS] = {[TB_SPAN_SEND] = "to",
		[TB_SPAN_RECEIVE] = "from",
		[TB_SPAN_WAIT] = "for"};
	const struct tb_timeline *timeline = trace->timeline;
	char name[NAME_BYTES];
	snprintf(name, sizeof name, "rank %" PRIu32, rank->rank);
	put_label(trace, "thread_name", rank->job + 1u, rank->rank + 1u, name);
	for (size_t i = 0; i < rank->n_spans; i++) {
		const struct tb_rank_span *span =
			&timeline->times.spans[rank->first_span + i];
		if (span->peer == TB_ID_NONE)
			snprintf(name, sizeof name, "%s", tb_span_name(span->what));
		else
			snprintf(name, sizeof name, "%s %s %" PRIu32,
				tb_span_name(span->what), behind[span->what], span->peer);
		struct tb_json_object made =
			event("X", name, rank->job + 1u, rank->rank + 1u);
		struct tb_json_object args = tb_json_object_new();
		tb_json_add_text(&made, "cat", tb_span_name(span->what));
		if (span->peer != TB_ID_NONE)
			tb_json_add_count(&args, "peer", span->peer);
		put_slice(trace, &made, span, &args);
	}
}

// take_lane returns the first thread for calls in which none is under way any more when
// `call` begins, which then is; LANES_MOST where there is none.
static uint32_t take_lane(tb_time_ps *ends, const struct tb_called *call)
{
	uint32_t lane = 0;
	while (lane < LANES_MOST && ends[lane] > call->from_ps)
		lane++;
	if (lane < LANES_MOST)
		ends[lane] = call->to_ps;
	return lane;
}

// count_left_out returns how many calls the store, or the trace, has no room for.
static uint64_t count_left_out(const struct tb_timeline *timeline)
{
	uint64_t n = timeline->calls.n_left;
	for (size_t i = 0; i < timeline->n_ranks; i++) {
		const struct tb_timeline_rank *rank = &timeline->ranks[i];
		tb_time_ps ends[LANES_MOST] = {0};
		for (size_t k = 0; k < rank->n_calls; k++)
			n += take_lane(ends,
				     &timeline->calls.calls[rank->first_call + k]) ==
			     LANES_MOST;
	}
	return n;
}

static void put_call(struct perfetto_trace *trace, const struct tb_called *call,
	const struct tb_call_sort *sort, uint64_t thread)
{
	char name[NAME_BYTES];
	tb_call_sort_name(sort, name, sizeof name);
	struct tb_json_object made = event("X", name, call->job + 1u, thread);
	struct tb_json_object args = tb_json_object_new();
	tb_json_add_text(&made, "cat", "call");
	tb_json_add_real(&made, "ts", microseconds(call->from_ps));
	tb_json_add_real(&made, "dur", microseconds(call->to_ps - call->from_ps));
	tb_json_add_text(&args, "call", sort->kind);
	if (sort->algorithm[0])
		tb_json_add_text(&args, "algorithm", sort->algorithm);
	tb_json_add_count(&args, "bytes", call->bytes);
	if (isfinite(sort->bus_rate)) // of this call, not of their mean
		tb_json_add_real(&args, "bus_bytes_per_s",
			sort->bus_rate * (double)sort->figures.sum_ps /
				(double)sort->figures.calls /
				(double)(call->to_ps - call->from_ps));
	tb_json_add(&made, "args", tb_json_object_take(&args));
	put_perfetto_event(trace, &made);
}

static void put_perfetto_ranks(struct perfetto_trace *trace)
{
	const struct tb_timeline *timeline = trace->timeline;
	for (size_t i = 0; i < timeline->n_ranks; i++)
		if (timeline->ranks[i].rank >= trace->n_threads)
			trace->n_threads = timeline->ranks[i].rank + UINT64_C(1);
	for (size_t i = 0; i < timeline->n_ranks; i++) {
		const struct tb_timeline_rank *rank = &timeline->ranks[i];
		if (i == 0 || rank->job != timeline->ranks[i - 1].job)
			put_label(trace, "process_name", rank->job + 1u, 0,
				tb_run_job_name(timeline->run, rank->job));
		put_perfetto_rank(trace, rank);
		// Put the calls of a rank, those that overlap into threads of their
		// own.
		const struct tb_call_spans *calls = &trace->timeline->calls;
		tb_time_ps ends[LANES_MOST] = {0};
		uint32_t n_lanes = 0;
		char name[NAME_BYTES];
		snprintf(name, sizeof name, "rank %" PRIu32 " calls", rank->rank);
		for (size_t j = 0; j < rank->n_calls; j++) {
			const struct tb_called *call =
				&calls->calls[rank->first_call + j];
			uint32_t lane = take_lane(ends, call);
			uint64_t thread =
				trace->n_threads * (lane + 1u) + rank->rank + 1u;
			if (lane == LANES_MOST)
				continue;
			if (lane == n_lanes) {
				put_label(trace, "thread_name", call->job + 1u, thread,
					name);
				n_lanes++;
			}
			put_call(trace, call, &calls->sorts[call->sort], thread);
		}
	}
}

static void put_step(struct perfetto_trace *trace, const struct tb_path_step *step)
{
	const struct tb_rank_span *span = &step->span;
	struct tb_json_object made =
		event("X", tb_path_name(span->what), process_of(trace, PATH), 1);
	struct tb_json_object args = tb_json_object_new();
	tb_json_add_text(&made, "cat", "critical path");
	tb_json_add_text(&args, "job", tb_run_job_name(trace->timeline->run, span->job));
	if (span->rank != TB_ID_NONE)
		tb_json_add_count(&args, "rank", span->rank);
	if (span->peer != TB_ID_NONE)
		tb_json_add_count(&args, "peer", span->peer);
	// Add where the flow of a step waited longest, and behind whom.
	const struct tb_timeline *timeline = trace->timeline;
	struct tb_wait_place place;
	const struct tb_blame_sample *wait =
		tb_critical_path_wait(&timeline->path, step, &place);
	char flow[NAME_BYTES];
	if (step->span.what == TB_PATH_HELD_UP && wait) {
		const char *at = tb_wait_place_name(timeline->run, place);
		if (at)
			tb_json_add_text(&args, "link_name", at);
		// Write a flow as "node 3 > node 5".
		const struct tb_run *run = timeline->run;
		struct tb_node source = wait->culprit_source;
		struct tb_node destination = wait->culprit_destination;
		size_t size = sizeof flow;
		const char *from = tb_run_node_label(run, source);
		const char *to = tb_run_node_label(run, destination);
		char numbers[2][24];
		snprintf(numbers[0], sizeof numbers[0], "node %" PRIu32, source.id);
		snprintf(numbers[1], sizeof numbers[1], "node %" PRIu32, destination.id);
		snprintf(flow, size, "%s > %s", *from ? from : numbers[0],
			*to ? to : numbers[1]);
		tb_json_add_text(&args, "behind", flow);
		tb_json_add_text(&args, "behind_job",
			tb_run_job_name(timeline->run, wait->culprit_job));
	}
	put_slice(trace, &made, span, &args);
}

static void put_arrow_end(struct perfetto_trace *trace, const char *phase,
	const struct tb_rank_span *step, uint32_t rank, tb_time_ps at_ps)
{
	struct tb_json_object made =
		event(phase, "critical path", step->job + 1u, rank + 1u);
	tb_json_add_text(&made, "cat", "critical path");
	tb_json_add_count(&made, "id", trace->n_arrows);
	tb_json_add_real(&made, "ts", microseconds(at_ps));
	if (*phase == 'f')
		tb_json_add_text(&made, "bp", "e");
	put_perfetto_event(trace, &made);
}

// same_message: b follows a; the causes of a message come in their order.
static bool same_message(const struct tb_rank_span *a, const struct tb_rank_span *b)
{
	return a->what < b->what && a->job == b->job && a->rank == b->rank &&
	       a->peer == b->peer && a->peer != TB_ID_NONE && a->n == 1 && b->n == 1;
}

static void put_perfetto_path(struct perfetto_trace *trace)
{
	const struct tb_timeline *timeline = trace->timeline;
	const struct tb_critical_path *path = &timeline->path;
	if (path->n_steps == 0)
		return;
	put_label(trace, "process_name", process_of(trace, PATH), 0, "critical path");
	put_label(trace, "thread_name", process_of(trace, PATH), 1, "critical path");
	for (size_t i = 0, end; i < path->n_steps; i = end) {
		end = i + 1;
		while (end < path->n_steps &&
			same_message(&path->steps[end - 1].span, &path->steps[end].span))
			end++;
		for (size_t k = i; k < end; k++)
			if (path->steps[k].span.to_ps > timeline->from_ps &&
				path->steps[k].span.from_ps < timeline->to_ps)
				put_step(trace, &path->steps[k]);
		if (path->steps[i].span.from_ps >= timeline->from_ps &&
			path->steps[end - 1].span.to_ps <= timeline->to_ps) {
			// Draw the message whose steps are [first, end), from its post to
			// its arrival: within the spans of both ranks, so an instant
			// before the receive ends. A message that the path follows until
			// its acknowledgement has no arrow.
			const struct tb_rank_span *from =
				&trace->timeline->path.steps[i].span;
			const struct tb_rank_span *to =
				&trace->timeline->path.steps[end - 1].span;
			if (from->peer != TB_ID_NONE && from->n <= 1 &&
				to->what != TB_PATH_ACKNOWLEDGE &&
				to->what != TB_PATH_LOST) {
				trace->n_arrows++;
				put_arrow_end(
					trace, "s", from, from->rank, from->from_ps);
				put_arrow_end(
					trace, "f", from, from->peer, to->to_ps - 1);
			}
		}
	}
}

static void put_perfetto_count(
	struct perfetto_trace *trace, uint32_t link, tb_time_ps at_ps, double value)
{
	const struct tb_timeline *timeline = trace->timeline;
	uint32_t id = timeline->links[link].sample.link.id;
	struct tb_json_object made = event(
		"C", tb_run_links(timeline->run)[id].name, process_of(trace, LINKS), 0);
	struct tb_json_object args = tb_json_object_new();
	tb_json_add_real(&made, "ts", microseconds(at_ps));
	tb_json_add_real(&args, "waiting", value);
	tb_json_add(&made, "args", tb_json_object_take(&args));
	put_perfetto_event(trace, &made);
}

static int put_perfetto_links(struct perfetto_trace *trace, struct tb_error *error)
{
	const struct tb_timeline *timeline = trace->timeline;
	const struct tb_run_info *info = tb_run_info(timeline->bins);
	tb_time_ps span = timeline->to_ps - timeline->from_ps;
	if (timeline->n_links == 0 || info->bin_ps <= 0)
		return TB_OK;
	uint32_t n = span / info->bin_ps < COLUMNS_MOST
			     ? (uint32_t)(span / info->bin_ps) + 1
			     : COLUMNS_MOST;
	double *heat = malloc((size_t)timeline->n_links * n * sizeof *heat);
	int status = heat ? tb_timeline_heat(timeline, heat, n, error)
			  : tb_fail_memory(error, "the links");
	if (!status)
		put_label(trace, "process_name", process_of(trace, LINKS), 0,
			"hottest links: packets that wait behind them");
	for (uint32_t k = 0; k < timeline->n_links && !status; k++) {
		double before = -1;
		for (uint32_t i = 0; i < n; i++) {
			double value = heat[(size_t)k * n + i];
			if (value != before)
				put_perfetto_count(trace, k,
					timeline->from_ps +
						(tb_time_ps)((double)span / n * i),
					value);
			before = value;
		}
		put_perfetto_count(trace, k, timeline->to_ps, 0);
	}
	free(heat);
	return status;
}

int tb_timeline_trace(
	const struct tb_timeline *timeline, FILE *stream, struct tb_error *error)
{
	struct perfetto_trace trace = {.timeline = timeline};
	const struct tb_run_info *info = tb_run_info(timeline->run);
	struct tb_json_object head = tb_json_object_new();
	struct tb_json_object about = tb_json_object_new();
	tb_json_add_count(&about, "run", (uint64_t)info->id);
	tb_json_add_text(&about, "input", info->input_name);
	tb_json_add_text(&about, "network", info->network_name);
	uint64_t n_left_out = count_left_out(timeline);
	if (n_left_out)
		tb_json_add_count(&about, "calls_left_out", n_left_out);
	tb_json_add_text(&head, "displayTimeUnit", "ns");
	tb_json_add(&head, "otherData", tb_json_object_take(&about));
	tb_json_rows_begin(
		&trace.rows, tb_json_object_take(&head), "traceEvents", DIGITS, stream);
	put_perfetto_ranks(&trace);
	put_perfetto_path(&trace);
	int status = put_perfetto_links(&trace, error);
	int written = tb_json_rows_end(&trace.rows);
	if (!status && written)
		status = tb_fail_memory(error, "the trace");
	return status;
}
