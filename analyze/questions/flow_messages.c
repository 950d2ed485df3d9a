#include "flow_messages.h"

#include "array.h"
#include "run_impl.h"

#include <stdlib.h>

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
