// Expands a collective call once all members have come to it. Plans are kept: programs
// make the same call again and again.
#include "array.h"
#include "calls_lowering.h"
#include "composition.h"
#include "plan.h"
#include "units.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEPT_MAX 32
// Transfers of a plan that is kept: 32 plans take 100 MB at most.
#define KEPT_TRANSFERS_MAX ((size_t)1 << 17)

struct tb_kept_plan {
	struct tb_collective_call call; // without its arrays, of which there are copies:
	uint64_t *bytes;		// by member
	uint32_t *hosts;		// by member; NULL: none is known
	struct tb_plan plan;
	struct tb_expansion_rule rule;
};

// A call that is being expanded.
struct whole_call {
	struct tb_lowering *lowering;
	struct tb_collective_call call;
	struct tb_group members;
	const struct tb_instance *instance;
	uint32_t group;
	uint64_t *bytes;
	const uint64_t **sizes;
	uint32_t *hosts, *at;
	uint8_t *cpus;
	uint8_t algorithm; // its number
};

static bool whole_init(struct whole_call *w)
{
	uint32_t n = w->members.n;
	w->bytes = malloc(n * sizeof *w->bytes);
	w->at = malloc(n * sizeof *w->at);
	w->cpus = malloc(n * sizeof *w->cpus);
	w->sizes = calloc(n, sizeof *w->sizes);
	if (w->lowering->hosts)
		w->hosts = malloc(n * sizeof *w->hosts);
	return w->bytes && w->at && w->cpus && w->sizes &&
	       (w->hosts || !w->lowering->hosts);
}

static void whole_fini(struct whole_call *w)
{
	free(w->bytes);
	free(w->at);
	free(w->cpus);
	free(w->sizes);
	free(w->hosts);
}

static const struct tb_call *member_call(const struct whole_call *w, uint32_t member)
{
	return &w->lowering->ranks[w->members.members[member]]
			.calls[w->instance->arrivals[member].call];
}

static int fail_sizes(
	const struct whole_call *w, uint32_t member, uint32_t n, uint32_t of)
{
	const struct tb_call *call = member_call(w, member);
	return tb_fail(w->lowering->error, TB_EFORMAT,
		"rank %" PRIu32 " at %.6f s: its %s has sizes for %" PRIu32
		" members of %" PRIu32,
		w->members.members[member], (double)call->enter_ns / 1e9,
		tb_collective_op_name(call->op), n, of);
}

// whole_fill_call brings together what the members' calls say.
static int whole_fill_call(struct whole_call *w)
{
	const struct tb_lowering *l = w->lowering;
	uint32_t n = w->members.n, n_local = w->members.n_local;
	bool any_sizes = false;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t n_sizes = 0;
		const struct tb_call *call = member_call(w, i);
		uint32_t others = n_local == n ? n : i < n_local ? n - n_local : n_local;
		w->bytes[i] = call->bytes;
		w->at[i] = w->instance->arrivals[i].at;
		w->cpus[i] = tb_lane_cpu(call->lane);
		w->sizes[i] = tb_calls_sizes_of(l->calls, call, &n_sizes);
		if (w->sizes[i] && n_sizes != others)
			return fail_sizes(w, i, n_sizes, others);
		any_sizes = any_sizes || w->sizes[i];
		if (w->hosts)
			w->hosts[i] = l->hosts[w->members.members[i]];
	}
	w->call = (struct tb_collective_call){.op = w->instance->op,
		.n = n,
		.n_local = n_local,
		.root = w->instance->root,
		.bytes = w->bytes,
		.sizes = any_sizes ? w->sizes : NULL,
		.hosts = w->hosts,
		.node = l->reading->node,
		.observed = member_call(w, 0)->observed};
	return TB_OK;
}

static bool kept_plan_is_same(
	const struct tb_kept_plan *kept, const struct tb_collective_call *call)
{
	const struct tb_collective_call *of = &kept->call;
	return of->op == call->op && of->n == call->n && of->n_local == call->n_local &&
	       of->root == call->root && of->algorithm == call->algorithm &&
	       of->radix == call->radix && of->segment_bytes == call->segment_bytes &&
	       of->observed.n_channels == call->observed.n_channels &&
	       of->observed.tree == call->observed.tree && !kept->hosts == !call->hosts &&
	       memcmp(kept->bytes, call->bytes, call->n * sizeof *call->bytes) == 0 &&
	       (!call->hosts || memcmp(kept->hosts, call->hosts,
					call->n * sizeof *call->hosts) == 0);
}

