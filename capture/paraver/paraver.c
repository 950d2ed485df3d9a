// The groups of collective calls: communicators as they are used.
#include "paraver.h"

#include "array.h"
#include "bisect.h"
#include "infile.h"
#include "order.h"
#include "paraver_trace.h"
#include "stop.h"
#include "text_lines.h"
#include "units.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct prv_group_finding {
	struct prv_trace *trace;
	struct tb_calls *calls;
	struct tb_map communicator_of; // hash of application and id to its number
};

static int finding_make(const struct prv_group_finding *finding, uint32_t application,
	const uint32_t *members, uint32_t n, uint32_t *group)
{
	struct prv_trace *trace = finding->trace;
	const struct prv_application *of = &trace->applications[application];
	uint32_t *ranks = malloc((n + 1) * sizeof *ranks);
	int status = ranks ? TB_OK : tb_prv_no_memory(trace);
	for (uint32_t i = 0; i < n && status == TB_OK; i++) {
		uint32_t member = members ? members[i] : i;
		if (member >= of->n_tasks)
			status = tb_fail_in(trace->error, TB_EFORMAT, trace->file,
				"a communicator has task %" PRIu32
				" of application %" PRIu32 ", which has %" PRIu32,
				member + 1, application + 1, of->n_tasks);
		else
			ranks[i] = trace->tasks[of->first_task + member].rank;
	}
	if (status == TB_OK)
		status = tb_calls_group(finding->calls, ranks, n, n, group, trace->error);
	free(ranks);
	return status;
}

// A slot of the map: the first from `key` on that is empty or the communicator's.
static struct prv_communicator *finding_look_up(const struct prv_group_finding *finding,
	uint32_t application, uint64_t id, uint64_t *key)
{
	uint32_t place;
	*key = (id ^ (uint64_t)application << 48) * UINT64_C(0x9e3779b97f4a7c15);
	for (; tb_map_find(&finding->communicator_of, *key, &place); ++*key) {
		struct prv_communicator *at = &finding->trace->communicators[place];
		if (at->id == id && at->application == application)
			return at;
	}
	return NULL;
}

// map_communicators has each be found by its id; the first of several lines counts.
static int map_communicators(struct prv_group_finding *finding)
{
	const struct prv_trace *trace = finding->trace;
	for (size_t i = 0; i < trace->n_communicators; i++) {
		uint64_t key;
		const struct prv_communicator *at = &trace->communicators[i];
		if (!finding_look_up(finding, at->application, at->id, &key) &&
			tb_map_put(&finding->communicator_of, key, (uint32_t)i) != TB_OK)
			return tb_prv_no_memory(trace);
	}
	return TB_OK;
}

// finding_find stores the group of a collective call in the place of its communicator.
static int finding_find(const struct prv_group_finding *finding, uint32_t application,
	struct prv_span *span)
{
	struct prv_trace *trace = finding->trace;
	uint32_t group = 0;
	int status = TB_OK;
	uint64_t key;
	struct prv_communicator *found =
		span->communicator
			? finding_look_up(finding, application, span->communicator, &key)
			: NULL;
	if (!found && span->communicator)
		return tb_fail_in(trace->error, TB_EFORMAT, trace->file,
			"a collective call in communicator %" PRIu64
			" of application %" PRIu32 ", which no line c: describes",
			span->communicator, application + 1);
	if (found && found->n == 0)
		return tb_fail_in(trace->error, TB_EFORMAT, trace->file,
			"a collective call in communicator %" PRIu64
			", which has no tasks",
			span->communicator);
	if (found && found->group == PRV_NONE)
		status = finding_make(finding, application,
			trace->members + found->first_member, found->n, &found->group);
	if (found)
		group = found->group;
	span->communicator = group;
	return status;
}

