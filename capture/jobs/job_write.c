#include "job_write.h"

#include "array.h"
#include "hash.h"
#include "job.h"
#include "map.h"
#include "order.h"
#include "outfile.h"
#include "text_lines.h"
#include "units.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// An order in which a job can run, and which receive takes which send, for those who
// write it in another form.

struct tb_job_order {
	uint32_t *match;      // by operation: a send's receive, a receive's send
	uint32_t *first_pred; // n_ops + 1: what operation i waits for is preds[first_pred
	uint32_t *preds;      // [i]] and so on, with TB_DEP_START (job.h)
	uint32_t *order;      // all operations
};

// A send or receive of a channel.
struct order_channel_end {
	uint32_t from, to, tag, op;
};

static void job_order_fini(struct tb_job_order *order)
{
	free(order->match);
	free(order->first_pred);
	free(order->preds);
	free(order->order);
	*order = (struct tb_job_order){0};
}

TB_ORDER_BY(order_channel_ends, struct order_channel_end,
	TB_UP(from) TB_UP(to) TB_UP(tag) TB_UP(op))

// list_ends lists the sends and the receives; TB_EUSAGE for a wildcard.
static int list_ends(const struct tb_job *job, const char *form,
	struct order_channel_end *ends[2], uint32_t n[2], struct tb_error *error)
{
	char text[96];
	for (uint32_t rank = 0; rank < job->n_ranks; rank++)
		for (uint32_t i = job->first_op[rank]; i < job->first_op[rank + 1]; i++) {
			const struct tb_op *op = &job->ops[i];
			bool is_send = op->kind == TB_OP_SEND;
			if (op->kind == TB_OP_CALC)
				continue;
			if (op->peer == TB_ANY || op->tag == TB_ANY)
				return tb_fail_in(error, TB_EUSAGE, job->name,
					"%s takes whatever comes, which %s cannot hold",
					tb_job_describe(job, i, text, sizeof text), form);
			ends[!is_send][n[!is_send]++] =
				(struct order_channel_end){is_send ? rank : op->peer,
					is_send ? op->peer : rank, op->tag, i};
		}
	return TB_OK;
}

// pair_job_order fills in `match`; a finished job has as many sends as receives in each
// channel.
static int pair_job_order(struct tb_job_order *order, const struct tb_job *job,
	const char *form, struct tb_error *error)
{
	struct order_channel_end *ends[2] = {
		malloc((job->n_ops + UINT64_C(1)) * sizeof *ends[0]),
		malloc((job->n_ops + UINT64_C(1)) * sizeof *ends[1])};
	uint32_t n[2] = {0, 0};
	int status = ends[0] && ends[1] ? list_ends(job, form, ends, n, error)
					: tb_fail_memory(error, "the messages");
	for (int k = 0; status == TB_OK && k < 2; k++)
		qsort(ends[k], n[k], sizeof *ends[k], order_channel_ends);
	for (uint32_t i = 0; status == TB_OK && i < n[0]; i++) {
		order->match[ends[0][i].op] = ends[1][i].op;
		order->match[ends[1][i].op] = ends[0][i].op;
	}
	free(ends[0]);
	free(ends[1]);
	return status;
}

// sort_job_order orders the operations: a receive comes after its send.
static int sort_job_order(struct tb_job_order *order, const struct tb_job *job,
	const char *form, struct tb_error *error)
{
	uint32_t *left = malloc((job->n_ops + UINT64_C(1)) * sizeof *left);
	uint32_t n = 0;
	if (!left)
		return tb_fail_memory(error, "the operations");
	for (uint32_t i = 0; i < job->n_ops; i++) {
		left[i] = job->n_predecessors[i] + (job->ops[i].kind == TB_OP_RECV);
		if (left[i] == 0)
			order->order[n++] = i;
	}
	for (uint32_t at = 0; at < n; at++) {
		uint32_t op = order->order[at];
		for (uint32_t k = job->first_successor[op];
			k < job->first_successor[op + 1]; k++) {
			uint32_t next = job->successors[k] & ~TB_DEP_START;
			if (--left[next] == 0)
				order->order[n++] = next;
		}
		if (job->ops[op].kind == TB_OP_SEND && --left[order->match[op]] == 0)
			order->order[n++] = order->match[op];
	}
	free(left);
	return n == job->n_ops ? TB_OK
			       : tb_fail_in(error, TB_EUSAGE, job->name,
					 "has messages of one tag that may arrive in any "
					 "order, which %s cannot hold",
					 form);
}

