#include "critical_path.h"

#include "array.h"
#include "circuit_params.h"
#include "credit_params.h"
#include "heavy_waits.h"
#include "order.h"
#include "run_impl.h"
#include "switchings.h"

#include <stdlib.h>
#include <string.h>

const char *tb_path_key(enum tb_path_cause cause)
{
	static const char *const keys[TB_PATH_CAUSES] = {
		[TB_PATH_START] = "path_start_ps",
		[TB_PATH_COMPUTE] = "path_compute_ps",
		[TB_PATH_CLOSED] = "path_closed_ps",
		[TB_PATH_QUEUE] = "path_queue_ps",
		[TB_PATH_SOFTWARE] = "path_software_ps",
		[TB_PATH_TRANSFER] = "path_transfer_ps",
		[TB_PATH_HELD_UP] = "path_held_up_ps",
		[TB_PATH_TIMEOUT] = "path_timeout_ps",
		[TB_PATH_PACED] = "path_paced_ps",
		[TB_PATH_ACKNOWLEDGE] = "path_acknowledge_ps",
		[TB_PATH_LOST] = "path_lost_ps",
		[TB_PATH_END] = "path_end_ps"};
	return keys[cause];
}

const char *tb_path_words(enum tb_path_cause cause)
{
	static const char *const words[TB_PATH_CAUSES] = {
		[TB_PATH_START] = "before the job started",
		[TB_PATH_COMPUTE] = "computing",
		[TB_PATH_CLOSED] = "while a receiver kept its window closed",
		[TB_PATH_QUEUE] = "behind other messages of the same node",
		[TB_PATH_SOFTWARE] = "overheads and libraries of hosts",
		[TB_PATH_TRANSFER] = "crossing the network, as if it were idle",
		[TB_PATH_HELD_UP] = "held up in the network",
		[TB_PATH_TIMEOUT] = "time-outs",
		[TB_PATH_PACED] = "at the pace of congestion control",
		[TB_PATH_ACKNOWLEDGE] = "until what had arrived was acknowledged",
		[TB_PATH_LOST] = "messages that were given up",
		[TB_PATH_END] = "after the last operation"};
	return words[cause];
}

const char *tb_path_nowhere(
	const struct tb_critical_path *path, const struct tb_run_info *info)
{
	const struct tb_network_params *network = &info->network;
	const char *switching = network->switching;
	if (path->leaves_out)
		return "of all waits only the longest are stored";
	if (info->n_retries > 0)
		return "packets sent again, or not known";
	if (strcmp(switching, "fluid") == 0)
		return "flows that got less than their share, or not known";
	if (tb_switching_of(network)->has_queue_pairs)
		return tb_credit_params(network)->congestion_control != TB_CONGESTION_NONE
			       ? "the pace of congestion control, messages of a node "
				 "that send in turns, or not known"
			       : "messages of a node that send in turns, or not known";
	if (strcmp(switching, "circuits") != 0)
		return "not known";
	return tb_circuit_params(network)->link_tokens > 0
		       ? "acknowledgements and tokens, which share cables with packets "
			 "(link_tokens), a node's bus, or not known"
		       : "a node's bus, or not known";
}

#define RECORD struct tb_path_step
static const struct tb_stored_table path_steps = TB_STORED_TABLE("path_step", RECORD,
	TB_COLUMN_WORD("s.cause", span.what, tb_path_name),
	TB_COLUMN_AS(TB_STORED_JOB, "s.job", span.job),
	TB_COLUMN_WITH("s.rank", span.rank, TB_STORED_OR_NULL),
	TB_COLUMN_WITH("s.peer", span.peer, TB_STORED_OR_NULL),
	TB_COLUMN("s.from_ps", span.from_ps), TB_COLUMN("s.to_ps", span.to_ps),
	TB_COLUMN("s.merged", span.n),
	TB_COLUMN_WITH("a.node", source, TB_STORED_OR_NULL),
	TB_COLUMN_WITH("b.node", destination, TB_STORED_OR_NULL));
