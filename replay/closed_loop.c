#include "closed_loop.h"

#include "map.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX

// A first-in first-out list of operations, linked through `next`.
struct queue {
	uint32_t first, last;
};

// What one receiver, sender and tag have in common: receives posted for exactly them, or
// messages of theirs that came before a receive; never both at once.
struct channel {
	struct queue posted, arrived;
};

struct timer {
	tb_time_ps at;
	uint32_t op;
};

struct rank {
	struct queue wild; // posted receives with any source or any tag
	struct queue
		arrivals; // unmatched messages in order of arrival, if it ever uses those
	bool uses_wild;
};

struct cpu {
	struct queue waiting;
	bool busy;
};

enum op_state { WAITING, READY, STARTED, DONE };

struct tb_closed_loop {
	const struct tb_job *job;
	uint32_t number;
	uint32_t *node_of_rank;
	uint32_t *rank_of;	 // of each operation
	uint32_t *missing;	 // dependencies still open
	uint32_t *channel;	 // of each send and each receive without wildcards
	uint32_t *next;		 // link of the queues an operation is in
	uint32_t *arrival_next;	 // link of rank.arrivals
	uint32_t *posted_number; // order of posting of receives
	uint8_t *state;
	struct channel *channels;
	uint32_t n_channels, channels_room;
	struct rank *ranks;
	struct cpu *cpus;     // n_ranks x n_cpus
	struct timer *timers; // binary heap
	uint32_t n_timers, timers_room;
	struct queue ready;    // to be started at `now`
	struct queue outgoing; // sends to be taken at `now`
	tb_time_ps now;
	uint32_t n_posted;
	uint64_t n_done;
};

static void queue_push(struct tb_closed_loop *loop, struct queue *queue, uint32_t op)
{
	loop->next[op] = NONE;
	if (queue->first == NONE)
		queue->first = op;
	else
		loop->next[queue->last] = op;
	queue->last = op;
}

static uint32_t queue_pop(struct tb_closed_loop *loop, struct queue *queue)
{
	uint32_t op = queue->first;
	queue->first = loop->next[op];
	return op;
}

// queue_remove takes `op` out; its predecessor is `before`, NONE for the first.
static void queue_remove(
	struct queue *queue, uint32_t *next, uint32_t before, uint32_t op)
{
	if (before == NONE)
		queue->first = next[op];
	else
		next[before] = next[op];
	if (queue->last == op)
		queue->last = before;
}

static int timer_put(struct tb_closed_loop *loop, struct timer timer)
{
	if (loop->n_timers == loop->timers_room) {
		uint32_t room = loop->timers_room ? loop->timers_room * 2 : 256;
		void *moved = realloc(loop->timers, room * sizeof *loop->timers);
		if (!moved)
			return TB_ENOMEM;
		loop->timers = moved;
		loop->timers_room = room;
	}
	uint32_t i = loop->n_timers++;
	for (; i > 0; i = (i - 1) / 2) {
		const struct timer *above = &loop->timers[(i - 1) / 2];
		if (above->at < timer.at ||
			(above->at == timer.at && above->op < timer.op))
			break;
		loop->timers[i] = *above;
	}
	loop->timers[i] = timer;
	return TB_OK;
}

static bool sooner(struct timer a, struct timer b)
{
	return a.at < b.at || (a.at == b.at && a.op < b.op);
}

static struct timer timer_take(struct tb_closed_loop *loop)
{
	struct timer top = loop->timers[0];
	struct timer last = loop->timers[--loop->n_timers];
	uint32_t i = 0;
	for (;;) {
		uint32_t child = 2 * i + 1;
		if (child >= loop->n_timers)
			break;
		if (child + 1 < loop->n_timers &&
			sooner(loop->timers[child + 1], loop->timers[child]))
			child++;
		if (!sooner(loop->timers[child], last))
			break;
		loop->timers[i] = loop->timers[child];
		i = child;
	}
	loop->timers[i] = last;
	return top;
}