// job_order_init pairs the sends and receives of a channel as they stand in the job,
// and orders the operations. TB_EUSAGE, naming `form`, for receives with a wildcard, and
// where such pairs wait for each other. Cost: O(n log n). job_order_fini frees it; a
// zeroed struct is fine to free.
static int job_order_init(struct tb_job_order *order, const struct tb_job *job,
	const char *form, struct tb_error *error)
{
	size_t n = job->n_ops + (size_t)1;
	struct tb_job_order made = {.match = calloc(n, sizeof *made.match),
		.first_pred = calloc(n, sizeof *made.first_pred),
		.preds = malloc((job->first_successor[job->n_ops] + UINT64_C(1)) *
				sizeof *made.preds),
		.order = malloc(n * sizeof *made.order)};
	bool ready = made.match && made.first_pred && made.preds && made.order;
	int status = ready ? pair_job_order(&made, job, form, error)
			   : tb_fail_memory(error, "the operations");
	if (status == TB_OK) {
		uint32_t n_preds = job->n_ops, *first = made.first_pred;
		for (uint32_t i = 0; i < n_preds; i++)
			first[i + 1] = first[i] + job->n_predecessors[i];
		for (uint32_t i = 0; i < n_preds; i++)
			for (uint32_t k = job->first_successor[i];
				k < job->first_successor[i + 1]; k++) {
				uint32_t next = job->successors[k];
				made.preds[first[next & ~TB_DEP_START]++] =
					i | (next & TB_DEP_START);
			}
		for (uint32_t i = n_preds; i > 0; i--)
			first[i] = first[i - 1];
		first[0] = 0;
		status = sort_job_order(&made, job, form, error);
	}
	if (status == TB_OK)
		*order = made;
	else
		job_order_fini(&made);
	return status;
}

#define NONE UINT32_MAX

// Writes a job as a flow list (capture/jobs/flow_list.h): each message is a flow, which
// begins at a time or by a trigger.
//
// A flow begins when the messages that its send waits for in the job have been sent or
// received; computation in between, processors and network interfaces are left out, and
// so are messages of a rank to itself. The computation before a rank's first messages is
// their time. One that is sent or received can fire one trigger: where flows need it with
// different others, the later one waits until the earlier one is sent.

// An event is flow * N_ENDS + one of these.
enum { SENT, RECEIVED, N_ENDS };

struct flow_trigger {
	uint32_t first_flow; // that begins by it
	size_t first;	     // of the events that the job wants, in the pool
	uint32_t n, n_fired; // of these, and of those that fire it
};

struct flow_row {
	uint32_t send;	 // operation
	uint32_t begins; // trigger, or NONE
	uint64_t start_ns;
};

// The walk through what an operation waits for: 2 * op, with 1 for its end.
struct flow_walk {
	uint32_t *stamps, number;
	uint32_t *stack;
	size_t n, room;
};

struct flow_writing {
	const struct tb_job *job;
	struct tb_job_order order;
	uint32_t *flow_of; // by send; NONE: to its own rank
	bool *waits;	   // by operation: for an event
	uint64_t *at_ns;   // by operation that waits for none: its start
	struct flow_row *flows;
	uint32_t n_flows;
	uint32_t *fires; // by event: trigger, or NONE
	uint32_t *later; // by event that fires one: another event, behind it
	struct flow_walk walk;
	uint32_t *pool; // of events
	size_t n_pool, pool_room;
	struct flow_trigger *triggers;
	uint32_t n_triggers;
	size_t triggers_room;
	struct tb_map trigger_of; // by hash of the wanted events
	uint64_t n_stronger, n_local, n_empty, lost_ns;
};