static void free_kept(struct tb_kept_plan *kept)
{
	tb_plan_fini(&kept->plan);
	free(kept->bytes);
	free(kept->hosts);
	*kept = (struct tb_kept_plan){0};
}

void tb_lowering_free_kept(struct tb_lowering *l)
{
	for (size_t i = 0; i < l->n_kept; i++)
		free_kept(&l->kept[i]);
	free(l->kept);
}

// plan_keep takes over a plan, in place of the one that was kept first.
static bool plan_keep(struct tb_lowering *l, const struct tb_collective_call *call,
	struct tb_plan *plan, const struct tb_expansion_rule *rule)
{
	if (call->sizes || plan->n_transfers > KEPT_TRANSFERS_MAX)
		return false;
	if (!l->kept)
		l->kept = calloc(KEPT_MAX, sizeof *l->kept);
	struct tb_kept_plan made = {.call = *call, .plan = *plan, .rule = *rule};
	made.bytes = malloc(call->n * sizeof *made.bytes);
	made.hosts = call->hosts ? malloc(call->n * sizeof *made.hosts) : NULL;
	if (!l->kept || !made.bytes || (call->hosts && !made.hosts)) {
		free(made.bytes);
		free(made.hosts);
		return false;
	}
	memcpy(made.bytes, call->bytes, call->n * sizeof *made.bytes);
	if (call->hosts)
		memcpy(made.hosts, call->hosts, call->n * sizeof *made.hosts);
	struct tb_kept_plan *slot = &l->kept[l->kept_next];
	free_kept(slot);
	*slot = made;
	l->n_kept += l->n_kept < KEPT_MAX;
	l->kept_next = (l->kept_next + 1) % KEPT_MAX;
	return true;
}

// call_sizes_sum returns what a call sends in all, where it gives sizes by member; 0
// without.
static uint64_t call_sizes_sum(const struct tb_lowering *l, const struct tb_call *call)
{
	uint32_t n = 0;
	uint64_t bytes = 0;
	const uint64_t *sizes = tb_calls_sizes_of(l->calls, call, &n);
	for (uint32_t i = 0; i < n; i++)
		bytes = sizes[i] > UINT64_MAX - bytes ? UINT64_MAX : bytes + sizes[i];
	return bytes;
}

static uint8_t placing_algorithm(struct tb_lowering *lowering, const char *name);

// count_use counts the call under its rule, whose algorithm becomes the call's.
static void count_use(
	struct tb_lowering *l, struct whole_call *w, const struct tb_expansion_rule *rule)
{
	struct tb_rule_use one = {
		.rule = *rule, .op = w->call.op, .n = w->call.n, .n_calls = 1};
	// Set the range of bytes that the notes report for the call: the largest
	// `bytes` of a member or, where members give sizes, the least and the most that
	// one sends.
	one.by_sizes = w->call.sizes &&
		       (w->call.op == TB_COLL_ALLTOALL || w->call.op == TB_COLL_EXCHANGE);
	one.least_bytes = UINT64_MAX;
	for (uint32_t i = 0; i < w->call.n; i++) {
		uint64_t bytes =
			one.by_sizes ? call_sizes_sum(l, member_call(w, i)) : w->bytes[i];
		one.least_bytes = bytes < one.least_bytes ? bytes : one.least_bytes;
		one.most_bytes = bytes > one.most_bytes ? bytes : one.most_bytes;
	}
	if (!one.by_sizes)
		one.least_bytes = one.most_bytes;
	w->algorithm = placing_algorithm(l, rule->algorithm);
	for (size_t i = 0; i < l->n_uses; i++) {
		struct tb_rule_use *use = &l->uses[i];
		if (use->op != one.op || use->n != one.n ||
			use->by_sizes != one.by_sizes ||
			strcmp(use->rule.algorithm, rule->algorithm) != 0 ||
			strcmp(use->rule.reason, rule->reason) != 0)
			continue;
		if (one.least_bytes < use->least_bytes)
			use->least_bytes = one.least_bytes;
		if (one.most_bytes > use->most_bytes)
			use->most_bytes = one.most_bytes;
		use->n_calls++;
		return;
	}
	if (TB_ARRAY_RESERVE(&l->uses, &l->uses_room, l->n_uses + 1) == TB_OK)
		l->uses[l->n_uses++] = one;
	else
		tb_lowering_fail(l, TB_ENOMEM);
}

