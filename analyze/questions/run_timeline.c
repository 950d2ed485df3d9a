#include "run_timeline.h"

#include "array.h"
#include "order.h"

#include <stdlib.h>

// list_timeline_ranks finds the spans of each rank, which are adjacent.
static int list_timeline_ranks(struct tb_timeline *timeline)
{
	const struct tb_rank_spans *times = &timeline->times;
	for (size_t i = 0; i < times->n; i++) {
		const struct tb_rank_span *span = &times->spans[i];
		struct tb_timeline_rank *last =
			timeline->n_ranks ? &timeline->ranks[timeline->n_ranks - 1]
					  : NULL;
		if (last && last->job == span->job && last->rank == span->rank) {
			last->n_spans++;
			continue;
		}
		if (TB_ARRAY_RESERVE(&timeline->ranks, &timeline->ranks_room,
			    timeline->n_ranks + 1) != TB_OK)
			return TB_ENOMEM;
		timeline->ranks[timeline->n_ranks++] =
			(struct tb_timeline_rank){.job = span->job,
				.rank = span->rank,
				.first_span = i,
				.n_spans = 1};
	}
	return TB_OK;
}

TB_ORDER_BY(order_spans_by_rank, struct tb_timeline_rank, TB_UP(job) TB_UP(rank))

// deal_calls finds the calls of each rank, which are adjacent.
static void deal_calls(struct tb_timeline *timeline)
{
	const struct tb_call_spans *calls = &timeline->calls;
	for (size_t i = 0, end; i < calls->n && timeline->n_ranks; i = end) {
		const struct tb_called *call = &calls->calls[i];
		const struct tb_timeline_rank key = {
			.job = call->job, .rank = call->rank};
		for (end = i + 1; end < calls->n && calls->calls[end].job == call->job &&
				  calls->calls[end].rank == call->rank;)
			end++;
		struct tb_timeline_rank *rank = bsearch(&key, timeline->ranks,
			timeline->n_ranks, sizeof key, order_spans_by_rank);
		if (!rank)
			continue;
		rank->first_call = i;
		rank->n_calls = end - i;
	}
}

// clip_rank_span returns how much of a span is shown.
static tb_time_ps clip_rank_span(
	const struct tb_timeline *timeline, const struct tb_rank_span *span)
{
	tb_time_ps from =
		span->from_ps > timeline->from_ps ? span->from_ps : timeline->from_ps;
	tb_time_ps to = span->to_ps < timeline->to_ps ? span->to_ps : timeline->to_ps;
	return to > from ? to - from : 0;
}

// read_ends reads when each rank ended; both lists are by job and rank.
static int read_ends(struct tb_timeline *timeline, struct tb_error *error)
{
	struct tb_rank_spans last = {0};
	int status = tb_rank_spans_last(&last, timeline->run, error);
	for (size_t i = 0, k = 0; !status && i < timeline->n_ranks; i++) {
		struct tb_timeline_rank *rank = &timeline->ranks[i];
		while (k < last.n && (last.spans[k].job < rank->job ||
					     (last.spans[k].job == rank->job &&
						     last.spans[k].rank < rank->rank)))
			k++;
		if (k < last.n && last.spans[k].job == rank->job &&
			last.spans[k].rank == rank->rank)
			rank->end_ps = last.spans[k].to_ps;
	}
	tb_rank_spans_fini(&last);
	return status;
}

// order_of compares the ranks of two spans.
static int order_of(const struct tb_rank_span *a, const struct tb_rank_span *b)
{
	if (a->job != b->job)
		return a->job < b->job ? -1 : 1;
	return (a->rank > b->rank) - (a->rank < b->rank);
}

// add_rest adds what the closer look has not: it ends with the window, so of what was
// under way then it does not know the end.
static int add_rest(struct tb_rank_spans *times, const struct tb_rank_spans *rest,
	struct tb_rank_spans *both)
{
	size_t i = 0, k = 0;
	if (TB_ARRAY_RESERVE(&both->spans, &both->room, times->n + rest->n + 1) != TB_OK)
		return TB_ENOMEM;
	while (i < times->n || k < rest->n) {
		const struct tb_rank_span *own = i < times->n ? &times->spans[i] : NULL;
		const struct tb_rank_span *other = k < rest->n ? &rest->spans[k] : NULL;
		const struct tb_rank_span *last =
			both->n ? &both->spans[both->n - 1] : NULL;
		if (own && (!other || order_of(own, other) <= 0)) {
			both->spans[both->n++] = *own;
			i++;
			continue;
		}
		struct tb_rank_span cut = *other;
		k++;
		if (last && order_of(last, other) == 0 && cut.from_ps < last->to_ps)
			cut.from_ps = last->to_ps;
		if (cut.from_ps < cut.to_ps)
			both->spans[both->n++] = cut;
	}
	return TB_OK;
}

