#include "flow_list_write.h"

#include "array.h"
#include "job_order.h"
#include "map.h"
#include "order.h"
#include "outfile.h"
#include "units.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX

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
	if (TB_ARRAY_RESERVE(&walk->stack, &walk->room, walk->n + 1) != TB_OK)
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
	if (TB_ARRAY_RESERVE(&w->pool, &w->pool_room, w->n_pool + 1) != TB_OK)
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
	uint64_t key = 1469598103934665603u; // FNV-1a
	for (size_t i = 0; i < n; i++)
		key = (key ^ events[i]) * 1099511628211u;
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
			if (at_ns > w->at_ns[op])
				w->at_ns[op] = at_ns;
		}
		// A rank's message to itself comes when it is sent.
		if (ops[op].kind == TB_OP_RECV && is_local_op(w, op)) {
			uint32_t send = w->order.match[op];
			w->waits[op] |= w->waits[send];
			if (w->at_ns[send] > w->at_ns[op])
				w->at_ns[op] = w->at_ns[send];
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
	char text[64], *note = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&note, &size);
	if (!stream)
		return NULL;
	if (w->lost_ns)
		fprintf(stream,
			"a flow list has no computation behind messages: %s are left "
			"out\n",
			tb_format_time((tb_time_ps)(w->lost_ns * TB_PS_PER_NS), text,
				sizeof text));
	if (w->n_stronger)
		fprintf(stream,
			"%s until another of their rank is sent: what is sent or "
			"received fires one trigger\n",
			tb_format_counted(w->n_stronger, "message waits|messages wait",
				text, sizeof text));
	if (w->n_local)
		fprintf(stream, "%s of ranks to themselves: left out\n",
			tb_format_counted(w->n_local, "message", text, sizeof text));
	if (w->n_empty)
		fprintf(stream, "%s of no bytes: of 1 here\n",
			tb_format_counted(w->n_empty, "message", text, sizeof text));
	if (fclose(stream) == 0)
		return note;
	free(note);
	return NULL;
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
	return tb_job_order_init(&w->order, w->job, "a flow list", error);
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

int tb_flow_list_write(
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
	if (status == TB_OK)
		status = write_flow_file(&w, path, error);
	tb_job_order_fini(&w.order);
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
