// What the observer passes once, at the end of a run: flows and what they come to,
// messages, who waited for whom, losses, and messages that were given up.
#include "store_impl.h"

#include "flow_sum.h"
#include "heap.h"
#include "link_pack.h"
#include "packed_tables.h"
#include "stored_tables.h"

#include <stdlib.h>

#define RECORD struct flow_pack
struct flow_pack {			    // of flows of one job
	const struct tb_flow_sample *flows; // that are left
	size_t n;
	uint32_t job;
	struct tb_node source, destination; // of its first flow
	struct tb_stored_bytes packed;
	char text[TB_FLOW_PACK_BYTES];
};
static const struct tb_stored_table flow_packs = TB_STORED_TABLE("flow_pack", RECORD,
	TB_COLUMN("job", job), TB_COLUMN("source", source),
	TB_COLUMN("destination", destination), TB_COLUMN("flows", packed));
#undef RECORD

// next_flow_pack packs flows of the first one's job, as many as there is room for.
static const void *next_flow_pack(void *context)
{
	const ptrdiff_t full = TB_FLOW_PACK_BYTES - TB_ROW_PACK_MOST(1, TB_FLOW_NUMBERS);
	struct flow_pack *pack = context;
	if (pack->n == 0)
		return NULL;
	pack->job = pack->flows->job;
	pack->source = pack->flows->source;
	pack->destination = pack->flows->destination;
	char *end = pack->text;
	for (; pack->n && pack->flows->job == pack->job && end - pack->text <= full;
		pack->n--) {
		const struct tb_flow_sample *at = pack->flows++;
#define ROW(field, ...) , (uint64_t)at->field
		const uint64_t numbers[TB_FLOW_NUMBERS] = {
			at->source.id, at->destination.id TB_FLOW_FIGURES(ROW)};
#undef ROW
		end = tb_row_pack_put(pack->text, end, numbers, 2, TB_FLOW_NUMBERS);
	}
	pack->packed.text = pack->text;
	pack->packed.n_bytes = (size_t)(tb_row_pack_end(pack->text, end) - pack->text);
	return pack;
}

// less_slow orders flows as the table does that a reader sorts: by slowdown, ties by
// their ids, which ascend in the samples.
static bool less_slow(
	const struct tb_flow_sample *const *a, const struct tb_flow_sample *const *b)
{
	double of_a = tb_flow_slowdown(*a), of_b = tb_flow_slowdown(*b);
	return of_a != of_b ? of_a < of_b : *a > *b;
}

typedef const struct tb_flow_sample *flow_pointer;
TB_HEAP(slow, flow_pointer, less_slow)

#define RECORD struct slow_flow
struct slow_flow {
	uint64_t rank, n_of;
	uint32_t job;
	struct tb_node source, destination;
};
static const struct tb_stored_table flow_tops = TB_STORED_TABLE("flow_top", RECORD,
	TB_COLUMN("rank", rank), TB_COLUMN("n", n_of), TB_COLUMN("job", job),
	TB_COLUMN("source", source), TB_COLUMN("destination", destination));
#undef RECORD

#define RECORD struct job_sum
struct job_sum {
	struct tb_flow_sample flows;
	uint64_t n_flows; // that delivered a message
};
#define ROW(field, column, ...) , TB_COLUMN(column, flows.field)
static const struct tb_stored_table job_totals = TB_STORED_TABLE("job_total", RECORD,
	TB_COLUMN("job", flows.job), TB_COLUMN("flows", n_flows) TB_FLOW_FIGURES(ROW));
#undef ROW
#undef RECORD

#define RECORD struct tb_flow_sample
const struct tb_stored_table tb_sender_totals_stored =
	TB_STORED_TABLE("sender_total", RECORD, TB_COLUMN("node", source),
		TB_COLUMN("messages", n_messages), TB_COLUMN("bytes", bytes),
		TB_COLUMN("latency_ps", latency_ps), TB_COLUMN("queue_ps", queue_ps),
		TB_COLUMN("first_ps", first_ps), TB_COLUMN("last_post_ps", last_post_ps));
#undef RECORD

// write_sender_totals adds up the flows of each node that sent anything over its links:
// what stays within a node is none of these.
static int write_sender_totals(struct tb_row_writer *rows,
	const struct tb_flow_sample *samples, size_t n, struct tb_error *error)
{
	uint32_t n_nodes = 0, n_senders = 0;
	for (size_t i = 0; i < n; i++)
		if (samples[i].source.id >= n_nodes)
			n_nodes = samples[i].source.id + 1;
	struct tb_flow_sample *senders = calloc((size_t)n_nodes + 1, sizeof *senders);
	if (!senders)
		return tb_fail_memory_in(error, rows->path, "its senders");
	for (size_t i = 0; i < n; i++)
		if (samples[i].n_messages &&
			(samples[i].n_packets ||
				samples[i].source.id != samples[i].destination.id))
			tb_flow_add(&senders[samples[i].source.id], &samples[i]);
	for (uint32_t i = 0; i < n_nodes; i++) {
		senders[i].source.id = i;
		if (senders[i].n_messages)
			senders[n_senders++] = senders[i];
	}
	int status =
		tb_rows_put(rows, &tb_sender_totals_stored, senders, n_senders, error);
	free(senders);
	return status;
}