// place_plan adds the plan's operations behind what the members have done so far.
static int place_plan(struct whole_call *w, const struct tb_plan *plan)
{
	struct tb_lowering *l = w->lowering;
	struct tb_plan_place place = {.ranks = w->members.members,
		.at = w->at,
		.tag = l->next_tag,
		.work = l->reading->work,
		.eager_bytes = l->eager_bytes,
		.hosts = w->hosts,
		.cpus = w->cpus,
		.skews = l->skews};
	uint64_t n_tags = tb_plan_append_tags(plan, &place);
	if (n_tags >= INT32_MAX)
		return tb_fail(l->error, TB_ECAPACITY,
			"a %s of %" PRIu32 " ranks has too many rounds",
			tb_collective_op_name(w->call.op), w->call.n);
	// When all tags have been used, begin again: calls so far apart cannot meet.
	if (l->next_tag > UINT32_MAX - 1 - (uint32_t)n_tags)
		place.tag = l->next_tag = l->first_tag;
	l->next_tag += (uint32_t)n_tags;
	return tb_plan_append(l->builder, plan, &place, l->error);
}

// expand_one expands a call, or a part of one, by an algorithm, and states the rule.
static int expand_one(struct whole_call *w, struct tb_expansion_rule *rule)
{
	struct tb_lowering *l = w->lowering;
	struct tb_plan made = {0};
	for (size_t i = 0; i < l->n_kept && !w->call.sizes; i++) {
		struct tb_kept_plan *kept = &l->kept[i];
		if (!kept_plan_is_same(kept, &w->call))
			continue;
		*rule = kept->rule;
		return place_plan(w, &kept->plan);
	}
	int status = tb_library_expand(
		l->library, &l->choices, &w->call, &made, rule, l->error);
	if (status != TB_OK)
		return status;
	status = place_plan(w, &made);
	if (!plan_keep(l, &w->call, &made, rule))
		tb_plan_fini(&made);
	return status;
}

// member_arrives lets a member go on behind `at`. Where it came `from` there to several
// parts at once, it goes on behind all of them.
static void member_arrives(
	struct whole_call *w, uint32_t member, uint32_t from, uint32_t at)
{
	struct tb_job_builder *builder = w->lowering->builder;
	const struct tb_op meet = {.kind = TB_OP_CALC, .cpu = w->cpus[member]};
	uint32_t rank = w->members.members[member], before = w->at[member];
	if (at == from)
		return;
	w->at[member] = at;
	if (before == from)
		return;
	w->at[member] = tb_job_add(builder, rank, &meet);
	tb_job_depend(builder, rank, w->at[member], before, false);
	tb_job_depend(builder, rank, w->at[member], at, false);
}

// expand_parts expands a composed call. Its rule names the leaders' algorithm.
static int expand_parts(struct whole_call *w, const struct tb_composition *composition)
{
	struct tb_expansion_rule rule = {.algorithm = "by host"}, one;
	char text[32];
	size_t bytes = w->members.n * sizeof *w->at;
	uint32_t *from = malloc(bytes);
	int status = from ? TB_OK : TB_ENOMEM;
	snprintf(rule.reason, sizeof rule.reason, "%s, on %s", composition->name,
		tb_format_counted(composition->n_hosts, "host", text, sizeof text));
	for (size_t i = 0; i < composition->n && status == TB_OK; i++) {
		const struct tb_call_part *part = &composition->parts[i];
		if (!part->beside)
			memcpy(from, w->at, bytes);
		// Expand a part of a composed call: the part's members go on `from` where
		// they are. Within it each is taken to be on a host of its own, as the
		// library does.
		uint32_t *ranks = malloc(part->n * sizeof *ranks);
		struct whole_call of = {.lowering = w->lowering,
			.members = {ranks, part->n, part->n},
			.instance = w->instance,
			.group = w->group};
		status = ranks && whole_init(&of) ? TB_OK : TB_ENOMEM;
		for (uint32_t j = 0; j < part->n && status == TB_OK; j++) {
			uint32_t member = part->members[j];
			ranks[j] = w->members.members[member];
			of.bytes[j] = part->bytes;
			of.at[j] = from[member];
			of.cpus[j] = w->cpus[member];
			of.hosts[j] = w->hosts[member];
		}
		of.call = (struct tb_collective_call){.op = part->op,
			.n = part->n,
			.n_local = part->n,
			.root = part->root,
			.bytes = of.bytes,
			.algorithm = part->algorithm,
			.radix = part->radix,
			.segment_bytes = part->segment_bytes};
		if (status == TB_OK)
			status = expand_one(&of, &one);
		for (uint32_t j = 0; j < part->n && status == TB_OK; j++)
			member_arrives(
				w, part->members[j], from[part->members[j]], of.at[j]);
		whole_fini(&of);
		free(ranks);
		bool across = w->hosts[part->members[0]] != w->hosts[part->members[1]];
		if (across && !part->algorithm && part->op == w->call.op)
			snprintf(rule.reason, sizeof rule.reason, "%s, %s among %s",
				composition->name, one.algorithm,
				tb_format_counted(part->n, "host", text, sizeof text));
	}
	free(from);
	if (status == TB_OK)
		count_use(w->lowering, w, &rule);
	return status;
}

