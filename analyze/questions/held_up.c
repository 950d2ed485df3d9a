#include "held_up.h"

#include "array.h"
#include "bisect.h"
#include "series.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void tb_held_list_fini(struct tb_held_list *list)
{
	free(list->rows);
	*list = (struct tb_held_list){0};
}

void tb_held_up_fini(struct tb_held_up *held)
{
	tb_rank_spans_fini(&held->times);
	tb_rank_seats_fini(&held->seats);
	tb_heavy_waits_fini(&held->waits);
	free(held->parts);
	*held = (struct tb_held_up){.n_parts = 0};
}

static int order_held_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

// order_held_by_flow compares what two parts wait with: the flow, at the same end.
static int order_held_by_flow(const struct tb_held_part *a, const struct tb_held_part *b)
{
	int order = order_held_u64(a->job, b->job);
	if (order == 0)
		order = order_held_u64(a->source.id, b->source.id);
	if (order == 0)
		order = order_held_u64(a->destination.id, b->destination.id);
	return order ? order : order_held_u64(a->receives, b->receives);
}

static int by_part(const void *left, const void *right)
{
	const struct tb_held_part *a = left, *b = right;
	int order = order_held_by_flow(a, b);
	return order ? order : order_held_u64(a->span, b->span);
}

// held_part_of finds the flow with which a span waits; false where there is none.
static bool held_part_of(
	const struct tb_held_up *held, size_t i, struct tb_held_part *part)
{
	const struct tb_rank_span *span = &held->times.spans[i];
	if (span->what == TB_SPAN_COMPUTE || span->peer == TB_ID_NONE)
		return false;
	struct tb_node own = tb_rank_seats_node(&held->seats, span->job, span->rank);
	struct tb_node peer = tb_rank_seats_node(&held->seats, span->job, span->peer);
	bool receives = span->what != TB_SPAN_SEND;
	*part = (struct tb_held_part){.job = span->job,
		.source = receives ? peer : own,
		.destination = receives ? own : peer,
		.receives = receives,
		.span = i};
	return own.id != TB_ID_NONE && peer.id != TB_ID_NONE;
}

int tb_held_up_init(struct tb_held_up *held, struct tb_run *run, struct tb_error *error)
{
	struct tb_held_up made = {.n_parts = 0};
	int status = tb_rank_spans_init(&made.times, run, 0, TB_TIME_NEVER, error);
	if (!status)
		status = tb_rank_seats_init(&made.seats, run, error);
	if (!status)
		status = tb_heavy_waits_init(&made.waits, run, 0, error);
	if (!status && !(made.parts = malloc((made.times.n + 1) * sizeof *made.parts)))
		status = tb_fail_memory(error, "the spans");
	for (size_t i = 0; !status && i < made.times.n; i++)
		made.n_parts += held_part_of(&made, i, &made.parts[made.n_parts]);
	if (made.n_parts)
		qsort(made.parts, made.n_parts, sizeof *made.parts, by_part);
	if (status)
		tb_held_up_fini(&made);
	else
		*held = made;
	return status;
}

// first_part returns the number of the first part that is not before `key`.
static size_t first_part(const struct tb_held_up *held, const struct tb_held_part *key)
{
	size_t first;
	TB_BISECT(first, held->n_parts, order_held_by_flow(&held->parts[first], key) < 0);
	return first;
}

// How long headers waited at a link, up to the end of each of n columns of equal time.
struct link_curve {
	double *sums; // n + 1
	uint32_t n;
	double column_ps;
};

static int curve_init(struct link_curve *curve, struct tb_run *run, struct tb_link link,
	struct tb_error *error)
{
	const struct tb_run_info *info = tb_run_info(run);
	uint64_t n_bins = info->n_bins;
	// A column for each bin that a series looks at.
	uint64_t step = (n_bins + TB_SERIES_LOOKS - 1) / TB_SERIES_LOOKS;
	uint32_t n = (uint32_t)(n_bins ? n_bins / step : 0);
	uint64_t *columns = calloc((size_t)n + 1, sizeof *columns);
	*curve = (struct link_curve){.sums = calloc((size_t)n + 1, sizeof *curve->sums),
		.n = n,
		.column_ps = (double)info->bin_ps * (double)n_bins / fmax(n, 1)};
	int status = columns && curve->sums ? TB_OK : tb_fail_memory(error, "a link");
	if (!status && n)
		status = tb_run_series(run, link, TB_CAME_BY, columns, n, error);
	for (uint32_t i = 0; !status && i < n; i++)
		curve->sums[i + 1] = curve->sums[i] + (double)columns[i];
	free(columns);
	return status;
}

