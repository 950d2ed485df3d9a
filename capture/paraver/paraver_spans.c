// Which call sends a message, which receives it, and which waits for it.
#include "paraver_impl.h"

#include "array.h"

#include <inttypes.h>
#include <stdlib.h>

static int spans_no_memory(const struct prv_trace *trace)
{
	return tb_fail_memory_in(trace->error, trace->file, "a Paraver trace");
}

static int by_thread_and_time(const void *left, const void *right)
{
	const struct prv_span *a = left, *b = right;
	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	if (a->enter_ns != b->enter_ns)
		return a->enter_ns < b->enter_ns ? -1 : 1;
	return (a->exit_ns > b->exit_ns) - (a->exit_ns < b->exit_ns);
}

static void sort_spans(struct prv_trace *trace)
{
	for (uint32_t i = 0; i < trace->n_tasks; i++) {
		struct prv_task *task = &trace->tasks[i];
		for (size_t k = 0; k < task->n; k++) {
			struct prv_span *span = &task->spans[k];
			if (span->is_open)
				span->exit_ns = trace->end_ns;
			if (span->exit_ns < span->enter_ns)
				span->exit_ns = span->enter_ns;
			span->is_open = false;
		}
		if (task->n > 1)
			qsort(task->spans, task->n, sizeof *task->spans,
				by_thread_and_time);
	}
}

// span_find returns the call of a thread that a time lies in, of the first `n` of its
// task; PRV_NONE: none.
static uint32_t span_find(
	const struct prv_task *task, size_t n, uint32_t thread, uint64_t time_ns)
{
	size_t low = 0, high = n;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct prv_span *span = &task->spans[middle];
		if (span->thread < thread ||
			(span->thread == thread && span->enter_ns <= time_ns))
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0)
		return PRV_NONE;
	const struct prv_span *span = &task->spans[low - 1];
	bool within = span->thread == thread && span->exit_ns >= time_ns;
	return within ? (uint32_t)(low - 1) : PRV_NONE;
}

// span_add_call adds a call for a message that lies in none.
static int span_add_call(struct prv_trace *trace, struct prv_task *task, uint32_t thread,
	uint64_t time_ns, enum prv_act act)
{
	if (task->n >= PRV_NONE - 1 ||
		TB_ARRAY_RESERVE(&task->spans, &task->room, task->n + 1) != TB_OK)
		return spans_no_memory(trace);
	task->spans[task->n++] = (struct prv_span){.enter_ns = time_ns,
		.exit_ns = time_ns,
		.thread = thread,
		.kind = {.act = (uint8_t)act}};
	return TB_OK;
}

static int spans_add_missing(struct prv_trace *trace)
{
	int status = TB_OK;
	size_t *n_sorted = malloc((trace->n_tasks + 1) * sizeof *n_sorted);
	if (!n_sorted)
		return spans_no_memory(trace);
	for (uint32_t i = 0; i < trace->n_tasks; i++)
		n_sorted[i] = trace->tasks[i].n;
	for (size_t i = 0; i < trace->n_messages && status == TB_OK; i++) {
		const struct prv_message *message = &trace->messages[i];
		struct prv_task *from = &trace->tasks[message->from];
		struct prv_task *to = &trace->tasks[message->to];
		if (span_find(from, n_sorted[message->from], message->from_thread,
			    message->send_ns) == PRV_NONE)
			status = span_add_call(trace, from, message->from_thread,
				message->send_ns, PRV_ISEND);
		if (status == TB_OK &&
			span_find(to, n_sorted[message->to], message->to_thread,
				message->receive_ns) == PRV_NONE)
			status = span_add_call(trace, to, message->to_thread,
				message->receive_ns, PRV_IRECV);
	}
	free(n_sorted);
	return status;
}

static bool span_waits(const struct prv_span *span)
{
	return span->kind.act == PRV_WAIT || span->kind.act == PRV_WAITALL;
}

// find_waits stores for each call the first from it on, of its thread, that waits.
static uint32_t *find_waits(const struct prv_task *task)
{
	uint32_t *next = malloc((task->n + 1) * sizeof *next);
	for (size_t i = task->n; next && i-- > 0;) {
		bool same_thread = i + 1 < task->n &&
				   task->spans[i + 1].thread == task->spans[i].thread;
		next[i] = span_waits(&task->spans[i]) ? (uint32_t)i
			  : same_thread		      ? next[i + 1]
						      : PRV_NONE;
	}
	return next;
}

// wait_of_span returns the call that waits for a message which call `receive` has started
// to receive.
static uint32_t wait_of_span(const struct prv_task *task, const uint32_t *next_wait,
	uint32_t receive, uint64_t received_ns)
{
	uint32_t thread = task->spans[receive].thread;
	uint32_t at = span_find(task, task->n, thread, received_ns);
	if (at != PRV_NONE && at > receive && task->spans[at].kind.act == PRV_TEST)
		return at; // it found the message
	// The first that ends later than the message is there.
	size_t low = (size_t)receive + 1, high = task->n;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct prv_span *span = &task->spans[middle];
		if (span->thread == thread && span->exit_ns < received_ns)
			low = middle + 1;
		else
			high = middle;
	}
	bool is_own = low < task->n && task->spans[low].thread == thread;
	return is_own ? next_wait[low] : PRV_NONE;
}

static int by_receiver(const void *left, const void *right)
{
	const struct prv_message *a = left, *b = right;
	if (a->to != b->to)
		return a->to < b->to ? -1 : 1;
	if (a->receive_ns != b->receive_ns)
		return a->receive_ns < b->receive_ns ? -1 : 1;
	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	if (a->send_ns != b->send_ns)
		return a->send_ns < b->send_ns ? -1 : 1;
	if (a->tag != b->tag)
		return a->tag < b->tag ? -1 : 1;
	return (a->bytes > b->bytes) - (a->bytes < b->bytes);
}

int tb_prv_find_calls(struct prv_trace *trace)
{
	sort_spans(trace);
	int status = spans_add_missing(trace);
	if (status != TB_OK)
		return status;
	sort_spans(trace);
	uint32_t *next_wait = NULL;
	if (trace->n_messages > 1)
		qsort(trace->messages, trace->n_messages, sizeof *trace->messages,
			by_receiver);
	for (size_t i = 0; i < trace->n_messages; i++) {
		struct prv_message *message = &trace->messages[i];
		const struct prv_task *from = &trace->tasks[message->from];
		const struct prv_task *to = &trace->tasks[message->to];
		if (i == 0 || message->to != trace->messages[i - 1].to) {
			free(next_wait);
			next_wait = find_waits(to);
			if (!next_wait)
				return spans_no_memory(trace);
		}
		message->send_span =
			span_find(from, from->n, message->from_thread, message->send_ns);
		message->recv_span =
			span_find(to, to->n, message->to_thread, message->receive_ns);
		uint8_t act = to->spans[message->recv_span].kind.act;
		if (act != PRV_RECV && act != PRV_SENDRECV)
			message->wait_span = wait_of_span(
				to, next_wait, message->recv_span, message->received_ns);
	}
	free(next_wait);
	return TB_OK;
}