static void satisfy(struct tb_closed_loop *loop, uint32_t op)
{
	if (--loop->missing[op])
		return;
	loop->state[op] = READY;
	queue_push(loop, &loop->ready, op);
}

// release lets the operations go on that wait for the start, or the end, of `op`.
static void release(struct tb_closed_loop *loop, uint32_t op, bool started)
{
	const struct tb_job *job = loop->job;
	for (uint32_t i = job->first_successor[op]; i < job->first_successor[op + 1];
		i++) {
		uint32_t successor = job->successors[i];
		bool on_start = (successor & TB_DEP_START) != 0;
		if (on_start == started)
			satisfy(loop, successor & ~TB_DEP_START);
	}
}

static void set_started(struct tb_closed_loop *loop, uint32_t op)
{
	loop->state[op] = STARTED;
	release(loop, op, true);
}

static void set_done(struct tb_closed_loop *loop, uint32_t op)
{
	loop->state[op] = DONE;
	loop->n_done++;
	release(loop, op, false);
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
		queue_push(loop, &loop->outgoing, op);
		return TB_OK;
	}
	uint64_t most = (uint64_t)(TB_TIME_NEVER - loop->now) / 1000;
	if (what->amount >= most)
		return tb_fail_in(error, TB_EFORMAT, loop->job->name,
			"rank %" PRIu32 ": a calc of %" PRIu64
			" ns leads beyond the end of simulated time (106 days)",
			loop->rank_of[op], what->amount);
	cpu_of(loop, op)->busy = true;
	struct timer timer = {loop->now + (tb_time_ps)what->amount * TB_PS_PER_NS, op};
	if (timer_put(loop, timer) != TB_OK)
		return tb_fail(error, TB_ENOMEM, "no memory for the calcs that run");
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

static bool accepts(const struct tb_closed_loop *loop, uint32_t recv, uint32_t send)
{
	const struct tb_op *want = &loop->job->ops[recv];
	return (want->peer == TB_ANY || want->peer == loop->rank_of[send]) &&
	       (want->tag == TB_ANY || want->tag == loop->job->ops[send].tag);
}

static bool is_wild(const struct tb_op *op)
{
	return op->kind == TB_OP_RECV && (op->peer == TB_ANY || op->tag == TB_ANY);
}

// forget_arrival takes a message that was matched through a rank's arrivals out of its
// channel.
static void forget_arrival(struct tb_closed_loop *loop, uint32_t send)
{
	struct queue *arrived = &loop->channels[loop->channel[send]].arrived;
	// Messages of one channel are matched in their order, so it is the first.
	assert(arrived->first == send);
	queue_remove(arrived, loop->next, NONE, send);
}

// first_arrival takes the first unmatched message that a wildcard receive accepts.
static uint32_t first_arrival(struct tb_closed_loop *loop, uint32_t recv)
{
	struct queue *arrivals = &loop->ranks[loop->rank_of[recv]].arrivals;
	uint32_t before = NONE;
	for (uint32_t send = arrivals->first; send != NONE;) {
		uint32_t next = loop->arrival_next[send];
		bool gone = loop->channel[send] == NONE;
		if (gone || accepts(loop, recv, send)) {
			queue_remove(arrivals, loop->arrival_next, before, send);
			if (!gone) {
				forget_arrival(loop, send);
				return send;
			}
		} else {
			before = send;
		}
		send = next;
	}
	return NONE;
}

// post matches a ready receive with what has come already, or lets it wait.
static int post(struct tb_closed_loop *loop, uint32_t recv, struct tb_error *error)
{
	bool wild = is_wild(&loop->job->ops[recv]);
	struct rank *rank = &loop->ranks[loop->rank_of[recv]];
	uint32_t send = NONE;
	set_started(loop, recv);
	loop->posted_number[recv] = loop->n_posted++;
	if (wild) {
		send = first_arrival(loop, recv);
	} else if (loop->channels[loop->channel[recv]].arrived.first != NONE) {
		send = queue_pop(loop, &loop->channels[loop->channel[recv]].arrived);
		// It stays in the rank's arrivals as a mark without a channel.
		if (rank->uses_wild)
			loop->channel[send] = NONE;
	}
	if (send == NONE) {
		queue_push(loop,
			wild ? &rank->wild : &loop->channels[loop->channel[recv]].posted,
			recv);
		return TB_OK;
	}
	int status = check_size(loop, recv, send, error);
	if (status == TB_OK)
		set_done(loop, recv);
	return status;
}