// prv_find_groups makes groups of the communicators in which collective calls are, and
// puts their numbers in the place of the communicators.
static int prv_find_groups(struct prv_trace *trace, struct tb_calls *calls)
{
	struct prv_group_finding finding = {.trace = trace, .calls = calls};
	int status = map_communicators(&finding);
	for (uint32_t a = 0; a < trace->n_applications; a++) {
		const struct prv_application *of = &trace->applications[a];
		for (uint32_t i = 0; i < of->n_tasks && status == TB_OK; i++) {
			struct prv_task *task = &trace->tasks[of->first_task + i];
			for (size_t k = 0; k < task->n && status == TB_OK; k++)
				if (tb_prv_is_collective(&task->spans[k]))
					status = finding_find(
						&finding, a, &task->spans[k]);
		}
	}
	tb_map_fini(&finding.communicator_of);
	return status;
}

// Which call sends a message, which receives it, and which waits for it.

TB_ORDER_BY(
	by_thread_and_time, struct prv_span, TB_UP(thread) TB_UP(enter_ns) TB_UP(exit_ns))

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
	const struct prv_span *spans = task->spans;
	size_t at;
	TB_BISECT(at, n,
		spans[at].thread < thread ||
			(spans[at].thread == thread && spans[at].enter_ns <= time_ns));
	bool within = at > 0 && spans[at - 1].thread == thread &&
		      spans[at - 1].exit_ns >= time_ns;
	return within ? (uint32_t)(at - 1) : PRV_NONE;
}

// span_add_call adds a call for a message that lies in none.
static int span_add_call(struct prv_trace *trace, struct prv_task *task, uint32_t thread,
	uint64_t time_ns, enum prv_act act)
{
	if (task->n >= PRV_NONE - 1 ||
		TB_ARRAY_RESERVE(&task->spans, &task->room, task->n + 1) != TB_OK)
		return tb_prv_no_memory(trace);
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
		return tb_prv_no_memory(trace);
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
	const struct prv_span *spans = task->spans + receive + 1;
	size_t n = task->n - receive - 1, first;
	TB_BISECT(first, n,
		spans[first].thread == thread && spans[first].exit_ns < received_ns);
	bool is_own = first < n && spans[first].thread == thread;
	return is_own ? next_wait[receive + 1 + first] : PRV_NONE;
}

TB_ORDER_BY(by_receiver, struct prv_message,
	TB_UP(to) TB_UP(receive_ns) TB_UP(from) TB_UP(send_ns) TB_UP(tag) TB_UP(bytes))

// prv_find_calls sorts the spans, ends those still open, and finds those of each
// message, adding one where there is none.
static int prv_find_calls(struct prv_trace *trace)
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
				return tb_prv_no_memory(trace);
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

// From calls and messages of tasks to the calls of ranks.

// A thread, as its calls are made.
struct thread {
	uint64_t exit_ns;	      // of its last call
	uint64_t calc_ns;	      // computed since the last call that was added
	const struct prv_span *timed; // of which the last call was added
	// Operations that were started, other than receives whose wait is known, and
	// calls that started something of which the trace has no message.
	uint32_t *started;
	size_t n_started, first_started, room;
	uint64_t n_unheld;
};

struct prv_making {
	struct prv_trace *trace;
	struct tb_calls *calls;
	const struct prv_task *task; // whose calls are being made
	uint32_t task_number;
	struct thread *threads;
	// Places of messages, sorted by the call that sends, receives, waits.
	uint32_t *by[3];
	struct tb_map root_of; // group << 32 | number of the call in it, to a place
	uint64_t *n_calls;     // by group, of the task
	uint32_t *places;      // likewise: its place in it; PRV_NONE: not looked for
	uint64_t n_rootless, n_unknown, n_unequal;
};
enum { SENDS, RECVS, WAITS };

// The order in which a task entered its calls.

struct entered {
	uint64_t enter_ns;
	uint32_t span;
};

TB_ORDER_BY(by_entry, struct entered, TB_UP(enter_ns) TB_UP(span))

static struct entered *task_order(const struct prv_task *task)
{
	struct entered *order = malloc((task->n + 1) * sizeof *order);
	if (!order)
		return NULL;
	for (size_t i = 0; i < task->n; i++)
		order[i] = (struct entered){task->spans[i].enter_ns, (uint32_t)i};
	qsort(order, task->n, sizeof *order, by_entry);
	return order;
}

