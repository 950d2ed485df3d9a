#include "workload_impl.h"

#include "array.h"
#include "map.h"
#include "op_log.h"
#include "timers.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NONE TB_ID_NONE

// A channel is a receiver, sender and tag: it holds receives posted for exactly these, or
// messages that arrived before a receive, never both at once; and messages on their way,
// in the order in which they left.
struct tb_matching_channel {
	struct tb_op_queue posted, arrived, sent;
};

// A message on its way.
enum { FLIES, LANDED, LOST };

struct tb_matching_rank {
	struct tb_op_queue wild;     // posted receives with any source or any tag
	struct tb_op_queue arrivals; // unmatched messages, if it ever posts such receives
	bool uses_wild;
};

#define COOLED_OPS (UINT32_C(1) << 16)

static bool accepts(const struct tb_matching *matching, uint32_t recv, uint32_t send)
{
	const struct tb_op *want = &matching->job->ops[recv];
	return (want->peer == TB_ANY || want->peer == matching->rank_of[send]) &&
	       (want->tag == TB_ANY || want->tag == matching->job->ops[send].tag);
}

static bool is_wild(const struct tb_op *op)
{
	return op->kind == TB_OP_RECV && (op->peer == TB_ANY || op->tag == TB_ANY);
}

// first_arrival removes the first unmatched message that a wildcard receive accepts.
static uint32_t first_arrival(struct tb_matching *matching, uint32_t recv)
{
	struct tb_op_queue *arrivals = &matching->ranks[matching->rank_of[recv]].arrivals;
	uint32_t before = NONE;
	for (uint32_t send = arrivals->first; send != NONE;) {
		uint32_t next = matching->aside[send];
		bool gone = matching->channel[send] == NONE;
		if (gone || accepts(matching, recv, send)) {
			tb_op_queue_remove(arrivals, matching->aside, before, send);
			if (!gone) {
				// Remove a message that was matched through a rank's
				// arrivals from its channel.
				struct tb_op_queue *arrived =
					&matching->channels[matching->channel[send]]
						 .arrived;
				// Messages of one channel are matched in their order, so
				// it is the first.
				assert(arrived->first == send);
				tb_op_queue_remove(arrived, matching->next, NONE, send);
				return send;
			}
		} else {
			before = send;
		}
		send = next;
	}
	return NONE;
}

static struct tb_matching_channel *channel_at(
	const struct tb_matching *matching, uint32_t op)
{
	return &matching->channels[matching->channel[op]];
}

uint32_t tb_matching_post(struct tb_matching *matching, uint32_t recv)
{
	struct tb_matching_rank *rank = &matching->ranks[matching->rank_of[recv]];
	struct tb_op_queue *posted = &rank->wild;
	uint32_t send = NONE;
	matching->aside[recv] = matching->n_posted++;
	if (is_wild(&matching->job->ops[recv])) {
		send = first_arrival(matching, recv);
	} else {
		struct tb_matching_channel *channel = channel_at(matching, recv);
		posted = &channel->posted;
		if (channel->arrived.first != NONE) {
			send = tb_op_queue_pop(&channel->arrived, matching->next);
			// It stays in the rank's arrivals as a mark without a channel.
			if (rank->uses_wild)
				matching->channel[send] = NONE;
		}
	}
	if (send == NONE)
		tb_op_queue_push(posted, matching->next, recv);
	return send;
}

// posted_for removes the earliest posted receive that accepts a message.
static uint32_t posted_for(struct tb_matching *matching, uint32_t send)
{
	struct tb_matching_rank *rank = &matching->ranks[matching->job->ops[send].peer];
	struct tb_op_queue *posted = &channel_at(matching, send)->posted;
	uint32_t before = NONE, wild = rank->wild.first;
	while (wild != NONE && !accepts(matching, wild, send)) {
		before = wild;
		wild = matching->next[wild];
	}
	bool exact =
		posted->first != NONE &&
		(wild == NONE || matching->aside[posted->first] < matching->aside[wild]);
	if (exact)
		return tb_op_queue_pop(posted, matching->next);
	if (wild != NONE)
		tb_op_queue_remove(&rank->wild, matching->next, before, wild);
	return wild;
}

void tb_matching_send(struct tb_matching *matching, uint32_t send)
{
	matching->aside[send] = FLIES;
	tb_op_queue_push(&channel_at(matching, send)->sent, matching->next, send);
}