// read_times reads the spans of ranks, from the closer look as far as that knows them.
static int read_times(struct tb_timeline *timeline, struct tb_error *error)
{
	struct tb_rank_spans close = {0}, both = {0};
	int status = tb_rank_spans_init(&timeline->times, timeline->run,
		timeline->from_ps, timeline->to_ps, error);
	if (status || timeline->bins == timeline->run)
		return status;
	status = tb_rank_spans_init(
		&close, timeline->bins, timeline->from_ps, timeline->to_ps, error);
	if (!status && add_rest(&close, &timeline->times, &both) != TB_OK)
		status = tb_fail_memory(error, "the ranks");
	tb_rank_spans_fini(&close);
	tb_rank_spans_fini(&timeline->times);
	timeline->times = both;
	return status;
}

// window_of returns the bins of column i of n; end_bin is 0 where there are none.
static struct tb_window window_of(
	const struct tb_timeline *timeline, uint32_t i, uint32_t n)
{
	const struct tb_run_info *info = tb_run_info(timeline->bins);
	double span = (double)(timeline->to_ps - timeline->from_ps) / n;
	double from = (double)timeline->from_ps + span * i;
	struct tb_window window = {(uint64_t)(from / (double)info->bin_ps),
		(uint64_t)((from + span) / (double)info->bin_ps)};
	if (window.end_bin <= window.first_bin)
		window.end_bin = window.first_bin + 1;
	if (window.end_bin > info->n_bins)
		window.end_bin = info->n_bins;
	if (window.first_bin >= window.end_bin)
		return (struct tb_window){0, 0};
	return window;
}

// bins_shown returns the bins of what is shown; {0, 0}: of the whole run.
static struct tb_window bins_shown(const struct tb_timeline *timeline)
{
	const struct tb_run_info *info = tb_run_info(timeline->bins);
	if (info->bin_ps <= 0 ||
		(timeline->bins == timeline->run && timeline->from_ps == 0 &&
			timeline->to_ps == info->simulated_ps))
		return (struct tb_window){0, 0};
	struct tb_window window = window_of(timeline, 0, 1);
	// A bin of which only a part is shown is one of them.
	if (window.end_bin && window.end_bin < info->n_bins &&
		(tb_time_ps)window.end_bin * info->bin_ps < timeline->to_ps)
		window.end_bin++;
	return window;
}

bool tb_timeline_is_whole(const struct tb_timeline *timeline)
{
	return timeline->from_ps == 0 &&
	       timeline->to_ps == tb_run_info(timeline->run)->simulated_ps;
}

int tb_timeline_init(struct tb_timeline *timeline, struct tb_run *run,
	const struct tb_timeline_options *options, struct tb_error *error)
{
	tb_time_ps end = tb_run_info(run)->simulated_ps;
	struct tb_timeline made = {.run = run,
		.bins = options->closer ? options->closer : run,
		.from_ps = options->from_ps,
		.to_ps = options->to_ps < end ? options->to_ps : end};
	if (options->from_ps >= options->to_ps)
		return tb_fail(error, TB_EUSAGE,
			"the span of time is %s: it must end after it begins",
			options->from_ps > options->to_ps ? "reversed" : "empty");
	if (end == 0)
		return tb_fail(error, TB_EUSAGE,
			"there is nothing to show: the run has no message");
	if (made.from_ps >= made.to_ps) {
		char text[24];
		return tb_fail(error, TB_EUSAGE,
			"there is nothing to show in this span of time: the run lasts %s",
			tb_format_time(end, text, sizeof text));
	}
	int status = read_times(&made, error);
	if (!status && list_timeline_ranks(&made) != TB_OK)
		status = tb_fail_memory(error, "the ranks");
	if (!status)
		status = read_ends(&made, error);
	if (!status)
		status = tb_call_spans_init(
			&made.calls, run, made.from_ps, made.to_ps, error);
	if (!status)
		status = tb_critical_path_init(&made.path, run, error);
	if (!status && options->closer)
		status = tb_critical_path_look(&made.path, options->closer, error);
	if (!status && !tb_timeline_is_whole(&made))
		status = tb_critical_path_window(
			&made.path, made.from_ps, made.to_ps, error);
	if (!status && options->n_links)
		status = tb_hot_links(made.bins, bins_shown(&made), options->n_links,
			&made.links, &made.n_links, error);
	if (status) {
		tb_timeline_fini(&made);
		return status;
	}
	// Add up what the path spends at each rank.
	for (size_t i = 0; i < made.path.n_steps; i++) {
		const struct tb_rank_span *step = &made.path.steps[i].span;
		const struct tb_timeline_rank key = {
			.job = step->job, .rank = step->rank};
		struct tb_timeline_rank *rank =
			made.n_ranks ? bsearch(&key, made.ranks, made.n_ranks, sizeof key,
					       order_spans_by_rank)
				     : NULL;
		if (rank)
			rank->on_path_ps += (double)clip_rank_span(&made, step);
	}
	// Add up how long each rank waits until others send.
	for (size_t i = 0; i < made.n_ranks; i++) {
		struct tb_timeline_rank *rank = &made.ranks[i];
		for (size_t k = 0; k < rank->n_spans; k++) {
			const struct tb_rank_span *span =
				&made.times.spans[rank->first_span + k];
			if (span->what == TB_SPAN_WAIT)
				rank->wait_ps += clip_rank_span(&made, span);
		}
	}
	deal_calls(&made);
	*timeline = made;
	return TB_OK;
}