int tb_store_write_flows(struct tb_row_writer *rows, const struct tb_flow_sample *samples,
	size_t n, struct tb_error *error)
{
	struct flow_pack pack = {.flows = samples, .n = n};
	int status = tb_rows_put_each(rows, &flow_packs, next_flow_pack, &pack, error);
	if (!status) {
		// write_jobs adds up the flows of each job, which are adjacent in the
		// samples.
		for (size_t i = 0; !status && i < n;) {
			struct job_sum sum = {.flows.job = samples[i].job};
			for (; i < n && samples[i].job == sum.flows.job; i++) {
				sum.n_flows += samples[i].n_messages > 0;
				tb_flow_add(&sum.flows, &samples[i]);
			}
			status = tb_rows_put(rows, &job_totals, &sum, 1, error);
		}
	}
	if (!status)
		status = write_sender_totals(rows, samples, n, error);
	if (!status && n >= TB_TOPS_FROM) {
		flow_pointer heap[TB_TOPS_KEPT], next;
		struct slow_flow slowest[TB_TOPS_KEPT];
		size_t n_kept = 0;
		for (next = samples; next < samples + n; next++) {
			if (n_kept < TB_TOPS_KEPT)
				slow_put(heap, n_kept++, next);
			else if (less_slow(&heap[0], &next))
				slow_replace(heap, n_kept, next);
		}
		for (size_t rank = n_kept; rank > 0; rank--) {
			const struct tb_flow_sample *flow = slow_take(heap, rank);
			slowest[rank - 1] = (struct slow_flow){
				rank, n, flow->job, flow->source, flow->destination};
		}
		status = tb_rows_put(rows, &flow_tops, slowest, n_kept, error);
	}
	return status;
}

#define RECORD struct tb_message_sample
const struct tb_stored_table tb_messages_stored =
	TB_STORED_TABLE("message", RECORD, TB_COLUMN("job", job),
		TB_COLUMN("source", source), TB_COLUMN("destination", destination),
		TB_COLUMN("message", number), TB_COLUMN("bytes", bytes),
		TB_COLUMN("posted_ps", posted_ps), TB_COLUMN("started_ps", started_ps),
		TB_COLUMN("delivered_ps", delivered_ps), TB_COLUMN("queue_ps", queue_ps),
		TB_COLUMN("network_ps", network_ps), TB_COLUMN("ideal_ps", ideal_ps));
#undef RECORD

int tb_store_write_messages(struct tb_row_writer *rows,
	const struct tb_message_sample *samples, size_t n, struct tb_error *error)
{
	int status = tb_rows_put(rows, &tb_messages_stored, samples, n, error);
	return status ? status
		      : tb_rows_exec(rows,
				"UPDATE run SET n_messages_kept = ?2 WHERE run = ?1",
				(int64_t)n, error);
}

#define RECORD struct tb_root_sample
static const struct tb_stored_table root_totals =
	TB_STORED_TABLE("root_total", RECORD, TB_COLUMN("root", root),
		TB_COLUMN("waits", n_waits), TB_COLUMN("wait_ps", wait_ps));
#undef RECORD
#define RECORD struct tb_root_bin_sample
static const struct tb_stored_table root_bins = TB_STORED_TABLE("root_bin", RECORD,
	TB_COLUMN("bin", bin), TB_COLUMN("root", root), TB_COLUMN("wait_ps", wait_ps));
#undef RECORD
#define RECORD struct tb_root_job_sample
const struct tb_stored_table tb_root_jobs_stored = TB_STORED_TABLE("root_job", RECORD,
	TB_COLUMN("root", root), TB_COLUMN_AS(TB_STORED_JOB, "victim_job", victim_job),
	TB_COLUMN("waits", n_waits), TB_COLUMN("wait_ps", wait_ps));
#undef RECORD
#define RECORD struct tb_job_wait_sample
const struct tb_stored_table tb_job_waits_stored = TB_STORED_TABLE("job_wait", RECORD,
	TB_COLUMN("bin", bin), TB_COLUMN_AS(TB_STORED_JOB, "victim_job", victim_job),
	TB_COLUMN_AS(TB_STORED_JOB, "culprit_job", culprit_job),
	TB_COLUMN("waits", n_waits), TB_COLUMN("wait_ps", wait_ps));
