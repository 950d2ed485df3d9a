#include "store_impl.h"

#include "flow_sum.h"
#include "heap.h"
#include "packed_tables.h"
#include "row_pack.h"
#include "store_row.h"

#include <stdlib.h>

// pack_flows packs flows of the first one's job, as many as there is room for; returns
// how many.
static size_t pack_flows(const struct tb_flow_sample *flows, size_t n,
	char text[TB_FLOW_PACK_BYTES], size_t *n_bytes)
{
	const ptrdiff_t full = TB_FLOW_PACK_BYTES - TB_ROW_PACK_MOST(1, TB_FLOW_NUMBERS);
	char *end = text;
	size_t i = 0;
	for (; i < n && flows[i].job == flows->job && end - text <= full; i++) {
		const struct tb_flow_sample *at = &flows[i];
		const uint64_t numbers[TB_FLOW_NUMBERS] = {at->source.id,
			at->destination.id, at->n_messages, at->n_packets, at->bytes,
			at->latency_ps, at->queue_ps, at->network_ps,
			at->worst_latency_ps, at->ideal_ps, at->wait_ps, at->blamed_ps,
			(uint64_t)at->first_ps, (uint64_t)at->last_ps};
		end = tb_row_pack_put(text, end, numbers, 2, TB_FLOW_NUMBERS);
	}
	*n_bytes = (size_t)(tb_row_pack_end(text, end) - text);
	return i;
}