static bool is_local_op(const struct flow_writing *w, uint32_t op)
{
	uint32_t send = w->job->ops[op].kind == TB_OP_SEND ? op : w->order.match[op];
	return w->flow_of[send] == NONE;
}

static int flow_walk_push(struct flow_walk *walk, uint32_t op, bool end)
{
	uint32_t at = 2 * op + end;
	if (walk->stamps[at] == walk->number)
		return TB_OK;
	walk->stamps[at] = walk->number;
	if (TB_ARRAY_NEXT(walk, stack) != TB_OK)
		return TB_ENOMEM;
	walk->stack[walk->n++] = at;
	return TB_OK;
}

static int push_preds(struct flow_writing *w, uint32_t op)
{
	int status = TB_OK;
	for (uint32_t k = w->order.first_pred[op];
		status == TB_OK && k < w->order.first_pred[op + 1]; k++) {
		uint32_t on = w->order.preds[k];
		status = flow_walk_push(
			&w->walk, on & ~TB_DEP_START, !(on & TB_DEP_START));
	}
	return status;
}

static int flow_want_event(struct flow_writing *w, uint32_t event)
{
	if (TB_ARRAY_MORE(w, pool) != TB_OK)
		return TB_ENOMEM;
	w->pool[w->n_pool++] = event;
	return TB_OK;
}

// walk_flow goes on behind an operation's start or end; an end between ranks is an event.
static int walk_flow(struct flow_writing *w, uint32_t op, bool end)
{
	const struct tb_op *at = &w->job->ops[op];
	bool is_event = end && at->kind != TB_OP_CALC && !is_local_op(w, op);
	if (is_event && at->kind == TB_OP_SEND)
		return flow_want_event(w, w->flow_of[op] * N_ENDS + SENT);
	int status = is_event
			     ? flow_want_event(w,
				       w->flow_of[w->order.match[op]] * N_ENDS + RECEIVED)
			     : TB_OK;
	if (status == TB_OK && at->kind == TB_OP_RECV && is_local_op(w, op))
		status = flow_walk_push(&w->walk, w->order.match[op], false);
	return status == TB_OK ? push_preds(w, op) : status;
}

// find_events puts the events that a send waits for at the end of the pool, sorted.
static int find_events(struct flow_writing *w, uint32_t send)
{
	size_t first = w->n_pool;
	w->walk.number++;
	int status = push_preds(w, send);
	while (status == TB_OK && w->walk.n > 0) {
		uint32_t at = w->walk.stack[--w->walk.n];
		status = walk_flow(w, at / 2, at % 2);
	}
	if (status == TB_OK && w->n_pool > first)
		qsort(w->pool + first, w->n_pool - first, sizeof *w->pool, tb_order_u32);
	return status;
}

// fire has the events of a new trigger fire it.
static void fire(struct flow_writing *w, uint32_t number)
{
	struct flow_trigger *trigger = &w->triggers[number];
	bool is_stronger = false;
	for (uint32_t i = 0; i < trigger->n; i++) {
		uint32_t wanted = w->pool[trigger->first + i];
		// Take the event itself, or, if it fires another trigger already, the
		// sending of the last flow that waits for it.
		uint32_t event = wanted;
		while (w->fires[event] != NONE && w->fires[event] != number)
			event = w->later[event];
		for (uint32_t at = wanted; at != event;) {
			uint32_t next = w->later[at];
			w->later[at] = event;
			at = next;
		};
		is_stronger |= event != wanted;
		trigger->n_fired += w->fires[event] == NONE; // two may come to one
		w->fires[event] = number;
		w->later[event] = trigger->first_flow * N_ENDS + SENT;
	}
	w->n_stronger += is_stronger;
}

