#include "flow_table.h"

#include "array.h"
#include "flow_row.h"
#include "flows.h"

#include <stdlib.h>

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
	struct tb_flow_sample flow;
	struct tb_row_reader rows =
		tb_run_read(run, &tb_flow_rows, "unpacked_flow WHERE run = ?1", error);
	while (tb_flow_read(&rows, &flow))
		if (group_flow(reading, &flow) != TB_OK)
			tb_row_no_memory(&rows, "flows");
	return tb_row_reader_end(&rows);
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