void tb_matching_land(struct tb_matching *matching, uint32_t send, bool lost)
{
	matching->aside[send] = lost ? LOST : LANDED;
}

uint32_t tb_matching_in_turn(struct tb_matching *matching, uint32_t send)
{
	struct tb_op_queue *way = &channel_at(matching, send)->sent;
	while (way->first != NONE && matching->aside[way->first] != FLIES) {
		uint32_t first = tb_op_queue_pop(way, matching->next);
		if (matching->aside[first] == LANDED)
			return first;
	}
	return NONE;
}

uint32_t tb_matching_arrive(struct tb_matching *matching, uint32_t send)
{
	uint32_t recv = posted_for(matching, send);
	if (recv == NONE) {
		struct tb_matching_rank *rank =
			&matching->ranks[matching->job->ops[send].peer];
		tb_op_queue_push(
			&channel_at(matching, send)->arrived, matching->next, send);
		if (rank->uses_wild)
			tb_op_queue_push(&rank->arrivals, matching->aside, send);
	}
	return recv;
}

// Used while channels are numbered.
struct numbering {
	struct tb_matching *matching;
	struct tb_map pairs; // receiver and sender to their first channel
	struct tb_map tags;  // that and another tag than its own to channel
	uint32_t *tag_of;    // by channel
	size_t tags_room;
};

static int new_channel(struct numbering *numbering, uint32_t tag, uint32_t *channel)
{
	struct tb_matching *matching = numbering->matching;
	size_t n = (size_t)matching->n_channels + 1;
	if (TB_DISK_ARRAY_RESERVE(&matching->array, &matching->channels,
		    &matching->channels_room, n) != TB_OK ||
		TB_ARRAY_RESERVE(&numbering->tag_of, &numbering->tags_room, n) != TB_OK)
		return TB_ENOMEM;
	*channel = matching->n_channels++;
	numbering->tag_of[*channel] = tag;
	matching->channels[*channel] = (struct tb_matching_channel){
		tb_op_queue_empty(), tb_op_queue_empty(), tb_op_queue_empty()};
	return TB_OK;
}

static int matching_channel(struct numbering *numbering, uint64_t to_and_from,
	uint32_t tag, uint32_t *channel)
{
	struct tb_map *map = &numbering->pairs;
	uint64_t key = to_and_from;
	if (tb_map_find(map, key, channel)) {
		if (numbering->tag_of[*channel] == tag)
			return TB_OK;
		map = &numbering->tags;
		key = (uint64_t)*channel << 32 | tag;
		if (tb_map_find(map, key, channel))
			return TB_OK;
	}
	int status = new_channel(numbering, tag, channel);
	return status == TB_OK ? tb_map_put(map, key, *channel) : status;
}

static int matching_allocate(struct tb_matching *matching)
{
	size_t n_ranks = (size_t)matching->job->n_ranks + 1;
	matching->array.beside = matching->job->beside;
	matching->ranks = malloc(n_ranks * sizeof *matching->ranks);
	if (!matching->ranks)
		return TB_ENOMEM;
	for (size_t rank = 0; rank < n_ranks; rank++)
		matching->ranks[rank] = (struct tb_matching_rank){
			tb_op_queue_empty(), tb_op_queue_empty(), false};
	// Give every send and exact receive its channel before the replay, so
	// that matching needs no search.
	const struct tb_job *job = matching->job;
	struct numbering numbering = {.matching = matching};
	int status = TB_OK;
	for (uint32_t op = 0; op < job->n_ops && status == TB_OK; op++) {
		const struct tb_op *what = &job->ops[op];
		uint64_t rank = matching->rank_of[op];
		matching->channel[op] = NONE;
		if (op % COOLED_OPS == 0)
			tb_job_cool(job);
		if (is_wild(what))
			matching->ranks[rank].uses_wild = true;
		else if (what->kind == TB_OP_SEND)
			status = matching_channel(&numbering,
				(uint64_t)what->peer << 32 | rank, what->tag,
				&matching->channel[op]);
		else if (what->kind == TB_OP_RECV)
			status = matching_channel(&numbering, rank << 32 | what->peer,
				what->tag, &matching->channel[op]);
	}
	tb_map_fini(&numbering.pairs);
	tb_map_fini(&numbering.tags);
	free(numbering.tag_of);
	return status;
}