// begin_flow gives a flow the trigger of its events, which are at the end of the pool.
static int begin_flow(struct flow_writing *w, uint32_t flow, size_t first)
{
	size_t n = w->n_pool - first;
	const uint32_t *events = w->pool + first;
	uint64_t key = TB_HASH_BEGIN;
	for (size_t i = 0; i < n; i++)
		key = tb_hash_word(key, events[i]);
	uint32_t number;
	for (; tb_map_find(&w->trigger_of, key, &number); key++) {
		const struct flow_trigger *known = &w->triggers[number];
		if (known->n != n || memcmp(w->pool + known->first, w->pool + first,
					     n * sizeof *w->pool) != 0)
			continue;
		w->n_pool = first;
		w->flows[flow].begins = number;
		return TB_OK;
	}
	if (TB_ARRAY_RESERVE(&w->triggers, &w->triggers_room,
		    w->n_triggers + (size_t)1) != TB_OK ||
		tb_map_put(&w->trigger_of, key, w->n_triggers) != TB_OK)
		return TB_ENOMEM;
	w->triggers[w->n_triggers] = (struct flow_trigger){flow, first, (uint32_t)n, 0};
	w->flows[flow].begins = w->n_triggers;
	fire(w, w->n_triggers++);
	return TB_OK;
}

static int make_flows(struct flow_writing *w)
{
	int status = TB_OK;
	// Number the messages between ranks, in the order in which they can run.
	const struct tb_job *job = w->job;
	for (uint32_t i = 0; i < job->n_ops; i++) {
		uint32_t op = w->order.order[i];
		w->flow_of[op] = NONE;
		if (job->ops[op].kind != TB_OP_SEND)
			continue;
		if (tb_job_rank_of(job, op) == job->ops[op].peer) {
			w->n_local++;
			continue;
		}
		w->n_empty += job->ops[op].amount == 0;
		w->flow_of[op] = w->n_flows;
		w->flows[w->n_flows++] = (struct flow_row){.send = op, .begins = NONE};
	}
	for (uint32_t i = 0; i < N_ENDS * w->n_flows; i++)
		w->fires[i] = NONE;
	for (uint32_t i = 0; i < w->job->n_ops; i++) {
		// Find out whether an operation waits for an event, and else when it
		// starts.
		uint32_t op = w->order.order[i];
		const struct tb_op *ops = w->job->ops;
		for (uint32_t k = w->order.first_pred[op];
			k < w->order.first_pred[op + 1]; k++) {
			uint32_t on = w->order.preds[k] & ~TB_DEP_START;
			bool ends = !(w->order.preds[k] & TB_DEP_START);
			bool is_calc = ops[on].kind == TB_OP_CALC;
			uint64_t at_ns =
				w->at_ns[on] + (ends && is_calc ? ops[on].amount : 0);
			w->waits[op] |=
				w->waits[on] || (ends && !is_calc && !is_local_op(w, on));
			w->at_ns[op] = tb_max_u64(w->at_ns[op], at_ns);
		}
		// A rank's message to itself comes when it is sent.
		if (ops[op].kind == TB_OP_RECV && is_local_op(w, op)) {
			uint32_t send = w->order.match[op];
			w->waits[op] |= w->waits[send];
			w->at_ns[op] = tb_max_u64(w->at_ns[op], w->at_ns[send]);
		}
		if (ops[op].kind == TB_OP_CALC && w->waits[op])
			w->lost_ns += ops[op].amount;
	}
	for (uint32_t i = 0; status == TB_OK && i < w->n_flows; i++) {
		size_t first = w->n_pool;
		w->flows[i].start_ns = w->at_ns[w->flows[i].send];
		status = find_events(w, w->flows[i].send);
		if (status == TB_OK && w->n_pool > first)
			status = begin_flow(w, i, first);
	}
	return status;
}

static void put_flow_line(const struct flow_writing *w, uint32_t i, FILE *stream)
{
	static const char *const words[] = {"send_done_trigger", "recv_done_trigger"};
	const struct flow_row *flow = &w->flows[i];
	const struct tb_op *op = &w->job->ops[flow->send];
	fprintf(stream, "%" PRIu32 "->%" PRIu32 " id %" PRIu64,
		tb_job_rank_of(w->job, flow->send), op->peer, UINT64_C(1) + i);
	if (flow->begins == NONE)
		fprintf(stream, " start %" PRIu64, flow->start_ns * TB_PS_PER_NS);
	else
		fprintf(stream, " trigger %" PRIu64, UINT64_C(1) + flow->begins);
	fprintf(stream, " size %" PRIu64, op->amount ? op->amount : 1);
	for (uint32_t end = 0; end < N_ENDS; end++)
		if (w->fires[i * N_ENDS + end] != NONE)
			fprintf(stream, " %s %" PRIu64, words[end],
				UINT64_C(1) + w->fires[i * N_ENDS + end]);
	fputc('\n', stream);
}