static int whole_expand(struct whole_call *w)
{
	struct tb_lowering *l = w->lowering;
	struct tb_composition composition;
	struct tb_expansion_rule rule;
	int status = tb_library_compose(
		l->library, &l->choices, &w->call, &composition, l->error);
	if (status != TB_OK)
		return status;
	if (composition.n)
		status = expand_parts(w, &composition);
	else if ((status = expand_one(w, &rule)) == TB_OK)
		count_use(l, w, &rule);
	tb_composition_fini(&composition);
	return status;
}

// lowering_arrive: a member arrives at a collective call; the last one expands it.
static void lowering_arrive(struct tb_lowering *l, struct tb_instance *instance,
	uint32_t group, uint32_t place, struct tb_arrival arrival)
{
	struct whole_call whole = {.lowering = l,
		.members = tb_calls_members(l->calls, group),
		.instance = instance,
		.group = group};
	if (!instance->arrivals)
		instance->arrivals = malloc(whole.members.n * sizeof *instance->arrivals);
	if (!instance->arrivals) {
		tb_lowering_fail(l, TB_ENOMEM);
		return;
	}
	instance->arrivals[place] = arrival;
	if (++instance->n_arrived < whole.members.n)
		return;
	int status = whole_init(&whole) ? whole_fill_call(&whole) : TB_ENOMEM;
	if (status == TB_OK)
		status = whole_expand(&whole);
	tb_lowering_fail(l, status);
	for (uint32_t i = 0; i < whole.members.n && status == TB_OK; i++) {
		uint32_t rank = whole.members.members[i];
		uint32_t index = whole.instance->arrivals[i].call;
		l->ranks[rank].algorithms[index] = whole.algorithm;
		tb_lowering_done(l, rank, index, whole.at[i]);
	}
	whole_fini(&whole);
	free(instance->arrivals);
	instance->arrivals = NULL;
}

// Which operations of the job calls last from and to.

// placing_algorithm returns the number of an algorithm, a constant; 0 when there are
// too many.
static uint8_t placing_algorithm(struct tb_lowering *l, const char *name)
{
	uint32_t i = 1;
	while (i < TB_PLACED_ALGORITHMS && l->algorithms[i] &&
		strcmp(l->algorithms[i], name) != 0)
		i++;
	if (i == TB_PLACED_ALGORITHMS)
		return 0;
	l->algorithms[i] = name;
	return (uint8_t)i;
}

// calls_place returns whether a call lasts, and stores from where to where. What is left
// out has no edge.
static bool calls_place(
	struct tb_lowering *l, uint32_t r, uint32_t i, struct tb_placed_call *placed)
{
	const struct tb_lowered_rank *rank = &l->ranks[r];
	const struct tb_call *call = &rank->calls[i];
	bool is_collective = call->kind == TB_CALL_COLLECTIVE;
	*placed = (struct tb_placed_call){
		.bytes = call->sizes ? call_sizes_sum(l, call) : call->bytes,
		.enter = rank->timed[i].enter,
		.leave = is_collective ? rank->edges[i] : rank->timed[i].leave,
		.kind = tb_timed_kind(call),
		.algorithm = is_collective ? rank->algorithms[i] : 0,
		.n_members = is_collective && !call->sizes
				     ? tb_calls_members(l->calls, call->group).n
				     : 0};
	if (is_collective)
		tb_lowering_meet(l, r, call, placed);
	return placed->enter != TB_AT_NO_TIME && placed->leave != TB_AT_NO_TIME &&
	       placed->leave != TB_AT_BEGINNING && placed->enter != placed->leave;
}

// front_edge returns what a joined front waits for.
static uint32_t front_edge(const struct tb_lowering *l)
{
	return l->n_front ? l->front[0] : TB_NO_OP;
}