#undef RECORD
#define RECORD struct tb_job_link_sample
const struct tb_stored_table tb_job_links_stored = TB_STORED_TABLE("job_link", RECORD,
	TB_COLUMN("link", link), TB_COLUMN_AS(TB_STORED_JOB, "job", job),
	TB_COLUMN("wait_ps", wait_ps), TB_COLUMN("blamed_ps", blamed_ps));
#undef RECORD
#define RECORD struct tb_blame_sample
#define PAIR_COLUMNS                                                                     \
	TB_COLUMN_AS(TB_STORED_JOB, "victim_job", victim_job),                           \
		TB_COLUMN("victim_source", victim_source),                               \
		TB_COLUMN("victim_destination", victim_destination),                     \
		TB_COLUMN_AS(TB_STORED_JOB, "culprit_job", culprit_job),                 \
		TB_COLUMN("culprit_source", culprit_source),                             \
		TB_COLUMN("culprit_destination", culprit_destination)
const struct tb_stored_table tb_blame_waits_stored = TB_STORED_TABLE("blame_wait", RECORD,
	TB_COLUMN_WITH("link", link, TB_STORED_OR_MINUS), PAIR_COLUMNS,
	TB_COLUMN("waits", n_waits), TB_COLUMN("wait_ps", wait_ps),
	TB_COLUMN("error_ps", error_ps));
static const struct tb_stored_table blame_bins =
	TB_STORED_TABLE("blame_bin", RECORD, TB_COLUMN("bin", bin), PAIR_COLUMNS,
		TB_COLUMN("wait_ps", wait_ps), TB_COLUMN("error_ps", error_ps));
#undef RECORD
#define RECORD struct tb_tree_sample
static const struct tb_stored_table tree_bins = TB_STORED_TABLE("tree_bin", RECORD,
	TB_COLUMN("bin", bin), TB_COLUMN("root", root), TB_COLUMN("link", link),
	TB_COLUMN("wait_ps", wait_ps), TB_COLUMN("error_ps", error_ps));
#undef RECORD

#define RECORD struct grouped_waits
struct grouped_waits { // the next of a grouping
	const struct tb_group_sample *samples;
	size_t n;
	const char *grouping;
	struct tb_group_sample sample;
};
static const struct tb_stored_table blame_groups = TB_STORED_TABLE("blame_group", RECORD,
	TB_COLUMN("grouping", grouping), TB_COLUMN("victim", sample.victim),
	TB_COLUMN("culprit", sample.culprit), TB_COLUMN("waits", sample.n_waits),
	TB_COLUMN("wait_ps", sample.wait_ps), TB_COLUMN("error_ps", sample.error_ps));
#undef RECORD

static const void *next_grouped(void *context)
{
	struct grouped_waits *waits = context;
	if (waits->n == 0)
		return NULL;
	waits->n--;
	waits->sample = *waits->samples++;
	return waits;
}

static int write_groups(struct tb_row_writer *rows, const struct tb_blame_record *record,
	struct tb_error *error)
{
	// By name, as their key orders them.
	static const enum tb_grouping groupings[] = {
		TB_GROUP_DESTINATION, TB_GROUP_DESTINATION_LEAF, TB_GROUP_SOURCE_LEAF};
	int status = TB_OK;
	for (size_t i = 0; i < TB_GROUPINGS && !status; i++) {
		enum tb_grouping g = groupings[i];
		struct grouped_waits waits = {.samples = record->groups[g],
			.n = record->n_groups[g],
			.grouping = tb_grouping_name(g)};
		status = tb_rows_put_each(
			rows, &blame_groups, next_grouped, &waits, error);
	}
	return status;
}

// What a list of the heaviest leaves out of the run's wait.
#define RECORD struct left_out
struct left_out {
	const char *list;
	uint64_t floor_ps, kept_ps, rest_ps;
};
static const struct tb_stored_table blame_lists =
	TB_STORED_TABLE("blame_list", RECORD, TB_COLUMN("list", list),
		TB_COLUMN("floor_ps", floor_ps), TB_COLUMN("rest_ps", rest_ps));
#undef RECORD

#define SUM(sum, rows, n_rows)                                                           \
	for (size_t i = 0; i < (n_rows); i++)                                            \
	(sum) += (rows)[i].wait_ps