#undef RECORD
#define STEPS                                                                            \
	"path_step AS s "                                                                \
	"LEFT JOIN job_node AS a ON a.run = s.run AND a.job = s.job AND a.rank = "       \
	"s.rank "                                                                        \
	"LEFT JOIN job_node AS b ON b.run = s.run AND b.job = s.job AND b.rank = "       \
	"s.peer "                                                                        \
	"WHERE s.run = ?1 ORDER BY s.step"

#define RECORD struct tb_path_total
static const struct tb_stored_table path_totals = TB_STORED_TABLE("path_total", RECORD,
	TB_COLUMN_WORD("cause", cause, tb_path_name),
	TB_COLUMN_AS(TB_STORED_JOB, "job", job),
	TB_COLUMN_WITH("source", source, TB_STORED_OR_NULL),
	TB_COLUMN_WITH("destination", destination, TB_STORED_OR_NULL),
	TB_COLUMN("steps", n_steps), TB_COLUMN("sum_ps", sum_ps));
#undef RECORD

// read_path reads the steps and totals, and what these come to by cause.
static int read_path(
	struct tb_critical_path *path, struct tb_run *run, struct tb_error *error)
{
	struct tb_row_reader rows = tb_run_read(run, &path_steps, STEPS, error);
	int status = tb_row_read_all(
		&rows, &path->steps, &path->n_steps, &path->steps_room, "the path");
	for (size_t i = 0; i < path->n_steps && !status; i++)
		if (path->steps[i].span.to_ps <= path->steps[i].span.from_ps)
			status = tb_sql_damaged(run->path, "path_step", error);
	if (status)
		return status;
	rows = tb_run_read(
		run, &path_totals, "path_total WHERE run = ?1 ORDER BY total", error);
	status = tb_row_read_all(
		&rows, &path->totals, &path->n_totals, &path->totals_room, "the path");
	for (size_t i = 0; i < path->n_totals && !status; i++) {
		const struct tb_path_total *total = &path->totals[i];
		if (path->causes[total->cause] > INT64_MAX - total->sum_ps)
			return tb_sql_damaged(run->path, "path_total", error);
		path->causes[total->cause] += total->sum_ps;
		path->shares[total->cause].n_steps += total->n_steps;
	}
	return status;
}

// Where a connection lost frames before it waited for a timer, by connection and link.
struct tb_path_lost {
	struct tb_timeout_sample timeout;
	uint64_t bytes; // all that was lost there
};
#define RECORD struct tb_path_lost
static const struct tb_stored_table path_lost = TB_STORED_TABLE("time_out", RECORD,
	TB_COLUMN_AS(TB_STORED_JOB, "t.job", timeout.job),
	TB_COLUMN("t.source", timeout.source),
	TB_COLUMN("t.destination", timeout.destination),
	TB_COLUMN("t.to_ps", timeout.to_ps), TB_COLUMN("t.link", timeout.lost),
	TB_COLUMN("bytes", bytes));
#undef RECORD
// to_ps: how long it waited.
#define LOST                                                                             \
	"(SELECT job, source, destination, link, sum(to_ps - from_ps) AS to_ps, "        \
	"ifnull((SELECT bytes FROM port_loss AS p WHERE p.run = ?1 AND "                 \
	"p.link = time_out.link), 0) AS bytes "                                          \
	"FROM time_out WHERE run = ?1 GROUP BY job, source, destination, link) AS t "    \
	"ORDER BY t.job, t.source, t.destination, t.to_ps DESC, t.link"

static int order_path_u32(uint32_t a, uint32_t b)
{
	return (a > b) - (a < b);
}

// order_wait_by_flow compares a job's flow with the victim of a wait.
static int order_wait_by_flow(uint32_t job, struct tb_node source,
	struct tb_node destination, const struct tb_blame_sample *wait)
{
	int order = order_path_u32(job, wait->victim_job);
	if (order == 0)
		order = order_path_u32(source.id, wait->victim_source.id);
	return order ? order
		     : order_path_u32(destination.id, wait->victim_destination.id);
}