// begin_task begins to count the calls of a task in its groups.
static void begin_task(struct prv_making *making, const struct prv_task *task)
{
	uint32_t n = tb_calls_n_groups(making->calls);
	making->task = task;
	memset(making->n_calls, 0, n * sizeof *making->n_calls);
	memset(making->places, 0xff, n * sizeof *making->places);
}

// place_in returns the task's place in a group, or the number of its members.
static uint32_t place_in(struct prv_making *making, uint32_t group)
{
	struct tb_group of = tb_calls_members(making->calls, group);
	if (making->places[group] == PRV_NONE)
		making->places[group] = tb_group_place(&of, making->task->rank);
	return making->places[group];
}

// Roots: only the root of a collective says that it is one.

static int note_roots(struct prv_making *making)
{
	int status = TB_OK;
	size_t n_groups = tb_calls_n_groups(making->calls);
	making->n_calls = calloc(n_groups + 1, sizeof *making->n_calls);
	making->places = calloc(n_groups + 1, sizeof *making->places);
	if (!making->n_calls || !making->places)
		return tb_prv_no_memory(making->trace);
	for (uint32_t i = 0; i < making->trace->n_tasks && status == TB_OK; i++)
		if (making->trace->tasks[i].rank != PRV_NONE) {
			const struct prv_task *task = &making->trace->tasks[i];
			struct entered *order = task_order(task);
			status = order ? TB_OK : tb_prv_no_memory(making->trace);
			begin_task(making, task);
			for (size_t j = 0; j < task->n && status == TB_OK; j++) {
				const struct prv_span *span = &task->spans[order[j].span];
				if (!tb_prv_is_collective(span))
					continue;
				uint64_t key = span->communicator << 32 |
					       (making->n_calls[span->communicator]++ &
						       UINT32_MAX);
				if (span->is_root &&
					tb_map_put(&making->root_of, key,
						place_in(making,
							(uint32_t)span->communicator)) !=
						TB_OK)
					status = tb_prv_no_memory(making->trace);
			}
			free(order);
		}
	return status;
}

// Calls.

static uint32_t prv_add_call(struct prv_making *making, struct thread *thread,
	const struct prv_span *span, struct tb_call call)
{
	call.calc_ns = thread->calc_ns;
	// Of a call that starts several operations the first has the time; of one that
	// also waits for them, the wait.
	bool none =
		call.starts && (span->kind.act == PRV_SENDRECV || span == thread->timed);
	call.enter_ns = span->enter_ns;
	call.leave_ns = none ? span->enter_ns : span->exit_ns;
	call.lane = span->thread;
	thread->timed = span;
	thread->calc_ns = 0;
	return tb_calls_add(making->calls, making->task->rank, &call);
}

static int thread_start(struct prv_making *making, struct thread *thread, uint32_t index)
{
	if (TB_ARRAY_RESERVE(&thread->started, &thread->room, thread->n_started + 1) !=
		TB_OK)
		return tb_prv_no_memory(making->trace);
	thread->started[thread->n_started++] = index;
	return TB_OK;
}

// span_bytes returns the size of a collective call as calls.h has it; MPI_IN_PLACE leaves
// one of the two sizes zero.
static uint64_t span_bytes(
	struct prv_making *making, const struct prv_span *span, uint8_t *op)
{
	uint32_t n = tb_calls_members(making->calls, (uint32_t)span->communicator).n;
	if (*op == TB_COLL_BARRIER)
		return 0;
	if (*op == TB_COLL_SCATTER)
		return span->recv_bytes;
	if (*op == TB_COLL_EXCHANGE) {
		*op = TB_COLL_ALLTOALL;
		making->n_unequal++;
		return span->send_bytes / n;
	}
	if (*op == TB_COLL_GATHER || *op == TB_COLL_ALLGATHER || *op == TB_COLL_ALLTOALL)
		return span->send_bytes ? span->send_bytes : span->recv_bytes;
	return span->send_bytes > span->recv_bytes ? span->send_bytes : span->recv_bytes;
}

