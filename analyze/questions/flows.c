#include "flows.h"
#include "array.h"
#include "bisect.h"
#include "flow_messages.h"
#include "flow_pairs.h"
#include "flow_sum.h"
#include "flow_table.h"
#include "order.h"
#include "run_impl.h"
#include "stored_tables.h"

#include <stdlib.h>

// Columns of the view flow. Its last_post_ps is kept by sender alone.
#define RECORD			struct tb_flow_sample
#define ROW(field, column, ...) , TB_COLUMN(column, field)
static const struct tb_stored_table flow_rows = TB_STORED_TABLE("flow_pack", RECORD,
	TB_COLUMN("job", job), TB_COLUMN("source", source),
	TB_COLUMN("destination", destination) TB_FLOW_FIGURES(ROW));
#undef ROW
#undef RECORD

// flow_read reads the next row, as tb_row_read does, whose times must fit each other.
static bool flow_read(struct tb_row_reader *rows, struct tb_flow_sample *flow)
{
	*flow = (struct tb_flow_sample){0};
	bool found = tb_row_read(rows, flow);
	if (found && (flow->queue_ps > flow->latency_ps ||
			     flow->network_ps > flow->latency_ps - flow->queue_ps))
		tb_row_damaged(rows);
	return found && rows->status == TB_OK;
}

// The most groups per side, when there are too many flows to keep one by one.
#define MOST_GROUPS 768

TB_ORDER_BY(order_flows_by_ends, struct tb_flow_sample,
	TB_UP(source.id) TB_UP(destination.id) TB_UP(job))

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
	struct tb_flow_sample flow;
	struct tb_row_reader rows =
		tb_run_read(run, &flow_rows, "unpacked_flow WHERE run = ?1", error);
	while (flow_read(&rows, &flow))
		if (group_flow(&reading, &flow) != TB_OK)
			tb_row_no_memory(&rows, "flows");
	status = tb_row_reader_end(&rows);
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
	uint32_t first;
	TB_BISECT(first, table->n, table->rows[first].source.id < source);
	return first;
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
	struct tb_flow_sample flow;
	uint64_t found = 0;
	struct tb_row_reader rows = tb_run_read(run, &flow_rows,
		"unpacked_flow WHERE run = ?1 ORDER BY job, source, destination", error);
	for (; flow_read(&rows, &flow); found++)
		taker->take(taker->context, flow.source, flow.destination, flow.bytes);
	int status = tb_row_reader_end(&rows);
	if (status == TB_OK)
		*n = found;
	return status;
}

// Flows of which the store keeps the order, and those of other runs.
#define KEPT_ORDER                                                                       \
	"flow_top CROSS JOIN unpacked_flow USING (run, job, source, destination) "       \
	"WHERE run = ?1 AND rank <= ?2 ORDER BY rank"
#define FOUND_ORDER                                                                      \
	"unpacked_flow WHERE run = ?1 ORDER BY 1.0 * network_ps / nullif(ideal_ps, 0) "  \
	"DESC, job, source, destination LIMIT ?2"

struct flow_list {
	struct tb_flow *flows;
	uint32_t n;
	size_t room;
};

static int read_count(
	struct tb_run *run, const char *sql, uint64_t *n, struct tb_error *error)
{
	int64_t number = 0;
	int status = tb_sql_number(
		run->db, run->path, sql, run->record.info.id, &number, error);
	if (!status && (number < 0 || number > UINT32_MAX))
		status = tb_sql_damaged(run->path, "flow_top", error);
	*n = (uint64_t)number;
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
	if (!status) {
		const char *from = top > 0 && top <= n_kept ? KEPT_ORDER : FOUND_ORDER;
		struct tb_flow_sample sample;
		struct tb_row_reader rows = tb_run_read(run, &flow_rows, from, error);
		tb_row_bind(&rows, 2, top ? top : UINT32_MAX);
		while (flow_read(&rows, &sample)) {
			if (TB_ARRAY_RESERVE(&found.flows, &found.room,
				    (size_t)found.n + 1) != TB_OK) {
				tb_row_no_memory(&rows, "flows");
				break;
			}
			struct tb_flow *flow = &found.flows[found.n++];
			*flow = (struct tb_flow){
				.sample = sample, .slowdown = tb_flow_slowdown(&sample)};
			if (sample.n_messages)
				flow->mean_latency_ps = (double)sample.latency_ps /
							(double)sample.n_messages;
		}
		status = tb_row_reader_end(&rows);
	}
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

// message_read reads the next row, as tb_row_read does, whose times must fit each other.
static bool message_read(struct tb_row_reader *rows, struct tb_message_sample *message)
{
	if (!tb_row_read(rows, message))
		return false;
	uint64_t latency = (uint64_t)(message->delivered_ps - message->posted_ps);
	if (message->posted_ps > message->started_ps ||
		message->started_ps > message->delivered_ps ||
		message->queue_ps > latency ||
		message->network_ps > latency - message->queue_ps)
		tb_row_damaged(rows);
	return rows->status == TB_OK;
}

// read_messages_of_flow reads the flow's rows, which lie side by side in the order of
// posting.
static int read_messages_of_flow(struct tb_flow_messages *messages, struct tb_run *run,
	const struct tb_flow_messages_wanted *wanted, struct tb_error *error)
{
	struct tb_message_sample message;
	size_t room = 0;
	struct tb_row_reader rows = tb_run_read(run, &tb_messages_stored,
		"message WHERE run = ?1 AND job = ?2 AND source = ?3 AND destination = "
		"?4 ORDER BY message",
		error);
	tb_row_bind(&rows, 2, wanted->job);
	tb_row_bind(&rows, 3, wanted->source.id);
	tb_row_bind(&rows, 4, wanted->destination.id);
	while (message_read(&rows, &message)) {
		if (message.posted_ps >= wanted->to_ps ||
			message.delivered_ps <= wanted->from_ps)
			continue;
		if (messages->n == UINT32_MAX || TB_ARRAY_RESERVE(&messages->list, &room,
							 messages->n + 1u) != TB_OK) {
			tb_row_no_memory(&rows, "messages");
			break;
		}
		messages->list[messages->n++] = message;
	}
	return tb_row_reader_end(&rows);
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
