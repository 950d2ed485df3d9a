#include "steps.h"

#include "array.h"
#include "bisect.h"
#include "order.h"

#include <stdlib.h>
#include <string.h>

void tb_otf2_steps_fini(struct tb_otf2_steps *of)
{
	free(of->steps);
	free(of->orders);
	free(of->pauses);
	*of = (struct tb_otf2_steps){0};
}

int tb_otf2_steps_add(struct tb_otf2_steps *of, const struct tb_call *call,
	uint32_t *index, struct tb_error *error)
{
	if (of->n_steps >= UINT32_MAX - 1)
		return tb_fail(error, TB_ECAPACITY, "a rank has more than %zu calls",
			of->n_steps);
	if (TB_ARRAY_RESERVE(&of->steps, &of->steps_room, of->n_steps + 1) != TB_OK)
		return tb_fail_memory(error, "the calls of a trace");
	of->steps[of->n_steps] =
		(struct tb_otf2_step){.call = *call, .until_ns = UINT64_MAX};
	*index = (uint32_t)of->n_steps++;
	return TB_OK;
}

int tb_otf2_steps_after(
	struct tb_otf2_steps *of, uint32_t waiting, uint32_t on, struct tb_error *error)
{
	if (TB_ARRAY_RESERVE(&of->orders, &of->orders_room, of->n_orders + 1) != TB_OK)
		return tb_fail_memory(error, "the calls of a trace");
	of->orders[of->n_orders++] = (struct tb_otf2_order){waiting, on};
	of->steps[on].has_ended = true;
	return TB_OK;
}

int tb_otf2_steps_pause(struct tb_otf2_steps *of, const struct tb_otf2_pause *pause,
	struct tb_error *error)
{
	struct tb_otf2_pause *last = of->n_pauses ? &of->pauses[of->n_pauses - 1] : NULL;
	// Polls without a call between them are one wait.
	if (last && last->lane == pause->lane && last->next == pause->next) {
		last->leave_ns = pause->leave_ns;
		return TB_OK;
	}
	if (TB_ARRAY_RESERVE(&of->pauses, &of->pauses_room, of->n_pauses + 1) != TB_OK)
		return tb_fail_memory(error, "the calls of a trace");
	of->pauses[of->n_pauses] = *pause;
	of->pauses[of->n_pauses++].joint = UINT32_MAX;
	return TB_OK;
}

// otf2_steps_join has step `on` end in a pause, which becomes a joint.
static int otf2_steps_join(
	struct tb_otf2_steps *of, size_t pause, uint32_t on, struct tb_error *error)
{
	struct tb_otf2_pause *in = &of->pauses[pause];
	if (in->joint != UINT32_MAX)
		return tb_otf2_steps_after(of, in->joint, on, error);
	struct tb_call call = {.kind = TB_CALL_JOINT,
		.calc_ns = in->calc_ns,
		.enter_ns = in->enter_ns,
		.leave_ns = in->leave_ns,
		.lane = in->lane};
	size_t n = of->n_steps; // of those that were read
	int status = tb_otf2_steps_add(of, &call, &in->joint, error);
	if (status != TB_OK)
		return status;
	// The computation before the pause was counted to the call after it.
	struct tb_otf2_step *next = in->next < n ? &of->steps[in->next] : NULL;
	if (next && next->call.lane == in->lane && next->call.calc_ns >= in->calc_ns &&
		next->call.enter_ns >= in->enter_ns)
		next->call.calc_ns -= in->calc_ns;
	return tb_otf2_steps_after(of, in->joint, on, error);
}

struct step_place {
	uint64_t enter_ns;
	uint32_t step;
};

TB_ORDER_BY(place_by_time, struct step_place, TB_UP(enter_ns) TB_UP(step))

TB_ORDER_BY(by_waiting, struct tb_otf2_order, TB_UP(waiting) TB_UP(on))

// steps_put_in_order returns the steps in the order in which they were entered, and
// stores how many are left.
static struct step_place *steps_put_in_order(const struct tb_otf2_steps *of, size_t *n)
{
	struct step_place *places = malloc((of->n_steps + 1) * sizeof *places);
	bool sorted = true;
	*n = 0;
	for (size_t i = 0; places && i < of->n_steps; i++) {
		if (of->steps[i].is_dropped)
			continue;
		places[*n] = (struct step_place){of->steps[i].call.enter_ns, (uint32_t)i};
		sorted = sorted &&
			 (*n == 0 || place_by_time(&places[*n - 1], &places[*n]) < 0);
		(*n)++;
	}
	if (places && !sorted)
		qsort(places, *n, sizeof *places, place_by_time);
	return places;
}