static uint64_t prv_message_key(const struct prv_message *message, int which)
{
	if (which == SENDS)
		return (uint64_t)message->from << 32 | message->send_span;
	return (uint64_t)message->to << 32 |
	       (which == RECVS ? message->recv_span : message->wait_span);
}

// span_messages returns the messages that call `span` of the task sends, receives or
// waits for.
static const uint32_t *span_messages(
	const struct prv_making *making, int which, uint32_t span, size_t *n)
{
	const struct prv_message *messages = making->trace->messages;
	const uint32_t *by = making->by[which];
	uint64_t key = (uint64_t)making->task_number << 32 | span;
	size_t first;
	TB_BISECT(first, making->trace->n_messages,
		prv_message_key(&messages[by[first]], which) < key);
	*n = 0;
	while (first + *n < making->trace->n_messages &&
		prv_message_key(&messages[by[first + *n]], which) == key)
		++*n;
	return by + first;
}

static int prv_add_sends(struct prv_making *making, struct thread *thread,
	const struct prv_span *span, uint32_t number, size_t *n)
{
	const uint32_t *places = span_messages(making, SENDS, number, n);
	int status = TB_OK;
	for (size_t i = 0; i < *n && status == TB_OK; i++) {
		const struct prv_message *message = &making->trace->messages[places[i]];
		const struct tb_call call = {.kind = TB_CALL_SEND,
			.bytes = message->bytes,
			.peer = making->trace->tasks[message->to].rank,
			.tag = message->tag,
			.starts = span->kind.act != PRV_SEND};
		uint32_t index = prv_add_call(making, thread, span, call);
		if (call.starts)
			status = thread_start(making, thread, index);
	}
	return status;
}

static void span_wait_for(struct prv_making *making, uint32_t index)
{
	tb_calls_after(making->calls, making->task->rank, index);
}

// n_to_end returns how many started operations a call waits for, besides the messages
// that the trace has complete in it. A wait in which none completes is for what was
// started first; where the trace lacks messages, it may well be for one of those.
static size_t n_to_end(struct thread *thread, const struct prv_span *span, size_t n_waits)
{
	size_t n = thread->n_started - thread->first_started;
	if (span->kind.act == PRV_WAITALL) {
		thread->n_unheld = 0;
		return n;
	}
	if (span->kind.act != PRV_WAIT || n_waits > 0)
		return 0;
	if (thread->n_unheld > 0) {
		thread->n_unheld--;
		return 0;
	}
	return n > 0 ? 1 : 0;
}

static void prv_add_wait(struct prv_making *making, struct thread *thread,
	const struct prv_span *span, uint32_t number, size_t n_sends)
{
	size_t n, n_recvs = 0;
	const uint32_t *places = span_messages(making, WAITS, number, &n);
	const uint32_t *own = NULL;
	size_t n_ended = n_to_end(thread, span, n);
	bool is_exchange = span->kind.act == PRV_SENDRECV;
	if (is_exchange)
		own = span_messages(making, RECVS, number, &n_recvs);
	if (n + n_ended + n_recvs + (is_exchange ? n_sends : 0) == 0)
		return;
	prv_add_call(making, thread, span, (struct tb_call){0});
	for (size_t i = 0; i < n; i++)
		span_wait_for(making, making->trace->messages[places[i]].receive);
	for (size_t i = 0; i < n_recvs; i++)
		span_wait_for(making, making->trace->messages[own[i]].receive);
	// An exchange's own sends are the last that started.
	for (size_t i = 0; is_exchange && i < n_sends; i++)
		span_wait_for(making, thread->started[--thread->n_started]);
	for (; n_ended > 0; n_ended--)
		span_wait_for(making, thread->started[thread->first_started++]);
	if (thread->first_started == thread->n_started)
		thread->first_started = thread->n_started = 0;
}

