#include "steps.h"

#include "array.h"

#include <stdlib.h>
#include <string.h>

static int steps_no_memory(struct tb_error *error)
{
	return tb_fail_memory(error, "the calls of a trace");
}

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
		return steps_no_memory(error);
	of->steps[of->n_steps] =
		(struct tb_otf2_step){.call = *call, .until_ns = UINT64_MAX};
	*index = (uint32_t)of->n_steps++;
	return TB_OK;
}

int tb_otf2_steps_after(
	struct tb_otf2_steps *of, uint32_t waiting, uint32_t on, struct tb_error *error)
{
	if (TB_ARRAY_RESERVE(&of->orders, &of->orders_room, of->n_orders + 1) != TB_OK)
		return steps_no_memory(error);
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
		return steps_no_memory(error);
	of->pauses[of->n_pauses] = *pause;
	of->pauses[of->n_pauses++].joint = UINT32_MAX;
	return TB_OK;
}

int tb_otf2_steps_join(
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

static int place_by_time(const void *a, const void *b)
{
	const struct step_place *x = a, *y = b;
	if (x->enter_ns != y->enter_ns)
		return x->enter_ns < y->enter_ns ? -1 : 1;
	return x->step < y->step ? -1 : x->step > y->step;
}

static int by_waiting(const void *a, const void *b)
{
	const struct tb_otf2_order *x = a, *y = b;
	if (x->waiting != y->waiting)
		return x->waiting < y->waiting ? -1 : 1;
	return x->on < y->on ? -1 : x->on > y->on;
}

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

// renumber replaces the steps in the orders by the calls that they become. Orders of
// dropped steps are removed, and those that contradict the order of time.
static void renumber(struct tb_otf2_steps *of, const struct step_place *places, size_t n,
	uint32_t *index_of)
{
	size_t kept = 0;
	bool sorted = true;
	for (size_t i = 0; i < n; i++)
		index_of[places[i].step] = (uint32_t)i;
	for (size_t i = 0; i < of->n_orders; i++) {
		struct tb_otf2_order order = of->orders[i];
		if (of->steps[order.waiting].is_dropped || of->steps[order.on].is_dropped)
			continue;
		order = (struct tb_otf2_order){
			index_of[order.waiting], index_of[order.on]};
		if (order.on >= order.waiting)
			continue;
		sorted = sorted &&
			 (kept == 0 || of->orders[kept - 1].waiting <= order.waiting);
		of->orders[kept++] = order;
	}
	of->n_orders = kept;
	if (!sorted)
		qsort(of->orders, kept, sizeof *of->orders, by_waiting);
}

int tb_otf2_steps_give(struct tb_otf2_steps *of, struct tb_calls *calls, uint32_t rank,
	struct tb_error *error)
{
	size_t n;
	int status = TB_OK;
	struct step_place *places = steps_put_in_order(of, &n);
	uint32_t *index_of = malloc((of->n_steps + 1) * sizeof *index_of);
	if (!places || !index_of) {
		status = steps_no_memory(error);
	} else {
		renumber(of, places, n, index_of);
		size_t order = 0;
		uint32_t index;
		for (size_t i = 0; i < n && status == TB_OK; i++) {
			const struct tb_call *call = &of->steps[places[i].step].call;
			status = tb_calls_add(calls, rank, call, &index, error);
			for (; status == TB_OK && order < of->n_orders &&
				of->orders[order].waiting == i;
				order++)
				status = tb_calls_after(
					calls, rank, of->orders[order].on, error);
		}
	}
	free(places);
	free(index_of);
	tb_otf2_steps_fini(of);
	return status;
}