int tb_otf2_steps_give(struct tb_otf2_steps *of, struct tb_calls *calls, uint32_t rank,
	struct tb_error *error)
{
	size_t n;
	struct step_place *places = steps_put_in_order(of, &n);
	uint32_t *index_of = malloc((of->n_steps + 1) * sizeof *index_of);
	int status = places && index_of ? TB_OK
					: tb_fail_memory(error, "the calls of a trace");
	if (status == TB_OK) {
		// Replace the steps in the orders by the calls that they become. Orders
		// of dropped steps are removed, and those that contradict the order of
		// time.
		size_t kept = 0;
		bool sorted = true;
		for (size_t i = 0; i < n; i++)
			index_of[places[i].step] = (uint32_t)i;
		for (size_t i = 0; i < of->n_orders; i++) {
			struct tb_otf2_order order = of->orders[i];
			if (of->steps[order.waiting].is_dropped ||
				of->steps[order.on].is_dropped)
				continue;
			order = (struct tb_otf2_order){
				index_of[order.waiting], index_of[order.on]};
			if (order.on >= order.waiting)
				continue;
			sorted = sorted && (kept == 0 || of->orders[kept - 1].waiting <=
								 order.waiting);
			of->orders[kept++] = order;
		}
		of->n_orders = kept;
		if (!sorted)
			qsort(of->orders, kept, sizeof *of->orders, by_waiting);
		size_t order = 0;
		for (size_t i = 0; i < n; i++) {
			tb_calls_add(calls, rank, &of->steps[places[i].step].call);
			for (; order < of->n_orders && of->orders[order].waiting == i;
				order++)
				tb_calls_after(calls, rank, of->orders[order].on);
		}
	}
	free(places);
	free(index_of);
	tb_otf2_steps_fini(of);
	return status;
}

// Calls that are compared: some hundreds give a good median.
#define CALLS_MAX 1024

static bool is_common_end(const struct tb_otf2_step *step)
{
	const struct tb_call *call = &step->call;
	return call->kind == TB_CALL_COLLECTIVE && call->group == 0 && !call->starts &&
	       !step->is_dropped && step->until_ns != UINT64_MAX &&
	       (call->op == TB_COLL_BARRIER || call->op == TB_COLL_ALLREDUCE ||
		       call->op == TB_COLL_ALLGATHER || call->op == TB_COLL_ALLTOALL);
}

// ends_of stores when a rank left the first such calls, and returns how many they are.
static size_t ends_of(const struct tb_otf2_steps *of, uint64_t *ends)
{
	size_t n = 0;
	for (size_t i = 0; i < of->n_steps && n < CALLS_MAX; i++)
		if (is_common_end(&of->steps[i]))
			ends[n++] = of->steps[i].until_ns;
	return n;
}

// later_by returns by how much the ends in `b` are later than those in `a`.
static int64_t later_by(const uint64_t *a, const uint64_t *b, size_t n)
{
	int64_t differences[CALLS_MAX];
	for (size_t i = 0; i < n; i++)
		differences[i] = (int64_t)(b[i] - a[i]);
	qsort(differences, n, sizeof *differences, tb_order_i64);
	return differences[n / 2];
}

// clocks_compare fills in by how much each clock is ahead of the first rank's; false when
// the ranks cannot be compared.
static bool clocks_compare(
	const struct tb_otf2_unresolved *ranks, size_t n, int64_t *ahead)
{
	uint64_t first[CALLS_MAX], other[CALLS_MAX];
	size_t n_first = ends_of(&ranks[0].steps, first);
	if (n_first == 0)
		return false;
	for (size_t i = 0; i < n; i++) {
		size_t n_other = ends_of(&ranks[i].steps, other);
		bool is_cut = ranks[0].steps.is_cut || ranks[i].steps.is_cut;
		size_t n_both = n_other < n_first ? n_other : n_first;
		if (n_both == 0 || (n_other != n_first && !is_cut))
			return false;
		ahead[i] = later_by(first, other, n_both);
	}
	return true;
}

