#include "flows.h"
#include "array.h"
#include "flow_messages.h"
#include "flow_pairs.h"
#include "flow_sum.h"
#include "flow_table.h"
#include "run_impl.h"

#include <stdlib.h>

#define FLOW_COLUMNS                                                                     \
	"job, source, destination, messages, packets, bytes, latency_ps, "               \
	"queue_ps, network_ps, worst_latency_ps, ideal_ps, wait_ps, blamed_ps, "         \
	"first_ps, last_ps "

// flow_row_get reads FLOW_COLUMNS, which begin at column `first`.
static struct tb_flow_sample flow_row_get(
	const struct tb_run *run, struct tb_run_row *row, int first)
{
	uint32_t n_nodes = run->record.info.n_nodes;
	uint64_t latency_ps = tb_run_get(row, first + 6, INT64_MAX);
	uint64_t queue_ps = tb_run_get(row, first + 7, latency_ps);
	// Its last_post_ps is kept by sender alone.
	return (struct tb_flow_sample){
		.job = tb_run_get32(row, first, UINT32_MAX),
		.source = {tb_run_get_id(row, first + 1, n_nodes)},
		.destination = {tb_run_get_id(row, first + 2, n_nodes)},
		.n_messages = tb_run_get(row, first + 3, INT64_MAX),
		.n_packets = tb_run_get(row, first + 4, INT64_MAX),
		.bytes = tb_run_get(row, first + 5, INT64_MAX),
		.latency_ps = latency_ps,
		.queue_ps = queue_ps,
		.network_ps = tb_run_get(row, first + 8, latency_ps - queue_ps),
		.worst_latency_ps = tb_run_get(row, first + 9, INT64_MAX),
		.ideal_ps = tb_run_get(row, first + 10, INT64_MAX),
		.wait_ps = tb_run_get(row, first + 11, INT64_MAX),
		.blamed_ps = tb_run_get(row, first + 12, INT64_MAX),
		.first_ps = (tb_time_ps)tb_run_get(row, first + 13, INT64_MAX),
		.last_ps = (tb_time_ps)tb_run_get(row, first + 14, INT64_MAX),
	};
}

// The most groups per side, when there are too many flows to keep one by one.
#define MOST_GROUPS 768

static int order_flows_by_ends(const void *one, const void *other)
{
	const struct tb_flow_sample *a = one, *b = other;
	if (a->source.id != b->source.id)
		return a->source.id < b->source.id ? -1 : 1;
	if (a->destination.id != b->destination.id)
		return a->destination.id < b->destination.id ? -1 : 1;
	return (a->job > b->job) - (a->job < b->job);
}

// Where rows go while they are read: one after the other, or into a matrix of groups.
struct flow_reading {
	struct tb_flow_sample *rows;
	uint32_t n;
	size_t room;
	uint32_t group, n_groups;
};

static int group_flow(struct flow_reading *reading, const struct tb_flow_sample *flow)
{
	if (reading->group == 1) {
		// Make room by the rows that there are: a damaged store can name any
		// number.
		int status = TB_ARRAY_RESERVE(
			&reading->rows, &reading->room, (size_t)reading->n + 1);
		if (status == TB_OK)
			reading->rows[reading->n++] = *flow;
		return status;
	}
	uint32_t source = flow->source.id / reading->group;
	uint32_t destination = flow->destination.id / reading->group;
	struct tb_flow_sample *sum =
		&reading->rows[(size_t)source * reading->n_groups + destination];
	bool first = sum->n_messages == 0;
	sum->source.id = source * reading->group;
	sum->destination.id = destination * reading->group;
	sum->job = first || sum->job == flow->job ? flow->job : TB_ID_NONE;
	tb_flow_add(sum, flow);
	return TB_OK;
}

static int read_flow_rows(
	struct tb_run *run, struct flow_reading *reading, struct tb_error *error)
{
	struct tb_run_row row;
	int status = tb_run_query(run,
		"SELECT " FLOW_COLUMNS "FROM unpacked_flow WHERE run = ?1", &row, error);
	if (status)
		return status;
	while ((status = tb_run_next(run, "flow_pack", &row, error)) > 0) {
		const struct tb_flow_sample flow = flow_row_get(run, &row, 0);
		if (row.bad || group_flow(reading, &flow) == TB_OK)
			continue;
		status = tb_fail_memory_in(error, run->path, "flows");
		break;
	}
	sqlite3_finalize(row.query);
	return status;
}

// pack moves the cells with traffic to the front.
static uint32_t pack(struct flow_reading *reading)
{
	if (reading->group == 1)
		return reading->n;
	uint32_t n = 0;
	for (size_t i = 0; i < reading->room; i++)
		if (reading->rows[i].n_messages || reading->rows[i].bytes)
			reading->rows[n++] = reading->rows[i];
	return n;
}