int tb_matching_init(struct tb_matching *matching, const struct tb_job *job,
	const uint32_t *rank_of, uint32_t *links)
{
	size_t n_ops = (size_t)job->n_ops + 1;
	*matching = (struct tb_matching){.job = job,
		.rank_of = rank_of,
		.channel = links,
		.next = links + n_ops,
		.aside = links + 2 * n_ops};
	int status = matching_allocate(matching);
	if (status != TB_OK)
		tb_matching_fini(matching);
	return status;
}

void tb_matching_fini(struct tb_matching *matching)
{
	tb_disk_array_fini(&matching->array);
	free(matching->ranks);
	*matching = (struct tb_matching){0};
}

int tb_op_log_init(struct tb_op_log *log, const struct tb_job *job, const uint32_t *by,
	const uint32_t *rank_of, const uint32_t *node_of_rank)
{
	if (job->n_ops > TB_OP_LOG_OPS_MAX)
		return TB_OK;
	*log = (struct tb_op_log){.job = job,
		.by = by,
		.rank_of = rank_of,
		.node_of_rank = node_of_rank,
		.ended = malloc(((size_t)job->n_ops + 1) * sizeof *log->ended),
		.related = malloc(((size_t)job->n_ops + 1) * sizeof *log->related)};
	if (!log->ended || !log->related) {
		tb_op_log_fini(log);
		return TB_ENOMEM;
	}
	for (uint32_t op = 0; op < job->n_ops; op++) {
		log->ended[op] = -1;
		log->related[op] = TB_ID_NONE;
	}
	return TB_OK;
}

void tb_op_log_fini(struct tb_op_log *log)
{
	free(log->ended);
	free(log->related);
	free(log->parts);
	*log = (struct tb_op_log){0};
}

// op_log_keep keeps the parts of a message and returns their number, or TB_ID_NONE.
static uint32_t op_log_keep(struct tb_op_log *log, const struct tb_message_parts *parts)
{
	if (!log->ended)
		return TB_ID_NONE;
	if (TB_ARRAY_RESERVE(&log->parts, &log->parts_room, log->n_parts + 1) != TB_OK) {
		log->failed = true;
		return TB_ID_NONE;
	}
	log->parts[log->n_parts] = *parts;
	return (uint32_t)log->n_parts++;
}

struct cpu {
	struct tb_op_queue waiting;
	bool busy;
};

enum op_state { WAITING, READY, STARTED, DONE };

struct tb_closed_loop {
	const struct tb_job *job;
	uint32_t number;
	bool broadcasts;
	bool opens_windows; // what receivers kept closed takes no time
	uint32_t *node_of_rank;
	uint32_t *place_of_rank;    // among those of its node
	bool one_node;		    // all ranks are on one
	struct tb_disk_array array; // of what is by operation
	uint32_t *rank_of;	    // of each operation
	uint32_t *missing; // dependencies still open; of what is ready, see op_log.h
	uint32_t *next;	   // link of the queues here, and of a broadcast's sends
	uint8_t *state;
	struct tb_matching matching;
	struct cpu *cpus;	     // n_ranks x n_cpus
	struct tb_timers timers;     // ends of calcs, by operation
	struct tb_op_queue ready;    // to be started at `now`
	struct tb_op_queue outgoing; // sends to be taken at `now`
	tb_time_ps now;
	tb_time_ps worked_until;
	uint64_t n_started, n_done;
	uint64_t n_undelivered; // sends
	// By operation: when it ended, or which time of it is wanted. NULL: none is.
	tb_time_ps *at;
	struct tb_op_log log;
};

// What is wanted of an operation, until it is known.
#define WANT_NOTHING (-1)
#define WANT_END     (-2)
#define WANT_START   (-3)

// note_time keeps the present if it is wanted.
static void note_time(struct tb_closed_loop *loop, uint32_t op, tb_time_ps want)
{
	if (loop->at && loop->at[op] == want)
		loop->at[op] = loop->now;
}

// satisfy removes one dependency of an operation, on `by`, which ended now. The operation
// starts when it has none left.
static void satisfy(struct tb_closed_loop *loop, uint32_t op, uint32_t by)
{
	if (--loop->missing[op])
		return;
	loop->missing[op] = by;
	loop->state[op] = READY;
	tb_op_queue_push(&loop->ready, loop->next, op);
}

// closed_loop_release lets the operations continue that wait for the start, or the end,
// of `op`.
static void closed_loop_release(struct tb_closed_loop *loop, uint32_t op, bool started)
{
	const struct tb_job *job = loop->job;
	// What waits for a start waits for what that start waited for.
	uint32_t by = started ? loop->missing[op] : op;
	for (uint32_t i = job->first_successor[op]; i < job->first_successor[op + 1];
		i++) {
		uint32_t successor = job->successors[i];
		bool on_start = (successor & TB_DEP_START) != 0;
		if (on_start == started)
			satisfy(loop, successor & ~TB_DEP_START, by);
	}
}