static int place_rank(
	struct tb_lowering *l, struct tb_placed_calls *placed, uint32_t r, size_t *room)
{
	size_t n = placed->first[r];
	for (uint32_t i = 0; i < l->ranks[r].n; i++) {
		if (TB_ARRAY_RESERVE(&placed->calls, room, n + 1) != TB_OK)
			return TB_ENOMEM;
		n += calls_place(l, r, i, &placed->calls[n]);
	}
	placed->first[r + 1] = n;
	return TB_OK;
}

int tb_placing_take(struct tb_lowering *l, struct tb_placed_calls **placed)
{
	size_t room = 0;
	if (!l->ranks[0].timed)
		return TB_OK;
	struct tb_placed_calls *made = calloc(1, sizeof *made);
	if (!made)
		return TB_ENOMEM;
	made->n_ranks = l->n_ranks;
	made->n_meetings = tb_lowering_meetings(l);
	memcpy(made->algorithms, l->algorithms, sizeof made->algorithms);
	made->first = calloc(l->n_ranks + 1u, sizeof *made->first);
	int status = made->first ? TB_OK : TB_ENOMEM;
	for (uint32_t r = 0; r < l->n_ranks && status == TB_OK; r++)
		status = place_rank(l, made, r, &room);
	if (status == TB_OK && made->first[l->n_ranks] > 0)
		*placed = made;
	else
		tb_placed_calls_free(made);
	return status;
}

void tb_placing_number(struct tb_placed_calls *placed, const struct tb_job *job)
{
	for (uint32_t r = 0; r < placed->n_ranks; r++)
		for (size_t i = placed->first[r]; i < placed->first[r + 1]; i++) {
			struct tb_placed_call *call = &placed->calls[i];
			call->leave += job->first_op[r];
			if (call->enter != TB_AT_BEGINNING)
				call->enter += job->first_op[r];
		}
}

// The operations of a call, and what they wait for.

// A call, and where it stands.
struct lowered_call {
	struct tb_lowering *lowering;
	const struct tb_call *call;
	uint32_t rank;
	uint8_t cpu;
};

// The front.
static void front_put(struct tb_lowering *l, uint32_t edge)
{
	if (edge == TB_NO_OP)
		return;
	if (TB_ARRAY_RESERVE(&l->front, &l->front_room, l->n_front + 1) == TB_OK)
		l->front[l->n_front++] = edge;
	else
		tb_lowering_fail(l, TB_ENOMEM);
}

void tb_front_set(struct tb_lowering *l, uint32_t edge)
{
	l->n_front = edge != TB_NO_OP;
	if (l->n_front)
		l->front[0] = edge;
}

static void lowered_depend(const struct lowered_call *h, uint32_t op, uint32_t edge)
{
	tb_job_depend(h->lowering->builder, h->rank, op, edge & ~TB_DEP_START,
		(edge & TB_DEP_START) != 0);
}

// lowered_add adds an operation that waits for the front.
static uint32_t lowered_add(const struct lowered_call *h, struct tb_op what)
{
	struct tb_lowering *l = h->lowering;
	what.cpu = h->cpu;
	uint32_t op = tb_job_add(l->builder, h->rank, &what);
	for (size_t i = 0; i < l->n_front; i++)
		lowered_depend(h, op, l->front[i]);
	return op;
}

static void lowered_add_calc(const struct lowered_call *h, uint64_t ns)
{
	tb_front_set(h->lowering,
		lowered_add(h, (struct tb_op){.kind = TB_OP_CALC, .amount = ns}));
}

void tb_front_join(struct tb_lowering *l, uint32_t rank, uint32_t lane, bool end)
{
	const struct lowered_call here = {
		.lowering = l, .rank = rank, .cpu = tb_lane_cpu(lane)};
	bool one = l->n_front == 0 ||
		   (l->n_front == 1 && !(end && l->front[0] & TB_DEP_START));
	if (!one)
		lowered_add_calc(&here, 0);
}

static struct tb_op lowered_message(const struct lowered_call *h, enum tb_op_kind kind,
	uint64_t bytes, enum tb_message_part part)
{
	return (struct tb_op){.kind = (uint8_t)kind,
		.amount = bytes,
		.peer = h->call->peer,
		.tag = tb_lowering_tag(h->lowering, h->call, part)};
}

static bool on_one_host(const struct tb_lowering *l, uint32_t a, uint32_t b)
{
	return a == b || (l->hosts && l->hosts[a] == l->hosts[b]);
}