int tb_otf2_clocks_align(struct tb_otf2_unresolved *ranks, size_t n, uint64_t *apart_ns,
	struct tb_error *error)
{
	int64_t low = 0, high = 0;
	int64_t *ahead = calloc(n, sizeof *ahead);
	if (!ahead)
		return tb_fail_memory(error, "the ranks of a trace");
	*apart_ns = 0;
	if (clocks_compare(ranks, n, ahead)) {
		for (size_t i = 0; i < n; i++) {
			low = ahead[i] < low ? ahead[i] : low;
			high = ahead[i] > high ? ahead[i] : high;
		}
		for (size_t i = 0; i < n; i++) {
			struct tb_otf2_steps *of = &ranks[i].steps;
			uint64_t by_ns = (uint64_t)(high - ahead[i]);
			of->cut_ns += by_ns;
			for (size_t j = 0; j < of->n_steps; j++) {
				of->steps[j].call.enter_ns += by_ns;
				of->steps[j].call.leave_ns += by_ns;
				if (of->steps[j].until_ns != UINT64_MAX)
					of->steps[j].until_ns += by_ns;
			}
			for (size_t j = 0; j < of->n_pauses; j++) {
				of->pauses[j].enter_ns += by_ns;
				of->pauses[j].leave_ns += by_ns;
			}
		}
		*apart_ns = (uint64_t)(high - low);
	}
	free(ahead);
	return TB_OK;
}

// A message to a rank whose receives are looked for.
struct receive_candidate {
	uint64_t enter_ns, bytes;
	uint32_t from, to, group, tag;
	uint32_t order; // of its sender's calls
	uint32_t key;	// of those with equal from, to, group and tag
	uint32_t nth;	// of its key
	bool is_taken;
};

struct message_key {
	uint32_t n, n_needed, n_taken; // messages; those for receives that are known
	uint32_t from, to, group, tag;
};

struct receive_search {
	bool *is_wanted; // by rank
	struct receive_candidate *messages;
	size_t n_messages, messages_room;
	struct message_key *keys;
	size_t n_keys, keys_room;
};

static int send_keep(struct receive_search *of, uint32_t from, const struct tb_call *call,
	uint32_t order, struct tb_error *error)
{
	if (call->kind != TB_CALL_SEND || !of->is_wanted[call->peer])
		return TB_OK;
	if (TB_ARRAY_RESERVE(&of->messages, &of->messages_room, of->n_messages + 1) !=
			TB_OK ||
		of->n_messages >= UINT32_MAX)
		return tb_fail_memory(error, "the messages of a trace");
	of->messages[of->n_messages++] =
		(struct receive_candidate){.enter_ns = call->enter_ns,
			.bytes = call->bytes,
			.from = from,
			.to = call->peer,
			.group = call->group,
			.tag = call->tag,
			.order = order};
	return TB_OK;
}

TB_ORDER_BY(send_by_key, struct receive_candidate,
	TB_UP(to) TB_UP(from) TB_UP(group) TB_UP(tag) TB_UP(order))

TB_ORDER_BY(send_by_time, struct receive_candidate,
	TB_UP(to) TB_UP(enter_ns) TB_UP(from) TB_UP(order))

static bool same_key(const struct receive_candidate *a, const struct receive_candidate *b)
{
	return a->to == b->to && a->from == b->from && a->group == b->group &&
	       a->tag == b->tag;
}

// give_keys numbers the messages within their keys, and sorts them by time.
static int give_keys(struct receive_search *of, struct tb_error *error)
{
	qsort(of->messages, of->n_messages, sizeof *of->messages, send_by_key);
	for (size_t i = 0; i < of->n_messages; i++) {
		struct receive_candidate *at = &of->messages[i];
		if (i == 0 || !same_key(at - 1, at)) {
			if (TB_ARRAY_RESERVE(&of->keys, &of->keys_room, of->n_keys + 1) !=
				TB_OK)
				return tb_fail_memory(error, "the messages of a trace");
			of->keys[of->n_keys++] = (struct message_key){
				0, 0, 0, at->from, at->to, at->group, at->tag};
		}
		at->key = (uint32_t)(of->n_keys - 1);
		at->nth = of->keys[at->key].n++;
	}
	qsort(of->messages, of->n_messages, sizeof *of->messages, send_by_time);
	return TB_OK;
}