static int prv_make_span(struct prv_making *making, uint32_t number)
{
	const struct prv_span *span = &making->task->spans[number];
	struct thread *thread = &making->threads[span->thread];
	size_t n_sends = 0, n_recvs = 0;
	if (span->enter_ns > thread->exit_ns)
		thread->calc_ns += span->enter_ns - thread->exit_ns;
	if (span->exit_ns > thread->exit_ns)
		thread->exit_ns = span->exit_ns;
	if (tb_prv_is_collective(span)) {
		struct tb_call call = {.kind = TB_CALL_COLLECTIVE,
			.op = span->kind.op,
			.starts = span->kind.starts,
			.group = (uint32_t)span->communicator};
		uint32_t root;
		uint64_t key = span->communicator << 32 |
			       (making->n_calls[span->communicator]++ & UINT32_MAX);
		call.bytes = span_bytes(making, span, &call.op);
		struct tb_group group = tb_calls_members(making->calls, call.group);
		if (tb_map_find(&making->root_of, key, &root)) {
			// A root that is no member of the group is refused for that.
			call.peer = root < group.n ? root : 0;
		} else {
			making->n_rootless += tb_collective_op_has_root(call.op);
		}
		if (place_in(making, call.group) == group.n)
			return tb_fail_in(making->trace->error, TB_EFORMAT,
				making->trace->file,
				"a collective call of rank %" PRIu32
				" in a communicator that it is not in, %.6f s after the "
				"beginning",
				making->task->rank, (double)span->enter_ns / 1e9);
		uint32_t index = prv_add_call(making, thread, span, call);
		return call.starts ? thread_start(making, thread, index) : TB_OK;
	}
	making->n_unknown += span->kind.act == PRV_UNKNOWN_COLLECTIVE;
	const uint32_t *places = span_messages(making, RECVS, number, &n_recvs);
	for (size_t i = 0; i < n_recvs; i++) {
		struct prv_message *message = &making->trace->messages[places[i]];
		const struct tb_call call = {.kind = TB_CALL_RECV,
			.bytes = message->bytes,
			.peer = making->trace->tasks[message->from].rank,
			.tag = message->tag,
			.starts = span->kind.act != PRV_RECV};
		message->receive = prv_add_call(making, thread, span, call);
	}
	int status = prv_add_sends(making, thread, span, number, &n_sends);
	if (status == TB_OK)
		prv_add_wait(making, thread, span, number, n_sends);
	if (making->trace->has_calls &&
		(span->kind.act >= PRV_SEND && span->kind.act <= PRV_SENDRECV) &&
		n_sends + n_recvs == 0) {
		making->trace->n_unheld++;
		thread->n_unheld +=
			span->kind.act == PRV_ISEND || span->kind.act == PRV_IRECV;
	}
	return status;
}

static int prv_make_task(struct prv_making *making, uint32_t number)
{
	making->task_number = number;
	begin_task(making, &making->trace->tasks[number]);
	uint32_t n_threads = making->task->n_threads;
	struct entered *order = task_order(making->task);
	making->threads = calloc(n_threads, sizeof *making->threads);
	int status = order && making->threads ? TB_OK : tb_prv_no_memory(making->trace);
	for (size_t i = 0; i < making->task->n && status == TB_OK; i++)
		status = prv_make_span(making, order[i].span);
	// What is computed behind the last call.
	for (uint32_t i = 0; i < n_threads && status == TB_OK; i++) {
		struct thread *thread = &making->threads[i];
		const struct prv_span end = {.enter_ns = thread->exit_ns, .thread = i};
		if (thread->exit_ns > 0 && making->trace->end_ns > thread->exit_ns)
			thread->calc_ns += making->trace->end_ns - thread->exit_ns;
		if (thread->calc_ns > 0)
			prv_add_call(making, thread, &end, (struct tb_call){0});
	}
	for (uint32_t i = 0; making->threads && i < n_threads; i++)
		free(making->threads[i].started);
	free(making->threads);
	free(order);
	return status;
}

struct prv_keyed {
	uint64_t key, time_ns;
	uint32_t place;
};

TB_ORDER_BY(message_by_key, struct prv_keyed, TB_UP(key) TB_UP(time_ns) TB_UP(place))