// wait_until returns how long headers waited there until an instant, in parts of bins.
static double wait_until(const struct link_curve *curve, tb_time_ps at_ps)
{
	double at = fmin((double)at_ps / fmax(curve->column_ps, 1), curve->n);
	uint32_t column = (uint32_t)at;
	if (column >= curve->n)
		return curve->sums[curve->n];
	return curve->sums[column] +
	       (at - column) * (curve->sums[column + 1] - curve->sums[column]);
}

static double wait_during(
	const struct link_curve *curve, tb_time_ps from_ps, tb_time_ps to_ps)
{
	return to_ps > from_ps ? wait_until(curve, to_ps) - wait_until(curve, from_ps)
			       : 0;
}

static double span_wait(const struct tb_held_up *held, const struct link_curve *curve,
	const struct tb_held_part *part)
{
	const struct tb_rank_span *span = &held->times.spans[part->span];
	return wait_during(curve, span->from_ps, span->to_ps);
}

// share_out_held_wait adds to each span of a flow, at one of its ends, the share of a
// wait.
static void share_out_held_wait(const struct tb_held_up *held,
	const struct link_curve *curve, const struct tb_held_part *flow, uint64_t wait_ps,
	double *held_ps)
{
	size_t first = first_part(held, flow), end = first;
	double whole = 0;
	for (; end < held->n_parts && order_held_by_flow(&held->parts[end], flow) == 0;
		end++)
		whole += span_wait(held, curve, &held->parts[end]);
	for (size_t i = first; whole > 0 && i < end; i++)
		held_ps[held->parts[i].span] +=
			(double)wait_ps * span_wait(held, curve, &held->parts[i]) / whole;
}

static int order_held_by_length(const void *left, const void *right)
{
	const struct tb_span_held *a = left, *b = right;
	int order = order_held_u64((uint64_t)b->wait_ps, (uint64_t)a->wait_ps);
	if (order == 0)
		order = order_held_u64(a->link.id, b->link.id);
	if (order == 0)
		order = order_held_u64(a->span.job, b->span.job);
	if (order == 0)
		order = order_held_u64(a->span.rank, b->span.rank);
	return order ? order
		     : order_held_u64(
			       (uint64_t)a->span.from_ps, (uint64_t)b->span.from_ps);
}

// add_row adds what is a picosecond at least.
static int add_row(struct tb_held_list *list, struct tb_link link,
	const struct tb_rank_span *span, double wait_ps)
{
	if (wait_ps < 1)
		return TB_OK;
	if (TB_ARRAY_RESERVE(&list->rows, &list->room, list->n + 1) != TB_OK)
		return TB_ENOMEM;
	list->rows[list->n++] = (struct tb_span_held){link, *span, (tb_time_ps)wait_ps};
	return TB_OK;
}

int tb_held_spans(const struct tb_held_up *held, struct tb_run *run, struct tb_link link,
	struct tb_held_list *list, struct tb_error *error)
{
	struct link_curve curve;
	struct tb_held_list made = {0};
	double *held_ps = calloc(held->times.n + 1, sizeof *held_ps);
	int status = curve_init(&curve, run, link, error);
	if (!status && !held_ps)
		status = tb_fail_memory(error, "the spans");
	for (uint32_t i = 0; !status && i < held->waits.listed.n; i++)
		if (held->waits.rows[i].link.id == link.id) {
			// Share out what the store has of a victim at a link, at both
			// ends.
			const struct tb_blame_sample *row = &held->waits.rows[i];
			struct tb_held_part flow = {.job = row->victim_job,
				.source = row->victim_source,
				.destination = row->victim_destination};
			share_out_held_wait(held, &curve, &flow, row->wait_ps, held_ps);
			flow.receives = true;
			share_out_held_wait(held, &curve, &flow, row->wait_ps, held_ps);
		}
	for (size_t i = 0; !status && i < held->times.n; i++)
		if (add_row(&made, link, &held->times.spans[i], held_ps[i]) != TB_OK)
			status = tb_fail_memory(error, "the spans");
	if (!status && made.n)
		qsort(made.rows, made.n, sizeof *made.rows, order_held_by_length);
	free(held_ps);
	free(curve.sums);
	if (status) {
		tb_held_list_fini(&made);
		return status;
	}
	tb_held_list_fini(list);
	*list = made;
	return TB_OK;
}