TB_ORDER_BY(message_key_order, struct message_key,
	TB_UP(to) TB_UP(from) TB_UP(group) TB_UP(tag))

// message_key_of finds the key of a receive that is known, or NULL.
static struct message_key *message_key_of(
	struct receive_search *of, uint32_t rank, const struct tb_call *call)
{
	struct message_key sought = {0, 0, 0, call->peer, rank, call->group, call->tag};
	return of->n_keys ? bsearch(&sought, of->keys, of->n_keys, sizeof sought,
				    message_key_order)
			  : NULL;
}

static bool is_receive(const struct tb_otf2_step *step)
{
	return step->call.kind == TB_CALL_RECV && !step->is_dropped;
}

// step_pause_ns returns the first pause of the step's lane, after the step, that ended no
// earlier than `sent_ns`, or n_pauses. The step may have ended in it. Lanes follow each
// other; times ascend within a lane.
static size_t step_pause_ns(
	const struct tb_otf2_steps *of, uint32_t step, uint64_t sent_ns, uint32_t lane)
{
	const struct tb_otf2_pause *pauses = of->pauses;
	size_t at;
	TB_BISECT(at, of->n_pauses,
		pauses[at].lane < lane ||
			(pauses[at].lane == lane &&
				(pauses[at].next <= step ||
					pauses[at].leave_ns < sent_ns)));
	return at < of->n_pauses && pauses[at].lane == lane ? at : of->n_pauses;
}

static int end_step(
	struct tb_otf2_steps *of, uint32_t step, uint64_t sent_ns, struct tb_error *error)
{
	size_t pause = step_pause_ns(of, step, sent_ns, of->steps[step].call.lane);
	return pause < of->n_pauses ? otf2_steps_join(of, pause, step, error) : TB_OK;
}

// A receive whose request was used again has got a message, also one that was sent later
// by clocks that agree to this only.
#define CLOCKS_AGREE_NS 1000000

static uint64_t latest(const struct tb_otf2_step *step)
{
	bool exact = step->is_cancelled || step->until_ns > UINT64_MAX - CLOCKS_AGREE_NS;
	return exact ? step->until_ns : step->until_ns + CLOCKS_AGREE_NS;
}

// The messages to one rank, by time.
struct inbox {
	struct receive_candidate *at, *end;
};

// pass_taken leaves behind what stands first and is taken, so that it is not looked at
// for each receive.
static void pass_taken(struct inbox *inbox)
{
	while (inbox->at < inbox->end && inbox->at->is_taken)
		inbox->at++;
}

// inbox_earliest returns the message that a receive gets, or NULL.
static struct receive_candidate *inbox_earliest(
	struct receive_search *of, struct inbox *inbox, uint64_t until_ns)
{
	pass_taken(inbox);
	for (struct receive_candidate *i = inbox->at;
		i < inbox->end && i->enter_ns <= until_ns; i++) {
		const struct message_key *key = &of->keys[i->key];
		if (!i->is_taken && i->nth == key->n_taken &&
			key->n - key->n_taken > key->n_needed)
			return i;
	}
	return NULL;
}

// inbox_take_known takes the message of a receive that is known.
static void inbox_take_known(
	struct receive_search *of, struct inbox *inbox, struct message_key *key)
{
	uint32_t place = (uint32_t)(key - of->keys);
	if (key->n_taken >= key->n || key->n_needed == 0)
		return;
	pass_taken(inbox);
	for (struct receive_candidate *i = inbox->at; i < inbox->end; i++) {
		if (i->key != place || i->nth != key->n_taken)
			continue;
		i->is_taken = true;
		break;
	}
	key->n_taken++;
	key->n_needed--;
}