void tb_timeline_fini(struct tb_timeline *timeline)
{
	tb_rank_spans_fini(&timeline->times);
	tb_call_spans_fini(&timeline->calls);
	tb_critical_path_fini(&timeline->path);
	free(timeline->ranks);
	free(timeline->links);
	*timeline = (struct tb_timeline){0};
}

static double weight(
	const struct tb_timeline *timeline, enum tb_timeline_order order, size_t rank)
{
	const struct tb_timeline_rank *of = &timeline->ranks[rank];
	return order == TB_RANKS_BY_WAIT  ? (double)of->wait_ps
	       : order == TB_RANKS_BY_END ? (double)of->end_ps
					  : of->on_path_ps;
}

static int ascending(const void *left, const void *right)
{
	size_t a = *(const size_t *)left, b = *(const size_t *)right;
	return (a > b) - (a < b);
}

// A rank beside what it is listed by.
struct weighed_rank {
	double weight;
	size_t rank;
};

TB_ORDER_BY(heavier, struct weighed_rank, TB_DOWN(weight) TB_UP(rank))

size_t tb_timeline_choose(const struct tb_timeline *timeline,
	enum tb_timeline_order order, size_t *ranks, size_t most)
{
	size_t n = timeline->n_ranks < most ? timeline->n_ranks : most;
	struct weighed_rank *all = malloc((timeline->n_ranks + 1) * sizeof *all);
	for (size_t i = 0; all && i < timeline->n_ranks; i++)
		all[i] = (struct weighed_rank){weight(timeline, order, i), i};
	if (all && timeline->n_ranks)
		qsort(all, timeline->n_ranks, sizeof *all, heavier);
	for (size_t i = 0; i < n; i++) // without memory the first ones
		ranks[i] = all ? all[i].rank : i;
	free(all);
	if (n && order == TB_RANKS_BY_JOB)
		qsort(ranks, n, sizeof *ranks, ascending);
	return n;
}

int tb_timeline_heat(const struct tb_timeline *timeline, double *heat, uint32_t n,
	struct tb_error *error)
{
	const struct tb_run_info *info = tb_run_info(timeline->bins);
	struct tb_link_sample *samples =
		malloc(((size_t)info->n_links + 1) * sizeof *samples);
	struct tb_window before = {0, 0};
	int status = samples ? TB_OK : tb_fail_memory(error, "the links");
	for (uint32_t i = 0; i < n && !status; i++) {
		struct tb_window window = {0, 0};
		if (info->bin_ps > 0 && timeline->n_links)
			window = window_of(timeline, i, n);
		bool known = window.first_bin == before.first_bin &&
			     window.end_bin == before.end_bin;
		if (window.end_bin && !known)
			status = tb_run_samples(timeline->bins, window, samples, error);
		before = window;
		tb_time_ps width = tb_run_window_ps(timeline->bins, window);
		for (uint32_t k = 0; k < timeline->n_links && !status; k++) {
			uint32_t link = timeline->links[k].sample.link.id;
			heat[(size_t)k * n + i] =
				window.end_bin && width > 0
					? (double)samples[link].wait_ps / (double)width
					: 0;
		}
	}
	free(samples);
	return status;
}