static char *flow_list_note(const struct flow_writing *w)
{
	char *note = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&note, &size);
	if (!stream)
		return NULL;
	if (w->lost_ns)
		fprintf(stream,
			"a flow list has no computation behind messages: %s are left "
			"out\n",
			TB_TIME_TEXT((tb_time_ps)(w->lost_ns * TB_PS_PER_NS)));
	if (w->n_stronger)
		fprintf(stream,
			"%s until another of their rank is sent: what is sent or "
			"received fires one trigger\n",
			TB_COUNTED_TEXT(w->n_stronger, "message waits|messages wait"));
	if (w->n_local)
		fprintf(stream, "%s of ranks to themselves: left out\n",
			TB_COUNTED_TEXT(w->n_local, "message"));
	if (w->n_empty)
		fprintf(stream, "%s of no bytes: of 1 here\n",
			TB_COUNTED_TEXT(w->n_empty, "message"));
	return tb_text_written(stream, &note);
}

static int flow_writing_init(struct flow_writing *w, struct tb_error *error)
{
	size_t n = w->job->n_ops + (size_t)1;
	w->flow_of = malloc(n * sizeof *w->flow_of);
	w->waits = calloc(n, sizeof *w->waits);
	w->at_ns = calloc(n, sizeof *w->at_ns);
	w->flows = malloc(n * sizeof *w->flows);
	w->fires = malloc(n * N_ENDS * sizeof *w->fires);
	w->later = malloc(n * N_ENDS * sizeof *w->later);
	w->walk.stamps = calloc(n * 2, sizeof *w->walk.stamps);
	if (!w->flow_of || !w->waits || !w->at_ns || !w->flows || !w->fires ||
		!w->later || !w->walk.stamps)
		return tb_fail_memory(error, "the flows");
	return job_order_init(&w->order, w->job, "a flow list", error);
}

static int write_flow_file(
	const struct flow_writing *w, const char *path, struct tb_error *error)
{
	struct tb_outfile out;
	int status = tb_outfile_open(&out, path, error);
	if (status != TB_OK)
		return status;
	fprintf(out.stream, "Nodes %" PRIu32 "\nConnections %" PRIu32 "\n",
		w->job->n_ranks, w->n_flows);
	if (w->n_triggers)
		fprintf(out.stream, "Triggers %" PRIu32 "\n", w->n_triggers);
	for (uint32_t i = 0; i < w->n_flows; i++)
		put_flow_line(w, i, out.stream);
	for (uint32_t i = 0; i < w->n_triggers; i++) {
		fprintf(out.stream, "trigger id %" PRIu64, UINT64_C(1) + i);
		if (w->triggers[i].n_fired > 1)
			fprintf(out.stream, " barrier count %" PRIu32 "\n",
				w->triggers[i].n_fired);
		else
			fputs(" oneshot\n", out.stream);
	}
	return tb_outfile_commit(&out, error);
}

// flow_list_write writes to a file; see tb_job_write. TB_EUSAGE as of
// job_order_init, and for a job without messages.
static int flow_list_write(
	const struct tb_job *job, const char *path, char **note, struct tb_error *error)
{
	struct flow_writing w = {.job = job};
	int status = flow_writing_init(&w, error);
	if (status == TB_OK && make_flows(&w) != TB_OK)
		status = tb_fail_memory(error, "the flows");
	if (status == TB_OK && w.n_flows == 0)
		status = tb_fail_in(error, TB_EUSAGE, job->name,
			"has no message between ranks, of which a flow list is made");
	if (status == TB_OK && !(*note = flow_list_note(&w)))
		status = tb_fail_memory(error, "the notes");
	TB_THEN(status, write_flow_file(&w, path, error));
	job_order_fini(&w.order);
	free(w.flow_of);
	free(w.waits);
	free(w.at_ns);
	free(w.flows);
	free(w.fires);
	free(w.later);
	free(w.walk.stamps);
	free(w.walk.stack);
	free(w.pool);
	free(w.triggers);
	tb_map_fini(&w.trigger_of);
	return status;
}