// add_behind adds what the front does not hold up, but `on`.
static uint32_t add_behind(const struct lowered_call *h, struct tb_op what, uint32_t on)
{
	what.cpu = h->cpu;
	uint32_t op = tb_job_add(h->lowering->builder, h->rank, &what);
	lowered_depend(h, op, on);
	return op;
}

// lowered_add_send returns the edge on which the send is complete: a message that is sent
// without asking is buffered, and complete once it was handed over, or written into a
// socket.
static uint32_t lowered_add_send(const struct lowered_call *h, bool asks)
{
	uint64_t bytes = h->call->bytes;
	if (!asks) {
		uint32_t op = lowered_add(
			h, lowered_message(h, TB_OP_SEND, bytes, TB_PART_EAGER));
		bool waits = h->lowering->reading->sends_wait &&
			     !on_one_host(h->lowering, h->rank, h->call->peer);
		return waits ? op : op | TB_DEP_START;
	}
	lowered_add(h, lowered_message(h, TB_OP_SEND, 0, TB_PART_ASK));
	uint32_t answer =
		lowered_add(h, lowered_message(h, TB_OP_RECV, 0, TB_PART_ANSWER));
	return add_behind(h, lowered_message(h, TB_OP_SEND, bytes, TB_PART_DATA), answer);
}

static uint32_t add_recv(const struct lowered_call *h, uint64_t bytes, bool asks)
{
	if (!asks)
		return lowered_add(
			h, lowered_message(h, TB_OP_RECV, bytes, TB_PART_EAGER));
	uint32_t ask = lowered_add(h, lowered_message(h, TB_OP_RECV, 0, TB_PART_ASK));
	add_behind(h, lowered_message(h, TB_OP_SEND, 0, TB_PART_ANSWER), ask);
	return lowered_add(h, lowered_message(h, TB_OP_RECV, bytes, TB_PART_DATA));
}

// lowered_leave_out passes over a call that is not in the job.
static void lowered_leave_out(const struct lowered_call *h, uint32_t index)
{
	tb_lowering_done(h->lowering, h->rank, index, TB_NO_OP);
	tb_timing_leave_at(h->lowering, h->rank, index, TB_AT_NO_TIME);
}

static void lowered_add_message(
	const struct lowered_call *h, uint32_t index, uint32_t partner)
{
	struct tb_lowering *l = h->lowering;
	bool is_send = h->call->kind == TB_CALL_SEND;
	uint64_t bytes =
		is_send ? h->call->bytes : l->ranks[h->call->peer].calls[partner].bytes;
	bool asks = bytes > l->eager_bytes && !on_one_host(l, h->rank, h->call->peer);
	// A call that only starts leaves its front to the next call, so join it to one
	// edge here rather than repeat its edges.
	if (h->call->starts)
		tb_front_join(l, h->rank, h->call->lane, false);
	uint32_t edge = is_send ? lowered_add_send(h, asks) : add_recv(h, bytes, asks);
	if (!h->call->starts) {
		tb_front_set(l, edge);
		tb_timing_leave_at(l, h->rank, index, edge);
	}
	tb_lowering_done(l, h->rank, index, edge);
}

static void lowered_add_collective(
	const struct lowered_call *h, uint32_t index, bool *held)
{
	struct tb_lowering *l = h->lowering;
	uint32_t place;
	struct tb_instance *instance = tb_lowering_instance(l, h->rank, index, &place);
	if (instance->dropped) {
		lowered_leave_out(h, index);
		return;
	}
	tb_front_join(l, h->rank, h->call->lane, true);
	tb_timing_arrive(l, h->rank, index);
	*held = !h->call->starts;
	lowering_arrive(l, instance, h->call->group, place,
		(struct tb_arrival){index, front_edge(l)});
}

// lowered_add_joint adds a joint. Calls that come after it wait for one edge, so where
// there are such calls its front is joined.
static void lowered_add_joint(const struct lowered_call *h, uint32_t index)
{
	struct tb_lowering *l = h->lowering;
	if (tb_bit(l->ranks[h->rank].awaited, index))
		tb_front_join(l, h->rank, h->call->lane, false);
	uint32_t edge = l->n_front == 1 ? l->front[0] : TB_NO_OP;
	tb_timing_leave(l, h->rank, index);
	tb_lowering_done(l, h->rank, index, edge);
}