static int prv_sort_messages(struct prv_making *making)
{
	size_t n = making->trace->n_messages;
	struct prv_keyed *keyed = malloc((n + 1) * sizeof *keyed);
	if (!keyed)
		return tb_prv_no_memory(making->trace);
	for (int which = SENDS; which <= WAITS; which++) {
		making->by[which] = malloc((n + 1) * sizeof **making->by);
		for (uint32_t i = 0; i < n; i++) {
			const struct prv_message *message = &making->trace->messages[i];
			keyed[i] = (struct prv_keyed){prv_message_key(message, which),
				which == SENDS ? message->send_ns : message->receive_ns,
				i};
		}
		qsort(keyed, n, sizeof *keyed, message_by_key);
		for (size_t i = 0; making->by[which] && i < n; i++)
			making->by[which][i] = keyed[i].place;
	}
	free(keyed);
	bool has_memory = making->by[SENDS] && making->by[RECVS] && making->by[WAITS];
	return has_memory ? TB_OK : tb_prv_no_memory(making->trace);
}

static void prv_write_notes(const struct prv_making *making)
{
	const struct prv_trace *trace = making->trace;
	struct tb_calls *calls = making->calls;
	char text[80];
	for (uint32_t i = 0; i < trace->n_applications; i++)
		if (!trace->applications[i].communicates)
			tb_calls_note(calls,
				"application %" PRIu32
				" (%s) does not communicate: left out",
				i + 1,
				tb_format_counted(trace->applications[i].n_tasks, "task",
					text, sizeof text));
	tb_calls_note_count(calls, trace->n_cut, "MPI call|MPI calls",
		" entered before the trace begins: left out");
	if (trace->n_declared && trace->n_declared != trace->n_communicators)
		tb_calls_note(calls,
			"communicators: the header declares %" PRIu64 ", there are %zu",
			trace->n_declared, trace->n_communicators);
	tb_calls_note_count(calls, trace->n_odd, "MPI call|MPI calls",
		" without begin or end: they end where the next begins");
	tb_calls_note_count(calls, trace->n_unheld, "send or receive|sends and receives",
		" of which the trace has no message: left out");
	tb_calls_note_count(calls, making->n_unknown, "collective call",
		" of a kind that is not known: left out");
	tb_calls_note_count(calls, making->n_rootless, "collective call",
		" of which no member is the root: the first is it");
	tb_calls_note_count(calls, making->n_unequal, "collective call",
		" to all with sizes of their own, of which the trace has only the sum: "
		"taken as equal blocks");
}

bool tb_paraver_begins(struct tb_bytes first)
{
	return first.n >= 10 && memcmp(first.data, "#Paraver (", 10) == 0;
}

// prv_read_line takes a line. The last one may be cut: also within a number, so that it
// does not look so.
static int prv_read_line(
	struct prv_trace *trace, const struct tb_text_lines *lines, bool lenient)
{
	trace->line = lines->number;
	trace->is_cut = !lines->is_ended && trace->line > 1;
	if (trace->is_cut && lenient)
		return TB_EFORMAT;
	return trace->line == 1 ? tb_prv_read_header(trace, lines->text)
				: tb_prv_read_record(trace, lines->text);
}

static int prv_read_lines(
	struct prv_trace *trace, FILE *stream, const struct tb_reading *reading)
{
	struct tb_text_lines lines;
	int status = TB_OK, found = 1;
	tb_text_lines_init(&lines, stream, trace->file, trace->error);
	while (status == TB_OK && (found = tb_text_lines_next(&lines)) > 0) {
		status = prv_read_line(trace, &lines, reading->lenient);
		if (trace->line % 4096 == 0 && tb_stop_asked(reading->stop))
			status = tb_fail_in(
				trace->error, TB_ESTOPPED, trace->file, "stopped");
	}
	status = found < 0 ? found : status;
	tb_text_lines_fini(&lines);
	if (status == TB_OK && trace->line == 0)
		status = tb_fail_in(trace->error, TB_EFORMAT, trace->file, "is empty");
	return status;
}