// match finds the posted receive, earliest first, that takes a message.
static uint32_t match(struct tb_closed_loop *loop, uint32_t send)
{
	struct rank *rank = &loop->ranks[loop->job->ops[send].peer];
	struct queue *posted = &loop->channels[loop->channel[send]].posted;
	uint32_t before = NONE, wild = rank->wild.first;
	while (wild != NONE && !accepts(loop, wild, send)) {
		before = wild;
		wild = loop->next[wild];
	}
	bool exact = posted->first != NONE &&
		     (wild == NONE || loop->posted_number[posted->first] <
					      loop->posted_number[wild]);
	if (exact)
		return queue_pop(loop, posted);
	if (wild != NONE)
		queue_remove(&rank->wild, loop->next, before, wild);
	return wild;
}

static void keep_arrival(struct tb_closed_loop *loop, uint32_t send)
{
	struct rank *rank = &loop->ranks[loop->job->ops[send].peer];
	queue_push(loop, &loop->channels[loop->channel[send]].arrived, send);
	if (!rank->uses_wild)
		return;
	loop->arrival_next[send] = NONE;
	if (rank->arrivals.first == NONE)
		rank->arrivals.first = send;
	else
		loop->arrival_next[rank->arrivals.last] = send;
	rank->arrivals.last = send;
}

// settle starts all that is ready at `now`.
static int settle(struct tb_closed_loop *loop, struct tb_error *error)
{
	while (loop->ready.first != NONE) {
		uint32_t op = queue_pop(loop, &loop->ready);
		int status = TB_OK;
		if (loop->job->ops[op].kind == TB_OP_RECV)
			status = post(loop, op, error);
		else if (cpu_of(loop, op)->busy)
			queue_push(loop, &cpu_of(loop, op)->waiting, op);
		else
			status = start_on_cpu(loop, op, error);
		if (status != TB_OK)
			return status;
	}
	return TB_OK;
}

// end_calc frees the cpu for those that wait for it.
static int end_calc(struct tb_closed_loop *loop, uint32_t op, struct tb_error *error)
{
	struct cpu *cpu = cpu_of(loop, op);
	cpu->busy = false;
	set_done(loop, op);
	while (!cpu->busy && cpu->waiting.first != NONE) {
		int status = start_on_cpu(loop, queue_pop(loop, &cpu->waiting), error);
		if (status != TB_OK)
			return status;
	}
	return settle(loop, error);
}

static tb_time_ps when(void *context)
{
	const struct tb_closed_loop *loop = context;
	if (loop->outgoing.first != NONE || loop->ready.first != NONE)
		return loop->now;
	return loop->n_timers ? loop->timers[0].at : TB_TIME_NEVER;
}

static int take(
	void *context, tb_time_ps now, struct tb_message *message, struct tb_error *error)
{
	struct tb_closed_loop *loop = context;
	loop->now = now;
	int status = settle(loop, error);
	while (status == TB_OK && loop->n_timers && loop->timers[0].at <= now)
		status = end_calc(loop, timer_take(loop).op, error);
	if (status != TB_OK)
		return status;
	if (loop->outgoing.first == NONE)
		return 0;
	uint32_t op = queue_pop(loop, &loop->outgoing);
	const struct tb_op *send = &loop->job->ops[op];
	*message = (struct tb_message){.cookie = op,
		.source = {loop->node_of_rank[loop->rank_of[op]]},
		.destination = {loop->node_of_rank[send->peer]},
		.bytes = send->amount,
		.job = loop->number};
	return 1;
}

static int sent(void *context, tb_time_ps now, uint64_t cookie, struct tb_error *error)
{
	struct tb_closed_loop *loop = context;
	loop->now = now;
	set_done(loop, (uint32_t)cookie);
	return settle(loop, error);
}