// closed_loop_cool is called before the `i`th operation starts: what is on disk is gone
// through nearly in the order of time.
static void closed_loop_cool(const struct tb_closed_loop *loop, uint64_t i)
{
	if (i % COOLED_OPS != 0)
		return;
	tb_job_cool(loop->job);
	tb_disk_array_cool(&loop->array);
	tb_disk_array_cool(&loop->matching.array);
}

static void set_started(struct tb_closed_loop *loop, uint32_t op)
{
	closed_loop_cool(loop, loop->n_started++);
	loop->state[op] = STARTED;
	note_time(loop, op, WANT_START);
	closed_loop_release(loop, op, true);
}

static void set_done(struct tb_closed_loop *loop, uint32_t op)
{
	loop->state[op] = DONE;
	loop->n_done++;
	note_time(loop, op, WANT_END);
	tb_op_log_end(&loop->log, op, loop->now);
	closed_loop_release(loop, op, false);
}

static struct cpu *cpu_of(const struct tb_closed_loop *loop, uint32_t op)
{
	return &loop->cpus[(size_t)loop->rank_of[op] * loop->job->n_cpus +
			   loop->job->ops[op].cpu];
}

static int start_on_cpu(struct tb_closed_loop *loop, uint32_t op, struct tb_error *error)
{
	const struct tb_op *what = &loop->job->ops[op];
	set_started(loop, op);
	if (what->kind == TB_OP_SEND) {
		tb_matching_send(&loop->matching, op);
		tb_op_queue_push(&loop->outgoing, loop->next, op);
		return TB_OK;
	}
	uint64_t most = (uint64_t)(TB_TIME_NEVER - loop->now) / 1000;
	if (what->amount >= most)
		return tb_fail_in(error, TB_EFORMAT, loop->job->name,
			"rank %" PRIu32 ": a calc of %" PRIu64
			" ns leads beyond the end of simulated time (106 days)",
			loop->rank_of[op], what->amount);
	cpu_of(loop, op)->busy = true;
	struct tb_timer timer = {loop->now + (tb_time_ps)what->amount * TB_PS_PER_NS, op};
	if (what->closed && loop->opens_windows)
		timer.at = loop->now;
	if (tb_timers_put(&loop->timers, timer) != TB_OK)
		return tb_fail_memory(error, "the calcs that run");
	return TB_OK;
}

static int check_size(const struct tb_closed_loop *loop, uint32_t recv, uint32_t send,
	struct tb_error *error)
{
	const struct tb_op *ops = loop->job->ops;
	if (ops[send].amount <= ops[recv].amount)
		return TB_OK;
	return tb_fail_in(error, TB_EFORMAT, loop->job->name,
		"rank %" PRIu32 " receives %" PRIu64 " bytes where rank %" PRIu32
		" sent %" PRIu64 " (tag %" PRIu32 ")",
		loop->rank_of[recv], ops[recv].amount, loop->rank_of[send],
		ops[send].amount, ops[send].tag);
}

// closed_loop_settle starts all operations that are ready at `now`.
static int closed_loop_settle(struct tb_closed_loop *loop, struct tb_error *error)
{
	while (loop->ready.first != NONE) {
		uint32_t op = tb_op_queue_pop(&loop->ready, loop->next);
		int status = TB_OK;
		if (loop->job->ops[op].kind == TB_OP_RECV) {
			// Let a ready receive take a message that has already arrived, or
			// wait.
			set_started(loop, op);
			uint32_t send = tb_matching_post(&loop->matching, op);
			status = send == NONE ? TB_OK : check_size(loop, op, send, error);
			if (status == TB_OK && send != NONE) {
				// What a library does for a message that has come
				// already comes before what is called for then.
				struct tb_op_queue rest = loop->ready;
				loop->ready = tb_op_queue_empty();
				set_done(loop, op);
				tb_op_queue_append(&loop->ready, loop->next, &rest);
			}
		} else if (cpu_of(loop, op)->busy)
			tb_op_queue_push(&cpu_of(loop, op)->waiting, loop->next, op);
		else
			status = start_on_cpu(loop, op, error);
		if (status != TB_OK)
			return status;
	}
	return TB_OK;
}