static int write_lists(struct tb_row_writer *rows, const struct tb_blame_record *record,
	struct tb_error *error)
{
	uint64_t wait_ps = 0;
	struct left_out lists[3 + TB_GROUPINGS] = {
		{"blame_wait", record->by_link_floor_ps, 0, 0},
		{"blame_bin", record->by_time_floor_ps, 0, 0},
		{"tree_bin", record->tree_floor_ps, 0, 0},
	};
	SUM(wait_ps, record->roots, record->n_roots);
	SUM(lists[0].kept_ps, record->by_link, record->n_by_link);
	SUM(lists[1].kept_ps, record->by_time, record->n_by_time);
	SUM(lists[2].kept_ps, record->trees, record->n_trees);
	for (int g = 0; g < TB_GROUPINGS; g++) {
		lists[3 + g] = (struct left_out){tb_grouping_name((enum tb_grouping)g),
			record->group_floor_ps[g], 0, 0};
		SUM(lists[3 + g].kept_ps, record->groups[g], record->n_groups[g]);
	}
	for (size_t i = 0; i < 3 + TB_GROUPINGS; i++)
		lists[i].rest_ps = wait_ps - lists[i].kept_ps;
	return tb_rows_put(rows, &blame_lists, lists, 3 + TB_GROUPINGS, error);
}

int tb_store_write_blame(struct tb_row_writer *rows, const struct tb_blame_record *record,
	struct tb_error *error)
{
	const struct {
		const struct tb_stored_table *table;
		const void *samples;
		size_t n;
	} lists[] = {
		{&root_totals, record->roots, record->n_roots},
		{&root_bins, record->root_bins, record->n_root_bins},
		{&tb_root_jobs_stored, record->root_jobs, record->n_root_jobs},
		{&tb_job_waits_stored, record->job_waits, record->n_job_waits},
		{&tb_job_links_stored, record->job_links, record->n_job_links},
		{&tb_blame_waits_stored, record->by_link, record->n_by_link},
		{&blame_bins, record->by_time, record->n_by_time},
	};
	int status = tb_rows_exec(rows, "UPDATE run SET tree_bin_ps = ?2 WHERE run = ?1",
		record->bin_ps, error);
	if (!status)
		status = tb_rows_exec(rows,
			"UPDATE run SET root_bin_ps = ?2 WHERE run = ?1",
			record->sum_bin_ps, error);
	for (size_t i = 0; i < sizeof lists / sizeof *lists && !status; i++)
		status = tb_rows_put(
			rows, lists[i].table, lists[i].samples, lists[i].n, error);
	if (!status)
		status = write_groups(rows, record, error);
	if (!status)
		status = tb_rows_put(
			rows, &tree_bins, record->trees, record->n_trees, error);
	return status ? status : write_lists(rows, record, error);
}

#define RECORD struct tb_port_loss_sample
static const struct tb_stored_table port_losses =
	TB_STORED_TABLE("port_loss", RECORD, TB_COLUMN("link", link),
		TB_COLUMN("frames", n_frames), TB_COLUMN("bytes", bytes));
#undef RECORD
#define RECORD struct tb_flow_loss_sample
static const struct tb_stored_table flow_losses = TB_STORED_TABLE("flow_loss", RECORD,
	TB_COLUMN("job", job), TB_COLUMN("source", source),
	TB_COLUMN("destination", destination), TB_COLUMN("frames", n_frames),
	TB_COLUMN("bytes", bytes), TB_COLUMN("resent", n_resent));
#undef RECORD

#define RECORD struct tb_timeout_sample
static const struct tb_stored_table timeouts = TB_STORED_TABLE("time_out", RECORD,
	TB_COLUMN("job", job), TB_COLUMN("source", source),
	TB_COLUMN("destination", destination), TB_COLUMN("from_ps", from_ps),
	TB_COLUMN("to_ps", to_ps), TB_COLUMN("link", lost));
#undef RECORD

int tb_store_write_losses(struct tb_row_writer *rows, const struct tb_loss_record *record,
	struct tb_error *error)
{
	int status =
		tb_rows_put(rows, &port_losses, record->ports, record->n_ports, error);
	if (!status)
		status = tb_rows_put(
			rows, &flow_losses, record->flows, record->n_flows, error);
	return status ? status
		      : tb_rows_put(rows, &timeouts, record->timeouts, record->n_timeouts,
				error);
}

#define RECORD struct tb_undelivered_sample
static const struct tb_stored_table undelivered_flows =
	TB_STORED_TABLE("undelivered_flow", RECORD, TB_COLUMN("job", job),
		TB_COLUMN("source", source), TB_COLUMN("destination", destination),
		TB_COLUMN_WITH("dead_link", dead, TB_STORED_OR_MINUS),
		TB_COLUMN("messages", n_messages), TB_COLUMN("bytes", bytes),
		TB_COLUMN("first_ps", first_ps));
#undef RECORD

int tb_store_write_undelivered(struct tb_row_writer *rows,
	const struct tb_undelivered_sample *samples, size_t n, struct tb_error *error)
{
	return tb_rows_put(rows, &undelivered_flows, samples, n, error);
}