#define SUFFIX ".et"

// Protocol buffers: a field's number and kind, before its value.
#define NUMBER(field) ((field) << 3)
#define BYTES(field)  ((field) << 3 | 2)

// Writes a job as a Chakra execution trace (capture/chakra/execution_trace.proto): files
// NAME.0.et, NAME.1.et and so on, one a rank.
//
// Operations are nodes of computation, sends and receives with what they wait for. What
// waits for an operation's start waits for all that this waits for, as Chakra has
// dependencies on ends alone; processors and network interfaces are left out. Durations
// are in microseconds, so an attribute, duration_ns, has the rest for our own reader.

#define TB_CHAKRA_RANKS_MAX 65536 // files

// Types of nodes.
enum { COMPUTES = 4, SENDS = 5, RECEIVES = 6 };

struct chakra_bytes {
	uint8_t *data;
	size_t n, room;
	bool failed; // out of memory on the way
};

struct chakra_writing {
	const struct tb_job *job;
	struct tb_job_order order;
	struct chakra_bytes node, part;
	uint32_t *stamps, *stack; // by operation, of what a node waits for
	size_t n_stack, stack_room;
	uint64_t inexact_ns; // what whole microseconds are off
	bool has_shared;     // two computations of a rank on one processor
};

static void put_byte(struct chakra_bytes *bytes, uint8_t byte)
{
	if (TB_ARRAY_NEXT(bytes, data) == TB_OK)
		bytes->data[bytes->n++] = byte;
	else
		bytes->failed = true;
}

static void chakra_put_varint(struct chakra_bytes *bytes, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		put_byte(bytes, (uint8_t)(value | 0x80));
	put_byte(bytes, (uint8_t)value);
}

static void chakra_put_number(struct chakra_bytes *bytes, unsigned field, uint64_t value)
{
	chakra_put_varint(bytes, NUMBER(field));
	chakra_put_varint(bytes, value);
}

static void chakra_put_bytes(
	struct chakra_bytes *bytes, unsigned field, const void *data, size_t n)
{
	chakra_put_varint(bytes, BYTES(field));
	chakra_put_varint(bytes, n);
	for (size_t i = 0; i < n; i++)
		put_byte(bytes, ((const uint8_t *)data)[i]);
}

static void chakra_put_text(struct chakra_bytes *bytes, unsigned field, const char *text)
{
	chakra_put_bytes(bytes, field, text, strlen(text));
}

// put_attribute writes one with a whole number (as_int64, or as_bool).
static void put_attribute(
	struct chakra_writing *w, const char *name, unsigned field, uint64_t value)
{
	w->part.n = 0;
	chakra_put_text(&w->part, 1, name);
	chakra_put_number(&w->part, field, value);
	chakra_put_bytes(&w->node, 10, w->part.data, w->part.n);
}

enum { AS_INT64 = 9, AS_BOOL = 27 };

static int chakra_push(struct chakra_writing *w, uint32_t op, uint32_t stamp)
{
	if (w->stamps[op] == stamp)
		return TB_OK;
	w->stamps[op] = stamp;
	if (TB_ARRAY_MORE(w, stack) != TB_OK)
		return TB_ENOMEM;
	w->stack[w->n_stack++] = op;
	return TB_OK;
}

// put_deps writes what an operation waits for, each once. Those for whose start it waits
// are walked through: the first half of the stamps is theirs, the second of ends.
static int put_deps(struct chakra_writing *w, uint32_t op, uint32_t base)
{
	const struct tb_job_order *order = &w->order;
	uint32_t n_ops = w->job->n_ops;
	int status = chakra_push(w, op, op + 1);
	w->part.n = 0;
	while (status == TB_OK && w->n_stack > 0) {
		uint32_t at = w->stack[--w->n_stack];
		for (uint32_t k = order->first_pred[at];
			status == TB_OK && k < order->first_pred[at + 1]; k++) {
			uint32_t on = order->preds[k] & ~TB_DEP_START;
			if (order->preds[k] & TB_DEP_START) {
				status = chakra_push(w, on, op + 1);
			} else if (w->stamps[n_ops + on] != op + 1) {
				w->stamps[n_ops + on] = op + 1;
				chakra_put_varint(&w->part, on - base);
			}
		}
	}
	if (status == TB_OK && w->part.n > 0)
		chakra_put_bytes(&w->node, 5, w->part.data, w->part.n);
	return status;
}