// end_calc frees the cpu for the operations that wait for it.
static int end_calc(struct tb_closed_loop *loop, uint32_t op, struct tb_error *error)
{
	struct cpu *cpu = cpu_of(loop, op);
	cpu->busy = false;
	if (loop->job->ops[op].amount)
		loop->worked_until = loop->now;
	set_done(loop, op);
	while (!cpu->busy && cpu->waiting.first != NONE) {
		uint32_t next = tb_op_queue_pop(&cpu->waiting, loop->next);
		loop->missing[next] = op;
		int status = start_on_cpu(loop, next, error);
		if (status != TB_OK)
			return status;
	}
	return closed_loop_settle(loop, error);
}

static tb_time_ps closed_loop_next_at(void *context)
{
	const struct tb_closed_loop *loop = context;
	if (loop->outgoing.first != NONE || loop->ready.first != NONE)
		return loop->now;
	return tb_timers_at(&loop->timers);
}

static uint32_t node_of_peer(const struct tb_closed_loop *loop, uint32_t send)
{
	return loop->node_of_rank[loop->job->ops[send].peer];
}

// send_joins_broadcast returns whether a send is one of the same broadcast as the one
// before it, whose receivers end before node `end`.
static bool send_joins_broadcast(
	const struct tb_closed_loop *loop, uint32_t send, uint32_t before, uint32_t end)
{
	const struct tb_op *a = &loop->job->ops[before], *b = &loop->job->ops[send];
	uint32_t own = loop->node_of_rank[loop->rank_of[send]];
	uint32_t node = node_of_peer(loop, send);
	return loop->rank_of[send] == loop->rank_of[before] && a->amount == b->amount &&
	       a->tag == b->tag && node != own &&
	       (node == end || (end == own && node == end + 1));
}

// join_sends takes the sends that follow into one broadcast with `first`, in a chain; it
// returns how many nodes receive it, including the sender's own if it lies between them.
static uint32_t join_sends(struct tb_closed_loop *loop, uint32_t first)
{
	uint32_t node = node_of_peer(loop, first), end = node + 1, last = first;
	loop->next[first] = NONE;
	if (!loop->broadcasts || node == loop->node_of_rank[loop->rank_of[first]])
		return 1;
	while (loop->outgoing.first != NONE &&
		send_joins_broadcast(loop, loop->outgoing.first, last, end)) {
		uint32_t send = tb_op_queue_pop(&loop->outgoing, loop->next);
		end = node_of_peer(loop, send) + 1;
		loop->next[last] = send;
		loop->next[send] = NONE;
		last = send;
	}
	return end - node;
}

static int closed_loop_take(
	void *context, tb_time_ps now, struct tb_message *message, struct tb_error *error)
{
	struct tb_closed_loop *loop = context;
	loop->now = now;
	int status = closed_loop_settle(loop, error);
	while (status == TB_OK && tb_timers_at(&loop->timers) <= now)
		status = end_calc(
			loop, (uint32_t)tb_timers_take(&loop->timers).what, error);
	if (status != TB_OK)
		return status;
	if (loop->outgoing.first == NONE)
		return 0;
	uint32_t op = tb_op_queue_pop(&loop->outgoing, loop->next);
	const struct tb_op *send = &loop->job->ops[op];
	uint32_t rank = loop->rank_of[op];
	uint32_t n_receivers = join_sends(loop, op);
	*message = (struct tb_message){.cookie = op,
		.source = {loop->node_of_rank[rank]},
		.destination = {loop->node_of_rank[send->peer]},
		.n_receivers = n_receivers,
		.bytes = send->amount,
		.job = loop->number,
		.source_rank = rank,
		.destination_rank = send->peer,
		.n_ranks = loop->job->n_ranks,
		.one_node = loop->one_node,
		.planned = send->planned,
		.source_place = loop->place_of_rank[rank],
		.destination_place = loop->place_of_rank[send->peer],
		.via = loop->job->n_nics > 1 ? send->nic + 1u : 0};
	return 1;
}

static int closed_loop_sent(
	void *context, tb_time_ps now, uint64_t cookie, struct tb_error *error)
{
	struct tb_closed_loop *loop = context;
	loop->now = now;
	for (uint32_t op = (uint32_t)cookie; op != NONE; op = loop->next[op])
		set_done(loop, op);
	return closed_loop_settle(loop, error);
}