static int by_victim(const void *left, const void *right)
{
	const struct tb_blame_sample *a = left, *b = right;
	int order = order_wait_by_flow(
		a->victim_job, a->victim_source, a->victim_destination, b);
	if (order == 0)
		order = (a->wait_ps < b->wait_ps) - (a->wait_ps > b->wait_ps);
	if (order == 0)
		order = order_path_u32(a->link.id, b->link.id);
	if (order == 0)
		order = order_path_u32(a->culprit_job, b->culprit_job);
	if (order == 0)
		order = order_path_u32(a->culprit_source.id, b->culprit_source.id);
	return order ? order
		     : order_path_u32(
			       a->culprit_destination.id, b->culprit_destination.id);
}

// first_wait returns the first wait of a flow; n_waits if there is none.
static size_t first_wait(const struct tb_critical_path *path, uint32_t job,
	struct tb_node source, struct tb_node destination)
{
	size_t low = 0, high = path->n_waits;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (order_wait_by_flow(job, source, destination, &path->waits[middle]) >
			0)
			low = middle + 1;
		else
			high = middle;
	}
	if (low < path->n_waits &&
		order_wait_by_flow(job, source, destination, &path->waits[low]) == 0)
		return low;
	return path->n_waits;
}

const struct tb_blame_sample *tb_critical_path_wait(const struct tb_critical_path *path,
	const struct tb_path_step *step, struct tb_wait_place *place)
{
	size_t i = first_wait(path, step->span.job, step->source, step->destination);
	if (i >= path->n_waits)
		return NULL;
	if (place)
		*place = path->places[i];
	return &path->waits[i];
}

static int append_path_link(struct tb_critical_path *path, struct tb_path_link made)
{
	if (made.sum_ps == 0)
		return TB_OK;
	if (TB_ARRAY_RESERVE(&path->links, &path->links_room, path->n_links + 1) != TB_OK)
		return TB_ENOMEM;
	path->links[path->n_links++] = made;
	return TB_OK;
}

// is_wait_of is true for a wait of the flow of a total.
static bool is_wait_of(const struct tb_critical_path *path, size_t wait,
	const struct tb_path_total *total)
{
	return wait < path->n_waits &&
	       order_wait_by_flow(total->job, total->source, total->destination,
		       &path->waits[wait]) == 0;
}

// share_out_path_total shares what held up a flow's messages out to the waits of the
// flow. What is more than all of these was no wait: time-outs, packets that are sent
// again.
static int share_out_path_total(
	struct tb_critical_path *path, const struct tb_path_total *total)
{
	size_t first = first_wait(path, total->job, total->source, total->destination);
	size_t end = first;
	double whole = 0;
	while (is_wait_of(path, end, total))
		whole += (double)path->waits[end++].wait_ps;
	tb_time_ps sum =
		whole < (double)total->sum_ps ? (tb_time_ps)whole : total->sum_ps;
	tb_time_ps left = sum;
	int status = TB_OK;
	// The longest takes what rounding leaves, so it comes last.
	for (size_t i = end; whole > 0 && i-- > first && status == TB_OK;) {
		const struct tb_blame_sample *wait = &path->waits[i];
		tb_time_ps part =
			(tb_time_ps)((double)sum * ((double)wait->wait_ps / whole));
		if (i == first || part > left)
			part = left;
		left -= part;
		status = append_path_link(path,
			(struct tb_path_link){path->places[i], wait->culprit_job,
				wait->culprit_source, wait->culprit_destination, part});
	}
	struct tb_path_link rest = {{{TB_ID_NONE}, {TB_ID_NONE}}, TB_ID_NONE,
		{TB_ID_NONE}, {TB_ID_NONE}, total->sum_ps - sum};
	if (path->connects) {
		rest.culprit_source = total->source;
		rest.culprit_destination = total->destination;
	}
	return status ? status : append_path_link(path, rest);
}