static int delivered(
	void *context, tb_time_ps now, uint64_t cookie, struct tb_error *error)
{
	struct tb_closed_loop *loop = context;
	uint32_t send = (uint32_t)cookie;
	loop->now = now;
	uint32_t recv = match(loop, send);
	if (recv == NONE) {
		keep_arrival(loop, send);
		return TB_OK;
	}
	int status = check_size(loop, recv, send, error);
	if (status != TB_OK)
		return status;
	set_done(loop, recv);
	return settle(loop, error);
}

static void describe(
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

// stuck_receive finds a posted, unmatched receive of a rank; NONE when it has none.
static uint32_t stuck_receive(const struct tb_closed_loop *loop, uint32_t rank)
{
	for (uint32_t op = loop->job->first_op[rank]; op < loop->job->first_op[rank + 1];
		op++)
		if (loop->state[op] == STARTED && loop->job->ops[op].kind == TB_OP_RECV)
			return op;
	return NONE;
}

// finish names the receives that wait for each other, following each to the rank it waits
// for.
static int finish(void *context, struct tb_error *error)
{
	const struct tb_closed_loop *loop = context;
	if (loop->n_done == loop->job->n_ops)
		return TB_OK;
	uint32_t op = NONE;
	for (uint32_t rank = 0; rank < loop->job->n_ranks && op == NONE; rank++)
		op = stuck_receive(loop, rank);
	char text[400] = "";
	for (int n = 0; n < 3 && op != NONE; n++) {
		size_t used = strlen(text);
		char one[160];
		describe(loop, op, one, sizeof one);
		snprintf(text + used, sizeof text - used, "%s%s", n ? ", " : "", one);
		uint32_t peer = loop->job->ops[op].peer;
		op = peer == TB_ANY ? NONE : stuck_receive(loop, peer);
	}
	return tb_fail_in(error, TB_EDEADLOCK, loop->job->name,
		"deadlock: %" PRIu64 " of %" PRIu32 " operations can never run: %s",
		loop->job->n_ops - loop->n_done, loop->job->n_ops, text);
}

static int channel_of(struct tb_closed_loop *loop, struct tb_map *pairs,
	struct tb_map *tags, uint64_t to_and_from, uint32_t *n_pairs, uint32_t tag,
	uint32_t *channel)
{
	uint32_t pair = 0;
	if (!tb_map_find(pairs, to_and_from, &pair)) {
		pair = (*n_pairs)++;
		if (tb_map_put(pairs, to_and_from, pair) != TB_OK)
			return TB_ENOMEM;
	}
	uint64_t key = (uint64_t)pair << 32 | tag;
	if (tb_map_find(tags, key, channel))
		return TB_OK;
	if (loop->n_channels == loop->channels_room) {
		uint32_t room = loop->channels_room ? loop->channels_room * 2 : 256;
		void *moved = realloc(loop->channels, room * sizeof *loop->channels);
		if (!moved)
			return TB_ENOMEM;
		loop->channels = moved;
		loop->channels_room = room;
	}
	*channel = loop->n_channels++;
	loop->channels[*channel] = (struct channel){{NONE, NONE}, {NONE, NONE}};
	return tb_map_put(tags, key, *channel);
}

// number_channels gives every send and exact receive its channel before the replay, so
// that matching needs no search.
static int number_channels(struct tb_closed_loop *loop)
{
	const struct tb_job *job = loop->job;
	struct tb_map pairs = {0}, tags = {0};
	uint32_t n_pairs = 0;
	int status = TB_OK;
	for (uint32_t op = 0; op < job->n_ops && status == TB_OK; op++) {
		const struct tb_op *what = &job->ops[op];
		uint32_t rank = loop->rank_of[op];
		loop->channel[op] = NONE;
		if (is_wild(what))
			loop->ranks[rank].uses_wild = true;
		else if (what->kind == TB_OP_SEND)
			status = channel_of(loop, &pairs, &tags,
				(uint64_t)what->peer << 32 | rank, &n_pairs, what->tag,
				&loop->channel[op]);
		else if (what->kind == TB_OP_RECV)
			status = channel_of(loop, &pairs, &tags,
				(uint64_t)rank << 32 | what->peer, &n_pairs, what->tag,
				&loop->channel[op]);
	}
	tb_map_fini(&pairs);
	tb_map_fini(&tags);
	return status;
}

static int make(struct tb_closed_loop *loop, const uint32_t *node_of_rank)
{
	const struct tb_job *job = loop->job;
	size_t n_ops = (size_t)job->n_ops + 1;
	size_t n_cpus = (size_t)job->n_ranks * job->n_cpus;
	loop->node_of_rank = malloc((job->n_ranks + 1) * sizeof(uint32_t));
	loop->rank_of = malloc(n_ops * sizeof(uint32_t));
	loop->missing = malloc(n_ops * sizeof(uint32_t));
	loop->channel = malloc(n_ops * sizeof(uint32_t));
	loop->next = malloc(n_ops * sizeof(uint32_t));
	loop->arrival_next = malloc(n_ops * sizeof(uint32_t));
	loop->posted_number = malloc(n_ops * sizeof(uint32_t));
	loop->state = calloc(n_ops, 1);
	loop->ranks = malloc((job->n_ranks + 1) * sizeof *loop->ranks);
	loop->cpus = malloc((n_cpus + 1) * sizeof *loop->cpus);
	if (!loop->node_of_rank || !loop->rank_of || !loop->missing || !loop->channel ||
		!loop->next || !loop->arrival_next || !loop->posted_number ||
		!loop->state || !loop->ranks || !loop->cpus)
		return TB_ENOMEM;
	memcpy(loop->node_of_rank, node_of_rank, job->n_ranks * sizeof(uint32_t));
	memcpy(loop->missing, job->n_predecessors, job->n_ops * sizeof(uint32_t));
	for (uint32_t rank = 0; rank < job->n_ranks; rank++) {
		loop->ranks[rank] = (struct rank){{NONE, NONE}, {NONE, NONE}, false};
		for (uint32_t op = job->first_op[rank]; op < job->first_op[rank + 1];
			op++)
			loop->rank_of[op] = rank;
	}
	for (size_t i = 0; i < n_cpus; i++)
		loop->cpus[i] = (struct cpu){{NONE, NONE}, false};
	return number_channels(loop);
}

int tb_closed_loop_new(struct tb_closed_loop **loop, const struct tb_job *job,
	const uint32_t *node_of_rank, uint32_t number, struct tb_error *error)
{
	struct tb_closed_loop *made = calloc(1, sizeof *made);
	if (made) {
		made->job = job;
		made->number = number;
		made->ready = made->outgoing = (struct queue){NONE, NONE};
	}
	if (!made || make(made, node_of_rank) != TB_OK) {
		tb_closed_loop_free(made);
		return tb_fail_in(error, TB_ENOMEM, job->name,
			"no memory to replay %" PRIu32 " operations", job->n_ops);
	}
	for (uint32_t op = 0; op < job->n_ops; op++)
		if (made->missing[op] == 0) {
			made->state[op] = READY;
			queue_push(made, &made->ready, op);
		}
	*loop = made;
	return TB_OK;
}

void tb_closed_loop_free(struct tb_closed_loop *loop)
{
	if (!loop)
		return;
	free(loop->node_of_rank);
	free(loop->rank_of);
	free(loop->missing);
	free(loop->channel);
	free(loop->next);
	free(loop->arrival_next);
	free(loop->posted_number);
	free(loop->state);
	free(loop->channels);
	free(loop->ranks);
	free(loop->cpus);
	free(loop->timers);
	free(loop);
}

struct tb_source tb_closed_loop_source(struct tb_closed_loop *loop)
{
	return (struct tb_source){.context = loop,
		.when = when,
		.take = take,
		.sent = sent,
		.delivered = delivered,
		.finish = finish};
}

uint64_t tb_closed_loop_n_done(const struct tb_closed_loop *loop)
{
	return loop->n_done;
}