// closed_loop_arrive matches a send's message, and those that waited for it to keep their
// order, with posted receives; unmatched ones wait.
static int closed_loop_arrive(
	struct tb_closed_loop *loop, uint32_t send, bool lost, struct tb_error *error)
{
	// The channel of a message that was matched may be gone: look at one behind it.
	uint32_t first;
	int status = TB_OK;
	tb_matching_land(&loop->matching, send, lost);
	while (status == TB_OK &&
		(first = tb_matching_in_turn(&loop->matching, send)) != NONE) {
		uint32_t recv = tb_matching_arrive(&loop->matching, first);
		status = recv == NONE ? TB_OK : check_size(loop, recv, first, error);
		if (recv == NONE || status != TB_OK)
			continue;
		tb_op_log_relate(&loop->log, recv, send);
		set_done(loop, recv);
	}
	return status;
}

static int closed_loop_delivered(
	void *context, tb_time_ps now, uint64_t cookie, struct tb_error *error)
{
	struct tb_closed_loop *loop = context;
	int status = TB_OK;
	loop->now = now;
	for (uint32_t send = (uint32_t)cookie; send != NONE && status == TB_OK;
		send = loop->next[send])
		status = closed_loop_arrive(loop, send, false, error);
	return status == TB_OK ? closed_loop_settle(loop, error) : status;
}

// closed_loop_undelivered: the sender continues, its buffer is free; a receive for the
// message waits forever.
static int closed_loop_undelivered(
	void *context, tb_time_ps now, uint64_t cookie, struct tb_error *error)
{
	struct tb_closed_loop *loop = context;
	int status = TB_OK;
	loop->n_undelivered++;
	loop->now = now;
	for (uint32_t send = (uint32_t)cookie; send != NONE && status == TB_OK;
		send = loop->next[send])
		status = closed_loop_arrive(loop, send, true, error);
	// A host that had copied the message reported it as sent.
	if (status != TB_OK || loop->state[cookie] == DONE)
		return status;
	return closed_loop_sent(context, now, cookie, error);
}

static void closed_loop_describe(
	const struct tb_closed_loop *loop, uint32_t op, char *text, size_t size)
{
	const struct tb_op *what = &loop->job->ops[op];
	char peer[16] = "any rank", tag[16] = "any tag";
	if (what->peer != TB_ANY)
		snprintf(peer, sizeof peer, "rank %" PRIu32, what->peer);
	if (what->tag != TB_ANY)
		snprintf(tag, sizeof tag, "tag %" PRIu32, what->tag);
	snprintf(text, size,
		"rank %" PRIu32 " (operation %" PRIu32 ") waits for %" PRIu64
		" bytes from %s with %s",
		loop->rank_of[op], op - loop->job->first_op[loop->rank_of[op]] + 1,
		what->amount, peer, tag);
}

// stuck_receive returns a posted, unmatched receive of a rank, or NONE.
static uint32_t stuck_receive(const struct tb_closed_loop *loop, uint32_t rank)
{
	for (uint32_t op = loop->job->first_op[rank]; op < loop->job->first_op[rank + 1];
		op++)
		if (loop->state[op] == STARTED && loop->job->ops[op].kind == TB_OP_RECV)
			return op;
	return NONE;
}

// closed_loop_finish names the receives that wait for each other, following each to the
// rank it waits for.
static int closed_loop_finish(void *context, struct tb_error *error)
{
	struct tb_closed_loop *loop = context;
	closed_loop_cool(loop, 0);
	// Undelivered messages explain operations that never run; the caller reports
	// both.
	if (loop->n_done == loop->job->n_ops || loop->n_undelivered)
		return TB_OK;
	uint32_t op = NONE;
	for (uint32_t rank = 0; rank < loop->job->n_ranks && op == NONE; rank++)
		op = stuck_receive(loop, rank);
	char text[400] = "";
	for (int n = 0; n < 3 && op != NONE; n++) {
		size_t used = strlen(text);
		char one[160];
		closed_loop_describe(loop, op, one, sizeof one);
		snprintf(text + used, sizeof text - used, "%s%s", n ? ", " : "", one);
		uint32_t peer = loop->job->ops[op].peer;
		op = peer == TB_ANY ? NONE : stuck_receive(loop, peer);
	}
	return tb_fail_in(error, TB_EDEADLOCK, loop->job->name,
		"deadlock: %" PRIu64 " of %" PRIu32 " operations can never run: %s",
		loop->job->n_ops - loop->n_done, loop->job->n_ops, text);
}