static int order_path_links_by_link(const void *left, const void *right)
{
	const struct tb_path_link *a = left, *b = right;
	int order = order_path_u32(a->place.link.id, b->place.link.id);
	if (order == 0)
		order = order_path_u32(a->place.sw.id, b->place.sw.id);
	if (order == 0)
		order = order_path_u32(a->culprit_job, b->culprit_job);
	if (order == 0)
		order = order_path_u32(a->culprit_source.id, b->culprit_source.id);
	return order ? order
		     : order_path_u32(
			       a->culprit_destination.id, b->culprit_destination.id);
}

static int order_path_links_by_length(const void *left, const void *right)
{
	const struct tb_path_link *a = left, *b = right;
	int order = (a->sum_ps < b->sum_ps) - (a->sum_ps > b->sum_ps);
	return order ? order : order_path_links_by_link(left, right);
}

TB_ORDER_BY(path_lost_order, struct tb_path_lost,
	TB_UP(timeout.job) TB_UP(timeout.source.id) TB_UP(timeout.destination.id))

TB_ORDER_BY(path_timeout_order, struct tb_path_timeout,
	TB_DOWN(sum_ps) TB_UP(job) TB_UP(source.id) TB_UP(destination.id))

// find_path_timeouts lists the time-outs of the totals.
static int find_path_timeouts(struct tb_critical_path *path)
{
	for (size_t i = 0; i < path->n_totals; i++) {
		const struct tb_path_total *total = &path->totals[i];
		if (total->cause != TB_PATH_TIMEOUT)
			continue;
		if (TB_ARRAY_RESERVE(&path->timeouts, &path->timeouts_room,
			    path->n_timeouts + 1) != TB_OK)
			return TB_ENOMEM;
		struct tb_path_timeout *made = &path->timeouts[path->n_timeouts++];
		*made = (struct tb_path_timeout){.job = total->job,
			.source = total->source,
			.destination = total->destination,
			.n = total->n_steps,
			.sum_ps = total->sum_ps,
			.lost = {TB_ID_NONE}};
		const struct tb_path_lost key = {
			.timeout = {.job = total->job,
				.source = total->source,
				.destination = total->destination}};
		const struct tb_path_lost *lost =
			path->n_lost ? bsearch(&key, path->lost, path->n_lost, sizeof key,
					       path_lost_order)
				     : NULL;
		// Of a connection's links the first cost it most.
		while (lost && lost > path->lost && path_lost_order(lost - 1, &key) == 0)
			lost--;
		if (lost) {
			made->lost = lost->timeout.lost;
			made->lost_bytes = lost->bytes;
		}
	}
	if (path->n_timeouts)
		qsort(path->timeouts, path->n_timeouts, sizeof *path->timeouts,
			path_timeout_order);
	return TB_OK;
}

static int find_path_links(struct tb_critical_path *path)
{
	int status = find_path_timeouts(path);
	for (size_t i = 0; i < path->n_totals && status == TB_OK; i++)
		if (path->totals[i].cause == TB_PATH_HELD_UP)
			status = share_out_path_total(path, &path->totals[i]);
	if (status || path->n_links == 0)
		return status;
	qsort(path->links, path->n_links, sizeof *path->links, order_path_links_by_link);
	size_t last = 0;
	for (size_t i = 1; i < path->n_links; i++)
		if (order_path_links_by_link(&path->links[last], &path->links[i]) == 0)
			path->links[last].sum_ps += path->links[i].sum_ps;
		else
			path->links[++last] = path->links[i];
	path->n_links = last + 1;
	qsort(path->links, path->n_links, sizeof *path->links,
		order_path_links_by_length);
	return TB_OK;
}

static int by_share(const void *left, const void *right)
{
	const struct tb_path_share *a = left, *b = right;
	int order = (a->sum_ps < b->sum_ps) - (a->sum_ps > b->sum_ps);
	return order ? order : order_path_u32(a->cause, b->cause);
}