// lowered_wait_for puts what the call comes after into the front. If a call of its lane
// that itself waits for the front is among them, the front itself need not stay there.
static void lowered_wait_for(
	const struct lowered_call *h, uint32_t index, struct tb_call_lane *lane)
{
	struct tb_lowering *l = h->lowering;
	const struct tb_lowered_rank *rank = &l->ranks[h->rank];
	uint32_t n = 0;
	const uint32_t *on = tb_calls_befores(l->calls, h->rank, index, &n);
	bool implied = false;
	for (uint32_t i = 0; i < n && !implied; i++)
		implied = on[i] >= lane->since && rank->edges[on[i]] != TB_NO_OP &&
			  rank->calls[on[i]].lane == h->call->lane &&
			  rank->calls[on[i]].starts;
	if (implied)
		tb_front_set(l, TB_NO_OP);
	for (uint32_t i = 0; i < n; i++)
		front_put(l, rank->edges[on[i]]);
	if (n)
		lane->since = index;
}

static void lowered_compute(
	const struct lowered_call *h, uint32_t index, struct tb_call_lane *lane)
{
	struct tb_lowering *l = h->lowering;
	uint64_t ns = h->call->calc_ns + lane->calc_ns;
	lane->calc_ns = 0;
	if (h->call->bytes > l->eager_bytes / 2 && h->call->kind != TB_CALL_JOINT) {
		l->n_long++;
		ns += l->skews ? tb_skew_ns(h->rank, h->call->bytes) : 0;
	}
	if (ns) {
		lane->since = index;
		lowered_add_calc(h, ns);
	}
	tb_timing_settle(l, h->rank, h->call->lane, ns > 0);
}

// is_pause: a call that only computes, for which nobody waits, computes with the next one
// of its lane.
static bool is_pause(const struct lowered_call *h, uint32_t index, bool last)
{
	uint32_t n = 0;
	(void)tb_calls_befores(h->lowering->calls, h->rank, index, &n);
	return h->call->kind == TB_CALL_JOINT && n == 0 && !last &&
	       !tb_bit(h->lowering->ranks[h->rank].awaited, index);
}

// Turns: a server that receives from any source and answers handles what came first.
// From one such receive to the next, calls are a turn of the peer that sent, which waits
// for its turn before and for what the lane did before the first of the turns, not for
// the turns of others: these come as their messages do, and only take turns on the lane's
// processor. A turn has computation, messages of its peer, and waiting; anything else
// waits for all turns.

// turn_peer returns whose turn begins with a call: of a blocking receive from any source,
// or one that waits for such a receive. TB_NO_OP: nobody's.
static uint32_t turn_peer(const struct lowered_call *h, uint32_t index)
{
	const struct tb_lowered_rank *rank = &h->lowering->ranks[h->rank];
	uint32_t n = 0;
	const uint32_t *on = tb_calls_befores(h->lowering->calls, h->rank, index, &n);
	if (h->call->kind == TB_CALL_RECV && !h->call->starts)
		return tb_bit(rank->any, index) ? h->call->peer : TB_NO_OP;
	uint32_t peer = TB_NO_OP, n_any = 0;
	for (uint32_t i = 0; h->call->kind == TB_CALL_JOINT && i < n; i++)
		if (tb_bit(rank->any, on[i])) {
			peer = rank->calls[on[i]].peer;
			n_any++;
		}
	return n_any == 1 ? peer : TB_NO_OP;
}

// is_of_turn returns whether a call belongs to the turn that its lane is at.
static bool is_of_turn(
	const struct lowered_call *h, const struct tb_call_lane *lane, uint32_t index)
{
	const struct tb_call *call = h->call;
	return call->kind == TB_CALL_JOINT ||
	       tb_bit(h->lowering->ranks[h->rank].any, index) ||
	       ((call->kind == TB_CALL_SEND || call->kind == TB_CALL_RECV) &&
		       call->peer == lane->turn_of);
}

// end_turn keeps where the lane is done with a peer.
static void end_turn(const struct lowered_call *h, struct tb_call_lane *lane)
{
	struct tb_lowering *l = h->lowering;
	uint32_t at = (uint32_t)lane->n_done;
	tb_front_join(l, h->rank, h->call->lane, false);
	if (!tb_map_find(&lane->turns, lane->turn_of, &at)) {
		if (TB_ARRAY_RESERVE(&lane->done, &lane->done_room, lane->n_done + 1) !=
				TB_OK ||
			tb_map_put(&lane->turns, lane->turn_of, at) != TB_OK) {
			tb_lowering_fail(l, TB_ENOMEM);
			return;
		}
		lane->n_done++;
	}
	lane->done[at] = (struct tb_turn){lane->turn_of, front_edge(l)};
}