static int closed_loop_allocate(struct tb_closed_loop *loop, const uint32_t *node_of_rank)
{
	const struct tb_job *job = loop->job;
	size_t n_ops = (size_t)job->n_ops + 1;
	size_t n_cpus = (size_t)job->n_ranks * job->n_cpus;
	loop->node_of_rank = malloc((job->n_ranks + 1) * sizeof(uint32_t));
	loop->place_of_rank = malloc((job->n_ranks + 1) * sizeof(uint32_t));
	loop->cpus = malloc((n_cpus + 1) * sizeof *loop->cpus);
	loop->array.beside = job->beside;
	size_t timed = job->recorded ? sizeof *loop->at : 0;
	if (!loop->node_of_rank || !loop->place_of_rank || !loop->cpus ||
		tb_disk_array_resize(&loop->array,
			n_ops * (timed + 6 * sizeof(uint32_t) + 1)) != TB_OK)
		return TB_ENOMEM;
	if (timed)
		loop->at = (void *)loop->array.memory;
	loop->rank_of = (void *)(loop->array.memory + n_ops * timed);
	loop->missing = loop->rank_of + n_ops;
	loop->next = loop->missing + n_ops;
	loop->state = (void *)(loop->next + 4 * n_ops); // behind the matching's
	memset(loop->state, 0, n_ops);
	memcpy(loop->node_of_rank, node_of_rank, job->n_ranks * sizeof(uint32_t));
	loop->one_node = true;
	for (uint32_t rank = 1; rank < job->n_ranks; rank++)
		loop->one_node &= node_of_rank[rank] == node_of_rank[0];
	memcpy(loop->missing, job->n_predecessors, job->n_ops * sizeof(uint32_t));
	for (uint32_t rank = 0; rank < job->n_ranks; rank++)
		for (uint32_t op = job->first_op[rank]; op < job->first_op[rank + 1];
			op++)
			loop->rank_of[op] = rank;
	for (size_t i = 0; i < n_cpus; i++)
		loop->cpus[i] = (struct cpu){tb_op_queue_empty(), false};
	// Count the ranks of each node.
	struct tb_map n_of_node = {0};
	int status = TB_OK;
	for (uint32_t rank = 0; rank < loop->job->n_ranks && status == TB_OK; rank++) {
		uint32_t n = 0;
		tb_map_find(&n_of_node, loop->node_of_rank[rank], &n);
		loop->place_of_rank[rank] = n;
		status = tb_map_put(&n_of_node, loop->node_of_rank[rank], n + 1);
	}
	tb_map_fini(&n_of_node);
	return status == TB_OK ? tb_matching_init(&loop->matching, job, loop->rank_of,
					 loop->next + n_ops)
			       : status;
}

static void closed_loop_want(struct tb_closed_loop *loop, uint32_t instant)
{
	uint32_t op = instant & ~TB_DEP_START;
	if (instant == TB_AT_BEGINNING)
		return;
	// The end of a calc gives its start.
	bool starts = (instant & TB_DEP_START) && loop->job->ops[op].kind != TB_OP_CALC;
	loop->at[op] = starts ? WANT_START : WANT_END;
}

static void want_times(struct tb_closed_loop *loop)
{
	const struct tb_job *job = loop->job;
	const struct tb_recorded_calls *timed = job->recorded;
	if (!timed)
		return;
	for (uint32_t op = 0; op < job->n_ops; op++)
		loop->at[op] = WANT_NOTHING;
	for (uint32_t rank = 0; rank < timed->n_ranks; rank++)
		for (size_t i = timed->first[rank]; i < timed->first[rank + 1]; i++) {
			closed_loop_want(loop, timed->calls[i].enter);
			closed_loop_want(loop, timed->calls[i].leave);
		}
}

int tb_closed_loop_new(struct tb_closed_loop **loop, const struct tb_job *job,
	const uint32_t *node_of_rank, uint32_t number, bool broadcasts,
	struct tb_error *error)
{
	struct tb_closed_loop *made = calloc(1, sizeof *made);
	if (made) {
		made->job = job;
		made->number = number;
		made->broadcasts = broadcasts;
		made->ready = made->outgoing = tb_op_queue_empty();
	}
	if (!made || closed_loop_allocate(made, node_of_rank) != TB_OK) {
		tb_closed_loop_free(made);
		return tb_fail_memory_in(
			error, job->name, "%" PRIu32 " operations", job->n_ops);
	}
	want_times(made);
	for (uint32_t op = 0; op < job->n_ops; op++)
		if (made->missing[op] == 0) {
			made->missing[op] = NONE;
			made->state[op] = READY;
			tb_op_queue_push(&made->ready, made->next, op);
		}
	closed_loop_cool(made, 0);
	*loop = made;
	return TB_OK;
}