static int find_of(struct receive_search *of, struct tb_otf2_unresolved *rank,
	struct inbox inbox, struct tb_otf2_found *found, struct tb_error *error)
{
	struct tb_otf2_steps *steps = &rank->steps;
	size_t n = steps->n_steps; // joints are added behind them
	int status = TB_OK;
	for (uint32_t i = 0; i < n && status == TB_OK; i++) {
		struct tb_otf2_step *step = &steps->steps[i];
		bool is_send = step->call.kind == TB_CALL_SEND && step->call.starts;
		if (is_send && !step->has_ended && !step->is_dropped)
			status = end_step(steps, i, step->call.enter_ns, error);
		if (!is_receive(step) || is_send)
			continue;
		if (!step->is_open) {
			struct message_key *key =
				message_key_of(of, rank->rank, &step->call);
			if (key)
				inbox_take_known(of, &inbox, key);
			continue;
		}
		struct receive_candidate *message =
			inbox_earliest(of, &inbox, latest(step));
		found->n_found += message != NULL;
		found->n_without += message == NULL;
		step->is_dropped = message == NULL;
		if (!message)
			continue;
		step->call.peer = message->from;
		step->call.group = message->group;
		step->call.tag = message->tag;
		step->call.bytes = message->bytes;
		step->is_open = false;
		message->is_taken = true;
		of->keys[message->key].n_taken++;
		status = end_step(steps, i, message->enter_ns, error);
	}
	return status;
}

static struct inbox inbox_of(const struct receive_search *of, uint32_t rank)
{
	size_t begin, end;
	TB_BISECT(begin, of->n_messages, of->messages[begin].to < rank);
	TB_BISECT(end, of->n_messages, of->messages[end].to <= rank);
	return (struct inbox){of->messages + begin, of->messages + end};
}

static int receives_find_all(struct receive_search *of, struct tb_otf2_unresolved *ranks,
	size_t n, const struct tb_calls *calls, struct tb_otf2_found *found,
	struct tb_error *error)
{
	for (size_t i = 0; i < n; i++)
		of->is_wanted[ranks[i].rank] = true;
	int status = TB_OK;
	for (uint32_t rank = 0; rank < tb_calls_n_ranks(calls); rank++) {
		uint32_t n_calls;
		const struct tb_call *at = tb_calls_of(calls, rank, &n_calls);
		for (uint32_t i = 0; i < n_calls && status == TB_OK; i++)
			status = send_keep(of, rank, &at[i], i, error);
	}
	for (size_t r = 0; r < n; r++) {
		const struct tb_otf2_steps *steps = &ranks[r].steps;
		for (size_t i = 0; i < steps->n_steps && status == TB_OK; i++)
			if (!steps->steps[i].is_dropped)
				status = send_keep(of, ranks[r].rank,
					&steps->steps[i].call, (uint32_t)i, error);
	}
	if (status == TB_OK && of->n_messages > 0)
		status = give_keys(of, error);
	for (size_t i = 0; i < n && status == TB_OK; i++) {
		const struct tb_otf2_unresolved *rank = &ranks[i];
		for (size_t j = 0; j < rank->steps.n_steps; j++) {
			const struct tb_otf2_step *step = &rank->steps.steps[j];
			struct message_key *key =
				is_receive(step) && !step->is_open
					? message_key_of(of, rank->rank, &step->call)
					: NULL;
			if (key && key->n_needed < key->n)
				key->n_needed++;
		}
		status =
			find_of(of, &ranks[i], inbox_of(of, ranks[i].rank), found, error);
	}
	return status;
}

uint64_t tb_otf2_receives_cut(struct tb_otf2_unresolved *ranks, size_t n)
{
	uint64_t cut_ns = UINT64_MAX, n_late = 0;
	for (size_t r = 0; r < n; r++)
		if (ranks[r].steps.is_cut && ranks[r].steps.cut_ns < cut_ns)
			cut_ns = ranks[r].steps.cut_ns;
	for (size_t r = 0; r < n; r++)
		for (size_t i = 0; i < ranks[r].steps.n_steps; i++) {
			struct tb_otf2_step *step = &ranks[r].steps.steps[i];
			if (step->is_dropped || step->call.enter_ns <= cut_ns)
				continue;
			step->is_dropped = true;
			n_late += step->call.kind != TB_CALL_JOINT;
		}
	return n_late;
}

int tb_otf2_receives_find(struct tb_otf2_unresolved *ranks, size_t n,
	const struct tb_calls *calls, struct tb_otf2_found *found, struct tb_error *error)
{
	struct receive_search of = {
		.is_wanted = calloc(tb_calls_n_ranks(calls), sizeof *of.is_wanted)};
	*found = (struct tb_otf2_found){0};
	int status = of.is_wanted ? receives_find_all(&of, ranks, n, calls, found, error)
				  : tb_fail_memory(error, "the messages of a trace");
	free(of.is_wanted);
	free(of.messages);
	free(of.keys);
	return status;
}