// front_for_turn makes the front what a peer's next turn waits for.
static void front_for_turn(
	struct tb_lowering *l, const struct tb_call_lane *lane, uint32_t peer)
{
	uint32_t at;
	tb_front_set(l, lane->turns_from);
	if (tb_map_find(&lane->turns, peer, &at) &&
		lane->done[at].edge != lane->turns_from)
		front_put(l, lane->done[at].edge);
}

// end_turns has the front wait for all turns.
static void end_turns(const struct lowered_call *h, struct tb_call_lane *lane)
{
	end_turn(h, lane);
	tb_front_set(h->lowering, TB_NO_OP);
	for (size_t i = 0; i < lane->n_done; i++)
		front_put(h->lowering, lane->done[i].edge);
	tb_map_fini(&lane->turns);
	lane->turns = (struct tb_map){0};
	lane->n_done = 0;
	lane->takes_turns = false;
}

void tb_lane_turns_fini(struct tb_call_lane *lane)
{
	tb_map_fini(&lane->turns);
	free(lane->done);
}

// begin_turn has a call begin the turn of a peer.
static void begin_turn(const struct lowered_call *h, struct tb_call_lane *lane,
	uint32_t index, uint32_t peer)
{
	struct tb_lowering *l = h->lowering;
	if (lane->takes_turns) {
		end_turn(h, lane);
	} else {
		tb_front_join(l, h->rank, h->call->lane, false);
		lane->turns_from = front_edge(l);
	}
	lane->takes_turns = true;
	lane->turn_of = peer;
	lane->since = index;
	front_for_turn(l, lane, peer);
}

// add_early adds a receive from any source that only starts, in another's turn: it is
// posted for the turn of its own peer.
static void add_early(const struct lowered_call *h, const struct tb_call_lane *lane,
	uint32_t index, uint32_t partner)
{
	struct tb_lowering *l = h->lowering;
	tb_front_join(l, h->rank, h->call->lane, false);
	uint32_t edge = front_edge(l);
	front_for_turn(l, lane, h->call->peer);
	lowered_add_message(h, index, partner);
	tb_front_set(l, edge);
}

void tb_lowering_add(struct tb_lowering *l, uint32_t rank, uint32_t index, bool *held)
{
	const struct tb_call *call = &l->ranks[rank].calls[index];
	struct tb_call_lane *lane = &l->ranks[rank].lanes[call->lane];
	const struct lowered_call here = {l, call, rank, tb_lane_cpu(call->lane)};
	if (is_pause(&here, index, lane->next >= l->ranks[rank].n)) {
		lane->calc_ns += call->calc_ns;
		lane->begun = true;
		tb_lowering_done(l, rank, index, TB_NO_OP);
		return;
	}
	// Add what is before a call: computation, and what it comes after. A lane's
	// first call computes when that is complete. A joint is entered before, any other
	// call after it.
	bool is_first = !lane->begun, is_joint = call->kind == TB_CALL_JOINT;
	uint32_t peer = turn_peer(&here, index);
	if (lane->takes_turns && peer == TB_NO_OP && !is_of_turn(&here, lane, index))
		end_turns(&here, lane);
	if (is_first)
		lowered_wait_for(&here, index, lane);
	else
		lowered_compute(&here, index, lane);
	lane->begun = true;
	if (peer != TB_NO_OP)
		begin_turn(&here, lane, index, peer);
	if (!is_first && is_joint)
		tb_timing_enter(l, rank, index);
	if (is_first)
		lowered_compute(&here, index, lane);
	else
		lowered_wait_for(&here, index, lane);
	if (is_first || !is_joint)
		tb_timing_enter(l, rank, index);
	if (!call->starts && !is_joint)
		lane->since = index + 1;
	uint32_t partner = l->ranks[rank].edges[index];
	if (is_joint)
		lowered_add_joint(&here, index);
	else if (call->kind == TB_CALL_COLLECTIVE)
		lowered_add_collective(&here, index, held);
	else if (partner == TB_NO_OP)
		lowered_leave_out(&here, index);
	else if (lane->takes_turns && tb_bit(l->ranks[rank].any, index) && call->starts)
		add_early(&here, lane, index, partner);
	else {
		lowered_add_message(&here, index, partner);
		// How long it waited for its turn is no time of the call.
		if (peer != TB_NO_OP)
			tb_timing_leave_at(l, rank, index, TB_AT_NO_TIME);
	}
}