int tb_flow_table_init(
	struct tb_flow_table *table, struct tb_run *run, struct tb_error *error)
{
	uint32_t n_nodes = run->record.info.n_nodes;
	struct flow_reading reading = {.group = 1};
	uint64_t n_flows = 0;
	int status = tb_flows_count(run, &n_flows, error);
	if (status)
		return status;
	if (n_flows > TB_FLOW_TABLE_MOST && n_nodes > MOST_GROUPS)
		reading.group = (n_nodes + MOST_GROUPS - 1) / MOST_GROUPS;
	reading.n_groups = (n_nodes + reading.group - 1) / reading.group;
	if (reading.group > 1) {
		reading.room = (size_t)reading.n_groups * reading.n_groups;
		reading.rows = calloc(reading.room, sizeof *reading.rows);
		if (!reading.rows)
			return tb_fail_memory_in(error, run->path, "flows");
	}
	status = read_flow_rows(run, &reading, error);
	if (status) {
		free(reading.rows);
		return status;
	}
	uint32_t n = pack(&reading);
	if (n)
		qsort(reading.rows, n, sizeof *reading.rows, order_flows_by_ends);
	*table = (struct tb_flow_table){reading.rows, n, reading.group, n_flows};
	return TB_OK;
}

void tb_flow_table_fini(struct tb_flow_table *table)
{
	free(table->rows);
	*table = (struct tb_flow_table){0};
}