static void put_message_of(const struct chakra_bytes *bytes, FILE *stream)
{
	uint64_t n = bytes->n;
	for (; n >= 0x80; n >>= 7)
		putc((int)(n & 0x7f) | 0x80, stream);
	putc((int)n, stream);
	fwrite(bytes->data, 1, bytes->n, stream);
}

static int chakra_put_node(
	struct chakra_writing *w, uint32_t rank, uint32_t i, uint32_t base, FILE *stream)
{
	static const char *const names[] = {"calc", "send", "recv"};
	static const uint8_t types[] = {COMPUTES, SENDS, RECEIVES};
	const struct tb_op *op = &w->job->ops[i];
	w->node.n = 0;
	chakra_put_number(&w->node, 1, i - base);
	chakra_put_text(&w->node, 2, names[op->kind]);
	chakra_put_number(&w->node, 3, types[op->kind]);
	if (put_deps(w, i, base) != TB_OK)
		return TB_ENOMEM;
	if (op->kind == TB_OP_CALC) {
		uint64_t us = op->amount / 1000 + (op->amount % 1000 >= 500);
		uint64_t off = us * 1000 > op->amount ? us * 1000 - op->amount
						      : op->amount - us * 1000;
		chakra_put_number(&w->node, 7, us);
		put_attribute(w, "is_cpu_op", AS_BOOL, 0);
		if (off)
			put_attribute(w, "duration_ns", AS_INT64, op->amount);
		w->inexact_ns += off;
	} else {
		bool sends = op->kind == TB_OP_SEND;
		put_attribute(w, "is_cpu_op", AS_BOOL, 0);
		put_attribute(w, "comm_src", AS_INT64, sends ? rank : op->peer);
		put_attribute(w, "comm_dst", AS_INT64, sends ? op->peer : rank);
		put_attribute(w, "comm_tag", AS_INT64, op->tag);
		put_attribute(w, "comm_size", AS_INT64, op->amount);
	}
	put_message_of(&w->node, stream);
	return w->node.failed || w->part.failed ? TB_ENOMEM : TB_OK;
}

static int chakra_put_rank(struct chakra_writing *w, uint32_t rank, FILE *stream)
{
	const struct tb_job *job = w->job;
	uint32_t base = job->first_op[rank], n_calcs[256] = {0};
	int status = TB_OK;
	w->node.n = 0;
	chakra_put_text(&w->node, 1, "0.0.4"); // of the schema
	put_message_of(&w->node, stream);
	for (uint32_t i = base; status == TB_OK && i < job->first_op[rank + 1]; i++) {
		const struct tb_op *op = &job->ops[i];
		if (op->kind == TB_OP_CALC && op->amount)
			w->has_shared |= n_calcs[op->cpu]++ > 0;
		status = chakra_put_node(w, rank, i, base, stream);
	}
	return status;
}

// name_file returns "NAME.3.et", malloc'ed.
static char *name_file(const char *path, uint32_t rank)
{
	char *name = NULL;
	int n = asprintf(&name, "%.*s.%" PRIu32 SUFFIX,
		(int)(strlen(path) - strlen(SUFFIX)), path, rank);
	return n < 0 ? NULL : name;
}

static int check_path(const struct tb_job *job, const char *path, struct tb_error *error)
{
	size_t n = strlen(path), suffix = strlen(SUFFIX);
	if (n <= suffix || strcmp(path + n - suffix, SUFFIX) != 0)
		return tb_fail(error, TB_EUSAGE,
			"a Chakra trace is a file for each rank: -o NAME.et writes "
			"NAME.0.et and so on");
	if (job->n_ranks > TB_CHAKRA_RANKS_MAX)
		return tb_fail_in(error, TB_EUSAGE, job->name,
			"has %" PRIu32 " ranks: a Chakra trace is written of %d at most",
			job->n_ranks, TB_CHAKRA_RANKS_MAX);
	return TB_OK;
}