// is_asked is true for a span of the rank in the time that is asked for.
static bool is_asked(const struct tb_rank_span *asked, const struct tb_rank_span *span)
{
	bool alone = asked->peer != TB_ID_NONE;
	return span->job == asked->job && span->rank == asked->rank &&
	       span->from_ps < asked->to_ps && span->to_ps > asked->from_ps &&
	       (!alone || (span->from_ps == asked->from_ps && span->peer == asked->peer));
}

static bool is_victim(const struct tb_blame_sample *row, const struct tb_held_part *flow)
{
	return row->victim_job == flow->job && row->victim_source.id == flow->source.id &&
	       row->victim_destination.id == flow->destination.id;
}

// held_by returns how long a link held the rank up, by one of its flows.
static double held_by(const struct tb_held_up *held, const struct link_curve *curve,
	const struct tb_held_part *flow, double wait_ps, const struct tb_rank_span *asked)
{
	double whole = 0, part = 0;
	size_t i = first_part(held, flow);
	for (; i < held->n_parts && order_held_by_flow(&held->parts[i], flow) == 0; i++) {
		const struct tb_rank_span *span = &held->times.spans[held->parts[i].span];
		whole += wait_during(curve, span->from_ps, span->to_ps);
		if (!is_asked(asked, span))
			continue;
		part += wait_during(curve,
			span->from_ps > asked->from_ps ? span->from_ps : asked->from_ps,
			span->to_ps < asked->to_ps ? span->to_ps : asked->to_ps);
	}
	return whole > 0 ? wait_ps * part / whole : 0;
}

int tb_held_links(const struct tb_held_up *held, struct tb_run *run,
	const struct tb_rank_span *asked, struct tb_held_list *list,
	struct tb_error *error)
{
	struct tb_link links[TB_HELD_LINKS_MOST];
	struct tb_held_list made = {0};
	size_t *flows = malloc((held->n_parts + 1) * sizeof *flows);
	if (!flows)
		return tb_fail_memory(error, "the links");
	// Mark the flows with which the rank waits then: their parts, of which the
	// first of each flow stands for all.
	size_t n = 0;
	for (size_t i = 0; i < held->n_parts; i++) {
		const struct tb_held_part *part = &held->parts[i];
		if (!is_asked(asked, &held->times.spans[part->span]))
			continue;
		if (n == 0 || order_held_by_flow(&held->parts[flows[n - 1]], part) != 0)
			flows[n++] = i;
	}
	// List the links where these flows waited, the longest waits first.
	uint32_t n_links = 0;
	for (uint32_t i = 0; i < held->waits.listed.n && n_links < TB_HELD_LINKS_MOST;
		i++) {
		const struct tb_blame_sample *row = &held->waits.rows[i];
		bool known = false, waits = false;
		for (uint32_t k = 0; k < n_links && !known; k++)
			known = links[k].id == row->link.id;
		for (size_t k = 0; k < n && !known && !waits; k++)
			waits = is_victim(row, &held->parts[flows[k]]);
		if (waits)
			links[n_links++] = row->link;
	}
	int status = TB_OK;
	for (uint32_t i = 0; i < n_links && !status; i++) {
		// Add what a link held up of these flows.
		struct tb_link link = links[i];
		struct link_curve curve;
		double held_ps = 0;
		status = curve_init(&curve, run, link, error);
		for (uint32_t j = 0; !status && j < held->waits.listed.n; j++) {
			const struct tb_blame_sample *row = &held->waits.rows[j];
			for (size_t k = 0; row->link.id == link.id && k < n; k++)
				if (is_victim(row, &held->parts[flows[k]]))
					held_ps += held_by(held, &curve,
						&held->parts[flows[k]],
						(double)row->wait_ps, asked);
		}
		if (!status && add_row(&made, link, asked, held_ps) != TB_OK)
			status = tb_fail_memory(error, "the links");
		free(curve.sums);
	}
	free(flows);
	if (!status && made.n)
		qsort(made.rows, made.n, sizeof *made.rows, order_held_by_length);
	if (status) {
		tb_held_list_fini(&made);
		return status;
	}
	tb_held_list_fini(list);
	*list = made;
	return TB_OK;
}