uint32_t tb_flow_table_from(const struct tb_flow_table *table, uint32_t source)
{
	uint32_t low = 0, high = table->n;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (table->rows[middle].source.id < source)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

uint32_t tb_flow_table_find(const struct tb_flow_table *table, uint32_t job,
	struct tb_node source, struct tb_node destination)
{
	for (uint32_t i = tb_flow_table_from(table, source.id);
		i < table->n && table->rows[i].source.id == source.id; i++)
		if (table->rows[i].destination.id == destination.id &&
			table->rows[i].job == job)
			return i;
	return table->n;
}

int tb_flow_bytes_order(const void *one, const void *other)
{
	const struct tb_flow_bytes *a = one, *b = other;
	if (a->bytes != b->bytes)
		return a->bytes < b->bytes ? 1 : -1;
	return (a->row > b->row) - (a->row < b->row);
}

int tb_flow_pairs_read(struct tb_run *run, const struct tb_flow_taker *taker, uint64_t *n,
	struct tb_error *error)
{
	struct tb_run_row row;
	uint64_t found = 0;
	int status = tb_run_query(run,
		"SELECT " FLOW_COLUMNS "FROM unpacked_flow WHERE run = ?1 "
		"ORDER BY job, source, destination",
		&row, error);
	if (status)
		return status;
	while ((status = tb_run_next(run, "flow_pack", &row, error)) > 0) {
		const struct tb_flow_sample flow = flow_row_get(run, &row, 0);
		if (row.bad)
			continue; // the next step reports it
		taker->take(taker->context, flow.source, flow.destination, flow.bytes);
		found++;
	}
	sqlite3_finalize(row.query);
	if (status == TB_OK)
		*n = found;
	return status;
}

static struct tb_flow get_flow(const struct tb_run *run, struct tb_run_row *row)
{
	const struct tb_flow_sample sample = flow_row_get(run, row, 0);
	struct tb_flow flow = {.sample = sample};
	if (sample.n_messages)
		flow.mean_latency_ps =
			(double)sample.latency_ps / (double)sample.n_messages;
	flow.slowdown = tb_flow_slowdown(&sample);
	return flow;
}

// Flows of which the store keeps the order, and those of other runs.
#define KEPT_ORDER                                                                       \
	"SELECT " FLOW_COLUMNS "FROM flow_top CROSS JOIN unpacked_flow "                 \
	"USING (run, job, source, destination) WHERE run = ?1 AND rank <= ?2 "           \
	"ORDER BY rank"
#define FOUND_ORDER                                                                      \
	"SELECT " FLOW_COLUMNS "FROM unpacked_flow WHERE run = ?1 ORDER BY "             \
	"1.0 * network_ps / nullif(ideal_ps, 0) DESC, job, source, destination LIMIT ?2"

struct flow_list {
	struct tb_flow *flows;
	uint32_t n;
	size_t room;
};

static int read_top_flows(struct tb_run *run, const char *sql, uint32_t top,
	struct flow_list *found, struct tb_error *error)
{
	struct tb_run_row row;
	int status = tb_run_query(run, sql, &row, error);
	if (status)
		return status;
	sqlite3_bind_int64(row.query, 2, top ? top : UINT32_MAX);
	while ((status = tb_run_next(run, "flow_pack", &row, error)) > 0) {
		if (TB_ARRAY_RESERVE(&found->flows, &found->room, (size_t)found->n + 1) !=
			TB_OK) {
			status = tb_fail_memory_in(error, run->path, "flows");
			break;
		}
		found->flows[found->n++] = get_flow(run, &row);
	}
	sqlite3_finalize(row.query);
	return status;
}

static int read_count(
	struct tb_run *run, const char *sql, uint64_t *n, struct tb_error *error)
{
	struct tb_run_row row;
	int status = tb_run_query(run, sql, &row, error);
	if (status)
		return status;
	status = tb_run_next(run, "flow_pack", &row, error);
	if (status > 0) {
		*n = tb_run_get(&row, 0, UINT32_MAX);
		status = row.bad ? tb_run_damaged(run->path, "flow_top", error) : TB_OK;
	}
	sqlite3_finalize(row.query);
	return status;
}

int tb_flows_slowest(struct tb_run *run, uint32_t top, struct tb_flow **flows,
	uint32_t *n, struct tb_error *error)
{
	struct flow_list found = {0};
	uint64_t n_kept = 0;
	// Of how many flows the store keeps the order; 0: it does not.
	int status = read_count(run,
		"SELECT coalesce(max(rank), 0) FROM flow_top WHERE run = ?1", &n_kept,
		error);
	if (!status)
		status = read_top_flows(run,
			top > 0 && top <= n_kept ? KEPT_ORDER : FOUND_ORDER, top, &found,
			error);
	if (status) {
		free(found.flows);
		return status;
	}
	*flows = found.flows;
	*n = found.n;
	return TB_OK;
}

int tb_flows_count(struct tb_run *run, uint64_t *n, struct tb_error *error)
{
	uint64_t kept = 0;
	int status = read_count(
		run, "SELECT n FROM flow_top WHERE run = ?1 AND rank = 1", &kept, error);
	if (status || kept > 0) {
		*n = kept;
		return status;
	}
	return read_count(
		run, "SELECT count(*) FROM unpacked_flow WHERE run = ?1", n, error);
}

static struct tb_message_sample read_message(
	const struct tb_flow_messages_wanted *wanted, struct tb_run_row *row)
{
	struct tb_message_sample message = {.job = wanted->job,
		.source = wanted->source,
		.destination = wanted->destination};
	message.number = tb_run_get(row, 0, INT64_MAX);
	message.bytes = tb_run_get(row, 1, INT64_MAX);
	message.delivered_ps = (tb_time_ps)tb_run_get(row, 4, INT64_MAX);
	uint64_t delivered = (uint64_t)message.delivered_ps;
	message.posted_ps = (tb_time_ps)tb_run_get(row, 2, delivered);
	message.started_ps = (tb_time_ps)tb_run_get(row, 3, delivered);
	uint64_t latency = delivered - (uint64_t)message.posted_ps;
	message.queue_ps = tb_run_get(row, 5, latency);
	message.network_ps = tb_run_get(row, 6, latency - message.queue_ps);
	message.ideal_ps = tb_run_get(row, 7, INT64_MAX);
	if (message.started_ps < message.posted_ps)
		row->bad = true;
	return message;
}

// read_messages_of_flow reads the flow's rows, which lie side by side in the order of
// posting.
static int read_messages_of_flow(struct tb_flow_messages *messages, struct tb_run *run,
	const struct tb_flow_messages_wanted *wanted, struct tb_error *error)
{
	struct tb_run_row row;
	size_t room = 0;
	int status = tb_run_query(run,
		"SELECT message, bytes, posted_ps, started_ps, delivered_ps, queue_ps, "
		"network_ps, ideal_ps FROM message WHERE run = ?1 AND job = ?2 AND "
		"source = ?3 AND destination = ?4 ORDER BY message",
		&row, error);
	if (status)
		return status;
	sqlite3_bind_int64(row.query, 2, wanted->job);
	sqlite3_bind_int64(row.query, 3, wanted->source.id);
	sqlite3_bind_int64(row.query, 4, wanted->destination.id);
	while ((status = tb_run_next(run, "message", &row, error)) > 0) {
		struct tb_message_sample message = read_message(wanted, &row);
		if (message.posted_ps >= wanted->to_ps ||
			message.delivered_ps <= wanted->from_ps)
			continue;
		if (messages->n == UINT32_MAX || TB_ARRAY_RESERVE(&messages->list, &room,
							 messages->n + 1u) != TB_OK) {
			status = tb_fail_memory_in(error, run->path, "messages");
			break;
		}
		messages->list[messages->n++] = message;
	}
	sqlite3_finalize(row.query);
	return status;
}

int tb_flow_messages_init(struct tb_flow_messages *messages, struct tb_run *run,
	const struct tb_flow_messages_wanted *wanted, struct tb_error *error)
{
	struct tb_flow_messages found = {0};
	int status = read_messages_of_flow(&found, run, wanted, error);
	if (status)
		tb_flow_messages_fini(&found);
	else
		*messages = found;
	return status;
}

void tb_flow_messages_fini(struct tb_flow_messages *messages)
{
	free(messages->list);
	*messages = (struct tb_flow_messages){0};
}