static int prv_read_file(struct prv_trace *trace, const struct tb_reading *reading)
{
	FILE *stream;
	struct tb_infile *file;
	int status = tb_infile_open(&stream, &file, trace->file, trace->error);
	if (status != TB_OK)
		return status;
	tb_infile_stop_on(file, reading->stop);
	status = prv_read_lines(trace, stream, reading);
	// What cut the stream off is the cause of what the reader stumbled over.
	int cause = tb_infile_check(file, trace->error);
	fclose(stream);
	trace->is_cut = trace->line > 1 && (trace->is_cut || cause == TB_EFORMAT);
	status = cause != TB_OK ? cause : status;
	if (!trace->is_cut || status != TB_EFORMAT)
		return status;
	trace->end_ns = trace->last_ns;
	return tb_reading_breaks_off(reading, status, &trace->n_broken, trace->error);
}

static struct prv_application *application_of(struct prv_trace *trace, uint32_t task)
{
	uint32_t i = 0;
	while (task - trace->applications[i].first_task >= trace->applications[i].n_tasks)
		i++;
	return &trace->applications[i];
}

static bool communicates(const struct prv_task *task)
{
	for (size_t i = 0; i < task->n; i++)
		if (task->spans[i].kind.act != PRV_OTHER)
			return true;
	return false;
}

// prv_number_ranks makes ranks of the tasks of applications that communicate.
static int prv_number_ranks(struct prv_trace *trace)
{
	for (size_t i = 0; i < trace->n_messages; i++) {
		application_of(trace, trace->messages[i].from)->communicates = true;
		application_of(trace, trace->messages[i].to)->communicates = true;
	}
	for (uint32_t a = 0; a < trace->n_applications; a++) {
		struct prv_application *of = &trace->applications[a];
		for (uint32_t i = 0; i < of->n_tasks && !of->communicates; i++)
			of->communicates =
				communicates(&trace->tasks[of->first_task + i]);
		for (uint32_t i = 0; i < of->n_tasks && of->communicates; i++)
			trace->tasks[of->first_task + i].rank = trace->n_ranks++;
	}
	if (trace->n_ranks == 0)
		return tb_fail_in(trace->error, TB_EFORMAT, trace->file,
			"has neither messages nor MPI calls: expected those of a program "
			"with MPI");
	return TB_OK;
}

int tb_paraver_read(struct tb_calls **calls, const struct tb_reading *reading,
	const char *const *paths, size_t n, const char **made, struct tb_error *error)
{
	static const struct tb_reading defaults = {0};
	struct prv_trace trace = {.file = paths[0], .error = error};
	struct tb_calls *read = NULL;
	if (n != 1)
		return tb_fail_in(error, TB_EUSAGE, paths[1],
			"is another Paraver trace: a trace is one file");
	int status = tb_prv_names_read(&trace.names, paths[0], error);
	if (status == TB_OK)
		status = prv_read_file(&trace, reading ? reading : &defaults);
	if (status == TB_OK) {
		status = prv_number_ranks(&trace);
		if (status == TB_OK)
			status = prv_find_calls(&trace);
		if (status == TB_OK)
			status = tb_calls_new(&read, trace.n_ranks, trace.error);
		if (status == TB_OK) {
			// Make the calls; all else must be done.
			struct prv_making making = {.trace = &trace, .calls = read};
			status = prv_sort_messages(&making);
			if (status == TB_OK)
				status = prv_find_groups(&trace, read);
			if (status == TB_OK)
				status = note_roots(&making);
			for (uint32_t i = 0; i < trace.n_tasks && status == TB_OK; i++)
				if (trace.tasks[i].rank != PRV_NONE)
					status = prv_make_task(&making, i);
			if (status == TB_OK)
				prv_write_notes(&making);
			for (int which = SENDS; which <= WAITS; which++)
				free(making.by[which]);
			free(making.n_calls);
			free(making.places);
			tb_map_fini(&making.root_of);
		}
		if (status == TB_OK)
			tb_reading_note_breaks(read, trace.n_broken);
		if (status == TB_OK)
			status = tb_prv_name_hosts(&trace, trace.file, read);
	}
	tb_prv_trace_fini(&trace);
	if (status != TB_OK) {
		tb_calls_free(read);
		return status;
	}
	*calls = read;
	*made = NULL;
	return TB_OK;
}