void tb_closed_loop_free(struct tb_closed_loop *loop)
{
	if (!loop)
		return;
	free(loop->node_of_rank);
	free(loop->place_of_rank);
	tb_disk_array_fini(&loop->array);
	tb_matching_fini(&loop->matching);
	free(loop->cpus);
	tb_op_log_fini(&loop->log);
	tb_timers_fini(&loop->timers);
	free(loop);
}

// closed_loop_crossed: the first packet of a send entered the network.
static void closed_loop_crossed(
	void *context, uint64_t cookie, const struct tb_latency_parts *crossing)
{
	struct tb_closed_loop *loop = context;
	for (uint32_t op = (uint32_t)cookie; op != NONE; op = loop->next[op])
		if (loop->at[op] != WANT_NOTHING)
			loop->at[op] = crossing->started_at;
}

// closed_loop_measured: how the latency of a send's message came about.
static void closed_loop_measured(
	void *context, uint64_t cookie, const struct tb_message_parts *parts)
{
	struct tb_closed_loop *loop = context;
	uint32_t kept = op_log_keep(&loop->log, parts);
	for (uint32_t op = (uint32_t)cookie; op != NONE; op = loop->next[op])
		tb_op_log_relate(&loop->log, op, kept);
}

int tb_closed_loop_keep_log(struct tb_closed_loop *loop)
{
	return tb_op_log_init(
		&loop->log, loop->job, loop->missing, loop->rank_of, loop->node_of_rank);
}

bool tb_closed_loop_open_windows(struct tb_closed_loop *loop)
{
	loop->opens_windows = true;
	for (uint32_t i = 0; i < loop->job->n_ops; i++)
		if (loop->job->ops[i].closed)
			return true;
	return false;
}

const struct tb_op_log *tb_closed_loop_log(const struct tb_closed_loop *loop)
{
	return loop->log.ended ? &loop->log : NULL;
}

// instant_time returns the time of an instant; negative: it never came.
static tb_time_ps instant_time(const struct tb_closed_loop *loop, uint32_t instant)
{
	uint32_t op = instant & ~TB_DEP_START;
	if (instant == TB_AT_BEGINNING)
		return 0;
	const struct tb_op *what = &loop->job->ops[op];
	if (loop->at[op] < 0 || !(instant & TB_DEP_START) || what->kind != TB_OP_CALC)
		return loop->at[op];
	return loop->at[op] - TB_PS_PER_NS * (tb_time_ps)what->amount;
}

int tb_closed_loop_times(const struct tb_closed_loop *loop, struct tb_call_times *times,
	uint64_t *n_unreached)
{
	const struct tb_recorded_calls *timed = loop->job->recorded;
	int status = tb_call_times_begin(times, timed->n_ranks);
	*n_unreached = 0;
	for (uint32_t rank = 0; rank < timed->n_ranks; rank++)
		for (size_t i = timed->first[rank]; i < timed->first[rank + 1]; i++) {
			const struct tb_timed_call *call = &timed->calls[i];
			tb_time_ps enter = instant_time(loop, call->enter);
			tb_time_ps leave = instant_time(loop, call->leave);
			if (enter < 0 || leave < enter)
				++*n_unreached;
			else if (status == TB_OK)
				status = tb_call_times_add(times, rank, call->kind, 0,
					(uint64_t)enter, (uint64_t)leave);
		}
	tb_call_times_end(times);
	return status;
}

struct tb_source tb_closed_loop_source(struct tb_closed_loop *loop)
{
	return (struct tb_source){.context = loop,
		.when = closed_loop_next_at,
		.take = closed_loop_take,
		.sent = closed_loop_sent,
		.delivered = closed_loop_delivered,
		.crossed = loop->job->recorded && loop->job->recorded->on_wire
				   ? closed_loop_crossed
				   : NULL,
		.measured = loop->log.ended ? closed_loop_measured : NULL,
		.undelivered = closed_loop_undelivered,
		.finish = closed_loop_finish};
}

tb_time_ps tb_closed_loop_worked_until(const struct tb_closed_loop *loop)
{
	return loop->worked_until;
}

uint64_t tb_closed_loop_n_done(const struct tb_closed_loop *loop)
{
	return loop->n_done;
}