static void find_shares(struct tb_critical_path *path, tb_time_ps whole_ps)
{
	for (uint32_t i = 0; i < TB_PATH_CAUSES; i++) {
		struct tb_path_share *share = &path->shares[i];
		share->cause = i;
		share->sum_ps = path->causes[i];
		if (whole_ps > 0)
			share->percent = 100.0 * (double)share->sum_ps / (double)whole_ps;
		path->n_shares += share->sum_ps > 0;
	}
	qsort(path->shares, TB_PATH_CAUSES, sizeof *path->shares, by_share);
}

// take_path_waits keeps the waits of a run, and finds where they arose.
static int take_path_waits(
	struct tb_critical_path *path, struct tb_run *run, struct tb_error *error)
{
	struct tb_heavy_waits waits = {0};
	struct tb_wait_place *places = NULL;
	int status = tb_heavy_waits_init(&waits, run, 0, error);
	if (!status && waits.listed.n)
		qsort(waits.rows, waits.listed.n, sizeof *waits.rows, by_victim);
	if (!status)
		status = tb_wait_places_all(
			run, waits.rows, waits.listed.n, &places, error);
	if (status) {
		tb_heavy_waits_fini(&waits);
		return status;
	}
	free(path->waits);
	free(path->places);
	path->waits = waits.rows;
	path->places = places;
	path->n_waits = waits.listed.n;
	path->leaves_out = waits.listed.rest_ps > 0;
	return TB_OK;
}

int tb_critical_path_init(
	struct tb_critical_path *path, struct tb_run *run, struct tb_error *error)
{
	const struct tb_run_info *info = tb_run_info(run);
	struct tb_critical_path made = {
		.connects = tb_switching_of(&info->network)->has_connections};
	int status = read_path(&made, run, error);
	if (!status && (made.causes[TB_PATH_HELD_UP] || made.causes[TB_PATH_TIMEOUT]))
		status = take_path_waits(&made, run, error);
	if (!status && made.causes[TB_PATH_TIMEOUT]) {
		struct tb_row_reader rows = tb_run_read(run, &path_lost, LOST, error);
		status = tb_row_read_all(
			&rows, &made.lost, &made.n_lost, &made.lost_room, "the path");
	}
	find_shares(&made, run->record.info.simulated_ps);
	if (!status && find_path_links(&made) != TB_OK)
		status = tb_fail_memory_in(error, run->path, "the path");
	if (status)
		tb_critical_path_fini(&made);
	else
		*path = made;
	return status;
}

static int by_cause_and_flow(const void *left, const void *right)
{
	const struct tb_path_total *a = left, *b = right;
	int order = order_path_u32(a->cause, b->cause);
	if (order == 0)
		order = order_path_u32(a->job, b->job);
	if (order == 0)
		order = order_path_u32(a->source.id, b->source.id);
	return order ? order : order_path_u32(a->destination.id, b->destination.id);
}

// sum_steps makes the totals of the steps' parts in a window, which add up to its length
// at most: steps of a damaged store may overlap.
static int sum_steps(struct tb_critical_path *path, tb_time_ps from_ps, tb_time_ps to_ps)
{
	tb_time_ps left = to_ps - from_ps;
	path->n_totals = 0;
	if (TB_ARRAY_RESERVE(&path->totals, &path->totals_room, path->n_steps + 1) !=
		TB_OK)
		return TB_ENOMEM;
	for (size_t i = 0; i < path->n_steps; i++) {
		const struct tb_path_step *step = &path->steps[i];
		const struct tb_rank_span *span = &step->span;
		tb_time_ps from = span->from_ps > from_ps ? span->from_ps : from_ps;
		tb_time_ps to = span->to_ps < to_ps ? span->to_ps : to_ps;
		tb_time_ps part = from < to ? to - from : 0;
		if (part > left)
			part = left;
		left -= part;
		if (part > 0)
			path->totals[path->n_totals++] =
				(struct tb_path_total){.cause = span->what,
					.job = span->job,
					.source = step->source,
					.destination = step->destination,
					.n_steps = span->n,
					.sum_ps = part};
	}
	qsort(path->totals, path->n_totals, sizeof *path->totals, by_cause_and_flow);
	size_t n = 0;
	for (size_t i = 0; i < path->n_totals; i++) {
		struct tb_path_total *last = n ? &path->totals[n - 1] : NULL;
		if (!last || by_cause_and_flow(last, &path->totals[i]) != 0) {
			path->totals[n++] = path->totals[i];
			continue;
		}
		last->n_steps += path->totals[i].n_steps;
		last->sum_ps += path->totals[i].sum_ps;
	}
	path->n_totals = n;
	return TB_OK;
}