static int flows_write_flows(sqlite3 *db, const char *path, int64_t run,
	const struct tb_flow_sample *samples, size_t n, struct tb_error *error)
{
	char text[TB_FLOW_PACK_BYTES];
	sqlite3_stmt *insert = NULL;
	int status = tb_sql_prepare(db, path,
		"INSERT INTO flow_pack (run, job, source, destination, flows) "
		"VALUES (?,?,?,?,?)",
		&insert, error);
	for (size_t i = 0, n_bytes = 0; !status && i < n;) {
		sqlite3_bind_int64(insert, 1, run);
		sqlite3_bind_int64(insert, 2, samples[i].job);
		sqlite3_bind_int64(insert, 3, samples[i].source.id);
		sqlite3_bind_int64(insert, 4, samples[i].destination.id);
		i += pack_flows(samples + i, n - i, text, &n_bytes);
		sqlite3_bind_text(insert, 5, text, (int)n_bytes, SQLITE_STATIC);
		status = tb_sql_run(insert, path, error);
	}
	sqlite3_finalize(insert);
	return status;
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

struct slowest { // by rank
	size_t n_of;
	flow_pointer flows[TB_TOPS_KEPT];
};

static void slowest_row(
	const struct tb_store_feed *feed, size_t i, struct tb_store_fed *fed)
{
	const struct slowest *slowest = feed->records;
	const struct tb_flow_sample *flow = slowest->flows[i];
	TB_FED((int64_t)i + 1, (int64_t)slowest->n_of, flow->job, flow->source.id,
		flow->destination.id);
}

static int write_slowest(sqlite3 *db, const char *path, struct tb_store_feed *feed,
	const struct tb_flow_sample *samples, size_t n, struct tb_error *error)
{
	flow_pointer heap[TB_TOPS_KEPT], next;
	struct slowest slowest = {.n_of = n};
	size_t n_kept = 0;
	for (next = samples; next < samples + n; next++) {
		if (n_kept < TB_TOPS_KEPT)
			slow_put(heap, n_kept++, next);
		else if (less_slow(&heap[0], &next))
			slow_replace(heap, n_kept, next);
	}
	for (size_t rank = n_kept; rank > 0; rank--)
		slowest.flows[rank - 1] = slow_take(heap, rank);
	feed->records = &slowest;
	feed->n = n_kept;
	feed->row = slowest_row;
	return tb_store_feed_write(db, path, feed,
		"INSERT INTO flow_top (run, rank, n, job, source, destination) "
		"SELECT run, c1, c2, c3, c4, c5 FROM feed",
		error);
}

static int flows_write_job(sqlite3 *db, const char *path, int64_t run,
	const struct tb_flow_sample *sum, uint64_t n_flows, struct tb_error *error)
{
	struct tb_row row = tb_row_into(db, path,
		"INSERT INTO job_total ("
		"run, job, flows, messages, packets, bytes, latency_ps, queue_ps, "
		"network_ps, worst_latency_ps, ideal_ps, wait_ps, blamed_ps, first_ps, "
		"last_ps) "
		"VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
		error);
	tb_row_put(&row, run);
	tb_row_put(&row, sum->job);
	tb_row_put(&row, (int64_t)n_flows);
	tb_row_put(&row, (int64_t)sum->n_messages);
	tb_row_put(&row, (int64_t)sum->n_packets);
	tb_row_put(&row, (int64_t)sum->bytes);
	tb_row_put(&row, (int64_t)sum->latency_ps);
	tb_row_put(&row, (int64_t)sum->queue_ps);
	tb_row_put(&row, (int64_t)sum->network_ps);
	tb_row_put(&row, (int64_t)sum->worst_latency_ps);
	tb_row_put(&row, (int64_t)sum->ideal_ps);
	tb_row_put(&row, (int64_t)sum->wait_ps);
	tb_row_put(&row, (int64_t)sum->blamed_ps);
	tb_row_put(&row, sum->first_ps);
	tb_row_put(&row, sum->last_ps);
	tb_row_end(&row);
	return tb_row_done(&row);
}

// flows_write_jobs adds up the flows of each job, which are adjacent in the samples.
static int flows_write_jobs(sqlite3 *db, const char *path, int64_t run,
	const struct tb_flow_sample *samples, size_t n, struct tb_error *error)
{
	int status = TB_OK;
	for (size_t i = 0; !status && i < n;) {
		struct tb_flow_sample sum = {.job = samples[i].job};
		uint64_t n_flows = 0;
		for (; i < n && samples[i].job == sum.job; i++) {
			n_flows += samples[i].n_messages > 0;
			tb_flow_add(&sum, &samples[i]);
		}
		status = flows_write_job(db, path, run, &sum, n_flows, error);
	}
	return status;
}

static void sender_row(
	const struct tb_store_feed *feed, size_t i, struct tb_store_fed *fed)
{
	const struct tb_flow_sample *sum =
		&((const struct tb_flow_sample *)feed->records)[i];
	TB_FED((int64_t)i, (int64_t)sum->n_messages, (int64_t)sum->bytes,
		(int64_t)sum->latency_ps, (int64_t)sum->queue_ps, sum->first_ps,
		sum->last_post_ps);
}

static bool sent_nothing(const struct tb_store_feed *feed, size_t i)
{
	return ((const struct tb_flow_sample *)feed->records)[i].n_messages == 0;
}

static int write_senders(sqlite3 *db, const char *path, struct tb_store_feed *feed,
	const struct tb_flow_sample *senders, uint32_t n, struct tb_error *error)
{
	feed->records = senders;
	feed->n = n;
	feed->row = sender_row;
	feed->is_empty = sent_nothing;
	return tb_store_feed_write(db, path, feed,
		"INSERT INTO sender_total ("
		"run, node, messages, bytes, latency_ps, queue_ps, first_ps, "
		"last_post_ps) "
		"SELECT run, c1, c2, c3, c4, c5, c6, c7 FROM feed",
		error);
}

// write_by_sender adds up the flows of each node.
static int write_by_sender(sqlite3 *db, const char *path, struct tb_store_feed *feed,
	const struct tb_flow_sample *samples, size_t n, struct tb_error *error)
{
	uint32_t n_nodes = 0;
	for (size_t i = 0; i < n; i++)
		if (samples[i].source.id >= n_nodes)
			n_nodes = samples[i].source.id + 1;
	struct tb_flow_sample *senders = calloc((size_t)n_nodes + 1, sizeof *senders);
	if (!senders)
		return tb_fail_memory_in(error, path, "its senders");
	for (size_t i = 0; i < n; i++)
		if (samples[i].n_messages)
			tb_flow_add(&senders[samples[i].source.id], &samples[i]);
	int status = write_senders(db, path, feed, senders, n_nodes, error);
	free(senders);
	return status;
}

int tb_store_write_flows(sqlite3 *db, const char *path, struct tb_store_feed *feed,
	const struct tb_flow_sample *samples, size_t n, struct tb_error *error)
{
	int status = flows_write_flows(db, path, feed->run, samples, n, error);
	if (!status)
		status = flows_write_jobs(db, path, feed->run, samples, n, error);
	if (!status)
		status = write_by_sender(db, path, feed, samples, n, error);
	if (!status && n >= TB_TOPS_FROM)
		status = write_slowest(db, path, feed, samples, n, error);
	return status;
}

static void message_row(
	const struct tb_store_feed *feed, size_t i, struct tb_store_fed *fed)
{
	const struct tb_message_sample *message =
		&((const struct tb_message_sample *)feed->records)[i];
	TB_FED(message->job, message->source.id, message->destination.id,
		(int64_t)message->number, (int64_t)message->bytes, message->posted_ps,
		message->started_ps, message->delivered_ps, (int64_t)message->queue_ps,
		(int64_t)message->network_ps, (int64_t)message->ideal_ps);
}

int tb_store_write_messages(sqlite3 *db, const char *path, struct tb_store_feed *feed,
	const struct tb_message_sample *samples, size_t n, struct tb_error *error)
{
	feed->records = samples;
	feed->n = n;
	feed->row = message_row;
	return tb_store_feed_write(db, path, feed,
		"INSERT INTO message ("
		"run, job, source, destination, message, bytes, posted_ps, started_ps, "
		"delivered_ps, queue_ps, network_ps, ideal_ps) "
		"SELECT run, c1, c2, c3, c4, c5, c6, c7, c8, c9, "
		"c10, "
		"c11 FROM feed",
		error);
}