static char *chakra_note(const struct chakra_writing *w)
{
	char *note = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&note, &size);
	if (!stream)
		return NULL;
	if (w->inexact_ns)
		fprintf(stream,
			"Chakra's durations are whole microseconds, which are off by %s "
			"in all; duration_ns has the rest\n",
			TB_TIME_TEXT((tb_time_ps)(w->inexact_ns * TB_PS_PER_NS)));
	if (w->has_shared)
		fputs("Chakra has no processors: computations of a rank that do not wait "
		      "for each other may overlap\n",
			stream);
	return tb_text_written(stream, &note);
}

// chakra_write writes the files of a `path` NAME.et; see tb_job_write. TB_EUSAGE for
// standard output, another name, more ranks, and as of job_order_init. On failure the
// files that were written are removed.
static int chakra_write(
	const struct tb_job *job, const char *path, char **note, struct tb_error *error)
{
	struct chakra_writing w = {.job = job};
	int status = check_path(job, path, error);
	TB_THEN(status, job_order_init(&w.order, job, "a Chakra trace", error));
	w.stamps = calloc(2 * (size_t)job->n_ops + 1, sizeof *w.stamps);
	if (status == TB_OK && !w.stamps)
		status = tb_fail_memory(error, "the nodes");
	if (status == TB_OK) {
		uint32_t rank = 0;
		while (status == TB_OK && rank < w.job->n_ranks) {
			struct tb_outfile out;
			char *name = name_file(path, rank);
			status = name ? tb_outfile_open(&out, name, error)
				      : tb_fail_memory(error, "the files");
			if (status == TB_OK &&
				chakra_put_rank(&w, rank, out.stream) != TB_OK) {
				tb_outfile_abandon(&out);
				status = tb_fail_memory(error, "the nodes");
			} else if (status == TB_OK) {
				status = tb_outfile_commit(&out, error);
			}
			free(name);
			rank += status == TB_OK;
		}
		while (status != TB_OK && rank-- > 0) {
			char *name = name_file(path, rank);
			if (name)
				(void)!unlink(name);
			free(name);
		}
	}
	if (status == TB_OK && !(*note = chakra_note(&w)))
		status = tb_fail_memory(error, "the notes");
	job_order_fini(&w.order);
	free(w.node.data);
	free(w.part.data);
	free(w.stamps);
	free(w.stack);
	return status;
}

static int write_goal(
	const struct tb_job *job, const char *path, char **note, struct tb_error *error)
{
	(void)note;
	return tb_job_write_text(job, path, error);
}

static int write_goal_binary(
	const struct tb_job *job, const char *path, char **note, struct tb_error *error)
{
	(void)note;
	return tb_job_write_binary(job, path, error);
}

static const struct tb_job_form {
	const char *name, *suffix;
	int (*write)(const struct tb_job *job, const char *path, char **note,
		struct tb_error *error);
} forms[] = {
	{"goal", ".goal", write_goal},
	{"goal-binary", ".bin", write_goal_binary},
	{"flows", ".cm", flow_list_write},
	{"chakra", ".et", chakra_write},
};

#define N_FORMS (sizeof forms / sizeof *forms)

const char *tb_job_form(size_t i)
{
	return i < N_FORMS ? forms[i].name : NULL;
}

size_t tb_job_form_of(const char *path)
{
	size_t n = strlen(path);
	for (size_t i = 0; i < N_FORMS; i++) {
		size_t suffix = strlen(forms[i].suffix);
		if (n >= suffix && strcmp(path + n - suffix, forms[i].suffix) == 0)
			return i;
	}
	return TB_JOB_FORM_NONE;
}

int tb_job_write(const struct tb_job *job, size_t form, const char *path, char **note,
	struct tb_error *error)
{
	*note = NULL;
	return forms[form].write(job, path, note, error);
}