int tb_critical_path_window(struct tb_critical_path *path, tb_time_ps from_ps,
	tb_time_ps to_ps, struct tb_error *error)
{
	if (sum_steps(path, from_ps, to_ps) != TB_OK)
		return tb_fail_memory(error, "the path");
	path->n_links = path->n_timeouts = path->n_shares = 0;
	memset(path->causes, 0, sizeof path->causes);
	memset(path->shares, 0, sizeof path->shares);
	for (size_t i = 0; i < path->n_totals; i++) {
		path->causes[path->totals[i].cause] += path->totals[i].sum_ps;
		path->shares[path->totals[i].cause].n_steps += path->totals[i].n_steps;
	}
	find_shares(path, to_ps - from_ps);
	return find_path_links(path) == TB_OK ? TB_OK : tb_fail_memory(error, "the path");
}

// tell_several marks the links of which a wait may have been at any.
static int tell_several(const struct tb_critical_path *path, size_t wait,
	struct tb_wait_places *places, struct tb_link_cost *costs)
{
	const struct tb_link *links;
	size_t n = 0;
	int status = TB_OK;
	if (path->places[wait].sw.id != TB_ID_NONE)
		status = tb_wait_places_several(
			places, path->places[wait].sw, &path->waits[wait], &links, &n);
	for (size_t i = 0; i < n; i++)
		costs[links[i].id].may_be_more = true;
	return status;
}

int tb_critical_path_costs(const struct tb_critical_path *path, struct tb_run *run,
	struct tb_link_cost *costs, struct tb_error *error)
{
	struct tb_wait_places *places = NULL;
	memset(costs, 0, tb_run_info(run)->n_links * sizeof *costs);
	int status = path->n_links ? tb_wait_places_new(&places, run, error) : TB_OK;
	for (size_t i = 0; i < path->n_links; i++)
		if (path->links[i].place.link.id != TB_ID_NONE)
			costs[path->links[i].place.link.id].least_ps +=
				path->links[i].sum_ps;
	// What is at no link because the store did not keep all waits may be at any.
	tb_time_ps nowhere_ps = path->causes[TB_PATH_HELD_UP];
	for (size_t i = 0; i < path->n_links; i++)
		if (path->links[i].culprit_job != TB_ID_NONE)
			nowhere_ps -= path->links[i].sum_ps;
	if (!path->connects && 4 * nowhere_ps > path->causes[TB_PATH_HELD_UP])
		for (uint32_t i = 0; i < tb_run_info(run)->n_links; i++)
			costs[i].may_be_more = true;
	for (size_t i = 0; !status && i < path->n_totals; i++) {
		const struct tb_path_total *total = &path->totals[i];
		size_t k = total->cause == TB_PATH_HELD_UP
				   ? first_wait(path, total->job, total->source,
					     total->destination)
				   : path->n_waits;
		for (; !status && is_wait_of(path, k, total); k++)
			status = tell_several(path, k, places, costs);
	}
	if (status == TB_ENOMEM && places)
		status = tb_fail_memory_in(error, run->path, "the path");
	tb_wait_places_free(places);
	return status;
}

int tb_critical_path_look(
	struct tb_critical_path *path, struct tb_run *closer, struct tb_error *error)
{
	return take_path_waits(path, closer, error);
}

void tb_critical_path_fini(struct tb_critical_path *path)
{
	free(path->steps);
	free(path->totals);
	free(path->links);
	free(path->timeouts);
	free(path->lost);
	free(path->waits);
	free(path->places);
	*path = (struct tb_critical_path){0};
}
